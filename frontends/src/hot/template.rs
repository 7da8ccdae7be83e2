//! A template as it is written: sections, parameters, resources, outputs, conditions.
//!
//! Both dialects come out alike: HOT, and the CFN style with its capitalised keys. What cannot be
//! understood at all is a diagnostic; what can be understood and may be wrong is left to rules, which
//! see it as facts.

use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Sources, Span};

use super::data::{VersionInfo, language};
use crate::yaml::{self, DuplicateKey, Entry, Kind, Limits, Mapping, Node, Schema};

/// Heat reads YAML with PyYAML.
pub(super) const SCHEMA: Schema = Schema::PyYaml;

/// The two ways of writing a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `heat_template_version`.
    Hot,
    /// `AWSTemplateFormatVersion` or `HeatTemplateFormatVersion`.
    Cfn,
}

/// The names of the keys of a dialect.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) description: &'static str,
    pub(super) parameters: &'static str,
    pub(super) resources: &'static str,
    pub(super) outputs: &'static str,
    pub(super) conditions: &'static str,
    pub(super) ty: &'static str,
    pub(super) properties: &'static str,
    pub(super) metadata: &'static str,
    pub(super) depends_on: &'static str,
    pub(super) deletion_policy: &'static str,
    pub(super) update_policy: &'static str,
    pub(super) condition: &'static str,
    pub(super) value: &'static str,
}

impl Dialect {
    pub(super) fn keys(self) -> &'static Keys {
        match self {
            Dialect::Hot => &Keys {
                description: "description",
                parameters: "parameters",
                resources: "resources",
                outputs: "outputs",
                conditions: "conditions",
                ty: "type",
                properties: "properties",
                metadata: "metadata",
                depends_on: "depends_on",
                deletion_policy: "deletion_policy",
                update_policy: "update_policy",
                condition: "condition",
                value: "value",
            },
            Dialect::Cfn => &Keys {
                description: "Description",
                parameters: "Parameters",
                resources: "Resources",
                outputs: "Outputs",
                conditions: "Conditions",
                ty: "Type",
                properties: "Properties",
                metadata: "Metadata",
                depends_on: "DependsOn",
                deletion_policy: "DeletionPolicy",
                update_policy: "UpdatePolicy",
                condition: "Condition",
                value: "Value",
            },
        }
    }
}

/// Text with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text.
    pub text: Arc<str>,
    /// Where it is.
    pub span: Span,
}

/// A key in a place where only some are allowed.
#[derive(Clone, Debug)]
pub struct WrittenKey {
    /// The key.
    pub name: Arc<str>,
    /// Where it is.
    pub span: Span,
    /// What holds it: `template`, `resource`, `output`, `parameter`, `parameter group`.
    pub place: &'static str,
    /// Whether the template's version allows it there.
    pub allowed: bool,
}

/// The version line of a template.
#[derive(Clone, Debug)]
pub struct Version {
    /// What is written.
    pub text: Text,
    /// Whether Heat knows it.
    pub known: bool,
}

/// An entry of a section: a name with what is said about it.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: Arc<str>,
    /// Where the name is.
    pub span: Span,
    /// What is said.
    pub node: Node,
}

/// A resource as it is written.
#[derive(Clone, Debug)]
pub struct ResourceDecl {
    /// Its name.
    pub name: Arc<str>,
    /// Where the name is.
    pub span: Span,
    /// Its type.
    pub ty: Option<Text>,
    /// Its properties, as written: a map, or a function that gives one.
    pub properties: Option<Node>,
    /// Its metadata.
    pub metadata: Option<Node>,
    /// What it waits for.
    pub depends_on: Vec<Text>,
    /// When it exists.
    pub condition: Option<Node>,
    /// The identifier of the existing thing that it stands for.
    pub external_id: Option<Node>,
    /// What becomes of it when it is removed.
    pub deletion_policy: Option<Node>,
    /// How it is updated.
    pub update_policy: Option<Node>,
}

/// An output as it is written.
#[derive(Clone, Debug)]
pub struct OutputDecl {
    /// Its name.
    pub name: Arc<str>,
    /// Where the name is.
    pub span: Span,
    /// Its value.
    pub value: Option<Node>,
    /// When it exists.
    pub condition: Option<Node>,
}

