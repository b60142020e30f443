//! What the kernel's header of the firmware did not have from the start, or had by another name or in another place.
//!
//! Firmware does not know kernels: a field that the header of an older one calls reserved works there all the same. So the
//! docs of a layout do not say since when the kernel has a name for it; this file does.

use crate::kernel::Version;

/// The paths in C that a field has had; mostly its own name.
pub(crate) fn names(layout: &str, field: &str) -> Vec<String> {
    match (layout, field) {
        ("flow_table_context", "sw_owner_icm_root_0" | "sw_owner_icm_root_1") => {
            vec![field.to_owned(), format!("sws.{field}")]
        }
        ("flow_table_context", "rtc_id_0" | "rtc_id_1") => vec![format!("hws.{field}")],
        ("fte_match_set_lyr_2_4", "src_ipv4") => vec!["src_ipv4_src_ipv6.ipv4_layout.ipv4".to_owned()],
        ("fte_match_set_lyr_2_4", "dst_ipv4") => vec!["dst_ipv4_dst_ipv6.ipv4_layout.ipv4".to_owned()],
        ("cqc", "c_eqn_or_apu_element") => vec![field.to_owned(), "c_eqn".to_owned()],
        ("general_obj_in_cmd_hdr", "log_obj_range") => {
            vec![field.to_owned(), format!("op_param.create.{field}")]
        }
        _ => vec![field.to_owned()],
    }
}

/// Offset and width of a field in an older kernel, where they were not what they are now.
pub(crate) fn place(layout: &str, field: &str, version: Version) -> Option<(u64, u64)> {
    match (layout, field) {
        // Grew to the left: the values it had then are what they were.
        ("packet_reformat_context_in", "reformat_type") if version < Version(6, 1) => Some((5, 3)),
        ("eqc", "intr") | ("cqc", "c_eqn_or_apu_element") if version < Version(6, 1) => Some((0xb8, 8)),
        _ => None,
    }
}

/// Size in bytes of a layout in a kernel where it is not what we say, which is the least that any kernel sends.
pub(crate) fn size(layout: &str, version: Version) -> Option<usize> {
    match layout {
        // Room at the end for the addresses of a queue with more pages.
        "query_qp_out" if version >= Version(6, 12) => Some(464),
        _ => None,
    }
}

/// The first supported kernel that has a constant, if not all have it.
pub(crate) fn constant(name: &str) -> Option<Version> {
    // The driver's own before.
    if name.starts_with("FS_FT_") {
        return Some(Version(7, 0));
    }
    CONSTANTS.iter().find(|(_, names)| names.contains(&name)).map(|(version, _)| *version)
}

/// The first supported kernel that has a layout, if not all have it.
pub(crate) fn layout(name: &str) -> Option<Version> {
    first(|(layout, fields)| *layout == name && fields.is_empty())
}

/// The first supported kernel that has a field, if not all have it.
pub(crate) fn field(layout: &str, name: &str) -> Option<Version> {
    first(|(of, fields)| *of == layout && fields.contains(&name)).or_else(|| self::layout(layout))
}

fn first(matches: impl Fn(&(&str, &[&str])) -> bool) -> Option<Version> {
    FIELDS.iter().find(|(_, layouts)| layouts.iter().any(&matches)).map(|(version, _)| *version)
}

/// Constants by the first supported kernel that has them.
const CONSTANTS: &[(Version, &[&str])] = &[
    (
        Version(6, 1),
        &[
            "MLX5_CMD_OP_LOAD_VHCA_STATE",
            "MLX5_CMD_OP_MODIFY_MEMIC",
            "MLX5_CMD_OP_MODIFY_VHCA_STATE",
            "MLX5_CMD_OP_QUERY_VHCA_MIGRATION_STATE",
            "MLX5_CMD_OP_QUERY_VHCA_STATE",
            "MLX5_CMD_OP_RESUME_VHCA",
            "MLX5_CMD_OP_SAVE_VHCA_STATE",
            "MLX5_CMD_OP_SUSPEND_VHCA",
            "MLX5_FLOW_CONTEXT_ACTION_CRYPTO_DECRYPT",
            "MLX5_FLOW_CONTEXT_ACTION_CRYPTO_ENCRYPT",
            "MLX5_FLOW_CONTEXT_ACTION_EXECUTE_ASO",
            "MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_SAMPLER",
            "MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE",
            "MLX5_IFC_FLOW_DESTINATION_TYPE_TIR",
            "MLX5_IFC_FLOW_DESTINATION_TYPE_UPLINK",
            "MLX5_IFC_FLOW_DESTINATION_TYPE_VPORT",
            "MLX5_QUERY_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_MISC_PARAMETERS_4",
            "MLX5_QUERY_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_MISC_PARAMETERS_5",
        ],
    ),
    (
        Version(6, 12),
        &["MLX5_CMD_OP_ALLOW_OTHER_VHCA_ACCESS", "MLX5_CMD_OP_GENERATE_WQE", "MLX5_CMD_OP_SYNC_CRYPTO"],
    ),
    (Version(7, 0), &["MLX5_CMD_OP_PSP_GEN_SPI", "MLX5_CMD_OP_PSP_ROTATE_KEY"]),
];

