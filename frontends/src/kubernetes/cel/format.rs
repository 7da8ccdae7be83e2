//! Forms of texts that have names.

use super::url::Url;
use super::{bytes, time};
use crate::kubernetes::text;

/// A form of texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format(&'static str);

const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

impl Format {
    /// The form of a name.
    pub(super) fn named(name: &str) -> Option<Format> {
        let mut known = NAMES.iter().filter(|known| **known == name);
        known.next().map(|name| Format(name))
    }

    /// Whether a text has the form; none when that is not known here.
    pub(super) fn accepts(self, given: &str) -> Option<bool> {
        // What comes before a generated end may end with a hyphen.
        let before = match given.strip_suffix('-') {
            Some(start) => format!("{start}a"),
            None => given.to_owned(),
        };
        Some(match self.0 {
            "dns1123Label" => text::is_dns_label(given),
            "dns1123Subdomain" => text::is_dns_subdomain(given),
            "dns1035Label" => text::is_rfc1035_label(given),
            "qualifiedName" => text::is_qualified_name(given),
            "dns1123LabelPrefix" => text::is_dns_label(&before),
            "dns1123SubdomainPrefix" => text::is_dns_subdomain(&before),
            "dns1035LabelPrefix" => text::is_rfc1035_label(&before),
            "labelValue" => text::is_label_value(given),
            "uri" => Url::parse(given).is_some(),
            "uuid" => is_uuid(given)?,
            "byte" => bytes::decoded(given).is_some(),
            "date" => time::instant(&format!("{given}T00:00:00Z")).is_some(),
            // More forms of times are read there than here.
            "datetime" => time::instant(given).map(|_| true)?,
            _ => return None,
        })
    }
}

/// Whether a text is a UUID; none for forms that are rare.
fn is_uuid(given: &str) -> Option<bool> {
    let parts: Vec<&str> = given.split('-').collect();
    let hex = |part: &&str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if lengths == [8, 4, 4, 4, 12] && parts.iter().all(hex) {
        return Some(true);
    }
    let digits = given.bytes().filter(u8::is_ascii_hexdigit).count();
    (digits != 32).then_some(false)
}
