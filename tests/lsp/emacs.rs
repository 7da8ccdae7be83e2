//! Emacs, as Debian has it, without a screen: skipped where it, or what it speaks the protocol with, is not installed.

use std::process::Command;

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

/// What is done in Emacs, after what docs/editors.md says to write into the settings.
const SCRIPT: &str = r#"
(package-initialize)
(require 'yaml-mode)
SETTINGS
(require 'eglot)
(defun say (form &rest rest) (princ (apply #'format (concat form "\n") rest)))
(find-file "a.yaml")
(yaml-mode)
(call-interactively 'eglot)
(let ((n 0))
  (while (and (< n 600) (null (flymake-diagnostics)))
    (accept-process-output nil 0.05)
    (setq n (1+ n))))
(dolist (one (flymake-diagnostics))
  (say "diagnostic %s-%s" (flymake-diagnostic-beg one) (flymake-diagnostic-end one)))
(goto-char (point-min))
(search-forward "[net")
(backward-char 1)
(let* ((end (xref-find-backend))
       (found (xref-backend-definitions end (xref-backend-identifier-at-point end))))
  (say "definition %s" (substring-no-properties (xref-item-summary (car found)))))
(eglot-rename "lan")
(goto-char (point-min))
(search-forward "Nett")
(say "action %s" (plist-get (elt (eglot-code-actions (point) (point) nil nil) 0) :title))
(say "%s" (buffer-string))
"#;

#[test]
fn emacs_shows_jumps_renames_and_offers_fixes() {
    let able = Command::new("emacs")
        .args(["--batch", "--eval"])
        .arg("(progn (package-initialize) (require 'yaml-mode) (require 'eglot))")
        .output();
    if !able.is_ok_and(|able| able.status.success()) {
        eprintln!("skipped: `apt-get install emacs-nox elpa-eglot elpa-yaml-mode`");
        return;
    }
    let docs = include_str!("../../docs/editors.md");
    let settings = docs.split("```lisp").nth(1).unwrap();
    let settings = settings.split("```").next().unwrap();
    let script = SCRIPT.replace("SETTINGS", settings);
    let folder = folder(&[
        ("a.yaml", TEMPLATE),
        ("script.el", &script),
        ("locus.toml", ""),
    ]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_locus"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let run = Command::new("emacs")
        .args(["--batch", "-l", "script.el"])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&run.stdout);
    let said = String::from_utf8_lossy(&run.stderr);
    for line in [
        "diagnostic 56-73",
        "definition   net: { type: OS::Neutron::Nett }",
        "action replace `OS::Neutron::Nett` with `OS::Neutron::Net`",
        "  lan: { type: OS::Neutron::Nett }",
        "    depends_on: [lan]",
    ] {
        assert!(
            out.lines().any(|own| own == line),
            "`{line}` is missing:\n{out}{said}"
        );
    }
}
