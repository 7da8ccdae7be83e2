//! The agent that runs on a worker and answers the verifier.

use std::process::ExitCode;

use clap::Parser;
use locus_attestation::agent::AgentArgs;
use locus_attestation::tpm::esapi::EsapiTpm;

/// Answers the verifier from this worker's TPM and measurement log.
#[derive(Parser)]
#[command(name = "locus-agent", version)]
struct Cli {
    #[command(flatten)]
    agent: AgentArgs,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    locus_attestation::logs::log_to_stderr(cli.agent.log_format);
    match cli
        .agent
        .run(|transport| Ok(Box::new(EsapiTpm::open(transport)?)))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
