//! What a packet has to be: mask and value together, from named fields.

mod contradiction;
mod draft;
mod headers;
mod masked;
#[cfg(test)]
mod tests;

use std::fmt;

use uverbs_uapi::prm::{
    Field, fte_match_mpls as mpls, fte_match_param as param, fte_match_set_lyr_2_4 as lyr_2_4,
    fte_match_set_misc as misc, fte_match_set_misc2 as misc2, fte_match_set_misc3 as misc3,
};

use self::draft::Draft;
pub use self::{
    contradiction::Contradiction,
    headers::{Headers, VlanKind},
    masked::Masked,
};

/// Size of the match parameters, and the most the kernel has room for.
///
/// Kernels up to 7.3 at least accept 640 bytes and copy them into 512, so nothing longer ever leaves this crate.
const SIZE: usize = 512;
/// Size of each section: outer headers, miscellaneous, inner headers, and so on.
const SECTION: usize = 64;

const _: () = assert!(param::SIZE == SIZE);

/// What is asked of a packet, as two images of it: the bits that count, and what they have to be.
///
/// All entries of a [`FlowGroup`](super::FlowGroup) ask about the same bits, so the mask of one match makes the group
/// and matches of the same mask its entries; likewise [`FlowMatcher`](super::FlowMatcher) and [`Flow`](super::Flow).
///
/// ```
/// use uverbs::flow::{Headers, Match};
///
/// let vxlan = |vni: u32| Match::builder().outer(&Headers::new().ipv4().udp_destination(4789)).vxlan_vni(vni).build();
/// let (blue, green) = (vxlan(7)?, vxlan(8)?);
/// assert!(blue.has_criteria_of(&green));
/// # Ok::<(), uverbs::flow::Contradiction>(())
/// ```
///
/// C: `struct mlx5dv_flow_match_parameters` twice, `struct mlx5_ifc_fte_match_param_bits`.
#[doc(alias("mlx5dv_flow_match_parameters", "fte_match_param"))]
#[derive(Clone, PartialEq, Eq)]
pub struct Match {
    mask: [u8; SIZE],
    value: [u8; SIZE],
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |bytes: &[u8; SIZE], f: &mut fmt::Formatter<'_>, at: usize| {
            bytes[at..at + 4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        f.write_str("Match {")?;
        for at in (0..SIZE).step_by(4).filter(|&at| self.mask[at..at + 4] != [0; 4]) {
            write!(f, " {at:#x}: ")?;
            words(&self.value, f, at)?;
            f.write_str("/")?;
            words(&self.mask, f, at)?;
        }
        f.write_str(" }")
    }
}

impl Match {
    /// Matches every packet.
    #[must_use]
    pub const fn any() -> Self {
        Self { mask: [0; SIZE], value: [0; SIZE] }
    }

    /// A match that asks for nothing yet.
    pub const fn builder() -> MatchBuilder {
        MatchBuilder { draft: Draft::new(), tunnel: None }
    }

    /// The bits that count.
    #[must_use]
    pub const fn mask(&self) -> &[u8; SIZE] {
        &self.mask
    }

    /// What they have to be; no other bit is set.
    #[must_use]
    pub const fn value(&self) -> &[u8; SIZE] {
        &self.value
    }

    /// Whether both ask about the same bits.
    #[must_use]
    pub fn has_criteria_of(&self, other: &Self) -> bool {
        self.mask == other.mask
    }

    /// Which sections count: bit 0 outer headers, 1 miscellaneous, 2 inner headers, 3 miscellaneous 2, and so on.
    #[doc(alias = "match_criteria_enable")]
    #[must_use]
    pub fn criteria(&self) -> u8 {
        let sections = self.mask.chunks_exact(SECTION).enumerate();
        sections
            .filter(|(_, section)| section.iter().any(|&byte| byte != 0))
            .fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// How many bytes have to be sent: whole sections up to the last that counts, and never none.
    pub(super) fn significant(&self) -> usize {
        let sections = (u8::BITS - self.criteria().leading_zeros()) as usize;
        sections.max(1) * SECTION
    }
}

/// One of the registers that carry a packet's metadata from table to table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetadataRegister {
    /// `metadata_reg_a`: set by the sender.
    A,
    /// `metadata_reg_c_0`: the kernel keeps the source vport in it when it runs the embedded switch.
    C0,
    /// `metadata_reg_c_1`.
    C1,
    /// `metadata_reg_c_2`.
    C2,
    /// `metadata_reg_c_3`.
    C3,
    /// `metadata_reg_c_4`.
    C4,
    /// `metadata_reg_c_5`.
    C5,
    /// `metadata_reg_c_6`.
    C6,
    /// `metadata_reg_c_7`.
    C7,
}

