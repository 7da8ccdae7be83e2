//! Top down: what the context can use decides between the readings of a name.
//!
//! What cannot contribute to the result is irrelevant, and reported as a warning.

use std::rc::Rc;

use locus_core::{Diagnostic, Span};

use super::expr::{Kind, Reading, Rx, XDecl, same};
use super::make::{Checker, type_error};
use super::product::{self, Product, Type, Union};
use crate::model::{BinaryOp, Const, ListOp, Mult, Quant, SigId, UnaryOp, VarId, builtin};

pub(crate) fn irrelevant(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::warning("irrelevant", message).at(span)
}

impl Checker {
    fn warn(&mut self, enabled: bool, warning: impl FnOnce(&Self) -> Diagnostic) {
        if enabled {
            let warning = warning(self);
            self.warnings.push(warning);
        }
    }

    /// Resolved as a formula.
    pub(crate) fn resolve_formula(&mut self, x: &Rx) -> Rx {
        let x = self.as_formula(x);
        let x = self.resolve(&x, &Type::formula(), true);
        self.as_formula(&x)
    }

    /// Resolved as an integer value.
    pub(crate) fn resolve_int(&mut self, x: &Rx) -> Rx {
        let x = self.as_int(x);
        let x = self.resolve(&x, &Type::value(), true);
        self.as_int(&x)
    }

    /// Resolved as a set or relation.
    pub(crate) fn resolve_set(&mut self, x: &Rx) -> Rx {
        let x = self.as_set(x);
        let relevant = x.ty.as_relation();
        let x = self.resolve(&x, &relevant, true);
        self.as_set(&x)
    }

    /// The reading of an expression that contributes to `relevant`.
    pub(crate) fn resolve(&mut self, x: &Rx, relevant: &Type, warn: bool) -> Rx {
        if !x.is_ok() {
            return x.clone();
        }
        let Some(fuel) = self.fuel.checked_sub(1) else {
            return self.with_error(
                x,
                type_error(
                    x.span,
                    "this expression has too many readings to try them all",
                )
                .help("say which field is meant with `Sig <: field`"),
            );
        };
        self.fuel = fuel;
        match &x.kind {
            Kind::Unary(op, sub) => self.resolve_unary(x, *op, sub, relevant, warn),
            Kind::Binary(op, a, b) => self.resolve_binary(x, *op, a, b, relevant, warn),
            Kind::List(op, args) => self.resolve_list(x, *op, args, warn),
            Kind::Ite(cond, then, other) => {
                self.resolve_ite(x, [cond, then, other], relevant, warn)
            }
            Kind::Let(var, value, body) => {
                let resolved = self.resolve(body, relevant, warn);
                if warn && resolved.is_ok() && !resolved.has_var(*var) {
                    self.unused(*var);
                }
                if Rc::ptr_eq(&resolved, body) {
                    return x.clone();
                }
                self.let_in(*var, value.clone(), resolved, x.span)
            }
            Kind::Quant(quant, decls, body) => {
                // Its parts were resolved when it was made.
                self.unused_variables(*quant, decls, body, warn);
                x.clone()
            }
            Kind::Call { func, args, extra } => {
                let params = self.param_types(*func);
                let mut changed = false;
                let mut resolved = Vec::with_capacity(args.len());
                for (arg, param) in args.iter().zip(&params) {
                    let new = self.resolve(arg, param, warn);
                    let new = self.as_set(&new);
                    changed |= !Rc::ptr_eq(&new, arg);
                    resolved.push(new);
                }
                if changed {
                    self.call(*func, &resolved, *extra, x.span)
                } else {
                    x.clone()
                }
            }
            Kind::Choice(readings) => self.resolve_choice(x.span, readings, relevant, warn, true),
            _ => x.clone(),
        }
    }

    fn unused(&mut self, var: VarId) {
        if let Some(info) = self.vars.get(var.index()) {
            let message = format!("the variable `{}` is not used", info.name);
            self.warnings.push(irrelevant(info.span, message));
        }
    }

