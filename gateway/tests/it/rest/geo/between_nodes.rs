//! `gateway/src/rest/geo/between_nodes.rs`

use forge::geo::GeoSettings;
use geo::{Role, credential::Statement};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use time::Duration;

use super::{caller, credential, primary, secondary, showing};
use crate::support::TestApp;

const CLOCKS: &str = "Signature not within leeway of 60 seconds. Check your system clocks!";

#[actix_web::test]
async fn a_report_is_taken_of_the_node_that_signed_it() {
    let app = TestApp::new();
    let (node, other) = (secondary(&app, "copy").await, secondary(&app, "third").await);
    let report = json!({ "geo_node_id": node.id });

    let taken = caller(&app, &node).post("/geo/status", report.clone()).await;

    assert_eq!((taken.status, taken.body), (201, Value::Null));
    let refusal = json!({ "message": "401 Unauthorized" });
    caller(&app, &other).post("/geo/status", report.clone()).await.refused(401, refusal.clone());
    app.anonymous().post("/geo/status", report.clone()).await.refused(401, refusal.clone());
    app.admin().post("/geo/status", report.clone()).await.refused(401, refusal.clone());
    let scope = Statement::new([("scope", json!("ada/engine"))]);
    let elsewhere = credential(&app, &node, &scope);
    showing(&app, &elsewhere).post("/geo/status", report).await.refused(401, refusal);
}

#[actix_web::test]
async fn clocks_that_are_apart_are_told_of() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let report = json!({ "geo_node_id": node.id });
    let shown = credential(&app, &node, &Statement::of_api());
    app.clock.advance(Duration::seconds(119));
    showing(&app, &shown).post("/geo/status", report.clone()).await.created();
    app.clock.advance(Duration::seconds(1));

    let refused = showing(&app, &shown).post("/geo/status", report).await;

    refused.refused(401, json!({ "message": CLOCKS }));
}

#[actix_web::test]
async fn forged_and_stale_credentials_are_refused() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let shown = credential(&app, &node, &Statement::of_api());
    let (head, body) = shown.split_once(':').expect("a credential");
    let report = json!({ "geo_node_id": node.id });
    for round in 0..10_000_usize {
        let mut bytes = body.as_bytes().to_vec();
        let at = (round * 7_919) % (bytes.len() - 1);
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let forged = format!("{head}:{}", String::from_utf8_lossy(&bytes));
        showing(&app, &forged).post("/geo/status", report.clone()).await.with(401);
    }
    for odd in ["GL-Geo", "GL-Geo x", "GL-Geo x:y", "GL-Geo :", "gl-geo x:y"] {
        showing(&app, odd).post("/geo/status", report.clone()).await.with(401);
    }
    app.admin().get(&format!("/geo_nodes/{}/status", node.id)).await.with(404);
}

#[actix_web::test]
async fn a_signature_is_asked_for_before_parameters_are_read() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let refusal = json!({ "message": "401 Unauthorized" });
    let forged = credential(&app, &node, &Statement::of_api()) + "x";
    let own = format!("/geo_nodes/{}", node.id);
    for caller in [app.anonymous(), showing(&app, &forged)] {
        caller.post("/geo/status", json!({})).await.refused(401, refusal.clone());
        caller.put(&own, json!({})).await.refused(401, refusal.clone());
        caller.put("/geo_sites/x", json!({ "enabled": "x" })).await.refused(401, refusal.clone());
    }
    app.admin().post("/geo/status", json!({})).await.refused(401, refusal);

    let signed = caller(&app, &node);
    let missing = json!({ "error": "geo_node_id is missing" });
    signed.post("/geo/status", json!({})).await.refused(400, missing);
    signed.put(&own, json!({})).await.with(400);
    app.admin().put(&own, json!({})).await.with(400);
}

#[actix_web::test]
async fn a_secondary_gives_no_files_and_takes_no_reports() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let copy = TestApp::beside(app.location(), Some(&app), |settings| {
        settings.forge.geo = GeoSettings { node: Some("copy".to_owned()), role: Role::Secondary };
    });
    let wish =
        Statement::new([("replicable_name", json!("upload")), ("replicable_id", json!("a/7/b"))]);
    let (shown, path) = (credential(&app, &node, &wish), "/geo/retrieve/upload/a/7/b");
    let told = json!({ "message": "403 Forbidden - this node is not the primary" });

    showing(&copy, &shown).get(path).await.refused(403, told.clone());
    let report = json!({ "geo_node_id": node.id });
    showing(&copy, &credential(&app, &node, &Statement::of_api()))
        .post("/geo/status", report)
        .await
        .refused(403, told);

    copy.anonymous().get(path).await.with(401);
    showing(&app, &shown).get(path).await.with(404);
}

#[actix_web::test]
async fn a_disabled_or_removed_node_is_not_heard() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let (admin, path) = (app.admin(), format!("/geo_nodes/{}", node.id));
    let report = json!({ "geo_node_id": node.id });
    let change = json!({ "name": "copy", "url": "https://copy.test", "enabled": false });
    admin.put(&path, change).await.ok();

    caller(&app, &node).post("/geo/status", report.clone()).await.with(401);
    admin.delete(&path).await.with(204);

    caller(&app, &node).post("/geo/status", report).await.with(401);
}

#[actix_web::test]
async fn nodes_are_heard_from_allowed_addresses() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let (admin, settings) = (app.admin(), "/application/settings");
    let report = json!({ "geo_node_id": node.id });
    admin.put(settings, json!({ "geo_node_allowed_ips": "192.0.2.0/24" })).await.ok();

    caller(&app, &node).from("192.0.2.7").post("/geo/status", report.clone()).await.created();
    caller(&app, &node).from("198.51.100.7").post("/geo/status", report).await.with(401);

    for odd in ["", "  ", "here", "192.0.2.0/99"] {
        let refused = admin.put(settings, json!({ "geo_node_allowed_ips": odd })).await;
        assert_eq!(refused.status, 400, "{odd:?}");
    }
}

