//! Moving, copying and ordering issues; what labels and milestones have to do with them.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn issue(person: &Person<'_>, project: ProjectId, new: Value) -> Value {
    person.post(&format!("/projects/{project}/issues"), new).await.created()
}

/// Two projects of `ada`'s, the first with an issue about which something was said.
async fn two_projects(app: &TestApp) -> (Person<'_>, ProjectId, ProjectId) {
    let ada = app.person("ada");
    let (from, to) = (app.project(&ada, "from", Private), app.project(&ada, "to", Private));
    for (project, label) in [(from, "bug"), (to, "bug"), (from, "only-here")] {
        let label = json!({ "name": label, "color": "red" });
        ada.post(&format!("/projects/{project}/labels"), label).await.created();
    }
    let new = json!({ "title": "One", "labels": "bug,only-here", "weight": 2 });
    issue(&ada, from, new).await;
    let notes = format!("/projects/{from}/issues/1/notes");
    ada.post(&notes, json!({ "body": "a word" })).await.created();
    let emoji = format!("/projects/{from}/issues/1/award_emoji");
    ada.post(&emoji, json!({ "name": "thumbsup" })).await.created();
    (ada, from, to)
}

#[actix_web::test]
async fn a_moved_issue_is_elsewhere_with_all_that_was_said() {
    let app = TestApp::new();
    let (ada, from, to) = two_projects(&app).await;

    let path = format!("/projects/{from}/issues/1");
    let moved = ada.post(&format!("{path}/move"), json!({ "to_project_id": to.0 })).await.created();
    assert_eq!((&moved["project_id"], &moved["labels"]), (&json!(to.0), &json!(["bug"])));
    assert_eq!((&moved["weight"], &moved["user_notes_count"]), (&json!(2), &json!(1)));
    assert_eq!(moved["upvotes"], 1);
    let old = ada.get(&path).await.ok();
    assert_eq!((&old["state"], &old["moved_to_id"]), (&json!("closed"), &moved["id"]));
    let told = ada.get(&format!("/projects/{to}/issues/1/notes?sort=asc")).await.each("body");
    assert!(
        told.contains(&json!("a word")) && told.contains(&json!("moved from ada/from#1")),
        "{told:?}"
    );
    let again = ada.post(&format!("{path}/move"), json!({ "to_project_id": to.0 })).await;
    let told = "Cannot move issue due to insufficient permissions!";
    again.refused(400, json!({ "message": told }));
}

#[actix_web::test]
async fn an_issue_moves_only_where_somebody_may_manage_both() {
    let app = TestApp::new();
    let (ada, from, to) = two_projects(&app).await;
    let rita = app.member(from, "rita", Reporter);
    let moves = format!("/projects/{from}/issues/1/move");
    let to_there = json!({ "to_project_id": to.0 });

    let hidden = json!({ "message": "404 Project Not Found" });
    rita.post(&moves, to_there.clone()).await.refused(404, hidden);
    app.member(to, "rita", Guest);
    let refused = json!({ "message": "Cannot move issue due to insufficient permissions!" });
    rita.post(&moves, to_there.clone()).await.refused(400, refused);
    let same = json!({ "message": "Cannot move issue to project it originates from!" });
    ada.post(&moves, json!({ "to_project_id": from.0 })).await.refused(400, same);
    let none = ada.post(&format!("/projects/{from}/issues/9/move"), to_there.clone()).await;
    none.refused(404, json!({ "message": "404 Issue Not Found" }));
    let clones = format!("/projects/{from}/issues/1/clone");
    let refused = json!({ "message": "Cannot clone issue due to insufficient permissions!" });
    rita.post(&clones, to_there).await.refused(400, refused);
}

