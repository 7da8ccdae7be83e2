//! Requirements that types define, each refining what is inherited.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span};

use super::members::Within;
use super::{Model, Requirement};
use crate::tosca::grammar::TypeKind;
use crate::tosca::names::Meaning;
use crate::tosca::text::{self, Count};
use crate::tosca::version::Version;
use crate::yaml::{Node, Schema as Yaml, Typed};

impl<'a> Model<'a> {
    /// Adds the definition of a requirement, or refines the one that is inherited.
    pub(super) fn requirement(
        &self,
        list: &mut Vec<Rc<Requirement<'a>>>,
        name: &'a Arc<str>,
        span: Span,
        node: &'a Node,
        Within { file, open }: Within,
    ) {
        let version = self.version(file);
        let position = list.iter().position(|known| known.name == *name);
        let parent = position.and_then(|at| list.get(at)).cloned();
        let simple = version.is_simple();
        let short = matches!(node.typed(Yaml::Core), Some(Typed::Str(_)));
        if short && !simple && !self.file(file).builtin {
            let message = format!("the requirement `{name}` names its capability type alone");
            let diagnostic = Diagnostic::warning("tosca-requirement", message)
                .help("TOSCA 2.0 has `capability` and `relationship`, both mandatory");
            self.report(file, diagnostic.at(node.used_at()));
        }
        if !short && node.as_mapping().is_none() && !node.is_null(Yaml::Core) {
            let is = node.describe(Yaml::Core);
            let message = format!("the requirement `{name}` must be a map, not {is}");
            self.report(
                file,
                Diagnostic::error("tosca-shape", message).at(node.used_at()),
            );
        }
        let wanted = if short {
            Some(node)
        } else {
            node.get("capability")
        };
        let inherited = parent.as_deref();
        let node_type = match node.get("node") {
            Some(named) => self.named(file, TypeKind::Node, Some(named)),
            None => inherited.and_then(|parent| parent.node),
        };
        let mut capability = inherited.and_then(|parent| parent.capability);
        let mut capability_name = inherited.and_then(|parent| parent.capability_name);
        if let Some(wanted) = wanted
            && let Some(word) = wanted.as_str()
        {
            if let Some(kept) = capability_name.filter(|kept| !simple && *kept != word) {
                let message = format!(
                    "the requirement `{name}` names the capability `{kept}`, which a refinement cannot change"
                );
                let diagnostic = Diagnostic::error("tosca-refinement", message);
                self.report(file, diagnostic.at(wanted.used_at()));
            }
            let meaning = self.names.lookup(file, TypeKind::Capability, word);
            let of_node = || self.capability_of(node_type?, word);
            (capability, capability_name) = match meaning {
                Meaning::Type(id) => (Some(id), None),
                Meaning::Unknown => (None, None),
                Meaning::Nothing => match of_node() {
                    Some(ty) => (ty, Some(word)),
                    None => {
                        let kind = TypeKind::Capability;
                        let told = self.names.unknown(file, kind, word, wanted.used_at());
                        self.report(file, told);
                        (None, None)
                    }
                },
            };
        } else if inherited.is_none() && !open && !short {
            let message = format!("the requirement `{name}` has no `capability`");
            let diagnostic = Diagnostic::error("tosca-missing-key", message);
            self.report(file, diagnostic.at(span));
        }
        let relationship_node = node.get("relationship");
        let relationship = match relationship_node {
            Some(named) => {
                let named = named.get("type").unwrap_or(named);
                self.named(file, TypeKind::Relationship, Some(named))
            }
            None => inherited.and_then(|parent| parent.relationship),
        };
        let inherits = inherited.is_some() || open;
        if relationship_node.is_none() && !inherits && !short && !simple {
            let message = format!("the requirement `{name}` has no `relationship`");
            let diagnostic = Diagnostic::warning("tosca-requirement", message)
                .help("TOSCA 2.0 has `capability` and `relationship`, both mandatory");
            self.report(file, diagnostic.at(span));
        }
        let key = if simple { "occurrences" } else { "count_range" };
        let count = node.get(key).and_then(text::range);
        if let (Some(parent), Some(now)) = (inherited, count) {
            let wider = now.least < parent.count.least
                || parent
                    .count
                    .most
                    .is_some_and(|most| now.most.is_none_or(|now| now > most));
            if wider {
                let at = node.get(key).map_or(span, Node::used_at);
                let message =
                    format!("`{key}` of `{name}` allows more than in the type it refines");
                let diagnostic = self.refining(file, message);
                let old = parent.span;
                let diagnostic = diagnostic.related(old, "the requirement it refines");
                self.report(file, diagnostic.at(at));
            }
        }
        if let Some(parent) = inherited {
            let word = format!("the requirement `{name}`");
            if let (Some(new), Some(old)) = (capability, parent.capability) {
                self.must_derive(new, old, wanted, file, &word);
            }
            if let (Some(new), Some(old)) = (node_type, parent.node) {
                self.must_derive(new, old, node.get("node"), file, &word);
            }
            if let (Some(new), Some(old)) = (relationship, parent.relationship) {
                self.must_derive(new, old, relationship_node, file, &word);
            }
        }
        let default = match version {
            Version::V2_0 => Count::new(0, None),
            _ => Count::new(1, Some(1)),
        };
        let requirement = Rc::new(Requirement {
            name: name.clone(),
            key: name,
            span,
            capability,
            capability_name,
            node: node_type,
            relationship,
            count: count.unwrap_or(inherited.map_or(default, |parent| parent.count)),
            filters: inherited
                .into_iter()
                .flat_map(|parent| parent.filters.iter().copied())
                .chain(node.get("node_filter").map(|filter| (filter, file)))
                .collect(),
            refined: self.refined_relationship(relationship, relationship_node, inherited, file),
        });
        match position.and_then(|at| list.get_mut(at)) {
            Some(slot) => *slot = requirement,
            None => list.push(requirement),
        }
    }
}
