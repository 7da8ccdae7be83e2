//! The inputs that a language takes: declared once, from which flags, settings, the gate and the editor are built.

use std::collections::BTreeMap;

use locus_core::{Span, suggest};

/// An input that a language takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name: the long flag, and the key under which its values are found in [`Inputs`].
    pub name: &'static str,
    /// The short flag.
    pub short: Option<char>,
    /// The key in the language's section of the settings; none when settings cannot give it.
    pub setting: Option<&'static str>,
    /// What its values are.
    pub kind: InputKind,
    /// What values are called in help: `FILE`.
    pub placeholder: &'static str,
    /// What it is for, one line without a full stop.
    pub help: &'static str,
    /// Whether it may be given several times.
    pub repeatable: bool,
}

/// What the values of an input are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// The path of a file or folder.
    Path,
    /// The path of a file; all that are given form one project of the language.
    Project,
    /// A name and a value, written `name=value`.
    Pair,
    /// One of some words; the first is what holds when none is given.
    Word(&'static [Word]),
    /// Any text.
    Text,
    /// A whole number that is not negative.
    Number,
    /// Given or not.
    Switch,
}

/// A word that an input may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// What it stands for, one line without a full stop.
    pub help: &'static str,
}

/// A value of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputValue {
    /// A path, word or other text.
    Text(String),
    /// A name and a value.
    Pair(String, String),
    /// A number.
    Number(u64),
    /// Given.
    On,
}

/// A value, and where it is written when that is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The value.
    pub value: InputValue,
    /// Where it is written.
    pub span: Option<Span>,
}

impl Input {
    /// Reads a value that was given as text.
    ///
    /// # Errors
    /// Why it is not one, in words for the user.
    pub fn parse(&self, text: &str) -> Result<InputValue, String> {
        Ok(match self.kind {
            InputKind::Path | InputKind::Project | InputKind::Text => {
                InputValue::Text(text.to_owned())
            }
            InputKind::Pair => match text.split_once('=') {
                Some((name, value)) if !name.is_empty() => {
                    InputValue::Pair(name.to_owned(), value.to_owned())
                }
                _ => return Err(format!("`{text}` is not of the form NAME=VALUE")),
            },
            InputKind::Word(words) => {
                if !words.iter().any(|known| known.word == text) {
                    return Err(self.not_a_word(text, words));
                }
                InputValue::Text(text.to_owned())
            }
            InputKind::Number => match text.parse() {
                Ok(number) => InputValue::Number(number),
                Err(_) => return Err(format!("`{text}` is not a whole number")),
            },
            InputKind::Switch => match text {
                "true" => InputValue::On,
                _ => return Err(format!("`{text}` is not `true`")),
            },
        })
    }

    fn not_a_word(&self, text: &str, words: &[Word]) -> String {
        let names = words.iter().map(|known| known.word);
        let listed: Vec<String> = names.clone().map(|word| format!("`{word}`")).collect();
        match suggest::did_you_mean(text, names) {
            Some(hint) => format!("`{text}` is not a value of `{}`; {hint}", self.name),
            None => format!(
                "`{text}` is not a value of `{}`: use {}",
                self.name,
                listed.join(" or ")
            ),
        }
    }
}

/// The values of inputs, by the names of the inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    values: BTreeMap<&'static str, Vec<Given>>,
}

impl Inputs {
    /// Adds a value; of an input that is not repeatable, the last one counts.
    pub fn add(&mut self, input: &Input, value: InputValue, span: Option<Span>) {
        let values = self.values.entry(input.name).or_default();
        if !input.repeatable {
            values.clear();
        }
        values.push(Given { value, span });
    }

    /// Adds a value that was given as text.
    ///
    /// # Errors
    /// Why it is not one, in words for the user.
    pub fn give(&mut self, input: &Input, text: &str) -> Result<(), String> {
        let value = input.parse(text)?;
        self.add(input, value, None);
        Ok(())
    }

    /// These, and then others: they come later, and replace those of inputs that are not repeatable.
    #[must_use]
    pub fn then(mut self, declared: &[Input], others: &Inputs) -> Inputs {
        for input in declared {
            for given in others.given(input.name) {
                self.add(input, given.value.clone(), given.span);
            }
        }
        self
    }

    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All values of an input.
    pub fn given(&self, name: &str) -> &[Given] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// The texts, paths or words given for an input.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.given(name)
            .iter()
            .filter_map(|given| match &given.value {
                InputValue::Text(text) => Some(text.as_str()),
                _ => None,
            })
    }

    /// The text or word given for an input that is not repeatable.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts(name).last()
    }

    /// The names and values given for an input.
    pub fn pairs(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        self.given(name)
            .iter()
            .filter_map(|given| match &given.value {
                InputValue::Pair(name, value) => Some((name.as_str(), value.as_str())),
                _ => None,
            })
    }

    /// The number given for an input.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.given(name).last()?.value {
            InputValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether a switch is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.given(name)
            .iter()
            .any(|given| given.value == InputValue::On)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Input = Input {
        name: "target",
        short: None,
        setting: Some("target"),
        kind: InputKind::Word(&[
            Word {
                word: "compose",
                help: "one",
            },
            Word {
                word: "swarm",
                help: "many",
            },
        ]),
        placeholder: "TARGET",
        help: "what it is deployed with",
        repeatable: false,
    };

    #[test]
    fn values_are_read_as_they_are_declared() {
        let pair = Input {
            name: "param",
            kind: InputKind::Pair,
            repeatable: true,
            ..TARGET
        };
        let number = Input {
            name: "nodes",
            kind: InputKind::Number,
            ..TARGET
        };
        let mut inputs = Inputs::default();
        for (input, text) in [
            (&TARGET, "compose"),
            (&TARGET, "swarm"),
            (&pair, "a=b=c"),
            (&pair, "d="),
            (&number, "3"),
        ] {
            inputs.give(input, text).unwrap();
        }
        assert_eq!(inputs.text("target"), Some("swarm"));
        assert_eq!(
            inputs.pairs("param").collect::<Vec<_>>(),
            [("a", "b=c"), ("d", "")]
        );
        assert_eq!(inputs.number("nodes"), Some(3));
        assert!(!inputs.is_on("nodes"));
        for (input, text, expected) in [
            (
                &TARGET,
                "swarn",
                "`swarn` is not a value of `target`; did you mean `swarm`?",
            ),
            (
                &TARGET,
                "x",
                "`x` is not a value of `target`: use `compose` or `swarm`",
            ),
            (&pair, "=b", "`=b` is not of the form NAME=VALUE"),
            (&number, "-1", "`-1` is not a whole number"),
        ] {
            assert_eq!(inputs.give(input, text).unwrap_err(), expected);
        }
    }

    #[test]
    fn later_values_replace_or_follow_earlier_ones() {
        let path = Input {
            name: "environment",
            kind: InputKind::Path,
            repeatable: true,
            ..TARGET
        };
        let (mut first, mut second) = (Inputs::default(), Inputs::default());
        for (inputs, file, target) in [(&mut first, "a", "compose"), (&mut second, "b", "swarm")] {
            inputs.give(&path, file).unwrap();
            inputs.give(&TARGET, target).unwrap();
        }
        let both = first.then(&[path, TARGET], &second);
        assert_eq!(both.texts("environment").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(both.texts("target").collect::<Vec<_>>(), ["swarm"]);
    }
}
