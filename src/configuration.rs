//! A file named on the command line to a configuration.

use std::path::{Path, PathBuf};

use locus_core::{Diagnostic, Sources, Span};
use locus_frontends::kind::{self, FileKind};
use locus_frontends::language::{self, Loaded, Request};
use locus_frontends::loader::Loader;
use locus_frontends::yaml;

use crate::cli::Inputs;
use crate::loader::Given;
use crate::settings::Settings;

/// What a file turned out to be.
pub(crate) enum Read {
    /// A configuration of a language that is known.
    Loaded(Box<Loaded>),
    /// Nothing that could be read, and why.
    Broken(Vec<Diagnostic>),
    /// Something that is not a configuration by itself.
    NotChecked(Box<Diagnostic>),
}

/// Reads a file of whatever kind it is; `-` is standard input.
pub(crate) fn read(
    path: &Path,
    inputs: &Inputs,
    settings: &Settings,
    sources: &mut Sources,
) -> Read {
    let name = path.display().to_string();
    let mut loader = Given::default();
    let kind = match kind::by_name(&name) {
        Some(kind) => kind,
        None => {
            let text = match crate::loader::read(path) {
                Ok(text) => text,
                Err(error) => {
                    let why = crate::loader::why(&error);
                    let message = format!("cannot read `{name}`: {why}");
                    return Read::NotChecked(Box::new(Diagnostic::error("io", message)));
                }
            };
            let kind = match kind::by_first_line(&text) {
                Some(kind) => kind,
                None => match recognise(&name, &text, sources) {
                    Ok(kind) => kind,
                    Err(read) => return read,
                },
            };
            if path == Path::new("-") {
                loader.standard_input = Some(text.into_bytes().into());
            }
            kind
        }
    };
    match load(kind, vec![name.clone()], &loader, inputs, settings, sources) {
        Some(loaded) => Read::Loaded(Box::new(loaded)),
        None => Read::NotChecked(Box::new(no_configuration(&name, kind, sources))),
    }
}

/// The kind of a file by its content, or what is said of a file whose content does not tell.
fn recognise(name: &str, text: &str, sources: &mut Sources) -> Result<FileKind, Read> {
    let file = sources.add(name, text);
    if let Some(what) = no_text(text) {
        let message = format!("`{name}` is {what}, not a configuration");
        let diagnostic = Diagnostic::error("kind", message).at(Span::start_of(file));
        return Err(Read::Broken(vec![diagnostic]));
    }
    let parsed = yaml::parse(sources, file, &yaml::Limits::default());
    match kind::recognise(&parsed.documents) {
        Some(kind) => Ok(kind),
        None if !parsed.diagnostics.is_empty() => Err(Read::Broken(parsed.diagnostics)),
        None => {
            let message = format!("nothing in `{name}` tells what it is");
            let help = "a Heat template starts with `heat_template_version`, a Compose file has `services`";
            let diagnostic = Diagnostic::warning("kind", message).help(help);
            Err(Read::NotChecked(Box::new(
                diagnostic.at(Span::start_of(file)),
            )))
        }
    }
}

/// What a file is whose content needs no parser to be refused.
fn no_text(text: &str) -> Option<&'static str> {
    if text
        .trim_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
        .is_empty()
    {
        Some("empty")
    } else if text.bytes().take(1 << 13).any(|byte| byte == 0) {
        Some("binary")
    } else {
        None
    }
}

/// Loads a configuration with the inputs of the command line; none when there is no language for its kind.
pub(crate) fn load(
    kind: FileKind,
    files: Vec<String>,
    loader: &dyn Loader,
    inputs: &Inputs,
    settings: &Settings,
    sources: &mut Sources,
) -> Option<Loaded> {
    let language = language::of(kind)?;
    let paths = |paths: &[PathBuf]| paths.iter().map(|p| p.display().to_string()).collect();
    let request = Request {
        now: Some(std::time::SystemTime::now()),
        files,
        environments: paths(&inputs.environment),
        parameters: inputs.param.clone(),
        env_files: paths(&inputs.env_file),
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        profiles: inputs.profile.clone(),
        target: inputs.target.into(),
        nodes: inputs.nodes,
        types: settings.types.clone(),
        all_inputs: inputs.all_inputs,
    };
    Some(language.load(&request, loader, sources))
}

/// Says that a file of this kind is not checked by itself.
fn no_configuration(name: &str, kind: FileKind, sources: &Sources) -> Diagnostic {
    let diagnostic = if kind == FileKind::HeatEnvironment {
        let message = format!("`{name}` is an environment and is checked with its template");
        Diagnostic::warning("kind", message).help(format!(
            "name the template, and give this file as `-e {name}`"
        ))
    } else {
        let message = format!("`{name}` is a {} and was not checked", kind.as_str());
        Diagnostic::warning("kind", message)
            .help("Heat templates and Compose files can be checked so far")
    };
    match sources.files().last() {
        Some(file) => diagnostic.at(Span::start_of(file)),
        None => diagnostic,
    }
}
