//! `locus fmt`: models in one layout.

use std::fs;
use std::path::Path;

use locus_core::{Diagnostic, Severity, Sources};

use crate::cli::flags::FmtArgs;
use crate::cli::{Exit, loader};
use crate::report::frame;

/// Formats files in place, or says which would change.
pub(crate) fn fmt(args: &FmtArgs) -> Exit {
    let mut exit = Exit::Clean;
    for path in &args.files {
        exit = exit.max(fmt_file(path, args.check));
    }
    exit
}

fn fmt_file(path: &Path, check: bool) -> Exit {
    let name = path.display().to_string();
    let fail = |message: String| {
        frame::print(&Diagnostic::error("io", message), &Sources::new());
        Exit::Unanswered
    };
    let text = match loader::read(path) {
        Ok(text) => text,
        Err(error) => return fail(format!("cannot read `{name}`: {error}")),
    };
    let mut sources = Sources::new();
    let file = sources.add(name.clone(), text.as_str());
    let (_, diagnostics) = locus_grammar::parse(file, &locus_grammar::model_text(&name, &text));
    let broken: Vec<_> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .collect();
    if !broken.is_empty() {
        for diagnostic in broken {
            frame::print(diagnostic, &sources);
        }
        return Exit::Unanswered;
    }
    let formatted = locus_grammar::format_file(&name, &text);
    if path == Path::new("-") {
        print!("{formatted}");
        return Exit::Clean;
    }
    if formatted == text {
        return Exit::Clean;
    }
    if check {
        eprintln!("{name} would be formatted");
        return Exit::Findings;
    }
    match fs::write(path, formatted) {
        Ok(()) => Exit::Clean,
        Err(error) => fail(format!("cannot write `{name}`: {error}")),
    }
}
