//! What a service uses: networks, other services, volumes, secrets, configs and models.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::graph::RoleKind;
use locus_core::value::Field;
use locus_core::values::Malformed;
use locus_core::vocabulary::SigId;
use locus_core::{Item, Span, Value};

use super::{Builder, Component, Current};
use crate::compose::tree::{Kind, Pair, Tree};
use crate::compose::units;
use crate::compose::vocabulary::{field, keyed, sig};

/// A name as it is written in a list or as a key, with what is said about it.
struct Written<'t> {
    name: Arc<str>,
    span: Span,
    tree: &'t Tree,
    /// The item of the list, which may hold variables; keys do not.
    item: Option<&'t Tree>,
}

/// A use of something by its name.
pub(super) struct Use<'u> {
    pub(super) sig: SigId,
    pub(super) kind: RoleKind,
    /// The key of the service that it is written under, and what tells it apart there.
    pub(super) label: String,
    pub(super) section: &'static str,
    pub(super) word: &'u str,
    /// Where the word is written, when it may hold variables.
    pub(super) written: Option<&'u Tree>,
    pub(super) span: Span,
    pub(super) properties: Vec<Field>,
}

impl Builder<'_> {
    /// States a use and binds the two locations; without a target the role stays unbound.
    pub(super) fn refer(
        &mut self,
        current: &Current,
        used: Use<'_>,
    ) -> (AtomId, Option<Component>) {
        let Use { span, word, .. } = used;
        let open = used.written.and_then(Tree::open);
        let target = match open {
            None => self.find(used.section, word),
            Some(_) => None,
        };
        let shown = open.map_or(word, |open| &*open.written);
        let reference = self.facts.atom(used.sig, shown, span);
        let service = current.component;
        self.fact(
            field!("Service", "references"),
            service.atom,
            reference,
            span,
        );
        self.fact(field!("Reference", "by"), reference, service.atom, span);
        let name = match open {
            Some(open) => self.open_atom(sig!("Text"), open, span),
            None => self.text(word, span),
        };
        self.fact(field!("Reference", "word"), reference, name, span);
        // What nothing seems to define may be defined where a file could not be read.
        // What names it by a variable is looked at with each name; with any other, nothing is what it names.
        let readable = open.is_none() || self.options.all_inputs;
        let known = readable && (target.is_some() || self.project.complete);
        let known = self.truth(known, span);
        self.fact(field!("Reference", "known"), reference, known, span);
        if let Some(target) = target {
            self.fact(field!("Reference", "target"), reference, target.atom, span);
            if used.kind == RoleKind::Dependency {
                self.fact(field!("Service", "needs"), service.atom, target.atom, span);
            }
        }
        let role = self.graph.add_role(used.kind, used.label, span);
        self.graph.role_mut(role).properties = used.properties;
        self.graph.require(service.location, role);
        // A location cannot be bound to itself; that it tries is for a rule to say.
        if let Some(target) = target.filter(|target| target.location != service.location) {
            self.graph.provide(target.location, role);
        }
        (reference, target)
    }

    pub(super) fn networks(&mut self, current: &Current, tree: &Tree) {
        if tree.some("network_mode").is_some() || tree.some("provider").is_some() {
            // Written beside `network_mode`, networks are a contradiction for a rule to find.
            self.namespace(current, tree, "network_mode");
        }
        let nothing = Tree::new(Kind::Null, current.span);
        let mut written: Vec<Written<'_>> = Vec::new();
        if let Some(networks) = tree.some("networks") {
            for pair in networks.pairs() {
                written.push(Written {
                    name: pair.key.clone(),
                    span: pair.key_span,
                    tree: &pair.value,
                    item: None,
                });
            }
            for item in networks.items() {
                written.extend(item.text().map(|name| Written {
                    name,
                    span: item.span,
                    tree: &nothing,
                    item: Some(item),
                }));
            }
        }
        let implicit = written.is_empty()
            && tree.some("network_mode").is_none()
            && tree.some("provider").is_none();
        if implicit {
            written.push(Written {
                name: "default".into(),
                span: current.span,
                tree: &nothing,
                item: None,
            });
        }
        let priorities: Vec<AtomId> = written
            .iter()
            .map(|written| self.attachment(current, written, implicit))
            .collect();
        let container = tree
            .some("container_name")
            .or_else(|| tree.some("hostname"));
        for attachment in priorities {
            if let Some(container) = container {
                self.text_fact(field!("Attachment", "names"), attachment, container);
            }
        }
        for key in ["ipc", "pid"] {
            self.namespace(current, tree, key);
        }
    }

    fn attachment(&mut self, current: &Current, written: &Written<'_>, implicit: bool) -> AtomId {
        let Written {
            name,
            span,
            tree,
            item,
        } = written;
        let span = *span;
        // The network `default` exists whether or not a file defines it.
        if &**name == "default" && self.find("networks", name).is_none() {
            let network = self.component("networks", sig!("Network"), name, span, None);
            self.network_flags(network.atom, None, span, true);
        }
        let properties = self.fields(tree);
        let (attachment, _) = self.refer(
            current,
            Use {
                sig: sig!("Attachment"),
                kind: RoleKind::Connection,
                label: format!("networks.{name}"),
                section: "networks",
                word: name,
                written: *item,
                span,
                properties,
            },
        );
        let truth = self.truth(implicit, span);
        self.fact(field!("Attachment", "implicit"), attachment, truth, span);
        let own = self.text(&current.name, current.span);
        self.fact(field!("Attachment", "names"), attachment, own, span);
        if let Some(aliases) = tree.some("aliases") {
            self.texts_fact(field!("Attachment", "aliases"), attachment, aliases);
            self.texts_fact(field!("Attachment", "names"), attachment, aliases);
            for alias in aliases.items().iter().filter_map(Tree::as_str) {
                self.hosts
                    .entry(alias.clone())
                    .or_insert(current.component.atom);
            }
        }
        self.text_facts(
            &keyed!("Attachment": "ipv4_address", "ipv6_address", "mac_address", "interface_name"),
            attachment,
            tree,
        );
        if let Some(addresses) = tree.some("link_local_ips") {
            self.texts_fact(
                field!("Attachment", "link_local_ips"),
                attachment,
                addresses,
            );
        }
        attachment
    }

    /// A `service:` in `network_mode`, `ipc` or `pid`.
    fn namespace(&mut self, current: &Current, tree: &Tree, key: &'static str) {
        let Some(value) = tree.some(key) else { return };
        let Some(text) = value.as_str().cloned() else {
            return;
        };
        if let Some(word) = text.strip_prefix("service:") {
            let (reference, _) = self.refer(
                current,
                Use {
                    sig: sig!("Namespace"),
                    kind: RoleKind::Dependency,
                    label: key.to_owned(),
                    section: "services",
                    word,
                    written: None,
                    span: value.span,
                    properties: Vec::new(),
                },
            );
            let key = self.text(key, value.span);
            self.fact(field!("Namespace", "key"), reference, key, value.span);
        }
    }

    pub(super) fn dependencies(&mut self, current: &Current, tree: &Tree) {
        let nothing = Tree::new(Kind::Null, current.span);
        let mut written: Vec<Written<'_>> = Vec::new();
        if let Some(depends) = tree.some("depends_on") {
            for pair in depends.pairs() {
                written.push(Written {
                    name: pair.key.clone(),
                    span: pair.key_span,
                    tree: &pair.value,
                    item: None,
                });
            }
            for item in depends.items() {
                written.extend(item.text().map(|name| Written {
                    name,
                    span: item.span,
                    tree: &nothing,
                    item: Some(item),
                }));
            }
        }
        for Written {
            name,
            span,
            tree,
            item,
        } in written
        {
            let mut properties = self.fields(tree);
            if properties.is_empty() {
                properties.push(field("condition", Value::str("service_started"), span));
            }
            let (dependency, _) = self.refer(
                current,
                Use {
                    sig: sig!("Dependency"),
                    kind: RoleKind::Dependency,
                    label: format!("depends_on.{name}"),
                    section: "services",
                    word: &name,
                    written: item,
                    span,
                    properties,
                },
            );
            match tree.some("condition") {
                Some(condition) => {
                    self.text_fact(field!("Dependency", "condition"), dependency, condition);
                }
                None => {
                    let started = self.text("service_started", span);
                    self.fact(field!("Dependency", "condition"), dependency, started, span);
                }
            }
            self.truth_or(
                field!("Dependency", "required"),
                dependency,
                tree.some("required"),
                true,
                span,
            );
            self.truth_or(
                field!("Dependency", "restart"),
                dependency,
                tree.some("restart"),
                false,
                span,
            );
        }
        for item in tree.some("links").map_or(&[][..], Tree::items) {
            let Some(text) = item.text() else { continue };
            let (word, alias) = match text.split_once(':') {
                Some((word, alias)) => (word, Some(alias)),
                None => (&*text, None),
            };
            let used = Use {
                sig: sig!("Link"),
                kind: RoleKind::Dependency,
                label: format!("links.{word}"),
                section: "services",
                word,
                written: Some(item),
                span: item.span,
                properties: alias
                    .map(|alias| field("alias", Value::str(alias), item.span))
                    .into_iter()
                    .collect(),
            };
            let (link, _) = self.refer(current, used);
            if let Some(alias) = alias {
                let alias = self.text(alias, item.span);
                self.fact(field!("Link", "alias"), link, alias, item.span);
            }
        }
        for item in tree.some("volumes_from").map_or(&[][..], Tree::items) {
            let Some(text) = item.text() else { continue };
            if text.starts_with("container:") {
                continue;
            }
            let word = text.split(':').next().unwrap_or("");
            let used = Use {
                sig: sig!("VolumesFrom"),
                kind: RoleKind::Dependency,
                label: format!("volumes_from.{word}"),
                section: "services",
                word,
                written: Some(item),
                span: item.span,
                properties: Vec::new(),
            };
            self.refer(current, used);
        }
    }

    /// Secrets, configs and models.
    pub(super) fn files(&mut self, current: &Current, tree: &Tree) {
        for (section, sig) in [
            ("secrets", sig!("SecretUse")),
            ("configs", sig!("ConfigUse")),
        ] {
            for item in tree.some(section).map_or(&[][..], Tree::items) {
                self.file_use(current, section, sig, item);
            }
        }
        let build = tree.some("build").and_then(|build| build.some("secrets"));
        for item in build.map_or(&[][..], Tree::items) {
            let source = item.some("source").unwrap_or(item);
            if let Some(word) = source.text() {
                let used = Use {
                    sig: sig!("BuildSecretUse"),
                    kind: RoleKind::Reference,
                    label: format!("build.secrets.{word}"),
                    section: "secrets",
                    word: &word,
                    written: Some(source),
                    span: source.span,
                    properties: self.fields(item),
                };
                self.refer(current, used);
            }
        }
        self.contexts(current, tree);
        if let Some(models) = tree.some("models") {
            let pairs = models
                .pairs()
                .iter()
                .map(|p: &Pair| (p.key.clone(), p.key_span));
            let items = models
                .items()
                .iter()
                .filter_map(|i| Some((i.text()?, i.span)));
            for (word, span) in pairs.chain(items).collect::<Vec<_>>() {
                let used = Use {
                    sig: sig!("ModelUse"),
                    kind: RoleKind::Reference,
                    label: format!("models.{word}"),
                    section: "models",
                    word: &word,
                    written: None,
                    span,
                    properties: Vec::new(),
                };
                self.refer(current, used);
            }
        }
    }

    /// Services whose images a build takes files from.
    fn contexts(&mut self, current: &Current, tree: &Tree) {
        let build = tree.some("build");
        let Some(contexts) = build.and_then(|build| build.some("additional_contexts")) else {
            return;
        };
        let values = contexts.pairs().iter().map(|pair| &pair.value);
        for item in values.chain(contexts.items()) {
            let Some(text) = item.as_str() else { continue };
            // In a list, the name of the context stands before the value.
            let value = match contexts.kind {
                Kind::List(_) => text.split_once('=').map_or("", |(_, value)| value),
                _ => text,
            };
            if let Some(word) = value.strip_prefix("service:") {
                let used = Use {
                    sig: sig!("ContextUse"),
                    kind: RoleKind::Reference,
                    label: format!("build.additional_contexts.{word}"),
                    section: "services",
                    word,
                    written: None,
                    span: item.span,
                    properties: Vec::new(),
                };
                self.refer(current, used);
            }
        }
    }

    fn file_use(&mut self, current: &Current, section: &'static str, sig: SigId, item: &Tree) {
        let long = matches!(item.kind, Kind::Map(_));
        let source = if long {
            item.some("source")
        } else {
            Some(item)
        };
        let Some((word, span)) = source.and_then(|s| Some((s.text()?, s.span))) else {
            return;
        };
        let used = Use {
            sig,
            kind: RoleKind::Reference,
            label: format!("{section}.{word}"),
            section,
            word: &word,
            written: source,
            span,
            properties: self.fields(item),
        };
        let (reference, _) = self.refer(current, used);
        let truth = self.truth(long, item.span);
        self.fact(field!("FileUse", "long"), reference, truth, item.span);
        self.text_facts(&keyed!("FileUse": "uid", "gid"), reference, item);
        if let Some(mode) = item.some("mode") {
            let help = "write an octal number such as `0440`";
            self.number_fact(
                field!("FileUse", "permissions"),
                reference,
                mode,
                octal,
                help,
            );
        }
        let base = if section == "secrets" {
            "/run/secrets"
        } else {
            ""
        };
        let (target, at) = match item.some("target") {
            Some(target) => (target.pattern().unwrap_or_default(), target),
            None => (word.clone(), item),
        };
        let path = if target.starts_with('/') {
            target.to_string()
        } else {
            format!("{base}/{target}")
        };
        self.part_fact(field!("FileUse", "path"), reference, at, &path);
        let mount = self.facts.atom(sig!("FileMount"), path.as_str(), item.span);
        self.fact(
            field!("Service", "mounts"),
            current.component.atom,
            mount,
            item.span,
        );
        self.part_fact(field!("Mount", "path"), mount, at, &path);
        self.mounted.push((mount, path.as_str().into(), item.span));
        let truth = self.truth(true, item.span);
        self.fact(field!("Mount", "read_only"), mount, truth, item.span);
        let file = self.text("file", item.span);
        self.fact(field!("Mount", "shape"), mount, file, item.span);
    }
}

pub(super) fn field(name: &str, value: Value, span: Span) -> Field {
    Field {
        name: name.into(),
        key: span,
        item: Item::new(value, span),
    }
}

/// A file mode: YAML has read `0440` as octal already, a text is octal too.
fn octal(text: &str) -> Result<i128, Malformed> {
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => {
            i128::from_str_radix(digits.trim_start_matches('o'), 8)
                .map_err(|_| Malformed("it is not an octal number"))
        }
        _ => units::integer(text),
    }
}
