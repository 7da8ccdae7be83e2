//! Expressions in CEL of policies, webhooks and classes of devices: those that the server cannot compile.

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::cel::compile::{self, Names, Type};
use crate::kubernetes::cel::signatures::Kind;
use crate::kubernetes::text;
use crate::yaml::Node;

pub(super) fn check(group: &str, name: &str, here: &mut Here<'_, '_, '_>) {
    match (group, name) {
        ("admissionregistration", "ValidatingAdmissionPolicySpec") => policy(here, true),
        ("admissionregistration", "MutatingAdmissionPolicySpec") => policy(here, false),
        ("admissionregistration", "ValidatingWebhook" | "MutatingWebhook") => {
            conditions(here, &request(false));
        }
        ("admissionregistration", "MatchCondition") => {
            let help = "use letters, digits, `-`, `_` and `.`";
            here.not_empty("name");
            here.syntax("name", text::is_qualified_name, "a name", help);
            spoken(here, "expression");
        }
        ("admissionregistration", "Validation") => spoken(here, "expression"),
        ("admissionregistration", "Variable") => {
            let help = "use letters, digits and `_`, starting with no digit";
            here.syntax("name", is_name, "a name of the language", help);
            spoken(here, "expression");
        }
        ("resource", "CELDeviceSelector") => {
            let names = vec![("device", Type::Unknown)];
            let node = here.node;
            expression(here, node, "expression", &names, Kind::Bool);
        }
        _ => {}
    }
}

/// What expressions about a request may name.
fn request<'n>(params: bool) -> Names<'n> {
    let mut names = vec![
        ("object", Type::Dyn),
        ("oldObject", Type::Dyn),
        ("request", review()),
        ("namespaceObject", Type::Unknown),
        ("authorizer", Type::Unknown),
    ];
    if params {
        names.push(("params", Type::Dyn));
    }
    names
}

/// The fields of a request.
fn review<'n>() -> Type<'n> {
    let fields = |fields: Vec<(&str, Type<'n>)>| {
        let fields = fields
            .into_iter()
            .map(|(name, kind)| (name.to_owned(), kind));
        Type::Fields(fields.collect::<Vec<_>>().into())
    };
    let text = Type::Plain(Kind::Text);
    let texts = |names: &[&'static str]| {
        let all = names.iter().map(|name| (*name, Type::Plain(Kind::Text)));
        fields(all.collect())
    };
    let kind = texts(&["group", "version", "kind"]);
    let resource = texts(&["group", "version", "resource"]);
    fields(vec![
        ("kind", kind.clone()),
        ("requestKind", kind),
        ("resource", resource.clone()),
        ("requestResource", resource),
        ("subResource", text.clone()),
        ("requestSubResource", text.clone()),
        ("name", text.clone()),
        ("namespace", text.clone()),
        ("operation", text.clone()),
        (
            "userInfo",
            fields(vec![
                ("username", text.clone()),
                ("uid", text.clone()),
                ("groups", Type::List(text.into())),
                ("extra", Type::Unknown),
            ]),
        ),
        ("dryRun", Type::Plain(Kind::Bool)),
        ("options", Type::Dyn),
    ])
}

fn policy(here: &mut Here<'_, '_, '_>, validating: bool) {
    let node = here.node;
    let params = node.some("paramKind").is_some();
    conditions(here, &request(params));
    let names = request(params);
    // A variable is known to those that come after it.
    let mut variables: Vec<(String, Type<'_>)> = Vec::new();
    let mut with = names.clone();
    for variable in node.items("variables") {
        with = names.clone();
        with.push(("variables", Type::Fields(variables.clone().into())));
        expression(here, variable, "expression", &with, Kind::Any);
        let found = variable.str_of("expression");
        let found = found.map_or(Type::Unknown, |text| compile::type_of(text, &with));
        if let Some(name) = variable.str_of("name") {
            variables.push((name.to_owned(), found));
        }
    }
    if !variables.is_empty() {
        with = names.clone();
        with.push(("variables", Type::Fields(variables.into())));
    }
    if !validating {
        return;
    }
    if node.items("validations").is_empty() && node.items("auditAnnotations").is_empty() {
        here.missing("validations");
    }
    let said = with.iter().filter(|(name, _)| *name != "authorizer");
    let said: Names<'_> = said.cloned().collect();
    for validation in node.items("validations") {
        expression(here, validation, "expression", &with, Kind::Bool);
        expression(here, validation, "messageExpression", &said, Kind::Text);
    }
    for annotation in node.items("auditAnnotations") {
        // A value may be null too.
        let text = annotation.str_of("valueExpression").unwrap_or("");
        let wanted = match compile::type_of(text, &with) {
            Type::Plain(Kind::Null) | Type::Unknown => Kind::Any,
            _ => Kind::Text,
        };
        expression(here, annotation, "valueExpression", &with, wanted);
    }
}

/// Requires an expression to be there, and more than blanks.
fn spoken(here: &mut Here<'_, '_, '_>, key: &str) {
    match here.node.text_of(key) {
        Some(text) if text.text.trim().is_empty() => {
            let message = format!("`{}` must not be empty", here.path(key));
            here.value(message, text.span, "write an expression");
        }
        _ => {}
    }
}

/// Whether a text can be a name in expressions.
fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !matches!(text, "true" | "false" | "null" | "in")
}

fn conditions(here: &mut Here<'_, '_, '_>, names: &Names<'_>) {
    here.distinct("matchConditions", "name");
    let node = here.node;
    for condition in node.items("matchConditions") {
        expression(here, condition, "expression", names, Kind::Bool);
    }
}

/// Says that an expression cannot be compiled.
fn expression(here: &mut Here<'_, '_, '_>, of: &Node, key: &str, names: &Names<'_>, wanted: Kind) {
    let Some(text) = of.text_of(key).filter(|text| !text.text.trim().is_empty()) else {
        return;
    };
    if let Some(why) = compile::fault(&text.text, names, wanted) {
        let message = format!("`{key}` does not compile: {why}");
        here.value(
            message,
            text.span,
            "see the reference of the Common Expression Language (CEL)",
        );
    }
}
