//! The flags of every subcommand.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use super::inputs::InputArgs;
use super::outputs::{Output, OutputParser};

/// Model-checks cloud configurations before they are deployed.
#[derive(Debug, Parser)]
#[command(name = "locus", version, about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check configurations against the rules
    Check(CheckArgs),
    /// Test your own rules against examples in which comments mark what they find
    Test(TestArgs),
    /// Verify what `locus check --certificate` wrote
    VerifyCertificate(VerifyArgs),
    /// Print the location graph of a configuration
    Graph(GraphArgs),
    /// Print who can talk to whom, and which lines decide it
    Reach(ReachArgs),
    /// Print where everything is put, when the settings list places
    Place(PlaceArgs),
    /// List who may do something, and who can come to it
    WhoCan(WhoCanArgs),
    /// List all rules
    Rules,
    /// Explain a rule: what is wrong, why it matters and how to fix it
    Explain(ExplainArgs),
    /// List what rules about a language can mention
    Vocabulary(VocabularyArgs),
    /// Run the commands of Alloy models
    Run(RunArgs),
    /// Format Alloy models in place
    Fmt(FmtArgs),
    /// Write a `locus.toml` to start with, and a file for your CI
    Init(InitArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write manual pages to a folder
    Man(ManArgs),
    /// Serve an editor on standard input and output (Language Server Protocol)
    Lsp(LspArgs),
    /// Run the gate or talk to it (runs `locus-gate`)
    #[command(disable_help_flag = true)]
    Gate(Passed),
    /// Check, sign and apply Kubernetes objects, and wait until they are attested (runs `locus-gate`)
    #[command(disable_help_flag = true)]
    Deploy(Passed),
    /// Replay measurement logs, or see a demonstration (runs `locus-gate`)
    #[command(disable_help_flag = true)]
    Attest(Passed),
    /// Make, compare, sign and verify reference values (runs `locus-gate`)
    #[command(disable_help_flag = true)]
    Reference(Passed),
    /// Run the agent of a worker (runs `locus-agent`)
    #[command(disable_help_flag = true)]
    Agent(Passed),
}

