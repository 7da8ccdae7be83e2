//! What is wrong with an expression whatever it is about: names and functions that there are not, types that do not go together.
//!
//! Types are followed as far as they are sure. What is not followed fits everything, so that nothing is refused that the server
//! takes.

use std::rc::Rc;

use super::parse::{Expression, Refused, parse};
use super::signatures::{self, Kind};
use super::time;
use super::value::Value;
use crate::kubernetes::access::Access as _;
use crate::yaml::Node;

/// The type of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Type<'n> {
    /// Not followed here: it fits everything.
    Unknown,
    /// Anything, as the server sees it too.
    Dyn,
    Plain(Kind),
    List(Rc<Type<'n>>),
    /// The values; keys are texts, or not followed.
    Map(Rc<Type<'n>>),
    /// An object with the properties of a schema; whether it is a whole object.
    Object(&'n Node, bool),
    /// An object with some fields.
    Fields(Rc<Vec<(String, Type<'n>)>>),
}

impl<'n> Type<'n> {
    /// The type of what a schema describes; `root` for a whole object.
    pub(crate) fn of_schema(schema: &'n Node, root: bool) -> Type<'n> {
        if schema.bool_of("x-kubernetes-int-or-string") == Some(true) {
            return Type::Dyn;
        }
        let format = schema.str_of("format");
        match schema.str_of("type") {
            Some("boolean") => Type::Plain(Kind::Bool),
            Some("integer") => Type::Plain(Kind::Int),
            Some("number") => Type::Plain(Kind::Double),
            Some("string") => Type::Plain(match format {
                Some("date" | "date-time") => Kind::Time,
                Some("duration") => Kind::Duration,
                Some("byte") => Kind::Bytes,
                _ => Kind::Text,
            }),
            Some("array") => {
                let items = schema.some("items");
                let items = items.map_or(Type::Unknown, |items| Type::of_schema(items, false));
                Type::List(items.into())
            }
            Some("object") => match schema.some("additionalProperties") {
                Some(more) if more.as_mapping().is_some() => {
                    Type::Map(Type::of_schema(more, false).into())
                }
                Some(_) => Type::Unknown,
                None => {
                    let embedded = schema.bool_of("x-kubernetes-embedded-resource") == Some(true);
                    Type::Object(schema, root || embedded)
                }
            },
            _ => Type::Unknown,
        }
    }

    fn shown(&self) -> &'static str {
        match self {
            Type::Unknown | Type::Dyn => "dyn",
            Type::Plain(kind) => kind.shown(),
            Type::List(_) => "list",
            Type::Map(_) => "map",
            Type::Object(..) | Type::Fields(_) => "object",
        }
    }

    fn is_open(&self) -> bool {
        matches!(self, Type::Unknown | Type::Dyn)
    }

    fn is(&self, kind: Kind) -> bool {
        matches!(self, Type::Plain(own) if *own == kind)
    }

    /// Whether it may be where a kind is wanted.
    fn fits(&self, wanted: Kind) -> bool {
        match (self, wanted) {
            (Type::Unknown | Type::Dyn, _) | (_, Kind::Any) => true,
            (Type::Plain(own), wanted) => *own == wanted,
            (Type::List(_), wanted) => wanted == Kind::List,
            (Type::Map(_), wanted) => wanted == Kind::Map,
            (Type::Object(..) | Type::Fields(_), _) => false,
        }
    }

    fn of_kind(kind: Kind) -> Type<'n> {
        match kind {
            Kind::Any => Type::Unknown,
            Kind::List => Type::List(Type::Unknown.into()),
            Kind::Map => Type::Map(Type::Unknown.into()),
            kind => Type::Plain(kind),
        }
    }

    /// The type of a field; none when there is no such field.
    fn field(&self, name: &str) -> Option<Type<'n>> {
        Some(match self {
            Type::Dyn => Type::Dyn,
            Type::Map(values) => (**values).clone(),
            Type::Fields(fields) => {
                let mut fields = fields.iter();
                fields.find(|(known, _)| known == name)?.1.clone()
            }
            Type::Object(schema, whole) => {
                let name = super::evaluate::unescaped(name);
                let property = schema.some("properties").and_then(|all| all.get(&name));
                match (&*name, whole) {
                    ("apiVersion" | "kind", true) => Type::Plain(Kind::Text),
                    ("metadata", true) => Type::Unknown,
                    _ => match property {
                        Some(property) => Type::of_schema(property, false),
                        None => return None,
                    },
                }
            }
            _ => Type::Unknown,
        })
    }

    fn same_kind(&self, other: &Type<'_>) -> bool {
        match (self, other) {
            (Type::Unknown | Type::Dyn, _) | (_, Type::Unknown | Type::Dyn) => true,
            // Some types may be null.
            (Type::Plain(Kind::Null), other) => other.may_be_null(),
            (own, Type::Plain(Kind::Null)) => own.may_be_null(),
            (Type::Plain(a), Type::Plain(b)) => a == b,
            (Type::List(a), Type::List(b)) | (Type::Map(a), Type::Map(b)) => a.same_kind(b),
            (Type::Object(..) | Type::Fields(_), Type::Object(..) | Type::Fields(_)) => true,
            _ => false,
        }
    }

    fn may_be_null(&self) -> bool {
        !matches!(
            self,
            Type::Plain(
                Kind::Bool | Kind::Int | Kind::Uint | Kind::Double | Kind::Text | Kind::Bytes
            ) | Type::List(_)
                | Type::Map(_)
        )
    }
}

/// The names that an expression may use, with their types.
pub(crate) type Names<'n> = Vec<(&'static str, Type<'n>)>;

/// What is wrong with an expression that must have a value of some kind; none when nothing is sure to be.
pub(crate) fn fault(text: &str, names: &Names<'_>, wanted: Kind) -> Option<String> {
    let expression = match parse(text) {
        Ok(expression) => expression,
        Err(Refused::Syntax(why)) => return Some(why),
        Err(Refused::Beyond) => return None,
    };
    let names = names
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), kind.clone()));
    let mut compiler = Compiler {
        names: names.collect(),
    };
    match compiler.kind(&expression) {
        Err(why) => Some(why),
        Ok(Type::Unknown) => None,
        Ok(found) if wanted == Kind::Any || found.is(wanted) => None,
        Ok(found) => Some(format!(
            "it must be a {}, not {}",
            wanted.shown(),
            found.shown()
        )),
    }
}

