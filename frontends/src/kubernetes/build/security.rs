//! What pods and containers may do.

use locus_core::facts::AtomId;
use locus_core::vocabulary::FieldId;

use super::Builder;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Container, Workload};
use crate::kubernetes::object::Text;
use crate::kubernetes::vocabulary::field;
use crate::yaml::Node;

impl Builder<'_, '_> {
    /// States what the pods of a workload may do, and what they must meet.
    pub(super) fn pod_security(&mut self, workload: &Workload<'_>, atom: AtomId) {
        self.standards(workload, atom);
        self.seccomp_annotations(workload, atom);
        let context = workload.spec.some("securityContext");
        for sysctl in context.map_or(&[][..], |context| context.items("sysctls")) {
            self.key_text(field!("Workload", "sysctls"), atom, Some(sysctl), "name");
        }
        let seccomp = context.and_then(|context| context.some("seccompProfile"));
        self.key_text(field!("Workload", "pod_seccomp"), atom, seccomp, "type");
        let apparmor = context.and_then(|context| context.some("appArmorProfile"));
        self.key_text(field!("Workload", "pod_apparmor"), atom, apparmor, "type");
        let windows = context.and_then(|context| context.some("windowsOptions"));
        self.key_truth(
            field!("Workload", "pod_host_process"),
            atom,
            windows,
            "hostProcess",
        );
        self.key_truth(
            field!("Workload", "pod_non_root"),
            atom,
            context,
            "runAsNonRoot",
        );
        self.key_number(field!("Workload", "pod_user"), atom, context, "runAsUser");
        self.selinux(field!("Workload", "pod_selinux"), atom, context);
    }

    /// Before there was a field for it, annotations gave seccomp profiles.
    fn seccomp_annotations(&mut self, workload: &Workload<'_>, atom: AtomId) {
        let metadata = workload.template.some("metadata");
        let notes = metadata.map_or_else(Vec::new, |metadata| metadata.labels("annotations"));
        for note in notes {
            let key = &*note.key.text;
            let container = key.strip_prefix("container.seccomp.security.alpha.kubernetes.io/");
            let is_one = |name: &str| {
                let mut names = workload
                    .containers
                    .iter()
                    .filter_map(|one| one.name.as_ref());
                names.any(|known| *known.text == *name)
            };
            if key == "seccomp.security.alpha.kubernetes.io/pod" || container.is_some_and(is_one) {
                let field = field!("Workload", "seccomp_annotations");
                self.text_fact(field, atom, &note.value.text, note.value.span);
            }
        }
    }

    fn selinux(&mut self, field: FieldId<2>, atom: AtomId, context: Option<&Node>) {
        let options = context.and_then(|context| context.some("seLinuxOptions"));
        for entry in options.map_or(&[][..], Node::entries) {
            if let (Some(key), Some(value)) = (entry.name(), entry.value.text_at())
                && !value.text.is_empty()
            {
                let key = Text {
                    text: key.clone(),
                    span: entry.key.span,
                };
                self.label_fact(field, atom, &key, &value);
            }
        }
    }

    /// States what a container may do.
    pub(super) fn container_security(
        &mut self,
        workload: &Workload<'_>,
        container: &Container<'_>,
        atom: AtomId,
    ) {
        let context = container.node.some("securityContext");
        let flags = [
            (field!("Container", "privileged"), "privileged"),
            (
                field!("Container", "allow_escalation"),
                "allowPrivilegeEscalation",
            ),
            (
                field!("Container", "read_only_root"),
                "readOnlyRootFilesystem",
            ),
            (field!("Container", "own_non_root"), "runAsNonRoot"),
        ];
        for (field, key) in flags {
            self.key_truth(field, atom, context, key);
        }
        self.key_number(field!("Container", "own_user"), atom, context, "runAsUser");
        self.key_text(
            field!("Container", "proc_mount"),
            atom,
            context,
            "procMount",
        );
        let capabilities = context.and_then(|context| context.some("capabilities"));
        for (field, key) in [
            (field!("Container", "added"), "add"),
            (field!("Container", "dropped"), "drop"),
        ] {
            for name in capabilities.map_or_else(Vec::new, |capabilities| capabilities.texts(key)) {
                self.text_fact(field, atom, &name.text, name.span);
            }
        }
        let pod = workload.spec.some("securityContext");
        let of = |key: &str| {
            let own = context.filter(|context| context.some(key).is_some());
            own.or(pod)
        };
        self.key_truth(
            field!("Container", "non_root"),
            atom,
            of("runAsNonRoot"),
            "runAsNonRoot",
        );
        self.key_number(
            field!("Container", "user"),
            atom,
            of("runAsUser"),
            "runAsUser",
        );
        self.key_number(
            field!("Container", "user_group"),
            atom,
            of("runAsGroup"),
            "runAsGroup",
        );
        let seccomp = context.and_then(|context| context.some("seccompProfile"));
        self.key_text(field!("Container", "own_seccomp"), atom, seccomp, "type");
        let apparmor = context.and_then(|context| context.some("appArmorProfile"));
        self.key_text(field!("Container", "own_apparmor"), atom, apparmor, "type");
        let windows = context.and_then(|context| context.some("windowsOptions"));
        self.key_truth(
            field!("Container", "own_host_process"),
            atom,
            windows,
            "hostProcess",
        );
        self.selinux(field!("Container", "own_selinux"), atom, context);
        self.probe_hosts(container.node, atom);
    }

    /// The hosts that probes and hooks name instead of the pod itself.
    fn probe_hosts(&mut self, node: &Node, atom: AtomId) {
        let probes = ["livenessProbe", "readinessProbe", "startupProbe"];
        let probes = probes.iter().filter_map(|key| node.some(key));
        let lifecycle = node.some("lifecycle");
        let hooks = ["postStart", "preStop"].iter();
        let hooks = hooks.filter_map(|key| lifecycle?.some(key));
        for handler in probes.chain(hooks) {
            for key in ["httpGet", "tcpSocket"] {
                let action = handler.some(key);
                self.key_text(field!("Container", "probe_hosts"), atom, action, "host");
            }
        }
    }
}
