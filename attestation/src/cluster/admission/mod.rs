//! What may enter the cluster. Nothing here talks to anybody: a request and what is known in, a decision out.
//!
//! Everything is refused that is not understood to be allowed: a request about a resource that this was not registered for,
//! an object without a specification, a cluster that was not read yet.

pub mod images;
pub mod model;
mod pods;
mod review;
pub mod signature;
mod tenancy;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use json_patch::PatchOperation;
use serde_json::Value;

pub use review::{answer, asked};
pub use tenancy::CONTROLLERS;

use self::model::Checker;
use self::signature::{SignatureError, Signed, Used};
use super::known::{Known, Set};
use super::names::{MIRROR, SIGNATURE, TAINT};
use super::object::{Workload, annotation, at, field, items, label, name, text};
use crate::clock::Timestamp;
use crate::evidence::SeenError;

/// Something that stands against a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The rule, or a word for what is wrong.
    pub code: String,
    /// Where: the way through the object, and the line of it.
    pub at: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Problem {
    fn new(code: &str, message: impl Into<String>) -> Self {
        Problem {
            code: code.to_owned(),
            at: None,
            message: message.into(),
            fix: None,
        }
    }

    fn at(mut self, place: impl Into<String>) -> Self {
        self.at = Some(place.into());
        self
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.code)?;
        if let Some(at) = &self.at {
            write!(f, " at {at}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(fix) = &self.fix {
            write!(f, "; to fix it: {fix}")?;
        }
        Ok(())
    }
}

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// It is made.
    Create,
    /// It is changed.
    Update,
    /// Anything else.
    Other,
}

/// A request as admission sees it.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The identifier of the request.
    pub uid: String,
    /// What is done.
    pub verb: Verb,
    /// The group of the resource.
    pub group: String,
    /// The resource.
    pub resource: String,
    /// The subresource; empty for none.
    pub subresource: String,
    /// The namespace; empty for none.
    pub namespace: String,
    /// The name; empty if it is yet to be generated.
    pub name: String,
    /// Who asks.
    pub user: String,
    /// Whether nothing is to be stored.
    pub dry_run: bool,
    /// The object; null if there is none.
    pub object: Value,
    /// The object as it was; null if there was none.
    pub old: Value,
}

/// What is done with a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Why it is refused; it is allowed if nothing stands against it.
    pub refused: Vec<Problem>,
    /// What is said to who asks.
    pub warnings: Vec<String>,
    /// What is changed in the object.
    pub patch: Vec<PatchOperation>,
}

impl Decision {
    fn refuse(problem: Problem) -> Self {
        Decision {
            refused: vec![problem],
            ..Decision::default()
        }
    }

    fn of(refused: Option<Problem>) -> Self {
        refused.map_or_else(Decision::default, Decision::refuse)
    }

    /// Whether it is allowed.
    pub fn allowed(&self) -> bool {
        self.refused.is_empty()
    }

    /// The message to who asks.
    pub fn message(&self, ask: &Ask) -> String {
        let about = match label(&ask.object) {
            label if field(&ask.object, "kind").is_string() => label,
            _ => format!("`{}`", ask.resource),
        };
        // Events and many a client show the first line alone: the first problem is in it.
        let mut message = format!("{about} is refused by Locus");
        for (number, problem) in self.refused.iter().enumerate() {
            message.push_str(if number == 0 { ": " } else { "\n- " });
            message.push_str(&problem.to_string());
            if let (0, more @ 1..) = (number, self.refused.len() - 1) {
                let _ = write!(message, " (and {more} more)");
            }
        }
        message
    }
}

/// Decides about requests.
pub struct Gatekeeper {
    checker: Checker,
    used: Mutex<Used>,
    elsewhere: Option<Elsewhere>,
    /// When each set was last in force for something, by name.
    asked: Mutex<BTreeMap<String, Timestamp>>,
}

/// Whether a request is the first to use a signature, also among those that other gates were asked about.
pub type Elsewhere = Box<dyn Fn(&Signed, &str, Timestamp) -> Result<bool, String> + Send + Sync>;

impl std::fmt::Debug for Gatekeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gatekeeper")
    }
}

/// What is due for the pods of a workload.
struct Terms {
    /// The sets that are in force.
    sets: Vec<Set>,
    /// Whether some of them refuse.
    enforced: bool,
}

