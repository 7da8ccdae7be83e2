//! Names applied to arguments: joins told from calls, macros expanded, keywords that are called.

use locus_core::{Diagnostic, Span};

use super::World;
use super::check::Context;
use super::names::as_macro;
use crate::ast::{self, Builtin, ExprKind};
use crate::model::{BinaryOp, ListOp, UnaryOp, builtin};
use crate::types::expr::{Kind, MacroId, Reading, Rx};
use crate::types::make::type_error;

impl World<'_> {
    pub(super) fn check_name(&mut self, cx: &mut Context, name: &str, at: bool, span: Span) -> Rx {
        let found = self.resolve_name(cx, name, at, span);
        match as_macro(&found) {
            Some((id, args)) => {
                let args = args.to_vec();
                self.expand(cx, id, args, span)
            }
            None => found,
        }
    }

    /// The body of a macro with its arguments, once it has all of them.
    fn expand(&mut self, cx: &Context, id: MacroId, args: Vec<Rx>, span: Span) -> Rx {
        let definition = &self.macros[id.0 as usize];
        let name = definition.name.clone();
        if cx.unrolls == 0 {
            return self.checker.bad(
                span,
                type_error(span, format!("the macro `{name}` is expanded too deep"))
                    .help("a macro cannot expand itself; use `fun` or `pred`"),
            );
        }
        if definition.params.len() != args.len() {
            return self.checker.macro_call(id, args, span, &name);
        }
        let mut inner = Context::new(definition.module);
        inner.unrolls = cx.unrolls - 1;
        let params = definition.params.clone();
        let ast = definition.ast.clone();
        let paragraph = definition.paragraph;
        for (param, arg) in params.iter().zip(args) {
            let arg = if as_macro(&arg).is_some() {
                arg
            } else {
                let ty = arg.ty.clone();
                self.checker.resolve(&arg, &ty, true)
            };
            inner.bind(param, arg);
        }
        match ast.paragraphs.get(paragraph).map(|p| &p.kind) {
            Some(ast::ParagraphKind::Macro(m)) => self.check(&mut inner, &m.body),
            _ => self.checker.bad(
                span,
                type_error(span, format!("the macro `{name}` has no body")),
            ),
        }
    }

    pub(super) fn bare_builtin(&mut self, builtin: Builtin, span: Span) -> Rx {
        let (name, example) = match builtin {
            Builtin::Disj => ("disj", "disj[a, b]"),
            Builtin::TotalOrder => ("pred/totalOrder", "pred/totalOrder[set, first, next]"),
            Builtin::Int => ("int", "int[e]"),
            Builtin::Sum => ("sum", "sum[e]"),
        };
        self.checker.bad(
            span,
            Diagnostic::error("syntax", format!("`{name}` needs arguments"))
                .at(span)
                .help(format!("write `{example}`")),
        )
    }

    /// `int e`: the sum of a set, as a set again.
    pub(super) fn int_of(&mut self, x: Rx, span: Span) -> Rx {
        let value = self.checker.unary(UnaryOp::CastToInt, x, span);
        self.checker.unary(UnaryOp::CastToSigInt, value, span)
    }

    pub(super) fn check_box(
        &mut self,
        cx: &mut Context,
        target: &ast::Expr,
        args: &[ast::Expr],
        whole: &ast::Expr,
    ) -> Rx {
        if let Some(result) = self.check_builtin(cx, whole) {
            return result;
        }
        let mut result = self.check(cx, target);
        for arg in args {
            let left = self.check(cx, arg);
            result = self.join(cx, left, result, whole.span);
        }
        result
    }

    /// `disj[..]`, `int[..]` and the others that are keywords.
    pub(super) fn check_builtin(&mut self, cx: &mut Context, x: &ast::Expr) -> Option<Rx> {
        let (builtin, args) = builtin_call(x)?;
        let args: Vec<Rx> = args.into_iter().map(|arg| self.check(cx, arg)).collect();
        Some(match builtin {
            Builtin::Disj => self.checker.list(ListOp::Disjoint, args, x.span),
            Builtin::TotalOrder => self.checker.list(ListOp::TotalOrder, args, x.span),
            Builtin::Int | Builtin::Sum => {
                let mut args = args.into_iter();
                let Some(first) = args.next() else {
                    return Some(self.bare_builtin(builtin, x.span));
                };
                let value = self.int_of(first, x.span);
                args.fold(value, |value, arg| self.join(cx, arg, value, x.span))
            }
        })
    }

    /// `left.right`, which may turn out to be a call.
    pub(super) fn join(&mut self, cx: &Context, left: Rx, right: Rx, span: Span) -> Rx {
        if let Some((id, args)) = as_macro(&right) {
            let mut args = args.to_vec();
            args.push(left);
            return self.expand(cx, id, args, span);
        }
        if left.ty.has_int() && matches!(right.kind, Kind::Sig(builtin::INT)) {
            return left;
        }
        let left = self.checker.as_set(&left);
        match &right.kind {
            Kind::Choice(readings) if left.is_ok() => self.apply(readings, &left, right.span, span),
            _ => self.checker.binary(BinaryOp::Join, left, right, span),
        }
    }

    /// Gives an argument to every reading that still wants one; the others are joined.
    fn apply(&mut self, readings: &[Reading], arg: &Rx, name_span: Span, span: Span) -> Rx {
        let applied = readings
            .iter()
            .map(|reading| {
                let expr = self.apply_one(&reading.expr, arg, span);
                Reading {
                    expr,
                    reason: reading.reason.clone(),
                }
            })
            .collect();
        self.checker.choice(applied, name_span)
    }

    fn apply_one(&mut self, x: &Rx, arg: &Rx, span: Span) -> Rx {
        if let Kind::Choice(readings) = &x.kind
            && let [only] = readings.as_slice()
        {
            return self.apply_one(&only.expr, arg, span);
        }
        if let Kind::BadCall { func, args, extra } = &x.kind {
            let params = self.checker.param_types(*func);
            if args.len() < params.len() {
                let mut args = args.clone();
                args.push(arg.clone());
                let fits = args.len() >= params.len()
                    && params.iter().zip(&args).all(|(param, arg)| {
                        arg.ty.has_common_arity(param)
                            && (!arg.ty.has_tuple()
                                || !param.has_tuple()
                                || arg.ty.intersects(&self.checker.hierarchy, param))
                    });
                return if fits {
                    self.checker.call(*func, &args, *extra, span)
                } else {
                    self.checker.bad_call(*func, args, *extra, span)
                };
            }
        }
        self.checker
            .binary(BinaryOp::Join, arg.clone(), x.clone(), span)
    }
}

/// A keyword applied to arguments by `[ ]` or `.`, and the arguments in order.
fn builtin_call(x: &ast::Expr) -> Option<(Builtin, Vec<&ast::Expr>)> {
    match &x.kind {
        ExprKind::Builtin(builtin) => Some((*builtin, Vec::new())),
        ExprKind::Box(target, args) => {
            let (builtin, mut all) = builtin_call(target)?;
            all.extend(args);
            Some((builtin, all))
        }
        ExprKind::Binary(ast::BinaryOp::Join, left, right) => {
            let (builtin, mut all) = builtin_call(right)?;
            all.push(left);
            Some((builtin, all))
        }
        _ => None,
    }
}
