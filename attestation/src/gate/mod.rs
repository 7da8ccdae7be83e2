//! The gate: registrar, reference values, verifier and handlers behind mutual TLS.
