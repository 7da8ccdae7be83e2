//! Syntax tree to checked expressions: names looked up, joins told from calls, macros expanded.

use locus_core::{Diagnostic, Span};

use super::World;
use crate::ast::{self, CompareOp, ExprKind, IntConst, NaryOp};
use crate::model::{BinaryOp, Const, ListOp, Mult, Quant, SigId, UnaryOp, VarId, builtin};
use crate::types::expr::{Multiplicity, Rx, XDecl};
use crate::types::make::type_error;

/// How many macros may be expanded inside each other.
const MAX_UNROLLS: u32 = 20;

/// Longer chains of `+` are balanced: their tree would be too deep otherwise.
const LONG_CHAIN: usize = 16;

/// From where a name is seen.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) module: usize,
    /// The signature whose field or fact this is.
    pub(super) sig: Option<SigId>,
    /// In a field: whether it is defined by `=`.
    pub(super) field: Option<bool>,
    /// In the declaration of parameters or of a result.
    pub(super) in_params: bool,
    env: Vec<(String, Rx)>,
    pub(super) unrolls: u32,
}

impl Context {
    pub(super) fn new(module: usize) -> Self {
        Context {
            module,
            sig: None,
            field: None,
            in_params: false,
            env: Vec::new(),
            unrolls: MAX_UNROLLS,
        }
    }

    pub(super) fn bind(&mut self, name: &str, value: Rx) {
        self.env.push((name.to_owned(), value));
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Rx> {
        let found = self.env.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.env.iter().map(|(name, _)| name.as_str())
    }

    fn mark(&self) -> usize {
        self.env.len()
    }

    fn release(&mut self, mark: usize) {
        self.env.truncate(mark);
    }
}

impl World<'_> {
    /// The expression with its names looked up; choices may still be open.
    pub(super) fn check(&mut self, cx: &mut Context, x: &ast::Expr) -> Rx {
        let Some(fuel) = self.checker.fuel.checked_sub(1) else {
            return self.checker.bad(
                x.span,
                type_error(x.span, "this is too large once macros are expanded")
                    .help("turn macros into `fun` or `pred`, which are not copied"),
            );
        };
        self.checker.fuel = fuel;
        match &x.kind {
            ExprKind::Name(name) => self.check_name(cx, name, false, x.span),
            ExprKind::At(name) => self.check_name(cx, name, true, x.span),
            ExprKind::Number(n) => self.checker.constant(Const::Int(*n), x.span),
            ExprKind::Str(text) => self.checker.constant(Const::Str(text.clone()), x.span),
            ExprKind::IntConst(which) => {
                let constant = match which {
                    IntConst::Min => Const::MinInt,
                    IntConst::Max => Const::MaxInt,
                    IntConst::Next => Const::NextInt,
                };
                self.checker.constant(constant, x.span)
            }
            ExprKind::Builtin(builtin) => self.bare_builtin(*builtin, x.span),
            ExprKind::Unary(op, sub) => self.check_unary(cx, *op, sub, x.span),
            ExprKind::Binary(op, a, b) => self.check_binary(cx, *op, a, b, x),
            ExprKind::Nary(op, all) => self.check_nary(cx, *op, all, x.span),
            ExprKind::Box(target, args) => self.check_box(cx, target, args, x),
            ExprKind::Ite(cond, then, other) => {
                let cond = self.check(cx, cond);
                let then = self.check(cx, then);
                let other = self.check(cx, other);
                self.checker.ite(&cond, then, other, x.span)
            }
            ExprKind::Let(bindings, body) => self.check_let(cx, bindings, body, x.span),
            ExprKind::Quant(quant, decls, body) => {
                let quant = match quant {
                    ast::Quant::All => Quant::All,
                    ast::Quant::No => Quant::No,
                    ast::Quant::Some => Quant::Some,
                    ast::Quant::Lone => Quant::Lone,
                    ast::Quant::One => Quant::One,
                    ast::Quant::Sum => Quant::Sum,
                };
                self.check_quant(cx, quant, decls, Some(body), x.span)
            }
            ExprKind::Comprehension(decls, body) => {
                self.check_quant(cx, Quant::Comprehension, decls, body.as_deref(), x.span)
            }
            ExprKind::Block(all) => match all.as_slice() {
                [] => self.checker.constant(Const::True, x.span),
                [only] => self.check(cx, only),
                all => {
                    let all = all.iter().map(|x| self.check(cx, x)).collect();
                    self.checker.list(ListOp::And, all, x.span)
                }
            },
        }
    }

