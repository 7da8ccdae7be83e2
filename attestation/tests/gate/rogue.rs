//! An attacker with full control over a worker: its agent answers what the attacker likes.

use std::sync::Arc;

use crate::world::{WorkerBox, World};
use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use locus_attestation::agent::server::EVIDENCE;
use locus_attestation::agent::state::{Keys, StateFolder};
use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::{Evidence, PcrValue, QuotePart, binding};
use locus_attestation::net::serve;
use locus_attestation::net::tls::{Credentials, SharedServerConfig};
use locus_attestation::protocol::EvidenceRequest;
use locus_attestation::tpm::device::quote;
use locus_attestation::tpm::{PcrSelection, Tpm};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What an attacker with full control over a worker answers with.
pub(crate) type Forgery =
    Arc<dyn Fn(&EvidenceRequest, &mut dyn Tpm, &Keys) -> Vec<u8> + Send + Sync>;

/// Puts a rogue agent in the place of the real one: same keys, same certificate, same address.
pub(crate) async fn rogue(world: &World, worker: &mut WorkerBox, forge: Forgery) -> JoinHandle<()> {
    let address = worker.address();
    worker.kill().await;
    let state = StateFolder::new(&worker.state);
    let keys = state.keys().unwrap().unwrap();
    let gate = world.folder.path().join("gate");
    let credentials = Credentials {
        authority: std::fs::read_to_string(gate.join("ca.pem")).unwrap(),
        certificate: state.registered().unwrap().unwrap().certificate,
        key: keys.tls_key.clone(),
    };
    let tls = SharedServerConfig::new(credentials.server().unwrap());
    let machine = worker.machine.clone();
    let answer = move |body: Bytes| {
        let request: EvidenceRequest = serde_json::from_slice(&body).unwrap();
        let mut tpm = machine.open();
        let forged = forge(&request, &mut *tpm, &keys);
        async move { forged }
    };
    let router = Router::new().route(EVIDENCE, post(answer));
    let listener = TcpListener::bind(&address).await.unwrap();
    tokio::spawn(async move {
        serve(listener, tls, router, std::future::pending())
            .await
            .unwrap();
    })
}

/// A quote over registers of the attacker's choice.
pub(crate) fn quoted(
    request: &EvidenceRequest,
    tpm: &mut dyn Tpm,
    keys: &Keys,
    selection: &PcrSelection,
) -> QuotePart {
    let bound = binding(&request.nonce, &claims(request));
    let quoted = quote(tpm, &keys.ak, bound.as_bytes(), selection).unwrap();
    let pcrs = selection
        .registers()
        .map(|(bank, pcr)| PcrValue {
            index: u32::from(pcr),
            value: quoted.pcrs.get(bank, pcr).unwrap(),
        })
        .collect();
    QuotePart {
        attest: quoted.attest,
        signature: quoted.signature,
        pcrs,
    }
}

/// What the evidence says of itself.
pub(crate) fn claims(request: &EvidenceRequest) -> Vec<u8> {
    request
        .answer(request.first_entry, HashAlg::Sha1, 0)
        .to_bytes()
}

/// Evidence over registers of the attacker's choice.
pub(crate) fn evidence(
    request: &EvidenceRequest,
    tpm: &mut dyn Tpm,
    keys: &Keys,
    selection: &PcrSelection,
    log: &[u8],
) -> Vec<u8> {
    let part = quoted(request, tpm, keys, selection);
    Evidence::encode(&claims(request), &part, Some(log))
}
