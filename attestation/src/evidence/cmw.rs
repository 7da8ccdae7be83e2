//! The conceptual message wrapper: a media type, the bytes, and what kind of message it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::base64url::{base64url, from_base64url};
use super::cbor::{CborError, Decoder, Encoder};

/// What kinds of conceptual message something is; a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indicator(u32);

impl Indicator {
    /// Reference values.
    pub const REFERENCE_VALUES: Indicator = Indicator(1);
    /// Endorsements.
    pub const ENDORSEMENTS: Indicator = Indicator(2);
    /// Evidence.
    pub const EVIDENCE: Indicator = Indicator(4);
    /// Attestation results.
    pub const ATTESTATION_RESULTS: Indicator = Indicator(8);
    /// An appraisal policy.
    pub const APPRAISAL_POLICY: Indicator = Indicator(16);

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// A wrapped message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cmw<'a> {
    /// The media type of the bytes.
    pub media_type: &'a str,
    /// The bytes.
    pub value: &'a [u8],
    /// What kind of message it is.
    pub indicator: Indicator,
}

/// Why a message cannot be unwrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CmwError {
    /// Not a wrapper, or not one in the strict form.
    #[error("the message is not a conceptual message wrapper")]
    Malformed,
    /// Two members of a collection have the same name.
    #[error("the message has two parts of one name")]
    Duplicate,
    /// A collection of another type.
    #[error("the message is a collection of another type")]
    Type,
}

impl From<CborError> for CmwError {
    fn from(_: CborError) -> Self {
        CmwError::Malformed
    }
}

#[derive(Serialize, Deserialize)]
struct JsonRecord(String, String, u32);

impl Cmw<'_> {
    /// As a JSON record: `["media/type", "base64url", indicator]`.
    pub fn to_json(&self) -> String {
        let record = JsonRecord(
            self.media_type.to_owned(),
            base64url(self.value),
            self.indicator.0,
        );
        serde_json::to_string(&record).unwrap_or_default()
    }

    /// From a JSON record; gives the media type, the bytes and the indicator.
    pub fn from_json(json: &str) -> Result<(String, Vec<u8>, Indicator), CmwError> {
        let JsonRecord(media_type, value, indicator) =
            serde_json::from_str(json).map_err(|_| CmwError::Malformed)?;
        let value = from_base64url(&value).ok_or(CmwError::Malformed)?;
        Ok((media_type, value, Indicator(indicator)))
    }
}

/// The member of a collection that says what the collection is.
const TYPE: &str = "__cmwc_t";

/// A collection in CBOR: named records, and the type of the whole.
pub fn collection_to_cbor(kind: &str, records: &[(&str, Cmw<'_>)]) -> Vec<u8> {
    let size: usize = records.iter().map(|(_, record)| record.value.len()).sum();
    let mut encoder = Encoder::with_capacity(size + 512);
    encoder.map(records.len() + 1);
    encoder.text(TYPE);
    encoder.text(kind);
    for (name, record) in records {
        encoder.text(name);
        encoder.array(3);
        encoder.text(record.media_type);
        encoder.bytes(record.value);
        encoder.unsigned(u64::from(record.indicator.0));
    }
    encoder.finish()
}

/// The records of a collection in CBOR that must be of type `kind`.
pub fn collection_from_cbor<'a>(
    kind: &str,
    bytes: &'a [u8],
) -> Result<BTreeMap<&'a str, Cmw<'a>>, CmwError> {
    let mut decoder = Decoder::new(bytes);
    let mut records = BTreeMap::new();
    let mut found = None;
    for _ in 0..decoder.map()? {
        let name = decoder.text()?;
        if name == TYPE {
            if found.replace(decoder.text()?).is_some() {
                return Err(CmwError::Duplicate);
            }
            continue;
        }
        if decoder.next_is_text() || decoder.array()? != 3 {
            return Err(CmwError::Malformed);
        }
        let record = Cmw {
            media_type: decoder.text()?,
            value: decoder.bytes()?,
            indicator: Indicator(
                u32::try_from(decoder.unsigned()?).map_err(|_| CmwError::Malformed)?,
            ),
        };
        if records.insert(name, record).is_some() {
            return Err(CmwError::Duplicate);
        }
    }
    decoder.end()?;
    if found != Some(kind) {
        return Err(CmwError::Type);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: &[u8]) -> Cmw<'_> {
        Cmw {
            media_type: "application/octet-stream",
            value,
            indicator: Indicator::EVIDENCE,
        }
    }

    #[test]
    fn a_collection_goes_there_and_back() {
        let bytes = collection_to_cbor("tag:a", &[("x", record(b"1")), ("y", record(b""))]);
        let records = collection_from_cbor("tag:a", &bytes).unwrap();
        assert_eq!(records["x"], record(b"1"));
        assert_eq!(records["y"], record(b""));
        assert_eq!(collection_from_cbor("tag:b", &bytes), Err(CmwError::Type));
        for cut in 0..bytes.len() {
            assert!(collection_from_cbor("tag:a", &bytes[..cut]).is_err());
        }
    }

    #[test]
    fn two_parts_of_one_name_are_refused() {
        let bytes = collection_to_cbor("t", &[("x", record(b"1")), ("x", record(b"2"))]);
        assert_eq!(collection_from_cbor("t", &bytes), Err(CmwError::Duplicate));
    }

    #[test]
    fn a_json_record_goes_there_and_back() {
        let json = record(b"\x00\xff").to_json();
        assert_eq!(json, r#"["application/octet-stream","AP8",4]"#);
        let (media_type, value, indicator) = Cmw::from_json(&json).unwrap();
        assert_eq!(media_type, "application/octet-stream");
        assert_eq!(value, b"\x00\xff");
        assert_eq!(indicator, Indicator::EVIDENCE);
        assert_eq!(Cmw::from_json("[1,2,3]"), Err(CmwError::Malformed));
    }
}
