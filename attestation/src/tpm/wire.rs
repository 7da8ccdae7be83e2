//! The byte encoding of TPM structures: big-endian, lengths before contents, nothing left over.

use std::fmt;

/// Why some bytes are not the TPM structure they claim to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StructureError {
    /// The structure goes on after the bytes end.
    #[error("{structure} ends after {have} bytes, in the middle of its {field}")]
    Truncated {
        /// What was read.
        structure: &'static str,
        /// The field that is cut.
        field: &'static str,
        /// How many bytes there were.
        have: usize,
    },
    /// Bytes are left after the structure's end: they would not be covered by what was checked.
    #[error("{structure} is followed by {extra} bytes that do not belong to it")]
    Trailing {
        /// What was read.
        structure: &'static str,
        /// How many bytes are left.
        extra: usize,
    },
    /// A field has a value that the structure does not allow or that is not supported here.
    #[error("the {field} of {structure} is {value}, expected {expected}")]
    Value {
        /// What was read.
        structure: &'static str,
        /// The field.
        field: &'static str,
        /// What it holds.
        value: String,
        /// What it may hold.
        expected: &'static str,
    },
}

/// Reads one structure, strictly.
pub(super) struct Reader<'a> {
    structure: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(structure: &'static str, bytes: &'a [u8]) -> Self {
        Reader {
            structure,
            bytes,
            at: 0,
        }
    }

    pub(super) fn take(
        &mut self,
        field: &'static str,
        length: usize,
    ) -> Result<&'a [u8], StructureError> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        match (taken, end) {
            (Some(taken), Some(end)) => {
                self.at = end;
                Ok(taken)
            }
            _ => Err(StructureError::Truncated {
                structure: self.structure,
                field,
                have: self.bytes.len(),
            }),
        }
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], StructureError> {
        let taken = self.take(field, N)?;
        let mut array = [0; N];
        for (to, from) in array.iter_mut().zip(taken) {
            *to = *from;
        }
        Ok(array)
    }

    pub(super) fn u8(&mut self, field: &'static str) -> Result<u8, StructureError> {
        self.array::<1>(field).map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self, field: &'static str) -> Result<u16, StructureError> {
        self.array(field).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, field: &'static str) -> Result<u32, StructureError> {
        self.array(field).map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self, field: &'static str) -> Result<u64, StructureError> {
        self.array(field).map(u64::from_be_bytes)
    }

    /// A `TPM2B`: a 16-bit length and that many bytes, at most `limit`.
    pub(super) fn sized(
        &mut self,
        field: &'static str,
        limit: usize,
        expected: &'static str,
    ) -> Result<&'a [u8], StructureError> {
        let length = usize::from(self.u16(field)?);
        if length > limit {
            return Err(self.value(field, format_args!("{length} bytes long"), expected));
        }
        self.take(field, length)
    }

    pub(super) fn value(
        &self,
        field: &'static str,
        value: impl fmt::Display,
        expected: &'static str,
    ) -> StructureError {
        StructureError::Value {
            structure: self.structure,
            field,
            value: value.to_string(),
            expected,
        }
    }

    /// How many bytes have been read.
    #[cfg(feature = "testing")]
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn end(self) -> Result<(), StructureError> {
        match self.bytes.len().saturating_sub(self.at) {
            0 => Ok(()),
            extra => Err(StructureError::Trailing {
                structure: self.structure,
                extra,
            }),
        }
    }
}

/// Writes one structure.
#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(super) fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub(super) fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// A `TPM2B`. What does not fit its 16-bit length is cut, so that the length never lies; nothing
    /// that this crate writes comes near.
    pub(super) fn sized(&mut self, bytes: &[u8]) -> &mut Self {
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        self.u16(length);
        self.raw(bytes.get(..usize::from(length)).unwrap_or(bytes))
    }
}
