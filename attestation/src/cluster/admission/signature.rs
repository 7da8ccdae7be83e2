//! Tenants' signatures over workloads.
//!
//! What is signed is the object as the server completes it (`kubectl create --dry-run=server`), in a normal form: without what
//! the server, controllers and the gate write into it, and without the number of replicas, which autoscalers change. The token
//! is an annotation of the object; it names the tenant, the digest, the time and a nonce, and counts once.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::cluster::known::{Known, Tenant};
use crate::cluster::names::{PREFIX, READINESS_GATE, SCHEDULING_GATE, SIGNATURE};
use crate::cluster::object::{Workload, annotation, field, namespace, text};
use crate::digest::HashAlg;
use crate::evidence::jws::{JwsError, TokenKey, TrustedKeys};
use crate::evidence::{Nonce, SeenError, SeenNonces};

/// The type of the token.
const TYPE: &str = "locus-deployment+jws";
/// The longest that a signature may be valid, in seconds.
pub const LIFETIME: i64 = 300;
/// How far a tenant's clock may be ahead, in seconds.
const AHEAD: i64 = 5;

/// What a tenant signs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The tenant's identifier.
    pub tenant: String,
    /// The digest of the object's normal form.
    pub digest: String,
    /// Counts once.
    pub nonce: Nonce,
    /// When it was signed, in seconds.
    pub iat: i64,
    /// Until when it counts, in seconds.
    pub exp: i64,
}

/// Why a signature does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is none.
    #[error("the object is not signed, and the namespace is for signed workloads only")]
    Missing,
    /// Who the tenants are is not known.
    #[error("the registrar was not heard yet, so that nobody's signature can be verified")]
    NoTenants,
    /// The token.
    #[error(transparent)]
    Token(#[from] JwsError),
    /// The tenant may not deploy here.
    #[error("the tenant `{0}` may not deploy here")]
    Tenant(String),
    /// What one tenant signed says to belong to another's.
    #[error("it was made for one tenant, and says to belong to what another signed")]
    Handed,
    /// Another object was signed.
    #[error("the object is not the one that was signed")]
    Digest,
    /// Signed too long ago.
    #[error("the signature is too old")]
    Expired,
    /// Signed in the future.
    #[error("the signature was made in the future; compare the clocks")]
    Future,
    /// Valid for longer than allowed.
    #[error("the signature asks to be valid for longer than {LIFETIME} s")]
    Lifetime,
    /// Seen before.
    #[error("the signature was used before, or may have been: {0}")]
    Seen(#[from] SeenError),
    /// Whether it was seen before cannot be told.
    #[error("whether the signature was used before is not known: {0}")]
    Unknown(String),
}

/// The digest of an object's normal form.
pub fn digest(workload: &Workload, object: &Value) -> String {
    let normal = normal(workload, object).to_string();
    format!(
        "sha256:{}",
        HashAlg::Sha256.hash(&[normal.as_bytes()]).to_hex()
    )
}

/// What of an object is signed, with its keys in order.
fn normal(workload: &Workload, object: &Value) -> Value {
    let mut spec = field(object, "spec").clone();
    if workload.scales
        && let Some(fields) = spec.as_object_mut()
    {
        fields.remove("replicas");
    }
    let mut annotations = json!({});
    if workload.kind == "Pod" {
        annotations = field(&field(object, "metadata").clone(), "annotations").clone();
        if let Some(fields) = annotations.as_object_mut() {
            fields.retain(|key, _| {
                !key.starts_with(PREFIX)
                    && key != "kubectl.kubernetes.io/last-applied-configuration"
            });
        }
        ungated(&mut spec);
        unnamed_token(&mut spec);
    }
    let empty = |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
    if empty(&annotations) {
        annotations = Value::Null;
    }
    let metadata = field(object, "metadata");
    let mut normal = json!({
        "apiVersion": text(object, &["apiVersion"]),
        "kind": workload.kind,
        "namespace": namespace(object),
        "name": field(metadata, "name"),
        "generateName": field(metadata, "generateName"),
        "labels": field(metadata, "labels"),
        "annotations": annotations,
        "spec": spec,
    });
    // What a PodTemplate has instead of a specification.
    if let Some(template) = object.get("template")
        && let Some(fields) = normal.as_object_mut()
    {
        fields.insert("template".to_owned(), template.clone());
    }
    // A pod with a generated name has a name by the time it is admitted.
    if !field(metadata, "generateName").is_null()
        && let Some(fields) = normal.as_object_mut()
    {
        fields.remove("name");
    }
    normal.sort_all_objects();
    normal
}

/// Takes away what the gate adds to pods.
fn ungated(spec: &mut Value) {
    let lists = [
        ("schedulingGates", "name", SCHEDULING_GATE),
        ("readinessGates", "conditionType", READINESS_GATE),
    ];
    for (list, key, ours) in lists {
        let Some(gates) = spec.get_mut(list).and_then(Value::as_array_mut) else {
            continue;
        };
        gates.retain(|gate| text(gate, &[key]) != ours);
        if gates.is_empty()
            && let Some(fields) = spec.as_object_mut()
        {
            fields.remove(list);
        }
    }
}

/// The server gives the volume with a pod's token a random name.
fn unnamed_token(spec: &mut Value) {
    const TOKEN: &str = "kube-api-access-";
    const FIXED: &str = "kube-api-access";
    let named = |value: &Value| text(value, &["name"]).starts_with(TOKEN);
    let rename = |value: &mut Value| {
        if let Some(name) = value.get_mut("name") {
            *name = Value::String(FIXED.to_owned());
        }
    };
    if let Some(volumes) = spec.get_mut("volumes").and_then(Value::as_array_mut) {
        let token = |volume: &&mut Value| named(volume) && volume.get("projected").is_some();
        volumes.iter_mut().filter(token).for_each(rename);
    }
    for list in super::images::CONTAINERS {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let mounts = container
                .get_mut("volumeMounts")
                .and_then(Value::as_array_mut);
            mounts
                .into_iter()
                .flatten()
                .filter(|mount| named(mount))
                .for_each(rename);
        }
    }
}

