//! What a project asks of its objects beyond what is wrong for everybody: the parameters of rules.
//!
//! `[kubernetes.policy]` of the settings gives them; each has a default. They are stated as facts of the one `Policy`, so a rule
//! reads them like anything else.

use std::collections::BTreeMap;

use locus_core::value::{Field, Item, Value};
use locus_core::values::pattern;
use locus_core::values::quantity::Quantity;
use locus_core::{Diagnostic, suggest};
use serde_json::json;

/// What the value of a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A whole number.
    Number,
    /// Whole numbers.
    Numbers,
    /// An amount, as in `250m`.
    Quantity,
    /// Texts.
    Words,
    /// Regular expressions.
    Patterns,
    /// Names, and a regular expression for each.
    Table,
}

/// A parameter of rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) key: &'static str,
    pub(super) shape: Shape,
    /// Names, empty but for a table, and values.
    default: &'static [(&'static str, &'static str)],
}

/// All parameters.
pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        key: "replicas",
        shape: Shape::Number,
        default: &[("", "3")],
    },
    Parameter {
        key: "autoscaler-replicas",
        shape: Shape::Number,
        default: &[("", "3")],
    },
    Parameter {
        key: "spread-replicas",
        shape: Shape::Number,
        default: &[("", "2")],
    },
    Parameter {
        key: "spread-topology-keys",
        shape: Shape::Patterns,
        default: &[("", ".")],
    },
    Parameter {
        key: "cpu-requirements",
        shape: Shape::Words,
        default: &[("", "request")],
    },
    Parameter {
        key: "cpu-least",
        shape: Shape::Quantity,
        default: &[],
    },
    Parameter {
        key: "cpu-most",
        shape: Shape::Quantity,
        default: &[],
    },
    Parameter {
        key: "memory-requirements",
        shape: Shape::Words,
        default: &[("", "limit")],
    },
    Parameter {
        key: "memory-least",
        shape: Shape::Quantity,
        default: &[],
    },
    Parameter {
        key: "memory-most",
        shape: Shape::Quantity,
        default: &[],
    },
    Parameter {
        key: "dropped-capabilities",
        shape: Shape::Words,
        default: &[("", "NET_RAW")],
    },
    Parameter {
        key: "capability-exceptions",
        shape: Shape::Words,
        default: &[],
    },
    Parameter {
        key: "denied-images",
        shape: Shape::Patterns,
        default: &[("", ":latest$"), ("", "^[^@:]*(:[0-9]+/[^@:]*)?$")],
    },
    Parameter {
        key: "allowed-images",
        shape: Shape::Patterns,
        default: &[],
    },
    Parameter {
        key: "secret-variables",
        shape: Shape::Patterns,
        default: &[("", "(?i)(secret|password|passwd)")],
    },
    Parameter {
        key: "service-types",
        shape: Shape::Words,
        default: &[("", "NodePort"), ("", "LoadBalancer")],
    },
    Parameter {
        key: "priority-classes",
        shape: Shape::Words,
        default: &[
            ("", "system-cluster-critical"),
            ("", "system-node-critical"),
        ],
    },
    Parameter {
        key: "dns-options",
        shape: Shape::Table,
        default: &[("ndots", "^2$")],
    },
    Parameter {
        key: "needed-labels",
        shape: Shape::Table,
        default: &[("owner", "")],
    },
    Parameter {
        key: "needed-annotations",
        shape: Shape::Table,
        default: &[("email", "^[a-zA-Z0-9_.+-]+@[a-zA-Z0-9-]+[.][a-zA-Z0-9-.]+$")],
    },
    Parameter {
        key: "forbidden-annotations",
        shape: Shape::Table,
        default: &[],
    },
    Parameter {
        key: "pull-policies",
        shape: Shape::Words,
        default: &[],
    },
    Parameter {
        key: "claim-annotations",
        shape: Shape::Words,
        default: &[],
    },
    Parameter {
        key: "host-paths",
        shape: Shape::Patterns,
        default: &[("", "^/$"), ("", "^/(boot|dev|etc|lib|proc|sys|usr)(/|$)")],
    },
    Parameter {
        key: "runtime-sockets",
        shape: Shape::Patterns,
        default: &[("", "(docker|containerd|crio)[.]sock$")],
    },
    Parameter {
        key: "safe-sysctls",
        shape: Shape::Words,
        default: &[],
    },
    Parameter {
        key: "remote-shell-ports",
        shape: Shape::Numbers,
        default: &[("", "22")],
    },
    Parameter {
        key: "default-accounts",
        shape: Shape::Patterns,
        default: &[("", "^default$")],
    },
    Parameter {
        key: "workload-resources",
        shape: Shape::Patterns,
        default: &[
            ("", "^pods$"),
            ("", "^deployments$"),
            ("", "^statefulsets$"),
            ("", "^replicasets$"),
            ("", "^cronjobs?$"),
            ("", "^jobs$"),
            ("", "^daemonsets$"),
        ],
    },
    Parameter {
        key: "workload-verbs",
        shape: Shape::Patterns,
        default: &[("", "^create$")],
    },
    Parameter {
        key: "secret-resources",
        shape: Shape::Patterns,
        default: &[("", "^secrets$")],
    },
    Parameter {
        key: "secret-verbs",
        shape: Shape::Patterns,
        default: &[
            ("", "^get$"),
            ("", "^list$"),
            ("", "^delete$"),
            ("", "^create$"),
            ("", "^watch$"),
            ("", "^[*]$"),
        ],
    },
    Parameter {
        key: "update-strategies",
        shape: Shape::Patterns,
        default: &[("", "^RollingUpdate$")],
    },
    Parameter {
        key: "restart-policies",
        shape: Shape::Words,
        default: &[("", "Always"), ("", "OnFailure")],
    },
    Parameter {
        key: "ignored-secrets",
        shape: Shape::Patterns,
        default: &[],
    },
    Parameter {
        key: "ignored-config-maps",
        shape: Shape::Patterns,
        default: &[],
    },
    Parameter {
        key: "forbidden-kinds",
        shape: Shape::Patterns,
        default: &[],
    },
];

