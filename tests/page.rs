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

/// What a script says in a copy of the page that lets it in: the words that it puts into `said`.
fn said_by(folder: &Path, page: &str, script: &str) -> String {
    let start = page.find("<meta http-equiv").unwrap();
    let end = start + page[start..].find('>').unwrap() + 1;
    let script = format!(
        "<script>{{ const said = []; const all = (selector) => Array.from(document.querySelectorAll(selector));
        {script}
        document.body.setAttribute('data-said', said.join(' ')); }}</script></body>"
    );
    let open = format!("{}{}", &page[..start], &page[end..]).replace("</body>", &script);
    fs::write(folder.join("open.html"), open).unwrap();
    let dom = dom(folder, &address(folder, "open.html"));
    let said = dom
        .split("data-said=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    said.unwrap_or_else(|| panic!("{dom}")).to_owned()
}

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
    let script = "
        const finding = all('.finding').findLast((one) => one.textContent.includes('HOT221'));
        finding.querySelector('button').click();
        said.push(finding.classList.contains('selected'), all('.finding.selected').length, all('.hit').length > 0);
        said.push(!finding.querySelector('.more').hidden);
        const search = document.getElementById('search');
        search.value = 'no such thing'; search.dispatchEvent(new Event('input'));
        said.push(all('.finding:not([hidden])').length, all('[data-item].dim').length > 0);
        search.value = ''; search.dispatchEvent(new Event('input'));
        const grouping = document.getElementById('grouping');
        grouping.value = 'rule'; grouping.dispatchEvent(new Event('change'));
        said.push(all('#findings h2').map((head) => head.textContent.split(' ')[0]).join('+'));
        const picture = all('.graph').find((graph) => !graph.hidden).querySelector('.picture');
        const before = picture.querySelector('svg').getAttribute('viewBox');
        picture.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
        said.push(before !== picture.querySelector('svg').getAttribute('viewBox'));
        said.push(all('button, input, select, [tabindex]').every((one) => one.textContent || one.labels?.length || one.getAttribute('aria-label')));
        ";
    let said = said_by(folder.path(), &page, script);
    assert!(
        said.starts_with("true 1 true true 0 true ") && said.ends_with(" true true"),
        "{said}"
    );
    assert!(said.contains("HOT221") && said.contains("HOT002"), "{said}");
}

#[test]
fn what_is_selected_in_a_tall_drawing_can_be_read() {
    let folder = TempDir::new().unwrap();
    let mut text = "heat_template_version: rocky\nresources:\n".to_owned();
    for at in 0..120 {
        text.push_str(&format!(
            "  vm{at}: {{ type: OS::Nova::Server, properties: {{ flavor: f, image: i, networks: [{{ port: {{ get_resource: p{at} }} }}] }} }}\n"
        ));
    }
    let file = folder.path().join("tall.yaml");
    fs::write(&file, text).unwrap();
    let page = report(folder.path(), &[file.to_str().unwrap()]);
    let script = "
        const finding = all('.finding').find((one) => one.querySelector('button').textContent.includes('p100'));
        const size = () => all('[data-item]').find((item) => item.dataset.name === 'vm100').querySelector('rect').getBoundingClientRect();
        const before = size().width;
        finding.querySelector('button').click();
        const frame = all('.picture')[0].getBoundingClientRect();
        const box = size();
        said.push(before < 20, box.width > 40, box.top >= frame.top && box.bottom <= frame.bottom, box.left >= frame.left && box.right <= frame.right);
        ";
    let said = said_by(folder.path(), &page, script);
    assert_eq!(said, "true true true true");
}

