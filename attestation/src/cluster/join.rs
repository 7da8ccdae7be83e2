//! The first certificate of a worker's agent, for the token of its pod.
//!
//! The kubelet gives the agent's pod a token that is bound to the pod and names its node. The API server says whether the token
//! counts; the certificate is for the node that it names, and for no other. It opens a connection and proves nothing of the
//! worker: that is for its TPM.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use clap::Args;
use hyper::Method;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::connect::{block_on, code};
use super::install::{AGENT, Component};
use super::names::ADDRESS;
use super::resources::Agent;
use crate::clock::{Clock as _, SystemClock};
use crate::logs::shown;
use crate::net::tls::{Credentials, client_of_everybody};
use crate::net::{Authority, Issued, Role};

/// For whom the tokens are.
pub const AUDIENCE: &str = "locus-gate";
/// Where it is asked.
const PATH: &str = "/v1/join";
/// What the API server says of the node that a token is bound to.
const NODE: &str = "authentication.kubernetes.io/node-name";
/// What it says of the pod.
const POD: &str = "authentication.kubernetes.io/pod-name";

/// What an agent is given.
#[derive(Serialize, Deserialize)]
struct Joined {
    node: String,
    certificate: String,
    key: String,
}

/// Who reviews tokens, and makes certificates.
struct Registry {
    client: Client,
    authority: Authority,
}

/// The endpoint, for the server that answers everybody.
pub fn router(client: Client, authority: Authority) -> Router {
    let registry = Arc::new(Registry { client, authority });
    Router::new().route(PATH, post(join)).with_state(registry)
}

async fn join(State(registry): State<Arc<Registry>>, headers: HeaderMap) -> Response {
    let token = headers
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    let Some(token) = token.and_then(|value| value.strip_prefix("Bearer ")) else {
        return refused("no token is shown");
    };
    let joining = async {
        let (node, pod) = registry.bound(token).await?;
        registry.announce(&node, &pod).await?;
        Ok(node)
    };
    let node = match joining.await {
        Ok(node) => node,
        Err(Refused::Token(why)) => return refused(why),
        Err(Refused::Early) => {
            let told = "the pod has no address yet; ask again";
            return (StatusCode::SERVICE_UNAVAILABLE, told).into_response();
        }
        Err(Refused::Server(error)) => {
            tracing::warn!(%error, "no agent joins");
            let told = "the API server does not do what is needed for the agent to join";
            return (StatusCode::BAD_GATEWAY, told).into_response();
        }
    };
    match registry.issue(&node) {
        Ok(issued) => {
            tracing::info!(node, "the agent of a worker joined");
            axum::Json(Joined {
                node,
                certificate: issued.certificate,
                key: issued.key.as_str().to_owned(),
            })
            .into_response()
        }
        Err(error) => {
            tracing::warn!(node, %error, "no certificate for an agent");
            refused("the name of the node cannot be in a certificate")
        }
    }
}

fn refused(why: &'static str) -> Response {
    (StatusCode::UNAUTHORIZED, why).into_response()
}

enum Refused {
    Token(&'static str),
    /// What is needed is not known yet.
    Early,
    Server(kube::Error),
}

impl Registry {
    /// The node and the pod that a token is bound to, if it is that of an agent's pod.
    async fn bound(&self, token: &str) -> Result<(String, String), Refused> {
        let review = TokenReview {
            spec: TokenReviewSpec {
                audiences: Some(vec![AUDIENCE.to_owned()]),
                token: token.to_owned(),
            },
            ..TokenReview::default()
        };
        let reviews: Api<TokenReview> = Api::all(self.client.clone());
        let answer = reviews.create(&PostParams::default(), &review).await;
        let status = answer.map_err(Refused::Server)?.status.unwrap_or_default();
        let audiences = status.audiences.unwrap_or_default();
        if status.authenticated != Some(true) || !audiences.iter().any(|one| one == AUDIENCE) {
            return Err(Refused::Token("the token does not count"));
        }
        let user = status.user.unwrap_or_default();
        if user.username != Some(Component::Agent.user()) {
            return Err(Refused::Token("the token is not that of an agent"));
        }
        let extra = user.extra.unwrap_or_default();
        let both = only(&extra, NODE).zip(only(&extra, POD));
        both.ok_or(Refused::Token("the token is bound to no node"))
    }

