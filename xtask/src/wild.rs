//! `cargo xtask wild`: the page about what Locus finds in public repositories.
//!
//! Each entry names a repository, a commit, a place and a rule, and says why it is wrong. The page is written from the entries; with
//! copies of the repositories at hand, each entry is checked first, so that the page says what is found.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::{about, root};

/// A public repository, as it was at a commit.
struct Repository {
    name: &'static str,
    commit: &'static str,
    what: &'static str,
    finds: &'static [Found],
}

/// Something that is wrong in it.
struct Found {
    rule: &'static str,
    file: &'static str,
    line: usize,
    why: &'static str,
}

const REPOSITORIES: &[Repository] = &include!("wild.in");

/// Writes the page. Folders hold copies of the repositories, each in `OWNER+NAME`; with them, each entry is checked by a program.
pub(crate) fn write(copies: Option<&Path>, program: &Path) -> io::Result<()> {
    if let Some(copies) = copies {
        let mut wrong = Vec::new();
        for repository in REPOSITORIES {
            let folder = copies.join(repository.name.replace('/', "+"));
            for found in repository.finds {
                if !is_found(found, &folder, program)? {
                    wrong.push(format!(
                        "{} {}:{}: {} is not found",
                        repository.name, found.file, found.line, found.rule
                    ));
                }
            }
        }
        if !wrong.is_empty() {
            return Err(io::Error::other(wrong.join("\n")));
        }
    }
    let path = page_path();
    fs::write(&path, page()).map_err(about(&path))
}

fn page_path() -> PathBuf {
    root().join("docs/wild.md")
}

/// Whether a check of the file reports it where it is said to be.
fn is_found(found: &Found, folder: &Path, program: &Path) -> io::Result<bool> {
    let output = Command::new(program)
        .args(["check", "--format", "compact", found.file])
        .current_dir(folder)
        .output()?;
    let start = format!("{}:{}:", found.file, found.line);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    Ok(lines.any(|line| line.starts_with(&start) && line.contains(found.rule)))
}

fn page() -> String {
    let mut out = String::from(
        "# Found in the wild\n\n\
         What `locus check` finds in public repositories that many people copy from, at a commit of each. Every entry was read and is\n\
         right: the reason is given in our words. `cargo xtask wild --copies FOLDER` checks all of them again, in copies of\n\
         the repositories at these commits, and writes this page.\n",
    );
    for repository in REPOSITORIES {
        let _ = write!(
            out,
            "\n## {}\n\n{} Commit `{}`.\n\n| where | rule | why it is wrong |\n|---|---|---|\n",
            repository.name, repository.what, repository.commit
        );
        for found in repository.finds {
            let is_rule = root()
                .join(format!("docs/rules/{}.md", found.rule))
                .exists();
            let rule = match is_rule {
                true => format!("[{0}](rules/{0}.md)", found.rule),
                false => format!("`{}`", found.rule),
            };
            let _ = writeln!(
                out,
                "| `{}:{}` | {rule} | {} |",
                found.file, found.line, found.why
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_the_one_that_is_written() {
        let written = fs::read_to_string(page_path()).unwrap();
        assert_eq!(written, page(), "cargo xtask wild writes it");
    }

    #[test]
    fn an_entry_that_is_not_found_is_told() {
        let found = Found {
            rule: "HOT221",
            file: "a.yaml",
            line: 3,
            why: "",
        };
        // A program that prints what it is asked with, and finds nothing.
        assert!(!is_found(&found, root(), Path::new("echo")).unwrap());
    }
}
