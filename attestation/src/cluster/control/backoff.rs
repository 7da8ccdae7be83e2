//! When to do again what is still due.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::Action;

/// The first wait before the same is done again, and the longest.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// What was done about one thing.
#[derive(Debug)]
struct Done {
    action: Action,
    times: u32,
    again: Option<Instant>,
    running: bool,
}

/// What is under way and what was done, as long as it stays due.
#[derive(Debug, Default)]
pub struct Backoff {
    done: HashMap<(&'static str, String), Done>,
}

impl Backoff {
    /// Those of the actions that are to be done now. What is not due any more is forgotten, so that it is done at once when it
    /// is due another time; what is due as something else is done at once, too.
    pub fn take(&mut self, due: Vec<Action>, now: Instant) -> Vec<Action> {
        let mut next = HashMap::new();
        let mut taken = Vec::new();
        for action in due {
            let key = action.key();
            if next.contains_key(&key) {
                continue;
            }
            let mut done = match self.done.remove(&key) {
                Some(done) if done.running => {
                    next.insert(key, done);
                    continue;
                }
                Some(done) if done.action == action => done,
                _ => Done {
                    action: action.clone(),
                    times: 0,
                    again: Some(now),
                    running: false,
                },
            };
            if done.again.is_some_and(|again| again <= now) {
                done.running = true;
                done.times = done.times.saturating_add(1);
                taken.push(action);
            }
            next.insert(key, done);
        }
        let running = self.done.drain().filter(|(_, done)| done.running);
        next.extend(running);
        self.done = next;
        taken
    }

    /// Notes that an action ended. If it is still due, it is done again after a while, which grows each time.
    pub fn ended(&mut self, action: &Action, succeeded: bool, now: Instant) {
        let Some(done) = self.done.get_mut(&action.key()) else {
            return;
        };
        done.running = false;
        let said = succeeded && matches!(action, Action::Say(..));
        let (first, longest) = WAIT;
        let doubled = 2u32.saturating_pow(done.times.saturating_sub(1).min(16));
        let wait = first.saturating_mul(doubled).min(longest);
        done.again = (!said).then(|| now + wait);
    }

    /// When something is to be done again, if anything is.
    pub fn next(&self) -> Option<Instant> {
        let waiting = self.done.values().filter(|done| !done.running);
        waiting.filter_map(|done| done.again).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::control::{Note, Target};

    fn attest(pods: &[&str]) -> Action {
        let pods = pods.iter().map(|uid| ((*uid).to_owned(), 1)).collect();
        let worker = "w".to_owned();
        Action::Attest { worker, pods }
    }

    #[test]
    fn what_stays_due_is_done_again_later_and_later() {
        let begun = Instant::now();
        let mut backoff = Backoff::default();
        let mut at = Vec::new();
        for second in 0..200 {
            let now = begun + Duration::from_secs(second);
            for action in backoff.take(vec![attest(&[])], now) {
                at.push(second);
                backoff.ended(&action, false, now);
            }
        }
        assert_eq!(at, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    }

    #[test]
    fn what_is_due_as_something_else_is_done_at_once() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        let first = backoff.take(vec![attest(&[])], now);
        assert_eq!(first.len(), 1);
        // One thing at a time.
        assert!(backoff.take(vec![attest(&["a"])], now).is_empty());
        backoff.ended(&first[0], true, now);
        assert_eq!(backoff.take(vec![attest(&["a"])], now), [attest(&["a"])]);
        backoff.ended(&attest(&["a"]), true, now);
        assert!(backoff.take(vec![attest(&["a"])], now).is_empty());
        assert!(backoff.next().is_some_and(|next| next > now));
        // Not due for a moment: it is new when it is due again.
        assert!(backoff.take(Vec::new(), now).is_empty());
        assert_eq!(backoff.take(vec![attest(&["a"])], now).len(), 1);
    }

    #[test]
    fn what_was_said_is_not_said_again_and_what_was_lost_is() {
        let now = Instant::now();
        let target = Target {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            namespace: "a".to_owned(),
            name: "b".to_owned(),
            uid: "c".to_owned(),
        };
        let say = |text: &str| Action::Say(target.clone(), Note::new(true, "Waiting", text));
        let mut backoff = Backoff::default();
        assert_eq!(backoff.take(vec![say("x")], now).len(), 1);
        backoff.ended(&say("x"), false, now);
        let later = now + Duration::from_secs(2);
        assert_eq!(backoff.take(vec![say("x")], later).len(), 1, "it was lost");
        backoff.ended(&say("x"), true, later);
        let much_later = now + Duration::from_secs(2000);
        assert!(backoff.take(vec![say("x")], much_later).is_empty());
        assert_eq!(backoff.take(vec![say("y")], much_later).len(), 1);
    }
}
