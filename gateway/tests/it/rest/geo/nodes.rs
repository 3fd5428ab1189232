//! `gateway/src/rest/geo/nodes.rs`

use db::schema::oauth_applications as applications;
use diesel::prelude::*;
use forge::geo::GeoSettings;
use futures_util::future::join;
use geo::{Role, node::NodeStore as _};
use serde_json::{Value, json};

use super::{caller, primary, secondary};
use crate::support::TestApp;

/// How many OAuth applications there are.
fn applications(app: &TestApp) -> i64 {
    app.write(|tx| {
        let all = applications::table.count();
        db::each_backend!(tx, |conn| all.get_result(conn).map_err(db::error("Application")))
    })
}

#[actix_web::test]
async fn a_node_is_made_with_the_usual_values() {
    let app = TestApp::new();
    let made = primary(&app).await;
    let id = made["id"].clone();
    let expected = json!({
        "id": id, "name": "http://forge.test", "url": "http://forge.test/",
        "internal_url": "http://forge.test/", "primary": true, "enabled": true, "current": true,
        "files_max_capacity": 10, "repos_max_capacity": 25, "verification_max_capacity": 100,
        "container_repositories_max_capacity": 10, "selective_sync_type": null,
        "selective_sync_shards": [], "selective_sync_namespace_ids": [],
        "minimum_reverification_interval": 7, "clone_protocol": "http",
        "web_edit_url": format!("http://forge.test/admin/geo/sites/{id}/edit"),
        "_links": {
            "self": format!("http://forge.test/api/v4/geo_nodes/{id}"),
            "status": format!("http://forge.test/api/v4/geo_nodes/{id}/status"),
            "repair": format!("http://forge.test/api/v4/geo_nodes/{id}/repair"),
        },
    });
    assert_eq!(made, expected);
    let admin = app.admin();
    assert_eq!(admin.get(&format!("/geo_nodes/{id}")).await.ok(), expected);
    assert_eq!(admin.get("/geo_nodes").await.ok(), json!([expected]));
}

#[actix_web::test]
async fn the_later_name_of_the_resource_shows_no_protocol() {
    let app = TestApp::new();
    let id = primary(&app).await["id"].clone();

    let shown = app.admin().get(&format!("/geo_sites/{id}")).await.ok();

    assert_eq!(shown.get("clone_protocol"), None);
    let itself = format!("http://forge.test/api/v4/geo_sites/{id}");
    assert_eq!(shown["_links"]["self"], json!(itself));
}

#[actix_web::test]
async fn the_configured_name_says_which_node_is_the_current_one() {
    let node = GeoSettings { node: Some("north".to_owned()), role: Role::Primary };
    let app = TestApp::as_node(node);
    let admin = app.admin();
    let new = json!({ "name": "north", "url": "http://forge.test", "primary": true });

    let made = admin.post("/geo_nodes", new).await.created();

    assert_eq!(made["current"], json!(true));
    let rename = json!({ "name": "south", "url": "http://forge.test" });
    let path = format!("/geo_nodes/{}", made["id"]);
    assert_eq!(admin.put(&path, rename).await.ok()["current"], json!(false));
}

#[actix_web::test]
async fn nodes_are_for_administrators() {
    let app = TestApp::new();
    let id = primary(&app).await["id"].clone();
    let eve = app.person("eve");
    for path in
        ["/geo_nodes".to_owned(), format!("/geo_nodes/{id}"), "/geo_nodes/status".to_owned()]
    {
        eve.get(&path).await.with(403);
        app.anonymous().get(&path).await.with(401);
    }
    let change = json!({ "name": "x", "url": "http://x.test" });
    let path = format!("/geo_nodes/{id}");
    eve.put(&path, change.clone()).await.with(403);
    app.anonymous().put(&path, change.clone()).await.with(401);
    eve.delete(&path).await.with(403);
    eve.post("/geo_nodes", change).await.with(403);
    let missing = json!({ "message": "404 Not found" });
    app.admin().get("/geo_nodes/999").await.refused(404, missing);
}

