//! Signatures and fields.

use locus_core::{Diagnostic, Span, suggest};

use super::World;
use super::modules::{RawDecl, RawId, is_builtin};
use crate::ast::{self, ParagraphKind, SigParent};
use crate::model::{Mult, Sig, SigId, SigKind, VarId, builtin};
use crate::types::make::type_error;
use crate::types::product::Type;

pub(super) fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl World<'_> {
    /// Gives final ids: the built-in signatures, then those of each module in Alloy's order.
    pub(super) fn number_sigs(&mut self, root: usize) {
        let start = self.file_start(root);
        for raw in 0..builtin::COUNT {
            self.add_sig(raw, start);
        }
        for module in self.reachable(root, false) {
            for (_, raw) in self.instances[module].sigs.clone() {
                let span = self.raw_span(raw).unwrap_or(start);
                self.add_sig(raw, span);
            }
        }
    }

    fn add_sig(&mut self, raw: RawId, span: Span) {
        let id = SigId(index(self.model.sigs.len()));
        let sig = &mut self.raw_sigs[raw];
        sig.id = id;
        let (name, is_private) = (sig.name.clone(), sig.is_private);
        let label = if is_builtin(raw) {
            name
        } else {
            let path = &self.instances[sig.module].path;
            let path = if path.is_empty() { "this" } else { path };
            format!("{path}/{name}")
        };
        self.sig_raws.push(raw);
        self.checker.sig_labels.push(label.clone());
        self.checker.sig_types.push(Type::sig(id));
        let this = self.checker.new_var("this", span, Type::sig(id));
        self.model.sigs.push(Sig {
            label,
            span,
            kind: SigKind::Builtin,
            is_abstract: false,
            mult: Mult::Set,
            is_var: false,
            is_private,
            is_enum: false,
            children: Vec::new(),
            fields: Vec::new(),
            this,
            facts: Vec::new(),
            doc: None,
        });
    }

    /// The signatures that a signature extends or is a subset of.
    pub(super) fn parents_of(&self, sig: SigId) -> Vec<SigId> {
        match self.model.sigs.get(sig.index()).map(|sig| &sig.kind) {
            Some(SigKind::Prim { parent }) => vec![*parent],
            Some(SigKind::Subset { parents, .. }) => parents.clone(),
            _ if sig == builtin::SEQ_INT => vec![builtin::INT],
            _ => Vec::new(),
        }
    }

    /// Gives every signature its parents; says whether there is no cycle.
    pub(super) fn resolve_sigs(&mut self) -> bool {
        let count = self.model.sigs.len();
        // 0: not seen, 1: being resolved, 2: done.
        let mut state = vec![0_u8; count];
        self.sig_order = (0..builtin::COUNT).map(|at| SigId(index(at))).collect();
        for slot in state.iter_mut().take(builtin::COUNT) {
            *slot = 2;
        }
        let all: Vec<SigId> = self
            .modules
            .clone()
            .into_iter()
            .flat_map(|module| {
                let raws = self.instances[module].sigs.clone();
                raws.into_iter()
                    .map(|(_, raw)| self.raw_sigs[raw].id)
                    .collect::<Vec<_>>()
            })
            .collect();
        let mut parents: Vec<Vec<SigId>> = vec![Vec::new(); count];
        for &sig in &all {
            let found = self.find_parents(sig);
            if let Some(slot) = parents.get_mut(sig.index()) {
                *slot = found;
            }
        }
        for start in all {
            // Parents first, with a stack of our own: hierarchies can be long.
            let mut stack = vec![start];
            while let Some(&sig) = stack.last() {
                if state.get(sig.index()) == Some(&2) {
                    stack.pop();
                    continue;
                }
                let first_visit = state.get(sig.index()) == Some(&0);
                if let Some(slot) = state.get_mut(sig.index()) {
                    *slot = 1;
                }
                let above = parents.get(sig.index()).cloned().unwrap_or_default();
                let open: Vec<SigId> = above
                    .iter()
                    .copied()
                    .filter(|parent| state.get(parent.index()) != Some(&2))
                    .collect();
                if let Some(parent) = open
                    .iter()
                    .find(|parent| state.get(parent.index()) == Some(&1))
                {
                    self.report_cycle(*parent);
                    return false;
                }
                if first_visit && !open.is_empty() {
                    stack.extend(open.into_iter().rev());
                    continue;
                }
                self.place_sig(sig, &above);
                if let Some(slot) = state.get_mut(sig.index()) {
                    *slot = 2;
                }
                stack.pop();
            }
        }
        true
    }

    fn report_cycle(&mut self, sig: SigId) {
        let name = self.checker.sig_name(sig);
        if let Some(sig) = self.model.sigs.get(sig.index()) {
            let error = type_error(
                sig.span,
                format!("the signature `{name}` is its own ancestor"),
            )
            .help("remove one `extends` or `in` of the cycle");
            self.diagnostics.push(error);
        }
    }

    pub(super) fn sig_ast(&self, sig: SigId) -> Option<(usize, std::rc::Rc<ast::Module>, RawDecl)> {
        let raw = *self.sig_raws.get(sig.index())?;
        let raw = &self.raw_sigs[raw];
        Some((raw.module, self.instances[raw.module].ast.clone(), raw.decl))
    }

    /// The parents named in the declaration; `univ` when there is none.
    fn find_parents(&mut self, sig: SigId) -> Vec<SigId> {
        let Some((module, ast, decl)) = self.sig_ast(sig) else {
            return vec![builtin::UNIV];
        };
        match decl {
            RawDecl::EnumValue(_, _, whole) => vec![self.raw_sigs[whole].id],
            RawDecl::Sig(at, _) => match ast.paragraphs.get(at).map(|p| &p.kind) {
                Some(ParagraphKind::Sig(decl)) => {
                    let names: &[ast::Name] = match &decl.parent {
                        SigParent::None => &[],
                        SigParent::Extends(name) => std::slice::from_ref(name),
                        SigParent::In(names) | SigParent::Equals(names) => names,
                    };
                    let mut found = Vec::new();
                    for name in names {
                        if let Some(parent) = self.known_sig(module, name) {
                            found.push(parent);
                        }
                    }
                    if found.is_empty() {
                        found.push(builtin::UNIV);
                    }
                    found
                }
                _ => vec![builtin::UNIV],
            },
            _ => vec![builtin::UNIV],
        }
    }

    /// The signature of this name, which must exist.
    pub(super) fn known_sig(&mut self, module: usize, name: &ast::Name) -> Option<SigId> {
        match self.find_sig(module, &name.text, name.span) {
            Some(raw) => Some(self.raw_sigs[raw].id),
            None => {
                let known = self.sig_names();
                self.diagnostics.push(
                    Diagnostic::error(
                        "name",
                        format!("the signature `{}` cannot be found", name.text),
                    )
                    .at(name.span)
                    .maybe_help(suggest::did_you_mean(
                        &name.text,
                        known.iter().map(String::as_str),
                    )),
                );
                None
            }
        }
    }

    /// Puts a signature below its parents, which are in place.
    fn place_sig(&mut self, sig: SigId, parents: &[SigId]) {
        let Some((_, ast, decl)) = self.sig_ast(sig) else {
            return;
        };
        self.sig_order.push(sig);
        let parent = parents.first().copied().unwrap_or(builtin::UNIV);
        let Some(mut new) = self.model.sigs.get(sig.index()).cloned() else {
            return;
        };
        let mut parent_span = new.span;
        new.kind = SigKind::Prim { parent };
        match decl {
            RawDecl::Enum(at) => {
                new.is_abstract = true;
                new.is_enum = true;
                new.doc = ast.paragraphs.get(at).and_then(|p| p.doc.clone());
            }
            RawDecl::EnumValue(..) => new.mult = Mult::One,
            RawDecl::Sig(at, _) => {
                if let Some(paragraph) = ast.paragraphs.get(at)
                    && let ParagraphKind::Sig(decl) = &paragraph.kind
                {
                    new.is_abstract = decl.is_abstract;
                    new.is_var = decl.is_var;
                    new.doc = paragraph.doc.clone();
                    new.mult = decl.mults.first().map_or(Mult::Set, |(mult, _)| *mult);
                    match &decl.parent {
                        SigParent::None => {}
                        SigParent::Extends(name) => parent_span = name.span,
                        SigParent::In(_) | SigParent::Equals(_) => {
                            let exact = matches!(decl.parent, SigParent::Equals(_));
                            new.kind = self.subset_kind(&new, parents, exact);
                        }
                    }
                }
            }
            _ => {}
        }
        if let SigKind::Prim { parent } = new.kind {
            self.place_prim(sig, parent, &new, parent_span);
        } else if let SigKind::Subset { parents, .. } = &new.kind {
            let h = &self.checker.hierarchy;
            let ty = parents
                .iter()
                .map(|parent| self.checker.sig_type(*parent))
                .reduce(|a, b| a.union(h, &b))
                .unwrap_or_default();
            self.set_sig_type(sig, ty, new.this);
        }
        if let Some(slot) = self.model.sigs.get_mut(sig.index()) {
            *slot = new;
        }
    }

    fn set_sig_type(&mut self, sig: SigId, ty: Type, this: VarId) {
        if let Some(info) = self.checker.vars.get_mut(this.index()) {
            info.ty = ty.clone();
        }
        if let Some(slot) = self.checker.sig_types.get_mut(sig.index()) {
            *slot = ty;
        }
    }

    fn subset_kind(&mut self, sig: &Sig, parents: &[SigId], exact: bool) -> SigKind {
        if sig.is_abstract {
            self.diagnostics.push(
                Diagnostic::error("type", "a subset signature cannot be abstract")
                    .at(sig.span)
                    .help("remove `abstract`, or use `extends`"),
            );
        }
        let mut kept: Vec<SigId> = Vec::new();
        for parent in parents {
            if *parent == builtin::UNIV {
                kept = vec![builtin::UNIV];
                break;
            }
            if *parent != builtin::NONE && !kept.contains(parent) {
                kept.push(*parent);
            }
        }
        if kept.is_empty() {
            self.diagnostics.push(
                type_error(sig.span, "this signature is a subset of nothing")
                    .help("name a signature that is not empty"),
            );
            kept.push(builtin::UNIV);
        }
        SigKind::Subset {
            parents: kept,
            exact,
        }
    }

    fn place_prim(&mut self, sig: SigId, parent: SigId, new: &Sig, parent_span: Span) {
        let name = self.checker.sig_name(sig);
        let parent_name = self.checker.sig_name(parent);
        let Some(above) = self.model.sigs.get(parent.index()) else {
            return;
        };
        let is_builtin_parent = parent.index() < builtin::COUNT && parent != builtin::UNIV;
        let is_enum_value = above.is_enum;
        let grandparent_is_enum = self
            .parents_of(parent)
            .first()
            .and_then(|id| self.model.sigs.get(id.index()))
            .is_some_and(|sig| sig.is_enum);
        let problem = if is_builtin_parent {
            Some((
                format!("`{name}` cannot extend the built-in `{parent_name}`"),
                "write `in` for a subset of it",
            ))
        } else if matches!(above.kind, SigKind::Subset { .. }) {
            Some((
                format!("`{name}` cannot extend the subset signature `{parent_name}`"),
                "write `in`, or extend a signature that is not a subset",
            ))
        } else if grandparent_is_enum {
            Some((
                format!("`{name}` cannot extend a value of an enumeration"),
                "values of an enumeration have no parts",
            ))
        } else if is_enum_value && new.mult != Mult::One {
            Some((
                format!("`{name}` extends an enumeration, so it must be `one`"),
                "write `one sig`",
            ))
        } else {
            None
        };
        if let Some((message, help)) = problem {
            self.diagnostics.push(
                Diagnostic::error("type", message)
                    .at(parent_span)
                    .help(help),
            );
            self.checker.hierarchy.set_parent(sig, builtin::UNIV);
            return;
        }
        self.checker.hierarchy.set_parent(sig, parent);
        if parent != builtin::UNIV
            && let Some(above) = self.model.sigs.get_mut(parent.index())
        {
            above.children.push(sig);
        }
        // Values of an enumeration have the type of the whole.
        let ty = if is_enum_value {
            self.checker.sig_type(parent)
        } else {
            Type::sig(sig)
        };
        self.set_sig_type(sig, ty, new.this);
    }
}
