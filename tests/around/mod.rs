//! What comes from other programs: charts and kustomizations that they render, and what is in a cluster.
//!
//! Where `helm`, `kustomize` or `kubectl` is on the path it is asked; elsewhere a script answers what it answered.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use super::{command, project};

/// Whether a program is on the path of the tests.
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A folder with a script of this name.
fn script(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Runs `locus` with a program on its path that answers, unless the real one is there.
fn with(program: &str, answer: &str, folder: &Path, args: &[&str]) -> Output {
    let real = match program {
        "kustomize" => has("kustomize") || has("kubectl"),
        program => has(program),
    };
    if real {
        return super::locus(folder, args);
    }
    stand_in(program, answer, folder, args)
}

/// Runs `locus` with a script on its path, before all others.
fn stand_in(program: &str, answer: &str, folder: &Path, args: &[&str]) -> Output {
    let own = script(program, answer);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = [PathBuf::from(own.path())].into_iter();
    let all = std::env::join_paths(all.chain(std::env::split_paths(&path))).unwrap();
    let mut command = command(folder, args);
    command.env("PATH", all).output().unwrap()
}

/// What is found: rule, file, line and column.
fn places(output: &Output) -> Vec<String> {
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let findings = report["findings"].as_array().unwrap().iter();
    let place = findings.map(|finding| {
        let (rule, file) = (&finding["rule"], &finding["file"]);
        let (rule, file) = (rule.as_str().unwrap(), file.as_str().unwrap());
        format!("{file}:{}:{} {rule}", finding["line"], finding["column"])
    });
    let mut all: Vec<String> = place.collect();
    all.sort();
    all
}

const CHART: &str = "apiVersion: v2\nname: shop\nversion: 1.0.0\n";
const VALUES: &str = "replicas: two\nvolumes: [data, cash]\n";
const HELPERS: &str = "{{- define \"labels\" }}\napp: web\n{{- end }}\n";
const TEMPLATE: &str = "{{- if .Values.replicas }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      {{- include \"labels\" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include \"labels\" . | nindent 8 }}
    spec:
      volumes:
        - name: data
          emptyDir: {}
      containers:
        - name: web
          image: example/web:1
          imagePulPolicy: Always
          volumeMounts:
            {{- range .Values.volumes }}
            - name: {{ . }}
              mountPath: /{{ . }}
            {{- end }}
{{- end }}
";
const RENDERED: &str = "cat <<'END'
---
# Source: shop/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: two
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      volumes:
        - name: data
          emptyDir: {}
      containers:
        - name: web
          image: example/web:1
          imagePulPolicy: Always
          volumeMounts:
            - name: data
              mountPath: /data
            - name: cash
              mountPath: /cash
END
";

fn chart() -> TempDir {
    project(&[
        ("shop/Chart.yaml", CHART),
        ("shop/values.yaml", VALUES),
        ("shop/templates/_helpers.tpl", HELPERS),
        ("shop/templates/web.yaml", TEMPLATE),
    ])
}

#[test]
fn a_chart_is_rendered_and_findings_are_in_its_templates() {
    let folder = chart();
    let args = ["check", "--format", "json", "--render", "shop"];
    let output = with("helm", RENDERED, folder.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        places(&output),
        [
            "shop/templates/web.yaml:22:11 k8s-unknown-field",
            // What a loop writes is found at its line, and what markup writes at the markup.
            "shop/templates/web.yaml:25:21 K8S033",
            "shop/templates/web.yaml:7:13 k8s-type",
        ]
    );
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("rendered as `two`"), "{report}");
}

/// A template of which one value is markup, and what it is rendered to.
fn cluster_chart() -> (TempDir, String) {
    let rights = "apiVersion: rbac.authorization.k8s.io/v1\nkind:";
    let group = "apiGroup: rbac.authorization.k8s.io";
    let documents = [
        "apiVersion: v1\nkind: Node\nmetadata: {name: one}\nstatus: {allocatable: {cpu: @, pods: '9'}}\n".to_owned(),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n  containers:\n    - {name: web, image: 'i:1', resources: {requests: {cpu: 2}}}\n".to_owned(),
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: closed, namespace: shop}\nspec: {podSelector: {}, policyTypes: [Ingress]}\n".to_owned(),
        format!("{rights} ClusterRole\nmetadata: {{name: reader}}\nrules: [{{apiGroups: [''], resources: [pods], verbs: [get]}}]\n"),
        format!("{rights} ClusterRoleBinding\nmetadata: {{name: readers}}\nroleRef: {{{group}, kind: ClusterRole, name: reader}}\nsubjects: [{{kind: User, name: ann, {group}}}]\n"),
    ];
    let template = documents.join("---\n").replace('@', "{{ .Values.cpu }}");
    let folder = project(&[
        ("shop/Chart.yaml", CHART),
        ("shop/values.yaml", "cpu: 1\n"),
        ("shop/templates/all.yaml", &template),
    ]);
    let mut rendered = String::from("cat <<'END'\n");
    for document in documents {
        rendered += "---\n# Source: shop/templates/all.yaml\n";
        rendered += &document.replace('@', "1");
    }
    rendered += "END\n";
    (folder, rendered)
}

