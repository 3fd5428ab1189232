//! The steps of an account's life, and what people are told who may not use theirs.

use db::schema::users;
use diesel::prelude::*;
use org::user::State;
use serde_json::json;

use crate::support::{MailSink, TestApp};

fn path(app: &TestApp, username: &str, step: &str) -> String {
    format!("/users/{}/{step}", app.user(username).id)
}

#[actix_web::test]
async fn a_banned_account_comes_back_by_unbanning_alone() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));

    assert_eq!(root.post(&path(&app, "ada", "ban"), json!({})).await.created(), json!(true));
    assert_eq!(app.user("ada").state, State::Banned);
    let told = json!({ "message": "403 Forbidden - Your account has been blocked." });
    ada.get("/user").await.refused(403, told);
    let twice = json!({ "message": "You cannot ban banned users." });
    root.post(&path(&app, "ada", "ban"), json!({})).await.refused(403, twice);
    assert_eq!(root.post(&path(&app, "ada", "unblock"), json!({})).await.created(), json!(false));
    assert_eq!(root.post(&path(&app, "ada", "unban"), json!({})).await.created(), json!(true));
    assert_eq!(ada.get("/user").await.status, 200);
    let active = json!({ "message": "You cannot unban active users." });
    root.post(&path(&app, "ada", "unban"), json!({})).await.refused(403, active);
}

#[actix_web::test]
async fn steps_that_a_state_does_not_allow_say_why() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    for (state, step, told) in [
        (
            State::LdapBlocked,
            "block",
            "403 Forbidden - LDAP blocked users cannot be modified by the API",
        ),
        (
            State::LdapBlocked,
            "unblock",
            "403 Forbidden - LDAP blocked users cannot be unblocked by the API",
        ),
        (State::LdapBlocked, "ban", "You cannot ban ldap_blocked users."),
        (
            State::Deactivated,
            "unblock",
            "403 Forbidden - Deactivated users cannot be unblocked by the API",
        ),
        (State::Deactivated, "ban", "You cannot ban deactivated users."),
        (
            State::Blocked,
            "deactivate",
            "403 Forbidden - A blocked user cannot be deactivated by the API",
        ),
        (
            State::PendingApproval,
            "deactivate",
            "403 Forbidden - A blocked user cannot be deactivated by the API",
        ),
        (
            State::Blocked,
            "activate",
            "403 Forbidden - A blocked user must be unblocked to be activated",
        ),
        (State::Blocked, "unban", "You cannot unban blocked users."),
    ] {
        app.set_state("ada", state);
        let answer = root.post(&path(&app, "ada", step), json!({})).await;
        answer.refused(403, json!({ "message": told }));
        assert_eq!(app.user("ada").state, state, "{step}");
    }
    for step in ["block", "unblock", "activate", "deactivate", "ban", "unban", "approve", "reject"]
    {
        let absent = json!({ "message": "404 User Not Found" });
        root.post(&format!("/users/999/{step}"), json!({})).await.refused(404, absent);
    }
}

#[actix_web::test]
async fn somebody_who_asked_for_an_account_is_let_in_or_turned_away() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let (root, ada) = (app.admin(), app.person("ada"));
    app.person("bob");
    app.set_state("ada", State::PendingApproval);
    let told = json!({ "message": "403 Forbidden - Your account is pending approval from your administrator and hence blocked." });
    ada.get("/user").await.refused(403, told);

    let approved = root.post(&path(&app, "ada", "approve"), json!({})).await.created();
    app.set_state("bob", State::PendingApproval);
    let rejected = root.post(&path(&app, "bob", "reject"), json!({})).await.ok();
    app.work().await;

    assert_eq!(
        (&approved, &rejected),
        (&json!({ "message": "Success" }), &json!({ "message": "Success" }))
    );
    assert_eq!(ada.get("/user").await.status, 200);
    assert_eq!(root.get("/users?username=bob").await.ok(), json!([]));
    let letters = sink.take();
    let addressed: Vec<&str> = letters.iter().map(|letter| letter.to[0].as_str()).collect();
    assert_eq!(addressed, ["ada@example.com", "bob@example.com"]);
    assert!(letters[1].data.contains("has been rejected"), "{}", letters[1].data);
}

#[actix_web::test]
async fn approving_and_rejecting_is_for_administrators_and_for_those_who_wait() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));

    for (step, others, state) in [
        (
            "approve",
            "You are not allowed to approve a user",
            "The user you are trying to approve is not pending approval",
        ),
        ("reject", "You are not allowed to reject a user", "User does not have a pending request"),
    ] {
        let path = path(&app, "ada", step);
        ada.post(&path, json!({})).await.refused(403, json!({ "message": others }));
        root.post(&path, json!({})).await.refused(409, json!({ "message": state }));
        let nobody = json!({ "message": "401 Unauthorized" });
        app.anonymous().post(&path, json!({})).await.refused(401, nobody);
    }
    assert_eq!(app.user("ada").state, State::Active);
}

