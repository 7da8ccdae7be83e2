//! Bottom up: what an operator gives, given what its operands could be.

use locus_core::{Diagnostic, Span};

use super::expr::{Errors, Kind, Multiplicity, Rx, XDecl, join_errors};
use super::make::{Checker, one, type_error};
use super::product::Type;
use crate::model::{BinaryOp, Const, ListOp, Mult, Quant, UnaryOp, VarId, builtin};

impl Checker {
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
}

/// What an operator takes.
pub(super) enum Class {
    Integers,
    Formulas,
    Sets,
    /// Sets or integers as they come.
    Either,
}

pub(super) fn class(op: BinaryOp) -> Class {
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
