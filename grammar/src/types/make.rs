//! Bottom up: what a node could be, given what its parts could be.

use std::rc::Rc;

use locus_core::{Diagnostic, Span};

use super::expr::{Errors, Kind, MacroId, Multiplicity, Node, Reading, Rx, XDecl, join_errors};
use super::hierarchy::Hierarchy;
use super::product::Type;
use crate::model::{
    BinaryOp, Const, FieldId, FuncId, ListOp, Mult, Quant, SigId, UnaryOp, VarId, builtin,
};

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

fn one(error: Diagnostic) -> Errors {
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

    fn build(
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
            size = size.saturating_add(part.size);
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

    fn plain(&self, kind: Kind, ty: Type, span: Span, weight: u32, errors: Errors) -> Rx {
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

    fn no_multiplicity(&self, x: &Rx) -> Diagnostic {
        type_error(x.span, "a multiplicity is not allowed here")
            .help("`one`, `lone`, `some` and `set` go with declarations, and with arrows to the right of `in`")
    }

    pub(crate) fn unary(&self, op: UnaryOp, sub: Rx, span: Span) -> Rx {
        self.unary_weighted(op, sub, span, 0)
    }

    pub(crate) fn unary_weighted(&self, op: UnaryOp, sub: Rx, span: Span, extra: u32) -> Rx {
        let mut errors = sub.errors.clone();
        if sub.mult != Multiplicity::None {
            if op == UnaryOp::SetOf {
                return sub;
            }
            errors = join_errors([&errors, &one(self.no_multiplicity(&sub))]);
        }
        let sub = match op {
            UnaryOp::Not
            | UnaryOp::After
            | UnaryOp::Always
            | UnaryOp::Eventually
            | UnaryOp::Before
            | UnaryOp::Historically
            | UnaryOp::Once => self.as_formula(&sub),
            UnaryOp::CastToSigInt => match sub.kind {
                Kind::Unary(UnaryOp::CastToSigInt, _) => return sub,
                _ => self.as_int(&sub),
            },
            UnaryOp::CastToInt => match &sub.kind {
                Kind::Unary(UnaryOp::CastToInt, _) => return sub,
                Kind::Unary(UnaryOp::CastToSigInt, inner) => return inner.clone(),
                _ => self.as_set(&sub),
            },
            _ => self.as_set(&sub),
        };
        let mut ty = sub.ty.clone();
        if sub.is_ok() {
            let (result, error) = self.unary_type(op, &sub);
            ty = result;
            errors = join_errors([&errors, &error.and_then(one)]);
        }
        errors = join_errors([&errors, &sub.errors]);
        let mult = match op {
            UnaryOp::ExactlyOf
            | UnaryOp::SomeOf
            | UnaryOp::LoneOf
            | UnaryOp::OneOf
            | UnaryOp::SetOf => Multiplicity::Unary,
            _ => Multiplicity::None,
        };
        let weight = extra + sub.weight;
        self.build(Kind::Unary(op, sub), ty, span, mult, weight, errors)
    }

    fn unary_type(&self, op: UnaryOp, sub: &Rx) -> (Type, Option<Diagnostic>) {
        let found = || self.describe(&sub.ty);
        let unless_empty = |ty: Type, message: &str| {
            let error = ty.is_nothing().then(|| {
                type_error(sub.span, message).label(sub.span, format!("this is {}", found()))
            });
            (ty, error)
        };
        match op {
            UnaryOp::SetOf | UnaryOp::ExactlyOf => {
                unless_empty(sub.ty.as_relation(), "a set or relation is needed here")
            }
            UnaryOp::SomeOf | UnaryOp::LoneOf | UnaryOp::OneOf => unless_empty(
                sub.ty.extract(1),
                "a set is needed after `some`, `lone` or `one`",
            ),
            UnaryOp::Transpose => unless_empty(
                sub.ty.transpose(&self.hierarchy),
                "`~` needs a binary relation",
            ),
            UnaryOp::Closure => unless_empty(
                sub.ty.closure(&self.hierarchy),
                "`^` needs a binary relation",
            ),
            UnaryOp::ReflexiveClosure => {
                let (ty, error) = unless_empty(sub.ty.extract(2), "`*` needs a binary relation");
                match error {
                    Some(error) => (ty, Some(error)),
                    None => (Type::pair(builtin::UNIV), None),
                }
            }
            UnaryOp::Card => (Type::value(), None),
            UnaryOp::CastToInt => {
                let error = (!sub.ty.has_arity(1)).then(|| {
                    type_error(sub.span, "a set of integers is needed here")
                        .label(sub.span, format!("this is {}", found()))
                });
                (Type::value(), error)
            }
            UnaryOp::CastToSigInt => (Type::sig(builtin::INT), None),
            UnaryOp::Prime => (sub.ty.clone(), None),
            _ => (Type::formula(), None),
        }
    }

    pub(crate) fn binary(&self, op: BinaryOp, left: Rx, right: Rx, span: Span) -> Rx {
        // Restricting a field to its own signature is how a name is told from its namesakes.
        if let (BinaryOp::Domain, Kind::Sig(sig), Kind::Field(field)) =
            (op, &left.kind, &right.kind)
            && self
                .fields
                .get(field.index())
                .is_some_and(|f| f.sig == *sig)
        {
            return right;
        }
        let convert = |x: &Rx| match class(op) {
            Class::Integers => self.as_int(x),
            Class::Formulas => self.as_formula(x),
            Class::Either => x.clone(),
            Class::Sets => self.as_set(x),
        };
        let (left, right) = (convert(&left), convert(&right));
        let mut errors = join_errors([&left.errors, &right.errors]);
        let mut ty = Type::empty();
        if errors.is_none() {
            let (result, error) = self.binary_type(op, &left, &right, span);
            if op == BinaryOp::Join && result.is_nothing() {
                return self.bad_join(&left, &right, span);
            }
            ty = result;
            errors = error.and_then(one);
        }
        let is_arrow = matches!(op, BinaryOp::Arrow(..) | BinaryOp::SeqArrow);
        for (x, is_right) in [(&left, false), (&right, true)] {
            let allowed = if is_arrow {
                x.mult != Multiplicity::Unary
            } else {
                x.mult == Multiplicity::None || is_right && op == BinaryOp::In
            };
            if !allowed {
                errors = join_errors([&errors, &one(self.no_multiplicity(x))]);
            }
        }
        let with_mult = is_arrow
            && (left.mult == Multiplicity::Arrow
                || right.mult == Multiplicity::Arrow
                || op != BinaryOp::Arrow(Mult::Set, Mult::Set));
        let mult = if with_mult {
            Multiplicity::Arrow
        } else {
            Multiplicity::None
        };
        let weight = left.weight + right.weight;
        self.build(
            Kind::Binary(op, left, right),
            ty,
            span,
            mult,
            weight,
            errors,
        )
    }

    fn binary_type(
        &self,
        op: BinaryOp,
        left: &Rx,
        right: &Rx,
        span: Span,
    ) -> (Type, Option<Diagnostic>) {
        let h = &self.hierarchy;
        let (a, b) = (&left.ty, &right.ty);
        let both = |symbol: &str| {
            type_error(
                span,
                format!("`{symbol}` needs two relations of the same arity"),
            )
            .label(left.span, format!("this is {}", self.describe(a)))
            .label(right.span, format!("this is {}", self.describe(b)))
        };
        let unless_empty = |ty: Type, symbol: &str| {
            let error = ty.is_nothing().then(|| both(symbol));
            (ty, error)
        };
        let set_needed = |ty: Type, x: &Rx| {
            let error = ty.is_nothing().then(|| {
                type_error(x.span, "a set is needed here")
                    .label(x.span, format!("this is {}", self.describe(&x.ty)))
            });
            (ty, error)
        };
        let formula_if = |ok: bool, symbol: &str| {
            if ok {
                (Type::formula(), None)
            } else {
                (Type::empty(), Some(both(symbol)))
            }
        };
        match op {
            BinaryOp::Override => unless_empty(a.union(h, b), "++"),
            BinaryOp::Union => unless_empty(a.union(h, b), "+"),
            BinaryOp::Difference => unless_empty(a.pick_common_arity(b), "-"),
            BinaryOp::Intersect => unless_empty(a.intersect(h, b), "&"),
            BinaryOp::Eq | BinaryOp::NotEq => formula_if(
                a.has_common_arity(b),
                if op == BinaryOp::Eq { "=" } else { "!=" },
            ),
            BinaryOp::In | BinaryOp::NotIn => formula_if(
                a.has_common_arity(b),
                if op == BinaryOp::In { "in" } else { "not in" },
            ),
            BinaryOp::Join => (a.join(h, b), None),
            BinaryOp::Domain => set_needed(b.domain_restrict(h, a), left),
            BinaryOp::Range => set_needed(a.range_restrict(h, b), right),
            BinaryOp::Arrow(..) | BinaryOp::SeqArrow => (a.product(h, b), None),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Sha
            | BinaryOp::Shr => (Type::value(), None),
            _ => (Type::formula(), None),
        }
    }

    pub(crate) fn bad_join(&self, left: &Rx, right: &Rx, span: Span) -> Rx {
        let mut errors = join_errors([&left.errors, &right.errors]);
        if errors.is_none() {
            errors = one(type_error(span, "these cannot be joined")
                .label(left.span, format!("this is {}", self.describe(&left.ty)))
                .label(right.span, format!("this is {}", self.describe(&right.ty)))
                .help("two sets have no join; `->` makes pairs, and `[ ]` calls"));
        }
        self.plain(Kind::BadJoin, Type::empty(), span, 0, errors)
    }

    pub(crate) fn list(&self, op: ListOp, args: Vec<Rx>, span: Span) -> Rx {
        let mut errors: Errors = None;
        let mut items = Vec::with_capacity(args.len());
        let mut weight = 0;
        let mut common: Option<Type> = None;
        for arg in args {
            let arg = match op {
                ListOp::And | ListOp::Or => self.as_formula(&arg),
                ListOp::Disjoint | ListOp::TotalOrder => self.as_set(&arg),
            };
            weight += arg.weight;
            if arg.mult != Multiplicity::None {
                errors = join_errors([&errors, &one(self.no_multiplicity(&arg))]);
            }
            if arg.is_ok() {
                common = Some(match common {
                    None => arg.ty.clone(),
                    Some(common) => common.pick_common_arity(&arg.ty),
                });
            }
            errors = join_errors([&errors, &arg.errors]);
            self.flatten(op, arg, &mut items);
        }
        let complaint = match op {
            ListOp::TotalOrder => self.total_order_error(&items, errors.is_some()),
            ListOp::Disjoint if items.len() < 2 => Some("`disj` needs at least two arguments"),
            ListOp::Disjoint if errors.is_none() && common.is_some_and(|ty| ty.is_nothing()) => {
                Some("`disj` needs relations of the same arity")
            }
            _ => None,
        };
        if let Some(message) = complaint {
            errors = join_errors([&errors, &one(type_error(span, message))]);
        }
        self.plain(Kind::List(op, items), Type::formula(), span, weight, errors)
    }

    fn flatten(&self, op: ListOp, arg: Rx, items: &mut Vec<Rx>) {
        match (&arg.kind, op) {
            (Kind::List(inner, parts), ListOp::And | ListOp::Or) if *inner == op && arg.is_ok() => {
                items.extend(parts.iter().cloned());
            }
            (Kind::Const(Const::True), ListOp::And) | (Kind::Const(Const::False), ListOp::Or) => {}
            _ => items.push(arg),
        }
    }

    fn total_order_error(&self, items: &[Rx], has_errors: bool) -> Option<&'static str> {
        let [elem, first, next] = items else {
            return Some(
                "`pred/totalOrder` needs three arguments: a set, its first element, its order",
            );
        };
        if has_errors {
            None
        } else if !elem.ty.has_arity(1) || !first.ty.has_arity(1) {
            Some("the first two arguments of `pred/totalOrder` are sets")
        } else if !next.ty.has_arity(2) {
            Some("the third argument of `pred/totalOrder` is a binary relation")
        } else {
            None
        }
    }

    pub(crate) fn ite(&self, cond: &Rx, then: Rx, other: Rx, span: Span) -> Rx {
        let mut errors: Errors = None;
        for x in [cond, &then, &other] {
            if x.mult != Multiplicity::None {
                errors = join_errors([&errors, &one(self.no_multiplicity(x))]);
            }
        }
        let mut ty = Type::empty();
        if then.is_ok() && other.is_ok() {
            let (a, b) = (&then.ty, &other.ty);
            ty = a.union(&self.hierarchy, b);
            if a.is_bool && b.is_bool {
                ty = ty.or_formula();
            }
            if ty.is_nothing() {
                let error = type_error(span, "both branches must be of the same kind")
                    .label(then.span, format!("this is {}", self.describe(a)))
                    .label(other.span, format!("this is {}", self.describe(b)));
                errors = join_errors([&errors, &one(error)]);
            }
        }
        let cond = self.as_formula(cond);
        errors = join_errors([&errors, &cond.errors, &then.errors, &other.errors]);
        let weight = cond.weight + then.weight + other.weight;
        self.plain(Kind::Ite(cond, then, other), ty, span, weight, errors)
    }

    pub(crate) fn let_in(&self, var: VarId, value: Rx, body: Rx, span: Span) -> Rx {
        let mut errors = join_errors([&value.errors, &body.errors]);
        for x in [&value, &body] {
            if x.mult != Multiplicity::None {
                errors = join_errors([&errors, &one(self.no_multiplicity(x))]);
            }
        }
        let weight = value.weight + body.weight;
        let ty = body.ty.clone();
        self.plain(Kind::Let(var, value, body), ty, span, weight, errors)
    }

    pub(crate) fn quant(&self, quant: Quant, decls: Vec<XDecl>, body: &Rx, span: Span) -> Rx {
        let is_sum = quant == Quant::Sum;
        let body = if is_sum {
            self.as_int(body)
        } else {
            self.as_formula(body)
        };
        let mut ty = match quant {
            Quant::Sum => Type::value(),
            Quant::Comprehension => Type::empty(),
            _ => Type::formula(),
        };
        let mut errors: Errors = None;
        if body.mult != Multiplicity::None {
            errors = one(self.no_multiplicity(&body));
        }
        let mut weight = body.weight;
        for decl in &decls {
            let bound = &decl.bound;
            weight += bound.weight;
            errors = join_errors([&errors, &bound.errors]);
            if !bound.is_ok() {
                continue;
            }
            if let Some(error) = self.bound_error(quant, bound) {
                errors = join_errors([&errors, &one(error)]);
                continue;
            }
            if quant == Quant::Comprehension {
                let column = bound.ty.extract(1);
                for _ in &decl.vars {
                    ty = if ty.is_nothing() {
                        column.clone()
                    } else {
                        ty.product(&self.hierarchy, &column)
                    };
                }
            }
        }
        if errors.is_none() {
            errors = body.errors.clone();
        }
        self.plain(Kind::Quant(quant, decls, body), ty, span, weight, errors)
    }

    fn bound_error(&self, quant: Quant, bound: &Rx) -> Option<Diagnostic> {
        if !bound.ty.is_relation() {
            return Some(
                type_error(bound.span, "a variable ranges over a set or relation")
                    .label(bound.span, format!("this is {}", self.describe(&bound.ty))),
            );
        }
        let op = bound.bound_op();
        if op == UnaryOp::ExactlyOf {
            return Some(
                type_error(bound.span, "a variable is declared with `:`").help("write `name: set`"),
            );
        }
        if !matches!(quant, Quant::Sum | Quant::Comprehension) {
            return None;
        }
        if !bound.ty.has_arity(1) {
            return Some(
                type_error(bound.span, "a set is needed here")
                    .label(bound.span, format!("this is {}", self.describe(&bound.ty)))
                    .help("declare one variable for each column"),
            );
        }
        let is_set = bound.mult == Multiplicity::Unary && op != UnaryOp::OneOf;
        is_set.then(|| {
            type_error(
                bound.span,
                "each variable of a comprehension or `sum` is one atom",
            )
            .help("remove the multiplicity")
        })
    }

    pub(crate) fn call(&self, func: FuncId, args: &[Rx], extra: u32, span: Span) -> Rx {
        let mut weight = extra;
        let mut errors: Errors = None;
        let params = self.param_types(func);
        let name = self.func_name(func);
        if params.len() != args.len() {
            errors = one(type_error(
                span,
                format!(
                    "`{name}` takes {} but is given {}",
                    arguments(params.len()),
                    args.len()
                ),
            ));
        }
        let mut checked = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let arg = self.as_set(arg);
            errors = join_errors([&errors, &arg.errors]);
            weight += arg.weight;
            if arg.mult != Multiplicity::None {
                errors = join_errors([&errors, &one(self.no_multiplicity(&arg))]);
            }
            let arity = params.get(index).and_then(Type::arity);
            if let (Some(arity), true) = (arity, arg.is_ok())
                && !arg.ty.has_arity(arity)
            {
                let error =
                    type_error(arg.span, format!("`{name}` needs {} here", relation(arity)))
                        .label(arg.span, format!("this is {}", self.describe(&arg.ty)));
                errors = join_errors([&errors, &one(error)]);
            }
            checked.push(arg);
        }
        let mut ty = Type::formula();
        if let (Some(result), None) = (self.func(func).and_then(|f| f.result.clone()), &errors) {
            ty = self.deduce_result(func, &result, &checked);
        }
        let kind = Kind::Call {
            func,
            args: checked,
            extra,
        };
        self.plain(kind, ty, span, weight, errors)
    }

    pub(crate) fn func_name(&self, func: FuncId) -> String {
        let label = self.func(func).map_or("?", |info| info.label.as_str());
        label.strip_prefix("this/").unwrap_or(label).to_owned()
    }

    /// A call that lacks arguments or has some that do not fit.
    pub(crate) fn bad_call(&self, func: FuncId, args: Vec<Rx>, extra: u32, span: Span) -> Rx {
        let mut weight = extra;
        let mut errors: Errors = None;
        for arg in &args {
            weight += arg.weight;
            errors = join_errors([&errors, &arg.errors]);
        }
        if errors.is_none() {
            errors = one(self.call_error(func, &args, span));
        }
        let kind = Kind::BadCall { func, args, extra };
        self.plain(kind, Type::empty(), span, weight, errors)
    }

    fn call_error(&self, func: FuncId, args: &[Rx], span: Span) -> Diagnostic {
        let name = self.func_name(func);
        let params = self.param_types(func);
        let mut error = if args.len() < params.len() {
            type_error(
                span,
                format!(
                    "`{name}` takes {} but is given {}",
                    arguments(params.len()),
                    args.len()
                ),
            )
            .help(format!("arguments are given in brackets: `{name}[..]`"))
        } else {
            type_error(span, format!("these arguments do not fit `{name}`"))
        };
        for (arg, param) in args.iter().zip(&params) {
            let fits = arg.ty.has_common_arity(param)
                && (!arg.ty.has_tuple()
                    || !param.has_tuple()
                    || arg.ty.intersects(&self.hierarchy, param));
            if !fits {
                error = error.label(
                    arg.span,
                    format!(
                        "this is {}, and {} is needed",
                        self.describe(&arg.ty),
                        self.describe(param)
                    ),
                );
            }
        }
        match self.func(func) {
            Some(info) => error.related(info.span, "declared here"),
            None => error,
        }
    }

    /// A macro that waits for arguments.
    pub(crate) fn macro_call(&self, id: MacroId, args: Vec<Rx>, span: Span, name: &str) -> Rx {
        let error = type_error(span, format!("the macro `{name}` needs more arguments"))
            .help(format!("arguments are given in brackets: `{name}[..]`"));
        self.plain(Kind::Macro(id, args), Type::empty(), span, 0, one(error))
    }

    /// One of several readings; the only one, when it is sound, stands for itself.
    pub(crate) fn choice(&self, readings: Vec<Reading>, span: Span) -> Rx {
        if let [reading] = readings.as_slice()
            && reading.expr.is_ok()
        {
            return reading.expr.clone();
        }
        let mut ty = Type::empty();
        let mut weight: Option<u32> = None;
        for reading in &readings {
            ty = reading.expr.ty.merge(&self.hierarchy, &ty);
            if !reading.expr.ty.is_nothing() {
                let lighter = weight.is_none_or(|weight| weight > reading.expr.weight);
                if lighter {
                    weight = Some(reading.expr.weight);
                }
            }
        }
        let errors = ty.is_nothing().then(|| self.complaint(&readings, span));
        self.plain(
            Kind::Choice(readings),
            ty,
            span,
            weight.unwrap_or(0),
            errors.flatten(),
        )
    }

    /// Why no reading is possible.
    fn complaint(&self, readings: &[Reading], span: Span) -> Errors {
        let mut errors: Vec<&Errors> = readings.iter().map(|r| &r.expr.errors).collect();
        if errors.len() > 1 {
            let all = readings
                .iter()
                .map(|reading| reading.reason.to_string())
                .collect::<Vec<_>>();
            let first = errors.remove(0);
            let reason = first.as_ref().and_then(|errors| errors.first());
            let mut error =
                type_error(span, "this name cannot be used here in any of its meanings")
                    .help(format!("it could mean {}", all.join(", ")));
            if let Some(reason) = reason {
                error = error.label(span, reason.message.clone());
                error.related.extend(reason.related.iter().cloned());
            }
            return one(error);
        }
        errors.first().and_then(|errors| (*errors).clone())
    }
}

enum Class {
    Integers,
    Formulas,
    Sets,
    /// Sets or integers as they come.
    Either,
}

fn class(op: BinaryOp) -> Class {
    use BinaryOp as B;
    match op {
        B::Mul
        | B::Div
        | B::Rem
        | B::Add
        | B::Sub
        | B::Shl
        | B::Sha
        | B::Shr
        | B::Lt
        | B::Lte
        | B::Gt
        | B::Gte
        | B::NotLt
        | B::NotLte
        | B::NotGt
        | B::NotGte => Class::Integers,
        B::Implies | B::Iff | B::Until | B::Releases | B::Since | B::Triggered => Class::Formulas,
        B::Union | B::Difference | B::Eq | B::NotEq => Class::Either,
        B::Arrow(..)
        | B::SeqArrow
        | B::Join
        | B::Domain
        | B::Range
        | B::Intersect
        | B::Override
        | B::In
        | B::NotIn => Class::Sets,
    }
}

fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        count => format!("{count} arguments"),
    }
}

fn relation(arity: usize) -> String {
    match arity {
        1 => "a set".to_owned(),
        2 => "a binary relation".to_owned(),
        arity => format!("a relation of arity {arity}"),
    }
}
