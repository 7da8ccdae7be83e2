//! What a file is.

use locus_core::{Diagnostic, FileId, Sources, Span};
use locus_frontends::language::{Kind, KindRole, Recognised, Registry};
use locus_frontends::loader::Loader;
use locus_frontends::yaml::{self, Node};

use super::files::Files;

/// Why a file is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skip {
    /// No language has such a file.
    Unknown,
    /// It holds no text.
    Empty,
    /// It is a part of configurations, and checked with them.
    Part(&'static Kind),
    /// It is a template for Jinja: what is made of it can be checked.
    Template,
    /// Another program makes configurations of it.
    Source(&'static Kind),
    /// It is a configuration of a language that cannot be checked yet.
    Unsupported(&'static Kind),
    /// It cannot be read.
    Unreadable,
}

impl Skip {
    /// Whether a folder with such a file is checked as a whole all the same.
    pub fn is_harmless(self) -> bool {
        !matches!(
            self,
            Skip::Source(_) | Skip::Unsupported(_) | Skip::Unreadable
        )
    }
}

/// What a file turned out to be.
#[derive(Debug)]
pub(super) enum Recognition {
    /// A configuration, or a file of one.
    Configuration(Recognised),
    /// Nothing that can be understood.
    Broken(Vec<Diagnostic>),
    /// Something that is not checked, and what is said when the user asked for just that.
    Skipped(Skip, Box<Diagnostic>),
}

/// Finds out what a file is; the diagnostics are about the sources that come with them.
pub(super) fn recognise(registry: &Registry, files: &Files, name: &str) -> (Sources, Recognition) {
    let mut sources = Sources::new();
    let recognition = of_file(registry, files, name, &mut sources);
    (sources, recognition)
}

/// As [`recognise`], for a file that was met in a folder: what lies around it may tell what it is.
pub(super) fn recognise_inside(
    registry: &Registry,
    files: &Files,
    name: &str,
) -> (Sources, Recognition) {
    match registry.by_place(name, files) {
        Some(recognised) => (Sources::new(), of_kind(registry, name, recognised, None)),
        None => recognise(registry, files, name),
    }
}

fn of_file(registry: &Registry, files: &Files, name: &str, sources: &mut Sources) -> Recognition {
    if let Some(rendered) = files.rendered_as(name)
        && let Some(recognised) = registry.by_name(name)
    {
        let kind = recognised.kind;
        return match rendered {
            Some(_) => Recognition::Configuration(recognised),
            None => {
                let message = format!("`{name}` is a {kind} and is rendered with another");
                let diagnostic = Diagnostic::warning("kind", message);
                Recognition::Skipped(Skip::Part(kind), Box::new(diagnostic))
            }
        };
    }
    let bytes = match files.load(name) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("cannot read `{name}`: {}", error.reason);
            let diagnostic = Diagnostic::error("io", message);
            return Recognition::Skipped(Skip::Unreadable, Box::new(diagnostic));
        }
    };
    if let Some(recognised) = registry.by_bytes(&bytes) {
        return of_kind(registry, name, recognised, None);
    }
    let text = match locus_core::decode(&bytes) {
        Ok(text) => text,
        Err(refused) => {
            let file = sources.add(name, refused.shown.as_str());
            return Recognition::Broken(vec![refused.diagnostic(file)]);
        }
    };
    if registry.is_candidate(name) && !registry.may_be(name, &text) {
        let message = format!("nothing in `{name}` tells what it is");
        let diagnostic = Diagnostic::warning("kind", message);
        return Recognition::Skipped(Skip::Unknown, Box::new(diagnostic));
    }
    let has_markup = is_template_name(name) || has_statements(&text);
    let has_actions = has_actions(&text);
    if !has_markup && !has_actions {
        let told = registry.by_name(name);
        if let Some(recognised) = told.or_else(|| registry.by_first_line(&text)) {
            return of_kind(registry, name, recognised, None);
        }
    }
    let file = sources.add(name, &*text);
    if text.trim_ascii().is_empty() {
        let message = format!("`{name}` is empty, not a configuration");
        let diagnostic = Diagnostic::error("kind", message).at(Span::start_of(file));
        return Recognition::Skipped(Skip::Empty, Box::new(diagnostic));
    }
    let parsed = yaml::parse(sources, file, &yaml::Limits::default());
    let is_jinja = has_markup && (is_template_name(name) || !parsed.diagnostics.is_empty());
    let is_go = has_actions
        && (breaks_at_markup(sources, &text, &parsed.diagnostics) || has_map_as_key(&parsed));
    if is_jinja || is_go {
        let language = if is_jinja { "Jinja" } else { "Go" };
        let message = format!("`{name}` is a {language} template, not yet a configuration");
        let diagnostic = Diagnostic::warning("kind", message)
            .help("render it first, then check the result")
            .at(Span::start_of(file));
        return Recognition::Skipped(Skip::Template, Box::new(diagnostic));
    }
    let told = registry.by_name(name);
    let told = told.or_else(|| registry.by_first_line(&text));
    match told.or_else(|| registry.by_content(&parsed.documents)) {
        Some(recognised) => of_kind(registry, name, recognised, Some(file)),
        None if !parsed.diagnostics.is_empty() => Recognition::Broken(parsed.diagnostics),
        None => {
            let message = format!("nothing in `{name}` tells what it is");
            let signs = registry.configurations();
            let signs = signs.filter_map(|kind| Some(format!("a {kind} {}", kind.sign?)));
            let help = signs.collect::<Vec<_>>().join(", ");
            let diagnostic = Diagnostic::warning("kind", message).help(help);
            let diagnostic = diagnostic.at(Span::start_of(file));
            Recognition::Skipped(Skip::Unknown, Box::new(diagnostic))
        }
    }
}

