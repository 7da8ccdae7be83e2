//! Charts and kustomizations: how the programs of the user render them, and where in their files each line is from.

mod helm;
mod kustomize;
mod lines;
mod paths;

use std::collections::BTreeSet;

use crate::language::render::{Renderer, Rendering, ToRender};
use crate::loader::Loader;

/// How a source file is rendered; the first of the programs that is there is used.
pub(crate) fn renderers(asked: &ToRender<'_>) -> Vec<Renderer> {
    if is_chart(asked.path) {
        helm::renderers(asked)
    } else {
        kustomize::renderers(asked)
    }
}

/// What a program printed for a source file.
pub(crate) fn rendering(asked: &ToRender<'_>, output: &str) -> Rendering {
    if is_chart(asked.path) {
        helm::rendering(asked, output)
    } else {
        kustomize::rendering(asked, output)
    }
}

/// The kustomizations that others of these files are made of.
pub(crate) fn parts(sources: &[String], loader: &dyn Loader) -> BTreeSet<String> {
    let own = sources.iter().filter(|path| !is_chart(path));
    own.flat_map(|path| kustomize::bases(path, loader))
        .collect()
}

/// The text of a file, when there is one and it is text.
fn text(loader: &dyn Loader, path: &str) -> Option<String> {
    let bytes = loader.load(path).ok()?;
    locus_core::decode(&bytes)
        .ok()
        .map(std::borrow::Cow::into_owned)
}

fn is_chart(path: &str) -> bool {
    path.rsplit('/').next() == Some("Chart.yaml")
}
