//! The `locus` command line: results on standard output, everything else on standard error.

mod check;
mod cli;
mod configuration;
mod fmt;
mod graph;
mod interrupt;
mod loader;
mod report;
mod rules;
mod run;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

/// A configuration is read into many small values, and freed by another thread than made them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no mistake.
            let mistake = error.use_stderr();
            let _ = error.print();
            return Exit::from_usage(mistake).into();
        }
    };
    let exit = match cli.command {
        Command::Check(args) => check::check(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Rules => rules::list(),
        Command::Explain(args) => rules::explain(&args.rule),
        Command::Run(args) => run::run(&args),
        Command::Fmt(args) => fmt::fmt(&args),
        #[cfg(feature = "gate")]
        Command::Gate(args) => ended(args.run()),
        #[cfg(feature = "gate")]
        Command::Agent(args) => ended(args.run()),
        #[cfg(feature = "gate")]
        Command::Reference(args) => match args.run() {
            Ok(false) => Exit::Clean,
            Ok(true) => Exit::Findings,
            Err(error) => ended(Err(error)),
        },
        #[cfg(feature = "gate")]
        Command::Attest(args) => ended(args.run()),
    };
    exit.into()
}

/// Says why a service ended, if it should not have.
#[cfg(feature = "gate")]
fn ended<E: std::fmt::Display>(result: Result<(), E>) -> Exit {
    match result {
        Ok(()) => Exit::Clean,
        Err(error) => {
            eprintln!("error: {error}");
            Exit::Unanswered
        }
    }
}

/// How the program ends; the meaning is the same for every subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exit {
    /// Everything is as it should be.
    Clean = 0,
    /// Something was found.
    Findings = 1,
    /// Something could not be answered.
    Unanswered = 2,
    /// The command line makes no sense.
    Usage = 3,
}

impl Exit {
    fn from_usage(mistake: bool) -> Self {
        if mistake { Exit::Usage } else { Exit::Clean }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
