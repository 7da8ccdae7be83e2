//! Amounts with units, as the server keeps them: a number and a power of ten, and whether it is short enough to be a plain number.

use std::cmp::Ordering;

use super::fault::{Fault, fails};

/// The finest part that is kept.
const FINEST: i32 = -9;

/// An amount.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    number: i128,
    /// The power of ten of its unit.
    scale: i32,
    /// Whether the server keeps it as a plain number of 64 bits; one that is not has no whole number for it.
    plain: bool,
}

/// What came of reading a text.
pub(super) enum Read {
    Quantity(Quantity),
    /// The text is not an amount.
    Wrong,
    /// It is one, beyond what is exact here.
    Beyond,
}

impl Quantity {
    /// The amount of a text.
    pub(super) fn read(text: &str) -> Read {
        Self::parsed(text).map_or(Read::Wrong, |exact| {
            exact.map_or(Read::Beyond, Read::Quantity)
        })
    }

    /// None at the outside when it is no amount, at the inside when it is beyond what is exact.
    fn parsed(text: &str) -> Option<Option<Quantity>> {
        if text.is_empty() {
            return None;
        }
        let negative = text.starts_with('-');
        let body = text.strip_prefix(['-', '+']).unwrap_or(text);
        let digits = |text: &str| {
            text.find(|c: char| !c.is_ascii_digit())
                .unwrap_or(text.len())
        };
        let (whole, rest) = body.split_at_checked(digits(body))?;
        let (fraction, unit) = match rest.strip_prefix('.') {
            None => ("", rest),
            Some(after) => after.split_at_checked(digits(after))?,
        };
        let significant = whole.trim_start_matches('0');
        let significant = if significant.is_empty() {
            "0"
        } else {
            significant
        };
        let (base, exponent) = unit_of(unit)?;
        let length = i32::try_from(significant.len() + fraction.len()).unwrap_or(i32::MAX);
        let all = format!("{significant}{fraction}");
        let Ok(number) = all.parse::<i128>() else {
            return Some(None);
        };
        let number = if negative { -number } else { number };
        let places = i32::try_from(fraction.len()).unwrap_or(i32::MAX);
        let (number, scale, room) = if base == 10 {
            (Some(number), exponent.saturating_sub(places), 18 - length)
        } else {
            let power = u32::try_from(exponent).ok().map(|power| 1_i128 << power);
            let number = power.and_then(|power| number.checked_mul(power));
            let room = match fraction.is_empty() {
                true => 15 - length - exponent * 3 / 10 - 1,
                false => -1,
            };
            (number, -places, room)
        };
        let Some(number) = number else {
            return Some(None);
        };
        let short = i64::try_from(number).is_ok();
        let mut quantity = Quantity {
            number,
            scale,
            plain: room >= 0 && scale >= FINEST && short,
        };
        if !quantity.plain && !quantity.round_up(base == 2) {
            return Some(None);
        }
        Some(Some(quantity))
    }

    /// Rounds away from zero to the finest part, and keeps to what is the most; whether that can be done here.
    fn round_up(&mut self, binary: bool) -> bool {
        if self.scale < FINEST {
            let drop = u32::try_from(FINEST - self.scale).unwrap_or(u32::MAX);
            let Some(power) = 10_i128.checked_pow(drop) else {
                return false;
            };
            let away = i128::from(self.number % power != 0) * self.number.signum();
            self.number = self.number / power + away;
            self.scale = FINEST;
        }
        // Amounts with units of two are capped.
        let most = i128::from(i64::MAX);
        let within = |fine: i128| fine.abs() <= most.saturating_mul(1_000_000_000);
        if binary && !self.fine().is_some_and(within) {
            self.number = most * self.number.signum();
            self.scale = 0;
        }
        true
    }

    pub(super) fn of_int(number: i64) -> Quantity {
        Quantity {
            number: number.into(),
            scale: 0,
            plain: true,
        }
    }

    /// In the finest parts.
    fn fine(&self) -> Option<i128> {
        if self.number == 0 {
            return Some(0);
        }
        let power = u32::try_from(self.scale - FINEST).ok()?;
        self.number.checked_mul(10_i128.checked_pow(power)?)
    }

    /// The order of two amounts; none when they are too large to tell.
    pub(super) fn compare(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.fine()?.cmp(&other.fine()?))
    }

    pub(super) fn sign(&self) -> i64 {
        i64::try_from(self.number.signum()).unwrap_or(0)
    }

    /// The whole number, where the server has one.
    pub(super) fn whole(&self) -> Option<i64> {
        let power = u32::try_from(self.scale).ok().filter(|_| self.plain)?;
        let whole = self.number.checked_mul(10_i128.checked_pow(power)?)?;
        i64::try_from(whole).ok()
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "the server gives an approximation too"
    )]
    pub(super) fn approximate(&self) -> f64 {
        match u32::try_from(-self.scale) {
            Ok(places) => {
                self.number as f64 / 10_f64.powi(i32::try_from(places).unwrap_or(i32::MAX))
            }
            Err(_) => self.number as f64 * 10_f64.powi(self.scale),
        }
    }

    /// The sum, or the difference.
    pub(super) fn plus(&self, other: &Quantity, minus: bool) -> Result<Quantity, Fault> {
        let other = Quantity {
            number: if minus { -other.number } else { other.number },
            ..*other
        };
        if self.plain && self.number == 0 && other.plain {
            return Ok(other);
        }
        if self.plain && other.plain && other.number == 0 {
            return Ok(*self);
        }
        let scale = self.scale.min(other.scale);
        let at = |quantity: &Quantity| {
            let power = u32::try_from(quantity.scale - scale).ok()?;
            quantity.number.checked_mul(10_i128.checked_pow(power)?)
        };
        let sum = at(self).zip(at(&other));
        let sum = sum
            .and_then(|(a, b)| a.checked_add(b))
            .ok_or(Fault::Unknown)?;
        Ok(Quantity {
            number: sum,
            scale,
            plain: self.plain && other.plain && i64::try_from(sum).is_ok(),
        })
    }

    pub(super) fn as_integer(&self) -> Result<i64, Fault> {
        match self.whole() {
            Some(whole) => Ok(whole),
            None => fails("cannot convert value to integer"),
        }
    }
}

/// The base and the power of a unit.
fn unit_of(unit: &str) -> Option<(u8, i32)> {
    Some(match unit {
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "" => (10, 0),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (2, 10),
        "Mi" => (2, 20),
        "Gi" => (2, 30),
        "Ti" => (2, 40),
        "Pi" => (2, 50),
        "Ei" => (2, 60),
        other => {
            let exponent = other.strip_prefix(['e', 'E'])?;
            (10, exponent.parse().ok().filter(|n: &i32| n.abs() < 1000)?)
        }
    })
}
