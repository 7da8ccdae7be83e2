//! Where an agent is asked for what.

/// The path at which the worker identifies itself.
pub const IDENTITY: &str = "/v1/agent/registration/identity";
/// The path for the challenge.
pub const CHALLENGE: &str = "/v1/agent/registration/challenge";
/// The path for the acknowledgement.
pub const ACKNOWLEDGE: &str = "/v1/agent/registration/acknowledge";
/// The path for a new certificate.
pub const CERTIFICATE: &str = "/v1/agent/certificate";
/// The path for the keys that follow the verifier's.
pub const SUCCESSION: &str = "/v1/agent/succession";
/// The path for evidence.
pub const EVIDENCE: &str = "/v1/agent/evidence";
/// The path for the description of all of these.
pub const OPENAPI: &str = "/openapi.json";
/// The path that says that the agent is alive.
pub const HEALTH: &str = "/healthz";
