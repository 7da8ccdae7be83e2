//! Who can talk to whom: pods, the outside, nodes, by port and protocol, under all policies.
//!
//! [`policy`] and [`admin`] read policies into one form, [`cluster`] reads what they are about, [`evaluate`] finds what they
//! allow between any two ends, and [`relation`] names the ends as people do. Sets of ports and of addresses are exact:
//! [`connections`], [`addresses`].
//!
//! What is assumed: rules about addresses are about what is outside the cluster, and not about pods, whose addresses are not
//! known before they run; pods of one workload are not told apart; a namespace that is not among the objects has no labels but
//! its name.

pub mod addresses;
pub mod admin;
pub mod assertions;
pub mod audit;
pub mod cluster;
pub mod connections;
pub mod evaluate;
mod ingress;
pub mod policy;
pub mod relation;
mod table;

#[cfg(test)]
mod tests;

use locus_core::{Diagnostic, Severity, Sources, Span};

use super::model::Model;
use super::object::Object;
use super::{Manifests, Options};
use crate::language::reach::Reach;
use crate::loader::Loader;
use assertions::Assertion;
use policy::{Peer, Policy, Tier};
use relation::Reachability;

/// Finds who can talk to whom in a project.
pub(super) fn reach(options: &Options, loader: &dyn Loader, sources: &mut Sources) -> Reach {
    let Manifests {
        objects,
        diagnostics,
        mut unchecked,
        ..
    } = super::load(options, loader, sources);
    let model = Model::of(&objects);
    // Of kinds that are not understood, those matter that have a say in the network.
    unchecked.retain(|one| one.code != "kind");
    unchecked.extend(foreign(&objects));
    if let Some(why) = not_known(&objects, &diagnostics) {
        unchecked.push(why);
        return Reach {
            relation: None,
            diagnostics,
            unchecked,
        };
    }
    let reachability = Reachability::of(&model);
    unchecked.extend(open_questions(&reachability));
    Reach {
        relation: Some(Box::new(reachability)),
        diagnostics,
        unchecked,
    }
}

/// Groups of kinds that decide about the network too.
const FOREIGN: [&str; 9] = [
    "cilium.io",
    "crd.antrea.io",
    "crd.projectcalico.org",
    "k8s.cni.cncf.io",
    "k8s.ovn.org",
    "networking.gke.io",
    "policy.networking.k8s.io",
    "projectcalico.org",
    "security.istio.io",
];

/// What decides about the network and is not understood: a line for each kind.
fn foreign(objects: &[Object]) -> Vec<Diagnostic> {
    let mut kinds = std::collections::BTreeMap::new();
    for object in objects.iter().filter(|object| !is_policy(object)) {
        if FOREIGN.contains(&object.group()) {
            let key = (object.group(), &*object.kind.text);
            kinds.entry(key).or_insert(object.kind.span);
        }
    }
    let told = |((group, kind), span)| {
        let message = format!("objects of kind `{kind}` of `{group}` are not taken into account");
        Diagnostic::warning("kind", message).at(span)
    };
    kinds.into_iter().map(told).collect()
}

/// Why it is not known who can talk to whom, when policies have errors.
fn not_known(objects: &[Object], diagnostics: &[Diagnostic]) -> Option<Diagnostic> {
    let policies = objects.iter().filter(|object| is_policy(object));
    // What is wrong beside it, such as a name, changes nothing about who can talk to whom.
    let spans = policies.map(|object| object.spec().map_or(object.node.span, |spec| spec.span));
    let broken = spans.filter(|span| is_broken(*span, diagnostics)).count();
    let message = match broken {
        0 => return None,
        1 => "a policy has errors, so that who can talk to whom is not known".to_owned(),
        count => format!("{count} policies have errors, so that who can talk to whom is not known"),
    };
    Some(Diagnostic::warning("kind", message))
}

/// What came of assertions.
#[derive(Debug, Default)]
pub(super) struct Asserted {
    /// Those that do not hold, at the lines that decide it.
    pub(super) findings: Vec<Diagnostic>,
    /// Those that name what does not exist, in the settings.
    pub(super) wrong: Vec<Diagnostic>,
    /// Why they could not be checked.
    pub(super) unchecked: Vec<Diagnostic>,
}

/// Holds assertions against who can talk to whom.
pub(super) fn check(
    assertions: &[Assertion],
    model: &Model<'_>,
    diagnostics: &[Diagnostic],
) -> Asserted {
    let mut asserted = Asserted::default();
    if assertions.is_empty() {
        return asserted;
    }
    if let Some(why) = not_known(model.objects, diagnostics) {
        asserted.unchecked.push(why);
        return asserted;
    }
    let reachability = Reachability::of(model);
    asserted.unchecked = open_questions(&reachability);
    asserted.unchecked.extend(foreign(model.objects));
    for assertion in assertions {
        match assertion.check(&reachability) {
            Ok(findings) => asserted.findings.extend(findings),
            Err(wrong) => asserted.wrong.extend(wrong),
        }
    }
    asserted
}

/// Whether an object is a policy of the network that is understood.
pub fn is_policy(object: &Object) -> bool {
    policy::is_network_policy(object) || admin::is_admin_policy(object)
}

fn is_broken(span: Span, diagnostics: &[Diagnostic]) -> bool {
    let errors = diagnostics
        .iter()
        .filter(|one| one.severity == Severity::Error);
    let mut places = errors.filter_map(Diagnostic::primary);
    places.any(|at| at.file == span.file && span.start <= at.start && at.end <= span.end)
}

/// What policies leave open.
fn open_questions(reachability: &Reachability) -> Vec<Diagnostic> {
    let cluster = &reachability.evaluation.cluster;
    let mut open = Vec::new();
    for (at, first) in cluster.policies.iter().enumerate() {
        for peer in unknown_peers(first) {
            let message = format!(
                "{} names domains, whose addresses are not known: its rule is left out",
                first.title
            );
            open.push(Diagnostic::warning("kind", message).at(peer.span()));
        }
        let Some(second) = cluster.policies.get(at + 1) else {
            continue;
        };
        if first.tier == second.tier && first.tier != Tier::Network {
            let message = format!(
                "{} and {} have the same priority: which of them counts is not defined",
                first.title, second.title
            );
            let diagnostic = Diagnostic::warning("kind", message).at(second.span);
            open.push(diagnostic.help("give each its own `priority`"));
        }
    }
    open
}

fn unknown_peers(policy: &Policy) -> impl Iterator<Item = &Peer> {
    let rules = policy.all_rules();
    let peers = rules.flat_map(|(_, rule)| rule.peers.iter().flatten());
    peers.filter(|peer| matches!(peer, Peer::Unknown { .. }))
}
