//! As much of CBOR (RFC 8949) as conceptual messages need, without copying what they carry.
//!
//! Strict: definite lengths, shortest forms, no tags, no floats, no trailing bytes. A measurement log
//! is megabytes; it is borrowed from the message it came in.

/// The message is not in the strict subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CborError;

const UNSIGNED: u8 = 0;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;

/// Reads items one after the other.
pub(super) struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Decoder(bytes)
    }

    fn head(&mut self, major: u8) -> Result<u64, CborError> {
        let (first, rest) = self.0.split_first().ok_or(CborError)?;
        if first >> 5 != major {
            return Err(CborError);
        }
        let info = first & 31;
        let width = match info {
            0..=23 => {
                self.0 = rest;
                return Ok(u64::from(info));
            }
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            _ => return Err(CborError),
        };
        let (bytes, rest) = rest.split_at_checked(width).ok_or(CborError)?;
        let value = bytes
            .iter()
            .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        let shortest = match width {
            1 => value > 23,
            2 => value > 0xff,
            4 => value > 0xffff,
            _ => value > 0xffff_ffff,
        };
        if !shortest {
            return Err(CborError);
        }
        self.0 = rest;
        Ok(value)
    }

    fn sized(&mut self, major: u8) -> Result<&'a [u8], CborError> {
        let len = usize::try_from(self.head(major)?).map_err(|_| CborError)?;
        let (taken, rest) = self.0.split_at_checked(len).ok_or(CborError)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn unsigned(&mut self) -> Result<u64, CborError> {
        self.head(UNSIGNED)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], CborError> {
        self.sized(BYTES)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, CborError> {
        std::str::from_utf8(self.sized(TEXT)?).map_err(|_| CborError)
    }

    pub(super) fn array(&mut self) -> Result<u64, CborError> {
        self.head(ARRAY)
    }

    pub(super) fn map(&mut self) -> Result<u64, CborError> {
        self.head(MAP)
    }

    pub(super) fn next_is_text(&self) -> bool {
        self.0.first().is_some_and(|first| first >> 5 == TEXT)
    }

    pub(super) fn end(self) -> Result<(), CborError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(CborError)
        }
    }
}

/// Writes items one after the other.
#[derive(Default)]
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Encoder(Vec::with_capacity(capacity))
    }

    fn head(&mut self, major: u8, value: u64) {
        let major = major << 5;
        let bytes = value.to_be_bytes();
        let (info, width) = match value {
            0..=23 => {
                self.0.push(major | u8::try_from(value).unwrap_or(0));
                return;
            }
            24..=0xff => (24, 1),
            0x100..=0xffff => (25, 2),
            0x1_0000..=0xffff_ffff => (26, 4),
            _ => (27, 8),
        };
        self.0.push(major | info);
        self.0.extend(bytes.iter().skip(8 - width));
    }

    fn sized(&mut self, major: u8, bytes: &[u8]) {
        self.head(major, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn unsigned(&mut self, value: u64) {
        self.head(UNSIGNED, value);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.sized(BYTES, bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.sized(TEXT, text.as_bytes());
    }

    pub(super) fn array(&mut self, len: usize) {
        self.head(ARRAY, len as u64);
    }

    pub(super) fn map(&mut self, len: usize) {
        self.head(MAP, len as u64);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_shortest_form() {
        // From appendix A of RFC 8949.
        let known: [(u64, &[u8]); 8] = [
            (0, &[0x00]),
            (23, &[0x17]),
            (24, &[0x18, 0x18]),
            (100, &[0x18, 0x64]),
            (1000, &[0x19, 0x03, 0xe8]),
            (1_000_000, &[0x1a, 0x00, 0x0f, 0x42, 0x40]),
            (
                1_000_000_000_000,
                &[0x1b, 0, 0, 0, 0xe8, 0xd4, 0xa5, 0x10, 0],
            ),
            (u64::MAX, &[0x1b, 255, 255, 255, 255, 255, 255, 255, 255]),
        ];
        for (value, bytes) in known {
            let mut encoder = Encoder::default();
            encoder.unsigned(value);
            assert_eq!(encoder.finish(), bytes);
            assert_eq!(Decoder::new(bytes).unsigned(), Ok(value));
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let longer_than_needed: [&[u8]; 4] = [
            &[0x18, 0x17],
            &[0x19, 0x00, 0xff],
            &[0x1a, 0, 0, 0xff, 0xff],
            &[0x1b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        ];
        for bytes in longer_than_needed {
            assert_eq!(Decoder::new(bytes).unsigned(), Err(CborError));
        }
        assert_eq!(Decoder::new(&[0x5f]).bytes(), Err(CborError), "indefinite");
        assert_eq!(
            Decoder::new(&[0x42, 1]).bytes(),
            Err(CborError),
            "too short"
        );
        assert_eq!(
            Decoder::new(&[0x61, 0xff]).text(),
            Err(CborError),
            "not text"
        );
        assert_eq!(Decoder::new(&[0xc0, 0]).unsigned(), Err(CborError), "a tag");
        assert_eq!(Decoder::new(&[0]).end(), Err(CborError), "more follows");
    }
}
