//! The environment of a project: values of variables, and what the files ask of them.

use std::sync::Arc;

use locus_core::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dotenv;
use super::template::{self, Malformed, Part, Rule, Template};

/// Variables that have a value.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    values: FxHashMap<Arc<str>, Setting>,
    /// Variables that are known to have no value.
    unset: FxHashSet<Arc<str>>,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value.
    pub text: Arc<str>,
    /// Where it is written, when it comes from an environment file.
    pub span: Option<Span>,
}

impl Environment {
    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.values.get(name)
    }

    /// Notes that a variable has no value, whatever may be given for others.
    pub fn unset(&mut self, name: impl Into<Arc<str>>) {
        self.unset.insert(name.into());
    }

    /// Gives a variable a value, unless it has one.
    pub fn or_insert(&mut self, name: impl Into<Arc<str>>, setting: Setting) {
        self.values.entry(name.into()).or_insert(setting);
    }

    /// Adds the variables of an environment file; what is set already stays, as the shell wins over
    /// files. Of a name written twice in the file the last counts.
    pub fn read_file(
        &mut self,
        text: &str,
        span_of: impl Fn(std::ops::Range<usize>) -> Span,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut own: FxHashMap<Arc<str>, Setting> = FxHashMap::default();
        for (name, setting) in read_env_file(text, self, span_of, diagnostics) {
            own.insert(name, setting);
        }
        for (name, setting) in own {
            self.or_insert(name, setting);
        }
    }
}

/// The variables of an environment file, in order; those without a value in the file take that of
/// the environment, or are left out.
pub fn read_env_file(
    text: &str,
    environment: &Environment,
    span_of: impl Fn(std::ops::Range<usize>) -> Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Arc<str>, Setting)> {
    let (lines, bad) = dotenv::parse(text);
    for line in bad {
        diagnostics.push(
            Diagnostic::error("compose-env-file", line.reason)
                .at(span_of(line.range))
                .help("write one `NAME=value` per line"),
        );
    }
    let mut seen = Environment::default();
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let span = span_of(line.key_range.clone());
        let value: Arc<str> = match line.value {
            None => match environment.get(&line.key) {
                Some(setting) => setting.text.clone(),
                None => continue,
            },
            Some(raw) if raw.interpolate && raw.text.contains('$') => {
                match template::parse(&raw.text) {
                    Ok(template) => {
                        let mut value = String::new();
                        expand(
                            &template,
                            &|name| {
                                environment
                                    .get(name)
                                    .or_else(|| seen.get(name))
                                    .map(|setting| setting.text.clone())
                            },
                            &mut value,
                        );
                        value.into()
                    }
                    Err(error) => {
                        diagnostics.push(
                            malformed(&error, &raw.text, span_of(raw.range))
                                .help("to write a `$` itself, put the value in single quotes"),
                        );
                        continue;
                    }
                }
            }
            Some(raw) => raw.text.into(),
        };
        let setting = Setting {
            text: value,
            span: Some(span),
        };
        let key: Arc<str> = line.key.into();
        seen.values.insert(key.clone(), setting.clone());
        out.push((key, setting));
    }
    out
}

/// The diagnostic for a `$` that begins nothing.
pub fn malformed(error: &Malformed, text: &str, span: Span) -> Diagnostic {
    let bad = text.get(error.range.clone()).unwrap_or("$");
    Diagnostic::error(
        "compose-interpolation",
        format!("`{bad}` is not a variable: {}", error.reason),
    )
    .at(span)
    .help("to write a `$` itself, double it: `$$`")
}

/// Replaces variables by values, those without one by nothing.
fn expand(template: &Template<'_>, lookup: &impl Fn(&str) -> Option<Arc<str>>, out: &mut String) {
    for part in &template.parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Variable(variable) => {
                let value = lookup(variable.name)
                    .filter(|value| !(variable.empty_is_unset && value.is_empty()));
                match (&variable.rule, value) {
                    (Rule::Alternative(_), None) => {}
                    (Rule::Alternative(then), Some(_)) => expand(then, lookup, out),
                    (_, Some(value)) => out.push_str(&value),
                    (Rule::Default(otherwise), None) => expand(otherwise, lookup, out),
                    (Rule::Plain | Rule::Required(_), None) => {}
                }
            }
        }
    }
}

