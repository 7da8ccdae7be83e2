//! The facts that each rule over compositions needs.

use locus_core::facts::AtomId;
use locus_core::vocabulary::FieldId;

use super::{project, relation, report, with_options};
use crate::compose::vocabulary::{DECLARATIONS, field, vocabulary};
use crate::compose::{Composition, Options, Target};

fn clean(text: &str) -> Composition {
    let (composition, sources) = project(&[("compose.yaml", text)]);
    assert_eq!(report(&composition, &sources), "");
    composition
}

/// Pairs of publications that share a port and an address, as a rule would say it.
fn clashes(text: &str) -> Vec<String> {
    let composition = clean(text);
    let facts = &composition.facts;
    let shares = |a: AtomId, b: AtomId, field: FieldId<2>| {
        let mut of_a = facts.related(field, a);
        of_a.any(|x| facts.related(field, b).any(|y| x == y))
    };
    let all: Vec<AtomId> = facts.of("Publication");
    let mut out = Vec::new();
    for (index, &a) in all.iter().enumerate() {
        for &b in all.iter().skip(index + 1) {
            if shares(a, b, field!("Publication", "ports"))
                && shares(a, b, field!("Publication", "addresses"))
            {
                out.push(format!("{} / {}", facts.get(a).name, facts.get(b).name));
            }
        }
    }
    out
}

#[test]
fn publications_share_pieces_exactly_when_they_share_a_port() {
    let ports = |a: &str, b: &str| {
        clashes(&format!(
            "services: {{a: {{image: x, ports: ['{a}']}}, b: {{image: x, ports: ['{b}']}}}}"
        ))
        .len()
    };
    for (a, b, expected) in [
        ("80:80", "80:81", 1),
        ("80:80", "81:80", 0),
        ("80:80", "80:80/udp", 0),
        ("8000-8010:8000-8010", "8005:1", 1),
        ("8000-8010:8000-8010", "8011:1", 0),
        ("8000-8010:8000-8010", "8010-8020:8010-8020", 1),
        ("127.0.0.1:80:80", "127.0.0.2:80:80", 0),
        ("127.0.0.1:80:80", "80:80", 1),
        ("0.0.0.0:80:80", "127.0.0.1:80:80", 1),
        ("0.0.0.0:80:80", "[::1]:80:80", 0),
        ("[::]:80:80", "[::1]:80:80", 1),
        ("80", "80", 0),
        ("1-65535:1-65535", "1-65535:1-65535/udp", 0),
        ("1-65535:1-65535", "65535:1", 1),
    ] {
        assert_eq!(ports(a, b), expected, "{a} and {b}");
    }
}

#[test]
fn replicas_are_compared_with_the_ports_there_are() {
    let composition = clean(
        "services: {a: {image: x, scale: 3, ports: ['8000-8001:80', '90:90', {target: 1, published: '5-6', mode: host}]}}",
    );
    let relation = |field| relation(&composition, "Publication", field);
    assert_eq!(
        relation("capacity"),
        ["5-6 -> 2", "8000-8001:80 -> 2", "90:90 -> 1"]
    );
    assert_eq!(
        relation("chooses"),
        ["5-6 -> true", "8000-8001:80 -> true", "90:90 -> false"]
    );
    assert_eq!(
        relation("publish_mode"),
        ["5-6 -> host", "8000-8001:80 -> ingress", "90:90 -> ingress"]
    );
}

#[test]
fn references_have_targets_only_when_these_are_defined() {
    let composition = clean(
        "
services:
  a:
    image: x
    depends_on: {b: {condition: service_healthy, required: false}, gone: {condition: service_started}}
    links: ['b:bee', away]
    volumes_from: [b:ro, 'container:c', missing]
    networks: [front, none]
    secrets: [s, {source: t, target: u, mode: 0400}]
    configs: [c]
    volumes: ['vol:/v', 'wol:/w', './x:/x:ro', '/anonymous']
    ipc: service:b
    pid: service:nobody
  b:
    image: y
    network_mode: service:a
    healthcheck: {test: [CMD, 'true'], interval: 1m30s}
  c:
    image: z
    healthcheck: {disable: true}
networks: {front: {}}
secrets: {s: {environment: S}}
configs: {c: {content: hello}}
volumes: {vol: {driver: nfs}}
",
    );
    let relation = |sig, field| relation(&composition, sig, field);
    let targets = relation("Reference", "target");
    assert_eq!(
        targets,
        [
            "a -> a",
            "b -> b",
            "b -> b",
            "b -> b",
            "b -> b",
            "c -> c",
            "default -> default",
            "front -> front",
            "s -> s",
            "vol -> vol"
        ]
    );
    let all: Vec<String> = relation("Reference", "word");
    for undefined in ["gone", "away", "missing", "none", "t", "wol", "nobody"] {
        assert!(
            all.contains(&format!("{undefined} -> {undefined}")),
            "{undefined}"
        );
    }
    assert_eq!(
        relation("Dependency", "condition"),
        ["b -> service_healthy", "gone -> service_started"]
    );
    assert_eq!(
        relation("Dependency", "required"),
        ["b -> false", "gone -> true"]
    );
    assert_eq!(relation("Service", "healthcheck"), ["b -> healthcheck"]);
    assert_eq!(
        relation("Healthcheck", "interval"),
        ["healthcheck -> 90000000000"]
    );
    assert_eq!(relation("FileUse", "permissions"), ["t -> 256"]);
    assert_eq!(
        relation("Mount", "path"),
        [
            "/anonymous -> /anonymous",
            "/c -> /c",
            "/run/secrets/s -> /run/secrets/s",
            "/run/secrets/u -> /run/secrets/u",
            "/v -> /v",
            "/w -> /w",
            "/x -> /x"
        ]
    );
    assert_eq!(relation("Volume", "driver"), ["vol -> nfs"]);
    assert_eq!(
        relation("Namespace", "key"),
        ["a -> network_mode", "b -> ipc", "nobody -> pid"]
    );
}

