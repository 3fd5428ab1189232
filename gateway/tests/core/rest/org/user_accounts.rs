//! What administrators make of accounts: every attribute, pictures, accounts elsewhere, new names, and their end.

use actix_web::http::Method;
use kernel::Visibility;
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn ada() -> Value {
    json!({ "email": "ada@example.org", "name": "Ada Lovelace", "username": "ada",
            "password": "difference engine", "skip_confirmation": true })
}

#[expect(clippy::needless_pass_by_value, reason = "callers write the fields where they call")]
fn with(mut body: Value, more: Value) -> Value {
    let more = more.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(more);
    body
}

/// Sends a picture for somebody's account.
async fn picture(person: &Person<'_>, path: &str, name: &str, content: &[u8]) -> Answer {
    let head = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"avatar\"; filename=\"{name}\"\r\n\r\n"
    );
    let body = [head.as_bytes(), content, b"\r\n--edge--\r\n"].concat();
    person.send_bytes(Method::PUT, path, "multipart/form-data; boundary=edge", &body).await
}

#[actix_web::test]
async fn every_attribute_that_is_sent_is_kept_and_shown() {
    let app = TestApp::new();
    let root = app.admin();
    let sent = json!({
        "admin": true, "external": true, "can_create_group": true, "private_profile": true,
        "theme_id": 2, "color_scheme_id": 3, "skype": "s", "linkedin": "l",
        "twitter": "t", "website_url": "https://w.test", "organization": "Engines", "job_title": "Countess",
        "location": "London", "bio": "counts", "pronouns": "she", "note": "keep",
        "shared_runners_minutes_limit": 5, "extra_shared_runners_minutes_limit": 6,
        "public_email": "ada@example.org", "commit_email": "ADA@example.org",
    });

    let made = root.post("/users", with(ada(), sent.clone())).await.created();
    root.put(&format!("/users/{}", made["id"]), json!({ "auditor": true })).await.ok();
    let shown = root.get(&format!("/users/{}", made["id"])).await.ok();

    for (name, value) in
        sent.as_object().expect("an object").iter().filter(|(name, _)| *name != "admin")
    {
        assert_eq!(&shown[name], value, "{name}");
    }
    assert_eq!((&shown["is_admin"], &shown["is_auditor"]), (&json!(true), &json!(true)));
    assert_eq!(shown["work_information"], "Countess at Engines");
    assert_eq!((&shown["using_license_seat"], &shown["trial"]), (&json!(true), &json!(false)));
    assert!(shown["confirmed_at"].is_string());
}

#[actix_web::test]
async fn a_private_profile_given_as_null_is_public() {
    let app = TestApp::new();
    let made = app.admin().post("/users", with(ada(), json!({ "private_profile": null }))).await;
    assert_eq!(made.created()["private_profile"], false);
}

#[actix_web::test]
async fn what_an_attribute_cannot_be_is_told_by_field() {
    let app = TestApp::new();
    let root = app.admin();
    for (sent, field, text) in [
        (json!({ "theme_id": 99 }), "theme_id", "is not included in the list"),
        (json!({ "color_scheme_id": 0 }), "color_scheme_id", "is not included in the list"),
        (json!({ "projects_limit": -1 }), "projects_limit", "must be greater than or equal to 0"),
        (json!({ "bio": "x".repeat(256) }), "bio", "is too long (maximum is 255 characters)"),
        (
            json!({ "name": "x".repeat(128) }),
            "first_name",
            "is too long (maximum is 127 characters)",
        ),
        (json!({ "email": "nowhere" }), "email", "is invalid"),
        (json!({ "public_email": "other@example.org" }), "public_email", "is not an email you own"),
        (json!({ "public_email": "_private" }), "public_email", "is not an email you own"),
        (
            json!({ "username": "-ada" }),
            "username",
            "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.",
        ),
        (
            json!({ "password": "lovelace-1815" }),
            "password",
            "must not contain commonly used combinations of words and letters",
        ),
        (json!({ "extern_uid": "", "provider": "ldap" }), "none", ""),
    ] {
        let answer = root.post("/users", with(ada(), sent)).await;
        if field == "none" {
            assert!(answer.created()["identities"].as_array().is_some_and(Vec::is_empty));
        } else {
            answer.refused(400, json!({ "message": { field: [text] } }));
        }
    }
    let halves = json!({ "error": "extern_uid, provider provide all or none of parameters" });
    root.post("/users", with(ada(), json!({ "provider": "ldap" }))).await.refused(400, halves);
}

