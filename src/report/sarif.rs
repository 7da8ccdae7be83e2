//! SARIF 2.1.0: rules with their help, findings with code flows, fixes and fingerprints.

use locus_core::diagnostic::{Applicability, Fix, Flow, FlowKind, Member, Verdict};
use locus_core::{Diagnostic, Label, Severity, Sources, Span};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use super::fingerprint;
use super::place::path;
use crate::catalogue::{self, Entry};
use crate::session::Batch;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Renders what came of a check. What could not be checked is a notification of the tool, not a result.
pub fn render(batch: &Batch) -> String {
    let sources = &batch.sources;
    let ignored = || batch.ignored.iter().map(|(finding, _)| finding);
    let mut codes: Vec<&str> = batch
        .findings
        .iter()
        .chain(ignored())
        .map(|finding| finding.code.as_str())
        .collect();
    codes.sort_unstable();
    codes.dedup();
    let entries = catalogue::entries();
    let rules = codes.iter().map(|code| rule(code, &entries));
    let rules: Vec<Value> = rules.collect();
    let index: FxHashMap<&str, usize> = codes
        .iter()
        .enumerate()
        .map(|(at, code)| (*code, at))
        .collect();
    let prints = fingerprint::all(batch.findings.iter().chain(ignored()), sources);
    let reasons = batch.findings.iter().map(|_| None);
    let reasons = reasons.chain(
        batch
            .ignored
            .iter()
            .map(|(_, reason)| Some(reason.as_str())),
    );
    let results: Vec<Value> = batch
        .findings
        .iter()
        .chain(ignored())
        .zip(prints)
        .zip(reasons)
        .map(|((finding, print), reason)| result(finding, print, reason, &index, sources))
        .collect();
    let notifications: Vec<Value> = batch
        .unchecked
        .iter()
        .map(|finding| {
            let mut notification = json!({
                "descriptor": { "id": finding.code },
                "level": "error",
                "message": { "text": finding.message },
            });
            let places: Vec<Value> = finding
                .labels
                .iter()
                .take(1)
                .map(|label| located(label, sources))
                .collect();
            set(&mut notification, "locations", places);
            notification
        })
        .collect();
    let mut invocation = json!({ "executionSuccessful": batch.unchecked.is_empty() });
    set(&mut invocation, "toolExecutionNotifications", notifications);
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "locus",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "utf16CodeUnits",
            "invocations": [invocation],
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Adds a list that is not empty.
fn set(object: &mut Value, key: &str, list: Vec<Value>) {
    if let (Value::Object(object), false) = (object, list.is_empty()) {
        object.insert(key.to_owned(), Value::Array(list));
    }
}

fn rule(code: &str, entries: &[Entry]) -> Value {
    let mut rule = Map::new();
    rule.insert("id".to_owned(), code.into());
    if let Some(entry) = entries.iter().find(|entry| entry.id == code) {
        if let Some(name) = &entry.name {
            rule.insert("name".to_owned(), name.as_str().into());
        }
        rule.insert(
            "shortDescription".to_owned(),
            json!({ "text": entry.title }),
        );
        rule.insert(
            "defaultConfiguration".to_owned(),
            json!({ "level": level(entry.severity) }),
        );
    }
    let mut parts = locus_invariants::rules()
        .iter()
        .filter(|rule| rule.id == code);
    if let Some(first) = parts.next() {
        rule.insert("fullDescription".to_owned(), json!({ "text": first.why }));
        rule.insert("properties".to_owned(), json!({ "tags": [first.language] }));
    }
    if let Some(page) = catalogue::explain(code) {
        let text = format!("`locus explain {code}` says more.");
        rule.insert("help".to_owned(), json!({ "text": text, "markdown": page }));
    }
    if let Some(page) = catalogue::page(code) {
        rule.insert("helpUri".to_owned(), page.into());
    }
    Value::Object(rule)
}

fn result(
    finding: &Diagnostic,
    print: String,
    reason: Option<&str>,
    index: &FxHashMap<&str, usize>,
    sources: &Sources,
) -> Value {
    let mut message = finding.message.clone();
    if let Some(help) = &finding.help {
        message = format!("{message}\nhelp: {help}");
    }
    let mut result = json!({
        "ruleId": finding.code,
        "ruleIndex": index.get(finding.code.as_str()),
        "level": level(finding.severity),
        "message": { "text": message },
        "partialFingerprints": { fingerprint::NAME: print },
    });
    let mut labels = finding.labels.iter();
    let places = labels.by_ref().take(1).map(|label| located(label, sources));
    set(&mut result, "locations", places.collect());
    let related = labels.chain(&finding.related).enumerate();
    let related = related.map(|(id, label)| {
        let mut place = located(label, sources);
        if let Value::Object(place) = &mut place {
            place.insert("id".to_owned(), id.into());
        }
        place
    });
    set(&mut result, "relatedLocations", related.collect());
    let flows = finding
        .flows
        .iter()
        .filter_map(|flow| code_flow(flow, sources));
    set(&mut result, "codeFlows", flows.collect());
    // What is applied by a click must be whole.
    let whole = finding
        .fixes
        .iter()
        .filter(|fix| fix.applicability != Applicability::Incomplete);
    set(
        &mut result,
        "fixes",
        whole.map(|one| fix(one, sources)).collect(),
    );
    if let Value::Object(result) = &mut result {
        let mut properties = Map::new();
        properties.insert("verdict".to_owned(), finding.verdict.as_str().into());
        if let Verdict::Violable { inputs } = &finding.verdict {
            let inputs = inputs
                .iter()
                .map(|input| (input.name.clone(), input.value.clone().into()));
            properties.insert("inputs".to_owned(), Value::Object(inputs.collect()));
        }
        result.insert("properties".to_owned(), Value::Object(properties));
        if let Some(reason) = reason {
            let suppression = json!([{ "kind": "inSource", "justification": reason }]);
            result.insert("suppressions".to_owned(), suppression);
        }
    }
    result
}

fn region(span: Span, sources: &Sources) -> Value {
    let start = sources.position_utf16(span.file, span.start);
    let end = sources.position_utf16(span.file, span.end);
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

/// A path as a reference that every reader resolves alike.
fn uri(name: &str) -> String {
    let name = path(name);
    let mut out = String::with_capacity(name.len());
    if name.starts_with('/') {
        out.push_str("file://");
    }
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into())
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn artifact(span: Span, sources: &Sources) -> Value {
    json!({ "uri": uri(sources.name(span.file)) })
}

fn physical(span: Span, sources: &Sources) -> Value {
    json!({ "artifactLocation": artifact(span, sources), "region": region(span, sources) })
}

fn located(label: &Label, sources: &Sources) -> Value {
    let mut place = json!({ "physicalLocation": physical(label.span, sources) });
    if let (Value::Object(place), false) = (&mut place, label.message.is_empty()) {
        place.insert("message".to_owned(), json!({ "text": label.message }));
    }
    place
}

fn code_flow(flow: &Flow, sources: &Sources) -> Option<Value> {
    let step = |member: &Member| {
        let mut place = json!({ "message": { "text": member.name } });
        if let (Value::Object(place), Some(span)) = (&mut place, member.span) {
            place.insert("physicalLocation".to_owned(), physical(span, sources));
        }
        json!({ "location": place })
    };
    let steps: Vec<Value> = flow.steps.iter().map(step).collect();
    if steps.is_empty() {
        return None;
    }
    let text = match flow.kind {
        FlowKind::Chain => "each leads to the next",
        FlowKind::Cycle => "each leads to the next, and the last is the first again",
        FlowKind::Inclusion => "each is included by the next",
    };
    Some(json!({
        "message": { "text": text },
        "threadFlows": [{ "locations": steps }],
    }))
}

fn fix(fix: &Fix, sources: &Sources) -> Value {
    let mut files: Vec<(Span, Vec<Value>)> = Vec::new();
    for edit in &fix.edits {
        let change = json!({
            "deletedRegion": region(edit.span, sources),
            "insertedContent": { "text": edit.text },
        });
        match files
            .iter_mut()
            .find(|(span, _)| span.file == edit.span.file)
        {
            Some((_, changes)) => changes.push(change),
            None => files.push((edit.span, vec![change])),
        }
    }
    let files = files.into_iter().map(|(span, changes)| {
        json!({ "artifactLocation": artifact(span, sources), "replacements": changes })
    });
    let files: Vec<Value> = files.collect();
    json!({ "description": { "text": fix.title }, "artifactChanges": files })
}
