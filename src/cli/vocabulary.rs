//! `locus vocabulary`: what rules about a language can mention.

use locus_core::suggest;
use locus_core::vocabulary::Vocabulary;
use locus_frontends::language::Registry;

use super::flags::VocabularyArgs;
use super::{Exit, print};

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
    let vocabulary = language.vocabulary();
    match &args.name {
        None => list(&vocabulary),
        Some(name) => match vocabulary.sig(name) {
            Some(sig) => print(&sig.to_als()),
            None => {
                let names = vocabulary.names();
                let help = suggest::did_you_mean(name, names.iter().map(String::as_str));
                let help = help.map_or_else(String::new, |help| format!("{help} "));
                eprintln!(
                    "error: there is no signature `{name}`; {help}`locus vocabulary {wanted}` lists all"
                );
                return Exit::Usage;
            }
        },
    }
    Exit::Clean
}

fn list(vocabulary: &Vocabulary) {
    let mut out = String::new();
    for name in vocabulary.names() {
        if let Some(sig) = vocabulary.sig(&name) {
            out.push_str(&format!("{name}: {}\n", sig.doc));
        }
    }
    print(&out);
}
