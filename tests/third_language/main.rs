//! A language is one folder, one file of rules and one line: with them it is found, loaded, checked, drawn, explained,
//! configured and edited, by code that does not know its name.
//!
//! This program is `locus` with that language when it is told so by a variable, and otherwise the tests, which start it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod recipe;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use locus::session::{Cancel, Given, Session};
use locus_frontends::language::{Registry, register};
use locus_frontends::loader::MemoryLoader;
use tempfile::TempDir;

/// Set, this program is the command.
const AS_COMMAND: &str = "LOCUS_TEST_AS_COMMAND";

const PANCAKES: &str = "\
recipe: pancakes
choices:
  rest: [10, 60]
dishes:
  batter: { minutes: $rest, needs: [flour] }
  flour: {}
  pancake: { minutes: 45, needs: [batter] }
";

const CIRCLE: &str = "\
recipe: riddle
dishes:
  hen: { needs: [egg] }
  egg: { needs: [hen, eg] }
";

fn main() -> ExitCode {
    // The line of registration.
    register(&recipe::Recipes);
    if std::env::var_os(AS_COMMAND).is_some() {
        return locus::cli::main();
    }
    let tests: &[(&str, fn())] = &[
        ("it_is_found_and_checked", it_is_found_and_checked),
        ("it_is_configured", it_is_configured),
        (
            "it_is_checked_for_every_input",
            it_is_checked_for_every_input,
        ),
        ("it_is_drawn", it_is_drawn),
        ("it_is_explained", it_is_explained),
        (
            "rules_of_the_project_speak_of_it",
            rules_of_the_project_speak_of_it,
        ),
        (
            "editors_are_told_what_is_where",
            editors_are_told_what_is_where,
        ),
        ("nothing_conflicts", nothing_conflicts),
        ("nobody_else_names_it", nobody_else_names_it),
        ("nobody_names_languages", nobody_names_languages),
    ];
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let wanted = wanted.unwrap_or_default();
    let mut failed = false;
    for (name, test) in tests.iter().filter(|(name, _)| name.contains(&wanted)) {
        let ok = catch_unwind(AssertUnwindSafe(test)).is_ok();
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
        failed |= !ok;
    }
    ExitCode::from(u8::from(failed))
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn locus(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(AS_COMMAND, "1").current_dir(folder);
    command.args(args).output().unwrap()
}

/// What the command prints on both outputs, and how it ends.
fn said(folder: &Path, args: &[&str]) -> (String, Option<i32>) {
    let Output {
        status,
        stdout,
        stderr,
    } = locus(folder, args);
    let text = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (text.concat(), status.code())
}

/// Codes and places of what a check finds.
fn found(folder: &Path, args: &[&str]) -> Vec<String> {
    let all = [&["check", "--format", "compact"], args].concat();
    let stdout = String::from_utf8(locus(folder, &all).stdout).unwrap();
    // The last line is the summary.
    let findings = stdout.lines().filter(|line| line.ends_with(']'));
    findings.map(str::to_owned).collect()
}

fn it_is_found_and_checked() {
    let folder = folder(&[("pancakes.yaml", PANCAKES), ("riddle.yaml", CIRCLE)]);
    let (text, code) = said(folder.path(), &["check", "."]);
    assert_eq!(code, Some(1), "{text}");
    for expected in [
        "RECIPE002",
        "`hen` cannot be begun before it is done",
        "`egg` cannot be begun before it is done",
        "there is no dish `eg`",
        "did you mean `egg`?",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("RECIPE001"), "nobody is hurried\n{text}");
    let (text, code) = said(folder.path(), &["check", "pancakes.yaml"]);
    assert_eq!(code, Some(0), "{text}");
    let (text, code) = said(
        folder.path(),
        &[
            "check",
            "riddle.yaml",
            "--ignore",
            "dish-needs-itself,RECIPE001",
        ],
    );
    assert!(!text.contains("RECIPE002"), "{text}");
    assert_eq!(code, Some(1), "{text}");
    let (text, code) = said(folder.path(), &["check", ".", "--ignore", "RECIPE003"]);
    assert!(text.contains("did you mean"), "{text}");
    assert_eq!(code, Some(3), "{text}");
}

fn it_is_configured() {
    let folder = folder(&[("pancakes.yaml", PANCAKES)]);
    let place = |line: &String| line.contains("pancakes.yaml:7:23") && line.contains("RECIPE001");
    let by_flag = found(folder.path(), &["pancakes.yaml", "--patience", "30"]);
    assert!(by_flag.iter().any(place), "{by_flag:?}");
    let settings =
        "[recipe]\npatience = 50\nchoices = { rest = 60 }\n[rules]\nRECIPE002 = \"off\"\n";
    std::fs::write(folder.path().join("locus.toml"), settings).unwrap();
    let by_setting = found(folder.path(), &["pancakes.yaml"]);
    assert!(
        by_setting
            .iter()
            .any(|line| line.contains("pancakes.yaml:5:22")),
        "what was chosen is too long: {by_setting:?}"
    );
    assert!(!by_setting.iter().any(place), "{by_setting:?}");
    std::fs::write(
        folder.path().join("locus.toml"),
        "[recipe]\npatiense = 50\n",
    )
    .unwrap();
    let (text, code) = said(folder.path(), &["check", "pancakes.yaml"]);
    assert!(
        text.contains("`patiense` is not a setting of `[recipe]`"),
        "{text}"
    );
    assert_eq!(code, Some(1), "{text}");
    let (help, _) = said(folder.path(), &["check", "--help"]);
    assert!(help.contains("--patience <MINUTES>"), "{help}");
    let (_, code) = said(folder.path(), &["init", "--force"]);
    assert_eq!(code, Some(0));
    let made = std::fs::read_to_string(folder.path().join("locus.toml")).unwrap();
    assert!(made.contains("# [recipe]\n"), "{made}");
}

fn it_is_checked_for_every_input() {
    let folder = folder(&[("pancakes.yaml", PANCAKES)]);
    let all = ["pancakes.yaml", "--patience", "50"];
    assert_eq!(
        found(folder.path(), &all),
        Vec::<String>::new(),
        "not for sure"
    );
    let (text, _) = said(
        folder.path(),
        &[&["check", "--all-inputs"], &all[..]].concat(),
    );
    assert!(text.contains("RECIPE001"), "{text}");
    assert!(text.contains("rest") && text.contains("60"), "{text}");
    let chosen = [&all[..], &["--all-inputs", "--choice", "rest=10"]].concat();
    assert_eq!(found(folder.path(), &chosen), Vec::<String>::new());
}

fn it_is_drawn() {
    let folder = folder(&[("pancakes.yaml", PANCAKES)]);
    for (format, expected) in [
        ("json", "\"Dish\""),
        ("dot", "pancake"),
        ("svg", "<svg"),
        ("als", "is_location_graph"),
    ] {
        let (text, code) = said(
            folder.path(),
            &["graph", "pancakes.yaml", "--format", format],
        );
        assert!(text.contains(expected), "{format}\n{text}");
        assert_eq!(code, Some(0), "{format}\n{text}");
    }
}

fn it_is_explained() {
    let folder = folder(&[]);
    let (rules, _) = said(folder.path(), &["rules"]);
    assert!(rules.contains("RECIPE001"), "{rules}");
    let (by_id, _) = said(folder.path(), &["explain", "RECIPE001"]);
    let (by_name, _) = said(folder.path(), &["explain", "dish-too-slow"]);
    assert_eq!(by_id, by_name);
    assert!(by_id.contains("Hungry guests leave."), "{by_id}");
    let (names, _) = said(folder.path(), &["vocabulary", "recipe"]);
    assert!(names.contains("Dish: A dish"), "{names}");
    let (dish, _) = said(folder.path(), &["vocabulary", "recipe", "Dish"]);
    assert!(dish.contains("How long it takes."), "{dish}");
    assert!(dish.contains("RECIPE00"), "with a rule about it: {dish}");
}

fn rules_of_the_project_speak_of_it() {
    let rules = "module recipe/own\n\nopen recipe/vocabulary\n\n\
        /** HOME001 dish-alone warning: nothing is made of a dish\n \
        * message: nothing is made of `{d}`\n * at: d\n * why: It gets cold.\n * source: home\n */\n\
        assert AllIsEaten { all d: Dish | some d.provided }\n";
    let settings = "[recipe]\nrules = [\"own.als\"]\n";
    let folder = folder(&[
        ("pancakes.yaml", PANCAKES),
        ("own.als", rules),
        ("locus.toml", settings),
    ]);
    let found = found(folder.path(), &["pancakes.yaml"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("pancakes.yaml:7:3"), "{found:?}");
    assert!(found[0].contains("HOME001"), "{found:?}");
}

fn editors_are_told_what_is_where() {
    let mut session = Session::over(Arc::new(MemoryLoader::new()), Registry::builtin());
    session.open("riddle.yaml", CIRCLE.as_bytes());
    let snapshot = session.snapshot();
    let project = snapshot.project_of("riddle.yaml").unwrap();
    let report = snapshot.check(&project, &Given::default(), &Cancel::default());
    let report = report.unwrap();
    let at = CIRCLE.find("[egg]").unwrap() + 2;
    let here = report.at("riddle.yaml", at).unwrap();
    assert_eq!(here.location.unwrap().name, "hen");
    let [role] = here.roles.as_slice() else {
        panic!("{:?}", here.roles);
    };
    assert_eq!(role.provider.as_ref().unwrap().name, "egg");
    let definition = CIRCLE.find("egg: ").unwrap();
    assert_eq!(here.definitions[0].start as usize, definition);
    let name = snapshot.name_at("riddle.yaml", at, &[]).unwrap();
    assert_eq!(name.name, "egg");
}

fn nothing_conflicts() {
    assert_eq!(Registry::builtin().conflicts(), Vec::<String>::new());
}

/// The texts of all files in a folder.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.push((path.display().to_string(), text));
        }
    }
    found
}

/// The rest of the program is general: nothing but the folder of this test knows the language.
fn nobody_else_names_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["core", "frontends", "invariants", "src"] {
        for (path, text) in texts(&root.join(folder)) {
            assert!(!text.to_lowercase().contains("recipe"), "{path}");
        }
    }
}

/// Nor do the checker and the command name any other language.
fn nobody_names_languages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let languages: Vec<_> = Registry::builtin().languages().collect();
    let names = languages.iter().flat_map(|one| [one.name(), one.section()]);
    // The location graph is what all of them have.
    let names = names.filter(|name| *name != locus_core::vocabulary::lg::NAME);
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    for folder in ["src", "invariants/src", "invariants/rules/src"] {
        for (path, text) in texts(&root.join(folder)) {
            let code = text.split("#[cfg(test)]").next().unwrap_or("");
            let mut lines = code.lines().filter(|_| path.ends_with(".rs"));
            let naming = lines.find(|line| names.iter().any(|name| line.contains(name)));
            assert_eq!(naming, None, "{path}");
        }
    }
}
