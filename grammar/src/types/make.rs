//! Bottom up: what a node could be, given what its parts could be.

use std::rc::Rc;

use locus_core::{Diagnostic, Span};

use super::expr::{Errors, Kind, Multiplicity, Node, Rx, XDecl, join_errors};
use super::hierarchy::Hierarchy;
use super::product::Type;
use crate::model::{Const, FieldId, FuncId, SigId, UnaryOp, VarId, builtin};

/// Deeper than this an expression is refused; macros can nest what the parser has let through.
const MAX_DEPTH: u32 = 500;

/// Larger than this an expression is refused; macros can copy their arguments again and again.
const MAX_SIZE: u64 = 2_000_000;

/// A predicate or function as far as a caller needs to know it.
#[derive(Clone, Debug)]
pub(crate) struct FuncInfo {
    pub(crate) label: String,
    pub(crate) span: Span,
    pub(crate) is_pred: bool,
    pub(crate) is_private: bool,
    pub(crate) params: Vec<VarId>,
    pub(crate) decls: Vec<XDecl>,
    pub(crate) result: Option<Rx>,
}

/// A field as far as its users need to know it.
#[derive(Clone, Debug)]
pub(crate) struct FieldInfo {
    pub(crate) name: String,
    pub(crate) sig: SigId,
    pub(crate) ty: Type,
    pub(crate) is_private: bool,
}

/// A bound variable.
#[derive(Clone, Debug)]
pub(crate) struct VarInfo {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) ty: Type,
}

/// What is known of all names, and what has been found wrong.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    pub(crate) hierarchy: Hierarchy,
    /// Labels of signatures, for messages.
    pub(crate) sig_labels: Vec<String>,
    pub(crate) sig_types: Vec<Type>,
    pub(crate) fields: Vec<FieldInfo>,
    pub(crate) funcs: Vec<FuncInfo>,
    pub(crate) vars: Vec<VarInfo>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Steps left before an expression counts as too ambiguous to resolve.
    pub(crate) fuel: u64,
}

pub(crate) fn type_error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("type", message).at(span)
}

pub(super) fn one(error: Diagnostic) -> Errors {
    Some(Rc::new(vec![error]))
}

impl Checker {
    pub(crate) fn sig_name(&self, sig: SigId) -> String {
        let label = self.sig_labels.get(sig.index()).map_or("?", String::as_str);
        label.strip_prefix("this/").unwrap_or(label).to_owned()
    }

    pub(crate) fn describe(&self, ty: &Type) -> String {
        ty.describe(|sig| self.sig_name(sig))
    }

    pub(crate) fn sig_type(&self, sig: SigId) -> Type {
        self.sig_types.get(sig.index()).cloned().unwrap_or_default()
    }

    pub(crate) fn var_type(&self, var: VarId) -> Type {
        self.vars
            .get(var.index())
            .map(|info| info.ty.clone())
            .unwrap_or_default()
    }

    pub(crate) fn new_var(&mut self, name: &str, span: Span, ty: Type) -> VarId {
        let id = VarId(u32::try_from(self.vars.len()).unwrap_or(u32::MAX));
        self.vars.push(VarInfo {
            name: name.to_owned(),
            span,
            ty,
        });
        id
    }

    pub(crate) fn func(&self, func: FuncId) -> Option<&FuncInfo> {
        self.funcs.get(func.index())
    }

    /// The types of the parameters of a function.
    pub(crate) fn param_types(&self, func: FuncId) -> Vec<Type> {
        let params = self.func(func).map_or(&[][..], |info| &info.params);
        params.iter().map(|var| self.var_type(*var)).collect()
    }

    pub(super) fn build(
        &self,
        kind: Kind,
        ty: Type,
        span: Span,
        mult: Multiplicity,
        weight: u32,
        errors: Errors,
    ) -> Rx {
        let mut node = Node {
            kind,
            ty,
            span,
            mult,
            weight,
            depth: 1,
            size: 1,
            errors,
        };
        let (mut depth, mut size) = (0, 1_u64);
        for part in node.parts() {
            depth = depth.max(part.depth);
            // Of several readings only one will be left.
            size = match node.kind {
                Kind::Choice(_) => size.max(part.size),
                _ => size.saturating_add(part.size),
            };
        }
        node.depth = depth + 1;
        node.size = size;
        if node.errors.is_none() && (node.depth > MAX_DEPTH || node.size > MAX_SIZE) {
            node.kind = Kind::Bad;
            node.errors = one(type_error(
                span,
                "this expression is too large once macros are expanded",
            )
            .help("turn macros into `fun` or `pred`, which are not copied"));
        }
        if node.errors.is_none() && node.ty.is_nothing() {
            node.errors = one(type_error(span, "this expression has no type"));
        }
        if node.errors.is_some() {
            node.ty = Type::empty();
        }
        Rc::new(node)
    }

