//! Numbers with units: the units of 1.x, and those that types of 2.0 define.

use std::rc::Rc;

use locus_core::{Diagnostic, Span};

use super::exact::Exact;
use crate::tosca::model::{DataType, Model, Parent, Primitive, Schema, entries};
use crate::tosca::names::TypeId;
use crate::yaml::{Node, Schema as Yaml, Typed};

/// The units of a type.
#[derive(Clone, Debug)]
pub struct Units {
    /// What they measure, by the type that defines them.
    pub of: DataType,
    units: Vec<(String, Exact)>,
    /// Whether `gb` is `GB`, and no blank is needed.
    lenient: bool,
    /// Whether the number must be whole.
    pub whole: bool,
    /// The type that the number must be of.
    pub number: Option<TypeId>,
}

impl Units {
    /// Whether values of both can be compared.
    pub fn fits(&self, other: &Units) -> bool {
        let same =
            |(a, x): &(String, Exact), (b, y): &(String, Exact)| a == b && x.compare(*y).is_eq();
        self.of == other.of
            || self.units.len() == other.units.len()
                && self.units.iter().zip(&other.units).all(|(a, b)| same(a, b))
    }

    /// The units of 1.x.
    pub fn simple(primitive: Primitive) -> Option<Units> {
        let table: &[(&str, &str)] = match primitive {
            Primitive::Size => &[
                ("B", "1"),
                ("kB", "1e3"),
                ("KiB", "1024"),
                ("MB", "1e6"),
                ("MiB", "1048576"),
                ("GB", "1e9"),
                ("GiB", "1073741824"),
                ("TB", "1e12"),
                ("TiB", "1099511627776"),
            ],
            Primitive::Time => &[
                ("d", "86400"),
                ("h", "3600"),
                ("m", "60"),
                ("s", "1"),
                ("ms", "1e-3"),
                ("us", "1e-6"),
                ("ns", "1e-9"),
            ],
            Primitive::Frequency => &[("Hz", "1"), ("kHz", "1e3"), ("MHz", "1e6"), ("GHz", "1e9")],
            Primitive::Bitrate => &[
                ("bps", "1"),
                ("Kbps", "1e3"),
                ("Kibps", "1024"),
                ("Mbps", "1e6"),
                ("Mibps", "1048576"),
                ("Gbps", "1e9"),
                ("Gibps", "1073741824"),
                ("Tbps", "1e12"),
                ("Tibps", "1099511627776"),
                ("Bps", "8"),
                ("KBps", "8e3"),
                ("KiBps", "8192"),
                ("MBps", "8e6"),
                ("MiBps", "8388608"),
                ("GBps", "8e9"),
                ("GiBps", "8589934592"),
                ("TBps", "8e12"),
                ("TiBps", "8796093022208"),
            ],
            _ => return None,
        };
        let unit = |&(name, factor): &(&str, &str)| Some((name.to_owned(), Exact::parse(factor)?));
        Some(Units {
            of: DataType::Primitive(primitive),
            units: table.iter().filter_map(unit).collect(),
            lenient: true,
            whole: false,
            number: None,
        })
    }

    /// The unit that others are multiples of.
    pub fn base(&self) -> Option<&str> {
        let mut units = self.units.iter();
        let one = units.find(|(_, factor)| factor.is_one());
        one.map(|(name, _)| name.as_str())
    }

    /// Reads a number with a unit, in the smallest measure.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(&self, text: &str) -> Result<Exact, String> {
        let text = text.trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
        let end = end.unwrap_or(text.len());
        let (mut number, mut rest) = text.split_at(end);
        // An exponent: a letter that digits or a sign follow.
        if let Some(after) = rest.strip_prefix(['e', 'E']) {
            let digits = after.strip_prefix(['+', '-']).unwrap_or(after);
            let count = digits.bytes().take_while(u8::is_ascii_digit).count();
            if count > 0 && !number.is_empty() {
                let length = number.len() + 1 + (after.len() - digits.len()) + count;
                (number, rest) = text.split_at(length);
            }
        }
        let unit = rest.trim_start();
        let amount =
            Exact::parse(number).ok_or_else(|| format!("`{text}` does not start with a number"))?;
        if unit.is_empty() {
            return Err(format!("`{text}` has no unit; use {}", self.listed()));
        }
        if !self.lenient && rest.len() == unit.len() {
            return Err(format!(
                "`{text}` needs a blank between the number and its unit"
            ));
        }
        if self.whole && number.contains('.') {
            return Err(format!("`{number}` must be a whole number here"));
        }
        let exact = self.units.iter().find(|(name, _)| name == unit);
        let similar = || {
            let mut units = self.units.iter();
            units.find(|(name, _)| self.lenient && name.eq_ignore_ascii_case(unit))
        };
        let Some((_, factor)) = exact.or_else(similar) else {
            let known = self.units.iter().map(|(name, _)| name.as_str());
            let near = locus_core::suggest::did_you_mean(unit, known);
            let help = near.unwrap_or_else(|| format!("use {}", self.listed()));
            return Err(format!("`{unit}` is not a unit here; {help}"));
        };
        amount
            .times(*factor)
            .ok_or_else(|| format!("`{text}` has too many digits"))
    }

    fn listed(&self) -> String {
        let names = self.units.iter().filter(|(name, _)| !name.is_empty());
        let names: Vec<String> = names
            .take(12)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        names.join(", ")
    }
}

