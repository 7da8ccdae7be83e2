//! Behaviour over time is not evaluated yet; a command that needs it says so.

use std::collections::HashSet;

use locus_core::{Diagnostic, Span};
use locus_grammar::model::{BinaryOp, Command, Decl, Expr, ExprKind, FuncId, Model, UnaryOp};

use super::Refusal;

/// Visits every expression that matters to a command: its formula, all facts, what declarations
/// say, and the functions that these call.
pub(super) fn each_expr(model: &Model, command: &Command, visit: &mut dyn FnMut(&Expr)) {
    let mut seen = HashSet::new();
    let mut todo: Vec<FuncId> = Vec::new();
    let mut walk = |expr: &Expr, todo: &mut Vec<FuncId>| {
        walk_expr(expr, &mut |expr| {
            if let ExprKind::Call { func, .. } = expr.kind
                && seen.insert(func)
            {
                todo.push(func);
            }
            visit(expr);
        });
    };
    walk(&command.formula, &mut todo);
    for fact in &model.facts {
        walk(&fact.body, &mut todo);
    }
    for sig in &model.sigs {
        for fact in &sig.facts {
            walk(fact, &mut todo);
        }
    }
    for field in &model.fields {
        walk(&field.bound, &mut todo);
    }
    while let Some(func) = todo.pop() {
        let func = model.func(func);
        for decl in &func.params {
            walk(&decl.bound, &mut todo);
        }
        walk(&func.body, &mut todo);
    }
}

fn walk_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    let decls = |decls: &[Decl], visit: &mut dyn FnMut(&Expr)| {
        for decl in decls {
            walk_expr(&decl.bound, visit);
        }
    };
    match &expr.kind {
        ExprKind::Sig(_) | ExprKind::Field(_) | ExprKind::Var(_) | ExprKind::Const(_) => {}
        ExprKind::Unary(_, operand) => walk_expr(operand, visit),
        ExprKind::Binary(_, left, right) => {
            walk_expr(left, visit);
            walk_expr(right, visit);
        }
        ExprKind::List(_, operands) | ExprKind::Call { args: operands, .. } => {
            for operand in operands {
                walk_expr(operand, visit);
            }
        }
        ExprKind::Ite(condition, then, otherwise) => {
            walk_expr(condition, visit);
            walk_expr(then, visit);
            walk_expr(otherwise, visit);
        }
        ExprKind::Let { value, body, .. } => {
            walk_expr(value, visit);
            walk_expr(body, visit);
        }
        ExprKind::Quant {
            decls: list, body, ..
        } => {
            decls(list, visit);
            walk_expr(body, visit);
        }
    }
}

/// Refuses a command whose meaning depends on time.
pub(super) fn refuse(model: &Model, command: &Command) -> Result<(), Refusal> {
    let mut found: Option<(Span, &str)> = None;
    for sig in &model.sigs {
        if sig.is_var {
            found.get_or_insert((sig.span, "this signature changes over time"));
        }
    }
    for field in &model.fields {
        if field.is_var {
            found.get_or_insert((field.span, "this field changes over time"));
        }
    }
    each_expr(model, command, &mut |expr| {
        let temporal = match expr.kind {
            ExprKind::Unary(op, _) => matches!(
                op,
                UnaryOp::Prime
                    | UnaryOp::Always
                    | UnaryOp::Eventually
                    | UnaryOp::After
                    | UnaryOp::Before
                    | UnaryOp::Historically
                    | UnaryOp::Once
            ),
            ExprKind::Binary(op, _, _) => matches!(
                op,
                BinaryOp::Until | BinaryOp::Releases | BinaryOp::Since | BinaryOp::Triggered
            ),
            _ => false,
        };
        if temporal {
            found.get_or_insert((expr.span, "this speaks of other points in time"));
        }
    });
    if let Some((span, what)) = found {
        return Err(Box::new(
            Diagnostic::error("temporal", "behaviour over time cannot be evaluated yet")
                .label(span, what)
                .help("the file is read and type-checked; only its commands are not answered"),
        ));
    }
    if command.steps.is_some() {
        return Err(Box::new(
            Diagnostic::error("scope", "a model in which nothing changes has no `steps`")
                .at(command.span)
                .help("remove the scope of `steps`"),
        ));
    }
    Ok(())
}