#[test]
fn markup_in_a_template_is_text() {
    let folder = TempDir::new().unwrap();
    let evil = "</script></style></pre><img src=x onerror=alert(1)>'\\\"<script>document.title='owned'</script>\u{202e}\u{2066}\u{2028}`<b>`";
    let template = format!(
        "heat_template_version: 2021-04-16\ndescription: \"{evil}\"\nresources:\n  \"{evil}\":\n    type: \"{evil}\"\n    properties:\n      \"{evil}\": {{ get_resource: \"{evil}\" }}\n      image: {{ get_param: \"{evil}\" }}\n"
    );
    let file = folder.path().join("a<b>'&.yaml");
    fs::write(&file, template).unwrap();
    let page = report(folder.path(), &[file.to_str().unwrap()]);
    assert!(page.contains("&lt;img src=x"), "it is shown");
    for turns in ['\u{202e}', '\u{2066}', '\u{2028}'] {
        assert!(!page.contains(turns), "what is seen is what is there");
    }
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own");
    assert!(!page.contains("<img"));
    let dom = dom(folder.path(), &address(folder.path(), "report.html"));
    assert!(dom.contains("<title>Locus report</title>") && !dom.contains("<img"));
}

/// Severities can be hidden, keys lead through the findings, and what is ignored is there with its reason.
#[test]
fn a_reviewer_gets_along_with_keys_and_switches() {
    let folder = TempDir::new().unwrap();
    let example = include_str!("../examples/heat/servers-share-port.yaml");
    let ignored = example.replace(
        "  vm2:\n",
        "  # locus: ignore HOT221 -- one is a spare\n  vm2:\n",
    );
    let file = folder.path().join("ignored.yaml");
    fs::write(&file, ignored).unwrap();
    let page = report(
        folder.path(),
        &[
            "examples/heat/servers-share-port.yaml",
            "examples/heat/server-on-external-network.yaml",
            file.to_str().unwrap(),
        ],
    );
    let said = said_by(
        folder.path(),
        &page,
        "
        const shown = () => all('.finding:not([hidden])').length;
        const tile = (kind) => all('.tile').find((one) => one.dataset.show === kind);
        said.push(shown(), all('.finding.ignored')[0].textContent.includes('one is a spare'));
        tile('warning').click();
        said.push(shown(), tile('warning').getAttribute('aria-pressed'));
        tile('warning').click();
        const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        press('j');
        const first = all('.finding.selected')[0].id;
        press('j'); press('k');
        said.push(first, all('.finding.selected')[0].id === first, location.hash);
        said.push(document.activeElement.getAttribute('aria-expanded'));
        press('/');
        said.push(document.activeElement.id);
        // Lines have their numbers, and what is meant is marked.
        said.push(all('.finding.selected .l.at mark').length > 0, all('.finding.selected .l')[0].dataset.n > 0);
        said.push(all('.finding.selected .says code').length > 0);
        ",
    );
    assert_eq!(
        said,
        "3 true 2 false f0 true #f0 true search true true true"
    );
}

/// Two services in two namespaces, a cycle, and what leads to it.
#[test]
fn ways_are_highlighted_reasons_are_given_and_namespaces_filter() {
    let folder = TempDir::new().unwrap();
    let page = report(
        folder.path(),
        &["invariants/library/compose/examples/COMPOSE020.breaks.yaml"],
    );
    assert!(
        page.contains("Without any one of these lines, it is not found"),
        "a reviewer sees the explanation without asking for it"
    );
    let said = said_by(
        folder.path(),
        &page,
        "
        const finding = all('.finding')[0];
        finding.querySelector('button').click();
        said.push(all('.line.way').length, all('.hit').length, all('.broken .badge').length > 0);
        said.push(all('.hit')[0].dataset.group !== undefined, document.getElementById('space') !== null);
        const before = all('.finding.selected')[0].id;
        all('.broken')[0].dispatchEvent(new MouseEvent('click', { bubbles: true }));
        said.push(all('.finding.selected').length === 1);
        said.push(new Set(all('marker').map((one) => one.id)).size === all('marker').length);
        ",
    );
    assert_eq!(said, "3 3 true true true true true");
}

#[test]
fn a_printed_page_shows_every_detail() {
    let folder = TempDir::new().unwrap();
    report(
        folder.path(),
        &[
            "examples/heat/servers-share-port.yaml",
            "invariants/library/hot/examples/HOT002.breaks.yaml",
        ],
    );
    let pdf = folder.path().join("page.pdf");
    let flag = format!("--print-to-pdf={}", pdf.display());
    let _ = browse(
        folder.path(),
        &address(folder.path(), "report.html"),
        &[&flag],
    );
    assert!(fs::metadata(&pdf).expect("it is printed").len() > 20_000);
}

