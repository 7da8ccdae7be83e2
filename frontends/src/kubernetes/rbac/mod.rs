//! Who may do what: roles, bindings and subjects, and what a subject can come to hold.
//!
//! [`Grants`] has the bindings with the rules of their roles, aggregated ones included. [`ability`] says which rights lead
//! to more, [`closure`] what follows from them, step by step, and [`question`] answers who can do something.

pub mod ability;
pub(crate) mod answer;
pub mod builtin;
pub mod closure;
pub mod question;
pub mod rule;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use locus_core::Span;
use rustc_hash::FxHashMap;

use super::access::Access as _;
use super::model::{Labels, Model, Selector, Workload};
use super::object::Object;
use crate::yaml::Node;

use ability::Ability;
use rule::PolicyRule;

const GROUP: &str = "rbac.authorization.k8s.io";

/// The account of `kube-system` that may write any rule into any ClusterRole, in every cluster.
const AGGREGATOR: &str = "clusterrole-aggregation-controller";

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A service account: its namespace and name.
    Account(Arc<str>, Arc<str>),
    /// A user.
    User(Arc<str>),
    /// Anybody in a group.
    Group(Arc<str>),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Account(namespace, name) => write!(f, "ServiceAccount `{namespace}/{name}`"),
            Subject::User(name) => write!(f, "User `{name}`"),
            Subject::Group(name) => write!(f, "Group `{name}`"),
        }
    }
}

impl Subject {
    /// The subject of a binding; a user may be another name of a service account.
    fn read(node: &Node, namespace: Option<&str>) -> Option<Subject> {
        let name = node.text_of("name")?.text;
        match node.str_of("kind")? {
            "ServiceAccount" => {
                let of = node.str_of("namespace").or(namespace)?;
                Some(Subject::Account(of.into(), name))
            }
            "User" => Some(Subject::user(&name)),
            "Group" => Some(Subject::Group(name)),
            _ => None,
        }
    }

    fn user(name: &Arc<str>) -> Subject {
        let account = name.strip_prefix("system:serviceaccount:");
        match account.and_then(|rest| rest.split_once(':')) {
            Some((namespace, name)) => Subject::Account(namespace.into(), name.into()),
            None => Subject::User(name.clone()),
        }
    }

    /// The groups that it is in by itself.
    pub fn groups(&self) -> Vec<Arc<str>> {
        match self {
            Subject::Account(namespace, _) => vec![
                format!("system:serviceaccounts:{namespace}").into(),
                "system:serviceaccounts".into(),
                "system:authenticated".into(),
            ],
            Subject::User(name) if &**name == "system:anonymous" => {
                vec!["system:unauthenticated".into()]
            }
            Subject::User(_) => vec!["system:authenticated".into()],
            Subject::Group(name) => match &**name {
                "system:unauthenticated" | "system:authenticated" => Vec::new(),
                "system:serviceaccounts" => vec!["system:authenticated".into()],
                other if other.starts_with("system:serviceaccounts:") => {
                    vec![
                        "system:serviceaccounts".into(),
                        "system:authenticated".into(),
                    ]
                }
                _ => vec!["system:authenticated".into()],
            },
        }
    }
}

/// A role with all rules it has.
#[derive(Clone, Debug)]
pub struct Role {
    /// `Role` or `ClusterRole`.
    pub kind: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its rules, with those of the roles that it aggregates.
    pub rules: Vec<PolicyRule>,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}

/// A binding of a role.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The position of its object.
    pub object: usize,
    /// Who gets the role.
    pub subjects: Vec<Subject>,
    /// The position of the role.
    pub role: usize,
    /// Where the role counts; none for the whole cluster.
    pub namespace: Option<Arc<str>>,
    /// Where the name of the role is written.
    pub span: Span,
}

/// A binding of a role that is not known.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// The position of the binding.
    pub object: usize,
    /// The kind and name of the role.
    pub role: String,
    /// Where that is written.
    pub span: Span,
}

/// Pods that hold the token of an account.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) account: Subject,
    pub(crate) object: usize,
    /// Where the account is named, or the pods are.
    pub(crate) span: Span,
}

/// Something that has a template of pods.
#[derive(Clone, Debug)]
struct Controller {
    kind: Arc<str>,
    namespace: Arc<str>,
    name: Arc<str>,
}

/// A Secret with the token of an account.
#[derive(Clone, Debug)]
struct Token {
    namespace: Arc<str>,
    name: Arc<str>,
    account: Subject,
}

/// The kind of a role, its namespace if it has one, and its name.
type RoleKey = (Arc<str>, Option<Arc<str>>, Arc<str>);

