//! Manifests as a whole.

use locus_core::{Severity, Sources};

use super::access::Access as _;
use super::model::Model;
use super::{Manifests, Options, load};
use crate::loader::MemoryLoader;

fn read(options: &Options, files: &[(&str, &str)]) -> (Manifests, Vec<String>) {
    let mut loader = MemoryLoader::new();
    for (name, text) in files {
        loader.insert(name, text);
    }
    let mut sources = Sources::new();
    let manifests = load(options, &loader, &mut sources);
    let told = manifests.diagnostics.iter().map(|diagnostic| {
        let at = diagnostic
            .primary()
            .map_or(0, |span| sources.start(span).line);
        format!("{at} {}: {}", diagnostic.code, diagnostic.message)
    });
    let told = told.collect();
    (manifests, told)
}

/// What is said about one file.
fn told(text: &str) -> Vec<String> {
    told_for(37, text)
}

fn told_for(release: u8, text: &str) -> Vec<String> {
    let options = Options {
        files: vec!["a.yaml".to_owned()],
        release,
        ..Options::default()
    };
    read(&options, &[("a.yaml", text)]).1
}

#[test]
fn a_manifest_without_mistakes_is_accepted() {
    let text = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  creationTimestamp: null
spec:
  replicas: 3.0
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: example/web:1.0
          resources:
            limits: {cpu: 1, memory: 1.5Gi}
          livenessProbe:
            httpGet: {port: http, path: /}
          ports:
            - {containerPort: 80, name: http}
";
    assert_eq!(told(text), Vec::<String>::new());
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "apiVersion: v1
kind: Pod
metadata:
  name: Web
  labels: {app: 'a b'}
spec:
  restartPolicy: always
  container: []
  containers:
    - name: web
      image: example/web:1.0
      env:
        - {name: PORT, value: 8080}
      resources:
        requests: {cpu: 1 core}
      ports:
        - containerPort: 70000
          protocol: tcp
      livenessProbe:
        exec: {command: [ls]}
        tcpSocket: {port: 80}
";
    assert_eq!(
        told(text),
        [
            "4 k8s-name: `Web` is not a valid name of a Pod",
            "5 k8s-label: `a b` is not a valid value of a label",
            "7 k8s-value: `always` is not a value of `spec.restartPolicy`",
            "8 k8s-unknown-field: unknown field `container` in `spec`",
            "13 k8s-type: `spec.containers[0].env[0].value` must be a string, not an integer",
            "15 k8s-value: `1 core` is not a quantity, as `spec.containers[0].resources.requests.cpu` must be",
            "17 k8s-value: `spec.containers[0].ports[0].containerPort` is 70000, outside 1 to 65535",
            "18 k8s-value: `tcp` is not a value of `spec.containers[0].ports[0].protocol`",
            "21 k8s-fields: `spec.containers[0].livenessProbe` has both `exec` and `tcpSocket`; only one is allowed",
        ]
    );
}

#[test]
fn kinds_are_those_of_a_release() {
    let budget = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n";
    assert_eq!(
        told(budget),
        [
            "1 k8s-removed-api: `PodDisruptionBudget` of `policy/v1beta1` was removed in Kubernetes 1.25"
        ]
    );
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n";
    assert!(told(policy).is_empty());
    assert_eq!(told_for(29, policy).len(), 1);
    let typo = "apiVersion: apps/v1\nkind: Deploymnt\nmetadata: {name: a}\n";
    assert_eq!(
        told(typo),
        ["2 k8s-kind: there is no kind `Deploymnt` in `apps/v1`"]
    );
}