    fn unused_variables(&mut self, quant: Quant, decls: &[XDecl], body: &Rx, warn: bool) {
        if !warn || quant == Quant::Comprehension {
            return;
        }
        for (index, decl) in decls.iter().enumerate() {
            for var in &decl.vars {
                let later = decls.iter().skip(index + 1);
                let used = body.has_var(*var) || later.into_iter().any(|d| d.bound.has_var(*var));
                if !used {
                    self.unused(*var);
                }
            }
        }
    }

    fn resolve_unary(&mut self, x: &Rx, op: UnaryOp, sub: &Rx, p: &Type, warn: bool) -> Rx {
        let wanted = match op {
            UnaryOp::Not
            | UnaryOp::After
            | UnaryOp::Always
            | UnaryOp::Eventually
            | UnaryOp::Before
            | UnaryOp::Historically
            | UnaryOp::Once => Type::formula(),
            UnaryOp::Transpose => {
                let h = &self.hierarchy;
                sub.ty.transpose(h).intersect(h, p).transpose(h)
            }
            UnaryOp::Closure | UnaryOp::ReflexiveClosure => {
                if !x.ty.join(&self.hierarchy, &x.ty).has_tuple() {
                    self.warn(warn, |c| {
                        irrelevant(
                            x.span,
                            "the closure adds nothing: nothing can be followed twice",
                        )
                        .label(sub.span, format!("this is {}", c.describe(&sub.ty)))
                    });
                }
                self.closure_relevance(p, &sub.ty)
            }
            UnaryOp::Card | UnaryOp::No | UnaryOp::One | UnaryOp::Some | UnaryOp::Lone => {
                sub.ty.as_relation()
            }
            UnaryOp::CastToSigInt => Type::value(),
            UnaryOp::CastToInt => {
                let ints = sub.ty.intersect(&self.hierarchy, &Type::sig(builtin::INT));
                if !ints.has_tuple() {
                    self.warn(warn, |c| {
                        irrelevant(sub.span, "this should contain integers")
                            .label(sub.span, format!("this is {}", c.describe(&sub.ty)))
                    });
                }
                ints
            }
            _ => p.clone(),
        };
        let is_chain = matches!(
            op,
            UnaryOp::Transpose | UnaryOp::Closure | UnaryOp::ReflexiveClosure
        );
        if is_chain && wanted.is_nothing() && p.has_tuple() {
            self.warn(warn, |c| {
                irrelevant(sub.span, "this contributes nothing to the result")
                    .label(sub.span, format!("this is {}", c.describe(&sub.ty)))
                    .label(x.span, format!("and {} is needed", c.describe(p)))
            });
        }
        let resolved = self.resolve(sub, &wanted, warn);
        if Rc::ptr_eq(&resolved, sub) {
            return x.clone();
        }
        self.unary_weighted(op, resolved, x.span, x.weight.saturating_sub(sub.weight))
    }

    /// The pairs of `child` that lie on a path from a pair that `parent` wants.
    fn closure_relevance(&self, parent: &Type, child: &Type) -> Type {
        let h = &self.hierarchy;
        let pairs = |ty: &Type| -> Vec<(SigId, SigId)> {
            ty.products()
                .filter_map(|product| match product.as_ref() {
                    [a, b] => Some((*a, *b)),
                    _ => None,
                })
                .collect()
        };
        let (edges, wanted) = (pairs(child), pairs(parent));
        let mut nodes: Vec<SigId> = Vec::new();
        for (a, b) in edges.iter().chain(&wanted) {
            for sig in [a, b] {
                if !nodes.contains(sig) {
                    nodes.push(*sig);
                }
            }
        }
        // Two signatures are linked by an edge of the child, or by sharing atoms.
        let reach = |from: SigId| -> Vec<SigId> {
            let mut seen = vec![from];
            let mut at = 0;
            while let Some(sig) = seen.get(at).copied() {
                at += 1;
                for node in &nodes {
                    let linked = h.intersects(sig, *node) || edges.contains(&(sig, *node));
                    if linked && !seen.contains(node) {
                        seen.push(*node);
                    }
                }
            }
            seen
        };
        let mut union = Union::default();
        let starts: Vec<(Vec<SigId>, SigId)> =
            wanted.iter().map(|(a, b)| (reach(*a), *b)).collect();
        for (a, b) in edges.iter().copied() {
            let after = reach(b);
            let on_path = starts
                .iter()
                .any(|(before, end)| before.contains(&a) && after.contains(end));
            if on_path {
                union.add(h, Rc::from([a, b]));
            }
        }
        union.finish()
    }

