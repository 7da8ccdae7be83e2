//! The statement: what was checked, and what came of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The type of in-toto statements.
pub const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The type of what is stated about the subjects.
pub const PREDICATE: &str = "urn:locus:check:v1";

/// An in-toto statement about a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The version of statements.
    #[serde(rename = "_type")]
    pub kind: String,
    /// The files that were read.
    pub subject: Vec<Subject>,
    /// The type of the predicate.
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// What is stated about them.
    pub predicate: Predicate,
}

/// A statement, not sealed yet.
pub type Certificate = Statement;

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Its path, from the folder that the check was made in.
    pub name: String,
    /// Digests of its content by algorithm.
    pub digest: BTreeMap<String, String>,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Predicate {
    /// The program that checked.
    pub tool: Tool,
    /// When, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    /// Whether everything was checked and nothing forbids to deploy it.
    pub deployable: bool,
    /// Whether every allowed input was considered.
    pub all_inputs: bool,
    /// The inputs that were given.
    pub inputs: Vec<InputGiven>,
    /// Variables of the process that the files mention, by name; values may be secrets.
    pub variables: Vec<String>,
    /// Paths that were looked for and not found.
    pub absent: Vec<String>,
    /// Paths that were asked for and are there, whose content does not matter.
    pub present: Vec<String>,
    /// Folders whose files were asked for.
    pub listings: Vec<Listing>,
    /// Folders that were searched, and the files in them that may be configurations.
    pub searched: Vec<Listing>,
    /// The rules that were asked, with digests of their texts.
    pub rules: Vec<RuleChecked>,
    /// The projects, and the verdict of each rule about each.
    pub projects: Vec<ProjectChecked>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was found and a comment in the files ignores.
    pub ignored: Vec<Finding>,
    /// What could not be checked.
    pub unchecked: Vec<Finding>,
    /// Proofs of what needed a solver.
    pub evidence: Vec<Evidence>,
    /// The identifier of the key that signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
}

/// A folder, and files in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Its path.
    pub folder: String,
    /// The names of its files, sorted; their paths, where it was searched.
    pub files: Vec<String>,
}

/// The program that checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The digest of all modules of rules that come with it.
    pub library: String,
}

/// An input that was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputGiven {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A rule that was asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleChecked {
    /// Its identifier.
    pub id: String,
    /// The language it is about.
    pub language: String,
    /// The digest of the texts of its assertions.
    pub sha256: String,
}

/// What a rule came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It was not asked.
    Off,
    /// It is not known.
    Undecided,
    /// It is broken for some inputs.
    Violable,
    /// It is broken.
    Violated,
}

/// A project that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectChecked {
    /// Its language.
    pub language: String,
    /// Its files.
    pub files: Vec<String>,
    /// Whether everything was checked and nothing forbids to deploy it.
    pub deployable: bool,
    /// What each rule came to.
    pub verdicts: BTreeMap<String, Verdict>,
}

/// Something that was found, or could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Its code.
    pub rule: String,
    /// How bad it is.
    pub severity: String,
    /// How sure it is.
    pub verdict: String,
    /// What is wrong.
    pub message: String,
    /// Where: `path:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// Clauses that contradict each other, and the proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The rule that needed it.
    pub rule: String,
    /// What is proved, in words.
    pub claim: String,
    /// The clauses, in DIMACS form.
    pub cnf: String,
    /// The proof, in the text form of DRAT.
    pub drat: String,
}
