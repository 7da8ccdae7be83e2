//! Printing a tree and parsing it again gives the same tree; no text makes the reader panic.

#![allow(clippy::panic, reason = "tests fail by panicking")]

mod common;

use locus_core::{FileId, Sources, Span};
use locus_grammar::ast::{
    BinaryOp, Builtin, CompareOp, Decl, Expr, ExprKind, IntConst, Module, Mult, Name, NaryOp,
    ParagraphKind, Quant, UnaryOp,
};
use locus_grammar::{parse, print};
use proptest::prelude::*;

fn file() -> FileId {
    Sources::new().add("test", "")
}

fn at() -> Span {
    Span::start_of(file())
}

fn name(text: String) -> Name {
    Name { text, span: at() }
}

fn node(kind: ExprKind) -> Expr {
    Expr { kind, span: at() }
}

fn a_name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a".to_owned()),
        Just("b\"".to_owned()),
        Just("someX".to_owned()),
        Just("ä_1".to_owned()),
    ]
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        a_name().prop_map(|n| node(ExprKind::Name(n))),
        Just(node(ExprKind::Name("m/x".to_owned()))),
        Just(node(ExprKind::Name("this".to_owned()))),
        Just(node(ExprKind::Name("seq/Int".to_owned()))),
        a_name().prop_map(|n| node(ExprKind::At(n))),
        (-9_i64..9).prop_map(|n| node(ExprKind::Number(n))),
        "[a-z\"\\\\\n]{1,4}".prop_map(|s| node(ExprKind::Str(s))),
        Just(node(ExprKind::IntConst(IntConst::Next))),
        Just(node(ExprKind::Block(Vec::new()))),
    ]
}

fn mult() -> impl Strategy<Value = Mult> {
    prop::sample::select(vec![Mult::Set, Mult::Some, Mult::Lone, Mult::One])
}

fn unary_op() -> impl Strategy<Value = UnaryOp> {
    prop::sample::select(vec![
        UnaryOp::Not,
        UnaryOp::Always,
        UnaryOp::Before,
        UnaryOp::No,
        UnaryOp::Some,
        UnaryOp::One,
        UnaryOp::Set,
        UnaryOp::Seq,
        UnaryOp::Card,
        UnaryOp::Sum,
        UnaryOp::Int,
        UnaryOp::Transpose,
        UnaryOp::Closure,
        UnaryOp::ReflexiveClosure,
        UnaryOp::Prime,
    ])
}

fn binary_op() -> impl Strategy<Value = BinaryOp> {
    prop_oneof![
        prop::sample::select(vec![
            BinaryOp::Then,
            BinaryOp::Iff,
            BinaryOp::Implies,
            BinaryOp::Until,
            BinaryOp::Triggered,
            BinaryOp::Shl,
            BinaryOp::Shr,
            BinaryOp::Difference,
            BinaryOp::Add,
            BinaryOp::Mul,
            BinaryOp::Override,
            BinaryOp::Domain,
            BinaryOp::Range,
            BinaryOp::Join,
        ]),
        (
            prop::sample::select(vec![
                CompareOp::In,
                CompareOp::Eq,
                CompareOp::Lt,
                CompareOp::Lte,
                CompareOp::Gt,
                CompareOp::Gte
            ]),
            any::<bool>()
        )
            .prop_map(|(op, negated)| BinaryOp::Compare(op, negated)),
        (mult(), mult()).prop_map(|(a, b)| BinaryOp::Arrow(a, b)),
    ]
}

fn decl(bound: impl Strategy<Value = Expr>) -> impl Strategy<Value = Decl> {
    (prop::collection::vec(a_name(), 1..3), any::<bool>(), bound).prop_map(
        |(names, disjoint, bound)| Decl {
            names: names.into_iter().map(name).collect(),
            is_var: false,
            is_private: false,
            disjoint: disjoint.then(at),
            disjoint_values: None,
            is_defined: false,
            bound,
            span: at(),
        },
    )
}

