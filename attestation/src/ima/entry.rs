//! One measurement, borrowed from the log it stands in.

use std::fmt;

use super::template::{Field, FieldFormat, Layout, MAX_FIELDS};
use crate::digest::{Digest, HashAlg, encode_hex};

/// The digest of a measured file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileDigest<'a> {
    /// Of an algorithm that reference values can be given for.
    Known(Digest),
    /// Of another algorithm: can be replayed, never matched.
    Foreign {
        /// The algorithm's name.
        alg: &'a [u8],
        /// The digest.
        bytes: &'a [u8],
    },
}

impl FileDigest<'_> {
    /// The digest, when its algorithm is known here.
    pub fn known(self) -> Option<Digest> {
        match self {
            FileDigest::Known(digest) => Some(digest),
            FileDigest::Foreign { .. } => None,
        }
    }
}

impl fmt::Display for FileDigest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileDigest::Known(digest) => digest.fmt(f),
            FileDigest::Foreign { alg, bytes } => {
                write!(f, "{}:{}", String::from_utf8_lossy(alg), encode_hex(bytes))
            }
        }
    }
}

/// One entry of a measurement log.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    pub(super) pcr: u32,
    pub(super) claimed: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) data: &'a [u8],
    pub(super) layout: Layout,
    /// Where each field ends in the template data; small, as entries are moved about a lot.
    pub(super) ends: [u32; MAX_FIELDS],
}

impl<'a> Entry<'a> {
    /// The PCR that the kernel says it extended.
    pub fn pcr(&self) -> u32 {
        self.pcr
    }

    /// The template hash as the log claims it; not to be relied on.
    pub fn claimed_hash(&self) -> &'a [u8] {
        self.claimed
    }

    /// The fields with their lengths, as they stand in the binary log.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The name of its template.
    pub fn template_name(&self) -> &'a [u8] {
        self.name
    }

    /// The fields of its template.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The raw bytes of a field, if the template has it.
    pub fn field(&self, field: Field) -> Option<&'a [u8]> {
        self.field_at(self.layout.position(field)?)
    }

    /// The raw bytes of the field at a place.
    pub(super) fn field_at(&self, place: usize) -> Option<&'a [u8]> {
        // Before each field stands its length, but for the first of the old template.
        let start = match place.checked_sub(1) {
            None if self.layout.is_legacy() => 0,
            None => 4,
            Some(before) => usize::try_from(*self.ends.get(before)?)
                .ok()?
                .checked_add(4)?,
        };
        self.data
            .get(start..usize::try_from(*self.ends.get(place)?).ok()?)
    }

    /// Whether the kernel recorded a violation: a file that changed while it was measured.
    ///
    /// The PCR is then extended with a constant, so no field of the entry is bound to it.
    pub fn is_violation(&self) -> bool {
        self.claimed.iter().all(|byte| *byte == 0)
    }

    fn text(&self, field: Field) -> Option<&'a [u8]> {
        let bytes = self.field(field)?;
        Some(bytes.strip_suffix(&[0]).unwrap_or(bytes))
    }

    /// The name of the measured file, or of the event.
    pub fn path(&self) -> &'a [u8] {
        self.text(Field::NNg)
            .or_else(|| self.text(Field::N))
            .unwrap_or(&[])
    }

    /// The bytes of the digest of the measured file, if it is of the kind that nearly every kernel
    /// writes; the same as [`file_digest`](Self::file_digest) says, with less ado.
    pub(super) fn sha256(&self) -> Option<&'a [u8; 32]> {
        let digest = self.field(Field::DNg)?.strip_prefix(SHA256)?;
        digest.try_into().ok()
    }

    /// The digest of the measured file.
    pub fn file_digest(&self) -> Option<FileDigest<'a>> {
        if let Some(bytes) = self.field(Field::DNg) {
            let (alg, bytes) = split_named(bytes)?;
            return Some(file_digest(alg, bytes));
        }
        if let Some(bytes) = self.field(Field::DNgV2) {
            let (kind, alg, bytes) = split_typed(bytes)?;
            // The digest of a verity descriptor is no digest of the file's content.
            return Some(if kind == b"ima" {
                file_digest(alg, bytes)
            } else {
                FileDigest::Foreign { alg: kind, bytes }
            });
        }
        let bytes = self.field(Field::D)?;
        Some(match Digest::new(HashAlg::Sha1, bytes) {
            Some(digest) => FileDigest::Known(digest),
            None => FileDigest::Foreign { alg: b"", bytes },
        })
    }

    /// Whether this is a buffer that the kernel measured itself: a key, critical data, the command line of kexec.
    ///
    /// The name of the template does not say so: `ima-sig` and `ima-buf` have the same fields, and the same hash
    /// where the third is empty. A buffer has the digest of its own content, and is not a signature.
    pub fn is_buffer(&self) -> bool {
        let Some(content) = self.field(Field::Buf) else {
            return false;
        };
        let signature = content.first().is_none_or(|kind| SIGNATURES.contains(kind));
        let digest = self.file_digest().and_then(FileDigest::known);
        !signature && digest.is_some_and(|digest| digest.alg().hash(&[content]) == digest)
    }

    /// Whether this is a key that any user may have added to a keyring of their own: it says nothing about the
    /// machine, whatever the keyring is called.
    pub fn is_users_key(&self) -> bool {
        let Some(content) = self.field(Field::Buf) else {
            return false;
        };
        content.first() == Some(&0x30) && !self.path().starts_with(b".") && self.is_buffer()
    }

    /// The control group of the measured process, in whichever form the template has it.
    pub fn cgroup(&self) -> Option<&'a [u8]> {
        self.text(Field::CgPath).or_else(|| self.text(Field::Cgn))
    }

    /// The executables of the process and of its ancestors, joined by colons.
    pub fn dependencies(&self) -> Option<&'a [u8]> {
        self.text(Field::Dep)
    }
}