impl Command {
    /// The command that is run most, read without the flags of all others. None for another one, and for whatever is to be told
    /// about its flags.
    pub(crate) fn quickly(arguments: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut arguments = arguments.into_iter().skip(1).peekable();
        arguments.peek().filter(|first| *first == "check")?;
        let flags = CheckArgs::augment_args(clap::Command::new("check"));
        let read = flags.try_get_matches_from(arguments).ok()?;
        CheckArgs::from_arg_matches(&read).ok().map(Command::Check)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
An example is a configuration with marks, or one called `*.breaks.*` or `*.holds.*`. A mark is a comment under the place
where a finding starts:

  name: web
  #     ^ ACME001

Exit codes:
  0  your rules find what is marked, and nothing else
  1  something differs
  2  there is nothing to test, or a rule or file cannot be read
  3  wrong usage")]
pub(crate) struct TestArgs {
    /// Examples, and folders with examples; without any, the current folder
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  the certificate is as it was made, and the files are as they were
  1  it was changed, or a file was
  2  it cannot be read, or it is signed and no key was given
  3  wrong usage")]
pub(crate) struct VerifyArgs {
    /// The certificate
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: PathBuf,

    /// Public key in PEM form (Ed25519 or P-256) that must have signed it
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,

    /// Folder that the paths in it start from
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct VocabularyArgs {
    /// A language, by the name of its section in `locus.toml`
    pub(crate) language: String,

    /// A signature or type to print with its fields and an example, a field, or `values`
    pub(crate) name: Option<String>,

    /// A configuration whose own types are meant too
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

// What another program is started with.
#[derive(Debug, Args)]
pub(crate) struct Passed {
    /// Arguments of the program
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub(crate) arguments: Vec<OsString>,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// What makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors
    Error,
    /// Warnings too
    Warning,
    /// Any finding
    #[value(alias = "info")]
    Note,
    /// Errors, and rules that could not be decided
    Undecided,
    /// Never
    Never,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  nothing found
  1  findings that `--fail-on` names
  2  something could not be checked
  3  wrong usage")]
pub(crate) struct CheckArgs {
    /// Files and folders to check; `-` is standard input
    #[arg(required_unless_present_any = ["file", "live"], value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// With `--cluster`, also check what is in the cluster
    #[arg(long, requires = "cluster")]
    pub(crate) live: bool,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,

    /// Also check that each graph is an instance of the reference model `lg/location_graphs`
    #[arg(long)]
    pub(crate) as_instance: bool,

    /// Do not check this rule (identifier or name); can be repeated
    #[arg(
        long,
        visible_alias = "ignore",
        value_name = "RULE",
        value_delimiter = ','
    )]
    pub(crate) skip: Vec<String>,

    /// Check only this rule (identifier or name); can be repeated
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Also check the rules that are off by default
    #[arg(long)]
    pub(crate) all_rules: bool,

    /// List files in folders that are not checked, and show every finding of a long run
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Output format, and the file to write it to; can be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = OutputParser)]
    pub(crate) format: Vec<Output>,

    /// What makes the exit code 1
    #[arg(long, value_enum, default_value = "error")]
    pub(crate) fail_on: FailOn,

    /// Do not report findings that this file lists
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings to the baseline
    #[arg(long, requires = "baseline", conflicts_with_all = ["diff", "watch"])]
    pub(crate) write_baseline: bool,

    /// Report only what is new since this commit, branch or tag
    #[arg(long, value_name = "BASE", conflicts_with_all = ["render", "cluster"])]
    pub(crate) diff: Option<String>,

    /// Check again whenever a file changes
    #[arg(long, conflicts_with_all = ["render", "cluster"])]
    pub(crate) watch: bool,

    /// Show the smallest set of lines that causes each finding
    #[arg(long)]
    pub(crate) explain: bool,

    /// Suggest small edits after which every rule holds, as a unified diff
    #[arg(long, conflicts_with = "render")]
    pub(crate) suggest: bool,

    /// Apply the edits that are safe, then check
    #[arg(long, conflicts_with = "render")]
    pub(crate) fix: bool,

    /// Write what was checked and what came of it to FILE (in-toto statement in a DSSE envelope)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["render", "cluster"])]
    pub(crate) certificate: Option<PathBuf>,

    /// Sign the certificate with this private key in PEM form (Ed25519 or P-256)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,

    /// With `--all-inputs`, list what could not be decided
    #[arg(long)]
    pub(crate) show_undecided: bool,

    /// With `--all-inputs`, write a file for each finding that depends on inputs, to show it again
    #[arg(long, value_name = "DIR", requires = "all_inputs")]
    pub(crate) witness: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  the graph was printed
  1  the graph was printed, but the files have errors
  2  something could not be read
  3  wrong usage")]
pub(crate) struct GraphArgs {
    /// Configuration to draw; `-` is standard input
    #[arg(required_unless_present = "file", value_name = "FILE")]
    pub(crate) path: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value = "dot")]
    pub(crate) format: GraphFormat,

    /// Convert to another model, and print that as JSON
    #[arg(long, value_enum, conflicts_with = "format")]
    pub(crate) to: Option<GraphModel>,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

/// What a graph is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphModel {
    /// Resources and links of the Open Cloud Computing Interface
    Occi,
}

impl GraphModel {
    /// Its name, as languages know it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            GraphModel::Occi => "occi",
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  there is a placement
  1  there is none, or the files have errors
  2  it is not known whether there is one, or no nodes are known
  3  wrong usage")]
pub(crate) struct PlaceArgs {
    /// Files and folders with what is placed; `-` is standard input
    #[arg(default_value = ".", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A resource is written as in `pods`, `pods/exec` or `deployments.apps`; a path that is no resource starts with `/`.

Exit codes:
  0  the answer is complete
  1  the answer is printed, but the files have errors
  2  something is not known, so that there may be more
  3  wrong usage")]
pub(crate) struct WhoCanArgs {
    /// What is done, such as `get` or `create`
    pub(crate) verb: String,

    /// What it is done with
    pub(crate) resource: String,

    /// Files and folders that grant rights; `-` is standard input
    #[arg(default_value = ".", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Only in this namespace
    #[arg(long = "in", value_name = "NAMESPACE")]
    pub(crate) place: Option<String>,

    /// Only with the object of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

/// How a graph is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Graphviz
    Dot,
    /// Image
    Svg,
    /// JSON with source positions
    Json,
    /// Alloy model
    Als,
}

#[derive(Debug, Args)]
#[command(after_help = "\
An end is a workload (`shop/front` or `front`), all of a namespace (`shop/`), an address or block, `outside`, `internet`, or
`ingress-controller`, which stands for what forwards from Ingresses and routes.

Exit codes:
  0  who can talk to whom was printed
  1  the same, but the files have errors
  2  something could not be read or decided
  3  wrong usage")]
pub(crate) struct ReachArgs {
    /// Folder or file; `-` is standard input
    #[arg(value_name = "FOLDER")]
    pub(crate) path: PathBuf,

