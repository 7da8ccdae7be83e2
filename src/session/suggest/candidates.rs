//! The edits that may mend a finding: those of its rule, another location of the same sort, another value, an entry less
//! or more.

use locus_core::diagnostic::{Applicability, Edit};
use locus_core::{Diagnostic, Sources, Span};
use locus_frontends::yaml::{self, Kind, Limits, Node, Style, edit};

use super::values;
use crate::session::Report;

/// Edits that are made together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) titles: Vec<String>,
    pub(super) applicability: Applicability,
    pub(super) edits: Vec<Edit>,
}

impl Candidate {
    fn one(title: String, span: Span, text: String) -> Self {
        Candidate {
            titles: vec![title],
            applicability: Applicability::Unsafe,
            edits: vec![Edit { span, text }],
        }
    }

    /// Both, when they change different bytes.
    pub(super) fn with(&self, other: &Candidate) -> Option<Candidate> {
        let apart = |a: &Edit, b: &Edit| {
            a.span.file != b.span.file || a.span.end <= b.span.start || b.span.end <= a.span.start
        };
        let mut edits = self.edits.iter();
        if !edits.all(|a| other.edits.iter().all(|b| apart(a, b))) {
            return None;
        }
        Some(Candidate {
            titles: [self.titles.clone(), other.titles.clone()].concat(),
            applicability: self.applicability.min(other.applicability),
            edits: [self.edits.clone(), other.edits.clone()].concat(),
        })
    }
}

/// The edits that may mend a finding, the smallest first; beside the places that it speaks of, those given are changed.
pub(super) fn candidates(
    report: &Report,
    finding: &Diagnostic,
    places: &[Span],
    safe_only: bool,
) -> Vec<Candidate> {
    let mut all = Vec::new();
    for fix in &finding.fixes {
        let wanted = match fix.applicability {
            Applicability::Safe => true,
            Applicability::Unsafe => !safe_only,
            Applicability::Incomplete => false,
        };
        if wanted {
            all.push(Candidate {
                titles: vec![fix.title.clone()],
                applicability: fix.applicability,
                edits: fix.edits.clone(),
            });
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.applicability));
    if safe_only {
        return all;
    }
    let spoken = finding.labels.iter().chain(&finding.related);
    let spoken = spoken.map(|label| label.span).chain(places.iter().copied());
    let mut spans: Vec<Span> = Vec::new();
    for span in spoken {
        if !spans.contains(&span) {
            spans.push(span);
        }
    }
    let (mut replaced, mut removed, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for &span in &spans {
        let Some(place) = Place::of(report, span) else {
            continue;
        };
        replaced.extend(place.replacements(report, finding));
        removed.extend(place.removals());
        added.extend(place.additions(finding));
    }
    for member in &finding.members {
        if let Some(place) = member.span.and_then(|span| Place::of(report, span)) {
            added.extend(place.additions(finding));
        }
    }
    for one in replaced.into_iter().chain(added).chain(removed) {
        if !all.iter().any(|other| other.edits == one.edits) {
            all.push(one);
        }
    }
    all
}

/// A place in a YAML file, with the entries and items that hold it, outermost first.
struct Place<'a> {
    sources: &'a Sources,
    root: Node,
    steps: Vec<Step>,
}

/// An entry or item that holds a place.
#[derive(Clone, Copy)]
struct Step {
    /// Its key, or itself when it is an item.
    at: Span,
    value: Span,
    container: Span,
}

impl<'a> Place<'a> {
    fn of(report: &'a Report, span: Span) -> Option<Place<'a>> {
        let sources = &report.sources;
        let name = sources.name(span.file);
        if name.ends_with(".als") || name.ends_with(".toml") || name.ends_with(".env") {
            return None;
        }
        let parsed = yaml::parse(sources, span.file, &Limits::default());
        if !parsed.is_complete() {
            return None;
        }
        let roots = parsed.documents.into_iter().map(|one| one.root);
        let root = roots.into_iter().find(|root| holds(root.span, span))?;
        let mut steps = Vec::new();
        path(&root, span, &mut steps);
        Some(Place {
            sources,
            root,
            steps,
        })
    }

    fn text(&self) -> &'a str {
        self.sources.text(self.root.span.file)
    }

