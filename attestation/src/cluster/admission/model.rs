//! The model check of an object, together with the objects of the cluster that it refers to or that select it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use locus::session::{Cancel, Given, Project, Report, Session};
use locus_core::{Diagnostic, Severity};
use locus_frontends::language::Registry;
use locus_frontends::loader::{LoadError, Loader, PathKind};
use serde_json::Value;

use super::Problem;
use super::turns::Turns;
use crate::cluster::known::{Known, Set, labels, references};
use crate::cluster::object::{Workload, at, chosen, field, namespace, selects, stripped, text};
use crate::digest::HashAlg;

/// The most verdicts that are remembered.
const REMEMBERED: usize = 4096;

const OBJECT: &str = "/cluster/object.json";
const CONTEXT: &str = "/cluster/context.json";
const SETTINGS: &str = "/cluster/locus.toml";

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is refused, and what could not be checked.
    pub errors: Vec<Problem>,
    /// What is worth saying.
    pub warnings: Vec<Problem>,
}

/// Checks objects, and remembers what it found.
#[derive(Debug, Default)]
pub struct Checker {
    known: Mutex<HashMap<String, Arc<Verdict>>>,
    turns: Turns,
}

/// No file but those that are given: what is checked cannot read the gate's disk.
struct NoDisk;

impl Loader for NoDisk {
    fn load(&self, _: &str) -> Result<Arc<[u8]>, LoadError> {
        Err(LoadError::missing())
    }

    fn kind(&self, _: &str) -> Option<PathKind> {
        Some(PathKind::Missing)
    }

    fn list(&self, _: &str) -> Option<Vec<String>> {
        Some(Vec::new())
    }
}

impl Checker {
    /// Checks an object of a kind of workload by the rules of a set.
    pub fn check(
        &self,
        workload: &Workload,
        object: &Value,
        set: &Set,
        known: &Known,
    ) -> Arc<Verdict> {
        self.remembered_or(Texts::of(workload, object, set, known))
    }

    fn remembered_or(&self, texts: Texts) -> Arc<Verdict> {
        let digest = texts.digest();
        let remembered = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = remembered.get(&digest) {
            return verdict.clone();
        }
        drop(remembered);
        let verdict = self.turns.wait(|| Arc::new(texts.check()));
        let mut remembered = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= REMEMBERED {
            remembered.clear();
        }
        remembered.insert(digest, verdict.clone());
        verdict
    }

    /// What is wrong with a set itself, if something is: whatever is checked by it is refused for that.
    pub fn wrong_with(&self, set: &Set) -> Option<Problem> {
        let mut own = set.own.clone();
        own.sort();
        let texts = Texts {
            object: INNOCENT.to_owned(),
            context: None,
            settings: settings(set),
            own,
        };
        let verdict = self.remembered_or(texts);
        let mut errors = verdict.errors.iter();
        let of_set = |problem: &&Problem| match &problem.at {
            Some(at) => at.starts_with("the InvariantSet"),
            None => problem.code == "unchecked",
        };
        errors.find(of_set).cloned()
    }