    fn resolve_list(&mut self, x: &Rx, op: ListOp, args: &[Rx], warn: bool) -> Rx {
        let wanted: Vec<Type> = match op {
            ListOp::And | ListOp::Or => args.iter().map(|_| Type::formula()).collect(),
            ListOp::Disjoint => {
                let mut all: Option<Type> = None;
                for arg in args {
                    all = Some(match all {
                        None => arg.ty.as_relation(),
                        Some(all) => all.union(&self.hierarchy, &arg.ty),
                    });
                }
                let all = all.unwrap_or_default();
                args.iter().map(|_| all.clone()).collect()
            }
            ListOp::TotalOrder => {
                let set = args
                    .first()
                    .map(|arg| arg.ty.extract(1))
                    .unwrap_or_default();
                let pairs = set.product(&self.hierarchy, &set);
                vec![set.clone(), set, pairs]
            }
        };
        let mut changed = false;
        let mut resolved = Vec::with_capacity(args.len());
        for (arg, wanted) in args.iter().zip(&wanted) {
            let new = self.resolve(arg, wanted, warn);
            changed |= !Rc::ptr_eq(&new, arg);
            resolved.push(new);
        }
        if changed {
            self.list(op, resolved, x.span)
        } else {
            x.clone()
        }
    }

    fn resolve_ite(&mut self, x: &Rx, parts: [&Rx; 3], p: &Type, warn: bool) -> Rx {
        let [cond, then, other] = parts;
        let mut wanted = [p.clone(), p.clone()];
        if p.is_relation() {
            wanted = [then, other].map(|x| {
                let ty = x.ty.intersect(&self.hierarchy, p);
                if p.is_bool { ty.or_formula() } else { ty }
            });
            for (x, wanted) in [then, other].into_iter().zip(&wanted) {
                if x.ty.has_tuple() && !wanted.has_tuple() {
                    self.warn(warn, |_| {
                        irrelevant(x.span, "this branch contributes nothing")
                    });
                }
            }
        }
        let [then_type, other_type] = wanted;
        let new_cond = self.resolve(cond, &Type::formula(), warn);
        let new_then = self.resolve(then, &then_type, warn);
        let new_other = self.resolve(other, &other_type, warn);
        if Rc::ptr_eq(&new_cond, cond)
            && Rc::ptr_eq(&new_then, then)
            && Rc::ptr_eq(&new_other, other)
        {
            return x.clone();
        }
        self.ite(&new_cond, new_then, new_other, x.span)
    }

    fn resolve_binary(
        &mut self,
        x: &Rx,
        op: BinaryOp,
        left: &Rx,
        right: &Rx,
        p: &Type,
        warn: bool,
    ) -> Rx {
        use BinaryOp as B;
        let (a, b) = match op {
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
            | B::NotGte => (Type::value(), Type::value()),
            B::Implies | B::Iff | B::Until | B::Releases | B::Since | B::Triggered => {
                (Type::formula(), Type::formula())
            }
            _ => {
                let problem = self.irrelevance(x, op, left, right, p);
                if let Some(message) = problem {
                    self.warn(warn, |c| {
                        irrelevant(x.span, message)
                            .label(left.span, format!("this is {}", c.describe(&left.ty)))
                            .label(right.span, format!("this is {}", c.describe(&right.ty)))
                    });
                }
                self.operand_relevance(op, &left.ty, &right.ty, p)
            }
        };
        let new_left = self.resolve(left, &a, warn);
        let new_right = self.resolve(right, &b, warn);
        if Rc::ptr_eq(&new_left, left) && Rc::ptr_eq(&new_right, right) {
            return x.clone();
        }
        self.binary(op, new_left, new_right, x.span)
    }

