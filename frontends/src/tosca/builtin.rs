//! The types that come with the program: those of the Simple Profile, and profiles that are imported by name.

use super::version::Version;

/// A file of types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    /// What messages call it.
    pub name: &'static str,
    /// Its version.
    pub version: Version,
    /// The text.
    pub text: &'static str,
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
    Text {
        name: LIFECYCLE,
        version: Version::V1_3,
        text: include_str!("../../data/tosca/lifecycle.yaml"),
    }
}

/// The types of a version of the Simple Profile.
pub(super) fn normative(version: Version) -> Text {
    let (name, text) = match version {
        Version::V1_0 => (
            "tosca_simple_yaml_1_0",
            include_str!("../../data/tosca/simple-1.0.yaml"),
        ),
        Version::V1_1 => (
            "tosca_simple_yaml_1_1",
            include_str!("../../data/tosca/simple-1.1.yaml"),
        ),
        Version::V1_2 => (
            "tosca_simple_yaml_1_2",
            include_str!("../../data/tosca/simple-1.2.yaml"),
        ),
        Version::V1_3 | Version::V2_0 => (
            "tosca_simple_yaml_1_3",
            include_str!("../../data/tosca/simple-1.3.yaml"),
        ),
    };
    Text {
        name,
        version,
        text,
    }
}

/// A profile of 2.0.
pub(super) fn profile(name: &str) -> Option<Text> {
    if name == LIFECYCLE {
        return Some(lifecycle());
    }
    PROFILES.contains(&name).then_some(Text {
        name: "org.oasis-open.simple:2.0",
        version: Version::V2_0,
        text: include_str!("../../data/tosca/simple-2.0.yaml"),
    })
}