    /// How many verdicts are remembered.
    pub fn remembered(&self) -> usize {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

/// An object that no rule is about.
const INNOCENT: &str =
    "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"nothing\"}}";

/// All that a verdict depends on.
struct Texts {
    object: String,
    context: Option<String>,
    settings: String,
    own: Vec<(String, String)>,
}

impl Texts {
    fn of(workload: &Workload, object: &Value, set: &Set, known: &Known) -> Self {
        let related = related(workload, object, known);
        let context = (!related.is_empty()).then(|| {
            let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": related});
            format!("{list:#}")
        });
        let mut own = set.own.clone();
        own.sort();
        Texts {
            object: format!("{:#}", stripped(object)),
            context,
            settings: settings(set),
            own,
        }
    }

    fn digest(&self) -> String {
        let mut parts: Vec<&[u8]> = Vec::new();
        let lengths: Vec<[u8; 8]> = self
            .parts()
            .map(|part| (part.len() as u64).to_be_bytes())
            .collect();
        for (part, length) in self.parts().zip(&lengths) {
            parts.push(length);
            parts.push(part.as_bytes());
        }
        HashAlg::Sha256.hash(&parts).to_hex()
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        let context = self.context.as_deref().unwrap_or("");
        let first = [self.object.as_str(), context, self.settings.as_str()];
        let own = self
            .own
            .iter()
            .flat_map(|(name, text)| [name.as_str(), text.as_str()]);
        first.into_iter().chain(own)
    }

    fn check(&self) -> Verdict {
        let mut verdict = Verdict::default();
        for wrong in self.session().snapshot().check_settings(SETTINGS).1 {
            verdict.errors.push(Problem {
                code: wrong.code,
                at: Some("the InvariantSet".to_owned()),
                message: wrong.message,
                fix: wrong.help,
            });
        }
        for (name, text) in &self.own {
            if !has_rules(name, text) {
                verdict.errors.push(unchecked(&format!(
                    "the rules `{name}` of the InvariantSet have no rule in them"
                )));
            }
        }
        if !verdict.errors.is_empty() {
            return verdict;
        }
        let mut with: Vec<&str> = vec![OBJECT];
        with.extend(self.context.is_some().then_some(CONTEXT));
        let report = match self.report(&with) {
            Ok(report) => report,
            Err(why) => {
                verdict.errors.push(unchecked(why));
                return verdict;
            }
        };
        // What is not about another object is about this one: also a set that names a rule which there is not, or has one with
        // mistakes.
        let context = report.file(CONTEXT);
        let is_own = |finding: &Diagnostic| match finding.primary() {
            Some(span) => Some(span.file) != context,
            None => true,
        };
        let (mine, others): (Vec<_>, Vec<_>) = report.findings.iter().partition(|one| is_own(one));
        for finding in mine {
            let problem = problem(finding, &report);
            let file = finding.primary().map(|span| report.sources.name(span.file));
            match finding.severity {
                // A set with a mistake does not say what its author meant.
                _ if file.is_some_and(|file| file != OBJECT) => verdict.errors.push(problem),
                Severity::Error => verdict.errors.push(problem),
                Severity::Warning => verdict.warnings.push(problem),
                Severity::Info => {}
            }
        }
        // What an ignoring comment hides is found here all the same.
        for (finding, _) in report.ignored.iter().filter(|(finding, _)| is_own(finding)) {
            if finding.severity == Severity::Error {
                verdict.errors.push(problem(finding, &report));
            }
        }
        for finding in report.unchecked.iter().filter(|one| is_own(one)) {
            verdict.errors.push(problem(finding, &report));
        }
        // Of others' faults those count that are there because of this object.
        let others: Vec<&Diagnostic> = others
            .into_iter()
            .filter(|one| one.severity == Severity::Error)
            .collect();
        if !others.is_empty() {
            let before = self.report(&[CONTEXT]);
            let before = before.as_ref().map(|report| report.findings.as_slice());
            let before = before.unwrap_or(&[]);
            let was = |finding: &Diagnostic| {
                let mut before = before.iter();
                before.any(|old| old.code == finding.code && old.message == finding.message)
            };
            for finding in others.into_iter().filter(|finding| !was(finding)) {
                verdict.errors.push(problem(finding, &report));
            }
        }
        verdict
    }

    fn session(&self) -> Session {
        let mut session = Session::over(Arc::new(NoDisk), Registry::builtin()).forgetful();
        session.open(OBJECT, self.object.as_bytes());
        if let Some(context) = &self.context {
            session.open(CONTEXT, context.as_bytes());
        }
        session.open(SETTINGS, self.settings.as_bytes());
        for (name, text) in &self.own {
            session.open(&format!("/cluster/rules/{name}.als"), text.as_bytes());
        }
        session
    }

    fn report(&self, files: &[&str]) -> Result<Arc<Report>, &'static str> {
        let snapshot = self.session().snapshot();
        let language = snapshot.registry().named("kubernetes");
        let language = language.ok_or("this program does not know Kubernetes")?;
        let project = Project::new(language, files.iter().copied());
        let given = Given {
            settings: Some(SETTINGS.to_owned()),
            ..Given::default()
        };
        snapshot
            .check(&project, &given, &Cancel::default())
            .map_err(|_| "the check was called off")
    }
}

/// Whether a file of rules has any: what is not understood as a rule would be passed over.
fn has_rules(name: &str, text: &str) -> bool {
    let one = Texts {
        object: String::new(),
        context: None,
        settings: format!("[kubernetes]\nrules = [\"rules/{name}.als\"]\n"),
        own: vec![(name.to_owned(), text.to_owned())],
    };
    let snapshot = one.session().snapshot();
    let Some(language) = snapshot.registry().named("kubernetes") else {
        return false;
    };
    let project = Project::new(language, [OBJECT]);
    !snapshot.own_rules(&project, Some(SETTINGS)).is_empty()
}

fn unchecked(why: &str) -> Problem {
    Problem {
        code: "unchecked".to_owned(),
        at: None,
        message: why.to_owned(),
        fix: None,
    }
}

/// A finding in the words of admission: rule, place, message, fix.
fn problem(finding: &Diagnostic, report: &Report) -> Problem {
    let place = finding.primary().map(|span| {
        let file = report.sources.name(span.file);
        let line = report.sources.position(span.file, span.start).line;
        let here = report.at(file, span.start as usize);
        let mut path = String::new();
        for step in here.iter().flat_map(|here| &here.path) {
            if step.name.bytes().all(|byte| byte.is_ascii_digit()) {
                let _ = write!(path, "[{}]", step.name);
            } else {
                let dot = if path.is_empty() { "" } else { "." };
                let _ = write!(path, "{dot}{}", step.name);
            }
        }
        let of = match file {
            OBJECT => "",
            CONTEXT => "another object, ",
            _ => "the InvariantSet, ",
        };
        let line_text = report
            .sources
            .text(span.file)
            .lines()
            .nth(line.saturating_sub(1));
        let line_text = line_text.unwrap_or("").trim().trim_end_matches(',');
        match path.is_empty() {
            true => format!("{of}line {line}"),
            false => format!("{of}{path} (line {line}: {})", shortened(line_text)),
        }
    });
    Problem {
        code: finding.code.clone(),
        at: place,
        message: finding.message.clone(),
        fix: finding.help.clone(),
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The settings that a set is.
fn settings(set: &Set) -> String {
    let quoted = |text: &str| Value::String(text.to_owned()).to_string();
    let mut out = String::new();
    if !set.spec.rules.is_empty() {
        out.push_str("[rules]\n");
        for (rule, level) in &set.spec.rules {
            let _ = writeln!(out, "{} = \"{}\"", quoted(rule), level.name());
        }
    }
    out.push_str("[kubernetes]\n");
    let _ = writeln!(out, "pod-security = \"{}\"", set.spec.pod_security.name());
    if !set.own.is_empty() {
        let files = set
            .own
            .iter()
            .map(|(name, _)| quoted(&format!("rules/{name}.als")));
        let _ = writeln!(out, "rules = [{}]", files.collect::<Vec<_>>().join(", "));
    }
    out
}

/// The objects that a workload refers to or that select it, and those of its namespace that bound it.
fn related(workload: &Workload, object: &Value, known: &Known) -> Vec<Value> {
    let space = namespace(object);
    let pod = workload.pod(object);
    let (spec, tags) = (field(pod, "spec"), labels(pod));
    let mut found: Vec<&Arc<Value>> = Vec::new();
    found.extend(known.get("Namespace", "", space));
    for (kind, name) in references(spec) {
        found.extend(known.get(kind, space, name));
    }
    let classes = [
        ("PriorityClass", "priorityClassName"),
        ("RuntimeClass", "runtimeClassName"),
    ];
    for (kind, key) in classes {
        found.extend(known.get(kind, "", text(spec, &[key])));
    }
    found.extend(known.all("StorageClass"));
    found.extend(known.within("LimitRange", space));
    let services = known.within("Service", space).filter(|service| {
        let wanted = at(service, &["spec", "selector"]).as_object();
        wanted.is_some_and(|wanted| !wanted.is_empty() && chosen(wanted, tags))
    });
    found.extend(services);
    let governing = text(object, &["spec", "serviceName"]);
    found.extend(known.get("Service", space, governing));
    for (kind, key) in [
        ("NetworkPolicy", "podSelector"),
        ("PodDisruptionBudget", "selector"),
    ] {
        let selecting = known.within(kind, space);
        found.extend(selecting.filter(|one| selects(at(one, &["spec", key]), tags)));
    }
    let scaled = known
        .within("HorizontalPodAutoscaler", space)
        .filter(|one| {
            let target = at(one, &["spec", "scaleTargetRef"]);
            text(target, &["kind"]) == workload.kind
                && text(target, &["name"]) == crate::cluster::object::name(object)
        });
    found.extend(scaled);
    found.sort_by_key(|one| {
        (
            text(one, &["kind"]).to_owned(),
            crate::cluster::object::name(one).to_owned(),
        )
    });
    found.dedup_by(|one, other| Arc::ptr_eq(one, other));
    found.into_iter().map(|one| stripped(one)).collect()
}
