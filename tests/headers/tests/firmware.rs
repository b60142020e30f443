//! The firmware's layouts and numbers against the kernel's `include/linux/mlx5/`.

use std::fs;
use std::io;
use std::path::Path;

use uverbs_uapi::prm::{Field, Layout};

use crate::compiler::Compiler;
use crate::history;
use crate::kernel::Version;
use crate::user::Constant;
use crate::verdict::verdict;

/// What `mlx5_ifc.h` takes for granted.
const TYPES: &str = "
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short __be16;
typedef unsigned int __be32;
typedef unsigned long long __be64;
#define __packed __attribute__((packed))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define DECLARE_FLEX_ARRAY(TYPE, NAME) struct { struct {} empty_##NAME; TYPE NAME[]; }
";

/// Enums that are in headers which compile nowhere but in the kernel: header, and a name in each enum.
const ENUMS: &[(&str, &[&str])] = &[
    ("device.h", &["MLX5_CAP_GENERAL", "HCA_CAP_OPMOD_GET_MAX", "MLX5_CMD_STAT_OK"]),
    ("fs.h", &["FS_FT_NIC_RX"]),
];

/// What is wrong in the layouts and constants given. In the kernel's header every bit is a byte, so that the compiler's
/// sizes and offsets are what we call widths and offsets.
pub(crate) fn complaints(
    layouts: &[Layout],
    constants: &[Constant],
    include: &Path,
    version: Version,
    folder: &Path,
) -> io::Result<Vec<String>> {
    let mlx5 = include.join("linux/mlx5");
    let mut preamble = format!("{TYPES}#include \"{}\"\n", mlx5.join("mlx5_ifc.h").display());
    for (header, names) in ENUMS {
        let text = fs::read_to_string(mlx5.join(header)).unwrap_or_default();
        preamble.extend(names.iter().filter_map(|name| enum_with(&text, name)));
    }
    let compiler = Compiler { preamble, include: Vec::new(), folder: folder.to_owned() };

    let mut questions = Vec::new();
    for constant in constants {
        let since = history::constant(constant.name).or(constant.since);
        questions.push(Question {
            what: constant.name.to_owned(),
            wanted: Wanted::Value(constant.value),
            since,
            expressions: vec![constant.name.to_owned()],
        });
    }
    for layout in layouts {
        questions.push(Question::size(layout, version));
        for (name, field) in layout.fields {
            questions.push(Question::field(layout.name, &name.to_lowercase(), *field, version));
        }
    }
    let expressions = questions.iter().flat_map(|question| question.expressions.clone()).collect::<Vec<_>>();
    let mut answers = compiler.evaluate(&expressions)?.into_iter();
    Ok(questions
        .iter()
        .flat_map(|question| {
            let answers = answers.by_ref().take(question.expressions.len()).collect::<Vec<_>>();
            question.complaints(&answers, version)
        })
        .collect())
}

/// The enum of a header that has a member of this name.
fn enum_with(header: &str, member: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (at, _) = header.match_indices(member).find(|(at, _)| {
        !header[..*at].ends_with(is_name) && !header[at + member.len()..].starts_with(is_name)
    })?;
    let start = header[..at].rfind("enum")?;
    let end = at + header[at..].find("};")?;
    Some(format!("{}}};\n", &header[start..end]))
}

/// What we say of one thing, and the expressions that find out.
struct Question {
    what: String,
    wanted: Wanted,
    since: Option<Version>,
    expressions: Vec<String>,
}

enum Wanted {
    Value(u64),
    /// Offset and width; expressions come in fours, for each name the field has had.
    Field(u64, u64),
}

impl Question {
    fn size(layout: &Layout, version: Version) -> Self {
        let name = layout.name;
        let size = history::size(name, version).unwrap_or(layout.size);
        Self {
            what: format!("the size of {name}, in bits,"),
            wanted: Wanted::Value(size as u64 * 8),
            since: history::layout(name),
            expressions: vec![format!("sizeof(struct mlx5_ifc_{name}_bits)")],
        }
    }

    fn field(layout: &str, name: &str, field: Field, version: Version) -> Self {
        let ours = (field.offset as u64, field.width as u64);
        let (offset, width) = history::place(layout, name, version).unwrap_or(ours);
        let expressions = history::names(layout, name)
            .iter()
            .flat_map(|path| {
                let member = format!("((struct mlx5_ifc_{layout}_bits *)0)->{path}");
                [
                    format!("offsetof(struct mlx5_ifc_{layout}_bits, {path})"),
                    format!("sizeof({member})"),
                    // Only an array has items, and only the items of a field of bits are numbers: else it is an array of
                    // fields or structs, and we declare the first.
                    format!("sizeof({member}[0])"),
                    format!("sizeof({member}[0] * 1)"),
                ]
            })
            .collect();
        Self {
            what: format!("{layout}.{name}"),
            wanted: Wanted::Field(offset, width),
            since: history::field(layout, name),
            expressions,
        }
    }

    fn complaints(&self, answers: &[Option<u64>], version: Version) -> Vec<String> {
        let say = |what: &str, ours, kernels| verdict(what, ours, kernels, self.since, version);
        match self.wanted {
            Wanted::Value(value) => say(&self.what, value, answers[0]).into_iter().collect(),
            Wanted::Field(offset, width) => {
                let answers = answers.chunks(4).find(|answers| answers[0].is_some()).unwrap_or(&[None; 4]);
                let kernels_width = match *answers {
                    [_, _, Some(item), None] => Some(item),
                    [_, whole, _, _] => whole,
                    _ => None,
                };
                let offset = say(&format!("the offset of {}", self.what), offset, answers[0]);
                let width = say(&format!("the width of {}", self.what), width, kernels_width);
                offset.into_iter().chain(width).collect()
            }
        }
    }
}
