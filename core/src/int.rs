//! Integers of any size: configurations hold numbers that no machine word does.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// An integer of any size, compared exactly.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Int {
    /// One that fits a machine word; every such number is held this way, so equality is structural.
    Small(i64),
    /// One that does not, in decimal without leading zeros.
    Big(Arc<str>),
}

impl Int {
    /// Reads digits of the given base (2 to 16), with an optional sign; underscores are skipped.
    pub fn parse(text: &str, base: u32) -> Option<Int> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let digits = || digits.chars().filter(|&c| c != '_');
        digits().next()?;
        let mut small: Option<i64> = Some(0);
        for c in digits() {
            let digit = i64::from(c.to_digit(base)?);
            small = small
                .and_then(|n| n.checked_mul(i64::from(base)))
                .and_then(|n| n.checked_add(digit));
        }
        if let Some(n) = small {
            return Some(Int::Small(if negative { -n } else { n }));
        }
        // Little-endian decimal digits, nine at a time, so that long input stays quick.
        const LIMB: u64 = 1_000_000_000;
        let mut limbs: Vec<u64> = vec![0];
        for c in digits() {
            let mut carry = u64::from(c.to_digit(base)?);
            for limb in &mut limbs {
                let n = *limb * u64::from(base) + carry;
                *limb = n % LIMB;
                carry = n / LIMB;
            }
            if carry > 0 {
                limbs.push(carry);
            }
        }
        let mut out = String::new();
        if negative {
            out.push('-');
        }
        let mut rest = limbs.iter().rev();
        if let Some(first) = rest.next() {
            out.push_str(&first.to_string());
        }
        for limb in rest {
            out.push_str(&format!("{limb:09}"));
        }
        Some(Int::Big(out.into()))
    }

    /// The number as a machine word, when it fits one.
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Int::Small(n) => Some(*n),
            Int::Big(_) => None,
        }
    }

    /// The nearest floating-point number.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest float is what is asked for"
    )]
    pub fn to_f64(&self) -> f64 {
        match self {
            Int::Small(n) => *n as f64,
            Int::Big(text) => text.parse().unwrap_or(f64::NAN),
        }
    }
}

impl From<i64> for Int {
    fn from(n: i64) -> Self {
        Int::Small(n)
    }
}

impl From<usize> for Int {
    fn from(n: usize) -> Self {
        Int::Small(i64::try_from(n).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Int::Small(n) => write!(f, "{n}"),
            Int::Big(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Self) -> Ordering {
        // A big number is farther from zero than any small one.
        let magnitude = |text: &str| (text.trim_start_matches('-').len(), text.to_owned());
        match (self, other) {
            (Int::Small(a), Int::Small(b)) => a.cmp(b),
            (Int::Small(_), Int::Big(b)) if b.starts_with('-') => Ordering::Greater,
            (Int::Small(_), Int::Big(_)) => Ordering::Less,
            (Int::Big(_), Int::Small(_)) => other.cmp(self).reverse(),
            (Int::Big(a), Int::Big(b)) => match (a.starts_with('-'), b.starts_with('-')) {
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => magnitude(a).cmp(&magnitude(b)),
                (true, true) => magnitude(b).cmp(&magnitude(a)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn int(text: &str) -> Int {
        Int::parse(text, 10).unwrap()
    }

    #[test]
    fn numbers_beyond_a_word_are_exact() {
        let two_to_256 =
            "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        let hex = format!("1{}", "0".repeat(64));
        assert_eq!(Int::parse(&hex, 16).unwrap().to_string(), two_to_256);
        assert!(int(two_to_256) > int("5"));
        assert!(int(&format!("-{two_to_256}")) < int("-5"));
        assert!(int(&format!("{two_to_256}0")) > int(two_to_256));
        assert_eq!(int("1_000"), Int::Small(1000));
        assert_eq!(Int::parse("", 10), None);
        assert_eq!(Int::parse("-", 10), None);
        assert_eq!(Int::parse("_", 10), None);
        assert_eq!(Int::parse("12x", 10), None);
    }

    proptest! {
        #[test]
        fn order_agrees_with_padded_text(a in "[1-9][0-9]{0,60}", b in "[1-9][0-9]{0,60}") {
            let padded = |s: &str| format!("{s:0>61}");
            prop_assert_eq!(int(&a).cmp(&int(&b)), padded(&a).cmp(&padded(&b)));
            let minus = |s: &str| int(&format!("-{s}"));
            prop_assert_eq!(minus(&a).cmp(&minus(&b)), padded(&b).cmp(&padded(&a)));
            prop_assert_eq!(int(&a).to_string(), a);
        }
    }
}
