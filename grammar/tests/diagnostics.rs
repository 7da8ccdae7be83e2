//! What users are told, word by word.

mod common;

use common::diagnostics;
use insta::assert_snapshot;

#[test]
fn every_paragraph_with_a_mistake_is_reported() {
    assert_snapshot!(diagnostics(
        "sig A { r: A }\n\
         fact { some A + }\n\
         pred p { some A ) }\n\
         sig B { x y: A }\n\
         fact { all x: A }\n\
         fact { some A == A }\n\
         fun f: A\n\
         run p for\n"
    ));
}

#[test]
fn brackets_that_do_not_match() {
    assert_snapshot!(diagnostics(
        "sig A {}\nfact { some A\nsig B {}\nfact { some (A] }\n"
    ));
}

#[test]
fn text_that_never_ends() {
    assert_snapshot!(diagnostics(
        "sig A {}\nfact { some \"abc }\nfact { no A }\n/* and then"
    ));
}

#[test]
fn characters_without_meaning() {
    assert_snapshot!(diagnostics("sig A {}\nfact { some A ? }\nfact { A % A }\n"));
}

#[test]
fn operators_that_need_parentheses() {
    assert_snapshot!(diagnostics(
        "sig A {}\n\
         fact { A = not A }\n\
         fact { all x: A { some x } and some A }\n\
         fact { some A else no A }\n"
    ));
}

#[test]
fn names_that_do_not_exist() {
    assert_snapshot!(diagnostics(
        "sig Person { father: lone Person }\n\
         sig Man extends Persom {}\n\
         fact { all p: Person | p not in p.^fater }\n\
         pred ancestors { some Person.father }\n\
         run ancestor for 3 but 2 Persn\n\
         check nothing\n"
    ));
}

#[test]
fn types_that_do_not_fit() {
    assert_snapshot!(diagnostics(
        "sig A { r: A, n: Int }\n\
         fact { A.r }\n\
         fact { #A + r }\n\
         fact { A -> A in A }\n\
         fact { A > 3 }\n\
         fact { A.A }\n\
         fact { ~A = A }\n\
         fact { some A and 3 }\n\
         fun f: A -> A { A }\n"
    ));
}

#[test]
fn calls_that_do_not_fit() {
    assert_snapshot!(diagnostics(
        "sig A {} sig B {}\n\
         pred p[a: A, b: B] { some a -> b }\n\
         fact { p }\n\
         fact { p[A] }\n\
         fact { p[B, B] }\n\
         fact { p[A, B, A] }\n\
         fact { p[A -> A, B] }\n"
    ));
}

#[test]
fn ambiguous_names() {
    assert_snapshot!(diagnostics(
        "sig A { n: A } sig B { n: B }\n\
         fact { some n }\n"
    ));
    assert_snapshot!(diagnostics(
        "open util/ordering[A] as a open util/ordering[B] as b\nsig A, B {}\nfact { some next }\n"
    ));
}

#[test]
fn what_contributes_nothing() {
    assert_snapshot!(diagnostics(
        "sig A { r: B } sig B {}\n\
         fact { A in B and A = B and no A & B and some A.r.r }\n\
         fact { all x: A | some A }\n\
         fact { let y = A | some B }\n"
    ));
}

#[test]
fn signatures_that_cannot_be() {
    assert_snapshot!(diagnostics(
        "sig A {}\n\
         sig C in A {} sig D extends C {}\n\
         sig E extends Int {}\n\
         abstract sig F in A {}\n\
         sig G { f, f: A }\n\
         sig H { h: none }\n\
         sig I extends G { f: A }\n"
    ));
}

#[test]
fn names_given_twice() {
    assert_snapshot!(diagnostics(
        "sig A {} sig A {}\nenum E { A }\nassert a { some A }\nassert a { no A }\nlet m = A\nlet m = A\n"
    ));
}

#[test]
fn qualifiers_that_contradict_each_other() {
    assert_snapshot!(diagnostics("one lone sig B {}\nabstract abstract sig C {}"));
}

#[test]
fn a_cycle_of_signatures() {
    assert_snapshot!(diagnostics(
        "sig A extends B {} sig B extends C {} sig C extends A {}"
    ));
}

