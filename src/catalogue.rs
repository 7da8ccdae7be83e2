//! Every code that a finding can have: rules, and what the program reports itself.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use locus_core::catalogue::Code;
use locus_core::{Severity, suggest};
use locus_frontends::language::Registry;
use locus_invariants::library;

/// What sessions report themselves.
static SESSION: &[Code] = &[
    Code::error(
        "free-input",
        "an input accepts values that break rules",
        "With `--all-inputs`, an input whose values are not listed breaks several rules by itself. Limit it to the values \
         that work, and those who deploy are told before anything is created.",
    )
    .as_warning(),
    Code::error(
        "ignore",
        "a comment that ignores a rule is wrong, or ignores nothing",
        "A rule is ignored by `# locus: ignore RULE -- reason`, on the line of the finding or above the block that it is in. \
         A comment that nothing needs any more hides what comes next.",
    )
    .as_warning(),
    Code::error(
        "instance",
        "it is not known whether the graph is an instance of the reference model",
        "The reference model was asked with `--as-instance` and reached a limit.",
    )
    .as_warning(),
    Code::error(
        "kind",
        "a file is not a configuration",
        "Nothing in it tells which language it is in, or it is only a part of a configuration.",
    )
    .as_warning(),
    Code::error(
        "rule",
        "a rule of the project is wrong",
        "Its doc comment or its assertion cannot be understood, so it was not checked.",
    ),
    Code::error(
        "placement",
        "it is not known whether there is a placement",
        "The search for a placement of all things reached a limit before it found one or excluded it.",
    )
    .as_warning(),
    Code::error(
        "rules",
        "there are no rules about a language",
        "The files were read but not checked.",
    )
    .as_warning(),
    Code::error(
        "settings",
        "a setting in `locus.toml` is wrong",
        "What it asks for was not done.",
    ),
];

/// What is reported about models, and about rules, which are models too.
static MODELS: &[Code] = &[
    Code::error(
        "capacity",
        "a command has more atoms or tuples than can be counted",
        "Give it a smaller scope.",
    ),
    Code::error("command", "a command is wrong", "It was not answered."),
    Code::error(
        "core",
        "constraints cannot hold together",
        "They are the smallest set that explains why a command has no instance.",
    )
    .as_warning(),
    Code::error(
        "internal",
        "the program contradicts itself",
        "This is a mistake in Locus, not in the model; please report it.",
    ),
    Code::error(
        "irrelevant",
        "an expression is always empty",
        "It is of a type that cannot contribute to the result.",
    )
    .as_warning(),
    Code::error(
        "module",
        "a module cannot be opened",
        "What it declares is not known.",
    ),
    Code::error(
        "name",
        "a name is not declared, or declared twice",
        "What it stands for is not known.",
    ),
    Code::error(
        "overflow",
        "an integer does not fit into its bits",
        "Give more bits with `for N Int`, or let integers wrap.",
    )
    .as_warning(),
    Code::error(
        "proof",
        "a proof cannot be written",
        "The answer has no certificate.",
    ),
    Code::error(
        "recursion",
        "a function or predicate calls itself",
        "A model is translated without recursion.",
    ),
    Code::error(
        "scope",
        "a scope is wrong or missing",
        "The command was not answered.",
    ),
    Code::error(
        "temporal",
        "a temporal operator is used where it cannot be",
        "The command was not answered.",
    ),
    Code::error(
        "theme",
        "a theme says what drawings do not have",
        "A line `theme: WORDS` in the doc comment of a signature says how its atoms are drawn on the page of `locus run --html`, \
         `theme FIELD: WORDS` how a field is. The word was passed over.",
    )
    .as_warning(),
    Code::error(
        "type",
        "an expression has the wrong type",
        "It has no meaning.",
    ),
];

/// A code, whoever reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its stable identifier.
    pub id: String,
    /// Its short name, usable wherever the identifier is.
    pub name: Option<String>,
    /// Other identifiers under which it is known.
    pub aliases: Vec<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub title: String,
    /// Whether a project may turn it off.
    pub optional: bool,
    /// Whether it is off unless it is asked for.
    pub opt_in: bool,
}

