//! DEVX: commands and objects of the firmware, and what comes through descriptors.

use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

use libtest_mimic::Failed;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use uverbs::devx::{
    AsyncCommands, EventContent, Events, Inbox, Object, SharedMemory, Uar, UarMapping, Umem, UmemAccess,
    event_queue_number, execute,
};
use uverbs::flow::FlowCounter;
use uverbs::{Context, Error};
use uverbs_uapi::prm;

use crate::card::Card;
use crate::{Lab, Outcome, Test, ensure, equal, passed, skip};

pub(crate) const TESTS: &[Test] = &[
    ("devx::a_general_command_is_answered_and_another_is_not_let_through", general_command),
    ("devx::an_object_of_the_firmware_comes_and_goes", object),
    ("devx::a_query_is_answered_through_a_descriptor", asynchronous),
    ("devx::events_are_subscribed_to", events),
    ("devx::a_vector_has_an_event_queue", event_queue),
    ("devx::doorbell_pages_are_had_and_given_back", doorbells),
    ("devx::memory_is_registered_and_given_back", memory),
    ("devx::a_context_without_devx_makes_no_objects", without_devx),
];

/// A context with DEVX, or why there is none.
pub(crate) fn devx(lab: &Lab) -> Result<Result<Context, &'static str>, Failed> {
    if lab.open()?.supports(uverbs::Object::DEVX)? {
        Ok(Ok(lab.device()?.open_devx()?))
    } else {
        Ok(Err("the card has no DEVX"))
    }
}

macro_rules! context {
    ($lab:expr) => {
        match devx($lab)? {
            Ok(context) => context,
            Err(reason) => return skip(reason),
        }
    };
}

/// What asks for a counter's state.
fn query(counter: &FlowCounter) -> Inbox<{ prm::query_flow_counter_in::SIZE }> {
    let mut inbox = Inbox::new(prm::MLX5_CMD_OP_QUERY_FLOW_COUNTER);
    inbox.set(prm::query_flow_counter_in::FLOW_COUNTER_ID, counter.id().into());
    inbox
}

const ANSWER: usize = prm::query_flow_counter_out::SIZE + prm::traffic_counter::SIZE;

fn general_command(lab: &Lab) -> Outcome {
    let context = context!(lab);
    let mut outbox = [0; 112];
    execute(&context, Inbox::<16>::new(prm::MLX5_CMD_OP_QUERY_ISSI).as_ref(), &mut outbox)?;
    let refused = execute(&context, Inbox::<16>::new(prm::MLX5_CMD_OP_DISABLE_HCA).as_ref(), &mut [0; 16]);
    let errno = refused.err().ok_or("a user disables the card")?.errno();
    equal("the kernel's answer to a command that users may not send", errno, Some(nix::libc::EINVAL))?;
    passed()
}

fn object(lab: &Lab) -> Outcome {
    let context = context!(lab);
    let mut card = Card::connect();
    let before = card.as_mut().map(Card::objects).transpose()?;
    let inbox = Inbox::<16>::new(prm::MLX5_CMD_OP_ALLOC_PD);
    let pd = Object::create(&context, inbox.as_ref(), &mut [0; 16])?;
    equal("what created it", pd.created_by(), prm::MLX5_CMD_OP_ALLOC_PD)?;
    let foreign = pd.query(query(&FlowCounter::create(&context)?).as_ref(), &mut [0; ANSWER]);
    equal(
        "errno of a query of another object",
        foreign.err().and_then(|error| error.errno()),
        Some(nix::libc::EINVAL),
    )?;
    pd.destroy()?;
    drop(Object::create(&context, inbox.as_ref(), &mut [0; 16])?);
    equal("objects on the card", card.as_mut().map(Card::objects).transpose()?, before)?;
    passed()
}

/// Whether something can be read now or soon.
fn is_readable(fd: impl AsFd) -> Result<bool, Failed> {
    Ok(poll(&mut [PollFd::new(fd.as_fd(), PollFlags::POLLIN)], PollTimeout::from(2000u16))? == 1)
}

fn asynchronous(lab: &Lab) -> Outcome {
    let context = context!(lab);
    let counter = FlowCounter::create(&context)?;
    let answers = AsyncCommands::create(&context)?;
    equal("an answer before a question", answers.read()?, None)?;
    for id in 0..8 {
        counter.object().query_async(&answers, id, query(&counter).as_ref(), u16::try_from(ANSWER)?)?;
    }
    let mut found = Vec::new();
    while found.len() < 8 {
        ensure(is_readable(&answers)?, format!("{} answers of 8 come", found.len()))?;
        while let Some(answer) = answers.read()? {
            equal("a refusal", answer.refused(prm::MLX5_CMD_OP_QUERY_FLOW_COUNTER), None)?;
            equal("length of an answer", answer.outbox.len(), ANSWER)?;
            found.push(answer.id);
        }
    }
    found.sort_unstable();
    equal("numbers of the answers", found, (0..8).collect())?;
    passed()
}

fn events(lab: &Lab) -> Outcome {
    /// `MLX5_EVENT_TYPE_PORT_CHANGE`: of the device, so not for users.
    const PORT_CHANGE: u16 = 0x09;
    let context = context!(lab);
    for content in [EventContent::Whole, EventContent::CookieOnly] {
        let events = Events::create(&context, content)?;
        equal("an event before a subscription", events.read()?, None)?;
        let refused = events.subscribe(None, &[PORT_CHANGE; 17], 1);
        ensure(refused.is_err(), "17 types in one subscription")?;
        ensure(events.subscribe(None, &[], 1).is_err(), "a subscription to nothing")?;
    }
    passed()
}

fn event_queue(lab: &Lab) -> Outcome {
    let context = context!(lab);
    event_queue_number(&context, 0)?;
    let refused = event_queue_number(&context, context.completion_vectors() + 1000);
    ensure(refused.is_err(), "a vector that does not exist has an event queue")?;
    passed()
}

fn doorbells(lab: &Lab) -> Outcome {
    let context = context!(lab);
    let page = Uar::allocate(&context, UarMapping::Uncached)?;
    ensure(page.mmap_length() > 0, "a page of no length")?;
    page.destroy()?;
    // Whether write-combining can be had depends on the machine.
    match Uar::allocate(&context, UarMapping::WriteCombining) {
        Ok(page) => page.destroy()?,
        Err(error) => equal("errno", error.errno(), Some(nix::libc::EOPNOTSUPP))?,
    }
    passed()
}

fn memory(lab: &Lab) -> Outcome {
    let context = context!(lab);
    let memory = SharedMemory::new(3 * 4096);
    memory.word(5).store(0x5a5a_5a5a, Ordering::Relaxed);
    let umem = Umem::register(&context, memory, UmemAccess::LOCAL_WRITE)?;
    let other = Umem::register(&context, SharedMemory::new(1), UmemAccess::default())?;
    ensure(umem.id() != other.id(), "two registrations have one number")?;
    drop(other);
    let memory = umem.deregister()?.ok_or("the memory does not come back")?;
    equal("what the memory holds", memory.word(5).load(Ordering::Relaxed), 0x5a5a_5a5a)?;
    passed()
}

fn without_devx(lab: &Lab) -> Outcome {
    context!(lab);
    let context = lab.open()?;
    let refused = FlowCounter::create(&context).err().ok_or("a counter without DEVX")?;
    equal("errno", refused.errno(), Some(nix::libc::EINVAL))?;
    ensure(!matches!(refused, Error::Refused(_)), "the firmware was asked")?;
    passed()
}