/// A variable that the files use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is used; the first is where it is introduced.
    pub uses: Vec<Span>,
    /// The value given for it.
    pub given: Option<Setting>,
    /// The default of its first use that has one.
    pub default: Option<Arc<str>>,
    /// Where a use refuses to go on without a value, and its message.
    pub required: Option<(Span, Arc<str>)>,
}

/// The variables that the files use, in the order of their first use.
#[derive(Clone, Debug, Default)]
pub struct Usages {
    list: Vec<Usage>,
    by_name: FxHashMap<Arc<str>, usize>,
}

impl Usages {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Usage> {
        self.list.iter()
    }

    /// One of them by name.
    pub fn get(&self, name: &str) -> Option<&Usage> {
        self.by_name
            .get(name)
            .and_then(|&index| self.list.get(index))
    }

    fn usage(&mut self, name: &str, span: Span, environment: &Environment) -> Option<&mut Usage> {
        let index = match self.by_name.get(name) {
            Some(&index) => index,
            None => {
                let name: Arc<str> = name.into();
                self.list.push(Usage {
                    name: name.clone(),
                    uses: Vec::new(),
                    given: environment.get(&name).cloned(),
                    default: None,
                    required: None,
                });
                self.by_name.insert(name, self.list.len() - 1);
                self.list.len() - 1
            }
        };
        let usage = self.list.get_mut(index)?;
        usage.uses.push(span);
        Some(usage)
    }
}

/// Stands in a pattern for what is not known.
pub const HOLE: char = '\u{1}';

/// What became of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// The text as Compose makes it.
    pub text: String,
    /// The same, with a [`HOLE`] for each variable without a value.
    pub pattern: String,
    /// The variables without a value that it depends on.
    pub open: Vec<Arc<str>>,
}

/// Replaces the variables of a template and records their use. With `all_inputs`, a default does not
/// fix a variable: any value may be given.
pub fn replace(
    template: &Template<'_>,
    environment: &Environment,
    usages: &mut Usages,
    all_inputs: bool,
    span_of: &impl Fn(std::ops::Range<usize>) -> Span,
) -> Replaced {
    let mut out = Replaced::default();
    replace_into(template, environment, usages, all_inputs, span_of, &mut out);
    out
}

