//! The templates of measurement logs, as data: a name and the list of its fields.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most fields a template may have.
pub const MAX_FIELDS: usize = 12;

/// How the bytes of a field are laid out, and how the ASCII log shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldFormat {
    /// A bare digest, shown as hexadecimal digits.
    Digest,
    /// `algorithm:`, a NUL and the digest; shown as `algorithm:digits`.
    NamedDigest,
    /// `type:algorithm:`, a NUL and the digest; shown as `type:algorithm:digits`.
    TypedDigest,
    /// Text that ends in a NUL; shown as it is.
    Text,
    /// Bytes, shown as hexadecimal digits.
    Hex,
    /// A little-endian number of this many bytes, shown in decimal.
    Number(usize),
}

macro_rules! fields {
    ($($variant:ident $id:literal $format:expr, $doc:literal;)*) => {
        /// A field of a measurement entry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Field {
            $(#[doc = $doc] $variant,)*
        }

        impl Field {
            /// Every field.
            pub const ALL: &'static [Field] = &[$(Field::$variant,)*];

            /// The identifier used in template formats.
            pub const fn id(self) -> &'static str {
                match self { $(Field::$variant => $id,)* }
            }

            /// How its bytes are laid out.
            pub const fn format(self) -> FieldFormat {
                match self { $(Field::$variant => $format,)* }
            }
        }
    };
}

fields! {
    D "d" FieldFormat::Digest, "The digest of the file, SHA-1 or MD5 without its name.";
    N "n" FieldFormat::Text, "The name of the file, at most 255 bytes.";
    DNg "d-ng" FieldFormat::NamedDigest, "The digest of the file with its algorithm.";
    DNgV2 "d-ngv2" FieldFormat::TypedDigest, "The digest with its type (`ima`, `verity`) and algorithm.";
    NNg "n-ng" FieldFormat::Text, "The name of the file, of any length.";
    Sig "sig" FieldFormat::Hex, "The signature of the file, or nothing.";
    Buf "buf" FieldFormat::Hex, "A measured buffer.";
    DModsig "d-modsig" FieldFormat::NamedDigest, "The digest that the appended signature is over.";
    Modsig "modsig" FieldFormat::Hex, "The appended signature.";
    EvmSig "evmsig" FieldFormat::Hex, "The portable EVM signature.";
    XattrNames "xattrnames" FieldFormat::Text, "The names of the protected extended attributes.";
    XattrLengths "xattrlengths" FieldFormat::Hex, "The lengths of their values.";
    XattrValues "xattrvalues" FieldFormat::Hex, "Their values.";
    Iuid "iuid" FieldFormat::Number(4), "The owner of the file.";
    Igid "igid" FieldFormat::Number(4), "The group of the file.";
    Imode "imode" FieldFormat::Number(2), "The mode of the file.";
    Dep "dep" FieldFormat::Text, "The executable of the process and of its ancestors, joined by colons.";
    Cgn "cgn" FieldFormat::Text, "The name of the control group of the process.";
    CgPath "cg-path" FieldFormat::Text, "The path of the control group of the process.";
}

impl Field {
    /// The field with that identifier.
    pub fn from_id(id: &str) -> Option<Field> {
        Field::ALL.iter().copied().find(|field| field.id() == id)
    }
}

/// Every template known from the start: name and format.
pub const TEMPLATES: &[(&str, &str)] = &[
    ("ima", "d|n"),
    ("ima-ng", "d-ng|n-ng"),
    ("ima-sig", "d-ng|n-ng|sig"),
    ("ima-ngv2", "d-ngv2|n-ng"),
    ("ima-sigv2", "d-ngv2|n-ng|sig"),
    ("ima-buf", "d-ng|n-ng|buf"),
    ("ima-modsig", "d-ng|n-ng|sig|d-modsig|modsig"),
    (
        "evm-sig",
        "d-ng|n-ng|evmsig|xattrnames|xattrlengths|xattrvalues|iuid|igid|imode",
    ),
    ("ima-dep-cgn", "dep|cgn|d-ng|n-ng"),
    ("ima-cgpath", "dep|cg-path|d-ng|n-ng"),
];

