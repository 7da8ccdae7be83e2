//! The page of `locus run --html`: instances and counterexamples as graphs, with their tables beside them.

use std::collections::BTreeMap;
use std::fmt::Write;

use locus_core::Diagnostic;
use locus_grammar::model::{Model, SigKind, builtin};
use serde::Serialize;

use super::theme::{self, Theme, short};
use super::{STYLE, head};
use crate::report::instance::View;
use crate::report::xml::shown as safe;

const SCRIPT: &str = concat!(
    include_str!("viewer.js"),
    include_str!("layout.js"),
    include_str!("run.js")
);
const OWN_STYLE: &str = include_str!("run.css");

/// A command with what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// The command and where it is.
    pub title: String,
    /// What came of it.
    pub verdict: String,
    /// Its instances, or counterexamples.
    pub instances: Vec<View>,
    /// Whether there are no others.
    pub exhausted: bool,
    /// What the signatures of its model are.
    pub sigs: BTreeMap<String, Look>,
    /// How its fields are drawn.
    pub fields: BTreeMap<String, Theme>,
}

/// What a signature is, for a drawing.
#[derive(Clone, Debug, Serialize)]
pub struct Look {
    /// Whether it extends no other, so that one can project over it.
    pub top: bool,
    /// Whether it is a subset of others, which is told in the boxes.
    pub subset: bool,
    /// How its atoms are drawn.
    pub theme: Theme,
}

impl Shown {
    /// A command of a model, and what is wrong with the themes of the model.
    pub fn new(title: String, verdict: String, model: &Model) -> (Self, Vec<Diagnostic>) {
        let mut shown = Shown {
            title,
            verdict,
            instances: Vec::new(),
            exhausted: false,
            sigs: BTreeMap::new(),
            fields: BTreeMap::new(),
        };
        let mut wrong = Vec::new();
        for sig in &model.sigs {
            if sig.kind == SigKind::Builtin {
                continue;
            }
            let name = short(&sig.label).to_owned();
            let (theme, fields, said) = theme::of(sig, model);
            wrong.extend(said);
            for (field, theme) in fields {
                shown.fields.insert(format!("{name}.{field}"), theme);
            }
            let look = Look {
                top: sig.kind
                    == (SigKind::Prim {
                        parent: builtin::UNIV,
                    }),
                subset: matches!(sig.kind, SigKind::Subset { .. }),
                theme,
            };
            shown.sigs.insert(name, look);
        }
        (shown, wrong)
    }
}

/// Renders a page about some commands.
pub fn render(commands: &[Shown]) -> String {
    let mut out = String::new();
    let style = format!("{STYLE}{OWN_STYLE}");
    head("Locus run", SCRIPT, &style, &mut out);
    out.push_str(
        "<header><h1 id=\"title\">Locus run</h1><p id=\"verdict\"></p></header>\n<main class=\"run\">\n\
         <section aria-label=\"Graph\"><div class=\"controls\"><label>Command <select id=\"command\">",
    );
    for (index, shown) in commands.iter().enumerate() {
        let title = safe(&shown.title);
        let _ = write!(out, "<option value=\"{index}\">{title}</option>");
    }
    out.push_str(
        "</select></label><button type=\"button\" id=\"previous\">Previous</button><button type=\"button\" id=\"next\">Next</button>\
         <span id=\"status\" role=\"status\" class=\"soft\"></span><label>Search <input id=\"search\" type=\"search\"></label></div>\n\
         <div id=\"projections\" role=\"group\" aria-label=\"Project over\"></div>\n\
         <div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"Graph of the instance; arrow keys move, plus and minus zoom, \
         zero shows all, n and p lead to the next and the previous instance\"></div></section>\n<section id=\"tables\" aria-label=\"Tables\">\n",
    );
    for (index, shown) in commands.iter().enumerate() {
        for (number, view) in shown.instances.iter().enumerate() {
            let _ = writeln!(
                out,
                "<div data-command=\"{index}\" data-instance=\"{number}\"><h2>{}, instance {}</h2>",
                safe(&shown.title),
                number + 1
            );
            tables(view, &mut out);
            out.push_str("</div>\n");
        }
    }
    // Plain data with string keys always has a JSON form; `<` would end the element that holds it.
    let data = serde_json::to_string(commands).unwrap_or_default();
    let data = data.replace('<', "\\u003c");
    let _ = write!(
        out,
        "</section>\n</main>\n<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    );
    out
}

/// The instance as tables: signatures with their atoms, then each field.
fn tables(view: &View, out: &mut String) {
    out.push_str("<table><caption>signatures</caption><tbody>");
    for set in &view.sigs {
        let atoms = set.atoms.join(", ");
        let atoms = if atoms.is_empty() { "(none)" } else { &atoms };
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td></tr>",
            safe(&set.name),
            safe(atoms)
        );
    }
    out.push_str("</tbody></table>\n");
    for table in view.fields.iter().chain(&view.skolems) {
        let _ = write!(
            out,
            "<table><caption>{}</caption><tbody>",
            safe(&table.name)
        );
        if table.tuples.is_empty() {
            out.push_str("<tr><td>(none)</td></tr>");
        }
        for tuple in &table.tuples {
            out.push_str("<tr>");
            for atom in tuple {
                let _ = write!(out, "<td>{}</td>", safe(atom));
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table>\n");
    }
}
