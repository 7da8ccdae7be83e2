//! The `locus` command line: results on standard output, everything else on standard error.

use std::process::ExitCode;

/// A configuration is read into many small values, and freed by another thread than made them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    locus::cli::main()
}
