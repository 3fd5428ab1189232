//! Nodes of an installation.

mod between_nodes;
mod git;
mod nodes;
mod random_load;
mod read_only;
mod read_only_routes;
#[path = "../../../../../crates/geo/tests/it/server.rs"]
mod server;
mod standby;
mod status_requests;
mod statuses;

use diesel::prelude::*;
use geo::{
    credential::Statement,
    node::{GeoNode, NodeStore as _},
};
use kernel::ids::GeoNodeId;
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Person, TestApp};

/// The primary as which the server of a test runs.
async fn primary(app: &TestApp) -> Value {
    let new = json!({ "name": "http://forge.test", "url": "http://forge.test", "primary": true });
    app.admin().post("/geo_nodes", new).await.created()
}

/// A secondary; on SQLite, where nobody can make one, it is a primary that was demoted in its row.
async fn secondary(app: &TestApp, name: &str) -> GeoNode {
    let new = json!({ "name": name, "url": "https://copy.test/", "primary": true });
    let made = app.admin().post("/geo_nodes", new).await.created();
    let id = GeoNodeId(made["id"].as_i64().expect("an id"));
    app.write(move |tx| {
        use db::schema::geo_nodes as nodes;
        let row = diesel::update(nodes::table.find(id)).set(nodes::is_primary.eq(false));
        db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("GeoNode")))?;
        Ok(tx.geo_node(id)?.expect("the node is there"))
    })
}

/// What a node shows with a request.
fn credential(app: &TestApp, node: &GeoNode, statement: &Statement) -> String {
    let key = node.secret_key(&app.state.vault).expect("the key can be unsealed");
    let pair = (node.access_key.as_str(), &key);
    statement.sign(pair, Duration::minutes(1), app.clock.now()).expect("it can be signed")
}

/// Somebody without a token who shows this.
fn showing<'a>(app: &'a TestApp, credential: &str) -> Person<'a> {
    app.anonymous().sending("Authorization", credential)
}

/// A node that asks something of the API.
fn caller<'a>(app: &'a TestApp, node: &GeoNode) -> Person<'a> {
    showing(app, &credential(app, node, &Statement::of_api()))
}
