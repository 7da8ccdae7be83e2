//! The HTML report in a real browser.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn report(folder: &Path, files: &[&str]) -> String {
    let page = folder.join("report.html");
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "--format", &format!("html={}", page.display())])
        .args(files)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the binary starts");
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::read_to_string(page).unwrap()
}

/// Opens a page in Chromium, which Debian has as `chromium`.
fn browse(folder: &Path, address: &str, flags: &[&str]) -> Output {
    Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
        ])
        .args(["--disable-dev-shm-usage", "--window-size=1400,900"])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .args(flags)
        .arg(address)
        .current_dir(folder)
        .output()
        .expect("chromium is installed: apt-get install chromium")
}

/// The page after its script has run, without a word in the console.
fn dom(folder: &Path, address: &str) -> String {
    let output = browse(folder, address, &["--dump-dom"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains(":CONSOLE"), "{said}");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("</html>"), "{said}");
    dom
}

fn address(folder: &Path, page: &str) -> String {
    format!("file://{}", folder.join(page).display())
}

#[test]
fn findings_are_listed_and_a_link_selects_one() {
    let folder = TempDir::new().unwrap();
    let page = report(folder.path(), &["examples/heat/servers-share-port.yaml"]);
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    assert!(
        !elsewhere.contains("http://") && !elsewhere.contains("https://"),
        "nothing is loaded"
    );
    assert!(page.contains("default-src 'none'"));
    let dom = dom(
        folder.path(),
        &format!("{}#f0", address(folder.path(), "report.html")),
    );
    assert!(dom.contains("1 of 1 findings shown"), "the script ran");
    assert!(dom.contains("class=\"finding error selected\""), "{dom}");
    // Both servers are marked in the picture.
    for name in ["vm1", "vm2"] {
        let at = dom.find(&format!("data-name=\"{name}\"")).expect(name);
        let item = dom
            .get(..at)
            .and_then(|before| before.rfind("<g "))
            .and_then(|from| dom.get(from..at))
            .unwrap();
        assert!(item.contains("broken") && item.contains("hit"), "{item}");
    }
    let shot = folder.path().join("shot.png");
    let _ = browse(
        folder.path(),
        &format!("{}#f0", address(folder.path(), "report.html")),
        &[&format!("--screenshot={}", shot.display())],
    );
    assert!(fs::metadata(&shot).expect("a screenshot").len() > 10_000);
}

/// Clicks and types in a copy of the page that lets the test's own script in.
#[test]
fn clicks_select_and_search_filters() {
    let folder = TempDir::new().unwrap();
    let page = report(
        folder.path(),
        &[
            "examples/heat/servers-share-port.yaml",
            "invariants/library/hot/examples/HOT002.breaks.yaml",
            "invariants/library/hot/examples/HOT221.breaks.yaml",
        ],
    );
    let start = page.find("<meta http-equiv").unwrap();
    let end = start + page[start..].find('>').unwrap() + 1;
    let script = "<script>
        const said = [];
        const all = (selector) => Array.from(document.querySelectorAll(selector));
        const finding = all('.finding').at(-1);
        finding.querySelector('button').click();
        said.push(finding.classList.contains('selected'), all('.finding.selected').length, all('.hit').length > 0);
        said.push(!finding.querySelector('.more').hidden);
        const search = document.getElementById('search');
        search.value = 'no such thing'; search.dispatchEvent(new Event('input'));
        said.push(all('.finding:not([hidden])').length, all('[data-item].dim').length > 0);
        search.value = ''; search.dispatchEvent(new Event('input'));
        const grouping = document.getElementById('grouping');
        grouping.value = 'rule'; grouping.dispatchEvent(new Event('change'));
        said.push(all('#findings h3').map((head) => head.textContent.split(' ')[0]).join('+'));
        const picture = all('.graph').find((graph) => !graph.hidden).querySelector('.picture');
        const before = picture.querySelector('svg').getAttribute('viewBox');
        picture.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
        said.push(before !== picture.querySelector('svg').getAttribute('viewBox'));
        said.push(all('button, input, select, [tabindex]').every((one) => one.textContent || one.labels?.length || one.getAttribute('aria-label')));
        document.body.setAttribute('data-said', said.join(' '));
        </script></body>";
    let open = format!("{}{}", &page[..start], &page[end..]).replace("</body>", script);
    fs::write(folder.path().join("open.html"), open).unwrap();
    let dom = dom(folder.path(), &address(folder.path(), "open.html"));
    let said = dom
        .split("data-said=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let said = said.unwrap_or_else(|| panic!("{dom}"));
    assert!(
        said.starts_with("true 1 true true 0 true ") && said.ends_with(" true true"),
        "{said}"
    );
    assert!(said.contains("HOT221") && said.contains("HOT002"), "{said}");
}

#[test]
fn markup_in_a_template_is_text() {
    let folder = TempDir::new().unwrap();
    let evil = "</script></style></pre><img src=x onerror=alert(1)>'\\\"<script>document.title='owned'</script>";
    let template = format!(
        "heat_template_version: 2021-04-16\ndescription: \"{evil}\"\nresources:\n  \"{evil}\":\n    type: \"{evil}\"\n    properties:\n      \"{evil}\": {{ get_resource: \"{evil}\" }}\n      image: {{ get_param: \"{evil}\" }}\n"
    );
    let file = folder.path().join("a<b>'&.yaml");
    fs::write(&file, template).unwrap();
    let page = report(folder.path(), &[file.to_str().unwrap()]);
    assert!(page.contains("&lt;img src=x"), "it is shown");
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own");
    assert!(!page.contains("<img"));
    let dom = dom(folder.path(), &address(folder.path(), "report.html"));
    assert!(dom.contains("<title>Locus report</title>") && !dom.contains("<img"));
}
