//! Services, and how they are kept running.

use locus_core::vocabulary::SigDecl;
use locus_core::vocabulary::declare::{lone, one, set, sig};

use super::{BOOL, NUMBER, TEXT};

pub(super) const SERVICE: SigDecl = sig(
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

pub(super) const HEALTHCHECK: SigDecl = sig(
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

pub(super) const ROLLOUT: SigDecl = sig(
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
