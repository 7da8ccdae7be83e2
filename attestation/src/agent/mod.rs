//! The agent on a worker: answers the verifier from TPM and measurement log.
