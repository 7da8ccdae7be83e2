//! Networks, volumes, secrets, configs and models as the files define them.

use locus_core::Span;
use locus_core::facts::AtomId;
use locus_core::vocabulary::{FieldId, SigId};

use super::Builder;
use crate::compose::tree::{Pair, Tree};
use crate::compose::vocabulary::{field, keyed, sig};

impl Builder<'_> {
    /// Adds everything that services use, before the services themselves.
    pub(super) fn components(&mut self) {
        let project = self.project;
        let section = |name: &str| -> &[Pair] { project.tree.get(name).map_or(&[], Tree::pairs) };
        for pair in section("networks") {
            self.network(pair);
        }
        for pair in section("volumes") {
            let atom = self.defined("volumes", sig!("Volume"), pair);
            self.text_facts(&keyed!("Volume": "driver"), atom, &pair.value);
            for option in pair.value.some("driver_opts").map_or(&[][..], Tree::pairs) {
                let value = option.value.text().unwrap_or_default();
                let text = format!("{}={value}", option.key);
                let text = self.text(&text, option.value.span);
                self.fact(
                    field!("Volume", "driver_options"),
                    atom,
                    text,
                    option.value.span,
                );
            }
        }
        for pair in section("secrets") {
            let atom = self.defined("secrets", sig!("Secret"), pair);
            self.text_facts(
                &keyed!("Secret": "file", "driver", "template_driver"),
                atom,
                &pair.value,
            );
            if let Some(variable) = pair.value.some("environment") {
                self.text_fact(field!("Secret", "variable"), atom, variable);
            }
        }
        for pair in section("configs") {
            let atom = self.defined("configs", sig!("Config"), pair);
            self.text_facts(
                &keyed!("Config": "file", "content", "template_driver"),
                atom,
                &pair.value,
            );
            if let Some(variable) = pair.value.some("environment") {
                self.text_fact(field!("Config", "variable"), atom, variable);
            }
        }
        for pair in section("models") {
            self.defined("models", sig!("Model"), pair);
        }
    }

    fn defined(&mut self, section: &'static str, sort: SigId, pair: &Pair) -> AtomId {
        self.component(section, sort, &pair.key, pair.key_span, Some(&pair.value))
            .atom
    }

    /// States texts whose fields have the names of their keys.
    pub(super) fn text_facts(&mut self, keys: &[(&str, FieldId<2>)], owner: AtomId, tree: &Tree) {
        for &(key, field) in keys {
            if let Some(value) = tree.some(key) {
                self.text_fact(field, owner, value);
            }
        }
    }

    fn network(&mut self, pair: &Pair) {
        let atom = self.defined("networks", sig!("Network"), pair);
        let tree = &pair.value;
        self.text_facts(&keyed!("Network": "driver"), atom, tree);
        self.network_flags(atom, Some(tree), pair.key_span, false);
        let config = tree.some("ipam").and_then(|ipam| ipam.some("config"));
        for entry in config.map_or(&[][..], Tree::items) {
            let span = entry
                .some("subnet")
                .map_or(entry.span, |subnet| subnet.span);
            let name = entry
                .some("subnet")
                .and_then(Tree::text)
                .unwrap_or_else(|| pair.key.clone());
            let subnet = self.facts.atom(sig!("Subnet"), name, span);
            self.fact(field!("Network", "subnets"), atom, subnet, span);
            self.fact(field!("Subnet", "network"), subnet, atom, span);
            if let Some(cidr) = entry.some("subnet") {
                self.text_fact(field!("Subnet", "cidr"), subnet, cidr);
            }
            self.text_facts(&keyed!("Subnet": "gateway", "ip_range"), subnet, entry);
            for reserved in entry.some("aux_addresses").map_or(&[][..], Tree::pairs) {
                self.text_fact(field!("Subnet", "reserved"), subnet, &reserved.value);
            }
        }
    }

    /// States the switches of a network, with their defaults.
    pub(super) fn network_flags(
        &mut self,
        atom: AtomId,
        tree: Option<&Tree>,
        span: Span,
        implicit: bool,
    ) {
        let truth = self.truth(implicit, span);
        self.fact(field!("Network", "implicit"), atom, truth, span);
        for (key, field) in keyed!("Network": "internal", "attachable", "enable_ipv6") {
            let value = tree.and_then(|tree| tree.some(key));
            self.truth_or(field, atom, value, false, span);
        }
    }
}
