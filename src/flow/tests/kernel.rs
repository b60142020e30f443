//! A kernel and a firmware that remember what they were told.

use std::{cell::RefCell, collections::HashSet, rc::Rc, sync::Arc};

use rustix::io::Errno;
use uverbs_uapi::{
    ib_user_ioctl_cmds as core_cmds, mlx5_user_ioctl_cmds as cmds,
    prm::{
        self, Field, command_in, command_out, flow_table_eswitch_cap as eswitch, flow_table_nic_cap as nic,
        flow_table_prop_layout as property, query_hca_cap_out,
    },
};

use crate::{
    Context, DriverId, FlowTableType, Priority, SteeringAnchor,
    command::{
        Method,
        fake::{self, Sent},
    },
    get_context::Devx,
};

/// What was done, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// An object was created by this command of the firmware, and has this handle.
    Create(Vec<u8>, u32),
    /// An object was changed by this command of the firmware.
    Modify(Vec<u8>),
    /// An object was read by this command of the firmware.
    Query(Vec<u8>),
    /// A firmware object was destroyed.
    Destroy(u32),
    /// A steering anchor, matcher or flow was made: the kind of object and its handle.
    Made(u16, u32),
    /// A steering anchor, matcher or flow was destroyed.
    Gone(u16, u32),
}

#[derive(Default)]
struct State {
    done: Vec<Done>,
    last: u32,
    refuse: Option<(u16, u8, u32)>,
    keep: HashSet<u32>,
    lacks: Vec<Field>,
    /// The commands themselves: header and attributes.
    sent: Vec<Vec<u8>>,
    pointed: Vec<(u16, Vec<u8>)>,
}

/// A handle of the kernel that answers this thread.
#[derive(Clone)]
pub(super) struct Kernel(Rc<RefCell<State>>);

/// The highest level of the fake card's tables, plus one.
pub(super) const LEVELS: u64 = 64;

impl Kernel {
    pub(super) fn install() -> Self {
        let kernel = Self(Rc::new(RefCell::new(State { last: 0x10, ..State::default() })));
        let state = Rc::clone(&kernel.0);
        fake::install(move |sent| state.borrow_mut().answer(sent));
        kernel
    }

    pub(super) fn context(&self) -> Context {
        let context = Context::on(fake::file(), DriverId::MLX5, Devx::Yes).expect("the fake grants it");
        self.forget();
        context
    }

    #[expect(clippy::unused_self, reason = "the anchor is this kernel's, which answers behind the call")]
    pub(super) fn anchor(
        &self,
        context: &Context,
        table_type: FlowTableType,
        priority: u16,
    ) -> Arc<SteeringAnchor> {
        let priority = Priority::new(priority).expect("0 to 15");
        Arc::new(SteeringAnchor::create(context, table_type, priority).expect("the fake makes it"))
    }

    /// What was done since last asked.
    pub(super) fn take(&self) -> Vec<Done> {
        std::mem::take(&mut self.0.borrow_mut().done)
    }

    pub(super) fn forget(&self) {
        let mut state = self.0.borrow_mut();
        state.done.clear();
        state.sent.clear();
        state.pointed.clear();
    }

    /// The one firmware command that created something since last asked.
    pub(super) fn created(&self) -> Vec<u8> {
        match &self.take()[..] {
            [Done::Create(inbox, _)] => inbox.clone(),
            other => panic!("not one creation: {other:?}"),
        }
    }

    /// Refuses the next commands of this opcode.
    pub(super) fn refuse(&self, opcode: u16, status: u8, syndrome: u32) {
        self.0.borrow_mut().refuse = Some((opcode, status, syndrome));
    }

    /// Does not destroy the firmware object of this handle.
    pub(super) fn keep(&self, handle: u32) {
        self.0.borrow_mut().keep.insert(handle);
    }

    /// Tables do not have this capability.
    pub(super) fn lacks(&self, field: Field) {
        self.0.borrow_mut().lacks.push(field);
    }

    /// The last command, header and attributes.
    pub(super) fn last_command(&self) -> Vec<u8> {
        self.0.borrow().sent.last().cloned().expect("a command was sent")
    }

    /// What an attribute of the last matcher or flow pointed to.
    pub(super) fn pointed(&self, attribute: u16) -> Vec<u8> {
        let state = self.0.borrow();
        state
            .pointed
            .iter()
            .rev()
            .find(|(id, _)| *id == attribute)
            .map(|(_, bytes)| bytes.clone())
            .expect("it was sent")
    }
}

