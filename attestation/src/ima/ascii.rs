//! The ASCII form of the log, turned into the binary one.
//!
//! Only one form is replayed, so that both are judged by the same code.

use super::reader::{LogError, LogErrorKind, write_entry};
use super::template::{Field, FieldFormat, Templates};
use crate::digest::{HashAlg, decode_hex};

/// Turns an ASCII log into the binary form; every bad line is reported, every good one is kept.
///
/// `column` is the algorithm of the template hash column, as for [`super::Reader::new`].
pub fn to_binary(text: &[u8], column: HashAlg, templates: &Templates) -> (Vec<u8>, Vec<LogError>) {
    let mut log = Vec::with_capacity(text.len());
    let mut errors = Vec::new();
    let mut offset = 0;
    let mut entry = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        if !content.is_empty() {
            if let Err(kind) = line_to_binary(content, column, templates, &mut log) {
                errors.push(LogError {
                    entry,
                    offset,
                    kind,
                });
            }
            entry += 1;
        }
        offset += line.len();
    }
    (log, errors)
}

fn line_to_binary(
    line: &[u8],
    column: HashAlg,
    templates: &Templates,
    log: &mut Vec<u8>,
) -> Result<(), LogErrorKind> {
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
    write_entry(log, pcr, &claimed, name, &fields);
    Ok(())
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