/// The name of the one template whose entries carry no lengths.
pub(crate) const LEGACY: &[u8] = b"ima";

/// The fields of a template, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    fields: [Field; MAX_FIELDS],
    len: u8,
    legacy: bool,
    /// Where each field is, as it is asked for several times for every entry; [`ABSENT`] where there is none.
    places: [u8; Field::ALL.len()],
}

const ABSENT: u8 = u8::MAX;

impl Default for Layout {
    /// Without fields.
    fn default() -> Self {
        Layout {
            fields: [Field::D; MAX_FIELDS],
            len: 0,
            legacy: false,
            places: [ABSENT; Field::ALL.len()],
        }
    }
}

impl Layout {
    /// From a format such as `d-ng|n-ng`.
    pub fn parse(format: &str) -> Result<Layout, TemplateError> {
        let mut layout = Layout::default();
        for id in format.split('|') {
            let field = Field::from_id(id).ok_or_else(|| TemplateError::Field(id.to_owned()))?;
            let slot = layout
                .fields
                .get_mut(usize::from(layout.len))
                .ok_or(TemplateError::TooManyFields)?;
            *slot = field;
            if let Some(place) = layout.places.get_mut(field as usize)
                && *place == ABSENT
            {
                *place = layout.len;
            }
            layout.len += 1;
        }
        Ok(layout)
    }

    /// The fields.
    pub fn fields(&self) -> &[Field] {
        self.fields.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// The first place of a field.
    pub fn position(&self, field: Field) -> Option<usize> {
        let place = *self.places.get(field as usize)?;
        (place != ABSENT).then_some(usize::from(place))
    }

    /// Whether this is the old template `ima`, stored and hashed in a way of its own.
    pub fn is_legacy(&self) -> bool {
        self.legacy
    }

    /// Whether there may be bytes that both layouts read, each with another meaning. The name of a template is in
    /// no hash, so that whoever writes the log could choose between the two, entry by entry.
    pub fn is_confusable_with(&self, other: &Layout) -> bool {
        let pairs = || self.fields().iter().zip(other.fields());
        // The lengths of the fields are hashed, and with them how many there are. The old template is hashed in
        // a way of its own.
        self.len == other.len
            && self.legacy == other.legacy
            && pairs().all(|(one, other)| may_share_bytes(*one, *other))
            && pairs().any(|(one, other)| means_otherwise(*one, *other))
    }
}

/// Whether there may be bytes that are well formed as either field; in doubt, there are.
fn may_share_bytes(one: Field, other: Field) -> bool {
    !matches!(
        (one.format(), other.format()),
        (FieldFormat::NamedDigest, FieldFormat::TypedDigest)
            | (FieldFormat::TypedDigest, FieldFormat::NamedDigest)
    )
}

/// Whether the same bytes mean something else in the other field. A signature and a buffer are told apart by their
/// content, whatever the template is called: every kernel mixes `ima-sig` with `ima-buf`.
fn means_otherwise(one: Field, other: Field) -> bool {
    one != other
        && !matches!(
            (one, other),
            (Field::Sig, Field::Buf) | (Field::Buf, Field::Sig)
        )
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.fields().iter().map(|field| field.id()).collect();
        f.write_str(&ids.join("|"))
    }
}

/// Why a template cannot be described.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A field that is not in the table.
    #[error("`{0}` is not a field of measurement templates")]
    Field(String),
    /// A field occurs twice.
    #[error("the field `{0}` occurs twice")]
    Twice(&'static str),
    /// There is not exactly one digest and one name.
    #[error("a template has one digest (`d`, `d-ng`, `d-ngv2`) and one name (`n`, `n-ng`)")]
    NotOne,
    /// There are two fields for the control group.
    #[error("a template has `cgn` or `cg-path`, not both")]
    TwoGroups,
    /// More fields than an entry may have.
    #[error("a template has at most {MAX_FIELDS} fields")]
    TooManyFields,
}

