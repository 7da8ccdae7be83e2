//! Byte sizes as Docker reads them: units are powers of 1024.

use super::Malformed;
use super::decimal::{scaled, split};

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(i128);

impl Size {
    /// Reads a size such as `512m` or `1.5gb`; without a unit it is in bytes.
    ///
    /// # Errors
    /// When it is not a number with a unit.
    pub fn parse(text: &str) -> Result<Size, Malformed> {
        const REASON: Malformed =
            Malformed("it is not a number with a unit such as `b`, `k`, `m`, `g` or `t`");
        let lower = text.trim().to_ascii_lowercase();
        let (number, unit) = split(&lower);
        let scale: i128 = match unit.trim_start() {
            "" | "b" => 1,
            "k" | "kb" | "kib" => 1 << 10,
            "m" | "mb" | "mib" => 1 << 20,
            "g" | "gb" | "gib" => 1 << 30,
            "t" | "tb" | "tib" => 1 << 40,
            "p" | "pb" | "pib" => 1 << 50,
            _ => return Err(REASON),
        };
        scaled(number, scale).map(Size).ok_or(REASON)
    }

    /// The number of bytes.
    pub fn bytes(self) -> i128 {
        self.0
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_powers_of_1024() {
        for (text, bytes) in [
            ("50M", 50 << 20),
            ("1.5g", 3 << 29),
            ("64kb", 64 << 10),
            ("1GiB", 1 << 30),
            ("1024", 1024),
            ("10B", 10),
            ("2 k", 2048),
            ("0.3k", 307),
        ] {
            assert_eq!(Size::parse(text).unwrap().bytes(), bytes, "{text}");
        }
        for text in [
            "", "M", "1x", "-1m", "1..5g", "1.2.3", "1bb", "1kii", "1ki", "12x",
        ] {
            assert!(Size::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(text in "[0-9]{1,6}(\\.[0-9]{1,4})? ?([kmgtpKMG](i?b)?|[bB])?") {
            let size = Size::parse(&text).unwrap();
            prop_assert_eq!(Size::parse(&size.to_string()), Ok(size));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,16}") {
            if let Ok(size) = Size::parse(&text) {
                prop_assert!(size.bytes() >= 0);
            }
        }
    }
}
