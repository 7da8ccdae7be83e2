//! Zip archives, read by their central directory and compared with the local headers.
//!
//! Readers of zip files differ in whom they believe when the two disagree, in which of two entries with one name they take, and
//! in what they do with entries that overlap: each such archive is refused, so that what is checked is what is deployed.

use super::{Entry, Fault, MOST_ENTRIES, Packed};

const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const LOCAL: u32 = 0x0403_4b50;
/// Whether names are UTF-8.
const UTF_8: u16 = 1 << 11;
/// Whether sizes follow the data.
const DESCRIPTOR: u16 = 1 << 3;

fn bytes<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    bytes(data, at).map(u16::from_le_bytes)
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    bytes(data, at).map(u32::from_le_bytes)
}

fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    bytes(data, at).map(u64::from_le_bytes)
}

fn place(number: u64) -> Option<usize> {
    usize::try_from(number).ok()
}

/// Where the central directory is, and how many entries it has.
struct Directory {
    start: usize,
    end: usize,
    entries: u64,
}

/// Reads the entries of a zip archive; their content stays packed.
pub(super) fn read(data: &[u8]) -> Result<Vec<Entry>, Fault> {
    let directory = directory(data)?;
    if directory.entries > MOST_ENTRIES as u64 {
        return Err(Fault::limit(format!(
            "the archive has {} entries, and at most {MOST_ENTRIES} are read",
            directory.entries
        )));
    }
    let mut entries = Vec::new();
    let mut at = directory.start;
    while at < directory.end {
        let (entry, next) = central(data, at, directory.end)?;
        entries.push(entry);
        at = next;
        if entries.len() > MOST_ENTRIES {
            return Err(Fault::limit(format!(
                "the archive has more than {MOST_ENTRIES} entries"
            )));
        }
    }
    if entries.len() as u64 != directory.entries {
        return Err(Fault::broken(format!(
            "the archive says that it has {} entries, and lists {}",
            directory.entries,
            entries.len()
        )));
    }
    apart(&entries, directory.start)?;
    Ok(entries)
}

fn truncated() -> Fault {
    Fault::broken("the archive is truncated or is no zip file: its directory is not there")
}

fn directory(data: &[u8]) -> Result<Directory, Fault> {
    let lowest = data.len().saturating_sub(22 + usize::from(u16::MAX));
    let highest = data.len().checked_sub(22).ok_or_else(truncated)?;
    let mut ends = (lowest..=highest).rev();
    let end = ends.find(|&at| {
        let comment = u16_at(data, at + 20).map(usize::from);
        u32_at(data, at) == Some(END) && comment.is_some_and(|long| at + 22 + long <= data.len())
    });
    let end = end.ok_or_else(truncated)?;
    let comment = u16_at(data, end + 20).map_or(0, usize::from);
    let after = data.len() - (end + 22 + comment);
    if after > 0 {
        return Err(Fault::broken(format!(
            "{after} bytes follow the end of the archive"
        )));
    }
    let half = |offset| u16_at(data, end + offset).map_or(0, u64::from);
    let word = |offset| u32_at(data, end + offset).map_or(0, u64::from);
    let (mut disk, mut first, mut here, mut all) = (half(4), half(6), half(8), half(10));
    let (mut size, mut start) = (word(12), word(16));
    let mut last = end;
    let locator = end
        .checked_sub(20)
        .filter(|&at| u32_at(data, at) == Some(LOCATOR_64));
    if let Some(locator) = locator {
        let at = u64_at(data, locator + 8).and_then(place);
        let at = at.filter(|&at| u32_at(data, at) == Some(END_64) && at < locator);
        let at = at.ok_or_else(truncated)?;
        let word = |offset| u32_at(data, at + offset).map_or(0, u64::from);
        let long = |offset| u64_at(data, at + offset).unwrap_or(0);
        (disk, first, here, all) = (word(16), word(20), long(24), long(32));
        (size, start) = (long(40), long(48));
        last = at;
    }
    if disk != 0 || first != 0 || here != all {
        return Err(Fault::broken(
            "the archive is a part of one that is split into several files",
        ));
    }
    let start = place(start).ok_or_else(truncated)?;
    let stop = place(size).and_then(|size| start.checked_add(size));
    let stop = stop.filter(|&stop| stop <= last).ok_or_else(truncated)?;
    if stop < last {
        return Err(Fault::broken(format!(
            "there are {} bytes before the archive, or in its directory, that belong to no entry",
            last - stop
        )));
    }
    Ok(Directory {
        start,
        end: stop,
        entries: all,
    })
}

