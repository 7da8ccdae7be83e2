//! Numbers of any size and kind, compared exactly.

use std::cmp::Ordering;

use super::decimal::scaled;
use crate::int::Int;
use crate::value::Value;

/// A number of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(Int),
    /// Any other; finite.
    Float(f64),
}

impl Number {
    /// Reads the text of a number as Heat's number type does.
    pub fn parse(text: &str) -> Option<Number> {
        let text = text.trim();
        // Words such as `inf` and `nan` are numbers to a float parser and to nobody else.
        let first = text.trim_start_matches(['-', '+']).bytes().next()?;
        if !(first.is_ascii_digit() || first == b'.') || text.contains('_') {
            return None;
        }
        match Int::parse(text, 10) {
            Some(int) => Some(Number::Int(int)),
            None => Self::float(text.parse().ok()?),
        }
    }

    /// The number that a value is, or that its text is; a truth value is 0 or 1, as in Python.
    pub fn of(value: &Value) -> Option<Number> {
        match value {
            Value::Int(int) => Some(Number::Int(int.clone())),
            Value::Float(float) => Self::float(*float),
            Value::Bool(truth) => Some(Number::Int(Int::Small(i64::from(*truth)))),
            Value::Str(text) => Number::parse(text),
            _ => None,
        }
    }

    /// The number as a value.
    pub fn value(self) -> Value {
        match self {
            Number::Int(int) => Value::Int(int),
            Number::Float(float) => Value::Float(float),
        }
    }

    /// A float, unless it is no number.
    pub fn float(value: f64) -> Option<Number> {
        value.is_finite().then_some(Number::Float(value))
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.compare(&Number::Int(Int::Small(0))) == Ordering::Less
    }

    /// The exact order of two numbers.
    pub fn compare(&self, other: &Number) -> Ordering {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a.cmp(b),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Number::Int(a), Number::Float(b)) => mixed(a, *b),
            (Number::Float(a), Number::Int(b)) => mixed(b, *a).reverse(),
        }
    }

    /// The absolute value.
    #[must_use]
    pub fn magnitude(&self) -> Number {
        match self {
            Number::Float(value) => Number::Float(value.abs()),
            Number::Int(int) if !self.is_negative() => Number::Int(int.clone()),
            Number::Int(int) => {
                let text = int.to_string();
                let positive = Int::parse(text.trim_start_matches('-'), 10);
                Number::Int(positive.unwrap_or_else(|| int.clone()))
            }
        }
    }

    /// The remainder with the sign of the divisor, as Python's `%` gives it; `None` beyond machine words.
    pub fn modulo(&self, step: &Number) -> Option<Number> {
        match (self, step) {
            (Number::Int(a), Number::Int(b)) => {
                let (a, b) = (a.to_i64()?, b.to_i64()?);
                let rest = a.checked_rem(b)?;
                let rest = if rest != 0 && (rest < 0) != (b < 0) {
                    rest + b
                } else {
                    rest
                };
                Some(Number::Int(Int::Small(rest)))
            }
            _ => None,
        }
    }
}

/// A decimal number in billionths, rounded towards zero.
pub fn billionths(text: &str) -> Option<i128> {
    match text.strip_prefix('-') {
        Some(positive) => scaled(positive, 1_000_000_000).map(|n| -n),
        None => scaled(text, 1_000_000_000),
    }
}

/// Compares a whole number with a float without rounding the whole number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the float is whole and within the range that is cast to"
)]
fn mixed(int: &Int, float: f64) -> Ordering {
    const LIMIT: f64 = 1e38;
    match int.to_i64().map(i128::from) {
        Some(n) if float.abs() < LIMIT => {
            let floor = float.floor();
            n.cmp(&(floor as i128)).then(if floor < float {
                Ordering::Less
            } else {
                Ordering::Equal
            })
        }
        _ => int.to_f64().partial_cmp(&float).unwrap_or(Ordering::Equal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn no_rounding_when_kinds_mix() {
        assert_eq!(
            number("9007199254740993").compare(&Number::Float(9_007_199_254_740_992.0)),
            Ordering::Greater
        );
        assert_eq!(number("1").compare(&number("1.0")), Ordering::Equal);
        assert_eq!(number("-1").compare(&number("-1.5")), Ordering::Greater);
        assert_eq!(
            number(&"9".repeat(60)).compare(&number("1e40")),
            Ordering::Greater
        );
        for text in ["", "-", "nan", "inf", "1x", "0x10", "1_0", " "] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_floats_compare_as_integers(a in -1_000_000_i32..1_000_000, b in -1_000_000_i32..1_000_000) {
            let float = Number::Float(f64::from(b) + 0.5);
            let expected = if a <= b { Ordering::Less } else { Ordering::Greater };
            prop_assert_eq!(number(&a.to_string()).compare(&float), expected);
        }

        #[test]
        fn modulo_is_that_of_python(a in -1000_i64..1000, b in -20_i64..20) {
            let result = number(&a.to_string()).modulo(&number(&b.to_string()));
            if b == 0 {
                prop_assert_eq!(result, None);
            } else {
                let floor = (a as f64 / b as f64).floor() as i64;
                prop_assert_eq!(result, Some(Number::Int((a - b * floor).into())));
            }
        }

        #[test]
        fn magnitude_drops_the_sign(a in any::<i64>()) {
            let expected = number(&i128::from(a).abs().to_string());
            prop_assert_eq!(number(&a.to_string()).magnitude(), expected);
        }
    }
}
