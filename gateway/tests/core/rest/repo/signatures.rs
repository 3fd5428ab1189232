//! Signatures of commits and tags, made here with keys of people.

use kernel::ids::ProjectId;
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{
    TestApp,
    keys::{self, Pgp},
};

/// A signed commit by `committer`, in a public project.
fn commit(committer: &str, sign: impl FnOnce(&[u8]) -> String) -> (TestApp, ProjectId, String) {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let tree = fixture.lines(&["rev-parse", "main^{tree}"])[0].clone();
    let head = format!(
        "tree {tree}\nauthor A <a@x> 1700000000 +0000\ncommitter C <{committer}> 1700000000 +0000\n"
    );
    let message = "\nSigned\n";
    let signature = sign(format!("{head}{message}").as_bytes());
    let folded = signature.trim_end().replace('\n', "\n ");
    let object = format!("{head}gpgsig {folded}\n{message}");
    let arguments = ["hash-object", "-t", "commit", "-w", "--stdin"];
    let id = fixture.git_with(&arguments, object.as_bytes());
    let id = String::from_utf8_lossy(&id).trim().to_owned();
    let project = app.project_from(&fixture);
    (app, project, id)
}

async fn shown(app: &TestApp, project: ProjectId, id: &str) -> Value {
    let path = format!("/projects/{project}/repository/commits/{id}/signature");
    app.anonymous().get(&path).await.ok()
}

async fn status(app: &TestApp, project: ProjectId, id: &str) -> Value {
    shown(app, project, id).await["verification_status"].clone()
}

async fn give_gpg(app: &TestApp, username: &str, key: &Pgp) -> Value {
    app.person(username).post("/user/gpg_keys", json!({ "key": key.public() })).await.created()
}

async fn give_ssh(app: &TestApp, username: &str, line: &str, usage: &str) -> Value {
    let wanted = json!({ "title": "k", "key": line, "usage_type": usage });
    app.person(username).post("/user/keys", wanted).await.created()
}

#[actix_web::test]
async fn a_pgp_signature_of_ones_own_is_verified() {
    let key = Pgp::of("Cara (work) <cara@example.com>");
    let (app, project, id) = commit("Cara@Example.com", |text| key.signature(text));
    let unknown = shown(&app, project, &id).await;
    let kept = give_gpg(&app, "cara", &key).await;

    let body = shown(&app, project, &id).await;

    assert_eq!(
        unknown,
        json!({ "signature_type": "PGP", "verification_status": "unknown_key", "gpg_key_id": null,
            "gpg_key_primary_keyid": key.id(), "gpg_key_user_name": null, "gpg_key_user_email": null,
            "gpg_key_subkey_id": null, "commit_source": "gitaly" })
    );
    assert_eq!(
        body,
        json!({ "signature_type": "PGP", "verification_status": "verified", "gpg_key_id": kept["id"],
            "gpg_key_primary_keyid": key.id(), "gpg_key_user_name": "Cara", "gpg_key_user_email": "cara@example.com",
            "gpg_key_subkey_id": null, "commit_source": "gitaly" })
    );
}

#[actix_web::test]
async fn a_subkey_signs_for_its_key() {
    let key = Pgp::of("Cara <cara@example.com>");
    let (app, project, id) = commit("cara@example.com", |text| key.signature_by_subkey(text));
    give_gpg(&app, "cara", &key).await;

    let body = shown(&app, project, &id).await;

    assert_eq!(body["verification_status"], "verified");
    assert_eq!(body["gpg_key_primary_keyid"], key.id());
    assert!(body["gpg_key_subkey_id"].is_i64());
}

#[actix_web::test]
async fn a_key_that_is_taken_away_vouches_for_nothing() {
    let key = Pgp::of("Cara <cara@example.com>");
    let (app, project, id) = commit("cara@example.com", |text| key.signature(text));
    let kept = give_gpg(&app, "cara", &key).await;
    assert_eq!(status(&app, project, &id).await, "verified");

    let path = format!("/user/gpg_keys/{}/revoke", kept["id"]);
    app.person("cara").post(&path, json!({})).await;

    assert_eq!(status(&app, project, &id).await, "unknown_key");
}

#[actix_web::test]
async fn whose_address_it_is_decides() {
    let key = Pgp::of("Cara <cara@example.com>");
    let (app, project, id) = commit("c@work.example", |text| key.signature(text));
    give_gpg(&app, "cara", &key).await;
    assert_eq!(status(&app, project, &id).await, "other_user");

    let mail = json!({ "email": "c@work.example", "skip_confirmation": true });
    let path = format!("/users/{}/emails", app.user("cara").id);
    app.admin().post(&path, mail).await.created();

    assert_eq!(status(&app, project, &id).await, "same_user_different_email");
}

