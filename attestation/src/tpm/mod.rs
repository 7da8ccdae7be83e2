//! TPM 2.0: the structures a verifier reads, and the devices an agent speaks to.
