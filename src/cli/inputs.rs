//! What the command line gives to a session: the flags of the inputs that languages declare, and standard input.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::session::{Given, Project, Session, why};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use locus_frontends::language::{Input, InputKind, InputValue, Inputs, Registry};

use super::Exit;

// What configurations are deployed with, and where the settings are.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Settings file to use instead of the nearest `locus.toml`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Also report what is wrong for only some of the allowed inputs
    #[arg(long)]
    pub(crate) all_inputs: bool,

    /// Render charts and kustomizations with the programs for it on the path, and check the result
    #[arg(long)]
    pub(crate) render: bool,

    /// Ask `kubectl` for what is in the cluster, so that it may be referred to
    #[arg(long)]
    pub(crate) cluster: bool,

    #[command(flatten)]
    declared: Declared,
}

/// The values of the inputs that languages declare.
#[derive(Clone, Debug, Default)]
struct Declared(Inputs);

impl Args for Declared {
    fn augment_args(command: Command) -> Command {
        let inputs = Registry::builtin().inputs().into_iter();
        inputs.fold(command, |command, input| command.arg(flag(input)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Declared {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Inputs::default();
        for input in Registry::builtin().inputs() {
            if input.kind == InputKind::Switch {
                if matches.get_flag(input.name) {
                    given.add(&input, InputValue::On, None);
                }
                continue;
            }
            let values = matches.get_many::<InputValue>(input.name);
            for value in values.into_iter().flatten() {
                given.add(&input, value.clone(), None);
            }
        }
        Ok(Declared(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flag of an input.
fn flag(input: Input) -> Arg {
    let mut flag = Arg::new(input.name).long(input.name).help(input.help);
    if let Some(short) = input.short {
        flag = flag.short(short);
    }
    if input.kind == InputKind::Switch {
        return flag.action(ArgAction::SetTrue);
    }
    flag = flag
        .value_name(input.placeholder)
        .action(if input.repeatable {
            ArgAction::Append
        } else {
            ArgAction::Set
        });
    match input.kind {
        InputKind::Word(words) => {
            let words = words.iter();
            let words = words.map(|word| PossibleValue::new(word.word).help(word.help));
            flag.value_parser(PossibleValuesParser::new(words).map(InputValue::Text))
        }
        _ => flag.value_parser(move |text: &str| input.parse(text)),
    }
}

impl InputArgs {
    /// What configurations are deployed with.
    pub(super) fn given(&self) -> Given {
        let mut inputs = self.declared.0.clone();
        if self.cluster {
            super::cluster::give(&mut inputs);
        }
        Given {
            inputs,
            all_inputs: self.all_inputs,
            settings: self.settings(),
            ..Given::of_process()
        }
    }

    /// The values of inputs as they were given.
    pub(super) fn declared(&self) -> &Inputs {
        &self.declared.0
    }

    /// The settings that were named.
    pub(super) fn settings(&self) -> Option<String> {
        self.config.as_ref().map(|path| path.display().to_string())
    }

    /// The projects whose files were given as one.
    pub(super) fn projects(&self, registry: &Registry) -> Vec<Project> {
        let mut projects = Vec::new();
        for language in registry.languages() {
            let inputs = language.inputs().iter();
            for input in inputs.filter(|input| input.kind == InputKind::Project) {
                let files: Vec<&str> = self.declared.0.texts(input.name).collect();
                if !files.is_empty() {
                    projects.push(Project::new(language, files));
                }
            }
        }
        projects
    }
}

/// A session about the file system, and about standard input if one of the files is `-`.
pub(super) fn session<'a>(
    files: impl Iterator<Item = &'a PathBuf>,
    inputs: &InputArgs,
) -> Result<Session, Exit> {
    let mut session = Session::new().forgetful();
    let files: Vec<PathBuf> = files.cloned().collect();
    if files.iter().any(|path| path == Path::new("-")) {
        let mut bytes = Vec::new();
        if let Err(error) = std::io::stdin().read_to_end(&mut bytes) {
            eprintln!("error: cannot read standard input: {}", why(&error));
            return Err(Exit::Unanswered);
        }
        session.open("-", bytes);
    }
    if inputs.cluster {
        super::cluster::read(&mut session)?;
    }
    if inputs.render {
        super::render::render(&mut session, &files, inputs);
    }
    Ok(session)
}
