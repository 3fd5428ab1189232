//! Features: `gateway/src/rest/server/features.rs`.

use futures_util::future::join_all;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn a_feature_is_on_for_some_or_all() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let path = "/features/faster";
    let made = root.post(path, json!({ "value": true, "user": "ada" })).await.created();
    let actor = format!("User:{}", app.user("ada").id);
    let gates =
        json!([{ "key": "boolean", "value": false }, { "key": "actors", "value": [actor] }]);
    let wanted =
        json!({ "name": "faster", "state": "conditional", "gates": gates, "definition": null });
    assert_eq!(made, wanted);
    assert_eq!(root.get("/features").await.ok(), json!([wanted]));
    let part =
        root.post(path, json!({ "value": "40", "key": "percentage_of_actors" })).await.created();
    assert_eq!(part["gates"][2], json!({ "key": "percentage_of_actors", "value": 40 }));
    assert_eq!(root.post(path, json!({ "value": "true" })).await.created()["state"], "on");
    assert_eq!(root.delete(path).await.status, 204);
    assert_eq!(root.get("/features").await.ok(), json!([]));
    assert_eq!(root.get("/features/definitions").await.ok(), json!([]));
}

#[actix_web::test]
async fn a_feature_for_nobody_known_is_refused() {
    let app = TestApp::new();
    let root = app.admin();
    let absent = json!({ "message": "eve is not found!" });
    root.post("/features/x", json!({ "value": true, "user": "eve" })).await.refused(400, absent);
    let both = json!({ "value": 10, "key": "percentage_of_time", "user": "root" });
    let told = json!({ "error": "key, user are mutually exclusive" });
    root.post("/features/x", both).await.refused(400, told);
    let odd = json!({ "error": "value is invalid" });
    root.post("/features/x", json!({ "value": "101" })).await.refused(400, odd);
    let odd = json!({ "error": "force is invalid" });
    root.post("/features/x", json!({ "value": true, "force": "maybe" })).await.refused(400, odd);
    assert_eq!(root.get("/features").await.ok(), json!([]));
    let forced = json!({ "value": true, "force": true });
    assert_eq!(root.post("/features/x", forced).await.created()["state"], "on");
}

#[actix_web::test]
async fn actors_that_come_at_the_same_moment_are_all_kept() {
    let app = TestApp::new();
    let root = app.admin();
    let names = ["ada", "bob", "eve"];
    let calls = names.map(|name| {
        app.person(name);
        root.post("/features/faster", json!({ "value": true, "user": name }))
    });
    for answer in join_all(calls).await {
        answer.created();
    }
    let kept = root.get("/features").await.ok();
    let actors = kept[0]["gates"][1]["value"].as_array().map(Vec::len);
    assert_eq!(actors, Some(names.len()), "{kept}");
}