#[test]
fn every_command_tells_where_in_the_templates_of_a_chart_something_is() {
    let (folder, rendered) = cluster_chart();
    let run = |args: &[&str]| {
        let output = stand_in("helm", &rendered, folder.path(), args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(!all.contains("Chart.yaml"), "{args:?}: {all}");
        all
    };
    let file = "shop/templates/all.yaml";
    let explained = run(&[
        "reach",
        "--render",
        "shop",
        "--from",
        "outside",
        "--to",
        "web",
        "--explain",
    ]);
    assert!(explained.contains(&format!("({file}:15)")), "{explained}");
    let json = run(&[
        "reach",
        "--render",
        "shop",
        "--from",
        "outside",
        "--to",
        "web",
        "--explain",
        "--format",
        "json",
    ]);
    assert!(json.contains(&format!("\"file\": \"{file}\"")), "{json}");
    let who = run(&["who-can", "get", "pods", "--render", "shop"]);
    assert!(who.contains(&format!("({file}:21:")), "{who}");
    let place = run(&["place", "--render", "shop"]);
    assert!(place.contains(&format!("{file}:")), "{place}");
    let graph = run(&["graph", "--format", "json", "--render", "shop"]);
    assert!(graph.contains(file), "{graph}");
}

#[test]
fn values_and_the_namespace_are_given_to_helm() {
    let folder = chart();
    let args = [
        "check",
        "--render",
        "shop",
        "--values",
        "more.yaml",
        "--namespace",
        "live",
        "--kubernetes-version",
        "1.33",
    ];
    let output = stand_in("helm", "echo \"$@\" > asked\n", folder.path(), &args);
    assert_ne!(output.status.code(), Some(3));
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    for part in [
        "--values more.yaml",
        "--namespace live",
        "--kube-version 1.33.0",
        "/shop ",
    ] {
        assert!(asked.contains(part), "{asked}");
    }
}

#[test]
fn what_cannot_be_rendered_is_unchecked() {
    let folder = chart();
    let args = ["check", "--render", "shop"];
    let refused = "echo 'Error: no such helper' >&2; exit 1\n";
    let output = stand_in("helm", refused, folder.path(), &args);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("cannot render `shop/Chart.yaml`"), "{told}");
    assert!(told.contains("no such helper"), "{told}");
    let nowhere = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), &args);
    let output = command.env("PATH", nowhere.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("`helm` is not on the path"), "{told}");
    let output = super::locus(folder.path(), &["check", "shop"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("locus check --render shop"), "{told}");
    assert!(
        !told.contains("templates/web.yaml:"),
        "no line by itself: {told}"
    );
}

const BUILT: &str = "cat <<'END'
apiVersion: v1
data:
  mode: fast
kind: ConfigMap
metadata:
  annotations:
    config.kubernetes.io/origin: |
      configuredIn: FOLDER/base/kustomization.yaml
      configuredBy:
        apiVersion: builtin
        kind: ConfigMapGenerator
  name: live-mode-2hd2t8cg92
---
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    config.kubernetes.io/origin: |
      path: FOLDER/base/web.yaml
  name: live-web
spec:
  replicas: -3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - image: example/web:1
        imagePulPolicy: Always
        name: web
END
";

#[test]
fn a_kustomization_is_built_and_findings_are_in_its_files() {
    let folder = project(&[
        (
            "k8s/base/kustomization.yaml",
            "resources: [web.yaml]\nconfigMapGenerator:\n  - name: mode\n    literals: [mode=fast]\n",
        ),
        (
            "k8s/base/web.yaml",
            "kind: Deployment\napiVersion: apps/v1\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n        - name: web\n          imagePulPolicy: Always\n          image: example/web:1\n",
        ),
        (
            "k8s/live/kustomization.yaml",
            "namePrefix: live-\nresources: [../base]\npatches: [{path: more.yaml}]\n",
        ),
        (
            "k8s/live/more.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: -3\n",
        ),
    ]);
    // The script prints paths that are relative to the fresh folder that it is given.
    let answer = format!("here={}\n", folder.path().join("k8s").display())
        + "way=$(realpath --relative-to=\"$2\" \"$here\")\n"
        + &BUILT.replace("cat <<'END'", "sed \"s#FOLDER#$way#\" <<'END'");
    let args = ["check", "--format", "json", "--render", "k8s"];
    let output = with("kustomize", &answer, folder.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        places(&output),
        [
            "k8s/base/web.yaml:13:11 k8s-unknown-field",
            "k8s/live/more.yaml:5:13 k8s-value",
        ]
    );
}

const THERE: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"k": "v"}},
  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "odd", "namespace": "default"},
   "spec": {"containers": [{"name": "c", "imagePulPolicy": "Always"}]}},
  {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
   "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}}}
]}"#;

