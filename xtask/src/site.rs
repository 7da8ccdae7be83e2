//! `cargo xtask docs`: the guides and the pages of the rules as a site, by mdBook.
//!
//! The sources of the book are the files in `docs/`, laid out anew: links between them are kept, links to files of the repository
//! become text, and a link that leads nowhere is an error. mdBook makes the pages and the search.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::{about, root};

/// Makes the site in a folder; without mdBook, or when only the sources are wanted, the sources of it.
pub(crate) fn write(folder: &Path, sources_only: bool) -> io::Result<()> {
    let book = Book::read(root())?;
    if !book.broken.is_empty() {
        return Err(io::Error::other(book.broken.join("\n")));
    }
    for (path, text) in &book.files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(about(parent))?;
        }
        fs::write(&path, text).map_err(about(&path))?;
    }
    println!(
        "wrote the sources of {} pages to {}",
        book.pages,
        folder.display()
    );
    if sources_only {
        return Ok(());
    }
    let status = Command::new("mdbook").arg("build").arg(folder).status();
    match status {
        Ok(status) if status.success() => {
            println!("the site is in {}", folder.join("book").display());
            Ok(())
        }
        Ok(status) => Err(io::Error::other(format!("mdbook ended with {status}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::other(
            "mdbook makes the pages and is not installed: `cargo install mdbook`, then run this again",
        )),
        Err(error) => Err(error),
    }
}

/// The sources of the book.
struct Book {
    /// Every file by its path.
    files: BTreeMap<PathBuf, String>,
    /// How many pages there are.
    pages: usize,
    /// Links that lead nowhere, with where they are.
    broken: Vec<String>,
}

impl Book {
    fn read(repository: &Path) -> io::Result<Self> {
        let sources = sources(repository)?;
        let texts: BTreeMap<&PathBuf, String> = sources
            .keys()
            .map(|path| {
                let full = repository.join(path);
                Ok((path, fs::read_to_string(&full).map_err(about(&full))?))
            })
            .collect::<io::Result<_>>()?;
        let anchors: BTreeMap<&PathBuf, BTreeSet<String>> = texts
            .iter()
            .map(|(path, text)| (*path, headings(text).map(|title| slug(&title)).collect()))
            .collect();
        let mut book = Book {
            files: BTreeMap::new(),
            pages: 0,
            broken: Vec::new(),
        };
        for (path, text) in &texts {
            let Some(target) = sources.get(*path) else {
                continue;
            };
            let text = if path.extension().is_some_and(|extension| extension == "md") {
                book.pages += 1;
                let mut broken = Vec::new();
                let text = with_links(text, |link| {
                    let place = Link {
                        from: path,
                        to: link,
                    };
                    match place.target(repository, &sources, &anchors) {
                        Ok(found) => found,
                        Err(why) => {
                            broken.push(format!("{}: `{link}`: {why}", path.display()));
                            Some(link.to_owned())
                        }
                    }
                });
                book.broken.extend(broken);
                text
            } else {
                text.clone()
            };
            book.files.insert(Path::new("src").join(target), text);
        }
        let title = |path: &str| {
            let text = texts.get(&PathBuf::from(path));
            text.and_then(|text| headings(text).next())
        };
        let summary = summary(&sources, title);
        book.files.insert("src/SUMMARY.md".into(), summary);
        let settings = "[book]\ntitle = \"Locus\"\nlanguage = \"en\"\n\n[output.html]\nno-section-label = true\n\n[output.html.search]\nenable = true\n";
        book.files.insert("book.toml".into(), settings.to_owned());
        Ok(book)
    }
}

/// The files of the site, by their paths in the repository, with their paths in the book.
fn sources(repository: &Path) -> io::Result<BTreeMap<PathBuf, PathBuf>> {
    let mut found = BTreeMap::new();
    found.insert(PathBuf::from("README.md"), PathBuf::from("introduction.md"));
    for folder in ["docs", "docs/rules", "docs/schemas"] {
        let full = repository.join(folder);
        for entry in fs::read_dir(&full).map_err(about(&full))? {
            let entry = entry?;
            let name = entry.file_name();
            let known = Path::new(&name)
                .extension()
                .is_some_and(|one| one == "md" || one == "json");
            if known {
                let path = Path::new(folder).join(&name);
                let target = path.strip_prefix("docs").unwrap_or(&path).to_owned();
                found.insert(path, target);
            }
        }
    }
    Ok(found)
}

/// The table of contents: the introduction, guides in the order of their titles, then all rules.
fn summary(sources: &BTreeMap<PathBuf, PathBuf>, title: impl Fn(&str) -> Option<String>) -> String {
    let mut guides = Vec::new();
    let mut rules = Vec::new();
    for (path, target) in sources {
        let (path, target) = (path.to_string_lossy(), target.to_string_lossy());
        if !path.ends_with(".md") || path == "README.md" || path == "docs/rules.md" {
            continue;
        }
        let name = title(&path).unwrap_or_else(|| target.to_string());
        let line = format!("[{}]({target})", name.replace(['[', ']', '`'], ""));
        match target.starts_with("rules/") {
            true => rules.push(line),
            false => guides.push((name, line)),
        }
    }
    guides.sort();
    let mut out = String::from("# Locus\n\n[Introduction](introduction.md)\n\n# Guides\n\n");
    for (_, line) in guides {
        let _ = writeln!(out, "- {line}");
    }
    out.push_str("\n# Rules\n\n- [All rules](rules.md)\n");
    for line in rules {
        let _ = writeln!(out, "  - {line}");
    }
    out
}

