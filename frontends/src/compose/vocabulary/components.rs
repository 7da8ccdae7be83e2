//! Networks, volumes, secrets and configs.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

use super::{BOOL, TEXT};

pub(super) const NETWORK: SigDecl = sig(
    "Network",
    Some("Component"),
    "A network; its span is its name, for the implicit `default` the first service on it.",
    &[
        one(
            "implicit",
            BOOL,
            "Whether it is the `default` network that no file defines.",
        ),
        lone("driver", TEXT, "`driver`."),
        one("internal", BOOL, "`internal`."),
        one("attachable", BOOL, "`attachable`."),
        one("enable_ipv6", BOOL, "`enable_ipv6`."),
        set("subnets", &["Subnet"], "Its subnets."),
    ],
);

pub(super) const SUBNET: SigDecl = sig(
    "Subnet",
    None,
    "An entry of `ipam.config`; its span is its `subnet`.",
    &[
        one("network", &["Network"], "The network it is of."),
        lone("cidr", TEXT, "`subnet`."),
        lone("gateway", TEXT, "`gateway`."),
        lone("ip_range", TEXT, "`ip_range`."),
        set("reserved", TEXT, "The addresses of `aux_addresses`."),
    ],
);

pub(super) const VOLUME: SigDecl = sig(
    "Volume",
    Some("Component"),
    "A named volume.",
    &[
        lone("driver", TEXT, "`driver`."),
        set("driver_options", TEXT, "`driver_opts`, as `key=value`."),
    ],
);

pub(super) const SECRET: SigDecl = sig(
    "Secret",
    Some("Component"),
    "A secret.",
    &[
        lone("file", TEXT, "`file`."),
        lone("variable", TEXT, "`environment`."),
        lone("driver", TEXT, "`driver`."),
        lone("template_driver", TEXT, "`template_driver`."),
    ],
);

pub(super) const CONFIG: SigDecl = sig(
    "Config",
    Some("Component"),
    "A config.",
    &[
        lone("file", TEXT, "`file`."),
        lone("variable", TEXT, "`environment`."),
        lone("content", TEXT, "`content`."),
        lone("template_driver", TEXT, "`template_driver`."),
    ],
);