/// Signs an object.
pub fn sign(
    key: &TokenKey,
    tenant: &str,
    (workload, object): (&Workload, &Value),
    nonce: Nonce,
    now: Timestamp,
) -> Result<String, JwsError> {
    let signed = Signed {
        tenant: tenant.to_owned(),
        digest: digest(workload, object),
        nonce,
        iat: now.secs(),
        exp: now.secs().saturating_add(LIFETIME),
    };
    key.sign(TYPE, &signed)
}

/// Who signed an object, if one of the tenants did that may deploy where it is; whether the signature is fresh is not asked.
pub fn signer<'k>(
    workload: &Workload,
    object: &Value,
    allowed: &[String],
    known: &'k Known,
) -> Result<(&'k Tenant, Signed), SignatureError> {
    let token = annotation(object, SIGNATURE).ok_or(SignatureError::Missing)?;
    let (tenant, signed) = verified(token, known)?;
    if !allowed
        .iter()
        .any(|name| *name == tenant.id || *name == tenant.name)
    {
        return Err(SignatureError::Tenant(tenant.name.clone()));
    }
    if signed.digest != digest(workload, object) {
        return Err(SignatureError::Digest);
    }
    Ok((tenant, signed))
}

/// Who made a token, whatever it signs.
pub fn author<'k>(token: &str, known: &'k Known) -> Result<&'k Tenant, SignatureError> {
    verified(token, known).map(|(tenant, _)| tenant)
}

fn verified<'k>(token: &str, known: &'k Known) -> Result<(&'k Tenant, Signed), SignatureError> {
    let tenants = known.tenants.as_deref().ok_or(SignatureError::NoTenants)?;
    let keys = tenants
        .iter()
        .fold(TrustedKeys::new(), |keys, tenant| keys.with(tenant.key));
    let signed: Signed = keys.verify(TYPE, token)?;
    // The key is one of somebody's; it must be the key of who it says it is.
    let tenant = tenants.iter().find(|tenant| tenant.id == signed.tenant);
    let tenant = tenant.ok_or_else(|| SignatureError::Tenant(signed.tenant.clone()))?;
    let _: Signed = TrustedKeys::new().with(tenant.key).verify(TYPE, token)?;
    Ok((tenant, signed))
}

