//! Terms as text, for tests that fail.

use std::fmt::Write;

use crate::problem::{
    Decl, Expr, ExprNode, Formula, FormulaNode, Int, IntNode, Problem, RelationId, Terms,
};

/// A problem as text.
pub(crate) fn problem(problem: &Problem) -> String {
    let mut out = String::new();
    for (at, relation) in problem.relations.iter().enumerate() {
        let _ = writeln!(
            out,
            "R{at} {}/{}: {:?} .. {:?}",
            relation.name,
            relation.upper.arity(),
            relation.lower.indices(),
            relation.upper.indices()
        );
    }
    let _ = writeln!(out, "ints {:?}", problem.ints);
    for constraint in &problem.constraints {
        let _ = writeln!(out, "  {}", formula(&problem.terms, constraint.formula));
    }
    out
}

fn decls(terms: &Terms, decls: &[Decl]) -> String {
    let decls: Vec<String> = decls
        .iter()
        .map(|decl| {
            format!(
                "{}:{:?} {}",
                terms.var_name(decl.var),
                decl.mult,
                expr(terms, decl.bound)
            )
        })
        .collect();
    decls.join(", ")
}

fn exprs(terms: &Terms, parts: &[Expr], by: &str) -> String {
    let parts: Vec<String> = parts.iter().map(|&part| expr(terms, part)).collect();
    format!("({})", parts.join(by))
}

pub(crate) fn expr(terms: &Terms, e: Expr) -> String {
    match terms.expr(e) {
        ExprNode::Relation(RelationId(id)) => format!("R{id}"),
        ExprNode::Var(var) => terms.var_name(*var).to_string(),
        ExprNode::Tuple(tuple) => format!("{:?}", tuple.iter().map(|a| a.0).collect::<Vec<_>>()),
        ExprNode::None(_) => "none".into(),
        ExprNode::Univ => "univ".into(),
        ExprNode::Iden => "iden".into(),
        ExprNode::Ints => "Int".into(),
        ExprNode::Union(parts) => exprs(terms, parts, "+"),
        ExprNode::Intersection(parts) => exprs(terms, parts, "&"),
        ExprNode::Difference(a, b) => exprs(terms, &[*a, *b], "-"),
        ExprNode::Override(a, b) => exprs(terms, &[*a, *b], "++"),
        ExprNode::Join(a, b) => exprs(terms, &[*a, *b], "."),
        ExprNode::Product(a, b) => exprs(terms, &[*a, *b], "->"),
        ExprNode::Transpose(a) => format!("~{}", expr(terms, *a)),
        ExprNode::Closure(a) => format!("^{}", expr(terms, *a)),
        ExprNode::ReflexiveClosure(a) => format!("*{}", expr(terms, *a)),
        ExprNode::Ite(c, a, b) => format!(
            "({} ? {} : {})",
            formula(terms, *c),
            expr(terms, *a),
            expr(terms, *b)
        ),
        ExprNode::Comprehension(d, body) => {
            format!("{{{} | {}}}", decls(terms, d), formula(terms, *body))
        }
        ExprNode::IntAtom(i) => format!("Int[{}]", int(terms, *i)),
    }
}

pub(crate) fn formula(terms: &Terms, f: Formula) -> String {
    let all = |parts: &[Formula], by: &str| {
        let parts: Vec<String> = parts.iter().map(|&part| formula(terms, part)).collect();
        format!("({})", parts.join(by))
    };
    match terms.formula(f) {
        FormulaNode::True => "true".into(),
        FormulaNode::False => "false".into(),
        FormulaNode::Not(a) => format!("!{}", formula(terms, *a)),
        FormulaNode::And(parts) => all(parts, " and "),
        FormulaNode::Or(parts) => all(parts, " or "),
        FormulaNode::Implies(a, b) => all(&[*a, *b], " => "),
        FormulaNode::Iff(a, b) => all(&[*a, *b], " <=> "),
        FormulaNode::Subset(a, b) => exprs(terms, &[*a, *b], " in "),
        FormulaNode::Equal(a, b) => exprs(terms, &[*a, *b], " = "),
        FormulaNode::Count(a, count) => format!("{count:?} {}", expr(terms, *a)),
        FormulaNode::Quant(quant, d, body) => {
            format!(
                "({quant:?} {} | {})",
                decls(terms, d),
                formula(terms, *body)
            )
        }
        FormulaNode::IntCmp(cmp, a, b) => {
            format!("({} {cmp:?} {})", int(terms, *a), int(terms, *b))
        }
        FormulaNode::TotalOrder { elem, first, next } => {
            format!("order{}", exprs(terms, &[*elem, *first, *next], ", "))
        }
    }
}

fn int(terms: &Terms, i: Int) -> String {
    match terms.int(i) {
        IntNode::Const(value) => value.to_string(),
        IntNode::Card(a) => format!("#{}", expr(terms, *a)),
        IntNode::SumOf(a) => format!("sum({})", expr(terms, *a)),
        IntNode::Sum(d, body) => format!("(sum {} | {})", decls(terms, d), int(terms, *body)),
        IntNode::Neg(a) => format!("-{}", int(terms, *a)),
        IntNode::Op(op, a, b) => format!("({} {op:?} {})", int(terms, *a), int(terms, *b)),
        IntNode::Ite(c, a, b) => format!(
            "({} ? {} : {})",
            formula(terms, *c),
            int(terms, *a),
            int(terms, *b)
        ),
    }
}
