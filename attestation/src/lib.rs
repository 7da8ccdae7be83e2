//! TPM, measurements, registrar, verifier, agent and gate.
