//! The kernel's steering: what brings packets into own tables.

use std::sync::Arc;

use rustix::io::Errno;
use uverbs_uapi::mlx5_user_ioctl_cmds as cmds;

use super::{FlowCounter, FlowTable, FlowTag, Invalid, Match, identity::same_context, kept::Kept, roads};
use crate::{
    Context, DestroyError, Error, FlowTableType, KernelRelease, Priority, Result,
    command::{
        Command, Method, Refusal,
        class::{BytesIn, ConstIn, EnumIn, FlagsIn, Handle, HandleArray, NewHandle, ValueIn},
    },
    context::Owned,
    devx::Object,
    error::Reason,
};

const MATCHER: u16 = cmds::MLX5_IB_OBJECT_FLOW_MATCHER;
const MATCHER_CREATE: Method = Method::new(MATCHER, cmds::MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
const MATCHER_HANDLE: NewHandle = NewHandle(cmds::MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
const MATCHER_MASK: BytesIn = BytesIn(cmds::MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK);
const MATCHER_FLOW_TYPE: EnumIn = EnumIn(cmds::MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE);
const MATCHER_CRITERIA: ValueIn<u8> = ValueIn::new(cmds::MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA);
const MATCHER_TABLE_TYPE: ConstIn = ConstIn(cmds::MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE);
const MATCHER_DESTROY: Method = Method::new(MATCHER, cmds::MLX5_IB_METHOD_FLOW_MATCHER_DESTROY);
const MATCHER_DESTROY_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE);

const FLOW: u16 = uverbs_uapi::ib_user_ioctl_cmds::UVERBS_OBJECT_FLOW;
const FLOW_CREATE: Method = Method::new(FLOW, cmds::MLX5_IB_METHOD_CREATE_FLOW);
const FLOW_HANDLE: NewHandle = NewHandle(cmds::MLX5_IB_ATTR_CREATE_FLOW_HANDLE);
const FLOW_VALUE: BytesIn = BytesIn(cmds::MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE);
const FLOW_DEVX: Handle = Handle(cmds::MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX);
const FLOW_MATCHER: Handle = Handle(cmds::MLX5_IB_ATTR_CREATE_FLOW_MATCHER);
const FLOW_TAG: ValueIn<u32> = ValueIn::new(cmds::MLX5_IB_ATTR_CREATE_FLOW_TAG);
const FLOW_COUNTERS: HandleArray = HandleArray(cmds::MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX);
const FLOW_FLAGS: FlagsIn = FlagsIn(cmds::MLX5_IB_ATTR_CREATE_FLOW_FLAGS);
const FLOW_DESTROY: Method = Method::new(FLOW, cmds::MLX5_IB_METHOD_DESTROY_FLOW);
const FLOW_DESTROY_HANDLE: Handle = Handle(cmds::MLX5_IB_ATTR_DESTROY_FLOW_HANDLE);

/// What flows of one priority in the kernel's tables compare.
///
/// The kernel looks at lower priorities first. A handle: clones are the same matcher, which goes when the last clone
/// and flow is gone.
///
/// Needs no privilege: the kernel only keeps it, errors of the mask show when a [`Flow`] is made.
///
/// C: `struct mlx5dv_flow_matcher` (`drivers/infiniband/hw/mlx5/fs.c`).
#[doc(alias("mlx5dv_flow_matcher", "MLX5_IB_OBJECT_FLOW_MATCHER"))]
#[derive(Clone, Debug)]
pub struct FlowMatcher(Arc<Matcher>);

#[derive(Debug)]
struct Matcher {
    kept: Kept<Owned, ()>,
    about: About,
}

#[derive(Debug)]
struct About {
    table_type: FlowTableType,
    priority: Priority,
    criteria: Match,
}

impl FlowMatcher {
    /// Makes a matcher for flows that ask about the same fields of packets as `criteria`; what it wants of them makes
    /// no difference.
    ///
    /// For a way back through an anchor, the anchor's priority has to be greater than this one.
    ///
    /// # Errors
    /// `EINVAL` for [`FlowTableType::Fdb`] if the embedded switch is not in switchdev mode.
    #[doc(alias("mlx5dv_create_flow_matcher", "MLX5_IB_METHOD_FLOW_MATCHER_CREATE"))]
    pub fn create(
        context: &Context,
        table_type: FlowTableType,
        priority: Priority,
        criteria: &Match,
    ) -> Result<Self> {
        let mut command = Command::<5>::new(MATCHER_CREATE, context.driver_number());
        let new = command.new_handle(MATCHER_HANDLE);
        command.bytes_in(MATCHER_MASK, &criteria.mask()[..criteria.significant()])?;
        command.element(MATCHER_FLOW_TYPE, cmds::MLX5_IB_FLOW_TYPE_NORMAL, &priority.get());
        command.value_in(MATCHER_CRITERIA, &criteria.criteria());
        command.constant(MATCHER_TABLE_TYPE, table_type.to_kernel().into());
        let handle = context.send(command)?.handle(new);
        let steering = Owned::new(context, handle, (MATCHER_DESTROY, MATCHER_DESTROY_HANDLE));
        let about = About { table_type, priority, criteria: criteria.clone() };
        Ok(Self(Arc::new(Matcher { kept: Kept::new(steering, ()), about })))
    }

    /// A flow that sends packets that match `criteria` to `target`.
    pub fn flow<'a>(&'a self, criteria: &'a Match, target: impl Into<FlowTarget>) -> FlowBuilder<'a> {
        FlowBuilder { matcher: self, criteria, target: target.into(), tag: None, counter: None }
    }

    /// The type of the tables that the flows are in.
    #[must_use]
    pub fn table_type(&self) -> FlowTableType {
        self.0.about.table_type
    }

    /// The flows' priority.
    #[must_use]
    pub fn priority(&self) -> Priority {
        self.0.about.priority
    }

    /// The context that the matcher belongs to.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.0.kept.object().context()
    }

    /// The kernel's handle.
    #[must_use]
    pub fn handle(&self) -> u32 {
        self.0.kept.object().handle()
    }

    /// Destroys the matcher.
    ///
    /// # Errors
    /// With the matcher: [`Invalid::InUse`] if a flow or another clone holds it; the kernel's.
    #[doc(alias("mlx5dv_destroy_flow_matcher", "MLX5_IB_METHOD_FLOW_MATCHER_DESTROY"))]
    pub fn destroy(self) -> Result<(), DestroyError<Self>> {
        let matcher = Arc::try_unwrap(self.0)
            .map_err(|matcher| DestroyError::new(Self(matcher), Invalid::InUse.into()))?;
        let Matcher { kept, about } = matcher;
        kept.destroy()
            .map_err(|(kept, error)| DestroyError::new(Self(Arc::new(Matcher { kept, about })), error))
    }
}