/// The templates that a log may use.
///
/// The name of a template is covered by no hash, so that a log cannot be asked what its entries mean: a name
/// that is not in here is refused, also one that is a format itself.
#[derive(Clone, Debug)]
pub struct Templates {
    known: Vec<(Box<[u8]>, Layout)>,
}

impl Templates {
    /// Adds a template, or replaces one; a new template is data, not code.
    pub fn add(&mut self, name: &str, format: &str) -> Result<(), TemplateError> {
        let mut layout = Layout::parse(format)?;
        layout.legacy = name.as_bytes() == LEGACY;
        self.known.retain(|(other, _)| **other != *name.as_bytes());
        self.known.push((name.as_bytes().into(), layout));
        Ok(())
    }

    /// Adds a template that entries can be judged by: with one digest and one name, and no field twice.
    pub fn add_checked(&mut self, name: &str, format: &str) -> Result<(), TemplateError> {
        let layout = Layout::parse(format)?;
        let fields = layout.fields();
        for (place, field) in fields.iter().enumerate() {
            if fields.iter().skip(place + 1).any(|other| other == field) {
                return Err(TemplateError::Twice(field.id()));
            }
        }
        let count = |wanted: &[Field]| fields.iter().filter(|field| wanted.contains(field)).count();
        if count(&[Field::D, Field::DNg, Field::DNgV2]) != 1 || count(&[Field::N, Field::NNg]) != 1
        {
            return Err(TemplateError::NotOne);
        }
        if count(&[Field::Cgn, Field::CgPath]) > 1 {
            return Err(TemplateError::TwoGroups);
        }
        self.add(name, format)
    }

    /// Those of these names; names that are not known stay unknown.
    #[must_use]
    pub fn restricted_to(&self, names: &[impl AsRef<str>]) -> Templates {
        let wanted = |known: &[u8]| names.iter().any(|name| name.as_ref().as_bytes() == known);
        let known = self.known.iter().filter(|(name, _)| wanted(name));
        Templates {
            known: known.cloned().collect(),
        }
    }

    /// Two of these templates that could be passed for each other, if there are such.
    ///
    /// As long as there are none, the bytes of an entry say which template it is of.
    pub fn confusable(&self, names: &[impl AsRef<str>]) -> Option<(String, String)> {
        let few = self.restricted_to(names);
        let known = &few.known;
        known
            .iter()
            .enumerate()
            .find_map(|(place, (name, layout))| {
                let rest = known.iter().skip(place + 1);
                let (other, _) = rest
                    .into_iter()
                    .find(|(_, other)| layout.is_confusable_with(other))?;
                let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
                Some((text(name), text(other)))
            })
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.known.iter();
        names.filter_map(|(name, _)| std::str::from_utf8(name).ok())
    }

    /// The fields of the template of that name.
    pub fn layout(&self, name: &[u8]) -> Option<Layout> {
        let found = self.known.iter().find(|(known, _)| **known == *name);
        found.map(|(_, layout)| *layout)
    }
}

/// Names with their formats, in order.
impl Serialize for Templates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = self.known.iter().filter_map(|(name, layout)| {
            let name = std::str::from_utf8(name).ok()?;
            Some((name, format!("{layout:?}")))
        });
        serializer.collect_seq(known)
    }
}

impl<'de> Deserialize<'de> for Templates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let known = Vec::<(String, String)>::deserialize(deserializer)?;
        let mut templates = Templates { known: Vec::new() };
        for (name, format) in &known {
            templates
                .add(name, format)
                .map_err(serde::de::Error::custom)?;
        }
        Ok(templates)
    }
}

