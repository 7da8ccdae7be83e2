//! Files that show a finding again.

use locus_frontends::language::{Chosen, Witness};

use super::super::Snapshot;
use super::super::check::{Given, request};
use super::super::discover::Project;

/// Something that breaks for some inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Violable {
    /// The code of the rule.
    pub code: String,
    /// The file that it is reported in.
    pub file: String,
    /// Where in that file.
    pub start: u32,
    /// The line of that place.
    pub line: usize,
    /// The inputs that show it, and their values.
    pub chosen: Vec<Chosen>,
    /// Whether it is reported where a value is given, and these are the places that declare it.
    pub in_value: bool,
}

impl Violable {
    /// A name for a file that shows it; another finding may have the same.
    pub fn name(&self) -> String {
        let stem = self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file);
        let stem = stem.split('.').next().unwrap_or(stem);
        format!("{}-{stem}-{}-{}", self.code, self.line, self.start)
    }

    /// The text of a file that shows it; `command` is what to call before the paths of the project.
    pub fn text(&self, witness: &Witness, command: &str) -> String {
        let comment = witness.comment;
        let place = match self.in_value {
            true => "a value below".to_owned(),
            false => format!("{}, line {}", self.file, self.line),
        };
        format!(
            "{comment} Shows {} in {place}:\n{comment} {command}\n{}",
            self.code, witness.text
        )
    }
}

impl Snapshot {
    /// A file that gives a project the inputs for which something breaks, beside what was given; none when the language
    /// has no such files.
    pub fn witness(
        &self,
        project: &Project,
        given: &Given,
        violable: &Violable,
    ) -> Option<Witness> {
        let (settings, _) = self.settings(project, given);
        let request = request(project, given, &settings, false);
        project
            .language
            .witness(&violable.chosen, &request, &self.files)
    }
}