impl Gatekeeper {
    /// One that starts to decide now.
    pub fn new(now: Timestamp) -> Self {
        Gatekeeper {
            checker: Checker::default(),
            used: Mutex::new(Used::new(now)),
            elsewhere: None,
            asked: Mutex::default(),
        }
    }

    /// One of several that decide.
    pub fn among(now: Timestamp, elsewhere: Elsewhere) -> Self {
        Gatekeeper {
            elsewhere: Some(elsewhere),
            ..Gatekeeper::new(now)
        }
    }

    /// When each set was last in force for something, by name.
    pub fn asked(&self) -> BTreeMap<String, Timestamp> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The checker, with what it remembers.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Adds to an object what the gate adds: the first of two questions about a request.
    pub fn mutate(&self, ask: &Ask, known: &Known) -> Decision {
        if !known.is_complete() {
            return Decision::refuse(unready());
        }
        match (
            ask.group.as_str(),
            ask.resource.as_str(),
            ask.subresource.as_str(),
            ask.verb,
        ) {
            ("", "pods", "", Verb::Create) => pods::gated(ask, known),
            ("", "nodes", "", Verb::Create) => tainted(ask),
            _ => Decision::refuse(foreign(ask)),
        }
    }

    /// Decides: the second question, about the object with all that was added to it.
    pub fn validate(&self, ask: &Ask, known: &Known, now: Timestamp) -> Decision {
        if !known.is_complete() {
            return Decision::refuse(unready());
        }
        match (
            ask.group.as_str(),
            ask.resource.as_str(),
            ask.subresource.as_str(),
            ask.verb,
        ) {
            ("", "pods", "binding", Verb::Create) | ("", "bindings", "", Verb::Create) => {
                Decision::of(pods::binding(ask, known))
            }
            ("", "pods", "status", Verb::Update) => Decision::of(pods::status(ask, known)),
            ("", "pods", "" | "ephemeralcontainers" | "resize", Verb::Update) => {
                let refused = pods::guarded(ask, known);
                let kept = [&["spec"] as &[&str], &["metadata", "labels"]];
                let same = |path: &&[&str]| at(&ask.object, path) == at(&ask.old, path);
                match (refused, kept.iter().all(same)) {
                    (Some(problem), _) => Decision::refuse(problem),
                    // Finalizers and the like. By labels, Services and policies select it.
                    (None, true) => Decision::default(),
                    // The gate itself takes away its scheduling gate, and nothing else.
                    (None, false) if pods::opens(ask, known) => Decision::default(),
                    (None, false) => self.workload(ask, known, now),
                }
            }
            ("", "nodes", "", Verb::Update) => Decision::of(untainted(ask, known)),
            ("apps", "controllerrevisions", "", Verb::Create | Verb::Update) => {
                Decision::of(tenancy::revision(ask, known))
            }
            (group, resource, "status", Verb::Update)
                if Workload::of_resource(group, resource).is_some() =>
            {
                Decision::of(tenancy::status(ask, known))
            }
            (_, _, "scale", Verb::Update) => self.scale(ask, known),
            (_, _, "", Verb::Create | Verb::Update) => self.workload(ask, known, now),
            _ => Decision::refuse(foreign(ask)),
        }
    }

