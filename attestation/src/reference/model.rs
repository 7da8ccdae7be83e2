//! The reference values as a document.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;

/// Several accepted digests, of any algorithms.
pub type DigestSet = BTreeSet<Digest>;

/// Files with their accepted digests.
pub type FileSet = BTreeMap<PathText, DigestSet>;

/// A path of any bytes, written so that it can stand in a text: what is not UTF-8 becomes `\xNN`,
/// and a backslash is doubled.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathText(Vec<u8>);

impl PathText {
    /// From the bytes of a path.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        PathText(bytes.into())
    }

    /// The bytes of the path.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// From its text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        loop {
            match rest {
                [] => return Some(PathText(bytes)),
                [b'\\', b'\\', after @ ..] => {
                    bytes.push(b'\\');
                    rest = after;
                }
                [b'\\', b'x', high, low, after @ ..] => {
                    bytes.extend(crate::digest::decode_hex(&[*high, *low])?);
                    rest = after;
                }
                [b'\\', ..] => return None,
                [byte, after @ ..] => {
                    bytes.push(*byte);
                    rest = after;
                }
            }
        }
    }
}

impl fmt::Display for PathText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(&chunk.valid().replace('\\', "\\\\"))?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for PathText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<&str> for PathText {
    fn from(path: &str) -> Self {
        PathText(path.as_bytes().to_vec())
    }
}

crate::schema::text_schema!(
    PathText,
    r"^([^\\]|\\\\|\\x[0-9A-Fa-f]{2})*$",
    "A path. A backslash is doubled, and a byte that is not part of UTF-8 text is written `\\xNN`."
);

impl Serialize for PathText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PathText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        PathText::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("a backslash in a path is doubled"))
    }
}

/// A path as the kernel writes it into a measurement: blanks become underscores.
pub fn measured_path(path: &[u8]) -> Vec<u8> {
    path.iter()
        .map(|byte| if *byte == b' ' { b'_' } else { *byte })
        .collect()
}

/// An operating system that workers may boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OsReference {
    /// Accepted boot aggregates, of any bank.
    pub boot_aggregates: DigestSet,
}

/// An image that containers may be made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageReference {
    /// The digests it is known by: of its manifest, of its configuration, of an index that names it.
    pub digests: DigestSet,
    /// Whether this is the image of pod sandboxes (`pause`), which no pod lists as its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sandbox: bool,
    /// The files in it.
    pub files: FileSet,
}

/// A container runtime with everything it depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuntimeReference {
    /// Its files, the executable itself among them.
    pub files: FileSet,
}

/// A root file system of workers: needed where a log does not tell hosts from pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostReference {
    /// Its files.
    pub files: FileSet,
}

/// All reference values, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// What is read from a file may lack some; an answer has all of them.
#[schemars(extend("required" = ["os", "images", "runtimes", "hosts"]))]
pub struct ReferenceValues {
    /// Operating systems.
    #[serde(default)]
    pub os: BTreeMap<String, OsReference>,
    /// Images, by name and tag.
    #[serde(default)]
    pub images: BTreeMap<String, ImageReference>,
    /// Container runtimes, by the path of their executable.
    #[serde(default)]
    pub runtimes: BTreeMap<String, RuntimeReference>,
    /// Root file systems of workers.
    #[serde(default)]
    pub hosts: BTreeMap<String, HostReference>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::HashAlg;

    #[test]
    fn any_path_can_be_written_and_read() {
        for path in [
            &b"/bin/sh"[..],
            b"/a\\b",
            b"/\xff\xfe/x",
            "/gr\u{fc}n".as_bytes(),
            b"/\\x41",
            b"",
        ] {
            let text = PathText::new(path).to_string();
            assert_eq!(PathText::parse(&text).unwrap().as_bytes(), path, "{text}");
        }
        assert_eq!(PathText::parse("/a\\q"), None);
        assert_eq!(PathText::parse("/a\\xg0"), None);
    }

    #[test]
    fn the_document_is_readable_json() {
        let mut values = ReferenceValues::default();
        let digest = HashAlg::Sha256.hash(&[b"x"]);
        values.images.insert(
            "redis:7.2".to_owned(),
            ImageReference {
                digests: [digest].into(),
                sandbox: false,
                files: [("/bin/redis".into(), [digest].into())].into(),
            },
        );
        let json = serde_json::to_string(&values).unwrap();
        assert!(
            json.contains(&format!(r#""/bin/redis":["{digest}"]"#)),
            "{json}"
        );
        assert_eq!(
            serde_json::from_str::<ReferenceValues>(&json).unwrap(),
            values
        );
        assert!(serde_json::from_str::<ReferenceValues>(r#"{"image":{}}"#).is_err());
    }
}
