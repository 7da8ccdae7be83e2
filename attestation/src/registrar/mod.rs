//! The registrar: tenants, workers, TPM manufacturers and the validation of EK certificates.

pub mod database;
