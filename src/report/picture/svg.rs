//! The drawing as SVG. Kinds differ by dashes and marks as well as by colour, and the colours are those of Okabe and Ito,
//! which colour-blind readers tell apart.

use std::fmt::Write;

use locus_core::LocationGraph;
use locus_core::graph::RoleKind;

use super::Picture;
use crate::report::xml::shown;

const KINDS: [RoleKind; 5] = [
    RoleKind::Reference,
    RoleKind::Attribute,
    RoleKind::Dependency,
    RoleKind::Containment,
    RoleKind::Connection,
];

/// The class of an item that a finding is about.
pub(in crate::report) const BROKEN: &str = "broken";

/// Colour and dashes of a kind of line.
fn look(kind: RoleKind) -> (&'static str, &'static str) {
    match kind {
        RoleKind::Reference => ("#0072B2", ""),
        RoleKind::Attribute => ("#009E73", "6 3"),
        RoleKind::Dependency => ("#555555", "2 3"),
        RoleKind::Containment => ("#CC79A7", "10 3 2 3"),
        RoleKind::Connection => ("#D55E00", "12 4"),
    }
}

/// The graph as a drawing, without any other program.
pub fn to_svg(graph: &LocationGraph) -> String {
    let picture = Picture::of(graph);
    let mut out = String::new();
    let (w, h) = (picture.size.0.max(680.0), picture.size.1 + 70.0);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" \
         font-family=\"monospace\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    );
    body(&picture, "", &|_| "", &mut out);
    legend(&picture, "", picture.size.1 + 10.0, &mut out);
    out.push_str("</svg>\n");
    out
}

/// Frames, lines and boxes, in this order; a class may be given to each item. Several drawings on one page have identifiers
/// that start differently.
pub(in crate::report) fn body(
    picture: &Picture,
    prefix: &str,
    class: &dyn Fn(usize) -> &'static str,
    out: &mut String,
) {
    markers(prefix, out);
    let mut nested: Vec<usize> = (0..picture.items.len()).collect();
    // What contains others is drawn before them.
    let depth = |index: usize| {
        let up = std::iter::successors(Some(index), |&at| {
            picture.items.get(at).and_then(|item| item.parent)
        });
        up.take(70).count()
    };
    nested.sort_by_key(|&index| depth(index));
    for &index in &nested {
        if picture.frames.get(index) == Some(&true) {
            item(picture, index, class(index), out);
        }
    }
    for (line, route) in picture.lines.iter().zip(&picture.routes) {
        let Some((&(x, y), rest)) = route.split_first() else {
            continue;
        };
        let (colour, dashes) = look(line.kind);
        let mut path = format!("M{x:.1} {y:.1}");
        let (mut px, mut py) = (x, y);
        for &(x, y) in rest {
            // A step of no length would turn the arrow.
            if (y - py).abs() < 0.5 && (x - px).abs() < 0.5 {
                continue;
            }
            if (y - py).abs() < 0.5 {
                let _ = write!(path, "H{x:.1}");
            } else {
                let mid = f64::midpoint(px, x);
                let _ = write!(path, "C{mid:.1} {py:.1} {mid:.1} {y:.1} {x:.1} {y:.1}");
            }
            (px, py) = (x, y);
        }
        let dashes = if dashes.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{dashes}\"")
        };
        let _ = writeln!(
            out,
            "<path class=\"line {kind}\" data-from=\"{}\" data-to=\"{}\" d=\"{path}\" fill=\"none\" stroke=\"{colour}\"{dashes} \
             marker-end=\"url(#{prefix}{kind})\"><title>{}</title></path>",
            line.from,
            line.to,
            shown(&line.labels.join(", ")),
            kind = line.kind.as_str(),
        );
    }
    for &index in &nested {
        if picture.frames.get(index) != Some(&true) {
            item(picture, index, class(index), out);
        }
    }
}

