//! A configuration language as one value: all that others ask of it stands behind [`Language`].
//!
//! A further language is its folder beside this one, its folder in the library of rules, and one line of [`BUILTIN`];
//! whoever finds, loads, checks or draws configurations asks a [`Registry`] and names no language. A program that uses Locus
//! as a library can [`register`] a language of its own, which brings its rules along.

pub mod choice;
pub mod described;
pub mod editing;
pub mod input;
pub mod kind;
pub mod project;
pub mod reach;
pub mod registry;
pub mod render;
pub mod rights;
pub mod schema;
pub mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use locus_core::catalogue::Code;
use locus_core::facts::Facts;
use locus_core::placement::Question;
use locus_core::value::{Constraint, Domain, Field, SymbolId, Value};
use locus_core::values::pattern;
use locus_core::vocabulary::{Sig, Vocabulary};
use locus_core::{Diagnostic, LocationGraph, Sources, Span};

use crate::compose::Compose;
use crate::hot::Heat;
use crate::kubernetes::Kubernetes;
use crate::lg::Graphs;
use crate::loader::Loader;
use crate::tosca::Tosca;
use crate::yaml::Mapping;

use render::{Renderer, Rendering, ToRender};

pub use choice::{Chosen, LIMITS, Limit, OpenInput, Witness};
pub use described::Described;
pub use editing::{
    FileText, Follows, NameAt, NamePart, NameSort, NameUse, Names, Place, Suggestion,
};
pub use input::{Input, InputKind, InputValue, Inputs, Word};
pub use kind::{Confidence, Kind, KindRole};
pub use project::{Found, Project};
pub use reach::Reach;
pub use registry::{Recognised, Registry, register};
pub use rights::{Able, RightsAnswer, RightsQuestion, RightsStep};
pub use settings::{OwnSettings, Section, SettingKey};

/// The languages that come with the program.
static BUILTIN: &[&dyn Language] = &[&Heat, &Compose, &Kubernetes, &Tosca, &Graphs];

/// A configuration language.
pub trait Language: Sync {
    /// Its short name, also that of the folder of its rules.
    fn name(&self) -> &'static str;

    /// What people call it.
    fn title(&self) -> &'static str;