    /// Why an operator on relations does nothing.
    fn irrelevance(
        &self,
        x: &Rx,
        op: BinaryOp,
        left: &Rx,
        right: &Rx,
        p: &Type,
    ) -> Option<&'static str> {
        let h = &self.hierarchy;
        let (a, b) = (&left.ty, &right.ty);
        match op {
            BinaryOp::Eq | BinaryOp::NotEq => {
                if a.has_tuple() && b.has_tuple() && !a.intersects(h, b) {
                    Some("these are never equal unless both are empty")
                } else {
                    same(left, right).then_some("both sides are the same")
                }
            }
            BinaryOp::In | BinaryOp::NotIn => {
                let common = b.intersect(h, &a.pick_common_arity(b));
                if !a.has_tuple() {
                    Some("the left side is always empty")
                } else if !b.has_tuple() {
                    Some("the right side is always empty")
                } else if !common.has_tuple() {
                    Some("the two sides share nothing")
                } else {
                    same(left, right).then_some("both sides are the same")
                }
            }
            BinaryOp::Intersect => (!x.ty.has_tuple()).then_some("the two sides share nothing"),
            BinaryOp::Union | BinaryOp::Override => {
                let (useful_a, useful_b) = (a.intersect(h, p), b.intersect(h, p));
                let no_override = op == BinaryOp::Override && !b.can_override(h, a);
                match (useful_a.is_nothing(), useful_b.is_nothing() || no_override) {
                    (true, true) => Some("neither side contributes to the result"),
                    (true, false) => Some("the left side contributes nothing to the result"),
                    (false, true) => Some("the right side contributes nothing to the result"),
                    (false, false) => None,
                }
            }
            BinaryOp::Difference => {
                let useful = p.intersect(h, b);
                (!x.ty.has_tuple() || !useful.has_tuple())
                    .then_some("the right side takes nothing away")
            }
            BinaryOp::Join => (!x.ty.has_tuple()).then_some("this join is always empty"),
            BinaryOp::Domain | BinaryOp::Range => {
                (!x.ty.has_tuple()).then_some("this restriction is always empty")
            }
            BinaryOp::Arrow(..) | BinaryOp::SeqArrow => match (a.has_tuple(), b.has_tuple()) {
                (true, false) => Some("the right side is always empty, and so is the product"),
                (false, true) => Some("the left side is always empty, and so is the product"),
                _ => None,
            },
            _ => None,
        }
    }

    /// What is relevant of either side of an operator on relations.
    fn operand_relevance(&self, op: BinaryOp, a: &Type, b: &Type, p: &Type) -> (Type, Type) {
        let h = &self.hierarchy;
        match op {
            BinaryOp::Eq | BinaryOp::NotEq => {
                let common = a.intersect(h, b);
                if common.has_tuple() {
                    (common.clone(), common)
                } else {
                    let left = a.pick_common_arity(b);
                    let right = b.pick_common_arity(&left);
                    (left, right)
                }
            }
            BinaryOp::In | BinaryOp::NotIn => {
                let left = a.pick_common_arity(b);
                let right = b.intersect(h, &left);
                (left, right)
            }
            BinaryOp::Difference => (p.clone(), p.intersect(h, b)),
            BinaryOp::Join => self.join_relevance(a, b, p),
            BinaryOp::Domain => self.restriction_relevance(a, b, p, true),
            BinaryOp::Range => {
                let (set, relation) = self.restriction_relevance(b, a, p, false);
                (relation, set)
            }
            BinaryOp::Arrow(..) | BinaryOp::SeqArrow => self.arrow_relevance(a, b, p),
            _ => (a.intersect(h, p), b.intersect(h, p)),
        }
    }

    fn join_relevance(&self, a: &Type, b: &Type, p: &Type) -> (Type, Type) {
        let h = &self.hierarchy;
        let fitting = |test: &dyn Fn(&Product, &Product) -> bool| {
            let (mut left, mut right) = (Union::default(), Union::default());
            for x in a.products() {
                for y in b.products() {
                    let arity = (x.len() + y.len()).saturating_sub(2);
                    if p.has_arity(arity) && test(x, y) {
                        left.add(h, x.clone());
                        right.add(h, y.clone());
                    }
                }
            }
            (left.finish(), right.finish())
        };
        let (mut left, mut right) = (Union::default(), Union::default());
        for x in a.products() {
            for y in b.products() {
                let (Some(last), Some(first)) = (x.last(), y.first()) else {
                    continue;
                };
                let middle = h.intersect(*last, *first);
                let Some(joined) = product::join(h, x, y) else {
                    continue;
                };
                if middle == builtin::NONE || !p.has_arity(joined.len()) {
                    continue;
                }
                let split = x.len() - 1;
                for useful in p.intersect_product(h, &joined).products() {
                    if useful.first().is_none_or(|sig| *sig == builtin::NONE) {
                        continue;
                    }
                    let columns = |from: usize, to: usize| useful.get(from..to).unwrap_or(&[]);
                    let before: Product =
                        columns(0, split).iter().copied().chain([middle]).collect();
                    let after: Product = std::iter::once(middle)
                        .chain(columns(split, useful.len()).iter().copied())
                        .collect();
                    left.add(h, before);
                    right.add(h, after);
                }
            }
        }
        let (left, right) = (left.finish(), right.finish());
        if !left.is_nothing() && !right.is_nothing() {
            return (left, right);
        }
        // Nothing is relevant, which has been said; the best that can be done.
        let (left, right) = fitting(&|x, y| match (x.last(), y.first()) {
            (Some(x), Some(y)) => h.intersects(*x, *y),
            _ => false,
        });
        if !left.is_nothing() && !right.is_nothing() {
            return (left, right);
        }
        fitting(&|_, _| true)
    }

    /// Of `set <: relation` (or `relation :> set`), what is relevant of the set and of the relation.
    fn restriction_relevance(
        &self,
        set: &Type,
        relation: &Type,
        p: &Type,
        first: bool,
    ) -> (Type, Type) {
        let h = &self.hierarchy;
        let (mut sets, mut relations) = (Union::default(), Union::default());
        for s in set.products() {
            let [sig] = s.as_ref() else { continue };
            for r in relation.products().filter(|r| p.has_arity(r.len())) {
                let column = if first { 0 } else { r.len().saturating_sub(1) };
                let restricted = product::restrict(h, r, column, *sig);
                for useful in p.intersect_product(h, &restricted).products() {
                    match useful.get(column) {
                        Some(sig) if *sig != builtin::NONE => {
                            sets.add(h, Rc::from([*sig]));
                            relations.add(h, useful.clone());
                        }
                        _ => {}
                    }
                }
            }
        }
        let (sets, relations) = (sets.finish(), relations.finish());
        if sets.is_nothing() || relations.is_nothing() {
            (set.extract(1), relation.pick_common_arity(p))
        } else {
            (sets, relations)
        }
    }

    fn arrow_relevance(&self, a: &Type, b: &Type, p: &Type) -> (Type, Type) {
        let h = &self.hierarchy;
        let (mut left, mut right) = (Union::default(), Union::default());
        for x in a.products() {
            for y in b.products() {
                let whole = product::product(x, y);
                for useful in p.intersect_product(h, &whole).products() {
                    if useful.first().is_none_or(|sig| *sig == builtin::NONE) {
                        continue;
                    }
                    let (Some(before), Some(after)) =
                        (useful.get(..x.len()), useful.get(x.len()..))
                    else {
                        continue;
                    };
                    left.add(h, before.into());
                    right.add(h, after.into());
                }
            }
        }
        let (left, right) = (left.finish(), right.finish());
        if left.is_nothing() || right.is_nothing() {
            (a.clone(), b.clone())
        } else {
            (left, right)
        }
    }

    fn resolve_choice(
        &mut self,
        span: Span,
        readings: &[Reading],
        t: &Type,
        warn: bool,
        first_pass: bool,
    ) -> Rx {
        let h = &self.hierarchy;
        let exact = |ty: &Type| t.is_bool && ty.is_bool || t.intersects(h, ty);
        let mut fitting: Vec<Reading> = readings
            .iter()
            .filter(|reading| exact(&reading.expr.ty))
            .cloned()
            .collect();
        if fitting.is_empty() {
            fitting = readings
                .iter()
                .filter(|reading| reading.expr.ty.has_common_arity(t))
                .cloned()
                .collect();
        }
        if fitting.len() > 1 {
            let lightest = fitting.iter().map(|reading| reading.expr.weight).min();
            fitting.retain(|reading| Some(reading.expr.weight) == lightest);
            if first_pass && fitting.len() > 1 {
                for reading in &mut fitting {
                    reading.expr = self.resolve(&reading.expr, t, false);
                }
                return self.resolve_choice(span, &fitting, t, warn, false);
            }
        }
        match fitting.as_slice() {
            [only] => self.resolve(&only.expr, t, warn),
            [] => self.no_reading(span, readings, t),
            several => match self.all_empty(several) {
                Some(arity) => self.empty_relation(arity, span),
                None => self.ambiguous(span, several),
            },
        }
    }

    /// The arity, when every reading is the empty relation of that arity.
    fn all_empty(&self, readings: &[Reading]) -> Option<usize> {
        let mut arity = None;
        for reading in readings {
            let ty = &reading.expr.ty;
            if ty.is_bool || ty.has_int() || ty.has_tuple() {
                return None;
            }
            let this = ty.arity()?;
            if arity.is_some_and(|arity| arity != this) {
                return None;
            }
            arity = Some(this);
        }
        arity
    }

    fn empty_relation(&self, arity: usize, span: Span) -> Rx {
        let none = || self.sig(builtin::NONE, span);
        let arrow = BinaryOp::Arrow(Mult::Set, Mult::Set);
        (1..arity).fold(none(), |all, _| self.binary(arrow, all, none(), span))
    }

    fn ambiguous(&self, span: Span, readings: &[Reading]) -> Rx {
        let all = list_reasons(readings);
        self.bad(
            span,
            type_error(span, "this name is ambiguous")
                .label(span, format!("could be {all}"))
                .help("say which one is meant: `Sig <: field`, or `module/name`"),
        )
    }

    fn no_reading(&self, span: Span, readings: &[Reading], t: &Type) -> Rx {
        // A reading with an error of its own says more than the list of all.
        let reason = readings
            .iter()
            .find_map(|reading| reading.expr.errors.as_ref()?.first().cloned());
        if let (Some(reason), 1) = (reason, readings.len()) {
            return self.bad(span, reason);
        }
        let all = list_reasons(readings);
        self.bad(
            span,
            type_error(
                span,
                format!(
                    "no meaning of this name fits: {} is needed",
                    self.describe(t)
                ),
            )
            .label(span, format!("could be {all}")),
        )
    }

    /// Whether a constant is the true formula.
    pub(crate) fn is_true(x: &Rx) -> bool {
        matches!(x.kind, Kind::Const(Const::True))
    }
}

fn list_reasons(readings: &[Reading]) -> String {
    let mut reasons: Vec<&str> = readings.iter().map(|r| r.reason.as_ref()).collect();
    reasons.dedup();
    reasons.join(", ")
}
