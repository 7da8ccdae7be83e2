//! Checking the types of a file, used or not.

use std::cell::RefCell;
use std::rc::Rc;

use locus_core::Diagnostic;

use super::grammar::TypeKind;
use super::model::data::Clause;
use super::model::{DataType, Model, Operation, Parent, Primitive, Property, Schema, entries};
use super::text::Call;
use super::value::{Checker, Referred};
use crate::yaml::{Node, Schema as Yaml};

/// Checks all types of files that do not come with the program.
pub(super) fn check(model: &Model<'_>) {
    for id in model.names.ids() {
        let ty = model.names.get(id).clone();
        if model.file(ty.file).builtin {
            continue;
        }
        let held = RefCell::default();
        let refer = |_: &Call<'_>| Referred::unknown();
        let checker = Checker {
            model,
            file: ty.file,
            refer: &refer,
            value: None,
            diagnostics: &held,
        };
        let flat = model.flat(id);
        let own = |property: &&Rc<Property<'_>>| property.file == ty.file;
        for property in flat
            .properties
            .iter()
            .chain(&flat.attributes)
            .chain(&flat.inputs)
            .filter(own)
        {
            let nodes = [
                ty.node.get("properties"),
                ty.node.get("attributes"),
                ty.node.get("inputs"),
            ];
            // What is inherited has been checked in the type that says it.
            if nodes
                .iter()
                .flatten()
                .any(|node| node.get(&property.name).is_some())
            {
                definition(&checker, property);
            }
        }
        for capability in &flat.capabilities {
            let written = ty
                .node
                .get("capabilities")
                .and_then(|node| node.get(&capability.name));
            for property in capability.properties.iter().filter(own) {
                if written
                    .and_then(|node| node.get("properties")?.get(&property.name))
                    .is_some()
                {
                    definition(&checker, property);
                }
            }
        }
        for interface in &flat.interfaces {
            if ty
                .node
                .get("interfaces")
                .and_then(|node| node.get(&interface.name))
                .is_none()
            {
                continue;
            }
            for property in interface.inputs.iter().filter(own) {
                definition(&checker, property);
            }
            operations(&checker, &interface.operations);
        }
        operations(&checker, &flat.operations);
        if ty.kind == TypeKind::Data {
            data_type(model, &checker, id);
        }
        for diagnostic in held.into_inner() {
            model.report(ty.file, diagnostic);
        }
    }
}

/// Checks what operations say of their inputs, as far as the file of the checker writes them.
fn operations<'a>(checker: &Checker<'_, 'a>, operations: &[Rc<Operation<'a>>]) {
    let inputs = operations.iter().flat_map(|operation| &operation.inputs);
    for property in inputs.filter(|property| property.file == checker.file) {
        definition(checker, property);
    }
}

/// Checks what a definition says of values: its conditions, its default, its fixed value.
pub(super) fn definition<'a>(checker: &Checker<'_, 'a>, property: &Property<'a>) {
    conditions(checker, &property.schema);
    for node in [property.default, property.value].into_iter().flatten() {
        // `default: null` says that there is none.
        if !node.is_null(Yaml::Core) {
            checker.read(node, &property.schema, &property.name);
        }
    }
}

/// Checks the conditions of a schema and of what it holds, as far as the file of the checker writes them.
fn conditions<'a>(checker: &Checker<'_, 'a>, schema: &Schema<'a>) {
    let mut held = Some(schema);
    while let Some(schema) = held {
        for clause in &schema.clauses {
            if clause.file == checker.file {
                checker.check_clause(clause, schema);
            }
        }
        held = schema.entry.as_deref();
    }
}

fn data_type<'a>(model: &Model<'a>, checker: &Checker<'_, 'a>, id: super::names::TypeId) {
    let ty = model.names.get(id).clone();
    let schema = Schema::of(DataType::Type(id), ty.file);
    let properties = ty.node.get("properties");
    if let (Some(base), Some(node)) = (model.primitive(DataType::Type(id)), properties)
        && !node.is_null(Yaml::Core)
    {
        let map = ty.node.as_mapping();
        let at = map
            .and_then(|map| map.entry("properties"))
            .map_or(ty.span, |entry| entry.key.span);
        let message = format!(
            "`{}` derives from {}, which has no properties",
            ty.name,
            base.describe()
        );
        let diagnostic = Diagnostic::error("tosca-derivation", message)
            .help("leave out `derived_from`, or the properties");
        model.report(ty.file, diagnostic.at(at));
    }
    if let Some(map) = ty.node.as_mapping() {
        let mut clauses: Vec<Clause<'a>> = Vec::new();
        model.clauses(map, ty.file, &mut clauses);
        for clause in &clauses {
            checker.check_clause(clause, &schema);
        }
    }
    let version = model.version(ty.file);
    if !version.is_simple() {
        model.check_scalar(id);
        let direct = model.parent(id);
        let collection = matches!(direct, Parent::Primitive(Primitive::List | Primitive::Map));
        if collection && ty.node.get("entry_schema").is_none() {
            let message = format!(
                "`{}` is a list or map and does not say what it holds",
                ty.name
            );
            let diagnostic =
                Diagnostic::error("tosca-schema", message).help("add an `entry_schema`");
            model.report(ty.file, diagnostic.at(ty.span));
        }
    }
    for key in ["entry_schema", "key_schema"] {
        if let Some(node) = ty.node.get(key) {
            conditions(checker, &model.schema(node, ty.file, None));
        }
    }
}

/// The entries of `dsl_definitions` must be anchors, or nothing can use them.
pub(super) fn dsl_definitions(model: &Model<'_>, file: usize) {
    let this = model.file(file);
    let Some(entry) = this.map().entry("dsl_definitions") else {
        return;
    };
    let simple = this.version.is_simple();
    if entry.value.as_mapping().is_none() {
        let is = entry.value.describe(Yaml::Core);
        let message = format!("`dsl_definitions` must be a map, not {is}");
        model.report(
            file,
            Diagnostic::error("tosca-shape", message).at(entry.key.span),
        );
        return;
    }
    for (name, held) in entries(Some(&entry.value)) {
        if has_anchor(&held.value) {
            continue;
        }
        let message = format!("`{name}` has no anchor, so nothing can use it");
        let diagnostic = if simple {
            Diagnostic::warning("tosca-anchor", message)
        } else {
            Diagnostic::error("tosca-anchor", message)
        };
        let help = format!("write `{name}: &{name}`");
        model.report(file, diagnostic.help(help).at(held.key.span));
    }
}

fn has_anchor(node: &Node) -> bool {
    node.anchor().is_some()
        || entries(Some(node)).any(|(_, entry)| has_anchor(&entry.value))
        || node
            .as_sequence()
            .is_some_and(|items| items.iter().any(has_anchor))
}