impl State {
    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    fn answer(&mut self, sent: &mut Sent<'_>) -> Result<(), Errno> {
        self.sent.push(sent.bytes());
        let method = sent.method();
        match (method.object(), method.method()) {
            (core_cmds::UVERBS_OBJECT_DEVICE, _) => Ok(()),
            (cmds::MLX5_IB_OBJECT_DEVX, cmds::MLX5_IB_METHOD_DEVX_OTHER) => {
                sent.write(cmds::MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, &self.capabilities());
                Ok(())
            }
            (cmds::MLX5_IB_OBJECT_DEVX_OBJ, cmds::MLX5_IB_METHOD_DEVX_OBJ_DESTROY) => {
                let handle = handle(sent, cmds::MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);
                if self.keep.contains(&handle) {
                    return Err(Errno::BUSY);
                }
                self.done.push(Done::Destroy(handle));
                Ok(())
            }
            (cmds::MLX5_IB_OBJECT_DEVX_OBJ, _) => self.firmware(sent, method),
            (object, 0x1000) => {
                let handle = self.next();
                sent.create(0x1000, handle);
                if object == cmds::MLX5_IB_OBJECT_STEERING_ANCHOR {
                    sent.write(cmds::MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, &(0xa0_0000 + handle).to_ne_bytes());
                } else {
                    // Of a matcher the mask, of a flow the value; both kinds have it in the same place.
                    self.pointed.push((0x1001, sent.pointed(0x1001)));
                }
                self.done.push(Done::Made(object, handle));
                Ok(())
            }
            (object, 0x1001) => {
                let handle = handle(sent, 0x1000);
                self.done.push(Done::Gone(object, handle));
                Ok(())
            }
            (object, method) => panic!("nobody expects {object:#x} {method:#x}"),
        }
    }

    fn firmware(&mut self, sent: &mut Sent<'_>, method: Method) -> Result<(), Errno> {
        // Handle, inbox and outbox have the same numbers in all three methods.
        let inbox = sent.pointed(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
        let opcode = command_in::OPCODE.get(&inbox);
        if let Some((refused, status, syndrome)) = self.refuse {
            if u64::from(refused) == opcode {
                let mut outbox = [0; command_out::SIZE];
                command_out::STATUS.set(&mut outbox, status.into());
                command_out::SYNDROME.set(&mut outbox, syndrome.into());
                sent.write(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, &outbox);
                return Err(Errno::REMOTEIO);
            }
        }
        match method.method() {
            cmds::MLX5_IB_METHOD_DEVX_OBJ_CREATE => {
                let handle = self.next();
                sent.create(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, handle);
                // All numbers of objects lie there, some of 24 bits.
                let mut outbox = [0; 16];
                outbox[8..12].copy_from_slice(&(0x100 + handle).to_be_bytes());
                sent.write(cmds::MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, &outbox);
                self.done.push(Done::Create(inbox, handle));
            }
            cmds::MLX5_IB_METHOD_DEVX_OBJ_MODIFY => self.done.push(Done::Modify(inbox)),
            cmds::MLX5_IB_METHOD_DEVX_OBJ_QUERY => {
                let mut outbox = [0; 32];
                prm::traffic_counter::PACKETS.set(&mut outbox[16..], 3);
                prm::traffic_counter::OCTETS.set(&mut outbox[16..], 180);
                sent.write(cmds::MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, &outbox);
                self.done.push(Done::Query(inbox));
            }
            other => panic!("nobody expects {other:#x}"),
        }
        Ok(())
    }

    fn capabilities(&self) -> Vec<u8> {
        let mut outbox = vec![0; query_hca_cap_out::SIZE];
        let blocks = [
            nic::FLOW_TABLE_PROPERTIES_NIC_RECEIVE,
            nic::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT,
            eswitch::FLOW_TABLE_PROPERTIES_NIC_ESW_FDB,
        ];
        for block in blocks {
            let mut set =
                |field, value| query_hca_cap_out::CAPABILITY.then(block).then(field).set(&mut outbox, value);
            set(property::FT_SUPPORT, 1);
            set(property::IGNORE_FLOW_LEVEL, 1);
            set(property::MAX_FT_LEVEL, LEVELS);
            set(property::LOG_MAX_FT_SIZE, 16);
            self.lacks.iter().for_each(|&field| set(field, 0));
        }
        outbox
    }
}

#[expect(clippy::cast_possible_truncation, reason = "handles have 32 bits")]
fn handle(sent: &Sent<'_>, attribute: u16) -> u32 {
    sent.attribute(attribute).expect("the attribute is there").data as u32
}
