//! Calls and references in the text of a template, taken branches or not.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::suggest::nearest;
use locus_core::vocabulary::SigId;
use locus_core::{LocationId, Span};

use super::data::{FunctionShape, Status, StatusKind, catalogue, language};
use super::engine::{Engine, Prepared, Resolved, TemplateAtoms};
use super::statics::is_secret_name;
use super::template::SCHEMA;
use super::vocabulary::{field, sig, subset};
use crate::yaml::{Kind, Mapping, Node, Typed};

/// Who mentions something, and what is around it.
pub(super) struct Scan<'p> {
    prepared: &'p Prepared,
    atoms: &'p TemplateAtoms,
    resources: &'p [AtomId],
    types: &'p [Resolved],
    from: Option<AtomId>,
    /// Whether the place holds a condition.
    condition: bool,
}

impl Engine<'_> {
    /// States every reference and every questionable call of a template.
    pub(super) fn scan(
        &mut self,
        prepared: &Arc<Prepared>,
        atoms: &TemplateAtoms,
        resources: &[AtomId],
        types: &[Resolved],
    ) {
        let template = &prepared.template;
        let mut scan = Scan {
            prepared,
            atoms,
            resources,
            types,
            from: None,
            condition: false,
        };
        for (index, resource) in template.resources.iter().enumerate() {
            scan.from = resources.get(index).copied();
            let parts = [
                &resource.properties,
                &resource.metadata,
                &resource.external_id,
                &resource.deletion_policy,
                &resource.update_policy,
            ];
            for part in parts.into_iter().flatten() {
                self.scan_node(&mut scan, part);
            }
            if let Some(condition) = &resource.condition {
                self.scan_condition(&mut scan, condition);
            }
            for name in &resource.depends_on {
                let target = prepared.by_resource.get(&name.text);
                let target = target.and_then(|&index| resources.get(index).copied());
                self.reference(
                    sig!("DependencyReference"),
                    &name.text,
                    name.span,
                    target,
                    scan.from,
                );
            }
        }
        for (index, output) in template.outputs.iter().enumerate() {
            scan.from = atoms.outputs.get(index).copied();
            if let Some(value) = &output.value {
                self.scan_node(&mut scan, value);
            }
            if let Some(condition) = &output.condition {
                self.scan_condition(&mut scan, condition);
            }
        }
        for (index, condition) in template.conditions.iter().enumerate() {
            scan.from = atoms.conditions.get(index).copied();
            self.scan_condition(&mut scan, &condition.node);
        }
    }

    fn reference(
        &mut self,
        sig: SigId,
        name: &Arc<str>,
        span: Span,
        target: Option<AtomId>,
        from: Option<AtomId>,
    ) -> AtomId {
        let atom = self.facts.atom(sig, name.clone(), span);
        if let Some(target) = target {
            self.facts
                .tuple(field!("Reference", "target"), &[atom, target]);
        }
        if let Some(from) = from {
            self.facts.tuple(field!("Reference", "from"), &[atom, from]);
        }
        self.references.insert(span, atom);
        atom
    }

    /// A condition: the name of one, or a call.
    fn scan_condition(&mut self, scan: &mut Scan<'_>, node: &Node) {
        let before = std::mem::replace(&mut scan.condition, true);
        match (&node.kind, node.typed(SCHEMA)) {
            (_, Some(Typed::Str(name))) => {
                let index = scan.prepared.by_condition.get(&name).copied();
                let target = index.and_then(|index| scan.atoms.conditions.get(index).copied());
                self.reference(
                    sig!("ConditionReference"),
                    &name,
                    node.used_at(),
                    target,
                    scan.from,
                );
                if let (Some(from), Some(target)) = (scan.from, target)
                    && scan.atoms.conditions.contains(&from)
                {
                    self.facts
                        .tuple(field!("Condition", "uses"), &[from, target]);
                }
            }
            (Kind::Scalar(_), _) => {}
            _ => self.scan_node(scan, node),
        }
        scan.condition = before;
    }

    fn scan_node(&mut self, scan: &mut Scan<'_>, node: &Node) {
        match &node.kind {
            Kind::Scalar(_) => {}
            Kind::Sequence(items) => {
                for item in items {
                    self.scan_node(scan, item);
                }
            }
            Kind::Mapping(mapping) => {
                if let [entry] = mapping.entries.as_slice()
                    && let Some(name) = entry.name()
                    && self.scan_call(scan, name, entry.key.span, &entry.value)
                {
                    return;
                }
                for entry in &mapping.entries {
                    self.plain_secret(entry.name(), &entry.value);
                    self.secret_script(entry.name(), &entry.value);
                    self.scan_node(scan, &entry.value);
                }
            }
        }
    }

    /// A credential that is written out next to a name that says what it is.
    fn plain_secret(&mut self, name: Option<&Arc<str>>, value: &Node) {
        let (Some(name), Some(Typed::Str(text))) = (name, value.typed(SCHEMA)) else {
            return;
        };
        if !text.is_empty() && is_secret_name(name) {
            self.facts
                .atom(sig!("PlainSecret"), name.clone(), value.used_at());
        }
    }

    /// A map of one entry that may be a call; whether its argument has been scanned.
    fn scan_call(&mut self, scan: &mut Scan<'_>, name: &Arc<str>, key: Span, arg: &Node) -> bool {
        let info = scan.prepared.template.info;
        let functions = if scan.condition {
            &info.condition_functions
        } else {
            &info.functions
        };
        let Some(variant) = functions.get(&**name) else {
            self.no_function(scan, name, key);
            return false;
        };
        if let Some(shape) = language().shape(variant) {
            self.shape(scan, name, shape, arg);
        }
        match &**variant {
            "GetParam" | "ParamRef" => {
                if let Some(first) = first_name(arg) {
                    self.parameter_reference(scan, first);
                }
                scan_rest(self, scan, arg);
                true
            }
            "GetResource" => {
                if let Some(text) = arg.text() {
                    let target = scan.prepared.by_resource.get(text);
                    let target = target.and_then(|&index| scan.resources.get(index).copied());
                    self.reference(
                        sig!("ResourceReference"),
                        text,
                        arg.used_at(),
                        target,
                        scan.from,
                    );
                } else {
                    self.scan_node(scan, arg);
                }
                true
            }
            "Ref" => {
                if let Some(text) = arg.text() {
                    match scan.prepared.by_resource.get(text) {
                        Some(&index) => {
                            let target = scan.resources.get(index).copied();
                            self.reference(
                                sig!("ResourceReference"),
                                text,
                                arg.used_at(),
                                target,
                                scan.from,
                            );
                        }
                        None => self.parameter_reference(scan, arg),
                    }
                }
                true
            }
            "GetAttThenSelect" | "GetAtt" | "GetAttAllAttributes" => {
                self.attribute_reference(scan, arg);
                scan_rest(self, scan, arg);
                true
            }
            "If" | "IfNullable" => {
                if let Some([condition, branches @ ..]) = arg.as_sequence() {
                    self.scan_condition(scan, condition);
                    for branch in branches {
                        self.scan_node(scan, branch);
                    }
                }
                true
            }
            "And" | "Or" => {
                for item in arg.as_sequence().unwrap_or(&[]) {
                    self.scan_condition(scan, item);
                }
                true
            }
            "Not" => {
                let inner = match arg.as_sequence() {
                    Some([only]) => only,
                    _ => arg,
                };
                self.scan_condition(scan, inner);
                true
            }
            _ => {
                self.scan_node(scan, arg);
                true
            }
        }
    }

    fn parameter_reference(&mut self, scan: &Scan<'_>, node: &Node) {
        let Some(name) = node.text() else { return };
        let pseudo = language().pseudo_parameters(scan.prepared.is_cfn());
        if pseudo.iter().any(|known| **known == **name) {
            self.reference(
                sig!("PseudoReference"),
                name,
                node.used_at(),
                None,
                scan.from,
            );
            return;
        }
        let index = scan.prepared.by_parameter.get(name);
        let target = index.and_then(|&index| scan.atoms.parameters.get(index).copied());
        self.reference(
            sig!("ParameterReference"),
            name,
            node.used_at(),
            target,
            scan.from,
        );
    }

    fn attribute_reference(&mut self, scan: &Scan<'_>, arg: &Node) {
        // `Fn::GetAtt` may be written `resource.attribute` in one text.
        let (resource, attribute, path) = match &arg.kind {
            Kind::Sequence(items) => match items.as_slice() {
                [resource, attribute, path @ ..] => (resource, Some(attribute), path),
                [resource] => (resource, None, &[] as &[Node]),
                [] => return,
            },
            _ => return,
        };
        let Some(name) = resource.text() else { return };
        let index = scan.prepared.by_resource.get(name).copied();
        let target = index.and_then(|index| scan.resources.get(index).copied());
        let reference = self.reference(
            sig!("AttributeReference"),
            name,
            resource.used_at(),
            target,
            scan.from,
        );
        let Some(attribute) = attribute else { return };
        let Some(text) = attribute.text() else { return };
        let atom = self
            .facts
            .atom(sig!("AttributeName"), text.clone(), attribute.used_at());
        self.facts.tuple(
            field!("AttributeReference", "attribute"),
            &[reference, atom],
        );
        let resolved = index.and_then(|index| scan.types.get(index));
        let (known, plain) = self.attribute(resolved, text);
        if known {
            self.facts.mark(atom, subset!("KnownAttribute"));
        } else if let Some(Resolved::Type(ty)) = resolved {
            let ty = ty.clone();
            let names = ty.attributes.keys().map(|name| &**name);
            self.suggest(field!("AttributeName", "meant"), atom, text, names);
        }
        if let Some(status) = attribute_status(scan, index, resolved, text) {
            let successor = status.substitute.as_deref();
            let successor = successor.unwrap_or(status.kind.as_str());
            let successor = self.word(sig!("Successor"), successor, attribute.used_at());
            self.facts
                .tuple(field!("AttributeName", "outdated"), &[atom, successor]);
        }
        if plain && !path.is_empty() {
            self.facts
                .tuple(field!("AttributeReference", "intoText"), &[reference, atom]);
        }
    }

    /// Whether a type has an attribute, and whether that is plain text.
    pub(super) fn attribute(&mut self, resolved: Option<&Resolved>, name: &str) -> (bool, bool) {
        if language().base_attribute(name) {
            return (true, false);
        }
        match resolved {
            Some(Resolved::Type(ty)) => match ty.attributes.get(name) {
                Some(attribute) => {
                    use super::data::PropertyType as P;
                    (
                        true,
                        matches!(attribute.ty, Some(P::String | P::Boolean | P::Integer)),
                    )
                }
                None => {
                    // A nested stack also has the attributes of its members, by path.
                    let member = ty.nested_stack && is_member_path(name);
                    (ty.open || member || open_attributes(&ty.name), false)
                }
            },
            Some(Resolved::Template(file)) => {
                let known = match self.prepare(*file) {
                    Some(prepared) => {
                        prepared.by_output.contains_key(name)
                            || name == "outputs"
                            || prepared.template.partial
                            || is_member_path(name)
                    }
                    None => true,
                };
                (known, false)
            }
            Some(Resolved::Opaque | Resolved::Unknown) | None => (true, false),
        }
    }

    /// A map of one entry whose key is no function here: maybe it was meant to be one.
    fn no_function(&mut self, scan: &Scan<'_>, name: &Arc<str>, key: Span) {
        let info = scan.prepared.template.info;
        let elsewhere = info.removed_functions.iter().any(|known| **known == **name)
            || info.functions.contains_key(&**name)
            || info.condition_functions.contains_key(&**name);
        if elsewhere || is_function(name) {
            // Some names of functions are ordinary words in ordinary maps.
            let ordinary = [
                "filter", "repeat", "contains", "if", "not", "and", "or", "equals", "digest",
            ];
            if !ordinary.contains(&&**name) || scan.condition {
                self.said.insert((key, "call"));
                self.facts.atom(sig!("ForeignCall"), name.clone(), key);
            }
            return;
        }
        let functional = name.starts_with("Fn::")
            || name.contains('_')
            || name.to_lowercase().starts_with("get")
            || name.contains("::");
        if !functional || name.len() < 5 {
            return;
        }
        // The same key is met again and again.
        let key_here = (name.clone(), scan.prepared.template.file);
        let meant = match self.suspects.get(&key_here) {
            Some(known) => *known,
            None => {
                let candidates = info.functions.keys().map(String::as_str);
                let meant = nearest(name, candidates.filter(|known| known.len() > 4))
                    .filter(|meant| strsim_close(name, meant));
                self.suspects.insert(key_here, meant);
                meant
            }
        };
        if let Some(meant) = meant {
            self.said.insert((key, "call"));
            let atom = self.facts.atom(sig!("SuspectCall"), name.clone(), key);
            let meant = self.word(sig!("FunctionName"), meant, key);
            self.facts
                .tuple(field!("SuspectCall", "meant"), &[atom, meant]);
        }
    }

    /// States that a call cannot be evaluated, and why.
    pub(super) fn malformed(&mut self, function: &Arc<str>, span: Span, problem: &str) {
        let atom = self
            .facts
            .atom(sig!("MalformedCall"), function.clone(), span);
        let problem = self.word(sig!("Problem"), problem, span);
        self.facts
            .tuple(field!("MalformedCall", "problem"), &[atom, problem]);
    }

    /// Compares the argument of a call with the shape that the function wants.
    fn shape(&mut self, scan: &Scan<'_>, name: &Arc<str>, shape: &FunctionShape, arg: &Node) {
        // What is itself a call gives its value later.
        if is_call(scan.prepared, arg) {
            return;
        }
        // The CFN style gives the replacements and the text in a list.
        if &**name == "Fn::Replace" {
            if arg.as_sequence().is_none_or(|items| items.len() != 2) {
                self.malformed(name, arg.used_at(), "it takes a list of a map and a text");
            }
            return;
        }
        let span = arg.used_at();
        match (&*shape.args, &arg.kind) {
            ("string", Kind::Scalar(_)) => {
                let text = arg.as_str().unwrap_or("");
                let allowed = &shape.allowed_values;
                if !allowed.is_empty() && !allowed.iter().any(|known| known == text) {
                    let allowed = allowed.join("`, `");
                    self.malformed(name, span, &format!("it takes one of `{allowed}`"));
                }
            }
            ("string_or_list", Kind::Scalar(_)) | ("condition", _) => {}
            ("list" | "string_or_list", Kind::Sequence(items)) => {
                let count = items.len();
                if shape.min.is_some_and(|min| count < min)
                    || shape.max.is_some_and(|max| count > max)
                {
                    let wanted = match (shape.min, shape.max) {
                        (Some(min), Some(max)) if min == max => format!("{min} arguments"),
                        (Some(min), Some(max)) => format!("{min} to {max} arguments"),
                        (Some(min), None) => format!("at least {min} arguments"),
                        _ => "other arguments".into(),
                    };
                    self.malformed(name, span, &format!("it takes {wanted}, but has {count}"));
                }
            }
            ("map", Kind::Mapping(mapping)) => self.map_shape(name, shape, mapping, span),
            (wanted, _) => {
                let wanted = match wanted {
                    "string" => "a string",
                    "list" => "a list",
                    "map" => "a map",
                    _ => "a string or a list",
                };
                let found = arg.describe(SCHEMA);
                self.malformed(name, span, &format!("it takes {wanted}, but has {found}"));
            }
        }
    }

    fn map_shape(&mut self, name: &Arc<str>, shape: &FunctionShape, mapping: &Mapping, span: Span) {
        for required in &shape.required {
            if mapping.get(required).is_none() {
                self.malformed(name, span, &format!("it lacks `{required}`"));
            }
        }
        if shape.closed {
            for (key, entry) in mapping.named() {
                let known = shape.required.iter().chain(&shape.optional);
                if !known.into_iter().any(|known| **known == **key) {
                    self.malformed(name, entry.key.span, &format!("it has no `{key}`"));
                }
            }
        }
    }

    /// Notes that a reference leads to a resource that is absent.
    pub(super) fn absent_target(&mut self, span: Span) {
        if let Some(&reference) = self.references.get(&span)
            && self.said.insert((span, "absent"))
        {
            self.facts.mark(reference, subset!("AbsentTarget"));
        }
    }

    /// The atom of a resource by its location.
    pub(super) fn resource_atom(&self, location: LocationId) -> Option<AtomId> {
        self.by_location.get(&location).copied()
    }
}

