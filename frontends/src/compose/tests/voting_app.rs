//! The example of the reference model, in both versions.

use std::collections::BTreeMap;

use super::{project, relation, report};

const CORRECTED: &str = include_str!("../../../../examples/compose/voting-app.yaml");
const FIRST: &str = include_str!("../../../../examples/compose/voting-app-first.yaml");

#[test]
fn the_first_version_is_diagnosed_where_its_mistake_is() {
    let (composition, sources) = project(&[("voting-app.yaml", FIRST)]);
    assert_eq!(
        report(&composition, &sources),
        "voting-app.yaml:21:5: error compose-unknown-key: unknown key `resources` in `services.redis` \
         [resources] (`resources` belongs under `deploy`)\n"
    );
}

#[test]
fn the_corrected_version_has_the_graph_of_the_document() {
    let (composition, sources) = project(&[("composetest/voting-app.yaml", CORRECTED)]);
    assert_eq!(report(&composition, &sources), "");
    assert_eq!(&*composition.name, "composetest");
    let graph = &composition.graph;
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, location) in graph.locations() {
        names
            .entry(&location.sort)
            .or_default()
            .push(&location.name);
    }
    assert_eq!(
        names["Service"],
        [
            "services.redis",
            "services.db",
            "services.vote",
            "services.result",
            "services.worker",
            "services.visualizer",
            "services.web"
        ]
    );
    assert_eq!(
        names["Network"],
        ["networks.frontend", "networks.backend", "networks.default"]
    );
    assert_eq!(names["Volume"], ["volumes.db-data", "volumes.mydata"]);
    assert_eq!(
        names["Secret"],
        ["secrets.my_secret", "secrets.my_other_secret"]
    );
    let bindings: Vec<String> = graph
        .bindings()
        .iter()
        .map(|binding| {
            format!(
                "{} -{}-> {}",
                graph.location(binding.requirer).name,
                graph.role(binding.role).label,
                graph.location(binding.provider).name
            )
        })
        .collect();
    assert_eq!(
        bindings,
        [
            "services.redis -networks.frontend-> networks.frontend",
            "services.redis -secrets.my_secret-> secrets.my_secret",
            "services.db -networks.backend-> networks.backend",
            "services.db -volumes./var/lib/postgresql/data-> volumes.db-data",
            "services.vote -networks.frontend-> networks.frontend",
            "services.vote -depends_on.redis-> services.redis",
            "services.result -networks.backend-> networks.backend",
            "services.result -depends_on.db-> services.db",
            "services.result -depends_on.vote-> services.vote",
            "services.worker -networks.frontend-> networks.frontend",
            "services.worker -networks.backend-> networks.backend",
            "services.visualizer -networks.default-> networks.default",
            "services.web -networks.default-> networks.default",
            "services.web -volumes./data-> volumes.mydata",
        ]
    );
    let role = |label: &str| {
        let found = graph.roles().find(|(_, role)| &*role.label == label);
        found.map(|(_, role)| role).unwrap()
    };
    let property = |label: &str, name: &str| role(label).property(name).unwrap().value.to_string();
    assert_eq!(
        property("networks.frontend", "ipv4_address"),
        "172.16.238.10"
    );
    assert_eq!(property("secrets.my_secret", "target"), "redis_secret");
    assert_eq!(property("secrets.my_secret", "mode"), "288");
    // What the document leaves unbound: the socket and the directory of the host, and memory.
    for label in [
        "volumes./var/run/docker.sock",
        "volumes./opt/app/static",
        "volumes./foo/bar",
    ] {
        assert!(role(label).property("target").is_some(), "{label}");
    }
}

#[test]
fn its_facts_are_those_that_rules_need() {
    let (composition, _) = project(&[("composetest/voting-app.yaml", CORRECTED)]);
    let relation = |sig, field| relation(&composition, sig, field);
    assert_eq!(
        relation("Publication", "ports"),
        [
            "5001:80 -> 5001/tcp",
            "5010-5011:80 -> 5010-5011/tcp",
            "8080:8080 -> 8080/tcp",
            "80:80 -> 80/tcp"
        ]
    );
    assert_eq!(
        relation("Service", "replicas"),
        [
            "db -> 1",
            "redis -> 1",
            "result -> 1",
            "visualizer -> 1",
            "vote -> 2",
            "web -> 1",
            "worker -> 3"
        ]
    );
    assert_eq!(relation("Service", "memory_limit"), ["redis -> 52428800"]);
    assert_eq!(
        relation("Service", "memory_reservation"),
        ["redis -> 20971520"]
    );
    assert_eq!(relation("Service", "cpu_limit"), ["redis -> 500000000"]);
    assert_eq!(
        relation("FileUse", "path"),
        ["my_secret -> /run/secrets/redis_secret"]
    );
    assert_eq!(
        relation("Service", "stop_grace_period"),
        ["visualizer -> 90000000000"]
    );
    assert_eq!(
        relation("Network", "subnets"),
        [
            "frontend -> 172.16.238.0/24",
            "frontend -> 2001:3984:3989::/64"
        ]
    );
    assert_eq!(
        relation("Component", "actual_name")
            .into_iter()
            .filter(|line| line.contains("db-data"))
            .collect::<Vec<_>>(),
        ["db-data -> composetest_db-data"]
    );
}
