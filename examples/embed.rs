//! Checks a configuration that is nowhere on disk.

use locus::session::{Cancel, Given, Session};

fn main() {
    let template = "heat_template_version: rocky\nresources:\n  vm: { type: OS::Nova::Sever }\n";
    let mut session = Session::new();
    session.open("template.yaml", template.as_bytes());
    let snapshot = session.snapshot();
    let project = snapshot
        .project_of("template.yaml")
        .unwrap_or_else(|| std::process::exit(2));
    let report = snapshot.check(&project, &Given::default(), &Cancel::default());
    for finding in report.iter().flat_map(|report| &report.findings) {
        println!("{}: {}", finding.code, finding.message);
    }
}