impl MetadataRegister {
    const fn field(self) -> Field {
        match self {
            Self::A => misc2::METADATA_REG_A,
            Self::C0 => misc2::METADATA_REG_C_0,
            Self::C1 => misc2::METADATA_REG_C_1,
            Self::C2 => misc2::METADATA_REG_C_2,
            Self::C3 => misc2::METADATA_REG_C_3,
            Self::C4 => misc2::METADATA_REG_C_4,
            Self::C5 => misc2::METADATA_REG_C_5,
            Self::C6 => misc2::METADATA_REG_C_6,
            Self::C7 => misc2::METADATA_REG_C_7,
        }
    }
}

/// Where an MPLS label stack is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MplsStack {
    /// Behind the outer Ethernet header.
    Outer,
    /// Behind the inner Ethernet header.
    Inner,
    /// Behind a GRE header.
    OverGre,
    /// Behind a UDP header.
    OverUdp,
}

/// A [`Match`] in the making.
///
/// The first contradiction is kept, and [`build`](Self::build) gives it.
#[derive(Clone, Debug)]
#[must_use]
pub struct MatchBuilder {
    draft: Draft<SIZE>,
    tunnel: Option<&'static str>,
}

impl MatchBuilder {
    /// Asks for these headers on the outside: of a packet without tunnel, the only ones.
    #[doc(alias = "outer_headers")]
    pub fn outer(mut self, headers: &Headers) -> Self {
        self.merge("outer", param::OUTER_HEADERS, headers);
        if let Some((kind, id)) = headers.second_vlan {
            let tag = match kind {
                VlanKind::Customer => misc::OUTER_SECOND_CVLAN_TAG,
                VlanKind::Service => misc::OUTER_SECOND_SVLAN_TAG,
            };
            self = self.misc("second VLAN tag", tag, 1u8.into());
            self = self.misc("second VLAN id", misc::OUTER_SECOND_VID, id);
        }
        match headers.flow_label {
            Some(label) => self.misc("IPv6 flow label", misc::OUTER_IPV6_FLOW_LABEL, label),
            None => self,
        }
    }

    /// Asks for these headers inside a tunnel.
    #[doc(alias = "inner_headers")]
    pub fn inner(mut self, headers: &Headers) -> Self {
        self.merge("inner", param::INNER_HEADERS, headers);
        if let Some((kind, id)) = headers.second_vlan {
            let tag = match kind {
                VlanKind::Customer => misc::INNER_SECOND_CVLAN_TAG,
                VlanKind::Service => misc::INNER_SECOND_SVLAN_TAG,
            };
            self = self.misc("inner second VLAN tag", tag, 1u8.into());
            self = self.misc("inner second VLAN id", misc::INNER_SECOND_VID, id);
        }
        match headers.flow_label {
            Some(label) => self.misc("inner IPv6 flow label", misc::INNER_IPV6_FLOW_LABEL, label),
            None => self,
        }
    }

    fn merge(&mut self, which: &'static str, section: Field, headers: &Headers) {
        let Draft { mask, value, refused } = &mut self.draft;
        let at = section.byte();
        for (offset, (&new_mask, &new_value)) in
            headers.draft.mask.iter().zip(&headers.draft.value).enumerate()
        {
            if (value[at + offset] ^ new_value) & mask[at + offset] & new_mask != 0 {
                refused.get_or_insert(Contradiction::Headers { which });
            }
            mask[at + offset] |= new_mask;
            value[at + offset] |= new_value;
        }
        if let Some(contradiction) = headers.contradiction() {
            refused.get_or_insert(contradiction);
        }
    }

    fn misc<T: Into<u64>>(mut self, name: &'static str, field: Field, wanted: Masked<T>) -> Self {
        self.draft.require(name, param::MISC_PARAMETERS.then(field), wanted);
        self
    }