#[test]
fn what_is_there_already_may_be_referred_to_and_is_not_checked() {
    let folder = project(&[("pod.yaml", super::POD), ("there.json", THERE)]);
    assert_eq!(super::found(folder.path(), &["pod.yaml"]).0, ["K8S004"]);
    let args = ["pod.yaml", "--existing", "there.json"];
    assert_eq!(super::found(folder.path(), &args), (vec![], 0, 0));
    // Nodes that are there are those that pods are put on.
    let big = super::POD.replace(
        "    image: i:1\n",
        "    image: i:1\n    resources: {requests: {cpu: 3}}\n",
    );
    fs::write(folder.path().join("pod.yaml"), big).unwrap();
    let (codes, ..) = super::found(folder.path(), &args);
    assert_eq!(codes, ["K8S300"]);
}

#[test]
fn a_cluster_is_asked_for_what_is_there() {
    let folder = project(&[("pod.yaml", super::POD), ("there.json", THERE)]);
    let answer = "case $1 in\napi-resources) printf 'configmaps\\npods\\nnodes\\nevents\\n';;\nget) echo \"$2\" > asked; cat there.json;;\nesac\n";
    let check = |args: &[&str]| {
        let all = [&["check", "--format", "json", "--cluster"], args].concat();
        stand_in("kubectl", answer, folder.path(), &all)
    };
    let output = check(&["pod.yaml"]);
    assert_eq!(super::codes(&output), (vec![], 0, 0));
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert_eq!(asked, "configmaps,pods,nodes\n");
    let live = check(&["--live"]);
    assert!(
        super::codes(&live)
            .0
            .contains(&"k8s-unknown-field".to_owned()),
        "{:?}",
        super::codes(&live)
    );
    // A role of the server's own may do everything; one like it is found.
    let role = |name: &str, labels: &str| {
        format!(
            r#"{{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {{"name": "{name}", "labels": {{{labels}}}}},
            "rules": [{{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}}]}}"#
        )
    };
    let made = r#""kubernetes.io/bootstrapping": "rbac-defaults""#;
    let settings = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}"#;
    let list = |roles: &[String]| {
        let roles = roles.join(", ");
        format!(r#"{{"items": [{settings}, {roles}]}}"#)
    };
    let there = folder.path().join("there.json");
    fs::write(&there, list(&[role("system:own", made)])).unwrap();
    assert_eq!(super::codes(&check(&["--live"])), (vec![], 0, 0));
    let both = [role("system:own", made), role("mine", "")];
    fs::write(&there, list(&both)).unwrap();
    let (mut codes, ..) = super::codes(&check(&["--live"]));
    codes.dedup();
    assert_eq!(codes, ["K8S056"]);
    let refused = "echo 'The connection was refused' >&2; exit 1\n";
    let all = ["check", "--cluster", "pod.yaml"];
    let output = stand_in("kubectl", refused, folder.path(), &all);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("The connection was refused"), "{told}");
}

/// A node whose storage driver can attach some volumes.
fn node(volumes: u32) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: n1}}\nstatus: {{allocatable: {{cpu: 8, memory: 8Gi, pods: 10}}}}\n---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {{name: n1}}\nspec: {{drivers: [{{name: disk.example.org, nodeID: n1, allocatable: {{count: {volumes}}}}}]}}\n---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: fast}}\nprovisioner: disk.example.org\n"
    )
}

#[test]
fn a_node_takes_as_many_volumes_as_its_driver_can_attach() {
    let set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  serviceName: db\n  replicas: 3\n  selector: {matchLabels: {app: db}}\n  template:\n    metadata: {labels: {app: db}}\n    spec:\n      containers:\n      - name: db\n        image: example/db:1\n        volumeMounts: [{name: data, mountPath: /data}]\n  volumeClaimTemplates:\n  - metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {clusterIP: None, selector: {app: db}, ports: [{port: 5432}]}\n";
    for (volumes, expected) in [(2, true), (3, false)] {
        let there = node(volumes);
        let folder = project(&[("db.yaml", set), ("there.yaml", &there)]);
        let args = ["db.yaml", "--existing", "there.yaml", "--only", "K8S300"];
        let (codes, ..) = super::found(folder.path(), &args);
        assert_eq!(codes.contains(&"K8S300".to_owned()), expected, "{volumes}");
    }
}

#[test]
fn a_template_is_not_read_as_a_manifest() {
    let folder = chart();
    let named = super::found(folder.path(), &["shop/templates/web.yaml"]);
    assert_eq!(named, (vec![], 1, 2));
    let inside = super::found(&folder.path().join("shop/templates"), &["web.yaml"]);
    assert_eq!(inside, (vec![], 1, 2));
    let only = super::found(folder.path(), &["shop/templates"]);
    assert_eq!(only, (vec![], 1, 2), "nothing was checked");
}

/// A component that only changes what others have is nothing by itself, which is no mistake.
#[test]
fn what_is_rendered_to_nothing_is_left_out() {
    let folder = project(&[(
        "tag/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nimages: [{name: web, newTag: '2'}]\n",
    )]);
    let answer = "exit 0\n";
    let args = ["check", "--render", "--format", "json", "tag"];
    let output = stand_in("kustomize", answer, folder.path(), &args);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("is rendered to nothing"), "{told}");
    assert!(places(&output).is_empty());
}
