//! A folder of kernel modules: files by name, unpacked, with all they depend on.
//!
//! `modules.dep` is not needed: it comes into being when a package is installed, not when it is unpacked.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{Read, Write as _},
    path::{Path, PathBuf},
};

use super::{
    error::{AtPath, Error, Result},
    modinfo::{self, canonical},
};

/// A module to load.
#[derive(Debug)]
pub(crate) struct Module {
    /// Its name, as in `/proc/modules`.
    pub(crate) name: String,
    /// The ELF file.
    pub(crate) image: Vec<u8>,
}

/// The modules of one kernel.
#[derive(Debug)]
pub(super) struct Tree {
    files: BTreeMap<String, PathBuf>,
    builtin: BTreeSet<String>,
    keep_unpacked: bool,
}

impl Tree {
    /// Reads the names in a folder of `/lib/modules`.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).at(&folder)? {
                let entry = entry.at(&folder)?;
                let path = entry.path();
                // The links `build` and `source` lead out of the folder.
                if entry.file_type().at(&path)?.is_dir() {
                    folders.push(path);
                } else if let Some((name, packing)) = module_file(&path) {
                    // The unpacked file is the better one.
                    if packing == Packing::None || !files.contains_key(&name) {
                        files.insert(name, path);
                    }
                }
            }
        }
        let builtin = fs::read_to_string(folder.join("modules.builtin")).unwrap_or_default();
        let builtin =
            builtin.lines().filter_map(|line| module_file(Path::new(line))).map(|(name, _)| name).collect();
        Ok(Self { files, builtin, keep_unpacked: false })
    }

    /// Writes a module that had to be unpacked beside the packed one: the folder is the lab's own.
    pub(super) fn keep_unpacked(mut self) -> Self {
        self.keep_unpacked = true;
        self
    }

    /// If the module is a file of this kernel.
    pub(super) fn has_file(&self, name: &str) -> bool {
        self.files.contains_key(&canonical(name))
    }

    /// Appends what a module depends on and then the module, unless it is among `modules` already.
    pub(super) fn load(
        &self,
        release: &str,
        name: &str,
        needed_by: Option<&str>,
        modules: &mut Vec<Module>,
    ) -> Result<()> {
        let name = canonical(name);
        if modules.iter().any(|module| module.name == name) {
            return Ok(());
        }
        let Some(path) = self.files.get(&name) else {
            if self.builtin.contains(&name) {
                return Ok(());
            }
            return Err(Error::NoModule {
                release: release.to_owned(),
                module: name,
                needed_by: needed_by.map(|other| format!(", which {other} depends on")).unwrap_or_default(),
            });
        };
        let image = self.read(path)?;
        let depends = modinfo::depends(&image)
            .map_err(|reason| Error::BadModule { path: path.display().to_string(), reason })?;
        for other in depends {
            self.load(release, &other, Some(&name), modules)?;
        }
        modules.push(Module { name, image });
        Ok(())
    }

    /// The unpacked content of a file.
    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let packing = module_file(path).map_or(Packing::None, |(_, packing)| packing);
        let mut image = Vec::new();
        packing
            .reader(File::open(path).at(path)?)
            .and_then(|mut reader| reader.read_to_end(&mut image))
            .at(path)?;
        if self.keep_unpacked && packing != Packing::None {
            write_whole(&path.with_extension(""), &image)?;
        }
        Ok(image)
    }
}

/// Writes a file that others see whole or not at all.
fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).at(folder)?;
    file.write_all(content).at(path)?;
    file.persist(path).map_err(|error| error.error).at(path)?;
    Ok(())
}

/// How a module's file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Xz,
    Zstd,
}

impl Packing {
    fn reader(self, file: File) -> std::io::Result<Box<dyn Read>> {
        Ok(match self {
            Self::None => Box::new(file),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new(std::io::BufReader::new(file), true)),
            Self::Zstd => {
                Box::new(ruzstd::decoding::StreamingDecoder::new(file).map_err(std::io::Error::other)?)
            }
        })
    }
}

