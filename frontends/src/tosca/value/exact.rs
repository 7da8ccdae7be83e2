//! Decimal numbers, multiplied and compared exactly.

use std::cmp::Ordering;

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
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
    pub fn float(self) -> f64 {
        self.digits as f64 * 10_f64.powi(self.power)
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
}
