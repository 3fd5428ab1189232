//! What every change of a wiki leaves behind.

use actix_web::http::Method;
use kernel::Visibility::Private;
use repo::{
    commit::read::deadline,
    git::{LogQuery, Order, Reader, Wiki},
};
use serde_json::{Value, json};

use super::wikis::{page, project, slugs};
use crate::support::{TestApp, uploads::send_file};

#[actix_web::test]
async fn every_change_is_a_commit_of_its_author() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let wiki = format!("/projects/{id}/wikis");
    page(&ada, &wiki, "docs/My page").await;
    ada.put(&format!("{wiki}/docs%2FMy-page"), json!({ "content": "x" })).await.ok();
    send_file(&ada, Method::POST, &format!("{wiki}/attachments"), "file", "a b.txt", "x")
        .await
        .created();
    ada.delete(&format!("{wiki}/docs%2FMy-page")).await;

    let reader =
        Reader::open_uncached(&app.state.storage.wiki(Wiki::Project(id))).expect("a repository");
    let tip = reader.resolve("HEAD").expect("a version");
    let log = reader.log(&LogQuery { order: Order::Topo, ..LogQuery::of(tip) }, deadline());
    let log = log.expect("versions");
    let titles: Vec<&str> = log.iter().map(|commit| commit.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "ada deleted page: My page",
            "Upload attachment a_b.txt",
            "ada updated page: docs/My page",
            "ada created page: docs/My page",
        ]
    );
    let user = app.user("ada");
    assert!(log.iter().all(|commit| commit.author.name == user.name));
    let kinds: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "wiki.changed").count(), 4);
}

#[actix_web::test]
async fn writers_at_once_follow_one_another() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let bodies: Vec<Value> =
        (0..6).map(|n| json!({ "title": format!("p{n}"), "content": "x" })).collect();
    let made = futures_util::future::join_all(bodies.into_iter().map(|body| ada.post(&wiki, body)));
    assert!(made.await.iter().all(|answer| answer.status == 201));
    assert_eq!(slugs(&ada, &wiki).await, ["p0", "p1", "p2", "p3", "p4", "p5"]);
}

#[actix_web::test]
async fn a_write_is_weighed_before_it_is_answered() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let size = async || {
        let shown = ada.get(&format!("/projects/{project}?statistics=true")).await.ok();
        shown["statistics"]["wiki_size"].as_i64().expect("a size")
    };
    assert_eq!(size().await, 0);

    page(&ada, &format!("/projects/{project}/wikis"), "home").await;

    assert!(size().await > 0);
}

#[actix_web::test]
async fn a_decided_write_that_git_did_not_follow_is_finished_at_the_start() {
    use repo::{
        git::{RefName, refs},
        wiki::journal,
    };
    let app = TestApp::new();
    let (ada, path) = project(&app);
    page(&ada, &path, "one").await;
    page(&ada, &path, "two").await;
    let wiki = Wiki::Project(app.project_id("ada/engine"));
    let state = &app.state;
    let repository = state.storage.wiki(wiki);
    let main = RefName::branch("main").expect("a name");
    let second = refs::read(&repository, [&main]).await.expect("refs")[&main];
    let parent =
        state.git.at(&repository, "rev-parse").args(["main^"]).succeed().await.expect("git");
    let parent = String::from_utf8(parent).expect("text");
    let first = parent.trim().parse().expect("an id");
    let step = |old, new| refs::RefMove {
        name: main.clone(),
        old: refs::ExpectedValue::Exactly(old),
        new: Some(new),
    };
    refs::move_now(&repository, &[step(second, first)]).await.expect("refs move");
    let decided = step(first, second);
    app.write(move |tx| journal::WikiJournal::save_wiki_moves(tx, wiki, &[decided]));
    assert_eq!(slugs(&ada, &path).await, ["one"]);
    let open = || journal::unsettled(&state.db, &state.storage);
    assert_eq!(open().await.expect("rows").len(), 1);

    // What the crash left: a lock, and somebody who still reads.
    std::fs::write(repository.as_path().join("refs/heads/main.lock"), "").expect("a lock");
    let mut reader = std::process::Command::new("git")
        .args(["cat-file", "--batch"])
        .current_dir(repository.as_path())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("git runs");
    let recover = || journal::recover(&state.db, &state.storage, &state.repositories);
    assert_eq!(recover().await.expect("a start"), 1);
    drop(reader.stdin.take());
    reader.wait().expect("git ends");

    assert_eq!(slugs(&ada, &path).await, ["one", "two"]);
    assert!(open().await.expect("rows").is_empty());
    assert_eq!(recover().await.expect("a start"), 0);
}

#[actix_web::test]
async fn a_write_is_settled_once_git_has_followed() {
    let app = TestApp::new();
    let (ada, path) = project(&app);
    page(&ada, &path, "one").await;

    let (rows, open) = app.write(|tx| {
        use repo::wiki::journal::WikiJournal;
        Ok((tx.all_wiki_refs()?.len(), tx.open_wiki_moves()?.len()))
    });

    assert_eq!((rows, open), (1, 0));
}
