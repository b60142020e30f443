//! The virtual machine: QEMU's command line and its process.

use std::{
    io::{self, BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdout, Command, Stdio},
    thread::{self, JoinHandle},
};

use lab_guest::CHANNEL_PORT;

/// The name of the virtio-serial port that leads to the card's control socket.
pub(crate) const CONTROL_PORT: &str = "connectx.control";

/// The kernel's command line. Its console shows warnings too; an oops or a panic ends the machine at once. A quarter of all
/// that the kernel executes up to a run's end would be the self-tests of its cryptography, which nothing here uses.
const KERNEL_ARGUMENTS: &str = "console=ttyS0 loglevel=5 panic=-1 oops=panic cryptomgr.notests";

/// What one machine is made of.
pub(crate) struct Parts<'a> {
    pub(crate) kernel: &'a Path,
    pub(crate) initramfs: &'a Path,
    /// Where the cards listen, speaking vfio-user.
    pub(crate) cards: &'a [PathBuf],
    /// Where the first card listens, speaking its control language.
    pub(crate) control: &'a Path,
    /// Where the lab listens for the guest's init.
    pub(crate) channel: &'a Path,
    pub(crate) processors: u8,
    /// The clock counts instructions.
    pub(crate) icount: bool,
}

impl Parts<'_> {
    /// Appends QEMU's arguments.
    fn arguments(&self, qemu: &mut Command) {
        qemu.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]);
        qemu.args(["-machine", "q35,memory-backend=memory", "-cpu", "max"]);
        if self.icount {
            // A tick is an instruction. An idle guest waits in real time: with `sleep=off`, its clock would jump whenever
            // it waits for the card.
            qemu.args(["-accel", "tcg,thread=single", "-icount", "shift=0"]);
        } else {
            qemu.args(["-accel", "tcg,thread=multi"]);
        }
        qemu.args(["-smp", &self.processors.to_string()]);
        // The card reads and writes the guest's memory through the descriptor of this object.
        qemu.args(["-m", "1G", "-object", "memory-backend-memfd,id=memory,size=1G,share=on"]);
        qemu.arg("-kernel")
            .arg(self.kernel)
            .arg("-initrd")
            .arg(self.initramfs)
            .args(["-append", KERNEL_ARGUMENTS]);
        qemu.args(["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]);
        for card in self.cards {
            let card =
                serde_json::json!({ "driver": "vfio-user-pci", "socket": { "type": "unix", "path": card } });
            qemu.arg("-device").arg(card.to_string());
        }
        qemu.args(["-device", "virtio-serial-pci"]);
        for (id, port, socket) in
            [("channel", CHANNEL_PORT, self.channel), ("control", CONTROL_PORT, self.control)]
        {
            qemu.args(["-chardev", &format!("socket,id={id},path={}", socket.display())]);
            qemu.args(["-device", &format!("virtserialport,chardev={id},name={port}")]);
        }
    }
}

/// A running machine; dropping it switches it off.
pub(crate) struct Machine {
    process: Child,
    console: Option<ChildStdout>,
    complaints: Option<JoinHandle<String>>,
}

impl Machine {
    pub(crate) fn start(mut qemu: Command, parts: &Parts) -> io::Result<Self> {
        parts.arguments(&mut qemu);
        qemu.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A Ctrl-C is the guest's program's; in a group of its own QEMU does not see it.
        qemu.process_group(0);
        let mut process = qemu.spawn()?;
        let console = process.stdout.take();
        let complaints = process.stderr.take().map(|stderr| thread::spawn(move || collect(stderr)));
        Ok(Self { process, console, complaints })
    }

    /// Reads the console on a thread of its own, until the machine ends.
    pub(crate) fn watch_console(&mut self, mut on_line: impl FnMut(Option<String>) + Send + 'static) {
        let Some(console) = self.console.take() else { return };
        thread::spawn(move || {
            let mut console = BufReader::new(console);
            let mut line = Vec::new();
            // The line is not always text: a reboot may cut a character in two.
            while console.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                on_line(Some(String::from_utf8_lossy(&line).trim_end().to_owned()));
                line.clear();
            }
            on_line(None);
        });
    }

    /// Switches it off, if it is not, and says how it ended and what QEMU complained about.
    pub(crate) fn stop(&mut self) -> io::Result<(String, String)> {
        let status = if let Some(status) = self.process.try_wait()? {
            format!("QEMU: {status}")
        } else {
            self.process.kill()?;
            self.process.wait()?;
            "switched off".to_owned()
        };
        let complaints =
            self.complaints.take().map(|thread| thread.join().unwrap_or_default()).unwrap_or_default();
        Ok((status, complaints))
    }

    /// Waits for the process, whose output has ended.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        self.process.wait().map(drop)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _stopped = self.stop();
    }
}

/// All of standard error, but for what QEMU always says about a vfio device without an error interrupt.
fn collect(stderr: ChildStderr) -> String {
    let mut text = String::new();
    let mut bytes = Vec::new();
    // What was read before an error is still worth showing.
    let _length = BufReader::new(stderr).read_to_end(&mut bytes);
    for line in String::from_utf8_lossy(&bytes)
        .lines()
        .filter(|line| !line.contains("Could not enable error recovery"))
    {
        text.push_str("QEMU: ");
        text.push_str(line);
        text.push('\n');
    }
    text
}
