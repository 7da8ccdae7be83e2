//! The versions of TOSCA, and the dialects that are told apart from them.

use std::fmt;

/// A version of TOSCA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// TOSCA Simple Profile in YAML 1.0.
    V1_0,
    /// TOSCA Simple Profile in YAML 1.1.
    V1_1,
    /// TOSCA Simple Profile in YAML 1.2.
    V1_2,
    /// TOSCA Simple Profile in YAML 1.3.
    V1_3,
    /// TOSCA 2.0.
    V2_0,
}

/// What `tosca_definitions_version` may say.
pub const NAMES: &[&str] = &[
    "tosca_2_0",
    "tosca_simple_yaml_1_3",
    "tosca_simple_yaml_1_2",
    "tosca_simple_yaml_1_1",
    "tosca_simple_yaml_1_0",
    "tosca_simple_profile_for_nfv_1_0",
];

/// What the version of a file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A version of the standard, also one of a profile that uses its grammar.
    Version(Version),
    /// Another language that grew out of TOSCA, by name.
    Dialect(&'static str),
    /// Nothing that is known.
    Unknown,
}

impl Version {
    /// What a `tosca_definitions_version` stands for.
    pub fn named(text: &str) -> Named {
        let text = text.trim();
        let version = match text {
            "tosca_2_0" => Version::V2_0,
            "tosca_simple_yaml_1_3" | "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.3" => {
                Version::V1_3
            }
            "tosca_simple_yaml_1_2" | "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.2" => {
                Version::V1_2
            }
            "tosca_simple_yaml_1_1" | "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.1" => {
                Version::V1_1
            }
            "tosca_simple_yaml_1_0"
            | "tosca_simple_yaml_1_0_0"
            | "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.0" => Version::V1_0,
            "tosca_simple_profile_for_nfv_1_0" | "tosca_simple_profile_for_nfv_1_0_0" => {
                Version::V1_2
            }
            _ => return dialect(text),
        };
        Named::Version(version)
    }

    /// Its number, as people say it.
    pub fn number(self) -> &'static str {
        match self {
            Version::V1_0 => "1.0",
            Version::V1_1 => "1.1",
            Version::V1_2 => "1.2",
            Version::V1_3 => "1.3",
            Version::V2_0 => "2.0",
        }
    }

    /// Whether it is one of the Simple Profile.
    pub fn is_simple(self) -> bool {
        self < Version::V2_0
    }
}

/// Whether the `apiVersion` of a file is that of an ensemble of Unfurl, which holds a service.
pub fn is_ensemble(api: &str) -> bool {
    api.starts_with("unfurl/")
}

fn dialect(text: &str) -> Named {
    let prefixes = [
        ("alien_dsl_", "Alien4Cloud"),
        ("cloudify_dsl_", "Cloudify"),
        ("aria_", "ARIA"),
        ("yorc_", "Yorc"),
        ("tosca_simple_yaml_1_0_0_wd", "Alien4Cloud"),
        ("unfurl/", "Unfurl"),
        ("tosca_simple_unfurl", "Unfurl"),
        ("tosca_variability_", "Vintner"),
    ];
    let found = prefixes.iter().find(|(prefix, _)| text.starts_with(prefix));
    found.map_or(Named::Unknown, |(_, name)| Named::Dialect(name))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TOSCA {}", self.number())
    }
}
