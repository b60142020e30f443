//! The check itself: what is wrong has to be found, by name. It needs no headers but those written here.

use std::fs;
use std::path::PathBuf;

use libtest_mimic::{Failed, Trial};
use uverbs_uapi::prm::{Field, Layout};

use crate::kernel::Version;
use crate::user::{Constant, Member, Structure};
use crate::{firmware, scratch, user};

const USER: &str = "
enum { SAME = 3, OTHER = 4 };
struct card { unsigned short port; unsigned char reserved[2]; union { unsigned int key; } id; };
";

const FIRMWARE: &str = "
enum { MLX5_SAME = 3 };
struct mlx5_ifc_card_bits { u8 port[0x8]; u8 reserved_at_8[0x8]; u8 word[2][0x8]; };
";

/// The version that the headers above are said to be of.
const VERSION: Version = Version(6, 1);

pub(crate) fn trials() -> Vec<Trial> {
    let user = |name: &str,
                constants: fn() -> Vec<Constant>,
                structures: fn() -> Vec<Structure>,
                found: &'static [&'static str]| {
        let folder = scratch(name);
        Trial::test(name.to_owned(), move || {
            let include = headers(&folder, "rdma/fixture.h", USER)?;
            equal(&user::complaints(&constants(), &structures(), &include, VERSION, &folder)?, found)
        })
    };
    let firmware =
        |name: &str, fields: &'static [(&'static str, Field)], size, found: &'static [&'static str]| {
            let folder = scratch(name);
            Trial::test(name.to_owned(), move || {
                let include = headers(&folder, "linux/mlx5/mlx5_ifc.h", FIRMWARE)?;
                let layout = Layout { name: "card", size, fields };
                equal(&firmware::complaints(&[layout], &[], &include, VERSION, &folder)?, found)
            })
        };
    vec![
        user("what is right is accepted", || vec![constant("SAME", 3, None)], || vec![card(0, 4, 4, 8)], &[]),
        user(
            "a wrong constant is found",
            || vec![constant("SAME", 3, None), constant("OTHER", 5, None)],
            Vec::new,
            &["OTHER is 0x4 in Linux 6.1, 0x5 here"],
        ),
        user(
            "a constant that is not there is found",
            || vec![constant("NONE", 1, None), constant("LATER", 1, Some(Version(6, 2)))],
            Vec::new,
            &["NONE is not in Linux 6.1"],
        ),
        user(
            "a constant that is there too early is found",
            || vec![constant("SAME", 3, Some(Version(6, 2)))],
            Vec::new,
            &["SAME is in Linux 6.1, but said to be there since 6.2"],
        ),
        user(
            "a wrong offset of a struct is found",
            Vec::new,
            || vec![card(0, 2, 4, 8)],
            &["the offset of card.id.key is 0x4 in Linux 6.1, 0x2 here"],
        ),
        user(
            "a wrong size of a struct is found",
            Vec::new,
            || vec![card(0, 4, 2, 12)],
            &[
                "the size of card is 0x8 in Linux 6.1, 0xc here",
                "the size of card.id.key is 0x4 in Linux 6.1, 0x2 here",
            ],
        ),
        firmware(
            "a right layout is accepted",
            &[("PORT", Field { offset: 0, width: 8 }), ("WORD", Field { offset: 16, width: 8 })],
            4,
            &[],
        ),
        firmware(
            "a wrong offset of a layout is found",
            &[("PORT", Field { offset: 1, width: 8 })],
            4,
            &["the offset of card.port is 0x0 in Linux 6.1, 0x1 here"],
        ),
        firmware(
            "a wrong width of a layout is found",
            &[("PORT", Field { offset: 0, width: 7 }), ("WORD", Field { offset: 16, width: 16 })],
            4,
            &[
                "the width of card.port is 0x8 in Linux 6.1, 0x7 here",
                "the width of card.word is 0x8 in Linux 6.1, 0x10 here",
            ],
        ),
        firmware(
            "a wrong size of a layout is found",
            &[],
            8,
            &["the size of card, in bits, is 0x20 in Linux 6.1, 0x40 here"],
        ),
    ]
}

fn constant(name: &'static str, value: u64, since: Option<Version>) -> Constant {
    Constant { module: "fixture", name, value, since }
}

fn card(port: usize, key: usize, key_size: usize, size: usize) -> Structure {
    Structure {
        module: "fixture",
        name: "card",
        size,
        since: None,
        members: vec![
            Member { name: "port", offset: port, size: 2, since: None },
            Member { name: "id.key", offset: key, size: key_size, since: None },
            Member { name: "reserved", offset: 2, size: 1, since: None },
        ],
    }
}

/// A tree with one header; its root.
fn headers(folder: &std::path::Path, path: &str, text: &str) -> std::io::Result<PathBuf> {
    let include = folder.join("include");
    let header = include.join(path);
    fs::create_dir_all(header.parent().expect("the path has a folder"))?;
    fs::write(header, text)?;
    Ok(include)
}

fn equal(complaints: &[String], found: &[&str]) -> Result<(), Failed> {
    if complaints == found {
        Ok(())
    } else {
        Err(format!("found {complaints:#?}, expected {found:#?}").into())
    }
}
