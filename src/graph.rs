//! `locus graph`: the location graph of a configuration, in formats that others read.

use locus_core::graph::{to_als, to_dot, to_json, to_svg};
use locus_core::{Diagnostic, Severity, Sources};

use crate::Exit;
use crate::cli::{GraphArgs, GraphFormat};
use crate::configuration::{self, Read};
use crate::settings;

/// Prints the graph of a configuration; what is wrong with its files goes to standard error.
pub(crate) fn graph(args: &GraphArgs) -> Exit {
    let mut sources = Sources::new();
    let mut wrong = Vec::new();
    let given = args.inputs.config.as_deref();
    let settings = settings::Known::default().of(given, &args.file, &mut sources, &mut wrong);
    if !wrong.is_empty() {
        return tell(&wrong, &sources, Exit::Findings);
    }
    let loaded = match configuration::read(&args.file, &args.inputs, &settings, &mut sources) {
        Read::Loaded(loaded) => loaded,
        Read::Broken(diagnostics) => return tell(&diagnostics, &sources, Exit::Findings),
        Read::NotChecked(diagnostic) => return tell(&[*diagnostic], &sources, Exit::Unanswered),
    };
    let text = match args.format {
        GraphFormat::Dot => to_dot(&loaded.graph),
        GraphFormat::Svg => to_svg(&loaded.graph),
        GraphFormat::Als => to_als(&loaded.graph),
        GraphFormat::Json => {
            let mut text = format!("{:#}", to_json(&loaded.graph, &sources));
            text.push('\n');
            text
        }
    };
    crate::run::print(&text);
    let broken = loaded.diagnostics.iter();
    let broken = broken
        .filter(|d| d.severity == Severity::Error)
        .count()
        .min(1);
    let exit = match (broken, loaded.unchecked.is_empty()) {
        (1, _) => Exit::Findings,
        (_, false) => Exit::Unanswered,
        _ => Exit::Clean,
    };
    tell(&loaded.diagnostics, &sources, exit);
    tell(&loaded.unchecked, &sources, exit)
}

fn tell(diagnostics: &[Diagnostic], sources: &Sources, exit: Exit) -> Exit {
    for diagnostic in diagnostics {
        crate::report::text::print(diagnostic, sources);
    }
    exit
}
