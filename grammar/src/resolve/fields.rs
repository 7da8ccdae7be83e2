//! Fields: their bounds and their types.

use locus_core::{Diagnostic, Span};

use super::World;
use super::check::Context;
use super::modules::RawDecl;
use super::sigs::index;
use crate::ast::{self, ParagraphKind};
use crate::model::{Const, Expr, ExprKind, Field, FieldId, SigId, Type as ModelType, UnaryOp};
use crate::types::expr::Rx;
use crate::types::make::{FieldInfo, type_error};

/// A placeholder until the real bound is known.
fn placeholder(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Const(Const::True),
        ty: ModelType::formula(),
        span,
    }
}

impl World<'_> {
    /// The bounds of fields, either those declared by `:` or those defined by `=`.
    pub(super) fn resolve_fields(&mut self, defined: bool) {
        for sig in self.sig_order.clone() {
            let Some((module, ast, RawDecl::Sig(at, _))) = self.sig_ast(sig) else {
                continue;
            };
            let Some(ParagraphKind::Sig(decl)) = ast.paragraphs.get(at).map(|p| &p.kind) else {
                continue;
            };
            if !defined {
                self.check_duplicate_fields(sig, &decl.fields);
            }
            for field in decl
                .fields
                .iter()
                .filter(|field| field.is_defined == defined)
            {
                self.refuel();
                self.resolve_field(module, sig, field);
            }
        }
    }

    fn check_duplicate_fields(&mut self, sig: SigId, fields: &[ast::Decl]) {
        let mut seen: Vec<&ast::Name> = Vec::new();
        for name in fields.iter().flat_map(|decl| &decl.names) {
            match seen.iter().find(|other| other.text == name.text) {
                Some(other) => {
                    let message = format!(
                        "the signature `{}` has two fields `{}`",
                        self.checker.sig_name(sig),
                        name.text
                    );
                    self.diagnostics.push(
                        Diagnostic::error("name", message)
                            .at(name.span)
                            .related(other.span, "the first one")
                            .help("rename one of them"),
                    );
                }
                None => seen.push(name),
            }
        }
    }

    fn resolve_field(&mut self, module: usize, sig: SigId, decl: &ast::Decl) {
        let Some(this) = self.model.sigs.get(sig.index()).map(|sig| sig.this) else {
            return;
        };
        let mut cx = Context::new(module);
        cx.sig = Some(sig);
        cx.field = Some(decl.is_defined);
        let this = self.checker.var(this, decl.span);
        cx.bind("this", this);
        let bound = self.check_bound(&mut cx, &decl.bound);
        let mut bound = self.checker.resolve_set(&bound);
        if decl.is_defined {
            bound = self
                .checker
                .unary(UnaryOp::ExactlyOf, bound, decl.bound.span);
        }
        let bound = self.default_one(&bound);
        let usable = self.report(&bound) && self.check_field_bound(decl, &bound);
        let is_private_sig = self
            .model
            .sigs
            .get(sig.index())
            .is_some_and(|sig| sig.is_private);
        let mut ids = Vec::with_capacity(decl.names.len());
        for name in &decl.names {
            if !usable {
                self.broken_names.insert(name.text.clone());
                continue;
            }
            let id = FieldId(index(self.checker.fields.len()));
            let ty = self
                .checker
                .sig_type(sig)
                .product(&self.checker.hierarchy, &bound.ty);
            let is_private = decl.is_private || is_private_sig;
            self.checker.fields.push(FieldInfo {
                name: name.text.clone(),
                sig,
                ty: ty.clone(),
                is_private,
            });
            self.fields_by_name
                .entry(name.text.clone())
                .or_default()
                .push(id);
            self.field_bounds.push(bound.clone());
            self.model.fields.push(Field {
                name: name.text.clone(),
                span: name.span,
                sig,
                bound: placeholder(decl.bound.span),
                is_defined: decl.is_defined,
                is_var: decl.is_var,
                is_private,
                ty: ty.to_model(),
                disjoint_with: Vec::new(),
                disjoint_values: decl.disjoint_values.is_some(),
            });
            ids.push(id);
        }
        if decl.disjoint.is_some() && ids.len() > 1 {
            for id in &ids {
                if let Some(field) = self.model.fields.get_mut(id.index()) {
                    field.disjoint_with = ids.clone();
                }
            }
        }
        if let Some(sig) = self.model.sigs.get_mut(sig.index()) {
            sig.fields.extend(ids);
        }
    }

    fn check_field_bound(&mut self, decl: &ast::Decl, bound: &Rx) -> bool {
        let name = decl.names.first().map_or("", |name| name.text.as_str());
        let problem = if !decl.is_defined && bound.has_call() {
            Some((
                format!("the declaration of field `{name}` calls a predicate or function"),
                "write what it is instead of calling, or define the field with `=`",
            ))
        } else if !bound.ty.has_tuple() {
            Some((
                format!("the field `{name}` is bound to the empty set"),
                "name a set or relation that can have something in it",
            ))
        } else {
            None
        };
        match problem {
            Some((message, help)) => {
                self.diagnostics
                    .push(type_error(decl.bound.span, message).help(help));
                false
            }
            None => true,
        }
    }

    /// Two fields of one name must belong to signatures that share no atoms.
    pub(super) fn reject_name_clashes(&mut self) {
        let mut errors = Vec::new();
        for fields in self.fields_by_name.values() {
            for (at, a) in fields.iter().enumerate() {
                for b in fields.iter().skip(at + 1) {
                    let (Some(x), Some(y)) = (
                        self.checker.fields.get(a.index()),
                        self.checker.fields.get(b.index()),
                    ) else {
                        continue;
                    };
                    // Twice in one signature has been reported.
                    if x.sig == y.sig || !x.ty.first_column_overlaps(&self.checker.hierarchy, &y.ty)
                    {
                        continue;
                    }
                    let span = |id: &FieldId| self.model.fields.get(id.index()).map(|f| f.span);
                    if let (Some(first), Some(second)) = (span(a), span(b)) {
                        let message = format!(
                            "`{}` and `{}` share atoms, so they cannot both have a field `{}`",
                            self.checker.sig_name(x.sig),
                            self.checker.sig_name(y.sig),
                            x.name
                        );
                        errors.push(
                            Diagnostic::error("name", message)
                                .at(second)
                                .related(first, "the other field")
                                .help("rename one of them"),
                        );
                    }
                }
            }
        }
        self.diagnostics.extend(errors);
    }
}