    /// The entry, its map and the map around that, taken out.
    fn removals(&self) -> Vec<Candidate> {
        let inner = self.steps.iter().rev().take(4);
        let taken = inner.filter_map(|step| {
            let change = edit::remove(self.text(), &self.root, step.at)?;
            let shown = self.sources.snippet(change.span).trim();
            let shown = shown.lines().next().unwrap_or("").trim_end_matches(',');
            let title = format!("remove `{shown}`");
            Some(Candidate::one(title, change.span, change.text))
        });
        taken.collect()
    }

    /// Other values where the place has a scalar, or a few of them.
    fn replacements(&self, report: &Report, finding: &Diagnostic) -> Vec<Candidate> {
        let Some(step) = self.steps.last() else {
            return Vec::new();
        };
        let mut scalars = Vec::new();
        leaves(&self.root, step.value, &mut scalars);
        let mut all = Vec::new();
        for node in scalars.into_iter().take(4) {
            let Kind::Scalar(scalar) = &node.kind else {
                continue;
            };
            if node.anchor().is_some() || matches!(scalar.style, Style::Literal | Style::Folded) {
                continue;
            }
            for new in values::others(&scalar.text, report, finding) {
                let Some(text) = written(&new, scalar.style) else {
                    continue;
                };
                let title = format!("replace `{}` with `{new}`", scalar.text);
                all.push(Candidate::one(title, node.span, text));
            }
        }
        all
    }

    /// Entries that the help names, as in `restart: always`.
    fn additions(&self, finding: &Diagnostic) -> Vec<Candidate> {
        let help = finding.help.as_deref().unwrap_or("");
        let quoted = help.split('`').skip(1).step_by(2);
        let entries = quoted.filter(|text| text.contains(": ") && !text.contains(['{', '\n']));
        let mut all = Vec::new();
        for entry in entries {
            for step in self.steps.iter().rev().take(3) {
                for at in [step.at, step.container] {
                    if let Some(change) = edit::add(self.text(), &self.root, at, entry) {
                        all.push(Candidate::one(
                            format!("add `{entry}`"),
                            change.span,
                            change.text,
                        ));
                    }
                }
            }
        }
        all
    }
}

/// A value as it is written in the style of another.
fn written(new: &str, style: Style) -> Option<String> {
    let plain = |c: char| c != '"' && c != '\'' && c != '\\' && !c.is_control();
    if !new.chars().all(plain) || new.is_empty() {
        return None;
    }
    match style {
        Style::SingleQuoted => Some(format!("'{new}'")),
        Style::DoubleQuoted => Some(format!("\"{new}\"")),
        _ => {
            let first = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/');
            let fits = new.starts_with(first)
                && !new.ends_with([' ', ':'])
                && !new.contains(": ")
                && !new.contains(" #")
                && !new.contains([',', '[', ']', '{', '}']);
            fits.then(|| new.to_owned())
        }
    }
}

fn holds(whole: Span, part: Span) -> bool {
    whole.file == part.file && whole.start <= part.start && part.end <= whole.end
}

/// The entries and items that lead to a place.
fn path(node: &Node, at: Span, steps: &mut Vec<Step>) {
    if node.alias().is_some() {
        return;
    }
    match &node.kind {
        Kind::Scalar(_) => {}
        Kind::Sequence(items) => {
            if let Some(item) = items.iter().find(|item| holds(item.used_at(), at)) {
                steps.push(Step {
                    at: item.used_at(),
                    value: item.used_at(),
                    container: node.span,
                });
                path(item, at, steps);
            }
        }
        Kind::Mapping(map) => {
            let found = map.entries.iter().find(|entry| {
                let value = entry.value.used_at();
                holds(entry.key.span, at) || holds(value, at) || holds(entry.key.span.to(value), at)
            });
            if let Some(entry) = found {
                steps.push(Step {
                    at: entry.key.span,
                    value: entry.value.used_at(),
                    container: node.span,
                });
                path(&entry.value, at, steps);
            }
        }
    }
}

/// The scalars within a place.
fn leaves<'n>(node: &'n Node, within: Span, out: &mut Vec<&'n Node>) {
    if node.alias().is_some() {
        return;
    }
    match &node.kind {
        Kind::Scalar(_) => {
            if holds(within, node.span) {
                out.push(node);
            }
        }
        Kind::Sequence(items) => items.iter().for_each(|item| leaves(item, within, out)),
        Kind::Mapping(map) => {
            for entry in &map.entries {
                leaves(&entry.value, within, out);
            }
        }
    }
}
