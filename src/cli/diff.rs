//! `--diff BASE`: only what is new since a commit.
//!
//! Both trees are checked as a whole and their findings compared, so that what a change breaks is found wherever it is: also
//! in a file that did not change. The base is where this branch left the commit that was named.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::report::fingerprint;
use crate::session::{Batch, Cancel, Compared, Fixed, Project, Session, why};
use locus_core::Severity;
use locus_frontends::loader::normalize;

use super::Exit;
use super::check::Asked;
use super::flags::CheckArgs;
use super::progress::Progress;

/// Leaves only the findings that the base does not have.
pub(super) fn since(
    base: &str,
    batch: &mut Batch,
    args: &CheckArgs,
    asked: &Asked,
) -> Result<(), Exit> {
    compare(base, batch, args, asked).map_err(|refused| {
        eprintln!("error: `--diff`: {}", refused.message);
        refused.exit
    })
}

struct Refused {
    message: String,
    exit: Exit,
}

fn refused(message: impl Into<String>) -> Refused {
    Refused {
        message: message.into(),
        exit: Exit::Unanswered,
    }
}

fn compare(base: &str, batch: &mut Batch, args: &CheckArgs, asked: &Asked) -> Result<(), Refused> {
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"], None)?);
    let prefix = git(&["rev-parse", "--show-prefix"], None)?;
    let named = format!("{base}^{{commit}}");
    let commit = git(
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &named,
        ],
        None,
    );
    let shallow =
        || git(&["rev-parse", "--is-shallow-repository"], None).is_ok_and(|said| said == "true");
    let commit = commit.map_err(|_| Refused {
        message: match shallow() {
            true => format!(
                "`{base}` is not a commit, branch or tag of this clone, which has only a part of the history: \
                 `git fetch --unshallow` gets the rest"
            ),
            false => format!("`{base}` is not a commit, branch or tag of this repository"),
        },
        exit: Exit::Usage,
    })?;
    // Where the branch left it; what others have done since is not of this change.
    let commit = git(&["merge-base", &commit, "HEAD"], None).unwrap_or_else(|_| {
        if shallow() {
            eprintln!(
                "note: this clone has only a part of the history, so that it is not known where this branch left `{base}`: \
                 it is compared with `{base}` as it is"
            );
        }
        commit
    });
    let folder = tempfile::Builder::new().prefix("locus-diff-").tempdir();
    let folder = folder
        .map_err(|error| refused(format!("cannot make a temporary folder: {}", why(&error))))?;
    let tree = folder.path().join("tree");
    let index = folder.path().join("index");
    check_out(&commit, &top, &tree, &index)?;
    let renames = renames(&commit, &top, &index)?;
    let before = {
        let here = tree.join(&prefix);
        std::fs::create_dir_all(&here).map_err(|error| refused(why(&error)))?;
        let there = |path: &Path| match path.strip_prefix(&top) {
            Ok(inside) if path.is_absolute() => tree.join(inside),
            _ => path.to_owned(),
        };
        let mut given = asked.given.clone();
        given.settings = given.settings.map(|path| {
            let mapped = there(Path::new(&path));
            // Settings that the base does not have are those of now.
            let exists = here.join(&mapped).exists();
            let path = if exists {
                mapped
            } else {
                std::path::absolute(&path).unwrap_or(mapped)
            };
            path.display().to_string()
        });
        let _back = Back::enter(&here)?;
        let paths = args.files.iter().map(|path| there(path));
        let paths: Vec<PathBuf> = paths.filter(|path| path.exists()).collect();
        let mut projects = Vec::new();
        for project in &asked.projects {
            let files = project.files.iter().map(|file| there(Path::new(file)));
            let files: Vec<PathBuf> = files.collect();
            if files.iter().all(|file| file.exists()) {
                let files = files.iter().map(|file| file.display().to_string());
                projects.push(Project::new(project.language, files));
            }
        }
        let work = Cancel::default();
        let _progress = Progress::of(&work);
        let session = Session::new().forgetful();
        let checked = session
            .snapshot()
            .check_all(&paths, &projects, &given, &work);
        checked.unwrap_or_default()
    };
    let renamed = |name: String| {
        let name = match Path::new(&name).strip_prefix(&tree) {
            Ok(inside) => top.join(inside).display().to_string(),
            Err(_) => name,
        };
        let from_top = match Path::new(&name).strip_prefix(&top) {
            Ok(inside) => inside.display().to_string(),
            Err(_) => normalize(&format!("{prefix}{name}")),
        };
        match renames.get(&from_top) {
            Some(new) if Path::new(&name).is_absolute() => top.join(new).display().to_string(),
            Some(new) => new.strip_prefix(&prefix).unwrap_or(new).to_owned(),
            None => name,
        }
    };
    subtract(base, batch, &before, renamed);
    Ok(())
}

