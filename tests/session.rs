//! Sessions: what is remembered is what would be made, and what is at a place.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use locus::session::{Cancel, Cancelled, Disk, Given, Here, Part, Project, Report, Session};
use locus_frontends::language::Registry;
use locus_frontends::loader::MemoryLoader;
use proptest::prelude::*;

/// Files that lean on each other, and what may be typed into each of them.
const FILES: &[(&str, &[&str])] = &[
    (
        "main.yaml",
        &[
            "heat_template_version: rocky\nparameters:\n  size: { type: string, default: a }\nresources:\n  part:\n    type: part.yaml\n    properties: { size: { get_param: size } }\n",
            "heat_template_version: rocky\nresources:\n  part: { type: part.yaml }\n  again: { type: part.yaml, depends_on: prt }\n",
            "heat_template_version: rocky\nresources: {",
        ],
    ),
    (
        "part.yaml",
        &[
            "heat_template_version: rocky\nparameters:\n  size: { type: string }\nresources:\n  net: { type: OS::Neutron::Net }\n",
            "heat_template_version: rocky\nresources:\n  net: { type: OS::Neutron::Nett }\n",
            "",
        ],
    ),
    (
        "locus.toml",
        &[
            "",
            "[rules]\nHOT012 = \"off\"\n",
            "[heat]\nenvironments = [\"env.yaml\"]\n",
            "[heat]\nrules = [\"own.als\"]\n",
            "[heat\n",
        ],
    ),
    (
        "env.yaml",
        &[
            "parameters: { size: b }\n",
            "parameters: { sze: b }\n",
            "- 1\n",
        ],
    ),
    ("own.als", &["", "sig", "module hot/own\n"]),
    (
        "compose.yaml",
        &[
            "services:\n  web: { image: \"nginx:${TAG}\", depends_on: [db] }\n  db: { image: db }\n",
            "include: [more.yaml]\nservices:\n  web: { image: nginx, depends_on: [cache] }\n",
        ],
    ),
    (
        "more.yaml",
        &[
            "services:\n  cache: { image: redis }\n",
            "services:\n  web: { image: other }\n",
        ],
    ),
    (".env", &["TAG=1.27\n", "TAG\n", "OTHER=1\n"]),
    (
        "compose.override.yaml",
        &[
            "services:\n  web: { ports: [\"80:80\"] }\n",
            "services: 3\n",
        ],
    ),
];

/// One change: a file, and which of its texts, or none to go back to the disk.
fn edit() -> impl Strategy<Value = (usize, Option<usize>)> {
    (0..FILES.len(), prop::option::weighted(0.8, 0..5usize))
}

fn disk() -> Disk {
    let mut loader = MemoryLoader::new();
    for (path, texts) in FILES.iter().step_by(2) {
        loader.insert(path, texts[0]);
    }
    Arc::new(loader)
}

fn apply(session: &mut Session, &(file, text): &(usize, Option<usize>)) {
    let (path, texts) = FILES[file];
    match text {
        Some(at) => session.open(path, texts[at % texts.len()].as_bytes()),
        None => session.close(path),
    }
}

/// Everything that a report says.
fn said(report: &Report) -> String {
    let Report {
        findings,
        unchecked,
        files,
        watched,
        stats,
        ..
    } = report;
    let names: Vec<&str> = report
        .sources
        .files()
        .map(|file| report.sources.name(file))
        .collect();
    format!("{findings:#?}\n{unchecked:#?}\n{files:?}\n{watched:?}\n{names:?}\n{stats:?}")
}

fn projects() -> [Project; 2] {
    let registry = Registry::builtin();
    let of = |language, file: &str| Project::new(registry.named(language).unwrap(), [file]);
    [of("hot", "main.yaml"), of("compose", "compose.yaml")]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_remembered_report_is_the_one_that_would_be_made(
        edits in prop::collection::vec(edit(), 1..12),
    ) {
        let mut session = Session::over(disk(), Registry::builtin());
        let (given, cancel) = (Given::default(), Cancel::default());
        for at in 0..edits.len() {
            apply(&mut session, &edits[at]);
            let mut fresh = Session::over(disk(), Registry::builtin());
            edits[..=at].iter().for_each(|edit| apply(&mut fresh, edit));
            for project in projects() {
                let remembered = session.snapshot().check(&project, &given, &cancel).unwrap();
                let made = fresh.snapshot().check(&project, &given, &cancel).unwrap();
                prop_assert_eq!(said(&remembered), said(&made));
            }
        }
    }
}

fn session(files: &[(&str, &str)]) -> Session {
    let mut session = Session::over(Arc::new(MemoryLoader::new()), Registry::builtin());
    for (path, text) in files {
        session.open(path, text.as_bytes());
    }
    session
}

