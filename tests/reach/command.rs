//! The command, as a user calls it.

use super::super::{codes, locus, project};

const PODS: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: front
  namespace: shop
  labels: {app: front}
spec:
  containers:
    - name: front
      image: example/front:1
---
apiVersion: v1
kind: Pod
metadata:
  name: api
  namespace: shop
  labels: {app: api}
spec:
  containers:
    - name: api
      image: example/api:1
      ports:
        - {name: http, containerPort: 8080}
---
apiVersion: v1
kind: Pod
metadata:
  name: ledger
  namespace: payments
spec:
  containers:
    - name: ledger
      image: example/ledger:1
";

const POLICY: &str = "\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: api
  namespace: shop
spec:
  podSelector:
    matchLabels: {app: api}
  ingress:
    - from:
        - podSelector:
            matchLabels: {app: front}
      ports:
        - port: http
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: ledger
  namespace: payments
spec:
  podSelector: {}
  policyTypes: [Egress]
  egress:
    - to:
        - ipBlock: {cidr: 10.0.0.0/8}
";

fn text(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn pairs_that_can_talk_are_listed() {
    let folder = project(&[("k/pods.yaml", PODS), ("k/policy.yaml", POLICY)]);
    let output = locus(folder.path(), &["reach", "k"]);
    let expected = "\
0.0.0.0-255.255.255.255[External] => payments/ledger[Pod] : All Connections
0.0.0.0-255.255.255.255[External] => shop/front[Pod] : All Connections
payments/ledger[Pod] => 10.0.0.0-10.255.255.255[External] : All Connections
shop/api[Pod] => 0.0.0.0-9.255.255.255[External] : All Connections
shop/api[Pod] => 10.0.0.0-10.255.255.255[External] : All Connections
shop/api[Pod] => 11.0.0.0-255.255.255.255[External] : All Connections
shop/api[Pod] => payments/ledger[Pod] : All Connections
shop/api[Pod] => shop/front[Pod] : All Connections
shop/front[Pod] => 0.0.0.0-9.255.255.255[External] : All Connections
shop/front[Pod] => 10.0.0.0-10.255.255.255[External] : All Connections
shop/front[Pod] => 11.0.0.0-255.255.255.255[External] : All Connections
shop/front[Pod] => payments/ledger[Pod] : All Connections
shop/front[Pod] => shop/api[Pod] : TCP 8080
";
    assert_eq!(text(&output), expected);
    assert_eq!(output.status.code(), Some(0));
    let args = [
        "reach", "k", "--from", "front", "--to", "shop/api", "--format", "json",
    ];
    let pairs: serde_json::Value =
        serde_json::from_str(&text(&locus(folder.path(), &args))).unwrap();
    assert_eq!(
        pairs,
        serde_json::json!([{"src": "shop/front[Pod]", "dst": "shop/api[Pod]", "conn": "TCP 8080"}])
    );
    let dot = text(&locus(folder.path(), &["reach", "k", "--format", "dot"]));
    assert!(
        dot.contains("\"shop/front[Pod]\" -> \"shop/api[Pod]\" [label=\"TCP 8080\"]"),
        "{dot}"
    );
    let svg = text(&locus(folder.path(), &["reach", "k", "--format", "svg"]));
    assert!(roxmltree::Document::parse(&svg).is_ok());
    let unknown = locus(folder.path(), &["reach", "k", "--from", "frnt"]);
    assert_eq!(unknown.status.code(), Some(3));
    let told = String::from_utf8(unknown.stderr).unwrap();
    assert!(told.contains("did you mean `front`?"), "{told}");
}

#[test]
fn the_lines_that_decide_are_named() {
    let folder = project(&[("k/pods.yaml", PODS), ("k/policy.yaml", POLICY)]);
    let args = ["reach", "k", "--from", "front", "--to", "api", "--explain"];
    let expected = "\
shop/front[Pod] => shop/api[Pod] : TCP 8080
  egress allowed: All Connections as no policy selects `shop/front` (k/pods.yaml:4)
  ingress allowed: TCP 8080 by NetworkPolicy `shop/api` (k/policy.yaml:10)
  ingress denied: SCTP 1-65535,TCP 1-8079,8081-65535,UDP 1-65535 as no rule allows it: NetworkPolicy `shop/api` (k/policy.yaml:4)
";
    assert_eq!(text(&locus(folder.path(), &args)), expected);
}

#[test]
fn what_differs_is_told() {
    let folder = project(&[
        ("old/pods.yaml", PODS),
        ("new/pods.yaml", PODS),
        ("new/policy.yaml", POLICY),
    ]);
    let output = locus(
        folder.path(),
        &["reach", "--diff", "old", "new", "--from", "ledger"],
    );
    let expected = "\
Connectivity diff:
diff-type: removed, source: payments/ledger[Pod], destination: 0.0.0.0-9.255.255.255[External], ref1: All Connections, ref2: No Connections
diff-type: removed, source: payments/ledger[Pod], destination: 11.0.0.0-255.255.255.255[External], ref1: All Connections, ref2: No Connections
diff-type: removed, source: payments/ledger[Pod], destination: shop/api[Pod], ref1: All Connections, ref2: No Connections
diff-type: removed, source: payments/ledger[Pod], destination: shop/front[Pod], ref1: All Connections, ref2: No Connections
";
    assert_eq!(text(&output), expected);
    let same = locus(folder.path(), &["reach", "--diff", "old", "old"]);
    assert_eq!(text(&same), "");
}

#[test]
fn assertions_of_the_settings_are_checked() {
    let check = |settings: &str| {
        let folder = project(&[
            ("k/pods.yaml", PODS),
            ("k/policy.yaml", POLICY),
            ("locus.toml", settings),
        ]);
        let args = ["check", "--format", "json", "k"];
        let output = locus(folder.path(), &args);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let about = |finding: &&serde_json::Value| {
            finding["rule"] == "k8s-assertion" || finding["rule"] == "settings"
        };
        let findings = report["findings"].as_array().unwrap().iter().filter(about);
        findings.cloned().collect::<Vec<_>>()
    };
    let holds = check(
        "[kubernetes]\nassert = ['no reach[ns[\"payments\"], internet]', 'reach[pod[\"shop/front\"], pod[\"shop/api\"], 8080]', 'no reach[internet, pod[\"shop/api\"]]']\n",
    );
    assert_eq!(holds, Vec::<serde_json::Value>::new());
    let broken =
        check("[kubernetes]\nassert = ['no reach[ns[\"payments\"], ip[\"10.1.0.0/16\"]]']\n");
    assert_eq!(broken.len(), 1, "{broken:?}");
    let told = broken[0].to_string();
    assert!(
        told.contains("policy.yaml") && told.contains("this egress rule allows it"),
        "{told}"
    );
    let open = check("[kubernetes]\nassert = ['no reach[pod[\"shop/front\"], internet]']\n");
    assert_eq!(open.len(), 1, "{open:?}");
    let told = open[0].to_string();
    assert!(
        told.contains("pods.yaml") && told.contains("no policy isolates"),
        "{told}"
    );
    let closed =
        check("[kubernetes]\nassert = ['reach[pod[\"shop/front\"], pod[\"shop/api\"], 9090]']\n");
    assert_eq!(closed.len(), 1, "{closed:?}");
    assert!(
        closed[0]
            .to_string()
            .contains("no ingress rule of this policy allows it"),
        "{closed:?}"
    );
    for (assertion, message) in [
        (
            "no reach[pod[\"shop/frnt\"], internet]",
            "no workload is called `shop/frnt`",
        ),
        (
            "no reach[ns[\"payment\"], internet]",
            "there is no namespace `payment`; did you mean `payments`?",
        ),
        (
            "no raech[ns[\"payments\"], internet]",
            "`reach` is expected here, not `raech`",
        ),
        (
            "reach[pod[\"shop/front\"] internet]",
            "`,` is expected here, not `i`",
        ),
        (
            "reach[pod[\"shop/front\"], internet, 70000]",
            "`70000` is not a port, 1 to 65535",
        ),
        (
            "reach[pod[\"shop/front\"], intranet]",
            "`intranet` is not an end of connections",
        ),
    ] {
        let wrong = check(&format!("[kubernetes]\nassert = ['{assertion}']\n"));
        assert_eq!(wrong.len(), 1, "{assertion}: {wrong:?}");
        let told = &wrong[0];
        assert!(
            told["message"].as_str().unwrap().starts_with(message),
            "{assertion}: {told}"
        );
        assert!(told.to_string().contains("locus.toml"), "{told}");
    }
}

#[test]
fn rules_see_who_can_talk_to_whom() {
    let rule = "module kubernetes/own
open kubernetes/vocabulary
/** ACME001 front-only error: only the front talks to the API
 * message: `{w}` talks to `{v}`
 * at: w \"talks to it\"
 * why: Nobody else needs it.
 * source: ours
 */
assert OnlyTheFront { all w: Workload, v: w.reaches | v.name = \"api\" implies w.name = \"front\" }
/** ACME002 no-internet error: the ledger talks to nobody outside
 * message: `{w}` talks to the internet
 * at: w \"talks to it\"
 * why: It holds secrets.
 * source: ours
 */
assert NoInternet { all w: Workload | w.name = \"ledger\" implies w.reaches_internet = False }
";
    let settings = "[kubernetes]\nrules = [\"own.als\"]\n";
    let found = |policy: &str| {
        let folder = project(&[
            ("k/pods.yaml", PODS),
            ("k/policy.yaml", policy),
            ("own.als", rule),
            ("locus.toml", settings),
        ]);
        let output = locus(folder.path(), &["check", "--format", "json", "k"]);
        let own = codes(&output)
            .0
            .into_iter()
            .filter(|code| code.starts_with("ACME"));
        own.collect::<Vec<_>>()
    };
    assert_eq!(found(POLICY), Vec::<String>::new());
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    assert_eq!(found(other), ["ACME001", "ACME002"]);
}

#[test]
fn policies_with_errors_are_not_evaluated() {
    let bad = "apiVersion: policy.networking.k8s.io/v1alpha1\nkind: AdminNetworkPolicy\nmetadata: {name: a}\nspec:\n  priority: 5\n  subject: {namespaces: {}}\n  egress:\n    - action: Alow\n      to: [{networks: [10.0.0.0/33]}]\n";
    let folder = project(&[("k/pods.yaml", PODS), ("k/bad.yaml", bad)]);
    let output = locus(folder.path(), &["reach", "k"]);
    assert_eq!(text(&output), "");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("`Alow` is not an action of this kind"),
        "{told}"
    );
    assert!(
        told.contains("`10.0.0.0/33` is not a block of addresses"),
        "{told}"
    );
    let foreign =
        "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: a}\nspec: {}\n";
    let folder = project(&[("k/pods.yaml", PODS), ("k/other.yaml", foreign)]);
    assert_eq!(locus(folder.path(), &["reach", "k"]).status.code(), Some(2));
}