    /// A bound: `some`, `lone` and `one` at its start are multiplicities.
    pub(super) fn check_bound(&mut self, cx: &mut Context, x: &ast::Expr) -> Rx {
        let op = match &x.kind {
            ExprKind::Unary(ast::UnaryOp::Some, sub) => Some((UnaryOp::SomeOf, sub)),
            ExprKind::Unary(ast::UnaryOp::Lone, sub) => Some((UnaryOp::LoneOf, sub)),
            ExprKind::Unary(ast::UnaryOp::One, sub) => Some((UnaryOp::OneOf, sub)),
            _ => None,
        };
        match op {
            Some((op, sub)) => {
                let sub = self.check(cx, sub);
                self.checker.unary(op, sub, x.span)
            }
            None => self.check(cx, x),
        }
    }

    fn check_unary(
        &mut self,
        cx: &mut Context,
        op: ast::UnaryOp,
        sub: &ast::Expr,
        span: Span,
    ) -> Rx {
        let sub = self.check(cx, sub);
        let op = match op {
            ast::UnaryOp::Not => UnaryOp::Not,
            ast::UnaryOp::Always => UnaryOp::Always,
            ast::UnaryOp::Eventually => UnaryOp::Eventually,
            ast::UnaryOp::After => UnaryOp::After,
            ast::UnaryOp::Before => UnaryOp::Before,
            ast::UnaryOp::Historically => UnaryOp::Historically,
            ast::UnaryOp::Once => UnaryOp::Once,
            ast::UnaryOp::No => UnaryOp::No,
            ast::UnaryOp::Some => UnaryOp::Some,
            ast::UnaryOp::Lone => UnaryOp::Lone,
            ast::UnaryOp::One => UnaryOp::One,
            ast::UnaryOp::Set => UnaryOp::SetOf,
            ast::UnaryOp::Card => UnaryOp::Card,
            ast::UnaryOp::Transpose => UnaryOp::Transpose,
            ast::UnaryOp::Closure => UnaryOp::Closure,
            ast::UnaryOp::ReflexiveClosure => UnaryOp::ReflexiveClosure,
            ast::UnaryOp::Prime => UnaryOp::Prime,
            ast::UnaryOp::Seq => {
                let indices = self.checker.sig(builtin::SEQ_INT, span);
                return self.checker.binary(BinaryOp::SeqArrow, indices, sub, span);
            }
            ast::UnaryOp::Sum | ast::UnaryOp::Int => return self.int_of(sub, span),
        };
        self.checker.unary(op, sub, span)
    }

    fn check_binary(
        &mut self,
        cx: &mut Context,
        op: ast::BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        whole: &ast::Expr,
    ) -> Rx {
        let span = whole.span;
        let op = match op {
            ast::BinaryOp::Join => {
                if let Some(result) = self.check_builtin(cx, whole) {
                    return result;
                }
                let left = self.check(cx, a);
                let right = self.check(cx, b);
                return self.join(cx, left, right, span);
            }
            ast::BinaryOp::Then => {
                let a = self.check(cx, a);
                let b = self.check(cx, b);
                let b = self.checker.unary(UnaryOp::After, b, span);
                return self.checker.list(ListOp::And, vec![a, b], span);
            }
            ast::BinaryOp::Compare(CompareOp::In, negated) => {
                let left = self.check(cx, a);
                let right = self.check_bound(cx, b);
                let op = if negated {
                    BinaryOp::NotIn
                } else {
                    BinaryOp::In
                };
                return self.checker.binary(op, left, right, span);
            }
            op => binary_op(op),
        };
        let left = self.check(cx, a);
        let right = self.check(cx, b);
        self.checker.binary(op, left, right, span)
    }

