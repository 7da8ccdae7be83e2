//! Who can do something: those who are granted it, and those who can come to it.

use std::sync::Arc;

use locus_core::Span;

use super::closure::{Closure, Held, Step};
use super::rule::{Action, PolicyRule};
use super::{Grants, Subject};

/// Resources of the whole cluster, and what kinds of resources are also called.
const RESOURCES: &[(&str, &str, bool, &[&str])] = &[
    ("", "pods", true, &["po"]),
    ("", "services", true, &["svc"]),
    ("", "secrets", true, &[]),
    ("", "configmaps", true, &["cm"]),
    ("", "serviceaccounts", true, &["sa"]),
    ("", "replicationcontrollers", true, &["rc"]),
    ("", "persistentvolumeclaims", true, &["pvc"]),
    ("", "endpoints", true, &["ep"]),
    ("", "events", true, &["ev"]),
    ("", "limitranges", true, &["limits"]),
    ("", "resourcequotas", true, &["quota"]),
    ("", "podtemplates", true, &[]),
    ("", "bindings", true, &[]),
    ("", "nodes", false, &["no"]),
    ("", "namespaces", false, &["ns"]),
    ("", "persistentvolumes", false, &["pv"]),
    ("", "users", false, &[]),
    ("", "groups", false, &[]),
    ("apps", "deployments", true, &["deploy"]),
    ("apps", "daemonsets", true, &["ds"]),
    ("apps", "statefulsets", true, &["sts"]),
    ("apps", "replicasets", true, &["rs"]),
    ("apps", "controllerrevisions", true, &[]),
    ("batch", "jobs", true, &[]),
    ("batch", "cronjobs", true, &["cj"]),
    ("autoscaling", "horizontalpodautoscalers", true, &["hpa"]),
    ("policy", "poddisruptionbudgets", true, &["pdb"]),
    ("networking.k8s.io", "ingresses", true, &["ing", "ingress"]),
    (
        "networking.k8s.io",
        "networkpolicies",
        true,
        &["netpol", "networkpolicy"],
    ),
    (
        "networking.k8s.io",
        "ingressclasses",
        false,
        &["ingressclass"],
    ),
    ("rbac.authorization.k8s.io", "roles", true, &[]),
    ("rbac.authorization.k8s.io", "rolebindings", true, &[]),
    ("rbac.authorization.k8s.io", "clusterroles", false, &[]),
    (
        "rbac.authorization.k8s.io",
        "clusterrolebindings",
        false,
        &[],
    ),
    (
        "storage.k8s.io",
        "storageclasses",
        false,
        &["sc", "storageclass"],
    ),
    ("storage.k8s.io", "csidrivers", false, &[]),
    ("storage.k8s.io", "csinodes", false, &[]),
    ("storage.k8s.io", "volumeattachments", false, &[]),
    (
        "scheduling.k8s.io",
        "priorityclasses",
        false,
        &["pc", "priorityclass"],
    ),
    ("node.k8s.io", "runtimeclasses", false, &["runtimeclass"]),
    (
        "certificates.k8s.io",
        "certificatesigningrequests",
        false,
        &["csr"],
    ),
    ("certificates.k8s.io", "signers", false, &[]),
    ("coordination.k8s.io", "leases", true, &[]),
    ("discovery.k8s.io", "endpointslices", true, &[]),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        false,
        &[],
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        false,
        &[],
    ),
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        false,
        &["crd"],
    ),
    ("apiregistration.k8s.io", "apiservices", false, &[]),
];

/// Something that somebody may be able to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    verb: String,
    what: What,
    /// The namespace; any when there is none.
    namespace: Option<Arc<str>>,
    /// The object; all when there is none.
    name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Url(String),
    Resource {
        group: Option<String>,
        resource: String,
        subresource: String,
        /// Whether objects of it are in namespaces.
        namespaced: bool,
    },
}

impl Question {
    /// Reads a question: a resource as in `pods`, `pods/exec` or `deployments.apps/scale`, or a path as in `/healthz`.
    pub fn new(verb: &str, what: &str, namespace: Option<&str>, name: Option<&str>) -> Question {
        let what = if what.starts_with('/') {
            What::Url(what.to_owned())
        } else {
            let (resource, subresource) = what.split_once('/').unwrap_or((what, ""));
            let (resource, group) = match resource.split_once('.') {
                Some((resource, group)) => (resource, Some(group)),
                None => (resource, None),
            };
            let lower = resource.to_lowercase();
            let is = |(_, plural, _, short): &&(&str, &str, bool, &[&str])| {
                *plural == lower
                    || plural.strip_suffix('s') == Some(lower.as_str())
                    || short.contains(&lower.as_str())
            };
            let known = RESOURCES
                .iter()
                .filter(|known| group.is_none_or(|group| group == known.0))
                .find(is);
            What::Resource {
                group: group.or(known.map(|known| known.0)).map(str::to_owned),
                resource: known.map_or(resource, |known| known.1).to_owned(),
                subresource: subresource.to_owned(),
                namespaced: known.is_none_or(|known| known.2),
            }
        };
        Question {
            verb: verb.to_lowercase(),
            what,
            namespace: namespace.map(Into::into),
            name: name.map(str::to_owned),
        }
    }

    /// Whether it can be done in a namespace, and is asked about there.
    fn is_asked_in(&self, namespace: &Arc<str>) -> bool {
        let namespaced = matches!(
            self.what,
            What::Resource {
                namespaced: true,
                ..
            }
        );
        namespaced
            && self
                .namespace
                .as_ref()
                .is_none_or(|asked| asked == namespace)
    }