    fn misc2<T: Into<u64>>(mut self, name: &'static str, field: Field, wanted: Masked<T>) -> Self {
        self.draft.require(name, param::MISC_PARAMETERS_2.then(field), wanted);
        self
    }

    fn misc3<T: Into<u64>>(mut self, name: &'static str, field: Field, wanted: Masked<T>) -> Self {
        self.draft.require(name, param::MISC_PARAMETERS_3.then(field), wanted);
        self
    }

    /// A tunnel, which a packet has one of, and the IP protocol that carries it.
    fn tunnel(mut self, name: &'static str, protocol: u8) -> Self {
        let earlier = *self.tunnel.get_or_insert(name);
        if earlier != name {
            self.draft.refuse(Contradiction::Exclusive { first: earlier, second: name });
        }
        let field = param::OUTER_HEADERS.then(lyr_2_4::IP_PROTOCOL);
        self.draft.require("IP protocol", field, Masked::exactly(protocol));
        self
    }

    /// A VXLAN tunnel with this network identifier, 24 bits.
    ///
    /// The card takes for VXLAN what is sent to the UDP ports it was told of, 4789 unless configured. The port is not
    /// implied.
    pub fn vxlan_vni(self, vni: impl Into<Masked<u32>>) -> Self {
        self.tunnel("VXLAN", headers::UDP).misc("VXLAN VNI", misc::VXLAN_VNI, vni.into())
    }

    /// A VXLAN-GPE tunnel with this network identifier, 24 bits.
    #[doc(alias = "outer_vxlan_gpe_vni")]
    pub fn vxlan_gpe_vni(self, vni: impl Into<Masked<u32>>) -> Self {
        self.tunnel("VXLAN-GPE", headers::UDP).misc3("VXLAN-GPE VNI", misc3::OUTER_VXLAN_GPE_VNI, vni.into())
    }

    /// A GENEVE tunnel with this network identifier, 24 bits.
    pub fn geneve_vni(self, vni: impl Into<Masked<u32>>) -> Self {
        self.tunnel("GENEVE", headers::UDP).misc("GENEVE VNI", misc::GENEVE_VNI, vni.into())
    }

    /// A GENEVE tunnel that carries this protocol: an ethertype, 0x6558 for Ethernet.
    #[doc(alias = "geneve_protocol_type")]
    pub fn geneve_protocol(self, ethertype: impl Into<Masked<u16>>) -> Self {
        let field = misc::GENEVE_PROTOCOL_TYPE;
        self.tunnel("GENEVE", headers::UDP).misc("GENEVE protocol", field, ethertype.into())
    }

    /// A GENEVE tunnel with options of this length, in units of 4 bytes, 0 to 63.
    #[doc(alias = "geneve_opt_len")]
    pub fn geneve_options_length(self, length: impl Into<Masked<u8>>) -> Self {
        self.tunnel("GENEVE", headers::UDP).misc("GENEVE options length", misc::GENEVE_OPT_LEN, length.into())
    }

    /// A GENEVE tunnel whose packet is, or is not, a control packet.
    #[doc(alias = "geneve_oam")]
    pub fn geneve_control(self, control: bool) -> Self {
        self.tunnel("GENEVE", headers::UDP).misc("GENEVE OAM", misc::GENEVE_OAM, u8::from(control).into())
    }

    /// A GRE tunnel that carries this protocol: an ethertype, 0x6558 for Ethernet.
    pub fn gre_protocol(self, ethertype: impl Into<Masked<u16>>) -> Self {
        self.tunnel("GRE", headers::GRE).misc("GRE protocol", misc::GRE_PROTOCOL, ethertype.into())
    }

    /// A GRE tunnel with this key.
    #[doc(alias = "gre_k_present")]
    pub fn gre_key(self, key: impl Into<Masked<u32>>) -> Self {
        self.tunnel("GRE", headers::GRE).misc("GRE key present", misc::GRE_K_PRESENT, 1u8.into()).misc(
            "GRE key",
            misc::GRE_KEY,
            key.into(),
        )
    }

    /// The topmost label, 20 bits, of an MPLS label stack.
    pub fn mpls_label(self, stack: MplsStack, label: impl Into<Masked<u32>>) -> Self {
        self.mpls(stack, "MPLS label", mpls::MPLS_LABEL, label.into())
    }

