//! Addresses beside the primary one.

use org::token::Scope;
use org::user::actions::NewUser;
use serde_json::json;

use crate::support::{MailSink, TestApp};

const TAKEN: &str = "has already been taken";

#[actix_web::test]
async fn an_address_is_confirmed_by_the_link_in_its_letter() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let ada = app.person("ada");

    let added = ada.post("/user/emails", json!({ "email": "Ada@Work.example" })).await.created();
    app.work().await;
    let letters = sink.take();
    let link = link_in(&letters[0].data);
    let page = app.anonymous().get(&link).await;

    assert_eq!(
        (&added["email"], &added["confirmed_at"]),
        (&json!("Ada@Work.example"), &json!(null))
    );
    assert_eq!(letters[0].to, ["Ada@Work.example"]);
    assert_eq!(page.status, 200);
    let shown = ada.get(&format!("/user/emails/{}", added["id"])).await.ok();
    assert!(shown["confirmed_at"].is_string());
    assert_eq!(app.anonymous().get(&link).await.status, 422, "a link works once");
}

#[actix_web::test]
async fn a_link_works_for_three_days() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    app.person("ada").post("/user/emails", json!({ "email": "a@work.example" })).await.created();
    app.work().await;
    let link = link_in(&sink.take()[0].data);

    app.clock.advance(time::Duration::days(3));

    assert_eq!(app.anonymous().get(&link).await.status, 422);
    let unknown = "//-/profile/emails/confirmation?confirmation_token=x";
    assert_eq!(app.anonymous().get(unknown).await.status, 422);
    assert_eq!(app.person("ada").get("/user/emails").await.ok()[0]["confirmed_at"], json!(null));
}

fn link_in(letter: &str) -> String {
    let text = letter.replace("=\n", "").replace("=3D", "=");
    let start = text.find("http://forge.test/").expect("a link") + "http://forge.test".len();
    let link = text[start..].split_whitespace().next().expect("a link");
    format!("/{link}")
}

#[actix_web::test]
async fn no_two_accounts_share_an_address() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    ada.post("/user/emails", json!({ "email": "ada@work.example" })).await.created();
    let rows = app.row_counts();

    for (address, why) in [
        ("ADA@work.example", TAKEN),
        ("Ada@Example.com", TAKEN),
        ("bob@example.com", TAKEN),
        ("nonsense", "is invalid"),
        ("", "can't be blank"),
    ] {
        let told = json!({ "message": { "email": [why] } });
        bob.post("/user/emails", json!({ "email": address })).await.refused(400, told);
    }

    let missing = json!({ "error": "email is missing" });
    bob.post("/user/emails", json!({})).await.refused(400, missing);
    assert_eq!(app.row_counts(), rows);
    assert!(bob.get("/user/emails").await.each("email").is_empty());
}

#[actix_web::test]
async fn an_administrator_may_vouch_for_an_address() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let path = format!("/users/{}/emails", app.user("ada").id);

    let first = json!({ "email": "one@work.example", "skip_confirmation": true });
    let first = root.post(&path, first).await.created();
    let second = root.post(&path, json!({ "email": "two@work.example" })).await.created();

    assert!(first["confirmed_at"].is_string());
    assert_eq!(second["confirmed_at"], json!(null));
    assert_eq!(root.get(&path).await.each("email"), ["one@work.example", "two@work.example"]);
    let page = root.get(&format!("{path}?per_page=1&page=2")).await;
    assert_eq!((page.header("x-total"), &page.body[0]["id"]), (Some("2"), &second["id"]));
    ada.get(&path).await.refused(403, json!({ "message": "403 Forbidden" }));
    let nobody = json!({ "message": "404 User Not Found" });
    root.get("/users/999/emails").await.refused(404, nobody.clone());
    root.post("/users/999/emails", json!({ "email": "a@b.c" })).await.refused(404, nobody);
}

#[actix_web::test]
async fn an_address_goes_unless_it_changed() {
    let app = TestApp::new();
    let (root, ada, bob) = (app.admin(), app.person("ada"), app.person("bob"));
    let added = ada.post("/user/emails", json!({ "email": "a@work.example" })).await.created();
    let path = format!("/user/emails/{}", added["id"]);
    let absent = json!({ "message": "404 Email Not Found" });

    bob.get(&path).await.refused(404, absent.clone());
    bob.delete(&path).await.refused(404, absent.clone());
    let early = ada.sending("If-Unmodified-Since", "2001-01-01T00:00:00Z");
    early.delete(&path).await.refused(412, json!({ "message": "412 Precondition Failed" }));
    assert_eq!(ada.delete(&path).await.status, 204);

    ada.get(&path).await.refused(404, absent.clone());
    let path = format!("/users/{}/emails/{}", app.user("ada").id, added["id"]);
    root.delete(&path).await.refused(404, absent);
}

#[actix_web::test]
async fn an_address_that_goes_is_no_longer_shown() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let path = format!("/users/{}", app.user("ada").id);
    let mail = json!({ "email": "a@work.example", "skip_confirmation": true });
    let added = root.post(&format!("{path}/emails"), mail).await.created();
    app.show_publicly("ada", "a@work.example");

    assert_eq!(root.delete(&format!("{path}/emails/{}", added["id"])).await.status, 204);

    assert_eq!(root.get(&path).await.ok()["public_email"], json!(null));
}

#[actix_web::test]
async fn reading_them_needs_the_scope_for_people() {
    let app = TestApp::new();
    let reader = app.someone(&NewUser::named("ada"), &[Scope::ReadUser]);

    reader.get("/user/emails").await.ok();

    assert_eq!(reader.post("/user/emails", json!({ "email": "a@b.c" })).await.status, 403);
    app.anonymous()
        .get("/user/emails")
        .await
        .refused(401, json!({ "message": "401 Unauthorized" }));
}

#[actix_web::test]
async fn a_new_account_cannot_take_it() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    ada.post("/user/emails", json!({ "email": "a@work.example" })).await.created();

    let wanted = json!({ "email": "A@Work.example", "name": "Bob", "username": "bob", "password": "difference engine" });
    let told = json!({ "message": "Email has already been taken" });
    root.post("/users", wanted).await.refused(409, told);
}
