//! `locus run`: answers the commands of models.

mod answer;
mod json;
mod progress;
mod select;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use locus_core::{Diagnostic, Severity, Sources};
use locus_grammar::Loader;
use locus_grammar::model::Model;
use locus_invariants::models;
use rayon::prelude::*;

use crate::cli::flags::{Format, RunArgs};
use crate::cli::loader::{self, FileSystem};
use crate::cli::run::answer::{Answer, Question};
use crate::cli::{Exit, interrupt, print};
use crate::report::html::run::Shown;
use crate::report::printable::printable;
use crate::report::{frame, html};

/// A model that was read, with the sources its spans point into.
struct ModelFile {
    name: String,
    sources: Sources,
    model: Model,
}

/// Runs the selected commands of all files.
pub(crate) fn run(args: &RunArgs) -> Exit {
    let selection = match select::Selection::new(&args.command) {
        Ok(selection) => selection,
        Err(message) => return usage(&message),
    };
    let mut exit = Exit::Clean;
    let mut files = Vec::new();
    if let Some(name) = &args.library {
        let models = models::find(name);
        if models.is_empty() {
            return list_library(name);
        }
        for model in models {
            let name = format!("{}.als", model.name);
            match read_text(name, model.text, &models::Loader) {
                Some(file) => files.push(file),
                None => exit = Exit::Unanswered,
            }
        }
    }
    for path in &args.files {
        match read(path) {
            Some(file) => files.push(file),
            None => exit = Exit::Unanswered,
        }
    }
    let questions: Vec<Question> = files
        .iter()
        .flat_map(|file| {
            let commands = file.model.commands.iter().enumerate();
            commands.map(move |(index, command)| Question {
                file,
                index,
                command,
            })
        })
        .filter(|question| selection.wants(question.index, &question.command.label))
        .collect();
    if questions.is_empty() && exit == Exit::Clean {
        let labels = files.iter().flat_map(|file| {
            file.model
                .commands
                .iter()
                .map(|command| command.label.as_str())
        });
        return usage(&selection.no_match(labels));
    }
    if args.proof.is_some() && questions.len() > 1 {
        return usage("`--proof` is about one command; choose it with `--command`");
    }
    exit.max(answer_all(args, &questions))
}

/// Lists the models that come with Locus, when none or an unknown one is named.
fn list_library(name: &str) -> Exit {
    if !name.is_empty() {
        let names = models::ALL.iter().map(|model| model.name);
        let help = locus_core::suggest::did_you_mean(name, names);
        let help = help.map_or_else(String::new, |help| format!("{help} "));
        return usage(&format!(
            "there is no model `{name}`; {help}`--library` without a name lists all"
        ));
    }
    for model in models::ALL {
        print(&format!("{:<22}  {}\n", model.name, model.summary()));
    }
    Exit::Clean
}

fn usage(message: &str) -> Exit {
    eprintln!("error: {message}");
    Exit::Usage
}

fn read(path: &Path) -> Option<ModelFile> {
    let name = path.display().to_string();
    let text = match loader::read(path) {
        Ok(text) => text,
        Err(error) => {
            let diagnostic = Diagnostic::error("io", format!("cannot read `{name}`: {error}"));
            frame::print(&diagnostic, &Sources::new());
            return None;
        }
    };
    read_text(name, &text, &FileSystem)
}

fn read_text(name: String, text: &str, loader: &dyn Loader) -> Option<ModelFile> {
    let mut sources = Sources::new();
    let reading = locus_grammar::read(&name, text, &mut sources, loader);
    for diagnostic in &reading.diagnostics {
        frame::print(diagnostic, &sources);
    }
    let errors = reading
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .count();
    if errors > 1 {
        eprintln!("{errors} errors in `{}`", printable(&name));
    }
    reading.model.map(|model| ModelFile {
        name,
        sources,
        model,
    })
}

