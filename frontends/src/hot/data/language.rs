//! Template versions, functions and constraints.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value as Json;

static LANGUAGE: &str = include_str!("../../../data/heat-language.json");

/// What one template version allows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct VersionInfo {
    /// Its date; empty in the data, filled when it is looked up.
    pub name: String,
    /// The keys at the top.
    pub sections: Vec<String>,
    /// Function names and the variant of each.
    pub functions: FxHashMap<String, String>,
    /// Functions that are recognised and then rejected.
    pub removed_functions: Vec<String>,
    /// Functions within conditions.
    pub condition_functions: FxHashMap<String, String>,
    /// What `deletion_policy` may say.
    pub deletion_policies: Vec<String>,
    /// The keys of a resource.
    pub resource_keys: Vec<String>,
    /// The keys of an output.
    pub output_keys: Vec<String>,
    /// The types of a parameter.
    pub parameter_types: Vec<String>,
    /// The keys of a parameter.
    pub parameter_keys: Vec<String>,
    /// For each parameter type the kinds of constraints that fit it.
    pub parameter_constraints: FxHashMap<String, Vec<String>>,
}

/// The arguments of a function.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct FunctionShape {
    /// `string`, `list`, `map`, `string_or_list` or `condition`.
    pub args: String,
    /// At least so many items.
    pub min: Option<usize>,
    /// At most so many items.
    pub max: Option<usize>,
    /// Keys that must be there.
    pub required: Vec<String>,
    /// Keys that may be there.
    pub optional: Vec<String>,
    /// Whether other keys are refused.
    pub closed: bool,
    /// The values that a text argument may have.
    pub allowed_values: Vec<String>,
    /// Whether keys of the replacement must occur in the text.
    pub keys_must_occur: bool,
    /// The kinds of items.
    pub items: Json,
}

/// Whether a custom constraint is about the form of a text or about something that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CustomKind {
    /// The form of a text: an address, a name.
    Syntax,
    /// Something that exists: a network, an image.
    Reference,
}

/// A custom constraint.
#[derive(Clone, Debug, Deserialize)]
pub struct Custom {
    /// What it is about.
    pub kind: CustomKind,
    /// The types of resources that satisfy it.
    #[serde(default)]
    pub resource_types: Vec<Arc<str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Types {
    pub(super) aliases: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) template_types: Vec<String>,
    #[serde(default)]
    pub(super) base_attributes: FxHashMap<String, Json>,
}

#[derive(Debug, Deserialize)]
struct Pseudo {
    hot: Vec<String>,
    cfn: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct MaxNesting {
    max_nested_stack_depth: usize,
    max_resources_per_stack: usize,
}

/// Everything about the language that does not depend on resource types.
#[derive(Debug, Deserialize)]
pub struct Language {
    heat_template_version: BTreeMap<String, VersionInfo>,
    aliases: BTreeMap<String, String>,
    cfn: BTreeMap<String, BTreeMap<String, VersionInfo>>,
    function_variants: FxHashMap<String, FunctionShape>,
    /// The keys of a parameter group.
    pub parameter_group_keys: Vec<String>,
    pseudo_parameters: Pseudo,
    /// The sections of an environment.
    pub environment_sections: Vec<String>,
    limits: MaxNesting,
    /// Custom constraints by name.
    pub custom_constraints: FxHashMap<String, Custom>,
    pub(super) types: Types,
}

/// The language, read when first asked for.
pub fn language() -> &'static Language {
    #[expect(
        clippy::expect_used,
        reason = "the data is part of the program and a test reads it"
    )]
    static DATA: LazyLock<Language> = LazyLock::new(|| {
        let mut data: Language = serde_json::from_str(LANGUAGE).expect("the data is well formed");
        let versions = data.heat_template_version.iter_mut();
        for (name, info) in versions.chain(data.cfn.values_mut().flatten()) {
            info.name.clone_from(name);
        }
        // The data lists what fits each type of HOT; a CFN-style parameter has the same types.
        data
    });
    &DATA
}

