//! The `locus` command: flags, exit codes and what is printed where.

mod certificate;
mod check;
mod cluster;
mod diff;
mod fix;
mod flags;
mod fmt;
mod graph;
mod init;
mod inputs;
mod interrupt;
mod loader;
mod lsp;
mod outputs;
mod place;
mod program;
mod progress;
mod reach;
mod render;
mod rules;
mod run;
mod shell;
mod test;
mod vocabulary;
mod watch;
mod who_can;
mod witness;

use std::process::ExitCode;

use clap::Parser as _;

use flags::{Cli, Command};

/// Does what the command line says.
pub fn main() -> ExitCode {
    let command = match Command::quickly(std::env::args_os()) {
        Some(command) => command,
        None => match Cli::try_parse() {
            Ok(cli) => cli.command,
            Err(error) => {
                // Help and version go to standard output and are not mistakes.
                let mistake = error.use_stderr();
                let _ = error.print();
                return Exit::from_usage(mistake).into();
            }
        },
    };
    let exit = match command {
        Command::Check(args) => check::check(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Reach(args) => reach::reach(&args),
        Command::Place(args) => place::place(&args),
        Command::WhoCan(args) => who_can::who_can(&args),
        Command::Test(args) => test::test(&args),
        Command::VerifyCertificate(args) => certificate::verify(&args),
        Command::Rules => rules::list(),
        Command::Explain(args) => rules::explain(&args.rule),
        Command::Vocabulary(args) => vocabulary::vocabulary(&args),
        Command::Run(args) => run::run(&args),
        Command::Fmt(args) => fmt::fmt(&args),
        Command::Init(args) => init::init(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        Command::Lsp(_) => lsp::lsp(),
        Command::Gate(passed) => program::GATE.run(&[], &passed.arguments),
        Command::Deploy(passed) => program::GATE.run(&["deploy"], &passed.arguments),
        Command::Attest(passed) => program::GATE.run(&["attest"], &passed.arguments),
        Command::Reference(passed) => program::GATE.run(&["reference"], &passed.arguments),
        Command::Agent(passed) => program::AGENT.run(&[], &passed.arguments),
    };
    exit.into()
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
    /// The command line is wrong.
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

/// Prints on standard output; whoever closed it wants no more.
fn print(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