/// What `[kubernetes.policy]` may be, as a JSON schema.
pub(super) fn schema() -> serde_json::Value {
    let list = |one: serde_json::Value| json!({ "type": "array", "items": one });
    let keys = PARAMETERS.iter().map(|parameter| {
        let mut one = match parameter.shape {
            Shape::Number => json!({ "type": "integer", "minimum": 0 }),
            Shape::Numbers => list(json!({ "type": "integer", "minimum": 0 })),
            Shape::Quantity => json!({ "type": ["string", "integer"] }),
            Shape::Words | Shape::Patterns => list(json!({ "type": "string" })),
            Shape::Table => {
                json!({ "type": "object", "additionalProperties": { "type": "string" } })
            }
        };
        let what = match parameter.shape {
            Shape::Number => "A number",
            Shape::Numbers => "Numbers",
            Shape::Quantity => "An amount, as in `250m`",
            Shape::Words => "Words",
            Shape::Patterns => "Regular expressions",
            Shape::Table => "Names, and a regular expression for each",
        };
        let defaults = parameter.default.iter().map(|(name, value)| match *name {
            "" => format!("`{value}`"),
            name => format!("`{name} = \"{value}\"`"),
        });
        let defaults: Vec<String> = defaults.collect();
        let default = match defaults.is_empty() {
            true => String::new(),
            false => format!("; {} by default", defaults.join(", ")),
        };
        if let Some(one) = one.as_object_mut() {
            one.insert("description".to_owned(), format!("{what}{default}").into());
        }
        (parameter.key.to_owned(), one)
    });
    let keys: serde_json::Map<String, serde_json::Value> = keys.collect();
    json!({ "type": "object", "properties": keys, "additionalProperties": false })
}

/// The parameters that a project gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    given: BTreeMap<&'static str, Vec<(String, String)>>,
}

impl Policy {
    /// Reads `[kubernetes.policy]`.
    pub(super) fn read(fields: &[Field], diagnostics: &mut Vec<Diagnostic>) -> Policy {
        let mut policy = Policy::default();
        for field in fields {
            let known = PARAMETERS.iter().find(|one| one.key == &*field.name);
            let Some(parameter) = known else {
                let keys = PARAMETERS.iter().map(|one| one.key);
                let help = suggest::did_you_mean(&field.name, keys);
                let message = format!("`{}` is not a setting of `[kubernetes.policy]`", field.name);
                let diagnostic = Diagnostic::error("settings", message).at(field.key);
                diagnostics.push(diagnostic.maybe_help(help));
                continue;
            };
            match parameter.values(&field.item) {
                Ok(values) => {
                    policy.given.insert(parameter.key, values);
                }
                Err((message, item)) => {
                    diagnostics.push(Diagnostic::error("settings", message).at(item.span));
                }
            }
        }
        policy
    }

