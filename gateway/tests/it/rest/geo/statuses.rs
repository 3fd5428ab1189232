//! Statuses of nodes: `gateway/src/rest/geo/nodes.rs`

use db::schema::{lfs_objects, projects};
use diesel::prelude::*;
use kernel::{Visibility::Public, ids::GeoNodeId};
use repo::testing::Fixture;
use serde_json::{Value, json};
use time::Duration;

use super::{caller, primary, secondary};
use crate::support::{TestApp, ci::commit};

pub(super) async fn status(app: &TestApp, id: &Value) -> Value {
    app.admin().get(&format!("/geo_nodes/{id}/status?refresh=true")).await.ok()
}

/// Rows of tables, counted in another way than the status is.
fn recount(app: &TestApp) -> (i64, i64, Option<i64>) {
    app.write(|tx| {
        use db::schema::outbox;
        let projects = projects::table.count();
        let files =
            lfs_objects::table.select(diesel::dsl::count(lfs_objects::oid).aggregate_distinct());
        let last = outbox::table.select(diesel::dsl::max(outbox::id));
        db::each_backend!(tx, |conn| {
            let projects = projects.get_result(conn).map_err(db::error("Row"))?;
            let files = files.get_result(conn).map_err(db::error("Row"))?;
            let last = last.get_result(conn).map_err(db::error("Row"))?;
            Ok((projects, files, last))
        })
    })
}

#[actix_web::test]
async fn an_empty_primary_is_healthy_and_has_nothing() {
    let app = TestApp::new();
    let id = primary(&app).await["id"].clone();

    let shown = status(&app, &id).await;

    assert_eq!(shown["geo_node_id"], id);
    assert_eq!((&shown["healthy"], &shown["health"]), (&json!(true), &json!("Healthy")));
    assert_eq!(shown["health_status"], json!("Healthy"));
    assert_eq!(shown["missing_oauth_application"], json!(false));
    assert_eq!(shown["db_replication_lag_seconds"], Value::Null);
    assert_eq!(shown["projects_count"], json!(0));
    assert_eq!(shown["uploads_count"], json!(0));
    assert_eq!(shown["repositories_synced_count"], Value::Null);
    assert_eq!(shown["repositories_synced_in_percentage"], json!("0.00%"));
    assert_eq!(shown["cursor_last_event_timestamp"], json!(0));
    assert_eq!(shown["storage_shards"], json!([{ "name": "default" }]));
    assert_eq!(shown["storage_shards_match"], json!(true));
    assert_eq!(shown["revision"], json!("0123abcd"));
    assert_eq!(shown["container_repositories_replication_enabled"], json!(false));
    let design = "design_repositories_synced_missing_on_primary_count";
    assert_eq!(shown.get(design), Some(&Value::Null));
}

#[actix_web::test]
async fn a_list_of_statuses_does_not_name_places_of_storage() {
    let app = TestApp::new();
    let id = primary(&app).await["id"].clone();
    status(&app, &id).await;

    let listed = app.admin().get("/geo_nodes/status").await.ok();

    assert_eq!((&listed[0]["geo_node_id"], listed[0].get("storage_shards")), (&id, None));
    assert_eq!(listed[0]["storage_shards_match"], json!(true));
}

#[actix_web::test]
async fn a_server_whose_node_has_another_role_is_not_healthy() {
    let app = TestApp::new();
    let node = secondary(&app, "http://forge.test").await;

    let shown = status(&app, &json!(node.id)).await;

    assert_eq!((&shown["healthy"], &shown["health_status"]), (&json!(false), &json!("Unhealthy")));
    let text =
        "The server runs as the primary, and its node is a secondary: check geo_role and the node";
    assert_eq!(shown["health"], json!(text));
}

#[actix_web::test]
async fn figures_are_what_another_count_finds() {
    let app = TestApp::new();
    let id = primary(&app).await["id"].clone();
    let ada = app.person("ada");
    let project = app.project_from(&Fixture::new());
    commit(&ada, project, "main", "Add a file", "1").await;
    for number in 0..5 {
        let path = format!("p{number}");
        ada.post("/projects", json!({ "name": path, "visibility": "public" })).await.created();
    }
    app.work().await;

    let shown = status(&app, &id).await;

    let (projects, files, last) = recount(&app);
    assert_eq!(projects, 6);
    for name in ["projects_count", "repositories_count", "project_repositories_count"] {
        assert_eq!(shown[name], json!(projects), "{name}");
    }
    assert_eq!(shown["lfs_objects_count"], json!(files));
    assert_eq!(shown["last_event_id"], json!(last));
}