/// Layouts, and fields of each; no fields: the whole layout.
type Layouts = &'static [(&'static str, &'static [&'static str])];

/// Fields and layouts by the first supported kernel that has them.
const FIELDS: &[(Version, Layouts)] = &[
    (
        Version(6, 1),
        &[
            (
                "cmd_hca_cap",
                &[
                    "hca_cap_2",
                    "max_num_match_definer",
                    "max_num_sf",
                    "shared_object_to_user_object_allowed",
                    "umem_uid_0",
                ],
            ),
            ("cmd_hca_cap_2", &[]),
            ("create_flow_group_in", &["group_type", "match_definer_id"]),
            ("create_flow_table_in", &["uid"]),
            (
                "e_switch_cap",
                &["esw_shared_ingress_acl", "root_ft_on_other_esw", "vport_cvlan_insert_always"],
            ),
            ("flow_context", &["encrypt_decrypt_obj_id", "encrypt_decrypt_type", "execute_aso"]),
            ("flow_table_eswitch_cap", &["fdb_ipv4_ttl_modify"]),
            ("flow_table_fields_supported", &["geneve_tlv_option_0_exist", "source_vhca_port"]),
            ("flow_table_fields_supported_2", &[]),
            (
                "flow_table_nic_cap",
                &["ft_field_support_2_nic_receive_rdma", "ft_field_support_2_nic_transmit_rdma"],
            ),
            (
                "flow_table_prop_layout",
                &[
                    "execute_aso",
                    "macsec_decrypt",
                    "macsec_encrypt",
                    "reformat_add_macsec",
                    "reformat_insert",
                    "reformat_remove",
                    "reformat_remove_macsec",
                ],
            ),
            ("fte_match_param", &["misc_parameters_4", "misc_parameters_5"]),
            ("fte_match_set_lyr_2_4", &["ipv4_ihl"]),
            ("fte_match_set_misc", &["bth_opcode", "geneve_tlv_option_0_exist"]),
            ("fte_match_set_misc2", &["macsec_syndrome"]),
            (
                "fte_match_set_misc3",
                &[
                    "gtpu_dw_0",
                    "gtpu_dw_2",
                    "gtpu_first_ext_dw_0",
                    "gtpu_msg_flags",
                    "gtpu_msg_type",
                    "gtpu_teid",
                ],
            ),
            ("fte_match_set_misc4", &[]),
            ("fte_match_set_misc5", &[]),
            ("general_obj_in_cmd_hdr", &["log_obj_range"]),
            ("packet_reformat_context_in", &["reformat_param_0", "reformat_param_1"]),
            (
                "per_protocol_networking_offload_caps",
                &["tunnel_stateless_ip_over_ip_rx", "tunnel_stateless_ip_over_ip_tx"],
            ),
            ("roce_cap", &["fl_rc_qp_when_roce_disabled", "fl_rc_qp_when_roce_enabled", "qp_ts_format"]),
            (
                "set_flow_table_root_in",
                &[
                    "table_eswitch_owner_vhca_id",
                    "table_eswitch_owner_vhca_id_valid",
                    "table_of_other_vport",
                    "table_vport_number",
                ],
            ),
            ("tirc", &["packet_merge_mask"]),
            ("umem", &["ats"]),
        ],
    ),
    (
        Version(6, 12),
        &[
            ("cmd_hca_cap", &["cq_period_mode_modify", "repeated_mkey", "terminate_scatter_list_mkey"]),
            (
                "cmd_hca_cap_2",
                &[
                    "allowed_object_for_other_vhca_access",
                    "cross_vhca_object_to_object_supported",
                    "flow_table_type_2_type",
                    "migratable",
                    "sf_eq_usage",
                ],
            ),
            ("dest_format_struct", &["destination_table_type"]),
            ("flow_context", &["uplink_hairpin_en"]),
            ("flow_table_context", &["rtc_id_0", "rtc_id_1", "rtc_valid"]),
            (
                "flow_table_eswitch_cap",
                &[
                    "fdb_dynamic_tunnel",
                    "fdb_multi_path_any_table",
                    "fdb_multi_path_any_table_limit_regc",
                    "fdb_uplink_hairpin",
                    "ft_field_bitmask_support_2_esw_fdb",
                    "ft_field_support_2_esw_fdb",
                ],
            ),
            ("flow_table_fields_supported_2", &["inner_l4_type", "outer_l4_type", "tunnel_header_0_1"]),
            ("flow_table_nic_cap", &["ft_field_support_2_nic_receive"]),
            (
                "flow_table_prop_layout",
                &[
                    "cross_vhca_object",
                    "ignore_flow_level_rtc_valid",
                    "reformat_add_esp_transport_over_udp",
                    "reformat_add_esp_trasport",
                    "reformat_del_esp_transport_over_udp",
                    "reformat_del_esp_trasport",
                    "reformat_l2_to_l3_audp_tunnel",
                    "reformat_l2_to_l3_esp_tunnel",
                    "reformat_l3_audp_tunnel_to_l2",
                    "reformat_l3_esp_tunnel_to_l2",
                    "reparse",
                    "reset_root_to_default",
                ],
            ),
            ("fte_match_set_lyr_2_4", &["l4_type"]),
            ("fte_match_set_misc", &["inner_esp_spi"]),
            ("fte_match_set_misc2", &["ipsec_syndrome"]),
            ("per_protocol_networking_offload_caps", &["swp_csum_l4_partial"]),
            ("query_hca_cap_in", &["ec_vf_function"]),
            ("roce_cap", &["qp_ooo_transmit_default", "roce_cc_general"]),
        ],
    ),
    (
        Version(7, 0),
        &[
            ("cmd_hca_cap_2", &["general_obj_types_127_64"]),
            ("create_flow_group_in", &["eswitch_owner_vhca_id", "other_eswitch"]),
            ("create_flow_table_in", &["eswitch_owner_vhca_id", "other_eswitch"]),
            ("delete_fte_in", &["eswitch_owner_vhca_id", "other_eswitch"]),
            ("destroy_flow_group_in", &["eswitch_owner_vhca_id", "other_eswitch"]),
            ("destroy_flow_table_in", &["eswitch_owner_vhca_id", "other_eswitch"]),
            (
                "e_switch_cap",
                &[
                    "esw_manager_vport_number",
                    "esw_manager_vport_number_valid",
                    "esw_vport_state_max_tx_speed",
                ],
            ),
            (
                "flow_table_fields_supported_2",
                &["inner_l4_type_ext", "ipsec_next_header", "outer_l4_type_ext"],
            ),
            (
                "flow_table_prop_layout",
                &[
                    "forward_vhca_rx",
                    "psp_decrypt",
                    "psp_encrypt",
                    "reformat_del_psp_transport",
                    "reformat_l2_to_l3_psp_tunnel",
                    "reformat_l3_psp_tunnel_to_l2",
                ],
            ),
            ("fte_match_param", &["misc_parameters_6"]),
            ("fte_match_set_lyr_2_4", &["l4_type_ext"]),
            ("fte_match_set_misc2", &["ipsec_next_header", "psp_syndrome"]),
            ("fte_match_set_misc6", &[]),
            ("modify_flow_table_in", &["eswitch_owner_vhca_id", "other_eswitch"]),
            ("query_hca_cap_in", &["function_id_type"]),
            ("set_flow_table_root_in", &["eswitch_owner_vhca_id", "other_eswitch"]),
            ("set_fte_in", &["eswitch_owner_vhca_id", "other_eswitch"]),
        ],
    ),
];
