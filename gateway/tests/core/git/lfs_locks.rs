//! Locks of large files, by the protocol and by the program that speaks it.

use std::process::Command;

use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility::Private,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Client, Forge};
use crate::support::Person;

const LOCKS: &str = "//alice/work.git/info/lfs/locks";

async fn lock(person: &Person<'_>, path: &str) -> Value {
    person.post(LOCKS, json!({ "path": path })).await.created()["lock"].clone()
}

#[actix_web::test]
async fn a_file_is_locked_once_and_by_whom_is_told() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let bob = forge.app.member(forge.project, "bob", Developer);

    let made = lock(&alice, "art/tree.psd").await;

    assert_eq!((&made["path"], &made["owner"]["name"]), (&json!("art/tree.psd"), &json!("alice")));
    assert!(made["id"].is_string() && made["locked_at"].is_string(), "{made}");
    let again = bob.post(LOCKS, json!({ "path": "art/tree.psd" })).await;
    assert_eq!((again.status, &again.body["lock"]["id"]), (409, &made["id"]));
    lock(&bob, "b.psd").await;
    let listed = bob.get(LOCKS).await;
    assert_eq!(listed.header("Content-Type"), Some("application/vnd.git-lfs+json"));
    let paths = |answer: &Value| -> Vec<Value> {
        let all = answer["locks"].as_array().expect("locks").iter();
        all.map(|lock| lock["path"].clone()).collect()
    };
    assert_eq!(paths(&listed.ok()), ["art/tree.psd", "b.psd"]);
    assert_eq!(paths(&bob.get(&format!("{LOCKS}?path=b.psd")).await.ok()), ["b.psd"]);
    assert!(paths(&bob.get(&format!("{LOCKS}?id=999")).await.ok()).is_empty());
    let first = bob.get(&format!("{LOCKS}?limit=1")).await.ok();
    assert_eq!(paths(&first), ["art/tree.psd"]);
    let next = first["next_cursor"].as_str().expect("a cursor").to_owned();
    let second = bob.get(&format!("{LOCKS}?limit=1&cursor={next}")).await.ok();
    assert_eq!((paths(&second), &second["next_cursor"]), (vec![json!("b.psd")], &json!(null)));
    let held = bob.post(&format!("{LOCKS}/verify"), json!({})).await.ok();
    assert_eq!(held["ours"][0]["path"], "b.psd");
    assert_eq!(held["theirs"][0]["path"], "art/tree.psd");
}

#[actix_web::test]
async fn a_lock_is_its_owner_s_and_maintainers_may_force_it() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    let bob = forge.app.member(forge.project, "bob", Developer);
    let max = forge.app.member(forge.project, "max", Maintainer);
    let made = lock(&alice, "a.psd").await;
    let one = format!("{LOCKS}/{}/unlock", made["id"].as_str().expect("an id"));

    bob.post(&one, json!({})).await.with(403);
    bob.post(&one, json!({ "force": true })).await.with(403);
    max.post(&one, json!({})).await.with(403);
    let freed = max.post(&one, json!({ "force": true })).await.ok();
    assert_eq!(freed["lock"]["path"], "a.psd");
    alice.post(&one, json!({})).await.with(404);
    lock(&bob, "a.psd").await;
}

#[actix_web::test]
async fn who_may_not_push_locks_nothing() {
    let forge = Forge::of(Private);
    let reader = forge.app.member(forge.project, "rea", Reporter);

    reader.post(LOCKS, json!({ "path": "a.psd" })).await.with(403);
    reader.post(&format!("{LOCKS}/verify"), json!({})).await.with(403);
    assert_eq!(reader.get(LOCKS).await.ok(), json!({ "locks": [] }));
    assert_eq!(forge.app.anonymous().get(LOCKS).await.status, 401);
    assert_eq!(forge.app.person("eve").get(LOCKS).await.status, 404);
    let alice = forge.app.person("alice");
    alice.post(LOCKS, json!({ "path": "" })).await.with(422);
    alice.post(LOCKS, json!({})).await.with(422);
}

#[actix_web::test]
async fn a_path_is_as_long_as_indexes_have_room_for() {
    let forge = Forge::new();
    let alice = forge.app.person("alice");
    // Databases pack what repeats itself.
    let letters: String = (0..42_u8).map(|one| hex::encode(Sha256::digest([one]))).collect();

    assert_eq!(lock(&alice, &letters[..2_684]).await["path"], letters[..2_684]);
    for path in [&letters[..2_685], "a\0b"] {
        alice.post(LOCKS, json!({ "path": path })).await.with(422);
    }
}

fn git_lfs_is_installed() -> bool {
    let version = Command::new("git").args(["lfs", "version"]).output();
    version.is_ok_and(|version| version.status.success())
}

#[actix_web::test]
async fn the_program_locks_lists_and_unlocks() {
    // A machine with git alone runs all other tests.
    if !git_lfs_is_installed() {
        return;
    }
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    client.git(&["remote", "add", "origin", &forge.url()]).await.ok();
    client.commit_file("tree.psd", b"a tree", "Paint").await;
    client.run("push -q origin main").await.ok();

    let said = client.run("lfs lock tree.psd").await.ok();
    assert!(said.contains("Locked tree.psd"), "{said}");
    let said = client.run("lfs locks").await.ok();
    assert!(said.contains("tree.psd") && said.contains("alice"), "{said}");
    client.run("lfs locks --verify").await.ok();
    let said = client.run("lfs unlock tree.psd").await.ok();
    assert!(said.contains("Unlocked tree.psd"), "{said}");
    assert_eq!(client.run("lfs locks").await.ok().trim(), "");
}
