//! Environment files that give chosen values to variables, and enable profiles.

use locus_core::value::Value;
use locus_core::{Sources, Span};

use super::environment::{Environment, Setting};
use super::language::PROFILE;
use crate::language::{Chosen, Request, Witness};
use crate::loader::{self, Loader};

/// The variable that enables profiles.
const PROFILES: &str = "COMPOSE_PROFILES";

/// A file that gives these values, beside those that a project is loaded with.
pub(super) fn witness(chosen: &[Chosen], request: &Request, loader: &dyn Loader) -> Witness {
    let mut beside = Vec::new();
    let mut text = String::new();
    let mut profiles: Vec<&str> = Vec::new();
    for Chosen { name, value } in chosen {
        match (name.strip_prefix(PROFILE), value) {
            (Some(profile), Value::Bool(true)) => profiles.push(profile),
            (Some(_), _) => {}
            (None, value) => text += &format!("{name}={}\n", quoted(&value.to_string())),
        }
    }
    let mut files: Vec<String> = request
        .inputs
        .texts("env-file")
        .map(str::to_owned)
        .collect();
    if files.is_empty() {
        let first = request.files.first().map_or("", String::as_str);
        // A file that is named is read in place of this one.
        let own = loader::join(loader::directory(first), ".env");
        if loader.load(&own).is_ok() {
            beside.extend(["--env-file".to_owned(), own.clone()]);
            files.push(own);
        }
    }
    if !profiles.is_empty() {
        let mut environment = Environment::default();
        for (name, value) in &request.variables {
            let text = value.as_str().into();
            environment.or_insert(name.as_str(), Setting { text, span: None });
        }
        match environment.get(PROFILES).is_some() {
            // What the shell says counts, not what a file says.
            true => {
                for profile in profiles {
                    beside.extend(["--profile".to_owned(), profile.to_owned()]);
                }
            }
            false => {
                let known = enabled(environment, &files, loader);
                let known = known
                    .split(',')
                    .map(str::trim)
                    .filter(|one| !one.is_empty());
                let all: Vec<&str> = known.chain(profiles).collect();
                text += &format!("{PROFILES}={}\n", quoted(&all.join(",")));
            }
        }
    }
    Witness {
        beside,
        flag: "--env-file",
        extension: "env",
        comment: "#",
        text,
    }
}

/// The profiles that environment files enable.
fn enabled(mut environment: Environment, files: &[String], loader: &dyn Loader) -> String {
    let mut sources = Sources::new();
    for path in files.iter().rev() {
        let Ok(bytes) = loader.load(path) else {
            continue;
        };
        let (file, _) = sources.add_bytes(path, &bytes);
        let text = sources.shared_text(file);
        let span = |range: std::ops::Range<usize>| Span::new(file, range.start, range.end);
        environment.read_file(&text, span, &mut Vec::new());
    }
    let enabled = environment.get(PROFILES);
    enabled.map_or_else(String::new, |setting| setting.text.to_string())
}

/// A value in quotes, in which nothing is replaced.
fn quoted(value: &str) -> String {
    if !value.contains(['\'', '\\']) {
        return format!("'{value}'");
    }
    let mut out = String::from('"');
    for c in value.chars() {
        match c {
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '"' | '\\' | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::MemoryLoader;
    use std::sync::Arc;

    #[test]
    fn every_value_is_read_as_it_was_chosen() {
        let values = [
            "",
            "plain",
            "it's",
            "a\\",
            "'$A' \\$ \"b\"",
            "two\nlines",
            "# no comment",
            " blank ",
            "${A:-x}",
            "é\u{301}",
        ];
        let chosen: Vec<Chosen> = values
            .iter()
            .enumerate()
            .map(|(at, value)| Chosen {
                name: Arc::from(format!("V{at}")),
                value: Value::str(*value),
            })
            .collect();
        let text = witness(&chosen, &Request::default(), &MemoryLoader::new()).text;
        let mut environment = Environment::default();
        let mut sources = Sources::new();
        let file = sources.add("w.env", text.as_str());
        let mut wrong = Vec::new();
        let span = |range: std::ops::Range<usize>| Span::new(file, range.start, range.end);
        environment.read_file(&text, span, &mut wrong);
        assert_eq!(wrong, []);
        for (at, value) in values.iter().enumerate() {
            let read = environment.get(&format!("V{at}"));
            assert_eq!(read.map(|read| &*read.text), Some(*value), "{text}");
        }
    }

    #[test]
    fn what_is_read_by_default_and_enabled_already_stays() {
        let loader = MemoryLoader::new().with("shop/.env", "COMPOSE_PROFILES=a\nSECRET=s\n");
        let chosen = [Chosen {
            name: "profile b".into(),
            value: Value::Bool(true),
        }];
        let mut request = Request {
            files: vec!["shop/compose.yaml".to_owned()],
            ..Request::default()
        };
        let made = witness(&chosen, &request, &loader);
        assert_eq!(made.beside, ["--env-file", "shop/.env"]);
        assert_eq!(made.text, "COMPOSE_PROFILES='a,b'\n");
        request.variables = vec![("COMPOSE_PROFILES".to_owned(), "c".to_owned())];
        let made = witness(&chosen, &request, &loader);
        assert_eq!(made.beside, ["--env-file", "shop/.env", "--profile", "b"]);
        assert_eq!(made.text, "");
    }
}
