//! The types that come with the program: those of the Simple Profile, and profiles that are imported by name.

mod stored;

use super::version::Version;
pub use stored::to_store;
pub(super) use stored::tree;

/// A file of types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    /// What messages call it.
    pub name: &'static str,
    /// The name of its file, without its end.
    file: &'static str,
    /// Its version.
    pub version: Version,
    /// The text.
    pub text: &'static str,
    /// The tree of it.
    stored: &'static [u8],
}

/// A file, as text and as a tree.
macro_rules! file {
    ($name:expr, $version:expr, $file:literal) => {
        Text {
            name: $name,
            file: $file,
            version: $version,
            text: include_str!(concat!("../../data/tosca/", $file, ".yaml")),
            stored: include_bytes!(concat!("../../data/tosca/", $file, ".postcard")),
        }
    };
}

/// The profiles that can be imported by name.
pub(super) const PROFILES: &[&str] = &[
    "org.oasis-open.simple:2.0",
    "org.oasis-open.tosca.simple:2.0",
    LIFECYCLE,
];

/// The profile with the policy type of lifecycles.
const LIFECYCLE: &str = "locus.lifecycle:1.0";

/// What a text of 1.x mentions that needs the types of lifecycles, which it cannot import.
pub(super) const MENTIONS: &str = "locus.policies.";

/// The types of lifecycles.
pub(super) fn lifecycle() -> Text {
    file!(LIFECYCLE, Version::V1_3, "lifecycle")
}

/// The types of a version of the Simple Profile.
pub(super) fn normative(version: Version) -> Text {
    match version {
        Version::V1_0 => file!("tosca_simple_yaml_1_0", version, "simple-1.0"),
        Version::V1_1 => file!("tosca_simple_yaml_1_1", version, "simple-1.1"),
        Version::V1_2 => file!("tosca_simple_yaml_1_2", version, "simple-1.2"),
        Version::V1_3 | Version::V2_0 => file!("tosca_simple_yaml_1_3", version, "simple-1.3"),
    }
}

/// A profile of 2.0.
pub(super) fn profile(name: &str) -> Option<Text> {
    if name == LIFECYCLE {
        return Some(lifecycle());
    }
    PROFILES.contains(&name).then(simple)
}

/// The Simple Profile for 2.0.
fn simple() -> Text {
    file!("org.oasis-open.simple:2.0", Version::V2_0, "simple-2.0")
}

/// All files.
fn all() -> Vec<Text> {
    let versions = [Version::V1_0, Version::V1_1, Version::V1_2, Version::V1_3];
    let versions = versions.into_iter().map(normative);
    versions.chain([simple(), lifecycle()]).collect()
}
