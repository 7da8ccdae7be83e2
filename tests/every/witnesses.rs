//! The command in a witness file is called as it is, whatever the configuration was checked with.

use std::path::Path;

use super::attacks::replay_with;

/// Writes files and calls the command in each witness of them.
fn replayed(files: &[(&str, &str)], arguments: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(path, text).unwrap();
    }
    replay_with(folder.path(), arguments)
}

const SIZES: &str = "heat_template_version: 2021-04-16
parameters:
  least: { type: number, default: 1, constraints: [{ range: { min: 1, max: 5 } }] }
  most: { type: number, default: 5, constraints: [{ range: { min: 1, max: 5 } }] }
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: { get_param: least }
      max_size: { get_param: most }
      resource: { type: My::Volume, properties: { size: { get_param: least } } }
";

#[test]
fn environments_and_parameters_are_given_again() {
    let environment = "resource_registry: { 'My::Volume': OS::Cinder::Volume }\n";
    let files = [("own stack.yaml", SIZES), ("it's.yaml", environment)];
    let given = ["-e", "it's.yaml", "--param", "most=2", "own stack.yaml"];
    assert_eq!(replayed(&files, &given), 1);
}

#[test]
fn templates_of_one_name_in_several_folders_have_witnesses_of_their_own() {
    let text = SIZES.replace("My::Volume", "OS::Cinder::Volume");
    let files = [("a/stack.yaml", text.as_str()), ("b/stack.yaml", &text)];
    assert_eq!(replayed(&files, &["."]), 2);
}

#[test]
fn settings_that_were_named_are_named_again() {
    let text = SIZES.replace("My::Volume", "OS::Cinder::Volume");
    let files = [
        ("stack.yaml", text.as_str()),
        ("own.toml", "[heat]\nenvironments = [\"env.yaml\"]\n"),
        ("env.yaml", "parameters: { most: 3 }\n"),
    ];
    assert_eq!(replayed(&files, &["--config", "own.toml", "stack.yaml"]), 1);
}

const PORTS: &str = "services:
  a: { image: 'nginx:1.27', ports: ['${PORT}:80'] }
  b: { image: 'nginx:1.27', ports: ['${OTHER:-9000}:80'], profiles: [x] }
  c: { image: 'nginx:1.27', ports: ['${PORT}:81'], profiles: [y] }
";

#[test]
fn what_environment_files_give_stays_given() {
    let files = [("compose.yaml", PORTS), (".env", "PORT=8080\n")];
    assert!(replayed(&files, &["compose.yaml"]) >= 2);
    let files = [
        ("compose.yaml", PORTS),
        (".env", "PORT=8080\nCOMPOSE_PROFILES=x\n"),
    ];
    assert!(replayed(&files, &["compose.yaml"]) >= 2);
    let files = [("compose.yaml", PORTS), ("own.env", "PORT=8080\n")];
    let given = ["--env-file", "own.env", "--profile", "x", "compose.yaml"];
    assert!(replayed(&files, &given) >= 2);
}

#[test]
fn files_that_are_merged_are_named_together() {
    let one = "services:\n  a: { image: 'nginx:1.27', ports: ['${PORT:-8081}:80'] }\n";
    let two = "services:\n  b: { image: 'nginx:1.27', ports: ['8080:80'], profiles: [x] }\n";
    let files = [("one.yaml", one), ("two.yaml", two)];
    assert!(replayed(&files, &["-f", "one.yaml", "-f", "two.yaml"]) >= 1);
}

#[test]
fn manifests_of_a_folder_are_named_together() {
    let workload = "apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers: [{name: c, image: 'example/c:1.0', resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {memory: 64Mi}}}]
";
    let scaler = "apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: api, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}, minReplicas: 2, maxReplicas: 6}
";
    let quota = "apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: shop}
spec: {hard: {pods: '4'}}
";
    let files = [
        ("shop/api.yaml", workload),
        ("shop/scaler.yaml", scaler),
        ("shop/quota.yaml", quota),
    ];
    assert_eq!(replayed(&files, &["shop"]), 1);
}
