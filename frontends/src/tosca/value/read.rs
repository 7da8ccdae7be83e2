//! Reading a value by its schema; what does not fit is told.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::int::Int;
use locus_core::{Diagnostic, Span, suggest};

use super::exact::Exact;
use super::function::FUNCTIONS;
use super::{Checker, Val, shown};
use crate::tosca::model::{DataType, Primitive, Property, Schema, find};
use crate::tosca::text::{self, Version};
use crate::yaml::{Kind, Mapping, Node, Schema as Yaml, Typed};

impl<'a> Checker<'_, 'a> {
    /// Reports something about a value.
    pub fn report(&self, diagnostic: Diagnostic) {
        if !self.model.file(self.file).builtin {
            self.diagnostics.borrow_mut().push(diagnostic);
        }
    }

    fn wrong(&self, what: &str, span: Span, message: &str) -> Val {
        let diagnostic = Diagnostic::error("tosca-value", format!("`{what}`: {message}"));
        self.report(diagnostic.at(span));
        Val::Unknown
    }

    /// Says which function was likely meant by a map of one entry, where a map has no place.
    fn mistyped_call(&self, node: &Node, what: &str, message: &str) -> Option<Val> {
        let [entry] = node.as_mapping()?.entries.as_slice() else {
            return None;
        };
        let name = entry.key.as_str()?;
        let help = match self.model.version(self.file).is_simple() {
            true => suggest::did_you_mean(name, text::SIMPLE.iter().copied())?,
            false => {
                let functions = FUNCTIONS.iter().map(|name| format!("${name}"));
                let functions: Vec<String> = functions.collect();
                suggest::did_you_mean(name, functions.iter().map(String::as_str))?
            }
        };
        let message = format!("`{what}` {message}, and `{name}` is not a function");
        let diagnostic = Diagnostic::error("tosca-value", message).help(help);
        self.report(diagnostic.at(entry.key.span));
        Some(Val::Unknown)
    }

    /// Reads a value; `what` is what holds it.
    pub fn read(&self, node: &'a Node, schema: &Schema<'a>, what: &str) -> Val {
        let version = self.model.version(self.file);
        if let Some(call) = text::call(node, version) {
            return self.called(&call, schema, what);
        }
        self.check_mixed(node);
        let value = self.shape(node, schema, what);
        // What does not have the right form has been told, and conditions say nothing of it.
        if value.is_known() || matches!(value, Val::List(_) | Val::Map(_)) {
            self.conditions(&value, schema, what, node.used_at(), || shown(node));
        }
        value
    }

    /// A call stands alone in its map.
    fn check_mixed(&self, node: &Node) {
        let version = self.model.version(self.file);
        let Some(map) = node
            .as_mapping()
            .filter(|map| !version.is_simple() && map.len() > 1)
        else {
            return;
        };
        let is_name = |name: &str| {
            let rest = name.strip_prefix('$').unwrap_or_default();
            !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if let Some((name, entry)) = map.named().find(|(name, _)| is_name(name)) {
            let message = format!("a map with other keys cannot call `{name}`");
            let diagnostic = Diagnostic::error("tosca-function", message)
                .help("a call of a function is a map with one key; `$$` writes a dollar sign");
            self.report(diagnostic.at(entry.key.span));
        }
    }

    /// A call where a value is needed.
    fn called(&self, call: &text::Call<'a>, schema: &Schema<'a>, what: &str) -> Val {
        let result = self.call(call);
        if let Some(given) = &result.schema
            && !self.model.assignable(given, schema)
        {
            let (is, needed) = (self.model.describe(given), self.model.describe(schema));
            let message = format!("`{what}` must be {needed}, and this gives {is}");
            let diagnostic = Diagnostic::error("tosca-value", message);
            self.report(diagnostic.at(call.node.used_at()));
            return Val::Unknown;
        }
        let value = result.value;
        if value.is_known() {
            let value = self.as_schema(value, schema);
            if let (Val::Str(text), None, Some(primitive)) =
                (&value, &result.schema, self.model.primitive(schema.ty))
                && !stands_for(text, primitive)
            {
                let needed = self.model.describe(schema);
                let message = format!("`{what}` must be {needed}, and this gives `{text}`");
                let diagnostic = Diagnostic::error("tosca-value", message);
                self.report(diagnostic.at(call.node.used_at()));
                return Val::Unknown;
            }
            self.conditions(&value, schema, what, call.node.used_at(), || {
                value.to_string()
            });
            return value;
        }
        value
    }

    /// Text that a function gave, as what it must be.
    fn as_schema(&self, value: Val, schema: &Schema<'a>) -> Val {
        match (&value, self.model.units(schema)) {
            (Val::Str(text), Some(units)) => match units.read(text) {
                Ok(amount) => Val::Scalar(amount, units, text.clone()),
                Err(_) => value,
            },
            _ => value,
        }
    }

    fn shape(&self, node: &'a Node, schema: &Schema<'a>, what: &str) -> Val {
        let Some(primitive) = self.model.primitive(schema.ty) else {
            return match schema.ty {
                DataType::Type(id) => {
                    let flat = self.model.flat(id);
                    if flat.properties.is_empty() && !flat.open && node.as_mapping().is_none() {
                        // A type without properties and without a parent says nothing of its values.
                        return self.literal(node);
                    }
                    match node.as_mapping() {
                        Some(map) => self.structure(map, &flat.properties, flat.open, node, what),
                        None if flat.open => self.literal(node),
                        None => {
                            let is = node.describe(Yaml::Core);
                            let needed = self.model.describe(schema);
                            let message = format!("must be {needed}, which is a map, not {is}");
                            self.wrong(what, node.used_at(), &message)
                        }
                    }
                }
                _ => self.literal(node),
            };
        };
        self.primitive(node, primitive, schema, what)
    }

    fn primitive(
        &self,
        node: &'a Node,
        primitive: Primitive,
        schema: &Schema<'a>,
        what: &str,
    ) -> Val {
        let simple = self.model.version(self.file).is_simple();
        let typed = node.typed(Yaml::Core);
        let span = node.used_at();
        let refuse = || {
            let is = match &node.kind {
                Kind::Scalar(scalar) if !node.is_null(Yaml::Core) => {
                    format!("`{}`, {}", scalar.text, node.describe(Yaml::Core))
                }
                _ => node.describe(Yaml::Core).to_owned(),
            };
            let message = format!("must be {}, not {is}", primitive.describe());
            self.mistyped_call(node, what, &message)
                .unwrap_or_else(|| self.wrong(what, span, &message))
        };
        let soft = |value: Val| {
            let message = format!(
                "`{what}` must be {}, and this is a string",
                primitive.describe()
            );
            let diagnostic = Diagnostic::warning("tosca-value", message);
            self.report(diagnostic.help("remove the quotes").at(span));
            value
        };
        match (primitive, typed) {
            (Primitive::String, Some(Typed::Str(text))) => Val::Str(unescape(&text, simple)),
            (Primitive::Integer, Some(Typed::Int(int))) => Val::Int(int),
            (Primitive::Integer, Some(Typed::Str(text))) if simple => {
                match Int::parse(text.trim(), 10) {
                    Some(int) => soft(Val::Int(int)),
                    None => refuse(),
                }
            }
            (Primitive::Float, Some(Typed::Float(float))) => Val::Float(float),
            (Primitive::Float, Some(Typed::Int(int))) => Val::Int(int),
            (Primitive::Float, Some(Typed::Str(text))) if simple => match text.trim().parse() {
                Ok(float) if Exact::parse(text.trim()).is_some() => soft(Val::Float(float)),
                _ => refuse(),
            },
            (Primitive::Boolean, Some(Typed::Bool(value))) => {
                if simple || matches!(node.as_str(), Some("true" | "false")) {
                    Val::Bool(value)
                } else {
                    self.wrong(what, span, "a boolean is written `true` or `false`")
                }
            }
            (Primitive::Boolean, Some(Typed::Str(text))) if simple => match &*text.to_lowercase() {
                "true" | "yes" | "on" => soft(Val::Bool(true)),
                "false" | "no" | "off" => soft(Val::Bool(false)),
                _ => refuse(),
            },
            (Primitive::Bytes, Some(Typed::Str(text))) => {
                if is_base64(&text) {
                    Val::Str(text)
                } else {
                    self.wrong(what, span, "this is not Base64")
                }
            }
            (Primitive::Nil, Some(Typed::Null)) => Val::Null,
            (Primitive::Timestamp, Some(Typed::Str(text))) => match time(&text, !simple) {
                Some(at) => Val::Time(at, text),
                None if !simple && time(&text, false).is_some() => self.wrong(
                    what,
                    span,
                    "a timestamp needs its offset from UTC, such as `Z`",
                ),
                None => refuse(),
            },
            (Primitive::Version, Some(Typed::Str(text))) => match Version::parse(&text) {
                Some(version) => Val::Version(version, text),
                None => refuse(),
            },
            (Primitive::Version, Some(Typed::Float(_) | Typed::Int(_))) if simple => {
                let text = node.text().cloned().unwrap_or_else(|| "".into());
                match Version::parse(&text).or_else(|| Version::parse(&format!("{text}.0"))) {
                    Some(version) => Val::Version(version, text),
                    None => refuse(),
                }
            }
            (Primitive::Version, Some(Typed::Float(_))) => self.wrong(
                what,
                span,
                "a version with two parts is a number unless it is in quotes",
            ),
            (Primitive::Range, None) => self.range(node).unwrap_or_else(refuse),
            (Primitive::List, None) => match node.as_sequence() {
                Some(items) => {
                    let entry = self.entry(schema);
                    let read = |(at, item)| self.read(item, &entry, &format!("{what}[{at}]"));
                    Val::List(items.iter().enumerate().map(read).collect())
                }
                None => refuse(),
            },
            (Primitive::Map, None) => match node.as_mapping() {
                Some(map) => self.map(map, schema, what),
                None => refuse(),
            },
            (
                Primitive::Scalar
                | Primitive::Size
                | Primitive::Time
                | Primitive::Frequency
                | Primitive::Bitrate,
                Some(typed),
            ) => self.scalar(node, &typed, schema, what),
            _ => refuse(),
        }
    }

    /// What a list or map holds.
    fn entry(&self, schema: &Schema<'a>) -> Rc<Schema<'a>> {
        let held = self.model.entry(schema);
        held.unwrap_or_else(|| Rc::new(Schema::unknown(self.file)))
    }

    fn range(&self, node: &'a Node) -> Option<Val> {
        let [least, most] = node.as_sequence()? else {
            return None;
        };
        let bound = |node: &Node| match node.typed(Yaml::Core)? {
            Typed::Int(int) => Some(Val::Int(int)),
            Typed::Str(text) if &*text == "UNBOUNDED" => Some(Val::Str(text)),
            _ => None,
        };
        let (least, most) = (bound(least)?, bound(most)?);
        let ordered = least.compare(&most).is_none_or(|order| order.is_le());
        (ordered && !matches!(least, Val::Str(_))).then(|| Val::List(vec![least, most]))
    }

    fn map(&self, map: &'a Mapping, schema: &Schema<'a>, what: &str) -> Val {
        let entry_schema = self.entry(schema);
        let key_schema = self.model.key(schema);
        let mut fields = Vec::new();
        for entry in &map.entries {
            let Some(name) = entry.name() else {
                self.wrong(what, entry.key.span, "the keys of a map are strings");
                continue;
            };
            if let Some(key) = &key_schema {
                let call = name.starts_with('$') && !name.starts_with("$$");
                if !call {
                    self.read(&entry.key, key, &format!("a key of {what}"));
                }
            }
            let value = self.read(&entry.value, &entry_schema, &format!("{what}.{name}"));
            fields.push((name.clone(), value));
        }
        Val::Map(fields)
    }

    /// A map with properties of its own.
    pub fn structure(
        &self,
        map: &'a Mapping,
        properties: &[Rc<Property<'a>>],
        open: bool,
        node: &Node,
        what: &str,
    ) -> Val {
        let mut fields = Vec::new();
        for entry in &map.entries {
            let Some(name) = entry.name() else { continue };
            match find(properties, name) {
                Some(property) => {
                    let value = self.assigned(&entry.value, property, &format!("{what}.{name}"));
                    fields.push((name.clone(), value));
                }
                None if open => fields.push((name.clone(), Val::Unknown)),
                None => {
                    let names = properties.iter().map(|known| &*known.name);
                    let message = format!("`{what}` has no property `{name}`");
                    let diagnostic = Diagnostic::error("tosca-unknown-property", message)
                        .maybe_help(suggest::did_you_mean(name, names));
                    self.report(diagnostic.at(entry.key.span));
                }
            }
        }
        for property in properties {
            if map.get(&property.name).is_some() {
                continue;
            }
            match property.value.or(property.default) {
                Some(node) => {
                    let checker = Checker {
                        file: property.file,
                        value: None,
                        ..*self
                    };
                    // It has been checked where it is written.
                    let value = self.model.default(property, node, || {
                        let quiet = checker.quietly();
                        quiet.read(node, &property.schema, &property.name)
                    });
                    fields.push((property.name.clone(), value.unwrap_or(Val::Unknown)));
                }
                None if property.required => {
                    let message = format!("`{what}` has no `{}`", property.name);
                    let diagnostic = Diagnostic::error("tosca-missing-property", message)
                        .related(property.span, "it is required here");
                    self.report(diagnostic.at(node.used_at()));
                }
                None => {}
            }
        }
        Val::Map(fields)
    }

    /// Reads the value that is given to a property.
    pub fn assigned(&self, node: &'a Node, property: &Property<'a>, what: &str) -> Val {
        if let Some(fixed) = property.value
            && !crate::tosca::model_same(fixed, node)
        {
            let message = format!("`{what}` has a fixed value and cannot be given another");
            let diagnostic = Diagnostic::error("tosca-value", message)
                .related(fixed.span, "its value is fixed here");
            self.report(diagnostic.at(node.used_at()));
            return Val::Unknown;
        }
        if node.is_null(Yaml::Core)
            && !property.required
            && self.model.version(self.file).is_simple()
        {
            return Val::Null;
        }
        self.read(node, &property.schema, what)
    }

    /// The same without reports.
    pub fn quietly(&self) -> Quiet<'_, 'a> {
        Quiet {
            model: self.model,
            file: self.file,
            refer: self.refer,
            diagnostics: std::cell::RefCell::default(),
        }
    }

    fn scalar(&self, node: &'a Node, typed: &Typed, schema: &Schema<'a>, what: &str) -> Val {
        let Some(units) = self.model.units(schema) else {
            return Val::Unknown;
        };
        let text: Arc<str> = match typed {
            Typed::Str(text) => text.clone(),
            _ => node.text().cloned().unwrap_or_else(|| "".into()),
        };
        match units.read(&text) {
            Ok(amount) => {
                if let Some(number) = units.number {
                    let value = text.split_whitespace().next().and_then(|number| {
                        let int = Int::parse(number, 10).map(Val::Int);
                        int.or_else(|| number.parse().ok().map(Val::Float))
                    });
                    if let Some(value) = value {
                        let schema = Schema::of(DataType::Type(number), schema.file);
                        self.conditions(&value, &schema, what, node.used_at(), || text.to_string());
                    }
                }
                Val::Scalar(amount, units, text)
            }
            Err(why) => self.wrong(what, node.used_at(), &why),
        }
    }

    /// A value by itself, without a type.
    pub fn literal(&self, node: &'a Node) -> Val {
        let version = self.model.version(self.file);
        if let Some(call) = text::call(node, version) {
            return self.call(&call).value;
        }
        match &node.kind {
            Kind::Scalar(_) => match node.typed(Yaml::Core) {
                Some(Typed::Bool(value)) => Val::Bool(value),
                Some(Typed::Int(value)) => Val::Int(value),
                Some(Typed::Float(value)) => Val::Float(value),
                Some(Typed::Str(text)) => Val::Str(unescape(&text, version.is_simple())),
                Some(Typed::Null) | None => Val::Null,
            },
            Kind::Sequence(items) => {
                Val::List(items.iter().map(|item| self.literal(item)).collect())
            }
            Kind::Mapping(map) => {
                let named = map.named();
                let fields = named.map(|(name, entry)| (name.clone(), self.literal(&entry.value)));
                Val::Map(fields.collect())
            }
        }
    }
}

/// A checker whose reports go nowhere.
pub struct Quiet<'q, 'a> {
    model: &'q crate::tosca::model::Model<'a>,
    file: usize,
    refer: super::Refer<'q, 'a>,
    diagnostics: std::cell::RefCell<Vec<Diagnostic>>,
}

impl<'a> Quiet<'_, 'a> {
    /// Reads a value without saying what is wrong with it.
    pub fn read(&self, node: &'a Node, schema: &Schema<'a>, what: &str) -> Val {
        self.checker().read(node, schema, what)
    }

    fn checker(&self) -> Checker<'_, 'a> {
        Checker {
            model: self.model,
            file: self.file,
            refer: self.refer,
            value: None,
            diagnostics: &self.diagnostics,
        }
    }

    /// Reads an operand of a condition of a type as a value of the type, but does not ask for its conditions: the operand would be
    /// read again for them.
    pub(super) fn operand(&self, node: &'a Node, schema: &Schema<'a>) -> Val {
        let checker = self.checker();
        match (&node.kind, self.model.primitive(schema.ty)) {
            (Kind::Scalar(_), Some(primitive)) => checker.primitive(node, primitive, schema, ""),
            _ => checker.literal(node),
        }
    }
}

/// Whether a text that a function of 1.x gives may be read as a value of a type.
fn stands_for(text: &str, primitive: Primitive) -> bool {
    match primitive {
        Primitive::Integer => Int::parse(text.trim(), 10).is_some(),
        Primitive::Float => Exact::parse(text.trim()).is_some(),
        Primitive::Boolean => matches!(&*text.to_lowercase(), "true" | "false"),
        Primitive::List | Primitive::Map | Primitive::Range => false,
        Primitive::Version => Version::parse(text).is_some(),
        _ => true,
    }
}

/// `$$` is a dollar sign.
fn unescape(text: &Arc<str>, simple: bool) -> Arc<str> {
    match text.strip_prefix("$$") {
        Some(rest) if !simple => format!("${rest}").into(),
        _ => text.clone(),
    }
}

fn is_base64(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let body = text.trim_end_matches('=');
    let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/';
    text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.bytes().all(legal)
}

/// Reads a time, in seconds since 1970; an offset from UTC may be needed.
pub(super) fn time(text: &str, offset_needed: bool) -> Option<Exact> {
    let number = |text: &str, length: usize| {
        let digits = text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse::<i64>().ok()).flatten()
    };
    let (date, rest) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?.trim_start())),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) {
        return None;
    }
    // Days since 1970, counting years from March.
    let (y, m) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let epoch = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    let Some(rest) = rest else {
        return Some(Exact::whole(i128::from(epoch * 86_400)));
    };
    let zone = rest.find(['Z', 'z', '+', '-']);
    let (clock, zone) = match zone {
        Some(at) => (rest.get(..at)?.trim_end(), Some(rest.get(at..)?)),
        None => (rest, None),
    };
    let offset = match zone {
        None if offset_needed => return None,
        None | Some("Z" | "z") => 0,
        Some(zone) => {
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            let digits = zone.get(1..)?;
            let (hours, minutes) = match digits.split_once(':') {
                Some((hours, minutes)) => (number(hours, 2)?, number(minutes, 2)?),
                None if offset_needed => return None,
                None => (digits.parse::<i64>().ok()?, 0),
            };
            if hours > 23 || minutes > 59 {
                return None;
            }
            sign * (hours * 3600 + minutes * 60)
        }
    };
    let mut clock = clock.split(':');
    let (hour, minute, second) = (clock.next()?, clock.next()?, clock.next()?);
    let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
    let (hour, minute, second) = (number(hour, 2)?, number(minute, 2)?, number(second, 2)?);
    let fits = hour < 24 && minute < 60 && second <= 60 && clock.next().is_none();
    let whole = epoch * 86_400 + hour * 3600 + minute * 60 + second - offset;
    fits.then(|| Exact::parse(&format!("{whole}.{fraction}")))
        .flatten()
}
