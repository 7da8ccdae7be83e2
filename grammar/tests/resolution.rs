//! What models mean: overloading, modules, commands.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod common;

use common::{Files, diagnostics, model, reading_with, show};
use locus_grammar::model::{
    BinaryOp, Const, Expr, ExprKind, Model, Mult, Quant, SigKind, Steps, UnaryOp, builtin,
};

/// The only fact.
fn fact(model: &Model) -> &Expr {
    &model.facts.last().expect("a fact").body
}

/// All fields named in an expression, as `Sig.field`.
fn fields(model: &Model, x: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    walk(x, &mut |x| {
        if let ExprKind::Field(id) = x.kind {
            let field = model.field(id);
            let sig = model.sig(field.sig).label.replace("this/", "");
            found.push(format!("{sig}.{}", field.name));
        }
    });
    found
}

fn calls(model: &Model, x: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    walk(x, &mut |x| {
        if let ExprKind::Call { func, .. } = x.kind {
            found.push(model.func(func).label.clone());
        }
    });
    found
}

fn walk(x: &Expr, visit: &mut impl FnMut(&Expr)) {
    visit(x);
    match &x.kind {
        ExprKind::Unary(_, a) => walk(a, visit),
        ExprKind::Binary(_, a, b) => {
            walk(a, visit);
            walk(b, visit);
        }
        ExprKind::List(_, all) | ExprKind::Call { args: all, .. } => {
            all.iter().for_each(|x| walk(x, visit));
        }
        ExprKind::Ite(a, b, c) => [a, b, c].into_iter().for_each(|x| walk(x, visit)),
        ExprKind::Let { value, body, .. } => {
            walk(value, visit);
            walk(body, visit);
        }
        ExprKind::Quant { decls, body, .. } => {
            decls.iter().for_each(|decl| walk(&decl.bound, visit));
            walk(body, visit);
        }
        _ => {}
    }
}

#[test]
fn overloaded_fields_are_told_apart_by_type() {
    let m = model(
        "sig A { n: Int, e: A } sig B { n: A, e: B }
         fact { all a: A, b: B | a.n > 0 and b.n = a and b.n.n > 1 and a.e = a and b.e = b }",
    );
    assert_eq!(
        fields(&m, fact(&m)),
        ["A.n", "B.n", "B.n", "A.n", "A.e", "B.e"]
    );
}

#[test]
fn a_restricted_field_is_that_field() {
    let m = model("sig A { n: A } sig B { n: B } fact { some A <: n and some B <: n }");
    assert_eq!(fields(&m, fact(&m)), ["A.n", "B.n"]);
}

#[test]
fn fields_of_a_signature_are_about_this_in_its_fact() {
    let m = model("sig A { f: set A, g: f -> A } { some f and some @f }");
    let sig = m.sigs.last().expect("a signature");
    assert_eq!(sig.facts.len(), 2, "a fact is split at its conjunctions");
    let joins_this = |x: &Expr| {
        let mut found = false;
        walk(x, &mut |x| {
            found |= matches!(x.kind, ExprKind::Var(v) if v == sig.this)
        });
        found
    };
    assert!(joins_this(&sig.facts[0]));
    assert!(!joins_this(&sig.facts[1]), "`@f` is the whole relation");
    let g = m.field(sig.fields[1]);
    assert!(joins_this(&g.bound), "a bound may mention an earlier field");
}

#[test]
fn joins_and_calls_are_the_same_text() {
    let m = model(
        "sig A { r: A } pred A.p[x: A] { some this.r & x } fun f[x, y: A]: A { x.r }
         fact { all a: A | a.p[a] and p[a, a] and a.f[a] = f[a, a] and a.(a.f) = a and r[a] = a.r }",
    );
    assert_eq!(
        calls(&m, fact(&m)),
        ["this/p", "this/p", "this/f", "this/f", "this/f"]
    );
    assert_eq!(fields(&m, fact(&m)), ["A.r", "A.r"]);
}

#[test]
fn conversions_between_integers_and_sets_are_written_out() {
    let m =
        model("sig A { n: Int } fact { all a: A | a.n = #A and a.n > 2 and 3 in a.n and #A = 2 }");
    let ExprKind::Quant { body, .. } = &fact(&m).kind else {
        panic!("a quantifier")
    };
    let ExprKind::List(_, parts) = &body.kind else {
        panic!("a conjunction")
    };
    let operands: Vec<(bool, bool)> = parts
        .iter()
        .map(|part| match &part.kind {
            ExprKind::Binary(_, a, b) => (a.ty.is_int, b.ty.is_int),
            _ => panic!("a comparison"),
        })
        .collect();
    assert_eq!(
        operands,
        [(false, false), (true, true), (false, false), (true, true)],
        "a set is compared with a set, a value with a value"
    );
}

