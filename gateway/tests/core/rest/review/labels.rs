//! Labels of projects and groups.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// A private group of `ada`'s and a project inside: their ids.
async fn group_with_project(ada: &Person<'_>) -> (Value, Value) {
    let group = ada.post("/groups", json!({ "name": "Orchid", "path": "orchid" })).await;
    let group = group.created()["id"].clone();
    let project = json!({ "name": "site", "namespace_id": group, "visibility": "private" });
    (group, ada.post("/projects", project).await.created()["id"].clone())
}

async fn names(person: &Person<'_>, path: &str) -> Vec<Value> {
    person.get(path).await.each("name")
}

#[actix_web::test]
async fn a_label_is_made_shown_changed_and_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let labels = format!("/projects/{project}/labels");

    let new = json!({ "name": " bug ", "color": "#fab", "description": "*Broken*", "priority": 2 });
    let made = ada.post(&labels, new).await.created();
    assert_eq!(made["name"], "bug");
    assert_eq!((&made["color"], &made["text_color"]), (&json!("#ffaabb"), &json!("#1F1E24")));
    assert_eq!((&made["priority"], &made["is_project_label"]), (&json!(2), &json!(true)));
    assert_eq!((&made["subscribed"], &made["description"]), (&json!(false), &json!("*Broken*")));
    assert_eq!(made["description_html"], "<em>Broken</em>");
    assert_eq!(ada.get(&format!("{labels}/bug")).await.ok(), made);
    assert_eq!(ada.get(&format!("{labels}/{}", made["id"])).await.ok(), made);

    let change =
        json!({ "new_name": "defect", "color": "red", "description": "", "priority": null });
    let changed = ada.put(&format!("{labels}/bug"), change).await.ok();
    assert_eq!((&changed["name"], &changed["color"]), (&json!("defect"), &json!("#ff0000")));
    assert_eq!((&changed["description"], &changed["priority"]), (&Value::Null, &Value::Null));
    let older = json!({ "name": "defect", "new_name": "flaw" });
    assert_eq!(ada.put(&labels, older).await.ok()["name"], "flaw");

    ada.delete(&format!("{labels}/flaw")).await.with(204);
    ada.get(&format!("{labels}/flaw"))
        .await
        .refused(404, json!({ "message": "404 Label Not Found" }));
}

#[actix_web::test]
async fn a_label_that_cannot_be_is_refused_and_nothing_kept() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let labels = format!("/projects/{project}/labels");
    ada.post(&labels, json!({ "name": "bug", "color": "#112233" })).await.created();
    let before = app.row_counts();

    let taken = json!({ "message": "Label already exists" });
    ada.post(&labels, json!({ "name": "bug", "color": "#112233" })).await.refused(409, taken);
    for (sent, message) in [
        (json!({ "name": "a,b", "color": "#112233" }), json!({ "title": ["is invalid"] })),
        (
            json!({ "name": "x", "color": "#11" }),
            json!({ "color": ["must be a valid color code"] }),
        ),
        (json!({ "name": " ", "color": "blue" }), json!({ "title": ["can't be blank"] })),
        (
            json!({ "name": "x".repeat(256), "color": "blue" }),
            json!({ "title": ["is too long (maximum is 255 characters)"] }),
        ),
        (
            json!({ "name": "x", "color": "blue", "priority": -1 }),
            json!({ "priority": ["must be greater than or equal to 0"] }),
        ),
    ] {
        ada.post(&labels, sent).await.refused(400, json!({ "message": message }));
    }
    let missing = json!({ "error": "name is missing, color is missing" });
    ada.post(&labels, json!({})).await.refused(400, missing);
    let nothing = "new_name, color, description, priority are missing, at least one parameter must be provided";
    ada.put(&format!("{labels}/bug"), json!({})).await.refused(400, json!({ "error": nothing }));
    assert_eq!(app.row_counts(), before);
}

#[actix_web::test]
async fn labels_of_groups_above_are_usable_below() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (group, project) = group_with_project(&ada).await;
    let (above, below) = (format!("/groups/{group}/labels"), format!("/projects/{project}/labels"));
    let upper = ada.post(&above, json!({ "name": "upper", "color": "blue" })).await.created();
    ada.post(&below, json!({ "name": "lower", "color": "blue" })).await.created();

    assert_eq!(upper.get("priority"), None);
    assert_eq!(names(&ada, &below).await, ["lower", "upper"]);
    assert_eq!(names(&ada, &format!("{below}?include_ancestor_groups=false")).await, ["lower"]);
    assert_eq!(names(&ada, &format!("{below}?search=UPP")).await, ["upper"]);
    assert_eq!(names(&ada, &above).await, ["upper"]);
    assert_eq!(names(&ada, &format!("{above}?only_group_labels=false")).await, ["lower", "upper"]);
    let shown = ada.get(&format!("{below}/upper")).await.ok();
    assert_eq!(shown["is_project_label"], false);
    let clash = ada.post(&below, json!({ "name": "upper", "color": "blue" })).await;
    clash.refused(409, json!({ "message": "Label already exists" }));
    let not_here = json!({ "message": "404 Label Not Found" });
    ada.delete(&format!("{below}/upper")).await.refused(404, not_here);
}