#[actix_web::test]
async fn values_out_of_range_are_refused_and_change_nothing() {
    let app = TestApp::new();
    let before = primary(&app).await;
    let (admin, path) = (app.admin(), format!("/geo_nodes/{}", before["id"]));
    let negative = "must be greater than or equal to 0";
    let large = "must be less than or equal to 2147483647";
    let url = "must be a valid URL";
    for (field, value, text) in [
        ("name", json!("  "), "can't be blank"),
        ("name", json!("x".repeat(256)), "is too long (maximum is 255 characters)"),
        ("url", json!(""), "can't be blank"),
        ("url", json!("ftp://forge.test"), url),
        ("internal_url", json!("inner"), url),
        ("files_max_capacity", json!(-1), negative),
        ("repos_max_capacity", json!(-1), negative),
        ("verification_max_capacity", json!(-7), negative),
        ("container_repositories_max_capacity", json!(1_i64 << 40), large),
        ("minimum_reverification_interval", json!(0), "must be greater than or equal to 1"),
        ("selective_sync_type", json!("cities"), "is not included in the list"),
        ("enabled", json!(false), "Geo primary node cannot be disabled"),
    ] {
        let mut change = json!({ "name": before["name"], "url": before["url"] });
        change[field] = value;
        let refused = admin.put(&path, change).await;
        assert_eq!(refused.status, 400, "{field}");
        assert_eq!(refused.body["message"][field][0], json!(text), "{field}");
    }
    admin
        .put(&path, json!({ "name": "x" }))
        .await
        .refused(400, json!({ "error": "url is missing" }));
    assert_eq!(admin.get(&path).await.ok(), before);
}

#[actix_web::test]
async fn there_is_one_primary_and_one_node_of_a_name() {
    let app = TestApp::new();
    primary(&app).await;
    let new = json!({ "name": "HTTP://Forge.test", "url": "http://a.test", "primary": true });

    let refused = app.admin().post("/geo_nodes", new).await;

    let told = json!({ "message": {
        "name": ["has already been taken"], "primary": ["node already exists"],
    } });
    refused.refused(400, told);
    assert_eq!(app.admin().get("/geo_nodes").await.ok().as_array().map(Vec::len), Some(1));
}

#[actix_web::test]
async fn a_node_cannot_be_its_own_secondary() {
    let app = TestApp::new();
    let made = primary(&app).await;
    let change = json!({ "name": made["name"], "url": made["url"], "primary": false });

    let refused = app.admin().put(&format!("/geo_nodes/{}", made["id"]), change).await;

    assert_eq!(refused.status, 400);
    let text = refused.body["message"]["base"][0].as_str().unwrap_or_default();
    assert!(text.starts_with("Current node must be the primary node"), "{text}");
}

#[actix_web::test]
async fn a_secondary_needs_postgresql() {
    let app = TestApp::new();
    primary(&app).await;
    let new = json!({ "name": "copy", "url": "https://copy.test" });

    let answer = app.admin().post("/geo_nodes", new).await;

    if std::env::var_os(db::testing::URL).is_some() {
        let made = answer.created();
        let there =
            format!("https://copy.test/admin/geo/sites/{}/replication/lfs_objects", made["id"]);
        assert_eq!(made["web_geo_replication_details_url"], json!(there));
        assert_eq!(made["sync_object_storage"], json!(false));
        assert_eq!(applications(&app), 1);
        return;
    }
    assert_eq!(answer.status, 400);
    let text = answer.body["message"]["base"][0].as_str().unwrap_or_default();
    assert!(text.starts_with("A secondary node needs PostgreSQL"), "{text}");
    assert_eq!(applications(&app), 0);
}

#[actix_web::test]
async fn a_missing_oauth_application_is_made_again() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let (admin, path) = (app.admin(), format!("/geo_nodes/{}/repair", node.id));
    assert_eq!(applications(&app), 0);

    let repaired = admin.post(&path, json!({})).await.ok();

    assert_eq!(repaired["name"], json!("copy"));
    assert_eq!(applications(&app), 1);
    admin.post(&path, json!({})).await.ok();
    assert_eq!(applications(&app), 1);
    admin.delete(&format!("/geo_nodes/{}", node.id)).await.with(204);
    assert_eq!(applications(&app), 0);
}