#[actix_web::test]
async fn a_key_in_the_hands_of_another_is_not_verified() {
    let key = Pgp::of("Cara <cara@example.com>");
    let (app, project, id) = commit("cara@example.com", |text| key.signature(text));
    app.person("cara");

    give_gpg(&app, "eve", &key).await;

    assert_eq!(status(&app, project, &id).await, "unverified_key");
}

#[actix_web::test]
async fn what_was_not_signed_is_not_verified() {
    let key = Pgp::of("Cara <cara@example.com>");
    let (app, project, id) = commit("cara@example.com", |_| key.signature(b"something else"));
    give_gpg(&app, "cara", &key).await;
    assert_eq!(status(&app, project, &id).await, "unverified");

    let early = keys::KEY_MADE - 1;
    let (app, project, id) = commit("cara@example.com", |text| key.signature_at(text, early));
    give_gpg(&app, "cara", &key).await;
    assert_eq!(status(&app, project, &id).await, "unverified", "before the key was made");
}

#[actix_web::test]
async fn two_signatures_are_one_too_many() {
    let key = Pgp::of("Cara <cara@example.com>");
    let (app, project, id) = commit("cara@example.com", |text| key.two_signatures(text));
    give_gpg(&app, "cara", &key).await;

    assert_eq!(status(&app, project, &id).await, "multiple_signatures");
}

#[actix_web::test]
async fn an_ssh_signature_is_shown_with_its_key() {
    let key = keys::ssh();
    let (app, project, id) =
        commit("cara@example.com", |text| keys::ssh_signature(&key, "git", text));
    assert_eq!(status(&app, project, &id).await, "unknown_key");
    let kept = give_ssh(&app, "cara", &keys::line_of(&key), "signing").await;

    let body = shown(&app, project, &id).await;

    assert_eq!(
        body,
        json!({ "signature_type": "SSH", "verification_status": "verified", "key": kept, "commit_source": "gitaly" })
    );
}

#[actix_web::test]
async fn an_ssh_key_that_does_not_sign_is_unknown() {
    let key = keys::ssh();
    let (app, project, id) =
        commit("cara@example.com", |text| keys::ssh_signature(&key, "git", text));
    give_ssh(&app, "cara", &keys::line_of(&key), "auth").await;

    assert_eq!(status(&app, project, &id).await, "unknown_key");
}

#[actix_web::test]
async fn an_ssh_signature_counts_for_its_owners_commits_alone() {
    let key = keys::ssh();
    let (app, project, id) =
        commit("cara@example.com", |text| keys::ssh_signature(&key, "git", text));
    give_ssh(&app, "eve", &keys::line_of(&key), "auth_and_signing").await;
    assert_eq!(status(&app, project, &id).await, "unverified");

    app.person("cara");

    assert_eq!(status(&app, project, &id).await, "other_user");
}

#[actix_web::test]
async fn an_ssh_signature_for_something_else_says_nothing() {
    let key = keys::ssh();
    for (namespace, text) in [("file", None), ("git", Some(&b"another"[..]))] {
        let (app, project, id) = commit("cara@example.com", |payload| {
            keys::ssh_signature(&key, namespace, text.unwrap_or(payload))
        });
        give_ssh(&app, "cara", &keys::line_of(&key), "auth_and_signing").await;
        assert_eq!(status(&app, project, &id).await, "unverified");
    }
}

const AUTHORITIES: &str = include_str!("../../../support/x509/root.pem");

/// A commit by `committer`, with a signature that was made beforehand.
fn certified(app: &TestApp, committer: &str, signature: &str) -> (ProjectId, String) {
    let fixture = Fixture::new();
    let head = format!(
        "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@x> 1700000000 +0000\ncommitter C <{committer}> 1700000000 +0000\n"
    );
    let folded = signature.trim_end().replace('\n', "\n ");
    let object = format!("{head}gpgsig {folded}\n\nSigned\n");
    let arguments = ["hash-object", "-t", "commit", "-w", "--stdin"];
    let id = fixture.git_with(&arguments, object.as_bytes());
    let id = String::from_utf8_lossy(&id).trim().to_owned();
    (app.project_from(&fixture), id)
}

macro_rules! signature {
    ($name:literal) => {
        include_str!(concat!("../../../support/x509/", $name, ".sig"))
    };
}