/// All rights that the objects of a project grant.
#[derive(Debug, Default)]
pub struct Grants {
    /// The roles of the files, and those that every cluster has.
    pub roles: Vec<Role>,
    /// The bindings whose roles are known.
    pub bindings: Vec<Binding>,
    /// The bindings whose roles are not.
    pub unknown: Vec<Unknown>,
    /// The pods that hold tokens.
    pub(crate) holders: Vec<Holder>,
    by_subject: FxHashMap<Subject, Vec<usize>>,
    by_role: FxHashMap<RoleKey, usize>,
    /// Accounts that have rights of their own, in the order of their names.
    accounts: Vec<Subject>,
    tokens: Vec<Token>,
    controllers: Vec<Controller>,
    /// What each binding leads to.
    abilities: Vec<Vec<Ability>>,
}

impl Grants {
    /// Reads the rights that objects grant.
    pub fn of(model: &Model<'_>) -> Grants {
        let mut grants = Grants::default();
        let roles: Vec<&Object> = model
            .objects
            .iter()
            .filter(|object| object.is(GROUP, "ClusterRole"))
            .collect();
        grants.roles(model, &roles);
        for (at, object) in model.objects.iter().enumerate() {
            if object.group() != GROUP {
                continue;
            }
            let namespace = match &*object.kind.text {
                "RoleBinding" => object.namespace.clone(),
                "ClusterRoleBinding" => None,
                _ => continue,
            };
            grants.binding(at, object, namespace);
        }
        grants.holders = model
            .workloads
            .iter()
            .filter_map(|workload| holder(model, workload))
            .collect();
        for object in model.objects {
            grants.tokens.extend(token(object));
        }
        let controllers = model.workloads.iter().filter_map(|workload| {
            let object = model.object(workload.object)?;
            Some(Controller {
                kind: object.kind.text.clone(),
                namespace: model.namespace(workload.object).into(),
                name: object.name.as_ref()?.text.clone(),
            })
        });
        grants.controllers = controllers.collect();
        let mut accounts: Vec<Subject> = grants.by_subject.keys().cloned().collect();
        for subject in grants.by_subject.keys() {
            if let Subject::Group(group) = subject
                && let Some(namespace) = group.strip_prefix("system:serviceaccounts:")
            {
                accounts.push(Subject::Account(namespace.into(), "default".into()));
            }
        }
        accounts.push(Subject::Account("kube-system".into(), AGGREGATOR.into()));
        accounts.retain(|subject| matches!(subject, Subject::Account(..)));
        accounts.sort_unstable();
        accounts.dedup();
        grants.accounts = accounts;
        grants.abilities = grants
            .bindings
            .iter()
            .map(|binding| ability::of(&grants, binding.role, binding.namespace.as_ref()))
            .collect();
        grants
    }

    /// Adds the roles of the files, and those that every cluster has.
    fn roles(&mut self, model: &Model<'_>, cluster_roles: &[&Object]) {
        for object in model.objects {
            let namespace = match (object.group(), &*object.kind.text) {
                (GROUP, "Role") => object.namespace.clone(),
                (GROUP, "ClusterRole") => None,
                _ => continue,
            };
            if let Some(name) = &object.name {
                let rules = rules_of(object, cluster_roles);
                self.role(&object.kind.text, namespace, &name.text, rules);
            }
        }
        for name in ["cluster-admin", "admin", "edit", "view"] {
            if let Some(rules) = builtin_rules(name, cluster_roles) {
                self.role("ClusterRole", None, &name.into(), rules);
            }
        }
    }

    /// Adds a role, unless there is one of its name.
    fn role(
        &mut self,
        kind: &str,
        namespace: Option<Arc<str>>,
        name: &Arc<str>,
        rules: Vec<PolicyRule>,
    ) {
        let id = self.roles.len();
        let key = (Arc::from(kind), namespace, name.clone());
        if let std::collections::hash_map::Entry::Vacant(free) = self.by_role.entry(key) {
            free.insert(id);
            self.roles.push(Role {
                kind: kind.into(),
                name: name.clone(),
                rules,
            });
        }
    }

    fn binding(&mut self, at: usize, object: &Object, namespace: Option<Arc<str>>) {
        let Some(reference) = object.node.some("roleRef") else {
            return;
        };
        let (Some(name), Some(kind)) = (reference.text_of("name"), reference.str_of("kind")) else {
            return;
        };
        let within = namespace.as_ref().filter(|_| kind == "Role");
        let role = self.role_named(kind, within, &name.text);
        let Some(role) = role else {
            self.unknown.push(Unknown {
                object: at,
                role: format!("{kind} `{}`", name.text),
                span: name.span,
            });
            return;
        };
        let of = namespace.as_deref();
        let subjects: Vec<Subject> = object
            .node
            .items("subjects")
            .iter()
            .filter_map(|subject| Subject::read(subject, of))
            .collect();
        let id = self.bindings.len();
        for subject in &subjects {
            let known = self.by_subject.entry(subject.clone()).or_default();
            if known.last() != Some(&id) {
                known.push(id);
            }
        }
        self.bindings.push(Binding {
            object: at,
            subjects,
            role,
            namespace,
            span: name.span,
        });
    }