#[test]
fn a_bound_without_a_keyword_is_one() {
    let m = model(
        "sig A { r: A, s: A -> A } fact { all x: A, y: set A, z: A -> A | x in y and some z }",
    );
    let ExprKind::Quant { decls, .. } = &fact(&m).kind else {
        panic!("a quantifier")
    };
    let ops: Vec<Option<UnaryOp>> = decls
        .iter()
        .map(|decl| match decl.bound.kind {
            ExprKind::Unary(op, _) => Some(op),
            _ => None,
        })
        .collect();
    assert_eq!(ops, [Some(UnaryOp::OneOf), Some(UnaryOp::SetOf), None]);
    assert!(matches!(
        m.fields[0].bound.kind,
        ExprKind::Unary(UnaryOp::OneOf, _)
    ));
    assert!(matches!(
        m.fields[1].bound.kind,
        ExprKind::Binary(BinaryOp::Arrow(Mult::Set, Mult::Set), ..)
    ));
}

#[test]
fn enumerations_are_ordered_singletons() {
    let m = model("enum Color { Red, Green, Blue } fact { Red.next = Green and lt[Red, Blue] }");
    let color = m
        .sigs
        .iter()
        .find(|sig| sig.is_enum)
        .expect("an enumeration");
    let values: Vec<&str> = color
        .children
        .iter()
        .map(|id| m.sig(*id).label.as_str())
        .collect();
    assert_eq!(values, ["this/Red", "this/Green", "this/Blue"]);
    assert!(color.is_abstract);
    assert!(color.children.iter().all(|id| m.sig(*id).mult == Mult::One));
    assert_eq!(calls(&m, fact(&m)), ["ordering/next", "ordering/lt"]);
    let exact: Vec<&str> = m.commands[0]
        .exact_sigs
        .iter()
        .map(|id| m.sig(*id).label.as_str())
        .collect();
    assert_eq!(exact, ["this/Color"]);
}

#[test]
fn macros_are_copied_with_their_arguments() {
    let m = model(
        "sig A { r: set A } pred ok[a: A] { some a.r }
         let every[p] = all x: A | p[x]
         let twice[e] = e + e
         fact { every[ok] and some twice[A.r] and A.twice = A }",
    );
    assert_eq!(calls(&m, fact(&m)), ["this/ok"]);
    assert_eq!(fields(&m, fact(&m)), ["A.r", "A.r"]);
}

#[test]
fn every_binder_has_variables_of_its_own() {
    let m = model(
        "sig A { r: set A } let twice[e] = e + e
         fact { some twice[{ x: A | some x.r }] } pred p[y: A] { some y } run p run p",
    );
    let mut bound = Vec::new();
    let mut collect = |x: &Expr| {
        walk(x, &mut |x| {
            if let ExprKind::Quant { decls, .. } = &x.kind {
                bound.extend(decls.iter().flat_map(|decl| decl.vars.clone()));
            }
        });
    };
    m.facts.iter().for_each(|fact| collect(&fact.body));
    m.commands
        .iter()
        .for_each(|command| collect(&command.formula));
    bound.extend(
        m.funcs
            .iter()
            .flat_map(|f| f.params.iter().flat_map(|d| d.vars.clone())),
    );
    let count = bound.len();
    bound.sort();
    bound.dedup();
    assert_eq!(bound.len(), count);
}

#[test]
fn commands_say_what_is_to_be_satisfied() {
    let m = model(
        "sig A {} pred p[x: A] { some x } assert a { some A } fun f[x: A]: set A { x }
         run p for 3 but exactly 2 A, 5 Int, 4 seq, 2..6 steps expect 1
         check a for 4
         mine: run { no A }
         run {} for 1.. steps
         run f",
    );
    let [run, check, labelled, last, function] = m.commands.as_slice() else {
        panic!("five commands")
    };
    assert_eq!(run.label, "p");
    assert!(matches!(
        run.formula.kind,
        ExprKind::Quant {
            quant: Quant::Some,
            ..
        }
    ));
    assert_eq!(
        (run.overall, run.bitwidth, run.max_seq, run.expect),
        (Some(3), Some(5), Some(4), Some(1))
    );
    assert_eq!(
        run.steps,
        Some(Steps {
            min: 2,
            max: Some(6)
        })
    );
    assert!(run.scopes[0].exact && run.scopes[0].size == 2);
    assert!(check.is_check && check.label == "a");
    assert!(matches!(
        check.formula.kind,
        ExprKind::Unary(UnaryOp::Not, _)
    ));
    assert_eq!(labelled.label, "mine");
    assert_eq!(last.label, "run$4");
    assert!(matches!(last.formula.kind, ExprKind::Const(Const::True)));
    assert_eq!(last.steps, Some(Steps { min: 1, max: None }));
    let ExprKind::Quant { body, .. } = &function.formula.kind else {
        panic!("parameters are quantified")
    };
    assert!(matches!(body.kind, ExprKind::Binary(BinaryOp::In, ..)));
}

#[test]
fn without_commands_there_is_a_default() {
    let m = model("sig A {}");
    assert_eq!(m.commands.len(), 1);
    assert_eq!(m.commands[0].label, "Default");
    assert_eq!(m.commands[0].overall, None);
}

