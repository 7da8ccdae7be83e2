//! A drawing: what is needed on the left, what needs it to the right.

use std::fmt::Write as _;

use crate::graph::{LocationGraph, Presence, RoleKind, View};

const ROW: usize = 64;
const CHAR: usize = 7;
const GAP: usize = 90;

/// The graph as a drawing in layers, without any other program.
pub fn to_svg(graph: &LocationGraph) -> String {
    let all = [
        RoleKind::Reference,
        RoleKind::Attribute,
        RoleKind::Dependency,
        RoleKind::Containment,
        RoleKind::Connection,
    ];
    let layers = View::new(graph, &all).layers();
    let columns = layers.iter().max().map_or(0, |last| last + 1);
    let mut widths = vec![0_usize; columns];
    let mut rows = vec![0_usize; columns];
    let width = |name: &str, sort: &str| {
        name.chars().count().max(sort.chars().count()).clamp(6, 40) * CHAR + 20
    };
    // Place each location in its column, in the order it was written.
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(graph.len());
    for ((_, location), &layer) in graph.locations().zip(&layers) {
        let row = rows.get_mut(layer).map_or(0, |rows| {
            *rows += 1;
            *rows - 1
        });
        if let Some(slot) = widths.get_mut(layer) {
            *slot = (*slot).max(width(&location.name, &location.sort));
        }
        places.push((layer, row));
    }
    let left = |layer: usize| {
        20 + widths
            .iter()
            .take(layer)
            .map(|width| width + GAP)
            .sum::<usize>()
    };
    let height = rows.iter().max().copied().unwrap_or(0) * ROW + 40;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"11\">\n  <defs><marker id=\"a\" viewBox=\"0 0 8 8\" \
         refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 \
         4L0 8z\"/></marker></defs>",
        left(columns) + 20,
    );
    let place = |index: usize| {
        let (layer, row) = places.get(index).copied().unwrap_or((0, 0));
        let width = widths.get(layer).copied().unwrap_or(0);
        (left(layer), 20 + row * ROW, width)
    };
    for binding in graph.bindings() {
        let (x1, y1, _) = place(binding.requirer.index());
        let (x2, y2, w2) = place(binding.provider.index());
        let (y1, y2, x2) = (y1 + 20, y2 + 20, x2 + w2);
        let role = graph.role(binding.role);
        let dash = match role.kind {
            RoleKind::Reference | RoleKind::Connection | RoleKind::Containment => "",
            RoleKind::Attribute => " stroke-dasharray=\"6 3\"",
            RoleKind::Dependency => " stroke-dasharray=\"2 3\"",
        };
        let _ = writeln!(
            out,
            "  <path d=\"M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}\" fill=\"none\" \
             stroke=\"#678\"{dash} marker-end=\"url(#a)\"><title>{}</title></path>",
            x1.saturating_sub(GAP / 2),
            x2 + GAP / 2,
            escape(&role.label, usize::MAX),
        );
    }
    for (id, location) in graph.locations() {
        let (x, y, width) = place(id.index());
        let dash = match (&location.presence, location.external) {
            (Presence::Absent, _) => " stroke-dasharray=\"2 3\"",
            (_, true) => " stroke-dasharray=\"6 3\"",
            _ => "",
        };
        let _ = writeln!(
            out,
            "  <g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"40\" \
             rx=\"8\" fill=\"#eef4fa\" stroke=\"#245\"{dash}/><text x=\"{tx}\" y=\"{}\" \
             font-weight=\"bold\">{}</text><text x=\"{tx}\" y=\"{}\" \
             fill=\"#567\">{}</text></g>",
            escape(&location.name, usize::MAX),
            y + 17,
            escape(&location.name, 40),
            y + 32,
            escape(&location.sort, 40),
            tx = x + 10,
        );
    }
    out.push_str("</svg>\n");
    out
}

fn escape(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, c) in text.chars().enumerate() {
        if index + 1 >= limit {
            out.push('…');
            break;
        }
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
