//! Which file of an archive is the service.

use locus_core::{Diagnostic, Sources, Span};

use super::meta::{Meta, Written, read};
use super::{Archive, Fault};

const AT_ROOT: &str = "TOSCA.meta";
const IN_FOLDER: &str = "TOSCA-Metadata/TOSCA.meta";

/// What an archive holds.
#[derive(Debug)]
pub(crate) enum Chosen {
    /// A service, and further ones that can be substituted in it; each by the name of its entry.
    Service {
        /// The entry.
        entry: String,
        /// The further ones.
        others: Vec<Written>,
        /// Whether no `TOSCA.meta` names it.
        found: bool,
    },
    /// An archive around another one.
    Wrapper(String),
    /// Something that is not read; it was told why.
    Nothing,
}

/// Finds the service of an archive whose entries are named below `root`.
pub(crate) fn choose(
    archive: &Archive,
    root: &str,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
    unchecked: &mut Vec<Diagnostic>,
) -> Chosen {
    let package = sources.add(root.trim_end_matches('!'), "");
    let here = Span::start_of(package);
    let mut found = Vec::new();
    for name in [AT_ROOT, IN_FOLDER] {
        let mut names = archive.names();
        let Some(actual) = names.find(|known| known.eq_ignore_ascii_case(name)) else {
            continue;
        };
        if actual != name {
            let message =
                format!("`{actual}` is read as `{name}`, and other programs may not find it");
            diagnostics.push(Diagnostic::warning("tosca-archive", message).at(here));
        }
        let Ok(Some(bytes)) = archive.load(actual) else {
            continue;
        };
        let (file, refused) = sources.add_bytes(format!("{root}/{actual}"), &bytes);
        if let Some(refused) = refused {
            diagnostics.push(refused);
            return Chosen::Nothing;
        }
        let mut told = Vec::new();
        let meta = read(sources.text(file), file, &mut told);
        found.push((name, file, meta, told));
    }
    if found.len() == 2 && found.iter().any(|(_, _, meta, _)| meta.is_2_0()) {
        let message =
            format!("there are two of them, `{AT_ROOT}` and `{IN_FOLDER}`, and there may be one");
        diagnostics.push(Diagnostic::error("tosca-archive", message).at(here));
        return Chosen::Nothing;
    }
    // In 1.x, one at the root is a file like any other.
    if let Some(at) = found
        .iter()
        .position(|(name, _, meta, _)| *name == AT_ROOT && !meta.is_2_0())
    {
        let (_, file, ..) = found.remove(at);
        if found.is_empty() {
            let message = format!("a `{AT_ROOT}` at the root is read in TOSCA 2.0 only");
            let diagnostic = Diagnostic::warning("tosca-archive", message).help(format!(
                "move it to `{IN_FOLDER}`, or write `CSAR-Version: 2.0`"
            ));
            diagnostics.push(diagnostic.at(Span::start_of(file)));
        }
    }
    if let Some((_, file, meta, told)) = found.pop() {
        diagnostics.extend(told);
        if let Some(entry) = &meta.entry {
            return by_meta(archive, root, entry, &meta, diagnostics, unchecked);
        }
        if !meta.is_2_0() {
            let message =
                "there is no `Entry-Definitions`, so it is not known which file is the service";
            let diagnostic = Diagnostic::error("tosca-archive", message);
            diagnostics.push(diagnostic.at(Span::start_of(file)));
            return Chosen::Nothing;
        }
        return match at_root(archive, here, diagnostics, unchecked) {
            Chosen::Service { entry, found, .. } => Chosen::Service {
                others: existing(archive, meta.others, diagnostics),
                entry,
                found,
            },
            other => other,
        };
    }
    at_root(archive, here, diagnostics, unchecked)
}

fn by_meta(
    archive: &Archive,
    root: &str,
    (name, span): &Written,
    meta: &Meta,
    diagnostics: &mut Vec<Diagnostic>,
    unchecked: &mut Vec<Diagnostic>,
) -> Chosen {
    let Some(entry) = existing(archive, vec![(name.clone(), *span)], diagnostics).pop() else {
        return Chosen::Nothing;
    };
    if is_xml(archive, &entry.0) {
        unchecked.push(xml(&format!("{root}/{}", entry.0)).at(*span));
        return Chosen::Nothing;
    }
    Chosen::Service {
        entry: entry.0,
        others: existing(archive, meta.others.clone(), diagnostics),
        found: false,
    }
}

