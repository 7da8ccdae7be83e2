//! Evidence and results as tokens, signed requests, single-use nonces.