/// Whether a signature counts now.
pub fn is_fresh(signed: &Signed, now: Timestamp) -> Result<(), SignatureError> {
    if signed.exp.saturating_sub(signed.iat) > LIFETIME {
        return Err(SignatureError::Lifetime);
    }
    if signed.iat > now.secs().saturating_add(AHEAD) {
        return Err(SignatureError::Future);
    }
    if signed.exp < now.secs() {
        return Err(SignatureError::Expired);
    }
    Ok(())
}

/// The signatures that were used, each with the request that used it: a request may come twice.
#[derive(Debug)]
pub struct Used {
    seen: SeenNonces,
    by: std::collections::HashMap<String, (String, Timestamp)>,
}

impl Used {
    /// None was used since `started`; older ones may have been.
    pub fn new(started: Timestamp) -> Self {
        Used {
            seen: SeenNonces::new(4096, started),
            by: std::collections::HashMap::new(),
        }
    }

    /// Notes that a request uses a signature.
    pub fn take(
        &mut self,
        signed: &Signed,
        request: &str,
        now: Timestamp,
    ) -> Result<(), SignatureError> {
        let nonce = signed.nonce.to_string();
        self.by.retain(|_, (_, until)| *until >= now);
        if self.by.get(&nonce).is_some_and(|(by, _)| by == request) {
            return Ok(());
        }
        let expires = Timestamp::from_secs(signed.exp);
        let made = Timestamp::from_secs(signed.iat);
        self.seen.note(&signed.tenant, &nonce, made, expires, now)?;
        self.by.insert(nonce, (request.to_owned(), expires));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_000_000);

