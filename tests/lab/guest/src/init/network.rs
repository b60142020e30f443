//! The network a run asks for: loopback always, the card's interface and `rxe0` on request.

use std::{fs, io, net::Ipv4Addr, path::Path};

use lab_guest::Job;
use uverbs_uapi::rdma_netlink::{RDMA_NL_NLDEV, RDMA_NLDEV_ATTR_DEV_NAME, RDMA_NLDEV_ATTR_NDEV_NAME};

use crate::{
    context,
    netlink::{Family, Request},
};

/// The module `dummy` makes it when it is loaded.
const DUMMY: &str = "dummy0";

// linux/rtnetlink.h, linux/if_addr.h, linux/if.h
const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFF_UP: u32 = 1;
const AF_UNSPEC: u8 = 0;
const AF_INET: u8 = 2;

// rdma/rdma_netlink.h: what makes a software device, and is of no use to those who only open one
const RDMA_NLDEV_CMD_NEWLINK: u16 = 3;
const RDMA_NLDEV_ATTR_LINK_TYPE: u16 = 65;

/// Sets up what the job wants.
pub(crate) fn set_up(job: &Job) -> io::Result<()> {
    up("lo")?;
    if job.rxe {
        up(DUMMY)?;
        add_rxe("rxe0", DUMMY)?;
    }
    if let Some(address) = job.address {
        let interface = card_interface()?;
        set_address(&interface, address, 24)?;
        up(&interface)?;
    }
    Ok(())
}

/// The interface whose driver is the card's.
fn card_interface() -> io::Result<String> {
    for entry in fs::read_dir("/sys/class/net")? {
        let entry = entry?;
        let driver = fs::read_link(entry.path().join("device/driver")).unwrap_or_default();
        if driver.ends_with("mlx5_core") {
            return Ok(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Err(io::Error::other("the card has no network interface"))
}

fn index(interface: &str) -> io::Result<u32> {
    let text = fs::read_to_string(Path::new("/sys/class/net").join(interface).join("ifindex"))
        .map_err(|error| context(&format!("find the interface {interface}"), error))?;
    text.trim_end().parse().map_err(|error| context(&format!("read the index of {interface}"), error))
}

fn up(interface: &str) -> io::Result<()> {
    // struct ifinfomsg: family, padding, type, index, flags, which flags to change
    let mut request = Request::new(RTM_NEWLINK);
    request.bytes(&[AF_UNSPEC, 0, 0, 0]).u32(index(interface)?).u32(IFF_UP).u32(IFF_UP);
    request.send(Family::Route).map_err(|error| context(&format!("bring up {interface}"), error))
}

fn set_address(interface: &str, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
    // struct ifaddrmsg: family, prefix length, flags, scope, index
    let mut request = Request::new(RTM_NEWADDR);
    request.bytes(&[AF_INET, prefix, 0, 0]).u32(index(interface)?);
    request.attribute(IFA_LOCAL, &address.octets()).attribute(IFA_ADDRESS, &address.octets());
    request
        .send(Family::Route)
        .map_err(|error| context(&format!("give {interface} the address {address}"), error))
}

fn add_rxe(name: &str, interface: &str) -> io::Result<()> {
    // A message of netlink's RDMA family carries its client in the upper bits of its type.
    let mut request = Request::new(RDMA_NL_NLDEV << 10 | RDMA_NLDEV_CMD_NEWLINK);
    request
        .attribute(RDMA_NLDEV_ATTR_DEV_NAME, &text(name))
        .attribute(RDMA_NLDEV_ATTR_NDEV_NAME, &text(interface))
        .attribute(RDMA_NLDEV_ATTR_LINK_TYPE, &text("rxe"));
    request.send(Family::Rdma).map_err(|error| context(&format!("make {name} over {interface}"), error))
}

/// With the zero byte that netlink's strings end in.
fn text(string: &str) -> Vec<u8> {
    [string.as_bytes(), &[0]].concat()
}
