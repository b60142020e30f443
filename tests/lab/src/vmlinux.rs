//! The kernel without its wrapping.
//!
//! A distribution's `bzImage` unpacks itself when it is booted, which takes an emulated processor two to eight seconds.
//! Here the host unpacks it, once for each kernel; QEMU then enters the very same kernel through its PVH entry point. An
//! image without that entry, or packed in a way not known here, is booted as it is.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use lzma_rust2::XzReader;
use object::{
    Endianness,
    read::elf::{ElfFile64, ProgramHeader as _},
};
use ruzstd::decoding::StreamingDecoder;

use crate::{
    error::{Error, Result},
    fetch::{Kernel, Store},
};

// Offsets in the setup header, from the kernel's Documentation/arch/x86/boot.rst.
const SETUP_SECTORS: usize = 0x1f1;
const MAGIC: usize = 0x202;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;

/// The note that holds the PVH entry point: `XEN_ELFNOTE_PHYS32_ENTRY` of the owner `Xen`.
const PVH_NOTE: u32 = 18;

/// The file that QEMU shall boot for `kernel`.
pub(crate) fn bootable(store: &Store, kernel: &Kernel) -> Result<PathBuf> {
    let folder = store.dir().join("vmlinux");
    let path = folder.join(format!("{}-{:016x}", kernel.release, fingerprint(&kernel.image)?));
    if path.exists() {
        return Ok(path);
    }
    let image = fs::read(&kernel.image).map_err(Error::file("cannot read", &kernel.image))?;
    let Some(vmlinux) = unpack(&image).filter(|vmlinux| has_pvh_entry(vmlinux)) else {
        return Ok(kernel.image.clone());
    };
    write_whole(&folder, &path, &vmlinux).map_err(Error::file("cannot write", &path))?;
    Ok(path)
}

/// Tells files apart that have the same name, as a rebuilt kernel and its forerunner do.
pub(crate) fn fingerprint(file: &Path) -> Result<u64> {
    let found = fs::metadata(file).map_err(Error::file("cannot read", file))?;
    let mut hasher = DefaultHasher::new();
    (file, found.len(), found.mtime(), found.ino()).hash(&mut hasher);
    Ok(hasher.finish())
}

/// Writes a file that is complete from the moment it has its name: another run may be looking for it.
pub(crate) fn write_whole(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// The ELF file in a `bzImage`.
fn unpack(image: &[u8]) -> Option<Vec<u8>> {
    if image.get(MAGIC..MAGIC + 4)? != b"HdrS" {
        return None;
    }
    let word =
        |offset: usize| Some(u32::from_le_bytes(image.get(offset..offset + 4)?.try_into().ok()?) as usize);
    // An old boot loader's 0 means 4; the boot sector comes on top.
    let sectors = match *image.get(SETUP_SECTORS)? {
        0 => 5,
        sectors => usize::from(sectors) + 1,
    };
    let start = sectors * 512 + word(PAYLOAD_OFFSET)?;
    let payload = image.get(start..start.checked_add(word(PAYLOAD_LENGTH)?)?)?;
    // The kernel's build appends the unpacked size.
    let (packed, size) = payload.split_last_chunk::<4>()?;
    let mut vmlinux = Vec::with_capacity(u32::from_le_bytes(*size) as usize);
    let read = if packed.starts_with(b"\xfd7zXZ\0") {
        XzReader::new(packed, false).read_to_end(&mut vmlinux).ok()?
    } else if packed.starts_with(b"\x28\xb5\x2f\xfd") {
        StreamingDecoder::new(packed).ok()?.read_to_end(&mut vmlinux).ok()?
    } else {
        return None;
    };
    (read == u32::from_le_bytes(*size) as usize).then_some(vmlinux)
}

fn has_pvh_entry(vmlinux: &[u8]) -> bool {
    let Ok(elf) = ElfFile64::<Endianness>::parse(vmlinux) else { return false };
    let endian = elf.endian();
    elf.elf_program_headers().iter().any(|header| {
        let Ok(Some(mut notes)) = header.notes(endian, vmlinux) else { return false };
        std::iter::from_fn(|| notes.next().ok().flatten())
            .any(|note| note.name() == b"Xen" && note.n_type(endian).0 == PVH_NOTE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `bzImage` with this payload.
    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 3 * 512 + 16];
        image[SETUP_SECTORS] = 2;
        image[MAGIC..MAGIC + 4].copy_from_slice(b"HdrS");
        image[PAYLOAD_OFFSET..PAYLOAD_OFFSET + 4].copy_from_slice(&16u32.to_le_bytes());
        image[PAYLOAD_LENGTH..PAYLOAD_LENGTH + 4]
            .copy_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
        image.extend(payload);
        image
    }

    /// A zstd frame with one raw block.
    fn zstd(content: [u8; 5]) -> Vec<u8> {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x29, 0, 0];
        frame.extend(content);
        frame
    }

    #[test]
    fn the_payload_is_found_and_unpacked() {
        let payload = [&zstd(*b"hello")[..], &5u32.to_le_bytes()].concat();
        assert_eq!(unpack(&image(&payload)).unwrap(), b"hello");
    }

    #[test]
    fn what_is_not_as_it_says_is_left_alone() {
        let payload = [&zstd(*b"hello")[..], &6u32.to_le_bytes()].concat();
        assert_eq!(unpack(&image(&payload)), None, "wrong size");
        assert_eq!(unpack(&image(b"\x1f\x8bpacked otherwise....")), None, "unknown packing");
        let whole = image(&[&zstd(*b"hello")[..], &5u32.to_le_bytes()].concat());
        for length in 0..whole.len() {
            assert_eq!(unpack(&whole[..length]), None, "cut at {length}");
        }
        assert!(!has_pvh_entry(b"hello"));
    }
}
