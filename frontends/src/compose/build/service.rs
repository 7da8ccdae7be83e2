//! Services: their own attributes; what they use is in `uses`.

use locus_core::Span;
use locus_core::facts::AtomId;
use locus_core::vocabulary::FieldId;

use super::{Builder, Current};
use crate::compose::tree::{Kind, Pair, Tree};
use crate::compose::units;
use crate::compose::vocabulary::{field, keyed, sig};

const DURATION: &str = "write a duration such as `1m30s`";

impl Builder<'_> {
    /// Adds the services and jobs: first all of them, so that one may use another, then their content.
    pub(super) fn services(&mut self) {
        let project = self.project;
        let mut all: Vec<(&Pair, Current)> = Vec::new();
        for (section, sort) in [("services", sig!("Service")), ("jobs", sig!("Job"))] {
            for pair in project.tree.get(section).map_or(&[][..], Tree::pairs) {
                let component =
                    self.component(section, sort, &pair.key, pair.key_span, Some(&pair.value));
                let current = Current {
                    name: pair.key.clone(),
                    span: pair.key_span,
                    component,
                };
                self.hosts.entry(pair.key.clone()).or_insert(component.atom);
                all.push((pair, current));
            }
        }
        for (pair, current) in &all {
            self.service(current, &pair.value);
        }
    }

    fn service(&mut self, current: &Current, tree: &Tree) {
        let atom = current.component.atom;
        self.activity(current, tree);
        self.keys(atom, tree);
        self.text_facts(
            &keyed!("Service": "container_name", "hostname", "restart", "user", "network_mode", "ipc", "pid", "uts", "userns_mode", "cgroup", "pull_policy", "platform"),
            atom,
            tree,
        );
        for key in ["container_name", "hostname"] {
            if let Some(name) = tree.some(key).and_then(Tree::as_str) {
                self.hosts.entry(name.clone()).or_insert(atom);
            }
        }
        for (key, field) in keyed!("Service": "privileged", "read_only", "init") {
            if let Some(value) = tree.some(key) {
                self.truth_fact(field, atom, value);
            }
        }
        for (key, field) in keyed!(
            "Service": "cap_add", "cap_drop", "security_opt", "group_add", "expose", "external_links"
        ) {
            if let Some(value) = tree.some(key) {
                self.texts_fact(field, atom, value);
            }
        }
        self.image(atom, tree);
        self.devices(atom, tree);
        self.extra_hosts(atom, tree);
        if let Some(period) = tree.some("stop_grace_period") {
            self.number_fact(
                field!("Service", "stop_grace_period"),
                atom,
                period,
                units::duration,
                DURATION,
            );
        }
        self.healthcheck(atom, tree);
        self.deployment(current, tree);
        self.container_environment(current, tree);
        self.label_files(current, tree);
        self.networks(current, tree);
        self.dependencies(current, tree);
        self.files(current, tree);
        self.mounts(current, tree);
        self.nesting();
        self.ports(current, tree);
    }

    /// The keys that are used, two levels deep, and all of `deploy`.
    fn keys(&mut self, atom: AtomId, tree: &Tree) {
        for pair in tree.pairs() {
            let key = self.text(&pair.key, pair.key_span);
            self.fact(field!("Service", "keys"), atom, key, pair.key_span);
            if matches!(
                &*pair.key,
                "deploy" | "build" | "credential_spec" | "develop"
            ) {
                self.nested_keys(atom, &mut pair.key.to_string(), &pair.value);
            }
        }
    }

    fn nested_keys(&mut self, atom: AtomId, path: &mut String, tree: &Tree) {
        let outer = path.len();
        for pair in tree.pairs() {
            path.push('.');
            path.push_str(&pair.key);
            let key = self.text(path, pair.key_span);
            self.fact(field!("Service", "keys"), atom, key, pair.key_span);
            if matches!(
                &*pair.key,
                "resources" | "limits" | "reservations" | "placement"
            ) {
                self.nested_keys(atom, path, &pair.value);
            }
            path.truncate(outer);
        }
    }

    fn image(&mut self, atom: AtomId, tree: &Tree) {
        if let Some(image) = tree.some("image") {
            self.text_fact(field!("Service", "image"), atom, image);
            if let Some(pattern) = image.pattern() {
                let (rest, digest) = match pattern.split_once('@') {
                    Some((rest, digest)) => (rest, Some(digest)),
                    None => (&*pattern, None),
                };
                // A colon before the last slash belongs to the port of the registry.
                let tag = rest
                    .rsplit('/')
                    .next()
                    .and_then(|name| name.split_once(':'))
                    .map(|(_, tag)| tag);
                for (field, part) in [
                    (field!("Service", "image_tag"), tag),
                    (field!("Service", "image_digest"), digest),
                ] {
                    if let Some(part) = part {
                        self.part_fact(field, atom, image, part);
                    }
                }
                // A variable may bring a tag of its own.
                if tag.is_none() && digest.is_none() && image.open().is_some() {
                    self.text_fact(field!("Service", "image_tag"), atom, image);
                }
            }
        }
        if let Some(build) = tree.some("build") {
            if let Some(platforms) = build.some("platforms") {
                self.texts_fact(field!("Service", "build_platforms"), atom, platforms);
            }
            match build.some("context") {
                Some(context) => self.text_fact(field!("Service", "build_context"), atom, context),
                None if matches!(build.kind, Kind::Map(_)) => {
                    let here = self.text(".", build.span);
                    self.fact(field!("Service", "build_context"), atom, here, build.span);
                }
                None => self.text_fact(field!("Service", "build_context"), atom, build),
            }
        }
    }

    /// States a part of a text; symbolic when the part holds a variable without a value.
    pub(super) fn part_fact(&mut self, field: FieldId<2>, owner: AtomId, whole: &Tree, part: &str) {
        let atom = match whole.open() {
            Some(open) if part.contains(crate::compose::environment::HOLE) => {
                self.open_atom(sig!("Text"), open, whole.span)
            }
            _ => self.text(part, whole.span),
        };
        self.fact(field, owner, atom, whole.span);
    }

    fn devices(&mut self, atom: AtomId, tree: &Tree) {
        for item in tree.some("devices").map_or(&[][..], Tree::items) {
            let source = item.some("source").unwrap_or(item);
            let Some(pattern) = source.pattern() else {
                continue;
            };
            let host = pattern.split(':').next().unwrap_or("");
            self.part_fact(field!("Service", "devices"), atom, source, host);
        }
    }

    fn extra_hosts(&mut self, atom: AtomId, tree: &Tree) {
        let Some(hosts) = tree.some("extra_hosts") else {
            return;
        };
        let mut lost = Vec::new();
        let mut state = |name: &str, span: Span| {
            let name = self.text(name, span);
            self.fact(field!("Service", "extra_hosts"), atom, name, span);
        };
        for pair in hosts.pairs() {
            state(&pair.key, pair.key_span);
        }
        for item in hosts.items() {
            if let Some(text) = item.text() {
                match text.split_once(['=', ':']) {
                    Some((name, _)) => state(name, item.span),
                    None => lost.push((text, item.span)),
                }
            }
        }
        for (text, span) in lost {
            let help = "write `name=address`";
            self.unreadable(&text, span, "no address follows the name", help);
        }
    }

    fn healthcheck(&mut self, atom: AtomId, tree: &Tree) {
        let Some(pair) = tree.pair("healthcheck") else {
            self.truth_or(
                field!("Service", "health_disabled"),
                atom,
                None,
                false,
                tree.span,
            );
            return;
        };
        let check = &pair.value;
        if let Some(disable) = check.some("disable") {
            self.truth_of(disable);
        }
        let disabled = check.some("disable").is_some_and(|tree| match &tree.kind {
            Kind::Bool(b) => *b,
            Kind::Str(text) => units::boolean(text).unwrap_or(false),
            _ => false,
        });
        let test = check
            .some("test")
            .and_then(|test| test.one_or_many().first());
        let none = test
            .and_then(Tree::text)
            .is_some_and(|word| &*word == "NONE");
        let off = self.truth(disabled || none, pair.key_span);
        self.fact(
            field!("Service", "health_disabled"),
            atom,
            off,
            pair.key_span,
        );
        if disabled || none || check.is_null() {
            return;
        }
        let health = self
            .facts
            .atom(sig!("Healthcheck"), "healthcheck", pair.key_span);
        self.fact(
            field!("Service", "healthcheck"),
            atom,
            health,
            pair.key_span,
        );
        if let Some(test) = test {
            self.text_fact(field!("Healthcheck", "test"), health, test);
        }
        for (key, field) in
            keyed!("Healthcheck": "interval", "timeout", "start_period", "start_interval")
        {
            if let Some(value) = check.some(key) {
                self.number_fact(field, health, value, units::duration, DURATION);
            }
        }
        if let Some(retries) = check.some("retries") {
            let help = "write a whole number";
            self.number_fact(
                field!("Healthcheck", "retries"),
                health,
                retries,
                units::integer,
                help,
            );
        }
    }
}
