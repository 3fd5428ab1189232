//! SSH keys of people.

use serde_json::{Value, json};

use crate::support::{Person, TestApp, keys};

fn wanted(key: &str) -> Value {
    json!({ "title": "laptop", "key": format!("{key} ada@secret.example") })
}

async fn add(person: &Person<'_>) -> (Value, String) {
    let key = keys::ssh_line();
    (person.post("/user/keys", wanted(&key)).await.created(), key)
}

#[actix_web::test]
async fn a_key_is_added_and_shown_without_its_comment() {
    let app = TestApp::new();
    let ada = app.person("ada");

    let (made, key) = add(&ada).await;

    assert_eq!(
        (&made["title"], &made["usage_type"]),
        (&json!("laptop"), &json!("auth_and_signing"))
    );
    assert_eq!(
        (&made["expires_at"], &made["key"]),
        (&json!(null), &json!(format!("{key} ada (forge.test)")))
    );
    assert_eq!(ada.get(&format!("/user/keys/{}", made["id"])).await.ok(), made);
    let list = ada.get("/user/keys").await;
    assert_eq!(list.header("x-total"), Some("1"));
    assert_eq!(list.each("id"), [made["id"].clone()]);
}

#[actix_web::test]
async fn a_key_may_be_for_one_thing_and_for_some_time() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let mut wanted = wanted(&keys::ssh_line());
    wanted["usage_type"] = json!("signing");
    wanted["expires_at"] = json!("2999-01-01");

    let made = ada.post("/user/keys", wanted.clone()).await.created();

    assert_eq!(made["usage_type"], "signing");
    assert_eq!(made["expires_at"], "2999-01-01T00:00:00.000Z");
    wanted["usage_type"] = json!("all");
    let told = json!({ "error": "usage_type does not have a valid value" });
    ada.post("/user/keys", wanted).await.refused(400, told);
}

#[actix_web::test]
async fn what_cannot_be_a_key_is_refused() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (_, key) = add(&ada).await;
    let rows = app.row_counts();
    let fresh = keys::ssh_line();

    let tries = [
        (json!({ "title": "x", "key": "nonsense" }), json!({ "key": ["is invalid"] })),
        (json!({ "title": " ", "key": &fresh }), json!({ "title": ["can't be blank"] })),
        (
            json!({ "title": "x".repeat(256), "key": &fresh }),
            json!({ "title": ["is too long (maximum is 255 characters)"] }),
        ),
        (
            json!({ "title": "x", "key": &fresh, "expires_at": "2001-01-01" }),
            json!({ "key": ["has expired"] }),
        ),
        (wanted(&key), json!({ "fingerprint_sha256": ["has already been taken"] })),
        (
            json!({ "title": "x", "key": format!("{fresh} {}", "c".repeat(5000)) }),
            json!({ "key": ["is too long (maximum is 5000 characters)", "is invalid"] }),
        ),
    ];
    for (body, told) in tries {
        bob.post("/user/keys", body).await.refused(400, json!({ "message": told }));
    }

    let missing = json!({ "error": "title is missing, key is missing" });
    bob.post("/user/keys", json!({})).await.refused(400, missing);
    assert_eq!(app.row_counts(), rows);
}

#[actix_web::test]
async fn a_key_that_everybody_has_is_nobodys() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let rows = app.row_counts();

    let told = "cannot be used because it belongs to a compromised private key. Stop using this key and generate a new one.";
    let told = json!({ "message": { "key": [told] } });
    ada.post("/user/keys", wanted(keys::KNOWN_TO_ALL)).await.refused(400, told);
    assert_eq!(app.row_counts(), rows);
}

