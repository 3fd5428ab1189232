//! Issues that work towards epics, and issues that become some.

use kernel::{AccessLevel::Reporter, Visibility::Public};
use serde_json::{Value, json};

use super::epics::{HIDDEN, epic, issue, project_in, set_up, titles, told};
use crate::support::TestApp;

#[actix_web::test]
async fn issues_join_an_epic_stand_in_order_and_leave_it() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let issues = format!("/groups/{group}/epics/1/issues");
    let mut ids = Vec::new();
    for title in ["one", "two", "three"] {
        let made = issue(&ada, project, json!({ "title": title })).await;
        let link = ada.post(&format!("{issues}/{}", made["id"]), json!({})).await.created();
        assert_eq!((&link["epic"]["iid"], &link["issue"]["title"]), (&json!(1), &json!(title)));
        assert_eq!(link["issue"]["epic"]["title"], "Garden");
        ids.push(link["id"].clone());
    }

    assert_eq!(
        ada.get(&issues).await.each("epic_issue_id"),
        [ids[2].clone(), ids[1].clone(), ids[0].clone()]
    );
    let again = ada.post(&format!("{issues}/{}", ids[0]), json!({})).await;
    again.refused(409, json!({ "message": "Issue(s) already assigned" }));
    let after = json!({ "move_before_id": ids[0] });
    let moved = ada.put(&format!("{issues}/{}", ids[2]), after).await.each("title");
    assert_eq!(moved, ["two", "one", "three"]);
    let before = json!({ "move_after_id": ids[1] });
    ada.put(&format!("{issues}/{}", ids[0]), before).await.ok();
    assert_eq!(titles(&ada, &issues).await, ["one", "two", "three"]);
    let left = ada.delete(&format!("{issues}/{}", ids[1])).await.ok();
    assert_eq!((&left["id"], &left["issue"]["epic"]), (&ids[1], &Value::Null));
    assert_eq!(titles(&ada, &issues).await, ["one", "three"]);
    assert_eq!(ada.delete(&format!("{issues}/{}", ids[1])).await.status, 404);
    assert_eq!(told(&ada, project, 2).await, ["added to epic &1", "removed from epic &1"]);
    ada.delete(&format!("/groups/{group}/epics/1")).await.with(204);
    assert_eq!(app.kept_issue(project, 1).epic_id, None);
}

#[actix_web::test]
async fn an_epic_lasts_as_long_as_the_milestones_of_its_issues() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let made = epic(&ada, group, json!({ "title": "Garden" })).await;
    for (title, start, due) in
        [("a", "2030-01-01", "2030-02-01"), ("b", "2030-01-15", "2030-03-01")]
    {
        let fields = json!({ "title": title, "start_date": start, "due_date": due });
        let milestones = format!("/projects/{project}/milestones");
        let milestone = ada.post(&milestones, fields).await.created();
        let fields =
            json!({ "title": title, "milestone_id": milestone["id"], "epic_id": made["id"] });
        issue(&ada, project, fields).await;
    }

    let shown = ada.get(&format!("/groups/{group}/epics/1")).await.ok();

    assert_eq!(
        (&shown["start_date"], &shown["due_date"]),
        (&json!("2030-01-01"), &json!("2030-03-01"))
    );
    assert_eq!(shown["due_date_from_milestones"], "2030-03-01");
}

#[actix_web::test]
async fn issues_name_their_epic_and_are_found_by_it() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let one = epic(&ada, group, json!({ "title": "Garden" })).await["id"].clone();
    let two = epic(&ada, group, json!({ "title": "House" })).await["id"].clone();
    let made = issue(&ada, project, json!({ "title": "a", "epic_id": one })).await;
    issue(&ada, project, json!({ "title": "b", "epic_iid": 2 })).await;
    issue(&ada, project, json!({ "title": "c" })).await;
    let issues = format!("/projects/{project}/issues");

    let named = json!({ "id": one, "iid": 1, "title": "Garden", "group_id": group,
                        "url": "/groups/orchid/-/epics/1" });
    assert_eq!((&made["epic"], &made["epic_iid"]), (&named, &json!(1)));
    for (query, found) in [
        (format!("epic_id={one}"), &["a"][..]),
        (format!("epic_id={two}"), &["b"]),
        ("epic_id=None".to_owned(), &["c"]),
        ("epic_id=any".to_owned(), &["b", "a"]),
        (format!("not[epic_id]={one}"), &["c", "b"]),
        ("not[epic_id]=None".to_owned(), &["b", "a"]),
        ("epic_id=999".to_owned(), &[]),
    ] {
        assert_eq!(titles(&ada, &format!("{issues}?{query}")).await, found, "{query}");
        let everywhere = format!("/issues?scope=all&{query}");
        assert_eq!(titles(&ada, &everywhere).await, found, "{query}");
    }
    let moved = ada.put(&format!("{issues}/1"), json!({ "epic_id": two })).await.ok();
    assert_eq!(moved["epic_iid"], 2);
    let out = ada.put(&format!("{issues}/1"), json!({ "epic_id": 0 })).await.ok();
    assert_eq!((&out["epic"], &out["epic_iid"]), (&Value::Null, &Value::Null));
    let expected = ["changed epic to &2", "removed from epic &2"];
    assert_eq!(told(&ada, project, 1).await, expected);
    let missing = json!({ "message": HIDDEN });
    ada.put(&format!("{issues}/1"), json!({ "epic_iid": 9 })).await.refused(404, missing);
}