#[test]
fn doc_comments_stay_with_what_they_describe() {
    let m = model(
        "/** A thing.\n * Of some kind. */\nsig A {}\n// not this\n/** Never. */ assert never { some A }\ncheck never",
    );
    let a = m.sigs.last().expect("a signature");
    assert_eq!(a.doc.as_deref(), Some("A thing.\nOf some kind."));
    assert_eq!(m.assertions[0].doc.as_deref(), Some("Never."));
    assert_eq!(m.commands[0].doc, None);
}

#[test]
fn the_hierarchy_is_kept() {
    let m = model(
        "abstract sig A {} sig B, C extends A {} sig D in A + E {} sig E {} sig F = B + C {}",
    );
    let find = |name: &str| {
        m.sigs
            .iter()
            .position(|sig| sig.label == format!("this/{name}"))
    };
    let a = &m.sigs[find("A").expect("A")];
    assert_eq!(a.children.len(), 2);
    let d = &m.sigs[find("D").expect("D")];
    assert!(matches!(&d.kind, SigKind::Subset { parents, exact: false } if parents.len() == 2));
    let f = &m.sigs[find("F").expect("F")];
    assert!(matches!(&f.kind, SigKind::Subset { exact: true, .. }));
    assert!(matches!(a.kind, SigKind::Prim { parent } if parent == builtin::UNIV));
}

#[test]
fn modules_are_found_next_to_the_file_that_opens_them() {
    let files = Files::default()
        .with(
            "lib/base.als",
            "module lib/base[X]\nsig Box { content: X }\nprivate sig Hidden {}",
        )
        .with("shared.als", "sig Shared {}");
    let text = "open lib/base[A] as first\nopen lib/base[B] as two\nopen lib/base[A] as again\nopen shared\n\
                sig A, B {}\nfact { first/Box.content = A and two/Box.content = B and again/Box = first/Box and some Shared }";
    let (reading, sources) = reading_with(text, &files);
    let m = reading
        .model
        .unwrap_or_else(|| panic!("{}", show(&reading.diagnostics, &sources)));
    let boxes: Vec<&str> = m
        .sigs
        .iter()
        .map(|sig| sig.label.as_str())
        .filter(|label| label.ends_with("/Box"))
        .collect();
    assert_eq!(
        boxes,
        ["again/Box", "two/Box"],
        "the same parameters make the same module"
    );

    let (reading, sources) = reading_with(
        "open lib/base[A] as b\nsig A {}\nfact { some b/Hidden }",
        &files,
    );
    assert!(reading.model.is_none());
    let shown = show(&reading.diagnostics, &sources);
    assert!(
        shown.contains("the name `b/Hidden` cannot be found"),
        "{shown}"
    );
}

#[test]
fn modules_may_be_documents() {
    let files = Files::default().with(
        "notes.md",
        "---\ntitle: Notes\n---\nWords.\n```alloy\nmodule notes\nsig Noted {}\nfact { some Oops }\n```\n",
    );
    let (reading, sources) = reading_with("open notes\nfact { some Noted }", &files);
    let shown = show(&reading.diagnostics, &sources);
    assert!(
        shown.starts_with("notes.md:8:13: error[name]: the name `Oops`"),
        "{shown}"
    );
    assert!(!shown.contains("Noted"), "{shown}");
}

#[test]
fn modules_that_open_each_other_are_refused() {
    let files = Files::default()
        .with("a.als", "open b")
        .with("b.als", "open a");
    let (reading, sources) = reading_with("open a", &files);
    let shown = show(&reading.diagnostics, &sources);
    assert!(shown.contains("opens itself"), "{shown}");
}

#[test]
fn errors_in_an_opened_file_point_into_it() {
    let files = Files::default().with("a.als", "sig X {}\nfact { some Y }");
    let (reading, sources) = reading_with("open a", &files);
    let shown = show(&reading.diagnostics, &sources);
    assert!(shown.starts_with("a.als:2:13: error[name]"), "{shown}");
}

#[test]
fn every_module_of_the_library_reads() {
    for name in locus_grammar::library::names() {
        let text = locus_grammar::library::source(name).expect("a text");
        let params = text.lines().next().unwrap_or("").contains('[');
        let opened = if params { "[A]" } else { "" };
        assert_eq!(
            diagnostics(&format!("open {name}{opened}\nsig A {{}}")),
            "",
            "{name}"
        );
    }
}

#[test]
fn sequences_bring_their_functions() {
    let m = model(
        "sig A { s: seq A } fact { all a: A | a.s.first = a and #a.s.elems > 1 and a.s[0] = a }",
    );
    assert_eq!(calls(&m, fact(&m)), ["seq/first", "seq/elems"]);
    assert!(matches!(
        m.fields[0].bound.kind,
        ExprKind::Binary(BinaryOp::SeqArrow, ..)
    ));
}

#[test]
fn long_chains_do_not_nest() {
    let plus = ["A"; 20_000].join(" + ");
    let and = ["some A"; 20_000].join(" and ");
    let m = model(&format!("sig A {{}} fact {{ some {plus} and {and} }}"));
    assert_eq!(m.facts.len(), 1);
}
