//! Rights that lead to more than they say: running pods as others, reading their tokens, giving oneself roles.

use std::sync::Arc;

use locus_core::Span;

use super::Grants;
use super::rule::{Action, PolicyRule};

/// What a right leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// Everything in the cluster.
    Everything,
    /// To act as accounts of a namespace, or of all; with names, only as those.
    Accounts(Scope),
    /// To act as the accounts of pods that run.
    Pods(Scope),
    /// To read Secrets.
    ReadSecrets(Scope),
    /// To create Secrets.
    MakeSecrets(Scope),
    /// To grant ClusterRoles one does not hold.
    BindClusterRoles(Scope),
    /// To grant Roles one does not hold.
    BindRoles(Scope),
    /// To create RoleBindings.
    MakeBindings(Scope),
    /// To create ClusterRoleBindings.
    MakeClusterBindings,
    /// To write rules one does not hold into Roles, if one may write Roles.
    EscalateRoles(Scope),
    /// To write Roles.
    WriteRoles(Scope),
    /// The same for ClusterRoles.
    EscalateClusterRoles,
    /// To write ClusterRoles.
    WriteClusterRoles(Scope),
    /// To act as users.
    Users(Scope),
    /// To add groups to whom one acts as.
    Groups(Scope),
    /// To ask for certificates.
    RequestCertificates,
    /// To approve requests for certificates.
    ApproveRequests,
    /// To approve for the signer of certificates that the API server accepts.
    ApproveSigner,
}

/// Which objects a right is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Their namespace; none for all.
    pub(crate) namespace: Option<Arc<str>>,
    /// Their names; all when there are none.
    pub(crate) names: Vec<Arc<str>>,
}

impl Scope {
    pub(crate) fn has_namespace(&self, namespace: &str) -> bool {
        self.namespace.as_deref().is_none_or(|own| own == namespace)
    }

    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|own| **own == *name)
    }

    /// The namespaces that two scopes share: nothing, all (`None`), or one.
    pub(crate) fn shared(&self, other: &Scope) -> Option<Option<Arc<str>>> {
        match (&self.namespace, &other.namespace) {
            (None, other) => Some(other.clone()),
            (own, None) => Some(own.clone()),
            (Some(a), Some(b)) => (a == b).then(|| Some(a.clone())),
        }
    }
}

/// A right of a role that leads to more.
#[derive(Clone, Debug)]
pub(crate) struct Ability {
    pub(crate) power: Power,
    /// What may be done, as the end of a sentence: ``create pods in `shop` ``.
    pub(crate) text: String,
    /// Where the right is written; none for a role that every cluster has.
    pub(crate) span: Option<Span>,
}

/// Kinds with a template of pods.
const CONTROLLERS: [(&str, &str, &str); 7] = [
    ("", "replicationcontrollers", "ReplicationController"),
    ("apps", "deployments", "Deployment"),
    ("apps", "daemonsets", "DaemonSet"),
    ("apps", "statefulsets", "StatefulSet"),
    ("apps", "replicasets", "ReplicaSet"),
    ("batch", "jobs", "Job"),
    ("batch", "cronjobs", "CronJob"),
];

const RBAC: &str = "rbac.authorization.k8s.io";
const CERTIFICATES: &str = "certificates.k8s.io";

struct Reader<'r> {
    rule: &'r PolicyRule,
    /// Where the role counts.
    namespace: Option<&'r Arc<str>>,
    found: Vec<Ability>,
}