impl Entry {
    fn is(&self, word: &str) -> bool {
        let same = |other: &String| other.eq_ignore_ascii_case(word);
        same(&self.id) || self.name.as_ref().is_some_and(same) || self.aliases.iter().any(same)
    }
}

/// What a finding says about the text that it points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// It works and will go.
    Deprecated,
    /// It does nothing.
    Unnecessary,
}

/// How the text that a finding points at can be shown: names of rules say what is wrong.
pub fn tag(id: &str) -> Option<Tag> {
    let mut rules = locus_invariants::rules().iter();
    let name = rules.find(|rule| rule.id == id)?.name.as_str();
    let has = |words: &[&str]| name.split('-').any(|word| words.contains(&word));
    if has(&["deprecated", "obsolete"]) {
        Some(Tag::Deprecated)
    } else if has(&["unused", "redundant", "unnecessary", "ineffective"]) {
        Some(Tag::Unnecessary)
    } else {
        None
    }
}

/// Why a word cannot be used in place of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong with it.
    pub message: String,
    /// What may have been meant.
    pub help: Option<String>,
}

/// The codes that the program reports without a rule.
fn codes() -> impl Iterator<Item = &'static Code> {
    let languages = Registry::builtin();
    let languages: Vec<&'static [Code]> = languages.languages().map(|one| one.codes()).collect();
    let common = [SESSION, MODELS, locus_frontends::codes::COMMON];
    common.into_iter().chain(languages).flatten()
}

/// All codes, in the order of their identifiers; a rule that is stated in parts is there once.
pub fn entries() -> Vec<Entry> {
    let mut entries: BTreeMap<&str, Entry> = BTreeMap::new();
    for code in codes() {
        entries.entry(code.id).or_insert_with(|| Entry {
            id: code.id.to_owned(),
            name: None,
            aliases: Vec::new(),
            severity: code.severity,
            title: code.title.to_owned(),
            optional: code.optional,
            opt_in: false,
        });
    }
    for rule in locus_invariants::rules() {
        entries.entry(&rule.id).or_insert_with(|| Entry {
            id: rule.id.clone(),
            name: Some(rule.name.clone()),
            aliases: rule.aliases.clone(),
            severity: rule.severity,
            title: rule.title.clone(),
            optional: true,
            opt_in: rule.opt_in,
        });
    }
    entries.into_values().collect()
}

/// The identifier that a word stands for: of a code that a project may turn off, or of a rule of its own.
///
/// # Errors
/// Why it stands for none.
pub fn find<'a>(word: &str, own: impl Iterator<Item = &'a str> + Clone) -> Result<String, Refused> {
    if let Some(id) = own.clone().find(|id| id.eq_ignore_ascii_case(word)) {
        return Ok(id.to_owned());
    }
    let entries = entries();
    match entries.iter().find(|entry| entry.is(word)) {
        Some(entry) if entry.optional => Ok(entry.id.clone()),
        Some(entry) => Err(Refused {
            message: format!("`{}` cannot be turned off or changed", entry.id),
            help: Some("what cannot be read cannot be checked".to_owned()),
        }),
        None => {
            let own: Vec<String> = own.map(str::to_owned).collect();
            let names = entries
                .iter()
                .flat_map(|entry| [Some(&entry.id), entry.name.as_ref()]);
            let known = names.flatten().chain(&own).map(String::as_str);
            Err(Refused {
                message: format!("there is no rule `{word}`"),
                help: suggest::did_you_mean(word, known),
            })
        }
    }
}

/// Where a code is documented: its page on the site, if there is one, or what `locus explain` says.
pub fn documentation(id: &str) -> Option<String> {
    let mut rules = locus_invariants::rules().iter();
    let known = rules.any(|rule| rule.id == id) || codes().any(|code| code.id == id);
    known.then(|| page(id).unwrap_or_else(|| format!("locus explain {id}")))
}

