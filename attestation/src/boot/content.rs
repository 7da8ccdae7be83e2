//! What was measured, as far as its digest proves what the log says.

use std::fmt;

use super::kind::EventKind;
use super::log::Event;
use crate::digest::Digest;

/// Prefixes that boot loaders put before what they measure; the digest is of the text after them.
const PREFIXES: [&str; 4] = [
    "grub_cmd: ",
    "kernel_cmdline: ",
    "module_cmdline: ",
    "grub_kernel_cmdline ",
];

/// The name space of the variables that the UEFI specification defines (`SecureBoot`, `PK`, `KEK`).
const GLOBAL: &str = "8be4df61-93ca-11d2-aa0d-00e098032b8c";
/// The name space of `db` and `dbx`.
const IMAGE_SECURITY: &str = "d719b2cb-3d3a-4596-a3bc-dad00e67656f";

/// A UEFI variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable<'a> {
    /// Its name: alone for those of the UEFI specification, otherwise as Linux writes it, `Name-GUID`.
    pub name: String,
    /// Its value.
    pub value: &'a [u8],
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A UEFI variable, name and value.
    Variable(Variable<'a>),
    /// A text.
    Text(String),
    /// The four bytes that end what firmware measures; others tell of an error.
    Separator,
    /// Something of which the log has only the digest, or of which it says what the digest does not prove.
    Unproven,
}

impl<'a> Content<'a> {
    /// What an event is about, by the digest that a register vouches for.
    pub fn of(event: &Event<'a>, digest: &Digest) -> Self {
        let proves = |bytes: &[u8]| digest.alg().hash(&[bytes]) == *digest;
        if proves(event.data) {
            if matches!(event.data, [0, 0, 0, 0] | [0xff, 0xff, 0xff, 0xff]) {
                return Content::Separator;
            }
            if event.kind.is_variable()
                && let Some(variable) = Variable::parse(event.data)
            {
                return Content::Variable(variable);
            }
            return text_of(event.data).map_or(Content::Unproven, Content::Text);
        }
        if event.kind == EventKind::IPL
            && let Some(text) = text_of(event.data)
            && let Some(measured) = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix))
        {
            // GRUB leaves the final zero out of what it measures; some versions do not.
            let mut with_zero = measured.as_bytes().to_vec();
            with_zero.push(0);
            if proves(measured.as_bytes()) || proves(&with_zero) {
                return Content::Text(measured.to_owned());
            }
        }
        Content::Unproven
    }
}

impl<'a> Variable<'a> {
    /// The structure `UEFI_VARIABLE_DATA`, whole.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (guid, rest) = bytes.split_first_chunk::<16>()?;
        let (units, rest) = rest.split_first_chunk::<8>()?;
        let (size, rest) = rest.split_first_chunk::<8>()?;
        let units = usize::try_from(u64::from_le_bytes(*units)).ok()?;
        let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
        let (name, value) = rest.split_at_checked(units.checked_mul(2)?)?;
        if value.len() != size {
            return None;
        }
        let (name, guid) = (utf16(name)?, guid_text(guid));
        let name = match guid.as_str() {
            GLOBAL => name,
            IMAGE_SECURITY if matches!(name.as_str(), "db" | "dbx" | "dbr" | "dbt") => name,
            other => format!("{name}-{other}"),
        };
        Some(Variable { name, value })
    }
}

/// A GUID as people write it.
fn guid_text(bytes: &[u8; 16]) -> String {
    uuid::Uuid::from_bytes_le(*bytes).to_string()
}

fn utf16(bytes: &[u8]) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else {
        return None;
    };
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    let text = String::from_utf16(&units).ok()?;
    let text = text.trim_end_matches('\0');
    (!text.is_empty() && text.chars().all(|c| !c.is_control())).then(|| text.to_owned())
}

/// Printable text in UTF-8 or UTF-16, with or without a final zero.
fn text_of(bytes: &[u8]) -> Option<String> {
    let printable = |text: &&str| !text.is_empty() && text.chars().all(|c| !c.is_control());
    let plain = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let text = std::str::from_utf8(plain).ok().filter(printable);
    text.map(str::to_owned).or_else(|| utf16(bytes))
}

impl fmt::Display for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Variable(variable) => write!(f, "variable `{}`", variable.name),
            Content::Text(text) => write!(f, "`{text}`"),
            Content::Separator => f.write_str("the separator"),
            Content::Unproven => f.write_str("content known by its digest alone"),
        }
    }
}
