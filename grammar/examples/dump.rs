//! Prints the resolved model of each file, one line for each declaration: `dump FILE..`.
//!
//! Conversions between integers and sets of integers are left out, so that the output can be
//! compared with that of other readers of the language.

use std::fmt::Write as _;
use std::path::Path;

use locus_core::{Severity, Sources};
use locus_grammar::model::{
    BinaryOp, Command, Const, Decl, Expr, ExprKind, ListOp, Model, Mult, Quant, SigKind, Type,
    UnaryOp,
};
use locus_grammar::{Loader, read};

struct Files;

impl Loader for Files {
    fn load(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(Path::new(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn main() {
    for path in std::env::args().skip(1) {
        println!("FILE {path}");
        let Some(text) = Files.load(&path) else {
            println!("error: cannot be read");
            continue;
        };
        let mut sources = Sources::new();
        let reading = read(&path, &text, &mut sources, &Files);
        if let Some(model) = &reading.model {
            println!("{}", dump(model));
        }
        for diagnostic in &reading.diagnostics {
            let line = diagnostic
                .primary()
                .map_or(0, |span| sources.start(span).line);
            match diagnostic.severity {
                Severity::Error => println!("error {line} {}", diagnostic.message),
                _ => println!("warn {line}"),
            }
        }
    }
}

fn dump(model: &Model) -> String {
    let mut out = String::new();
    let label = |sig: locus_grammar::model::SigId| model.sig(sig).label.as_str();
    for (at, sig) in model.sigs.iter().enumerate() {
        if sig.kind == SigKind::Builtin {
            continue;
        }
        let _ = write!(out, "sig {}", sig.label);
        for (flag, word) in [
            (sig.is_abstract, " abstract"),
            (sig.mult == Mult::One, " one"),
            (sig.mult == Mult::Lone, " lone"),
            (sig.mult == Mult::Some, " some"),
            (sig.is_var, " var"),
            (sig.is_enum, " enum"),
        ] {
            if flag {
                out.push_str(word);
            }
        }
        match &sig.kind {
            SigKind::Builtin => {}
            SigKind::Prim { parent } => {
                let _ = write!(out, " extends {} children", label(*parent));
                for child in &sig.children {
                    let _ = write!(out, " {}", label(*child));
                }
            }
            SigKind::Subset { parents, exact } => {
                out.push_str(if *exact { " =" } else { " in" });
                for parent in parents {
                    let _ = write!(out, " {}", label(*parent));
                }
            }
        }
        out.push('\n');
        let _ = at;
        for field in &sig.fields {
            let field = model.field(*field);
            let _ = writeln!(
                out,
                "field {} {}{}{}{} {} TYPE {}",
                sig.label,
                field.name,
                if field.is_var { " var" } else { "" },
                if field.disjoint_with.is_empty() {
                    ""
                } else {
                    " disj"
                },
                if field.disjoint_values { " disj2" } else { "" },
                expr(model, &field.bound),
                ty(model, &field.ty)
            );
        }
        if let [only] = sig.facts.as_slice() {
            let _ = writeln!(out, "sigfact {} {}", sig.label, expr(model, only));
        } else if !sig.facts.is_empty() {
            let _ = write!(out, "sigfact {} (AND", sig.label);
            for fact in &sig.facts {
                let _ = write!(out, " {}", expr(model, fact));
            }
            out.push_str(")\n");
        }
    }
    for func in &model.funcs {
        let word = if func.is_pred { "pred" } else { "fun" };
        let _ = write!(out, "{word} {} {}", func.label, decls(model, &func.params));
        if let Some(result) = &func.result {
            let _ = write!(out, " RESULT {}", expr(model, result));
        }
        let _ = writeln!(out, " BODY {}", expr(model, &func.body));
    }
    for fact in &model.facts {
        let _ = writeln!(out, "fact {} {}", fact.label, expr(model, &fact.body));
    }
    for assertion in &model.assertions {
        let _ = writeln!(
            out,
            "assert {} {}",
            assertion.label,
            expr(model, &assertion.body)
        );
    }
    for command in &model.commands {
        if command.label.starts_with("run$") {
            let _ = writeln!(
                out,
                "cmdbody {} {}",
                command.label,
                expr(model, &command.formula)
            );
        }
        out.push_str(&show_command(model, command));
    }
    out
}

fn show_command(model: &Model, command: &Command) -> String {
    let number = |n: Option<u32>| n.map_or(-1, i64::from);
    let (min, max) = command.steps.map_or((-1, -1), |steps| {
        let max = steps.max.map_or(i64::from(i32::MAX), i64::from);
        (i64::from(steps.min), max)
    });
    let mut out = format!(
        "cmd {} {} overall={} bw={} seq={} steps={min}..{max} expect={} scopes",
        command.label,
        if command.is_check { "check" } else { "run" },
        number(command.overall),
        number(command.bitwidth),
        number(command.max_seq),
        number(command.expect),
    );
    for scope in &command.scopes {
        let exactly = if scope.exact { "exactly " } else { "" };
        let _ = write!(
            out,
            " {exactly}{} {},",
            scope.size,
            model.sig(scope.sig).label
        );
    }
    out.push_str(" exact");
    for sig in &command.exact_sigs {
        let _ = write!(out, " {}", model.sig(*sig).label);
    }
    out.push('\n');
    out
}

fn ty(model: &Model, ty: &Type) -> String {
    let mut all: Vec<String> = ty
        .products
        .iter()
        .map(|product| {
            let columns: Vec<&str> = product
                .iter()
                .map(|s| model.sig(*s).label.as_str())
                .collect();
            columns.join("->")
        })
        .collect();
    all.sort();
    all.join("|")
}

fn decls(model: &Model, decls: &[Decl]) -> String {
    let mut out = String::new();
    for decl in decls {
        out.push('[');
        if decl.disjoint {
            out.push_str("disj ");
        }
        for var in &decl.vars {
            let _ = write!(out, "{} ", model.var(*var).name);
        }
        let _ = write!(out, ": {}]", expr(model, &decl.bound));
    }
    out
}

fn expr(model: &Model, x: &Expr) -> String {
    let go = |x: &Expr| expr(model, x);
    match &x.kind {
        ExprKind::Sig(sig) => model.sig(*sig).label.clone(),
        ExprKind::Field(field) => {
            let field = model.field(*field);
            format!("{}<:{}", model.sig(field.sig).label, field.name)
        }
        ExprKind::Var(var) => model.var(*var).name.clone(),
        ExprKind::Const(constant) => match constant {
            Const::True => "true".to_owned(),
            Const::False => "false".to_owned(),
            Const::Iden => "iden".to_owned(),
            Const::Int(n) => n.to_string(),
            Const::Str(text) => format!("\"{text}\""),
            Const::MinInt => "min".to_owned(),
            Const::MaxInt => "max".to_owned(),
            Const::NextInt => "next".to_owned(),
        },
        ExprKind::Unary(UnaryOp::CastToInt | UnaryOp::CastToSigInt, sub) => go(sub),
        ExprKind::Unary(op, sub) => format!("({} {})", unary(*op), go(sub)),
        ExprKind::Binary(op, a, b) => format!("({} {} {})", binary(*op), go(a), go(b)),
        ExprKind::List(op, args) => {
            let word = match op {
                ListOp::And => "AND",
                ListOp::Or => "OR",
                ListOp::Disjoint => "DISJOINT",
                ListOp::TotalOrder => "TOTALORDER",
            };
            let args: Vec<String> = args.iter().map(go).collect();
            format!("({word} {})", args.join(" "))
        }
        ExprKind::Ite(c, a, b) => format!("(ite {} {} {})", go(c), go(a), go(b)),
        ExprKind::Let { var, value, body } => {
            format!("(let {} {} {})", model.var(*var).name, go(value), go(body))
        }
        ExprKind::Quant {
            quant,
            decls: d,
            body,
        } => {
            let word = match quant {
                Quant::All => "all",
                Quant::Some => "some",
                Quant::No => "no",
                Quant::Lone => "lone",
                Quant::One => "one",
                Quant::Sum => "sum",
                Quant::Comprehension => "comprehension",
            };
            format!("({word} {} {})", decls(model, d), go(body))
        }
        ExprKind::Call { func, args } => {
            let mut out = format!("(call {}", model.func(*func).label);
            for arg in args {
                let _ = write!(out, " {}", go(arg));
            }
            out + ")"
        }
    }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::SetOf => "set of",
        UnaryOp::SomeOf => "some of",
        UnaryOp::LoneOf => "lone of",
        UnaryOp::OneOf => "one of",
        UnaryOp::ExactlyOf => "exactly of",
        UnaryOp::Not => "!",
        UnaryOp::No => "no",
        UnaryOp::Some => "some",
        UnaryOp::Lone => "lone",
        UnaryOp::One => "one",
        UnaryOp::Transpose => "~",
        UnaryOp::Closure => "^",
        UnaryOp::ReflexiveClosure => "*",
        UnaryOp::Card => "#",
        UnaryOp::CastToInt => "int",
        UnaryOp::CastToSigInt => "Int",
        UnaryOp::Prime => "'",
        UnaryOp::Always => "always",
        UnaryOp::Eventually => "eventually",
        UnaryOp::After => "after",
        UnaryOp::Before => "before",
        UnaryOp::Historically => "historically",
        UnaryOp::Once => "once",
    }
}

fn binary(op: BinaryOp) -> String {
    let word = |mult| match mult {
        Mult::Set => "",
        Mult::Some => "some",
        Mult::Lone => "lone",
        Mult::One => "one",
    };
    match op {
        BinaryOp::Arrow(a, b) => format!("{}->{}", word(a), word(b)),
        BinaryOp::SeqArrow => "isSeq->lone".to_owned(),
        op => match op {
            BinaryOp::Join => ".",
            BinaryOp::Domain => "<:",
            BinaryOp::Range => ":>",
            BinaryOp::Intersect => "&",
            BinaryOp::Override => "++",
            BinaryOp::Union => "+",
            BinaryOp::Difference => "-",
            BinaryOp::Add => "@+",
            BinaryOp::Sub => "@-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Shl => "<<",
            BinaryOp::Sha => ">>",
            BinaryOp::Shr => ">>>",
            BinaryOp::Eq => "=",
            BinaryOp::NotEq => "!=",
            BinaryOp::In => "in",
            BinaryOp::NotIn => "!in",
            BinaryOp::Lt => "<",
            BinaryOp::Lte => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Gte => ">=",
            BinaryOp::NotLt => "!<",
            BinaryOp::NotLte => "!<=",
            BinaryOp::NotGt => "!>",
            BinaryOp::NotGte => "!>=",
            BinaryOp::Implies => "=>",
            BinaryOp::Iff => "<=>",
            BinaryOp::Until => "until",
            BinaryOp::Releases => "releases",
            BinaryOp::Since => "since",
            BinaryOp::Triggered => "triggered",
            BinaryOp::Arrow(..) | BinaryOp::SeqArrow => "",
        }
        .to_owned(),
    }
}
