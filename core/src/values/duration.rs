//! Durations as Compose and Go read them.

use super::Malformed;
use super::decimal::{scaled, split};

/// A length of time in nanoseconds; it may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(i128);

const SECOND: i128 = 1_000_000_000;

/// Units from the longest, as a duration is shown.
const UNITS: [(&str, i128); 6] = [
    ("h", 3600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl Duration {
    /// Reads a duration such as `1m30s`.
    ///
    /// # Errors
    /// When it is not a sequence of numbers with units, or longer than 292 years.
    pub fn parse(text: &str) -> Result<Duration, Malformed> {
        let (negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Ok(Duration(0));
        }
        if rest.is_empty() {
            return Err(Malformed("it is empty"));
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let (number, after) = split(rest);
            if after.is_empty() {
                return Err(Malformed("a unit is missing: `h`, `m`, `s`, `ms` or `us`"));
            }
            let end = after
                .find(|c: char| c.is_ascii_digit() || c == '.')
                .unwrap_or(after.len());
            let (unit, next) = after.split_at(end);
            let scale: i128 = match unit {
                "µs" | "μs" => 1_000,
                "d" => 24 * 3600 * SECOND,
                "w" => 7 * 24 * 3600 * SECOND,
                _ => UNITS
                    .iter()
                    .find(|(name, _)| *name == unit)
                    .map(|&(_, scale)| scale)
                    .ok_or(Malformed("the units are `h`, `m`, `s`, `ms` and `us`"))?,
            };
            let amount = scaled(number, scale).ok_or(Malformed("it is not a number and a unit"))?;
            // Go counts nanoseconds in 64 bits and refuses what does not fit.
            total = total
                .checked_add(amount)
                .filter(|&total| total <= i128::from(i64::MAX) + i128::from(negative))
                .ok_or(Malformed("it is too long"))?;
            rest = next;
        }
        Ok(Duration(if negative { -total } else { total }))
    }

    /// The number of nanoseconds.
    pub fn nanoseconds(self) -> i128 {
        self.0
    }
}

impl std::fmt::Display for Duration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let mut rest = self.0.unsigned_abs();
        for (name, scale) in UNITS {
            let count = rest / scale.unsigned_abs();
            rest %= scale.unsigned_abs();
            if count > 0 {
                write!(f, "{count}{name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_exact() {
        for (text, nanoseconds) in [
            ("10s", 10_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("1h5m30s20ms", 3_930_020_000_000),
            ("40us", 40_000),
            ("0", 0),
            ("-1s", -1_000_000_000),
            ("1d", 86_400_000_000_000),
        ] {
            assert_eq!(
                Duration::parse(text).unwrap().nanoseconds(),
                nanoseconds,
                "{text}"
            );
        }
        for bad in [
            "", "-", "10", "s", "1x", "1.2.3s", "ten s", "1s2", "106752d",
        ] {
            assert!(Duration::parse(bad).is_err(), "{bad}");
        }
        assert!(Duration::parse(&format!("{}w", "9".repeat(60))).is_err());
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(nanoseconds in any::<i64>()) {
            let duration = Duration(i128::from(nanoseconds));
            prop_assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-+0-9.hmsuµdwn ]{0,16}") {
            if let Ok(duration) = Duration::parse(&text) {
                prop_assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
            }
        }
    }
}
