//! `--render`: charts and the like, rendered by the user's own programs, and checked in place of their source files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::session::{Session, why};
use locus_frontends::language::Language;
use locus_frontends::language::render::{Renderer, ToRender};
use locus_frontends::loader::directory;

use super::inputs::InputArgs;
use super::program;

/// How many lines of what a program complains of are shown.
const COMPLAINTS: usize = 10;

/// Renders what is to be rendered in some files and folders. What cannot be is told, and stays unchecked.
pub(super) fn render(session: &mut Session, paths: &[PathBuf], inputs: &InputArgs) {
    let snapshot = session.snapshot();
    let found = snapshot.discover(paths).to_render;
    for language in snapshot.registry().languages() {
        let own = found
            .iter()
            .filter(|(_, known)| known.name() == language.name());
        let own: Vec<String> = own.map(|(path, _)| path.clone()).collect();
        let parts = language.rendered_parts(&own, snapshot.files());
        for path in own {
            if parts.contains(&path) {
                session.render_as_part(&path);
                continue;
            }
            if let Err(reason) = one(session, language, &path, inputs) {
                eprintln!("error: cannot render `{path}`: {reason}");
            }
        }
    }
}

/// Renders one source file.
fn one(
    session: &mut Session,
    language: &'static dyn Language,
    path: &str,
    inputs: &InputArgs,
) -> Result<(), String> {
    let given = inputs.given();
    let snapshot = session.snapshot();
    let scratch = tempfile::tempdir().map_err(|error| why(&error))?;
    let real = |path: &Path| -> Result<String, String> {
        let real = std::fs::canonicalize(path).map_err(|error| why(&error))?;
        let real = real.into_os_string().into_string();
        real.map_err(|_| "its path is not text".to_owned())
    };
    let folder = match directory(path) {
        "" => ".",
        folder => folder,
    };
    let (folder, fresh) = (real(Path::new(folder))?, real(scratch.path())?);
    let asked = ToRender {
        path,
        folder: &folder,
        scratch: &fresh,
        inputs: &given.inputs,
        loader: snapshot.files(),
    };
    let mut missing: Vec<&str> = Vec::new();
    let mut refused = None;
    for renderer in language.renderers(&asked) {
        let name = format!("{}{}", renderer.program, std::env::consts::EXE_SUFFIX);
        let Some(program) = program::searched(&name) else {
            if !missing.contains(&renderer.program) {
                missing.push(renderer.program);
            }
            continue;
        };
        match run(&program, &renderer, scratch.path()) {
            Ok(output) if is_nothing(&output) => {
                eprintln!("note: `{path}` is rendered to nothing");
                session.render_as_part(path);
                return Ok(());
            }
            Ok(output) => {
                let rendering = language.rendering(&asked, &output);
                session.render(path, rendering);
                return Ok(());
            }
            Err(reason) => refused = Some(reason),
        }
    }
    Err(refused.unwrap_or_else(|| {
        let named = missing.iter().map(|name| format!("`{name}`"));
        let named: Vec<String> = named.collect();
        match named.as_slice() {
            [] => "no program is known that does it".to_owned(),
            [one] => format!("{one} is not on the path"),
            several => format!("none of {} is on the path", several.join(", ")),
        }
    }))
}

/// Whether there is nothing to check in what was printed, as of a component that only changes what others have.
fn is_nothing(output: &str) -> bool {
    let mut lines = output.lines().map(str::trim);
    lines.all(|line| line.is_empty() || line == "---" || line.starts_with('#'))
}

/// What a program prints, or what it complains of.
fn run(program: &Path, renderer: &Renderer, scratch: &Path) -> Result<String, String> {
    for (name, text) in &renderer.scratch {
        std::fs::write(scratch.join(name), text).map_err(|error| why(&error))?;
    }
    let output = Command::new(program)
        .args(&renderer.arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{}`: {}", program.display(), why(&error)))?;
    if output.status.success() {
        let text = String::from_utf8(output.stdout);
        return text.map_err(|_| format!("`{}` printed what is not text", renderer.program));
    }
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = complaint.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.take(COMPLAINTS).collect();
    Err(match lines.is_empty() {
        true => format!("`{}` failed ({})", renderer.program, output.status),
        false => format!("`{}` says:\n  {}", renderer.program, lines.join("\n  ")),
    })
}