/// Answers all questions, several at once, and prints the answers in the order of the questions.
fn answer_all(args: &RunArgs, questions: &[Question]) -> Exit {
    let interrupted = interrupt::flag();
    let printer = Mutex::new(Printer::new(args));
    let progress = progress::Progress::start(questions.len());
    let work = || {
        questions
            .par_iter()
            .enumerate()
            .for_each(|(order, question)| {
                let answer = answer::answer(question, args, &interrupted);
                progress.finished();
                let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
                progress.suspend(|| printer.add(order, answer, question));
            });
    };
    match rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs)
        .build()
    {
        Ok(pool) => pool.install(work),
        // Without threads of our own the global ones do.
        Err(_) => work(),
    }
    progress.end();
    let mut printer = printer.into_inner().unwrap_or_else(PoisonError::into_inner);
    let pages = std::mem::take(&mut printer.pages);
    let exit = printer.end();
    match &args.html {
        Some(path) => exit.max(write_page(path, pages)),
        None => exit,
    }
}

/// Writes the page of all commands; `-` is standard output.
fn write_page(path: &Path, pages: BTreeMap<usize, Shown>) -> Exit {
    let pages: Vec<Shown> = pages.into_values().collect();
    let text = html::run::render(&pages);
    if path == Path::new("-") {
        print(&text);
        return Exit::Clean;
    }
    match std::fs::write(path, text) {
        Ok(()) => Exit::Clean,
        Err(error) => {
            let (path, why) = (path.display(), crate::session::why(&error));
            eprintln!("error: cannot write `{path}`: {why}");
            Exit::Unanswered
        }
    }
}

/// Prints answers in order, as soon as all before them are there.
struct Printer {
    format: Format,
    /// Whether a page is written, and whether it is all that goes to standard output.
    html: bool,
    quiet: bool,
    pages: BTreeMap<usize, Shown>,
    /// The files whose themes were looked at.
    themed: BTreeSet<String>,
    next: usize,
    waiting: BTreeMap<usize, String>,
    summary: text::Summary,
    exit: Exit,
}

impl Printer {
    fn new(args: &RunArgs) -> Self {
        Printer {
            format: args.format,
            html: args.html.is_some(),
            quiet: args.html.as_deref() == Some(Path::new("-")),
            pages: BTreeMap::new(),
            themed: BTreeSet::new(),
            next: 0,
            waiting: BTreeMap::new(),
            summary: text::Summary::default(),
            exit: Exit::Clean,
        }
    }

    fn add(&mut self, order: usize, answer: Answer, question: &Question) {
        self.exit = self.exit.max(answer.exit());
        self.summary.count(&answer);
        let text = match self.format {
            Format::Text => text::render(&answer, question),
            Format::Json => json::render(&answer, question),
        };
        if self.format == Format::Json {
            for diagnostic in &answer.diagnostics {
                frame::print(diagnostic, &question.file.sources);
            }
        }
        if self.html {
            let page = self.page(&answer, question);
            self.pages.insert(order, page);
        }
        self.waiting.insert(order, text);
        while let Some(text) = self.waiting.remove(&self.next) {
            if !self.quiet {
                print(&text);
            }
            self.next += 1;
        }
    }

    /// What the page shows of a command. What is wrong with the themes of a model is told once.
    fn page(&mut self, answer: &Answer, question: &Question) -> Shown {
        let kind = if answer.is_check { "check" } else { "run" };
        let file = question.file;
        let line = file.sources.start(question.command.span).line;
        let title = format!("{kind} {} ({}:{line})", question.command.label, file.name);
        let (mut shown, wrong) = Shown::new(title, text::verdict(answer), &file.model);
        shown.instances.clone_from(&answer.instances);
        shown.exhausted = answer.exhausted;
        if self.themed.insert(file.name.clone()) {
            for diagnostic in &wrong {
                frame::print(diagnostic, &file.sources);
            }
        }
        shown
    }

    fn end(self) -> Exit {
        if self.format == Format::Text && !self.quiet {
            print(&self.summary.text());
        }
        self.exit
    }
}

/// The flag that ends all work.
type Interrupt = Arc<AtomicBool>;
