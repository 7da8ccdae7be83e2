//! `--format`: which reports are made, and where they go.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::report::{Format, Style, WIDTH, frame};
use crate::session::{Batch, why};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Exit, print};

/// A report to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) format: Format,
    /// Where it goes; standard output without it.
    pub(crate) file: Option<PathBuf>,
}

/// Reads `FORMAT[=FILE]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputParser;

impl TypedValueParser for OutputParser {
    type Value = Output;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Output, clap::Error> {
        let text = value.to_string_lossy();
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (&*text, None),
        };
        let format = Format::named(name).filter(|_| file != Some(""));
        let file = file.map(PathBuf::from);
        format
            .map(|format| Output { format, file })
            .ok_or_else(|| refused(command, argument, &text))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = Format::ALL.iter();
        Some(Box::new(all.map(|(_, name, help)| {
            PossibleValue::new(*name).help(*help)
        })))
    }
}

fn refused(command: &clap::Command, argument: Option<&clap::Arg>, value: &str) -> clap::Error {
    let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
    if let Some(argument) = argument {
        let argument = ContextValue::String(argument.to_string());
        error.insert(ContextKind::InvalidArg, argument);
    }
    let value = ContextValue::String(value.to_owned());
    error.insert(ContextKind::InvalidValue, value);
    let names = Format::ALL.iter().map(|(_, name, _)| (*name).to_owned());
    error.insert(
        ContextKind::ValidValue,
        ContextValue::Strings(names.collect()),
    );
    error
}

/// The reports asked for; text when none is.
///
/// # Errors
/// When two of them would go to standard output.
pub(super) fn asked(outputs: &[Output]) -> Result<Vec<Output>, Exit> {
    let to_stdout = outputs.iter().filter(|output| output.file.is_none());
    if to_stdout.count() > 1 {
        eprintln!(
            "error: only one `--format` can go to standard output; give the others a file, as in `sarif=out.sarif`"
        );
        return Err(Exit::Usage);
    }
    if outputs.is_empty() {
        return Ok(vec![Output {
            format: Format::Text,
            file: None,
        }]);
    }
    Ok(outputs.to_vec())
}

/// Makes the reports and puts them where they go.
pub(super) fn write(outputs: &[Output], batch: &Batch, style: &Style) -> Result<(), Exit> {
    let mut result = Ok(());
    for output in outputs {
        let Some(file) = &output.file else {
            let colour = frame::stdout_has_colour();
            let style = Style {
                colour,
                width: width(),
                links: colour && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
                ..*style
            };
            output.format.write(batch, &style, &mut print);
            continue;
        };
        let text = output.format.render(batch, style);
        if let Err(error) = std::fs::write(file, text) {
            eprintln!("error: cannot write `{}`: {}", file.display(), why(&error));
            result = Err(Exit::Unanswered);
        }
    }
    result
}

/// The columns of the terminal.
fn width() -> usize {
    use std::io::IsTerminal;
    if !std::io::stdout().is_terminal() {
        return WIDTH;
    }
    let size = terminal_size::terminal_size();
    size.map_or(WIDTH, |(width, _)| usize::from(width.0).min(WIDTH + 40))
}
