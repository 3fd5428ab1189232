//! Invitations to projects and groups.

use gateway::app::Limits;
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
};
use serde_json::json;

use crate::support::{MailSink, TestApp};

#[actix_web::test]
async fn an_address_is_invited_and_becomes_a_member_with_its_account() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("g1", None).await;
    let path = format!("/groups/{group}/invitations");
    let wanted =
        json!({ "email": "Bob@example.com", "access_level": 30, "expires_at": "2026-05-01" });

    assert_eq!(ada.post(&path, wanted).await.created(), json!({ "status": "success" }));
    let found = ada.get(&format!("{path}?query=bob@EXAMPLE.com")).await.ok();
    assert_eq!(found[0]["invite_email"], "Bob@example.com");
    assert_eq!(
        (&found[0]["access_level"], &found[0]["expires_at"]),
        (&json!(30), &json!("2026-05-01"))
    );
    assert_eq!(found[0]["created_by_name"], "ada");
    assert!(ada.get(&format!("{path}?query=bob")).await.each("invite_email").is_empty());

    let bob = app.person("bob");
    let one = bob.get(&format!("/groups/{group}/members/{}", app.user("bob").id)).await.ok();
    assert_eq!((&one["access_level"], &one["expires_at"]), (&json!(30), &json!("2026-05-01")));
    assert!(ada.get(&path).await.each("invite_email").is_empty());
}

#[actix_web::test]
async fn who_is_known_is_a_member_at_once() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "tool", Visibility::Private);
    let (bob, cara) = (app.id_of("bob"), app.id_of("cara"));
    let path = format!("/projects/{project}/invitations");

    let wanted = json!({ "email": ["bob@example.com"], "user_id": cara, "access_level": 20 });
    assert_eq!(ada.post(&path, wanted).await.created(), json!({ "status": "success" }));
    let members = format!("/projects/{project}/members");
    assert_eq!(ada.get(&members).await.each("username"), ["ada", "bob", "cara"]);
    let higher = json!({ "user_id": format!("{bob},{cara}"), "access_level": 30 });
    assert_eq!(ada.post(&path, higher).await.created(), json!({ "status": "success" }));
    assert_eq!(ada.get(&members).await.each("access_level"), [50, 30, 30]);
}

#[actix_web::test]
async fn what_is_wrong_with_an_invitation_is_told() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "tool", Visibility::Private);
    let maintainer = app.member(project, "main", Maintainer);
    let path = format!("/projects/{project}/invitations");
    let none = "400 Bad request - Must provide either email or user_id as a parameter";
    for nobody in [json!({ "access_level": 30 }), json!({ "email": "", "access_level": 30 })] {
        ada.post(&path, nobody).await.refused(400, json!({ "message": none }));
    }
    let odd = json!({ "email": "a@b.test,nonsense", "access_level": 30 });
    let text = "email contains an invalid email address";
    ada.post(&path, odd).await.refused(400, json!({ "error": text }));
    let level = json!({ "error": "access_level does not have a valid value" });
    ada.post(&path, json!({ "email": "a@b.test", "access_level": 7 })).await.refused(400, level);
    let owner = json!({ "email": "a@b.test", "access_level": 50 });
    assert_eq!(maintainer.post(&path, owner).await.status, 403);

    let past = json!({ "email": "a@b.test", "access_level": 30, "expires_at": "2020-01-01" });
    let each = json!({ "a@b.test": "Expires at cannot be a date in the past" });
    let told = ada.post(&path, past).await.created();
    assert_eq!(told, json!({ "status": "error", "message": each }));
    let many: Vec<String> = (0..101).map(|number| format!("a{number}@b.test")).collect();
    let told = ada.post(&path, json!({ "email": many, "access_level": 30 })).await.created();
    let text = "Too many users specified (limit is 100)";
    assert_eq!(told, json!({ "status": "error", "message": text }));
    let told = ada.post(&path, json!({ "user_id": 999, "access_level": 30 })).await.created();
    assert_eq!(told, json!({ "status": "error", "message": "Invites cannot be blank" }));
    assert!(ada.get(&path).await.each("invite_email").is_empty());
}

