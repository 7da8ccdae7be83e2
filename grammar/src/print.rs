//! Syntax trees back to text.
//!
//! The text parses to the same tree; parentheses are put only where precedence needs them. Comments
//! are not part of the tree: to keep them, use [`crate::format`].

use std::fmt::Write as _;

use crate::ast::{
    BinaryOp, Builtin, Command, CompareOp, Decl, Expr, ExprKind, Func, IntConst, Module, Mult,
    Name, NaryOp, Paragraph, ParagraphKind, Quant, Sig, SigParent, Target, TypeScope, UnaryOp,
};
use crate::precedence as level;

/// The text of a module.
pub fn module(module: &Module) -> String {
    let mut out = String::new();
    for (at, item) in module.paragraphs.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        paragraph(&mut out, item);
    }
    out
}

/// The text of an expression.
pub fn expression(x: &Expr) -> String {
    let mut out = String::new();
    expr(&mut out, x, level::THEN);
    out
}

fn paragraph(out: &mut String, item: &Paragraph) {
    if let Some(doc) = &item.doc {
        out.push_str("/** ");
        out.push_str(&doc.replace("*/", "* /").replace('\n', "\n * "));
        out.push_str(" */\n");
    }
    match &item.kind {
        ParagraphKind::Header(header) => {
            let _ = write!(out, "module {}", header.name.text);
            let params: Vec<String> = header
                .params
                .iter()
                .map(|(name, exact)| {
                    let exactly = if *exact { "exactly " } else { "" };
                    format!("{exactly}{}", name.text)
                })
                .collect();
            if !params.is_empty() {
                let _ = write!(out, "[{}]", params.join(", "));
            }
        }
        ParagraphKind::Open(open) => {
            private(out, open.is_private);
            let _ = write!(out, "open {}", open.name.text);
            if !open.args.is_empty() {
                let _ = write!(out, "[{}]", names(&open.args));
            }
            if let Some(alias) = &open.alias {
                let _ = write!(out, " as {}", alias.text);
            }
        }
        ParagraphKind::Enum(e) => {
            private(out, e.is_private);
            let _ = write!(out, "enum {} {{ {} }}", e.name.text, names(&e.values));
        }
        ParagraphKind::Sig(item) => sig(out, item),
        ParagraphKind::Fact(named) => {
            out.push_str("fact ");
            title(out, named.name.as_ref());
            expr(out, &named.body, level::ATOM);
        }
        ParagraphKind::Assert(named) => {
            out.push_str("assert ");
            title(out, named.name.as_ref());
            expr(out, &named.body, level::ATOM);
        }
        ParagraphKind::Func(item) => func(out, item),
        ParagraphKind::Macro(item) => {
            private(out, item.is_private);
            let _ = write!(out, "let {}", item.name.text);
            if !item.params.is_empty() {
                let _ = write!(out, "[{}]", names(&item.params));
            }
            if matches!(item.body.kind, ExprKind::Block(_)) {
                out.push(' ');
            } else {
                out.push_str(" = ");
            }
            expr(out, &item.body, level::THEN);
        }
        ParagraphKind::Command(chain) => {
            for (at, item) in chain.iter().enumerate() {
                if at > 0 {
                    out.push_str(" => ");
                }
                command(out, item);
            }
        }
    }
    out.push('\n');
}

fn private(out: &mut String, is_private: bool) {
    if is_private {
        out.push_str("private ");
    }
}

fn names(all: &[Name]) -> String {
    let all: Vec<&str> = all.iter().map(|name| name.text.as_str()).collect();
    all.join(", ")
}

/// The name of a fact or assertion; a string when it is not a plain name.
fn title(out: &mut String, name: Option<&Name>) {
    let Some(name) = name else { return };
    let plain = name
        .text
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '"' | '/'))
        && !name.text.starts_with(|c: char| c.is_numeric() || c == '"');
    if plain {
        out.push_str(&name.text);
    } else {
        string(out, &name.text);
    }
    out.push(' ');
}