    /// The bindings that count for a subject: its own and those of its groups.
    pub fn bindings_of(&self, subject: &Subject) -> Vec<usize> {
        let own = self.by_subject.get(subject).into_iter().flatten().copied();
        let groups = subject.groups().into_iter().map(Subject::Group);
        let mut all: Vec<usize> = own.collect();
        for group in groups {
            all.extend(self.by_subject.get(&group).into_iter().flatten().copied());
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Everybody that a binding names, in the order of their names.
    pub fn subjects(&self) -> Vec<&Subject> {
        let mut all: Vec<&Subject> = self.by_subject.keys().collect();
        all.sort_unstable();
        all
    }

    /// A role by its kind, namespace and name.
    fn role_named(
        &self,
        kind: &str,
        namespace: Option<&Arc<str>>,
        name: &Arc<str>,
    ) -> Option<usize> {
        let key = (Arc::from(kind), namespace.cloned(), name.clone());
        self.by_role.get(&key).copied()
    }
}

/// The rules of a role, with those of the roles that it aggregates.
fn rules_of(role: &Object, cluster_roles: &[&Object]) -> Vec<PolicyRule> {
    let mut rules: Vec<PolicyRule> = own_rules(role);
    let selectors = role.node.at(&["aggregationRule"]);
    let selectors = selectors.map_or(&[][..], |rule| rule.items("clusterRoleSelectors"));
    if !selectors.is_empty() {
        // The controller replaces what is written.
        rules.clear();
    }
    for selector in selectors.iter().map(Selector::of) {
        for other in cluster_roles {
            let labels: Labels = other
                .labels
                .iter()
                .map(|label| (label.key.text.clone(), label.value.text.clone()))
                .collect();
            if selector.matches(&labels) {
                rules.extend(own_rules(other));
            }
        }
    }
    rules
}

fn own_rules(role: &Object) -> Vec<PolicyRule> {
    let rules = role.node.items("rules").iter();
    rules.map(PolicyRule::read).collect()
}

/// The rules of a role that every cluster has, with those that are added to it.
fn builtin_rules(name: &str, cluster_roles: &[&Object]) -> Option<Vec<PolicyRule>> {
    let mut rules = builtin::rules(name)?;
    for label in builtin::aggregated_by(name) {
        let added = cluster_roles
            .iter()
            .filter(|role| role.label(label) == Some("true"));
        rules.extend(added.flat_map(|role| own_rules(role)));
    }
    Some(rules)
}

/// The pods of a workload, when they hold the token of their account.
fn holder(model: &Model<'_>, workload: &Workload<'_>) -> Option<Holder> {
    let object = model.object(workload.object)?;
    let namespace = model.namespace(workload.object);
    let spec = workload.spec;
    let named = ["serviceAccountName", "serviceAccount"].iter();
    let named = named.filter_map(|key| spec.text_of(key)).next();
    let named = named.filter(|name| !name.text.is_empty());
    let name: Arc<str> = match &named {
        Some(name) => name.text.clone(),
        None => "default".into(),
    };
    let account = model.find("ServiceAccount", Some(namespace), &name);
    let account = account.and_then(|at| model.object(at));
    let mounts = spec.bool_of("automountServiceAccountToken").or_else(|| {
        account.and_then(|account| account.node.bool_of("automountServiceAccountToken"))
    });
    let projected = spec.items("volumes").iter().any(|volume| {
        let sources = volume.at(&["projected"]);
        let mut sources = sources.map_or(&[][..], |node| node.items("sources")).iter();
        sources.any(|source| source.some("serviceAccountToken").is_some())
    });
    (mounts.unwrap_or(true) || projected).then(|| Holder {
        namespace: namespace.into(),
        name: object.called().into(),
        kind: object.kind.text.clone(),
        account: Subject::Account(namespace.into(), name),
        object: workload.object,
        span: named.map_or(workload.at, |name| name.span),
    })
}

/// The token that a Secret holds.
fn token(object: &Object) -> Option<Token> {
    if !object.is("", "Secret")
        || object.node.str_of("type") != Some("kubernetes.io/service-account-token")
    {
        return None;
    }
    let account = object.annotation("kubernetes.io/service-account.name")?;
    let namespace = object.namespace.clone()?;
    Some(Token {
        account: Subject::Account(namespace.clone(), account.into()),
        namespace,
        name: object.name.as_ref()?.text.clone(),
    })
}
