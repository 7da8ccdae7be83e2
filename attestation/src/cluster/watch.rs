//! Watches every kind of object that admission and controllers need, and keeps what is known of the cluster.
//!
//! A kind whose watch broke is not known until it was listed again: while it is not, everything is refused.

use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::api::ApiResource;
use kube::core::{DynamicObject, GroupVersionKind};
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, Client};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::known::{Known, WATCHED, Watched, kept};

/// How long to wait before a broken watch is begun again, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// What is known of the cluster, to be read while it is watched.
#[derive(Clone, Debug)]
pub struct Watching {
    known: Arc<RwLock<Arc<Known>>>,
    changes: Arc<watch::Sender<u64>>,
}

impl Watching {
    /// Nothing is known yet.
    pub fn new(known: Known) -> Self {
        Watching {
            known: Arc::new(RwLock::new(Arc::new(known))),
            changes: Arc::new(watch::Sender::new(0)),
        }
    }

    /// What is known at this moment.
    pub fn known(&self) -> Arc<Known> {
        self.known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Changes what is known; whoever waits hears of it.
    pub fn change(&self, change: impl FnOnce(&mut Known)) {
        {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            // Copied only while somebody decides by what was known until now.
            change(Arc::make_mut(&mut known));
        }
        self.changes.send_modify(|version| *version += 1);
    }

    /// Hears of every change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Watches everything, until the set is dropped.
    pub fn begin(&self, client: &Client, tasks: &mut JoinSet<()>) {
        for kind in WATCHED {
            tasks.spawn(watch_forever(self.clone(), client.clone(), kind));
        }
    }

    /// Takes in what was told of a kind; `listing` are the objects of a list that is not at its end yet.
    fn told(
        &self,
        kind: &'static Watched,
        event: Event<DynamicObject>,
        listing: &mut Vec<Value>,
    ) -> Result<(), serde_json::Error> {
        match event {
            Event::Init => listing.clear(),
            Event::InitApply(object) => listing.push(value(kind, &object)?),
            Event::InitDone => {
                let all = std::mem::take(listing);
                self.change(|known| known.replace(kind.kind, all));
            }
            Event::Apply(object) => {
                let object = value(kind, &object)?;
                self.change(|known| known.put(kind.kind, object));
            }
            Event::Delete(object) => {
                let object = value(kind, &object)?;
                self.change(|known| known.remove(kind.kind, &object));
            }
        }
        Ok(())
    }
}

/// An object as it is kept. The items of a list do not say what they are.
fn value(kind: &Watched, object: &DynamicObject) -> Result<Value, serde_json::Error> {
    let mut object = serde_json::to_value(object)?;
    if let Some(fields) = object.as_object_mut() {
        let version = match kind.group {
            "" => kind.version.to_owned(),
            group => format!("{group}/{}", kind.version),
        };
        fields.insert("apiVersion".to_owned(), Value::String(version));
        fields.insert("kind".to_owned(), Value::String(kind.kind.to_owned()));
    }
    Ok(kept(kind.kind, object))
}

async fn watch_forever(watching: Watching, client: Client, kind: &'static Watched) {
    let (first, longest) = PAUSE;
    let mut pause = first;
    let of = GroupVersionKind::gvk(kind.group, kind.version, kind.kind);
    let resource = ApiResource::from_gvk_with_plural(&of, kind.resource);
    loop {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let mut events = pin!(watcher(api, Config::default()));
        let mut listing = Vec::new();
        let why = loop {
            let told = match events.next().await {
                Some(Ok(event)) => watching
                    .told(kind, event, &mut listing)
                    .map_err(|error| error.to_string()),
                Some(Err(error)) => Err(error.to_string()),
                None => Err("the watch ended".to_owned()),
            };
            match told {
                Ok(()) => pause = first,
                Err(why) => break why,
            }
        };
        // What happens from now on is not heard of: nothing is decided by what was known.
        watching.change(|known| known.lose(kind.kind));
        tracing::warn!(kind = kind.kind, why, "not watched; everything is refused");
        tokio::time::sleep(pause).await;
        pause = pause.saturating_mul(2).min(longest);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(name: &str) -> DynamicObject {
        serde_json::from_value(json!({"metadata": {"name": name, "namespace": "a"}})).unwrap()
    }

    #[test]
    fn a_list_counts_when_it_is_whole() {
        let watching = Watching::new(Known::new("gate"));
        let kind = WATCHED.iter().find(|kind| kind.kind == "Pod").unwrap();
        let mut listing = Vec::new();
        let mut tell = |event| watching.told(kind, event, &mut listing).unwrap();
        tell(Event::Init);
        tell(Event::InitApply(pod("one")));
        assert!(watching.known().get("Pod", "a", "one").is_none());
        tell(Event::InitDone);
        let known = watching.known();
        let one = known.get("Pod", "a", "one").unwrap();
        assert_eq!(one["kind"], "Pod", "items of lists do not say it");
        assert_eq!(one["apiVersion"], "v1");
        // What was there before another list and is not in it is gone.
        tell(Event::Init);
        tell(Event::InitApply(pod("two")));
        tell(Event::InitDone);
        assert!(watching.known().get("Pod", "a", "one").is_none());
        tell(Event::Delete(pod("two")));
        assert!(watching.known().get("Pod", "a", "two").is_none());
        // Who decides by what was known until then is not disturbed.
        assert!(known.get("Pod", "a", "one").is_some());
    }

    #[test]
    fn what_is_not_watched_any_more_is_not_known() {
        let watching = Watching::new(Known::new("gate"));
        for kind in WATCHED {
            assert!(!watching.known().is_complete());
            watching.change(|known| known.replace(kind.kind, []));
        }
        assert!(watching.known().is_complete());
        watching.change(|known| known.lose("Service"));
        assert!(!watching.known().is_complete());
    }
}