#[actix_web::test]
async fn only_epics_of_groups_above_are_given_and_only_by_those_who_report_there() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "public").await;
    let other = ada.group("cellar", None).await;
    let foreign = epic(&ada, other, json!({ "title": "Elsewhere" })).await["id"].clone();
    let own = epic(&ada, group, json!({ "title": "Garden" })).await["id"].clone();
    let secret = epic(&ada, group, json!({ "title": "Secret", "confidential": true })).await;
    let rita = app.member(project, "rita", Reporter);
    let made = issue(&rita, project, json!({ "title": "a" })).await;
    let one = format!("/projects/{project}/issues/{}", made["iid"]);

    let missing = json!({ "message": HIDDEN });
    ada.put(&one, json!({ "epic_id": foreign })).await.refused(404, missing.clone());
    rita.put(&one, json!({ "epic_id": secret["id"] })).await.refused(404, missing.clone());
    rita.put(&one, json!({ "epic_id": 999 })).await.refused(404, missing);
    let forbidden = json!({ "message": "403 Forbidden" });
    rita.put(&one, json!({ "epic_id": own })).await.refused(403, forbidden.clone());
    let kept = "Cannot set confidential epic for a non-confidential issue";
    let kept = json!({ "message": { "issue": [kept] } });
    ada.put(&one, json!({ "epic_id": secret["id"] })).await.refused(400, kept.clone());
    let both = json!({ "epic_id": secret["id"], "confidential": true });
    assert_eq!(ada.put(&one, both).await.ok()["epic_iid"], 2);
    ada.put(&one, json!({ "confidential": false })).await.refused(400, kept);
    ada.put(&one, json!({ "epic_id": own, "confidential": false })).await.ok();
    rita.put(&one, json!({ "epic_id": 0 })).await.refused(403, forbidden);
    let open = "Cannot make the epic confidential if it contains non-confidential issues";
    let open = json!({ "message": { "confidential": [open] } });
    let garden = format!("/groups/{group}/epics/1");
    ada.put(&garden, json!({ "confidential": true })).await.refused(400, open);
}

#[actix_web::test]
async fn who_may_not_read_an_epic_does_not_learn_of_it_from_issues() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let made = epic(&ada, group, json!({ "title": "Garden" })).await;
    issue(&ada, project, json!({ "title": "a" })).await;
    let one = format!("/projects/{project}/issues/1");
    ada.put(&one, json!({ "epic_id": made["id"] })).await.ok();
    // A member of the project alone sees the group, but not what its projects work towards.
    let rita = app.member(project, "rita", Reporter);

    let seen = rita.get(&one).await.ok();
    assert_eq!((&seen["epic"], &seen["epic_iid"]), (&Value::Null, &Value::Null));
    let issues = format!("/projects/{project}/issues");
    for (query, found) in [
        (format!("epic_id={}", made["id"]), 0),
        ("epic_id=Any".to_owned(), 0),
        ("epic_id=None".to_owned(), 1),
        (format!("not[epic_id]={}", made["id"]), 1),
    ] {
        assert_eq!(titles(&rita, &format!("{issues}?{query}")).await.len(), found, "{query}");
        let counted =
            rita.get(&format!("/projects/{project}/issues_statistics?{query}")).await.ok();
        assert_eq!(counted["statistics"]["counts"]["all"], found, "{query}");
    }
    assert_eq!(rita.get(&format!("{one}/notes")).await.each("body"), Vec::<Value>::new());
    assert_eq!(rita.get(&format!("{one}/discussions")).await.ok(), json!([]));
    assert_eq!(ada.get(&format!("{one}/notes")).await.each("body"), ["added to epic &1"]);
    rita.put(&one, json!({ "epic_id": 0 })).await.ok();
    assert_eq!(app.kept_issue(project, 1).epic_id, made["id"].as_i64(), "what is not seen stays");
    rita.get(&format!("/groups/{group}/epics")).await.with(403);
}

