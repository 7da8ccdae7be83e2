//! A graph that is too large to be drawn, by its groups: the outermost location that contains others, the namespace, else the
//! sort.

use std::collections::BTreeMap;

use locus_core::{Location, LocationGraph};
use rustc_hash::FxHashMap;

use super::{Item, LIMIT, Line};

pub(super) fn fold(
    graph: &LocationGraph,
    items: &[Item],
    lines: &[Line],
) -> (Vec<Item>, Vec<Line>) {
    let mut has_children = vec![false; items.len()];
    for item in items {
        if let Some(slot) = item.parent.and_then(|parent| has_children.get_mut(parent)) {
            *slot = true;
        }
    }
    let groups = |by_sort: bool| {
        let mut groups: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for (index, (item, (_, location))) in items.iter().zip(graph.locations()).enumerate() {
            let top = outermost(items, index);
            let namespace = namespace(location);
            let key = match (items.get(top), namespace) {
                (Some(top_item), _) if !by_sort && has_children.get(top) == Some(&true) => {
                    (top_item.name.clone(), "group".to_owned())
                }
                (_, Some(namespace)) if !by_sort => (namespace.to_owned(), "namespace".to_owned()),
                _ => (item.sort.clone(), "sort".to_owned()),
            };
            groups.entry(key).or_default().push(index);
        }
        groups
    };
    let mut found = groups(false);
    if found.len() > LIMIT {
        found = groups(true);
    }
    let mut group_of: FxHashMap<usize, usize> = FxHashMap::default();
    let mut folded = Vec::new();
    let mut rest: Vec<usize> = Vec::new();
    for (index, ((name, kind), locations)) in found.into_iter().enumerate() {
        // The last box holds whatever there is no room for.
        if index + 1 >= LIMIT {
            rest.extend(&locations);
            continue;
        }
        for &location in &locations {
            group_of.insert(location, folded.len());
        }
        let count = locations.len();
        folded.push(group(name, format!("{kind}, {count} locations"), locations));
    }
    if !rest.is_empty() {
        for &location in &rest {
            group_of.insert(location, folded.len());
        }
        let count = rest.len();
        folded.push(group(
            "others".to_owned(),
            format!("{count} locations"),
            rest,
        ));
    }
    let mut merged: BTreeMap<(usize, usize, _), usize> = BTreeMap::new();
    for line in lines {
        if let (Some(&from), Some(&to)) = (group_of.get(&line.from), group_of.get(&line.to))
            && from != to
        {
            *merged.entry((from, to, line.kind)).or_default() += line.labels.len();
        }
    }
    let lines = merged.into_iter().map(|((from, to, kind), count)| Line {
        from,
        to,
        kind,
        labels: vec![format!("{count} of kind {}", kind.as_str())],
    });
    (folded, lines.collect())
}

/// The outermost item that contains one, which is itself when none does.
fn outermost(items: &[Item], start: usize) -> usize {
    let up = std::iter::successors(Some(start), |&at| {
        items.get(at).and_then(|item| item.parent)
    });
    // Items that contain each other have no end.
    up.take(items.len()).last().unwrap_or(start)
}

fn namespace(location: &Location) -> Option<&str> {
    let namespace = location.property("namespace")?;
    namespace.value.as_str()
}

/// What a location is filtered by: its namespace, else the outermost location that contains it.
pub(super) fn group_of(location: &Location, items: &[Item], index: usize) -> String {
    if let Some(namespace) = namespace(location) {
        return namespace.to_owned();
    }
    match outermost(items, index) {
        top if top == index => String::new(),
        top => items
            .get(top)
            .map_or_else(String::new, |item| item.name.clone()),
    }
}

fn group(name: String, sort: String, locations: Vec<usize>) -> Item {
    Item {
        group: name.clone(),
        name,
        sort,
        parent: None,
        external: false,
        absent: false,
        locations,
    }
}