#[actix_web::test]
async fn a_report_of_what_cannot_be_is_refused() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    for (field, value) in [
        ("db_replication_lag_seconds", json!(-1)),
        ("last_event_id", json!("x")),
        ("last_event_date", json!("yesterday")),
        ("status_message", json!("x".repeat(10_001))),
        ("version", json!("x".repeat(256))),
        ("status", json!("x")),
        ("status", json!({ "uploads_count": -1 })),
        ("status", json!({ "uploads_count": "many" })),
    ] {
        let mut report = json!({ "geo_node_id": node.id });
        report[field] = value;
        assert_eq!(caller(&app, &node).post("/geo/status", report).await.status, 400, "{field}");
    }
    app.admin().get(&format!("/geo_nodes/{}/status", node.id)).await.with(404);
}

#[actix_web::test]
async fn the_primary_does_not_report() {
    let app = TestApp::new();
    let id = primary(&app).await["id"].clone();
    let id = kernel::ids::GeoNodeId(id.as_i64().expect("an id"));
    let node = app.write(move |tx| geo::node::NodeStore::geo_node(tx, id)).expect("the node");
    let refused = caller(&app, &node).post("/geo/status", json!({ "geo_node_id": id })).await;
    assert_eq!(refused.status, 400);
}

#[actix_web::test]
async fn a_file_is_given_to_the_node_that_signed_for_it() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let name = "0123456789abcdef0123456789abcdef/7/plan.txt";
    let mut file = app.state.uploads.begin(name).expect("a file is begun");
    file.write(b"hello").await.expect("a file is written");
    file.finish().await.expect("the file is kept");
    let sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let noted = app.clock.now();
    app.write(move |tx| db::checksum::files::note(tx, "uploads", name, sum, noted));
    let wish = |checksum: &str| {
        Statement::new([
            ("replicable_name", json!("upload")),
            ("replicable_id", json!(name)),
            ("checksum", json!(checksum)),
        ])
    };
    let path = format!("/geo/retrieve/upload/{name}");
    let given = showing(&app, &credential(&app, &node, &wish(sum))).get(&path).await;
    assert_eq!((given.status, &*given.bytes), (200, &b"hello"[..]));
    assert_eq!(given.header("x-checksum-sha256"), Some(sum));
    let other = showing(&app, &credential(&app, &node, &wish("00"))).get(&path).await;
    other.refused(404, json!({ "message": "Checksum mismatch" }));
    caller(&app, &node).get(&path).await.with(401);
    let elsewhere = showing(&app, &credential(&app, &node, &wish(sum)));
    elsewhere.get("/geo/retrieve/upload/another").await.with(401);
    let gone = "0123456789abcdef0123456789abcdef/8/plan.txt";
    app.write(move |tx| db::checksum::files::note(tx, "uploads", gone, sum, noted));
    let wish =
        Statement::new([("replicable_name", json!("upload")), ("replicable_id", json!(gone))]);
    let path = format!("/geo/retrieve/upload/{gone}");
    let lost = showing(&app, &credential(&app, &node, &wish)).get(&path).await;
    lost.refused(404, json!({ "message": "File not found", "geo_code": "FILE_NOT_FOUND" }));
}

#[actix_web::test]
async fn no_name_of_a_file_leads_out_of_its_storage() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    std::fs::write(app.state.data().join("beside"), "private").expect("a file is written");
    for (kind, name) in [
        ("upload", "../beside"),
        ("upload", "x/../../beside"),
        ("upload", "%2e%2e/beside"),
        ("upload", "/etc/passwd"),
        ("job_artifact", "..\\beside"),
        ("lfs_object", "\0"),
        ("secret", "beside"),
        ("..", "beside"),
    ] {
        let wish =
            Statement::new([("replicable_name", json!(kind)), ("replicable_id", json!(name))]);
        let written = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let path = format!("/geo/retrieve/{}/{}", written(kind), written(name));
        let answer = showing(&app, &credential(&app, &node, &wish)).get(&path).await;
        assert!([400, 404].contains(&answer.status), "{kind} {name:?}: {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.bytes).contains("private"), "{name:?}");
    }
}

#[actix_web::test]
async fn one_node_does_not_speak_with_the_key_of_another() {
    let app = TestApp::new();
    let (node, other) = (secondary(&app, "copy").await, secondary(&app, "third").await);
    let report = json!({ "geo_node_id": node.id });
    let key = other.secret_key(&app.state.vault).expect("the key can be unsealed");
    for (life, pair) in [
        (Duration::minutes(1), (node.access_key.as_str(), &key)),
        (Duration::minutes(1), ("", &key)),
        (Duration::minutes(1), ("0123456789abcdef0123", &key)),
        (Duration::hours(3), (other.access_key.as_str(), &key)),
    ] {
        let shown = Statement::of_api().sign(pair, life, app.clock.now()).expect("signed");
        showing(&app, &shown).post("/geo/status", report.clone()).await.with(401);
    }
    let long = format!("GL-Geo {}:{}", node.access_key, "x".repeat(20_000));
    let answer = showing(&app, &long).post("/geo/status", report).await;
    assert!([401, 431].contains(&answer.status), "{}", answer.status);
    app.admin().get(&format!("/geo_nodes/{}/status", node.id)).await.with(404);
}
