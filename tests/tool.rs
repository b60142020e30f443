//! The tool `uverbs` as a script sees it, on any machine: what it refuses, with which status, and in which shape.
//!
//! What it does to a device is tested by the device tests.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// No kernel gives this name to a device: it is longer than a device name may be.
const ABSENT: &str = "there-is-no-device-of-this-name-because-the-kernel-cuts-names-at-64";

fn uverbs(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_uverbs"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the tool is built together with this test")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the tool prints UTF-8")
}

fn lines(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn mistakes_are_status_2_and_say_what_is_wrong() {
    for (arguments, word) in [
        (&[][..], "Usage"),
        (&["anchors"], "anchors"),
        (&["show"], "DEV"),
        (&["show", "mlx5_0", "mlx5_1"], "mlx5_1"),
        (&["anchor", "create", "mlx5_0"], "--type"),
        (&["anchor", "create", "--type", "nic-rx"], "DEV"),
        (&["anchor", "create", "mlx5_0", "--type", "nic"], "rdma-tx"),
        (&["anchor", "create", "mlx5_0", "--type", "nic-rx", "--priority"], "--priority"),
        (&["anchor", "create", "mlx5_0", "--type", "nic-rx", "--priority", "16"], "0..=15"),
        (&["anchor", "create", "mlx5_0", "--type", "nic-rx", "--priority", "65536"], "0..=15"),
        (&["anchor", "create", "mlx5_0", "--type", "nic-rx", "--priority", "-1"], "0..=15"),
        (&["anchor", "create", "mlx5_0", "--type", "nic-rx", "--priority=x"], "0..=15"),
    ] {
        let output = uverbs(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(word), "{arguments:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
    }
}

#[test]
fn a_script_finds_its_mistake_on_the_standard_output() {
    let output = uverbs(&["--json", "anchor", "create", "mlx5_0", "--type", "nic-rx", "--priority", "16"]);
    assert_eq!(output.status.code(), Some(2));
    let lines = lines(&output);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["type"], "error");
    assert!(lines[0]["message"].as_str().expect("a text").contains("0..=15"), "{}", lines[0]);
}

#[test]
fn help_and_version_are_answers() {
    for (arguments, word) in [
        (&["--help"][..], "Exit status: 0 done, 1 failed, 2 usage."),
        (&["--version"], env!("CARGO_PKG_VERSION")),
        (&["anchor", "create", "--help"], "nic-rx, nic-tx, fdb, rdma-rx, rdma-tx"),
        (&["anchor", "probe", "--help"], "--create"),
    ] {
        let output = uverbs(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(text(&output.stdout).contains(word), "{arguments:?}: {}", text(&output.stdout));
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn an_absent_device_is_status_1_with_its_name_and_cause() {
    for command in
        [&["show", ABSENT][..], &["anchor", "probe", ABSENT], &["anchor", "create", ABSENT, "--type", "fdb"]]
    {
        let output = uverbs(command);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let stderr = text(&output.stderr);
        assert!(stderr.starts_with("error: ") && stderr.contains(ABSENT), "{command:?}: {stderr}");
        assert!(stderr.lines().any(|line| line.starts_with("cause: ")), "{command:?}: {stderr}");
        assert_eq!(text(&output.stdout), "", "{command:?}");

        let output = uverbs(&[command, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert_eq!(text(&output.stderr), stderr, "{command:?}");
        let lines = lines(&output);
        assert_eq!(lines.len(), 1, "{command:?}");
        assert_eq!(lines[0]["type"], "error", "{command:?}");
        assert!(lines[0]["cause"].is_string(), "{command:?}");
    }
}

#[test]
fn lists_devices_as_one_object_a_line() {
    let output = uverbs(&["devices", "--json"]);
    // A kernel without the uverbs module has no list; that is an error line.
    let expected = if output.status.success() { "device" } else { "error" };
    for line in lines(&output) {
        assert_eq!(line["type"], expected, "{line}");
    }
}

#[test]
fn a_lost_output_is_a_failure_and_a_reader_who_left_is_not() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full is part of Linux");
    let run = |stdout: Stdio| {
        let output = Command::new(env!("CARGO_BIN_EXE_uverbs"))
            .args(["devices"])
            .stdout(stdout)
            .stderr(Stdio::piped())
            .output()
            .expect("the tool runs");
        (output.status.code(), text(&output.stderr).to_owned())
    };
    let (status, stderr) = run(full.into());
    assert_eq!(status, Some(1), "{stderr}");

    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let (_, stderr) = run(writer.into());
    assert!(!stderr.contains("pipe") && !stderr.contains("panic"), "{stderr}");
}