fn sig(out: &mut String, item: &Sig) {
    private(out, item.is_private);
    for (flag, word) in [(item.is_var, "var "), (item.is_abstract, "abstract ")] {
        if flag {
            out.push_str(word);
        }
    }
    for (mult, _) in &item.mults {
        out.push_str(mult.word());
        out.push(' ');
    }
    let _ = write!(out, "sig {}", names(&item.names));
    let union = |all: &[Name]| {
        let all: Vec<&str> = all.iter().map(|name| name.text.as_str()).collect();
        all.join(" + ")
    };
    match &item.parent {
        SigParent::None => {}
        SigParent::Extends(parent) => {
            let _ = write!(out, " extends {}", parent.text);
        }
        SigParent::In(parents) => {
            let _ = write!(out, " in {}", union(parents));
        }
        SigParent::Equals(parents) => {
            let _ = write!(out, " = {}", union(parents));
        }
    }
    out.push_str(" {");
    for (at, field) in item.fields.iter().enumerate() {
        out.push_str(if at > 0 { ",\n  " } else { "\n  " });
        decl(out, field);
    }
    if !item.fields.is_empty() {
        out.push('\n');
    }
    out.push('}');
    if let Some(fact) = &item.fact {
        out.push(' ');
        expr(out, fact, level::ATOM);
    }
}

fn func(out: &mut String, item: &Func) {
    private(out, item.is_private);
    out.push_str(if item.result.is_some() {
        "fun "
    } else {
        "pred "
    });
    if let Some(receiver) = &item.receiver {
        let _ = write!(out, "{}.", receiver.text);
    }
    out.push_str(&item.name.text);
    if !item.params.is_empty() {
        out.push('[');
        decls(out, &item.params);
        out.push(']');
    }
    if let Some(result) = &item.result {
        out.push_str(": ");
        bound(out, result);
    }
    out.push(' ');
    expr(out, &item.body, level::ATOM);
}

fn command(out: &mut String, item: &Command) {
    out.push_str(if item.is_check { "check" } else { "run" });
    if let Some(label) = &item.label {
        let _ = write!(out, " {}", label.text);
    }
    match &item.target {
        Target::Name(name) => {
            let _ = write!(out, " {}", name.text);
        }
        Target::Block(block) => {
            out.push(' ');
            expr(out, block, level::ATOM);
        }
    }
    let scopes: Vec<String> = item.scope.sigs.iter().map(typescope).collect();
    match (item.scope.overall, scopes.is_empty()) {
        (Some(n), true) => {
            let _ = write!(out, " for {n}");
        }
        (Some(n), false) => {
            let _ = write!(out, " for {n} but {}", scopes.join(", "));
        }
        (None, false) => {
            let _ = write!(out, " for {}", scopes.join(", "));
        }
        (None, true) => {}
    }
    if let Some(expect) = item.expect {
        let _ = write!(out, " expect {expect}");
    }
}

fn typescope(scope: &TypeScope) -> String {
    let mut out = String::new();
    if scope.exact {
        out.push_str("exactly ");
    }
    let _ = write!(out, "{}", scope.start);
    match scope.end {
        None => {}
        Some(None) => out.push_str(".."),
        Some(Some(end)) => {
            let _ = write!(out, "..{end}");
        }
    }
    if let Some(step) = scope.step {
        let _ = write!(out, ":{step}");
    }
    let _ = write!(out, " {}", scope.target.text);
    out
}

fn decls(out: &mut String, all: &[Decl]) {
    for (at, item) in all.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        decl(out, item);
    }
}

fn decl(out: &mut String, item: &Decl) {
    if item.is_var {
        out.push_str("var ");
    }
    private(out, item.is_private);
    if item.disjoint.is_some() {
        out.push_str("disj ");
    }
    out.push_str(&names(&item.names));
    out.push_str(if item.is_defined { " = " } else { ": " });
    if item.disjoint_values.is_some() {
        out.push_str("disj ");
    }
    if item.is_defined {
        expr(out, &item.bound, level::OR);
    } else {
        bound(out, &item.bound);
    }
}

/// What follows a colon: its first word is a multiplicity, never a quantifier. Further in, `some x, y: A`
/// would be one, should another declaration follow.
fn bound(out: &mut String, x: &Expr) {
    let inner = match &x.kind {
        ExprKind::Unary(op, sub) if is_quantity(*op) => sub,
        _ => x,
    };
    // `a: disj[b]` would be a bound `[b]` after `disj`.
    let starts_with_disj = text_of(x, level::OR).starts_with("disj");
    if matches!(x.kind, ExprKind::Quant(..)) || has_quantity(inner) || starts_with_disj {
        parens(out, x);
    } else {
        expr(out, x, level::OR);
    }
}

fn is_quantity(op: UnaryOp) -> bool {
    matches!(
        op,
        UnaryOp::No | UnaryOp::Some | UnaryOp::Lone | UnaryOp::One | UnaryOp::Sum
    )
}

fn has_quantity(x: &Expr) -> bool {
    matches!(x.kind, ExprKind::Unary(op, _) if is_quantity(op))
        || x.parts().into_iter().any(has_quantity)
}

