//! A private apt: the machine's own configuration, but state, sources and cache in a folder of the lab.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

use super::{
    error::{AtPath, Error, Result},
    product::{Parts, Product},
    say,
    sources::Machine,
};

/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(3);

/// The file that tells when the lists were updated, and what went wrong then.
const UPDATED: &str = "updated";

/// The files that make it private.
const SOURCES: &str = "debian.sources";
const CONFIG: &str = "apt.conf";

/// A package at the version that apt chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    /// Its name.
    pub(super) name: String,
    /// Its version, epoch and all.
    pub(super) version: String,
    /// Bytes to download.
    size: u64,
    /// Names of the packages it depends on; of alternatives the first.
    depends: Vec<String>,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// The packages of one release, as a product needs them.
#[derive(Debug)]
pub(super) struct Archive {
    /// The product, for messages.
    what: String,
    folder: PathBuf,
    /// Takes versions from there, where a suite is not preferred by itself.
    suite: Option<&'static str>,
    /// What went wrong when the lists were updated: why a package may be absent.
    trouble: String,
}

impl Archive {
    /// Prepares apt below `folder`, and updates its lists unless they are newer than `fresh`.
    ///
    /// # Errors
    /// The machine has no apt or no mirror; the folder cannot be written.
    pub(super) fn open(folder: &Path, product: &impl Product, fresh: SystemTime) -> Result<Self> {
        let what = product.name();
        let release = product.release();
        let sources = Machine::read()
            .and_then(|machine| machine.sources_of(release))
            .map_err(|reason| Error::unavailable(&what, reason))?;
        let folder = folder.join(release.codename());
        for part in ["lists/partial", "cache"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).at(&part)?;
        }
        let config = configuration(&folder);
        let mut archive = Self { what, folder, suite: product.suite(), trouble: String::new() };
        archive.write(SOURCES, &sources)?;
        archive.write("status", "")?;
        archive.write(CONFIG, &config)?;
        if archive.lists_date().is_some_and(|date| date >= fresh) && archive.last_trouble().is_empty() {
            return Ok(archive);
        }
        say(&format!("asking the mirrors for the packages of {}", release.codename()));
        let output = output(archive.apt("apt-get").args(["-qq", "update"]))?;
        archive.trouble = complaints(&output.stderr);
        archive.write(UPDATED, &archive.trouble)?;
        Ok(archive)
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.folder.join(file);
        fs::write(&path, text).at(&path)
    }

    /// When the lists were last updated, or could not be.
    pub(super) fn lists_date(&self) -> Option<SystemTime> {
        fs::metadata(self.folder.join(UPDATED)).and_then(|metadata| metadata.modified()).ok()
    }

    fn last_trouble(&self) -> String {
        fs::read_to_string(self.folder.join(UPDATED)).unwrap_or_default()
    }

    /// Starts at `roots` and goes on to those dependencies whose name is `wanted`.
    ///
    /// # Errors
    /// A package is not there.
    pub(super) fn select(&self, roots: &[&str], wanted: impl Fn(&str) -> bool) -> Result<Vec<Package>> {
        let mut names: BTreeSet<String> = roots.iter().map(|&name| name.to_owned()).collect();
        let mut found = BTreeMap::new();
        while let Some(name) = names.pop_first() {
            let output = output(self.apt("apt-cache").args(["--no-all-versions", "show", &name]))?;
            let Some(package) = parse_package(&String::from_utf8_lossy(&output.stdout)) else {
                let colon = if self.trouble.is_empty() { "" } else { ": " };
                let reason = format!("the mirrors have no package {name}{colon}{}", self.trouble);
                return Err(Error::unavailable(&self.what, reason));
            };
            names.extend(
                package.depends.iter().filter(|name| wanted(name) && !found.contains_key(*name)).cloned(),
            );
            found.insert(package.name.clone(), package);
        }
        Ok(found.into_values().collect())
    }

    /// Downloads the packages into `folder`. What is there already, whole or in part, is not downloaded again.
    ///
    /// # Errors
    /// The mirrors do not give a package.
    pub(super) fn download(&self, parts: &Parts, folder: &Path) -> Result<()> {
        let partial = folder.join("partial");
        fs::create_dir_all(&partial).at(&partial)?;
        let mut command = self.apt("apt-get");
        command.args(["-qq", "-y", "-o", "APT::Status-Fd=1"]).current_dir(folder);
        let versions = versions(&parts.packages);
        if parts.closure {
            command.arg("-o").arg(format!("Dir::Cache::archives={}/", folder.display()));
            command.args(["--download-only", "install"]);
            say(&format!("{}: downloading {versions} and what it needs", self.what));
        } else {
            command.arg("download");
            let size: u64 = parts.packages.iter().map(|package| package.size).sum();
            say(&format!("{}: downloading {versions}, {} MB", self.what, size.div_ceil(1_000_000)));
        }
        command.args(parts.packages.iter().map(|package| format!("{}={}", package.name, package.version)));
        let apt = Path::new("apt-get");
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().at(apt)?;
        let progress = child.stdout.take();
        let output = thread::scope(|scope| {
            scope.spawn(|| progress.map(|progress| show_progress(&self.what, progress)));
            child.wait_with_output()
        })
        .at(apt)?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::unavailable(&self.what, complaints(&output.stderr)))
    }

    /// A program of apt's with the private configuration.
    fn apt(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .arg("-c")
            .arg(self.folder.join(CONFIG))
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive");
        // An empty value also drops what the machine prefers: its own release is not among these suites.
        command.arg("-o").arg(format!("APT::Default-Release={}", self.suite.unwrap_or_default()));
        command
    }
}