#[test]
fn lists_and_empty_documents_are_unfolded() {
    let options = Options {
        files: vec!["a.yaml".to_owned(), "b.json".to_owned()],
        ..Options::default()
    };
    let a = "---\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: ConfigMapList\n  items:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: b}\n---\n";
    let b = "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Secret\",\n\t\"metadata\": {\"name\": \"c\"}\n}\n";
    let (manifests, told) = read(&options, &[("a.yaml", a), ("b.json", b)]);
    assert_eq!(told, Vec::<String>::new());
    let names: Vec<&str> = manifests.objects.iter().map(|o| o.called()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(
        told_for(37, "hello: world\n"),
        ["1 k8s-document: this object has no `apiVersion`"]
    );
    assert_eq!(told_for(37, "---\n---\n").len(), 1, "nothing was checked");
}

#[test]
fn a_key_that_is_written_twice_is_a_warning() {
    let options = Options {
        files: vec!["a.yaml".to_owned()],
        ..Options::default()
    };
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nmetadata: {name: b}\n";
    let (manifests, told) = read(&options, &[("a.yaml", text)]);
    assert_eq!(told.len(), 1);
    assert_eq!(manifests.diagnostics[0].severity, Severity::Warning);
    assert_eq!(manifests.objects[0].called(), "b");
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: shops.example.org
spec:
  group: example.org
  scope: Namespaced
  names: {plural: shops, kind: Shop}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              required: [size]
              properties:
                size: {type: integer, minimum: 1, maximum: 5}
                tier: {type: string, enum: [gold, silver]}
                port: {x-kubernetes-int-or-string: true}
                open: {type: object, x-kubernetes-preserve-unknown-fields: true}
                names:
                  type: array
                  x-kubernetes-list-type: set
                  items: {type: string, pattern: '^[a-z]+$'}
";

#[test]
fn custom_resources_are_held_against_their_definition() {
    let options = Options {
        files: vec!["shop.yaml".to_owned()],
        crds: vec!["crd.yaml".to_owned()],
        ..Options::default()
    };
    let shop = "apiVersion: example.org/v1
kind: Shop
metadata: {name: a, lables: {}}
spec:
  size: 9
  tier: glod
  port: [1]
  open: {x: {y: 1}}
  names: [a, B, a]
  more: 1
";
    let (manifests, told) = read(&options, &[("shop.yaml", shop), ("crd.yaml", DEFINITION)]);
    assert_eq!(
        told,
        [
            "3 k8s-unknown-field: unknown field `lables` in `metadata`",
            "5 k8s-value: `spec.size` must have a value of at most 5",
            "6 k8s-value: `glod` is not a value of `spec.tier`",
            "7 k8s-type: `spec.port` must be an integer or a string, not a list",
            "9 k8s-value: `B` does not match the pattern of `spec.names[1]`",
            "9 k8s-value: an item of `spec.names` is written twice",
            "10 k8s-unknown-field: unknown field `more` in `spec`",
        ]
    );
    assert!(manifests.unchecked.is_empty());
    let alone = Options {
        files: vec!["shop.yaml".to_owned()],
        ..Options::default()
    };
    let (manifests, _) = read(&alone, &[("shop.yaml", shop)]);
    assert_eq!(manifests.unchecked.len(), 1, "an unknown kind is said");
}

#[test]
fn selectors_match_through_the_index_as_without_it() {
    let mut text = String::new();
    for (at, labels) in ["{app: a}", "{app: a, tier: x}", "{app: b}", "{}"]
        .iter()
        .enumerate()
    {
        for namespace in ["one", "two"] {
            text.push_str(&format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{at}, namespace: {namespace}, labels: {labels}}}\nspec: {{containers: [{{name: c, image: i}}]}}\n"
            ));
        }
    }
    let options = Options {
        files: vec!["a.yaml".to_owned()],
        ..Options::default()
    };
    let (manifests, told) = read(&options, &[("a.yaml", &text)]);
    assert_eq!(told, Vec::<String>::new());
    let model = Model::of(&manifests.objects);
    let selectors = [
        "{matchLabels: {app: a}}",
        "{matchLabels: {tier: x}}",
        "{matchExpressions: [{key: app, operator: NotIn, values: [a]}]}",
        "{matchExpressions: [{key: app, operator: In, values: [a, b]}]}",
        "{matchExpressions: [{key: tier, operator: DoesNotExist}]}",
        "{matchExpressions: [{key: tier, operator: Exists}], matchLabels: {app: b}}",
        "{}",
    ];
    for text in selectors {
        let mut sources = Sources::new();
        let file = sources.add("s", text);
        let parsed = crate::yaml::parse(&sources, file, &crate::yaml::Limits::default());
        let selector = super::model::Selector::of(&parsed.documents[0].root);
        for namespace in ["one", "two", "three"] {
            let found = model.select(namespace, &selector);
            let all = model.workloads.iter().enumerate();
            let wanted: Vec<usize> = all
                .filter(|(_, workload)| {
                    model.namespace(workload.object) == namespace
                        && selector.matches(&workload.labels)
                })
                .map(|(id, _)| id)
                .collect();
            assert_eq!(found, wanted, "{text} in {namespace}");
        }
    }
}