/// The module in a file of that name, and how it is packed.
fn module_file(path: &Path) -> Option<(String, Packing)> {
    let file = path.file_name()?.to_str()?;
    let (name, packing) = [
        (".ko", Packing::None),
        (".ko.gz", Packing::Gzip),
        (".ko.xz", Packing::Xz),
        (".ko.zst", Packing::Zstd),
    ]
    .into_iter()
    .find_map(|(ending, packing)| Some((file.strip_suffix(ending)?, packing)))?;
    Some((canonical(name), packing))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A little-endian ELF64 file with a section `.modinfo` that has `depends`.
    fn module(depends: &str) -> Vec<u8> {
        const HEADER: usize = 64;
        const NAMES: &[u8] = b"\0.modinfo\0.shstrtab\0";
        let modinfo = format!("license=GPL\0depends={depends}\0");
        let names_at = HEADER + modinfo.len();
        let sections_at = names_at + NAMES.len();
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(16, 0);
        elf.extend(1u16.to_le_bytes()); // relocatable
        elf.extend(62u16.to_le_bytes()); // x86-64
        elf.extend(1u32.to_le_bytes());
        elf.extend([0; 16]);
        elf.extend((sections_at as u64).to_le_bytes());
        elf.extend([0; 4]);
        for half in [64u16, 0, 0, 64, 3, 2] {
            elf.extend(half.to_le_bytes());
        }
        elf.extend(modinfo.as_bytes());
        elf.extend(NAMES);
        elf.extend([0; 64]);
        for (name, kind, at, size) in [(1u32, 1u32, HEADER, modinfo.len()), (10, 3, names_at, NAMES.len())] {
            elf.extend(name.to_le_bytes());
            elf.extend(kind.to_le_bytes());
            elf.extend([0; 16]);
            elf.extend((at as u64).to_le_bytes());
            elf.extend((size as u64).to_le_bytes());
            elf.extend([0; 24]);
        }
        elf
    }

    fn tree(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        (folder, tree)
    }

    fn names(modules: &[Module]) -> Vec<&str> {
        modules.iter().map(|module| module.name.as_str()).collect()
    }

    #[test]
    fn a_module_comes_after_what_it_depends_on() {
        let (_folder, tree) = tree(&[
            ("kernel/drivers/a.ko", &module("b-one,built_in,c")),
            ("kernel/lib/b-one.ko", &module("c")),
            ("kernel/lib/c.ko", &module("")),
            ("modules.builtin", b"kernel/lib/built-in.ko\n"),
        ]);
        let mut modules = Vec::new();
        tree.load("1.2", "a", None, &mut modules).unwrap();
        tree.load("1.2", "c", None, &mut modules).unwrap();
        tree.load("1.2", "built-in", None, &mut modules).unwrap();
        assert_eq!(names(&modules), ["c", "b_one", "a"]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let (_folder, tree) = tree(&[("kernel/a.ko", &module("b"))]);
        assert!(tree.has_file("a") && !tree.has_file("b"));
        let mut modules = Vec::new();
        let error = tree.load("1.2", "a", None, &mut modules).unwrap_err();
        assert_eq!(error.to_string(), "kernel 1.2 has no module b, which a depends on");
        let error = tree.load("1.2", "x-y", None, &mut modules).unwrap_err();
        assert_eq!(error.to_string(), "kernel 1.2 has no module x_y");
    }

    #[test]
    fn packed_files_are_unpacked_and_kept() {
        let plain = module("");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let zstd =
            ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Uncompressed);
        let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
        xz.write_all(&plain).unwrap();
        let (folder, tree) = tree(&[
            ("g.ko.gz", &gzip.finish().unwrap()),
            ("x.ko.xz", &xz.finish().unwrap()),
            ("z.ko.zst", &zstd),
        ]);
        let tree = tree.keep_unpacked();
        let mut modules = Vec::new();
        for name in ["g", "x", "z"] {
            tree.load("1.2", name, None, &mut modules).unwrap();
        }
        assert!(modules.iter().all(|module| module.image == plain));
        for name in ["g.ko", "x.ko", "z.ko"] {
            assert_eq!(fs::read(folder.path().join(name)).unwrap(), plain, "{name}");
        }
        let again = Tree::open(folder.path()).unwrap();
        assert!(again.files.values().all(|path| path.extension().unwrap() == "ko"));
    }

    #[test]
    fn a_file_that_is_no_module_is_named() {
        let (_folder, tree) = tree(&[("a.ko", b"text")]);
        let error = tree.load("1.2", "a", None, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("a.ko is not a kernel module"), "{error}");
    }
}