/// Versions that the documentation of HOT lists and Heat does not know.
const DOCUMENTED_ONLY: [&str; 2] = ["stein", "2019-04-10"];

impl Language {
    /// What a `heat_template_version` allows; release names are followed.
    pub fn version(&self, name: &str) -> Option<&VersionInfo> {
        let dated = self.aliases.get(name).map_or(name, String::as_str);
        self.heat_template_version.get(dated)
    }

    /// Whether a version is documented although Heat does not know it.
    pub fn documented_only(&self, name: &str) -> bool {
        DOCUMENTED_ONLY.contains(&name)
    }

    /// The newest version, taken for a template whose version is unknown.
    pub fn newest(&self) -> &VersionInfo {
        static EMPTY: LazyLock<VersionInfo> = LazyLock::new(VersionInfo::default);
        self.heat_template_version
            .values()
            .next_back()
            .unwrap_or(&EMPTY)
    }

    /// What a CFN-style template allows; `key` is `AWSTemplateFormatVersion` or
    /// `HeatTemplateFormatVersion`.
    pub fn cfn(&self, key: &str, version: &str) -> Option<&VersionInfo> {
        self.cfn.get(key)?.get(version)
    }

    /// The newest CFN-style version.
    pub fn newest_cfn(&self) -> &VersionInfo {
        self.cfn
            .get("AWSTemplateFormatVersion")
            .and_then(|versions| versions.values().next_back())
            .unwrap_or_else(|| self.newest())
    }

    /// All names of versions, releases included.
    pub fn version_names(&self) -> impl Iterator<Item = &str> {
        let dated = self.heat_template_version.keys();
        dated.chain(self.aliases.keys()).map(String::as_str)
    }

    /// The argument shape of a function variant.
    pub fn shape(&self, variant: &str) -> Option<&FunctionShape> {
        self.function_variants.get(variant)
    }

    /// The names of all functions of all versions.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        let hot = self.heat_template_version.values();
        let cfn = self.cfn.values().flat_map(BTreeMap::values);
        hot.chain(cfn)
            .flat_map(|info| info.functions.keys().chain(info.condition_functions.keys()))
            .map(String::as_str)
    }

    /// The pseudo parameters of a dialect.
    pub fn pseudo_parameters(&self, cfn: bool) -> &[String] {
        if cfn {
            &self.pseudo_parameters.cfn
        } else {
            &self.pseudo_parameters.hot
        }
    }

    /// Stacks within stacks that Heat allows.
    pub fn max_depth(&self) -> usize {
        self.limits.max_nested_stack_depth
    }

    /// Resources that Heat allows in one stack.
    pub fn max_resources(&self) -> usize {
        self.limits.max_resources_per_stack
    }

    /// Whether every resource has this attribute.
    pub fn base_attribute(&self, name: &str) -> bool {
        self.types.base_attributes.contains_key(name)
    }

    /// Whether a stock installation maps a type to a template, so that nothing is known about it.
    pub fn template_type(&self, name: &str) -> bool {
        self.types.template_types.iter().any(|known| known == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_release_names_are_known() {
        let language = language();
        assert_eq!(language.version_names().count(), 17);
        assert_eq!(language.version("rocky").unwrap().name, "2018-08-31");
        assert_eq!(language.newest().name, "2021-04-16");
        assert!(language.version("stein").is_none() && language.documented_only("stein"));
        let cfn = language
            .cfn("HeatTemplateFormatVersion", "2012-12-12")
            .unwrap();
        assert!(cfn.functions.contains_key("Fn::GetAtt"));
        assert_eq!(language.max_depth(), 5);
        assert!(language.custom_constraints.len() == 70);
    }

    #[test]
    fn every_function_of_every_version_has_a_shape() {
        let language = language();
        for info in language.heat_template_version.values() {
            for (name, variant) in info.functions.iter().chain(&info.condition_functions) {
                let known = language.shape(variant).is_some();
                let cfn = name.contains("Fn::") || name == "Ref";
                assert!(known || cfn, "{}: {name} is a {variant}", info.name);
            }
        }
    }
}
