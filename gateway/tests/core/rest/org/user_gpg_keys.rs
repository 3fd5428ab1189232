//! PGP keys of people.

use serde_json::json;

use crate::support::{TestApp, keys::Pgp};

const NOT_ARMOURED: &str = "is invalid. A valid public GPG key begins with '-----BEGIN PGP PUBLIC KEY BLOCK-----' and ends \
                            with '-----END PGP PUBLIC KEY BLOCK-----'";

#[actix_web::test]
async fn a_key_is_added_shown_and_removed() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let key = Pgp::of("Ada <ada@example.com>").public();

    let made = ada.post("/user/gpg_keys", json!({ "key": &key })).await.created();

    assert_eq!(made["key"], json!(key.trim()));
    assert!(made["created_at"].is_string());
    let path = format!("/user/gpg_keys/{}", made["id"]);
    assert_eq!(ada.get(&path).await.ok(), made);
    assert_eq!(ada.get("/user/gpg_keys").await.each("id"), [made["id"].clone()]);
    let of_ada = format!("/users/{}/gpg_keys", app.user("ada").id);
    assert_eq!(app.anonymous().get(&of_ada).await.each("id"), [made["id"].clone()]);
    assert_eq!(app.anonymous().get(&format!("{of_ada}/{}", made["id"])).await.ok(), made);
    let absent = json!({ "message": "404 GPG Key Not Found" });
    bob.get(&path).await.refused(404, absent.clone());
    bob.delete(&path).await.refused(404, absent.clone());
    assert_eq!(ada.sending("If-Unmodified-Since", "2001-01-01").delete(&path).await.status, 412);
    assert_eq!(ada.delete(&path).await.status, 204);
    ada.get(&path).await.refused(404, absent);
}

#[actix_web::test]
async fn what_cannot_be_a_key_is_refused() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let key = Pgp::of("Ada <ada@example.com>").public();
    ada.post("/user/gpg_keys", json!({ "key": &key })).await.created();
    let rows = app.row_counts();
    let hollow = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----";
    let rewrapped = key.replacen("-----\n", "-----\nComment: mine\n", 1);

    let blank = json!({ "fingerprint": ["can't be blank"], "primary_keyid": ["can't be blank"] });
    let taken = json!({ "fingerprint": ["has already been taken"], "primary_keyid": ["has already been taken"] });
    for (text, told) in [
        ("nonsense", json!({ "key": [NOT_ARMOURED] })),
        (hollow, blank),
        (key.as_str(), json!({ "key": ["has already been taken"] })),
        (rewrapped.as_str(), taken),
        ("", json!({ "key": ["can't be blank", NOT_ARMOURED] })),
    ] {
        let told = json!({ "message": told });
        bob.post("/user/gpg_keys", json!({ "key": text })).await.refused(400, told);
    }

    bob.post("/user/gpg_keys", json!({})).await.refused(400, json!({ "error": "key is missing" }));
    assert_eq!(app.row_counts(), rows);
}

#[actix_web::test]
async fn a_key_that_was_revoked_is_gone() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let key = json!({ "key": Pgp::of("Ada <ada@example.com>").public() });
    let made = ada.post("/user/gpg_keys", key.clone()).await.created();
    let path = format!("/user/gpg_keys/{}", made["id"]);

    ada.post(&format!("{path}/revoke"), json!({}))
        .await
        .refused(202, json!({ "message": "202 Accepted" }));

    let absent = json!({ "message": "404 GPG Key Not Found" });
    ada.post(&format!("{path}/revoke"), json!({})).await.refused(404, absent.clone());
    let of_ada = format!("/users/{}/gpg_keys", app.user("ada").id);
    let again = root.post(&of_ada, key).await.created();
    let forbidden = json!({ "message": "403 Forbidden" });
    ada.delete(&format!("{of_ada}/{}", again["id"])).await.refused(403, forbidden);
    assert_eq!(root.post(&format!("{of_ada}/{}/revoke", again["id"]), json!({})).await.status, 202);
    root.delete(&format!("{of_ada}/{}", again["id"])).await.refused(404, absent);
    root.get("/users/999/gpg_keys").await.refused(404, json!({ "message": "404 User Not Found" }));
}