    fn check_nary(&mut self, cx: &mut Context, op: NaryOp, all: &[ast::Expr], span: Span) -> Rx {
        let all: Vec<Rx> = all.iter().map(|x| self.check(cx, x)).collect();
        match op {
            NaryOp::And => self.checker.list(ListOp::And, all, span),
            NaryOp::Or => self.checker.list(ListOp::Or, all, span),
            NaryOp::Union => self.chain(BinaryOp::Union, &all, span),
            NaryOp::Intersect => self.chain(BinaryOp::Intersect, &all, span),
        }
    }

    /// `a op b op c ..`: from the left as Alloy does, balanced when it is long.
    fn chain(&mut self, op: BinaryOp, all: &[Rx], span: Span) -> Rx {
        if all.len() > LONG_CHAIN {
            let (left, right) = all.split_at(all.len() / 2);
            let left = self.chain(op, left, span);
            let right = self.chain(op, right, span);
            return self.checker.binary(op, left, right, span);
        }
        let mut items = all.iter().cloned();
        let Some(first) = items.next() else {
            return self
                .checker
                .bad(span, type_error(span, "an operand is missing"));
        };
        items.fold(first, |left, right| {
            let span = left.span.to(right.span);
            self.checker.binary(op, left, right, span)
        })
    }

    fn check_let(
        &mut self,
        cx: &mut Context,
        bindings: &[(ast::Name, ast::Expr)],
        body: &ast::Expr,
        span: Span,
    ) -> Rx {
        let mark = cx.mark();
        let mut bound: Vec<(VarId, Rx)> = Vec::new();
        for (name, value) in bindings {
            let value = self.check(cx, value);
            let ty = value.ty.clone();
            let value = self.checker.resolve(&value, &ty, true);
            let var = self
                .checker
                .new_var(&name.text, name.span, value.ty.clone());
            let reference = if value.is_ok() {
                self.checker.var(var, name.span)
            } else {
                self.checker
                    .bad(name.span, super::already_reported(name.span))
            };
            cx.bind(&name.text, reference);
            bound.push((var, value));
        }
        let body = self.check(cx, body);
        cx.release(mark);
        bound.into_iter().rev().fold(body, |body, (var, value)| {
            self.checker.let_in(var, value, body, span)
        })
    }

    fn check_quant(
        &mut self,
        cx: &mut Context,
        quant: Quant,
        decls: &[ast::Decl],
        body: Option<&ast::Expr>,
        span: Span,
    ) -> Rx {
        let mark = cx.mark();
        let checked = self.check_decls(cx, decls);
        let body = match body {
            Some(body) => {
                let body = self.check(cx, body);
                if quant == Quant::Sum {
                    self.checker.resolve_int(&body)
                } else {
                    self.checker.resolve_formula(&body)
                }
            }
            None => self.checker.constant(Const::True, span),
        };
        cx.release(mark);
        let wrong = decls.iter().find_map(|decl| {
            let name = decl.names.first().map_or("", |name| name.text.as_str());
            if decl.is_private {
                Some((
                    decl.span,
                    format!("the variable `{name}` cannot be private"),
                ))
            } else {
                decl.disjoint_values.map(|span| {
                    (
                        span,
                        format!("the variable `{name}` cannot have a `disj` bound"),
                    )
                })
            }
        });
        if let Some((at, message)) = wrong {
            return self
                .checker
                .bad(at, Diagnostic::error("syntax", message).at(at));
        }
        self.checker.quant(quant, checked, &body, span)
    }