#[actix_web::test]
async fn lists_of_an_epics_issues_show_what_the_reader_may_read() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "public").await;
    let closed = project_in(&ada, group, "safe", "private").await;
    let made = epic(&ada, group, json!({ "title": "Garden" })).await;
    issue(&ada, project, json!({ "title": "open", "epic_id": made["id"] })).await;
    issue(&ada, project, json!({ "title": "secret", "epic_id": made["id"], "confidential": true }))
        .await;
    issue(&ada, closed, json!({ "title": "inside", "epic_id": made["id"] })).await;
    let issues = format!("/groups/{group}/epics/1/issues");

    assert_eq!(titles(&ada, &issues).await, ["inside", "secret", "open"]);
    assert_eq!(titles(&app.anonymous(), &issues).await, ["open"]);
    let rita = app.member(project, "rita", Reporter);
    assert_eq!(titles(&rita, &issues).await, ["secret", "open"]);
    let inside = app.kept_issue(closed, 1).id;
    let away = json!({ "message": "403 Forbidden" });
    rita.post(&format!("{issues}/{inside}"), json!({})).await.refused(403, away);
}

#[actix_web::test]
async fn an_issue_becomes_an_epic_of_its_group() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let labels = format!("/groups/{group}/labels");
    ada.post(&labels, json!({ "name": "big", "color": "red" })).await.created();
    let fields = json!({ "title": "Garden", "description": "All of it", "labels": "big,small" });
    issue(&ada, project, fields).await;
    let one = format!("/projects/{project}/issues/1");

    let done = ada.post(&format!("{one}/notes"), json!({ "body": "/promote" })).await.with(202);

    let answer = json!({ "commands_changes": { "promote_to_epic": true },
                       "summary": ["Promoted issue to an epic."] });
    assert_eq!(done, answer);
    let made = ada.get(&format!("/groups/{group}/epics/1")).await.ok();
    assert_eq!((&made["title"], &made["description"]), (&json!("Garden"), &json!("All of it")));
    assert_eq!((&made["labels"], &made["confidential"]), (&json!(["big"]), &json!(false)));
    assert_eq!(ada.get(&one).await.ok()["state"], "closed");
    assert_eq!(told(&ada, project, 1).await, ["promoted to epic &1", "closed"]);
    ada.put(&one, json!({ "state_event": "reopen" })).await.ok();
    let again = ada.post(&format!("{one}/notes"), json!({ "body": "/promote" })).await;
    assert_eq!(again.status, 400, "an issue becomes an epic once");
}

#[actix_web::test]
async fn only_who_reports_in_the_group_promotes_and_nobody_else_is_told() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "public").await;
    issue(&ada, project, json!({ "title": "Plan", "confidential": true })).await;
    issue(&ada, project, json!({ "title": "Fire", "issue_type": "incident" })).await;
    let rita = app.member(project, "rita", Reporter);
    let say = |iid: i64| format!("/projects/{project}/issues/{iid}/notes");

    let refusal = json!({ "message": "400 Bad request - Failed to apply commands." });
    rita.post(&say(1), json!({ "body": "/promote" })).await.refused(400, refusal.clone());
    ada.post(&say(2), json!({ "body": "/promote" })).await.refused(400, refusal.clone());
    let alone = app.project(&ada, "shed", Public);
    let notes = format!("/projects/{alone}/issues/{}/notes", app.issue(alone, &ada));
    ada.post(&notes, json!({ "body": "/promote" })).await.refused(400, refusal);
    let said = ada.post(&say(1), json!({ "body": "Big!\n/promote" })).await.created();
    assert_eq!(said["commands_changes"], json!({ "promote_to_epic": true }));
    assert_eq!(
        titles(&app.anonymous(), &format!("/groups/{group}/epics")).await,
        Vec::<Value>::new()
    );
    let bodies = rita.get(&format!("{}?sort=asc", say(1))).await.each("body");
    assert_eq!(bodies, ["Big!", "closed"]);
    let bodies = ada.get(&format!("{}?sort=asc", say(1))).await.each("body");
    assert_eq!(bodies, ["Big!", "promoted to epic &1", "closed"]);
}