/// A parameter group as it is written.
#[derive(Clone, Debug)]
pub struct Group {
    /// Where it is.
    pub span: Span,
    /// Its label.
    pub label: Option<Text>,
    /// The parameters it names.
    pub members: Vec<Text>,
}

/// A template.
#[derive(Clone, Debug)]
pub struct Template {
    /// The file it is in.
    pub file: FileId,
    /// How it is written.
    pub dialect: Dialect,
    /// Its version; `None` when there is none.
    pub version: Option<Version>,
    /// What its version allows.
    pub info: &'static VersionInfo,
    /// Keys in places where only some are allowed.
    pub keys: Vec<WrittenKey>,
    /// Its parameters.
    pub parameters: Vec<Named>,
    /// Its parameter groups.
    pub groups: Vec<Group>,
    /// Its resources.
    pub resources: Vec<ResourceDecl>,
    /// Its outputs.
    pub outputs: Vec<OutputDecl>,
    /// Its conditions.
    pub conditions: Vec<Named>,
    /// The mappings of the CFN style.
    pub mappings: Option<Node>,
    /// Keys written twice.
    pub duplicates: Vec<DuplicateKey>,
    /// Where the `resources` section is, when there is one.
    pub resources_section: Option<Span>,
    /// Whether parts could not be read, so that what seems absent may not be.
    pub partial: bool,
}

/// Reads a template; `None` when it is not one at all.
pub fn read(
    sources: &Sources,
    file: FileId,
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Template> {
    let mut parsed = yaml::parse(sources, file, limits);
    let partial = !parsed.broken.is_empty();
    diagnostics.append(&mut parsed.diagnostics);
    if let Some(second) = parsed.documents.get(1) {
        diagnostics.push(
            Diagnostic::error(
                "shape",
                "a template is one document, but this file has several",
            )
            .at(second.root.span)
            .help("remove the `---` line, or move what follows it to a file of its own"),
        );
    }
    let Some(document) = parsed.documents.into_iter().next() else {
        if !partial {
            diagnostics.push(yaml::empty_file(file));
        }
        return None;
    };
    let root = document.root;
    let Kind::Mapping(sections) = root.kind else {
        diagnostics.push(
            Diagnostic::error(
                "shape",
                format!(
                    "a template is a map of sections, but this is {}",
                    root.describe(SCHEMA)
                ),
            )
            .at(root.span)
            .help("a template starts with `heat_template_version: 2018-08-31`"),
        );
        return None;
    };
    let mut reader = Reader {
        diagnostics,
        keys: Vec::new(),
    };
    Some(reader.template(file, sections, parsed.duplicates, partial))
}

struct Reader<'a> {
    diagnostics: &'a mut Vec<Diagnostic>,
    keys: Vec<WrittenKey>,
}