#[test]
fn networks_have_subnets_and_attachments_have_names_and_addresses() {
    let composition = clean(
        "
services:
  a:
    image: x
    container_name: ay
    networks:
      n: {aliases: [one, two], ipv4_address: 10.0.0.5}
networks:
  n:
    ipam: {config: [{subnet: 10.0.0.0/24, gateway: 10.0.0.1, aux_addresses: {h: 10.0.0.2}}]}
    internal: true
",
    );
    let relation = |sig, field| relation(&composition, sig, field);
    assert_eq!(
        relation("Attachment", "names"),
        ["n -> a", "n -> ay", "n -> one", "n -> two"]
    );
    assert_eq!(relation("Attachment", "ipv4_address"), ["n -> 10.0.0.5"]);
    assert_eq!(relation("Subnet", "gateway"), ["10.0.0.0/24 -> 10.0.0.1"]);
    assert_eq!(relation("Subnet", "reserved"), ["10.0.0.0/24 -> 10.0.0.2"]);
    assert_eq!(relation("Network", "internal"), ["n -> true"]);
}

#[test]
fn a_tuple_knows_where_it_is_written_although_its_value_is_shared() {
    let text = "services: {a: {image: same}, b: {image: same}}";
    let (composition, sources) = project(&[("compose.yaml", text)]);
    let images = composition.facts.relation("Service", "image").unwrap();
    let starts: Vec<usize> = images
        .placed()
        .map(|(_, span)| sources.start(span.unwrap()).column)
        .collect();
    assert_eq!(starts, [23, 41]);
    let values: Vec<AtomId> = images.tuples().map(|tuple| tuple[1]).collect();
    assert_eq!(values[0], values[1]);
}

#[test]
fn what_only_one_target_knows_is_said_by_keys() {
    let text = "services: {a: {image: x, build: ., deploy: {mode: global, placement: {max_replicas_per_node: 2}}}}";
    let options = Options {
        target: Target::Swarm,
        ..Options::default()
    };
    let (composition, _) = with_options(&[("compose.yaml", text)], options);
    let keys = relation(&composition, "Service", "keys");
    for key in [
        "build",
        "deploy.placement",
        "deploy.placement.max_replicas_per_node",
    ] {
        assert!(keys.contains(&format!("a -> {key}")), "{keys:?}");
    }
    assert!(
        relation(&composition, "Service", "replicas").is_empty(),
        "one on each node"
    );
}

#[test]
fn the_vocabulary_declares_what_it_mentions() {
    let own = DECLARATIONS.sigs.iter().map(|sig| sig.name);
    let names: Vec<&str> = own.chain(locus_core::vocabulary::lg::names()).collect();
    for sig in DECLARATIONS.sigs {
        assert!(sig.parent.is_none_or(|parent| names.contains(&parent)));
        assert!(!sig.doc.is_empty());
        for field in sig.fields {
            assert!(!field.doc.is_empty(), "{}.{}", sig.name, field.name);
            for column in field.columns {
                assert!(names.contains(column), "{}.{}", sig.name, field.name);
            }
        }
    }
    insta::assert_snapshot!(vocabulary().facts_module());
}

#[test]
fn a_volume_with_the_name_of_a_drive_is_pointed_out() {
    let text = "services: {a: {image: x, volumes: ['v:/data']}}\nvolumes: {v: {}}\n";
    let (composition, sources) = project(&[("compose.yaml", text)]);
    assert_eq!(
        report(&composition, &sources),
        "compose.yaml:1:36: warning compose-mount: `v:/data` is read as a path on drive `v`, not as volume `v` \
         ['v:/data'] (write it as a map with `type`, `source` and `target`, or rename the volume)\n"
    );
}
