//! `locus vocabulary`: what rules about a language can mention.

use std::fmt::Write as _;
use std::sync::Arc;

use locus_core::vocabulary::{Sig, Vocabulary, identifier};
use locus_core::{Sources, suggest};
use locus_frontends::language::{Described, Registry, Request};
use locus_frontends::loader::Loader as _;
use locus_invariants::library;
use locus_invariants::rules::Rule;

use crate::report::frame;
use crate::session::Session;

use super::flags::VocabularyArgs;
use super::{Exit, print};

/// The module with the predicates over values, which rules of every language can open.
const VALUES: &str = "values";

/// Lists the signatures of a language, or prints one with its fields.
pub(crate) fn vocabulary(args: &VocabularyArgs) -> Exit {
    let registry = Registry::builtin();
    let wanted = args.language.as_str();
    let language = registry.with_section(wanted).or(registry.named(wanted));
    let Some(language) = language else {
        let known = registry.languages().map(|language| language.section());
        let known: Vec<&str> = known.collect();
        let help = suggest::did_you_mean(wanted, known.iter().copied());
        let help = help.unwrap_or_else(|| format!("the languages are {}", known.join(", ")));
        eprintln!("error: there is no language `{wanted}`; {help}");
        return Exit::Usage;
    };
    let name = args.name.as_deref();
    let (mut request, mut sources) = (Request::default(), Sources::new());
    let snapshot = Session::new().forgetful().snapshot();
    let mut vocabulary = language.vocabulary();
    let mut unread = Vec::new();
    if let Some(file) = &args.file {
        let path = file.display().to_string();
        if let Err(error) = snapshot.files().load(&path) {
            eprintln!("error: cannot read `{path}`: {}", error.reason);
            return Exit::Unanswered;
        }
        request.files = vec![file.display().to_string()];
        let words = name
            .into_iter()
            .flat_map(|name| [name.to_owned(), identifier(name)]);
        request.mentioned = Arc::new(words.collect());
        let loaded = language.load(&request, snapshot.files(), &mut sources);
        vocabulary = vocabulary.with(loaded.declared);
    }
    let (described, wrong) = language.describe(name, &request, snapshot.files(), &mut sources);
    unread.extend(wrong);
    let pages = || (!described.pages.is_empty()).then(|| described.pages.join("\n\n"));
    let page = match name {
        None => Some(list(&vocabulary, &described, wanted)),
        Some(VALUES) => Some(values()),
        Some(name) => {
            let known = [name.to_owned(), identifier(name)];
            let known = known.iter().find(|name| vocabulary.sig(name).is_some());
            match known {
                // What a language describes itself, it describes better than what it declares.
                Some(name) if vocabulary.facts().sig(name).is_some() => of(&vocabulary, name),
                Some(known) => pages().or_else(|| of(&vocabulary, known)),
                None => pages().or_else(|| of(&vocabulary, name)),
            }
        }
    };
    let Some(page) = page else {
        unread.iter().for_each(|one| frame::print(one, &sources));
        let name = name.unwrap_or("");
        let names = vocabulary.names();
        let names = names.iter().chain(described.names.keys());
        let help = suggest::did_you_mean(name, names.map(String::as_str));
        let help = help.map_or_else(String::new, |help| format!("{help} "));
        eprintln!(
            "error: there is no signature, field or type `{name}`; {help}`locus vocabulary {wanted}` lists all"
        );
        return Exit::Usage;
    };
    print(&page);
    Exit::Clean
}

fn list(vocabulary: &Vocabulary, described: &Described, language: &str) -> String {
    let mut out = String::new();
    for name in vocabulary.names() {
        if let Some(sig) = vocabulary.sig(&name) {
            let _ = writeln!(out, "{name}: {}", sig.doc);
        }
    }
    if !described.names.is_empty() {
        out += "\ntypes:\n";
        for (name, what) in &described.names {
            let _ = writeln!(out, "{name}: {what}");
        }
    }
    let _ = writeln!(
        out,
        "\n`locus vocabulary {language} NAME` prints a signature with its fields and a rule that uses it, or the signatures with a field;\n`locus vocabulary {language} {VALUES}` the predicates over numbers, addresses and texts"
    );
    out
}

