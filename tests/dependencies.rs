//! What the library depends on: no C, by way of no crate.

use std::{env, process::Command};

/// The names of the packages that a build of the library without dev-dependencies holds.
fn normal_dependencies(features: &[&str]) -> Vec<String> {
    let output = Command::new(env::var_os("CARGO").expect("cargo runs the tests"))
        .args(["tree", "--offline", "--edges", "normal", "--package", "uverbs", "--prefix", "none"])
        .args(["--format", "{p}", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .args(features)
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let mut names: Vec<_> =
        text.lines().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.iter().any(|name| name == "uverbs-uapi"), "cargo tree said: {text}");
    names
}

#[test]
fn no_libc_and_no_c_library() {
    for features in [&[][..], &["--no-default-features"], &["--features", "bench-internals"]] {
        for name in normal_dependencies(features) {
            assert_ne!(name, "libc", "with {features:?}");
            assert!(!name.ends_with("-sys") || name == "linux-raw-sys", "{name} with {features:?}");
        }
    }
}

#[test]
fn what_the_tool_needs_stays_with_the_tool() {
    let library = normal_dependencies(&[]);
    let tool = normal_dependencies(&["--features", "cli"]);
    for name in ["clap", "nix", "serde", "serde_json"] {
        assert!(tool.iter().any(|found| found == name), "the tool uses {name}");
        assert!(!library.iter().any(|found| found == name), "the library does not use {name}");
    }
}
