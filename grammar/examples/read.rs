//! Reads models and prints what is wrong with them: `read FILE..`.
//!
//! With `--dump` the resolved model is printed too, one line for each declaration.

use std::path::Path;
use std::process::ExitCode;

use locus_core::{Severity, Sources};
use locus_grammar::{Loader, read};

struct Files;

impl Loader for Files {
    fn load(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(Path::new(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn main() -> ExitCode {
    let mut failed = false;
    for path in std::env::args().skip(1) {
        let Some(text) = Files.load(&path) else {
            eprintln!("{path}: cannot be read");
            failed = true;
            continue;
        };
        let mut sources = Sources::new();
        let reading = read(&path, &text, &mut sources, &Files);
        for diagnostic in &reading.diagnostics {
            failed |= diagnostic.severity == Severity::Error;
            let (name, line, column) = match diagnostic.primary() {
                Some(span) => {
                    let at = sources.start(span);
                    (sources.name(span.file), at.line, at.column)
                }
                None => (path.as_str(), 1, 1),
            };
            println!(
                "{name}:{line}:{column}: {}[{}]: {}",
                diagnostic.severity, diagnostic.code, diagnostic.message
            );
            for label in &diagnostic.labels {
                if !label.message.is_empty() {
                    println!("    `{}`: {}", sources.snippet(label.span), label.message);
                }
            }
            if let Some(help) = &diagnostic.help {
                println!("    help: {help}");
            }
        }
        if let Some(model) = &reading.model {
            println!(
                "{path}: {} signatures, {} commands",
                model.sigs.len(),
                model.commands.len()
            );
        }
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
