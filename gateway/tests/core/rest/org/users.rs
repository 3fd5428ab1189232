//! People, and what administrators do with them.

use kernel::Visibility;
use org::{token::Scope, user::actions::NewUser};
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn everybody_sees_themselves_and_administrators_see_more() {
    let app = TestApp::new();

    let ada = app.person("ada").get("/user").await.ok();
    let root = app.admin().get("/user").await.ok();

    assert_eq!((&ada["username"], &ada["email"]), (&json!("ada"), &json!("ada@example.com")));
    assert_eq!(ada["identities"], json!([]));
    assert!(ada.get("is_admin").is_none());
    assert_eq!(root["is_admin"], true);
    assert!(root["namespace_id"].is_i64());
    app.anonymous().get("/user").await.refused(401, json!({ "message": "401 Unauthorized" }));
}

#[actix_web::test]
async fn an_administrator_makes_and_changes_an_account() {
    let app = TestApp::new();
    let root = app.admin();
    let wanted = json!({
        "email": "Ada@Example.com", "name": "Ada Lovelace", "username": "ada",
        "password": "difference engine", "bio": "counts", "projects_limit": 3,
    });

    let made = root.post("/users", wanted).await.created();
    let path = format!("/users/{}", made["id"]);
    let changed =
        root.put(&path, json!({ "username": "countess", "bio": "", "admin": true })).await.ok();

    assert_eq!((&made["bio"], &made["projects_limit"]), (&json!("counts"), &json!(3)));
    assert_eq!(
        (&made["external"], &made["created_by"]["username"]),
        (&json!(false), &json!("root"))
    );
    assert_eq!((&changed["username"], &changed["bio"]), (&json!("countess"), &json!("")));
    assert_eq!((&changed["is_admin"], &changed["name"]), (&json!(true), &json!("Ada Lovelace")));
    assert_eq!(root.get("/namespaces/countess").await.ok()["name"], "Ada Lovelace");
    let gone = json!({ "message": "404 Namespace Not Found" });
    root.get("/namespaces/ada").await.refused(404, gone);
}

#[actix_web::test]
async fn external_people_lose_what_they_might_make_and_get_it_back() {
    let app = TestApp::new();
    let root = app.admin();
    let rights = |record: &serde_json::Value| {
        (record["can_create_group"].clone(), record["projects_limit"].clone())
    };
    let wanted = json!({
        "email": "ada@example.com", "name": "Ada", "username": "ada", "force_random_password": true,
        "projects_limit": 3, "can_create_group": true, "external": true,
    });

    let made = root.post("/users", wanted).await.created();
    let path = format!("/users/{}", made["id"]);
    assert_eq!(rights(&made), (json!(false), json!(0)));
    let inside = root.put(&path, json!({ "external": false, "projects_limit": 5 })).await.ok();
    assert_eq!(rights(&inside), (json!(true), json!(5)));
    let outside = root.put(&path, json!({ "external": true })).await.ok();
    assert_eq!(rights(&outside), (json!(false), json!(0)));
    assert_eq!(rights(&root.put(&path, json!({ "name": "A" })).await.ok()), rights(&outside));
    let inside = root.put(&path, json!({ "external": false })).await.ok();
    assert_eq!(rights(&inside), (json!(true), json!(100_000)));
}

#[actix_web::test]
async fn external_people_make_no_project_fork_or_group() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let source = app.project(&ada, "engine", Visibility::Public);
    let group = ada.group("works", None).await;
    let external = NewUser { external: true, ..NewUser::named("out") };
    let out = app.someone(&external, &[Scope::Api]);
    ada.adds("out", 50, &format!("/groups/{group}")).await;
    // What an administrator allows by mistake changes nothing.
    let more = json!({ "projects_limit": 9, "can_create_group": true });
    root.put(&format!("/users/{}", app.user("out").id), more).await.ok();
    let none = "Personal project creation is not allowed. Please contact your administrator with questions";
    let none = json!({ "error": [none] });

    out.post("/projects", json!({ "name": "own" })).await.refused(403, none.clone());
    let wanted = json!({ "name": "in", "namespace_id": group });
    let invalid = json!({ "message": { "namespace": ["is not valid"] } });
    out.post("/projects", wanted).await.refused(400, invalid);
    let fork = format!("/projects/{source}/fork");
    out.post(&fork, json!({})).await.refused(403, none);
    let target = json!({ "message": "404 Target Namespace Not Found" });
    out.post(&fork, json!({ "namespace_id": group })).await.refused(404, target);
    for parent in [json!(null), json!(group)] {
        let wanted = json!({ "name": "g", "path": "g", "parent_id": parent });
        assert_eq!(out.post("/groups", wanted).await.status, 403);
    }
    for path in ["out/pushed", "works/pushed"] {
        let path = format!("//{path}.git/info/refs?service=git-receive-pack");
        assert!(matches!(out.by_password().get(&path).await.status, 403 | 404));
    }
    root.get("/projects/out%2Fpushed").await.with(404);
}

