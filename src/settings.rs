//! `locus.toml`: what a project asks of `locus check`.
//!
//! ```toml
//! [rules]
//! HOT302 = "error" # or `warning`, `info`, `off`
//!
//! [heat]
//! rules = ["rules/naming.als"] # relative to this file
//!
//! [heat.types."Acme::Server".properties]
//! size = { type = "integer", required = true }
//! ```

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Severity, Sources, Span, suggest};
use locus_frontends::hot::data::ResourceType;
use locus_frontends::language::UserTypes;
use locus_invariants::rules::Source;
use locus_invariants::{Checker, explain};
use serde::Deserialize;
use toml::Spanned;

/// The name of the file, looked for beside a configuration and in every folder above.
const NAME: &str = "locus.toml";

/// What a project asks for.
#[derive(Default)]
pub(crate) struct Settings {
    /// Rules that are not checked.
    pub(crate) off: Vec<String>,
    /// Rules whose violations are as bad as the project says.
    pub(crate) severities: Vec<(String, Severity)>,
    /// Resource types of the project's own plugins.
    pub(crate) types: UserTypes,
    /// The project's own rules, by language.
    pub(crate) rules: Vec<(&'static str, Checker)>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    rules: BTreeMap<String, Spanned<Level>>,
    heat: Heat,
    compose: Compose,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Heat {
    rules: Vec<Spanned<String>>,
    types: BTreeMap<String, Spanned<toml::Table>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Compose {
    rules: Vec<Spanned<String>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Off,
    Info,
    Warning,
    Error,
}

/// The settings that were met in one run.
#[derive(Default)]
pub(crate) struct Known {
    by_path: HashMap<PathBuf, Arc<Settings>>,
    none: Arc<Settings>,
}

impl Known {
    /// The settings for a file: those given, or of the nearest `locus.toml`. What is wrong with them is told once.
    pub(crate) fn of(
        &mut self,
        given: Option<&Path>,
        path: &Path,
        sources: &mut Sources,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Arc<Settings> {
        let Some(found) = given.map(Path::to_owned).or_else(|| nearest(path)) else {
            return self.none.clone();
        };
        if let Some(known) = self.by_path.get(&found) {
            return known.clone();
        }
        let settings = Arc::new(read(&found, sources, diagnostics));
        self.by_path.insert(found, settings.clone());
        settings
    }
}

/// The `locus.toml` that is nearest to a file.
fn nearest(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut candidates = path.ancestors().skip(1).map(|folder| folder.join(NAME));
    candidates.find(|file| file.is_file())
}

fn read(path: &Path, sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Settings {
    let mut settings = Settings::default();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let why = crate::loader::why(&error);
            let message = format!("cannot read `{}`: {why}", path.display());
            diagnostics.push(Diagnostic::error("settings", message));
            return settings;
        }
    };
    let shown = std::env::current_dir()
        .ok()
        .and_then(|here| path.strip_prefix(here).ok());
    let file = sources.add(shown.unwrap_or(path).display().to_string(), text.as_str());
    let contents: File = match toml::from_str(&text) {
        Ok(contents) => contents,
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = error.message().trim().to_owned();
            let diagnostic = Diagnostic::error("settings", message);
            diagnostics.push(diagnostic.at(Span::new(file, span.start, span.end)));
            return settings;
        }
    };
    let mut reader = Reader {
        folder: path.parent().unwrap_or(Path::new(".")),
        file,
        sources,
        diagnostics,
    };
    settings.types = reader.types(&contents.heat.types);
    for (language, files) in [
        ("hot", &contents.heat.rules),
        ("compose", &contents.compose.rules),
    ] {
        let checker = reader.rules(language, files);
        settings
            .rules
            .extend(checker.map(|checker| (language, checker)));
    }
    reader.levels(&contents.rules, &mut settings);
    settings
}

struct Reader<'a> {
    folder: &'a Path,
    file: FileId,
    sources: &'a mut Sources,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn error<T>(&mut self, at: &Spanned<T>, message: String, help: Option<String>) {
        let span = at.span();
        let diagnostic = Diagnostic::error("settings", message).maybe_help(help);
        self.diagnostics
            .push(diagnostic.at(Span::new(self.file, span.start, span.end)));
    }

    fn types(&mut self, types: &BTreeMap<String, Spanned<toml::Table>>) -> UserTypes {
        let mut known = UserTypes::default();
        for (name, table) in types {
            let mut json = match serde_json::to_value(table.get_ref()) {
                Ok(serde_json::Value::Object(json)) => json,
                _ => serde_json::Map::new(),
            };
            let words = ["properties", "attributes"];
            if let Some(word) = json.keys().find(|key| !words.contains(&key.as_str())) {
                let message = format!("a resource type has no `{word}`");
                let help = suggest::did_you_mean(word, words);
                self.error(table, message, help);
                continue;
            }
            let open = !json.contains_key("properties");
            json.insert("type".into(), name.as_str().into());
            match ResourceType::from_json(serde_json::Value::Object(json)) {
                Ok(mut ty) => {
                    ty.open = open;
                    known.insert(name.as_str().into(), Arc::new(ty));
                }
                Err(error) => self.error(table, format!("`{name}`: {error}"), None),
            }
        }
        known
    }

    /// The rules of some files, compiled.
    fn rules(&mut self, language: &'static str, files: &[Spanned<String>]) -> Option<Checker> {
        let mut found = Vec::new();
        for name in files {
            let path = self.folder.join(name.get_ref());
            match std::fs::read_to_string(&path) {
                Ok(text) => {
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                    found.push(Source {
                        module: format!("{language}/{stem}"),
                        path: path.display().to_string(),
                        text,
                    });
                }
                Err(error) => {
                    let why = crate::loader::why(&error);
                    let message = format!("cannot read `{}`: {why}", path.display());
                    self.error(name, message, None);
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        let (checker, wrong) = Checker::of_files(language, found, self.sources)?;
        self.diagnostics.extend(wrong);
        self.diagnostics
            .extend(checker.diagnostics().iter().cloned());
        Some(checker)
    }

    fn levels(&mut self, levels: &BTreeMap<String, Spanned<Level>>, settings: &mut Settings) {
        let own = settings.rules.iter().flat_map(|(_, checker)| {
            let rules = checker.program().rules.iter();
            rules.map(|rule| rule.rule.id.clone())
        });
        let mut ids: Vec<String> = own.collect();
        let builtin = explain::identifiers(locus_invariants::Library::builtin());
        ids.extend(builtin.into_iter().map(str::to_owned));
        for (id, level) in levels {
            if !ids.contains(id) {
                let help = suggest::did_you_mean(id, ids.iter().map(String::as_str));
                self.error(level, format!("there is no rule `{id}`"), help);
                continue;
            }
            let severity = match level.get_ref() {
                Level::Off => {
                    settings.off.push(id.clone());
                    continue;
                }
                Level::Info => Severity::Info,
                Level::Warning => Severity::Warning,
                Level::Error => Severity::Error,
            };
            settings.severities.push((id.clone(), severity));
        }
    }
}
