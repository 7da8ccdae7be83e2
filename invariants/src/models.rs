//! The reference models that come with Locus: location graphs and what is interpreted in them.

/// A model that comes with Locus.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// The name it is opened by, e.g. `lg/location_graphs`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All models, by name.
pub const ALL: &[Model] = include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// What makes a set of locations a graph: stated once, for rules, models and graphs that are written as models.
pub const STATIC_SEMANTICS: Model = Model {
    name: "lg/static",
    text: include_str!("../library/lg/static.als"),
};

/// The models that a name means: the one it names, else all in the folder it names.
pub fn find(name: &str) -> Vec<&'static Model> {
    let name = name.trim_end_matches(".als").trim_end_matches('/');
    let exact: Vec<_> = ALL.iter().filter(|model| model.name == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    ALL.iter()
        .filter(|model| {
            let rest = model.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with('/'))
        })
        .collect()
}

impl Model {
    /// What it models: the first line of the comment it starts with.
    pub fn summary(&self) -> &'static str {
        self.text
            .lines()
            .map(|line| line.trim_matches(|c: char| c == '/' || c == '*' || c.is_whitespace()))
            .find(|line| !line.is_empty())
            .unwrap_or("")
    }
}

/// Opens models by the names they have here.
pub struct Loader;

impl locus_grammar::Loader for Loader {
    fn load(&self, path: &str) -> Option<String> {
        let name = path.strip_suffix(".als").unwrap_or(path);
        let name = name.trim_start_matches("./").trim_start_matches('/');
        let mut models = ALL.iter().chain([&STATIC_SEMANTICS]);
        let model = models.find(|model| model.name == name)?;
        Some(model.text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn files(folder: &Path, root: &Path, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, root, names);
            } else if path.extension().is_some_and(|extension| extension == "als") {
                let name = path.strip_prefix(root).unwrap().with_extension("");
                names.push(name.display().to_string());
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_a_model() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("library/models");
        let mut names = Vec::new();
        files(&root, &root, &mut names);
        names.sort();
        assert_eq!(
            ALL.iter().map(|model| model.name).collect::<Vec<_>>(),
            names
        );
    }

    #[test]
    fn a_name_means_a_model_or_a_folder() {
        let names = |name| find(name).iter().map(|m| m.name).collect::<Vec<_>>();
        assert_eq!(names("fractal"), ["fractal"]);
        assert_eq!(
            names("lg"),
            ["lg/location_graphs", "lg/semantics", "lg/vocabulary"]
        );
        assert_eq!(names("lg/semantics.als"), ["lg/semantics"]);
        assert!(names("l").is_empty());
    }

    /// What rules and the reference model both say of locations and roles is declared alike.
    #[test]
    fn the_reference_model_and_rules_share_their_signatures() {
        let mut sources = locus_core::Sources::new();
        let reading = locus_grammar::read(
            "lg/vocabulary.als",
            find("lg/vocabulary")[0].text,
            &mut sources,
            &Loader,
        );
        let model = reading.model.unwrap();
        for name in ["Location", "Role"] {
            let rules = locus_core::vocabulary::lg::sig(name).unwrap();
            let sig = model
                .sigs
                .iter()
                .find(|sig| sig.label.ends_with(name))
                .unwrap();
            for &id in &sig.fields {
                let field = model.fields.get(id.0 as usize).unwrap();
                assert!(
                    rules.fields.iter().any(|other| other.name == field.name),
                    "rules cannot mention `{name}.{}`",
                    field.name
                );
            }
        }
    }

    #[test]
    fn every_model_can_be_read_and_says_what_it_is() {
        for model in ALL {
            let mut sources = locus_core::Sources::new();
            let path = format!("{}.als", model.name);
            let reading = locus_grammar::read(&path, model.text, &mut sources, &Loader);
            assert!(
                reading.model.is_some(),
                "{}: {:?}",
                model.name,
                reading.diagnostics
            );
            assert!(
                model.summary().len() > 10,
                "{}: {}",
                model.name,
                model.summary()
            );
        }
    }
}