#[actix_web::test]
async fn an_account_that_belongs_to_the_installation_keeps_its_state() {
    let app = TestApp::new();
    let root = app.admin();
    let ghost = app.write(org::user::internal::ghost);

    let told = json!({ "message": "An internal user cannot be blocked" });
    root.post(&path(&app, &ghost.username, "block"), json!({})).await.refused(403, told);
    let told =
        json!({ "message": "403 Forbidden - An internal user cannot be deactivated by the API" });
    root.post(&path(&app, &ghost.username, "deactivate"), json!({})).await.refused(403, told);
    assert_eq!(root.delete(&format!("/users/{}", ghost.id)).await.status, 403);
    assert_eq!(app.user(&ghost.username).state, State::Active);
}

#[actix_web::test]
async fn a_second_factor_is_taken_away_where_there_is_one() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let id = app.user("ada").id;
    let path = path(&app, "ada", "disable_two_factor");

    let none = json!({ "message": "400 Bad request - Two-factor authentication is not enabled for this user" });
    root.patch(&path, json!({})).await.refused(400, none);
    app.write(move |tx| org::user::account::AccountStore::save_two_factor(tx, id, true));
    assert_eq!(ada.get("/user").await.ok()["two_factor_enabled"], true);
    assert_eq!(root.get("/users?two_factor=enabled").await.each("username"), ["ada"]);
    assert_eq!(root.get("/users?two_factor=disabled").await.each("username"), ["root"]);
    assert_eq!(root.patch(&path, json!({})).await.status, 204);
    assert_eq!(ada.get("/user").await.ok()["two_factor_enabled"], false);
    let own = format!("/users/{}/disable_two_factor", app.user("root").id);
    root.patch(&own, json!({})).await.refused(403, json!({ "message": "403 Forbidden" }));
    ada.patch(&path, json!({})).await.refused(403, json!({ "message": "403 Forbidden" }));
}

/// Makes an account that was never confirmed, or whose password has expired.
fn change(app: &TestApp, confirmed: bool, expired: bool) {
    let id = app.user("ada").id;
    app.write(move |tx| {
        let now = tx.now;
        let changes = (
            users::confirmed_at.eq(confirmed.then_some(now)),
            users::password_expires_at.eq(expired.then_some(now)),
        );
        db::each_backend!(tx, |conn| diesel::update(users::table.find(id))
            .set(changes)
            .execute(conn)
            .map_err(db::error("User")))
    });
}

#[actix_web::test]
async fn the_first_reason_that_fits_is_told() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let reason =
        async || ada.get("/user").await.body["message"].as_str().unwrap_or("none").to_owned();

    change(&app, false, true);
    assert!(reason().await.ends_with(
        "Your password expired. Please access GitLab from a web browser to update your password."
    ));
    root.put("/application/settings", json!({ "email_confirmation_setting": "hard" })).await.ok();
    assert!(
        reason().await.starts_with(
            "403 Forbidden - Your primary email address is not confirmed. Please check"
        )
    );
    assert!(reason().await.ends_with("http://forge.test/users/confirmation/new"));
    app.set_state("ada", State::Blocked);
    assert!(reason().await.contains("is not confirmed"), "before being blocked");
    change(&app, true, true);
    assert!(reason().await.ends_with("has been blocked."), "before the password");
    app.set_state("ada", State::Deactivated);
    assert!(reason().await.ends_with("to reactivate your account at http://forge.test"));
    app.set_state("ada", State::Active);
    change(&app, true, false);
    assert_eq!(reason().await, "none");
}

#[actix_web::test]
async fn an_installation_may_give_some_days_to_confirm() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    change(&app, false, false);

    root.put("/application/settings", json!({ "email_confirmation_setting": "soft" })).await.ok();
    assert_eq!(ada.get("/user").await.status, 200);
    app.clock.advance(time::Duration::days(3));
    assert_eq!(ada.get("/user").await.status, 403);
    root.put("/application/settings", json!({ "email_confirmation_setting": "off" })).await.ok();
    assert_eq!(ada.get("/user").await.status, 200);
}

#[actix_web::test]
async fn nothing_is_said_of_a_step_that_was_taken_before() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let step = async |name: &str| root.post(&path(&app, "ada", name), json!({})).await.created();

    assert_eq!((step("block").await, step("block").await), (json!(true), json!(null)));
    assert_eq!(step("unblock").await, true);
    assert_eq!(app.user("ada").state, State::Active);
    assert_eq!((step("deactivate").await, step("deactivate").await), (json!(true), json!(null)));
    assert_eq!((step("activate").await, step("activate").await), (json!(true), json!(true)));
}
