//! As much of a service manager as the document needs: units are read from where it puts them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::machines::{Machine, PATIENCE, Program};

/// A running service.
pub(crate) struct Service {
    pub(crate) unit: String,
    log: PathBuf,
    _process: Program,
}

/// The units that are started with the machine, a file with their names.
const ENABLED: &str = "enabled";

/// What gate and agent write once they can be asked.
const LISTENS: &str = " listens ";

fn said(log: &Path) -> String {
    fs::read_to_string(log).unwrap_or_default()
}

impl Service {
    pub(crate) fn start(machine: &Machine, unit: &str) -> Self {
        let path = machine.path(&format!("/etc/systemd/system/{unit}"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{unit}: {error}"));
        let text = text.replace("\\\n", " ");
        let values = |key: &str| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.split_once('='));
            lines
                .filter(|(name, _)| *name == key)
                .map(|(_, value)| value.trim().to_owned())
                .collect()
        };
        let start = values("ExecStart");
        let [start] = start.as_slice() else {
            panic!("{unit}: one ExecStart, please")
        };
        // A leading `-` allows the file to be missing.
        let environment: Vec<(String, String)> = values("EnvironmentFile")
            .iter()
            .filter_map(|file| fs::read_to_string(machine.path(file.trim_start_matches('-'))).ok())
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|line| {
                line.split_once('=')
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
            })
            .collect();
        let log = machine.path(&format!("/var/{unit}.log"));
        let file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        let mut command = machine.command("sh");
        // As systemd does, a variable without braces is split at its blanks. The folder of the programs is the test's.
        let line = start.replace("/usr/local/bin/", "");
        command
            .args(["-c", &format!("exec {line}")])
            .envs(environment)
            .stdout(file.try_clone().unwrap())
            .stderr(file);
        // A reader types slower than a service starts; a test waits until it says that it listens.
        let before = said(&log).matches(LISTENS).count();
        let mut process = Program(command.spawn().unwrap());
        let begun = Instant::now();
        while said(&log).matches(LISTENS).count() == before {
            assert!(
                process.0.try_wait().unwrap().is_none() && begun.elapsed() < PATIENCE,
                "{unit} does not start: {}",
                said(&log)
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Service {
            unit: unit.to_owned(),
            log,
            _process: process,
        }
    }

    pub(crate) fn journal(&self) -> String {
        said(&self.log)
    }

    pub(crate) fn enable(machine: &Machine, unit: &str) {
        let mut all = Service::enabled(machine);
        if !all.iter().any(|known| known == unit) {
            all.push(unit.to_owned());
        }
        fs::write(
            machine.path("/etc/systemd/system").join(ENABLED),
            all.join("\n"),
        )
        .unwrap();
    }

    pub(crate) fn enabled(machine: &Machine) -> Vec<String> {
        let text = fs::read_to_string(machine.path("/etc/systemd/system").join(ENABLED));
        text.unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }
}