#[actix_web::test]
async fn issues_join_and_leave_epics_by_commands() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let made = epic(&ada, group, json!({ "title": "Garden" })).await;
    issue(&ada, project, json!({ "title": "a" })).await;
    let notes = format!("/projects/{project}/issues/1/notes");
    let rita = app.member(project, "rita", Reporter);

    assert_eq!(rita.post(&notes, json!({ "body": "/epic &1" })).await.status, 400);
    let done = ada.post(&notes, json!({ "body": "/epic &1" })).await.with(202);
    assert_eq!(done["commands_changes"], json!({ "epic_id": made["id"] }));
    assert_eq!(app.kept_issue(project, 1).epic_id, made["id"].as_i64());
    assert_eq!(ada.post(&notes, json!({ "body": "/epic &7" })).await.status, 400);
    assert_eq!(rita.post(&notes, json!({ "body": "/remove_epic" })).await.status, 400);
    ada.post(&notes, json!({ "body": "/remove_epic" })).await.with(202);
    assert_eq!(app.kept_issue(project, 1).epic_id, None);
}

#[actix_web::test]
async fn what_tells_of_an_epic_stays_hidden_where_the_issue_moves() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let made = epic(&ada, group, json!({ "title": "Garden" })).await;
    issue(&ada, project, json!({ "title": "a" })).await;
    let one = format!("/projects/{project}/issues/1");
    ada.put(&one, json!({ "epic_id": made["id"] })).await.ok();
    let open = app.project(&ada, "shed", Public);

    ada.post(&format!("{one}/move"), json!({ "to_project_id": open.0 })).await.created();

    let moved = format!("/projects/{open}/issues/1");
    let eve = app.person("eve");
    assert_eq!(eve.get(&moved).await.ok()["epic"], Value::Null);
    let told = eve.get(&format!("{moved}/notes")).await.each("body");
    assert!(
        told.iter().all(|body| !body.as_str().unwrap_or_default().contains("epic")),
        "{told:?}"
    );
    let told = ada.get(&format!("{moved}/notes")).await.each("body");
    assert!(told.contains(&json!("added to epic orchid&1")), "{told:?}");
}

#[actix_web::test]
async fn a_command_names_epics_of_every_group_above() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let below = ada.group("bulb", Some(group)).await;
    let project = project_in(&ada, below, "tulip", "private").await;
    let made = epic(&ada, group, json!({ "title": "Garden" })).await;
    epic(&ada, ada.group("other", None).await, json!({ "title": "Elsewhere" })).await;
    issue(&ada, project, json!({ "title": "a" })).await;
    let notes = format!("/projects/{project}/issues/1/notes");
    let say = async |body: &str| ada.post(&notes, json!({ "body": body })).await;

    for name in ["orchid&1", "http://forge.test/groups/orchid/-/epics/1"] {
        let done = say(&format!("/epic {name}")).await.with(202);
        assert_eq!(done["commands_changes"]["epic_id"], made["id"], "{name}");
        say("/remove_epic").await.with(202);
    }
    for name in ["&1", "other&1", "nowhere&1"] {
        say(&format!("/epic {name}")).await.with(400);
    }
}

#[actix_web::test]
async fn an_epic_takes_issues_of_other_groups_from_those_who_manage_both() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "public").await;
    let (rita, cellar) = (app.person("rita"), ada.group("cellar", None).await);
    let elsewhere = project_in(&ada, cellar, "wine", "private").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let made = issue(&ada, elsewhere, json!({ "title": "far" })).await;
    ada.adds("rita", 20, &format!("/groups/{group}")).await;
    let issues = format!("/groups/{group}/epics/1/issues");
    let one = format!("{issues}/{}", made["id"]);

    rita.post(&one, json!({})).await.refused(404, json!({ "message": HIDDEN }));
    let link = ada.post(&one, json!({})).await.created();
    assert_eq!((&link["epic"]["iid"], &link["issue"]["title"]), (&json!(1), &json!("far")));
    assert_eq!(titles(&ada, &issues).await, ["far"]);
    assert!(titles(&rita, &issues).await.is_empty());
    ada.delete(&format!("{issues}/{}", link["id"])).await.ok();
    assert!(titles(&ada, &issues).await.is_empty());
}
