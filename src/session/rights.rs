//! Who can do something.

use locus_core::Sources;
use locus_frontends::language::{RightsAnswer, RightsQuestion};

use super::files::Traced;
use super::{Given, Project, Snapshot, check};

impl Snapshot {
    /// Who can do something in a project, and the sources that the answer is about; none when its language grants no
    /// rights.
    pub fn who_can(
        &self,
        project: &Project,
        given: &Given,
        question: &RightsQuestion,
    ) -> Option<(RightsAnswer, Sources)> {
        let (settings, _) = self.settings(project, given);
        let request = check::request(project, given, &settings, false);
        let mut sources = Sources::new();
        let traced = Traced::new(&self.files);
        let answer = project
            .language
            .who_can(&request, &traced, &mut sources, question)?;
        Some((answer, sources))
    }
}