/// The address of a rule's page on the site, which `cargo xtask docs` makes. The variable `LOCUS_SITE` says where it is served,
/// when Locus is built or when it runs; without it there is none.
pub fn page(id: &str) -> Option<String> {
    static SITE: LazyLock<Option<String>> = LazyLock::new(|| {
        let given = std::env::var("LOCUS_SITE").ok();
        let site = given.or_else(|| option_env!("LOCUS_SITE").map(str::to_owned))?;
        let site = site.trim_end_matches('/');
        // It becomes a link: nothing but an address is taken.
        let address = site.starts_with("https://") || site.starts_with("http://");
        (address && !site.contains(char::is_whitespace)).then(|| site.to_owned())
    });
    let site = SITE.as_ref()?;
    let mut rules = locus_invariants::rules().iter();
    let has_page = rules.any(|rule| rule.id == id && library::is_ours(rule));
    has_page.then(|| format!("{site}/rules/{id}.html"))
}

/// Why a rule matters, in a paragraph.
pub fn why(id: &str) -> Option<&'static str> {
    let mut rules = locus_invariants::rules().iter();
    let rule = rules.find(|rule| rule.id == id)?;
    Some(rule.why.as_str()).filter(|why| !why.is_empty())
}

/// What is to say about a code, in Markdown.
pub fn explain(word: &str) -> Option<String> {
    if let Some(page) = locus_invariants::explain(word) {
        return Some(page);
    }
    let mut codes = codes();
    let code = codes.find(|code| code.id.eq_ignore_ascii_case(word))?;
    Some(format!(
        "# {}: {}\n\nSeverity: {}. Reported while files are read.\n\n{}\n",
        code.id, code.title, code.severity, code.why
    ))
}

/// The words that [`explain`] knows.
pub fn words() -> Vec<String> {
    let entries = entries().into_iter();
    let words = entries.flat_map(|entry| std::iter::once(entry.id).chain(entry.name));
    words.collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The codes that a source file gives to diagnostics, tests apart.
    fn reported(text: &str, found: &mut Vec<String>) {
        let text = text.split("#[cfg(test)]").next().unwrap_or("");
        for start in ["Diagnostic::error(", "Diagnostic::warning("] {
            for (at, _) in text.match_indices(start) {
                let argument = text[at + start.len()..].trim_start();
                if let Some(code) = argument.strip_prefix('"') {
                    found.push(code.split('"').next().unwrap().to_owned());
                }
            }
        }
    }

    fn visit(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                visit(&path, found);
            } else if name.ends_with(".rs") && !name.contains("test") {
                reported(&std::fs::read_to_string(&path).unwrap(), found);
            }
        }
    }

    #[test]
    fn every_code_in_the_sources_is_known() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = Vec::new();
        for folder in [
            "core",
            "grammar",
            "solver",
            "frontends",
            "frontends/yaml",
            "invariants",
            ".",
        ] {
            visit(&root.join(folder).join("src"), &mut found);
        }
        assert!(found.len() > 50, "the sources are read");
        let entries = entries();
        found.retain(|code| !entries.iter().any(|entry| entry.is(code)));
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn each_code_is_documented_and_explained() {
        for entry in entries() {
            assert!(documentation(&entry.id).is_some(), "{}", entry.id);
            let page = explain(&entry.id).expect("it has a page");
            assert!(page.starts_with(&format!("# {}", entry.id)), "{page}");
        }
    }

    #[test]
    fn what_cannot_be_read_cannot_be_ignored() {
        let find = |word| find(word, std::iter::empty());
        assert_eq!(find("hot221").unwrap(), "HOT221");
        assert!(
            find("encoding")
                .unwrap_err()
                .message
                .contains("cannot be turned off")
        );
        let unknown = find("HOT22l").unwrap_err();
        assert!(unknown.help.unwrap().starts_with("did you mean"));
    }
}
