//! The machine's own apt sources: where its Debian mirrors are, and what is to be asked of them.
//!
//! The lab names no host. It asks the mirrors that the machine already uses for other releases of Debian,
//! and takes over how they are trusted.

use std::{env::consts::ARCH, fmt::Write as _, fs, path::Path, process::Command};

/// The keys of all Debian releases, where Debian keeps them: the machine's own sources may name only the
/// key of its own release.
const DEBIAN_KEYRINGS: [&str; 2] =
    ["/usr/share/keyrings/debian-archive-keyring.pgp", "/usr/share/keyrings/debian-archive-keyring.gpg"];

/// Suites whose release changes with time.
const MOVING_SUITES: [&str; 6] = ["oldoldstable", "oldstable", "stable", "testing", "unstable", "sid"];

/// Options that say how a source is trusted, as deb822 spells them: these are taken over as they are.
const TRUST_OPTIONS: [&str; 5] =
    ["Signed-By", "Trusted", "Check-Valid-Until", "Allow-Insecure", "Allow-Downgrade-To-Insecure"];

/// A release of Debian that the lab takes packages from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// Debian 11: a kernel before steering anchors.
    Bullseye,
    /// Debian 12.
    Bookworm,
    /// Debian 13, with what was backported to it.
    Trixie,
}

impl Release {
    /// Debian's name for it.
    pub(super) const fn codename(self) -> &'static str {
        match self {
            Self::Bullseye => "bullseye",
            Self::Bookworm => "bookworm",
            Self::Trixie => "trixie",
        }
    }

    /// Its suites on the main mirror.
    const fn suites(self) -> &'static [&'static str] {
        match self {
            Self::Bullseye => &["bullseye"],
            Self::Bookworm => &["bookworm", "bookworm-updates"],
            Self::Trixie => &["trixie", "trixie-updates", "trixie-backports"],
        }
    }
}

/// One source of packages that is switched on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Source {
    uris: Vec<String>,
    suites: Vec<String>,
    components: Vec<String>,
    /// Those of [`TRUST_OPTIONS`] that it has, the value with its continuation lines.
    trust: Vec<(&'static str, String)>,
}

impl Source {
    fn has_main(&self) -> bool {
        self.components.iter().any(|component| component == "main")
    }

    fn has_suite(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.suites.iter().any(|suite| wanted(suite))
    }

    fn key(&self) -> Option<&str> {
        self.trust.iter().find(|(name, _)| *name == "Signed-By").map(|(_, value)| value.as_str())
    }

    /// Other archives for the same release sign with a key of their own.
    fn is_signed_by_debian(&self) -> bool {
        self.key().is_none_or(|key| key.contains("debian-archive"))
    }
}

/// The sources of a Debian machine.
#[derive(Debug)]
pub(super) struct Machine {
    codename: String,
    sources: Vec<Source>,
    keyring: Option<&'static str>,
}

impl Machine {
    /// Reads the sources of this machine.
    ///
    /// # Errors
    /// This is not Debian on x86-64, or apt's files cannot be read; as text.
    pub(super) fn read() -> Result<Self, String> {
        if ARCH != "x86_64" {
            return Err(format!("this machine is {ARCH}, not x86-64"));
        }
        let os_release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        if value_of(&os_release, "ID").as_deref() != Some("debian") {
            return Err("this machine does not run Debian".to_owned());
        }
        let codename = value_of(&os_release, "VERSION_CODENAME").unwrap_or_default();
        let output = Command::new("apt-config")
            .args(["shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"])
            .output()
            .map_err(|error| format!("apt-config: {error}"))?;
        let places = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut sources = Vec::new();
        if let Ok(text) = fs::read_to_string(value_of(&places, "LIST").unwrap_or_default()) {
            sources.extend(one_line_sources(&text));
        }
        if let Some(parts) = value_of(&places, "PARTS") {
            sources.extend(sources_in(Path::new(&parts))?);
        }
        let keyring = DEBIAN_KEYRINGS.into_iter().find(|path| Path::new(path).exists());
        Ok(Self { codename, sources, keyring })
    }

    /// The sources of `release`, as a file in apt's deb822 form.
    ///
    /// # Errors
    /// The machine has no source that could have the release, as text.
    pub(super) fn sources_of(&self, release: Release) -> Result<String, String> {
        let codename = release.codename();
        let base = self
            .pick(|suite| suite == codename)
            .or_else(|| self.pick(|suite| suite == self.codename || MOVING_SUITES.contains(&suite)))
            .ok_or("the machine's apt sources name no Debian mirror with the component main")?;
        let mut text = self.stanza(base, release.suites());
        let security = format!("{codename}-security");
        let source = self
            .pick(|suite| suite == security)
            .or_else(|| self.pick(|suite| suite.ends_with("-security") || suite.ends_with("/updates")));
        if let Some(source) = source {
            text.push('\n');
            text.push_str(&self.stanza(source, &[&security]));
        }
        Ok(text)
    }

