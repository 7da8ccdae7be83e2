//! The extension for Visual Studio Code: packaged, its library spoken to the server with, and, where there is one, a real editor.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::edited;
use crate::folder;

const TEMPLATE: &str = "\
heat_template_version: rocky
resources:
  net: { type: OS::Neutron::Nett }
  vm:
    type: OS::Nova::Server
    depends_on: [net]
    properties: { flavor: a, image: b, networks: [{ network: x }] }
";

fn extension() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode")
}

/// Runs a command that must succeed; what it writes.
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?}:\n{out}{said}");
    out.into_owned()
}

/// Makes the package, once for all tests; nothing where npm is not installed.
fn package() -> bool {
    static PACKAGED: OnceLock<bool> = OnceLock::new();
    *PACKAGED.get_or_init(make_package)
}

/// Makes the package with the libraries of the lock file, which are fetched when they are not there.
fn make_package() -> bool {
    if Command::new("npm").arg("--version").output().is_err() {
        eprintln!("the extension is not packaged: npm is not installed");
        return false;
    }
    let folder = extension();
    let npm = |arguments: &[&str]| run(Command::new("npm").args(arguments).current_dir(&folder));
    let age = |path: &str| {
        folder
            .join(path)
            .metadata()
            .and_then(|data| data.modified())
            .ok()
    };
    if age("node_modules/.package-lock.json") < age("package-lock.json") {
        npm(&["ci"]);
    }
    npm(&["run", "package"]);
    true
}

#[test]
fn the_extension_is_packaged_and_its_library_understands_the_server() {
    if !package() {
        return;
    }
    // The names of what is in an archive stand in it as they are.
    let archive = std::fs::read(extension().join("locus.vsix")).unwrap();
    let has = |name: &str| {
        archive
            .windows(name.len())
            .any(|part| part == name.as_bytes())
    };
    assert!(has("extension/dist/extension.js") && has("extension/walkthrough.md"));
    for absent in [
        "extension/src/",
        "extension/test/",
        "extension/node_modules/",
    ] {
        assert!(!has(absent), "{absent} is in the package");
    }
    let folder = folder(&[("a.yaml", TEMPLATE)]);
    let said = run(Command::new("node")
        .arg(extension().join("test/client.js"))
        .arg(env!("CARGO_BIN_EXE_locus"))
        .arg(folder.path()));
    let result: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(result["sync"], 2, "incremental");
    let first = &result["diagnostics"][0];
    assert_eq!(
        (first["line"].as_u64(), first["character"].as_u64()),
        (Some(2), Some(15))
    );
    let start = &result["definition"][0]["range"]["start"];
    assert_eq!(
        (start["line"].as_u64(), start["character"].as_u64()),
        (Some(2), Some(2))
    );
    let changes = result["rename"]["changes"].as_object().unwrap();
    let edits = changes.values().next().unwrap().as_array().unwrap();
    let renamed = edited(TEMPLATE, edits);
    assert!(
        renamed.contains("  lan: {") && renamed.contains("[lan]"),
        "{renamed}"
    );
    let titles: Vec<&str> = result["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| action["title"].as_str().unwrap())
        .collect();
    assert!(
        titles
            .iter()
            .any(|title| title.contains("OS::Neutron::Net")),
        "{titles:?}"
    );
    assert!(
        result["hover"]["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("resource `net`")
    );
    assert!(result["completion"].as_array().unwrap().len() > 100);
    assert!(!result["tokens"]["data"].as_array().unwrap().is_empty());
    assert!(result["graph"]["svg"].as_str().unwrap().contains("<svg"));
    assert_eq!(result["exit"], 0);
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `CODE_SERVER` names the program of that package (npm), which serves a whole Visual Studio Code to a browser.
#[test]
fn a_real_editor_shows_jumps_renames_mends_and_draws() {
    let Ok(server) = std::env::var("CODE_SERVER") else {
        eprintln!("no real editor is driven: CODE_SERVER names none");
        return;
    };
    assert!(package(), "npm is installed where code-server is");
    let home = folder(&[("work/a.yaml", TEMPLATE)]);
    let of = |name: &str| home.path().join(name);
    let driver = of("driver.vsix");
    let vsce = extension().join("node_modules/.bin/vsce");
    run(Command::new(vsce)
        .args([
            "package",
            "--no-dependencies",
            "--allow-missing-repository",
            "--skip-license",
            "--out",
        ])
        .arg(&driver)
        .current_dir(extension().join("test/driver")));
    // The path that an editor has is that of its user's shell: the program is named in the settings.
    let settings = serde_json::json!({
        "locus.path": env!("CARGO_BIN_EXE_locus"),
        "editor.minimap.enabled": false,
    });
    crate::write(
        home.path(),
        "data/User/settings.json",
        &settings.to_string(),
    );
    let code = || {
        let mut command = Command::new(&server);
        command
            .args([
                "--auth",
                "none",
                "--disable-telemetry",
                "--disable-update-check",
            ])
            .args([
                "--disable-workspace-trust",
                "--disable-getting-started-override",
            ])
            .arg("--user-data-dir")
            .arg(of("data"))
            .arg("--extensions-dir")
            .arg(of("extensions"))
            .env("HOME", home.path())
            .env("LOCUS_OUT", of("out.json"));
        command
    };
    for package in [extension().join("locus.vsix"), driver] {
        run(code().arg("--install-extension").arg(package));
    }
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let _serving = Running(
        code()
            .arg("--bind-addr")
            .arg(format!("127.0.0.1:{port}"))
            .arg(of("work"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let start = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "code-server does not start"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    let _browser = Running(
        Command::new("chromium")
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--window-size=1200,640",
            ])
            .arg("--remote-debugging-port=0")
            .arg(format!("--user-data-dir={}", of("profile").display()))
            .arg(format!(
                "http://127.0.0.1:{port}/?folder={}",
                of("work").display()
            ))
            .env("HOME", home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    while !of("out.json").exists() {
        assert!(
            start.elapsed() < Duration::from_secs(240),
            "the editor does nothing"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    let result: Value = serde_json::from_slice(&std::fs::read(of("out.json")).unwrap()).unwrap();
    assert!(result.get("error").is_none(), "{result}");
    let said = result["diagnostics"].as_array().unwrap();
    assert!(
        said.iter()
            .any(|one| one.as_str().unwrap().starts_with("2:15 ")),
        "{result}"
    );
    assert_eq!(result["definition"], "2:2");
    assert!(result["hover"].as_str().unwrap().contains("resource `net`"));
    let renamed = TEMPLATE
        .replace("  net:", "  lan:")
        .replace("[net]", "[lan]");
    assert_eq!(result["renamed"], renamed);
    assert_eq!(result["mended"], renamed.replace("Nett", "Net"));
    let tabs = result["tabs"].as_array().unwrap();
    assert!(tabs.contains(&Value::from("Location graph")), "{result}");
    if let Ok(picture) = std::env::var("LOCUS_PICTURE") {
        std::thread::sleep(Duration::from_secs(5));
        run(Command::new("node")
            .arg("--experimental-websocket")
            .arg(extension().join("test/screen.js"))
            .arg(of("profile"))
            .arg(picture));
    }
}
