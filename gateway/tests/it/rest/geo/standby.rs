//! A secondary on a standby of the primary's database, which is made with `pg_basebackup`.

use std::time::{Duration, Instant};

use db::{Conn, Database};
use diesel::{RunQueryDsl as _, sql_query};
use forge::geo::GeoSettings;
use geo::{Role, credential::Statement};
use kernel::ids::GeoNodeId;
use serde_json::{Value, json};

use super::{credential, primary, server::Server};
use crate::support::{Person, TestApp};

const LONGEST: Duration = Duration::from_secs(60);

fn run(database: &Database, sql: &'static str) {
    let done = database.write_blocking(move |tx| match &mut tx.conn {
        Conn::Postgres(conn) => sql_query(sql).execute(*conn).map_err(db::error("Row")),
        Conn::Sqlite(_) => Ok(0),
    });
    done.expect("the statement runs");
}

/// The secondary, once its database holds what the primary's does.
fn copy_of(main: &TestApp, standby: &Server) -> TestApp {
    drop(standby.database());
    TestApp::beside(standby.location(), Some(main), |settings| {
        settings.forge.external_url = "https://copy.test".to_owned();
        settings.forge.geo = GeoSettings { node: Some("copy".to_owned()), role: Role::Secondary };
    })
}

/// The same person there: the token came with the rows.
fn there<'a>(copy: &'a TestApp, person: &Person<'_>) -> Person<'a> {
    let token = person.token.clone();
    Person { token, username: person.username.clone(), ..copy.anonymous() }
}

/// Asks until the answer is of so many.
async fn eventually(person: &Person<'_>, path: &str, many: usize) -> Value {
    let since = Instant::now();
    loop {
        let answer = person.get(path).await;
        if answer.body.as_array().map(Vec::len) == Some(many) {
            return answer.body;
        }
        assert!(since.elapsed() < LONGEST, "{path}: {} {}", answer.status, answer.body);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[actix_web::test]
async fn a_secondary_reads_what_the_primary_wrote_and_writes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(server) = Server::primary(folder.path()) else { return };
    let database = server.database();
    let main = TestApp::beside(server.location(), None, |_| {});
    primary(&main).await;
    let admin = main.admin();
    let new = json!({ "name": "copy", "url": "https://copy.test" });
    let node = admin.post("/geo_nodes", new).await.created()["id"].clone();
    run(&database, "SELECT pg_create_physical_replication_slot('copy')");
    let standby = server.standby("copy");
    let copy = copy_of(&main, &standby);
    let reader = there(&copy, &admin);

    eventually(&reader, "/geo_nodes", 2).await;
    admin.post("/projects", json!({ "name": "engine" })).await.created();
    eventually(&reader, "/projects", 1).await;

    let path = format!("/geo_nodes/{node}/status?refresh=true");
    let status = reader.get(&path).await.ok();
    assert_eq!((&status["healthy"], &status["health"]), (&json!(true), &json!("Healthy")));
    assert_eq!(status["db_replication_lag_seconds"], json!(0));
    assert_eq!((&status["projects_count"], &status["geo_node_id"]), (&json!(1), &node));
    // What the rows say that there is, and nothing of what the primary checked.
    assert_eq!(status["repositories_count"], json!(1));
    assert_eq!(status["repositories_checksummed_count"], Value::Null);
    assert_eq!(reader.get("/user/preferences").await.ok()["id"], Value::Null);
    let browser = copy.anonymous().sending("Cookie", "_forgeway_session=0123");
    assert_eq!(browser.post("//users/sign_out", json!({})).await.status, 303);
    let write = reader.post("/projects", json!({ "name": "wheel" })).await;
    assert_eq!(write.status, 403);
    let push = reader.get("//root/engine.git/info/refs?service=git-receive-pack").await;
    let there = "http://forge.test/root/engine.git/info/refs?service=git-receive-pack";
    assert_eq!((push.status, push.header("location")), (307, Some(there)));
    reader.get("/geo_nodes/current/failures").await.with(503);
    report(&main, &copy, &node, &admin).await;
}

/// What the secondary reports is what the primary then shows of it.
async fn report(main: &TestApp, copy: &TestApp, node: &Value, admin: &Person<'_>) {
    let id = GeoNodeId(node.as_i64().expect("an id"));
    let row = copy.state.db.read_blocking(|tx| geo::node::NodeStore::geo_node(tx, id));
    let row = row.expect("rows are read").expect("the node is there");
    let shown = credential(copy, &row, &Statement::of_api());
    let said = json!({ "geo_node_id": node, "db_replication_lag_seconds": 0 });
    let caller = main.anonymous().sending("Authorization", &shown);

    caller.post("/geo/status", said).await.created();

    let kept = admin.get(&format!("/geo_nodes/{node}/status")).await.ok();
    assert_eq!((&kept["healthy"], &kept["db_replication_lag_seconds"]), (&json!(true), &json!(0)));
    assert_eq!(kept["missing_oauth_application"], json!(false));
    let main_status = admin.get("/geo_nodes/status").await.ok();
    assert_eq!(main_status[0]["replication_slots_used_count"], json!(1));
}