/// The type of an expression, as far as it is followed.
pub(crate) fn type_of<'n>(text: &str, names: &Names<'n>) -> Type<'n> {
    let Ok(expression) = parse(text) else {
        return Type::Unknown;
    };
    let names = names
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), kind.clone()));
    let mut compiler = Compiler {
        names: names.collect(),
    };
    compiler.kind(&expression).unwrap_or(Type::Unknown)
}

struct Compiler<'n> {
    names: Vec<(String, Type<'n>)>,
}

type Found<'n> = Result<Type<'n>, String>;

impl<'n> Compiler<'n> {
    fn named(&self, name: &str) -> Option<Type<'n>> {
        let mut names = self.names.iter().rev();
        let found = names.find(|(known, _)| known == name);
        found.map(|(_, kind)| kind.clone())
    }

    fn kind(&mut self, expression: &Expression) -> Found<'n> {
        match expression {
            Expression::Literal(value) => Ok(Type::Plain(match value {
                Value::Bool(_) => Kind::Bool,
                Value::Int(_) => Kind::Int,
                Value::Uint(_) => Kind::Uint,
                Value::Double(_) => Kind::Double,
                Value::Text(_) => Kind::Text,
                Value::Bytes(_) => Kind::Bytes,
                Value::Null => Kind::Null,
                _ => return Ok(Type::Unknown),
            })),
            Expression::Name(name) => match self.named(name) {
                Some(kind) => Ok(kind),
                None if signatures::is_type(name) => Ok(Type::Plain(Kind::Type)),
                None if signatures::is_package(name) => Ok(Type::Unknown),
                None => Err(format!("there is no `{name}`")),
            },
            Expression::Field(of, name, optional) => {
                let of = self.kind(of)?;
                let found = self.selected(&of, name)?;
                Ok(if *optional {
                    Type::Plain(Kind::Optional)
                } else {
                    found
                })
            }
            Expression::Index(of, index, optional) => {
                let (of, index) = (self.kind(of)?, self.kind(index)?);
                let found = match of {
                    Type::List(items) if index.is_open() || index.is(Kind::Int) => (*items).clone(),
                    Type::List(_) if index.is(Kind::Text) || index.is(Kind::Bool) => {
                        return Err(format!("a list has no item for a {}", index.shown()));
                    }
                    Type::Map(values) => (*values).clone(),
                    Type::Dyn => Type::Dyn,
                    Type::Object(..) | Type::Fields(_) => {
                        return Err("an object has no items: write `.` and the field".to_owned());
                    }
                    _ => Type::Unknown,
                };
                Ok(if *optional {
                    Type::Plain(Kind::Optional)
                } else {
                    found
                })
            }
            Expression::List(items) => {
                let mut known: Option<Type<'n>> = None;
                for item in items {
                    let kind = self.kind(item)?;
                    if let Some(known) = &known
                        && !known.same_kind(&kind)
                    {
                        return Err(format!(
                            "a list has items of different types, {} and {}",
                            known.shown(),
                            kind.shown()
                        ));
                    }
                    known = known.or(Some(kind));
                }
                Ok(Type::List(known.unwrap_or(Type::Unknown).into()))
            }
            Expression::Map(entries) => {
                let mut known: Option<Type<'n>> = None;
                for (key, value) in entries {
                    self.kind(key)?;
                    let kind = self.kind(value)?;
                    known = match known {
                        None => Some(kind),
                        Some(known) if known.same_kind(&kind) => Some(known),
                        Some(known) => {
                            return Err(format!(
                                "a map has values of different types, {} and {}",
                                known.shown(),
                                kind.shown()
                            ));
                        }
                    };
                }
                Ok(Type::Map(known.unwrap_or(Type::Unknown).into()))
            }
            Expression::Maybe(inner) => {
                self.kind(inner)?;
                Ok(Type::Unknown)
            }
            Expression::Call(of, name, arguments) => self.call(of.as_deref(), name, arguments),
            Expression::Not(of) => {
                let kind = self.kind(of)?;
                match kind.fits(Kind::Bool) {
                    true => Ok(Type::Plain(Kind::Bool)),
                    false => Err(format!("`!` is not for a {}", kind.shown())),
                }
            }
            Expression::Negative(of) => {
                let kind = self.kind(of)?;
                let number = [Kind::Int, Kind::Double]
                    .iter()
                    .any(|wanted| kind.fits(*wanted));
                // Some versions have it for durations.
                match number || kind.is(Kind::Duration) {
                    true => Ok(kind),
                    false => Err(format!("`-` is not for a {}", kind.shown())),
                }
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.kind(left)?, self.kind(right)?);
                binary(operator, &left, &right)
            }
            Expression::If(condition, yes, no) => {
                let condition = self.kind(condition)?;
                if !condition.fits(Kind::Bool) {
                    return Err(format!(
                        "a condition is a bool, not a {}",
                        condition.shown()
                    ));
                }
                let (yes, no) = (self.kind(yes)?, self.kind(no)?);
                match (&yes, &no) {
                    (Type::Unknown, _) | (_, Type::Unknown) => Ok(Type::Unknown),
                    (Type::Dyn, _) | (_, Type::Dyn) => Ok(Type::Dyn),
                    _ if yes.same_kind(&no) => Ok(yes),
                    _ => Err(format!(
                        "both sides of `? :` must be of one type, not {} and {}",
                        yes.shown(),
                        no.shown()
                    )),
                }
            }
        }
    }

    fn selected(&self, of: &Type<'n>, name: &str) -> Found<'n> {
        if let Type::Plain(kind) = of
            && matches!(
                kind,
                Kind::Bool | Kind::Int | Kind::Uint | Kind::Double | Kind::Text | Kind::Bytes
            )
        {
            return Err(format!("a {} has no field `{name}`", kind.shown()));
        }
        if let Type::List(_) = of {
            return Err(format!("a list has no field `{name}`"));
        }
        of.field(name)
            .ok_or_else(|| format!("there is no field `{name}`"))
    }

    fn call(&mut self, of: Option<&Expression>, name: &str, arguments: &[Expression]) -> Found<'n> {
        if of.is_none() && name == "has" {
            return match arguments {
                [Expression::Field(of, field, _)] => {
                    let of = self.kind(of)?;
                    self.selected(&of, field)?;
                    Ok(Type::Plain(Kind::Bool))
                }
                _ => Err("`has()` takes a field".to_owned()),
            };
        }
        if name == "format"
            && let (Some(of), [Expression::List(items)]) = (of, arguments)
        {
            // What is put into a text may be of any types.
            for item in items {
                self.kind(item)?;
            }
            let of = self.kind(of)?;
            return match of.fits(Kind::Text) {
                true => Ok(Type::Plain(Kind::Text)),
                false => Err(format!("there is no `format` for a {}", of.shown())),
            };
        }
        if name == "matches"
            && let Some(Expression::Literal(Value::Text(pattern))) = arguments.last()
            && crate::kubernetes::regular::is_broken(pattern)
        {
            return Err(format!("`{pattern}` is not a regular expression"));
        }
        if let Some(of) = of {
            if let Some(found) = self.over(of, name, arguments) {
                return found;
            }
            if let Expression::Name(library) = of
                && self.named(library).is_none()
                && signatures::is_library(library)
            {
                return self.function(&format!("{library}.{name}"), Vec::new(), arguments);
            }
            let of = self.kind(of)?;
            return self.function(&format!("_.{name}"), vec![of], arguments);
        }
        let text = match arguments {
            [Expression::Literal(Value::Text(text))] => Some(text),
            _ => None,
        };
        match (name, text) {
            ("duration", Some(text)) if time::duration(text).is_none() => {
                return Err(format!("`{text}` is not a duration"));
            }
            ("timestamp", Some(text)) if time::instant(text).is_none() => {
                return Err(format!("`{text}` is not a time"));
            }
            ("dyn", _) if arguments.len() == 1 => {
                self.kind(arguments.first().ok_or("`dyn()` takes a value")?)?;
                return Ok(Type::Dyn);
            }
            _ => {}
        }
        self.function(name, Vec::new(), arguments)
    }

    /// The macros; none when it is not one.
    fn over(&mut self, of: &Expression, name: &str, arguments: &[Expression]) -> Option<Found<'n>> {
        let two_sided = matches!(name, "transformList" | "transformMap" | "transformMapEntry");
        let names = match (name, arguments.len()) {
            ("all" | "exists" | "exists_one" | "existsOne" | "filter", 2) => 1,
            ("optMap" | "optFlatMap" | "sortBy", 2) => 1,
            ("map", 2 | 3) => 1,
            ("all" | "exists" | "exists_one" | "existsOne", 3) => 2,
            (_, 3 | 4) if two_sided => 2,
            _ => return None,
        };
        Some(self.bound(of, name, names, arguments))
    }

    fn bound(
        &mut self,
        of: &Expression,
        name: &str,
        names: usize,
        arguments: &[Expression],
    ) -> Found<'n> {
        let of = self.kind(of)?;
        let (variables, bodies) = arguments
            .split_at_checked(names)
            .unwrap_or((&[], arguments));
        let (key, value) = match &of {
            Type::List(items) => (Type::Plain(Kind::Int), (**items).clone()),
            Type::Map(values) => (Type::Unknown, (**values).clone()),
            Type::Dyn => (Type::Dyn, Type::Dyn),
            Type::Plain(Kind::Optional) | Type::Unknown => (Type::Unknown, Type::Unknown),
            other => return Err(format!("`{name}` is not for a {}", other.shown())),
        };
        let one = match &of {
            Type::List(_) | Type::Dyn => value.clone(),
            Type::Map(_) => Type::Unknown,
            _ => Type::Unknown,
        };
        let before = self.names.len();
        for (at, variable) in variables.iter().enumerate() {
            let Expression::Name(variable) = variable else {
                return Err(format!("`{name}` wants a simple name first"));
            };
            let kind = match (names, at) {
                (1, _) => one.clone(),
                (_, 0) => key.clone(),
                _ => value.clone(),
            };
            self.names.push((variable.to_string(), kind));
        }
        let mut last = Type::Unknown;
        for (at, body) in bodies.iter().enumerate() {
            last = self.kind(body)?;
            let is_condition = at + 1 < bodies.len()
                || matches!(
                    name,
                    "all" | "exists" | "exists_one" | "existsOne" | "filter"
                );
            if is_condition && !last.fits(Kind::Bool) {
                return Err(format!("`{name}` asks for a bool, not a {}", last.shown()));
            }
        }
        self.names.truncate(before);
        Ok(match name {
            "all" | "exists" | "exists_one" | "existsOne" => Type::Plain(Kind::Bool),
            "map" | "transformList" => Type::List(last.into()),
            "filter" => match of {
                Type::List(items) => Type::List(items),
                _ => Type::List(Type::Unknown.into()),
            },
            "transformMap" => Type::Map(last.into()),
            "optMap" | "optFlatMap" => Type::Plain(Kind::Optional),
            _ => Type::Unknown,
        })
    }

    fn function(
        &mut self,
        name: &str,
        mut kinds: Vec<Type<'n>>,
        arguments: &[Expression],
    ) -> Found<'n> {
        for argument in arguments {
            kinds.push(self.kind(argument)?);
        }
        let shown = name.strip_prefix("_.").unwrap_or(name);
        let all = signatures::of(name);
        if all.is_empty() {
            return Err(format!("there is no function `{shown}`"));
        }
        let fit = all.iter().filter(|signature| {
            signature.wanted.len() == kinds.len()
                && signature
                    .wanted
                    .iter()
                    .zip(&kinds)
                    .all(|(wanted, kind)| kind.fits(*wanted))
        });
        let results: Vec<Kind> = fit.map(|signature| signature.result).collect();
        let Some((first, others)) = results.split_first() else {
            let kinds: Vec<&str> = kinds.iter().map(Type::shown).collect();
            return Err(format!("there is no `{shown}` for ({})", kinds.join(", ")));
        };
        match others.iter().all(|other| other == first) {
            true => Ok(Type::of_kind(*first)),
            false => Ok(Type::Unknown),
        }
    }
}

