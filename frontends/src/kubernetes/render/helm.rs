//! Charts, rendered by `helm template`, which names the template above each object.

use std::collections::HashMap;
use std::sync::Arc;

use super::lines::{Line, Template};
use crate::language::render::{Origin, Renderer, Rendering, ToRender};
use crate::loader::{directory, join};

/// What stands before the name of a template in the output.
const SOURCE: &str = "# Source: ";

pub(super) fn renderers(asked: &ToRender<'_>) -> Vec<Renderer> {
    // Helm cuts names at 53 characters, and refuses those that are no names: the name of the chart may not be one.
    let mut arguments = vec![
        "template".to_owned(),
        "release-name".to_owned(),
        asked.folder.to_owned(),
        "--include-crds".to_owned(),
        // Hooks for tests are run on demand, and are no part of what is deployed.
        "--skip-tests".to_owned(),
    ];
    let mut give = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    if let Some(namespace) = asked.inputs.text("namespace") {
        give("--namespace", namespace.to_owned());
    }
    if let Some(release) = asked.inputs.text("kubernetes-version") {
        give("--kube-version", format!("{release}.0"));
    }
    for file in asked.inputs.texts("values") {
        give("--values", file.to_owned());
    }
    vec![Renderer {
        program: "helm",
        arguments,
        scratch: Vec::new(),
    }]
}

pub(super) fn rendering(asked: &ToRender<'_>, output: &str) -> Rendering {
    let mut templates: HashMap<String, Option<Template>> = HashMap::new();
    let mut origins = vec![Origin {
        part: 0..output.len(),
        path: asked.path.into(),
        place: 0..0,
    }];
    for section in sections(output) {
        let path = path(asked.path, section.name);
        let template = templates.entry(path.clone()).or_insert_with(|| {
            let text = super::text(asked.loader, &path)?;
            Some(Template::new(&text))
        });
        let Some(template) = template else {
            continue;
        };
        let path: Arc<str> = path.into();
        let found = template.align(&section.lines);
        let lines = section.lines.iter().zip(found);
        origins.extend(lines.map(|(line, place)| Origin {
            part: line.start..line.start + line.text.len(),
            path: path.clone(),
            place,
        }));
    }
    Rendering {
        text: output.to_owned(),
        origins,
    }
}

/// What one template gave at one place of the output.
struct Section<'a> {
    name: &'a str,
    lines: Vec<Line<'a>>,
}

fn sections(output: &str) -> Vec<Section<'_>> {
    let mut all: Vec<Section<'_>> = Vec::new();
    let mut start = 0;
    for text in output.split('\n') {
        let line = Line { start, text };
        start += text.len() + 1;
        match text.strip_prefix(SOURCE) {
            Some(name) => all.push(Section {
                name: name.trim(),
                lines: Vec::new(),
            }),
            None => {
                if let Some(last) = all.last_mut() {
                    last.lines.push(line);
                }
            }
        }
    }
    all
}

/// The path of a template: helm writes the name of the chart, and the path within it.
fn path(chart: &str, name: &str) -> String {
    let inside = name.split_once('/').map_or(name, |(_, inside)| inside);
    join(directory(chart), inside)
}
