//! The programs that are measured.

use peers::{Line, Peer, Quantity};

use crate::{
    cc::{self, Linkage},
    error::Result,
    fetch::Store,
    job,
    payload::{self, Payload},
};

/// Each call of the heap is counted on its way.
const COUNT_HEAP: [&str; 4] = ["--wrap=malloc", "--wrap=calloc", "--wrap=realloc", "--wrap=free"];
/// As programs are shipped: without names of functions.
const STRIPPED: [&str; 1] = ["-s"];

/// What the harness finds next to itself, and how large it is.
pub(super) struct Programs {
    /// Path in the guest, and content.
    pub(super) files: Vec<(String, Vec<u8>)>,
}

impl Programs {
    /// Compiles all of them.
    pub(super) fn build(store: &Store) -> Result<Self> {
        let mut files = Vec::new();
        for payload in
            [Payload::Harness, Payload::Trace, Payload::Ours, Payload::OursHeap, Payload::FirstAnchor]
        {
            files.push(job::program_file(payload.name(), payload::build(payload)?));
        }
        let folder = payload::workspace().join("benches/peer/c");
        let compile = |source: &str, linkage, defines: &[String], linker: &[&str]| {
            cc::image(store, &folder.join(source), linkage, defines, linker)
        };
        for (name, source, linkage) in [
            ("rdma_core", "rdma_core.c", Linkage::Dynamic),
            ("rdma_core_static", "rdma_core.c", Linkage::Static),
            ("floor", "floor.c", Linkage::Freestanding),
            ("empty", "empty.c", Linkage::Dynamic),
        ] {
            files.push(job::program_file(name, compile(source, linkage, &[], &STRIPPED)?));
        }
        let counting = compile("rdma_core.c", Linkage::Static, &["COUNT_HEAP".to_owned()], &COUNT_HEAP)?;
        files.push(job::program_file("rdma_core_heap", counting));
        Ok(Self { files })
    }

    /// How large those are whose size is a promise.
    pub(super) fn sizes(&self) -> Vec<Line> {
        [
            (Quantity::StaticSize, Peer::Ours, "first_anchor"),
            (Quantity::StaticSize, Peer::RdmaCoreStatic, "rdma_core_static"),
            (Quantity::StaticSize, Peer::Floor, "floor"),
        ]
        .into_iter()
        .filter_map(|(quantity, peer, name)| {
            let path = job::program_path(name);
            let (_, image) = self.files.iter().find(|(file, _)| path.as_os_str() == file.as_str())?;
            let bytes = u32::try_from(image.len()).ok()?;
            Some(Line::Value { quantity, peer, value: f64::from(bytes) / 1024.0 })
        })
        .collect()
    }
}