fn binary<'n>(operator: &str, left: &Type<'n>, right: &Type<'n>) -> Found<'n> {
    let no = || {
        Err(format!(
            "there is no `{operator}` for {} and {}",
            left.shown(),
            right.shown()
        ))
    };
    let truth = Ok(Type::Plain(Kind::Bool));
    match operator {
        "&&" | "||" => match left.fits(Kind::Bool) && right.fits(Kind::Bool) {
            true => truth,
            false => no(),
        },
        "==" | "!=" => match left.same_kind(right) {
            true => truth,
            false => no(),
        },
        "in" => match right {
            Type::Plain(_) | Type::Object(..) => no(),
            Type::List(items) if !items.same_kind(left) => no(),
            _ => truth,
        },
        "<" | "<=" | ">" | ">=" => {
            let (Type::Plain(a), Type::Plain(b)) = (left, right) else {
                let closed = |kind: &Type<'_>| {
                    matches!(kind, Type::List(_) | Type::Map(_) | Type::Object(..))
                };
                return if closed(left) || closed(right) {
                    no()
                } else {
                    truth
                };
            };
            let number = |kind: &Kind| matches!(kind, Kind::Int | Kind::Uint | Kind::Double);
            let ordered = |kind: &Kind| {
                number(kind)
                    || matches!(
                        kind,
                        Kind::Bool | Kind::Text | Kind::Bytes | Kind::Time | Kind::Duration
                    )
            };
            match (a == b && ordered(a)) || (number(a) && number(b)) {
                true => truth,
                false => no(),
            }
        }
        _ => {
            use Kind::{Bytes, Double, Duration, Int, Text, Time, Uint};
            let (a, b) = match (left, right) {
                (Type::Plain(a), Type::Plain(b)) => (*a, *b),
                (Type::List(items), Type::List(others)) if operator == "+" => {
                    return match items.same_kind(others) {
                        true => Ok(left.clone()),
                        false => no(),
                    };
                }
                (Type::Unknown | Type::Dyn, _) | (_, Type::Unknown | Type::Dyn) => {
                    return Ok(Type::Unknown);
                }
                _ => return no(),
            };
            Ok(Type::Plain(match (operator, a, b) {
                (_, Int, Int) => Int,
                (_, Uint, Uint) => Uint,
                ("+" | "-" | "*" | "/", Double, Double) => Double,
                ("+", Text, Text) => Text,
                ("+", Bytes, Bytes) => Bytes,
                ("+" | "-", Duration, Duration) => Duration,
                ("+" | "-", Time, Duration) | ("+", Duration, Time) => Time,
                ("-", Time, Time) => Duration,
                _ => return no(),
            }))
        }
    }
}
