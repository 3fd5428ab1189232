//! Epics inside of epics.

use serde_json::{Value, json};

use super::epics::{HIDDEN, epic, set_up, titles};
use crate::support::{Person, TestApp};

/// What was told of an epic among its notes, oldest first.
async fn told(person: &Person<'_>, group: i64, iid: i64) -> Vec<Value> {
    let notes = format!("/groups/{group}/epics/{iid}/notes");
    person.get(&format!("{notes}?sort=asc&activity_filter=only_activity")).await.each("body")
}

fn not_added(reason: &str) -> Value {
    json!({ "message": format!("This epic cannot be added. {reason}") })
}

#[actix_web::test]
async fn epics_join_another_one_stand_in_order_and_leave_it() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let parent = epic(&ada, group, json!({ "title": "Garden" })).await;
    let inside = format!("/groups/{group}/epics/1/epics");
    let mut ids = Vec::new();
    for title in ["one", "two"] {
        let made = epic(&ada, group, json!({ "title": title })).await;
        let put = ada.post(&format!("{inside}/{}", made["id"]), json!({})).await.created();
        assert_eq!((&put["title"], &put["parent_id"]), (&json!(title), &parent["id"]));
        assert_eq!(put["_links"]["parent"], parent["_links"]["self"]);
        ids.push(made["id"].clone());
    }
    let made = ada.post(&inside, json!({ "title": "three" })).await.created();
    assert_eq!((&made["parent_id"], &made["reference"]), (&parent["id"], &json!("&4")));
    assert_eq!((&made["has_children"], &made["has_issues"]), (&json!(false), &json!(false)));
    ids.push(made["id"].clone());

    assert_eq!(titles(&ada, &inside).await, ["three", "two", "one"]);
    assert_eq!(titles(&ada, &format!("{inside}?per_page=1&page=2")).await, ["two"]);
    let after = json!({ "move_before_id": ids[0] });
    let moved = ada.put(&format!("{inside}/{}", ids[2]), after).await.each("title");
    assert_eq!(moved, ["two", "one", "three"]);
    let before = json!({ "move_after_id": ids[1] });
    ada.put(&format!("{inside}/{}", ids[0]), before).await.ok();
    assert_eq!(titles(&ada, &inside).await, ["one", "two", "three"]);
    let left = ada.delete(&format!("{inside}/{}", ids[1])).await.ok();
    assert_eq!((&left["id"], &left["parent_id"]), (&ids[1], &Value::Null));
    assert_eq!(titles(&ada, &inside).await, ["one", "three"]);
    let missing = json!({ "message": HIDDEN });
    ada.delete(&format!("{inside}/{}", ids[1])).await.refused(404, missing);
    assert_eq!(
        told(&ada, group, 3).await,
        ["added epic &1 as parent epic", "removed parent epic &1"]
    );
    assert_eq!(told(&ada, group, 1).await[3], "removed child epic &3");
}

#[actix_web::test]
async fn an_epic_is_made_inside_of_another_one_and_moves_by_a_change() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let below = ada.group("bulb", Some(group)).await;
    let (one, two) = (
        epic(&ada, group, json!({ "title": "one" })).await,
        epic(&ada, group, json!({ "title": "two" })).await,
    );

    let made = epic(&ada, below, json!({ "title": "a", "parent_id": one["id"] })).await;

    assert_eq!((&made["parent_id"], &made["parent_iid"]), (&one["id"], &json!(1)));
    let path = format!("/groups/{below}/epics/1");
    let moved = ada.put(&path, json!({ "parent_id": two["id"] })).await.ok();
    assert_eq!(moved["parent_iid"], 2);
    assert_eq!(told(&ada, below, 1).await[2], "added epic orchid&2 as parent epic");
    let alone = ada.put(&path, json!({ "parent_id": null })).await.ok();
    assert_eq!(alone["parent_id"], Value::Null);
    let above = json!({ "title": "b", "parent_id": made["id"] });
    let missing = json!({ "message": HIDDEN });
    ada.post(&format!("/groups/{group}/epics"), above).await.refused(404, missing);
}

