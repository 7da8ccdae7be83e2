//! The custom constraints of Heat that are about the form of a text.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use locus_core::values::{Address, Cidr, Family, Mac, cron, dns, zone};
use serde_json::Value as Json;

/// Whether a text has the form that a named constraint asks for; `None` when that cannot be told.
///
/// What must lie in the future is compared with `now`, where that is known.
pub(super) fn accepts(constraint: &str, text: &str, now: Option<Timestamp>) -> Option<bool> {
    Some(match constraint {
        "ip_addr" => Address::parse(text).is_some(),
        "net_cidr" => is_cidr(text),
        "ip_or_cidr" => Address::parse(text).is_some() || is_cidr(text),
        "mac_addr" => Mac::parse(text).is_some(),
        "dns_name" => dns::is_name(text),
        "rel_dns_name" => text.is_empty() || (!text.ends_with('.') && dns::is_name(text)),
        "dns_domain" => text.is_empty() || (text.ends_with('.') && dns::is_name(text)),
        "json_string" => text.is_empty() || serde_json::from_str::<Json>(text).is_ok(),
        "cron_expression" => cron::is_expression(text),
        "iso_8601" => is_time(text),
        "expiration" | "timezone" if text.is_empty() => true,
        "expiration" => {
            let text = text.trim();
            let past = now.zip(moment(text)).is_some_and(|(now, then)| then <= now);
            is_time(text) && !past
        }
        "timezone" => zone::names().any(|name| name.eq_ignore_ascii_case(text)),
        _ => return None,
    })
}

/// Whether Neutron takes a text for a block: one of IPv4 must be written as it is shown, with the length of its
/// prefix; one of IPv6 may have a netmask.
fn is_cidr(text: &str) -> bool {
    Cidr::parse(text).is_some_and(|cidr| {
        let prefix = text.split_once('/').map(|(_, prefix)| prefix);
        cidr.family() == Family::V6 || prefix == Some(&*cidr.prefix.to_string())
    })
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
            ("net_cidr", "10.0.0.0/024", false),
            ("net_cidr", "2001:db8::/64", true),
            ("net_cidr", "2001:db8::/ffff:ffff::", true),
            ("ip_or_cidr", "10.0.0.1", true),
            ("mac_addr", "00:1b:77:49:54:fd", true),
            ("mac_addr", "001b.7749.54fd", true),
            ("mac_addr", "0:1b:77:49:54:fd", true),
            ("mac_addr", "001b77-4954fd", true),
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
