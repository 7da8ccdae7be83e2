//! The webhook configurations: which requests the API server asks the gate about, and how.

use serde_json::{Value, json};

use super::covered::{Covered, rules, rules_about};
use super::names::{MIRROR, READINESS_GATE, SIGNATURE, TAINT, TENANT, WEBHOOKS};

/// How long the API server waits for an answer, in seconds.
const TIMEOUT: i64 = 10;

/// Where the API server reaches the webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address.
    Url(String),
    /// At a service of the cluster.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Its port.
        port: u16,
    },
}

impl Place {
    /// Reads `https://HOST:PORT` or `NAMESPACE/NAME:PORT`.
    pub fn parse(text: &str) -> Result<Place, String> {
        let wrong = || {
            format!(
                "`{text}` is neither an address such as `https://10.0.0.1:9443` nor a service such as `locus-system/locus-gate:443`"
            )
        };
        if let Some(rest) = text.strip_prefix("https://") {
            let plain = !rest.is_empty() && !rest.contains(['/', '?', '#', '@']);
            return match plain {
                true => Ok(Place::Url(text.to_owned())),
                false => Err(wrong()),
            };
        }
        let (namespace, rest) = text.split_once('/').ok_or_else(wrong)?;
        let (name, port) = rest.split_once(':').unwrap_or((rest, "443"));
        let port = port.parse().map_err(|_| wrong())?;
        let is_name = |name: &str| {
            let right = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
            !name.is_empty() && name.bytes().all(right)
        };
        if !is_name(namespace) || !is_name(name) {
            return Err(wrong());
        }
        Ok(Place::Service {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            port,
        })
    }

    /// The names that its certificate has to have.
    pub fn names(&self) -> Vec<String> {
        match self {
            Place::Url(url) => {
                let host = url.strip_prefix("https://").unwrap_or(url);
                let host = match host.rsplit_once(':') {
                    Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
                    _ => host,
                };
                vec![host.trim_matches(['[', ']']).to_owned()]
            }
            Place::Service {
                namespace, name, ..
            } => vec![
                format!("{name}.{namespace}.svc"),
                format!("{name}.{namespace}.svc.cluster.local"),
            ],
        }
    }

    /// How the API server is told.
    fn client(&self, path: &str, bundle: &str) -> Value {
        use base64::Engine as _;
        let bundle = base64::engine::general_purpose::STANDARD.encode(bundle);
        let mut client = match self {
            Place::Url(url) => json!({"url": format!("{url}{path}")}),
            Place::Service {
                namespace,
                name,
                port,
            } => {
                json!({"service": {"namespace": namespace, "name": name, "port": port, "path": path}})
            }
        };
        if let Some(fields) = client.as_object_mut()
            && !bundle.is_empty()
        {
            fields.insert("caBundle".to_owned(), Value::String(bundle));
        }
        client
    }
}

fn webhook(name: &str, client: &Value, rules: Vec<Value>) -> Value {
    json!({
        "name": format!("{name}.locus.dev"),
        "clientConfig": client,
        "rules": rules,
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "sideEffects": "NoneOnDryRun",
        "timeoutSeconds": TIMEOUT,
        "admissionReviewVersions": ["v1"],
    })
}

/// Asks only where an expression is true of the object. One that cannot be evaluated refuses, as the policy is to fail.
fn only_if(mut webhook: Value, name: &str, expression: String) -> Value {
    if let Some(fields) = webhook.as_object_mut() {
        let conditions = json!([{"name": name, "expression": expression}]);
        fields.insert("matchConditions".to_owned(), conditions);
    }
    webhook
}

/// Whether it is what kubelets and controllers write all the time, also while the gate is away.
fn is_status(one: &Covered) -> bool {
    one.subresource == "status"
}

/// Some of an object's metadata; an empty one if there is none.
fn metadata(of: &str, field: &str, empty: &str) -> String {
    format!("(has({of}.metadata.{field}) ? {of}.metadata.{field} : {empty})")
}

/// An annotation of an object; empty if there is none.
pub(super) fn annotated(of: &str, name: &str) -> String {
    let all = metadata(of, "annotations", "{}");
    format!("('{name}' in {all} ? {all}['{name}'] : '')")
}

/// Whether some of an object's metadata is changed: labels, or what `more` makes of it.
fn changed(more: &[&dyn Fn(&str) -> String]) -> String {
    let labels = |of: &str| metadata(of, "labels", "{}");
    let all = more.iter().map(|part| (part("object"), part("oldObject")));
    let all = std::iter::once((labels("object"), labels("oldObject"))).chain(all);
    let all = all.map(|(new, old)| format!("{new} != {old}"));
    all.collect::<Vec<_>>().join(" || ")
}

fn is_node(one: &Covered) -> bool {
    one.path() == "nodes"
}

/// The configuration of the webhook that adds what the gate adds.
pub fn mutating(place: &Place, bundle: &str) -> Value {
    let client = place.client("/mutate", bundle);
    let mut gates = webhook("gates", &client, rules(true));
    if let Some(fields) = gates.as_object_mut() {
        // What others add after it may be a container: it is asked again, and changes nothing twice.
        fields.insert("reinvocationPolicy".to_owned(), json!("IfNeeded"));
        fields.insert("sideEffects".to_owned(), json!("None"));
    }
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": WEBHOOKS},
        "webhooks": [gates],
    })
}

