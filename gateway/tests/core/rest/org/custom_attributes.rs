//! What administrators note of groups, projects and people.

use kernel::Visibility::Public;
use serde_json::{Value, json};

use crate::support::TestApp;

/// One thing of each kind, as its address.
async fn places(app: &TestApp) -> [String; 3] {
    let ada = app.person("ada");
    let group = ada.post("/groups", json!({ "name": "Crew", "path": "crew" })).await.created();
    let project = app.project(&ada, "tool", Public);
    [
        format!("/groups/{}", group["id"]),
        format!("/projects/{project}"),
        format!("/users/{}", app.user("ada").id),
    ]
}

#[actix_web::test]
async fn a_note_is_written_read_replaced_and_taken_away() {
    let app = TestApp::new();
    let root = app.admin();
    for place in places(&app).await {
        let notes = format!("{place}/custom_attributes");
        let team = format!("{notes}/team");

        assert_eq!(root.get(&notes).await.ok(), json!([]));
        let made = root.put(&team, json!({ "value": "blue" })).await.ok();
        assert_eq!(made, json!({ "key": "team", "value": "blue" }));
        root.put(&team, json!({ "value": "red" })).await.ok();
        root.put(&format!("{notes}/floor"), json!({ "value": "3" })).await.ok();
        assert_eq!(root.get(&team).await.ok(), json!({ "key": "team", "value": "red" }));
        assert_eq!(root.get(&notes).await.each("value"), ["red", "3"]);
        root.delete(&team).await.with(204);
        let missing = json!({ "message": "404 Not found" });
        root.get(&team).await.refused(404, missing.clone());
        root.delete(&team).await.refused(404, missing);
        assert_eq!(root.get(&notes).await.each("key"), ["floor"]);
    }
}

#[actix_web::test]
async fn only_administrators_know_of_notes() {
    let app = TestApp::new();
    let root = app.admin();
    for place in places(&app).await {
        let team = format!("{place}/custom_attributes/team");
        let forbidden = json!({ "message": "403 Forbidden" });
        let ada = app.person("ada");
        ada.put(&team, json!({ "value": "x" })).await.refused(403, forbidden.clone());
        ada.get(&team).await.refused(403, forbidden.clone());
        ada.delete(&team).await.refused(403, forbidden.clone());
        ada.get(&format!("{place}/custom_attributes")).await.refused(403, forbidden);
        assert_eq!(app.anonymous().get(&team).await.status, 401);
        let missing = json!({ "error": "value is missing" });
        root.put(&team, json!({})).await.refused(400, missing);
        let blank = json!({ "message": { "value": ["can't be blank"] } });
        root.put(&team, json!({ "value": "  " })).await.refused(400, blank);
        let long = format!("{place}/custom_attributes/{}", "k".repeat(256));
        assert_eq!(root.put(&long, json!({ "value": "x" })).await.status, 400);
        assert_eq!(root.get(&format!("{place}/custom_attributes")).await.ok(), json!([]));
    }
    let unknown = json!({ "message": "404 Not Found" });
    for kind in ["groups", "projects", "users"] {
        let notes = format!("/{kind}/999/custom_attributes");
        root.get(&notes).await.refused(404, unknown.clone());
        root.put(&format!("{notes}/a"), json!({ "value": "b" }))
            .await
            .refused(404, unknown.clone());
    }
}

#[actix_web::test]
async fn lists_are_narrowed_by_notes_and_tell_them_to_administrators() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let [group, project, user] = places(&app).await;
    for place in [&group, &project, &user] {
        let notes = format!("{place}/custom_attributes");
        root.put(&format!("{notes}/team"), json!({ "value": "blue" })).await.ok();
        root.put(&format!("{notes}/floor"), json!({ "value": "3" })).await.ok();
    }
    ada.post("/groups", json!({ "name": "Other", "path": "other" })).await.created();
    app.project(&ada, "other", Public);
    let both = "custom_attributes[team]=blue&custom_attributes[floor]=3";
    let half = "custom_attributes[team]=blue&custom_attributes[floor]=4";
    let told = json!([{ "key": "team", "value": "blue" }, { "key": "floor", "value": "3" }]);

    for list in ["/groups", "/projects"] {
        let found = root.get(&format!("{list}?{both}&with_custom_attributes=true")).await;
        assert_eq!(found.header("x-total"), Some("1"), "{list}");
        assert_eq!(found.body[0]["custom_attributes"], told, "{list}");
        assert_eq!(root.get(&format!("{list}?{half}")).await.ok(), json!([]), "{list}");
        let plain = root.get(list).await.ok();
        assert_eq!(plain[0].get("custom_attributes"), None, "{list}");
        let hers = ada.get(&format!("{list}?{half}&with_custom_attributes=true")).await.ok();
        assert!(hers.as_array().is_some_and(|rows| rows.len() >= 2), "{list}: not for her");
        assert_eq!(hers[0].get("custom_attributes"), None, "{list}");
        let wrong = json!({ "error": "custom_attributes is invalid" });
        root.get(&format!("{list}?custom_attributes=x")).await.refused(400, wrong);
    }
    for place in [&project] {
        let one = root.get(&format!("{place}?with_custom_attributes=true")).await.ok();
        assert_eq!(one["custom_attributes"], told, "{place}");
        let hers = ada.get(&format!("{place}?with_custom_attributes=true")).await.ok();
        assert_eq!(hers.get("custom_attributes").unwrap_or(&Value::Null), &Value::Null, "{place}");
    }
}
