//! Waits for the signals that ask a process to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Returns when the process is asked to stop.
pub async fn stopped() {
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        }
        Err(error) => {
            tracing::warn!(%error, "only the interrupt key stops this process");
            // Without either signal the process is stopped by the system alone.
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}
