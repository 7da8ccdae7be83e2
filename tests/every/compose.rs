//! Random Compose projects with profiles and variables.

use std::fmt::Write as _;

use super::random::Random;
use super::{Case, Domain};

const PROFILES: [&str; 4] = ["dev", "test", "debug", "ops"];

/// What a variable is for, and values that it is tried with.
const KINDS: [(&str, &[&str]); 13] = [
    ("PORT", &["8080", "8081", "9000", "70000", "x", "0"]),
    ("TAG", &["1.27", "latest", "a b"]),
    ("RESTART", &["always", "no", "sometimes"]),
    ("COUNT", &["1", "2", "0", "x"]),
    ("NET", &["front", "back", "nowhere"]),
    ("NAME", &["one", "two", "a b"]),
    ("MEMORY", &["64m", "1g", "4k", "x"]),
    ("ADDRESS", &["10.8.0.9", "10.8.0.1", "10.9.0.9", "x"]),
    ("VOLUME", &["data", "other", "missing", "./own"]),
    ("NEEDS", &["s0", "s1", "s2", "s9"]),
    (
        "MODE",
        &["host", "none", "service:s0", "service:s1", "service:s9"],
    ),
    ("HOST", &["s0", "s1", "one", "elsewhere"]),
    ("PART", &["at", "ther", "x"]),
];

/// Variables of a project.
#[derive(Default)]
struct Variables {
    used: Vec<(String, usize)>,
    most: usize,
}

impl Variables {
    /// A value of a kind: as it is, or a variable.
    fn value(&mut self, random: &mut Random, kind: usize, plain: &str) -> String {
        let (name, _) = KINDS[kind];
        let name = match random.below(2) {
            0 => name.to_owned(),
            _ => format!("{name}_2"),
        };
        let known = self.used.iter().any(|(other, _)| *other == name);
        if (!known && self.used.len() >= self.most) || random.once_in(3) {
            return plain.to_owned();
        }
        if !known {
            self.used.push((name.clone(), kind));
        }
        match random.below(7) {
            5 => format!("${{{name}:-${{{name}-{plain}}}}}"),
            // What a port is compared with is not looked for in what stands in for another.
            6 if kind > 0 => format!("${{{name}:+{plain}}}"),
            0 => format!("${{{name}:?must be given}}"),
            1 => format!("${{{name}-{plain}}}"),
            2 => format!("${{{name}}}"),
            _ => format!("${{{name}:-{plain}}}"),
        }
    }
}

/// A random project: its inputs are profiles.
pub(crate) fn project(random: &mut Random) -> Case {
    write(random, 0)
}

/// A random project whose inputs are profiles and variables.
pub(crate) fn variables(random: &mut Random) -> Case {
    write(random, 2)
}

fn write(random: &mut Random, most: usize) -> Case {
    let mut variables = Variables {
        most,
        ..Variables::default()
    };
    let count = 2 + random.below(5);
    let profiles = &PROFILES[..1 + random.below(4)];
    let mut out = String::from("services:\n");
    let mut used: Vec<&str> = Vec::new();
    for at in 0..count {
        let tag = variables.value(random, 1, "1.27");
        let _ = writeln!(out, "  s{at}:\n    image: \"nginx:{tag}\"");
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
            let port = variables.value(random, 0, port);
            let _ = writeln!(out, "    ports: [\"{port}:80\"]");
        }
        if random.once_in(3) {
            let name = random.pick(&["one", "two"]);
            let name = variables.value(random, 5, name);
            let _ = writeln!(out, "    container_name: \"{name}\"");
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
                        let to = variables.value(random, 9, &format!("s{to}"));
                        let key = if random.once_in(4) {
                            "links"
                        } else {
                            "depends_on"
                        };
                        let _ = writeln!(out, "    {key}: [\"{to}\"]");
                    }
                }
            }
        }
        if random.once_in(3) {
            let volume = random.pick(&["data:/data", "other:/data", "data:/data:ro", "missing:/m"]);
            let (source, rest) = volume.split_once(':').unwrap();
            let source = match random.below(4) {
                0 if source == "data" => format!("d{}a", variables.value(random, 12, "at")),
                _ => variables.value(random, 8, source),
            };
            let _ = writeln!(out, "    volumes: [\"{source}:{rest}\"]");
        }
        if random.once_in(6) {
            let address = random.pick(&["10.8.0.9", "10.8.0.1", "10.9.0.9"]);
            let address = variables.value(random, 7, address);
            let _ = writeln!(
                out,
                "    networks: {{ fixed: {{ ipv4_address: \"{address}\" }} }}"
            );
        } else if random.once_in(4) {
            let net = random.pick(&["front", "back", "nowhere"]);
            let net = variables.value(random, 4, net);
            let _ = writeln!(out, "    networks: [\"{net}\"]");
        } else if random.once_in(5) {
            let to = random.below(count);
            let mode = variables.value(random, 10, &format!("service:s{to}"));
            let _ = writeln!(out, "    network_mode: \"{mode}\"");
        }
        if variables.most > 0 && random.once_in(5) {
            let host = format!("s{}", random.below(count));
            let host = variables.value(random, 11, &host);
            let _ = writeln!(out, "    environment: {{ API_URL: \"http://{host}:80/\" }}");
        }
        if random.once_in(4) {
            let count = variables.value(random, 3, "2");
            let _ = writeln!(out, "    deploy: {{ replicas: {count:?} }}");
        }
        if variables.most > 0 && random.once_in(3) {
            let restart = variables.value(random, 2, "always");
            let _ = writeln!(out, "    restart: \"{restart}\"");
        }
        if variables.most > 0 && random.once_in(3) {
            let memory = variables.value(random, 6, "64m");
            let _ = writeln!(out, "    mem_limit: \"{memory}\"");
        }
    }
    out += "volumes:\n  data: {}\n  other: {}\nnetworks:\n  front: {}\n  back: {}\n  \
            fixed: { ipam: { config: [{ subnet: 10.8.0.0/24, gateway: 10.8.0.1 }] } }\n";
    let mut inputs: Vec<Domain> = used
        .iter()
        .map(|profile| {
            let on = Some("true".to_owned());
            (format!("profile {profile}"), vec![None, on])
        })
        .collect();
    for (name, kind) in &variables.used {
        let (_, values) = KINDS[*kind];
        let values = values.iter().map(|value| Some((*value).to_owned()));
        inputs.push((name.clone(), [None].into_iter().chain(values).collect()));
    }
    Case {
        language: "compose",
        file: "compose.yaml",
        text: out,
        inputs,
        free: !variables.used.is_empty(),
    }
}