fn expr() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(5, 40, 3, |inner| {
        let decls = || prop::collection::vec(decl(inner.clone()), 1..3);
        prop_oneof![
            (unary_op(), inner.clone()).prop_map(|(op, a)| node(ExprKind::Unary(op, Box::new(a)))),
            (binary_op(), inner.clone(), inner.clone())
                .prop_map(|(op, a, b)| node(ExprKind::Binary(op, Box::new(a), Box::new(b)))),
            (
                prop::sample::select(vec![
                    NaryOp::And,
                    NaryOp::Or,
                    NaryOp::Union,
                    NaryOp::Intersect
                ]),
                prop::collection::vec(inner.clone(), 2..4)
            )
                .prop_map(|(op, all)| node(ExprKind::Nary(op, all))),
            (inner.clone(), prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(target, args)| node(ExprKind::Box(Box::new(target), args))),
            (
                prop::sample::select(vec![Builtin::Disj, Builtin::TotalOrder, Builtin::Int]),
                prop::collection::vec(inner.clone(), 1..3)
            )
                .prop_map(|(b, args)| {
                    node(ExprKind::Box(Box::new(node(ExprKind::Builtin(b))), args))
                }),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| node(ExprKind::Ite(Box::new(a), Box::new(b), Box::new(c)))),
            (
                prop::collection::vec((a_name(), inner.clone()), 1..3),
                inner.clone()
            )
                .prop_map(|(bindings, body)| {
                    let bindings = bindings.into_iter().map(|(n, x)| (name(n), x)).collect();
                    node(ExprKind::Let(bindings, Box::new(body)))
                }),
            (
                prop::sample::select(vec![Quant::All, Quant::Some, Quant::No, Quant::Sum]),
                decls(),
                inner.clone()
            )
                .prop_map(|(q, d, body)| node(ExprKind::Quant(q, d, Box::new(body)))),
            (decls(), prop::option::of(inner.clone()))
                .prop_map(|(d, body)| node(ExprKind::Comprehension(d, body.map(Box::new)))),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| node(ExprKind::Block(all))),
        ]
    })
}

/// The tree of a text without the places, which printing does not keep.
fn without_spans(debug: &str) -> String {
    let mut out = String::with_capacity(debug.len());
    let mut rest = debug;
    while let Some(start) = rest.find("Span {") {
        out.push_str(&rest[..start]);
        let after = &rest[start..];
        rest = after.find('}').map_or("", |end| &after[end + 1..]);
    }
    out.push_str(rest);
    out
}

fn parsed(text: &str) -> Module {
    let (module, diagnostics) = parse(file(), text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    module
}

proptest! {
    #[test]
    fn an_expression_survives_printing(x in expr()) {
        let text = format!("let m = {}", print::expression(&x));
        let module = parsed(&text);
        let ParagraphKind::Macro(m) = &module.paragraphs[0].kind else {
            panic!("a macro")
        };
        prop_assert_eq!(
            without_spans(&format!("{:?}", m.body)),
            without_spans(&format!("{x:?}")),
            "{}", text
        );
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = common::reading(&text);
    }

    #[test]
    fn formatting_settles_at_once(text in "[-a1 \\n\\r\"/*{}()\\[\\].:<>=|+&'@#]{0,60}") {
        let once = locus_grammar::format(&text);
        prop_assert_eq!(locus_grammar::format(&once), once);
    }

    #[test]
    fn no_words_make_the_reader_panic(words in prop::collection::vec(
        prop::sample::select(vec![
            "sig", "fact", "pred", "fun", "run", "check", "assert", "open", "module", "let", "enum", "A", "B", "r",
            "{", "}", "[", "]", "(", ")", ":", "|", ".", "->", "+", "-", "=", "=>", "else", "all", "some", "no", "one",
            "in", "not", "x", "this", "univ", "none", "Int", "seq", "3", "for", "but", "exactly", ",", "@", "#", "'",
            ";", "always", "extends", "abstract", "disj", "private", "var", "util/ordering", "as", "sum", "/", "\"s\"",
        ]), 0..40))
    {
        let _ = common::reading(&words.join(" "));
    }
}

#[test]
fn the_library_survives_printing() {
    for name in locus_grammar::library::names() {
        let text = locus_grammar::library::source(name).expect("a text");
        let first = parsed(text);
        let second = parsed(&print::module(&first));
        assert_eq!(
            without_spans(&format!("{:?}", first.paragraphs)),
            without_spans(&format!("{:?}", second.paragraphs)),
            "{name}"
        );
    }
}

#[test]
fn arbitrary_bytes_do_not_panic() {
    // Control characters and broken multi-byte sequences are replaced before they get here; what is
    // left is any text at all.
    assert!(common::reading("\u{feff}sig A {}").0.model.is_some());
    for text in [
        "\u{0}",
        "\u{feff}sig A {}",
        "sig \u{301} {}",
        "\"",
        "'",
        "/*",
        "{",
        "0x",
        "9a",
        "@",
        "$",
    ] {
        let (reading, _) = common::reading(text);
        assert!(
            reading.model.is_some() || !reading.diagnostics.is_empty(),
            "{text:?}"
        );
    }
}