#[actix_web::test]
async fn a_status_is_counted_again_after_a_minute() {
    let app = TestApp::new();
    let id = primary(&app).await["id"].clone();
    let (admin, path) = (app.admin(), format!("/geo_nodes/{id}/status"));
    assert_eq!(admin.get(&path).await.ok()["projects_count"], json!(0));
    app.project(&app.person("ada"), "engine", Public);

    assert_eq!(admin.get(&path).await.ok()["projects_count"], json!(0));
    app.clock.advance(Duration::seconds(61));

    assert_eq!(admin.get(&path).await.ok()["projects_count"], json!(1));
}

#[actix_web::test]
async fn a_node_that_never_reported_has_no_status() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    app.admin().get(&format!("/geo_nodes/{}/status", node.id)).await.with(404);
    app.admin().get("/geo_nodes/999/status").await.with(404);
    let listed = app.admin().get("/geo_nodes/status").await;
    assert_eq!((listed.header("x-total"), &listed.body), (Some("0"), &json!([])));
}

#[actix_web::test]
async fn twenty_statuses_cost_as_many_statements_as_two() {
    let app = TestApp::new();
    primary(&app).await;
    let remove = |id: GeoNodeId| format!("/geo_nodes/{id}");
    let main = app.admin().get("/geo_nodes").await.ok()[0]["id"].as_i64().expect("an id");
    let report = |id: GeoNodeId| json!({ "geo_node_id": id, "status": { "uploads_count": 3 } });
    app.admin().delete(&remove(GeoNodeId(main))).await.with(204);
    let admin = app.admin();
    // The first use of a token is noted.
    admin.get("/geo_nodes").await.ok();
    let mut costs = Vec::new();
    for number in 0..20 {
        let node = secondary(&app, &format!("copy {number}")).await;
        caller(&app, &node).post("/geo/status", report(node.id)).await.created();
        if [1, 19].contains(&number) {
            let list = async || {
                let shown = admin.get("/geo_nodes/status").await.ok();
                assert_eq!(shown.as_array().map(Vec::len), Some(number + 1));
            };
            costs.push(app.cost(list).await);
        }
    }
    assert_eq!(costs[0], costs[1]);
}

#[actix_web::test]
async fn a_secondary_that_falls_silent_is_not_healthy() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let path = format!("/geo_nodes/{}/status", node.id);
    let report = json!({
        "geo_node_id": node.id, "db_replication_lag_seconds": 3, "last_event_id": 9,
        "cursor_last_event_id": 7, "status": {
            "repositories_count": 4, "repositories_synced_count": 3, "cats_count": 1,
            "uploads_registry_count": 8, "uploads_synced_count": 2, "uploads_verified_count": null,
        },
    });
    caller(&app, &node).post("/geo/status", report).await.created();

    let shown = app.admin().get(&path).await.ok();

    assert_eq!(
        (&shown["healthy"], &shown["db_replication_lag_seconds"]),
        (&json!(true), &json!(3))
    );
    assert_eq!((&shown["last_event_id"], &shown["cursor_last_event_id"]), (&json!(9), &json!(7)));
    assert_eq!(shown["repositories_synced_in_percentage"], json!("75.00%"));
    assert_eq!(shown["uploads_synced_in_percentage"], json!("25.00%"));
    assert_eq!(shown["missing_oauth_application"], json!(true));
    assert_eq!(shown.get("cats_count"), None);
    app.clock.advance(Duration::minutes(10));
    let later = app.admin().get(&path).await.ok();
    assert_eq!((&later["healthy"], &later["health_status"]), (&json!(false), &json!("Unhealthy")));
    let text = "Status has not been updated in the past 10 minutes";
    assert_eq!(later["health"], json!(text));
}

#[actix_web::test]
async fn a_complaint_of_a_secondary_is_shown() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let report = json!({ "geo_node_id": node.id, "status_message": "The disk is full" });
    caller(&app, &node).post("/geo/status", report).await.created();

    let shown = app.admin().get("/geo_nodes/status").await.ok();

    assert_eq!(shown[0]["health"], json!("The disk is full"));
    assert_eq!(shown[0]["health_status"], json!("Unhealthy"));
    assert_eq!(shown[0].get("storage_shards"), None);
    assert_eq!(shown[0]["storage_shards_match"], json!(false));
    for path in ["/geo_nodes/statuses", "/geo_sites/status", "/geo_sites/statuses"] {
        let again = app.admin().get(path).await.ok();
        assert_eq!(again[0]["health"], shown[0]["health"], "{path}");
    }
}