/// The configuration of the webhook that decides.
pub fn validating(place: &Place, bundle: &str) -> Value {
    let client = place.client("/validate", bundle);
    let whole = rules_about(false, |one| !is_status(one) && !is_node(one));
    let workloads = webhook("workloads", &client, whole);
    // Kubelets write status all the time, also while the gate is away: asked is only about the gate's own condition, and about
    // what is no status.
    let condition = |object: &str| {
        format!(
            "(has({object}.status.conditions) ? {object}.status.conditions.filter(c, c.type == '{READINESS_GATE}') : [])"
        )
    };
    let of_pods = rules_about(false, |one| is_status(one) && one.resource == "pods");
    let status = webhook("status", &client, of_pods);
    let annotation = |name: &'static str| move |of: &str| annotated(of, name);
    let said = changed(&[&condition, &annotation(TENANT), &annotation(MIRROR)]);
    let status = only_if(status, "attested", said);
    let of_others = rules_about(false, |one| is_status(one) && one.resource != "pods");
    let owners = webhook("owners", &client, of_others);
    let owner = |of: &str| metadata(of, "ownerReferences", "[]");
    let said = changed(&[&owner, &annotation(SIGNATURE)]);
    let owners = only_if(owners, "metadata", said);
    let taint = |object: &str| {
        format!(
            "(has({object}.spec) && has({object}.spec.taints) ? {object}.spec.taints.filter(t, t.key == '{TAINT}') : [])"
        )
    };
    let nodes = webhook("nodes", &client, rules_about(false, is_node));
    let said = format!("{} != {}", taint("object"), taint("oldObject"));
    let nodes = only_if(nodes, "taint", said);
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": WEBHOOKS},
        "webhooks": [workloads, status, owners, nodes],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_an_address_or_a_service() {
        let url = Place::parse("https://127.0.0.1:9443").unwrap();
        assert_eq!(url.names(), ["127.0.0.1"]);
        assert_eq!(Place::parse("https://[::1]:1").unwrap().names(), ["::1"]);
        assert_eq!(
            Place::parse("https://gate.example").unwrap().names(),
            ["gate.example"]
        );
        let service = Place::parse("locus-system/locus-gate:9443").unwrap();
        assert_eq!(service.names()[0], "locus-gate.locus-system.svc");
        assert_eq!(
            service,
            Place::parse("locus-system/locus-gate:9443").unwrap()
        );
        for wrong in [
            "",
            "http://gate",
            "https://",
            "https://gate/path",
            "https://a@b",
            "locus-gate",
            "a/b:c",
            "A/b:1",
            "/b",
            "a/",
        ] {
            assert!(Place::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// What is asked about is what is decided about: nothing that admission knows is passed over.
    #[test]
    fn everything_that_starts_something_is_asked_about() {
        let place = Place::parse("https://127.0.0.1:1").unwrap();
        let configuration = validating(&place, "PEM");
        let mut asked = Vec::new();
        for webhook in configuration["webhooks"].as_array().unwrap() {
            assert_eq!(webhook["failurePolicy"], "Fail");
            assert!(
                webhook.get("namespaceSelector").is_none(),
                "no namespace is left out"
            );
            assert!(
                webhook.get("objectSelector").is_none(),
                "no label leaves out"
            );
            for rule in webhook["rules"].as_array().unwrap() {
                for resource in rule["resources"].as_array().unwrap() {
                    let group = rule["apiGroups"][0].as_str().unwrap();
                    let verbs = rule["operations"].to_string();
                    asked.push(format!("{group} {} {verbs}", resource.as_str().unwrap()));
                }
            }
        }
        asked.sort();
        let both = "[\"CREATE\",\"UPDATE\"]";
        let (create, update) = ("[\"CREATE\"]", "[\"UPDATE\"]");
        let mut wanted = vec![
            format!(" bindings {create}"),
            format!(" nodes {update}"),
            format!(" pods {both}"),
            format!(" pods/binding {create}"),
            format!(" pods/ephemeralcontainers {update}"),
            format!(" pods/resize {update}"),
            format!(" pods/status {update}"),
            format!(" podtemplates {both}"),
            format!(" replicationcontrollers {both}"),
            format!(" replicationcontrollers/scale {update}"),
            format!("apps controllerrevisions {both}"),
            format!("apps daemonsets {both}"),
            format!("apps deployments {both}"),
            format!("apps deployments/scale {update}"),
            format!("apps replicasets {both}"),
            format!("apps replicasets/scale {update}"),
            format!("apps statefulsets {both}"),
            format!("apps statefulsets/scale {update}"),
            format!("batch cronjobs {both}"),
            format!("batch jobs {both}"),
        ];
        let with_status = [
            " replicationcontrollers",
            "apps daemonsets",
            "apps deployments",
            "apps replicasets",
            "apps statefulsets",
            "batch cronjobs",
            "batch jobs",
        ];
        wanted.extend(with_status.map(|one| format!("{one}/status {update}")));
        wanted.sort();
        assert_eq!(asked, wanted);
    }
}
