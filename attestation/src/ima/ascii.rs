//! The ASCII form of the log, turned into the binary one.
//!
//! Only one form is replayed, so that both are judged by the same code.

use super::reader::{LogError, LogErrorKind, Reader, write_entry};
use super::replay::template_hash;
use super::template::{Field, FieldFormat, Templates};
use crate::digest::{HashAlg, decode_hex};

/// Turns an ASCII log into the binary form; every bad line is reported, every good one is kept.
///
/// `column` is the algorithm of the template hash column, as for [`super::Reader::new`].
///
/// A line feed in a name stands in the text as it is, so that one entry may take several lines, and a name may
/// look like an entry. The template hash tells: lines belong together when they have it together.
pub fn to_binary(text: &[u8], column: HashAlg, templates: &Templates) -> (Vec<u8>, Vec<LogError>) {
    let mut log = Vec::with_capacity(text.len());
    let mut errors = Vec::new();
    let mut offset = 0;
    let mut entry = 0;
    while let Some(rest) = text.get(offset..).filter(|rest| !rest.is_empty()) {
        let ends = memchr::memchr_iter(b'\n', rest).map(|end| (end, end + 1));
        let mut ends = ends.chain([(rest.len(), rest.len())]).take(MOST_LINES);
        let Some((end, mut used)) = ends.next() else {
            break;
        };
        let content = rest.get(..end).unwrap_or(rest);
        if content.is_empty() {
            offset += used;
            continue;
        }
        let mut parsed = line_to_binary(content, column, templates);
        if !parsed
            .as_ref()
            .is_ok_and(|bytes| is_whole(bytes, column, templates))
        {
            let longer = ends.find_map(|(end, used)| {
                let bytes = line_to_binary(rest.get(..end)?, column, templates).ok()?;
                is_whole(&bytes, column, templates).then_some((bytes, used))
            });
            if let Some((bytes, longer)) = longer {
                (parsed, used) = (Ok(bytes), longer);
            }
        }
        match parsed {
            Ok(bytes) => log.extend_from_slice(&bytes),
            Err(kind) => errors.push(LogError {
                entry,
                offset,
                kind,
            }),
        }
        entry += 1;
        offset += used;
    }
    (log, errors)
}

/// How many lines an entry may take.
const MOST_LINES: usize = 64;

/// Whether an entry has the template hash it claims; that of a violation says nothing.
fn is_whole(bytes: &[u8], column: HashAlg, templates: &Templates) -> bool {
    let Some(Ok(entry)) = Reader::new(bytes, column, templates).next() else {
        return false;
    };
    entry.is_violation() || template_hash(column, &entry).as_bytes() == entry.claimed_hash()
}

/// The names in the place of the template's name, of lines that may be entries; each once.
pub fn template_names(text: &[u8]) -> Vec<&[u8]> {
    let mut names: Vec<&[u8]> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_prefix(b" ").unwrap_or(line);
        if let Some(name) = line.split(|byte| *byte == b' ').nth(2)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

fn line_to_binary(
    line: &[u8],
    column: HashAlg,
    templates: &Templates,
) -> Result<Vec<u8>, LogErrorKind> {
    // The kernel pads the number of the PCR to two characters, and nothing else.
    let line = line.strip_prefix(b" ").unwrap_or(line);
    let columns: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [pcr, hash, name, fields @ ..] = columns.as_slice() else {
        return Err(LogErrorKind::Columns {
            found: columns.len(),
            expected: 4,
        });
    };
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let pcr: u32 = std::str::from_utf8(pcr)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| LogErrorKind::Pcr(lossy(pcr)))?;
    // Kernels with the pod templates write the algorithm in front.
    let digits = match hash.iter().position(|byte| *byte == b':') {
        Some(colon) if hash.get(..colon) == Some(column.name().as_bytes()) => {
            hash.get(colon + 1..).unwrap_or(&[])
        }
        _ => hash,
    };
    let claimed = decode_hex(digits)
        .filter(|bytes| bytes.len() == column.size())
        .ok_or(LogErrorKind::Hash(2 * column.size()))?;
    let layout = templates
        .layout(name)
        .ok_or_else(|| LogErrorKind::Template(lossy(name)))?;
    let expected = layout.fields();
    if fields.len() != expected.len() {
        return Err(LogErrorKind::Columns {
            found: columns.len(),
            expected: expected.len() + 3,
        });
    }
    let fields = expected
        .iter()
        .zip(fields)
        .map(|(field, text)| {
            let bytes = field_bytes(*field, text).ok_or(LogErrorKind::Field(field.id()))?;
            if super::entry::well_formed(*field, &bytes) {
                Ok(bytes)
            } else {
                Err(LogErrorKind::Field(field.id()))
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    let fields = if layout.is_legacy() {
        let mut fields = fields;
        if let [digest, file] = fields.as_mut_slice() {
            if file.len() > 256 {
                return Err(LogErrorKind::Field("n"));
            }
            // An MD5 digest is stored in the room of a SHA-1 one.
            digest.resize(HashAlg::Sha1.size(), 0);
            // The old template writes its name without the final NUL.
            file.pop();
        }
        fields
    } else {
        fields
    };
    let mut log = Vec::new();
    write_entry(&mut log, pcr, &claimed, name, &fields);
    Ok(log)
}

/// The bytes of a field, from its text.
pub(super) fn field_bytes(field: Field, text: &[u8]) -> Option<Vec<u8>> {
    match field.format() {
        FieldFormat::Digest | FieldFormat::Hex => decode_hex(text),
        FieldFormat::NamedDigest | FieldFormat::TypedDigest => {
            if text.is_empty() {
                return Some(Vec::new());
            }
            let colon = text.iter().rposition(|byte| *byte == b':')?;
            let (names, digits) = text.split_at_checked(colon + 1)?;
            let mut bytes = names.to_vec();
            bytes.push(0);
            bytes.extend(decode_hex(digits)?);
            Some(bytes)
        }
        FieldFormat::Text if text.is_empty() && field == Field::XattrNames => Some(Vec::new()),
        FieldFormat::Number(_) if text.is_empty() => Some(Vec::new()),
        FieldFormat::Text => {
            let mut bytes = text.to_vec();
            bytes.push(0);
            Some(bytes)
        }
        FieldFormat::Number(size) => {
            let value: u64 = std::str::from_utf8(text).ok()?.parse().ok()?;
            let bytes = value.to_le_bytes();
            let (low, high) = bytes.split_at_checked(size)?;
            high.iter().all(|byte| *byte == 0).then(|| low.to_vec())
        }
    }
}