/// A signature with all its fields and an example, or the signatures that have a field.
fn of(vocabulary: &Vocabulary, name: &str) -> Option<String> {
    let mut out = String::new();
    match vocabulary.sig(name) {
        Some(sig) => {
            out.push_str(&sig.to_als());
            let mut parent = parent(vocabulary, &sig);
            while let Some(above) = parent {
                if !above.fields.is_empty() {
                    let _ = write!(out, "\n{}", above.to_als());
                }
                parent = self::parent(vocabulary, &above);
            }
            let names = vocabulary.names();
            let extends = names.iter().filter(|other| {
                let other = vocabulary.sig(other);
                other.is_some_and(|other| other.parent.as_deref() == Some(name))
            });
            let extends: Vec<&str> = extends.map(String::as_str).collect();
            if !extends.is_empty() {
                let _ = writeln!(out, "\n// signatures in it: {}", extends.join(", "));
            }
        }
        None => {
            let all = vocabulary.names();
            let all = all.iter().filter_map(|sig| vocabulary.sig(sig));
            for sig in all {
                let mut having = sig.clone();
                having.fields.retain(|field| field.name == name);
                let Some(field) = having.fields.first() else {
                    continue;
                };
                let declared = having.to_als();
                let mut lines = declared.lines().map(str::trim);
                let column = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                let (sig, column) = (&having.name, column.unwrap_or("univ"));
                let _ = writeln!(out, "{sig}.{name}: {column} // {}", field.doc);
            }
            if out.is_empty() {
                return None;
            }
        }
    }
    match example(vocabulary.language(), name) {
        Some(rule) => {
            let _ = write!(
                out,
                "\n// {}: {}\n{}\n",
                rule.id,
                rule.title,
                rule.text.trim()
            );
        }
        None => {
            if let Some(sig) = vocabulary.sig(name) {
                let _ = write!(out, "\n// for example\n{}", made_up(&sig));
            }
        }
    }
    Some(out)
}

fn parent(vocabulary: &Vocabulary, sig: &Sig) -> Option<Sig> {
    vocabulary.sig(sig.parent.as_deref()?)
}

/// The shortest rule that mentions a name.
fn example(language: &str, name: &str) -> Option<&'static Rule> {
    let mentions = |text: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        text.split(|c| !is_part(c)).any(|word| word == name)
    };
    let rules = library::builtin().rules().iter();
    rules
        .filter(|rule| rule.language == language && mentions(&rule.text))
        .min_by_key(|rule| (rule.text.len(), &rule.id))
}

/// A rule about a signature that no rule of the library mentions.
fn made_up(sig: &Sig) -> String {
    let field = sig.fields.first().map(|field| field.name.as_ref());
    match field {
        Some(field) => format!(
            "assert Example {{ all x: {} | some x.{field} }}\n",
            sig.name
        ),
        None => format!("assert Example {{ no {} }}\n", sig.name),
    }
}

/// The predicates over values, each with what it says.
fn values() -> String {
    let mut sources = library::builtin().sources().iter();
    let module = sources.find(|source| source.module == VALUES);
    let text = module.map_or("", |source| source.text.as_str());
    let mut out = String::from("open values\n");
    let mut doc = "";
    for line in text.lines() {
        if line.starts_with("/** ") {
            doc = line;
        } else if (line.starts_with("pred ") || line.starts_with("fun ")) && !doc.is_empty() {
            let head = line.split(" {").next().unwrap_or(line);
            let _ = write!(out, "\n{doc}\n{head}\n");
            doc = "";
        }
    }
    if let Some(rule) = library::builtin()
        .rules()
        .iter()
        .filter(|rule| rule.text.contains("contains["))
        .min_by_key(|rule| (rule.text.len(), &rule.id))
    {
        let _ = write!(
            out,
            "\n// {}: {}\n{}\n",
            rule.id,
            rule.title,
            rule.text.trim()
        );
    }
    out
}