    /// Declarations of variables, which are bound in the context afterwards.
    pub(super) fn check_decls(&mut self, cx: &mut Context, decls: &[ast::Decl]) -> Vec<XDecl> {
        let mut checked = Vec::with_capacity(decls.len());
        for decl in decls {
            let bound = self.check_bound(cx, &decl.bound);
            let mut bound = self.checker.resolve_set(&bound);
            if decl.is_defined {
                bound = self
                    .checker
                    .unary(UnaryOp::ExactlyOf, bound, decl.bound.span);
            }
            let bound = self.default_one(&bound);
            let mut vars = Vec::with_capacity(decl.names.len());
            for name in &decl.names {
                let ty = bound.ty.as_relation();
                let var = self.checker.new_var(&name.text, name.span, ty);
                vars.push(var);
            }
            for (name, var) in decl.names.iter().zip(&vars) {
                let reference = if bound.is_ok() {
                    self.checker.var(*var, name.span)
                } else {
                    self.checker
                        .bad(name.span, super::already_reported(name.span))
                };
                cx.bind(&name.text, reference);
            }
            checked.push(XDecl {
                disjoint: decl.disjoint.is_some() && vars.len() > 1,
                vars,
                bound,
                is_var: decl.is_var,
            });
        }
        checked
    }

    /// A set without a multiplicity, as a bound, means one of it.
    pub(super) fn default_one(&mut self, bound: &Rx) -> Rx {
        if bound.is_ok() && bound.mult == Multiplicity::None && bound.ty.arity() == Some(1) {
            let span = bound.span;
            return self.checker.unary(UnaryOp::OneOf, bound.clone(), span);
        }
        bound.clone()
    }
}

/// Operators that mean the same in the text and in the model.
fn binary_op(op: ast::BinaryOp) -> BinaryOp {
    use ast::BinaryOp as A;
    match op {
        A::Iff => BinaryOp::Iff,
        A::Implies => BinaryOp::Implies,
        A::Until => BinaryOp::Until,
        A::Since => BinaryOp::Since,
        A::Triggered => BinaryOp::Triggered,
        A::Releases => BinaryOp::Releases,
        A::Shl => BinaryOp::Shl,
        A::Sha => BinaryOp::Sha,
        A::Shr => BinaryOp::Shr,
        A::Difference => BinaryOp::Difference,
        A::Add => BinaryOp::Add,
        A::Sub => BinaryOp::Sub,
        A::Mul => BinaryOp::Mul,
        A::Div => BinaryOp::Div,
        A::Rem => BinaryOp::Rem,
        A::Override => BinaryOp::Override,
        A::Arrow(a, b) => BinaryOp::Arrow(a, b),
        A::Domain => BinaryOp::Domain,
        A::Range => BinaryOp::Range,
        A::Join => BinaryOp::Join,
        // `a ; b` is taken apart before; the arrow keeps this total.
        A::Then => BinaryOp::Arrow(Mult::Set, Mult::Set),
        A::Compare(op, negated) => match (op, negated) {
            (CompareOp::In, false) => BinaryOp::In,
            (CompareOp::In, true) => BinaryOp::NotIn,
            (CompareOp::Eq, false) => BinaryOp::Eq,
            (CompareOp::Eq, true) => BinaryOp::NotEq,
            (CompareOp::Lt, false) => BinaryOp::Lt,
            (CompareOp::Lt, true) => BinaryOp::NotLt,
            (CompareOp::Lte, false) => BinaryOp::Lte,
            (CompareOp::Lte, true) => BinaryOp::NotLte,
            (CompareOp::Gt, false) => BinaryOp::Gt,
            (CompareOp::Gt, true) => BinaryOp::NotGt,
            (CompareOp::Gte, false) => BinaryOp::Gte,
            (CompareOp::Gte, true) => BinaryOp::NotGte,
        },
    }
}
