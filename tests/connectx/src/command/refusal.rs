//! Why the card refused a command: a firmware status, a stable syndrome, and words for the trace.

/// The status byte of a command's answer.
///
/// C: `MLX5_CMD_STAT_*` (`include/linux/mlx5/device.h`); the driver maps each to an errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Internal error: EIO.
    Internal = 0x01,
    /// The opcode does not exist, or not with this modifier: EINVAL.
    BadOperation = 0x02,
    /// A parameter is out of its range or contradicts another: EINVAL.
    BadParameter = 0x03,
    /// The card is not in the state that the command needs: EIO.
    BadSystemState = 0x04,
    /// The object does not exist, or is not the caller's: EINVAL.
    BadResource = 0x05,
    /// The object is in use: EBUSY.
    ResourceBusy = 0x06,
    /// A limit is exceeded: ENOMEM.
    ExceedsLimit = 0x08,
    /// The object is in a state that does not allow it: EINVAL.
    BadResourceState = 0x09,
    /// An index is out of range: EINVAL.
    BadIndex = 0x0a,
    /// No room: EAGAIN.
    NoResources = 0x0f,
    /// The input is shorter than the command: EIO.
    BadInputLength = 0x50,
    /// The output has no room for the answer: EIO.
    BadOutputLength = 0x51,
}

/// A refused command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the guest reads in byte 0: a [`Status`], or whatever was asked for.
    pub status: u8,
    /// What the guest reads in bytes 4 to 7: the same reason always has the same number.
    pub syndrome: Syndrome,
    /// The particulars, for the trace.
    pub detail: String,
}

impl Refusal {
    /// A refusal for the reason `syndrome`, whose status it brings.
    pub fn new(syndrome: Syndrome, detail: impl Into<String>) -> Self {
        Self { status: syndrome.status() as u8, syndrome, detail: detail.into() }
    }

    /// A refusal that somebody asked for, with the status of their choice.
    #[must_use]
    pub fn injected(status: u8) -> Self {
        Self { status, ..Self::new(Syndrome::Injected, "by request") }
    }
}

/// Declares the reasons: name, number, status and the words of the trace.
macro_rules! syndromes {
    ($($name:ident = $code:literal, $status:ident, $words:literal;)*) => {
        /// A reason to refuse. The numbers are this model's own: real firmware has others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Syndrome { $(#[doc = concat!("“", $words, "”")] $name),* }

        impl Syndrome {
            /// The number in the answer.
            #[must_use]
            pub const fn code(self) -> u32 { match self { $(Self::$name => $code),* } }
            /// The status that goes with it.
            #[must_use]
            pub const fn status(self) -> Status { match self { $(Self::$name => Status::$status),* } }
            /// The reason in words.
            #[must_use]
            pub const fn words(self) -> &'static str { match self { $(Self::$name => $words),* } }
            /// All reasons.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

// 0xc0_01.. commands and ownership, 0xc0_10.. steering, 0xc0_20.. queues, 0xc0_30.. other objects.
syndromes! {
    ShortInput = 0xc001, BadInputLength, "the input is shorter than the command";
    ShortOutput = 0xc002, BadOutputLength, "the output has no room for the answer";
    UnknownOpcode = 0xc003, BadOperation, "no such command";
    NoSuchObject = 0xc004, BadResource, "no such object";
    ForeignObject = 0xc005, BadResource, "the object belongs to another uid and is not shared";
    ObjectInUse = 0xc006, ResourceBusy, "the object is still in use";
    BadVector = 0xc007, BadParameter, "the function has no such interrupt vector";
    NumbersExhausted = 0xc008, ExceedsLimit, "all numbers of this kind are in use";
    TooMany = 0xc009, ExceedsLimit, "as many as the capability allows are alive";
    Injected = 0xc00f, Internal, "an error that was asked for";

    TableTypeMismatch = 0xc010, BadParameter, "the destination table is of another type";
    LevelNotAbove = 0xc011, BadParameter, "the destination's level is not above the table's own, and ignore_flow_level is not set";
    IndexOutsideGroup = 0xc012, BadIndex, "the flow index lies outside its group";
    IndexTaken = 0xc013, BadResourceState, "the flow index is taken";
    GroupOutsideTable = 0xc014, BadParameter, "the group reaches behind the end of the table";
    GroupsOverlap = 0xc015, BadParameter, "the group overlaps another";
    TableHasGroups = 0xc016, ResourceBusy, "the table still has groups";
    GroupHasEntries = 0xc017, ResourceBusy, "the group still has entries";
    TableIsDestination = 0xc018, ResourceBusy, "the table is still somebody's destination";
    UnknownTableType = 0xc019, BadParameter, "no such flow table type on this card";
    TableTooLarge = 0xc01a, ExceedsLimit, "the table is larger than log_max_ft_size";
    LevelTooHigh = 0xc01b, BadParameter, "the level is above max_ft_level";
    IgnoreLevelUnsupported = 0xc01c, BadParameter, "ignore_flow_level without its capability";
    BadAction = 0xc01d, BadParameter, "the actions contradict each other, or lack what they need";
    BadDestination = 0xc01e, BadParameter, "no such destination for a table of this type";
    GroupTypeUnsupported = 0xc01f, BadParameter, "the card has no groups of this type";
    BadReformat = 0xc110, BadParameter, "the card does not do this packet reformat";
    BadHeaderModification = 0xc111, BadParameter, "the card does not do this header modification";
    BadFieldSelection = 0xc112, BadParameter, "a field that cannot be modified is selected";

    WrongQueueState = 0xc020, BadResourceState, "the queue is not in the state that the command names, or cannot go to the new one";
    BadQueueLayout = 0xc021, BadParameter, "the queue's size, stride or page list is out of range";
    BadHash = 0xc022, BadParameter, "no such receive hash function";
    BadIndirection = 0xc023, BadParameter, "the indirection table is empty or longer than its maximum";
}