    /// The first source with a suite that is wanted; Debian's own go first.
    fn pick(&self, wanted: impl Fn(&str) -> bool) -> Option<&Source> {
        let fits = |source: &&Source| source.has_main() && source.has_suite(&wanted);
        let mut candidates = self.sources.iter().filter(fits);
        candidates.clone().find(|source| source.is_signed_by_debian()).or_else(|| candidates.next())
    }

    fn stanza(&self, source: &Source, suites: &[&str]) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "Types: deb\nURIs: {}\nSuites: {}\nComponents: main\nArchitectures: amd64\nTargets: Packages\nLanguages: none\n",
            source.uris.join(" "),
            suites.join(" "),
        );
        let keyring = self.keyring.filter(|_| source.is_signed_by_debian());
        if let Some(keyring) = keyring {
            let _ = writeln!(text, "Signed-By: {keyring}");
        }
        for (name, value) in &source.trust {
            if *name != "Signed-By" || keyring.is_none() {
                let _ = writeln!(text, "{name}: {value}");
            }
        }
        text
    }
}

/// The sources in all files of a `sources.list.d`.
fn sources_in(folder: &Path) -> Result<Vec<Source>, String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let mut sources = Vec::new();
    for path in paths {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("list") => sources.extend(one_line_sources(&read(&path)?)),
            Some("sources") => sources.extend(deb822_sources(&read(&path)?)),
            _ => {}
        }
    }
    Ok(sources)
}

/// The value of `NAME=value` or `NAME='value'` or `NAME="value"`.
fn value_of(text: &str, name: &str) -> Option<String> {
    text.lines()
        .find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='))
        .map(|value| value.trim_matches(['"', '\'']).to_owned())
}

/// Reads `sources.list`: `deb [option=value …] uri suite component…`.
fn one_line_sources(text: &str) -> Vec<Source> {
    text.lines().filter_map(one_line_source).collect()
}

fn one_line_source(line: &str) -> Option<Source> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let rest = line.strip_prefix("deb")?;
    if !rest.starts_with([' ', '\t', '[']) {
        return None;
    }
    let (options, rest) = match rest.trim_start().strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    let uri = words.next().filter(|uri| !uri.starts_with("cdrom:"))?;
    let trust = options
        .split_whitespace()
        .filter_map(|option| option.split_once('='))
        .filter_map(|(name, value)| Some((trust_option(name)?, value.trim_matches('"').to_owned())))
        .collect();
    Some(Source { uris: vec![uri], suites: vec![words.next()?], components: words.collect(), trust })
}

/// Reads a `.sources` file: stanzas of `Name: value`, a value goes on in lines that begin with a blank.
fn deb822_sources(text: &str) -> Vec<Source> {
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    text.split(|line| line.trim().is_empty()).filter_map(deb822_source).collect()
}

