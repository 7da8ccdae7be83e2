//! The page of the gate in a real browser: Chromium, through a relay that shows the operator's certificate.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;

use hyper::{Method, StatusCode};
use locus_attestation::net::Role;
use locus_attestation::net::tls::Credentials;
use rustls::pki_types::ServerName;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use crate::world::{World, content};

/// What a browser that has the certificate would do: everything that comes is passed on over TLS as it is.
async fn relay(world: &World) -> SocketAddr {
    drop(world.operator());
    let folder = world.folder.path().join("client-operator-root");
    let tls = Credentials::read(&folder, "operator")
        .unwrap()
        .client()
        .unwrap();
    let connector = tokio_rustls::TlsConnector::from(tls);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let gate = Arc::new(world.gate_address.clone());
    tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            let (connector, gate) = (connector.clone(), gate.clone());
            tokio::spawn(async move {
                let to = TcpStream::connect(gate.as_str()).await.unwrap();
                let name = ServerName::try_from("gate").unwrap();
                let mut to = connector.connect(name, to).await.unwrap();
                let _ = copy_bidirectional(&mut from, &mut to).await;
            });
        }
    });
    address
}

/// The page as Chromium sees it, without a word in its console.
async fn dom(world: &World, address: SocketAddr, path: &str) -> String {
    let profile = world.folder.path().join("profile");
    let address = format!("http://{address}{path}");
    let browse = move || {
        Command::new("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
            ])
            .args([
                "--disable-dev-shm-usage",
                "--window-size=1400,900",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(address)
            .output()
            .expect("chromium is installed: apt-get install chromium")
    };
    let output = tokio::task::spawn_blocking(browse).await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // A browser asks every site for an icon, and says that this one has none.
    let console = said
        .lines()
        .filter(|line| line.contains(":CONSOLE") && !line.contains("favicon"));
    assert_eq!(console.count(), 0, "{said}");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("</html>"), "{said}");
    dom
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_page_shows_trust_and_what_happened() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let address = relay(&world).await;
    let first = dom(&world, address, "/page").await;
    assert!(first.contains("<b>default/redis</b>"), "{first}");
    assert!(
        first.matches("class=\"what trusted\"").count() >= 2,
        "{first}"
    );
    assert!(first.contains("<b>1</b> trusted"), "{first}");
    // A file whose name is markup: it is shown, and is none.
    let name = "/tmp/<img src=x onerror=document.title=1><script>document.title='taken'</script>";
    worker.run(&pod, content("miner"), name);
    let (status, _) = world.attest(&pod).await;
    assert!(!status.is_success());
    let second = dom(&world, address, "/page").await;
    assert!(second.contains("class=\"what untrusted\""), "{second}");
    assert!(second.contains("&lt;script&gt;"), "{second}");
    assert!(
        !second.contains("<script") && !second.contains("<img"),
        "{second}"
    );
    assert!(second.contains("<title>Locus: trust</title>"), "{second}");
    let pods = second.split("id=\"pods\"").nth(1).unwrap();
    assert!(pods.contains("untrusted"), "{pods}");
    assert!(second.contains("id=\"changes\""), "{second}");
    // Nothing is loaded from anywhere.
    for word in ["http://", "https://", "src=\"", "href=", "@import", "url("] {
        let own = second.replace("src=x", "");
        assert!(!own.contains(word), "{word}: {second}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_for_operators_and_forbids_everything_else() {
    let world = World::new().await;
    for role in [Role::Tenant, Role::Agent, Role::Observer] {
        let client = world.client_to(role, "somebody", &world.gate_address, "gate");
        let (status, _) = client
            .exchange(Method::GET, "/page", &[], Vec::new())
            .await
            .unwrap();
        assert_eq!(status, StatusCode::FORBIDDEN, "{role:?}");
    }
    let address = relay(&world).await;
    let answer = tokio::task::spawn_blocking(move || {
        Command::new("curl")
            .args(["-sS", "-D", "-", "-o", "/dev/null"])
            .arg(format!("http://{address}/page"))
            .output()
            .unwrap()
    });
    let head = String::from_utf8(answer.await.unwrap().stdout)
        .unwrap()
        .to_lowercase();
    for line in [
        "200 ok",
        "content-security-policy: default-src 'none'; style-src 'sha256-",
        "frame-ancestors 'none'",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    assert!(!head.contains("unsafe"), "{head}");
}