#[test]
fn modules_that_cannot_be_opened() {
    assert_snapshot!(diagnostics("open util/orderin[A]\nopen other\nsig A {}"));
    assert_snapshot!(diagnostics("open util/ordering\nsig A {}"), @r"
    model.als:1:1: error[module]: the module `util/ordering` has 1 parameters but is given 0
      at `open util/ordering`
      help: give one signature for each: `open name[A, B]`
    ");
    assert_snapshot!(diagnostics("open util/ordering[B]\nsig A {}"), @r"
    model.als:1:1: error[name]: the signature `B` cannot be found
      at `open util/ordering[B]`
      help: did you mean `A`?
    ");
}

#[test]
fn an_error_in_a_declaration_is_not_repeated_by_its_users() {
    assert_snapshot!(diagnostics(
        "sig A { r: Q }\n\
         pred p[x: Q] { some x }\n\
         fact { some A.r and p[A] and all y: Q | some y }\n\
         fact { some nonsense }\n\
         run p\n"
    ));
}

#[test]
fn names_and_types_are_looked_at_beside_syntax_errors() {
    // Nothing is said of `p`, `f` and `Z`, which are there but could not be read.
    assert_snapshot!(diagnostics(
        "sig A { r: set A }\n\
         fact { some A + }\n\
         pred A.p[x: A] { some x ) }\n\
         fun f: A { A + + A }\n\
         assert Z { some }\n\
         fact { some Missing }\n\
         fact { A.p[A] and some f and A in r }\n\
         check Z for 3 but 2 Nowhere\n"
    ));
}

#[test]
fn without_a_declaration_nothing_that_may_follow_from_it_is_said() {
    let said =
        diagnostics("sig A { r: set A\nsig B extends A {}\nfact { some A.r and some Missing }\n");
    assert!(said.contains("error[syntax]"), "{said}");
    assert!(!said.contains("error[name]"), "{said}");
    // Which of two predicates is meant cannot be told without one of them.
    let said = diagnostics(
        "sig A, B {}\npred p[x: A] { some x + }\npred p[x: B] { some x }\nfact { p[A] }\n",
    );
    assert!(!said.contains("error[type]"), "{said}");
}

#[test]
fn macros_that_expand_for_ever() {
    assert_snapshot!(diagnostics(
        "sig A {}\nlet m[x] = m[x]\nfact { some m[A] }\nfact { some m }\n"
    ));
}

#[test]
fn scopes_that_make_no_sense() {
    assert_snapshot!(diagnostics(
        "sig A {} pred p {} var sig V {}\n\
         run p for 3 but exactly 4 Int\n\
         run p for 3 but 4 Int, 5 int\n\
         run p for 3 but 2..4 seq\n\
         run p for 3 but 2 univ\n\
         run p for 3 but 0 steps\n\
         run p for 3 but 2.. steps\n\
         run p for 3 but exactly 2 V\n"
    ));
    assert_snapshot!(diagnostics("sig A {} run {} for 3 but 5..2 A"), @r"
    model.als:1:27: error[syntax]: the range `5..2` is empty
      at `5..2 A`
      help: the first number is the smallest
    ");
}

#[test]
fn nesting_is_limited_not_fatal() {
    for (open, inner, close) in [
        ("(", "A", ")"),
        ("{", "some A", "}"),
        ("not ", "some A", ""),
        ("all x: A | ", "some A", ""),
        ("all x: ", "A", "| some A"),
        ("let x = ", "A", "| some A"),
        ("some A => no A else ", "some A", ""),
        ("some A ; ", "some A", ""),
        ("A -> ", "A", ""),
        ("", "some A", ".r"),
        ("", "some A", "'"),
        ("", "some A", " - A"),
    ] {
        let text = format!(
            "sig A {{ r: A }} fact {{ {}{inner}{} }}",
            open.repeat(10_000),
            close.repeat(10_000)
        );
        let shown = diagnostics(&text);
        assert!(
            shown.contains("nest") || shown.contains("deep"),
            "{open}{inner}{close}: {shown:.200}"
        );
    }
}
