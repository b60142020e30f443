//! The user ABI: constants and structs against `linux-libc-dev`.

use std::collections::BTreeMap;
use std::io;
use std::mem::offset_of;
use std::path::Path;

use crate::compiler::Compiler;
use crate::kernel::Version;
use crate::verdict::verdict;

/// A constant of a module.
pub(crate) struct Constant {
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    pub(crate) value: u64,
    pub(crate) since: Option<Version>,
}

/// A struct of a module.
pub(crate) struct Structure {
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    pub(crate) since: Option<Version>,
    pub(crate) members: Vec<Member>,
}

/// A field of a struct.
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
    pub(crate) since: Option<Version>,
}

/// `From`, also for `usize`.
trait FromNumber<T> {
    fn from_number(number: T) -> Self;
}

macro_rules! from_number {
    ($($number:ty),*) => { $(
        impl FromNumber<$number> for u64 {
            fn from_number(number: $number) -> Self {
                number.try_into().expect("the kernel's numbers have at most 64 bits")
            }
        }
    )* };
}
from_number!(u8, u16, u32, u64, usize);

fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The headers that a module is the Rust form of.
fn includes(module: &str) -> String {
    match module {
        "mlx5_abi" => "#include <rdma/mlx5-abi.h>\n".to_owned(),
        // The family's number is not in the family's own header.
        "rdma_netlink" => "#include <linux/netlink.h>\n#include <rdma/rdma_netlink.h>\n".to_owned(),
        _ => format!("#include <rdma/{module}.h>\n"),
    }
}

/// What is wrong in the modules given, each against its own header.
pub(crate) fn complaints(
    constants: &[Constant],
    structures: &[Structure],
    include: &Path,
    version: Version,
    folder: &Path,
) -> io::Result<Vec<String>> {
    let mut modules: BTreeMap<&str, (Vec<&Constant>, Vec<&Structure>)> = BTreeMap::new();
    for constant in constants {
        modules.entry(constant.module).or_default().0.push(constant);
    }
    for structure in structures {
        modules.entry(structure.module).or_default().1.push(structure);
    }
    let mut complaints = Vec::new();
    for (module, (constants, structures)) in modules {
        let compiler = Compiler {
            preamble: includes(module),
            include: vec![include.to_owned()],
            folder: folder.join(module),
        };
        let questions = constants
            .into_iter()
            .map(Question::constant)
            .chain(structures.into_iter().flat_map(Question::structure));
        let questions = questions.collect::<Vec<_>>();
        let expressions = questions.iter().map(|question| question.expression.clone()).collect::<Vec<_>>();
        let answers = compiler.evaluate(&expressions)?;
        complaints.extend(
            questions
                .iter()
                .zip(answers)
                .filter_map(|(question, answer)| question.complaint(answer, version)),
        );
    }
    Ok(complaints)
}

/// One expression, and what its value should be.
struct Question {
    what: String,
    expression: String,
    ours: u64,
    since: Option<Version>,
    /// Padding of ours may have been longer in older kernels: fields were made of it since.
    at_least: bool,
}

impl Question {
    fn constant(constant: &Constant) -> Self {
        let name = constant.name.to_owned();
        Self {
            what: name.clone(),
            expression: name,
            ours: constant.value,
            since: constant.since,
            at_least: false,
        }
    }

    fn structure(structure: &Structure) -> Vec<Self> {
        let Structure { name, since, .. } = *structure;
        let mut questions = vec![Self {
            what: format!("the size of {name}"),
            expression: format!("sizeof(struct {name})"),
            ours: u64::from_number(structure.size),
            since,
            at_least: false,
        }];
        for member in &structure.members {
            let path = format!("{name}.{}", member.name);
            questions.push(Self {
                what: format!("the offset of {path}"),
                expression: format!("offsetof(struct {name}, {})", member.name),
                ours: u64::from_number(member.offset),
                since: member.since.or(since),
                at_least: false,
            });
            questions.push(Self {
                what: format!("the size of {path}"),
                expression: format!("sizeof(((struct {name} *)0)->{})", member.name),
                ours: u64::from_number(member.size),
                since: member.since.or(since),
                at_least: member.name.starts_with("reserved"),
            });
        }
        questions
    }

    fn complaint(&self, answer: Option<u64>, version: Version) -> Option<String> {
        let answer = answer.map(|value| if self.at_least && value > self.ours { self.ours } else { value });
        verdict(&self.what, self.ours, answer, self.since, version)
    }
}
