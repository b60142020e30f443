//! The event loop: one thread waits for QEMU, for questions, and for the order to stop.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};

use crate::card::Card;
use crate::config::Config;
use crate::control::Client;
use crate::memory::Memory;
use crate::report::Report;
use crate::transport::Connection;

/// A card that waits for QEMU.
#[derive(Debug)]
pub struct Server {
    card: Card,
    memory: Memory,
    sockets: Vec<PathBuf>,
    qemu: UnixListener,
    control: Option<UnixListener>,
    stop: UnixStream,
    stopper: UnixStream,
}

/// Stops a running [`Server`] from another thread.
#[derive(Debug)]
pub struct Stop(UnixStream);

impl Stop {
    /// Stops the server; does nothing if it has stopped already.
    pub fn stop(mut self) {
        let _gone = self.0.write_all(&[0]);
    }
}

/// What the loop was woken by.
enum Wake {
    Stop,
    Qemu,
    NewClient,
    Client(usize),
    Wire,
}

impl Server {
    /// Makes the card and its sockets: QEMU may connect from now on.
    ///
    /// # Errors
    /// If a socket or the trace cannot be made, or a capability is none.
    pub fn bind(config: &Config) -> io::Result<Self> {
        let card = Card::new(config)?;
        let qemu = listen(&config.socket)?;
        let control = config.control.as_deref().map(listen).transpose()?;
        let (stop, stopper) = UnixStream::pair()?;
        let sockets = std::iter::once(config.socket.clone()).chain(config.control.clone()).collect();
        Ok(Self { card, memory: Memory::default(), sockets, qemu, control, stop, stopper })
    }

    /// A way to stop the server while it runs.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub fn stopper(&self) -> io::Result<Stop> {
        self.stopper.try_clone().map(Stop)
    }

    /// Serves one machine until QEMU closes the connection, or somebody stops the server.
    ///
    /// # Errors
    /// If the transport fails: the guest then has lost its card.
    pub fn run(mut self) -> io::Result<Report> {
        let result = self.serve();
        for socket in &self.sockets {
            // The socket of a test directory that is gone already is gone.
            let _gone = std::fs::remove_file(socket);
        }
        result.map(|()| self.card.close())
    }

    fn serve(&mut self) -> io::Result<()> {
        let mut qemu = None;
        let mut clients: Vec<Client> = Vec::new();
        loop {
            for wake in self.wait(qemu.as_ref(), &clients)? {
                match wake {
                    Wake::Stop => return Ok(()),
                    Wake::Qemu => match &mut qemu {
                        None => qemu = Some(Connection::new(self.qemu.accept()?.0)),
                        Some(connection) => {
                            if !connection.serve(&mut self.memory, &mut self.card)? {
                                return Ok(());
                            }
                        }
                    },
                    Wake::NewClient => {
                        if let Some(control) = &self.control {
                            clients.push(Client::new(control.accept()?.0));
                        }
                    }
                    Wake::Client(index) => clients[index].serve(&mut self.card),
                    Wake::Wire => self.card.receive(&self.memory),
                }
            }
            clients.retain(Client::is_open);
        }
    }

    /// Waits until there is something to do. QEMU comes last: what a test asked before it let the guest go on is
    /// answered before the guest goes on.
    fn wait(&self, qemu: Option<&Connection>, clients: &[Client]) -> io::Result<Vec<Wake>> {
        let qemu = qemu.map_or_else(|| self.qemu.as_fd(), AsFd::as_fd);
        let mut sources = vec![(Wake::Stop, self.stop.as_fd())];
        sources.extend(self.control.as_ref().map(|control| (Wake::NewClient, control.as_fd())));
        sources
            .extend(clients.iter().enumerate().map(|(index, client)| (Wake::Client(index), client.as_fd())));
        sources.push((Wake::Wire, self.card.wire()));
        sources.push((Wake::Qemu, qemu));
        let mut fds: Vec<PollFd<'_>> =
            sources.iter().map(|(_, fd)| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        rustix::io::retry_on_intr(|| poll(&mut fds, None))?;
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        Ok(sources.into_iter().zip(ready).filter_map(|((wake, _), ready)| ready.then_some(wake)).collect())
    }
}

/// Makes a socket, in the place of one that an earlier server left.
fn listen(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    UnixListener::bind(path)
}