#[actix_web::test]
async fn the_installation_says_which_keys_it_takes() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let settings = "/application/settings";
    let others = json!({ "ed25519_key_restriction": -1, "dsa_key_restriction": -1, "ecdsa_sk_key_restriction": -1,
        "ed25519_sk_key_restriction": -1, "rsa_key_restriction": 4096 });
    root.put(settings, others).await.ok();

    let told = json!({ "message": { "key": ["type is forbidden. Must be RSA or ECDSA"] } });
    ada.post("/user/keys", wanted(&keys::ssh_line())).await.refused(400, told);
    let told = json!({ "message": { "key": ["must be at least 4096 bits"] } });
    ada.post("/user/keys", wanted(keys::SHORT_RSA)).await.refused(400, told);

    root.put(settings, json!({ "ed25519_key_restriction": 0, "max_ssh_key_lifetime": 30 }))
        .await
        .ok();
    let told = json!({ "message": { "key": ["has no expiration date but an expiration date is required"] } });
    ada.post("/user/keys", wanted(&keys::ssh_line())).await.refused(400, told);
    assert_eq!(root.put(settings, json!({ "rsa_key_restriction": 77 })).await.status, 400);
}

#[actix_web::test]
async fn everybody_sees_the_keys_of_somebody() {
    let app = TestApp::new();
    let (made, _) = add(&app.person("ada")).await;
    let nobody = app.anonymous();

    assert_eq!(nobody.get("/users/ADA/keys").await.each("id"), [made["id"].clone()]);
    let path = format!("/users/{}/keys/{}", app.user("ada").id, made["id"]);
    assert_eq!(nobody.get(&path).await.ok(), made);
    let absent = json!({ "message": "404 Key Not Found" });
    app.person("bob");
    nobody.get(&format!("/users/bob/keys/{}", made["id"])).await.refused(404, absent);
    let nowhere = json!({ "message": "404 User Not Found" });
    nobody.get("/users/eve/keys").await.refused(404, nowhere.clone());

    let closed = json!({ "restricted_visibility_levels": ["public"] });
    app.admin().put("/application/settings", closed).await.ok();
    nobody.get("/users/ada/keys").await.refused(404, nowhere);
    app.person("bob").get("/users/ada/keys").await.ok();
}

#[actix_web::test]
async fn a_key_goes_and_may_come_back() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (made, key) = add(&ada).await;
    let path = format!("/user/keys/{}", made["id"]);
    let absent = json!({ "message": "404 Key Not Found" });

    bob.delete(&path).await.refused(404, absent.clone());
    let early = ada.sending("If-Unmodified-Since", "2001-01-01T00:00:00Z");
    assert_eq!(early.delete(&path).await.status, 412);
    assert_eq!(ada.delete(&path).await.status, 204);

    ada.delete(&path).await.refused(404, absent.clone());
    ada.get(&path).await.refused(404, absent.clone());
    assert!(ada.get("/user/keys").await.each("id").is_empty());
    app.admin().get(&format!("/keys/{}", made["id"])).await.refused(404, absent);
    bob.post("/user/keys", wanted(&key)).await.created();
}

#[actix_web::test]
async fn an_administrator_looks_after_the_keys_of_others() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let path = format!("/users/{}/keys", app.user("ada").id);
    let key = keys::ssh_line();

    let made = root.post(&path, wanted(&key)).await.created();

    let sha256 = keys::sha256_of(&key);
    let found = root.get(&format!("/keys?fingerprint={}", keys::in_query(&sha256))).await.ok();
    assert_eq!((&found["id"], &found["user"]["username"]), (&made["id"], &json!("ada")));
    assert_eq!(root.get(&format!("/keys/{}", made["id"])).await.ok(), found);
    // That she was here is noted a moment later, and the record tells it.
    let forbidden = json!({ "message": "403 Forbidden" });
    ada.post(&path, wanted(&key)).await.refused(403, forbidden.clone());
    ada.get(&format!("/keys/{}", made["id"])).await.refused(403, forbidden);
    assert_eq!(root.delete(&format!("{path}/{}", made["id"])).await.status, 204);
    let absent = json!({ "message": "404 Key Not Found" });
    root.get(&format!("/keys?fingerprint={}", keys::in_query(&sha256))).await.refused(404, absent);
    let nobody = json!({ "message": "404 User Not Found" });
    root.post("/users/999/keys", wanted(&key)).await.refused(404, nobody);
}