#[actix_web::test]
async fn a_copy_leaves_the_issue_as_it_is() {
    let app = TestApp::new();
    let (ada, from, _) = two_projects(&app).await;
    let clones = format!("/projects/{from}/issues/1/clone");

    let bare = ada.post(&clones, json!({ "to_project_id": from.0 })).await.created();
    assert_eq!((&bare["iid"], &bare["user_notes_count"]), (&json!(2), &json!(0)));
    let asked = json!({ "to_project_id": from.0, "with_notes": true });
    let whole = ada.post(&clones, asked).await.created();
    assert_eq!((&whole["iid"], &whole["user_notes_count"]), (&json!(3), &json!(1)));
    assert_eq!(ada.get(&format!("/projects/{from}/issues/1")).await.ok()["state"], "opened");
}

#[actix_web::test]
async fn issues_are_put_in_an_order() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let mut ids = Vec::new();
    for title in ["a", "b", "c"] {
        ids.push(issue(&ada, project, json!({ "title": title })).await["id"].clone());
    }
    let list = format!("/projects/{project}/issues");
    let order = format!("{list}?order_by=relative_position");
    let place = |iid: i64| format!("{list}/{iid}/reorder");

    ada.put(&place(3), json!({ "move_after_id": ids[0] })).await.ok();
    assert_eq!(ada.get(&order).await.each("title"), ["c", "a", "b"]);
    ada.put(&place(1), json!({ "move_before_id": ids[1] })).await.ok();
    assert_eq!(ada.get(&order).await.each("title"), ["c", "b", "a"]);
    // More often than there is room between two at first.
    for _ in 0..25 {
        for iid in [1, 3] {
            let between = json!({ "move_after_id": ids[1] });
            ada.put(&place(iid), between).await.ok();
        }
    }
    assert_eq!(ada.get(&order).await.each("title"), ["a", "c", "b"]);
    let refused = json!({ "message": { "error": "Unprocessable Entity" } });
    ada.put(&place(1), json!({ "move_after_id": 99 })).await.refused(422, refused);
    let nothing =
        "move_after_id, move_before_id are missing, at least one parameter must be provided";
    ada.put(&place(1), json!({})).await.refused(400, json!({ "error": nothing }));
}

