//! Times and durations, as the server's language writes them.

use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::tz::{Offset, TimeZone};

use super::fault::{Answer, Fault, fails, or_fails};
use super::value::Value;

const SECOND: i128 = 1_000_000_000;

/// A time as RFC 3339 writes it.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let shape = b"0000-00-00T00:00:00";
    let head = bytes.get(..shape.len())?;
    let fits = head.iter().zip(shape).all(|(byte, wanted)| match wanted {
        b'0' => byte.is_ascii_digit(),
        sign => byte == sign,
    });
    let rest = text.get(shape.len()..).filter(|_| fits)?;
    let fraction = rest.strip_prefix('.');
    let zone = match fraction {
        None => rest,
        Some(after) => {
            let end = after.find(|c: char| !c.is_ascii_digit())?;
            after.get(end..).filter(|_| end > 0)?
        }
    };
    let offset = zone.as_bytes();
    let is_zone = zone == "Z"
        || (offset.len() == 6
            && matches!(offset, [b'+' | b'-', a, b, b':', c, d]
                if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit())));
    // A leap second is no time here, and the year 0 is none.
    (is_zone && text.get(17..19) != Some("60") && !text.starts_with("0000"))
        .then(|| text.parse().ok())
        .flatten()
}

/// A duration as in `1h30m` or `-1.5s`, in nanoseconds.
pub(super) fn duration(text: &str) -> Option<i64> {
    const UNITS: [(&str, i128); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", SECOND),
        ("m", 60 * SECOND),
        ("h", 3600 * SECOND),
    ];
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (whole, after) = rest.split_at_checked(end)?;
        let (fraction, after) = match after.strip_prefix('.') {
            None => ("", after),
            Some(after) => {
                let end = after.find(|c: char| !c.is_ascii_digit())?;
                after.split_at_checked(end)?
            }
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let whole: i128 = match whole {
            "" => 0,
            digits => digits.parse().ok().filter(|n| *n < i128::from(i64::MAX))?,
        };
        total += whole * unit;
        let mut scale = *unit;
        for digit in fraction.chars() {
            scale /= 10;
            total += i128::from(digit.to_digit(10)?) * scale;
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// A duration as a text, in seconds.
pub(super) fn duration_text(nanoseconds: i64) -> String {
    let (sign, all) = match nanoseconds < 0 {
        true => ("-", nanoseconds.unsigned_abs()),
        false => ("", nanoseconds.unsigned_abs()),
    };
    let fraction = format!("{:09}", all % 1_000_000_000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}s", all / 1_000_000_000)
}

/// A time so many nanoseconds later.
pub(super) fn later(time: Timestamp, nanoseconds: i64) -> Answer {
    let moved = time.as_nanosecond() + i128::from(nanoseconds);
    let moved = Timestamp::from_nanosecond(moved).ok();
    moved
        .filter(in_range)
        .map(Value::Time)
        .ok_or_else(|| Fault::Fails("timestamp overflow".to_owned()))
}

fn in_range(time: &Timestamp) -> bool {
    // From the year 1 to the year 9999.
    (-62_135_596_800..=253_402_300_799).contains(&time.as_second())
}

/// The time between two times.
pub(super) fn between(later: Timestamp, earlier: Timestamp) -> Answer {
    let nanoseconds = later.as_nanosecond() - earlier.as_nanosecond();
    let nanoseconds = or_fails(i64::try_from(nanoseconds).ok(), "duration overflow")?;
    Ok(Value::Duration(nanoseconds))
}

/// A time so many seconds after 1970.
pub(super) fn of_seconds(seconds: i64) -> Answer {
    let time = Timestamp::from_second(seconds).ok().filter(in_range);
    or_fails(time.map(Value::Time), "timestamp overflow")
}

/// A part of a time, in a time zone.
pub(super) fn part(name: &str, time: Timestamp, zone: Option<&str>) -> Answer {
    let zone = match zone {
        None => TimeZone::UTC,
        Some(name) => match zone_named(name) {
            Some(zone) => zone,
            None => return fails(format!("unknown time zone `{name}`")),
        },
    };
    let at = zone.to_datetime(time);
    let whole = match name {
        "getFullYear" => i64::from(at.year()),
        "getMonth" => i64::from(at.month()) - 1,
        "getDate" => i64::from(at.day()),
        "getDayOfMonth" => i64::from(at.day()) - 1,
        "getDayOfYear" => i64::from(at.day_of_year()) - 1,
        "getDayOfWeek" => i64::from(at.weekday().since(Weekday::Sunday)),
        "getHours" => i64::from(at.hour()),
        "getMinutes" => i64::from(at.minute()),
        "getSeconds" => i64::from(at.second()),
        "getMilliseconds" => i64::from(at.subsec_nanosecond()) / 1_000_000,
        _ => return Err(Fault::Unknown),
    };
    Ok(Value::Int(whole))
}

fn zone_named(name: &str) -> Option<TimeZone> {
    let Some((hours, minutes)) = name.split_once(':') else {
        return match name {
            "" | "UTC" => Some(TimeZone::UTC),
            name => TimeZone::get(name).ok(),
        };
    };
    let hours: i32 = hours.parse().ok()?;
    let minutes: i32 = minutes.parse().ok()?;
    let seconds = match name.starts_with('-') {
        true => hours * 3600 - minutes * 60,
        false => hours * 3600 + minutes * 60,
    };
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}

/// A part of a duration: all of it in a unit.
pub(super) fn duration_part(name: &str, nanoseconds: i64) -> Answer {
    let unit = match name {
        "getHours" => 3_600_000_000_000,
        "getMinutes" => 60_000_000_000,
        "getSeconds" => 1_000_000_000,
        "getMilliseconds" => 1_000_000,
        _ => return Err(Fault::Unknown),
    };
    Ok(Value::Int(nanoseconds / unit))
}
