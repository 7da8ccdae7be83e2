//! `locus run`, as a user calls it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn locus(args: &[&str]) -> Output {
    locus_with(args, "")
}

fn locus_with(args: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(args)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A binary that does not like its arguments ends before it reads.
    let _ = child
        .stdin
        .take()
        .expect("standard input is piped")
        .write_all(stdin.as_bytes());
    child.wait_with_output().expect("the binary ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the binary ends by itself")
}

/// The JSON lines of a model given on standard input.
fn answers(model: &str, args: &[&str]) -> (Vec<Value>, i32) {
    let mut all = vec!["run", "--format", "json", "-"];
    all.extend_from_slice(args);
    let output = locus_with(&all, model);
    let lines = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    (lines, code(&output))
}

fn verdicts(model: &str, args: &[&str]) -> Vec<String> {
    let (lines, _) = answers(model, args);
    lines
        .iter()
        .map(|line| line["verdict"].as_str().unwrap().to_owned())
        .collect()
}

/// Times differ from run to run.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match line.find("  [") {
            Some(at) if line.ends_with("clauses]") => out.push_str(&line[..at]),
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

#[test]
fn every_example_ends_as_it_expects() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/alloy");
    let mut files: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|path| path.ends_with(".als"))
        .collect();
    files.sort();
    assert!(files.len() >= 3, "the examples are there");
    let mut args = vec!["run", "--format", "json"];
    args.extend(files.iter().map(String::as_str));
    let output = locus(&args);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    for line in stdout(&output).lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert!(
            answer["expect"].is_u64(),
            "an example says what it expects: {line}"
        );
    }
}

#[test]
fn json_has_exactly_the_promised_keys() {
    let (lines, exit) = answers("sig A {} run show { some A } for 2 expect 1", &[]);
    assert_eq!(exit, 0);
    let keys: Vec<&str> = lines[0]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "file",
            "command",
            "index",
            "kind",
            "expect",
            "verdict",
            "primary_vars",
            "vars",
            "clauses",
            "translate_ms",
            "solve_ms",
            "total_ms",
            "message"
        ]
    );
    assert_eq!(lines[0]["file"], "-");
    assert_eq!(lines[0]["kind"], "run");
    assert_eq!(lines[0]["verdict"], "sat");
}

#[test]
fn exit_codes() {
    let exit = |model: &str, args: &[&str]| answers(model, args).1;
    assert_eq!(exit("sig A {} run { some A } expect 1", &[]), 0);
    assert_eq!(exit("sig A {} run { no none }", &[]), 0);
    assert_eq!(
        exit("sig A {} run { some A and no A }", &[]),
        0,
        "a run expects nothing by itself"
    );
    assert_eq!(exit("sig A {} run { some A } expect 0", &[]), 1);
    assert_eq!(exit("sig A {} check { some A }", &[]), 1);
    assert_eq!(exit("sig A {} check { some A } expect 1", &[]), 0);
    assert_eq!(exit("var sig A {} run { some A }", &[]), 2);
    assert_eq!(exit("sig A {", &[]), 2);
    assert_eq!(
        exit("sig A {} run { some A }", &["--command", "nothing"]),
        3
    );
    assert_eq!(exit("sig A {} run { some A }", &["--no-such-flag"]), 3);
    assert_eq!(code(&locus(&["run", "no-such-file.als"])), 2);
    assert_eq!(code(&locus(&["run"])), 3);
    assert_eq!(code(&locus(&["--help"])), 0);
}