fn scan_rest(engine: &mut Engine<'_>, scan: &mut Scan<'_>, arg: &Node) {
    for item in arg.as_sequence().unwrap_or(&[]) {
        engine.scan_node(scan, item);
    }
}

/// The first argument, when it is a plain name.
fn first_name(arg: &Node) -> Option<&Node> {
    match &arg.kind {
        Kind::Scalar(_) => Some(arg),
        Kind::Sequence(items) => items.first().filter(|first| first.text().is_some()),
        Kind::Mapping(_) => None,
    }
}

/// Whether a node is a call of a function.
fn is_call(prepared: &Prepared, node: &Node) -> bool {
    let Some([entry]) = node.as_mapping().map(|mapping| mapping.entries.as_slice()) else {
        return false;
    };
    let info = prepared.template.info;
    entry
        .name()
        .is_some_and(|name| info.functions.contains_key(&**name))
}

/// Whether any version has a function of this name.
fn is_function(name: &str) -> bool {
    static NAMES: std::sync::LazyLock<rustc_hash::FxHashSet<&'static str>> =
        std::sync::LazyLock::new(|| language().function_names().collect());
    NAMES.contains(name)
}

/// A typo changes little: same first letter, or the words in another order.
fn strsim_close(name: &str, meant: &str) -> bool {
    let first = |text: &str| text.chars().next().map(|c| c.to_ascii_lowercase());
    first(name) == first(meant)
}