#[actix_web::test]
async fn what_is_wrong_with_an_account_is_told_by_field() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let with = |username: &str, email: &str, password: &str| json!({ "name": "N", "username": username, "email": email, "password": password });

    let taken = json!({ "message": "Email has already been taken" });
    root.post("/users", with("new", "ADA@example.com", "long enough")).await.refused(409, taken);
    let taken = json!({ "message": "Username has already been taken" });
    root.post("/users", with("ADA", "new@x", "long enough")).await.refused(409, taken);
    let short = json!({ "message": { "password": ["is too short (minimum is 8 characters)"] } });
    root.post("/users", with("new", "new@x", "short")).await.refused(400, short);
    let reserved = json!({ "message": { "username": ["admin is a reserved name"] } });
    root.post("/users", with("admin", "new@x", "long enough")).await.refused(400, reserved);
    let odd = json!({ "error": "username is invalid" });
    root.post("/users", with("a\0b", "new@x", "long enough")).await.refused(400, odd);
    let none = json!({ "error": "password, reset_password, force_random_password are missing, at least one parameter must be provided" });
    root.post("/users", json!({ "name": "N", "username": "new", "email": "new@x" }))
        .await
        .refused(400, none);
    let blank = json!({ "message": { "password": ["can't be blank"] } });
    let by_mail =
        json!({ "name": "N", "username": "new", "email": "new@x", "reset_password": false });
    root.post("/users", by_mail).await.refused(400, blank);
}

#[actix_web::test]
async fn an_account_is_blocked_and_let_in_again() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let path = format!("/users/{}", app.user("ada").id);

    assert_eq!(root.post(&format!("{path}/block"), json!({})).await.created(), json!(true));
    assert_eq!(ada.get("/user").await.status, 403);
    assert_eq!(root.post(&format!("{path}/unblock"), json!({})).await.created(), json!(true));
    assert_eq!(root.post(&format!("{path}/unblock"), json!({})).await.created(), json!(false));
    assert_eq!(ada.get("/user").await.status, 200);
    let own = format!("/users/{}/block", app.user("root").id);
    let refusal = json!({ "message": "403 Forbidden - The API initiating user cannot be blocked by the API" });
    root.post(&own, json!({})).await.refused(403, refusal);
}

#[actix_web::test]
async fn an_account_at_rest_was_not_used_for_long() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let path = format!("/users/{}", app.user("ada").id);
    let used = app.user("ada").id;
    app.write(move |tx| {
        let user = org::user::store::UserStore::user(tx, used)?;
        org::user::store::UserStore::record_sign_in(tx, &user, None)
    });

    let early = root.post(&format!("{path}/deactivate"), json!({})).await;
    app.clock.advance(time::Duration::days(91));
    let late = root.post(&format!("{path}/deactivate"), json!({})).await;

    assert_eq!(early.status, 403);
    assert_eq!(late.created(), json!(true));
    assert_eq!(ada.get("/user").await.status, 403);
    assert_eq!(root.post(&format!("{path}/activate"), json!({})).await.created(), json!(true));
    assert_eq!(ada.get("/user").await.status, 200);
}

#[actix_web::test]
async fn a_removed_account_is_gone_with_all_that_was_its_own() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let path = format!("/users/{}", app.user("ada").id);
    let project = app.project(&ada, "tool", kernel::Visibility::Public);
    ada.post("/groups", json!({ "name": "Only", "path": "only" })).await.created();

    let alone = json!({ "message": "User cannot be removed while is the sole-owner of a group" });
    root.delete(&path).await.refused(409, alone);
    let since = "Mon, 01 Jan 1990 00:00:00 GMT";
    assert_eq!(root.sending("If-Unmodified-Since", since).delete(&path).await.status, 412);
    assert_eq!(root.delete(&format!("{path}?hard_delete=true")).await.status, 204);

    assert_eq!(ada.get("/user").await.status, 401);
    assert_eq!(root.get("/groups/only").await.status, 404);
    assert_eq!(root.get(&format!("/projects/{project}/members")).await.status, 404);
    app.person("ada");
}