    fn workload(&self, ask: &Ask, known: &Known, now: Timestamp) -> Decision {
        let Some(workload) = Workload::of_resource(&ask.group, &ask.resource) else {
            return Decision::refuse(foreign(ask));
        };
        // The name of the kind is the server's; who could change it could have another object checked.
        if text(&ask.object, &["kind"]) != workload.kind {
            return Decision::refuse(foreign(ask));
        }
        let pod = workload.pod(&ask.object);
        let spec = field(pod, "spec");
        if !spec.is_object() {
            return Decision::refuse(Problem::new(
                "malformed",
                "there is no specification of pods",
            ));
        }
        let is_pod = workload.kind == "Pod";
        // Status, revisions and finalizers that controllers write are no news to a rule.
        let same = |path: &[&str]| at(&ask.object, path) == at(&ask.old, path);
        let kept = [&["spec"] as &[&str], &["template"], &["metadata", "labels"]];
        // Another signature is news: it says whose the pods are that are made from now on.
        let signature = |object| annotation(object, SIGNATURE);
        let resigned = signature(&ask.object) != signature(&ask.old);
        let changed = resigned || tenancy::is_given(ask) || !kept.iter().all(|path| same(path));
        if !is_pod && ask.verb == Verb::Update && !changed {
            return Decision::default();
        }
        if is_pod && ask.verb == Verb::Create {
            if let Some(problem) = pods::claimed(ask, known) {
                return Decision::refuse(problem);
            }
            if annotation(&ask.object, MIRROR).is_some() {
                return Decision::of(pods::mirror(ask, known));
            }
        }
        if images::is_exempt(spec, &ask.namespace, known) {
            return Decision::default();
        }
        let terms = match terms(&ask.namespace, known) {
            Ok(terms) => terms,
            Err(problem) => return Decision::refuse(problem),
        };
        let mut decision = Decision::default();
        if is_pod && ask.verb == Verb::Create && terms.enforced {
            decision.refused.extend(pods::admitted(ask));
        }
        if is_pod && ask.verb == Verb::Update && terms.enforced {
            decision.refused.extend(pods::swapped(ask));
        }
        let unknown = images::problems(spec, &workload.spec_path(), known);
        for set in &terms.sets {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.insert(set.name.clone(), now);
            drop(asked);
            let mut errors = unknown.clone();
            let verdict = self.checker.check(workload, &ask.object, set, known);
            errors.extend(verdict.errors.iter().cloned());
            match self.signed(workload, ask, set, known, now) {
                Ok(()) => {}
                Err(error) => errors.push(
                    Problem::new("signature", error.to_string())
                        .fix("have a tenant of the namespace sign it"),
                ),
            }
            for problem in errors {
                if !set.enforces() {
                    decision.warnings.push(format!(
                        "{problem} (set `{}`, which only reports)",
                        set.name
                    ));
                } else if !decision.refused.contains(&problem) {
                    decision.refused.push(problem);
                }
            }
            // Who made a pod by hand reads warnings; a controller does not.
            if !tenancy::is_controller(&ask.user) {
                let warnings = verdict.warnings.iter().map(Problem::to_string);
                decision.warnings.extend(warnings);
            }
        }
        decision.warnings.sort();
        decision.warnings.dedup();
        decision
    }

    /// Whether an object is signed as a set wants it.
    fn signed(
        &self,
        workload: &Workload,
        ask: &Ask,
        set: &Set,
        known: &Known,
        now: Timestamp,
    ) -> Result<(), SignatureError> {
        let allowed = &set.spec.tenants;
        if allowed.is_empty() {
            return Ok(());
        }
        // A tenant signs what the server makes of its object, and finds that out by a dry run, which stores nothing.
        if ask.dry_run && annotation(&ask.object, SIGNATURE).is_none() {
            return Ok(());
        }
        // What a controller makes of a signed object is as good as that.
        if tenancy::is_controller(&ask.user) && tenancy::has_controller(&ask.object) {
            return tenancy::root(&ask.object, allowed, known).map(|_| ());
        }
        let (_, signed) = signature::signer(workload, &ask.object, allowed, known)?;
        // What was admitted and is not changed needs no new signature.
        let same = ask.verb == Verb::Update
            && signature::digest(workload, &ask.old) == signed.digest
            && annotation(&ask.old, SIGNATURE) == annotation(&ask.object, SIGNATURE);
        if same {
            return Ok(());
        }
        signature::is_fresh(&signed, now)?;
        // A dry run stores nothing, and uses nothing up.
        if !ask.dry_run && set.enforces() {
            self.take(&signed, ask, now)?;
        }
        Ok(())
    }

