//! The fewest edits that mend all findings together, chosen by a solver.
//!
//! What an edit does alone is known from checking the text with it. The solver proposes the fewest edits of which one at
//! least helps each finding; checking the text with all of them confirms it, or shows what is left, which the solver is
//! told: these edits need another one for it.

use locus_solver::clauses::Clauses;

/// Edits and what they help, by numbers.
pub(super) struct Choice {
    clauses: Clauses,
    vars: Vec<i32>,
    /// For each finding, the edits that help it.
    helps: Vec<Vec<usize>>,
    counts: Vec<i32>,
}

impl Choice {
    /// So many edits in the order of preference, the edits that help each finding, and those that exclude each other.
    pub(super) fn new(edits: usize, helps: Vec<Vec<usize>>, clashes: &[(usize, usize)]) -> Self {
        let mut clauses = Clauses::default();
        let vars: Vec<i32> = (0..edits).map(|_| clauses.var()).collect();
        let var = |edit: &usize| vars.get(*edit).copied();
        for helpers in helps.iter().filter(|helpers| !helpers.is_empty()) {
            let clause: Vec<i32> = helpers.iter().filter_map(var).collect();
            clauses.add(&clause);
        }
        for (a, b) in clashes {
            if let (Some(a), Some(b)) = (var(a), var(b)) {
                clauses.add(&[-a, -b]);
            }
        }
        let counts = clauses.counter(&vars, vars.len());
        Choice {
            clauses,
            vars,
            helps,
            counts,
        }
    }

    /// The fewest edits that may do; of those, the ones that are preferred.
    pub(super) fn propose(&mut self) -> Option<Vec<usize>> {
        let mut limits = self.counts.iter().map(|&count| vec![-count]);
        let fewest = limits.find(|limit| self.clauses.solve(limit));
        let mut assumed = match fewest {
            Some(limit) => limit,
            None if self.clauses.solve(&[]) => Vec::new(),
            None => return None,
        };
        let mut chosen = Vec::new();
        for (edit, &var) in self.vars.iter().enumerate() {
            assumed.push(var);
            if self.clauses.solve(&assumed) {
                chosen.push(edit);
            } else {
                assumed.pop();
                assumed.push(-var);
            }
        }
        Some(chosen)
    }

    /// These edits together leave a finding.
    pub(super) fn leaves(&mut self, chosen: &[usize], finding: usize) {
        let more = self.helps.get(finding).cloned().unwrap_or_default();
        let more = more.into_iter().filter(|edit| !chosen.contains(edit));
        let more: Vec<usize> = more.collect();
        self.learn(chosen, &more);
    }

    /// These edits together make something worse.
    pub(super) fn refuse(&mut self, chosen: &[usize]) {
        self.learn(chosen, &[]);
    }

    fn learn(&mut self, chosen: &[usize], more: &[usize]) {
        let var = |edit: &usize| self.vars.get(*edit).copied();
        let without = chosen.iter().filter_map(var).map(|var| -var);
        let clause: Vec<i32> = without.chain(more.iter().filter_map(var)).collect();
        self.clauses.add(&clause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_edits_that_hit_every_finding_are_chosen() {
        // The second edit helps both findings, so the others are not needed.
        let mut choice = Choice::new(3, vec![vec![0, 1], vec![1, 2]], &[]);
        assert_eq!(choice.propose(), Some(vec![1]));
        choice.refuse(&[1]);
        assert_eq!(choice.propose(), Some(vec![0, 2]));
        choice.refuse(&[0, 2]);
        // What is refused together stays refused with more.
        assert_eq!(choice.propose(), None);
    }

    #[test]
    fn what_is_left_asks_for_another_edit_and_clashes_are_kept_apart() {
        let mut choice = Choice::new(4, vec![vec![0, 1], vec![2, 3]], &[(0, 2)]);
        assert_eq!(choice.propose(), Some(vec![0, 3]));
        choice.leaves(&[0, 3], 1);
        // Another edit for the second finding clashes with the first one.
        assert_eq!(choice.propose(), Some(vec![1, 2]));
    }
}
