//! How files form projects.

use super::Kind;
use crate::loader::Loader;

/// A file that a language recognised as one of its own.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its path.
    pub path: &'a str,
    /// Its kind.
    pub kind: &'static Kind,
    /// What the user named that led to it: the file itself, or a folder that it lies in.
    pub named: &'a str,
}

/// Files that are loaded and checked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The files; the first gives the project its place and its settings.
    pub files: Vec<String>,
}

impl Project {
    /// The project of one file, and what that file names.
    pub fn of(path: impl Into<String>) -> Self {
        Project {
            files: vec![path.into()],
        }
    }
}

/// Each configuration is a project of its own.
pub fn one_each(found: &[Found<'_>]) -> Vec<Project> {
    let own = found.iter().filter(|found| found.kind.is_configuration());
    own.map(|found| Project::of(found.path)).collect()
}

/// Files that change another one, such as overrides, belong to its project: `base` gives the paths that
/// the changed file may have, and the first that exists counts.
pub fn with_bases(
    found: &[Found<'_>],
    loader: &dyn Loader,
    base: impl Fn(&str) -> Option<Vec<String>>,
) -> Vec<Project> {
    let exists = |path: &String| {
        let known = found.iter().any(|other| other.path == *path);
        known || loader.kind(path) == Some(crate::loader::PathKind::File)
    };
    let mut projects: Vec<Project> = Vec::new();
    for one in found.iter().filter(|found| found.kind.is_configuration()) {
        let changed = base(one.path).and_then(|paths| paths.into_iter().find(exists));
        let project = Project::of(changed.unwrap_or_else(|| one.path.to_owned()));
        if !projects.contains(&project) {
            projects.push(project);
        }
    }
    projects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::KindRole;
    use crate::loader::MemoryLoader;

    static KIND: Kind = Kind {
        name: "test file",
        role: KindRole::Configuration,
        sign: None,
    };

    fn found(path: &str) -> Found<'_> {
        Found {
            path,
            kind: &KIND,
            named: ".",
        }
    }

    #[test]
    fn what_changes_a_file_belongs_to_its_project() {
        let base = |path: &str| Some(vec![path.strip_suffix(".more")?.to_owned()]);
        let loader = MemoryLoader::new().with("c", "");
        let all = [
            found("a"),
            found("a.more"),
            found("b.more"),
            found("c.more"),
        ];
        let projects = with_bases(&all, &loader, base);
        let files: Vec<&str> = projects.iter().map(|p| p.files[0].as_str()).collect();
        assert_eq!(files, ["a", "b.more", "c"]);
    }
}