/// What is done with a file of this kind.
fn of_kind(
    registry: &Registry,
    name: &str,
    recognised: Recognised,
    file: Option<FileId>,
) -> Recognition {
    let kind = recognised.kind;
    let (skip, diagnostic) = match kind.role {
        KindRole::Configuration => return Recognition::Configuration(recognised),
        KindRole::Part { with, help } => {
            let message = format!("`{name}` is a {kind} and is {with}");
            let diagnostic = Diagnostic::warning("kind", message);
            (
                Skip::Part(kind),
                diagnostic.help(help.replace("{name}", name)),
            )
        }
        KindRole::Source { help } => {
            let message = format!("`{name}` is a {kind} and was not checked");
            let folder = locus_frontends::loader::directory(name);
            let help = help.replace("{folder}", folder);
            let diagnostic = Diagnostic::warning("kind", message).help(help);
            (Skip::Source(kind), diagnostic)
        }
        KindRole::Unsupported => {
            let known = registry.configurations().map(|kind| format!("{kind}s"));
            let known = known.collect::<Vec<_>>().join(", ");
            let message = format!("`{name}` is a {kind} and was not checked");
            let help = format!("these can be checked so far: {known}");
            let diagnostic = Diagnostic::warning("kind", message).help(help);
            (Skip::Unsupported(kind), diagnostic)
        }
    };
    let diagnostic = match file {
        Some(file) => diagnostic.at(Span::start_of(file)),
        None => diagnostic,
    };
    Recognition::Skipped(skip, Box::new(diagnostic))
}

/// Whether a file is named as templates for Jinja are: `role.j2.yaml`.
fn is_template_name(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let mut parts = name.split('.').skip(1);
    parts.any(|part| matches!(part, "j2" | "jinja" | "jinja2"))
}

/// Whether a text has lines that are statements of Jinja. In a block of text they are YAML like any other line, so this
/// alone makes no template.
fn has_statements(text: &str) -> bool {
    text.contains("{%") && text.lines().any(|line| line.trim_start().starts_with("{%"))
}