#[actix_web::test]
async fn a_secondary_may_copy_some_groups_only() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let admin = app.admin();
    let group =
        admin.post("/groups", json!({ "name": "wheels", "path": "wheels" })).await.created();
    let path = format!("/geo_nodes/{}", node.id);
    let with = |ids: Value| {
        json!({ "name": "copy", "url": "https://copy.test", "selective_sync_type": "namespaces",
            "selective_sync_namespace_ids": ids, "selective_sync_shards": "default,other" })
    };

    let changed = admin.put(&path, with(json!(group["id"].to_string()))).await.ok();

    assert_eq!(changed["selective_sync_namespace_ids"], json!([group["id"]]));
    assert_eq!(changed["selective_sync_shards"], json!(["default", "other"]));
    admin.put(&path, with(json!([999_999]))).await.with(404);
    assert_eq!(admin.get(&path).await.ok(), changed);
}

#[actix_web::test]
async fn a_paused_secondary_changes_itself_and_nothing_else() {
    let app = TestApp::new();
    let (node, other) = (secondary(&app, "copy").await, secondary(&app, "third").await);
    let change = |name: &str, enabled: bool| json!({ "name": name, "url": "https://copy.test", "enabled": enabled });
    let path = format!("/geo_nodes/{}", node.id);
    caller(&app, &node).put(&path, change("copy", false)).await.ok();

    let back = caller(&app, &node).put(&path, change("copy", true)).await.ok();

    assert_eq!(back["enabled"], json!(true));
    let elsewhere = format!("/geo_nodes/{}", other.id);
    caller(&app, &node).put(&elsewhere, change("third", false)).await.with(401);
    for path in ["/geo_nodes", "/geo_nodes/status", &*path] {
        caller(&app, &node).get(path).await.with(400);
    }
    caller(&app, &node).delete(&path).await.with(400);
}

#[actix_web::test]
async fn a_primary_has_no_failures() {
    let app = TestApp::new();
    let told = json!({ "message": "404 Geo node Not Found" });
    app.admin().get("/geo_nodes/current/failures").await.refused(404, told);
    app.admin().get("/geo_nodes/current/failures?type=cat").await.with(400);
}

#[actix_web::test]
async fn the_key_of_a_node_is_stored_sealed() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    assert_eq!(node.access_key.len(), 20);
    assert!(node.secret_key(&app.state.vault).is_ok());
    let moved = geo::node::GeoNode { access_key: "other".to_owned(), ..node };
    assert!(moved.secret_key(&app.state.vault).is_err());
}

#[actix_web::test]
async fn of_two_primaries_that_come_at_once_one_is_made() {
    let app = TestApp::new();
    let admin = app.admin();
    let new = |name: &str| json!({ "name": name, "url": "http://a.test", "primary": true });

    let made =
        join(admin.post("/geo_nodes", new("one")), admin.post("/geo_nodes", new("two"))).await;

    let (first, second) = if made.0.status == 201 { made } else { (made.1, made.0) };
    first.created();
    let told = json!({ "message": { "primary": ["node already exists"] } });
    second.refused(400, told);
    assert_eq!(admin.get("/geo_nodes").await.ok().as_array().map(Vec::len), Some(1));
}

#[actix_web::test]
async fn an_application_that_is_deleted_by_itself_leaves_its_node_without_one() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let (admin, path) = (app.admin(), format!("/geo_nodes/{}/repair", node.id));
    admin.post(&path, json!({})).await.ok();
    let of = move |app: &TestApp| app.write(move |tx| tx.geo_node(node.id)).expect("the node");
    let application = of(&app).oauth_application_id.expect("an application");

    admin.delete(&format!("/applications/{application}")).await.with(204);

    assert_eq!(of(&app).oauth_application_id, None);
    admin.post(&path, json!({})).await.ok();
    assert!(of(&app).oauth_application_id.is_some_and(|made| made != application));
}