/// A link of a page.
struct Link<'a> {
    from: &'a Path,
    to: &'a str,
}

impl Link<'_> {
    /// Where it leads in the book; none when it is about a file that the book does not have.
    fn target(
        &self,
        repository: &Path,
        sources: &BTreeMap<PathBuf, PathBuf>,
        anchors: &BTreeMap<&PathBuf, BTreeSet<String>>,
    ) -> Result<Option<String>, &'static str> {
        if self.to.contains("://") || self.to.starts_with("mailto:") {
            return Ok(Some(self.to.to_owned()));
        }
        let (path, anchor) = match self.to.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (self.to, None),
        };
        let folder = self.from.parent().unwrap_or(Path::new(""));
        let path = if path.is_empty() {
            self.from.to_owned()
        } else {
            clean(&folder.join(path))
        };
        let Some(target) = sources.get(&path) else {
            return match repository.join(&path).exists() {
                true => Ok(None),
                false => Err("there is no such file"),
            };
        };
        if let Some(anchor) = anchor
            && !anchors
                .get(&path)
                .is_some_and(|known| known.contains(anchor))
        {
            return Err("there is no such heading");
        }
        let own = sources
            .get(self.from)
            .map_or(Path::new(""), PathBuf::as_path);
        let up = own.components().count().saturating_sub(1);
        let anchor = anchor
            .map(|anchor| format!("#{anchor}"))
            .unwrap_or_default();
        Ok(Some(format!(
            "{}{}{anchor}",
            "../".repeat(up),
            target.display()
        )))
    }
}

/// A path without `.` and `..`.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// The headings of a page.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let mut fenced = false;
    text.lines().filter_map(move |line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let title = line.trim_start_matches('#');
        (!fenced && line.starts_with('#') && title.starts_with(' '))
            .then(|| title.trim().to_owned())
    })
}

/// The anchor that a heading gets.
fn slug(title: &str) -> String {
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| {
        if c == ' ' {
            '-'
        } else {
            c.to_ascii_lowercase()
        }
    })
    .collect()
}

/// A page with other links; a link that is none becomes its text.
fn with_links(text: &str, mut change: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            out.push_str(line);
            continue;
        }
        let mut rest = line;
        while let Some((before, label, link, after)) = next_link(rest) {
            out.push_str(before);
            match change(link) {
                Some(link) => {
                    let _ = write!(out, "[{label}]({link})");
                }
                None => out.push_str(label),
            }
            rest = after;
        }
        out.push_str(rest);
    }
    out
}

/// What stands before a link, its label, where it leads, and what follows.
fn next_link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let mut from = 0;
    loop {
        let middle = from + text.get(from..)?.find("](")?;
        let (head, tail) = (text.get(..middle)?, text.get(middle + 2..)?);
        // Within code, brackets are brackets.
        let open = head.rfind('[');
        let close = tail.find(')');
        if let (Some(open), Some(close)) = (open, close)
            && head.get(..open)?.matches('`').count() % 2 == 0
        {
            let label = head.get(open + 1..)?;
            return Some((
                head.get(..open)?,
                label,
                tail.get(..close)?,
                tail.get(close + 1..)?,
            ));
        }
        from = middle + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_the_documentation_leads_somewhere() {
        let book = Book::read(root()).unwrap();
        assert_eq!(book.broken, Vec::<String>::new());
        assert!(book.pages > 200, "guides and rules: {}", book.pages);
        let summary = &book.files[Path::new("src/SUMMARY.md")];
        for line in summary.lines().filter_map(|line| line.split_once("](")) {
            let path = line.1.trim_end_matches(')');
            assert!(
                book.files.contains_key(&Path::new("src").join(path)),
                "{path}"
            );
        }
        // What reports link to.
        assert!(book.files.contains_key(Path::new("src/rules/HOT221.md")));
        assert!(summary.contains("(rules/HOT221.md)"));
    }

    #[test]
    fn links_are_those_of_the_book() {
        let text = "See [a](a.md), [code](../src/x.rs) and `[no](link)`.\n```\n[b](c)\n```\n";
        let mut seen = Vec::new();
        let out = with_links(text, |link| {
            seen.push(link.to_owned());
            (link == "a.md").then(|| "b.md".to_owned())
        });
        assert_eq!(seen, ["a.md", "../src/x.rs"]);
        assert_eq!(
            out,
            "See [a](b.md), code and `[no](link)`.\n```\n[b](c)\n```\n"
        );
    }
}