#[actix_web::test]
async fn an_invitation_is_changed_and_taken_back() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "tool", Visibility::Private);
    let developer = app.member(project, "dev", Developer);
    let path = format!("/projects/{project}/invitations");
    ada.post(&path, json!({ "email": "bob@b.test", "access_level": 30 })).await.created();
    let one = format!("{path}/BOB%40b.test");

    ada.put(&one, json!({})).await.refused(400, json!({ "message": "400 Bad request" }));
    let past = json!({ "message": { "expires_at": ["cannot be a date in the past"] } });
    ada.put(&one, json!({ "expires_at": "2020-01-01" })).await.refused(400, past);
    assert_eq!(ada.put(&one, json!({ "access_level": 20 })).await.ok()["access_level"], 20);
    assert_eq!(developer.get(&path).await.status, 403);
    assert_eq!(developer.delete(&one).await.status, 403);
    assert_eq!(ada.delete(&one).await.status, 204);
    ada.delete(&one).await.refused(404, json!({ "message": "404 Not Found" }));
    let gone = ada.put(&one, json!({ "access_level": 20 })).await;
    gone.refused(404, json!({ "message": "404 Not Found" }));
}

#[actix_web::test]
async fn an_invitation_that_has_ended_is_none() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("g1", None).await;
    let path = format!("/groups/{group}/invitations");
    let today = app.clock.now().date().to_string();
    let wanted = json!({ "email": "bob@b.test", "access_level": 30, "expires_at": today });
    ada.post(&path, wanted).await.created();
    app.work().await;
    let letters = || app.queued().iter().filter(|work| work.contains("\"invitation\"")).count();
    assert_eq!(letters(), 0);
    app.clock.advance(time::Duration::days(1));
    let gone = json!({ "message": "404 Not Found" });
    let one = format!("{path}/bob%40b.test");

    let list = ada.get(&path).await;
    assert_eq!((list.header("x-total"), list.body.as_array().map(Vec::len)), (Some("0"), Some(0)));
    ada.put(&one, json!({ "access_level": 20 })).await.refused(404, gone.clone());
    ada.delete(&one).await.refused(404, gone);

    ada.post(&path, json!({ "email": "bob@b.test", "access_level": 20 })).await.created();
    assert_eq!(ada.get(&path).await.each("access_level"), [20]);
    assert_eq!(letters(), 1, "the new one has a letter of its own");
}

#[actix_web::test]
async fn a_wrong_address_is_told_before_anything_else() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let group = ada.group_with("secret", json!({ "visibility": "private" })).await;
    let odd = json!({ "email": "nonsense", "access_level": 30 });
    let told = json!({ "error": "email contains an invalid email address" });

    for place in [format!("/groups/{group}"), "/groups/999".to_owned()] {
        eve.post(&format!("{place}/invitations"), odd.clone()).await.refused(400, told.clone());
    }
}

#[actix_web::test]
async fn the_link_in_the_letter_lets_its_holder_in_once() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let group = ada.group("g1", None).await;
    let wanted = json!({ "email": "someone@else.test", "access_level": 30 });
    ada.post(&format!("/groups/{group}/invitations"), wanted).await.created();
    app.work().await;
    let letters = sink.take();
    let letter =
        letters.iter().find(|letter| letter.to == ["someone@else.test"]).expect("a letter");
    // Long lines are broken by "=" at their end, and "=" itself is written as "=3D".
    let text = letter.data.replace("=\n", "");
    let at = text.find("/-/invites/").expect("a link");
    let secret: String =
        text[at + 11..].chars().take_while(|letter| !letter.is_whitespace()).collect();
    let link = format!("//-/invites/{secret}");

    assert_eq!(app.anonymous().get(&link).await.status, 200);
    assert_eq!(app.anonymous().get("//-/invites/wrong").await.status, 404);
    assert_eq!(app.anonymous().post(&link, json!({})).await.status, 401);
    assert_eq!(eve.get(&format!("/groups/{group}")).await.status, 404);
    assert_eq!(eve.post(&link, json!({})).await.status, 201);
    assert_eq!(eve.get(&format!("/groups/{group}")).await.status, 200);
    assert_eq!(app.person("mal").post(&link, json!({})).await.status, 404, "it is used up");
}