    /// Only connections from this end
    #[arg(long, value_name = "END")]
    pub(crate) from: Vec<String>,

    /// Only connections to this end
    #[arg(long, value_name = "END")]
    pub(crate) to: Vec<String>,

    /// Also say which lines allow or deny them, for pairs that cannot talk too
    #[arg(long)]
    pub(crate) explain: bool,

    /// Print what differs from this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "explain")]
    pub(crate) diff: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: ReachFormat,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

/// How reachability is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReachFormat {
    /// A line for each pair
    Text,
    /// An object for each pair
    Json,
    /// Graphviz
    Dot,
    /// Image
    Svg,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Identifier or name of a rule, such as `HOT221`
    pub(crate) rule: String,
}

/// What happens when a sum has more bits than an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Overflow {
    /// Conclude nothing from an integer that overflows
    Forbid,
    /// Integers wrap around
    Wrap,
}

/// A SAT solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Solver {
    /// CaDiCaL, in C++
    #[cfg(feature = "cadical")]
    Cadical,
    /// varisat, in Rust
    Varisat,
    /// varisat first, then CaDiCaL
    #[cfg(feature = "cadical")]
    Relay,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  every command ended as expected
  1  an `expect` was not met, or a check without one has a counterexample
  2  a command could not be answered
  3  wrong usage")]
pub(crate) struct RunArgs {
    /// Alloy files to run; `-` is standard input
    #[arg(required_unless_present = "library", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Run a model that comes with Locus, such as `lg`; without a name, list them
    #[arg(long, value_name = "MODEL", num_args = 0..=1, default_missing_value = "")]
    pub(crate) library: Option<String>,

    /// Run only commands with this name (`*` and `?` match any) or index, counted from 0
    #[arg(short, long, value_name = "NAME|INDEX")]
    pub(crate) command: Vec<String>,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,

    /// Add the instance to JSON output
    #[arg(long)]
    pub(crate) instances: bool,

    /// Write instances and counterexamples to a page to look at; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Find up to N more instances
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) next: usize,

    /// Find an instance with the fewest tuples
    #[arg(long)]
    pub(crate) smallest: bool,

    /// Show a minimal set of conflicting constraints even when no instance is expected
    #[arg(long)]
    pub(crate) core: bool,

    /// Write a DRAT proof of an unsatisfiable command to FILE and its CNF to FILE.cnf
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,

    /// SAT solver
    #[arg(long, value_enum, default_value_t = Solver::DEFAULT)]
    pub(crate) solver: Solver,

    /// Length of the symmetry-breaking predicate; 0 turns it off
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) symmetry: u32,

    /// How many universal quantifiers an existential may be moved out of
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) skolem_depth: u32,

    /// What to do when an integer overflows
    #[arg(long, value_enum, default_value = "forbid")]
    pub(crate) overflow: Overflow,

    /// Stop a command after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Stop a command that needs more memory than this
    #[arg(long, value_name = "MIB")]
    pub(crate) memory: Option<u64>,

    /// Number of commands to run at once; 0 means one per core
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
}

/// Where checks run before a change is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ci {
    /// GitHub workflow
    Github,
    /// GitLab pipeline
    Gitlab,
    /// Jenkins pipeline
    Jenkins,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Also write a pipeline
    #[arg(long, value_enum)]
    pub(crate) ci: Option<Ci>,

    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder to write to
    #[arg(default_value = ".", value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct LspArgs {
    // Some clients always pass it.
    #[arg(long, hide = true)]
    stdio: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// Alloy files to format; `-` reads standard input and prints the result
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Only report whether files would change (exit code 1)
    #[arg(long)]
    pub(crate) check: bool,
}

impl Solver {
    #[cfg(feature = "cadical")]
    const DEFAULT: Solver = Solver::Relay;
    #[cfg(not(feature = "cadical"))]
    const DEFAULT: Solver = Solver::Varisat;
}

impl std::fmt::Display for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.to_possible_value();
        f.write_str(name.as_ref().map_or("", |name| name.get_name()))
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .trim_end_matches('s')
        .parse()
        .map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("`{text}` is not a valid duration"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn flags_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn seconds_take_fractions_and_refuse_nonsense() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(seconds("60s"), Ok(Duration::from_secs(60)));
        assert!(seconds("-1").is_err());
        assert!(seconds("soon").is_err());
    }
}