/// apt's configuration for a state in `folder`.
fn configuration(folder: &Path) -> String {
    format!(
        r#"Dir::Etc::sourcelist "{0}/{SOURCES}";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "{0}";
Dir::State::lists "{0}/lists";
Dir::State::status "{0}/status";
Dir::Cache "{0}/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "";
APT::Architecture "amd64";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
// The lab has a lock of its own.
Debug::NoLocking "true";
// Root downloads as itself: the folder need not be readable for others.
APT::Sandbox::User "root";
Acquire::Retries "3";
// What the machine does after an update of its own has nothing to do with this one.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"#,
        folder.display()
    )
}

/// The first package in what `apt-cache show` prints.
fn parse_package(text: &str) -> Option<Package> {
    let stanza = text.split("\n\n").next()?;
    let field = |name: &str| {
        stanza.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    };
    Some(Package {
        name: field("Package")?.to_owned(),
        version: field("Version")?.to_owned(),
        size: field("Size").and_then(|size| size.parse().ok()).unwrap_or_default(),
        depends: field("Depends").map(parse_depends).unwrap_or_default(),
    })
}

/// Names in `a (>= 1) | b, c:any`.
fn parse_depends(text: &str) -> Vec<String> {
    text.split(',')
        .filter_map(|dependency| dependency.split(['|', '(', ':', '[']).next())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Prints what `APT::Status-Fd` says: `dlstatus:NUMBER:PERCENT:text`.
fn show_progress(what: &str, progress: impl Read) {
    let mut last = Instant::now();
    for line in BufReader::new(progress).lines().map_while(std::result::Result::ok) {
        let percent =
            line.strip_prefix("dlstatus:").and_then(|rest| rest.split(':').nth(1)?.parse::<f64>().ok());
        if let Some(percent) = percent.filter(|_| last.elapsed() >= PROGRESS) {
            last = Instant::now();
            say(&format!("{what}: {percent:.0} %"));
        }
    }
}

/// The versions in a line of progress.
fn versions(packages: &[Package]) -> String {
    let versions: BTreeSet<_> = packages.iter().map(|package| package.version.as_str()).collect();
    Vec::from_iter(versions).join(", ")
}

/// What apt had to complain about first, and how often it did: the rest is more of the same.
fn complaints(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines =
        text.lines().filter_map(|line| line.strip_prefix("E: ").or_else(|| line.strip_prefix("W: ")));
    let first = lines.next().unwrap_or_default().to_owned();
    match lines.count() {
        0 => first,
        more => format!("{first} (and {more} more)"),
    }
}

/// Runs a program to its end.
pub(super) fn output(command: &mut Command) -> Result<Output> {
    let program = PathBuf::from(command.get_program());
    command.stdin(Stdio::null()).output().at(&program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_fields() {
        let package = parse_package(
            "Package: linux-image-amd64\nSource: linux-signed-amd64 (1.2+3)\nVersion: 1:1.2-3~bpo1\nInstalled-Size: 15\n\
             Depends: linux-image-1.2-amd64 (= 1.2-3), kmod:any, a (>= 1) | b\nSize: 1500\nDescription: Linux\n long\n\n\
             Package: linux-image-amd64\nVersion: 0.1\n",
        )
        .unwrap();
        assert_eq!(package.name, "linux-image-amd64");
        assert_eq!(package.version, "1:1.2-3~bpo1");
        assert_eq!(package.size, 1500);
        assert_eq!(package.depends, ["linux-image-1.2-amd64", "kmod", "a"]);
        assert_eq!(parse_package(""), None);
        assert_eq!(parse_package("N: Unable to locate package x\n"), None);
    }

    #[test]
    fn the_first_complaint_stands_for_all() {
        let stderr = b"W: Failed to fetch x  404\nReading\nE: Some index files failed.\n";
        assert_eq!(complaints(stderr), "Failed to fetch x  404 (and 1 more)");
        assert_eq!(complaints(b"Reading\nE: Failed to fetch x\n"), "Failed to fetch x");
        assert_eq!(complaints(b"Reading\n"), "");
    }
}