fn markers(prefix: &str, out: &mut String) {
    out.push_str("<defs>");
    for kind in KINDS {
        let (colour, _) = look(kind);
        let shape = if kind == RoleKind::Containment {
            "M0 4L4 1L8 4L4 7z"
        } else {
            "M0 0L8 4L0 8z"
        };
        let _ = write!(
            out,
            "<marker id=\"{prefix}{kind}\" class=\"{kind}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" \
             orient=\"auto\"><path d=\"{shape}\" fill=\"{colour}\"/></marker>",
            kind = kind.as_str()
        );
    }
    out.push_str("</defs>\n");
}

fn item(picture: &Picture, index: usize, class: &str, out: &mut String) {
    let (Some(item), Some(area)) = (picture.items.get(index), picture.areas.get(index)) else {
        return;
    };
    let is_frame = picture.frames.get(index) == Some(&true);
    let dash = match (item.absent, item.external) {
        (true, _) => " stroke-dasharray=\"2 3\"",
        (_, true) => " stroke-dasharray=\"6 3\"",
        _ => "",
    };
    let fill = if is_frame { "#f6f6f6" } else { "#eef4fa" };
    let kind = if is_frame { "frame" } else { "box" };
    let _ = write!(
        out,
        "<g class=\"{kind} {class}\" data-item=\"{index}\" data-sort=\"{}\" data-group=\"{}\" data-name=\"{}\"><title>{} ({})</title>\
         <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\" fill=\"{fill}\" stroke=\"#224455\"{dash}/>",
        shown(&item.sort),
        shown(&item.group),
        shown(&item.name),
        shown(&item.name),
        shown(&item.sort),
        area.x,
        area.y,
        area.w,
        area.h,
    );
    let x = area.x + 10.0;
    if is_frame {
        let _ = write!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\"><tspan font-weight=\"bold\">{}</tspan></text>",
            area.y + 16.0,
            shown(&short(&item.name)),
        );
    } else {
        let _ = write!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-weight=\"bold\">{}</text><text x=\"{x:.1}\" y=\"{:.1}\" fill=\"#446\">{}</text>",
            area.y + 17.0,
            shown(&short(&item.name)),
            area.y + 32.0,
            shown(&short(&item.sort)),
        );
    }
    if class == BROKEN {
        // A mark that needs no colour.
        let (x, y) = (area.x + area.w - 9.0, area.y + 9.0);
        let _ = write!(
            out,
            "<circle class=\"badge\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\" fill=\"#D55E00\"/>\
             <text class=\"badge\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#ffffff\" font-weight=\"bold\">!</text>",
            y + 4.0
        );
    }
    out.push_str("</g>\n");
}

/// What the lines and dashes mean.
pub(in crate::report) fn legend(picture: &Picture, prefix: &str, top: f64, out: &mut String) {
    out.push_str("<g class=\"legend\">");
    let mut x = 16.0;
    let y = top + 14.0;
    for kind in KINDS {
        if !picture.lines.iter().any(|line| line.kind == kind) {
            continue;
        }
        let (colour, dashes) = look(kind);
        let _ = write!(
            out,
            "<path class=\"line {kind}\" d=\"M{x:.0} {y:.0}h34\" stroke=\"{colour}\" stroke-dasharray=\"{}\" marker-end=\"url(#{prefix}{kind})\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{kind}</text>",
            if dashes.is_empty() { "none" } else { dashes },
            x + 40.0,
            y + 4.0,
            kind = kind.as_str(),
        );
        x += 130.0;
    }
    let _ = writeln!(
        out,
        "<text x=\"16\" y=\"{:.0}\" fill=\"#446\">an arrow leads from what requires to what provides; dashed box: exists \
         already; dotted box: absent{}</text></g>",
        y + 24.0,
        if picture.folded {
            "; folded by group"
        } else {
            ""
        },
    );
}

fn short(text: &str) -> String {
    if text.chars().count() <= 36 {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(35).collect();
    short.push('…');
    short
}