/// How the extended attributes begin that kernels write to the field of the signature: IMA's, EVM's portable one, and
/// that of fs-verity. A measured buffer that begins with none of them cannot be passed for a signature.
const SIGNATURES: [u8; 3] = [3, 5, 6];

/// Whether a text may be in the field for the control group: a name has no slash but for that of the root, and a path
/// begins with one. Only the root's own entries look alike in both.
fn is_group(field: Field, text: &[u8]) -> bool {
    match field {
        Field::CgPath => text.first() == Some(&b'/'),
        Field::Cgn => text == b"/" || memchr::memchr(b'/', text).is_none(),
        _ => true,
    }
}

/// What nearly every kernel writes.
const SHA256: &[u8] = b"sha256:\0";

fn file_digest<'a>(alg: &'a [u8], bytes: &'a [u8]) -> FileDigest<'a> {
    match HashAlg::from_name(alg).and_then(|known| Digest::new(known, bytes)) {
        Some(digest) => FileDigest::Known(digest),
        None => FileDigest::Foreign { alg, bytes },
    }
}

/// `algorithm:`, NUL, digest.
pub(super) fn split_named(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let (alg, rest) = bytes.split_at_checked(colon)?;
    let digest = rest.strip_prefix(b":\0")?;
    Some((alg, digest))
}

/// `type:algorithm:`, NUL, digest.
pub(super) fn split_typed(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let (kind, rest) = bytes.split_at_checked(colon)?;
    let (alg, digest) = split_named(rest.strip_prefix(b":")?)?;
    Some((kind, alg, digest))
}

/// Whether a field has the form that its format prescribes.
pub(super) fn well_formed(field: Field, bytes: &[u8]) -> bool {
    let digest_fits = |alg: &[u8], digest: &[u8]| {
        !alg.is_empty()
            && alg.iter().all(|byte| byte.is_ascii_graphic())
            && HashAlg::from_name(alg).is_none_or(|alg| alg.size() == digest.len())
    };
    match field.format() {
        FieldFormat::Digest => matches!(bytes.len(), 16 | 20),
        FieldFormat::NamedDigest => {
            // Only the digest an appended signature is over may be missing.
            (bytes.starts_with(SHA256) && bytes.len() == SHA256.len() + HashAlg::Sha256.size())
                || (bytes.is_empty() && field == Field::DModsig)
                || split_named(bytes).is_some_and(|(alg, digest)| digest_fits(alg, digest))
        }
        FieldFormat::TypedDigest => split_typed(bytes).is_some_and(|(kind, alg, digest)| {
            matches!(kind, b"ima" | b"verity") && digest_fits(alg, digest)
        }),
        // A second NUL would let one name be read as another.
        FieldFormat::Text => bytes
            .split_last()
            .map_or(field == Field::XattrNames, |(last, text)| {
                *last == 0 && memchr::memchr(0, text).is_none() && is_group(field, text)
            }),
        FieldFormat::Hex if field == Field::Sig => {
            bytes.first().is_none_or(|kind| SIGNATURES.contains(kind))
        }
        FieldFormat::Hex => true,
        // The boot aggregate is not of a file, and has neither owner nor mode.
        FieldFormat::Number(size) => bytes.is_empty() || bytes.len() == size,
    }
}

/// As a line of the kernel's ASCII log, without the line break.
impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:2} {} {}",
            self.pcr,
            encode_hex(self.claimed),
            String::from_utf8_lossy(self.name)
        )?;
        for (place, field) in self.layout.fields().iter().enumerate() {
            f.write_str(" ")?;
            let bytes = self.field_at(place).unwrap_or(&[]);
            if bytes.is_empty() {
                continue;
            }
            match field.format() {
                FieldFormat::Digest | FieldFormat::Hex => f.write_str(&encode_hex(bytes))?,
                FieldFormat::NamedDigest => {
                    if let Some((alg, digest)) = split_named(bytes) {
                        write!(f, "{}:{}", String::from_utf8_lossy(alg), encode_hex(digest))?;
                    }
                }
                FieldFormat::TypedDigest => {
                    if let Some((kind, alg, digest)) = split_typed(bytes) {
                        write!(
                            f,
                            "{}:{}:{}",
                            String::from_utf8_lossy(kind),
                            String::from_utf8_lossy(alg),
                            encode_hex(digest)
                        )?;
                    }
                }
                FieldFormat::Text => {
                    let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                    f.write_str(&String::from_utf8_lossy(text))?;
                }
                FieldFormat::Number(_) => {
                    let value = bytes
                        .iter()
                        .rev()
                        .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
                    write!(f, "{value}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
