//! Boards of projects and groups.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use super::epics::set_up;
use crate::support::{Person, TestApp};

async fn label(person: &Person<'_>, place: &str, name: &str) -> Value {
    let new = json!({ "name": name, "color": "#ff0000", "description": "*Now*" });
    person.post(&format!("{place}/labels"), new).await.created()["id"].clone()
}

async fn board(person: &Person<'_>, place: &str, name: &str) -> String {
    let made = person.post(&format!("{place}/boards"), json!({ "name": name })).await.created();
    format!("{place}/boards/{}", made["id"])
}

async fn list(person: &Person<'_>, board: &str, label: &Value) -> Value {
    person.post(&format!("{board}/lists"), json!({ "label_id": label })).await.created()
}

#[actix_web::test]
async fn a_board_is_made_shown_changed_and_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let place = format!("/projects/{project}");
    assert_eq!(ada.get(&format!("{place}/boards")).await.ok(), json!([]));

    let made = ada.post(&format!("{place}/boards"), json!({ "name": " Next " })).await.created();
    assert_eq!((&made["name"], &made["lists"]), (&json!("Next"), &json!([])));
    assert_eq!((&made["project"]["id"], &made["group"]), (&json!(project), &Value::Null));
    assert_eq!((&made["hide_backlog_list"], &made["weight"]), (&json!(false), &Value::Null));
    let one = format!("{place}/boards/{}", made["id"]);
    assert_eq!(ada.get(&one).await.ok(), made);
    assert_eq!(ada.get(&format!("{place}/boards")).await.ok(), json!([made]));

    let change = json!({ "name": "Later", "hide_closed_list": true, "labels": "red,blue",
                         "assignee_id": app.user("ada").id.0, "weight": 3 });
    let changed = ada.put(&one, change).await.ok();
    assert_eq!((&changed["name"], &changed["weight"]), (&json!("Later"), &json!(3)));
    assert_eq!(changed["assignee"]["username"], "ada");
    let names: Vec<&Value> =
        changed["labels"].as_array().expect("labels").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["blue", "red"]);
    let without = ada.put(&one, json!({ "weight": null, "assignee_id": null })).await.ok();
    assert_eq!((&without["weight"], &without["assignee"]), (&Value::Null, &Value::Null));

    ada.delete(&one).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Board Not Found" }));
}

#[actix_web::test]
async fn lists_are_made_ordered_and_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let place = format!("/projects/{}", app.project(&ada, "forge", Private));
    let board = board(&ada, &place, "Next").await;
    let (red, blue) = (label(&ada, &place, "red").await, label(&ada, &place, "blue").await);

    let first = list(&ada, &board, &red).await;
    assert_eq!((&first["label"]["name"], &first["position"]), (&json!("red"), &json!(0)));
    assert_eq!(first["label"]["description_html"], "<em>Now</em>");
    assert_eq!((&first["max_issue_count"], &first["limit_metric"]), (&json!(0), &Value::Null));
    let second = list(&ada, &board, &blue).await;
    let one = format!("{board}/lists/{}", second["id"]);
    assert_eq!(ada.put(&one, json!({ "position": 0 })).await.ok()["position"], 0);
    let ids = ada.get(&format!("{board}/lists")).await.each("id");
    assert_eq!(ids, [second["id"].clone(), first["id"].clone()]);
    assert_eq!(ada.get(&board).await.ok()["lists"].as_array().map(Vec::len), Some(2));

    ada.delete(&one).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 List Not Found" }));
    assert_eq!(ada.get(&format!("{board}/lists")).await.each("position"), [json!(0)]);
}

#[actix_web::test]
async fn lists_are_for_people_milestones_and_iterations_too() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let place = format!("/projects/{project}");
    let board = board(&ada, &place, "Next").await;
    let milestone =
        ada.post(&format!("{place}/milestones"), json!({ "title": "1.0" })).await.created();
    let iteration = super::iterations::iterations(&app, &ada, group, &[("now", -2)])[0];
    let lists = format!("{board}/lists");

    let person = json!({ "assignee_id": app.user("ada").id.0 });
    let made = ada.post(&lists, person).await.created();
    assert_eq!((&made["assignee"]["username"], &made["label"]), (&json!("ada"), &Value::Null));
    let made = ada.post(&lists, json!({ "milestone_id": milestone["id"] })).await.created();
    assert_eq!(made["milestone"]["title"], "1.0");
    let made = ada.post(&lists, json!({ "iteration_id": iteration })).await.created();
    assert_eq!(made["iteration"]["title"], "now");
    let positions = ada.get(&lists).await.each("position");
    assert_eq!(positions, [json!(0), json!(1), json!(2)]);
}