impl Reader<'_> {
    fn template(
        &mut self,
        file: FileId,
        sections: Mapping,
        duplicates: Vec<DuplicateKey>,
        partial: bool,
    ) -> Template {
        let (dialect, version, info) = version(&sections);
        let keys = dialect.keys();
        let mut template = Template {
            file,
            dialect,
            version,
            info,
            keys: Vec::new(),
            parameters: Vec::new(),
            groups: Vec::new(),
            resources: Vec::new(),
            outputs: Vec::new(),
            conditions: Vec::new(),
            mappings: None,
            duplicates,
            resources_section: None,
            partial,
        };
        for entry in sections.entries {
            let Some(name) = self.name(&entry) else {
                continue;
            };
            self.key(&name, entry.key.span, "template", &info.sections);
            let name = &*name;
            if name == keys.parameters {
                template.parameters = self.section(entry, "parameters");
            } else if name == keys.resources {
                template.resources_section = Some(entry.key.span);
                // What is refused may be meant as a resource.
                let is_section = entry.value.as_mapping().is_some() || entry.value.is_null(SCHEMA);
                template.partial |= !is_section;
                let resources = self.section(entry, "resources");
                template.resources.reserve(resources.len());
                for resource in resources {
                    match self.resource(resource, keys, info) {
                        Some(resource) => template.resources.push(resource),
                        None => template.partial = true,
                    }
                }
            } else if name == keys.outputs {
                for output in self.section(entry, "outputs") {
                    template.outputs.extend(self.output(output, keys, info));
                }
            } else if name == keys.conditions {
                template.conditions = self.section(entry, "conditions");
            } else if name == "parameter_groups" && dialect == Dialect::Hot {
                template.groups = self.groups(entry.value);
            } else if name == "Mappings" && dialect == Dialect::Cfn {
                template.mappings = Some(entry.value);
            } else if name == keys.description && entry.value.as_str().is_none() {
                self.wrong(&entry.value, "the description", "a string");
            }
        }
        template.keys = std::mem::take(&mut self.keys);
        template
    }

    fn wrong(&mut self, node: &Node, what: &str, wanted: &str) {
        self.diagnostics.push(
            Diagnostic::error(
                "shape",
                format!("{what} is {wanted}, but this is {}", node.describe(SCHEMA)),
            )
            .at(node.used_at()),
        );
    }

    fn name(&mut self, entry: &Entry) -> Option<Arc<str>> {
        let name = entry.name().cloned();
        if name.is_none() {
            self.wrong(&entry.key, "a name", "text");
        }
        name
    }

    fn key(&mut self, name: &Arc<str>, span: Span, place: &'static str, allowed: &[String]) {
        self.keys.push(WrittenKey {
            name: name.clone(),
            span,
            place,
            allowed: allowed.iter().any(|key| **key == **name),
        });
    }

    /// The named entries of a section; `null` is an empty section.
    fn section(&mut self, entry: Entry, what: &str) -> Vec<Named> {
        if entry.value.is_null(SCHEMA) {
            return Vec::new();
        }
        let Kind::Mapping(mapping) = entry.value.kind else {
            self.wrong(
                &entry.value,
                &format!("the section `{what}`"),
                "a map from names",
            );
            return Vec::new();
        };
        let mut named = Vec::with_capacity(mapping.entries.len());
        for entry in mapping.entries {
            if let Some(name) = self.name(&entry) {
                named.push(Named {
                    name,
                    span: entry.key.span,
                    node: entry.value,
                });
            }
        }
        named
    }

    fn resource(&mut self, named: Named, keys: &Keys, info: &VersionInfo) -> Option<ResourceDecl> {
        let Kind::Mapping(mapping) = named.node.kind else {
            self.wrong(
                &named.node,
                &format!("the resource `{}`", named.name),
                "a map with a `type`",
            );
            return None;
        };
        let mut resource = ResourceDecl {
            name: named.name,
            span: named.span,
            ty: None,
            properties: None,
            metadata: None,
            depends_on: Vec::new(),
            condition: None,
            external_id: None,
            deletion_policy: None,
            update_policy: None,
        };
        let mut has_type = false;
        for entry in mapping.entries {
            let Some(name) = self.name(&entry) else {
                continue;
            };
            self.key(&name, entry.key.span, "resource", &info.resource_keys);
            let name = &*name;
            let null = entry.value.is_null(SCHEMA);
            if name == keys.ty {
                has_type = true;
                match entry.value.text() {
                    Some(text) if !null => {
                        resource.ty = Some(Text {
                            text: text.clone(),
                            span: entry.value.span,
                        });
                    }
                    _ => self.wrong(&entry.value, "the type of a resource", "a string"),
                }
            } else if name == keys.depends_on {
                resource.depends_on = self.names(&entry.value, &format!("`{name}`"));
            } else if null {
                // Heat takes `null` for a section of a resource that is left out.
            } else if name == keys.properties {
                if entry.value.as_mapping().is_none() {
                    self.wrong(&entry.value, "`properties`", "a map");
                }
                resource.properties = Some(entry.value);
            } else if name == keys.metadata {
                resource.metadata = Some(entry.value);
            } else if name == keys.condition {
                resource.condition = Some(entry.value);
            } else if name == "external_id" {
                resource.external_id = Some(entry.value);
            } else if name == keys.deletion_policy {
                resource.deletion_policy = Some(entry.value);
            } else if name == keys.update_policy {
                resource.update_policy = Some(entry.value);
            }
        }
        if !has_type {
            self.diagnostics.push(
                Diagnostic::error(
                    "shape",
                    format!("the resource `{}` has no type", resource.name),
                )
                .at(resource.span)
                .help(format!("add `{}: OS::Service::Kind`", keys.ty)),
            );
        }
        Some(resource)
    }

    fn output(&mut self, named: Named, keys: &Keys, info: &VersionInfo) -> Option<OutputDecl> {
        let Kind::Mapping(mapping) = named.node.kind else {
            self.wrong(
                &named.node,
                &format!("the output `{}`", named.name),
                "a map with a `value`",
            );
            return None;
        };
        let mut output = OutputDecl {
            name: named.name,
            span: named.span,
            value: None,
            condition: None,
        };
        for entry in mapping.entries {
            let Some(name) = self.name(&entry) else {
                continue;
            };
            self.key(&name, entry.key.span, "output", &info.output_keys);
            if *name == *keys.value {
                output.value = Some(entry.value);
            } else if *name == *keys.condition {
                output.condition = Some(entry.value);
            }
        }
        if output.value.is_none() {
            self.diagnostics.push(
                Diagnostic::error(
                    "shape",
                    format!("the output `{}` has no value", output.name),
                )
                .at(output.span)
                .help(format!("add `{}:`", keys.value)),
            );
        }
        Some(output)
    }

    /// One name or a list of names.
    fn names(&mut self, node: &Node, what: &str) -> Vec<Text> {
        let items = match &node.kind {
            _ if node.is_null(SCHEMA) => return Vec::new(),
            Kind::Sequence(items) => items.as_slice(),
            Kind::Scalar(_) => std::slice::from_ref(node),
            Kind::Mapping(_) => {
                self.wrong(node, what, "a name or a list of names");
                return Vec::new();
            }
        };
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            match item.text() {
                Some(text) => names.push(Text {
                    text: text.clone(),
                    span: item.used_at(),
                }),
                None => self.wrong(item, &format!("an item of {what}"), "a name"),
            }
        }
        names
    }

    fn groups(&mut self, node: Node) -> Vec<Group> {
        if node.is_null(SCHEMA) {
            return Vec::new();
        }
        let Kind::Sequence(items) = node.kind else {
            self.wrong(&node, "the section `parameter_groups`", "a list of groups");
            return Vec::new();
        };
        let mut groups = Vec::new();
        for item in items {
            let Kind::Mapping(mapping) = &item.kind else {
                self.wrong(
                    &item,
                    "a parameter group",
                    "a map with `label` and `parameters`",
                );
                continue;
            };
            let mut group = Group {
                span: item.span,
                label: None,
                members: Vec::new(),
            };
            for entry in &mapping.entries {
                let Some(name) = self.name(entry) else {
                    continue;
                };
                self.key(
                    &name,
                    entry.key.span,
                    "parameter group",
                    &language().parameter_group_keys,
                );
                match &*name {
                    "label" => {
                        group.label = entry.value.text().map(|text| Text {
                            text: text.clone(),
                            span: entry.value.span,
                        });
                    }
                    "parameters" => {
                        group.members = self.names(&entry.value, "`parameters` of a group");
                    }
                    _ => {}
                }
            }
            groups.push(group);
        }
        groups
    }
}

/// The dialect and the version that a template claims.
fn version(sections: &Mapping) -> (Dialect, Option<Version>, &'static VersionInfo) {
    let language = language();
    let written = |key: &str| {
        let node = sections.get(key)?;
        Some(Text {
            text: node.text().cloned().unwrap_or_else(|| "".into()),
            span: node.span,
        })
    };
    if let Some(text) = written("heat_template_version") {
        let info = language.version(&text.text);
        let version = Version {
            known: info.is_some(),
            text,
        };
        return (
            Dialect::Hot,
            Some(version),
            info.unwrap_or_else(|| language.newest()),
        );
    }
    for key in ["AWSTemplateFormatVersion", "HeatTemplateFormatVersion"] {
        if let Some(text) = written(key) {
            let info = language.cfn(key, &text.text);
            let version = Version {
                known: info.is_some(),
                text,
            };
            return (
                Dialect::Cfn,
                Some(version),
                info.unwrap_or_else(|| language.newest_cfn()),
            );
        }
    }
    let cfn = sections.get("Resources").is_some();
    if cfn {
        (Dialect::Cfn, None, language.newest_cfn())
    } else {
        (Dialect::Hot, None, language.newest())
    }
}