    fn take(&self, signed: &Signed, ask: &Ask, now: Timestamp) -> Result<(), SignatureError> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.take(signed, &ask.uid, now)?;
        drop(used);
        let Some(elsewhere) = &self.elsewhere else {
            return Ok(());
        };
        match elsewhere(signed, &ask.uid, now) {
            Ok(true) => Ok(()),
            Ok(false) => Err(SeenError::Repeated.into()),
            Err(why) => Err(SignatureError::Unknown(why)),
        }
    }

    /// What stands against a pod that was admitted, by the rules and images that there are now.
    pub fn stands(&self, pod: &Value, known: &Known) -> Vec<Problem> {
        let Some(workload) = Workload::of_kind("", "Pod") else {
            return vec![Problem::new("unknown", "pods cannot be checked")];
        };
        let spec = field(pod, "spec");
        if images::is_exempt(spec, super::object::namespace(pod), known) {
            return Vec::new();
        }
        let terms = match terms(super::object::namespace(pod), known) {
            Ok(terms) => terms,
            Err(problem) => return vec![problem],
        };
        let mut found = Vec::new();
        for set in terms.sets.iter().filter(|set| set.enforces()) {
            found.extend(images::problems(spec, &workload.spec_path(), known));
            let verdict = self.checker.check(workload, pod, set, known);
            found.extend(verdict.errors.iter().cloned());
        }
        found.dedup();
        found
    }

    /// Another number of replicas is another object, and is checked as such.
    fn scale(&self, ask: &Ask, known: &Known) -> Decision {
        let workload = Workload::of_resource(&ask.group, &ask.resource);
        let Some(workload) = workload.filter(|workload| workload.scales) else {
            return Decision::refuse(foreign(ask));
        };
        let Some(parent) = known.get(workload.kind, &ask.namespace, &ask.name) else {
            let message = format!(
                "the {} `{}` is not known yet; try again",
                workload.kind, ask.name
            );
            return Decision::refuse(Problem::new("unknown", message));
        };
        let mut scaled = parent.as_ref().clone();
        let replicas = at(&ask.object, &["spec", "replicas"]).as_i64().unwrap_or(0);
        if let Some(spec) = scaled.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("replicas".to_owned(), replicas.into());
        }
        // Nothing can be wrong with fewer pods that was not before.
        let before = at(parent, &["spec", "replicas"]).as_i64().unwrap_or(1);
        let spec = field(workload.pod(&scaled), "spec");
        if replicas <= before || images::is_exempt(spec, &ask.namespace, known) {
            return Decision::default();
        }
        let terms = match terms(&ask.namespace, known) {
            Ok(terms) => terms,
            Err(problem) => return Decision::refuse(problem),
        };
        let mut decision = Decision::default();
        for set in &terms.sets {
            let verdict = self.checker.check(workload, &scaled, set, known);
            for problem in &verdict.errors {
                if set.enforces() {
                    decision.refused.push(problem.clone());
                } else {
                    decision.warnings.push(problem.to_string());
                }
            }
        }
        decision
    }
}

/// What is in force in a namespace. One that no set names is for exempt images alone.
fn terms(namespace: &str, known: &Known) -> Result<Terms, Problem> {
    let sets = known.sets(namespace);
    if let Some(set) = sets.iter().find(|set| set.problem.is_some()) {
        let why = set.problem.as_deref().unwrap_or_default();
        let message = format!("the InvariantSet `{}` cannot be used: {why}", set.name);
        return Err(Problem::new("invariants", message));
    }
    if sets.is_empty() {
        let message = format!("no InvariantSet names the namespace `{namespace}`");
        return Err(Problem::new("namespace", message)
            .fix("deploy to a namespace that is named in one, or have the operator add it"));
    }
    let enforced = sets.iter().any(Set::enforces);
    Ok(Terms { sets, enforced })
}

fn unready() -> Problem {
    Problem::new("starting", "the gate has not read the cluster yet").fix("try again in a moment")
}

fn foreign(ask: &Ask) -> Problem {
    let slash = if ask.subresource.is_empty() { "" } else { "/" };
    let what = format!("{}{slash}{}", ask.resource, ask.subresource);
    Problem::new(
        "unknown",
        format!("the gate does not know how to check `{what}`"),
    )
}

fn has_taint(node: &Value) -> bool {
    let taints = items(at(node, &["spec", "taints"]));
    taints
        .iter()
        .any(|taint| text(taint, &["key"]) == TAINT && text(taint, &["effect"]) == "NoSchedule")
}

/// A node that is new takes no pods before it is trusted.
fn tainted(ask: &Ask) -> Decision {
    if has_taint(&ask.object) {
        return Decision::default();
    }
    let taint = serde_json::json!({"key": TAINT, "effect": "NoSchedule"});
    Decision {
        patch: pods::appended(&ask.object, &["spec", "taints"], taint),
        ..Decision::default()
    }
}

/// Only the gate trusts a node.
fn untainted(ask: &Ask, known: &Known) -> Option<Problem> {
    let removed = has_taint(&ask.old) && !has_taint(&ask.object);
    (removed && ask.user != known.identity).then(|| {
        let message = format!(
            "only the gate takes the taint `{TAINT}` from the node `{}`",
            name(&ask.object)
        );
        Problem::new("taint", message).fix("have the worker attested")
    })
}