impl<'a> Model<'a> {
    /// The units of a schema of numbers with units.
    pub fn units(&self, schema: &Schema<'a>) -> Option<Rc<Units>> {
        match schema.ty {
            DataType::Primitive(primitive) => Units::simple(primitive).map(Rc::new),
            DataType::Type(id) => {
                if let Some(simple) = self.primitive(schema.ty).and_then(Units::simple) {
                    return Some(Rc::new(simple));
                }
                self.type_units(id).map(Rc::new)
            }
            DataType::Unknown => None,
        }
    }

    fn type_units(&self, id: TypeId) -> Option<Units> {
        let chain: Vec<TypeId> = self.ancestors(id).collect();
        let find = |key: &str| {
            let mut nodes = chain.iter().map(|&at| self.names.get(at));
            nodes.find_map(|ty| Some((ty.node.get(key)?, ty.file)))
        };
        let origin = chain
            .iter()
            .copied()
            .rfind(|&at| self.names.get(at).node.get("units").is_some())?;
        let (units, _) = find("units")?;
        let factors = |node: &'a Node| {
            entries(Some(node)).filter_map(|(name, entry)| {
                Some((name.to_string(), Exact::parse(entry.value.as_str()?)?))
            })
        };
        let mut all: Vec<(String, Exact)> = factors(units).collect();
        let prefixes = chain
            .iter()
            .filter_map(|&at| self.names.get(at).node.get("prefixes"));
        let prefixes: Vec<(String, Exact)> = prefixes.flat_map(factors).collect();
        if !prefixes.is_empty() {
            let plain = std::mem::take(&mut all);
            for (prefix, factor) in prefixes {
                for (unit, multiplier) in &plain {
                    all.push((format!("{prefix}{unit}"), factor.times(*multiplier)?));
                }
            }
        }
        let number = find("data_type").map(|(node, file)| {
            let name = node.as_str().unwrap_or_default();
            self.data_type(file, name)
        });
        let whole = number.and_then(|ty| self.primitive(ty)) == Some(Primitive::Integer);
        Some(Units {
            of: DataType::Type(origin),
            units: all,
            lenient: false,
            whole,
            number: match number {
                Some(DataType::Type(id)) => Some(id),
                _ => None,
            },
        })
    }

    /// Checks a data type that has, or should have, units.
    pub fn check_scalar(&self, id: TypeId) {
        let ty = self.names.get(id);
        let file = ty.file;
        let keys = ["units", "prefixes", "canonical_unit", "data_type"];
        let written: Vec<&'static str> = keys
            .into_iter()
            .filter(|key| ty.node.get(key).is_some())
            .collect();
        let is_scalar = self.primitive(DataType::Type(id)) == Some(Primitive::Scalar);
        let error = |message: String, span: Span, help: &str| {
            let diagnostic = Diagnostic::error("tosca-scalar", message).help(help);
            self.report(file, diagnostic.at(span));
        };
        let key_span = |key: &str| {
            let map = ty.node.as_mapping();
            map.and_then(|map| map.entry(key))
                .map_or(ty.span, |entry| entry.key.span)
        };
        if !is_scalar {
            if let (Some(key), true) = (written.first(), self.is_closed(id)) {
                let message = format!(
                    "`{}` is not derived from `scalar`, so it has no `{key}`",
                    ty.name
                );
                error(message, key_span(key), "add `derived_from: scalar`");
            }
            return;
        }
        let first = self.parent(id) == Parent::Primitive(Primitive::Scalar);
        if first && ty.node.get("units").is_none() {
            let message = format!("`{}` is derived from `scalar` and has no `units`", ty.name);
            error(message, ty.span, "add a map of units and their multipliers");
            return;
        }
        if !first {
            for key in ["units", "canonical_unit"] {
                if ty.node.get(key).is_some() {
                    let message =
                        format!("`{key}` cannot change in a type that derives from one with units");
                    error(message, key_span(key), "leave it out");
                }
            }
        }
        self.check_number_type(id, &error);
        if !first {
            return;
        }
        let mut factors = Vec::new();
        for key in ["units", "prefixes"] {
            for (name, entry) in entries(ty.node.get(key)) {
                let number = matches!(
                    entry.value.typed(Yaml::Core),
                    Some(Typed::Int(_) | Typed::Float(_))
                );
                let factor = entry
                    .value
                    .as_str()
                    .filter(|_| number)
                    .and_then(Exact::parse);
                match factor {
                    None => {
                        let message = format!("the multiplier of `{name}` must be a number");
                        error(
                            message,
                            entry.value.used_at(),
                            "write a number, such as `1000`",
                        );
                    }
                    Some(factor) if !factor.is_positive() => {
                        let message = format!("the multiplier of `{name}` must be above zero");
                        error(message, entry.value.used_at(), "write a number above zero");
                    }
                    Some(factor) => factors.push((key, name.to_string(), factor)),
                }
            }
        }
        let of = |key: &'static str| factors.iter().filter(move |(k, _, _)| *k == key);
        let ones: Vec<&str> = of("units")
            .filter(|(_, _, f)| f.is_one())
            .map(|(_, name, _)| name.as_str())
            .collect();
        if of("units").next().is_some() && ones.is_empty() {
            let message = format!("no unit of `{}` has the multiplier 1", ty.name);
            error(
                message,
                key_span("units"),
                "the unit that others are multiples of has the multiplier 1",
            );
        }
        let has_prefixes = ty.node.get("prefixes").is_some();
        if has_prefixes && of("units").count() > 1 {
            let message = format!("`{}` has prefixes and more than one unit", ty.name);
            error(
                message,
                key_span("prefixes"),
                "with `prefixes` there is exactly one unit",
            );
        }
        if has_prefixes
            && of("prefixes").next().is_some()
            && !of("prefixes").any(|(_, _, f)| f.is_one())
        {
            let message = format!("no prefix of `{}` has the multiplier 1", ty.name);
            error(
                message,
                key_span("prefixes"),
                "add `\"\": 1` for the unit without a prefix",
            );
        }
        match ty.node.get("canonical_unit") {
            None if ones.len() > 1 => {
                let message = format!(
                    "several units of `{}` have the multiplier 1: {}",
                    ty.name,
                    ones.join(", ")
                );
                error(
                    message,
                    key_span("units"),
                    "name one of them by `canonical_unit`",
                );
            }
            None => {}
            Some(node) => {
                let unit = node.as_str().unwrap_or_default();
                let units = self.type_units(id);
                let known = units.iter().flat_map(|units| &units.units);
                match known.clone().find(|(name, _)| name == unit) {
                    None => {
                        let near = locus_core::suggest::did_you_mean(
                            unit,
                            known.map(|(name, _)| name.as_str()),
                        );
                        let help = near.unwrap_or_else(|| "name one of its units".to_owned());
                        error(
                            format!("`{unit}` is not a unit of `{}`", ty.name),
                            node.used_at(),
                            &help,
                        );
                    }
                    Some((_, factor)) if !factor.is_one() => {
                        let message =
                            format!("the canonical unit `{unit}` must have the multiplier 1");
                        error(
                            message,
                            node.used_at(),
                            "name the unit that others are multiples of",
                        );
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// The type of the number must be one of numbers, and in a derived type one that derives from the parent's.
    fn check_number_type(&self, id: TypeId, error: &dyn Fn(String, Span, &str)) {
        let ty = self.names.get(id);
        let Some(node) = ty.node.get("data_type") else {
            return;
        };
        let name = node.as_str().unwrap_or_default();
        let number = self.data_type(ty.file, name);
        let base = self.primitive(number);
        if number != DataType::Unknown
            && !matches!(base, Some(Primitive::Integer | Primitive::Float))
        {
            let message = format!("`{name}` is not a type of numbers");
            error(
                message,
                node.used_at(),
                "`data_type` is `integer`, `float` or a type that derives from one",
            );
            return;
        }
        let inherited = self.ancestors(id).skip(1).find_map(|at| {
            let ty = self.names.get(at);
            let name = ty.node.get("data_type")?.as_str()?;
            Some(self.data_type(ty.file, name))
        });
        if matches!(self.parent(id), Parent::Type(_)) {
            let parent = inherited.unwrap_or(DataType::Primitive(Primitive::Float));
            let derives = match (number, parent) {
                (DataType::Type(a), DataType::Type(b)) => self.derives(a, b) != Some(false),
                (number, DataType::Primitive(primitive)) => {
                    number == DataType::Unknown || self.primitive(number) == Some(primitive)
                }
                _ => false,
            };
            if !derives {
                let message = format!(
                    "`{name}` does not derive from the type of the number in the parent type"
                );
                error(
                    message,
                    node.used_at(),
                    "leave `data_type` out, or derive it from the parent's, which is `float` unless said otherwise",
                );
            }
        }
    }
}
