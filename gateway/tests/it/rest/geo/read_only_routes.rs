//! Every route that writes, asked on a secondary and in maintenance mode: `gateway/src/write_refusal.rs`

use forge::geo::GeoSettings;
use gateway::{rest, route::RouteRow};
use geo::Role;
use serde_json::json;

use crate::support::{RowRequest, TestApp};

const READ_ONLY: &str = "You cannot perform write operations on a read-only instance";

/// What changes nothing, or is no work of anybody's, whatever its method.
const ANSWERED: [(&str, &str); 4] = [
    ("POST", "/markdown"),
    ("POST", "//api/graphql"),
    ("POST", "/geo/status"),
    ("POST", "//oauth/userinfo"),
];

/// What ends the maintenance, or lets somebody in who does.
const ANSWERED_IN_MAINTENANCE: [(&str, &str); 7] = [
    ("PUT", "/application/settings"),
    ("POST", "//oauth/authorize"),
    ("POST", "//oauth/token"),
    ("POST", "//oauth/revoke"),
    ("POST", "//oauth/introspect"),
    ("POST", "//users/sign_in"),
    ("POST", "//users/sign_out"),
];

fn writing_rows() -> impl Iterator<Item = &'static RouteRow> {
    let all = rest::tables().into_iter().flatten();
    all.filter(|row| !["GET", "HEAD"].contains(&row.method))
}

fn is_among(row: &RouteRow, some: &[(&str, &str)]) -> bool {
    some.contains(&(row.method, row.pattern))
}

#[actix_web::test]
async fn a_secondary_answers_nothing_that_writes_but_what_is_named() {
    let app = TestApp::as_node(GeoSettings { node: None, role: Role::Secondary });
    let nobody = app.anonymous();
    for row in writing_rows() {
        let answer = RowRequest::of(row, "1").by(&nobody).await;
        let is_refused = answer.body == json!({ "message": READ_ONLY });
        assert_eq!(is_refused, !is_among(row, &ANSWERED), "{row:?}: {}", answer.status);
        assert!(!is_refused || answer.status == 403, "{row:?}: {}", answer.status);
    }
}

#[actix_web::test]
async fn maintenance_lets_nothing_write_but_what_is_named() {
    let app = TestApp::new();
    let admin = app.admin();
    let mode = |on: bool| json!({ "maintenance_mode": on, "maintenance_mode_message": "At noon" });
    admin.put("/application/settings", mode(true)).await.ok();
    let nobody = app.anonymous();
    for row in writing_rows() {
        let answer = RowRequest::of(row, "1").by(&nobody).await;
        let is_refused = answer.body == json!({ "message": "At noon" });
        let is_named = is_among(row, &ANSWERED) || is_among(row, &ANSWERED_IN_MAINTENANCE);
        assert_eq!(is_refused, !is_named, "{row:?}: {}", answer.status);
        let told = (answer.status, answer.header("Retry-After"));
        assert!(!is_refused || told == (503, Some("900")), "{row:?}: {told:?}");
    }
    admin.put("/application/settings", mode(false)).await.ok();
    admin.post("/groups", json!({ "name": "a", "path": "a" })).await.created();
}