/// A word in a comment of a rule must not bring in what cannot be said: `Role` is the kind of that name here.
#[test]
fn words_of_the_location_graph_do_no_harm() {
    let words = ["Service", "provided", "required", "bound", "contains"];
    let vocabulary = super::vocabulary::vocabulary();
    let sigs = vocabulary.reachable(&words.into_iter().collect());
    let modules = vocabulary.modules(&sigs);
    let shared = modules.first().map_or("", |(_, text)| text);
    assert!(shared.contains("contains: set Location"), "{shared}");
    assert!(!shared.contains("Role"), "{shared}");
}

/// As `jq -c` prints them.
#[test]
fn objects_in_json_follow_each_other() {
    let one = |name: &str, value: &str| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "{name}"}}, "data": {{"ä": {value}}}}}"#
        )
    };
    let text = format!("{}\n{}{}", one("a", "\"1\""), one("b", "2"), one("c", "3"));
    let told = told(&text);
    let types: Vec<&String> = told
        .iter()
        .filter(|told| told.contains("k8s-type"))
        .collect();
    assert_eq!(types.len(), 2, "{told:?}");
    assert!(types.iter().all(|told| told.starts_with('2')), "{told:?}");
    // What is no object is still an error, and so is one that is not closed.
    assert!(
        told_for(37, "{\"apiVersion\": \"v1\"} x")
            .iter()
            .any(|told| told.contains("syntax"))
    );
    assert!(
        told_for(37, "a: 1\n{\"b\": 2}")
            .iter()
            .any(|told| told.contains("syntax"))
    );
}

/// What is wrong by the book, and what `kubectl` takes.
#[test]
fn what_kubectl_reads_is_read() {
    let text = "apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: c
      image: i:1
      args: [\"a\",
\t\"b\", \"it\\'s\\n\"
      ]
      command: [\"sh\", \"-c\", \"echo \\\"\\'ü\\' \\\\\"]
      workingDir:
        /tmp
      ports:
        [
          {containerPort: 80},
\t\t{containerPort: 81}
        ]
      tty: 5
";
    assert_eq!(
        told(text),
        ["19 k8s-type: `spec.containers[0].tty` must be a boolean, not an integer"]
    );
    let (manifests, _) = read(
        &Options {
            files: vec!["a.yaml".to_owned()],
            ..Options::default()
        },
        &[("a.yaml", text)],
    );
    let spec = manifests
        .objects
        .first()
        .and_then(|pod| pod.node.get("spec"));
    let container = spec.and_then(|spec| spec.items("containers").first());
    let texts = |key: &str| {
        let texts = container.map_or_else(Vec::new, |container| container.texts(key));
        texts
            .into_iter()
            .map(|text| text.text.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts("args"), ["a", "b", "it's\n"]);
    assert_eq!(texts("command"), ["sh", "-c", "echo \"'ü' \\"]);
    // In a block, a tab indents nothing for anybody.
    assert!(
        told("apiVersion: v1\nkind: Pod\nmetadata:\n\tname: a\n")
            .iter()
            .any(|told| told.contains("a tab cannot indent"))
    );
}