#[actix_web::test]
async fn a_certificate_that_an_authority_stands_behind_is_verified_and_shown() {
    let app = TestApp::trusting(AUTHORITIES);
    app.person("cara");
    let (project, id) = certified(&app, "cara@example.com", signature!("of_cara"));

    let body = shown(&app, project, &id).await;

    let certificate = &body["x509_certificate"];
    let (own, issuer) = (&certificate["id"], &certificate["x509_issuer"]["id"]);
    assert!(own.is_i64() && issuer.is_i64(), "{body}");
    let path = format!("/projects/{project}/repository/commits/{id}/signature");
    let text = String::from_utf8(app.anonymous().get(&path).await.bytes.to_vec()).expect("text");
    assert!(text.contains("\"serial_number\":170141183460469231731687303715884105473,"), "{text}");
    assert_eq!(
        (&body["signature_type"], &body["verification_status"]),
        (&json!("X509"), &json!("verified"))
    );
    assert_eq!(certificate["subject"], "CN=Cara,OU=Example,O=World");
    assert_eq!(
        certificate["subject_key_identifier"],
        "A6:C2:38:07:ED:E6:2C:DF:CB:20:0E:1A:C9:8E:A1:9F:C0:B8:5A:86"
    );
    assert_eq!(
        (&certificate["email"], &certificate["certificate_status"]),
        (&json!("cara@example.com"), &json!("good"))
    );
    assert_eq!(
        certificate["x509_issuer"],
        json!({ "id": issuer, "subject": "CN=Issuing,OU=Example,O=World",
            "subject_key_identifier": "33:36:EF:2C:C7:EC:2B:E5:C6:AE:DD:C3:E6:54:C3:9F:55:B3:B6:C4",
            "crl_url": "http://example.com/issuing.crl" })
    );
    assert_eq!(shown(&app, project, &id).await, body, "the numbers stay");
}

#[actix_web::test]
async fn a_certificate_is_not_enough_by_itself() {
    let app = TestApp::trusting(AUTHORITIES);
    let (project, id) = certified(&app, "cara@example.com", signature!("of_cara"));
    assert_eq!(status(&app, project, &id).await, "unverified", "nobody has the address");
    app.person("cara");
    assert_eq!(status(&app, project, &id).await, "verified");

    for (committer, signature, why) in [
        ("eve@example.com", signature!("of_cara_for_eve"), "the address of somebody else"),
        ("cara@example.com", signature!("of_cara_for_eve"), "something else was signed"),
        ("cara@example.com", signature!("for_web"), "made for something else"),
        ("cara@example.com", signature!("without_issuer"), "nobody knows the issuer"),
    ] {
        let app = TestApp::trusting(AUTHORITIES);
        for name in ["cara", "eve"] {
            app.person(name);
        }
        let (project, id) = certified(&app, committer, signature);
        let body = shown(&app, project, &id).await;
        assert_eq!(body["verification_status"], "unverified", "{why}");
        assert_eq!(body["x509_certificate"]["email"], "cara@example.com", "{why}");
    }

    let app = TestApp::new();
    app.person("cara");
    let (project, id) = certified(&app, "cara@example.com", signature!("of_cara"));
    assert_eq!(status(&app, project, &id).await, "unverified", "no authority is trusted");
}

/// An authority on the largest curve, and what it has taken back.
const CURVES: &str = include_str!("../../../support/x509/curves.pem");
const TAKEN_BACK: &str = include_str!("../../../support/x509/curves.crl");

/// A commit by cara, to whom the address belongs, as it is shown where these authorities are trusted.
async fn judged(authorities: &str, committer: &str, signature: &str) -> [Value; 3] {
    let app = TestApp::trusting(authorities);
    app.person("cara");
    let (project, id) = certified(&app, committer, signature);
    let body = shown(&app, project, &id).await;
    let certificate = &body["x509_certificate"];
    [&body["verification_status"], &certificate["certificate_status"], &certificate["email"]]
        .map(Value::clone)
}

#[actix_web::test]
async fn every_curve_signs_with_every_digest_that_is_long_enough() {
    for signature in [
        signature!("p521_sha512"),
        signature!("p521_sha384"),
        signature!("p384_sha512"),
        signature!("p256_sha512"),
    ] {
        let told = judged(CURVES, "cara@example.com", signature).await;
        assert_eq!(told, ["verified", "good", "cara@example.com"], "{signature}");
        let told = judged(CURVES, "CARA@example.com", signature).await;
        assert_eq!(told[0], "unverified", "something else was signed");
    }
}

#[actix_web::test]
async fn where_several_signed_everybody_must_have() {
    let told = judged(CURVES, "cara@example.com", signature!("of_two")).await;
    assert_eq!(told, ["verified", "good", "cara@example.com"]);

    let told = judged(CURVES, "cara@example.com", signature!("of_two_one_unknown")).await;
    assert_eq!(told[0], "unverified");
}

#[actix_web::test]
async fn a_certificate_that_was_taken_back_is_worth_nothing() {
    let authorities = format!("{CURVES}{TAKEN_BACK}");

    let told = judged(&authorities, "cara@example.com", signature!("p384_sha512")).await;
    assert_eq!(told[..2], ["unverified", "revoked"]);

    let told = judged(&authorities, "cara@example.com", signature!("p521_sha512")).await;
    assert_eq!(told[..2], ["verified", "good"]);
}