#[actix_web::test]
async fn an_address_that_is_not_confirmed_brings_nobody_in() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let (ada, root) = (app.person("ada"), app.admin());
    let group = ada.group("g1", None).await;
    let members = format!("/groups/{group}/members");
    let wanted = json!({ "email": "bob@b.test", "access_level": 30 });
    ada.post(&format!("/groups/{group}/invitations"), wanted).await.created();
    sink.take();

    let account = json!({ "email": "bob@b.test", "name": "Bob", "username": "bob", "force_random_password": true });
    root.post("/users", account).await.created();
    assert_eq!(ada.get(&members).await.each("username"), ["ada"]);

    app.work().await;
    let letters: Vec<String> = sink.take().into_iter().map(|it| it.data).collect();
    let text = letters.join("").replace("=\n", "").replace("=3D", "=");
    let at = text.find("http://forge.test/users/confirmation").expect("a link");
    let url: String = text[at..].chars().take_while(|letter| !letter.is_whitespace()).collect();
    let page = app.anonymous().get(&url.replace("http://forge.test/", "//")).await;
    assert_eq!(page.status, 200);
    assert_eq!(ada.get(&members).await.each("username"), ["ada", "bob"]);
}

#[actix_web::test]
async fn whoever_waits_to_be_approved_comes_in_with_it() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let bob = app.id_of("bob");
    app.set_state("bob", org::user::State::PendingApproval);
    let project = app.project(&ada, "tool", Visibility::Private);
    let wanted = json!({ "email": "second@b.test", "access_level": 30 });
    ada.post(&format!("/projects/{project}/invitations"), wanted).await.created();
    let second = json!({ "email": "second@b.test", "skip_confirmation": true });
    root.post(&format!("/users/{bob}/emails"), second).await.created();
    let members = format!("/projects/{project}/members");
    assert_eq!(ada.get(&members).await.each("username"), ["ada"]);

    root.post(&format!("/users/{bob}/approve"), json!({})).await.created();

    assert_eq!(ada.get(&members).await.each("username"), ["ada", "bob"]);
}

#[actix_web::test]
async fn a_new_primary_address_accepts_what_it_was_invited_to() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let bob = app.id_of("bob");
    let group = ada.group("g1", None).await;
    let wanted = json!({ "email": "new@b.test", "access_level": 30 });
    ada.post(&format!("/groups/{group}/invitations"), wanted).await.created();

    let change = json!({ "email": "new@b.test", "skip_reconfirmation": true });
    root.put(&format!("/users/{bob}"), change).await.ok();

    assert_eq!(ada.get(&format!("/groups/{group}/members")).await.each("username"), ["ada", "bob"]);
}

#[actix_web::test]
async fn a_group_invites_only_so_many_in_a_day() {
    let app = TestApp::with_limits(Limits { invites_per_day: 3, ..Limits::default() });
    let ada = app.person("ada");
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    let [bob, cara] = ["bob", "cara"].map(|name| app.id_of(name));
    let invite = async |group: i64, emails: &str| {
        let body = json!({ "email": emails, "access_level": 30 });
        ada.post(&format!("/groups/{group}/invitations"), body).await.created()
    };
    let text = "Invite limit of 3 per day exceeded.";
    let refused = json!({ "status": "error", "message": text });

    assert_eq!(invite(top, "a@b.test,A@B.test,b@b.test").await["status"], "success");
    assert_eq!(invite(inner, "c@b.test,d@b.test").await, refused, "all or none");
    let add = |user: i64| json!({ "user_id": user, "access_level": 30 });
    ada.post(&format!("/groups/{inner}/members"), add(bob)).await.created();
    let one = ada.post(&format!("/groups/{top}/members"), add(cara)).await;
    one.refused(400, json!({ "message": text }));
    let several = json!({ "user_id": [bob, cara], "access_level": 30 });
    let several = ada.post(&format!("/groups/{top}/members"), several).await.created();
    assert_eq!(several, refused);
    assert_eq!(ada.get(&format!("/groups/{inner}/invitations")).await.ok(), json!([]));
    let other = ada.group("other", None).await;
    assert_eq!(invite(other, "c@b.test,d@b.test,e@b.test").await["status"], "success");

    app.clock.advance(time::Duration::days(1));
    assert_eq!(invite(inner, "c@b.test,d@b.test,e@b.test").await["status"], "success");
    assert_eq!(invite(top, "f@b.test").await, refused);
}

