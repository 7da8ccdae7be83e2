//! Tar archives: UStar, with the long names of pax and GNU.

use super::{Entry, Fault, MOST_ENTRIES, Packed};

const BLOCK: usize = 512;

/// Whether this is a tar archive.
pub(super) fn is(data: &[u8]) -> bool {
    data.get(257..262) == Some(b"ustar")
}

/// Reads the entries of a tar archive.
pub(super) fn read(data: &[u8]) -> Result<Vec<Entry>, Fault> {
    let truncated = || Fault::broken("the archive is truncated");
    let mut entries = Vec::new();
    let mut at = 0;
    let mut long_name: Option<String> = None;
    loop {
        let Some(header) = data.get(at..at + BLOCK) else {
            // The end marker is missing in archives of some programs; a part of a header is a truncated one.
            if at < data.len() {
                return Err(truncated());
            }
            break;
        };
        if header.iter().all(|&byte| byte == 0) {
            // Programs differ in whether they read on behind the end.
            let rest = data.get(at..).unwrap_or_default();
            if rest.iter().any(|&byte| byte != 0) {
                return Err(Fault::broken("something follows the end of the archive"));
            }
            break;
        }
        if header.get(257..262) != Some(b"ustar") || !has_checksum(header) {
            return Err(Fault::broken(
                "the archive has a header that is no tar header",
            ));
        }
        let size = number(header.get(124..136).unwrap_or_default());
        let size = size.and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or_else(|| Fault::broken("the archive has an entry without a size"))?;
        let start = at + BLOCK;
        let end = start.checked_add(size).filter(|&end| end <= data.len());
        let end = end.ok_or_else(truncated)?;
        let kind = header.get(156).copied().unwrap_or(0);
        let content = data.get(start..end).unwrap_or_default();
        let name = long_name.take().unwrap_or_else(|| name_of(header));
        match kind {
            b'L' => long_name = Some(text(content)),
            b'x' | b'g' => {
                let pax = pax(content).ok_or_else(|| {
                    Fault::broken("the archive has a header of pax that cannot be read")
                })?;
                // What programs read differently, or for all entries at once, is refused.
                if pax.sized || kind == b'g' && pax.path.is_some() {
                    return Err(Fault::broken(
                        "the archive says where or how large an entry is in two ways",
                    ));
                }
                if kind == b'x' {
                    long_name = pax.path;
                }
            }
            b'K' => {}
            0 | b'0' | b'7' | b'5' => {
                entries.push(Entry {
                    is_folder: kind == b'5' || name.ends_with('/'),
                    foreign: false,
                    name,
                    header: at,
                    content: start..end,
                    packed: Packed::Plain,
                });
            }
            b'1' => return Err(Fault::special(&name, "hard link")),
            b'2' => return Err(Fault::special(&name, "symbolic link")),
            b'3' | b'4' | b'6' => return Err(Fault::special(&name, "device or pipe")),
            _ => {
                return Err(Fault::broken(format!(
                    "the entry `{}` is of a kind that is not known",
                    name.escape_debug()
                )));
            }
        }
        if entries.len() > MOST_ENTRIES {
            return Err(Fault::limit(format!(
                "the archive has more than {MOST_ENTRIES} entries"
            )));
        }
        at = start + size.div_ceil(BLOCK) * BLOCK;
    }
    Ok(entries)
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0);
    let bytes = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

fn name_of(header: &[u8]) -> String {
    let name = text(header.get(..100).unwrap_or_default());
    // GNU keeps other things where UStar has the start of a long name.
    let prefix = match header.get(262) {
        Some(0) => text(header.get(345..500).unwrap_or_default()),
        _ => String::new(),
    };
    if prefix.is_empty() {
        name
    } else {
        format!("{prefix}/{name}")
    }
}

/// An octal number, or a binary one when its first bit is set.
fn number(field: &[u8]) -> Option<u64> {
    if let [first, rest @ ..] = field
        && first & 0x80 != 0
    {
        let mut value = u64::from(first & 0x7f);
        for &byte in rest {
            value = value.checked_mul(256)?.checked_add(u64::from(byte))?;
        }
        return Some(value);
    }
    let text = text(field);
    let digits = text.trim();
    if digits.is_empty() {
        return Some(0);
    }
    u64::from_str_radix(digits, 8).ok()
}

/// The sum of all bytes of a header, its own field counted as blanks.
fn has_checksum(header: &[u8]) -> bool {
    let sum: u64 = header
        .iter()
        .enumerate()
        .map(|(at, &byte)| u64::from(if (148..156).contains(&at) { b' ' } else { byte }))
        .sum();
    number(header.get(148..156).unwrap_or_default()) == Some(sum)
}

/// What a header of pax says of an entry.
#[derive(Default)]
struct Pax {
    path: Option<String>,
    /// Whether it says how large the entry is.
    sized: bool,
}

/// Reads a header of pax: records of `length key=value`; none when it is no such.
fn pax(content: &[u8]) -> Option<Pax> {
    let mut rest = content;
    let mut pax = Pax::default();
    while !rest.is_empty() {
        let blank = rest.iter().position(|&byte| byte == b' ')?;
        let long: usize = std::str::from_utf8(rest.get(..blank)?).ok()?.parse().ok()?;
        let record = rest.get(blank + 1..long)?;
        if let Some(value) = record.strip_prefix(b"path=") {
            let value = value.strip_suffix(b"\n").unwrap_or(value);
            pax.path = Some(String::from_utf8_lossy(value).into_owned());
        }
        pax.sized |= record.starts_with(b"size=");
        rest = rest.get(long..)?;
    }
    Some(pax)
}