/// How well an attribute of a resource, or of the members of a group, is supported; none when it is.
fn attribute_status(
    scan: &Scan<'_>,
    index: Option<usize>,
    resolved: Option<&Resolved>,
    name: &str,
) -> Option<Status> {
    let Resolved::Type(ty) = resolved? else {
        return None;
    };
    let status = match ty.attributes.get(name) {
        Some(attribute) => attribute.status.clone(),
        None if ty.nested_stack || open_attributes(&ty.name) => {
            let declaration = scan.prepared.template.resources.get(index?)?;
            let properties = declaration.properties.as_ref()?;
            let member = properties
                .get("resource_def")
                .or_else(|| properties.get("resource"))?;
            let ty = catalogue().get(member.get("type")?.as_str()?)?;
            let attribute = ty.attributes.get(name.rsplit('.').next()?)?;
            attribute.status.clone()
        }
        None => return None,
    };
    (status.kind != StatusKind::Supported).then_some(status)
}

/// Types whose attributes are named by something else: the outputs of a configuration, the
/// attributes of the members.
fn open_attributes(ty: &str) -> bool {
    ty.starts_with("OS::Heat::SoftwareDeployment")
        || ty.starts_with("OS::Heat::StructuredDeployment")
        || matches!(
            ty,
            "OS::Heat::ResourceGroup" | "OS::Heat::ResourceChain" | "AWS::CloudFormation::Stack"
        )
}

/// `resource.name` and `resource.name.attribute`, which reach into a nested stack.
fn is_member_path(name: &str) -> bool {
    name.starts_with("resource.")
        || name.starts_with("outputs.")
        || name.starts_with("outputs_list.")
        || name.parse::<usize>().is_ok()
}
