//! Roles that every cluster has: those for users, with what they allow that matters to others.

use super::rule::PolicyRule;

const READ: &str = "get list watch";
const WRITE: &str = "create delete deletecollection patch update";
const ALL: &str = "create delete deletecollection get list patch update watch";

/// Verbs, group and resources.
type Rule = (&'static str, &'static str, &'static str);

const VIEW: &[Rule] = &[
    (
        READ,
        "",
        "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers \
         replicationcontrollers/scale serviceaccounts services services/status bindings events limitranges namespaces \
         namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status",
    ),
    (READ, "discovery.k8s.io", "endpointslices"),
    (
        READ,
        "apps",
        "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets \
         replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
    ),
    (
        READ,
        "autoscaling",
        "horizontalpodautoscalers horizontalpodautoscalers/status",
    ),
    (READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    (
        READ,
        "policy",
        "poddisruptionbudgets poddisruptionbudgets/status",
    ),
    (
        READ,
        "networking.k8s.io",
        "ingresses ingresses/status networkpolicies",
    ),
];

const EDIT: &[Rule] = &[
    (
        READ,
        "",
        "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
    ),
    ("impersonate", "", "serviceaccounts"),
    (
        WRITE,
        "",
        "pods pods/attach pods/exec pods/portforward pods/proxy configmaps events persistentvolumeclaims \
         replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy",
    ),
    ("create", "", "pods/eviction serviceaccounts/token"),
    (
        WRITE,
        "apps",
        "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets \
         statefulsets/scale",
    ),
    (WRITE, "autoscaling", "horizontalpodautoscalers"),
    (WRITE, "batch", "cronjobs jobs"),
    (WRITE, "policy", "poddisruptionbudgets"),
    (WRITE, "networking.k8s.io", "ingresses networkpolicies"),
];

const ADMIN: &[Rule] = &[
    (
        "create",
        "authorization.k8s.io",
        "localsubjectaccessreviews",
    ),
    (ALL, "rbac.authorization.k8s.io", "rolebindings roles"),
];

/// The rules of a ClusterRole that every cluster has; none of one that is not known.
pub fn rules(name: &str) -> Option<Vec<PolicyRule>> {
    let lists: &[&[Rule]] = match name {
        "cluster-admin" => {
            let star = || vec!["*".into()];
            return Some(vec![PolicyRule {
                verbs: star(),
                groups: star(),
                resources: star(),
                names: Vec::new(),
                urls: star(),
                span: None,
            }]);
        }
        "admin" => &[VIEW, EDIT, ADMIN],
        "edit" => &[VIEW, EDIT],
        "view" => &[VIEW],
        _ => return None,
    };
    let words = |text: &str| text.split_whitespace().map(Into::into).collect();
    let rule = |&(verbs, group, resources): &Rule| PolicyRule {
        verbs: words(verbs),
        groups: vec![group.into()],
        resources: words(resources),
        ..PolicyRule::default()
    };
    Some(lists.iter().copied().flatten().map(rule).collect())
}

/// The label of ClusterRoles whose rules are added to a role that every cluster has.
pub fn aggregated_by(name: &str) -> &'static [&'static str] {
    match name {
        "admin" => &[
            "rbac.authorization.k8s.io/aggregate-to-admin",
            "rbac.authorization.k8s.io/aggregate-to-edit",
            "rbac.authorization.k8s.io/aggregate-to-view",
        ],
        "edit" => &[
            "rbac.authorization.k8s.io/aggregate-to-edit",
            "rbac.authorization.k8s.io/aggregate-to-view",
        ],
        "view" => &["rbac.authorization.k8s.io/aggregate-to-view"],
        _ => &[],
    }
}
