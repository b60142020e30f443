//! Steering anchors: what each kernel and device gives, sharing, and what destroy leaves on the card.

use uverbs::{Error, FlowTableType, Object, Priority, SteeringAnchor};

use crate::card::Card;
use crate::expectation::{Expectation, profile_holds};
use crate::{Lab, Outcome, Test, child, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] = &[
    ("anchors::every_type_and_priority_works_or_is_refused_for_the_right_reason", every_type_and_priority),
    ("anchors::the_object_is_there_where_kernel_and_firmware_have_it", object_is_there),
    ("anchors::equal_type_and_priority_give_equal_ids_and_two_handles", equal_ids),
    ("anchors::different_priorities_and_types_give_different_ids", different_ids),
    ("anchors::a_priority_above_15_is_refused_before_any_command", priority_above_15),
    ("anchors::an_id_survives_until_the_last_holder_and_comes_back", id_comes_back),
    ("anchors::destroy_drop_and_close_each_remove_the_goto_rule", goto_rule),
    ("anchors::a_killed_process_leaves_nothing", killed_process),
    ("anchors::a_context_adopted_from_a_descriptor_makes_anchors", adopted),
    ("anchors::a_devx_context_makes_anchors_too", devx_context),
];

fn every_type_and_priority(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    profile_holds(&context)?;
    let expectation = Expectation::of(&context)?;
    for table_type in FlowTableType::ALL {
        for priority in [0, 7, 15] {
            let what = format!("{table_type} at priority {priority}");
            let created = SteeringAnchor::create(&context, table_type, Priority::new(priority)?);
            match (created, expectation.anchor(table_type)) {
                (Ok(anchor), Ok(())) => {
                    ensure(anchor.id().get() != 0, format!("{what}: the id is 0"))?;
                    equal(&what, (anchor.table_type(), anchor.priority().get()), (table_type, priority))?;
                    anchor.destroy()?;
                }
                (Err(error), Err(lacking)) => {
                    equal(&format!("{what}: {error}"), error.lacking(), Some(lacking))?;
                    ensure(error.errno().is_some(), format!("{what}: the errno is lost in {error:?}"))?;
                    ensure(error.hint().is_some(), format!("{what}: no hint for {error}"))?;
                }
                (Ok(_), Err(lacking)) => {
                    return Err(format!("{what} works, yet {lacking:?} should lack it").into());
                }
                (Err(error), Ok(())) => return Err(format!("{what}: {error}").into()),
            }
        }
    }
    equal("anchors left", anchors_held(&context), 0)?;
    passed()
}

/// Live anchors of this context; none where the object does not exist.
fn anchors_held(context: &uverbs::Context) -> usize {
    context.handles(Object::STEERING_ANCHOR).map_or(0, |handles| handles.len())
}

fn object_is_there(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    let expected = Expectation::of(&context)?.anchors().is_ok();
    equal("steering anchor object", context.supports(Object::STEERING_ANCHOR)?, expected)?;
    passed()
}

/// A test of anchors themselves has nothing to do where there are none: that they are refused is tested above.
macro_rules! need_anchors {
    ($context:expr, $($table_type:expr),*) => {
        $(if Expectation::of(&$context)?.anchor($table_type).is_err() {
            return skip(concat!("this kernel and device have no anchor ", stringify!($table_type)));
        })*
    };
}

fn equal_ids(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    need_anchors!(context, FlowTableType::NicRx);
    let create = || SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::new(3)?);
    let (first, second) = (create()?, create()?);
    equal("ids", second.id(), first.id())?;
    ensure(first.handle() != second.handle(), "one handle for two anchors")?;
    let other = SteeringAnchor::create(&lab.open()?, FlowTableType::NicRx, Priority::new(3)?)?;
    equal("id from another context", other.id(), first.id())?;
    passed()
}

fn different_ids(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    let expectation = Expectation::of(&context)?;
    need_anchors!(context, FlowTableType::NicRx);
    let mut anchors = Vec::new();
    for &table_type in FlowTableType::ALL.iter().filter(|&&t| expectation.anchor(t).is_ok()) {
        for priority in 0..=15 {
            anchors.push(SteeringAnchor::create(&context, table_type, Priority::new(priority)?)?);
        }
    }
    let mut ids: Vec<_> = anchors.iter().map(SteeringAnchor::id).collect();
    ids.sort_unstable();
    ids.dedup();
    equal("distinct ids", ids.len(), anchors.len())?;
    passed()
}

