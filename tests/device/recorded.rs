//! What programs asked of the kernel, as `lab-trace` recorded it, in words by which two of them can be compared.
//!
//! Addresses, handles and the firmware's numbers differ from run to run; in their place stands what they belong to.

use std::collections::BTreeMap;

use lab_trace::{Attribute, Command};
use uverbs_uapi::ib_user_ioctl_cmds as core;
use uverbs_uapi::mlx5_user_ioctl_cmds as mlx5;
use uverbs_uapi::prm::{
    Field, create_flow_group_in, create_flow_group_out, create_flow_table_out, dest_format_struct,
    flow_context, set_fte_in,
};

/// The fields of one command. Words of memory that are zero are left out.
pub(crate) type Fields = BTreeMap<String, String>;

/// Programs that do the same make commands about these objects in this order.
pub(crate) const STEPS: [(&str, u16); 12] = [
    ("create anchor", mlx5::MLX5_IB_OBJECT_STEERING_ANCHOR),
    ("create table", mlx5::MLX5_IB_OBJECT_DEVX_OBJ),
    ("create group", mlx5::MLX5_IB_OBJECT_DEVX_OBJ),
    ("create entry", mlx5::MLX5_IB_OBJECT_DEVX_OBJ),
    ("create matcher", mlx5::MLX5_IB_OBJECT_FLOW_MATCHER),
    ("create flow", core::UVERBS_OBJECT_FLOW),
    ("destroy flow", core::UVERBS_OBJECT_FLOW),
    ("destroy matcher", mlx5::MLX5_IB_OBJECT_FLOW_MATCHER),
    ("destroy entry", mlx5::MLX5_IB_OBJECT_DEVX_OBJ),
    ("destroy group", mlx5::MLX5_IB_OBJECT_DEVX_OBJ),
    ("destroy table", mlx5::MLX5_IB_OBJECT_DEVX_OBJ),
    ("destroy anchor", mlx5::MLX5_IB_OBJECT_STEERING_ANCHOR),
];

/// What an attribute holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The kernel puts a new handle here.
    NewHandle,
    Handle,
    /// Bytes, in line or in memory.
    Bytes,
}

/// The attributes of a method: id, name, what it holds.
type Attributes = &'static [(u16, &'static str, Holds)];

/// All methods that the steps may use: object, method, attributes.
const METHODS: [(u16, u16, Attributes); 9] = [
    (
        mlx5::MLX5_IB_OBJECT_STEERING_ANCHOR,
        mlx5::MLX5_IB_METHOD_STEERING_ANCHOR_CREATE,
        &[
            (mlx5::MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE, "HANDLE", Holds::NewHandle),
            (mlx5::MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE, "FT_TYPE", Holds::Bytes),
            (mlx5::MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY, "PRIORITY", Holds::Bytes),
            (mlx5::MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, "FT_ID", Holds::Bytes),
        ],
    ),
    (
        mlx5::MLX5_IB_OBJECT_STEERING_ANCHOR,
        mlx5::MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY,
        &[(mlx5::MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE, "HANDLE", Holds::Handle)],
    ),
    (
        mlx5::MLX5_IB_OBJECT_DEVX_OBJ,
        mlx5::MLX5_IB_METHOD_DEVX_OBJ_CREATE,
        &[
            (mlx5::MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, "HANDLE", Holds::NewHandle),
            (mlx5::MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, "CMD_IN", Holds::Bytes),
            (mlx5::MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, "CMD_OUT", Holds::Bytes),
        ],
    ),
    (
        mlx5::MLX5_IB_OBJECT_DEVX_OBJ,
        mlx5::MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
        &[(mlx5::MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, "HANDLE", Holds::Handle)],
    ),
    (
        mlx5::MLX5_IB_OBJECT_FLOW_MATCHER,
        mlx5::MLX5_IB_METHOD_FLOW_MATCHER_CREATE,
        &[
            (mlx5::MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, "HANDLE", Holds::NewHandle),
            (mlx5::MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, "MATCH_MASK", Holds::Bytes),
            (mlx5::MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, "FLOW_TYPE", Holds::Bytes),
            (mlx5::MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, "MATCH_CRITERIA", Holds::Bytes),
            (mlx5::MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, "FLOW_FLAGS", Holds::Bytes),
            (mlx5::MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, "FT_TYPE", Holds::Bytes),
        ],
    ),
    (
        mlx5::MLX5_IB_OBJECT_FLOW_MATCHER,
        mlx5::MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
        &[(mlx5::MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, "HANDLE", Holds::Handle)],
    ),
    (
        core::UVERBS_OBJECT_FLOW,
        mlx5::MLX5_IB_METHOD_CREATE_FLOW,
        &[
            (mlx5::MLX5_IB_ATTR_CREATE_FLOW_HANDLE, "HANDLE", Holds::NewHandle),
            (mlx5::MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, "MATCH_VALUE", Holds::Bytes),
            (mlx5::MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, "DEST_DEVX", Holds::Handle),
            (mlx5::MLX5_IB_ATTR_CREATE_FLOW_MATCHER, "MATCHER", Holds::Handle),
            (mlx5::MLX5_IB_ATTR_CREATE_FLOW_TAG, "TAG", Holds::Bytes),
        ],
    ),
    (
        core::UVERBS_OBJECT_FLOW,
        mlx5::MLX5_IB_METHOD_DESTROY_FLOW,
        &[(mlx5::MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, "HANDLE", Holds::Handle)],
    ),
    (
        core::UVERBS_OBJECT_FLOW,
        core::UVERBS_METHOD_FLOW_DESTROY,
        &[(core::UVERBS_ATTR_DESTROY_FLOW_HANDLE, "HANDLE", Holds::Handle)],
    ),
];

