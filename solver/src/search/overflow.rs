//! Whether a verdict depends on what happens when an integer does not fit.

use std::time::{Duration, Instant};

use super::{Options, Outcome, Overflow, Search};
use crate::evaluate::Evaluator;

/// The other question may take this much longer than the first did.
const PATIENCE: u32 = 4;

/// What is always granted to the other question.
const GRACE: Duration = Duration::from_secs(1);

impl Search<'_> {
    /// Whether the verdict was shown to be another one with the other [`Overflow`]. The other
    /// question is given up when it takes much longer than the first.
    pub fn depends_on_overflow(&mut self) -> bool {
        let Some(verdict) = self.verdict else {
            return false;
        };
        if !self.prepared.may_overflow {
            return false;
        }
        let overflow = match self.options.overflow {
            Overflow::Forbid => Overflow::Wrap,
            Overflow::Wrap => Overflow::Forbid,
        };
        if let Some(instance) = &self.last {
            let mut evaluator = Evaluator::new(self.problem, instance)
                .with_overflow(overflow)
                .with_limits(self.options.limits.clone());
            if evaluator.is_instance() == Ok(true) {
                return false;
            }
        }
        let patience = (self.stats.translate + self.stats.solve) * PATIENCE + GRACE;
        let patience = Instant::now() + patience;
        let mut options = Options {
            overflow,
            ..self.options.clone()
        };
        let deadline = options
            .limits
            .deadline
            .map_or(patience, |d| d.min(patience));
        options.limits.deadline = Some(deadline);
        let other = Search::new(self.problem, &options).and_then(|mut search| search.next());
        match other {
            Ok(Outcome::Sat(_)) => !verdict,
            Ok(Outcome::Unsat) => verdict,
            Ok(Outcome::Unknown(_)) | Err(_) => false,
        }
    }
}