fn priority_above_15(lab: &Lab) -> Outcome {
    let before = Card::connect().map(|mut card| card.commands()).transpose()?;
    for value in [16, 65535] {
        let error = Priority::new(value).err().ok_or("a priority above 15 is accepted")?;
        ensure(matches!(error, Error::PriorityOutOfRange { .. }), format!("{error:?}"))?;
        let text = error.to_string();
        ensure(text.contains(&value.to_string()) && text.contains("0..=15"), text)?;
    }
    let after = Card::connect().map(|mut card| card.commands()).transpose()?;
    equal("commands on the card", after, before)?;
    let calls = child::Syscalls::of(&lab.device, "refused-priority")?;
    equal("ioctls", calls.count("ioctl"), 0)?;
    passed()
}

fn id_comes_back(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    need_anchors!(context, FlowTableType::NicRx);
    let create = || SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::new(5)?);
    let first = create()?;
    let id = first.id();
    let second = create()?;
    first.destroy()?;
    equal("handles after the first destroy", anchors_held(&context), 1)?;
    second.destroy()?;
    equal("handles after the last", anchors_held(&context), 0)?;
    equal("id when created again", create()?.id(), id)?;
    passed()
}

/// A way in which an anchor ends.
type End = fn(SteeringAnchor) -> uverbs::Result<()>;

fn goto_rule(lab: &Lab) -> Outcome {
    let Some(mut card) = Card::connect() else { return skip("only the emulated card tells its rules") };
    let context = lab.open()?;
    need_anchors!(context, FlowTableType::NicRx);
    let priority = Priority::new(9)?;
    let create = |context: &uverbs::Context| SteeringAnchor::create(context, FlowTableType::NicRx, priority);
    let ends: [(&str, End); 2] = [
        ("destroy", |anchor| anchor.destroy().map_err(|failed| failed.into_parts().1)),
        ("drop", |anchor| {
            drop(anchor);
            Ok(())
        }),
    ];
    for (name, end) in ends {
        let anchor = create(&context)?;
        let id = anchor.id();
        equal(&format!("{name}: rules while held"), card.rules(id)?, vec![0, 1])?;
        let other = create(&context)?;
        end(anchor)?;
        equal(&format!("{name}: rules while another holds it"), card.rules(id)?, vec![0, 1])?;
        end(other)?;
        equal(&format!("{name}: rules after the last"), card.rules(id)?, vec![1])?;
    }
    let id = child::run(&lab.device, "leave-anchor")?.trim().parse().map_err(|_| "the child told no id")?;
    equal("close: rules after the process ended", card.rules(uverbs::FlowTableId::new(id)?)?, vec![1])?;
    passed()
}

fn killed_process(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    need_anchors!(context, FlowTableType::NicRx);
    let mut holder = child::Holder::start(&lab.device, "hold-anchor")?;
    let id: u32 = holder.line()?.parse().map_err(|_| "the child told no id")?;
    let mut card = Card::connect();
    if let Some(card) = &mut card {
        equal("rules while held", card.rules(uverbs::FlowTableId::new(id)?)?, vec![0, 1])?;
    }
    holder.kill()?;
    match card {
        Some(mut card) => {
            equal("rules after SIGKILL", card.rules(uverbs::FlowTableId::new(id)?)?, vec![1])?;
            passed()
        }
        None => skip("the process was killed; only the emulated card tells that nothing was left"),
    }
}

fn adopted(lab: &Lab) -> Outcome {
    use std::os::fd::AsFd;
    let context = lab.open()?;
    need_anchors!(context, FlowTableType::NicRx);
    let shared = uverbs::Context::from_fd(context.as_fd().try_clone_to_owned()?)?;
    let anchor = SteeringAnchor::create(&shared, FlowTableType::NicRx, Priority::new(2)?)?;
    equal("handles seen through the first descriptor", anchors_held(&context), 1)?;
    let node = std::fs::File::options().read(true).write(true).open(lab.device()?.node())?;
    let fresh = uverbs::Context::from_fd(node.into())?;
    let other = SteeringAnchor::create(&fresh, FlowTableType::NicRx, Priority::new(2)?)?;
    equal("ids", other.id(), anchor.id())?;
    passed()
}

fn devx_context(lab: &Lab) -> Outcome {
    let context = lab.open()?;
    let devx = context.supports(Object::DEVX)?;
    let expectation = Expectation::of(&context)?;
    match lab.device()?.open_devx() {
        Ok(context) => {
            ensure(devx && context.is_devx(), "a DEVX context where the firmware has none")?;
            if expectation.anchor(FlowTableType::NicRx).is_ok() {
                SteeringAnchor::create(&context, FlowTableType::NicRx, Priority::default())?.destroy()?;
            }
        }
        Err(error) => {
            ensure(!devx, format!("no DEVX context: {error}"))?;
            equal(&error.to_string(), error.lacking(), Some(uverbs::Lacking::Firmware))?;
        }
    }
    passed()
}