/// Reads an entry of the central directory and compares it with the header that stands before its content.
fn central(data: &[u8], at: usize, stop: usize) -> Result<(Entry, usize), Fault> {
    let broken = || Fault::broken("the directory of the archive cannot be read");
    if u32_at(data, at) != Some(CENTRAL) {
        return Err(broken());
    }
    let half = |offset| u16_at(data, at + offset).unwrap_or(0);
    let word = |offset| u32_at(data, at + offset).unwrap_or(0);
    let (made_by, flags, method) = (half(4), half(8), half(10));
    let (crc, attributes) = (word(16), word(38));
    let (name_long, extra_long, comment_long) = (
        usize::from(half(28)),
        usize::from(half(30)),
        usize::from(half(32)),
    );
    let name_at = at + 46;
    let next = name_at + name_long + extra_long + comment_long;
    if next > stop {
        return Err(broken());
    }
    let raw = data.get(name_at..name_at + name_long).ok_or_else(broken)?;
    let extra = data.get(name_at + name_long..name_at + name_long + extra_long);
    let (name, foreign) = name_of(raw, flags);
    let shown = || name.escape_debug().to_string();
    let (mut packed, mut size, mut offset) = (
        u64::from(word(20)),
        u64::from(word(24)),
        u64::from(word(42)),
    );
    let mut long = long_sizes(extra.unwrap_or_default());
    for value in [&mut size, &mut packed, &mut offset] {
        if *value == u64::from(u32::MAX) {
            *value = long.next().unwrap_or(*value);
        }
    }
    if half(34) != 0 && half(34) != u16::MAX {
        return Err(Fault::broken(
            "the archive is a part of one that is split into several files",
        ));
    }
    if flags & 1 != 0 {
        return Err(Fault::broken(format!(
            "the entry `{}` is encrypted",
            shown()
        )));
    }
    let method_name = match method {
        0 | 8 => None,
        9 => Some("Deflate64"),
        12 => Some("bzip2"),
        14 => Some("LZMA"),
        93 => Some("Zstandard"),
        95 => Some("XZ"),
        _ => Some("a method that is not known"),
    };
    if let Some(method) = method_name {
        return Err(Fault::broken(format!(
            "the entry `{}` is compressed with {method}, and a CSAR may use Deflate only",
            shown()
        )));
    }
    let is_unix = matches!(made_by >> 8, 3 | 19);
    let special = match (attributes >> 16) & 0o170_000 {
        _ if !is_unix => None,
        0 | 0o100_000 | 0o040_000 => None,
        0o120_000 => Some("symbolic link"),
        _ => Some("device or pipe"),
    };
    if let Some(special) = special {
        return Err(Fault::special(&shown(), special));
    }
    let differs = || {
        Fault::broken(format!(
            "the entry `{}` and its place in the directory of the archive disagree",
            shown()
        ))
    };
    let local = place(offset).filter(|&at| at < data.len());
    let local = local.ok_or_else(differs)?;
    let local_name = usize::from(u16_at(data, local + 26).ok_or_else(differs)?);
    let local_extra = usize::from(u16_at(data, local + 28).ok_or_else(differs)?);
    let start = local + 30 + local_name + local_extra;
    let stop = place(packed).and_then(|packed| start.checked_add(packed));
    let stop = stop
        .filter(|&stop| stop <= data.len())
        .ok_or_else(differs)?;
    let same_sizes = flags & DESCRIPTOR != 0 || {
        let extra = data.get(local + 30 + local_name..start).unwrap_or_default();
        let mut long = long_sizes(extra);
        let mut value = |at| {
            let word = u32_at(data, at).unwrap_or(0);
            if word == u32::MAX {
                long.next().unwrap_or(u64::from(word))
            } else {
                u64::from(word)
            }
        };
        let local_size = value(local + 22);
        let local_packed = value(local + 18);
        (local_packed, local_size) == (packed, size) && u32_at(data, local + 14) == Some(crc)
    };
    let same = u32_at(data, local) == Some(LOCAL)
        && data.get(local + 30..local + 30 + local_name) == Some(raw)
        && u16_at(data, local + 8) == Some(method)
        && u16_at(data, local + 6).map(|local| local & 1) == Some(0)
        && same_sizes;
    if !same {
        return Err(differs());
    }
    let entry = Entry {
        is_folder: name.ends_with(['/', '\\']),
        name,
        foreign,
        header: local,
        content: start..stop,
        packed: if method == 8 {
            Packed::Deflate { size, crc }
        } else {
            Packed::Stored { size, crc }
        },
    };
    Ok((entry, next))
}

/// The numbers of a zip64 field, in the order in which they are written.
fn long_sizes(extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut at = 0;
    let mut found: &[u8] = &[];
    while let (Some(id), Some(long)) = (u16_at(extra, at), u16_at(extra, at + 2)) {
        let end = at + 4 + usize::from(long);
        if id == 1 {
            found = extra.get(at + 4..end).unwrap_or_default();
        }
        at = end;
    }
    found
        .chunks_exact(8)
        .filter_map(|chunk| chunk.try_into().ok().map(u64::from_le_bytes))
}

/// A name, and whether it is in an encoding that imports cannot name.
fn name_of(raw: &[u8], flags: u16) -> (String, bool) {
    match std::str::from_utf8(raw) {
        Ok(name) if raw.is_ascii() || flags & UTF_8 != 0 => (name.to_owned(), false),
        _ => {
            let upper: Vec<char> = CP437.chars().collect();
            let decode = |&byte: &u8| match byte {
                0..=127 => char::from(byte),
                _ => upper
                    .get(usize::from(byte - 128))
                    .copied()
                    .unwrap_or('\u{fffd}'),
            };
            (raw.iter().map(decode).collect(), true)
        }
    }
}

/// The upper half of code page 437, in which names are that do not say to be UTF-8.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// Entries may not share bytes, nor reach into the directory, and the first one starts the file.
fn apart(entries: &[Entry], directory: usize) -> Result<(), Fault> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.header);
    let mut end = 0;
    for (number, entry) in sorted.iter().enumerate() {
        if number == 0 && entry.header != 0 {
            return Err(Fault::broken(format!(
                "{} bytes stand before the first entry of the archive",
                entry.header
            )));
        }
        if entry.header < end || entry.content.end > directory {
            return Err(Fault::broken(format!(
                "the entry `{}` overlaps another one",
                entry.name.escape_debug()
            )));
        }
        end = entry.content.end;
    }
    Ok(())
}