impl Reader<'_> {
    /// The first of some verbs that the rule has for a resource, for whichever objects.
    fn verb<'v>(&self, verbs: &[&'v str], group: &str, resource: &str) -> Option<&'v str> {
        let mut verbs = verbs.iter();
        let covers = |verb: &&&str| self.rule.covers(&Action::of(verb, group, resource));
        verbs.find(covers).copied()
    }

    fn scope(&self) -> Scope {
        Scope {
            namespace: self.namespace.cloned(),
            names: self.rule.names.clone(),
        }
    }

    fn add(&mut self, power: Power, verb: &str, resource: &str) {
        let place = match self.namespace {
            Some(namespace) => format!(" in `{namespace}`"),
            None => String::new(),
        };
        let names = match self.rule.names.as_slice() {
            [] => String::new(),
            names => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!(" {}", names.join(", "))
            }
        };
        self.found.push(Ability {
            power,
            text: format!("{verb} {resource}{names}{place}"),
            span: self.rule.span,
        });
    }

    fn workloads(&mut self, grants: &Grants) {
        let all = self.rule.names.is_empty();
        let everywhere = Scope {
            namespace: self.namespace.cloned(),
            names: Vec::new(),
        };
        if all && self.verb(&["create"], "", "pods").is_some() {
            self.add(Power::Accounts(everywhere), "create", "pods");
            return;
        }
        for (group, resource, kind) in CONTROLLERS {
            if all && self.verb(&["create"], group, resource).is_some() {
                self.add(Power::Accounts(everywhere), "create", resource);
                return;
            }
            let Some(verb) = self.verb(&["update", "patch"], group, resource) else {
                continue;
            };
            let scope = self.scope();
            let there = grants.controllers.iter().filter(|controller| {
                &*controller.kind == kind
                    && scope.has_name(&controller.name)
                    && scope.has_namespace(&controller.namespace)
            });
            let mut there = there.map(|controller| controller.namespace.clone());
            if self.namespace.is_some() {
                if there.next().is_some() {
                    self.add(Power::Accounts(everywhere.clone()), verb, resource);
                }
                continue;
            }
            let mut namespaces: Vec<Arc<str>> = there.collect();
            namespaces.sort_unstable();
            namespaces.dedup();
            for namespace in namespaces {
                let scope = Scope {
                    namespace: Some(namespace),
                    names: Vec::new(),
                };
                self.add(Power::Accounts(scope), verb, resource);
            }
        }
    }

    /// What is in namespaces.
    fn namespaced(&mut self, grants: &Grants) {
        self.workloads(grants);
        let on_pods = [
            (&["create", "get"][..], "pods/exec"),
            (&["create", "get"], "pods/attach"),
            (&["update", "patch"], "pods/ephemeralcontainers"),
            (&["update", "patch"], "pods"),
        ];
        for (verbs, resource) in on_pods {
            if let Some(verb) = self.verb(verbs, "", resource) {
                self.add(Power::Pods(self.scope()), verb, resource);
            }
        }
        let on_accounts = [
            ("create", "serviceaccounts/token"),
            ("impersonate", "serviceaccounts"),
        ];
        for (verb, resource) in on_accounts {
            if self.verb(&[verb], "", resource).is_some() {
                self.add(Power::Accounts(self.scope()), verb, resource);
            }
        }
        if let Some(verb) = self.verb(&["get", "list", "watch"], "", "secrets") {
            self.add(Power::ReadSecrets(self.scope()), verb, "secrets");
        }
        let all = self.rule.names.is_empty();
        if all && self.verb(&["create"], "", "secrets").is_some() {
            self.add(Power::MakeSecrets(self.scope()), "create", "secrets");
        }
        for (resource, power) in [
            ("clusterroles", Power::BindClusterRoles(self.scope())),
            ("roles", Power::BindRoles(self.scope())),
        ] {
            if self.verb(&["bind"], RBAC, resource).is_some() {
                self.add(power, "bind", resource);
            }
        }
        if all && let Some(verb) = self.verb(&["create", "update", "patch"], RBAC, "rolebindings") {
            self.add(Power::MakeBindings(self.scope()), verb, "rolebindings");
        }
        if self.verb(&["escalate"], RBAC, "roles").is_some() {
            self.add(Power::EscalateRoles(self.scope()), "escalate", "roles");
        }
        if let Some(verb) = self.verb(&["update", "patch"], RBAC, "roles") {
            self.add(Power::WriteRoles(self.scope()), verb, "roles");
        }
    }

    /// What is of the whole cluster, and which a binding in a namespace does not grant.
    fn of_cluster(&mut self) {
        if self.rule.is_everything() {
            self.add(Power::Everything, "do everything with", "all resources");
        }
        if let Some(verb) = self.verb(&["get", "create"], "", "nodes/proxy") {
            self.add(Power::Pods(Scope::default()), verb, "nodes/proxy");
        }
        let hooks = "mutatingwebhookconfigurations";
        let group = "admissionregistration.k8s.io";
        if let Some(verb) = self.verb(&["create", "update", "patch"], group, hooks)
            && (verb != "create" || self.rule.names.is_empty())
        {
            self.add(Power::Everything, verb, hooks);
        }
        let all = self.rule.names.is_empty();
        let verbs = ["create", "update", "patch"];
        if all && let Some(verb) = self.verb(&verbs, RBAC, "clusterrolebindings") {
            self.add(Power::MakeClusterBindings, verb, "clusterrolebindings");
        }
        if self.verb(&["escalate"], RBAC, "clusterroles").is_some() {
            self.add(Power::EscalateClusterRoles, "escalate", "clusterroles");
        }
        if let Some(verb) = self.verb(&["update", "patch"], RBAC, "clusterroles") {
            self.add(Power::WriteClusterRoles(self.scope()), verb, "clusterroles");
        }
        if self.verb(&["impersonate"], "", "users").is_some() {
            self.add(Power::Users(self.scope()), "impersonate", "users");
        }
        if self.verb(&["impersonate"], "", "groups").is_some() {
            self.add(Power::Groups(self.scope()), "impersonate", "groups");
        }
        let requests = "certificatesigningrequests";
        if all && self.verb(&["create"], CERTIFICATES, requests).is_some() {
            self.add(Power::RequestCertificates, "create", requests);
        }
        let approval = "certificatesigningrequests/approval";
        if let Some(verb) = self.verb(&["update", "patch"], CERTIFICATES, approval) {
            self.add(Power::ApproveRequests, verb, approval);
        }
        let signer = ["kubernetes.io/kube-apiserver-client", "kubernetes.io/*"];
        if self.verb(&["approve"], CERTIFICATES, "signers").is_some()
            && signer.iter().any(|name| self.rule.is_about(Some(name)))
        {
            self.add(Power::ApproveSigner, "approve", "signers");
        }
    }
}

/// The rights of a role that lead to more, where it is bound.
pub(crate) fn of(grants: &Grants, role: usize, namespace: Option<&Arc<str>>) -> Vec<Ability> {
    let rules = grants.roles.get(role).map_or(&[][..], |role| &role.rules);
    let mut all = Vec::new();
    for rule in rules {
        let mut reader = Reader {
            rule,
            namespace,
            found: Vec::new(),
        };
        if namespace.is_none() {
            reader.of_cluster();
        }
        reader.namespaced(grants);
        all.extend(reader.found);
    }
    all
}