    /// The section of the settings that is its own.
    fn section(&self) -> &'static str {
        self.name()
    }

    /// The kinds of files it knows.
    fn kinds(&self) -> &'static [Kind];

    /// The extensions of its files, by which folders are searched.
    fn extensions(&self) -> &'static [&'static str] {
        &["yaml", "yml"]
    }

    /// The kind of a file whose name tells it.
    fn by_name(&self, path: &str) -> Option<&'static Kind> {
        let _ = path;
        None
    }

    /// The kind of a file that is no text and whose first bytes tell it.
    fn by_bytes(&self, bytes: &[u8]) -> Option<&'static Kind> {
        let _ = bytes;
        None
    }

    /// Whether a file with an extension of this language may be one of its own, so that it is worth being parsed.
    fn may_be(&self, path: &str, text: &str) -> bool {
        let _ = (path, text);
        true
    }

    /// The kind of a file in a folder that is told by what lies beside or above it.
    fn by_place(&self, path: &str, loader: &dyn Loader) -> Option<&'static Kind> {
        let _ = (path, loader);
        None
    }

    /// The kind of a file whose first line tells it: a line that is neither empty nor a comment, without the
    /// space at its end.
    fn by_first_line(&self, line: &str) -> Option<&'static Kind> {
        let _ = line;
        None
    }

    /// The kind of a file whose content tells it, and how surely.
    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)>;

    /// How the files that were found form projects.
    fn projects(&self, found: &[Found<'_>], loader: &dyn Loader) -> Vec<Project> {
        let _ = loader;
        project::one_each(found)
    }

    /// Which of some files, each a project of its own, are checked as well in one project and sooner, because each is complete and
    /// they read the same files: groups of them.
    fn together(&self, alone: &[&str], loader: &dyn Loader) -> Vec<Vec<String>> {
        let _ = (alone, loader);
        Vec::new()
    }

    /// Whether more of a file must be checked than is checked where another project reads it.
    fn stands_alone(&self, path: &str, loader: &dyn Loader) -> bool {
        let _ = (path, loader);
        false
    }

    /// The programs that make configurations of a file whose kind is a [`Source`](KindRole::Source), in the order in which
    /// they are tried.
    fn renderers(&self, asked: &ToRender<'_>) -> Vec<Renderer> {
        let _ = asked;
        Vec::new()
    }

    /// Which of some such files are parts of others, and are rendered with these.
    fn rendered_parts(&self, sources: &[String], loader: &dyn Loader) -> BTreeSet<String> {
        let _ = (sources, loader);
        BTreeSet::new()
    }

    /// What such a program printed, and where its parts are from.
    fn rendering(&self, asked: &ToRender<'_>, output: &str) -> Rendering {
        let _ = asked;
        Rendering {
            text: output.to_owned(),
            origins: Vec::new(),
        }
    }

    /// The next program to be asked what is there already where configurations are deployed to, given the answers so far; none
    /// when these are all.
    fn next_question(&self, answers: &[String]) -> Option<Renderer> {
        let _ = answers;
        None
    }

    /// The answers as files of this language; none when they cannot be understood.
    fn existing(&self, answers: &[String]) -> Option<Existing> {
        let _ = answers;
        None
    }

    /// The files that only tell what is there already: what is wrong in them is not told.
    fn aside(&self, request: &Request) -> Vec<String> {
        let _ = request;
        Vec::new()
    }

    /// The inputs it takes.
    fn inputs(&self) -> &'static [Input] {
        &[]
    }

    /// The keys of its section of the settings that it reads itself, beside those of its inputs.
    fn setting_keys(&self) -> &'static [SettingKey] {
        &[]
    }

    /// What the value of one of these keys may be, as a JSON schema; without one, its type is all that is published.
    fn setting_schema(&self, key: &str) -> Option<serde_json::Value> {
        let _ = key;
        None
    }

    /// Reads its own keys of the settings; what is wrong with them is added to the diagnostics.
    fn settings(&self, fields: &[Field], diagnostics: &mut Vec<Diagnostic>) -> Option<OwnSettings> {
        let _ = (fields, diagnostics);
        None
    }

    /// The codes it reports without a rule, beside those that all languages share.
    fn codes(&self) -> &'static [Code] {
        &[]
    }

    /// What rules about it can mention, without what a project declares.
    fn vocabulary(&self) -> Vocabulary;

    /// Describes the types of a name that rules can be about beside the vocabulary: those of the files of a request, and those that come
    /// with the program. Without a name, they are listed. With it comes what could not be read of the files.
    fn describe(
        &self,
        name: Option<&str>,
        request: &Request,
        loader: &dyn Loader,
        sources: &mut Sources,
    ) -> (Described, Vec<Diagnostic>) {
        let _ = (name, request, loader, sources);
        (Described::default(), Vec::new())
    }

    /// Files of rules that it brings along: modules, as in `name/subject`, and their texts. A language of [`BUILTIN`] has its
    /// rules in the library, where the build compiles them.
    fn rules(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The names that are defined and used in its files, by which an editor finds, completes and renames them.
    fn names(&self) -> &'static [Names] {
        &[]
    }

    /// The names in the files of a project that share them, of each file.
    fn find_names(&self, files: &[FileText<'_>]) -> Vec<Vec<NameAt>> {
        let of = |file: &FileText<'_>| {
            let roots = file.roots.iter();
            roots
                .flat_map(|root| editing::names_in(self.names(), file.text, root))
                .collect()
        };
        files.iter().map(of).collect()
    }

    /// The kinds of names that can be written at a place, with their scope where only names in one are meant.
    fn names_for(&self, place: &Place<'_>) -> Vec<(usize, Option<String>)> {
        let kinds = editing::kinds_at(self.names(), place);
        kinds.into_iter().map(|kind| (kind, None)).collect()
    }

    /// Where a place leads that is not a name: the number of the file and the place there. A selector leads to what it selects.
    fn leads(&self, files: &[FileText<'_>], file: usize, offset: usize) -> Vec<(usize, Span)> {
        let _ = (files, file, offset);
        Vec::new()
    }

    /// Short texts that tell what a project makes of what is written: a place in bytes, and what is shown after it.
    fn hints(&self, files: &[FileText<'_>], file: usize) -> Vec<(usize, String)> {
        let _ = (files, file);
        Vec::new()
    }

    /// Whether a key is a function of the language.
    fn is_function(&self, key: &str) -> bool {
        let _ = key;
        false
    }

    /// What to write so that a name is defined that is used and defined nowhere: the place in bytes and the text.
    fn create(&self, file: &FileText<'_>, name: &NameAt) -> Option<(usize, String)> {
        editing::create(self.names(), file, name)
    }

    /// What an input could be limited to, as its uses demand it: each constraint as it is written, with the place in bytes of
    /// the first file and the text that adds it.
    fn constrain(&self, files: &[FileText<'_>], name: &NameAt) -> Vec<(String, usize, String)> {
        let _ = (files, name);
        Vec::new()
    }

    /// What something with a name is called.
    fn called(&self, name: &NameAt) -> String {
        let names = self.names().get(name.kind);
        names.map_or("name", |names| names.what).to_owned()
    }

    /// Whether a text has a value that is not written there, such as one with variables in it.
    fn is_computed(&self, text: &str) -> bool {
        let _ = text;
        false
    }

    /// Whether the files of a project share their names, as opposed to each having its own.
    fn shares_names(&self) -> bool {
        false
    }

    /// Whether names of a file are also written in other files that are read with it.
    fn names_cross_files(&self) -> bool {
        self.shares_names()
    }

    /// What can be written at a place, apart from names: keys, values, functions.
    fn suggest(&self, place: &Place<'_>) -> Vec<Suggestion> {
        let _ = place;
        Vec::new()
    }

    /// What there is to know about a key or value that is written, beside what is suggested in its place.
    fn about(&self, place: &Place<'_>, written: &str) -> Option<Suggestion> {
        let mut all = self.suggest(place).into_iter();
        all.find(|one| one.text == written)
    }

    /// The kinds of names that are defined by what is written at a place, with their scope where that is known.
    fn names_defined(&self, place: &Place<'_>) -> Vec<(usize, Option<String>)> {
        let kinds = editing::defined_at(self.names(), place);
        kinds.into_iter().map(|kind| (kind, None)).collect()
    }

    /// The inputs that may be chosen, of a configuration that was loaded for all of them.
    fn open_inputs(&self, loaded: &Loaded) -> Vec<OpenInput> {
        choice::parameters(loaded)
    }

    /// Whether the domain of an input has a value; `None` when that cannot be told.
    fn admits(&self, domain: &Domain, value: &Value) -> Option<bool> {
        let _ = (domain, value);
        None
    }

    /// Whether it can be told which values the domain of an input has. Where it cannot, none is tried.
    fn tells(&self, domain: &Domain) -> bool {
        let tells = |constraint: &Constraint| match constraint {
            // Not where a pattern looks around, or refers back.
            Constraint::Pattern(pattern) => pattern::matches(pattern, "").is_some(),
            _ => true,
        };
        domain.constraints.iter().all(tells)
    }

    /// Whether loading itself says of values what is wrong with them, together or alone, so that inputs matter that no
    /// rule asks for.
    fn judges_values(&self) -> bool {
        true
    }

    /// Whether loading compares a symbol with anything where it is written: in a property of a location of a sort, by the names that lead
    /// there. Where it does not, and no rule asks, all values of an input are alike.
    fn looks_at(
        &self,
        graph: &LocationGraph,
        symbol: SymbolId,
        sort: &str,
        path: &[Arc<str>],
    ) -> bool {
        let _ = (graph, symbol, sort, path);
        true
    }

    /// Gives an input a value in what a configuration is loaded with, as its users would. For inputs that
    /// [name](locus_core::LocationGraph::may_name) something, null is that they are not given.
    fn choose(&self, request: &mut Request, chosen: &Chosen) {
        let mut inputs = self.inputs().iter();
        if let Some(input) = inputs.find(|input| input.name == "param") {
            let value = InputValue::Pair(chosen.name.to_string(), chosen.text());
            request.inputs.add(input, value, None);
        }
    }

    /// A file that gives these values to the inputs, beside what a configuration is loaded with.
    fn witness(
        &self,
        chosen: &[Chosen],
        request: &Request,
        loader: &dyn Loader,
    ) -> Option<Witness> {
        let _ = (chosen, request, loader);
        None
    }

    /// What the author may write so that an input takes none of some values, and still takes a good one.
    fn tighten(&self, bad: &[&Value], good: Option<&Value>) -> Option<String> {
        let _ = (bad, good);
        None
    }

    /// A limit as an item of the list `constraints` that the declaration of an input has; none where there is no such limit.
    fn limit(&self, limit: &Limit) -> Option<String> {
        let _ = limit;
        None
    }

    /// Relations that take long to find, which need not be stated when no rule that is on mentions them.
    fn on_demand(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether it says who can talk to whom.
    fn says_who_reaches_whom(&self) -> bool {
        false
    }

    /// Who can talk to whom; none for a language that does not say.
    fn reach(
        &self,
        request: &Request,
        loader: &dyn Loader,
        sources: &mut Sources,
    ) -> Option<Reach> {
        let _ = (request, loader, sources);
        None
    }

    /// A configuration in the terms of another model, such as `occi`, or why it has no such form; nothing when the language
    /// cannot be put into that model.
    fn convert(
        &self,
        to: &str,
        graph: &LocationGraph,
        facts: &Facts,
    ) -> Option<Result<serde_json::Value, Vec<Diagnostic>>> {
        let _ = (to, graph, facts);
        None
    }

    /// Who can do something; none when the language grants no rights.
    fn who_can(
        &self,
        request: &Request,
        loader: &dyn Loader,
        sources: &mut Sources,
        question: &RightsQuestion,
    ) -> Option<RightsAnswer> {
        let _ = (request, loader, sources, question);
        None
    }

    /// Loads a configuration. One that is only recognised is said to be unchecked.
    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let _ = (loader, sources);
        let kind = self.kinds().first().map_or(self.title(), |kind| kind.name);
        let message = format!("{kind}s cannot be checked yet");
        Loaded {
            questions: Vec::new(),
            language: self.name(),
            graph: LocationGraph::new(),
            facts: Facts::new(self.vocabulary().facts()),
            declared: Arc::default(),
            diagnostics: Vec::new(),
            about_settings: Vec::new(),
            unchecked: vec![Diagnostic::warning("kind", message)],
            files: request.files.clone(),
        }
    }
}

/// What is there already where configurations are deployed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    /// What somebody put there, as a file.
    pub deployed: String,
    /// What comes with every such place, as a file: it may be referred to, and nobody asks whether it is right.
    pub provided: String,
}

impl fmt::Debug for dyn Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Words of rules; those that name types of a project are described when it is loaded.
pub type Words = Arc<BTreeSet<String>>;

/// What to load, and the inputs it is loaded with.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The files of the configuration; where a language merges files, a later one overrides.
    pub files: Vec<String>,
    /// The values of the inputs that the language declares.
    pub inputs: Inputs,
    /// What the language made of its own settings.
    pub settings: Option<OwnSettings>,
    /// The file that these are in, by its name and text: the places that they know are in it.
    pub settings_file: Option<(String, Arc<str>)>,
    /// The variables of the process, for languages that replace them in their files.
    pub variables: Vec<(String, String)>,
    /// Whether inputs that are not given stay open even when they have a default.
    pub all_inputs: bool,
    /// Inputs that are not given even where all that are not given stay open, for languages that say which of them
    /// [name](locus_core::LocationGraph::may_name) something.
    pub left_out: Vec<String>,
    /// The time with which dates are compared that must lie in the future; without it, none is past.
    pub now: Option<SystemTime>,
    /// The words of the user's own rules.
    pub mentioned: Words,
    /// Relations that need not be stated as no rule that is on mentions them, of those that the language lists as
    /// [`on_demand`](Language::on_demand).
    pub unasked: Words,
}

impl Request {
    /// The request to load some files without any input.
    pub fn of<S: Into<String>>(files: impl IntoIterator<Item = S>) -> Self {
        Request {
            files: files.into_iter().map(Into::into).collect(),
            ..Request::default()
        }
    }
}

/// A configuration, understood.
#[derive(Debug)]
pub struct Loaded {
    /// The language it is in, by name.
    pub language: &'static str,
    /// Locations and how they use each other.
    pub graph: LocationGraph,
    /// What rules quantify over.
    pub facts: Facts,
    /// Signatures that the configuration declares, of those that rules mention.
    pub declared: Arc<Vec<Sig>>,
    /// Whether things fit into places: problems that only a solver can decide.
    pub questions: Vec<Question>,
    /// What could not be read or is refused.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Diagnostic>,
    /// What the settings say and the configuration shows to be wrong, at its place in the settings.
    pub about_settings: Vec<Diagnostic>,
    /// The paths of all files that are part of it, the first being the one named.
    pub files: Vec<String>,
}
