//! What issues tell of others that a reader may not read.

use db::{Conn, each_backend, error, schema::notes};
use diesel::{connection::SimpleConnection as _, prelude::*};
use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// `ada`'s projects, each with an issue.
struct Forge<'a> {
    app: &'a TestApp,
    ada: Person<'a>,
    open: ProjectId,
    hush: ProjectId,
}

fn forge(app: &TestApp) -> Forge<'_> {
    let ada = app.person("ada");
    let (open, hush) = (app.project(&ada, "open", Public), app.project(&ada, "hush", Private));
    app.issue(open, &ada);
    app.issue(hush, &ada);
    Forge { app, ada, open, hush }
}

impl Forge<'_> {
    fn at(&self, rest: &str) -> String {
        format!("/projects/{}/issues/1{rest}", self.open)
    }

    async fn relate(&self, kind: &str) -> Value {
        let target =
            json!({ "target_project_id": self.hush.0, "target_issue_iid": 1, "link_type": kind });
        self.ada.post(&self.at("/links"), target).await.created()["id"].clone()
    }

    async fn does(&self, action: &str) {
        let body = json!({ "body": action });
        self.ada.post(&self.at("/notes"), body).await.with(202);
    }

    async fn told(&self, reader: &Person<'_>) -> Vec<Value> {
        reader.get(&self.at("/notes?sort=asc")).await.each("body")
    }

    /// Outsiders are told as much as `public`, `ada` something more.
    async fn assert_hidden(&self, public: &[&str]) {
        for reader in [self.app.person("eve"), self.app.member(self.open, "gus", Guest)] {
            assert_eq!(self.told(&reader).await, public);
            let threads = reader.get(&self.at("/discussions")).await.ok();
            assert_eq!(threads.as_array().map_or(0, Vec::len), public.len());
        }
        assert!(self.told(&self.ada).await.len() > public.len());
    }
}

#[actix_web::test]
async fn links_to_what_is_hidden_are_told_to_those_who_may_read_it() {
    let app = TestApp::new();
    let forge = forge(&app);
    for kind in ["relates_to", "blocks", "is_blocked_by"] {
        let link = forge.relate(kind).await;
        forge.ada.delete(&forge.at(&format!("/links/{link}"))).await.ok();
    }

    forge.assert_hidden(&[]).await;
    let notes = forge.ada.get(&forge.at("/notes")).await.each("id");
    for id in &notes {
        let one = forge.at(&format!("/notes/{id}"));
        assert_eq!(app.person("eve").get(&one).await.status, 404);
        assert_eq!(forge.ada.get(&one).await.status, 200);
    }
    assert_eq!(notes.len(), 6);
}

#[actix_web::test]
async fn a_link_to_a_confidential_issue_is_hidden_like_the_issue() {
    let app = TestApp::new();
    let forge = forge(&app);
    let hidden = app.confidential_issue(forge.open, &forge.ada);
    let target = json!({ "target_project_id": forge.open.0, "target_issue_iid": hidden });
    forge.ada.post(&forge.at("/links"), target).await.created();

    forge.assert_hidden(&[]).await;
    let rita = app.member(forge.open, "rita", Reporter);
    assert_eq!(forge.told(&rita).await, ["marked this issue as related to #2"]);
}

#[actix_web::test]
async fn copies_and_moves_to_what_is_hidden_are_not_told() {
    let app = TestApp::new();
    let forge = forge(&app);
    let to = json!({ "to_project_id": forge.hush.0 });
    forge.ada.post(&forge.at("/clone"), to.clone()).await.created();
    forge.ada.post(&forge.at("/move"), to).await.created();

    forge.assert_hidden(&["closed"]).await;
    let moved = format!("/projects/{}/issues/1/move", forge.hush);
    let back = json!({ "to_project_id": forge.open.0 });
    let back = forge.ada.post(&moved, back).await.created()["iid"].clone();
    let notes = format!("/projects/{}/issues/{back}/notes", forge.open);
    assert_eq!(app.person("eve").get(&notes).await.each("body"), Vec::<Value>::new());
    assert_eq!(forge.ada.get(&notes).await.each("body"), ["moved from ada/hush#1"]);
}

#[actix_web::test]
async fn what_repeats_something_hidden_does_not_tell_what() {
    let app = TestApp::new();
    let forge = forge(&app);
    forge.does("/duplicate ada/hush#1").await;

    forge.assert_hidden(&["closed"]).await;
    let told = "closed_as_duplicate_of";
    for reader in [app.person("eve"), app.anonymous()] {
        assert_eq!(reader.get(&forge.at("")).await.ok()["_links"][told], json!(null));
    }
    let original = format!("http://forge.test/api/v4/projects/{}/issues/1", forge.hush);
    assert_eq!(forge.ada.get(&forge.at("")).await.ok()["_links"][told], json!(original));
}

#[actix_web::test]
async fn a_link_does_not_keep_a_mention_from_being_told() {
    let app = TestApp::new();
    let forge = forge(&app);
    forge.relate("relates_to").await;
    let hush = format!("/projects/{}/issues/1", forge.hush);

    forge.ada.put(&hush, json!({ "description": "see ada/open#1" })).await.ok();

    let told = forge.told(&forge.ada).await;
    assert!(told.contains(&json!("mentioned in issue ada/hush#1")), "{told:?}");
}

#[actix_web::test]
async fn sentences_from_before_are_hidden_too() {
    let app = TestApp::new();
    let forge = forge(&app);
    forge.relate("relates_to").await;
    forge.ada.post(&forge.at("/clone"), json!({ "to_project_id": forge.hush.0 })).await.created();
    forge.does("/duplicate ada/hush#1").await;
    app.write(|tx| {
        let none = (notes::source_kind.eq(None::<&str>), notes::source_id.eq(None::<i64>));
        let all = diesel::update(notes::table).set(none);
        each_backend!(tx, |conn| all.execute(conn).map_err(error("Note")))
    });
    assert_eq!(forge.told(&app.person("eve")).await, forge.told(&forge.ada).await);

    let sqlite = include_str!(
        "../../../../../migrations/sqlite/20261123091000_notes_that_name_issues/up.sql"
    );
    let postgres = include_str!(
        "../../../../../migrations/postgres/20261123091000_notes_that_name_issues/up.sql"
    );
    app.write(|tx| match &mut tx.conn {
        Conn::Sqlite(conn) => conn.batch_execute(sqlite).map_err(error("Note")),
        Conn::Postgres(conn) => conn.batch_execute(postgres).map_err(error("Note")),
    });

    forge.assert_hidden(&["closed"]).await;
}

#[actix_web::test]
async fn what_was_said_internally_is_not_read_among_to_dos_either() {
    let app = TestApp::new();
    let forge = forge(&app);
    let rita = app.member(forge.open, "rita", Reporter);
    let said = json!({ "body": "@rita between us", "internal": true });
    forge.ada.post(&forge.at("/notes"), said).await.created();
    let asked = rita.get("/todos").await.ok();
    assert_eq!(asked[0]["body"], "@rita between us");

    let member = format!("/projects/{}/members/{}", forge.open, app.user("rita").id);
    forge.ada.put(&member, json!({ "access_level": 10 })).await.ok();

    assert_eq!(rita.get("/todos").await.ok(), json!([]));
    let done = format!("/todos/{}/mark_as_done", asked[0]["id"]);
    rita.post(&done, json!({})).await.with(404);
}