/// Where the firmware says the number of a new object: step, attribute, place.
const NUMBERS_GIVEN: [(&str, &str, Field); 3] = [
    ("create anchor", "FT_ID", Field::new(0, 32)),
    ("create table", "CMD_OUT", create_flow_table_out::TABLE_ID),
    ("create group", "CMD_OUT", create_flow_group_out::GROUP_ID),
];

/// Where it is told one: step, attribute, place, the step that made the object.
const NUMBERS_TAKEN: [(&str, &str, Field, &str); 4] = [
    ("create group", "CMD_IN", create_flow_group_in::TABLE_ID, "create table"),
    ("create entry", "CMD_IN", set_fte_in::TABLE_ID, "create table"),
    ("create entry", "CMD_IN", set_fte_in::FLOW_CONTEXT.then(flow_context::GROUP_ID), "create group"),
    (
        "create entry",
        "CMD_IN",
        Field::new(set_fte_in::SIZE * 8, dest_format_struct::SIZE * 8)
            .then(dest_format_struct::DESTINATION_ID),
        "create anchor",
    ),
];

/// What the objects are called that were made so far.
#[derive(Default)]
struct Objects {
    /// The step that made the object of this handle.
    handles: BTreeMap<u64, &'static str>,
    /// The firmware's number of the object that this step made.
    numbers: BTreeMap<&'static str, u64>,
}

/// Whether a command is about the objects of the steps.
pub(crate) fn is_step(command: &Command) -> bool {
    STEPS.iter().any(|(_, object)| *object == command.object)
}

/// The commands of the steps.
///
/// # Errors
/// The program made other commands about such objects than the steps want.
pub(crate) fn steps(commands: &[Command]) -> Result<Vec<Fields>, String> {
    let commands: Vec<_> = commands.iter().filter(|command| is_step(command)).collect();
    let found: Vec<_> = commands.iter().map(|command| command.object).collect();
    if found != STEPS.map(|(_, object)| object) {
        return Err(format!("commands about the objects {found:x?}, not the steps {STEPS:x?}"));
    }
    let mut objects = Objects::default();
    STEPS.iter().zip(commands).map(|((step, _), command)| fields(step, command, &mut objects)).collect()
}