impl Default for Templates {
    fn default() -> Self {
        let mut templates = Templates { known: Vec::new() };
        for (name, format) in TEMPLATES {
            // The table above is tested to be well formed.
            let _ = templates.add(name, format);
        }
        templates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_of_the_table_is_known() {
        let templates = Templates::default();
        for (name, format) in TEMPLATES {
            let layout = templates.layout(name.as_bytes()).unwrap();
            assert_eq!(format!("{layout:?}"), *format);
            assert_eq!(layout.is_legacy(), *name == "ima");
        }
    }

    #[test]
    fn a_format_in_place_of_a_name_is_known_only_when_it_was_added() {
        let format = "d-ng|n-ng|iuid";
        let mut templates = Templates::default();
        assert_eq!(templates.layout(format.as_bytes()), None);
        templates.add_checked(format, format).unwrap();
        let layout = templates.layout(format.as_bytes()).unwrap();
        assert_eq!(layout.fields(), [Field::DNg, Field::NNg, Field::Iuid]);
        assert_eq!(layout.position(Field::Iuid), Some(2));
        assert_eq!(layout.position(Field::CgPath), None);
        assert!(!layout.is_legacy());
    }

    #[test]
    fn a_template_of_an_operator_has_one_digest_and_one_name() {
        let mut templates = Templates::default();
        for format in ["d-ng", "n-ng", "d-ng|d|n-ng", "d-ng|n-ng|n", "dep|cgn"] {
            let error = templates.add_checked("site", format).unwrap_err();
            assert_eq!(error, TemplateError::NotOne, "{format}");
        }
        let twice = templates.add_checked("site", "d-ng|n-ng|sig|sig");
        assert_eq!(twice, Err(TemplateError::Twice("sig")));
        let groups = templates.add_checked("site", "cgn|cg-path|d-ng|n-ng");
        assert_eq!(groups, Err(TemplateError::TwoGroups));
    }

    #[test]
    fn two_templates_of_the_table_can_be_passed_for_each_other() {
        let templates = Templates::default();
        let mut found = Vec::new();
        for (place, (one, _)) in TEMPLATES.iter().enumerate() {
            for (other, _) in TEMPLATES.iter().skip(place + 1) {
                found.extend(templates.confusable(&[one, other]));
            }
        }
        let pair = ("ima-dep-cgn".to_owned(), "ima-cgpath".to_owned());
        assert_eq!(found, [pair]);
    }

    #[test]
    fn templates_of_an_operator_can_be_confused_too() {
        let mut templates = Templates::default();
        templates
            .add_checked("turned", "cg-path|dep|d-ng|n-ng")
            .unwrap();
        templates
            .add_checked("same", "dep|cg-path|d-ng|n-ng")
            .unwrap();
        templates
            .add_checked("typed", "dep|cg-path|d-ngv2|n-ng")
            .unwrap();
        templates.add_checked("owner", "d-ng|n-ng|iuid").unwrap();
        let confused = |one, other| templates.confusable(&[one, other]).is_some();
        assert!(confused("ima-cgpath", "turned"));
        assert!(confused("ima-sig", "owner"));
        assert!(!confused("ima-cgpath", "same"));
        assert!(!confused("ima-cgpath", "typed"));
        assert!(!confused("ima-cgpath", "unknown"));
    }

    #[test]
    fn only_the_named_ones_stay() {
        let few = Templates::default().restricted_to(&["ima-ng", "made-up"]);
        assert_eq!(few.names().collect::<Vec<_>>(), ["ima-ng"]);
        assert_eq!(few.layout(b"ima-sig"), None);
    }

    #[test]
    fn a_new_template_is_data() {
        let mut templates = Templates::default();
        assert_eq!(templates.layout(b"site"), None);
        templates.add("site", "cg-path|d-ngv2|n-ng").unwrap();
        assert!(templates.layout(b"site").is_some());
        assert_eq!(
            templates.add("bad", "d-ng|colour"),
            Err(TemplateError::Field("colour".to_owned()))
        );
        let many = ["d-ng"; MAX_FIELDS + 1].join("|");
        assert_eq!(
            templates.add("bad", &many),
            Err(TemplateError::TooManyFields)
        );
    }
}
