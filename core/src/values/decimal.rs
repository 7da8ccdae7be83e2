//! Decimal numbers with a unit, scaled to a count of the smallest unit.

/// A decimal number without a sign times a scale, rounded down; `None` when it is not one, or too large.
pub(super) fn scaled(number: &str, scale: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
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
    for digit in fraction.bytes().take(18) {
        numerator = numerator * 10 + i128::from(digit - b'0');
        divisor *= 10;
    }
    let part = numerator.checked_mul(scale)? / divisor;
    whole.checked_mul(scale)?.checked_add(part)
}

/// Where the number at the start of a text ends and its unit begins.
pub(super) fn split(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    text.split_at(end)
}
