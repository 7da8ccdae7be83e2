//! Top down: what the context can use decides between the readings of a name.
//!
//! What cannot contribute to the result is irrelevant, and reported as a warning.

use std::rc::Rc;

use locus_core::{Diagnostic, Span};

use super::expr::{Kind, Rx, XDecl};
use super::make::{Checker, type_error};
use super::operators::{Class, class};
use super::product::Type;
use crate::model::{BinaryOp, Const, ListOp, Quant, UnaryOp, VarId, builtin};

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
        let (a, b) = match class(op) {
            Class::Integers => (Type::value(), Type::value()),
            Class::Formulas => (Type::formula(), Type::formula()),
            Class::Sets | Class::Either => {
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

    /// Whether a constant is the true formula.
    pub(crate) fn is_true(x: &Rx) -> bool {
        matches!(x.kind, Kind::Const(Const::True))
    }
}