/// Where a flow sends packets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FlowTarget {
    /// Into an own table.
    Table(FlowTable),
    /// To an own TIR, made by DEVX; on the receive side only.
    Tir(Arc<Object>),
    /// Nowhere.
    #[doc(alias = "MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP")]
    Drop,
    /// On, as if no flow of this priority had matched.
    #[doc(alias = "MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS")]
    DefaultMiss,
}

impl From<FlowTable> for FlowTarget {
    fn from(table: FlowTable) -> Self {
        Self::Table(table)
    }
}

impl From<&FlowTable> for FlowTarget {
    fn from(table: &FlowTable) -> Self {
        Self::Table(table.clone())
    }
}

/// A [`Flow`] in the making.
#[derive(Clone, Debug)]
#[must_use]
pub struct FlowBuilder<'a> {
    matcher: &'a FlowMatcher,
    criteria: &'a Match,
    target: FlowTarget,
    tag: Option<FlowTag>,
    counter: Option<FlowCounter>,
}

impl FlowBuilder<'_> {
    /// Marks packets.
    #[doc(alias = "MLX5_IB_ATTR_CREATE_FLOW_TAG")]
    pub const fn tag(mut self, tag: FlowTag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Counts packets.
    #[doc(alias = "MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX")]
    pub fn count(mut self, counter: &FlowCounter) -> Self {
        self.counter = Some(counter.clone());
        self
    }

    /// Makes the flow: from now on packets take it.
    ///
    /// # Errors
    /// [`Invalid`] if packets would go in circles, or objects do not go together; `EPERM` without `CAP_NET_RAW`;
    /// `EEXIST` if there is a flow with the same match and another tag; `ENOSPC` if the kernel's table is full.
    #[doc(alias("mlx5dv_create_flow", "MLX5_IB_METHOD_CREATE_FLOW"))]
    pub fn create(self) -> Result<Flow> {
        let Self { matcher, criteria, target, tag, counter } = self;
        if !criteria.has_criteria_of(&matcher.0.about.criteria) {
            return Err(Invalid::Criteria.into());
        }
        let context = matcher.context();
        if let Some(counter) = &counter {
            same_context(context, counter.object())?;
        }
        let road = Road::add(matcher, target)?;
        let counters = counter.as_ref().map(|counter| [counter.object().handle()]);
        let mut command = Command::<7>::new(FLOW_CREATE, context.driver_number());
        let new = command.new_handle(FLOW_HANDLE);
        command.bytes_in(FLOW_VALUE, &criteria.value()[..criteria.significant()])?;
        match &road.target {
            FlowTarget::Table(table) => command.handle(FLOW_DEVX, table.object().handle()),
            FlowTarget::Tir(tir) => command.handle(FLOW_DEVX, tir.handle()),
            FlowTarget::Drop => command.flags(FLOW_FLAGS, cmds::MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP.into()),
            FlowTarget::DefaultMiss => {
                command.flags(FLOW_FLAGS, cmds::MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS.into());
            }
        }
        command.handle(FLOW_MATCHER, matcher.handle());
        if let Some(tag) = tag {
            command.value_in(FLOW_TAG, &tag.get());
        }
        if let Some(counters) = &counters {
            command.handles(FLOW_COUNTERS, counters)?;
        }
        let handle = command.send(context.fd()).map_err(explain)?.handle(new);
        let steering = Owned::new(context, handle, (FLOW_DESTROY, FLOW_DESTROY_HANDLE));
        Ok(Flow { kept: Kept::new(steering, Needs { road, counter, matcher: matcher.clone() }) })
    }
}

