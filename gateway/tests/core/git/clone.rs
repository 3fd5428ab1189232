//! Clones and fetches of every kind.

use kernel::Visibility;

use super::{Client, Forge};

async fn with_history() -> (Forge, Client, String) {
    let (forge, client) = Forge::with_commit(Visibility::Public).await;
    client.commit("second").await;
    let tip = client.commit_file("other", b"three", "third").await;
    client.run("tag v1").await.ok();
    client.run("push -q origin main v1").await.ok();
    (forge, client, tip)
}

async fn clone(forge: &Forge, options: &str) -> Client {
    let copy = Client::new();
    let address = forge.url_with("");
    let mut words = vec!["clone", "-q"];
    words.extend(options.split(' ').filter(|word| !word.is_empty()));
    words.extend([address.as_str(), "."]);
    copy.git(&words).await.ok();
    copy
}

#[actix_web::test]
async fn a_public_project_is_cloned_by_anybody() {
    let (forge, _, tip) = with_history().await;

    let copy = clone(&forge, "").await;

    assert_eq!(copy.run("rev-parse HEAD v1").await.ok(), format!("{tip}\n{tip}"));
    assert_eq!(copy.run("symbolic-ref HEAD").await.ok(), "refs/heads/main");
    copy.run("fsck --strict").await.ok();
}

#[actix_web::test]
async fn every_version_of_the_protocol_is_spoken() {
    let (forge, _, tip) = with_history().await;
    for version in ["0", "1", "2"] {
        let copy = Client::new();
        let setting = format!("protocol.version={version}");
        copy.git(&["-c", &setting, "clone", "-q", &forge.url_with(""), "."]).await.ok();
        assert_eq!(copy.run("rev-parse HEAD").await.ok(), tip, "version {version}");
    }
}

#[actix_web::test]
async fn a_shallow_clone_is_deepened() {
    let (forge, _, _) = with_history().await;

    let copy = clone(&forge, "--depth=1").await;

    assert_eq!(copy.run("rev-list --count HEAD").await.ok(), "1");
    copy.run("fetch -q --deepen=1").await.ok();
    assert_eq!(copy.run("rev-list --count HEAD").await.ok(), "2");
    copy.run("fetch -q --unshallow").await.ok();
    assert_eq!(copy.run("rev-list --count HEAD").await.ok(), "3");
}

#[actix_web::test]
async fn a_partial_clone_fetches_contents_when_it_needs_them() {
    let (forge, _, _) = with_history().await;
    for version in ["0", "2"] {
        let copy = Client::new();
        let setting = format!("protocol.version={version}");
        let words = ["-c", &setting, "clone", "-q", "--no-checkout", "--filter=blob:none"];
        copy.git(&[&words[..], &[&forge.url_with(""), "."]].concat()).await.ok();

        let missing = copy.run("rev-list --objects --missing=print HEAD").await.ok();

        assert!(missing.lines().any(|line| line.starts_with('?')), "{missing}");
        assert_eq!(copy.git(&["-c", &setting, "show", "HEAD:other"]).await.ok(), "three");
    }
}

#[actix_web::test]
async fn a_fetch_brings_what_is_new_and_notices_what_is_gone() {
    let (forge, client, _) = with_history().await;
    client.run("push -q origin main:topic").await.ok();
    let copy = clone(&forge, "").await;
    let tip = client.commit("fourth").await;
    client.run("push -q origin main :topic").await.ok();

    copy.run("fetch -q --prune").await.ok();

    assert_eq!(
        copy.run("for-each-ref --format=%(objectname) refs/remotes/origin/main").await.ok(),
        tip
    );
    assert_eq!(copy.run("branch -r --list origin/topic").await.ok(), "");
}

#[actix_web::test]
async fn packed_requests_are_unpacked() {
    let (forge, client, _) = with_history().await;
    // Enough that git packs the list of what it wants.
    for number in 0..40 {
        client.commit(&format!("change {number}")).await;
        client.run(&format!("branch b{number}")).await.ok();
    }
    client.run("push -q --atomic --all origin").await.ok();
    let (copy, traced) = (Client::new(), [("GIT_TRACE_CURL", "1")]);

    let said = copy.git_with(&["clone", &forge.url_with(""), "."], &traced).await;

    assert!(said.complaint().to_lowercase().contains("content-encoding: gzip"));
    assert!(said.went_well());
    assert_eq!(copy.run("rev-list --count origin/b39").await.ok(), "43");
}

#[actix_web::test]
async fn an_empty_repository_is_cloned() {
    let forge = Forge::of(Visibility::Public);

    let copy = clone(&forge, "").await;

    assert_eq!(copy.run("symbolic-ref HEAD").await.ok(), "refs/heads/main");
}

#[actix_web::test]
async fn keep_around_refs_stay_hidden() {
    let (forge, _, tip) = with_history().await;
    forge.stored(&format!("update-ref refs/keep-around/{tip} {tip}")).await;

    let listed = Client::new().git(&["ls-remote", &forge.url_with("")]).await.ok();

    assert!(!listed.contains("keep-around"), "{listed}");
    assert!(listed.contains("refs/heads/main"));
}

#[actix_web::test]
async fn a_pack_of_many_chunks_arrives_whole() {
    let (forge, client) = Forge::with_commit(Visibility::Public).await;
    let noise = super::noise(9_000_000);
    client.commit_file("noise", &noise, "noise").await;
    client.run("-c http.postBuffer=65536 push -q origin main").await.ok();

    let copy = clone(&forge, "").await;

    assert_eq!(std::fs::read(copy.path().join("noise")).unwrap(), noise);
}