    /// Whether a rule allows it where it counts; the names that it is limited to.
    fn allowed<'r>(
        &self,
        rule: &'r PolicyRule,
        namespace: Option<&Arc<str>>,
    ) -> Option<&'r [Arc<str>]> {
        match &self.what {
            What::Url(url) => {
                let allowed = namespace.is_none() && rule.allows_url(&self.verb, url);
                allowed.then_some(&[][..])
            }
            What::Resource {
                group,
                resource,
                subresource,
                namespaced,
            } => {
                let action = Action {
                    verb: &self.verb,
                    group: group.as_deref(),
                    resource,
                    subresource,
                    name: self.name.as_deref(),
                };
                let here = match namespace {
                    None => true,
                    Some(own) => {
                        *namespaced && self.namespace.as_ref().is_none_or(|asked| asked == own)
                    }
                };
                let named = self.name.is_none() || rule.is_about(self.name.as_deref());
                (here && named && rule.covers(&action)).then_some(&rule.names)
            }
        }
    }
}

/// Somebody who can do what was asked.
#[derive(Clone, Debug)]
pub struct Able {
    /// Who.
    pub subject: Subject,
    /// Where; none for the whole cluster.
    pub namespace: Option<Arc<str>>,
    /// The only objects it is about; all when there are none.
    pub names: Vec<Arc<str>>,
    /// The position of the binding that grants it; of no binding for somebody who can come to it otherwise.
    pub binding: usize,
    /// Where it is granted.
    pub span: Option<Span>,
    /// The steps that lead to it, for somebody who can only come to it.
    pub steps: Vec<Step>,
}

/// Those who can do something: first those who are granted it, then those who can come to it.
pub fn who_can(grants: &Grants, question: &Question) -> Vec<Able> {
    let mut able: Vec<Able> = Vec::new();
    for (at, binding) in grants.bindings.iter().enumerate() {
        let role = grants.roles.get(binding.role);
        for rule in role.map_or(&[][..], |role| &role.rules) {
            let Some(names) = question.allowed(rule, binding.namespace.as_ref()) else {
                continue;
            };
            for subject in &binding.subjects {
                able.push(Able {
                    subject: subject.clone(),
                    namespace: binding.namespace.clone(),
                    names: names.to_vec(),
                    binding: at,
                    span: rule.span.or(Some(binding.span)),
                    steps: Vec::new(),
                });
            }
        }
    }
    able.sort_by(|a, b| {
        (&a.subject, &a.namespace, a.binding).cmp(&(&b.subject, &b.namespace, b.binding))
    });
    able.dedup_by(|a, b| {
        a.subject == b.subject
            && a.binding == b.binding
            && (b.names.is_empty() || a.names == b.names)
    });
    let come = come_to_it(grants, question, &able);
    able.extend(come);
    able
}

/// Those who are not granted it, but can come to act as somebody who is.
fn come_to_it(grants: &Grants, question: &Question, granted: &[Able]) -> Vec<Able> {
    let mut candidates: Vec<Subject> = grants.subjects().into_iter().cloned().collect();
    candidates.extend(grants.holders.iter().map(|holder| holder.account.clone()));
    candidates.sort_unstable();
    candidates.dedup();
    let mut found = Vec::new();
    for subject in candidates {
        let bindings = grants.bindings_of(&subject);
        let own: Vec<&Able> = granted
            .iter()
            .filter(|able| bindings.contains(&able.binding) && able.names.is_empty())
            .collect();
        if own.iter().any(|able| able.namespace.is_none()) {
            continue;
        }
        let closure = Closure::of(grants, &subject);
        let mut reached: Vec<(&Held, Able)> = Vec::new();
        for held in closure.held().skip(1) {
            let way = || Able {
                subject: subject.clone(),
                namespace: None,
                names: Vec::new(),
                binding: usize::MAX,
                span: None,
                steps: Vec::new(),
            };
            match held {
                Held::Subject(other) => {
                    let theirs = grants.bindings_of(other);
                    let theirs = granted.iter().filter(|able| theirs.contains(&able.binding));
                    reached.extend(theirs.map(|able| (held, able.clone())));
                }
                Held::ClusterAdmin => reached.push((held, way())),
                Held::Namespace(namespace) => {
                    if question.is_asked_in(namespace) {
                        let namespace = Some(namespace.clone());
                        reached.push((held, Able { namespace, ..way() }));
                    }
                }
                Held::Role(role, namespace) => {
                    let rules = grants.roles.get(*role).map_or(&[][..], |role| &role.rules);
                    for rule in rules {
                        if let Some(names) = question.allowed(rule, namespace.as_ref()) {
                            let able = Able {
                                namespace: namespace.clone(),
                                names: names.to_vec(),
                                span: rule.span,
                                ..way()
                            };
                            reached.push((held, able));
                        }
                    }
                }
            }
        }
        // What is granted is not told again, and of ways that lead as far the first is told.
        reached.retain(|(_, able)| {
            let here = |own: &&Able| own.namespace == able.namespace;
            !own.iter().any(here) && !bindings.contains(&able.binding)
        });
        let reach = |able: &Able| (able.namespace.is_some(), !able.names.is_empty());
        if let Some((held, by)) = reached.iter().min_by_key(|(_, able)| reach(able)) {
            found.push(Able {
                subject: subject.clone(),
                steps: closure.way(held).unwrap_or_default(),
                ..by.clone()
            });
        }
    }
    found
}
