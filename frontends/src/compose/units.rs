//! The units that rules about Compose count in, and truth values that are written as text.

use locus_core::values::{Duration, Malformed, Size, number};

/// A duration such as `1m30s` in nanoseconds.
///
/// # Errors
/// A reason for a message.
pub fn duration(text: &str) -> Result<i128, Malformed> {
    Duration::parse(text).map(Duration::nanoseconds)
}

/// A byte size such as `1.5g` in bytes.
///
/// # Errors
/// A reason for a message.
pub fn bytes(text: &str) -> Result<i128, Malformed> {
    Size::parse(text).map(Size::bytes)
}

/// A number of processors such as `0.5` in billionths.
///
/// # Errors
/// A reason for a message.
pub fn cpus(text: &str) -> Result<i128, Malformed> {
    number::billionths(text.trim()).ok_or(Malformed("it is not a number"))
}

/// A whole number.
///
/// # Errors
/// A reason for a message.
pub fn integer(text: &str) -> Result<i128, Malformed> {
    let number = text.trim().parse();
    number.map_err(|_| Malformed("it is not a whole number"))
}

/// A truth value; YAML 1.1 words are accepted, as Compose does.
///
/// # Errors
/// A reason for a message.
pub fn boolean(text: &str) -> Result<bool, Malformed> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "t" | "y" | "yes" | "on" => Ok(true),
        "false" | "0" | "f" | "n" | "no" | "off" => Ok(false),
        _ => Err(Malformed("it is neither `true` nor `false`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_and_truth_values() {
        assert_eq!(cpus("0.50"), Ok(500_000_000));
        assert_eq!(cpus("2"), Ok(2_000_000_000));
        assert_eq!(cpus("-1"), Ok(-1_000_000_000));
        assert!(cpus("two").is_err());
        assert_eq!(boolean("Yes"), Ok(true));
        assert_eq!(boolean("off"), Ok(false));
        assert!(boolean("maybe").is_err());
        assert_eq!(integer(" 3 "), Ok(3));
        assert!(integer("3.5").is_err());
    }
}
