//! How services use what the files define: attachments, dependencies, files, mounts, ports.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

use super::{BOOL, NUMBER, REFERENCE, TEXT};

pub(super) const ATTACHMENT: SigDecl = sig(
    "Attachment",
    REFERENCE,
    "A service on a network; its span is the network's name at the service.",
    &[
        one(
            "implicit",
            BOOL,
            "Whether nothing is written and it is on `default`.",
        ),
        set("aliases", TEXT, "`aliases`."),
        set(
            "names",
            TEXT,
            "Every name it is reached by there: of the service and the container, aliases.",
        ),
        lone("ipv4_address", TEXT, "`ipv4_address`."),
        lone("ipv6_address", TEXT, "`ipv6_address`."),
        lone("mac_address", TEXT, "`mac_address`."),
        lone("interface_name", TEXT, "`interface_name`."),
        set("link_local_ips", TEXT, "`link_local_ips`."),
    ],
);

pub(super) const DEPENDENCY: SigDecl = sig(
    "Dependency",
    REFERENCE,
    "An item of `depends_on`.",
    &[
        one(
            "condition",
            TEXT,
            "`service_started`, `service_healthy` or `service_completed_successfully`.",
        ),
        one(
            "required",
            BOOL,
            "Whether it is an error when the other is not started.",
        ),
        one("restart", BOOL, "Whether it is restarted with the other."),
    ],
);

pub(super) const FILE_USE: SigDecl = sig(
    "FileUse",
    REFERENCE,
    "A secret or config that a service reads; its span is the item.",
    &[
        lone("path", TEXT, "Where it is in the container."),
        lone("uid", TEXT, "`uid`."),
        lone("gid", TEXT, "`gid`."),
        lone("permissions", NUMBER, "`mode`."),
        one("long", BOOL, "Whether it is written as a map."),
    ],
);

pub(super) const MOUNT: SigDecl = sig(
    "Mount",
    None,
    "Something mounted in a service; its span is the item.",
    &[
        one("path", TEXT, "Where it is in the container."),
        lone(
            "source",
            TEXT,
            "The path of the host or the name of the volume, as written.",
        ),
        lone(
            "host_path",
            TEXT,
            "The path of the host, from the project directory.",
        ),
        lone("use", &["VolumeUse"], "The use of the named volume."),
        set(
            "within",
            &["Mount"],
            "The mounts of the same service whose path it is below.",
        ),
        one("read_only", BOOL, "Whether it cannot be written."),
        lone(
            "shape",
            TEXT,
            "`file`, `directory` or `missing`, as far as it is known.",
        ),
    ],
);

pub(super) const PUBLICATION: SigDecl = sig(
    "Publication",
    None,
    "An item of `ports` that names ports of the host; its span is the item.",
    &[
        one("by", &["Service"], "The service that publishes it."),
        one(
            "ports",
            &["HostPort"],
            "The ports it takes, or may take one of.",
        ),
        one(
            "chooses",
            BOOL,
            "Whether it takes any one of them and not all.",
        ),
        set(
            "addresses",
            &["HostAddress"],
            "The addresses it takes them on; without one, all that any publication names.",
        ),
        lone("host_ip", TEXT, "The address that is written."),
        one("protocol", TEXT, "`tcp`, `udp` or `sctp`."),
        one("publish_mode", TEXT, "`ingress` or `host`."),
        lone("capacity", NUMBER, "How many containers it has ports for."),
        lone(
            "container_port",
            TEXT,
            "The port of the container, or the range.",
        ),
    ],
);