#[actix_web::test]
async fn names_and_addresses_are_taken_whatever_their_letter_case() {
    let app = TestApp::new();
    let root = app.admin();
    root.post("/users", ada()).await.created();
    let bob = json!({ "email": "bob@example.org", "name": "Bob", "username": "bob", "password": "difference engine" });
    let bob = root.post("/users", bob).await.created();
    let path = format!("/users/{}", bob["id"]);

    let taken = json!({ "message": "Email has already been taken" });
    root.put(&path, json!({ "email": "ADA@EXAMPLE.ORG" })).await.refused(409, taken);
    let taken = json!({ "message": "Username has already been taken" });
    root.put(&path, json!({ "username": "Ada" })).await.refused(409, taken);
    root.post("/groups", json!({ "name": "Team", "path": "team" })).await.created();
    let taken = json!({ "message": { "username": ["has already been taken"] } });
    root.put(&path, json!({ "username": "TEAM" })).await.refused(400, taken);
    assert_eq!(app.user("bob").email, "bob@example.org");
}

#[actix_web::test]
async fn an_account_elsewhere_belongs_to_one_person() {
    let app = TestApp::new();
    let root = app.admin();
    let elsewhere = json!({ "provider": "ldap", "extern_uid": "cn=ada" });
    let made = root.post("/users", with(ada(), elsewhere.clone())).await.created();
    app.person("bob");
    let bob = format!("/users/{}", app.user("bob").id);

    let identity =
        json!([{ "provider": "ldap", "extern_uid": "cn=ada", "saml_provider_id": null }]);
    assert_eq!(made["identities"], identity);
    let taken = json!({ "message": { "identities.extern_uid": ["has already been taken"] } });
    root.put(&bob, elsewhere).await.refused(400, taken);
    let found = root.get("/users?provider=ldap&extern_uid=cn%3Dada").await.each("username");
    assert_eq!(found, ["ada"]);
    assert!(root.get("/users?provider=ldap&extern_uid=cn%3Dbob").await.each("id").is_empty());
    let forbidden = json!({ "message": "403 Forbidden" });
    app.person("bob").get("/users?provider=ldap&extern_uid=x").await.refused(403, forbidden);
    let path = format!("/users/{}/identities", made["id"]);
    assert_eq!(root.delete(&format!("{path}/ldap")).await.status, 204);
    let gone = json!({ "message": "404 Identity Not Found" });
    root.delete(&format!("{path}/ldap")).await.refused(404, gone);
}

#[actix_web::test]
async fn a_group_of_single_sign_on_is_noted() {
    let app = TestApp::new();
    let root = app.admin();
    let group = root.post("/groups", json!({ "name": "Team", "path": "team" })).await.created();
    let sso =
        json!({ "provider": "group_saml", "extern_uid": "u1", "group_id_for_saml": group["id"] });

    let made = root.post("/users", with(ada(), sso)).await.created();

    assert_eq!(made["provisioned_by_group_id"], group["id"]);
    assert_eq!(made["identities"][0]["saml_provider_id"], group["id"]);
    let found = root.get(&format!("/users?saml_provider_id={}", group["id"])).await;
    assert_eq!(found.each("username"), ["ada"]);
    let absent = json!({ "message": "404 Group Not Found" });
    let path = format!("/users/{}", made["id"]);
    root.put(&path, json!({ "group_id_for_saml": 999 })).await.refused(404, absent);
}