    fn deployment() -> &'static Workload {
        Workload::of_kind("apps", "Deployment").unwrap()
    }

    fn known(keys: &[(&str, &TokenKey)]) -> Known {
        let tenant = |(name, key): &(&str, &TokenKey)| Tenant {
            id: format!("id-{name}"),
            name: (*name).to_owned(),
            key: key.public(),
        };
        let mut known = Known::new("gate");
        known.tenants = Some(keys.iter().map(tenant).collect());
        known
    }

    fn web() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "web", "image": "web"}]}}},
        })
    }

    fn with(mut object: Value, token: &str) -> Value {
        object["metadata"]["annotations"] = json!({SIGNATURE: token});
        object
    }

    fn signed(key: &TokenKey, tenant: &str, object: &Value) -> Value {
        let token = sign(
            key,
            tenant,
            (deployment(), object),
            Nonce::random().unwrap(),
            NOW,
        );
        with(object.clone(), &token.unwrap())
    }

    fn ask(object: &Value, known: &Known) -> Result<String, SignatureError> {
        let allowed = ["shop".to_owned()];
        signer(deployment(), object, &allowed, known).map(|(tenant, _)| tenant.name.clone())
    }

    #[test]
    fn a_signature_is_for_one_object_of_one_tenant() {
        let (shop, bank) = (TokenKey::generate().unwrap(), TokenKey::generate().unwrap());
        let known = known(&[("shop", &shop), ("bank", &bank)]);
        let good = signed(&shop, "id-shop", &web());
        assert_eq!(ask(&good, &known), Ok("shop".to_owned()));
        assert_eq!(ask(&web(), &known), Err(SignatureError::Missing));
        // Another tenant, and another tenant that says to be this one.
        let foreign = signed(&bank, "id-bank", &web());
        assert_eq!(
            ask(&foreign, &known),
            Err(SignatureError::Tenant("bank".to_owned()))
        );
        let pretended = signed(&bank, "id-shop", &web());
        assert!(matches!(
            ask(&pretended, &known),
            Err(SignatureError::Token(_))
        ));
        let stranger = signed(&TokenKey::generate().unwrap(), "id-shop", &web());
        assert!(matches!(
            ask(&stranger, &known),
            Err(SignatureError::Token(_))
        ));
        assert_eq!(
            ask(&good, &Known::new("gate")),
            Err(SignatureError::NoTenants)
        );
    }

    #[test]
    fn whatever_is_changed_was_not_signed() {
        let key = TokenKey::generate().unwrap();
        let known = known(&[("shop", &key)]);
        let good = signed(&key, "id-shop", &web());
        let changes: [fn(&mut Value); 7] = [
            |object| object["metadata"]["name"] = json!("other"),
            |object| object["metadata"]["namespace"] = json!("bank"),
            |object| object["metadata"]["labels"]["app"] = json!("other"),
            |object| object["spec"]["template"]["spec"]["containers"][0]["image"] = json!("other"),
            |object| object["spec"]["template"]["spec"]["hostNetwork"] = json!(true),
            |object| object["spec"]["template"]["metadata"] = json!({"labels": {"a": "b"}}),
            |object| object["apiVersion"] = json!("apps/v2"),
        ];
        for change in changes {
            let mut changed = good.clone();
            change(&mut changed);
            assert_eq!(
                ask(&changed, &known),
                Err(SignatureError::Digest),
                "{changed}"
            );
        }
        // What autoscalers and controllers write is not signed.
        let mut scaled = good;
        scaled["spec"]["replicas"] = json!(3);
        scaled["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = json!("2");
        scaled["status"] = json!({"replicas": 3});
        assert_eq!(ask(&scaled, &known), Ok("shop".to_owned()));
    }

    #[test]
    fn a_pod_is_signed_without_what_the_server_and_the_gate_add() {
        let pod = Workload::of_kind("", "Pod").unwrap();
        let plain = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"},
            "spec": {
                "containers": [{"name": "a", "image": "a", "volumeMounts": [{"name": "kube-api-access-x1", "mountPath": "/t"}]}],
                "volumes": [{"name": "kube-api-access-x1", "projected": {"sources": []}}],
            },
        });
        let mut completed = plain.clone();
        completed["spec"]["volumes"][0]["name"] = json!("kube-api-access-y2");
        completed["spec"]["containers"][0]["volumeMounts"][0]["name"] = json!("kube-api-access-y2");
        completed["spec"]["schedulingGates"] = json!([{"name": SCHEDULING_GATE}]);
        completed["spec"]["readinessGates"] = json!([{"conditionType": READINESS_GATE}]);
        completed["metadata"]["annotations"] = json!({"locus.dev/tenant": "x"});
        assert_eq!(digest(pod, &plain), digest(pod, &completed));
        // A volume that only has such a name is another one.
        let mut forged = plain.clone();
        forged["spec"]["volumes"][0] =
            json!({"name": "kube-api-access-x1", "hostPath": {"path": "/"}});
        assert_ne!(digest(pod, &plain), digest(pod, &forged));
        let mut marked = plain.clone();
        marked["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
        assert_ne!(digest(pod, &plain), digest(pod, &marked));
    }

    #[test]
    fn a_signature_counts_once_and_for_a_while() {
        let nonce = Nonce::random().unwrap();
        let secs = NOW.secs();
        let signed = |iat: i64, exp: i64| Signed {
            tenant: "id-shop".to_owned(),
            digest: String::new(),
            nonce,
            iat,
            exp,
        };
        assert_eq!(is_fresh(&signed(secs, secs + 300), NOW), Ok(()));
        assert_eq!(
            is_fresh(&signed(secs, secs + 301), NOW),
            Err(SignatureError::Lifetime)
        );
        assert_eq!(
            is_fresh(&signed(secs + 6, secs + 9), NOW),
            Err(SignatureError::Future)
        );
        assert_eq!(
            is_fresh(&signed(secs - 9, secs - 1), NOW),
            Err(SignatureError::Expired)
        );
        let mut used = Used::new(NOW);
        let good = signed(secs, secs + 300);
        assert_eq!(used.take(&good, "request-1", NOW), Ok(()));
        assert_eq!(
            used.take(&good, "request-1", NOW),
            Ok(()),
            "the server asks again"
        );
        let again = used.take(&good, "request-2", NOW);
        assert_eq!(again, Err(SignatureError::Seen(SeenError::Repeated)));
        let before = used.take(&signed(secs - 10, secs + 200), "request-3", NOW);
        assert_eq!(before, Err(SignatureError::Seen(SeenError::BeforeStart)));
    }
}
