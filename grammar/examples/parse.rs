//! Parses the files given and prints what is wrong with them.
use locus_core::Sources;

fn main() {
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        let mut sources = Sources::new();
        let file = sources.add(path.clone(), text.as_str());
        let (_, diagnostics) = locus_grammar::parse(file, &text);
        for d in diagnostics {
            let at = d.primary().map(|s| sources.start(s));
            println!("{path}:{}:{}: {} [{}]", at.map_or(0, |p| p.line), at.map_or(0, |p| p.column), d.message, d.help.unwrap_or_default());
        }
    }
}