#[test]
fn commands_are_selected_by_name_pattern_and_index() {
    let model = "sig A {} run one_a { one A } run two { #A = 2 } check none_a { no A }";
    let chosen = |args: &[&str]| {
        let (lines, _) = answers(model, args);
        lines
            .iter()
            .map(|line| line["command"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(chosen(&[]), ["one_a", "two", "none_a"]);
    assert_eq!(chosen(&["-c", "*_a"]), ["one_a", "none_a"]);
    assert_eq!(chosen(&["-c", "1"]), ["two"]);
    assert_eq!(chosen(&["-c", "2", "-c", "two"]), ["two", "none_a"]);
}

#[test]
fn an_instance_is_shown_as_tables() {
    let output = locus_with(
        &["run", "-"],
        "abstract sig Node { edges: set Node, weight: edges -> one Weight }
         one sig Start, Stop extends Node {}
         enum Weight { Light, Heavy }
         fact { Start.edges = Stop and no Stop.edges and Start.weight[Stop] = Heavy }
         run path { some n: Node | Stop in n.edges } expect 1",
    );
    assert_eq!(code(&output), 0);
    insta::assert_snapshot!(without_times(&stdout(&output)));
}

#[test]
fn a_run_without_an_instance_shows_a_minimal_core() {
    let output = locus_with(
        &["run", "-"],
        "sig Node { next: lone Node }
one sig Root extends Node {}
fact acyclic { no n: Node | n in n.^next }
fact busy {
  some Node
  all n: Node | one n.next
}
fact unrelated { lone Root.next }
run show {} for 4",
    );
    assert_eq!(code(&output), 0);
    insta::assert_snapshot!(without_times(&stdout(&output)));
}

#[test]
fn all_errors_of_a_file_are_reported_at_once() {
    let report = |model: &str| {
        let output = locus_with(&["run", "-"], model);
        assert_eq!(code(&output), 2);
        assert_eq!(stdout(&output), "");
        stderr(&output)
    };
    insta::assert_snapshot!(
        "errors_of_names_and_types",
        report(
            "sig Person { friends: set Persn }
pred p { all x: Person | x.frends = none }
assert a { Person.friends + 3 }
run p for 3 but 2 Peson
"
        )
    );
    insta::assert_snapshot!(
        "errors_of_syntax",
        report(
            "sig Person { friends set Person }
fact { some Person and }
run p for
"
        )
    );
}

#[test]
fn isomorphic_instances_are_suppressed() {
    let output = locus_with(&["run", "-", "--next", "50"], "sig A {} run {} for 3");
    let text = stdout(&output);
    assert_eq!(
        text.matches("  instance ").count(),
        4,
        "0 to 3 atoms: {text}"
    );
    assert!(text.contains("no further instances"));
}

#[test]
fn a_limit_gives_unknown_and_other_commands_go_on() {
    let model = "sig Hole {} sig Pigeon { sits: one Hole }
        check hard { some h: Hole | not lone sits.h } for exactly 14 Pigeon, exactly 13 Hole
        run easy { some Pigeon } for 3";
    let (lines, exit) = answers(model, &["--timeout", "0.3", "--symmetry", "0"]);
    assert_eq!(exit, 2);
    assert_eq!(lines[0]["verdict"], "unknown");
    assert_eq!(lines[0]["message"], "the time limit was reached");
    assert_eq!(lines[1]["verdict"], "sat");
}

#[test]
fn behaviour_over_time_is_refused_with_its_place() {
    let output = locus_with(
        &["run", "-"],
        "sig A {}\nvar sig On in A {}\nfact { always some On }\nrun {} for 3",
    );
    assert_eq!(code(&output), 2);
    let text = stdout(&output);
    assert!(
        text.contains("behaviour over time cannot be evaluated yet"),
        "{text}"
    );
    assert!(text.contains("2 │ var sig On in A {}"), "{text}");
}

#[test]
fn a_proof_and_its_cnf_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let proof = dir.path().join("p.drat");
    let model = "sig Hole {} sig Pigeon { sits: one Hole }
        check full { some h: Hole | not lone sits.h } for exactly 5 Pigeon, exactly 4 Hole";
    let path = proof.display().to_string();
    let (lines, exit) = answers(model, &["--proof", &path]);
    assert_eq!((exit, lines[0]["verdict"].as_str()), (0, Some("unsat")));
    let cnf = std::fs::read_to_string(dir.path().join("p.drat.cnf")).unwrap();
    assert!(cnf.starts_with("p cnf "), "{cnf}");
    assert!(!std::fs::read(&proof).unwrap().is_empty());
}

#[test]
fn both_solvers_and_any_symmetry_agree() {
    let model = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/alloy/pigeonhole.als"),
    )
    .unwrap()
    .replace("exactly 8 Pigeon, exactly 8", "exactly 5 Pigeon, exactly 5")
    .replace("exactly 9 Pigeon, exactly 8", "exactly 6 Pigeon, exactly 5");
    let expected = ["sat", "unsat"];
    let mut ways = vec![vec!["--solver", "varisat"], vec!["--symmetry", "0"]];
    if cfg!(feature = "cadical") {
        ways.push(vec!["--solver", "cadical"]);
    }
    for way in ways {
        assert_eq!(verdicts(&model, &way), expected, "{way:?}");
    }
}

#[test]
fn an_answer_that_depends_on_overflow_says_so() {
    // With four bits 7 + 1 does not fit.
    let model = "open util/integer
        run { some x, y: Int | x > 0 and y > 0 and plus[x, y] < 0 }";
    let (forbid, _) = answers(model, &["--overflow", "forbid"]);
    assert_eq!(forbid[0]["verdict"], "unsat");
    let (wrap, _) = answers(model, &["--overflow", "wrap"]);
    assert_eq!(wrap[0]["verdict"], "sat");
    let output = locus_with(&["run", "-"], model);
    assert!(
        stdout(&output).contains("depends on integers that do not fit into 4 bits"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_configuration_that_is_known_leaves_nothing_to_solve() {
    let nodes = 300;
    let mut model = String::from("abstract sig Node { edges: set Node }\n");
    let mut facts = String::new();
    for node in 0..nodes {
        model += &format!("one sig N{node} extends Node {{}}\n");
        let targets: Vec<String> = [2 * node + 1, node + 7]
            .iter()
            .filter(|&&target| target < nodes)
            .map(|target| format!("N{target}"))
            .collect();
        let targets = if targets.is_empty() {
            "none".to_owned()
        } else {
            targets.join(" + ")
        };
        facts += &format!("N{node}.edges = {targets}\n");
    }
    model += &format!(
        "fact {{\n{facts}}}\nrun Acyclic {{ no n: Node | n in n.^edges }}\n\
         run Cyclic {{ some n: Node | n in n.^edges }} expect 0\n"
    );
    let (answers, _) = answers(&model, &[]);
    let verdicts: Vec<_> = answers.iter().map(|answer| &answer["verdict"]).collect();
    assert_eq!(verdicts, ["sat", "unsat"]);
    // What is left of the second is the choice of the node, where its edges do not rule it out.
    assert_eq!(answers[0]["vars"], 0, "{}", answers[0]);
    let open = answers[1]["primary_vars"].as_i64();
    assert!(open.is_some_and(|open| open < nodes), "{}", answers[1]);
}

#[test]
fn fmt_changes_a_file_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.als");
    let path = file.display().to_string();
    std::fs::write(&file, "sig  A{f:set A} // why\nrun{some A}for 3").unwrap();
    assert_eq!(code(&locus(&["fmt", "--check", &path])), 1);
    assert_eq!(code(&locus(&["fmt", &path])), 0);
    let once = std::fs::read_to_string(&file).unwrap();
    assert!(once.contains("// why"), "comments stay: {once}");
    assert_eq!(code(&locus(&["fmt", "--check", &path])), 0);
    assert_eq!(verdicts(&once, &[]), ["sat"]);
    std::fs::write(&file, "sig A {").unwrap();
    assert_eq!(
        code(&locus(&["fmt", &path])),
        2,
        "what cannot be read is left alone"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "sig A {");
}

/// Modules with commands that take long; `cargo bench --bench models` runs all and compares verdicts.
const SLOW: &[&str] = &[
    "aeolus/actions",
    "fractal",
    "hot/core",
    "lg/semantics",
    "tosca_aeolus",
    "tosca_occi",
];

#[test]
fn reference_models_end_as_they_expect() {
    let listed = stdout(&locus(&["run", "--library"]));
    let mut commands = 0;
    for module in listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|module| !SLOW.contains(module))
    {
        let output = locus(&["run", "--library", module, "--format", "json"]);
        for line in stdout(&output).lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            let expected = match answer["expect"].as_u64() {
                Some(0) => "unsat",
                Some(_) => "sat",
                // The command that a module without one has.
                None if answer["command"] == "Default" => "sat",
                None => panic!("every command says what it expects: {line}"),
            };
            assert_eq!(answer["verdict"], expected, "{module}: {line}");
            commands += 1;
        }
    }
    assert!(commands > 40, "only {commands} commands were run");
}

#[test]
fn the_library_is_listed_and_unknown_names_are_refused() {
    let output = locus(&["run", "--library"]);
    assert_eq!(code(&output), 0);
    assert!(
        stdout(&output).contains("lg/semantics"),
        "{}",
        stdout(&output)
    );
    let output = locus(&["run", "--library", "fractl"]);
    assert_eq!(code(&output), 3);
    assert!(
        stderr(&output).contains("did you mean `fractal`?"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn models_in_markdown_run_with_the_lines_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.md");
    let text = "# Notes\n\nA claim:\n\n```alloy\nsig A { next: lone A }\n```\n\nand its test:\n\n```alloy\n\
        check   Acyclic { no a: A | a in a.^next } expect 1\n```\n";
    std::fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap();
    let output = locus(&["run", name]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        stdout(&output).contains("notes.md:12 check Acyclic"),
        "{}",
        stdout(&output)
    );

    assert_eq!(code(&locus(&["fmt", "--check", name])), 1);
    assert_eq!(code(&locus(&["fmt", name])), 0);
    let formatted = std::fs::read_to_string(&path).unwrap();
    assert_eq!(formatted, text.replace("check   ", "check "));
}
