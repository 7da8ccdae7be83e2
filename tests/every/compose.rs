//! Random Compose projects with profiles.

use std::fmt::Write as _;

use super::random::Random;
use super::{Case, Domain};

const PROFILES: [&str; 4] = ["dev", "test", "debug", "ops"];

/// A random project: its inputs are profiles.
pub(crate) fn project(random: &mut Random) -> Case {
    let count = 2 + random.below(5);
    let profiles = &PROFILES[..1 + random.below(4)];
    let mut out = String::from("services:\n");
    let mut used: Vec<&str> = Vec::new();
    for at in 0..count {
        let _ = writeln!(out, "  s{at}:\n    image: nginx:1.27");
        if random.once_in(2) {
            let mut own = vec![random.pick(profiles)];
            if random.once_in(3) {
                let more = random.pick(profiles);
                if !own.contains(&more) {
                    own.push(more);
                }
            }
            for profile in &own {
                if !used.contains(profile) {
                    used.push(profile);
                }
            }
            let _ = writeln!(out, "    profiles: [{}]", own.join(", "));
        }
        if random.once_in(2) {
            let port = random.pick(&["8080", "8081", "9000"]);
            let _ = writeln!(out, "    ports: [\"{port}:80\"]");
        }
        if random.once_in(3) {
            let _ = writeln!(out, "    container_name: {}", random.pick(&["one", "two"]));
        }
        if random.once_in(2) {
            let to = random.below(count);
            if to != at || random.once_in(6) {
                let long = random.once_in(2);
                match long {
                    true => {
                        let condition = random.pick(&[
                            "service_started",
                            "service_healthy",
                            "service_completed_successfully",
                        ]);
                        let required = random.pick(&["true", "false"]);
                        let _ = writeln!(
                            out,
                            "    depends_on: {{ s{to}: {{ condition: {condition}, required: {required} }} }}"
                        );
                    }
                    false => {
                        let _ = writeln!(out, "    depends_on: [s{to}]");
                    }
                }
            }
        }
        if random.once_in(3) {
            let volume = random.pick(&["data:/data", "other:/data", "data:/data:ro", "missing:/m"]);
            let _ = writeln!(out, "    volumes: [\"{volume}\"]");
        }
        if random.once_in(4) {
            let net = random.pick(&["front", "back", "nowhere"]);
            let _ = writeln!(out, "    networks: [{net}]");
        } else if random.once_in(5) {
            let to = random.below(count);
            let _ = writeln!(out, "    network_mode: \"service:s{to}\"");
        }
        if random.once_in(4) {
            out += "    deploy: { replicas: 2 }\n";
        }
    }
    out += "volumes:\n  data: {}\n  other: {}\nnetworks:\n  front: {}\n  back: {}\n";
    let inputs: Vec<Domain> = used
        .iter()
        .map(|profile| {
            let on = Some("true".to_owned());
            (format!("profile {profile}"), vec![None, on])
        })
        .collect();
    Case {
        language: "compose",
        file: "compose.yaml",
        text: out,
        inputs,
    }
}