#[actix_web::test]
async fn machines_and_those_whose_role_has_ended_own_no_group() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let group = ada.group("only", None).await;
    let token = json!({ "name": "robot", "scopes": ["api"], "access_level": 50 });
    ada.post(&format!("/groups/{group}/access_tokens"), token).await.created();
    let bob =
        json!({ "user_id": app.id_of("bob"), "access_level": 50, "expires_at": "2026-01-03" });
    ada.post(&format!("/groups/{group}/members"), bob).await.created();
    app.clock.advance(time::Duration::days(3));
    let path = format!("/users/{}", app.user("ada").id);

    let alone = json!({ "message": "User cannot be removed while is the sole-owner of a group" });
    root.delete(&path).await.refused(409, alone);
    ada.adds("cara", 50, &format!("/groups/{group}")).await;
    assert_eq!(root.delete(&path).await.status, 204);
    assert_eq!(app.person("cara").get("/groups/only").await.status, 200);
}

#[actix_web::test]
async fn a_group_does_not_go_with_somebody_whose_ownership_has_ended() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    let bob = app.id_of("bob");
    let owner = json!({ "user_id": bob, "access_level": 50, "expires_at": "2026-01-03" });
    ada.post(&format!("/groups/{inner}/members"), owner).await.created();
    let own = format!("/groups/{inner}/members/{}", app.user("ada").id);
    assert_eq!(ada.delete(&own).await.status, 204, "the group above is hers");
    app.clock.advance(time::Duration::days(3));

    root.delete(&format!("/users/{bob}?hard_delete=true")).await.with(204);

    assert_ne!(app.id_of("bob"), bob, "the account is gone");
    assert_eq!(ada.get("/groups/top%2Finner").await.status, 200);
}

#[actix_web::test]
async fn an_administrator_sends_somebody_a_link_for_a_new_password() {
    let app = TestApp::new();
    let (root, _) = (app.admin(), app.person("ada"));
    let path = format!("/users/{}", app.user("ada").id);
    let before = app.user("ada").password_hash;

    root.put(&path, json!({ "name": "Ada" })).await.ok();
    assert_eq!(app.user("ada").password_hash, before);
    root.put(&path, json!({ "force_random_password": true })).await.ok();
    let forced = app.user("ada").password_hash;
    assert_ne!(forced, before);
    assert!(!app.queued().iter().any(|text| text.contains("reset")));
    root.put(&path, json!({ "reset_password": true, "password": "ignored" })).await.ok();
    assert_ne!(app.user("ada").password_hash, forced);
    assert!(app.queued().iter().any(|text| text.contains("reset")));
}

#[actix_web::test]
async fn what_a_removed_person_wrote_is_nobodys_and_a_crash_ends_nothing() {
    use org::user::removal::{Removal, RemoveUser};
    use worker::Queue as _;
    let app = TestApp::new();
    let (root, ada, bob) = (app.admin(), app.person("ada"), app.person("bob"));
    let project = app.project(&bob, "tool", kernel::Visibility::Public);
    for person in [&ada, &bob] {
        let text = json!({ "title": "Wheels" });
        person.post(&format!("/projects/{project}/issues"), text).await.created();
    }
    let authors = async || root.get(&format!("/projects/{project}/issues")).await.each("author");

    assert_eq!(root.delete(&format!("/users/{}", app.user("ada").id)).await.status, 204);
    assert_eq!(authors().await[1]["username"], "ghost");
    let user = app.user("bob").id;
    app.write(move |tx| tx.enqueue(&RemoveUser { user, removal: Removal::Hard, by: None }));
    app.work().await;
    assert_eq!(bob.get("/user").await.status, 401);
    assert_eq!(root.get(&format!("/projects/{project}")).await.status, 404);
}