/// The files that a `TOSCA.meta` names, as far as they are there.
fn existing(
    archive: &Archive,
    names: Vec<Written>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Written> {
    let mut files = Vec::new();
    for (name, span) in names {
        let why = if name.is_empty() {
            Some("no file is named here".to_owned())
        } else if name.contains("://") {
            Some(format!(
                "`{name}` is an address, and a file of the archive is needed"
            ))
        } else {
            match super::plain_name(&name) {
                Err(why) => Some(format!("`{name}` {why}")),
                Ok(plain) if archive.has(&plain) => {
                    files.push((plain, span));
                    None
                }
                Ok(plain) if archive.has_folder(&plain) => {
                    Some(format!("`{name}` is a folder, and a file is needed"))
                }
                Ok(plain) => {
                    let near = locus_core::suggest::did_you_mean(&plain, archive.names());
                    let message = format!("there is no file `{name}` in the archive");
                    let diagnostic = Diagnostic::error("tosca-archive", message).maybe_help(near);
                    diagnostics.push(diagnostic.at(span));
                    None
                }
            }
        };
        if let Some(why) = why {
            diagnostics.push(Diagnostic::error("tosca-archive", why).at(span));
        }
    }
    files
}

fn is_yaml(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension.to_ascii_lowercase().as_str(), "yaml" | "yml")
}

fn is_tosca(archive: &Archive, name: &str) -> bool {
    let Ok(Some(bytes)) = archive.load(name) else {
        return false;
    };
    let Ok(text) = locus_core::decode(&bytes) else {
        return false;
    };
    let mut lines = text.lines();
    lines.any(|line| {
        line.trim_start_matches(['"', '\''])
            .starts_with("tosca_definitions_version")
    })
}

fn is_xml(archive: &Archive, name: &str) -> bool {
    let Ok(Some(bytes)) = archive.load(name) else {
        return false;
    };
    let text = locus_core::decode(&bytes);
    text.is_ok_and(|text| text.trim_start().starts_with('<'))
}

fn xml(name: &str) -> Diagnostic {
    let message = format!("`{name}` is TOSCA 1.0 in XML, which cannot be checked");
    Diagnostic::warning("tosca-dialect", message)
        .help("TOSCA Simple Profile in YAML 1.0 to 1.3 and TOSCA 2.0 can be checked")
}

/// Without a `TOSCA.meta`: the one TOSCA file at the root.
fn at_root(
    archive: &Archive,
    here: Span,
    diagnostics: &mut Vec<Diagnostic>,
    unchecked: &mut Vec<Diagnostic>,
) -> Chosen {
    let at_root = archive.names().filter(|name| !name.contains('/'));
    let services: Vec<&str> = at_root
        .filter(|name| is_yaml(name) && is_tosca(archive, name))
        .collect();
    let refuse = |fault: Fault| fault.diagnostic().at(here);
    match services.as_slice() {
        [one] => Chosen::Service {
            entry: (*one).to_owned(),
            others: Vec::new(),
            found: true,
        },
        [] => {
            if let Some(inner) = wrapped(archive) {
                return Chosen::Wrapper(inner.to_owned());
            }
            let mut xmls = archive.names().filter(|name| {
                (name.ends_with(".tosca") || name.ends_with(".xml")) && is_xml(archive, name)
            });
            if let Some(name) = xmls.next() {
                unchecked.push(xml(name).at(here));
                return Chosen::Nothing;
            }
            let help = match top(archive) {
                Some(top) => format!(
                    "everything is in the folder `{top}`: put what is in it at the root of the archive"
                ),
                None => format!("name the service in `{IN_FOLDER}`, or put it at the root"),
            };
            let message =
                format!("there is no `{IN_FOLDER}`, and no TOSCA file at the root of the archive");
            diagnostics.push(refuse(Fault {
                help: Some(help),
                ..Fault::broken(message)
            }));
            Chosen::Nothing
        }
        several => {
            let names: Vec<String> = several.iter().map(|name| format!("`{name}`")).collect();
            let message = format!(
                "there is no `{IN_FOLDER}`, and {} TOSCA files are at the root of the archive: {}",
                names.len(),
                names.join(", ")
            );
            diagnostics.push(refuse(Fault {
                help: Some(format!("name the service in `{IN_FOLDER}`")),
                ..Fault::broken(message)
            }));
            Chosen::Nothing
        }
    }
}

/// The folder that everything is in, when a service is right below it.
fn top(archive: &Archive) -> Option<&str> {
    let top = archive.names().next()?.split_once('/')?.0;
    let inside = |name: &str| name.strip_prefix(top)?.strip_prefix('/').map(str::to_owned);
    let names: Option<Vec<String>> = archive.names().map(inside).collect();
    let right = |name: &String| {
        let below = format!("{top}/{name}");
        name == IN_FOLDER
            || name == AT_ROOT
            || !name.contains('/') && is_yaml(name) && is_tosca(archive, &below)
    };
    names?.iter().any(right).then_some(top)
}

/// The archive in a signed package: it lies beside its signature and certificate, and nothing else does.
fn wrapped(archive: &Archive) -> Option<&str> {
    let mut inner = None;
    for name in archive.names() {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension.to_ascii_lowercase().as_str() {
            "csar" | "zip" if inner.is_none() && !name.contains('/') => inner = Some(name),
            "cms" | "cert" | "cer" | "crt" | "pem" | "p7b" | "p7s" | "sig" | "mf" => {}
            _ => return None,
        }
    }
    inner
}
