//! Checked expressions to the model: variables numbered, conversions between a set of integers and
//! its value written out.

use std::collections::HashMap;

use super::World;
use crate::model::{
    BinaryOp, Const, Decl, Expr, ExprKind, Quant, SigId, Type, UnaryOp, Var, VarId, builtin,
};
use crate::types::expr::{Kind, Rx, XDecl};
use crate::types::make::VarInfo;

/// Writes expressions of the model; every binder gets variables of its own.
#[derive(Default)]
pub(super) struct Emitter {
    /// The variable of the model for each variable of the checker.
    vars: HashMap<VarId, VarId>,
    pub(super) out: Vec<Var>,
}

impl World<'_> {
    /// A new variable of the model for a variable of the checker.
    pub(super) fn emit_var(&self, emitter: &mut Emitter, var: VarId, ty: Type) -> VarId {
        let new = VarId(u32::try_from(emitter.out.len()).unwrap_or(u32::MAX));
        let fallback = || VarInfo {
            name: String::new(),
            span: self.file_start(0),
            ty: crate::types::product::Type::empty(),
        };
        let info = self
            .checker
            .vars
            .get(var.index())
            .cloned()
            .unwrap_or_else(fallback);
        emitter.out.push(Var {
            name: info.name,
            span: info.span,
            ty,
        });
        emitter.vars.insert(var, new);
        new
    }

    pub(super) fn emit_formula(&self, emitter: &mut Emitter, x: &Rx) -> Expr {
        self.emit(emitter, x)
    }

    /// As a set or relation.
    pub(super) fn emit_set(&self, emitter: &mut Emitter, x: &Rx) -> Expr {
        to_set(self.emit(emitter, x))
    }

    fn emit_int(&self, emitter: &mut Emitter, x: &Rx) -> Expr {
        to_int(self.emit(emitter, x))
    }

    /// Declarations of variables, numbered anew.
    pub(super) fn emit_decls(&self, emitter: &mut Emitter, decls: &[XDecl]) -> Vec<Decl> {
        decls
            .iter()
            .map(|decl| {
                let bound = self.emit_set(emitter, &decl.bound);
                let vars = decl
                    .vars
                    .iter()
                    .map(|var| {
                        let ty = self.checker.var_type(*var).as_relation().to_model();
                        self.emit_var(emitter, *var, ty)
                    })
                    .collect();
                Decl {
                    vars,
                    bound,
                    disjoint: decl.disjoint,
                    is_var: decl.is_var,
                }
            })
            .collect()
    }

    fn emit(&self, emitter: &mut Emitter, x: &Rx) -> Expr {
        let span = x.span;
        let relation = || x.ty.as_relation().to_model();
        let (kind, ty) = match &x.kind {
            Kind::Sig(sig) => (ExprKind::Sig(*sig), relation()),
            Kind::Field(field) => (ExprKind::Field(*field), relation()),
            Kind::Var(var) => {
                let new = emitter.vars.get(var).copied().unwrap_or(*var);
                let ty = emitter.out.get(new.index()).map(|var| var.ty.clone());
                (ExprKind::Var(new), ty.unwrap_or_default())
            }
            Kind::Const(constant) => {
                let ty = match constant {
                    Const::True | Const::False => Type::formula(),
                    Const::Int(_) | Const::MinInt | Const::MaxInt => Type::int(),
                    Const::Iden | Const::Str(_) | Const::NextInt => relation(),
                };
                (ExprKind::Const(constant.clone()), ty)
            }
            Kind::Unary(op, sub) => {
                let (sub, ty) = match op {
                    UnaryOp::Not
                    | UnaryOp::Always
                    | UnaryOp::Eventually
                    | UnaryOp::After
                    | UnaryOp::Before
                    | UnaryOp::Historically
                    | UnaryOp::Once => (self.emit_formula(emitter, sub), Type::formula()),
                    UnaryOp::No | UnaryOp::Some | UnaryOp::Lone | UnaryOp::One => {
                        (self.emit_set(emitter, sub), Type::formula())
                    }
                    UnaryOp::Card => (self.emit_set(emitter, sub), Type::int()),
                    UnaryOp::CastToInt => return self.emit_int(emitter, sub),
                    UnaryOp::CastToSigInt => return to_set(self.emit_int(emitter, sub)),
                    UnaryOp::SetOf
                    | UnaryOp::SomeOf
                    | UnaryOp::LoneOf
                    | UnaryOp::OneOf
                    | UnaryOp::ExactlyOf
                    | UnaryOp::Transpose
                    | UnaryOp::Closure
                    | UnaryOp::ReflexiveClosure
                    | UnaryOp::Prime => (self.emit_set(emitter, sub), relation()),
                };
                (ExprKind::Unary(*op, Box::new(sub)), ty)
            }
            Kind::Binary(op, a, b) => return self.emit_binary(emitter, x, *op, a, b),
            Kind::List(op, args) => {
                let args = args.iter().map(|arg| match op {
                    crate::model::ListOp::And | crate::model::ListOp::Or => {
                        self.emit_formula(emitter, arg)
                    }
                    _ => self.emit_set(emitter, arg),
                });
                let args = args.collect();
                (ExprKind::List(*op, args), Type::formula())
            }
            Kind::Ite(cond, then, other) => return self.emit_ite(emitter, x, [cond, then, other]),
            Kind::Let(var, value, body) => {
                let value = self.emit(emitter, value);
                let var = self.emit_var(emitter, *var, value.ty.clone());
                let body = self.emit(emitter, body);
                let ty = body.ty.clone();
                let kind = ExprKind::Let {
                    var,
                    value: Box::new(value),
                    body: Box::new(body),
                };
                (kind, ty)
            }
            Kind::Quant(quant, decls, body) => {
                let decls = self.emit_decls(emitter, decls);
                let (body, ty) = match quant {
                    Quant::Sum => (self.emit_int(emitter, body), Type::int()),
                    Quant::Comprehension => (self.emit_formula(emitter, body), relation()),
                    _ => (self.emit_formula(emitter, body), Type::formula()),
                };
                let kind = ExprKind::Quant {
                    quant: *quant,
                    decls,
                    body: Box::new(body),
                };
                (kind, ty)
            }
            Kind::Call { func, args, .. } => {
                let args = args.iter().map(|arg| self.emit_set(emitter, arg)).collect();
                let is_pred = self.checker.func(*func).is_some_and(|info| info.is_pred);
                let ty = if is_pred { Type::formula() } else { relation() };
                (ExprKind::Call { func: *func, args }, ty)
            }
            // Never reached without errors, and with errors there is no model.
            Kind::BadCall { .. }
            | Kind::BadJoin
            | Kind::Choice(_)
            | Kind::Macro(..)
            | Kind::Bad => (ExprKind::Sig(builtin::NONE), relation()),
        };
        Expr { kind, ty, span }
    }

    fn emit_binary(&self, emitter: &mut Emitter, x: &Rx, op: BinaryOp, a: &Rx, b: &Rx) -> Expr {
        use BinaryOp as B;
        let a = self.emit(emitter, a);
        let b = self.emit(emitter, b);
        let (a, b, ty) = match op {
            B::Lt | B::Lte | B::Gt | B::Gte | B::NotLt | B::NotLte | B::NotGt | B::NotGte => {
                (to_int(a), to_int(b), Type::formula())
            }
            B::Add | B::Sub | B::Mul | B::Div | B::Rem | B::Shl | B::Sha | B::Shr => {
                (to_int(a), to_int(b), Type::int())
            }
            B::Implies | B::Iff | B::Until | B::Releases | B::Since | B::Triggered => {
                (a, b, Type::formula())
            }
            B::Eq | B::NotEq if is_integer(&a) && is_integer(&b) => {
                (to_int(a), to_int(b), Type::formula())
            }
            B::Eq | B::NotEq | B::In | B::NotIn => (to_set(a), to_set(b), Type::formula()),
            _ => (to_set(a), to_set(b), x.ty.as_relation().to_model()),
        };
        Expr {
            kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
            ty,
            span: x.span,
        }
    }

    fn emit_ite(&self, emitter: &mut Emitter, x: &Rx, parts: [&Rx; 3]) -> Expr {
        let [cond, then, other] = parts.map(|part| self.emit(emitter, part));
        let (then, other) = if then.ty.is_bool {
            (then, other)
        } else if is_integer(&then) && is_integer(&other)
            || then.ty.is_int && !matches!(then.kind, ExprKind::Const(_))
        {
            // A computed value decides the kind, as in Alloy; a literal takes that of the other.
            (to_int(then), to_int(other))
        } else {
            (to_set(then), to_set(other))
        };
        let ty = if then.ty.is_bool {
            Type::formula()
        } else if then.ty.is_int {
            Type::int()
        } else {
            x.ty.as_relation().to_model()
        };
        Expr {
            kind: ExprKind::Ite(Box::new(cond), Box::new(then), Box::new(other)),
            ty,
            span: x.span,
        }
    }

    /// The variable `this` of a signature.
    pub(super) fn emit_this(&self, emitter: &mut Emitter, sig: SigId, var: VarId) -> VarId {
        let ty = self.checker.sig_type(sig).to_model();
        self.emit_var(emitter, var, ty)
    }
}

/// An integer value, or the singleton set of one.
fn is_integer(x: &Expr) -> bool {
    x.ty.is_int || matches!(x.kind, ExprKind::Unary(UnaryOp::CastToSigInt, _))
}

fn to_set(x: Expr) -> Expr {
    if !x.ty.is_int {
        return x;
    }
    let span = x.span;
    Expr {
        kind: ExprKind::Unary(UnaryOp::CastToSigInt, Box::new(x)),
        ty: Type {
            products: vec![vec![builtin::INT]],
            ..Type::default()
        },
        span,
    }
}

fn to_int(x: Expr) -> Expr {
    if x.ty.is_int {
        return x;
    }
    let span = x.span;
    match x.kind {
        ExprKind::Unary(UnaryOp::CastToSigInt, value) => *value,
        kind => Expr {
            kind: ExprKind::Unary(
                UnaryOp::CastToInt,
                Box::new(Expr {
                    kind,
                    ty: x.ty,
                    span,
                }),
            ),
            ty: Type::int(),
            span,
        },
    }
}