    pub(super) fn plain(
        &self,
        kind: Kind,
        ty: Type,
        span: Span,
        weight: u32,
        errors: Errors,
    ) -> Rx {
        self.build(kind, ty, span, Multiplicity::None, weight, errors)
    }

    /// Something that cannot be used, and why.
    pub(crate) fn bad(&self, span: Span, error: Diagnostic) -> Rx {
        self.plain(Kind::Bad, Type::empty(), span, 0, one(error))
    }

    /// The same expression with one more thing wrong with it.
    pub(crate) fn with_error(&self, x: &Rx, error: Diagnostic) -> Rx {
        let errors = join_errors([&x.errors, &one(error)]);
        self.plain(Kind::Bad, Type::empty(), x.span, x.weight, errors)
    }

    pub(crate) fn sig(&self, sig: SigId, span: Span) -> Rx {
        self.plain(Kind::Sig(sig), self.sig_type(sig), span, 0, None)
    }

    pub(crate) fn field(&self, field: FieldId, span: Span, weight: u32) -> Rx {
        let ty = self.fields.get(field.index()).map(|info| info.ty.clone());
        self.plain(
            Kind::Field(field),
            ty.unwrap_or_default(),
            span,
            weight,
            None,
        )
    }

    pub(crate) fn var(&self, var: VarId, span: Span) -> Rx {
        self.plain(Kind::Var(var), self.var_type(var), span, 0, None)
    }

    pub(crate) fn constant(&self, constant: Const, span: Span) -> Rx {
        let ty = match &constant {
            Const::True | Const::False => Type::formula(),
            Const::Iden => Type::pair(builtin::UNIV),
            Const::Int(_) | Const::MinInt | Const::MaxInt => Type::value(),
            Const::Str(_) => Type::sig(builtin::STRING),
            Const::NextInt => Type::pair(builtin::INT),
        };
        self.plain(Kind::Const(constant), ty, span, 0, None)
    }

    /// The same expression at another place.
    pub(crate) fn at(&self, x: &Rx, span: Span) -> Rx {
        match &x.kind {
            Kind::Sig(sig) => self.sig(*sig, span),
            Kind::Var(var) => self.var(*var, span),
            _ => x.clone(),
        }
    }

    /// Requires a formula.
    pub(crate) fn as_formula(&self, x: &Rx) -> Rx {
        if !x.is_ok() || x.ty.is_bool {
            return x.clone();
        }
        let found = self.describe(&x.ty);
        self.with_error(
            x,
            type_error(x.span, "a formula is needed here")
                .label(x.span, format!("this is {found}"))
                .help("compare it, or say `some`, `no`, `lone` or `one` of it"),
        )
    }

    /// Requires an integer value; a set of integers is summed.
    pub(crate) fn as_int(&self, x: &Rx) -> Rx {
        if !x.is_ok() || x.ty.is_value() {
            return x.clone();
        }
        if x.ty.has_int() {
            return self.unary(UnaryOp::CastToInt, x.clone(), x.span);
        }
        let found = self.describe(&x.ty);
        self.with_error(
            x,
            type_error(x.span, "an integer is needed here")
                .label(x.span, format!("this is {found}")),
        )
    }

    /// Requires a set or relation; an integer value becomes the set of it.
    pub(crate) fn as_set(&self, x: &Rx) -> Rx {
        if !x.is_ok() {
            return x.clone();
        }
        if x.ty.is_value() {
            return self.unary(UnaryOp::CastToSigInt, x.clone(), x.span);
        }
        if x.ty.is_relation() {
            return x.clone();
        }
        let found = self.describe(&x.ty);
        self.with_error(
            x,
            type_error(x.span, "a set or relation is needed here")
                .label(x.span, format!("this is {found}")),
        )
    }

    pub(super) fn no_multiplicity(&self, x: &Rx) -> Diagnostic {
        type_error(x.span, "a multiplicity is not allowed here")
            .help("`one`, `lone`, `some` and `set` go with declarations, and with arrows to the right of `in`")
    }
}
