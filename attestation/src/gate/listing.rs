//! The list of all pods, written page by page: a cluster has more of them than should be in memory at once.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Bytes;
use hyper::body::{Body, Frame};

use super::problem::Problem;
use super::verify::Verifier;
use crate::verifier::PodStatus;

/// How many pods are read at once.
const PAGE: u32 = 256;

/// A [list of pods](super::standing::PodList), as it is written.
///
/// Its version is that of the moment before the first page: whoever goes on from it hears of everything that a later page
/// may or may not have seen.
pub(super) struct PodPages {
    verifier: Arc<Verifier>,
    worker: Option<String>,
    /// What is written before the next page; nothing after the last one.
    before: Option<String>,
    /// The last pod that was written.
    after: String,
}

impl PodPages {
    /// Of all pods, or of those of a worker.
    pub(super) fn begin(verifier: Arc<Verifier>, worker: Option<String>) -> Result<Self, Problem> {
        let version = verifier.store().version()?;
        Ok(PodPages {
            verifier,
            worker,
            before: Some(format!("{{\"version\":{version},\"items\":[")),
            after: String::new(),
        })
    }

    fn page(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        let Some(before) = self.before.take() else {
            return Ok(None);
        };
        let mut text = before.into_bytes();
        let pods = self
            .verifier
            .pods_after(self.worker.as_deref(), &self.after, PAGE)?;
        if let Some(last) = pods.last() {
            self.after = last.pod.uid.to_string();
        }
        let whole = pods.len() == PAGE as usize;
        write(&mut text, &pods)?;
        if whole {
            self.before = Some(String::new());
        } else {
            text.extend_from_slice(b"]}");
        }
        Ok(Some(text))
    }
}

fn write(text: &mut Vec<u8>, pods: &[PodStatus]) -> Result<(), Problem> {
    for pod in pods {
        if !text.ends_with(b"[") {
            text.push(b',');
        }
        serde_json::to_writer(&mut *text, pod).map_err(Problem::internal)?;
    }
    Ok(())
}

impl Body for PodPages {
    type Data = Bytes;
    type Error = Problem;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Problem>>> {
        let page = self.page().transpose();
        Poll::Ready(page.map(|page| page.map(|text| Frame::data(text.into()))))
    }
}