/// Whether a text has markup as templates of Go have, such as those of Helm: `{{ .Values.name }}`, `{{- if ... }}`. A script
/// in a configuration may have such markup too.
fn has_actions(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "if ",
        "range ",
        "with ",
        "end",
        "else",
        "define ",
        "include ",
        "template ",
        "toYaml ",
        "tpl ",
        "block ",
        "/*",
    ];
    text.match_indices("{{").any(|(at, _)| {
        let rest = text.get(at + 2..).unwrap_or("");
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
        rest.starts_with(['.', '$']) || WORDS.iter().any(|word| rest.starts_with(word))
    })
}

/// Whether it is markup that makes a text no YAML: an error is in a line that has some, or just after one.
fn breaks_at_markup(sources: &Sources, text: &str, errors: &[Diagnostic]) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    errors.iter().filter_map(Diagnostic::primary).any(|span| {
        let line = sources.start(span).line;
        let near = lines.iter().take(line).rev().take(2);
        let mut near = near.filter(|line| !line.trim().is_empty());
        near.any(|line| line.contains("{{"))
    })
}

/// Whether a map stands where a key does: to YAML, `{{ include "name" . }}` is a map whose key is a map, which no configuration has.
fn has_map_as_key(parsed: &yaml::Parsed) -> bool {
    let roots = parsed.documents.iter().map(|document| &document.root);
    let mut todo: Vec<&Node> = roots.collect();
    while let Some(node) = todo.pop() {
        if let Some(items) = node.as_sequence() {
            todo.extend(items);
        }
        for entry in node.as_mapping().into_iter().flat_map(|map| &map.entries) {
            if entry.key.as_mapping().is_some() {
                return true;
            }
            todo.push(&entry.value);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_frontends::loader::MemoryLoader;
    use std::sync::Arc;

    fn skip(name: &str, text: &str) -> Option<Skip> {
        let files = Files::new(Arc::new(MemoryLoader::new().with(name, text)));
        match recognise(&Registry::builtin(), &files, name).1 {
            Recognition::Skipped(why, _) => Some(why),
            _ => None,
        }
    }

    #[test]
    fn markup_that_is_not_yaml_makes_a_template() {
        let template = "heat_template_version: rocky\nresources:\n{% for role in roles %}\n  a: 1\n{% endfor %}\n";
        assert_eq!(skip("a.yaml", template), Some(Skip::Template));
        assert_eq!(skip("compose.yaml", template), Some(Skip::Template));
        let chart = "{{- if .Values.a }}\napiVersion: v1\nkind: Pod\n{{- end }}\n";
        assert_eq!(skip("a.yaml", chart), Some(Skip::Template));
        let value = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ include \"name\" . }}\n";
        assert_eq!(skip("a.yaml", value), Some(Skip::Template));
        let format =
            "services:\n  a:\n    image: i\n    command: docker ps --format '{{ .Names }}'\n";
        assert_eq!(skip("compose.yaml", format), None, "a script again");
        assert_eq!(skip("a.j2.yaml", "a: 1\n"), Some(Skip::Template));
        let script = "heat_template_version: rocky\noutputs:\n  a:\n    value: |\n      {% if x %}\n      {% endif %}\n";
        assert_eq!(
            skip("a.yaml", script),
            None,
            "a script with markup in a template"
        );
    }

    #[test]
    fn a_file_of_nobody_is_unknown() {
        assert_eq!(
            skip("a.yaml", "- name: play\n  hosts: all\n"),
            Some(Skip::Unknown)
        );
        assert_eq!(skip("a.yaml", "\n"), Some(Skip::Empty));
        let environment = skip("a.yaml", "parameter_defaults: {}\n");
        assert!(
            matches!(environment, Some(Skip::Part(_))),
            "{environment:?}"
        );
    }
}