#[actix_web::test]
async fn a_private_profile_tells_others_little_and_its_owner_everything() {
    let app = TestApp::new();
    let (root, ada, bob) = (app.admin(), app.person("ada"), app.person("bob"));
    let path = format!("/users/{}", app.user("ada").id);
    let open = bob.get(&path).await.ok();
    assert!(open["created_at"].is_string());
    assert_eq!(
        (&open["followers"], &open["following"], &open["is_followed"]),
        (&json!(0), &json!(0), &json!(false))
    );

    root.put(&path, json!({ "private_profile": true, "note": "watch" })).await.ok();

    let seen = bob.get(&path).await;
    let text = String::from_utf8_lossy(&seen.bytes).into_owned();
    for hidden in ["created_at", "followers", "following", "is_followed", "note", "identities"] {
        assert!(seen.body.get(hidden).is_none(), "{hidden}");
    }
    assert!(!text.contains("ada@example.com") && !text.contains("watch"), "{text}");
    assert!(ada.get(&path).await.ok()["created_at"].is_string());
    assert!(root.get(&path).await.ok()["created_at"].is_string());
}

#[actix_web::test]
async fn a_sign_in_is_counted_with_where_it_came_from() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    drop(ada);
    let sign_in = |from: &'static str| {
        let id = app.user("ada").id;
        app.write(move |tx| {
            let user = org::user::store::UserStore::user(tx, id)?;
            org::user::actions::record_sign_in(tx, &user, from.parse().ok())
        });
    };

    sign_in("192.0.2.1");
    app.clock.advance(time::Duration::hours(1));
    sign_in("2001:db8::2");

    let shown = root.get(&format!("/users/{}", app.user("ada").id)).await.ok();
    assert_eq!(shown["sign_in_count"], 2);
    assert_eq!(
        (&shown["current_sign_in_ip"], &shown["last_sign_in_ip"]),
        (&json!("2001:db8::2"), &json!("192.0.2.1"))
    );
    assert!(shown["last_sign_in_at"].as_str() < shown["current_sign_in_at"].as_str());
    assert_eq!(
        shown["last_activity_on"].as_str(),
        shown["current_sign_in_at"].as_str().map(|at| &at[..10])
    );
}

const BRIEF: &[&str] = &["id", "username", "name", "state", "avatar_url", "web_url"];
const SINGLE: &[&str] = &[
    "created_at",
    "bio",
    "bot",
    "location",
    "public_email",
    "skype",
    "linkedin",
    "twitter",
    "website_url",
    "organization",
    "job_title",
    "pronouns",
    "work_information",
    "followers",
    "following",
    "local_time",
    "is_followed",
];
const OWN: &[&str] = &[
    "last_sign_in_at",
    "confirmed_at",
    "last_activity_on",
    "email",
    "theme_id",
    "color_scheme_id",
    "projects_limit",
    "current_sign_in_at",
    "identities",
    "can_create_group",
    "can_create_project",
    "two_factor_enabled",
    "external",
    "private_profile",
    "commit_email",
    "shared_runners_minutes_limit",
    "extra_shared_runners_minutes_limit",
];
const ADMINISTRATORS: &[&str] = &[
    "is_admin",
    "note",
    "namespace_id",
    "created_by",
    "current_sign_in_ip",
    "last_sign_in_ip",
    "is_auditor",
    "using_license_seat",
    "provisioned_by_group_id",
    "sign_in_count",
    "plan",
    "trial",
];

#[actix_web::test]
async fn each_reader_gets_exactly_the_fields_of_their_form() {
    let app = TestApp::new();
    let (root, ada, bob) = (app.admin(), app.person("ada"), app.person("bob"));
    let one = format!("/users/{}", app.user("ada").id);
    let named = "/users?username=ada";
    let account = json!({ "email": "n@x.test", "name": "N", "username": "new", "force_random_password": true });
    let list: &[&[&str]] = &[BRIEF, SINGLE, OWN, ADMINISTRATORS];

    for (told, forms) in [
        (app.anonymous().get(named).await.ok()[0].clone(), &[BRIEF][..]),
        (bob.get(named).await.ok()[0].clone(), &[BRIEF]),
        (ada.get(named).await.ok()[0].clone(), &[BRIEF]),
        (bob.get(&one).await.ok(), &[BRIEF, SINGLE]),
        (ada.get(&one).await.ok(), &[BRIEF, SINGLE]),
        (ada.get("/user").await.ok(), &[BRIEF, SINGLE, OWN]),
        (root.get("/user").await.ok(), list),
        (root.get(named).await.ok()[0].clone(), list),
        (root.post("/users", account).await.created(), list),
        (root.put(&one, json!({ "bio": "x" })).await.ok(), list),
        (root.get(&one).await.ok(), list),
    ] {
        let mut fields: Vec<&str> =
            told.as_object().expect("a record").keys().map(String::as_str).collect();
        let mut wanted = forms.concat();
        fields.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(fields, wanted, "{told}");
    }
}