#[actix_web::test]
async fn labels_count_what_the_reader_may_read() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    issue(&ada, project, json!({ "title": "a", "labels": "bug" })).await;
    issue(&ada, project, json!({ "title": "b", "labels": "bug", "confidential": true })).await;
    issue(&ada, project, json!({ "title": "c", "labels": "bug" })).await;
    ada.put(&format!("/projects/{project}/issues/3"), json!({ "state_event": "close" })).await.ok();
    let guest = app.member(project, "gus", Guest);
    let labels = format!("/projects/{project}/labels?with_counts=true");

    let counted = ada.get(&labels).await.ok()[0].clone();
    assert_eq!(
        (&counted["open_issues_count"], &counted["closed_issues_count"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(counted["open_merge_requests_count"], 0);
    assert_eq!(guest.get(&labels).await.each("open_issues_count"), [json!(1)]);
    let bare = ada.get(&format!("/projects/{project}/labels")).await.ok();
    assert_eq!(bare[0].get("open_issues_count"), None);
}

#[actix_web::test]
async fn a_milestone_lists_its_issues_by_urgency() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.post("/groups", json!({ "name": "Orchid", "path": "orchid" })).await.created();
    let group = group["id"].clone();
    let project = json!({ "name": "site", "namespace_id": group });
    let project = ada.post("/projects", project).await.created()["id"].as_i64().unwrap();
    let year = ada.post(&format!("/groups/{group}/milestones"), json!({ "title": "year" })).await;
    let year = year.created()["id"].clone();
    let own = ada.post(&format!("/projects/{project}/milestones"), json!({ "title": "1.0" })).await;
    let own = own.created()["id"].clone();
    let label = json!({ "name": "urgent", "color": "red", "priority": 0 });
    ada.post(&format!("/projects/{project}/labels"), label).await.created();
    let project = ProjectId(project);
    issue(&ada, project, json!({ "title": "a", "milestone_id": own, "labels": "urgent" })).await;
    issue(&ada, project, json!({ "title": "b", "milestone_id": own })).await;
    issue(&ada, project, json!({ "title": "c", "milestone_id": year })).await;

    let of_project = format!("/projects/{project}/milestones/{own}/issues");
    assert_eq!(ada.get(&of_project).await.each("title"), ["a", "b"]);
    let of_group = ada.get(&format!("/groups/{group}/milestones/{year}/issues")).await;
    assert_eq!(of_group.each("title"), ["c"]);
    let none = ada.get(&format!("/projects/{project}/milestones/999/issues")).await;
    none.refused(404, json!({ "message": "404 Milestone Not Found" }));
}

#[actix_web::test]
async fn lists_know_what_somebody_reacted_to() {
    let app = TestApp::new();
    let (ada, from, _) = two_projects(&app).await;
    issue(&ada, from, json!({ "title": "Two" })).await;
    let list = format!("/projects/{from}/issues?my_reaction_emoji");

    assert_eq!(ada.get(&format!("{list}=thumbsup")).await.each("title"), ["One"]);
    assert_eq!(ada.get(&format!("{list}=Any")).await.each("title"), ["One"]);
    assert_eq!(ada.get(&format!("{list}=None")).await.each("title"), ["Two"]);
    assert_eq!(ada.get(&format!("{list}=star")).await.each("title"), Vec::<Value>::new());
}

#[actix_web::test]
async fn a_moved_issue_keeps_its_age_its_estimate_and_what_it_has_to_do_with() {
    let app = TestApp::new();
    let (ada, from, to) = two_projects(&app).await;
    let path = format!("/projects/{from}/issues/1");
    ada.post(&format!("{path}/time_estimate"), json!({ "duration": "3h" })).await.ok();
    issue(&ada, from, json!({ "title": "Two" })).await;
    let link =
        json!({ "target_project_id": from.0, "target_issue_iid": 2, "link_type": "is_blocked_by" });
    ada.post(&format!("{path}/links"), link).await.created();
    let old = ada.get(&path).await.ok();
    app.clock.advance(time::Duration::days(3));

    let moved = ada.post(&format!("{path}/move"), json!({ "to_project_id": to.0 })).await.created();

    assert_eq!(moved["created_at"], old["created_at"]);
    assert_ne!(moved["updated_at"], old["updated_at"]);
    assert_eq!(moved["time_stats"]["time_estimate"], 10_800);
    let linked = ada.get(&format!("/projects/{to}/issues/1/links")).await.ok();
    assert_eq!(
        (&linked[0]["title"], &linked[0]["link_type"]),
        (&json!("Two"), &json!("is_blocked_by"))
    );
    assert_eq!(ada.get(&format!("{path}/links")).await.ok(), json!([]));
    let blocker = format!("/projects/{from}/issues/2");
    assert_eq!(ada.get(&blocker).await.ok()["blocking_issues_count"], 1);
}

#[actix_web::test]
async fn what_a_moved_issue_names_is_the_same_where_it_goes() {
    let app = TestApp::new();
    let (ada, from, to) = two_projects(&app).await;
    let orchid = ada.group("orchid", None).await;
    let far = json!({ "name": "far", "namespace_id": orchid });
    let far = ada.post("/projects", far).await.created()["id"].clone();
    let text = "see #1, !9 and to#1, `#1` http://forge.test/ada/from/-/issues/1\n\n    #1\n";
    issue(&ada, to, json!({ "title": "There" })).await;
    let new = issue(&ada, from, json!({ "title": "Two", "description": text })).await;
    let path = format!("/projects/{from}/issues/{}", new["iid"]);
    ada.post(&format!("{path}/notes"), json!({ "body": "as #1" })).await.created();

    let moved = ada.post(&format!("{path}/move"), json!({ "to_project_id": far })).await.created();

    let kept =
        "see ada/from#1, !9 and ada/to#1, `#1` http://forge.test/ada/from/-/issues/1\n\n    #1\n";
    assert_eq!(moved["description"], kept);
    let notes = format!("/projects/{far}/issues/{}/notes", moved["iid"]);
    assert!(ada.get(&notes).await.each("body").contains(&json!("as ada/from#1")));
}