fn parens(out: &mut String, x: &Expr) {
    out.push('(');
    expr(out, x, level::THEN);
    out.push(')');
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The text of an expression where operators must bind at least this tight.
fn expr(out: &mut String, x: &Expr, tight: u8) {
    // A quantifier takes all that follows, so it stands in parentheses unless it stands alone.
    if strength(x) < tight {
        parens(out, x);
        return;
    }
    match &x.kind {
        ExprKind::Name(name) => out.push_str(name),
        ExprKind::At(name) => {
            let _ = write!(out, "@{name}");
        }
        ExprKind::Number(n) => {
            let _ = write!(out, "{n}");
        }
        ExprKind::Str(text) => string(out, text),
        ExprKind::IntConst(which) => out.push_str(match which {
            IntConst::Min => "fun/min",
            IntConst::Max => "fun/max",
            IntConst::Next => "fun/next",
        }),
        ExprKind::Builtin(which) => out.push_str(match which {
            Builtin::Disj => "disj",
            Builtin::TotalOrder => "pred/totalOrder",
            Builtin::Int => "int",
            Builtin::Sum => "sum",
        }),
        ExprKind::Unary(op, sub) => unary(out, *op, sub),
        ExprKind::Binary(op, a, b) => binary(out, *op, a, b),
        ExprKind::Nary(op, all) => {
            let (word, strength) = nary_op(*op);
            for (at, item) in all.iter().enumerate() {
                if at > 0 {
                    let _ = write!(out, " {word} ");
                }
                expr(out, item, strength + 1);
            }
        }
        ExprKind::Box(target, args) => {
            expr(out, target, level::JOIN);
            out.push('[');
            for (at, arg) in args.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                expr(out, arg, level::THEN);
            }
            out.push(']');
        }
        ExprKind::Ite(cond, then, other) => {
            expr(out, cond, level::AND);
            out.push_str(" implies ");
            // An `else` belongs to the nearest `implies`.
            let open = if matches!(
                then.kind,
                ExprKind::Binary(BinaryOp::Implies, ..) | ExprKind::Ite(..)
            ) {
                level::AND
            } else {
                level::IMPLIES
            };
            expr(out, then, open);
            out.push_str(" else ");
            expr(out, other, level::IMPLIES);
        }
        ExprKind::Let(bindings, body) => {
            out.push_str("let ");
            for (at, (name, value)) in bindings.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                let _ = write!(out, "{} = ", name.text);
                expr(out, value, level::OR);
            }
            out.push_str(" | ");
            body_expr(out, body);
        }
        ExprKind::Quant(quant, all, body) => {
            out.push_str(match quant {
                Quant::All => "all ",
                Quant::No => "no ",
                Quant::Some => "some ",
                Quant::Lone => "lone ",
                Quant::One => "one ",
                Quant::Sum => "sum ",
            });
            decls(out, all);
            out.push_str(" | ");
            body_expr(out, body);
        }
        ExprKind::Comprehension(all, body) => {
            out.push_str("{ ");
            decls(out, all);
            if let Some(body) = body {
                out.push_str(" | ");
                expr(out, body, level::THEN);
            }
            out.push_str(" }");
        }
        ExprKind::Block(all) => {
            out.push_str("{ ");
            for item in all {
                // Side by side, one must not be read as going on with the one before.
                if starts_like_operator(item) {
                    parens(out, item);
                } else {
                    expr(out, item, level::THEN);
                }
                out.push('\n');
            }
            out.push('}');
        }
    }
}

fn text_of(x: &Expr, tight: u8) -> String {
    let mut text = String::new();
    expr(&mut text, x, tight);
    text
}

fn body_expr(out: &mut String, body: &Expr) {
    expr(out, body, level::OR);
}

/// Whether the text of an expression could be read as going on with the expression before it.
fn starts_like_operator(x: &Expr) -> bool {
    text_of(x, level::THEN).starts_with(['-', '['])
}

/// How tight the outermost operator of an expression binds.
fn strength(x: &Expr) -> u8 {
    match &x.kind {
        ExprKind::Unary(op, _) => unary_op(*op).1,
        ExprKind::Binary(op, ..) => binary_op(*op).1,
        ExprKind::Nary(op, _) => nary_op(*op).1,
        ExprKind::Box(..) => level::JOIN,
        ExprKind::Ite(..) => level::IMPLIES,
        ExprKind::Let(..) | ExprKind::Quant(..) => level::OR,
        _ => level::ATOM,
    }
}