/// Takes out what was there before.
fn subtract(base: &str, batch: &mut Batch, before: &Batch, renamed: impl Fn(String) -> String) {
    let old = fingerprint::all_renamed(&before.findings, &before.sources, renamed);
    let new = fingerprint::all(&batch.findings, &batch.sources);
    // What was a warning and is an error now is new.
    let severities = before.findings.iter().map(|finding| finding.severity);
    let known: HashMap<&str, Severity> = old.iter().map(String::as_str).zip(severities).collect();
    let found: HashSet<&str> = new.iter().map(String::as_str).collect();
    let fixed = before.findings.iter().zip(&old);
    let fixed = fixed.filter(|(_, print)| !found.contains(print.as_str()));
    let fixed = fixed.map(|(finding, _)| {
        let span = finding.primary();
        Fixed {
            rule: finding.code.clone(),
            message: finding.message.clone(),
            file: span.map(|span| before.sources.name(span.file).to_owned()),
            line: span.map(|span| before.sources.start(span).line),
        }
    });
    let mut compared = Compared {
        base: base.to_owned(),
        same: 0,
        fixed: fixed.collect(),
    };
    let mut prints = new.iter();
    batch.findings.retain(|finding| {
        let print = prints.next().map_or("", String::as_str);
        let is_known = known
            .get(print)
            .is_some_and(|&severity| finding.severity <= severity);
        compared.same += usize::from(is_known);
        !is_known
    });
    batch.compared = Some(compared);
}

/// Asks git; what it prints, without the last line break.
fn git(arguments: &[&str], index: Option<(&Path, &Path)>) -> Result<String, Refused> {
    let mut command = Command::new("git");
    if let Some((top, index)) = index {
        command.current_dir(top).env("GIT_INDEX_FILE", index);
    }
    let output = command.args(arguments).output();
    let output = output.map_err(|error| refused(format!("cannot start git: {}", why(&error))))?;
    if output.status.success() {
        let text = String::from_utf8_lossy(&output.stdout);
        return Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().trim_start_matches("fatal: ");
    Err(refused(format!("git says: {said}")))
}

/// Writes the files of a commit into a folder, without touching the repository's own index or files.
fn check_out(commit: &str, top: &Path, tree: &Path, index: &Path) -> Result<(), Refused> {
    let own = Some((top, index));
    git(&["read-tree", commit], own)?;
    let prefix = format!("--prefix={}/", tree.display());
    git(&["checkout-index", "--all", "--quiet", &prefix], own)?;
    std::fs::create_dir_all(tree).map_err(|error| refused(why(&error)))?;
    // Submodules that are checked out here are checked here, so that they must be there as well.
    let staged = git(&["ls-files", "--stage", "-z"], own)?;
    for entry in staged.split('\0') {
        let Some((about, path)) = entry.split_once('\t') else {
            continue;
        };
        let mut words = about.split(' ');
        let (Some("160000"), Some(commit)) = (words.next(), words.next()) else {
            continue;
        };
        let module = top.join(path);
        if !module.join(".git").exists() {
            continue;
        }
        let index = index.with_file_name(format!("index-{commit}"));
        check_out(commit, &module, &tree.join(path), &index).map_err(|_| {
            let short = commit.get(..12).unwrap_or(commit);
            refused(format!(
                "the submodule `{path}` was at {short}, which is not there: `git -C {path} fetch` gets it"
            ))
        })?;
    }
    Ok(())
}

/// What files of the base are called now, where git sees that they were renamed.
fn renames(commit: &str, top: &Path, index: &Path) -> Result<HashMap<String, String>, Refused> {
    // Files that git was not told of are part of the change, too; without them, a renamed file is one that is gone.
    let _ = git(
        &["add", "--intent-to-add", "--ignore-errors", "--", "."],
        Some((top, index)),
    );
    let mut command = Command::new("git");
    command.env("GIT_INDEX_FILE", index);
    let arguments = [
        "diff",
        "--name-status",
        "-M",
        "-z",
        "--diff-filter=R",
        commit,
        "--",
    ];
    let output = command.current_dir(top).args(arguments).output();
    let output = output.map_err(|error| refused(format!("cannot start git: {}", why(&error))))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.split('\0');
    let mut renames = HashMap::new();
    while let (Some(_), Some(old), Some(new)) = (words.next(), words.next(), words.next()) {
        renames.insert(old.to_owned(), new.to_owned());
    }
    Ok(renames)
}

/// Goes to a folder, and back at the end: files are called in both trees as the user called them.
struct Back(PathBuf);

impl Back {
    fn enter(folder: &Path) -> Result<Self, Refused> {
        let moved = std::env::current_dir().and_then(|here| {
            std::env::set_current_dir(folder)?;
            Ok(Back(here))
        });
        moved.map_err(|error| {
            refused(format!(
                "cannot enter `{}`: {}",
                folder.display(),
                why(&error)
            ))
        })
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        let _ = std::env::set_current_dir(&self.0);
    }
}