#[actix_web::test]
async fn a_picture_is_shown_until_it_is_taken_away() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let path = format!("/users/{}", app.user("ada").id);

    let shown = picture(&root, &path, "me.png", PNG).await.ok()["avatar_url"].clone();
    let url = shown.as_str().expect("an address");
    let below = url.strip_prefix("http://forge.test").expect("our own address").to_owned();
    assert_eq!(app.anonymous().get(&format!("/{below}")).await.bytes, PNG);
    let without = root.put(&path, json!({ "avatar": "" })).await.ok();
    assert!(without["avatar_url"].as_str().is_some_and(|url| url.contains("gravatar")));
}

#[actix_web::test]
async fn a_picture_stays_when_the_rest_of_a_change_is_refused() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let path = format!("/users/{}", app.user("ada").id);
    let shown = picture(&root, &path, "me.png", PNG).await.ok()["avatar_url"].clone();
    let url = shown.as_str().expect("an address").replace("http://forge.test", "/");
    let other = [PNG, b"another"].concat();

    let taken = format!("{path}?username=root");
    assert_eq!(picture(&root, &taken, "me.png", &other).await.status, 409);
    assert_eq!(app.anonymous().get(&url).await.bytes, PNG);
    picture(&root, &path, "me.png", &other).await.ok();
    assert_eq!(app.anonymous().get(&url).await.bytes, other);
    let left = std::fs::read_dir(app.state.data().join("avatars")).expect("a folder");
    let files = left.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_file()));
    assert_eq!(files.count(), 0, "what was refused is gone");
}

#[actix_web::test]
async fn what_is_no_picture_changes_nothing() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let path = format!("/users/{}", app.user("ada").id);
    let formats = "file format is not supported. Please try one of the following supported formats: png, jpg, jpeg, gif, bmp, tiff, ico, webp";

    let wrong = json!({ "message": { "avatar": [formats] } });
    picture(&root, &path, "me.svg", PNG).await.refused(400, wrong.clone());
    picture(&root, &path, "me.png", b"<script>").await.refused(400, wrong);
    let large = [PNG, &vec![0; 10 << 20]].concat();
    let wrong = json!({ "message": { "avatar": ["is too big (should be at most 200 KiB)"] } });
    picture(&root, &path, "me.png", &large).await.refused(400, wrong);
    root.put(&path, json!({ "avatar": "me.png" }))
        .await
        .refused(400, json!({ "error": "avatar is invalid" }));
    assert_eq!(app.user("ada").avatar, None);
}

#[actix_web::test]
async fn gravatar_is_a_matter_of_the_installation() {
    let app = TestApp::new();
    let root = app.admin();
    assert_eq!(
        root.get("/user").await.ok()["avatar_url"],
        format!("https://www.gravatar.com/avatar/{}?s=80&d=identicon", digest("root@example.com"))
    );

    root.put("/application/settings", json!({ "gravatar_enabled": false })).await.ok();

    assert_eq!(root.get("/user").await.ok()["avatar_url"], Value::Null);
}

fn digest(email: &str) -> String {
    org::token::Secret::given(email).digest()
}

#[actix_web::test]
async fn a_hidden_address_for_commits_tells_the_id_alone() {
    let app = TestApp::new();
    let root = app.admin();
    let ada = app.person("ada");
    let id = app.user("ada").id;

    let hidden =
        root.put(&format!("/users/{id}"), json!({ "commit_email": "_private" })).await.ok();

    let address = format!("{id}-ada@users.noreply.forge.test");
    assert_eq!(hidden["commit_email"], address);
    assert_eq!(ada.get("/user").await.ok()["commit_email"], address);
}

#[actix_web::test]
async fn a_password_that_somebody_else_set_must_be_changed_first() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let path = format!("/users/{}", app.user("ada").id);

    root.put(&path, json!({ "password": "difference engine" })).await.ok();
    let own = format!("/users/{}", app.user("root").id);
    root.put(&own, json!({ "password": "difference engine" })).await.ok();

    let told = json!({ "message": "403 Forbidden - Your password expired. Please access GitLab from a web browser to update your password." });
    ada.get("/user").await.refused(403, told);
    assert_eq!(root.get("/user").await.status, 200, "one's own is good");
    let short = json!({ "message": { "password": ["is too short (minimum is 8 characters)"] } });
    root.put(&path, json!({ "password": "short" })).await.refused(400, short);
}

