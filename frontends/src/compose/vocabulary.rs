//! What rules may say about a composition: every signature and field, with its meaning.
//!
//! Equal texts and equal numbers are one atom each, so `a.target = b.target` compares values. What
//! depends on a variable without a value, or on a profile, is an atom whose value is symbolic.

use locus_core::facts::{FieldDecl, Multiplicity, SigDecl, Vocabulary};

const fn one(name: &'static str, columns: &'static [&'static str], doc: &'static str) -> FieldDecl {
    FieldDecl {
        name,
        multiplicity: Multiplicity::One,
        columns,
        doc,
    }
}

const fn lone(
    name: &'static str,
    columns: &'static [&'static str],
    doc: &'static str,
) -> FieldDecl {
    FieldDecl {
        name,
        multiplicity: Multiplicity::Lone,
        columns,
        doc,
    }
}

const fn set(name: &'static str, columns: &'static [&'static str], doc: &'static str) -> FieldDecl {
    FieldDecl {
        name,
        multiplicity: Multiplicity::Set,
        columns,
        doc,
    }
}

const fn sig(
    name: &'static str,
    parent: Option<&'static str>,
    doc: &'static str,
    fields: &'static [FieldDecl],
) -> SigDecl {
    SigDecl {
        name,
        parent,
        subset: false,
        doc,
        fields,
    }
}

const BOOL: &[&str] = &["Bool"];
const TEXT: &[&str] = &["Text"];
const NUMBER: &[&str] = &["Number"];
const REFERENCE: Option<&str> = Some("Reference");

/// The signatures whose atoms are values: equal ones are one, and literals of rules are among them.
pub static VALUES: &[&str] = &[
    "Bool",
    "True",
    "False",
    "Text",
    "Number",
    "HostPort",
    "HostAddress",
];

/// The facts of Docker Compose.
pub static VOCABULARY: Vocabulary = Vocabulary {
    module: "compose",
    sigs: &[
        sig("Bool", None, "A truth value.", &[]),
        sig("True", Some("Bool"), "Yes.", &[]),
        sig("False", Some("Bool"), "No.", &[]),
        sig("Text", None, "A text; equal texts are one atom.", &[]),
        sig(
            "Number",
            None,
            "A whole number of any size; equal numbers are one atom.",
            &[],
        ),
        COMPOSITION,
        FILE,
        DEFINITION,
        VARIABLE,
        PROFILE,
        sig(
            "Component",
            None,
            "Something the files define; its span is its name there.",
            &[
                one("name", TEXT, "Its name in the file."),
                one(
                    "actual_name",
                    TEXT,
                    "Its name in Docker: `name`, or that of the project and its own.",
                ),
                one("external", BOOL, "Whether it exists already."),
                lone(
                    "external_name",
                    TEXT,
                    "The name below `external`, an old way to write `name`.",
                ),
                set(
                    "own_keys",
                    TEXT,
                    "Of what exists already, the keys that are written beside `external`.",
                ),
            ],
        ),
        SERVICE,
        sig(
            "Job",
            Some("Service"),
            "A service that runs on a trigger, from `jobs`.",
            &[],
        ),
        NETWORK,
        VOLUME,
        SECRET,
        CONFIG,
        sig(
            "Model",
            Some("Component"),
            "A language model, from `models`.",
            &[],
        ),
        sig(
            "Reference",
            None,
            "A use of something by its name; its span is that name.",
            &[
                one("by", &["Service"], "The service that uses it."),
                one("word", TEXT, "The name that is written."),
                one(
                    "known",
                    BOOL,
                    "Whether it is known what has that name: false when the name depends on a variable, or when nothing has it and a file could not be read.",
                ),
                lone(
                    "target",
                    &["Component"],
                    "What has that name; none when nothing has.",
                ),
            ],
        ),
        ATTACHMENT,
        DEPENDENCY,
        sig(
            "Link",
            REFERENCE,
            "An item of `links`: a service.",
            &[lone("alias", TEXT, "The name given to it.")],
        ),
        sig(
            "VolumesFrom",
            REFERENCE,
            "An item of `volumes_from` that names a service.",
            &[],
        ),
        sig(
            "Namespace",
            REFERENCE,
            "A `service:` in `network_mode`, `ipc` or `pid`.",
            &[one("key", TEXT, "Which of the three.")],
        ),
        sig(
            "VolumeUse",
            REFERENCE,
            "A named volume that is mounted.",
            &[],
        ),
        FILE_USE,
        sig(
            "SecretUse",
            Some("FileUse"),
            "An item of `secrets` of a service.",
            &[],
        ),
        sig(
            "ConfigUse",
            Some("FileUse"),
            "An item of `configs` of a service.",
            &[],
        ),
        sig(
            "BuildSecretUse",
            REFERENCE,
            "An item of `build.secrets`.",
            &[],
        ),
        sig(
            "ContextUse",
            REFERENCE,
            "A `service:` in `build.additional_contexts`.",
            &[],
        ),
        sig(
            "ModelUse",
            REFERENCE,
            "An item of `models` of a service.",
            &[],
        ),
        MOUNT,
        sig("BindMount", Some("Mount"), "A path of the host.", &[]),
        sig("VolumeMount", Some("Mount"), "A volume, named or not.", &[]),
        sig(
            "TmpfsMount",
            Some("Mount"),
            "Memory, from `volumes` or `tmpfs`.",
            &[],
        ),
        sig("FileMount", Some("Mount"), "A secret or config.", &[]),
        PUBLICATION,
        sig(
            "HostPort",
            None,
            "Ports of the host with one protocol that every publication takes together or not at all.",
            &[],
        ),
        sig("HostAddress", None, "An address of the host.", &[]),
        SUBNET,
        HEALTHCHECK,
        ENVIRONMENT_ENTRY,
        ENV_FILE,
        sig(
            "LabelFile",
            None,
            "An item of `label_file`.",
            &[one("found", BOOL, "Whether it is there.")],
        ),
        MENTION,
        ROLLOUT,
    ],
};

const COMPOSITION: SigDecl = sig(
    "Composition",
    None,
    "The project; its span is the start of its first file.",
    &[
        one("name", TEXT, "Its name."),
        one(
            "mode",
            TEXT,
            "What it is deployed with: `compose` or `swarm`.",
        ),
        lone(
            "version",
            TEXT,
            "The `version` that is written, which Compose ignores.",
        ),
        one(
            "complete",
            BOOL,
            "Whether every file could be read as a whole.",
        ),
    ],
);

const FILE: SigDecl = sig(
    "File",
    None,
    "A Compose file that was read; its span is its start.",
    &[set("includes", &["File"], "The files that it includes.")],
);

const DEFINITION: SigDecl = sig(
    "Definition",
    None,
    "A service as one file defines it, where `extends` is involved; its span is its name, or where it is named.",
    &[
        one(
            "defined",
            BOOL,
            "Whether the file defines it, as far as it could be read.",
        ),
        lone("base", &["Definition"], "What it extends."),
    ],
);

const VARIABLE: SigDecl = sig(
    "Variable",
    None,
    "A variable that the files use; its span is its first use.",
    &[
        one("name", TEXT, "Its name."),
        lone("value", TEXT, "The value given for it."),
        lone(
            "fallback",
            TEXT,
            "The default of its first use that has one.",
        ),
        lone(
            "demand",
            TEXT,
            "The message of a use that refuses to go on without a value.",
        ),
    ],
);

const PROFILE: SigDecl = sig(
    "Profile",
    None,
    "A profile that a service names; its span is the first.",
    &[
        one("name", TEXT, "Its name."),
        one(
            "enabled",
            BOOL,
            "Whether it is; symbolic unless it was asked for.",
        ),
        one("asked", BOOL, "Whether it was asked for."),
    ],
);

const SERVICE: SigDecl = sig(
    "Service",
    Some("Component"),
    "A service; its span is its name.",
    &[
        one(
            "active",
            BOOL,
            "Whether it is started: it has no profile, or one that is enabled.",
        ),
        set("profiles", &["Profile"], "The profiles it belongs to."),
        set("keys", TEXT, "Every key it uses, as in `deploy.placement`."),
        set("references", &["Reference"], "Everything it uses by name."),
        set(
            "needs",
            &["Service"],
            "The services it cannot be started without: by `depends_on`, `links`, `volumes_from`, `network_mode`, `ipc` and `pid`.",
        ),
        set("mounts", &["Mount"], "Everything mounted in it."),
        set(
            "publications",
            &["Publication"],
            "Its ports that are published on the host.",
        ),
        set(
            "environment",
            &["EnvironmentEntry"],
            "Its variables, those of files included.",
        ),
        set(
            "env_files",
            &["EnvFile"],
            "The files its variables come from.",
        ),
        set(
            "label_files",
            &["LabelFile"],
            "The files its labels come from.",
        ),
        lone(
            "healthcheck",
            &["Healthcheck"],
            "Its health check, when it has one that is not disabled.",
        ),
        one(
            "health_disabled",
            BOOL,
            "Whether its health check is disabled, also that of its image.",
        ),
        set(
            "mentions",
            &["Mention"],
            "Services that the values of its variables name.",
        ),
        lone("image", TEXT, "Its image as written."),
        lone(
            "image_tag",
            TEXT,
            "The tag of its image; none when none is written.",
        ),
        lone("image_digest", TEXT, "The digest of its image."),
        lone("build_context", TEXT, "The directory it is built from."),
        set("build_platforms", TEXT, "`build.platforms`."),
        lone("container_name", TEXT, "`container_name`."),
        lone("hostname", TEXT, "`hostname`."),
        lone("restart", TEXT, "`restart`."),
        lone("user", TEXT, "`user`."),
        lone("network_mode", TEXT, "`network_mode`."),
        lone("ipc", TEXT, "`ipc`."),
        lone("pid", TEXT, "`pid`."),
        lone("uts", TEXT, "`uts`."),
        lone("userns_mode", TEXT, "`userns_mode`."),
        lone("cgroup", TEXT, "`cgroup`."),
        lone("pull_policy", TEXT, "`pull_policy`."),
        lone("platform", TEXT, "`platform`."),
        lone("privileged", BOOL, "`privileged`."),
        lone(
            "read_only",
            BOOL,
            "`read_only`: whether its root file system is.",
        ),
        lone("init", BOOL, "`init`."),
        set("cap_add", TEXT, "Capabilities it is given."),
        set("cap_drop", TEXT, "Capabilities taken from it."),
        set("security_opt", TEXT, "`security_opt`."),
        set("devices", TEXT, "Devices of the host it is given."),
        set("group_add", TEXT, "`group_add`."),
        lone(
            "replicas",
            NUMBER,
            "How many containers it has; none when there is one on each node.",
        ),
        lone("deploy_mode", TEXT, "`deploy.mode`."),
        lone("endpoint_mode", TEXT, "`deploy.endpoint_mode`."),
        lone(
            "restart_condition",
            TEXT,
            "`deploy.restart_policy.condition`.",
        ),
        lone(
            "restart_attempts",
            NUMBER,
            "`deploy.restart_policy.max_attempts`.",
        ),
        lone(
            "max_replicas_per_node",
            NUMBER,
            "`deploy.placement.max_replicas_per_node`.",
        ),
        set("placement", TEXT, "`deploy.placement.constraints`."),
        lone(
            "room",
            NUMBER,
            "How many containers its nodes take: `max_replicas_per_node` times the nodes, of which there is one where a constraint names it.",
        ),
        lone("scale", NUMBER, "`scale`."),
        lone("own_cpus", NUMBER, "`cpus`, in billionths."),
        lone("own_memory", NUMBER, "`mem_limit`, in bytes."),
        lone("own_reservation", NUMBER, "`mem_reservation`, in bytes."),
        lone("own_pids", NUMBER, "`pids_limit`."),
        lone("cpu_limit", NUMBER, "Processors at most, in billionths."),
        lone(
            "cpu_reservation",
            NUMBER,
            "Processors at least, in billionths.",
        ),
        lone("memory_limit", NUMBER, "Memory at most, in bytes."),
        lone("memory_reservation", NUMBER, "Memory at least, in bytes."),
        lone("pids_limit", NUMBER, "Processes at most."),
        set(
            "rollouts",
            &["Rollout"],
            "`deploy.update_config` and `deploy.rollback_config`.",
        ),
        lone(
            "stop_grace_period",
            NUMBER,
            "`stop_grace_period`, in nanoseconds.",
        ),
        set("expose", TEXT, "`expose`."),
        set(
            "extra_hosts",
            TEXT,
            "Names that `extra_hosts` gives an address.",
        ),
        set("external_links", TEXT, "`external_links`."),
    ],
);

const NETWORK: SigDecl = sig(
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

const SUBNET: SigDecl = sig(
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

const VOLUME: SigDecl = sig(
    "Volume",
    Some("Component"),
    "A named volume.",
    &[
        lone("driver", TEXT, "`driver`."),
        set("driver_options", TEXT, "`driver_opts`, as `key=value`."),
    ],
);

const SECRET: SigDecl = sig(
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

const CONFIG: SigDecl = sig(
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

const ATTACHMENT: SigDecl = sig(
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

const DEPENDENCY: SigDecl = sig(
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

const FILE_USE: SigDecl = sig(
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

const MOUNT: SigDecl = sig(
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

const PUBLICATION: SigDecl = sig(
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

const HEALTHCHECK: SigDecl = sig(
    "Healthcheck",
    None,
    "A health check; its span is its key.",
    &[
        lone(
            "test",
            TEXT,
            "The first word of its test: `CMD`, `CMD-SHELL`, or the command itself.",
        ),
        lone("interval", NUMBER, "In nanoseconds."),
        lone("timeout", NUMBER, "In nanoseconds."),
        lone("start_period", NUMBER, "In nanoseconds."),
        lone("start_interval", NUMBER, "In nanoseconds."),
        lone("retries", NUMBER, "How often it may fail."),
    ],
);

const ENVIRONMENT_ENTRY: SigDecl = sig(
    "EnvironmentEntry",
    None,
    "A variable of a container; its span is where its value is written.",
    &[
        one("key", TEXT, "Its name."),
        lone(
            "value",
            TEXT,
            "Its value; none when it is taken from the shell.",
        ),
        lone("file", &["EnvFile"], "The file it comes from."),
        one(
            "templated",
            BOOL,
            "Whether its value holds variables that are replaced, given or not.",
        ),
    ],
);

const ENV_FILE: SigDecl = sig(
    "EnvFile",
    None,
    "An item of `env_file`.",
    &[
        one("path", TEXT, "Its path from the project directory."),
        one("found", BOOL, "Whether it is there."),
        one("required", BOOL, "Whether it must be."),
    ],
);

const MENTION: SigDecl = sig(
    "Mention",
    None,
    "A service named in the value of a variable, as in `tcp://db:5432`.",
    &[
        one("entry", &["EnvironmentEntry"], "The variable."),
        one("host", TEXT, "The name."),
        one("service", &["Service"], "The service with that name."),
        lone("port", NUMBER, "The port."),
    ],
);

const ROLLOUT: SigDecl = sig(
    "Rollout",
    None,
    "How replicas are replaced: `update_config` or `rollback_config`.",
    &[
        one("kind", TEXT, "`update` or `rollback`."),
        lone("parallelism", NUMBER, "How many at once."),
        lone("order", TEXT, "`start-first` or `stop-first`."),
        lone("failure_action", TEXT, "`failure_action`."),
        lone("delay", NUMBER, "In nanoseconds."),
        lone("monitor", NUMBER, "In nanoseconds."),
    ],
);