    /// Says where the agent of a node listens: at the address of its pod, which is another with every pod.
    async fn announce(&self, node: &str, pod: &str) -> Result<(), Refused> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), Component::Agent.namespace());
        let pod = pods.get(pod).await.map_err(Refused::Server)?;
        let on = pod.spec.and_then(|spec| spec.node_name);
        let address = pod.status.and_then(|status| status.pod_ip);
        let address = match (on, address.as_deref().map(str::parse)) {
            (Some(on), Some(Ok(address))) if on == node => SocketAddr::new(address, AGENT),
            _ => return Err(Refused::Early),
        };
        let address = address.to_string();
        let parameters = PatchParams::default();
        let nodes: Api<Node> = Api::all(self.client.clone());
        let said = json!({"metadata": {"annotations": {ADDRESS: address}}});
        let done = nodes.patch(node, &parameters, &Patch::Merge(&said)).await;
        done.map_err(Refused::Server)?;
        // A worker that is registered already is asked there from now on.
        let agents: Api<Agent> = Api::all(self.client.clone());
        let moved = json!({"spec": {"address": address}});
        match agents.patch(node, &parameters, &Patch::Merge(&moved)).await {
            Err(error) if code(&error) != 404 => Err(Refused::Server(error)),
            _ => Ok(()),
        }
    }

    fn issue(&self, node: &str) -> Result<Issued, crate::net::PkiError> {
        self.authority
            .issue(node, &[Role::Agent], SystemClock.now())
    }
}

/// The only value of something that the API server says of a token.
fn only(extra: &BTreeMap<String, Vec<String>>, key: &str) -> Option<String> {
    match extra.get(key)?.as_slice() {
        [value] if !value.is_empty() => Some(value.clone()),
        _ => None,
    }
}

/// How an agent's pod gets its certificate.
#[derive(Args, Clone, Debug)]
pub struct JoinArgs {
    /// Where the gate answers everybody (`HOST:PORT`)
    #[arg(value_name = "ADDRESS")]
    gate: String,
    /// The certificate of the gate's authority
    #[arg(long, value_name = "FILE")]
    authority: PathBuf,
    /// The token of the pod
    #[arg(long, value_name = "FILE")]
    token: PathBuf,
    /// The folder to write `ca.pem`, `agent.pem` and `agent.key` to
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// How long to go on asking, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    patience: u64,
}

fn read(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path);
    text.map_err(|error| format!("`{}`: {error}", shown(&path.to_string_lossy())))
}

impl JoinArgs {
    /// Asks until there is an answer, or no time left.
    ///
    /// # Errors
    /// Why there is no certificate.
    pub fn run(self) -> Result<(), String> {
        block_on(self.ask())
    }

    async fn ask(self) -> Result<(), String> {
        let authority = read(&self.authority)?;
        let config = client_of_everybody(&authority).map_err(|error| error.to_string())?;
        let host = self.gate.rsplit_once(':').map_or("", |(host, _)| host);
        let client = crate::net::Client::new(config, &self.gate, host);
        let start = std::time::Instant::now();
        let joined = loop {
            // The kubelet renews the token.
            let bearer = format!("Bearer {}", read(&self.token)?.trim());
            let headers = [("authorization", bearer.as_str())];
            match client.send(Method::POST, PATH, &headers, Vec::new()).await {
                Ok(answer) => break answer,
                Err(error) if start.elapsed().as_secs() < self.patience => {
                    eprintln!("note: {}; asking again", shown(&error.to_string()));
                    tokio::time::sleep(Duration::from_secs(2)).await;
                }
                Err(error) => return Err(error.to_string()),
            }
        };
        let joined: Joined = serde_json::from_slice(&joined)
            .map_err(|error| format!("the gate's answer cannot be read: {error}"))?;
        let issued = Issued {
            certificate: joined.certificate,
            key: zeroize::Zeroizing::new(joined.key),
        };
        std::fs::create_dir_all(&self.out)
            .map_err(|error| format!("`{}`: {error}", self.out.display()))?;
        Credentials::new(&authority, issued)
            .write(&self.out, Role::Agent.name())
            .map_err(|error| error.to_string())?;
        eprintln!("joined as `{}`", shown(&joined.node));
        Ok(())
    }
}
