//! The documents' walk-through, typed command by command at three machines.
//!
//! The commands and what they print are those of `docs/gate.md`: nothing of them is repeated here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

mod document;
mod machines;
mod services;
#[allow(dead_code, reason = "the demonstration uses more of it")]
#[path = "../../src/bin/locus_gate/demo/swtpm.rs"]
mod swtpm;

use std::path::Path;
use std::process::Command;

use document::{Step, matches, steps};
use machines::{Done, Machine, connect};
use swtpm::Manufacturer;

/// The machines of the document.
const NAMES: [&str; 3] = ["node-1", "node-2", "node-3"];

/// Does what a step says: with the hands of the service manager, of `scp` and of whoever reboots, or in a shell.
fn take(machines: &mut [Machine], step: &Step) -> Done {
    let done = Done {
        success: true,
        stdout: String::new(),
        stderr: String::new(),
    };
    let place = machines
        .iter()
        .position(|machine| machine.name == step.machine);
    let place = place.unwrap_or_else(|| panic!("line {}: there is no {}", step.line, step.machine));
    let words: Vec<&str> = step.command.split_whitespace().collect();
    match words.as_slice() {
        ["systemctl", "enable", "--now", unit] => machines[place].enable(unit),
        ["systemctl", "restart", unit] => machines[place].restart(unit),
        ["systemctl", "stop", unit] => machines[place].stop(unit),
        ["reboot"] => machines[place].boot(),
        // What containers are made of is the same everywhere.
        ["ctr", "run", ..] => machines[place].start_container(),
        ["scp", "-rp" | "-p", from, to] => {
            let (host, path) = to.split_once(':').expect("scp goes to another machine");
            let other = machines.iter().find(|machine| machine.name == host);
            let from = machines[place].path(&absolute(from));
            let to = other.expect("a machine of the document").path(path);
            let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
            return Done {
                success: copied.unwrap().success(),
                ..done
            };
        }
        _ => return machines[place].run(&step.command),
    }
    done
}

/// A path, from root's home folder.
fn absolute(path: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/root/{path}")
    }
}

#[test]
fn the_walk_through_of_the_document_works_as_it_is_written() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/gate.md");
    let steps = steps(&std::fs::read_to_string(document).unwrap());
    assert!(steps.len() > 20, "the document has its walk-through");
    let folder = tempfile::tempdir().unwrap();
    let maker = Manufacturer::new(&folder.path().join("tpms")).unwrap();
    let mut machines: Vec<Machine> = NAMES
        .iter()
        .map(|name| Machine::new(folder.path(), name, maker.prepare(name).unwrap()))
        .collect();
    connect(&machines);
    // The roots come from the TPM's maker, as a download would.
    for (name, pem) in ["root.pem", "intermediate.pem"]
        .into_iter()
        .zip(maker.certificates().unwrap())
    {
        std::fs::write(machines[0].path("/root").join(name), pem).unwrap();
    }
    machines[0].prepare();
    for machine in &mut machines {
        machine.boot();
    }
    for step in &steps {
        println!("{}# {}", step.machine, step.command);
        let done = take(&mut machines, step);
        print!("{}", done.stdout);
        let journals: String = machines.iter().map(Machine::journal).collect();
        assert!(
            done.success && matches(&step.output, &done.stdout),
            "line {} of the document: `{}`\n{}{}\nthe document shows {:#?}\n{journals}",
            step.line,
            step.command,
            done.stdout,
            done.stderr,
            step.output
        );
    }
}
