//! Resource quantities as Kubernetes writes them, compared exactly.

/// A quantity in units of one thousand-millionth, which is as fine as Kubernetes goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

const NANO: i128 = 1_000_000_000;

/// A number with an optional sign and fraction, as digits and the number of those after the point.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut digits: i128 = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        if !byte.is_ascii_digit() {
            return None;
        }
        digits = digits
            .checked_mul(10)?
            .checked_add(i128::from(byte - b'0'))?;
    }
    let digits = if negative { -digits } else { digits };
    Some((digits, u32::try_from(fraction.len()).ok()?))
}

impl Quantity {
    /// Reads a Kubernetes quantity: `250m`, `1.5Gi`, `12e6`. `None` also for one beyond exact comparison.
    pub fn parse(text: &str) -> Option<Quantity> {
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-')))
            .unwrap_or(text.len());
        let (number, suffix) = (text.get(..end)?, text.get(end..)?);
        let (power, binary): (i32, u32) = match suffix {
            "n" => (-9, 0),
            "u" => (-6, 0),
            "m" => (-3, 0),
            "" => (0, 0),
            "k" => (3, 0),
            "M" => (6, 0),
            "G" => (9, 0),
            "T" => (12, 0),
            "P" => (15, 0),
            "E" => (18, 0),
            "Ki" => (0, 10),
            "Mi" => (0, 20),
            "Gi" => (0, 30),
            "Ti" => (0, 40),
            "Pi" => (0, 50),
            "Ei" => (0, 60),
            _ => {
                let exponent = suffix.strip_prefix(['e', 'E'])?;
                (exponent.parse().ok()?, 0)
            }
        };
        Self::scale(number, power, binary)
    }

    fn scale(number: &str, power: i32, binary: u32) -> Option<Quantity> {
        let (digits, fraction) = decimal(number)?;
        let shift = power
            .checked_add(9)?
            .checked_sub(i32::try_from(fraction).ok()?)?;
        let scaled = digits.checked_mul(1_i128.checked_shl(binary)?)?;
        let magnitude = 10_i128.checked_pow(shift.unsigned_abs());
        let exact = if shift >= 0 {
            scaled.checked_mul(magnitude?)?
        } else {
            match magnitude {
                // What is finer than the finest unit is rounded away from zero, as Kubernetes does.
                Some(magnitude) => {
                    let rest = (scaled % magnitude).signum();
                    scaled / magnitude + rest
                }
                None => scaled.signum(),
            }
        };
        Some(Quantity(exact))
    }

    /// In thousandths, rounded up.
    pub fn thousandths(self) -> i128 {
        let unit = NANO / 1000;
        self.0.div_euclid(unit) + i128::from(self.0.rem_euclid(unit) != 0)
    }

    /// The whole number, when it is one.
    pub fn whole(self) -> Option<i128> {
        (self.0 % NANO == 0).then_some(self.0 / NANO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quantity(text: &str) -> Quantity {
        Quantity::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn equal_amounts_in_different_units() {
        for (a, b) in [
            ("1000m", "1"),
            ("1Ki", "1024"),
            ("1e3", "1k"),
            ("0.5Gi", "512Mi"),
            ("1.5", "1500m"),
            ("-1", "-1000m"),
            ("1E", "1e18"),
        ] {
            assert_eq!(quantity(a), quantity(b), "{a} {b}");
        }
        assert!(quantity("1G") < quantity("1Gi"));
        assert!(quantity("100u") < quantity("1m"));
        assert_eq!(quantity("0.1n"), quantity("1n"));
        for text in [
            "",
            ".",
            "m",
            "1KB",
            "1.2.3",
            "1 Gi",
            "1ee3",
            "1e999999999999",
            "--1",
        ] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_keep_their_order(a in -1_000_000i64..1_000_000, b in -1_000_000i64..1_000_000) {
            prop_assert_eq!(quantity(&a.to_string()).cmp(&quantity(&b.to_string())), a.cmp(&b));
            prop_assert_eq!(quantity(&format!("{a}m")).cmp(&quantity(&format!("{b}m"))), a.cmp(&b));
            prop_assert_eq!(quantity(&format!("{a}Ki")), quantity(&(a * 1024).to_string()));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,16}") {
            if let Some(quantity) = Quantity::parse(&text) {
                prop_assert!(quantity >= quantity);
            }
        }
    }
}
