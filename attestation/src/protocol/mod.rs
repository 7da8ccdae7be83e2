//! Worker registration and pod attestation as state machines, free of transport and storage.
