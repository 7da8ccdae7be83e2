//! Commands for those who work on Locus: `cargo xtask help`.

mod cluster;
mod compare;
mod pages;
mod schema;
mod site;
mod snapshots;
mod try_rules;
mod wild;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Commands for those who work on Locus.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write what follows from rules and languages: the pages of rules and the schema of settings in `docs/`, and the snapshots
    /// of examples
    ///
    /// Run it after changing a rule, an example or the inputs of a language, and read what it changed before committing it.
    Rules,
    /// Check files with the rules of a folder, without building anything
    ///
    /// Of an example of a rule (`*.breaks.yaml`, `*.holds.yaml`), show only what differs from its marks.
    Try {
        /// The folder with the rules.
        #[arg(long, default_value = "invariants/library")]
        library: PathBuf,
        /// The files to check.
        files: Vec<PathBuf>,
    },
    /// Print what only one of two builds of Locus finds in some configurations: rule, place and severity count
    Compare {
        /// The program from before a change.
        before: PathBuf,
        /// The program from after it.
        after: PathBuf,
        /// Files and folders to check with both.
        paths: Vec<PathBuf>,
        /// A flag that both are given, such as `--flag=--all-inputs`.
        #[arg(long)]
        flag: Vec<String>,
    },
    /// Make a searchable site of the guides and the pages of the rules
    ///
    /// mdBook makes the pages: `cargo install mdbook`. Serve the folder `book` in what is written, and set `LOCUS_SITE` to its address,
    /// when Locus is built or run, to have reports link to it.
    Docs {
        /// Where the sources of the book and the site go.
        #[arg(long, default_value = "target/site")]
        folder: PathBuf,
        /// Write the sources of the book, and make no pages.
        #[arg(long)]
        sources: bool,
    },
    /// Write the page about what is found in public repositories
    Wild {
        /// A folder with copies of the repositories, each in `OWNER+NAME`: every entry is checked in them first.
        #[arg(long)]
        copies: Option<PathBuf>,
        /// The program to check with.
        #[arg(long, default_value = "target/debug/locus")]
        program: PathBuf,
    },
    /// Build, start and stop a real Kubernetes control plane on this machine, for tests
    #[command(subcommand)]
    Cluster(cluster::Command),
    /// Compile the schema of Compose files in `frontends/data/`
    ComposeSchema,
    /// Compile the schema of the kinds of Kubernetes in `frontends/data/`
    KubernetesSchema,
    /// Read the types of TOSCA in `frontends/data/tosca/`, and store them as trees
    ToscaTypes,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Rules => pages::write().and_then(|()| snapshots::write()),
        Command::Try { library, files } => try_rules::run(&library, &files),
        Command::Compare {
            before,
            after,
            paths,
            flag,
        } => compare::run(&before, &after, &paths, &flag),
        Command::Docs { folder, sources } => site::write(&folder, sources),
        Command::Wild { copies, program } => match std::path::absolute(&program) {
            Ok(program) => wild::write(copies.as_deref(), &program),
            Err(error) => Err(error),
        },
        Command::Cluster(command) => cluster::run(&command),
        Command::ComposeSchema => schema::compose(),
        Command::KubernetesSchema => schema::kubernetes(),
        Command::ToscaTypes => schema::tosca(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

/// An error that says which file it is about.
fn about(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    let path = path.display().to_string();
    move |error| io::Error::new(error.kind(), format!("{path}: {error}"))
}