#[actix_web::test]
async fn lists_that_cannot_be_are_refused() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let place = format!("/projects/{}", app.project(&ada, "forge", Private));
    let board = board(&ada, &place, "Next").await;
    let red = label(&ada, &place, "red").await;
    list(&ada, &board, &red).await;
    let lists = format!("{board}/lists");
    let unknown = json!({ "message": { "base": ["Label not found!"] } });
    ada.post(&lists, json!({ "label_id": 0 })).await.refused(400, unknown);
    let taken = json!({ "message": { "label": ["has already been taken"] } });
    ada.post(&lists, json!({ "label_id": red })).await.refused(400, taken);
    let stranger = json!({ "message": { "base": ["User not found!"] } });
    let bobs = json!({ "assignee_id": app.user("bob").id.0 });
    ada.post(&lists, bobs).await.refused(400, stranger);
    ada.post(&lists, json!({})).await.with(400);
    ada.post(&lists, json!({ "label_id": red, "milestone_id": 1 })).await.with(400);
    bob.get(&lists).await.with(404);
}

#[actix_web::test]
async fn guests_look_at_boards_and_reporters_change_them() {
    let app = TestApp::new();
    let (ada, bob, eve) = (app.person("ada"), app.person("bob"), app.person("eve"));
    let project = app.project(&ada, "forge", Public);
    app.member(project, "bob", Reporter);
    app.member(project, "eve", Guest);
    let place = format!("/projects/{project}");
    let board = board(&bob, &place, "Next").await;
    eve.get(&board).await.ok();
    eve.put(&board, json!({ "name": "x" })).await.with(403);
    eve.post(&format!("{board}/lists"), json!({ "label_id": 1 })).await.with(403);
    eve.delete(&board).await.with(403);
    app.person("mia").get(&board).await.ok();
    app.anonymous().get(&board).await.with(401);
}

#[actix_web::test]
async fn groups_have_boards_of_their_own() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let place = format!("/groups/{group}");
    let board = board(&ada, &place, "All").await;
    let red = label(&ada, &place, "red").await;
    list(&ada, &board, &red).await;
    let shown = ada.get(&board).await.ok();
    assert_eq!((&shown["group"]["id"], &shown["project"]), (&json!(group), &Value::Null));
    assert_eq!(shown["group"]["web_url"], "http://forge.test/groups/orchid");
    assert_eq!(shown["lists"][0]["label"]["name"], "red");
    assert_eq!(ada.get(&format!("/projects/{project}/boards")).await.ok(), json!([]));
    let own = label(&ada, &format!("/projects/{project}"), "own").await;
    ada.post(&format!("{board}/lists"), json!({ "label_id": own })).await.with(400);
    ada.delete(&board).await.with(204);
    assert_eq!(ada.get(&format!("{place}/boards")).await.ok(), json!([]));
}

#[actix_web::test]
async fn boards_of_epics_are_read() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let place = format!("/groups/{group}");
    let red = label(&ada, &place, "red").await;
    let query = r#"mutation { epicBoardCreate(input: { groupPath: "orchid", name: "Big", labels: "new" }) {
           epicBoard { id } errors } }"#;
    let made = ada.post("//api/graphql", json!({ "query": query })).await.ok();
    let id = made["data"]["epicBoardCreate"]["epicBoard"]["id"].as_str().expect("an id").to_owned();
    let query = format!(
        r#"mutation {{ epicBoardListCreate(input: {{ boardId: "{id}", labelId: "gid://gitlab/GroupLabel/{red}" }}) {{
           list {{ id }} errors }} }}"#
    );
    ada.post("//api/graphql", json!({ "query": query })).await.ok();

    let shown = ada.get(&format!("{place}/epic_boards")).await.ok()[0].clone();
    assert_eq!((&shown["name"], &shown["group"]["id"]), (&json!("Big"), &json!(group)));
    assert_eq!(
        (&shown["labels"][0]["title"], &shown["labels"][0]["group_id"]),
        (&json!("new"), &json!(group))
    );
    assert_eq!(
        (&shown["lists"][0]["label"]["name"], &shown["lists"][0]["list_type"]),
        (&json!("red"), &json!("label"))
    );
    let one = format!("{place}/epic_boards/{}", shown["id"]);
    assert_eq!(ada.get(&one).await.ok(), shown);
    let lists = ada.get(&format!("{one}/lists")).await.ok();
    assert_eq!(ada.get(&format!("{one}/lists/{}", lists[0]["id"])).await.ok(), lists[0]);
    assert_eq!(ada.get(&format!("{place}/boards")).await.ok(), json!([]));
}

#[actix_web::test]
async fn a_list_of_boards_costs_the_same_however_long_it_is() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let place = format!("/projects/{}", app.project(&ada, "forge", Private));
    let red = label(&ada, &place, "red").await;
    let boards = format!("{place}/boards");
    let first = board(&ada, &place, "1").await;
    list(&ada, &first, &red).await;
    let cost = async || app.cost(async || drop(ada.get(&boards).await.ok())).await;
    let few = cost().await;
    for name in ["2", "3", "4"] {
        let more = board(&ada, &place, name).await;
        list(&ada, &more, &red).await;
    }
    assert_eq!(cost().await, few);
}