const MODEL: &str = "
/** A moment.
 * theme: project
 */
sig Time {}

/** theme: colour=sky shape=ellipse label=machine
 * theme runs: colour=vermilion
 * theme owner: attribute
 */
sig Server {
  runs: Job -> Time,
  owner: one User,
}
sig Job {}
sig User {}
sig Busy in Server {}

run show { some runs some Busy #Time = 2 #Server = 2 } for 3 expect 1
check free { no runs } for 2 expect 1
run never { some Server no User } for 2 expect 0
";

/// Runs a model and gives the page.
fn run_page(folder: &Path, model: &str) -> String {
    fs::write(folder.join("model.als"), model).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["run", "--html", "run.html", "model.als"])
        .current_dir(folder)
        .output()
        .expect("the binary starts");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::read_to_string(folder.join("run.html")).unwrap()
}

#[test]
fn instances_are_drawn_projected_and_walked_through() {
    let folder = TempDir::new().unwrap();
    let page = run_page(folder.path(), MODEL);
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"));
    let dom = dom(folder.path(), &address(folder.path(), "run.html"));
    assert!(
        dom.contains("instance 1 of 10"),
        "more instances are there: {dom}"
    );
    let said = said_by(
        folder.path(),
        &page,
        "
        const boxes = () => all('.picture [data-item]');
        const named = (name) => boxes().filter((one) => one.dataset.name.startsWith(name)).length;
        // The model asks for the projection: no moment is drawn, and each has its picture.
        const time = all('[data-project]').find((one) => one.dataset.project === 'Time');
        said.push(time.checked, named('Time'), named('Server'), all('ellipse').length);
        said.push(all('.picture text').some((one) => one.textContent.startsWith('machine')));
        said.push(all('.picture text').some((one) => one.textContent.startsWith('owner: User')));
        said.push(all('.picture text').some((one) => one.textContent === 'Busy'));
        const atom = all('#projections select')[0];
        const lines = () => all('.picture .line.vermilion').length;
        let seen = 0;
        Array.from(atom.options).forEach((option) => { atom.value = option.value; atom.dispatchEvent(new Event('change')); seen += lines(); });
        const rows = all('#tables > :not([hidden]) table').find((one) => one.caption.textContent === 'Server.runs').rows.length;
        said.push(atom.options.length, seen === rows);
        time.click();
        said.push(named('Time'), lines() === rows);
        const tables = () => all('#tables > :not([hidden])').map((one) => one.dataset.instance).join();
        const first = [tables(), all('#tables > :not([hidden])')[0].textContent];
        document.getElementById('next').click();
        said.push(first[0], tables(), first[1] !== all('#tables > :not([hidden])')[0].textContent);
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'p', bubbles: true }));
        said.push(tables());
        const chooser = document.getElementById('command');
        chooser.value = '2'; chooser.dispatchEvent(new Event('change'));
        said.push(boxes().length, document.getElementById('verdict').textContent.replaceAll(' ', '-'));
        said.push(all('button, input, select, [tabindex]').every((one) => one.textContent || one.labels?.length || one.getAttribute('aria-label')));
        ",
    );
    assert_eq!(
        said,
        "true 0 2 2 true true true 2 true 2 true 0 1 true 0 0 no-instance,-as-expected true"
    );
}

#[test]
fn markup_in_a_model_is_text() {
    let folder = TempDir::new().unwrap();
    // A name in a model cannot have markup, the name of a file can.
    let evil = "a<img src=x onerror=alert(1)>'&.als";
    fs::write(
        folder.path().join(evil),
        "sig A { f: set A }\nrun { some f } for 2\n",
    )
    .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["run", "--html", "-", evil])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(
        page.starts_with("<!DOCTYPE html>") && !page.contains("<img"),
        "{page}"
    );
    fs::write(folder.path().join("run.html"), &page).unwrap();
    let dom = dom(folder.path(), &address(folder.path(), "run.html"));
    assert!(!dom.contains("<img") && dom.contains("&lt;img"), "{dom}");
}