    /// Adds parameters that are given as names and values; the first of a name replaces what the settings say. Gives what is
    /// wrong with them.
    pub(super) fn give<'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Vec<Diagnostic> {
        let mut wrong = Vec::new();
        let mut fresh: BTreeMap<&'static str, Vec<(String, String)>> = BTreeMap::new();
        for (key, value) in pairs {
            let Some(parameter) = PARAMETERS.iter().find(|one| one.key == key) else {
                let help = suggest::did_you_mean(key, PARAMETERS.iter().map(|one| one.key));
                let message = format!("`--policy` has no parameter `{key}`");
                wrong.push(Diagnostic::error("settings", message).maybe_help(help));
                continue;
            };
            let (name, text) = match parameter.shape {
                Shape::Table => value.split_once('=').unwrap_or((value, "")),
                _ => ("", value),
            };
            match parameter.check(text) {
                Ok(()) => {
                    let values = fresh.entry(parameter.key).or_default();
                    values.push((name.to_owned(), text.to_owned()));
                }
                Err(message) => wrong.push(Diagnostic::error("settings", message)),
            }
        }
        self.given.extend(fresh);
        wrong
    }

    /// The values of a parameter, with their names when it is a table.
    pub(super) fn of(&self, parameter: &Parameter) -> Vec<(&str, &str)> {
        match self.given.get(parameter.key) {
            Some(given) => {
                let pairs = given.iter();
                pairs
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect()
            }
            None => parameter.default.to_vec(),
        }
    }
}

impl Parameter {
    fn values<'i>(&self, item: &'i Item) -> Result<Vec<(String, String)>, (String, &'i Item)> {
        let many = matches!(self.shape, Shape::Numbers | Shape::Words | Shape::Patterns);
        match (&item.value, self.shape) {
            (Value::Map(fields), Shape::Table) => {
                let pair = |field: &'i Field| {
                    let value = self.one(&field.item)?;
                    Ok((field.name.to_string(), value))
                };
                fields.iter().map(pair).collect()
            }
            (Value::List(items), _) if many => {
                let one = |item: &'i Item| Ok((String::new(), self.one(item)?));
                items.iter().map(one).collect()
            }
            (Value::List(_) | Value::Map(_), _) => Err((self.wrong(), item)),
            (_, Shape::Table) => Err((self.wrong(), item)),
            _ if many => Err((self.wrong(), item)),
            _ => Ok(vec![(String::new(), self.one(item)?)]),
        }
    }

    fn one<'i>(&self, item: &'i Item) -> Result<String, (String, &'i Item)> {
        let numbers = matches!(self.shape, Shape::Number | Shape::Numbers);
        let text = match &item.value {
            Value::Int(number) if numbers || self.shape == Shape::Quantity => number.to_string(),
            Value::Str(text) if !numbers => text.to_string(),
            _ => return Err((self.wrong(), item)),
        };
        self.check(&text).map_err(|message| (message, item))?;
        Ok(text)
    }

    /// Whether a text is a value of it.
    fn check(&self, text: &str) -> Result<(), String> {
        let fits = match self.shape {
            Shape::Number | Shape::Numbers => text.parse::<u32>().is_ok(),
            Shape::Quantity => Quantity::parse(text).is_some(),
            Shape::Words => true,
            Shape::Patterns | Shape::Table => {
                if pattern::finds(text, "").is_none() {
                    return Err(format!(
                        "`{text}` is not a regular expression that can be used"
                    ));
                }
                true
            }
        };
        fits.then_some(()).ok_or_else(|| self.wrong())
    }

    fn wrong(&self) -> String {
        let takes = match self.shape {
            Shape::Number => "a whole number",
            Shape::Numbers => "a list of whole numbers",
            Shape::Quantity => "an amount, as in `250m` or `1Gi`",
            Shape::Words => "a list of strings",
            Shape::Patterns => "a list of regular expressions",
            Shape::Table => "a table of names and regular expressions",
        };
        format!("`{}` takes {takes}", self.key)
    }
}
