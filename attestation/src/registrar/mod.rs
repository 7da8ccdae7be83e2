//! Tenants, workers, TPM manufacturers and the validation of endorsement keys.
