//! `lab-trace` on programs of this machine: what it counts, and what becomes of the programs' ends.

use std::process::{Command, Output};

use lab_trace::{Exit, Report};

fn trace(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab-trace")).args(args).output().unwrap()
}

/// Traces `sh -c SCRIPT`: its report, and the status that came out.
fn trace_shell(script: &str) -> (Report, Option<i32>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let output = trace(&["--json", path, "--", "sh", "-c", script]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{script}");
    (serde_json::from_reader(file).unwrap(), output.status.code())
}

#[test]
fn a_file_is_seen_with_its_descriptor_or_errno() {
    let (report, code) = trace_shell("exec 3</dev/null; exec 2>/dev/null; exec 4</nowhere/at/all; exit 7");
    let of = |path: &str| report.opens.iter().find(|open| open.path == path).map(|open| open.result);
    assert!(of("/dev/null").is_some_and(|fd| fd >= 3), "{:?}", report.opens);
    assert_eq!(of("/nowhere/at/all"), Some(-2));
    assert!(report.count("openat") >= 3 && report.total() > report.count("openat"));
    assert!(report.mapped_bytes > 0 && report.peak_resident_bytes > 0);
    assert_eq!(report.commands, []);
    assert_eq!((report.exit, code), (Exit::Code(2), Some(2)), "a shell gives up when it cannot redirect");
}

#[test]
fn children_are_followed() {
    let (alone, _) = trace_shell("exit 0");
    let (with_children, code) = trace_shell("(exit 1); (exit 2); exit 0");
    let processes = |report: &Report| report.count("exit_group");
    assert_eq!((processes(&alone), processes(&with_children)), (1, 3));
    assert_eq!(code, Some(0));
}

#[test]
fn a_signal_becomes_the_shell_s_status() {
    let (report, code) = trace_shell("kill -TERM $$");
    assert_eq!((report.exit, code), (Exit::Signal(15), Some(128 + 15)));
}

#[test]
fn what_cannot_be_started_is_named() {
    let output = trace(&["--", "/nowhere/at/all"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot start /nowhere/at/all"));
}

#[test]
fn without_a_file_there_is_a_summary() {
    let output = trace(&["--", "sh", "-c", "exit 0"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("1 exit_group") && text.contains("0 of them RDMA_VERBS_IOCTL"), "{text}");
}
