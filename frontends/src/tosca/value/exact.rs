//! Decimal numbers, multiplied and compared exactly.

use std::cmp::Ordering;
use std::fmt;

/// A decimal number: digits times a power of ten.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    digits: i128,
    power: i32,
}

impl Exact {
    /// A whole number.
    pub fn whole(number: i128) -> Exact {
        Exact {
            digits: number,
            power: 0,
        }
    }

    /// Reads a number as YAML writes it: `10`, `-1.5`, `1e9`, `0x1F`; none for what has too many digits or is none.
    pub fn parse(text: &str) -> Option<Exact> {
        let (sign, body) = match text.as_bytes().first()? {
            b'-' => (-1, text.get(1..)?),
            b'+' => (1, text.get(1..)?),
            _ => (1, text),
        };
        if let Some(hex) = body.strip_prefix("0x") {
            return Some(Exact::whole(sign * i128::from_str_radix(hex, 16).ok()?));
        }
        if let Some(octal) = body.strip_prefix("0o") {
            return Some(Exact::whole(sign * i128::from_str_radix(octal, 8).ok()?));
        }
        let (number, exponent) = match body.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (body, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let power = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        Some(Exact {
            digits: sign * all.parse::<i128>().ok()?,
            power,
        })
    }

    /// The product, unless it has too many digits.
    pub fn times(self, other: Exact) -> Option<Exact> {
        Some(Exact {
            digits: self.digits.checked_mul(other.digits)?,
            power: self.power.checked_add(other.power)?,
        })
    }

    /// The sum, unless it has too many digits.
    pub fn plus(self, other: Exact) -> Option<Exact> {
        let digits = other.digits.checked_neg()?;
        self.minus(Exact { digits, ..other })
    }

    /// The difference, unless it has too many digits.
    pub fn minus(self, other: Exact) -> Option<Exact> {
        let power = self.power.min(other.power);
        let scaled = |number: Exact| {
            let by = u32::try_from(number.power.checked_sub(power)?).ok()?;
            number.digits.checked_mul(10_i128.checked_pow(by)?)
        };
        Some(Exact {
            digits: scaled(self)?.checked_sub(scaled(other)?)?,
            power,
        })
    }

    /// The quotient, unless it has too many digits or no end.
    pub fn over(self, other: Exact) -> Option<Exact> {
        let mut digits = self.digits;
        let mut power = self.power.checked_sub(other.power)?;
        loop {
            if digits.checked_rem(other.digits)? == 0 {
                let digits = digits.checked_div(other.digits)?;
                return Some(Exact { digits, power });
            }
            digits = digits.checked_mul(10)?;
            power = power.checked_sub(1)?;
        }
    }

    /// The greatest whole number that is not above it, unless it has too many digits.
    pub fn floor(self) -> Option<i128> {
        match u32::try_from(self.power) {
            Ok(by) => self.digits.checked_mul(10_i128.checked_pow(by)?),
            Err(_) => match 10_i128.checked_pow(self.power.unsigned_abs()) {
                Some(factor) => Some(self.digits.div_euclid(factor)),
                None => Some(if self.digits < 0 { -1 } else { 0 }),
            },
        }
    }

    /// The whole number that it is, if it is one.
    pub fn to_whole(self) -> Option<i128> {
        let floor = self.floor()?;
        (self.compare(Exact::whole(floor)) == Ordering::Equal).then_some(floor)
    }

    /// Whether it is one.
    pub fn is_one(self) -> bool {
        self.compare(Exact::whole(1)) == Ordering::Equal
    }

    /// Whether it is above zero.
    pub fn is_positive(self) -> bool {
        self.digits > 0
    }

    /// The order of two numbers.
    pub fn compare(self, other: Exact) -> Ordering {
        let scaled = |number: Exact, by: i32| {
            let factor = 10_i128.checked_pow(u32::try_from(by).ok()?)?;
            number.digits.checked_mul(factor)
        };
        let difference = i64::from(self.power) - i64::from(other.power);
        let by = i32::try_from(difference.abs()).unwrap_or(i32::MAX);
        let pair = if difference >= 0 {
            scaled(self, by).map(|a| (a, other.digits))
        } else {
            scaled(other, by).map(|b| (self.digits, b))
        };
        match pair {
            Some((a, b)) => a.cmp(&b),
            // So far apart that their floats tell the order.
            None => self.float().total_cmp(&other.float()),
        }
    }

    /// The nearest float.
    pub fn float(self) -> f64 {
        let text = format!("{}e{}", self.digits, self.power);
        text.parse().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(whole) = self.to_whole() {
            return write!(f, "{whole}");
        }
        let places = usize::try_from(self.power.unsigned_abs()).unwrap_or(usize::MAX);
        if places > 40 {
            return write!(f, "{}e{}", self.digits, self.power);
        }
        let digits = self.digits.unsigned_abs().to_string();
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let sign = if self.digits < 0 { "-" } else { "" };
        write!(f, "{sign}{whole}.{}", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_compared_exactly() {
        let read = |text| Exact::parse(text).unwrap();
        let kilo = read("0.1").times(read("1000000000")).unwrap();
        assert_eq!(kilo.compare(read("1e8")), Ordering::Equal);
        assert_eq!(
            read("0.3").compare(read("0.30000000000000004")),
            Ordering::Less
        );
        assert_eq!(read("-1.5").compare(read("-1.50")), Ordering::Equal);
        assert_eq!(read("1e300").compare(read("1")), Ordering::Greater);
        assert_eq!(read("0x1F").compare(read("31")), Ordering::Equal);
        for text in ["", "-", ".", "1,000", "one", "1e", "0x"] {
            assert!(Exact::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn decimals_are_added_and_divided_exactly() {
        let read = |text| Exact::parse(text).unwrap();
        let shown = |number: Option<Exact>| number.map(|number| number.to_string());
        assert_eq!(shown(read("0.1").plus(read("0.2"))).as_deref(), Some("0.3"));
        assert_eq!(shown(read("5").over(read("2"))).as_deref(), Some("2.5"));
        assert_eq!(shown(read("-1").over(read("8"))).as_deref(), Some("-0.125"));
        assert_eq!(shown(read("1").over(read("3"))), None);
        assert_eq!(shown(read("1").over(read("0"))), None);
        assert_eq!(read("-0.5").floor(), Some(-1));
        assert_eq!(read("1e3").floor(), Some(1000));
        assert_eq!(read("2.50").to_whole(), None);
        assert_eq!(read("2.00").to_whole(), Some(2));
    }
}