fn unary(out: &mut String, op: UnaryOp, sub: &Expr) {
    let (word, strength, operand) = unary_op(op);
    if op == UnaryOp::Prime {
        expr(out, sub, strength);
        out.push('\'');
        return;
    }
    out.push_str(word);
    if word.starts_with(char::is_alphabetic) {
        out.push(' ');
    }
    expr(out, sub, operand);
}

fn binary(out: &mut String, op: BinaryOp, a: &Expr, b: &Expr) {
    let (word, strength) = binary_op(op);
    let (left, right) = match op {
        BinaryOp::Then | BinaryOp::Arrow(..) | BinaryOp::Implies => (strength + 1, strength),
        _ => (strength, strength + 1),
    };
    expr(out, a, left);
    if op == BinaryOp::Join {
        out.push('.');
    } else {
        let _ = write!(out, " {word} ");
    }
    expr(out, b, right);
}

fn unary_op(op: UnaryOp) -> (&'static str, u8, u8) {
    let not = |word| (word, level::NOT, level::NOT);
    let quantity = |word| (word, level::COMPARE, level::SHIFT);
    let count = |word| (word, level::COUNT, level::COUNT);
    let tight = |word| (word, level::UNARY, level::UNARY);
    match op {
        UnaryOp::Not => not("not"),
        UnaryOp::Always => not("always"),
        UnaryOp::Eventually => not("eventually"),
        UnaryOp::After => not("after"),
        UnaryOp::Before => not("before"),
        UnaryOp::Historically => not("historically"),
        UnaryOp::Once => not("once"),
        UnaryOp::No => quantity("no"),
        UnaryOp::Some => quantity("some"),
        UnaryOp::Lone => quantity("lone"),
        UnaryOp::One => quantity("one"),
        UnaryOp::Set => quantity("set"),
        UnaryOp::Seq => quantity("seq"),
        UnaryOp::Card => count("#"),
        UnaryOp::Sum => count("sum"),
        UnaryOp::Int => count("int"),
        UnaryOp::Transpose => tight("~"),
        UnaryOp::Closure => tight("^"),
        UnaryOp::ReflexiveClosure => tight("*"),
        UnaryOp::Prime => ("'", level::PRIME, level::PRIME),
    }
}

fn nary_op(op: NaryOp) -> (&'static str, u8) {
    match op {
        NaryOp::Or => ("or", level::OR),
        NaryOp::And => ("and", level::AND),
        NaryOp::Union => ("+", level::ADD),
        NaryOp::Intersect => ("&", level::INTERSECT),
    }
}

fn binary_op(op: BinaryOp) -> (String, u8) {
    let (word, strength) = match op {
        BinaryOp::Then => (";", level::THEN),
        BinaryOp::Iff => ("iff", level::IFF),
        BinaryOp::Implies => ("implies", level::IMPLIES),
        BinaryOp::Until => ("until", level::TEMPORAL),
        BinaryOp::Since => ("since", level::TEMPORAL),
        BinaryOp::Triggered => ("triggered", level::TEMPORAL),
        BinaryOp::Releases => ("releases", level::TEMPORAL),
        BinaryOp::Compare(op, negated) => {
            let word = match op {
                CompareOp::In => "in",
                CompareOp::Eq => "=",
                CompareOp::Lt => "<",
                CompareOp::Lte => "<=",
                CompareOp::Gt => ">",
                CompareOp::Gte => ">=",
            };
            let word = match (negated, op) {
                (false, _) => word.to_owned(),
                (true, CompareOp::Eq) => "!=".to_owned(),
                (true, _) => format!("not {word}"),
            };
            return (word, level::COMPARE);
        }
        BinaryOp::Shl => ("<<", level::SHIFT),
        BinaryOp::Sha => (">>", level::SHIFT),
        BinaryOp::Shr => (">>>", level::SHIFT),
        BinaryOp::Difference => ("-", level::ADD),
        BinaryOp::Add => ("fun/add", level::ADD),
        BinaryOp::Sub => ("fun/sub", level::ADD),
        BinaryOp::Mul => ("fun/mul", level::MUL),
        BinaryOp::Div => ("fun/div", level::MUL),
        BinaryOp::Rem => ("fun/rem", level::MUL),
        BinaryOp::Override => ("++", level::OVERRIDE),
        BinaryOp::Arrow(a, b) => {
            let side = |mult: Mult| if mult == Mult::Set { "" } else { mult.word() };
            let word = format!("{} -> {}", side(a), side(b));
            return (word.trim().to_owned(), level::ARROW);
        }
        BinaryOp::Domain => ("<:", level::DOMAIN),
        BinaryOp::Range => (":>", level::RANGE),
        BinaryOp::Join => (".", level::JOIN),
    };
    (word.to_owned(), strength)
}
