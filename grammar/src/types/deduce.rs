//! The type of a call: the declared result, given the types of the arguments.
//!
//! This is what makes `dom[r]` of a relation over `A` a set of `A` and not of everything.

use super::expr::{Kind, Node, Rx};
use super::make::Checker;
use super::product::Type;
use crate::model::{BinaryOp, FuncId, Quant, UnaryOp, VarId, builtin};

impl Checker {
    /// The type of the result of a function for these arguments.
    pub(crate) fn deduce_result(&self, func: FuncId, result: &Rx, args: &[Rx]) -> Type {
        let declared = result.ty.as_relation();
        let params = self.func(func).map_or(&[][..], |info| &info.params);
        let mut env: Vec<(VarId, Type)> = Vec::with_capacity(args.len());
        for (param, arg) in params.iter().zip(args) {
            if let Some(arity) = self.var_type(*param).arity() {
                env.push((*param, arg.ty.extract(arity)));
            }
        }
        let deduced = self.deduce(result, &mut env).as_relation();
        if deduced.arity() != declared.arity() || deduced.has_int() {
            return declared;
        }
        deduced
    }

    fn deduce(&self, x: &Node, env: &mut Vec<(VarId, Type)>) -> Type {
        let h = &self.hierarchy;
        match &x.kind {
            Kind::Var(var) => env
                .iter()
                .rev()
                .find(|(known, ty)| known == var && !ty.is_nothing())
                .map_or_else(|| x.ty.clone(), |(_, ty)| ty.clone()),
            Kind::Ite(_, a, b) => {
                let a = self.deduce(a, env);
                a.union(h, &self.deduce(b, env))
            }
            Kind::Let(var, value, body) => {
                let value = self.deduce(value, env);
                env.push((*var, value));
                let ty = self.deduce(body, env);
                env.pop();
                ty
            }
            Kind::Quant(Quant::Comprehension, decls, _) => {
                let depth = env.len();
                let mut all: Option<Type> = None;
                for decl in decls {
                    let column = self.deduce(&decl.bound, env);
                    for var in &decl.vars {
                        env.push((*var, column.clone()));
                        all = Some(match all {
                            None => column.clone(),
                            Some(all) => all.product(h, &column),
                        });
                    }
                }
                env.truncate(depth);
                all.unwrap_or_default()
            }
            Kind::Unary(op, sub) => {
                let ty = self.deduce(sub, env);
                match op {
                    UnaryOp::SetOf
                    | UnaryOp::SomeOf
                    | UnaryOp::LoneOf
                    | UnaryOp::OneOf
                    | UnaryOp::ExactlyOf
                    | UnaryOp::Prime => ty,
                    UnaryOp::Transpose => ty.transpose(h),
                    UnaryOp::Closure => ty.closure(h),
                    UnaryOp::ReflexiveClosure => Type::pair(builtin::UNIV),
                    _ => x.ty.clone(),
                }
            }
            Kind::Binary(op, a, b) => {
                let (a, b) = (self.deduce(a, env), self.deduce(b, env));
                match op {
                    BinaryOp::Join => a.join(h, &b),
                    BinaryOp::Domain => b.domain_restrict(h, &a),
                    BinaryOp::Range => a.range_restrict(h, &b),
                    BinaryOp::Intersect => a.intersect(h, &b),
                    BinaryOp::Override | BinaryOp::Union => a.union(h, &b),
                    BinaryOp::Difference => a.pick_common_arity(&b),
                    BinaryOp::Arrow(..) | BinaryOp::SeqArrow => a.product(h, &b),
                    _ => x.ty.clone(),
                }
            }
            _ => x.ty.clone(),
        }
    }
}
