//! Durations, byte sizes, numbers and truth values that are written as text.

/// A duration such as `1m30s` in nanoseconds.
///
/// # Errors
/// A reason for a message.
pub fn duration(text: &str) -> Result<i128, &'static str> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err("it is empty");
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .ok_or("a unit is missing: `h`, `m`, `s`, `ms` or `us`")?;
        let (number, after) = rest.split_at(digits);
        let unit_length = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_length);
        let scale: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            "w" => 604_800_000_000_000,
            _ => return Err("the units are `h`, `m`, `s`, `ms` and `us`"),
        };
        let amount = decimal(number, scale).ok_or("it is not a number and a unit")?;
        total = total.checked_add(amount).ok_or("it is too long")?;
        rest = next;
    }
    Ok(if negative { -total } else { total })
}

/// A byte size such as `1.5g` in bytes; units are powers of 1024.
///
/// # Errors
/// A reason for a message.
pub fn bytes(text: &str) -> Result<i128, &'static str> {
    const HELP: &str = "it is not a number with a unit such as `b`, `k`, `m`, `g` or `t`";
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let scale: i128 = match unit.trim_start() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        "p" | "pb" | "pib" => 1 << 50,
        _ => return Err(HELP),
    };
    decimal(number, scale).ok_or(HELP)
}

/// A number of processors such as `0.5` in billionths.
///
/// # Errors
/// A reason for a message.
pub fn cpus(text: &str) -> Result<i128, &'static str> {
    let text = text.trim();
    let (negative, number) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let amount = decimal(number, 1_000_000_000).ok_or("it is not a number")?;
    Ok(if negative { -amount } else { amount })
}

/// A whole number.
///
/// # Errors
/// A reason for a message.
pub fn integer(text: &str) -> Result<i128, &'static str> {
    text.trim().parse().map_err(|_| "it is not a whole number")
}

/// A truth value; YAML 1.1 words are accepted, as Compose does.
///
/// # Errors
/// A reason for a message.
pub fn boolean(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "t" | "y" | "yes" | "on" => Ok(true),
        "false" | "0" | "f" | "n" | "no" | "off" => Ok(false),
        _ => Err("it is neither `true` nor `false`"),
    }
}

/// A decimal number times a scale, rounded down.
fn decimal(number: &str, scale: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let mut divisor: i128 = 1;
    let mut numerator: i128 = 0;
    // Digits beyond a billionth of a billionth change no count of bytes or nanoseconds.
    for digit in fraction.chars().take(18) {
        numerator = numerator * 10 + i128::from(digit.to_digit(10)?);
        divisor *= 10;
    }
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = numerator.checked_mul(scale)? / divisor;
    whole.checked_mul(scale)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        assert_eq!(duration("10s"), Ok(10_000_000_000));
        assert_eq!(duration("1m30s"), Ok(90_000_000_000));
        assert_eq!(duration("1.5h"), Ok(5_400_000_000_000));
        assert_eq!(duration("1h5m30s20ms"), Ok(3_930_020_000_000));
        assert_eq!(duration("40us"), Ok(40_000));
        assert_eq!(duration("0"), Ok(0));
        assert_eq!(duration("-1s"), Ok(-1_000_000_000));
        for bad in ["", "10", "s", "1x", "1.2.3s", "ten s", "1s2"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert!(duration(&format!("{}w", "9".repeat(60))).is_err());
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(bytes("50M"), Ok(50 << 20));
        assert_eq!(bytes("1.5g"), Ok(3 << 29));
        assert_eq!(bytes("64kb"), Ok(64 << 10));
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        assert_eq!(bytes("1024"), Ok(1024));
        assert_eq!(bytes("2 k"), Ok(2048));
        for bad in ["", "M", "1x", "-1m", "1..5g", "1.2.3"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn processors_and_truth_values() {
        assert_eq!(cpus("0.50"), Ok(500_000_000));
        assert_eq!(cpus("2"), Ok(2_000_000_000));
        assert!(cpus("two").is_err());
        assert_eq!(boolean("Yes"), Ok(true));
        assert_eq!(boolean("off"), Ok(false));
        assert!(boolean("maybe").is_err());
        assert_eq!(integer(" 3 "), Ok(3));
        assert!(integer("3.5").is_err());
    }
}