/// Says who lacks what, where the errno alone does not.
#[cold]
fn explain(refusal: Refusal) -> Error {
    match refusal.errno {
        Errno::PERM => Error::kernel(refusal, Reason::NoNetRaw { running: KernelRelease::running() }),
        _ => refusal.into(),
    }
}

/// A flow's way on the map, and what it leads to.
#[derive(Debug)]
struct Road {
    priority: Priority,
    target: FlowTarget,
}

impl Road {
    fn add(matcher: &FlowMatcher, target: FlowTarget) -> Result<Self, Invalid> {
        let priority = matcher.priority();
        match &target {
            FlowTarget::Table(table) => {
                let (wanted, found) = (matcher.table_type(), table.table_type());
                if wanted != found {
                    return Err(Invalid::TableType { wanted, found });
                }
                same_context(matcher.context(), table.object())?;
                table.check_flow(priority)?;
                roads::add_flow(priority, table.place())?;
            }
            FlowTarget::Tir(tir) => same_context(matcher.context(), tir)?,
            FlowTarget::Drop | FlowTarget::DefaultMiss => {}
        }
        Ok(Self { priority, target })
    }
}

impl Drop for Road {
    fn drop(&mut self) {
        if let FlowTarget::Table(table) = &self.target {
            roads::remove_flow(self.priority, table.place());
        }
    }
}

/// A rule in the kernel's steering: packets that match take it.
///
/// Made by [`FlowMatcher::flow`]. It holds the table it leads to, so that cannot be destroyed as long as packets come.
///
/// C: `struct ibv_flow` (`drivers/infiniband/hw/mlx5/fs.c`).
#[doc(alias("ibv_flow", "mlx5dv_create_flow"))]
#[derive(Debug)]
pub struct Flow {
    kept: Kept<Owned, Needs>,
}

/// In the order in which it is let go of.
#[derive(Debug)]
struct Needs {
    road: Road,
    #[expect(dead_code, reason = "held for the flow, which counts with it")]
    counter: Option<FlowCounter>,
    matcher: FlowMatcher,
}

impl Flow {
    /// Where packets go.
    #[must_use]
    pub fn target(&self) -> &FlowTarget {
        &self.kept.needs().road.target
    }

    /// The matcher.
    #[must_use]
    pub fn matcher(&self) -> &FlowMatcher {
        &self.kept.needs().matcher
    }

    /// The kernel's handle.
    #[must_use]
    pub fn handle(&self) -> u32 {
        self.kept.object().handle()
    }

    /// Removes the flow: from now on packets pass by.
    ///
    /// # Errors
    /// The kernel's, with the flow.
    #[doc(alias("ibv_destroy_flow", "MLX5_IB_METHOD_DESTROY_FLOW"))]
    pub fn destroy(self) -> Result<(), DestroyError<Self>> {
        self.kept.destroy().map_err(|(kept, error)| DestroyError::new(Self { kept }, error))
    }
}
