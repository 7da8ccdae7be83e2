//! Compiles the rule library, so that adding a rule touches no code and a process has nothing to compile.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use locus_core::{Diagnostic, Sources};
use locus_frontends::language::Registry;
use locus_rules::{Library, Program, Source};

fn main() -> ExitCode {
    match build() {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            for problem in problems {
                println!("cargo::error={problem}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("cargo::error=cannot read the rule library: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The files of the library.
#[derive(Default)]
struct Files {
    /// Modules and their paths.
    modules: Vec<(String, PathBuf)>,
    /// Languages and the paths of their examples.
    examples: Vec<(String, PathBuf)>,
}

fn build() -> io::Result<Vec<String>> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    let folder = Path::new(&root).join("library");
    println!("cargo::rerun-if-changed={}", folder.display());
    let files = files(&folder)?;
    let mut sources = Sources::new();
    let mut library = Library::default();
    let mut problems = Vec::new();
    for (module, path) in &files.modules {
        let source = Source {
            module: module.clone(),
            path: path.display().to_string(),
            text: fs::read_to_string(path)?,
        };
        problems.extend(library.add(source, &mut sources));
    }
    library.sort();
    let mut compiled = Vec::new();
    let languages = Registry::builtin();
    for language in languages.languages() {
        let vocabulary = language.vocabulary();
        let mut rules = library.rules().iter();
        if !rules.any(|rule| rule.language == vocabulary.language()) {
            continue;
        }
        let result = Program::compile(&library, &vocabulary, &mut sources);
        problems.extend(result.diagnostics);
        let language = vocabulary.language();
        let path = out.join(format!("{language}.postcard"));
        let Some(bytes) = result.program.store() else {
            let message = format!("a rule about {language} has a literal that cannot be stored");
            problems.push(Diagnostic::error("rule", message));
            continue;
        };
        fs::write(&path, bytes)?;
        compiled.push((language, path));
    }
    fs::write(out.join("library.rs"), code(&files, &compiled, &library))?;
    fs::write(out.join("models.rs"), models(&folder.join("models"))?)?;
    Ok(problems.iter().map(|p| told(&sources, p)).collect())
}

/// Modules are in the folder and in one folder for each language, which has another one with examples.
fn files(library: &Path) -> io::Result<Files> {
    let mut files = Files::default();
    for entry in sorted(library)? {
        if entry.is_file() {
            files.add(library, entry);
            continue;
        }
        let language = name(&entry);
        // The reference models are not rules.
        if language == "models" {
            continue;
        }
        for path in sorted(&entry)? {
            if path.is_file() {
                files.add(library, path);
            } else if name(&path) == "examples" {
                let listed = sorted(&path)?.into_iter().filter(|path| !is_snapshot(path));
                files
                    .examples
                    .extend(listed.map(|example| (language.clone(), example)));
            }
        }
    }
    Ok(files)
}

impl Files {
    fn add(&mut self, library: &Path, path: PathBuf) {
        if path.extension().is_some_and(|extension| extension == "als") {
            let module = path.strip_prefix(library).unwrap_or(&path);
            let module = module
                .with_extension("")
                .to_string_lossy()
                .replace('\\', "/");
            self.modules.push((module, path));
        }
    }
}

/// The tables that the crate includes.
fn code(files: &Files, compiled: &[(&str, PathBuf)], library: &Library) -> String {
    let mut code = String::from(
        "/// The modules of the library and their texts.\nconst FILES: &[(&str, &str)] = &[\n",
    );
    for (module, path) in &files.modules {
        let _ = writeln!(code, "    ({module:?}, include_str!({path:?})),");
    }
    code.push_str(
        "];\n\n/// The examples: language, name and text.\nconst EXAMPLES: &[(&str, &str, &str)] = &[\n",
    );
    for (language, path) in &files.examples {
        let name = name(path);
        let _ = writeln!(
            code,
            "    ({language:?}, {name:?}, include_str!({path:?})),"
        );
    }
    code.push_str(
        "];\n\n/// The compiled rules by language.\nconst COMPILED: &[(&str, &[u8])] = &[\n",
    );
    for (language, path) in compiled {
        let _ = writeln!(code, "    ({language:?}, include_bytes!({path:?})),");
    }
    code.push_str("];\n\n");
    let off = library.rules().iter().filter(|rule| rule.opt_in);
    let mut off: Vec<&str> = off.map(|rule| &*rule.id).collect();
    off.dedup();
    let _ = writeln!(
        code,
        "/// The rules that are off by default.\nconst OFF: &[&str] = &{off:?};"
    );
    code
}

/// The list of reference models that the crate includes.
fn models(folder: &Path) -> io::Result<String> {
    let mut models = Files::default();
    let mut open = vec![folder.to_owned()];
    while let Some(inside) = open.pop() {
        for path in sorted(&inside)? {
            if path.is_dir() {
                open.push(path);
            } else {
                models.add(folder, path);
            }
        }
    }
    models.modules.sort();
    let mut code = String::from("&[\n");
    for (name, path) in &models.modules {
        let _ = writeln!(
            code,
            "    Model {{ name: {name:?}, text: include_str!({path:?}) }},"
        );
    }
    code.push_str("]\n");
    Ok(code)
}

fn told(sources: &Sources, problem: &Diagnostic) -> String {
    match problem.primary() {
        Some(span) => {
            let at = sources.start(span);
            let file = sources.name(span.file);
            format!("{file}:{}:{}: {}", at.line, at.column, problem.message)
        }
        None => problem.message.clone(),
    }
}

/// Whether a file holds what an example says.
fn is_snapshot(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("snap" | "new"))
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}
