//! What is too large or too much.

use std::time::Duration;

use gateway::app::Limits;
use kernel::Visibility;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Client, Forge};
use crate::support::TestApp;

fn forge(limits: Limits) -> Forge {
    Forge::on(TestApp::with_limits(limits), Visibility::Private)
}

#[actix_web::test]
async fn a_pack_beyond_the_limit_is_refused() {
    let forge = forge(Limits { push: 100_000, ..Limits::default() });
    let client = Client::with_commit().await;
    client.commit_file("noise", &super::noise(150_000), "noise").await;

    let complaint = client.git(&["push", &forge.url(), "main"]).await.refused();

    assert!(complaint.contains("pack exceeds maximum allowed size"), "{complaint}");
    assert!(forge.events().is_empty());
    client.git(&["push", "-q", &forge.url(), "main^:refs/heads/main"]).await.ok();
}

#[actix_web::test]
async fn a_push_is_as_large_as_the_settings_allow() {
    let forge = forge(Limits::default());
    let client = Client::with_commit().await;
    client.commit_file("noise", &super::noise(1_500_000), "noise").await;
    let limit = serde_json::json!({ "receive_max_input_size": 1 });
    forge.app.admin().put("/application/settings", limit).await.ok();

    let complaint = client.git(&["push", &forge.url(), "main"]).await.refused();

    assert!(complaint.contains("pack exceeds maximum allowed size"), "{complaint}");
    let none = serde_json::json!({ "receive_max_input_size": null });
    forge.app.admin().put("/application/settings", none).await.ok();
    client.git(&["push", "-q", &forge.url(), "main"]).await.ok();
}

#[actix_web::test]
async fn a_repository_is_as_large_as_the_settings_allow() {
    let forge = forge(Limits::default());
    let client = Client::with_commit().await;
    client.git(&["push", "-q", &forge.url(), "main"]).await.ok();
    client.commit_file("noise", &super::noise(1_500_000), "noise").await;
    let limit = serde_json::json!({ "repository_size_limit": 1 });
    forge.app.admin().put("/application/settings", limit).await.ok();

    let complaint = client.git(&["push", &forge.url(), "main"]).await.refused();

    assert!(complaint.contains("has exceeded its size limit of 1 MB by 1 MB"), "{complaint}");
    let none = serde_json::json!({ "repository_size_limit": 0 });
    forge.app.admin().put("/application/settings", none).await.ok();
    client.git(&["push", "-q", &forge.url(), "main"]).await.ok();
}

#[actix_web::test]
async fn a_small_pack_cannot_hide_a_huge_file() {
    let forge = forge(Limits { object: 1_000_000, ..Limits::default() });
    let client = Client::with_commit().await;
    client.commit_file("zeros", &vec![0; 2_000_000], "zeros").await;
    let id = client.run("rev-parse HEAD:zeros").await.ok();

    client.git(&["push", &forge.url(), "main"]).await.told(&format!(
        "GitLab: The object {id} is 2000000 bytes large; up to 1000000 bytes are allowed."
    ));

    assert!(forge.events().is_empty());
    assert_eq!(forge.default_branch(), None);
}

async fn git_ends(forge: &Forge) {
    let ended = async {
        while forge.app.state.git.running() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ended).await.expect("git ends");
}

#[actix_web::test]
async fn a_client_that_leaves_ends_the_processes_that_served_it() {
    let (forge, client) = Forge::with_commit(Visibility::Public).await;
    client.commit_file("noise", &super::noise(9_000_000), "noise").await;
    client.run("push -q origin main").await.ok();
    let tip = client.run("rev-parse main").await.ok();
    let wish = format!("0032want {tip}\n00000009done\n");
    let head = format!(
        "POST /alice/work.git/git-upload-pack HTTP/1.1\r\nHost: forge\r\nContent-Length: {}\r\n\
         Content-Type: application/x-git-upload-pack-request\r\n\r\n{wish}",
        wish.len()
    );
    // The process of the push may still be about to end.
    git_ends(&forge).await;
    // The client may have asked for more before it leaves.
    for ahead in ["", "GET /-/health HTTP/1.1\r\nHost: forge\r\n\r\n"] {
        let mut stream = TcpStream::connect(&forge.server.address).await.unwrap();
        stream.write_all(format!("{head}{ahead}").as_bytes()).await.unwrap();
        let mut beginning = [0; 4096];
        stream.read_exact(&mut beginning).await.unwrap();
        assert!(beginning.starts_with(b"HTTP/1.1 200 OK"));
        // What the push has left to be tidied up may be at work, too.
        assert!(forge.app.state.git.running() > 0);

        drop(stream);

        git_ends(&forge).await;
    }
}
