//! Files that show a finding again.

use locus_frontends::language::{Chosen, Language};

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
}

impl Violable {
    /// The name and the text of a file that shows it, with the command to call; none when the language has no such
    /// files.
    pub fn witness(&self, language: &dyn Language, project: &[String]) -> Option<(String, String)> {
        let witness = language.witness(&self.chosen)?;
        let stem = self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file);
        let stem = stem.split('.').next().unwrap_or(stem);
        let name = format!(
            "{}-{stem}-{}-{}.{}",
            self.code, self.line, self.start, witness.extension
        );
        let comment = witness.comment;
        let files = project.join(" ");
        let text = format!(
            "{comment} Shows {} in {}, line {}:\n{comment} locus check {} {name} {files}\n{}",
            self.code, self.file, self.line, witness.flag, witness.text
        );
        Some((name, text))
    }
}
