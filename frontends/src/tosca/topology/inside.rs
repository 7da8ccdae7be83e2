//! Paths that go on behind a property or attribute, into its value; and those to the hosts of a node.

use std::rc::Rc;

use locus_core::suggest;

use super::{Target, Topology};
use crate::tosca::build::is_host;
use crate::tosca::model::{DataType, Primitive, Schema, find};
use crate::tosca::names::TypeId;
use crate::tosca::value::Referred;
use crate::yaml::Node;

impl<'a> Topology<'_, 'a> {
    /// What lies in a value, by the names and positions that lead there; none when that is not known.
    pub(super) fn lies_in(
        &self,
        schema: &Rc<Schema<'a>>,
        path: &'a [Node],
    ) -> Result<Option<Rc<Schema<'a>>>, Box<Referred<'a>>> {
        let mut at = schema.clone();
        for step in path {
            let next = match (at.ty, self.model.primitive(at.ty)) {
                (_, Some(Primitive::List | Primitive::Map)) => self.model.entry(&at),
                // A type that derives from a string may be a text with more in it, as `json` is.
                (DataType::Primitive(primitive), _) => {
                    if matches!(primitive, Primitive::Range | Primitive::Nil) {
                        return Ok(None);
                    }
                    let message = format!(
                        "the path leads into {}, and nothing lies in that",
                        self.model.describe(&at)
                    );
                    return Err(Box::new(Self::wrong(message, step, None)));
                }
                (DataType::Type(id), None) => {
                    let flat = self.model.flat(id);
                    let name = step.text();
                    let found = name.and_then(|name| find(&flat.properties, name));
                    match (found, name) {
                        (Some(property), _) => Some(property.schema.clone()),
                        (None, Some(name)) if !flat.open && !flat.properties.is_empty() => {
                            let names = flat.properties.iter().map(|known| &*known.name);
                            let near = suggest::did_you_mean(name, names);
                            let message =
                                format!("`{}` has no property `{name}`", self.model.name(id));
                            return Err(Box::new(Self::wrong(message, step, near)));
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            match next {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// What a path of 1.x that starts with `HOST` leads to: the first that has it of what hosts a node, what hosts that, and so on.
    pub(super) fn of_hosts(&self, index: usize, call: &'a Node, rest: &'a [Node]) -> Referred<'a> {
        let Some(word) = rest.first().and_then(Node::as_str) else {
            return Referred::unknown();
        };
        let (mut at, mut seen) = (index, Vec::new());
        loop {
            let Some(node) = self.nodes.get(at).filter(|node| !node.flat.open) else {
                return Referred::unknown();
            };
            seen.push(at);
            let is_host = |ty: Option<TypeId>| match ty {
                Some(ty) if self.model.is_closed(ty) => Some(is_host(self, ty)),
                _ => None,
            };
            let mut hosts = Vec::new();
            for assignment in &node.assignments {
                match (is_host(assignment.relationship), assignment.target) {
                    (Some(false), _) => {}
                    (Some(true), Target::Node(host)) => hosts.push(host),
                    _ => return Referred::unknown(),
                }
            }
            // What must be hosted and says not where is told elsewhere.
            let mut definitions = node.flat.requirements.iter();
            let open = definitions.any(|known| {
                let assigned = node.assignments.iter().any(|one| **one.name == *known.name);
                is_host(known.relationship) != Some(false)
                    && known.relationship.is_some()
                    && !assigned
            });
            let substituted = node.node.get("directives").is_some();
            match hosts.as_slice() {
                _ if open || substituted => return Referred::unknown(),
                [] => break,
                [host] if !seen.contains(host) => at = *host,
                _ => return Referred::unknown(),
            }
            let Some(host) = self.nodes.get(at) else {
                return Referred::unknown();
            };
            let flat = &host.flat;
            if flat.open
                || find(&flat.properties, word).is_some()
                || find(&flat.attributes, word).is_some()
                || find(&flat.capabilities, word).is_some()
                || find(&flat.requirements, word).is_some()
            {
                return Referred::unknown();
            }
        }
        let name = self.nodes.get(index).map_or("", |node| node.name);
        let message = match seen.len() {
            1 => format!("`HOST` leads nowhere: `{name}` is hosted on nothing"),
            _ => format!("nothing that `{name}` is hosted on has a property or attribute `{word}`"),
        };
        Self::wrong(message, call, None)
    }
}