    /// Traffic class, 0 to 7, of the topmost entry of an MPLS label stack.
    #[doc(alias = "mpls_exp")]
    pub fn mpls_traffic_class(self, stack: MplsStack, class: impl Into<Masked<u8>>) -> Self {
        self.mpls(stack, "MPLS traffic class", mpls::MPLS_EXP, class.into())
    }

    /// Whether the topmost entry of an MPLS label stack is also its last.
    #[doc(alias = "mpls_s_bos")]
    pub fn mpls_bottom_of_stack(self, stack: MplsStack, bottom: bool) -> Self {
        self.mpls(stack, "MPLS bottom of stack", mpls::MPLS_S_BOS, u8::from(bottom).into())
    }

    /// Time to live of the topmost entry of an MPLS label stack.
    pub fn mpls_ttl(self, stack: MplsStack, ttl: impl Into<Masked<u8>>) -> Self {
        self.mpls(stack, "MPLS TTL", mpls::MPLS_TTL, ttl.into())
    }

    fn mpls<T: Into<u64>>(
        self,
        stack: MplsStack,
        name: &'static str,
        field: Field,
        wanted: Masked<T>,
    ) -> Self {
        match stack {
            MplsStack::Outer => self.misc2(name, misc2::OUTER_FIRST_MPLS.then(field), wanted),
            MplsStack::Inner => self.misc2(name, misc2::INNER_FIRST_MPLS.then(field), wanted),
            MplsStack::OverGre => self.tunnel("GRE", headers::GRE).misc2(
                name,
                misc2::OUTER_FIRST_MPLS_OVER_GRE.then(field),
                wanted,
            ),
            MplsStack::OverUdp => self.tunnel("MPLS over UDP", headers::UDP).misc2(
                name,
                misc2::OUTER_FIRST_MPLS_OVER_UDP.then(field),
                wanted,
            ),
        }
    }

    /// The content of a metadata register.
    #[doc(alias("metadata_reg_a", "metadata_reg_c_0"))]
    pub fn metadata(self, register: MetadataRegister, value: impl Into<Masked<u32>>) -> Self {
        self.misc2("metadata register", register.field(), value.into())
    }

    /// The vport that the packet comes from; for tables of the embedded switch.
    #[doc(alias = "source_port")]
    pub fn source_vport(self, vport: impl Into<Masked<u16>>) -> Self {
        self.misc("source vport", misc::SOURCE_PORT, vport.into())
    }

    /// The send queue that the packet comes from, 24 bits; for tables of the transmit side.
    #[doc(alias = "source_sqn")]
    pub fn source_queue(self, number: impl Into<Masked<u32>>) -> Self {
        self.misc("source send queue", misc::SOURCE_SQN, number.into())
    }

    /// Destination queue pair, 24 bits, of a `RoCE` packet.
    #[doc(alias = "bth_dst_qp")]
    pub fn roce_queue_pair(self, number: impl Into<Masked<u32>>) -> Self {
        self.misc("RoCE queue pair", misc::BTH_DST_QP, number.into())
    }

    /// Opcode of a `RoCE` packet.
    #[doc(alias = "bth_opcode")]
    pub fn roce_opcode(self, opcode: impl Into<Masked<u8>>) -> Self {
        self.misc("RoCE opcode", misc::BTH_OPCODE, opcode.into())
    }

    /// Any other field of the match parameters, at most 64 bits, by its place in the firmware's layout
    /// ([`uverbs_uapi::prm::fte_match_param`]). Nothing is implied.
    pub fn field(mut self, name: &'static str, field: Field, wanted: impl Into<Masked<u64>>) -> Self {
        if field.width > 64 || field.offset + field.width > SIZE * 8 {
            self.draft.refuse(Contradiction::Elsewhere { field: name });
        } else {
            self.draft.require(name, field, wanted.into());
        }
        self
    }

    /// The match.
    ///
    /// # Errors
    /// The first [`Contradiction`].
    pub fn build(self) -> Result<Match, Contradiction> {
        let Draft { mask, value, refused } = self.draft;
        refused.map_or(Ok(Match { mask, value }), Err)
    }
}