#[actix_web::test]
async fn what_cannot_be_inside_is_refused() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let other = ada.group("fern", None).await;
    let top = epic(&ada, group, json!({ "title": "1" })).await["id"].clone();
    let inside = |iid: i64, id: &Value| format!("/groups/{group}/epics/{iid}/epics/{id}");
    ada.post(&inside(1, &top), json!({}))
        .await
        .refused(422, not_added("An epic cannot be added to itself."));
    let mut parent = top.clone();
    for title in 2..=7 {
        let fields = json!({ "title": title.to_string(), "parent_id": parent });
        parent = epic(&ada, group, fields).await["id"].clone();
    }

    ada.post(&inside(7, &top), json!({}))
        .await
        .refused(422, not_added("It is already an ancestor of the parent epic."));
    let deep =
        "One or more epics would exceed the maximum depth (7) from its most distant ancestor.";
    let text = format!("This epic cannot be added. {deep}");
    let before = app.row_counts();
    ada.post(&format!("/groups/{group}/epics/7/epics"), json!({ "title": "8" }))
        .await
        .refused(400, json!({ "message": { "parent": [text] } }));
    assert_eq!(app.row_counts(), before, "it was not made either");
    let again = json!({ "message": "Epic(s) already assigned" });
    let second = ada.get(&format!("/groups/{group}/epics/2")).await.ok()["id"].clone();
    ada.post(&inside(1, &second), json!({})).await.refused(409, again);
    let far = epic(&ada, other, json!({ "title": "far" })).await["id"].clone();
    let text = "No matching epic found. Make sure that you are adding a valid epic URL.";
    ada.post(&inside(1, &far), json!({})).await.refused(404, json!({ "message": text }));
}

#[actix_web::test]
async fn secrets_stay_inside_of_secrets() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    ada.adds("bob", 10, &format!("/groups/{group}")).await;
    let bob = app.person("bob");
    let epics = format!("/groups/{group}/epics");
    let open = epic(&ada, group, json!({ "title": "open" })).await["id"].clone();
    let secret = json!({ "title": "secret", "confidential": true });
    let secret = epic(&ada, group, secret).await["id"].clone();

    let text = "Cannot assign a non-confidential epic to a confidential parent epic. Make the epic confidential and try again.";
    let refused = ada.post(&format!("{epics}/2/epics/{open}"), json!({})).await;
    refused.refused(422, json!({ "message": text }));
    ada.post(&format!("{epics}/1/epics/{secret}"), json!({})).await.created();
    assert_eq!(titles(&bob, &format!("{epics}/1/epics")).await, Vec::<Value>::new());
    assert_eq!(told(&bob, group, 1).await, Vec::<Value>::new(), "the name is not told");
    epic(&ada, group, json!({ "title": "inner", "parent_id": open })).await;
    let made = ada.put(&format!("{epics}/1"), json!({ "confidential": true })).await;
    let text = "Cannot make the epic confidential if it contains non-confidential child epics";
    made.refused(400, json!({ "message": { "confidential": [text] } }));
}

#[actix_web::test]
async fn only_who_may_read_the_outer_epic_learns_of_it() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let below =
        ada.group_with("bulb", json!({ "parent_id": group, "visibility": "private" })).await;
    ada.adds("bob", 20, &format!("/groups/{below}")).await;
    let bob = app.person("bob");
    let one = epic(&ada, group, json!({ "title": "one" })).await;
    epic(&ada, below, json!({ "title": "a", "parent_id": one["id"] })).await;

    let shown = bob.get(&format!("/groups/{below}/epics/1")).await.ok();

    assert_eq!((&shown["parent_id"], &shown["parent_iid"]), (&Value::Null, &Value::Null));
    assert_eq!(shown["_links"]["parent"], Value::Null);
    assert_eq!(told(&bob, below, 1).await, Vec::<Value>::new());
    let path = format!("/groups/{below}/epics/1");
    let again = bob.put(&path, json!({ "parent_id": one["id"] })).await;
    again.refused(404, json!({ "message": HIDDEN }));
    bob.put(&path, json!({ "parent_id": null, "title": "b" })).await.ok();
    let kept = ada.get(&path).await.ok();
    assert_eq!((&kept["parent_id"], &kept["title"]), (&one["id"], &json!("b")));
}

#[actix_web::test]
async fn epics_go_with_the_one_that_they_are_inside_of() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let one = epic(&ada, group, json!({ "title": "one" })).await;
    let two = epic(&ada, group, json!({ "title": "two", "parent_id": one["id"] })).await;
    epic(&ada, group, json!({ "title": "three", "parent_id": two["id"] })).await;
    let issue = json!({ "title": "a", "epic_id": two["id"] });
    ada.post(&format!("/projects/{project}/issues"), issue).await.created();

    ada.delete(&format!("/groups/{group}/epics/1")).await.with(204);

    assert_eq!(titles(&ada, &format!("/groups/{group}/epics")).await, Vec::<Value>::new());
    assert_eq!(app.kept_issue(project, 1).epic_id, None);
}
