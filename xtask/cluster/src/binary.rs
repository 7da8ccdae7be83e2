//! The programs of a control plane, and Helm: where they are, and how they are built from Go modules.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::about;

/// The release of Kubernetes that is built.
pub const VERSION: &str = "1.36.3";

/// The release of Helm that is built: the newest that goes with this Kubernetes.
const HELM_VERSION: &str = "4.2.4";

/// One program that is all parts, by its first argument.
const MAIN: &str = include_str!("main.go");
const HELM: &str = include_str!("helm.go");

/// The programs of a control plane.
#[derive(Clone, Debug)]
pub enum Programs {
    /// One program for all of them, which is told by its first argument what to be.
    One(PathBuf),
    /// A folder with a program for each, as other projects keep them.
    Folder(PathBuf),
}

impl Programs {
    /// Those of the folder that `KUBEBUILDER_ASSETS` names, or what [`build`] left.
    ///
    /// The error says how to have them.
    pub fn find() -> Result<Programs, String> {
        if let Some(folder) = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from) {
            if folder.join("kubeall").is_file() {
                return Ok(Programs::One(folder.join("kubeall")));
            }
            if folder.join("kube-apiserver").is_file() {
                return Ok(Programs::Folder(folder));
            }
            let folder = folder.display();
            return Err(format!(
                "`KUBEBUILDER_ASSETS` is `{folder}`, where there is neither `kubeall` nor `kube-apiserver`"
            ));
        }
        match cached() {
            Some(program) if program.is_file() => Ok(Programs::One(program)),
            _ => Err(format!(
                "there is no Kubernetes {VERSION} to test with; `cargo xtask cluster build` builds it from Go modules"
            )),
        }
    }

    /// One of them, such as `kube-apiserver`.
    pub fn command(&self, name: &str) -> Command {
        match self {
            Programs::One(program) => {
                let mut command = Command::new(program);
                command.arg(name);
                command
            }
            Programs::Folder(folder) => Command::new(folder.join(name)),
        }
    }
}

/// Where a program is kept: outside of the repository, by version.
fn cached_as(name: &str, version: &str, program: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|cache| cache.is_absolute());
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("locus").join(name).join(version).join(program))
}

fn cached() -> Option<PathBuf> {
    cached_as("kube", VERSION, "kubeall")
}

/// Builds the program if it is not there yet, with the `go` of the path, and says where it is.
pub fn build() -> io::Result<PathBuf> {
    let minor = VERSION.split('.').nth(1).unwrap_or_default();
    let flags = format!(
        "-s -w -X k8s.io/component-base/version.gitVersion=v{VERSION} -X k8s.io/component-base/version.gitMajor=1 \
         -X k8s.io/component-base/version.gitMinor={minor} -X k8s.io/client-go/pkg/version.gitVersion=v{VERSION}"
    );
    built(cached(), MAIN, &flags, module)
}

/// Helm, which renders charts.
#[derive(Clone, Debug)]
pub struct Helm {
    program: PathBuf,
}

impl Helm {
    /// What [`Helm::build`] left. The error says how to have it.
    pub fn find() -> Result<Helm, String> {
        match cached_as("helm", HELM_VERSION, "helm") {
            Some(program) if program.is_file() => Ok(Helm { program }),
            _ => Err(format!(
                "there is no Helm {HELM_VERSION} to test with; `cargo xtask cluster build` builds it from Go modules"
            )),
        }
    }

    /// Builds it if it is not there yet, and says where it is.
    pub fn build() -> io::Result<PathBuf> {
        let program = cached_as("helm", HELM_VERSION, "helm");
        built(program, HELM, "-s -w", |_| Ok(helm_module()))
    }

    /// The program.
    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }
}

/// The module that needs Helm. Its parts of Kubernetes are those that are built anyway.
fn helm_module() -> String {
    let staged = VERSION.replacen("1.", "v0.", 1);
    let mut text = format!("module helm\n\ngo 1.26.0\n\nrequire helm.sh/helm/v4 v{HELM_VERSION}\n");
    for part in [
        "api",
        "apiextensions-apiserver",
        "apimachinery",
        "apiserver",
        "cli-runtime",
        "client-go",
        "kubectl",
    ] {
        text.push_str(&format!("require k8s.io/{part} {staged}\n"));
    }
    text
}

/// Builds a program from its source, if it is not there yet.
fn built(
    program: Option<PathBuf>,
    main: &str,
    flags: &str,
    module: impl FnOnce(&Path) -> io::Result<String>,
) -> io::Result<PathBuf> {
    let program = program.ok_or_else(|| io::Error::other("`HOME` is not set"))?;
    if program.is_file() {
        return Ok(program);
    }
    let folder = program.with_file_name("build");
    fs::create_dir_all(&folder).map_err(about(&folder))?;
    write(&folder.join("main.go"), main)?;
    write(&folder.join("go.mod"), &module(&folder)?)?;
    go(&folder, ["mod", "tidy"])?;
    // Renamed when whole, so that nobody starts half of it.
    let new = program.with_extension(std::process::id().to_string());
    let arguments = ["build", "-trimpath", "-ldflags", flags, "-o"];
    let arguments = arguments.into_iter().map(OsStr::new);
    let ends = [new.as_os_str(), OsStr::new(".")];
    go(&folder, arguments.chain(ends))?;
    fs::rename(&new, &program).map_err(about(&program))?;
    Ok(program)
}

/// The module that needs Kubernetes, with the parts that the release's own module takes from its own folders.
fn module(folder: &Path) -> io::Result<String> {
    let download = format!("k8s.io/kubernetes@v{VERSION}");
    let told = Command::new("go")
        .args(["mod", "download", "-json", &download])
        .current_dir(folder)
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("cannot start `go`: {error}")))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let path = told.split("\"GoMod\": \"").nth(1);
    let path = path.and_then(|rest| rest.split('"').next());
    let Some(path) = path else {
        return Err(io::Error::other(format!(
            "`go mod download {download}` failed: {told}"
        )));
    };
    let own = fs::read_to_string(path).map_err(about(Path::new(path)))?;
    let mut text =
        format!("module kubeall\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v{VERSION}\n\n");
    let staged = VERSION.replacen("1.", "v0.", 1);
    for line in own.lines().filter(|line| line.contains("./staging/src/")) {
        let line = line.trim().trim_start_matches("replace ");
        if let Some(name) = line.split_whitespace().next() {
            text.push_str(&format!("replace {name} => {name} {staged}\n"));
        }
    }
    Ok(text)
}

fn go<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> io::Result<()> {
    let status = Command::new("go")
        .args(arguments)
        .current_dir(folder)
        .env("CGO_ENABLED", "0")
        .status()
        .map_err(|error| io::Error::new(error.kind(), format!("cannot start `go`: {error}")))?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "`go` failed in `{}`",
            folder.display()
        ))),
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text).map_err(about(path))
}
