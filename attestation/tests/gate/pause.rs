//! An agent that takes its time: evidence is made when it is asked for and arrives when the test says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::world::{WorkerBox, World};
use axum::Router;
use axum::extract::Request;
use axum::response::IntoResponse as _;
use hyper::{Method, StatusCode};
use locus_attestation::agent::server::EVIDENCE;
use locus_attestation::agent::state::StateFolder;
use locus_attestation::net::tls::{Credentials, SharedServerConfig};
use locus_attestation::net::{Client, serve};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Stands before a registered agent; the gate knows it at this place.
pub(crate) struct Pause {
    made: Arc<Semaphore>,
    arrives: Arc<Semaphore>,
    quotes: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Pause {
    /// Puts itself before a worker's agent, which is registered there.
    pub(crate) async fn before(world: &World, worker: &WorkerBox) -> Self {
        let state = StateFolder::new(&worker.state);
        let bound = Credentials {
            certificate: state.registered().unwrap().unwrap().certificate,
            key: state.keys().unwrap().unwrap().tls_key,
            ..Credentials::read(&worker.credentials, "agent").unwrap()
        };
        let tls = SharedServerConfig::new(bound.server().unwrap());
        let gate = Credentials::read(&world.folder.path().join("gate"), "gate").unwrap();
        let behind = Client::new(gate.client().unwrap(), &worker.address(), &worker.name);
        let (made, arrives) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let quotes = Arc::new(AtomicUsize::new(0));
        let (tell, wait, count) = (made.clone(), arrives.clone(), quotes.clone());
        let pass = move |request: Request| {
            let (behind, tell, wait) = (behind.clone(), tell.clone(), wait.clone());
            let count = count.clone();
            async move {
                let (method, path) = (request.method().clone(), request.uri().path().to_owned());
                let body = axum::body::to_bytes(request.into_body(), usize::MAX).await;
                let headers = [("content-type", "application/json")];
                let answered = behind
                    .exchange(method, &path, &headers, body.unwrap().to_vec())
                    .await;
                if path == EVIDENCE {
                    count.fetch_add(1, Ordering::SeqCst);
                    tell.add_permits(1);
                    wait.acquire().await.unwrap().forget();
                }
                answered.unwrap().into_response()
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let router = Router::new().fallback(pass);
        let task = tokio::spawn(async move {
            let served = serve(listener, tls, router, std::future::pending());
            served.await.unwrap();
        });
        let joined = json!({ "name": worker.name, "address": address });
        let (status, answer) = world
            .operate(Method::POST, "/v1/registrations", joined)
            .await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        Pause {
            made,
            arrives,
            quotes,
            task,
        }
    }

    /// Waits until evidence was made.
    pub(crate) async fn made(&self) {
        self.made.acquire().await.unwrap().forget();
    }

    /// How often evidence was made.
    pub(crate) fn quotes(&self) -> usize {
        self.quotes.load(Ordering::SeqCst)
    }

    /// Lets evidence arrive.
    pub(crate) fn arrive(&self) {
        self.arrives.add_permits(1);
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.task.abort();
    }
}
