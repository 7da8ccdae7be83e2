//! Projects of several files, variables, profiles, and bad input.

use locus_core::graph::Presence;
use proptest::prelude::*;

use super::{project, relation, report, with_options};
use crate::compose::{Options, Target, load};
use crate::loader::MemoryLoader;

fn diagnostics(files: &[(&str, &str)]) -> String {
    let (composition, sources) = project(files);
    report(&composition, &sources)
}

#[test]
fn a_later_file_overrides_an_earlier_one() {
    let base = "
name: shop
services:
  web:
    image: nginx:1.0
    command: [a, b]
    ports: ['80:80', '443:443']
    environment: {A: '1', B: '2'}
    volumes: ['./a:/data', 'logs:/logs']
    depends_on: [db]
    labels: [x=1]
    cap_add: [NET_ADMIN]
  db:
    image: postgres:16
volumes: {logs: {}}
";
    let over = "
services:
  web:
    image: nginx:2.0
    command: [c]
    ports: ['80:80', '81:81']
    environment: [B=3, C=4]
    volumes: ['./b:/data']
    depends_on:
      cache: {condition: service_started}
    labels: {y: '2'}
    cap_add: !reset []
  db: !override
    image: mariadb:11
    ports: !override ['1:1']
  cache:
    image: redis:7
";
    let (composition, sources) =
        project(&[("compose.yaml", base), ("compose.override.yaml", over)]);
    assert_eq!(report(&composition, &sources), "");
    let relation = |sig, field| relation(&composition, sig, field);
    assert_eq!(
        relation("Service", "image"),
        ["cache -> redis:7", "db -> mariadb:11", "web -> nginx:2.0"]
    );
    assert_eq!(
        relation("Service", "publications"),
        [
            "db -> 1:1",
            "web -> 443:443",
            "web -> 80:80",
            "web -> 81:81"
        ]
    );
    assert_eq!(
        relation("EnvironmentEntry", "value"),
        ["A -> 1", "B -> 3", "C -> 4"]
    );
    assert_eq!(
        relation("Mount", "source"),
        ["/data -> ./b", "/logs -> logs"]
    );
    assert_eq!(
        relation("Reference", "by")
            .iter()
            .filter(|l| *l == "db -> web")
            .count(),
        1
    );
    assert!(relation("Service", "cap_add").is_empty());
    let graph = &composition.graph;
    let web = graph.location(graph.find("services.web").unwrap());
    assert_eq!(web.property("command").unwrap().value.to_string(), "[c]");
    assert_eq!(
        web.property("labels").unwrap().value.to_string(),
        "{x: 1, y: 2}"
    );
}

#[test]
fn a_file_of_another_shape_is_no_override() {
    let found = diagnostics(&[
        (
            "compose.yaml",
            "services: {a: {image: x, sysctls: {k: 1}, ports: ['1']}}",
        ),
        ("compose.override.yaml", "services: {a: {ports: x}}"),
    ]);
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(
        found.starts_with(
            "compose.override.yaml:1:23: error compose-merge: `services.a.ports` is a string here, \
             but a list in the file it overrides"
        ),
        "{found}"
    );
}

#[test]
fn services_extend_others_in_the_same_and_in_other_files() {
    let main = "
services:
  base: {image: 'app:1', environment: {A: '1'}, volumes: ['./x:/x']}
  web:
    extends: base
    environment: {B: '2'}
  job:
    extends: {service: worker, file: common/worker.yaml}
  loop: {extends: pool, image: y}
  pool: {extends: loop}
  lost: {extends: nobody, image: z}
";
    let common = "
services:
  root: {image: 'root:1', volumes: ['./here:/here']}
  worker: {extends: root, command: run}
";
    let (composition, sources) = project(&[("compose.yaml", main), ("common/worker.yaml", common)]);
    assert_eq!(report(&composition, &sources), "");
    let relation = |sig, field| relation(&composition, sig, field);
    assert_eq!(
        relation("Service", "image"),
        [
            "base -> app:1",
            "job -> root:1",
            "loop -> y",
            "lost -> z",
            "pool -> y",
            "web -> app:1"
        ]
    );
    assert!(
        relation("Mount", "host_path").contains(&"/here -> common/here".to_owned()),
        "paths start from the file that they are written in"
    );
    assert_eq!(
        relation("Definition", "base"),
        [
            "job -> worker",
            "loop -> pool",
            "lost -> nobody",
            "pool -> loop",
            "web -> base",
            "worker -> root"
        ],
        "a cycle is a fact, and does not hang"
    );
    assert_eq!(
        relation("Definition", "defined")
            .into_iter()
            .filter(|line| line.ends_with("false"))
            .collect::<Vec<_>>(),
        ["nobody -> false"]
    );
}

