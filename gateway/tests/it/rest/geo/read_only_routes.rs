//! Every route that writes, asked on a secondary and in maintenance mode: `gateway/src/write_refusal.rs`

use forge::geo::GeoSettings;
use gateway::{rest, route::RouteRow};
use geo::Role;
use serde_json::json;

use crate::support::{RowRequest, TestApp};

const READ_ONLY: &str = "You cannot perform write operations on a read-only instance";

/// What changes nothing, or is no work of anybody's, whatever its method.
const ANSWERED: [(&str, &str); 5] = [
    ("POST", "/markdown"),
    ("POST", "//api/graphql"),
    ("POST", "/geo/status"),
    ("POST", "//oauth/userinfo"),
    ("POST", "//users/sign_out"),
];

/// What ends the maintenance, or lets somebody in who does.
const ANSWERED_IN_MAINTENANCE: [(&str, &str); 6] = [
    ("PUT", "/application/settings"),
    ("POST", "//oauth/authorize"),
    ("POST", "//oauth/token"),
    ("POST", "//oauth/revoke"),
    ("POST", "//oauth/introspect"),
    ("POST", "//users/sign_in"),
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
    admin.post("/groups", json!({ "name": "owls", "path": "owls" })).await.created();
}

/// Other ways to write the path of a route, which lead to it or to nothing.
fn spellings(path: &str) -> [String; 11] {
    let first = path.trim_start_matches('/');
    let (head, tail) = first.split_at(1);
    let encoded = format!("%{:02x}{tail}", head.as_bytes()[0]);
    [
        format!("//api/v4//{first}"),
        format!("//api//v4/{first}"),
        format!("//api/v4///{first}"),
        format!("//api/v4/{first}/"),
        format!("//api/v4/{first}//"),
        format!("//api/v4/{first}.json"),
        format!("//api/v4//{first}.json/"),
        format!("//api/v4/{encoded}"),
        format!("//api/v4//{encoded}"),
        format!("//api/v4%2F{first}"),
        format!("//api/v4%2f/{first}"),
    ]
}

#[actix_web::test]
async fn no_spelling_of_a_path_writes_in_maintenance() {
    let app = TestApp::new();
    let admin = app.admin();
    let mode = json!({ "maintenance_mode": true, "maintenance_mode_message": "At noon" });
    admin.put("/application/settings", mode).await.ok();
    for path in ["/projects", "/groups", "/user/keys", "/application/plan_limits"] {
        for spelling in spellings(path) {
            let new = json!({ "name": "owls", "path": "owls" });
            let answer = admin.post(&spelling, new).await;
            let is_refused = answer.status == 503 && answer.body == json!({ "message": "At noon" });
            assert!(is_refused || [404, 405].contains(&answer.status), "{spelling}: {answer:?}");
        }
    }
    let doubled = admin.post("//api/v4//projects", json!({ "name": "a" })).await;
    assert_eq!((doubled.status, doubled.header("Retry-After")), (503, Some("900")));
    assert_eq!(admin.get("/projects").await.ok(), json!([]));
    assert_eq!(admin.get("/groups").await.ok(), json!([]));
}

#[actix_web::test]
async fn no_spelling_of_a_path_writes_on_a_secondary() {
    let app = TestApp::as_node(GeoSettings { node: None, role: Role::Secondary });
    let admin = app.admin();
    for spelling in spellings("/projects") {
        let answer = admin.post(&spelling, json!({ "name": "a" })).await;
        let is_refused = answer.body == json!({ "message": READ_ONLY });
        assert!(is_refused || answer.status == 404, "{spelling}: {answer:?}");
    }
    let doubled = admin.put("//api/v4//application//settings", json!({})).await;
    doubled.refused(403, json!({ "message": READ_ONLY }));
    assert_eq!(admin.get("/projects").await.ok(), json!([]));
}

#[actix_web::test]
async fn every_route_is_refused_with_a_doubled_slash_too() {
    let app = TestApp::as_node(GeoSettings { node: None, role: Role::Secondary });
    let nobody = app.anonymous();
    for row in writing_rows().filter(|row| !row.pattern.starts_with("//")) {
        let asked = RowRequest::of(row, "1");
        let path = format!("//api/v4/{}", asked.path());
        let answer = nobody.send(asked.method(), &path, Some(json!({}))).await;
        let is_refused = answer.body == json!({ "message": READ_ONLY });
        assert_eq!(is_refused, !is_among(row, &ANSWERED), "{row:?}: {}", answer.status);
    }
}
