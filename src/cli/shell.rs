//! `locus completions` and `locus man`: what shells and `man` know about the flags, made from the flags.

use crate::session::why;
use clap::CommandFactory;

use super::flags::{Cli, CompletionsArgs, ManArgs};
use super::{Exit, print};

/// Prints completions.
pub(crate) fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "locus", &mut script);
    print(&String::from_utf8_lossy(&script));
    Exit::Clean
}

/// Writes a page for the program and one for each subcommand.
pub(crate) fn man(args: &ManArgs) -> Exit {
    let written = std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder));
    match written {
        Ok(()) => Exit::Clean,
        Err(error) => {
            let folder = args.folder.display();
            eprintln!(
                "error: cannot write manual pages to `{folder}`: {}",
                why(&error)
            );
            Exit::Unanswered
        }
    }
}
