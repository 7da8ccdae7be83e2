//! Profiles by their names: those that come with the program, and those in folders.

use locus_core::{Diagnostic, Span, suggest};

use super::{Followed, Reader};
use crate::loader::{directory, join};
use crate::tosca::builtin;

impl Reader<'_> {
    /// Finds a profile: one that comes with the program, or one in the same folder, those that were named, or where its name
    /// says in them.
    pub(super) fn profile(&mut self, name: &str, span: Span, path: &str) -> Followed {
        let own = directory(path);
        let mut folders = vec![own.to_owned()];
        folders.extend(self.folders.iter().cloned());
        let place = place_of(name);
        let named = self.folders.iter().map(|folder| join(folder, &place));
        folders.extend(named);
        // A file that is where its own name says stands in a collection of profiles.
        for (known, _) in self.profiles_in(own) {
            if let Some(root) = own.strip_suffix(&place_of(&known))
                && (root.is_empty() || root.ends_with('/'))
            {
                folders.push(format!("{root}{place}"));
            }
        }
        for folder in &folders {
            let found = self.profiles_in(folder);
            if let Some(path) = found
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, path)| path.clone())
            {
                return self.file(&path, &path, span);
            }
        }
        if let Some(text) = builtin::profile(name) {
            return Followed::File(self.builtin(text));
        }
        let known = self
            .profiles
            .values()
            .flatten()
            .map(|(name, _)| name.as_str());
        let known: Vec<&str> = known.chain(builtin::PROFILES.iter().copied()).collect();
        let near = suggest::did_you_mean(name, known);
        let help = near.unwrap_or_else(|| {
            format!(
                "a profile is found in the same folder, in one that `--types DIR` names, or there in `{place}`"
            )
        });
        let message = format!("the profile `{name}` is not known");
        let diagnostic = Diagnostic::error("tosca-import", message).help(help);
        self.diagnostics.push(diagnostic.at(span));
        Followed::Refused
    }

    /// The profiles that files in a folder define.
    fn profiles_in(&mut self, folder: &str) -> Vec<(String, String)> {
        if let Some(known) = self.profiles.get(folder) {
            return known.clone();
        }
        let mut profiles = Vec::new();
        for name in self.loader.list(folder).unwrap_or_default() {
            let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
            // The name of a profile has dots too: `io.kubernetes` is a file without an extension.
            let other = [
                "py", "sh", "md", "txt", "json", "xml", "zip", "csar", "png", "jpg", "svg", "pdf",
                "tar", "gz",
            ];
            if other.contains(&extension) {
                continue;
            }
            let path = join(folder, &name);
            let Ok(bytes) = self.loader.load(&path) else {
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            let line = text.lines().find_map(|line| line.strip_prefix("profile:"));
            if let Some(profile) = line {
                let profile = profile.split(" #").next().unwrap_or(profile);
                let profile = profile.trim().trim_matches(['"', '\'']);
                profiles.push((profile.to_owned(), path));
            }
        }
        self.profiles.insert(folder.to_owned(), profiles.clone());
        profiles
    }
}

/// The folder of a profile in a collection of them: `org/example/base/1.0` for `org.example.base:1.0`.
fn place_of(profile: &str) -> String {
    let (name, version) = profile.split_once(':').unwrap_or((profile, ""));
    let place = format!("{}/{version}", name.replace('.', "/"));
    place.trim_end_matches('/').to_owned()
}
