//! Match parameters in words, for the trace.

use super::headers::mac;
use std::net::{Ipv4Addr, Ipv6Addr};
use uverbs_uapi::prm::{Field, LAYOUTS, Layout, fte_match_param as param, fte_match_set_lyr_2_4 as lyr};

/// The sections of match parameters: where each lies, which layout it has, and what goes before its field names.
const SECTIONS: &[(Field, &str, &str)] = &[
    (param::OUTER_HEADERS, "fte_match_set_lyr_2_4", ""),
    (param::MISC_PARAMETERS, "fte_match_set_misc", ""),
    (param::INNER_HEADERS, "fte_match_set_lyr_2_4", "inner_"),
    (param::MISC_PARAMETERS_2, "fte_match_set_misc2", ""),
    (param::MISC_PARAMETERS_3, "fte_match_set_misc3", ""),
    (param::MISC_PARAMETERS_4, "fte_match_set_misc4", ""),
    (param::MISC_PARAMETERS_5, "fte_match_set_misc5", ""),
    (param::MISC_PARAMETERS_6, "fte_match_set_misc6", ""),
];

fn layout(name: &str) -> Option<&'static Layout> {
    LAYOUTS.iter().flat_map(|l| l.iter()).find(|l| l.name == name)
}

/// One field that a mask looks at.
struct Compared {
    name: String,
    value: String,
    /// Nothing for a mask of the whole field.
    mask: Option<String>,
}

impl Compared {
    fn new(name: &str, value: String, mask: String, whole: bool) -> Self {
        Self { name: name.to_owned(), value, mask: (!whole).then_some(mask) }
    }
}