fn check(session: &Session, path: &str) -> Arc<Report> {
    let snapshot = session.snapshot();
    let project = snapshot.project_of(path).expect("it is a configuration");
    let report = snapshot.check(&project, &Given::default(), &Cancel::default());
    report.expect("nobody called it off")
}

#[test]
fn what_did_not_change_is_not_checked_again() {
    let mut session = session(&[("a.yaml", FILES[0].1[0]), ("part.yaml", FILES[1].1[0])]);
    let first = check(&session, "a.yaml");
    session.open("unrelated.yaml", b"a: 1\n".as_slice());
    assert!(Arc::ptr_eq(&first, &check(&session, "a.yaml")));
    assert!(
        first.watched.iter().any(|path| path.ends_with("part.yaml")),
        "{:?}",
        first.watched
    );
    session.open("part.yaml", FILES[1].1[1].as_bytes());
    assert!(!Arc::ptr_eq(&first, &check(&session, "a.yaml")));
}

#[test]
fn a_check_that_was_called_off_ends() {
    let session = session(&[("a.yaml", FILES[0].1[0])]);
    let snapshot = session.snapshot();
    let project = snapshot.project_of("a.yaml").unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let report = snapshot.check(&project, &Given::default(), &cancel);
    assert_eq!(report.err(), Some(Cancelled));
}

#[test]
fn a_snapshot_stays_as_it_was() {
    let mut session = session(&[("a.yaml", FILES[1].1[0])]);
    let before = session.snapshot();
    session.open("a.yaml", b"- 1\n".as_slice());
    assert!(before.project_of("a.yaml").is_some());
    assert!(session.snapshot().project_of("a.yaml").is_none());
    assert!(before.revision() < session.snapshot().revision());
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    shared(&before);
}

const TEMPLATE: &str = "\
heat_template_version: rocky
parameters:
  flavor: { type: string }
resources:
  port:
    type: OS::Neutron::Port
    properties: { network: public }
  vm:
    type: OS::Nova::Server
    properties:
      flavor: { get_param: flavor }
      networks:
        - port: { get_resource: port }
";

fn here(report: &Report, before: &str) -> Here {
    let offset = TEMPLATE.find(before).unwrap() + before.len();
    report.at("t.yaml", offset).unwrap()
}

#[test]
fn a_place_tells_what_is_there() {
    let session = session(&[("t.yaml", TEMPLATE)]);
    let report = check(&session, "t.yaml");
    let text = |span| report.sources.snippet(span);

    let port = here(&report, "get_resource: p");
    let path: Vec<&str> = port.path.iter().map(|step| step.name.as_str()).collect();
    let expected = [
        "resources",
        "vm",
        "properties",
        "networks",
        "0",
        "port",
        "get_resource",
    ];
    assert_eq!(path, expected);
    assert_eq!((port.part, text(port.span)), (Part::Value, "port"));
    let definitions: Vec<&str> = port.definitions.iter().map(|&span| text(span)).collect();
    assert!(
        definitions.iter().any(|text| text.starts_with("port")),
        "{definitions:?}"
    );
    let vm = port
        .location
        .as_ref()
        .map(|location| (location.name.as_str(), location.sort.as_str()));
    assert_eq!(vm, Some(("vm", "OS::Nova::Server")));
    assert!(!port.roles.is_empty());

    let flavor = here(&report, "get_param: fl");
    let symbol = flavor.symbol.as_ref().map(|symbol| symbol.name.as_str());
    assert_eq!(symbol, Some("flavor"));

    let definition = here(&report, "resources:\n  po");
    assert_eq!(definition.part, Part::Key);
    assert!(!definition.references.is_empty(), "{definition:?}");
    assert_eq!(definition.siblings, ["port", "vm"]);
    let mac = here(&report, "properties: { netw");
    assert!(
        mac.rules.iter().all(|rule| rule.starts_with("HOT")),
        "{mac:?}"
    );
    assert!(
        !mac.rules.is_empty(),
        "rules speak of the networks of ports"
    );
    assert!(report.at("other.yaml", 0).is_none());
}

#[test]
fn any_place_of_any_text_has_an_answer() {
    for (path, texts) in FILES {
        for text in *texts {
            let session = session(&[("main.yaml", FILES[0].1[0]), (path, text)]);
            let Some(project) = session.snapshot().project_of("main.yaml") else {
                continue;
            };
            let snapshot = session.snapshot();
            let report = snapshot
                .check(&project, &Given::default(), &Cancel::default())
                .unwrap();
            for offset in 0..=text.len() + 1 {
                let here = report.at("main.yaml", offset).unwrap();
                assert!(here.span.start as usize <= offset);
            }
        }
    }
}
