//! The gate on the host, and its operator.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper::{Method, StatusCode};
use locus_attestation::clock::SystemClock;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::gate::args::{enrol, init};
use locus_attestation::gate::{GateConfig, RunningGate};
use locus_attestation::net::tls::Credentials;
use locus_attestation::net::{Client, Role};
use locus_attestation::policy::PolicySet;
use locus_attestation::reference::from_root;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::guest::{Guest, OS};

/// The name of the one worker.
pub(crate) const WORKER: &str = "worker-1";

/// An installation with a running gate.
pub(crate) struct Office {
    folder: PathBuf,
    gate: Option<RunningGate>,
    operator: Client,
    tenant: String,
}

/// The digest that the cluster knows an image by.
pub(crate) fn image_digest(name: &str) -> Digest {
    HashAlg::Sha256.hash(&[b"image ", name.as_bytes()])
}

impl Office {
    pub(crate) async fn open(folder: &Path) -> Self {
        let installation = folder.join("gate");
        init(&installation, &SystemClock).unwrap();
        let gate = start(&installation, PolicySet::default()).await;
        let operator = operator(folder, gate.address);
        let mut office = Office {
            folder: folder.to_owned(),
            gate: Some(gate),
            operator,
            tenant: String::new(),
        };
        let key = locus_attestation::evidence::jws::TokenKey::generate().unwrap();
        let public = locus_attestation::evidence::jws::public_key_to_pem(&key.public()).unwrap();
        let tenant = json!({ "name": "tenant", "public_key": public });
        let tenant = office.must(Method::POST, "/v1/tenants", tenant).await;
        office.tenant = tenant["id"].as_str().unwrap().to_owned();
        office
    }

    pub(crate) async fn close(mut self) {
        self.gate.take().unwrap().stop().await;
    }

    /// Starts the gate again, with another policy.
    pub(crate) async fn insist(&mut self, policy: PolicySet) {
        self.gate.take().unwrap().stop().await;
        let gate = start(&self.folder.join("gate"), policy).await;
        self.operator = operator(&self.folder, gate.address);
        self.gate = Some(gate);
    }

    /// Credentials for the agent.
    pub(crate) fn credentials(&self) -> PathBuf {
        let out = self.folder.join("agent");
        enrol(
            &self.folder.join("gate"),
            Role::Agent,
            WORKER,
            &out,
            &SystemClock,
        )
        .unwrap();
        out
    }

    /// Trusts the maker of a TPM: certificates in PEM, root first.
    pub(crate) async fn trust(&self, certificates: Vec<String>) {
        // "IBM", as software TPMs call their maker.
        let maker = json!({ "id": "id:00001014", "name": "swtpm" });
        self.must(Method::POST, "/v1/manufacturers", maker).await;
        for (kind, certificate) in ["root", "intermediate"].into_iter().zip(certificates) {
            let body = json!({ "kind": kind, "certificate": certificate });
            let path = "/v1/manufacturers/id:00001014/certificates";
            self.must(Method::POST, path, body).await;
        }
    }

    /// Accepts a boot by its aggregate.
    pub(crate) async fn accept_boot(&self, aggregate: &str) {
        let os = percent_encoding::utf8_percent_encode(OS, percent_encoding::NON_ALPHANUMERIC);
        let boots = json!({ "boot_aggregates": [aggregate] });
        self.must(Method::PUT, &format!("/v1/reference/os/{os}"), boots)
            .await;
    }

    /// Enters what the guest is made of.
    pub(crate) async fn accept_files(&self, guest: &Guest) {
        let (host, errors) = from_root(&guest.root, &[HashAlg::Sha256]);
        assert!(errors.is_empty(), "{errors:?}");
        let runtime: Value = serde_json::to_value(&host).unwrap()["/usr/bin/runc"].clone();
        let host = json!({ "files": host });
        self.must(Method::PUT, "/v1/reference/hosts/debian", host)
            .await;
        let runtime = json!({ "files": { "/usr/bin/runc": runtime } });
        self.must(Method::PUT, "/v1/reference/runtimes/runc", runtime)
            .await;
        for name in ["redis", "nginx"] {
            let (files, errors) = from_root(&guest.image(name), &[HashAlg::Sha256]);
            assert!(errors.is_empty(), "{errors:?}");
            let image = json!({ "digests": [image_digest(name)], "files": files });
            self.must(Method::PUT, &format!("/v1/reference/images/{name}"), image)
                .await;
        }
    }

    /// Registers the worker.
    pub(crate) async fn register(&self, agent: &str) -> (StatusCode, Value) {
        let joined = json!({ "name": WORKER, "address": agent });
        self.ask(Method::POST, "/v1/registrations", joined).await
    }

    /// Attests the worker and all its pods.
    pub(crate) async fn attest(&self) -> (StatusCode, Value) {
        let path = format!("/v1/verifier/workers/{WORKER}/attest");
        self.ask(Method::POST, &path, Value::Null).await
    }

    /// Worker and pods, as the gate sees them.
    pub(crate) async fn report(&self) -> Value {
        self.must(
            Method::GET,
            &format!("/v1/verifier/workers/{WORKER}"),
            Value::Null,
        )
        .await
    }

    /// Declares a pod with one container.
    pub(crate) async fn declare(&self, uid: &str, name: &str, image: &str, container: &str) {
        let pod = json!({
            "uid": uid, "namespace": "default", "name": name, "tenant": self.tenant, "worker": WORKER,
            "containers": [{ "name": "main", "image": image, "digest": image_digest(image), "id": container }],
        });
        self.must(Method::POST, "/v1/verifier/pods", pod).await;
    }

    /// Forgets a pod that is gone.
    pub(crate) async fn remove(&self, uid: &str) {
        self.must(
            Method::DELETE,
            &format!("/v1/verifier/pods/{uid}"),
            Value::Null,
        )
        .await;
    }

    async fn must(&self, method: Method, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask(method, path, body).await;
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
        let body = serde_json::to_vec(&body).unwrap();
        let headers = [("content-type", "application/json")];
        let answer = self.operator.exchange(method, path, &headers, body).await;
        let (status, answer) = answer.unwrap();
        (
            status,
            serde_json::from_slice(&answer).unwrap_or(Value::Null),
        )
    }
}

async fn start(installation: &Path, policy: PolicySet) -> RunningGate {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = GateConfig::all_in(installation);
    config.policy = policy;
    // Every pod is declared before it starts: what is not explained counts at once.
    config
        .policy
        .each(|policy| policy.grace.pod = Duration::ZERO);
    let gate = locus_attestation::gate::start(config, listener, Arc::new(SystemClock)).await;
    gate.unwrap()
}

fn operator(folder: &Path, gate: SocketAddr) -> Client {
    let out = folder.join("operator");
    enrol(
        &folder.join("gate"),
        Role::Operator,
        "alice",
        &out,
        &SystemClock,
    )
    .unwrap();
    let credentials = Credentials::read(&out, "operator").unwrap();
    Client::new(credentials.client().unwrap(), &gate.to_string(), "gate")
        .with_timeout(Duration::from_secs(180))
}
