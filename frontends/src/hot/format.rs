//! The custom constraints of Heat that are about the form of a text.

use std::net::IpAddr;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde_json::Value as Json;

/// Whether a text has the form that a named constraint asks for; `None` when that cannot be told.
///
/// What must lie in the future is compared with `now`, where that is known.
pub(super) fn accepts(constraint: &str, text: &str, now: Option<Timestamp>) -> Option<bool> {
    Some(match constraint {
        "ip_addr" => is_address(text),
        "net_cidr" => is_cidr(text),
        "ip_or_cidr" => is_address(text) || is_cidr(text),
        "mac_addr" => is_mac(text),
        "dns_name" => is_dns_name(text),
        "rel_dns_name" => text.is_empty() || (!text.ends_with('.') && is_dns_name(text)),
        "dns_domain" => text.is_empty() || (text.ends_with('.') && is_dns_name(text)),
        "json_string" => text.is_empty() || serde_json::from_str::<Json>(text).is_ok(),
        "cron_expression" => is_cron(text),
        "iso_8601" => is_time(text),
        "expiration" | "timezone" if text.is_empty() => true,
        "expiration" => {
            let text = text.trim();
            let past = now.zip(moment(text)).is_some_and(|(now, then)| then <= now);
            is_time(text) && !past
        }
        "timezone" => TimeZoneDatabase::bundled().get(text).is_ok(),
        _ => return None,
    })
}

fn is_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, prefix)) = text.split_once('/') else {
        return false;
    };
    let limit = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    prefix.bytes().all(|b| b.is_ascii_digit()) && prefix.parse::<u32>().is_ok_and(|n| n <= limit)
}

/// The forms that netaddr takes: six bytes with `:` or `-`, three words with `.`, or bare.
fn is_mac(text: &str) -> bool {
    let hex = |part: &str, len: std::ops::RangeInclusive<usize>| {
        len.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_hexdigit())
    };
    for separator in [':', '-'] {
        let parts: Vec<&str> = text.split(separator).collect();
        if parts.len() == 6 {
            return parts.iter().all(|part| hex(part, 1..=2));
        }
    }
    for separator in ['.', ':', '-'] {
        let parts: Vec<&str> = text.split(separator).collect();
        if parts.len() == 3 {
            return parts.iter().all(|part| hex(part, 1..=4));
        }
    }
    hex(text, 12..=12)
}

fn is_dns_name(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.is_empty() || text.len() > 255 {
        return false;
    }
    let mut labels = 0;
    for label in name.split('.') {
        labels += 1;
        let word = label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if label.is_empty() || label.len() > 63 || !word {
            return false;
        }
        if label.starts_with('-') || label.ends_with('-') {
            return false;
        }
    }
    let last = name.rsplit('.').next().unwrap_or("");
    labels == 1 || !last.bytes().all(|b| b.is_ascii_digit())
}

/// Five fields, or six with seconds; or a macro such as `@daily`.
fn is_cron(text: &str) -> bool {
    if let Some(word) = text.strip_prefix('@') {
        return [
            "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly",
        ]
        .contains(&word);
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    let limits = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7), (0, 59)];
    matches!(fields.len(), 5 | 6)
        && fields
            .iter()
            .zip(limits)
            .all(|(field, (low, high))| field.split(',').all(|part| is_cron_part(part, low, high)))
}

fn is_cron_part(part: &str, low: u32, high: u32) -> bool {
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range, Some(step)),
        None => (part, None),
    };
    if step.is_some_and(|step| {
        step.parse::<u32>().is_ok_and(|n| n == 0) || step.parse::<u32>().is_err()
    }) {
        return false;
    }
    let names = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "sun",
        "mon", "tue", "wed", "thu", "fri", "sat", "l",
    ];
    let one = |text: &str| {
        let text = text.split('#').next().unwrap_or("").to_lowercase();
        match text.parse::<u32>() {
            Ok(n) => (low..=high).contains(&n),
            Err(_) => names.contains(&&*text),
        }
    };
    match range {
        "*" | "?" => true,
        _ => range.split('-').count() <= 2 && range.split('-').all(one),
    }
}

/// A date, with or without a time and a zone.
fn is_time(text: &str) -> bool {
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let number = |text: &str, len: usize, max: u32| {
        text.len() == len
            && text.bytes().all(|b| b.is_ascii_digit())
            && text.parse::<u32>().is_ok_and(|n| n <= max)
    };
    let parts: Vec<&str> = date.split('-').collect();
    let date_ok = match parts.as_slice() {
        [year, month, day] => number(year, 4, 9999) && number(month, 2, 12) && number(day, 2, 31),
        [compact] => number(compact, 8, 99_991_231),
        _ => false,
    };
    let time_ok = time.is_none_or(|time| {
        let clock = time.split(['Z', '+', '-']).next().unwrap_or("");
        let clock = clock.split(['.', ',']).next().unwrap_or("");
        let parts: Vec<&str> = clock.split(':').collect();
        let limits = [24, 59, 60];
        (1..=3).contains(&parts.len())
            && parts
                .iter()
                .zip(limits)
                .all(|(part, max)| number(part, 2, max))
    });
    date_ok && time_ok
}

/// The moment that a text names; without a zone it is in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let at = |time: DateTime| {
        time.to_zoned(TimeZone::UTC)
            .ok()
            .map(|zoned| zoned.timestamp())
    };
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| at(text.parse::<DateTime>().ok()?))
        .or_else(|| at(text.parse::<Date>().ok()?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        let cases = [
            ("ip_addr", "10.0.0.1", true),
            ("ip_addr", "fe80::1", true),
            ("ip_addr", "10.0.0", false),
            ("ip_addr", "10.0.0.256", false),
            ("net_cidr", "10.0.0.0/24", true),
            ("net_cidr", "10.0.0.5/24", true),
            ("net_cidr", "10.0.0.0", false),
            ("net_cidr", "10.0.0.0/33", false),
            ("net_cidr", "10.0.0.0/255.255.255.0", false),
            ("net_cidr", "2001:db8::/64", true),
            ("ip_or_cidr", "10.0.0.1", true),
            ("mac_addr", "00:1b:77:49:54:fd", true),
            ("mac_addr", "001b.7749.54fd", true),
            ("mac_addr", "00:1b:77:49:54", false),
            ("dns_name", "host-1.example.org", true),
            ("dns_name", "-host", false),
            ("dns_domain", "example.org.", true),
            ("dns_domain", "example.org", false),
            ("rel_dns_name", "", true),
            ("cron_expression", "*/5 0-6 * jan mon", true),
            ("cron_expression", "@daily", true),
            ("cron_expression", "61 * * * *", false),
            ("cron_expression", "* * * *", false),
            ("json_string", "{\"a\": 1}", true),
            ("json_string", "{a", false),
            ("expiration", "2030-01-01T00:00:00", true),
            ("expiration", "tomorrow", false),
            ("expiration", "", true),
            ("expiration", "2025-06-01T12:00:00Z", true),
            ("expiration", "2025-06-01T12:00:00+02:00", false),
            ("expiration", "2017-12-28T19:14:44.180394", false),
            ("expiration", "2017-12-28", false),
            ("timezone", "Europe/Paris", true),
            ("timezone", "UTC", true),
            ("timezone", "Europe/Pariss", false),
        ];
        let now = moment("2025-06-01T11:00:00Z").expect("a time");
        for (constraint, text, expected) in cases {
            assert_eq!(
                accepts(constraint, text, Some(now)),
                Some(expected),
                "{constraint}: {text}"
            );
        }
        assert_eq!(accepts("neutron.network", "net", None), None);
    }
}