#[actix_web::test]
async fn a_promoted_label_replaces_those_of_its_name() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (group, project) = group_with_project(&ada).await;
    let other = json!({ "name": "docs", "namespace_id": group });
    let other = ada.post("/projects", other).await.created()["id"].clone();
    for project in [&project, &other] {
        let new = json!({ "name": "bug", "color": "#112233" });
        ada.post(&format!("/projects/{project}/labels"), new).await.created();
    }

    let lifted = ada.put(&format!("/projects/{project}/labels/bug/promote"), json!({})).await.ok();

    assert_eq!(lifted.get("is_project_label"), None);
    assert_eq!(names(&ada, &format!("/groups/{group}/labels")).await, ["bug"]);
    assert_eq!(
        ada.get(&format!("/projects/{other}/labels")).await.each("id"),
        [lifted["id"].clone()]
    );
    let own = app.project(&ada, "own", Private);
    ada.post(&format!("/projects/{own}/labels"), json!({ "name": "a", "color": "red" }))
        .await
        .created();
    let refused = json!({ "message": "Failed to promote project label to group label" });
    ada.put(&format!("/projects/{own}/labels/a/promote"), json!({})).await.refused(400, refused);
}

#[actix_web::test]
async fn people_subscribe_for_themselves() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let labels = format!("/projects/{project}/labels");
    ada.post(&labels, json!({ "name": "bug", "color": "red" })).await.created();
    let eve = app.person("eve");

    let subscribed = eve.post(&format!("{labels}/bug/subscribe"), json!({})).await.created();
    assert_eq!(subscribed["subscribed"], true);
    assert_eq!(eve.post(&format!("{labels}/bug/subscribe"), json!({})).await.status, 304);
    assert_eq!(ada.get(&format!("{labels}/bug")).await.ok()["subscribed"], false);
    let ended = eve.post(&format!("{labels}/bug/unsubscribe"), json!({})).await.created();
    assert_eq!(ended["subscribed"], false);
    assert_eq!(eve.post(&format!("{labels}/bug/unsubscribe"), json!({})).await.status, 304);
}

#[actix_web::test]
async fn guests_read_labels_and_strangers_hear_nothing_of_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let labels = format!("/projects/{project}/labels");
    let new = json!({ "name": "bug", "color": "red" });
    app.member(project, "rita", Reporter).post(&labels, new.clone()).await.created();
    let guest = app.member(project, "gus", Guest);

    assert_eq!(names(&guest, &labels).await, ["bug"]);
    guest.post(&labels, new).await.refused(403, json!({ "message": "403 Forbidden" }));
    let hidden = json!({ "message": "404 Project Not Found" });
    app.person("eve").get(&labels).await.refused(404, hidden);
    app.anonymous().get(&labels).await.refused(401, json!({ "message": "401 Unauthorized" }));
}

#[actix_web::test]
async fn a_group_list_leaves_out_what_the_reader_may_not_know() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let open = json!({ "name": "Open", "path": "open", "visibility": "public" });
    let open = ada.post("/groups", open).await.created()["id"].clone();
    let hidden =
        json!({ "name": "Hidden", "path": "hidden", "parent_id": open, "visibility": "private" });
    let hidden = ada.post("/groups", hidden).await.created()["id"].clone();
    let secret = json!({ "name": "secret", "namespace_id": open, "visibility": "private" });
    let secret = ada.post("/projects", secret).await.created()["id"].clone();
    for place in
        [format!("/groups/{open}"), format!("/groups/{hidden}"), format!("/projects/{secret}")]
    {
        let name = place.replace('/', "-");
        let new = json!({ "name": name, "color": "red" });
        ada.post(&format!("{place}/labels"), new).await.created();
    }
    let all =
        format!("/groups/{open}/labels?include_descendant_groups=true&only_group_labels=false");

    assert_eq!(names(&ada, &all).await.len(), 3);
    let seen = app.person("eve").get(&all).await;
    assert_eq!(seen.header("x-total"), Some("1"));
    assert_eq!(seen.each("name"), [format!("-groups-{open}")]);
}