#[actix_web::test]
async fn what_somebody_wrote_stays_under_the_name_of_nobody() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let group = root.post("/groups", json!({ "name": "Team", "path": "team" })).await.created();
    let members = format!("/groups/{}/members", group["id"]);
    let id = app.user("ada").id;
    root.post(&members, json!({ "user_id": id.0, "access_level": 40 })).await.created();
    let tool = json!({ "name": "tool", "namespace_id": group["id"] });
    let project = ada.post("/projects", tool).await.created();

    assert_eq!(root.delete(&format!("/users/{id}")).await.status, 204);

    let ghost = root.get("/users?search=ghost").await.ok()[0].clone();
    let project = root.get(&format!("/projects/{}", project["id"])).await.ok();
    assert_eq!(project["creator_id"], ghost["id"]);
    assert_eq!(ghost["name"], "Ghost User");
    assert!(root.get("/users?search=ghost&exclude_internal=true").await.each("id").is_empty());
    assert_eq!(root.get(&format!("/users/{id}")).await.status, 404);
}

#[actix_web::test]
async fn what_happens_to_accounts_is_announced() {
    let app = TestApp::new();
    let root = app.admin();

    let made = root.post("/users", ada()).await.created();
    let path = format!("/users/{}", made["id"]);
    root.put(&path, json!({ "username": "countess" })).await.ok();
    root.delete(&path).await;

    let kinds = app.announced_of_people();
    assert_eq!(
        kinds.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(),
        ["user.create", "user.rename", "user.destroy"]
    );
    let told: Value = serde_json::from_str(&kinds[1].1).expect("JSON");
    assert_eq!(told["event_name"], "user_rename");
    assert_eq!((&told["username"], &told["old_username"]), (&json!("countess"), &json!("ada")));
    assert_eq!((&told["user_id"], &told["email"]), (&made["id"], &json!("ada@example.org")));
}

#[actix_web::test]
async fn a_new_name_moves_the_projects_too() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = app.project(&ada, "tool", Visibility::Private);
    let path = format!("/users/{}", app.user("ada").id);

    root.put(&path, json!({ "username": "countess" })).await.ok();

    let moved = ada.get(&format!("/projects/{project}")).await.ok();
    assert_eq!(moved["path_with_namespace"], "countess/tool");
    assert_eq!(
        ada.get("/projects/ada%2Ftool").await.ok()["id"],
        project.0,
        "the old path still leads there"
    );
}

#[actix_web::test]
async fn a_password_is_given_mailed_or_drawn() {
    let app = TestApp::new();
    let root = app.admin();
    let make = async |name: &str, more: Value| {
        let email = format!("{name}@x.test");
        root.post("/users", with(json!({ "username": name, "name": "N", "email": email }), more))
            .await
    };
    let letters = || app.queued().iter().filter(|work| work.contains("new_account")).count();

    for (name, more) in [
        ("drawn", json!({ "password": "x", "force_random_password": true })),
        ("given", json!({ "password": "difference engine", "reset_password": false })),
    ] {
        make(name, more).await.created();
        assert_eq!(letters(), 0, "{name}");
    }
    make("both", json!({ "reset_password": true, "force_random_password": true })).await.created();
    assert_eq!(letters(), 1);
    make("mailed", json!({ "password": "x", "reset_password": true })).await.created();
    assert_eq!(letters(), 2, "the link overrides the password");
    let blank = json!({ "message": { "password": ["can't be blank"] } });
    let neither = json!({ "reset_password": false, "force_random_password": false });
    make("none", neither).await.refused(400, blank);
    let long = json!({ "message": { "password": ["is too long (maximum is 128 characters)"] } });
    make("long", json!({ "password": "xy".repeat(65) })).await.refused(400, long);
}