#[test]
fn files_are_included_with_their_own_directory_and_environment() {
    let main = "
include:
  - sub/compose.yaml
  - {path: [other.yaml, other.more.yaml], env_file: other.env}
services:
  web: {image: 'web:${TAG:-none}', depends_on: [db, cache]}
";
    let (composition, sources) = project(&[
        ("compose.yaml", main),
        (
            "sub/compose.yaml",
            "services: {db: {image: 'db:${TAG}', volumes: ['./d:/d']}}",
        ),
        ("sub/.env", "TAG=sub"),
        (
            "other.yaml",
            "include: [compose.yaml]\nservices: {cache: {image: 'cache:${TAG}'}}",
        ),
        ("other.more.yaml", "services: {cache: {restart: always}}"),
        ("other.env", "TAG=other"),
    ]);
    assert_eq!(report(&composition, &sources), "");
    let relation = |sig, field| relation(&composition, sig, field);
    assert_eq!(
        relation("Service", "image"),
        ["cache -> cache:other", "db -> db:sub", "web -> web:none"]
    );
    assert_eq!(relation("Service", "restart"), ["cache -> always"]);
    assert_eq!(relation("Mount", "host_path"), ["/d -> sub/d"]);
    assert_eq!(
        relation("File", "includes"),
        [
            "compose.yaml -> other.more.yaml",
            "compose.yaml -> other.yaml",
            "compose.yaml -> sub/compose.yaml",
            "other.yaml -> compose.yaml"
        ]
    );
    let graph = &composition.graph;
    let db = graph.location(graph.find("services.db").unwrap());
    assert_eq!(
        db.origin.chain().count(),
        1,
        "it says where it was included"
    );
}

