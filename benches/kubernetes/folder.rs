//! A folder of 10,000 objects, with all rules and beside other checkers.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Figure;

/// So many namespaces of about 50 objects, two or three policies in each.
fn write(folder: &Path, namespaces: usize) {
    fs::create_dir_all(folder).unwrap();
    for at in 0..namespaces {
        let mut out = format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: n{at}\n");
        for app in 0..12 {
            let _ = write!(
                out,
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d{app}\n  namespace: n{at}\nspec:\n  replicas: 3\n  \
                 selector:\n    matchLabels:\n      app: d{app}\n  template:\n    metadata:\n      labels:\n        app: d{app}\n    \
                 spec:\n      serviceAccountName: s{app}\n      containers:\n        - name: c\n          image: example/c:1.4\n          \
                 ports:\n            - name: http\n              containerPort: 8080\n          envFrom:\n            - configMapRef:\n                \
                 name: c{app}\n          resources:\n            requests:\n              cpu: 100m\n              memory: 64Mi\n\
                 ---\napiVersion: v1\nkind: Service\nmetadata:\n  name: d{app}\n  namespace: n{at}\nspec:\n  selector:\n    app: d{app}\n  \
                 ports:\n    - port: 80\n      targetPort: http\n\
                 ---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{app}\n  namespace: n{at}\ndata:\n  a: b\n\
                 ---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: s{app}\n  namespace: n{at}\n"
            );
        }
        for policy in 0..2 + (at + 1) % 2 {
            let _ = write!(
                out,
                "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: p{policy}\n  namespace: n{at}\nspec:\n  \
                 podSelector:\n    matchLabels:\n      app: d{policy}\n  policyTypes:\n    - Ingress\n  ingress:\n    - from:\n        \
                 - namespaceSelector:\n            matchLabels:\n              kubernetes.io/metadata.name: n{}\n          podSelector:\n            \
                 matchLabels:\n              app: d{policy}\n      ports:\n        - port: http\n",
                (at + 1) % namespaces
            );
        }
        fs::write(folder.join(format!("n{at}.yaml")), out).unwrap();
    }
}

/// The shortest of three runs, and the most memory that was used, in MiB.
fn run(command: &mut dyn FnMut() -> Command) -> (Duration, f64) {
    run_times(3, command)
}

fn run_times(times: usize, command: &mut dyn FnMut() -> Command) -> (Duration, f64) {
    let (mut best, mut peak) = (Duration::MAX, 0.0_f64);
    for _ in 0..times {
        let start = Instant::now();
        let mut child = command()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let status = format!("/proc/{}/status", child.id());
        while child.try_wait().unwrap().is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let size = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
            peak = peak.max(size.unwrap_or(0.0) / 1024.0);
            std::thread::sleep(Duration::from_millis(2));
        }
        best = best.min(start.elapsed());
    }
    (best, peak)
}

/// The tests of kube-score that are off by default.
const OPTIONAL: [&str; 6] = [
    "container-resource-requests-equal-limits",
    "container-cpu-requests-equal-limits",
    "container-memory-requests-equal-limits",
    "container-ephemeral-storage-request-equals-limit",
    "container-ports-check",
    "container-seccomp-profile",
];

/// All checks of kube-linter. The one of schemas fetches them from the network, and waits for it without end where there is none: it is
/// given those of kubeconform, or left out.
fn linter_config() -> String {
    let all = "checks:\n  addAllBuiltIn: true\n  exclude: [schema-validation]\n";
    let Ok(schemas) = std::env::var("KUBECONFORM_SCHEMAS") else {
        return all.to_owned();
    };
    format!(
        "{all}customChecks:\n- name: schemas\n  template: kubeconform\n  scope: {{objectKinds: [Any]}}\n  params:\n    \
         strict: true\n    ignoreMissingSchemas: true\n    schemaLocations: ['{schemas}']\n"
    )
}

fn locus(folder: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_locus"));
    command.arg("check").args(flags).arg(folder);
    command
}

pub(crate) fn measure(figures: &mut Vec<Figure>) {
    let root = std::env::temp_dir().join(format!("locus-kubernetes-{}", std::process::id()));
    let (whole, quarter) = (root.join("whole"), root.join("quarter"));
    write(&whole, 200);
    write(&quarter, 50);
    let mut figure = |name: String, value: f64, unit: &'static str, limit: f64| {
        figures.push(Figure {
            name,
            value,
            unit,
            limit,
        });
    };
    let (time, memory) = run(&mut || locus(&whole, &["--all-rules"]));
    let (less, _) = run(&mut || locus(&quarter, &["--all-rules"]));
    figure(
        "10,300 objects, all rules".into(),
        time.as_secs_f64(),
        "s",
        3.0,
    );
    figure("the same, memory".into(), memory, "MiB", 1024.0);
    let growth = (time.as_secs_f64() / less.as_secs_f64()).ln() / 4.0_f64.ln();
    figure("the same, growth: exponent".into(), growth, "", 1.2);
    // How much faster than each, so that a limit is a share of their time.
    for (name, variable, times) in [
        ("kube-linter", "KUBE_LINTER", 10.0),
        ("kube-score", "KUBE_SCORE", 10.0),
        ("checkov", "CHECKOV", 100.0),
    ] {
        let Some(program) = std::env::var_os(variable) else {
            println!("{name} is left out: name it with {variable}");
            continue;
        };
        // One of them takes two minutes.
        let runs = if name == "checkov" { 1 } else { 3 };
        let (theirs, _) = run_times(runs, &mut || {
            let mut command = Command::new(&program);
            match name {
                "kube-linter" => {
                    let config = root.join("kube-linter.yaml");
                    fs::write(&config, linter_config()).unwrap();
                    command.arg("lint").arg("--config").arg(config).arg(&whole)
                }
                "kube-score" => {
                    command.arg("score");
                    for test in OPTIONAL {
                        command.args(["--enable-optional-test", test]);
                    }
                    command.args(files(&whole))
                }
                _ => command
                    .args(["--framework", "kubernetes", "--quiet", "--compact"])
                    .args(["--skip-download", "-d"])
                    .arg(&whole),
            };
            command
        });
        let share = time.as_secs_f64() / theirs.as_secs_f64();
        figure(
            format!("the same, share of the time of {name}"),
            share,
            "",
            1.0 / times,
        );
    }
    match std::env::var_os("KUBECONFORM").zip(std::env::var_os("KUBECONFORM_SCHEMAS")) {
        None => println!(
            "kubeconform is left out: name it and its schemas with KUBECONFORM and KUBECONFORM_SCHEMAS"
        ),
        Some((program, schemas)) => {
            let (theirs, _) = run(&mut || {
                let mut command = Command::new(&program);
                command
                    .args(["-strict", "-n", "2", "-schema-location"])
                    .arg(&schemas)
                    .arg(&whole);
                command
            });
            // What the server refuses is always checked; one rule is as few as can be asked for.
            let (ours, _) = run(&mut || locus(&whole, &["--only", "K8S036"]));
            let share = ours.as_secs_f64() / theirs.as_secs_f64();
            figure(
                "schema checks, share of the time of kubeconform".into(),
                share,
                "",
                1.0,
            );
        }
    }
    let _ = fs::remove_dir_all(&root);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}