fn deb822_source(lines: &[&str]) -> Option<Source> {
    let mut fields: Vec<(&str, String)> = Vec::new();
    for line in lines {
        if line.starts_with([' ', '\t']) {
            let (_, value) = fields.last_mut()?;
            value.push('\n');
            value.push_str(line);
        } else {
            let (name, value) = line.split_once(':')?;
            fields.push((name.trim(), value.trim().to_owned()));
        }
    }
    let words = |wanted: &str| -> Vec<String> {
        let field = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        field.map(|(_, value)| value.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
    };
    let off = words("Enabled").first().is_some_and(|value| value.eq_ignore_ascii_case("no"));
    if off || !words("Types").iter().any(|kind| kind == "deb") {
        return None;
    }
    let uris: Vec<_> = words("URIs").into_iter().filter(|uri| !uri.starts_with("cdrom:")).collect();
    if uris.is_empty() {
        return None;
    }
    let trust =
        fields.iter().filter_map(|(name, value)| Some((trust_option(name)?, value.clone()))).collect();
    Some(Source { uris, suites: words("Suites"), components: words("Components"), trust })
}

fn trust_option(name: &str) -> Option<&'static str> {
    TRUST_OPTIONS.into_iter().find(|option| option.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

    fn machine(sources: Vec<Source>) -> Machine {
        Machine { codename: "bookworm".to_owned(), sources, keyring: Some(KEYRING) }
    }

    #[test]
    fn one_line_forms() {
        let sources = one_line_sources(
            "# deb http://commented.example bookworm main\n\
             deb-src http://mirror.example/debian bookworm main\n\
             deb cdrom:[Debian]/ bookworm main\n\
             deb\thttp://mirror.example/debian  bookworm main contrib # why\n\
             deb [arch=amd64 signed-by=/etc/keys/k.gpg trusted=yes] https://other.example/x y-security main\n",
        );
        assert_eq!(sources.len(), 2);
        assert_eq!(sources[0].uris, ["http://mirror.example/debian"]);
        assert_eq!(sources[0].suites, ["bookworm"]);
        assert_eq!(sources[0].components, ["main", "contrib"]);
        assert_eq!(sources[0].trust, []);
        assert_eq!(sources[1].uris, ["https://other.example/x"]);
        assert_eq!(
            sources[1].trust,
            [("Signed-By", "/etc/keys/k.gpg".to_owned()), ("Trusted", "yes".to_owned())]
        );
    }

    #[test]
    fn deb822_forms() {
        let sources = deb822_sources(
            "Types: deb deb-src\n# between\nURIs: http://a.example/debian http://b.example/debian\nSuites: bookworm\n bookworm-updates\n\
             components: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQ\n\n\
             Types: deb-src\nURIs: http://c.example\nSuites: bookworm\nComponents: main\n\n\n\
             Enabled: no\nTypes: deb\nURIs: http://d.example\nSuites: bookworm\nComponents: main\n",
        );
        assert_eq!(sources.len(), 1);
        assert_eq!(sources[0].uris, ["http://a.example/debian", "http://b.example/debian"]);
        assert_eq!(sources[0].suites, ["bookworm", "bookworm-updates"]);
        assert_eq!(sources[0].key(), Some("\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQ"));
    }

    #[test]
    fn asks_the_machines_mirrors_for_other_releases() {
        let machine = machine(deb822_sources(&format!(
            "Types: deb\nURIs: http://m.example/debian\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: {KEYRING}\n\n\
             Types: deb\nURIs: http://m.example/security\nSuites: bookworm-security\nComponents: main\nCheck-Valid-Until: no\n",
        )));
        assert_eq!(
            machine.sources_of(Release::Trixie).unwrap(),
            format!(
                "Types: deb\nURIs: http://m.example/debian\nSuites: trixie trixie-updates trixie-backports\nComponents: main\n\
                 Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By: {KEYRING}\n\n\
                 Types: deb\nURIs: http://m.example/security\nSuites: trixie-security\nComponents: main\n\
                 Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By: {KEYRING}\nCheck-Valid-Until: no\n"
            )
        );
    }

    #[test]
    fn debian_goes_before_others_with_the_same_suite() {
        let text = "deb [signed-by=/etc/keys/other.gpg] http://other.example bookworm main\n\
                    deb http://m.example/debian bookworm main\n";
        let sources = machine(one_line_sources(text)).sources_of(Release::Bookworm).unwrap();
        assert!(sources.contains("http://m.example/debian"), "{sources}");
        assert!(!sources.contains("other"), "{sources}");
    }

    #[test]
    fn a_mirror_signed_by_its_owner_keeps_its_key() {
        let text = "deb [signed-by=/etc/keys/company.gpg] http://m.example bookworm main\n";
        let sources = machine(one_line_sources(text)).sources_of(Release::Bookworm).unwrap();
        assert!(sources.contains("Signed-By: /etc/keys/company.gpg\n"), "{sources}");
        assert!(!sources.contains(KEYRING), "{sources}");
    }

    #[test]
    fn a_source_for_the_release_itself_goes_first() {
        let text = "deb http://m.example/debian bookworm main\ndeb http://old.example/debian bullseye main\n";
        let machine = machine(one_line_sources(text));
        assert!(machine.sources_of(Release::Bullseye).unwrap().contains("http://old.example/debian"));
        assert!(machine.sources_of(Release::Trixie).unwrap().contains("http://m.example/debian"));
    }

    #[test]
    fn no_mirror_is_said() {
        let machine = machine(one_line_sources("deb http://m.example nodistro main\n"));
        assert!(machine.sources_of(Release::Trixie).unwrap_err().contains("name no Debian mirror"));
    }

    #[test]
    fn shell_values() {
        let text = "ID=debian\nVERSION_CODENAME='bookworm'\nPRETTY_NAME=\"Debian GNU/Linux\"\n";
        assert_eq!(value_of(text, "ID").as_deref(), Some("debian"));
        assert_eq!(value_of(text, "VERSION_CODENAME").as_deref(), Some("bookworm"));
        assert_eq!(value_of(text, "PRETTY_NAME").as_deref(), Some("Debian GNU/Linux"));
        assert_eq!(value_of(text, "VERSION"), None);
    }
}
