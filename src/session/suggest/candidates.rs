//! The edits that may mend a finding: those of its rule, another location of the same sort, another value, an entry less
//! or more. Last come values from farther away: what the same key has elsewhere, what the language takes at the place, and
//! values of keys that the help names.

use locus_core::diagnostic::{Applicability, Edit};
use locus_core::{Diagnostic, Sources, Span};
use locus_frontends::language::{self, Language};
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
    pub(super) fn one(title: String, span: Span, text: String) -> Self {
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
    language: &dyn Language,
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
    let mut farther = Vec::new();
    for &span in &spans {
        let Some(place) = Place::of(report, span) else {
            continue;
        };
        replaced.extend(place.replacements(report, finding));
        removed.extend(place.removals());
        added.extend(place.additions(finding));
        farther.extend(place.farther(language, report, finding));
    }
    for member in &finding.members {
        if let Some(place) = member.span.and_then(|span| Place::of(report, span)) {
            added.extend(place.additions(finding));
        }
    }
    let near = replaced.into_iter().chain(added).chain(removed);
    for one in near.chain(farther) {
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

    /// The scalars that can be replaced where the place has one, or a few of them.
    fn scalars(&self) -> Vec<(&Node, &str, Style)> {
        let Some(step) = self.steps.last() else {
            return Vec::new();
        };
        let mut scalars = Vec::new();
        leaves(&self.root, step.value, &mut scalars);
        scalars.truncate(4);
        scalars.into_iter().filter_map(replaceable).collect()
    }

    /// Other values where the place has a scalar, or a few of them.
    fn replacements(&self, report: &Report, finding: &Diagnostic) -> Vec<Candidate> {
        let scalars = self.scalars().into_iter();
        let all = scalars.flat_map(|(node, text, style)| {
            let others = values::others(text, report, finding).into_iter();
            others.filter_map(move |new| replacement(node, text, style, &new))
        });
        all.collect()
    }

    /// Values from farther away: what the keys of the scalars have elsewhere in the files, what the language takes there, and
    /// other numbers and truth values of keys that the help names.
    fn farther(
        &self,
        language: &dyn Language,
        report: &Report,
        finding: &Diagnostic,
    ) -> Vec<Candidate> {
        let mut all = Vec::new();
        for (node, text, style) in self.scalars() {
            let (keys, around) = self.way_to(node.span);
            let mut values = Vec::new();
            if let Some(key) = keys.iter().rev().find(|key| !key.is_empty()) {
                values.extend(values::elsewhere(key, report));
            }
            let place = language::Place {
                root: &self.root,
                path: &keys,
                is_key: false,
                around: &around,
                others: &[],
            };
            let taken = language.suggest(&place).into_iter();
            let taken = taken.filter(|one| one.block.is_empty() && !one.deprecated);
            values.extend(taken.map(|one| one.text).take(values::FARTHER));
            let values = values.iter().filter(|new| *new != text);
            all.extend(values.filter_map(|new| replacement(node, text, style, new)));
        }
        let help = finding.help.as_deref().unwrap_or("");
        for key in help.split('`').skip(1).step_by(2) {
            let mut named = Vec::new();
            under(&self.root, key, &mut named);
            let named = named.into_iter().take(4).filter_map(replaceable);
            // Names and texts are somebody else's.
            let plain = |text: &str| text.parse::<f64>().is_ok() || text.parse::<bool>().is_ok();
            for (node, text, style) in named.filter(|(_, text, _)| plain(text)) {
                let others = values::others(text, report, finding).into_iter();
                all.extend(others.filter_map(|new| replacement(node, text, style, &new)));
            }
        }
        all
    }

    /// The keys that lead to a place, of items empty ones, and the nodes on the way.
    fn way_to(&self, at: Span) -> (Vec<&str>, Vec<&Node>) {
        let mut steps = Vec::new();
        path(&self.root, at, &mut steps);
        let (mut keys, mut around) = (Vec::new(), vec![&self.root]);
        for step in steps {
            let next = around.last().and_then(|node| match &node.kind {
                Kind::Scalar(_) => None,
                Kind::Sequence(items) => {
                    let item = items.iter().find(|item| item.used_at() == step.at);
                    item.map(|item| ("", item))
                }
                Kind::Mapping(map) => {
                    let mut entries = map.entries.iter();
                    let entry = entries.find(|entry| entry.key.span == step.at);
                    entry.and_then(|entry| Some((entry.key.as_str()?, &entry.value)))
                }
            });
            let Some((key, node)) = next else { break };
            keys.push(key);
            around.push(node);
        }
        (keys, around)
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

/// A scalar that can be replaced, with its text and style.
fn replaceable(node: &Node) -> Option<(&Node, &str, Style)> {
    let Kind::Scalar(scalar) = &node.kind else {
        return None;
    };
    let one_line = !matches!(scalar.style, Style::Literal | Style::Folded);
    (node.anchor().is_none() && one_line).then_some((node, &*scalar.text, scalar.style))
}

/// Another value in the place of a scalar; none when it cannot be written in its style.
fn replacement(node: &Node, text: &str, style: Style, new: &str) -> Option<Candidate> {
    let written = written(new, style)?;
    let title = format!("replace `{text}` with `{new}`");
    Some(Candidate::one(title, node.span, written))
}

/// The scalars that a key has, wherever it stands.
fn under<'n>(node: &'n Node, key: &str, out: &mut Vec<&'n Node>) {
    if node.alias().is_some() {
        return;
    }
    match &node.kind {
        Kind::Scalar(_) => {}
        Kind::Sequence(items) => items.iter().for_each(|item| under(item, key, out)),
        Kind::Mapping(map) => {
            for entry in &map.entries {
                let scalar = matches!(entry.value.kind, Kind::Scalar(_));
                if scalar && entry.value.alias().is_none() && entry.key.as_str() == Some(key) {
                    out.push(&entry.value);
                }
                under(&entry.value, key, out);
            }
        }
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
