//! What is known of workers, kept in memory up to a size.
//!
//! Everything in here can be read from the database again: who is not kept is judged from its boot on once more, and to the
//! same verdict.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use crate::verifier::{Node, Revision};

/// How much is kept unless somebody says otherwise, in bytes.
pub const KEPT: usize = 64 << 20;

/// Workers, the one that was used longest ago first to go.
#[derive(Debug)]
pub(super) struct Nodes {
    most: usize,
    total: usize,
    turn: u64,
    kept: HashMap<Uuid, Kept>,
}

/// What is known of a worker, and which state of the database that is.
pub(super) type Known = (Arc<Node>, Revision);

#[derive(Debug)]
struct Kept {
    node: Known,
    bytes: usize,
    used: u64,
}

impl Nodes {
    /// Keeps so many bytes at most.
    pub(super) fn up_to(most: usize) -> Self {
        Nodes {
            most,
            total: 0,
            turn: 0,
            kept: HashMap::new(),
        }
    }

    /// Keeps what is known of a worker, if it is not too much by itself; others go for it.
    pub(super) fn insert(&mut self, worker: Uuid, node: Known) {
        self.remove(worker);
        let bytes = node.0.footprint();
        if bytes > self.most {
            return;
        }
        self.turn += 1;
        self.total += bytes;
        let used = self.turn;
        self.kept.insert(worker, Kept { node, bytes, used });
        while self.total > self.most {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(worker, _)| *worker) else {
                return;
            };
            self.remove(oldest);
        }
    }

    /// Takes what is kept of a worker, which is not kept any more.
    pub(super) fn remove(&mut self, worker: Uuid) -> Option<Known> {
        let kept = self.kept.remove(&worker)?;
        self.total -= kept.bytes;
        Some(kept.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ima::{Measured, Subject};

    fn node(files: usize) -> Known {
        let mut node = Node::default();
        for _ in 0..files {
            let measured = Measured {
                path: &[b'a'; 1000],
                digest: None,
            };
            node.ledger.insert(Subject::Host, measured);
        }
        (Arc::new(node), (1, 1))
    }

    #[test]
    fn who_was_used_longest_ago_goes_first() {
        let [a, b, c, large] = [1, 2, 3, 4].map(Uuid::from_u128);
        let one = node(10).0.footprint();
        assert!(one > 10_000, "{one}");
        let mut nodes = Nodes::up_to(2 * one);
        let kept = |nodes: &Nodes| {
            let mut kept: Vec<Uuid> = nodes.kept.keys().copied().collect();
            kept.sort_unstable();
            kept
        };
        nodes.insert(a, node(10));
        nodes.insert(b, node(10));
        // Used: taken, and kept again.
        let used = nodes.remove(a).unwrap();
        nodes.insert(a, used);
        nodes.insert(c, node(10));
        assert_eq!(kept(&nodes), [a, c], "the other was used longest ago");
        // The same worker again is no second one.
        nodes.insert(c, node(10));
        assert_eq!(kept(&nodes), [a, c]);
        nodes.insert(large, node(100));
        assert_eq!(kept(&nodes), [a, c], "it alone is too much");
        nodes.remove(a);
        assert!(nodes.remove(a).is_none());
        nodes.remove(c);
        assert_eq!((nodes.total, nodes.kept.len()), (0, 0));
    }

    #[test]
    fn nothing_is_kept_where_nothing_may_be() {
        let mut nodes = Nodes::up_to(0);
        nodes.insert(Uuid::nil(), (Arc::new(Node::default()), (0, 0)));
        assert!(nodes.remove(Uuid::nil()).is_none());
    }
}
