//! The agent that runs on a worker and answers the verifier.

fn main() {}