#[actix_web::test]
async fn only_who_was_invited_counts_and_taking_it_back_makes_no_room() {
    let app = TestApp::with_limits(Limits { invites_per_day: 2, ..Limits::default() });
    let ada = app.person("ada");
    let project = app.project(&ada, "tool", Visibility::Private);
    let path = format!("/projects/{project}/invitations");
    let invite = async |body| ada.post(&path, body).await.created()["status"].clone();

    app.member(project, "bob", Developer);
    let bob = app.user("bob").id;
    let known = json!({ "email": "b@b.test", "user_id": bob, "access_level": 20 });

    let past = json!({ "email": "a@b.test", "access_level": 30, "expires_at": "2020-01-01" });
    assert_eq!(invite(past).await, "error");
    assert_eq!(invite(json!({ "user_id": bob, "access_level": 20 })).await, "success");
    for email in ["a@b.test", "b@b.test"] {
        assert_eq!(invite(json!({ "email": email, "access_level": 30 })).await, "success");
    }
    assert_eq!(ada.delete(&format!("{path}/a%40b.test")).await.status, 204);
    assert_eq!(invite(json!({ "email": "c@b.test", "access_level": 30 })).await, "error");
    assert_eq!(ada.get(&path).await.each("invite_email"), ["b@b.test"]);
    assert_eq!(invite(known).await, "success", "nobody is new");
    assert_eq!(ada.get(&path).await.ok()[0]["access_level"], 20);
    let several = json!({ "user_id": [bob, app.user("ada").id], "access_level": 40 });
    let several = ada.post(&format!("/projects/{project}/members"), several).await.created();
    assert_ne!(several["message"], "Invite limit of 2 per day exceeded.");
    let role = ada.get(&format!("/projects/{project}/members/{bob}")).await.ok();
    assert_eq!(role["access_level"], 40, "a role is no invitation");
}

#[actix_web::test]
async fn whoever_is_named_by_address_and_by_id_counts_once() {
    let app = TestApp::with_limits(Limits { invites_per_day: 2, ..Limits::default() });
    let ada = app.person("ada");
    let [bob, cara, dora] = ["bob", "cara", "dora"].map(|name| app.id_of(name));
    let group = ada.group("top", None).await;
    let path = format!("/groups/{group}/invitations");
    let invite = async |body| ada.post(&path, body).await.created()["status"].clone();

    let both = json!({ "email": app.user("bob").email, "user_id": bob, "access_level": 30 });
    assert_eq!(invite(both).await, "success");
    let two = json!({ "user_id": format!("{bob},{cara}"), "access_level": 30 });
    assert_eq!(invite(two).await, "success", "one of them is new");
    assert_eq!(invite(json!({ "user_id": dora, "access_level": 30 })).await, "error");

    let members = ada.get(&format!("/groups/{group}/members")).await;
    assert_eq!(members.each("username"), ["ada", "bob", "cara"]);
}

#[actix_web::test]
async fn two_who_invite_at_once_count_each_other() {
    let app = TestApp::with_limits(Limits { invites_per_day: 3, ..Limits::default() });
    let ada = app.person("ada");
    let path = format!("/groups/{}/invitations", ada.group("top", None).await);
    let bodies: Vec<_> = (0..6)
        .map(|number| json!({ "email": format!("a{number}@b.test"), "access_level": 30 }))
        .collect();

    let told = bodies.into_iter().map(|body| ada.post(&path, body));
    futures_util::future::join_all(told).await;

    assert_eq!(ada.get(&path).await.each("invite_email").len(), 3);
}
