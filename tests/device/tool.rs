//! The tool on a device: what it prints, and its exit status.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use libtest_mimic::Failed;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use uverbs::{FlowTableType, Lacking};

use crate::card::Card;
use crate::expectation::Expectation;
use crate::program::ended;
use crate::{Lab, Outcome, Test, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] = &[
    ("tool::each_type_is_created_or_refused_by_exit_status_and_words", each_type),
    ("tool::a_priority_above_15_is_a_usage_error_and_sends_nothing", priority_above_15),
    ("tool::without_privileges_it_names_the_capability", unprivileged),
    ("tool::listing_and_showing_print_typed_lines", listing),
    ("tool::a_probe_creates_nothing", probe),
    ("tool::an_anchor_is_held_until_a_signal", hold),
];

/// Neither root nor any other user with capabilities.
const NOBODY: u32 = 65534;

macro_rules! tool {
    () => {
        match crate::program::find("uverbs")? {
            Some(tool) => tool,
            None => return skip("the tool is not in the path"),
        }
    };
}

fn lines(output: &[u8]) -> Result<Vec<Value>, Failed> {
    Ok(String::from_utf8(output.to_vec())?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn each_type(lab: &Lab) -> Outcome {
    let expectation = Expectation::of(&lab.open()?)?;
    for table_type in FlowTableType::ALL {
        let mut tool = tool!();
        let name = table_type.to_string();
        tool.args(["anchor", "create", &lab.device, "--type", &name, "--priority", "3", "--json"]);
        let output = tool.output()?;
        match expectation.anchor(table_type) {
            Ok(()) => {
                ended(&output, 0)?;
                let printed = lines(&output.stdout)?;
                let id = printed.first().map_or(Value::Null, |line| line["flow_table_id"].clone());
                ensure(id.is_u64(), format!("{printed:?}"))?;
                let device = &lab.device;
                let anchor = json!({"type": "anchor", "device": device, "table_type": name, "priority": 3, "flow_table_id": id});
                equal("output", printed, vec![anchor])?;
            }
            Err(lacking) => {
                let errors = ended(&output, 1)?;
                let names = match lacking {
                    Lacking::Kernel => "Linux 6.0",
                    Lacking::Firmware => "shared_object_to_user_object_allowed",
                    Lacking::Function => "eswitch manager",
                    _ => "driver",
                };
                ensure(errors.contains(names), format!("{name}: {names} is not named: {errors}"))?;
                ensure(errors.starts_with("error: ") && errors.contains("hint: "), errors)?;
            }
        }
    }
    passed()
}

fn priority_above_15(lab: &Lab) -> Outcome {
    let mut tool = tool!();
    let before = Card::connect().map(|mut card| card.commands()).transpose()?;
    let output =
        tool.args(["anchor", "create", &lab.device, "--type", "nic-rx", "--priority", "16"]).output()?;
    let errors = ended(&output, 2)?;
    ensure(errors.contains("0..=15"), errors)?;
    equal("commands", Card::connect().map(|mut card| card.commands()).transpose()?, before)?;
    passed()
}

fn unprivileged(lab: &Lab) -> Outcome {
    let mut tool = tool!();
    if !nix::unistd::geteuid().is_root() {
        return skip("only root can give up its privileges");
    }
    if Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("this kernel and device have no NIC RX anchor");
    }
    tool.args(["anchor", "create", &lab.device, "--type", "nic-rx"]).uid(NOBODY).gid(NOBODY);
    let errors = ended(&tool.output()?, 1)?;
    ensure(errors.contains("CAP_NET_RAW"), errors)?;
    passed()
}

fn listing(lab: &Lab) -> Outcome {
    for arguments in [vec!["devices", "--json"], vec!["show", &lab.device, "--json"]] {
        let output = tool!().args(&arguments).output()?;
        ended(&output, 0)?;
        let printed = lines(&output.stdout)?;
        ensure(
            !printed.is_empty() && printed.iter().all(|line| line["type"].is_string()),
            format!("{printed:?}"),
        )?;
        ensure(String::from_utf8(output.stdout)?.contains(&lab.device), "the device is not named")?;
    }
    passed()
}

fn probe(lab: &Lab) -> Outcome {
    let mut tool = tool!();
    let objects = || Card::connect().map(|mut card| card.objects()).transpose();
    let before = objects()?;
    let output = tool.args(["anchor", "probe", &lab.device, "--json"]).output()?;
    ended(&output, 0)?;
    ensure(lines(&output.stdout)?.len() >= FlowTableType::ALL.len(), "a type is missing")?;
    equal("objects on the card", objects()?, before)?;
    passed()
}

fn hold(lab: &Lab) -> Outcome {
    if Expectation::of(&lab.open()?)?.anchor(FlowTableType::NicRx).is_err() {
        return skip("this kernel and device have no NIC RX anchor");
    }
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let mut tool = tool!();
        tool.args([
            "anchor",
            "create",
            &lab.device,
            "--type",
            "nic-rx",
            "--priority",
            "11",
            "--hold",
            "--json",
        ]);
        let mut child = tool.stdout(Stdio::piped()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let mut next = || -> Result<Value, Failed> {
            Ok(serde_json::from_str(&output.next().ok_or("the output ended")??)?)
        };
        let anchor = next()?;
        equal("first line", anchor["type"].as_str(), Some("anchor"))?;
        equal("second line", next()?["type"].as_str(), Some("ready"))?;
        let id = u32::try_from(anchor["flow_table_id"].as_u64().ok_or("no id")?)?;
        let rules = || Card::connect().map(|mut card| card.rules(uverbs::FlowTableId::new(id)?)).transpose();
        ensure(rules()?.is_none_or(|rules| rules == [0, 1]), "the anchor leads nowhere while it is held")?;
        kill(Pid::from_raw(i32::try_from(child.id())?), signal)?;
        equal("last line", next()?["type"].as_str(), Some("destroyed"))?;
        equal("exit status", child.wait()?.code(), Some(0))?;
        ensure(rules()?.is_none_or(|rules| rules == [1]), "the goto rule is still there")?;
    }
    passed()
}