/// What an entry compares, and with what: `ip_protocol=0x11 udp_dport=5000`, a partial mask as `first_vid=5/0xff`.
///
/// Sections whose bit in `enable` is not set do not count.
#[must_use]
pub fn masked(enable: u8, criteria: &[u8], value: &[u8]) -> String {
    let words = compared(enable, criteria, value).map(|Compared { name, value, mask }| match mask {
        Some(mask) => format!("{name}={value}/{mask}"),
        None => format!("{name}={value}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What a group compares: `ip_protocol udp_dport first_vid/0xff`.
#[must_use]
pub fn criteria(enable: u8, criteria: &[u8]) -> String {
    let words = compared(enable, criteria, criteria).map(|Compared { name, mask, .. }| match mask {
        Some(mask) => format!("{name}/{mask}"),
        None => name,
    });
    words.collect::<Vec<_>>().join(" ")
}

fn compared(enable: u8, criteria: &[u8], value: &[u8]) -> impl Iterator<Item = Compared> {
    let sections = SECTIONS.iter().enumerate().filter(move |(index, _)| enable >> index & 1 != 0);
    sections.flat_map(move |(_, &(section, layout_name, prefix))| {
        let (mask, value) = (criteria.get(section.bytes()), value.get(section.bytes()));
        let parts = mask.zip(value).filter(|(mask, _)| mask.iter().any(|&b| b != 0));
        parts.into_iter().flat_map(move |(mask, value)| {
            let fields = layout(layout_name).map_or(&[][..], |l| l.fields);
            fields.iter().filter_map(move |&(name, field)| {
                let mut compared = word(name, field, mask, value)?;
                compared.name.insert_str(0, prefix);
                Some(compared)
            })
        })
    })
}

/// One field, if the mask looks at it and no other name covers it.
fn word(name: &str, field: Field, mask: &[u8], value: &[u8]) -> Option<Compared> {
    // An address is shown once, under its IPv4 or its IPv6 name; the halves of a MAC address together.
    let wide = |field: Field| mask.get(field.bytes()).is_some_and(|m| m[..12].iter().any(|&b| b != 0));
    match name {
        "SRC_IPV4_SRC_IPV6" | "DST_IPV4_DST_IPV6" => {
            return wide(field).then(|| {
                let text = |bytes: &[u8]| {
                    let bits = <[u8; 16]>::try_from(&bytes[field.bytes()]).unwrap_or_default();
                    Ipv6Addr::from(bits).to_string()
                };
                let name = if name.starts_with("SRC") { "src_ipv6" } else { "dst_ipv6" };
                Compared::new(name, text(value), text(mask), mask[field.bytes()].iter().all(|&b| b == 0xff))
            });
        }
        "SRC_IPV4" if wide(lyr::SRC_IPV4_SRC_IPV6) => return None,
        "DST_IPV4" if wide(lyr::DST_IPV4_DST_IPV6) => return None,
        "SMAC_15_0" | "DMAC_15_0" => return None,
        "SMAC_47_16" | "DMAC_47_16" => {
            let whole = field.byte()..field.byte() + 6;
            let (m, v) = (&mask[whole.clone()], &value[whole]);
            return m.iter().any(|&b| b != 0).then(|| {
                let name = if name.starts_with('S') { "smac" } else { "dmac" };
                Compared::new(name, mac(v), mac(m), m.iter().all(|&b| b == 0xff))
            });
        }
        _ => {}
    }
    let (m, v) = (field.get(mask), field.get(value));
    (m != 0).then(|| {
        let (text, mask) = match name {
            "SRC_IPV4" | "DST_IPV4" => (ipv4(v), ipv4(m)),
            "UDP_SPORT" | "UDP_DPORT" | "TCP_SPORT" | "TCP_DPORT" => (v.to_string(), format!("{m:#x}")),
            _ if v < 10 => (v.to_string(), format!("{m:#x}")),
            _ => (format!("{v:#x}"), format!("{m:#x}")),
        };
        Compared::new(&name.to_lowercase(), text, mask, m == field.max())
    })
}

fn ipv4(value: u64) -> String {
    u32::try_from(value).map_or_else(|_| String::new(), |v| Ipv4Addr::from(v).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use uverbs_uapi::prm::{fte_match_set_misc as misc, fte_match_set_misc3 as misc3};

    #[test]
    fn every_section_of_the_match_parameters_has_its_layout() {
        for (field, name, _) in SECTIONS {
            assert_eq!(layout(name).map(|l| l.size * 8), Some(field.width), "{name}");
        }
    }

    #[test]
    fn fields_are_named_and_partial_masks_shown() {
        let (mut criteria, mut value) = ([0; param::SIZE], [0; param::SIZE]);
        let mut add = |section: Field, field: Field, mask: u64, v: u64| {
            section.then(field).set(&mut criteria, mask);
            section.then(field).set(&mut value, v);
        };
        add(param::OUTER_HEADERS, lyr::DMAC_47_16, 0xffff_ffff, 0x0215_b300);
        add(param::OUTER_HEADERS, lyr::DMAC_15_0, 0xffff, 1);
        add(param::OUTER_HEADERS, lyr::UDP_DPORT, 0xffff, 5000);
        add(param::OUTER_HEADERS, lyr::SRC_IPV4, 0xffff_ff00, 0xc000_0200);
        add(param::INNER_HEADERS, lyr::FIRST_VID, 0xf, 5);
        add(param::MISC_PARAMETERS, misc::VXLAN_VNI, 0xff_ffff, 77);
        add(param::MISC_PARAMETERS_3, misc3::ICMP_TYPE, 0xff, 8);
        assert_eq!(
            masked(0b111, &criteria, &value),
            "dmac=02:15:b3:00:00:01 udp_dport=5000 src_ipv4=192.0.2.0/255.255.255.0 vxlan_vni=0x4d \
             inner_first_vid=5/0xf"
        );
        assert_eq!(
            super::criteria(0b111, &criteria),
            "dmac udp_dport src_ipv4/255.255.255.0 vxlan_vni inner_first_vid/0xf"
        );
    }
}
