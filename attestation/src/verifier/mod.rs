//! Appraisal of evidence: quote, measurement log, reference values, and what follows for worker and pod.