fn replace_into(
    template: &Template<'_>,
    environment: &Environment,
    usages: &mut Usages,
    all_inputs: bool,
    span_of: &impl Fn(std::ops::Range<usize>) -> Span,
    out: &mut Replaced,
) {
    for part in &template.parts {
        let variable = match part {
            Part::Text(text) => {
                out.text.push_str(text);
                out.pattern.push_str(text);
                continue;
            }
            Part::Variable(variable) => variable,
        };
        let span = span_of(variable.range.clone());
        let given = environment.get(variable.name).map(|s| s.text.clone());
        let name: Arc<str> = match usages.usage(variable.name, span, environment) {
            Some(usage) => {
                let literal = |template: &Template<'_>| {
                    let mut text = String::new();
                    expand(template, &|_| None, &mut text);
                    Arc::<str>::from(text)
                };
                match &variable.rule {
                    Rule::Default(text) if usage.default.is_none() => {
                        usage.default = Some(literal(text));
                    }
                    // Nothing is missing without a value: the text is then left out.
                    Rule::Alternative(_) if usage.default.is_none() => {
                        usage.default = Some("".into());
                    }
                    Rule::Required(text) if usage.required.is_none() => {
                        usage.required = Some((span, literal(text)));
                    }
                    _ => {}
                }
                usage.name.clone()
            }
            None => variable.name.into(),
        };
        let known = given.is_some() || environment.unset.contains(variable.name);
        let value = given.filter(|value| !(variable.empty_is_unset && value.is_empty()));
        let before = out.pattern.len();
        let mut again = |template: &Template<'_>, out: &mut Replaced| {
            replace_into(template, environment, usages, all_inputs, span_of, out);
        };
        let fixed = match (&variable.rule, value) {
            (Rule::Alternative(then), Some(_)) => {
                again(then, out);
                true
            }
            (Rule::Alternative(_), None) => known || !all_inputs,
            (_, Some(value)) => {
                out.text.push_str(&value);
                out.pattern.push_str(&value);
                true
            }
            (Rule::Default(otherwise), None) => {
                again(otherwise, out);
                known || !all_inputs
            }
            (Rule::Plain, None) => known,
            (Rule::Required(_), None) => false,
        };
        if !fixed {
            out.pattern.truncate(before);
            out.pattern.push(HOLE);
            if !out.open.contains(&name) {
                out.open.push(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::Sources;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        let mut environment = Environment::default();
        for (name, value) in pairs {
            let text = (*value).into();
            environment.or_insert(*name, Setting { text, span: None });
        }
        environment
    }

    fn replaced(text: &str, all_inputs: bool) -> (String, Vec<String>) {
        let file = Sources::new().add("f", text);
        let environment = environment(&[("SET", "v"), ("EMPTY", "")]);
        let mut usages = Usages::default();
        let template = template::parse(text).unwrap();
        let span_of = |range: std::ops::Range<usize>| Span::new(file, range.start, range.end);
        let out = replace(&template, &environment, &mut usages, all_inputs, &span_of);
        let open = out.open.iter().map(|name| name.to_string()).collect();
        (out.text, open)
    }

    #[test]
    fn variables_are_replaced_as_compose_replaces_them() {
        let known = |text: &str| (text.to_owned(), vec![]);
        let open = |text: &str, name: &str| (text.to_owned(), vec![name.to_owned()]);
        assert_eq!(replaced("a-${SET}-$$", false), known("a-v-$"));
        assert_eq!(replaced("[${EMPTY}]", false), known("[]"));
        assert_eq!(replaced("${EMPTY:-d}${EMPTY-e}", false), known("d"));
        assert_eq!(replaced("${NONE:-${SET}x}", false), known("vx"));
        assert_eq!(replaced("${SET:+y}${EMPTY:+z}", false), known("y"));
        assert_eq!(replaced("a${NONE:+z}", false), known("a"));
        assert_eq!(replaced("a${NONE+z}", true), open("a", "NONE"));
        assert_eq!(replaced("a${NONE}", false), open("a", "NONE"));
        assert_eq!(replaced("${NONE:?set it}", false), open("", "NONE"));
        assert_eq!(replaced("${EMPTY:?set it}", false), open("", "EMPTY"));
        assert_eq!(replaced("${NONE:-d}", true), open("d", "NONE"));
        assert_eq!(replaced("${SET:-d}", true), known("v"));
    }

    #[test]
    fn the_shell_wins_over_files_and_files_see_earlier_lines() {
        let mut sources = Sources::new();
        let text = "A=file\nB=${A}-${C:-c}\nD='$A'\nSET=other\nSHELL_ONLY\nMISSING\n";
        let file = sources.add(".env", text);
        let mut env = environment(&[("SET", "shell"), ("SHELL_ONLY", "s")]);
        let mut diagnostics = Vec::new();
        env.read_file(
            text,
            |range| Span::new(file, range.start, range.end),
            &mut diagnostics,
        );
        assert_eq!(diagnostics, []);
        let get = |name: &str| env.get(name).map(|setting| setting.text.to_string());
        assert_eq!(get("B").as_deref(), Some("file-c"));
        assert_eq!(get("D").as_deref(), Some("$A"));
        assert_eq!(get("SET").as_deref(), Some("shell"));
        assert_eq!(get("SHELL_ONLY").as_deref(), Some("s"));
        assert_eq!(get("MISSING"), None);
    }
}