#[test]
fn files_that_are_not_there_and_definitions_that_collide_are_reported() {
    let found = diagnostics(&[
        (
            "compose.yaml",
            "include: [gone.yaml, a.yaml]\nservices: {web: {image: x, extends: {service: y, file: far.yaml}}}",
        ),
        ("a.yaml", "services: {web: {image: other}}"),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn variables_without_a_value_are_symbolic() {
    let text = "
services:
  web:
    image: app:${TAG}
    privileged: ${ROOT}
    networks: ['${NET}']
    ports: ['${PORT}:80', '${IP}:81:81', '82:82']
    scale: ${N:?how many}
    environment:
      - URL=http://db:${DB_PORT:-5432}/x
      - TOKEN
  db: {image: 'db:1'}
";
    let (composition, sources) = project(&[("compose.yaml", text)]);
    // As Compose would read it now; what the variable may be is a matter of its own.
    let told = report(&composition, &sources);
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("without a value for `ROOT`"), "{told}");
    let relation = |sig, field| relation(&composition, sig, field);
    assert_eq!(
        relation("Service", "image_tag"),
        ["db -> 1", "web -> app:${TAG}"]
    );
    assert_eq!(relation("Service", "privileged"), ["web -> ${ROOT}"]);
    assert_eq!(
        relation("Publication", "ports"),
        [
            "${IP}:81:81 -> 81/tcp",
            "${PORT}:80 -> ${PORT}:80",
            "82:82 -> 82/tcp"
        ]
    );
    assert_eq!(
        relation("Service", "replicas"),
        ["db -> 1", "web -> ${N:?how many}"]
    );
    assert_eq!(
        relation("Variable", "name"),
        [
            "DB_PORT -> DB_PORT",
            "IP -> IP",
            "N -> N",
            "NET -> NET",
            "PORT -> PORT",
            "ROOT -> ROOT",
            "TAG -> TAG"
        ]
    );
    assert_eq!(
        relation("Reference", "known"),
        ["${NET} -> false", "default -> true"]
    );
    assert_eq!(relation("Variable", "fallback"), ["DB_PORT -> 5432"]);
    assert_eq!(relation("Variable", "demand"), ["N -> how many"]);
    assert_eq!(relation("Mention", "service"), ["db -> db"]);
    let symbols: Vec<String> = composition
        .graph
        .symbols()
        .map(|(_, symbol)| symbol.name.to_string())
        .collect();
    assert!(symbols.contains(&"TAG".to_owned()), "{symbols:?}");
    let all = Options {
        all_inputs: true,
        ..Options::default()
    };
    let (composition, _) = with_options(&[("compose.yaml", text)], all);
    let open = composition
        .graph
        .symbols()
        .any(|(_, s)| &*s.name == "DB_PORT");
    assert!(open, "for all inputs a default fixes nothing");
}

#[test]
fn variables_come_from_the_shell_and_from_files() {
    let text = "services: {a: {image: '${A}-${B}-${C:-c}', env_file: [app.env, {path: no.env, required: false}], environment: [X]}}";
    let options = Options {
        environment: vec![("A".into(), "shell".into()), ("X".into(), "x".into())],
        ..Options::default()
    };
    let files = [
        ("compose.yaml", text),
        (".env", "A=file\nB=file\n"),
        ("app.env", "K=v\nX=not this\n"),
    ];
    let (composition, sources) = with_options(&files, options);
    assert_eq!(report(&composition, &sources), "");
    let relation = |sig, field| relation(&composition, sig, field);
    assert_eq!(relation("Service", "image"), ["a -> shell-file-c"]);
    assert_eq!(relation("EnvironmentEntry", "value"), ["K -> v", "X -> x"]);
    assert_eq!(
        relation("EnvFile", "found"),
        ["app.env -> true", "no.env -> false"]
    );
    assert_eq!(
        relation("EnvFile", "required"),
        ["app.env -> true", "no.env -> false"]
    );
}

#[test]
fn profiles_are_symbolic_until_asked_for() {
    let text = "services: {a: {image: x}, b: {image: x, profiles: [debug, test]}, c: {image: x, profiles: [debug]}}";
    let (composition, _) = project(&[("compose.yaml", text)]);
    let presence = |name: &str| {
        let graph = &composition.graph;
        graph.location(graph.find(name).unwrap()).presence.clone()
    };
    assert_eq!(presence("services.a"), Presence::Present);
    assert!(matches!(presence("services.b"), Presence::When(_)));
    assert_eq!(
        relation(&composition, "Service", "profiles"),
        ["b -> debug", "b -> test", "c -> debug"]
    );
    let options = Options {
        profiles: vec!["debug".into()],
        target: Target::Swarm,
        ..Options::default()
    };
    let (composition, _) = with_options(&[("compose.yaml", text)], options);
    assert!(
        composition
            .graph
            .locations()
            .all(|(_, location)| location.presence == Presence::Present)
    );
    assert_eq!(
        relation(&composition, "Composition", "mode"),
        ["project -> swarm"]
    );
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let text = "\
version: 3
services:
  web:
    image: nginx
    imgae: nginx
    ports: ['80:', 'http', '1-3:1-2', 99999, '80:80/icmp', 'host:1:1']
    volumes: ['a:', 'data:/x:rr', {type: bind, target: /y}]
    healthcheck: {interval: 10, timeout: 5q, retries: many}
    privileged: maybe
    mem_limit: 5 apples
    deploy: {replicas: abc, resources: {limits: {cpus: half}}}
    command: echo $(date) ${1}
    environment: {8080: x, A: [1]}
    image: again
  'my service': {image: x}
";
    insta::assert_snapshot!(diagnostics(&[("compose.yaml", text)]));
}

#[test]
fn all_that_is_wrong_with_a_port_is_reported_where_it_is() {
    let text = "\
services:
  a:
    image: x
    ports:
      - target: 80
        published: '99999'
        protocol: tpc
      - published: 80
";
    let told = diagnostics(&[("compose.yaml", text)]);
    for expected in [
        "compose.yaml:6:20: error compose-port: `99999`",
        "compose.yaml:7:19: error compose-port: `tpc`",
        "compose.yaml:8:9: error compose-port: this port has no `target`",
    ] {
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn bad_input_is_refused_and_nothing_panics() {
    for (text, code) in [
        ("", "empty"),
        ("# only a comment\n", "empty"),
        ("- a\n- b\n", "compose-type"),
        ("text", "compose-type"),
        ("services: [a]\n", "compose-type"),
        ("services:\n  a: {image: x\n", "syntax"),
        (
            "services: {a: &x {image: y, extends: *x}}\n",
            "compose-type",
        ),
    ] {
        let (composition, sources) = project(&[("compose.yaml", text)]);
        let codes: Vec<&str> = composition.diagnostics.iter().map(|d| &*d.code).collect();
        assert!(
            !codes.is_empty(),
            "{text}: {}",
            report(&composition, &sources)
        );
        if code != "syntax" && !text.contains('&') {
            assert!(codes.contains(&code), "{text}: {codes:?}");
        }
    }
    let found = diagnostics(&[("missing.yaml", "")]);
    assert!(found.contains("empty"), "{found}");
    let mut sources = locus_core::Sources::new();
    let options = Options {
        files: vec!["nowhere.yaml".into()],
        ..Options::default()
    };
    let composition = load(&options, &MemoryLoader::new(), &mut sources);
    assert_eq!(composition.diagnostics.len(), 1);
    assert!(
        composition
            .diagnostics
            .iter()
            .all(|d| d.primary().is_some())
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,80}", tail in "[a-z:\\-\\[\\]{}$ \n\"'&*!|>#]{0,120}") {
        let text = format!("services:\n  a:\n    {text}\n{tail}");
        let (composition, sources) = project(&[("compose.yaml", &text)]);
        for diagnostic in &composition.diagnostics {
            let span = diagnostic.primary().unwrap();
            prop_assert!(span.end as usize <= sources.text(span.file).len());
        }
    }

    #[test]
    fn arbitrary_values_of_known_keys_do_not_panic(
        key in prop::sample::select(vec![
            "ports", "volumes", "networks", "depends_on", "environment", "env_file", "deploy",
            "healthcheck", "extends", "secrets", "image", "links", "tmpfs", "build", "profiles",
            "network_mode", "volumes_from", "extra_hosts", "devices", "scale", "models",
        ]),
        value in "[a-z0-9:/.,$@{}\\[\\]\"' =-]{0,40}",
    ) {
        let text = format!("services:\n  a:\n    {key}: {value}\n  b:\n    {key}:\n      - {value}\n");
        let (composition, sources) = project(&[("compose.yaml", &text)]);
        for (_, atom) in composition.facts.atoms() {
            prop_assert!(atom.span.end as usize <= sources.text(atom.span.file).len());
        }
    }
}
