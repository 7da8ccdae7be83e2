//! Manifests in an editor: names across files, selectors, ports, and what can be written.

use serde_json::{Value, json};

use crate::client::{acted, complete, complete_with, edited, labels, position, start, uri};

const WORKLOAD: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: main
          image: nginx:1.27
          ports:
            - name: http
              containerPort: 80
          env:
            - name: COLOR
              valueFrom:
                configMapKeyRef: { name: settings, key: color }
          volumeMounts:
            - { name: data, mountPath: /d }
      volumes:
        - name: data
          configMap: { name: settings }
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
    - port: 80
      targetPort: http
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  color: red
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: in
spec:
  rules:
    - http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service: { name: shop, port: { number: 80 } }
";

const FILES: &[(&str, &str)] = &[("d.yaml", WORKLOAD), ("s.yaml", SERVICE)];

const HEAD: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\n";

fn place(name: &str, line: u64) -> (String, u64) {
    (name.to_owned(), line)
}

#[test]
fn the_files_of_a_folder_are_checked_together_from_the_start() {
    let (folder, mut client) = start(FILES);
    let workload = uri(&folder.path().join("d.yaml"));
    let service = uri(&folder.path().join("s.yaml"));
    // Alone, the workload has no config map and the service no pods.
    let first = client.diagnostics(&workload, Some(1));
    assert!(
        first.iter().all(|said| said["code"] != "K8S004"),
        "{first:?}"
    );
    let said = client.diagnostics(&service, Some(1));
    let codes: Vec<&str> = said
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["K8S002"], "{said:?}");
    assert_eq!(
        said[0]["range"]["start"],
        position(SERVICE, "backend", "shop")
    );
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_new_file_that_is_not_saved_joins_its_folder() {
    let (folder, mut client) = start(&[("d.yaml", WORKLOAD)]);
    let workload = uri(&folder.path().join("d.yaml"));
    let missing = |said: &[Value]| said.iter().any(|one| one["code"] == "K8S004");
    client.said(&workload, missing);
    let new = uri(&folder.path().join("s.yaml"));
    client.open(&new, 1, SERVICE);
    client.said(&workload, |said| !missing(said));
    client.notify(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": new } }),
    );
    client.said(&workload, missing);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn names_lead_to_their_definitions_across_files() {
    let (folder, mut client) = start(FILES);
    let workload = uri(&folder.path().join("d.yaml"));
    let service = uri(&folder.path().join("s.yaml"));
    let on_workload = |after: &str, word: &str| position(WORKLOAD, after, word);
    let on_service = |after: &str, word: &str| position(SERVICE, after, word);
    let settings = place("s.yaml", 14);
    for (file, at, wanted) in [
        (
            &workload,
            on_workload("configMapKeyRef", "settings"),
            settings.clone(),
        ),
        (&workload, on_workload("configMap:", "settings"), settings),
        (
            &workload,
            on_workload("configMapKeyRef", "color"),
            place("s.yaml", 16),
        ),
        (
            &workload,
            on_workload("volumeMounts", "data"),
            place("d.yaml", 27),
        ),
        (
            &service,
            on_service("targetPort", "http"),
            place("d.yaml", 18),
        ),
        // What a selector selects: the labels that its own ask for, and as a whole the workloads.
        (&service, on_service("selector", "web"), place("d.yaml", 12)),
        (&service, on_service("spec", "selector"), place("d.yaml", 3)),
    ] {
        assert_eq!(client.definition(file, &at), [wanted], "{at}");
    }
    let found = client.references(&service, &position(SERVICE, "kind: ConfigMap", "settings"));
    let expected = [
        place("d.yaml", 23),
        place("d.yaml", 28),
        place("s.yaml", 14),
    ];
    assert_eq!(found, expected);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn config_maps_volumes_and_ports_are_renamed_everywhere() {
    let (folder, mut client) = start(FILES);
    let workload = uri(&folder.path().join("d.yaml"));
    let service = uri(&folder.path().join("s.yaml"));
    let after = |changes: &Value, uri: &String, text: &str| match changes[uri].as_array() {
        Some(edits) => edited(text, edits),
        None => text.to_owned(),
    };
    for (from, what, old, new) in [
        (
            "configMapKeyRef",
            "settings",
            "name: settings",
            "name: options",
        ),
        ("volumeMounts", "data", "name: data", "name: files"),
        ("ports", "http", "http", "web-port"),
        ("configMapKeyRef", "color", "color", "shade"),
    ] {
        let word = new.rsplit(' ').next().unwrap();
        let changes = client.renamed(&workload, &position(WORKLOAD, from, what), word);
        assert_eq!(
            after(&changes, &workload, WORKLOAD),
            WORKLOAD.replace(old, new)
        );
        let expected = SERVICE.replace(old, new).replace("- web-port", "- http");
        assert_eq!(after(&changes, &service, SERVICE), expected);
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn hover_tells_kinds_fields_and_words() {
    let (folder, mut client) = start(FILES);
    let workload = uri(&folder.path().join("d.yaml"));
    let mut hover = |after, word| client.hover(&workload, &position(WORKLOAD, after, word));
    let named = hover("configMapKeyRef", "settings");
    assert!(named.starts_with("ConfigMap `settings`"), "{named}");
    assert!(named.contains("name: settings"), "{named}");
    let field = hover("spec:\n      containers", "containers");
    assert!(
        field.contains("list of Container") && field.contains("Required"),
        "{field}"
    );
    assert!(hover("replicas", "replicas").contains("integer"));
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_selector_shows_how_many_pods_it_selects() {
    let (folder, mut client) = start(FILES);
    let service = uri(&folder.path().join("s.yaml"));
    let range = json!({
        "start": { "line": 0, "character": 0 },
        "end": { "line": 99, "character": 0 },
    });
    let hints = client.result(
        "textDocument/inlayHint",
        json!({ "textDocument": { "uri": service }, "range": range }),
    );
    assert_eq!(hints[0]["position"]["line"], 5, "{hints}");
    assert_eq!(hints[0]["label"], "selects 3 pods of 1 workload");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn what_is_missing_is_created_as_an_object() {
    let (folder, mut client) = start(FILES);
    let service = uri(&folder.path().join("s.yaml"));
    client.said(&service, |said| !said.is_empty());
    let missing = position(SERVICE, "backend", "shop");
    let after = acted(
        &mut client,
        &service,
        SERVICE,
        &missing,
        "Create the Service `shop`",
    );
    assert!(after.ends_with(
        "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: shop\nspec:\n  selector:\n    app: shop\n  ports:\n    - port: 80\n"
    ), "{after}");
    client.change(&service, 2, &after);
    let said = client.diagnostics(&service, Some(2));
    assert!(said.iter().all(|one| one["code"] != "K8S002"), "{said:?}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_missing_volume_is_created_in_its_pod() {
    let none = WORKLOAD.replace(
        "      volumes:\n        - name: data\n          configMap: { name: settings }\n",
        "",
    );
    let other = WORKLOAD.replace("        - name: data", "        - name: other");
    for (text, created) in [
        (
            none,
            "    spec:\n      volumes:\n        - name: data\n          emptyDir: {}\n      containers:",
        ),
        (
            other,
            "      volumes:\n        - name: data\n          emptyDir: {}\n        - name: other",
        ),
    ] {
        let (folder, mut client) = start(&[("d.yaml", &text), ("s.yaml", SERVICE)]);
        let file = uri(&folder.path().join("d.yaml"));
        let broken = |said: &[Value]| said.iter().any(|one| one["code"] == "K8S033");
        client.said(&file, broken);
        let at = position(&text, "volumeMounts", "data");
        let after = acted(&mut client, &file, &text, &at, "Create the volume `data`");
        assert!(after.contains(created), "{after}");
        client.change(&file, 2, &after);
        client.said(&file, |said| !broken(said));
        assert_eq!(client.stop(), Some(0));
    }
}

#[test]
fn a_mistyped_field_or_value_is_mended() {
    let text = WORKLOAD.replace("replicas", "replcas");
    let (folder, mut client) = start(&[("d.yaml", &text), ("s.yaml", SERVICE)]);
    let file = uri(&folder.path().join("d.yaml"));
    client.said(&file, |said| !said.is_empty());
    let at = position(&text, "spec", "replcas");
    let title = "replace `replcas` with `replicas`";
    let after = acted(&mut client, &file, &text, &at, title);
    assert_eq!(after, WORKLOAD);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn the_outline_is_a_tree_of_objects() {
    let (folder, mut client) = start(FILES);
    let mut outline = |name: &str| {
        let file = uri(&folder.path().join(name));
        let this = json!({ "textDocument": { "uri": file } });
        shown(&client.result("textDocument/documentSymbol", this))
    };
    assert_eq!(
        outline("d.yaml"),
        [
            "Deployment web: 0-28",
            "  container main: 15-25",
            "    container port http: 18-19",
            "  volume data: 27-28",
        ]
    );
    assert_eq!(
        outline("s.yaml"),
        [
            "Service web: 0-9",
            "ConfigMap settings: 11-16",
            "  key of a ConfigMap color: 16-16",
            "Ingress in: 18-29",
        ]
    );
    assert_eq!(client.stop(), Some(0));
}

/// An outline as text: what each symbol is, and its lines.
fn shown(symbols: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for one in symbols.as_array().into_iter().flatten() {
        let range = &one["range"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (what, name) = (text(&one["detail"]), text(&one["name"]));
        let (start, end) = (&range["start"]["line"], &range["end"]["line"]);
        all.push(format!("{what} {name}: {start}-{end}"));
        all.extend(
            shown(&one["children"])
                .iter()
                .map(|line| format!("  {line}")),
        );
    }
    all
}

#[test]
fn half_typed_manifests_are_completed() {
    let found = complete("x.yaml", "apiVersion: apps/v1\nkind: Dep|\n");
    let deployment = found
        .iter()
        .find(|one| one["label"] == "Deployment")
        .unwrap();
    let text = deployment["textEdit"]["newText"].as_str().unwrap();
    assert!(text.contains("metadata:\n  name: ${1}"), "{text}");
    assert!(text.contains("containers:\n        - name: ${3}"), "{text}");
    let found = complete("x.yaml", "apiVersion: |\nkind: Deployment\n");
    assert_eq!(labels(&found), ["apps/v1"]);
    let pods = format!("{HEAD}spec:\n  template:\n    spec:\n");
    let found = complete("x.yaml", &format!("{pods}      restartPolicy: |\n"));
    assert_eq!(labels(&found), ["Always", "Never", "OnFailure"]);
    let found = complete("x.yaml", &format!("{pods}      containers:\n        - |\n"));
    assert_eq!(labels(&found)[0], "name", "required ones first: {found:?}");
    let found = complete(
        "x.yaml",
        &format!("{pods}      containers:\n        - name: a\n          ima|\n"),
    );
    assert!(labels(&found).contains(&"imagePullPolicy"), "{found:?}");
    let found = complete(
        "x.yaml",
        &format!(
            "{pods}      containers:\n        - volumeMounts:\n            - name: |\n      volumes:\n        - name: data\n"
        ),
    );
    assert_eq!(labels(&found), ["data"]);
}

#[test]
fn labels_and_names_of_other_files_are_suggested() {
    let selector = format!("{HEAD}spec:\n  selector:\n    matchLabels:\n");
    let found = complete_with("x.yaml", &format!("{selector}      |\n"), FILES);
    assert_eq!(labels(&found), ["app"]);
    let found = complete_with("x.yaml", &format!("{selector}      app: |\n"), FILES);
    assert_eq!(labels(&found), ["web"]);
    let pods =
        format!("{HEAD}spec:\n  template:\n    spec:\n      containers:\n        - envFrom:\n");
    let found = complete_with(
        "x.yaml",
        &format!("{pods}            - configMapRef: {{ name: |"),
        FILES,
    );
    assert_eq!(labels(&found), ["settings"]);
    let service = SERVICE.split("---").next().unwrap();
    let found = complete_with(
        "x.yaml",
        &service.replace("targetPort: http", "targetPort: |"),
        &FILES[..1],
    );
    assert_eq!(labels(&found), ["http", "80"]);
}

#[test]
fn selectors_of_every_form_count_pods() {
    let text = "\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: all }
spec:
  maxUnavailable: 1
  selector: {}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: some }
spec:
  podSelector: { matchExpressions: [{ key: app, operator: NotIn, values: [db] }] }
  ingress:
    - from:
        - podSelector: { matchLabels: { app: db } }
        - podSelector: { matchLabels: { app: db } }
          namespaceSelector: {}
";
    let pod = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{ name: {name}, labels: {{ app: {name} }} }}\n\
             spec: {{ containers: [{{ name: a, image: 'b:1' }}] }}\n"
        )
    };
    let text = format!("{text}{}{}{}", pod("db"), pod("web"), pod("api"));
    let (folder, mut client) = start(&[("a.yaml", &text)]);
    let file = uri(&folder.path().join("a.yaml"));
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = client.result(
        "textDocument/inlayHint",
        json!({ "textDocument": { "uri": file }, "range": range }),
    );
    let shown: Vec<(u64, &str)> = hints
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| {
            (
                hint["position"]["line"].as_u64().unwrap(),
                hint["label"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        (5, "selects 3 pods of 3 workloads"),
        (11, "selects 2 pods of 2 workloads"),
        (14, "selects 1 pod of 1 workload"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(
        client
            .definition(&file, &position(&text, "", "podSelector"))
            .len(),
        2
    );
    assert_eq!(client.stop(), Some(0));
}
