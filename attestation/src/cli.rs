//! Entry points for the command line.

use tracing_subscriber::EnvFilter;

/// Sends structured logs to standard error; `RUST_LOG` chooses what, `info` if unset.
pub fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
    if started.is_err() {
        // Somebody else logs already; that is as good.
        tracing::debug!("logs were started twice");
    }
}
