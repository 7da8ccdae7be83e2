//! `TOSCA.meta`: the first block of it names what is in the archive.

use locus_core::{Diagnostic, FileId, Span, suggest};

/// A value and where it is written.
pub(super) type Written = (String, Span);

/// What a `TOSCA.meta` says.
#[derive(Debug, Default)]
pub(super) struct Meta {
    /// `CSAR-Version`.
    pub version: Option<Written>,
    /// `Entry-Definitions`.
    pub entry: Option<Written>,
    /// `Other-Definitions`.
    pub others: Vec<Written>,
}

impl Meta {
    /// Whether it is one of TOSCA 2.0.
    pub(super) fn is_2_0(&self) -> bool {
        self.version
            .as_ref()
            .is_some_and(|(version, _)| version == "2.0")
    }
}

const VERSION: &str = "CSAR-Version";
const FILE_VERSION: &str = "TOSCA-Meta-File-Version";
const ENTRY: &str = "Entry-Definitions";
const OTHERS: &str = "Other-Definitions";
const KEYS: [&str; 5] = [VERSION, FILE_VERSION, ENTRY, OTHERS, "Created-By"];

/// Reads the first block of a `TOSCA.meta`.
pub(super) fn read(text: &str, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Meta {
    let mut meta = Meta::default();
    let mut seen: Vec<(String, Span)> = Vec::new();
    for (key, key_span, value, span) in pairs(text, file, diagnostics) {
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == key) {
            let message = format!("`{key}` is there twice");
            let diagnostic = Diagnostic::error("tosca-archive", message);
            diagnostics.push(diagnostic.related(*first, "the first one").at(key_span));
            continue;
        }
        seen.push((key.clone(), key_span));
        let versions: &[&str] = match key.as_str() {
            VERSION => &["1.0", "1.1", "2.0"],
            FILE_VERSION => &["1.0", "1.1", "2.0"],
            _ => &[],
        };
        if !versions.is_empty() && !versions.contains(&value.as_str()) {
            let message = format!("`{value}` is not a version of {key}");
            let help = format!("write one of {}", versions.join(", "));
            diagnostics.push(
                Diagnostic::error("tosca-archive", message)
                    .help(help)
                    .at(span),
            );
        }
        match key.as_str() {
            VERSION => meta.version = Some((value, span)),
            ENTRY => meta.entry = Some((value, span)),
            OTHERS => meta.others = names(&value).into_iter().map(|name| (name, span)).collect(),
            FILE_VERSION | "Created-By" => {}
            other => unknown(other, key_span, diagnostics),
        }
    }
    if meta.is_2_0()
        && let Some((_, span)) = seen.iter().find(|(key, _)| key == FILE_VERSION)
    {
        let message = format!("TOSCA 2.0 has no `{FILE_VERSION}`");
        diagnostics.push(Diagnostic::warning("tosca-archive", message).at(*span));
    }
    if meta.version.is_none() {
        let message = format!("there is no `{VERSION}`");
        let diagnostic = Diagnostic::warning("tosca-archive", message);
        diagnostics.push(diagnostic.at(Span::start_of(file)));
    }
    meta
}

/// A key of nobody: most likely one of a package's own, unless it is nearly one of these.
fn unknown(key: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) {
    let meant = match key {
        "TOSCA-Meta-Version" => Some(FILE_VERSION),
        _ => KEYS
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(key)),
    };
    let diagnostic = match meant {
        Some(meant) => {
            Diagnostic::warning("tosca-archive", format!("`{key}` is not a key of TOSCA"))
                .help(format!("did you mean `{meant}`?"))
        }
        None if key.starts_with("TOSCA") || key.starts_with("tosca") => {
            let message = format!("`{key}` is not a key of TOSCA, which reserves such names");
            Diagnostic::warning("tosca-archive", message)
                .maybe_help(suggest::did_you_mean(key, KEYS))
        }
        // Packages of ETSI and others have keys of their own.
        None => return,
    };
    diagnostics.push(diagnostic.at(span));
}

/// The pairs of the first block; a line that starts with a blank continues the one before.
fn pairs(
    text: &str,
    file: FileId,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(String, Span, String, Span)> {
    let mut pairs: Vec<(String, Span, String, Span)> = Vec::new();
    let mut at = 0;
    let mut told = false;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim_end();
        if bare.is_empty() {
            if pairs.is_empty() {
                continue;
            }
            break;
        }
        let whole = Span::new(file, start, start + bare.len());
        if bare.starts_with('#') && pairs.is_empty() {
            if !told {
                let message =
                    "comments are not part of a `TOSCA.meta`, and other programs may refuse it";
                diagnostics.push(Diagnostic::warning("tosca-archive", message).at(whole));
            }
            told = true;
            continue;
        }
        if bare.starts_with([' ', '\t'])
            && let Some((.., value, span)) = pairs.last_mut()
        {
            if value.is_empty() {
                *span = whole;
            } else {
                value.push(' ');
                *span = span.to(whole);
            }
            value.push_str(bare.trim_start());
            continue;
        }
        let Some((key, value)) = bare.split_once(':') else {
            let message = "a line of `TOSCA.meta` is `key: value`";
            diagnostics.push(Diagnostic::error("tosca-archive", message).at(whole));
            continue;
        };
        let value_at = start + key.len() + 1 + (value.len() - value.trim_start().len());
        pairs.push((
            key.trim().to_owned(),
            Span::new(file, start, start + key.len()),
            value.trim().to_owned(),
            Span::new(file, value_at, start + bare.len()),
        ));
    }
    pairs
}

/// Names between blanks; one with blanks is in double quotes.
fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => {
                if !name.is_empty() {
                    names.push(std::mem::take(&mut name));
                }
            }
            c => name.push(c),
        }
    }
    if !name.is_empty() {
        names.push(name);
    }
    names
}