fn fields(step: &'static str, command: &Command, objects: &mut Objects) -> Result<Fields, String> {
    let (object, method) = (command.object, command.method);
    let (_, _, known) = METHODS
        .iter()
        .find(|known| (known.0, known.1) == (object, method))
        .ok_or_else(|| format!("{step}: method {method:#x} of object {object:#x}"))?;
    let name = |id: u16| {
        let known = known.iter().find(|known| known.0 == id);
        known.map_or_else(|| (format!("{id:#x}"), Holds::Bytes), |known| (known.1.to_owned(), known.2))
    };
    let names: Vec<_> = command.attributes.iter().map(|attribute| name(attribute.id).0).collect();
    let mut fields = Fields::from([
        ("method".to_owned(), format!("{method:#x}")),
        ("length".to_owned(), command.length.to_string()),
        ("driver".to_owned(), command.driver.to_string()),
        ("reserved".to_owned(), format!("{:?}", command.reserved)),
        ("result".to_owned(), command.result.to_string()),
        ("attributes".to_owned(), names.join(" ")),
    ]);
    for attribute in &command.attributes {
        let (name, holds) = name(attribute.id);
        fields.insert(format!("{name} length"), attribute.length.to_string());
        fields.insert(format!("{name} element"), attribute.element.to_string());
        let mut part = Part { step, name: &name, objects, fields: &mut fields };
        match holds {
            Holds::NewHandle => part.new_handle(attribute),
            Holds::Handle => part.handle(attribute),
            Holds::Bytes => part.bytes(attribute),
        }
    }
    Ok(fields)
}

/// One attribute on its way into words.
struct Part<'a> {
    step: &'static str,
    name: &'a str,
    objects: &'a mut Objects,
    fields: &'a mut Fields,
}

impl Part<'_> {
    fn say(&mut self, what: &str, value: impl Into<String>) {
        self.fields.insert(format!("{}{what}", self.name), value.into());
    }

    fn new_handle(&mut self, attribute: &Attribute) {
        self.say(" flags", format!("{:#x}", attribute.before.flags));
        self.say(" flags after", format!("{:#x}", attribute.after.flags));
        self.say("", format!("{:#x}", attribute.before.data));
        self.objects.handles.insert(attribute.after.data, self.step);
    }

    fn handle(&mut self, attribute: &Attribute) {
        let handle = attribute.before.data;
        let step = self.objects.handles.get(&handle);
        let text = step.map_or_else(|| format!("{handle:#x}"), |step| format!("the handle from `{step}`"));
        self.say("", text);
        self.say(" flags", format!("{:#x}", attribute.before.flags));
        self.say(" flags after", format!("{:#x}", attribute.after.flags));
    }

    fn bytes(&mut self, attribute: &Attribute) {
        for (moment, value) in [("", &attribute.before), (" after", &attribute.after)] {
            self.say(&format!(" flags{moment}"), format!("{:#x}", value.flags));
            match &value.memory {
                None => self.say(moment, format!("{:#x}", value.data)),
                Some(memory) => self.memory(moment, memory.0.clone()),
            }
        }
    }

    fn memory(&mut self, moment: &str, mut bytes: Vec<u8>) {
        self.say(moment, "in memory");
        for (step, attribute, place, of) in NUMBERS_TAKEN {
            if (step, attribute) == (self.step, self.name) {
                let number = place.get(&bytes);
                let text = match self.objects.numbers.get(of) {
                    Some(given) if *given == number => format!("the number from `{of}`"),
                    _ => format!("{number:#x}"),
                };
                self.say(&format!("+{:#05x}{moment} number", place.byte()), text);
                place.set(&mut bytes, 0);
            }
        }
        for (step, attribute, place) in NUMBERS_GIVEN {
            if (step, attribute) == (self.step, self.name) && place.get(&bytes) != 0 {
                // The kernel writes an anchor's number as an integer of its own.
                let number = if attribute == "FT_ID" {
                    u64::from(u32::from_ne_bytes(bytes[..4].try_into().unwrap_or_default()))
                } else {
                    place.get(&bytes)
                };
                self.objects.numbers.insert(step, number);
                self.say(&format!("{moment} number"), "a number");
                place.set(&mut bytes, 0);
            }
        }
        for (at, word) in bytes.chunks(4).enumerate().filter(|(_, word)| word.iter().any(|byte| *byte != 0)) {
            self.say(&format!("+{:#05x}{moment}", at * 4), format!("{:?}", lab_trace::Bytes(word.to_vec())));
        }
    }
}
