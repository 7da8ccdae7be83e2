//! How a service is deployed: replicas, resources, restarts, placement, updates.

use locus_core::facts::AtomId;
use locus_core::values::Malformed;
use locus_core::vocabulary::FieldId;

use super::{Builder, Current};
use crate::compose::Target;
use crate::compose::tree::{Kind, Tree};
use crate::compose::units;
use crate::compose::vocabulary::{field, keyed, sig};

const WHOLE: &str = "write a whole number";
const DURATION: &str = "write a duration such as `10s`";
const SIZE: &str = "write a size such as `512m`";
const CPUS: &str = "write a number such as `0.5`";

impl Builder<'_> {
    pub(super) fn deployment(&mut self, current: &Current, tree: &Tree) {
        let atom = current.component.atom;
        let nothing = Tree::new(Kind::Null, current.span);
        let deploy = tree.some("deploy").unwrap_or(&nothing);
        self.replicas(current, tree, deploy);
        if let Some(mode) = deploy.some("mode") {
            self.text_fact(field!("Service", "deploy_mode"), atom, mode);
        }
        self.text_facts(&keyed!("Service": "endpoint_mode"), atom, deploy);
        if let Some(policy) = deploy.some("restart_policy") {
            if let Some(condition) = policy.some("condition") {
                self.text_fact(field!("Service", "restart_condition"), atom, condition);
            }
            if let Some(attempts) = policy.some("max_attempts") {
                let unit = units::integer;
                self.number_fact(
                    field!("Service", "restart_attempts"),
                    atom,
                    attempts,
                    unit,
                    WHOLE,
                );
            }
            for key in ["delay", "window"] {
                if let Some(value) = policy.some(key) {
                    self.number_of(value, units::duration, DURATION);
                }
            }
        }
        if let Some(placement) = deploy.some("placement") {
            if let Some(constraints) = placement.some("constraints") {
                self.texts_fact(field!("Service", "placement"), atom, constraints);
            }
            if let Some(most) = placement.some("max_replicas_per_node") {
                let field = field!("Service", "max_replicas_per_node");
                self.number_fact(field, atom, most, units::integer, WHOLE);
                self.room(atom, placement, most);
            }
        }
        self.resources(atom, tree, deploy);
        for (key, kind) in [("update_config", "update"), ("rollback_config", "rollback")] {
            if let Some(pair) = deploy.pair(key).filter(|pair| !pair.value.is_null()) {
                let rollout = self.facts.atom(sig!("Rollout"), key, pair.key_span);
                self.fact(field!("Service", "rollouts"), atom, rollout, pair.key_span);
                let kind = self.text(kind, pair.key_span);
                self.fact(field!("Rollout", "kind"), rollout, kind, pair.key_span);
                self.rollout(rollout, &pair.value);
            }
        }
    }

    fn rollout(&mut self, rollout: AtomId, tree: &Tree) {
        if let Some(value) = tree.some("parallelism") {
            self.number_fact(
                field!("Rollout", "parallelism"),
                rollout,
                value,
                units::integer,
                WHOLE,
            );
        }
        self.text_facts(&keyed!("Rollout": "order", "failure_action"), rollout, tree);
        for (key, field) in keyed!("Rollout": "delay", "monitor") {
            if let Some(value) = tree.some(key) {
                self.number_fact(field, rollout, value, units::duration, DURATION);
            }
        }
    }

    /// How many containers the nodes take, when it is known how many nodes there are.
    fn room(&mut self, atom: AtomId, placement: &Tree, most: &Tree) {
        let constraints = placement.some("constraints").map_or(&[][..], Tree::items);
        let one_node = constraints.iter().filter_map(Tree::text).any(|text| {
            let mut sides = text.splitn(2, "==").map(str::trim);
            matches!(sides.next(), Some("node.id" | "node.hostname")) && sides.next().is_some()
        });
        let nodes = if one_node {
            Some(1)
        } else {
            self.options.nodes
        };
        let most_each = most.text().and_then(|text| units::integer(&text).ok());
        // No more than none is no limit.
        if let (Some(nodes), Some(each)) = (nodes, most_each.filter(|&each| each > 0)) {
            let room = self.number(each.saturating_mul(i128::from(nodes)), most.span);
            self.fact(field!("Service", "room"), atom, room, most.span);
        }
    }

    fn replicas(&mut self, current: &Current, tree: &Tree, deploy: &Tree) {
        let atom = current.component.atom;
        let mode = deploy.some("mode").and_then(Tree::text);
        let global = matches!(mode.as_deref(), Some("global" | "global-job"));
        if global && self.options.target == Target::Swarm {
            return;
        }
        let written = deploy.some("replicas").or_else(|| tree.some("scale"));
        match written {
            Some(replicas) => {
                self.number_fact(field!("Service", "replicas"), atom, replicas, count, WHOLE);
            }
            None => {
                let one = self.number(1, current.span);
                self.fact(field!("Service", "replicas"), atom, one, current.span);
            }
        }
    }

    /// Limits and reservations, under `deploy.resources` or by the keys of format 2.
    fn resources(&mut self, atom: AtomId, tree: &Tree, deploy: &Tree) {
        let resources = deploy.some("resources");
        let part = |part: &str, key: &str| {
            resources
                .and_then(|resources| resources.some(part))
                .and_then(|part| part.some(key))
        };
        let rows: [(FieldId<2>, Option<&Tree>, super::values::Unit, &str); 5] = [
            (
                field!("Service", "cpu_limit"),
                part("limits", "cpus").or_else(|| tree.some("cpus")),
                units::cpus,
                CPUS,
            ),
            (
                field!("Service", "cpu_reservation"),
                part("reservations", "cpus"),
                units::cpus,
                CPUS,
            ),
            (
                field!("Service", "memory_limit"),
                part("limits", "memory").or_else(|| tree.some("mem_limit")),
                size_or_unlimited,
                SIZE,
            ),
            (
                field!("Service", "memory_reservation"),
                part("reservations", "memory").or_else(|| tree.some("mem_reservation")),
                size_or_unlimited,
                SIZE,
            ),
            (
                field!("Service", "pids_limit"),
                part("limits", "pids").or_else(|| tree.some("pids_limit")),
                units::integer,
                WHOLE,
            ),
        ];
        for (field, value, unit, help) in rows {
            if let Some(value) = value {
                self.number_fact(field, atom, value, unit, help);
            }
        }
        let own: [(FieldId<2>, &str, super::values::Unit, &str); 5] = [
            (field!("Service", "scale"), "scale", units::integer, WHOLE),
            (field!("Service", "own_cpus"), "cpus", units::cpus, CPUS),
            (
                field!("Service", "own_memory"),
                "mem_limit",
                size_or_unlimited,
                SIZE,
            ),
            (
                field!("Service", "own_reservation"),
                "mem_reservation",
                size_or_unlimited,
                SIZE,
            ),
            (
                field!("Service", "own_pids"),
                "pids_limit",
                units::integer,
                WHOLE,
            ),
        ];
        for (field, key, unit, help) in own {
            if let Some(value) = tree.some(key) {
                self.number_fact(field, atom, value, unit, help);
            }
        }
    }
}

/// How many there are.
fn count(text: &str) -> Result<i128, Malformed> {
    match units::integer(text)? {
        negative if negative < 0 => Err(Malformed("there cannot be fewer than none")),
        count => Ok(count),
    }
}

/// A size, or `-1` for no limit.
fn size_or_unlimited(text: &str) -> Result<i128, Malformed> {
    if text == "-1" {
        Ok(-1)
    } else {
        units::bytes(text)
    }
}
