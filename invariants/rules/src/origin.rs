//! What fills the relations that rules mention, found out when they are compiled.

use std::collections::BTreeSet;

use locus_core::Diagnostic;
use locus_core::vocabulary::{Content, Members, Sig, Vocabulary};

use crate::compile::Compiled;
use crate::normal::COMPUTED;
use crate::program::{Constant, Origin, Program, RelationKind, Things};

impl Compiled {
    /// Says for each relation what fills it; reports those that nothing can fill.
    pub(crate) fn find_origins(
        &mut self,
        vocabulary: &Vocabulary,
        sigs: &[Sig],
        mentioned: &BTreeSet<&str>,
    ) {
        for name in vocabulary.ambiguous() {
            if mentioned.contains(name) {
                let message = format!("`{name}` is the name of two types of this project");
                let help = "give one of them another name";
                self.diagnostics
                    .push(Diagnostic::error("rule", message).help(help));
            }
        }
        let program = &mut self.program;
        for at in 0..program.relations.len() {
            let Some(entry) = program.relations.get(at) else {
                continue;
            };
            let (sig, field) = match &entry.kind {
                RelationKind::Builtin(_) => continue,
                RelationKind::Sig(sig) => (sig.clone(), None),
                RelationKind::Field { sig, name } => (sig.clone(), Some(name.clone())),
            };
            if sig == COMPUTED {
                continue;
            }
            let declared = sigs.iter().find(|one| one.name == sig);
            let content = declared.map(|sig| (sig, sig.fields.iter()));
            let content = content.and_then(|(sig, mut fields)| match &field {
                None => Some((sig, None)),
                Some(name) => {
                    let field = fields.find(|field| field.name == *name)?;
                    Some((sig, Some(&field.content)))
                }
            });
            let Some((sig, content)) = content else {
                let message = format!(
                    "no configuration has `{sig}`: rules use signatures of `{}`",
                    vocabulary.module_name()
                );
                self.diagnostics.push(Diagnostic::error("rule", message));
                continue;
            };
            let origin = match content {
                None => program.members(vocabulary, sig),
                Some(content) => program.content(vocabulary, sig, content),
            };
            if let Some(entry) = program.relations.get_mut(at) {
                entry.origin = origin;
            }
        }
    }
}

impl Program {
    fn members(&mut self, vocabulary: &Vocabulary, sig: &Sig) -> Origin {
        match &sig.members {
            Members::Atoms(id) => Origin::Atoms(vocabulary.kinds_of(*id)),
            Members::Subset(id) => Origin::Subset(id.index()),
            Members::Graph(set) => Origin::GraphSet(*set),
            Members::Sort(_) | Members::Marked(_) | Members::Maps { .. } => {
                Origin::Things(self.things_of(vocabulary, sig))
            }
        }
    }

    fn content(&mut self, vocabulary: &Vocabulary, sig: &Sig, content: &Content) -> Origin {
        match content {
            Content::Tuples(field) => Origin::Tuples(*field),
            Content::Graph(field) => Origin::GraphField(*field),
            Content::Property {
                names,
                default,
                maps,
            } => {
                let maps = maps.as_ref().and_then(|maps| vocabulary.sig(maps));
                Origin::Property {
                    of: self.things_of(vocabulary, sig),
                    names: names.iter().map(|name| name.to_string()).collect(),
                    default: default.as_ref().and_then(Constant::of),
                    maps: maps.map(|maps| self.things_of(vocabulary, &maps)),
                }
            }
        }
    }

    /// The place of the locations or maps of a signature.
    fn things_of(&mut self, vocabulary: &Vocabulary, sig: &Sig) -> u32 {
        let mut things = Things {
            sig: sig.name.to_string(),
            sorts: Vec::new(),
            marked: None,
            path: Vec::new(),
        };
        match &sig.members {
            Members::Sort(sort) => things.sorts.push(sort.to_string()),
            Members::Marked(subset) => things.marked = Some(subset.index()),
            Members::Maps { sort, path } => {
                things.sorts.push(sort.to_string());
                things.path = path.iter().map(|step| step.to_string()).collect();
            }
            Members::Atoms(_) | Members::Subset(_) | Members::Graph(_) => {}
        }
        for members in vocabulary.extending(&sig.name) {
            if let Members::Sort(sort) = members {
                things.sorts.push(sort.to_string());
            }
        }
        let known = self.things.iter().position(|other| *other == things);
        let at = known.unwrap_or_else(|| {
            self.things.push(things);
            self.things.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}
