//! Programs of their own that are started as subcommands, as git and cargo start theirs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::Exit;

/// The gate; `locus check` needs none of what it is built from.
pub(crate) const GATE: Program = Program {
    name: "locus-gate",
    build: "cargo build --release -p locus-attestation --features kubernetes",
};

/// The agent of a worker, which links the TPM library.
pub(crate) const AGENT: Program = Program {
    name: "locus-agent",
    build: "cargo build --release -p locus-attestation --no-default-features --features tpm",
};

/// A program that belongs to Locus.
pub(crate) struct Program {
    name: &'static str,
    build: &'static str,
}

impl Program {
    /// Becomes the program: signals and the exit code are its own. Returns only if that fails.
    pub(crate) fn run(&self, first: &[&str], rest: &[OsString]) -> Exit {
        let Some(path) = self.find() else {
            eprintln!(
                "error: `{}` is neither beside `locus` nor on the path; build it with `{}`",
                self.name, self.build
            );
            return Exit::Unanswered;
        };
        let mut command = Command::new(&path);
        command.args(first).args(rest);
        let error = replace(&mut command);
        eprintln!("error: cannot start `{}`: {error}", path.display());
        Exit::Unanswered
    }

    /// Beside this program, or on the search path.
    fn find(&self) -> Option<PathBuf> {
        let name = format!("{}{}", self.name, std::env::consts::EXE_SUFFIX);
        let beside = std::env::current_exe().ok();
        let beside = beside.map(|program| program.with_file_name(&name));
        let mut beside = beside.into_iter();
        beside
            .find(|path| is_program(path))
            .or_else(|| searched(&name))
    }
}

/// A program on the search path.
pub(super) fn searched(name: &str) -> Option<PathBuf> {
    let all = on_path(name, std::env::var_os("PATH").as_deref());
    all.into_iter().find(|path| is_program(path))
}

/// The places of a name on the search path. An entry that depends on the current folder is left out: it may belong to
/// somebody whose files are only to be checked.
fn on_path(name: &str, path: Option<&OsStr>) -> Vec<PathBuf> {
    let Some(path) = path else {
        return Vec::new();
    };
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .collect()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(unix)]
fn replace(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn replace(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(2)),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_folder_is_not_searched() {
        let path = OsStr::new(":.:/usr/bin:bin");
        assert_eq!(
            on_path("locus-gate", Some(path)),
            [PathBuf::from("/usr/bin/locus-gate")]
        );
        assert!(on_path("locus-gate", None).is_empty());
    }
}
