//! Milestones of releases: `gateway/src/rest/repo/releases.rs`.

use kernel::{Visibility::Public, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Person, TestApp, ci::commit};

/// A public project of a group that has the milestone `Group`, with the milestones `Late` and `Soon` of its own.
async fn set_up<'a>(app: &'a TestApp) -> (Person<'a>, ProjectId, String) {
    let ada = app.person("ada");
    let group = ada.group_with("works", json!({ "visibility": "public" })).await;
    let new = json!({ "name": "engine", "namespace_id": group, "visibility": "public" });
    let made = ada.post("/projects", new).await.created();
    let project = ProjectId(made["id"].as_i64().expect("an id"));
    commit(&ada, project, "main", "one", "build: {script: x}\n").await;
    let base = format!("/projects/{project}");
    ada.post(&format!("/groups/{group}/milestones"), json!({ "title": "Group" })).await.created();
    for (title, day) in [("Late", "2030-02-02"), ("Soon", "2030-01-01")] {
        let new = json!({ "title": title, "due_date": day });
        ada.post(&format!("{base}/milestones"), new).await.created();
    }
    (ada, project, format!("{base}/releases"))
}

fn titles(release: &Value) -> Vec<&Value> {
    let all = release["milestones"].as_array().into_iter().flatten();
    all.map(|one| &one["title"]).collect()
}

#[actix_web::test]
async fn a_release_says_which_milestones_it_completes() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    let milestones = ada.get(&format!("/projects/{project}/milestones?title=Soon")).await.ok();
    for event in [Value::Null, json!("close")] {
        let new = json!({ "title": "It leaks", "milestone_id": milestones[0]["id"] });
        let made = ada.post(&format!("/projects/{project}/issues"), new).await.created();
        let one = format!("/projects/{project}/issues/{}", made["iid"]);
        ada.put(&one, json!({ "state_event": event, "title": "x" })).await.ok();
    }
    let new = json!({ "tag_name": "v1", "ref": "main", "milestones": ["Group", "Late", "Soon"] });

    let made = ada.post(&path, new).await.created();

    assert_eq!(titles(&made), ["Soon", "Late", "Group"], "by the day on which they are due");
    assert_eq!(made["milestones"][0]["issue_stats"], json!({ "total": 2, "closed": 1 }));
    assert_eq!(made["milestones"][0]["web_url"], milestones[0]["web_url"]);
    assert_eq!(ada.get(&path).await.ok()[0], made);
    let one = format!("{path}/v1");
    let changed = ada.put(&one, json!({ "milestones": ["Late"] })).await.ok();
    assert_eq!(titles(&changed), ["Late"]);
    let kept = ada.put(&one, json!({ "name": "One" })).await.ok();
    assert_eq!(titles(&kept), ["Late"]);
    let by_id = json!({ "milestone_ids": [milestones[0]["id"]] });
    assert_eq!(titles(&ada.put(&one, by_id).await.ok()), ["Soon"]);
    assert_eq!(ada.put(&one, json!({ "milestones": [] })).await.ok().get("milestones"), None);
}

#[actix_web::test]
async fn a_milestone_that_the_project_lacks_is_refused_before_the_tag_is_made() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    let new = json!({ "tag_name": "v1", "ref": "main", "milestones": ["Soon", "Never", "Nor"] });
    let message = json!({ "message": "Milestone(s) not found: Never, Nor" });
    ada.post(&path, new).await.refused(400, message.clone());
    ada.get(&format!("/projects/{project}/repository/tags/v1")).await.with(404);
    ada.post(&path, json!({ "tag_name": "v1", "ref": "main" })).await.created();
    let both = json!({ "milestones": ["Soon"], "milestone_ids": [1] });
    let text = "milestones, milestone_ids are mutually exclusive";
    ada.put(&format!("{path}/v1"), both).await.refused(400, json!({ "error": text }));
    let other = app.project(&ada, "other", Public);
    let foreign = json!({ "title": "Never" });
    ada.post(&format!("/projects/{other}/milestones"), foreign).await.created();
    let change = json!({ "milestones": ["Soon", "Never", "Nor"] });
    ada.put(&format!("{path}/v1"), change).await.refused(400, message);
}

#[actix_web::test]
async fn milestones_are_shown_to_those_who_may_read_them() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    let new = json!({ "tag_name": "v1", "ref": "main", "milestones": "Soon" });
    ada.post(&path, new).await.created();
    assert_eq!(titles(&app.anonymous().get(&path).await.ok()[0]), ["Soon"]);
    let private =
        json!({ "issues_access_level": "private", "merge_requests_access_level": "private" });
    ada.put(&format!("/projects/{project}"), private).await.ok();
    assert_eq!(app.anonymous().get(&path).await.ok()[0].get("milestones"), None);
    assert_eq!(titles(&ada.get(&path).await.ok()[0]), ["Soon"]);
    let milestone = ada.get(&format!("/projects/{project}/milestones?title=Soon")).await.ok();
    let one = format!("/projects/{project}/milestones/{}", milestone[0]["id"]);
    ada.delete(&one).await.with(204);
    assert_eq!(ada.get(&path).await.ok()[0].get("milestones"), None);
}

#[actix_web::test]
async fn a_project_that_leaves_its_group_takes_no_milestone_of_the_group_along() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    let base = format!("/projects/{project}");
    let listed = format!("{base}/milestones?include_parent_milestones=true&title=Group");
    let group = ada.get(&listed).await.ok()[0]["id"].clone();
    let new = json!({ "title": "It leaks", "milestone_id": group });
    ada.post(&format!("{base}/issues"), new).await.created();
    let new = json!({ "tag_name": "v1", "ref": "main", "milestones": ["Group", "Late"] });
    ada.post(&path, new).await.created();
    let other = ada.group_with("elsewhere", json!({ "visibility": "public" })).await;

    ada.put(&format!("{base}/transfer"), json!({ "namespace": other })).await.ok();

    let issue = ada.get(&format!("{base}/issues/1")).await.ok();
    assert_eq!(issue["milestone"]["title"], "Group");
    assert_eq!(issue["milestone"]["project_id"], json!(project.0), "a copy of its own");
    let release = ada.get(&format!("{path}/v1")).await.ok();
    assert_eq!(titles(&release), ["Late", "Group"]);
    assert_eq!(release["milestones"][1]["id"], issue["milestone"]["id"]);
}

#[actix_web::test]
async fn what_was_in_milestones_of_the_same_title_goes_on_in_the_promoted_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("works", None).await;
    let mut projects = Vec::new();
    for name in ["engine", "wheels"] {
        let new = json!({ "name": name, "namespace_id": group });
        let project = ada.post("/projects", new).await.created()["id"].clone();
        let base = format!("/projects/{project}");
        let new = json!({ "title": "Soon" });
        let milestone = ada.post(&format!("{base}/milestones"), new).await.created()["id"].clone();
        let new = json!({ "title": "It leaks", "milestone_id": milestone });
        ada.post(&format!("{base}/issues"), new).await.created();
        let id = ProjectId(project.as_i64().expect("an id"));
        commit(&ada, id, "main", "one", "build: {script: x}\n").await;
        let new = json!({ "tag_name": "v1", "ref": "main", "milestone_ids": [milestone] });
        ada.post(&format!("{base}/releases"), new).await.created();
        projects.push((base, milestone));
    }

    let (first, milestone) = &projects[0];
    ada.post(&format!("{first}/milestones/{milestone}/promote"), json!({})).await;

    for (base, _) in &projects {
        let issue = ada.get(&format!("{base}/issues/1")).await.ok();
        assert_eq!(issue["milestone"]["group_id"], group, "{base}");
        let release = ada.get(&format!("{base}/releases/v1")).await.ok();
        assert_eq!(release["milestones"][0]["id"], issue["milestone"]["id"], "{base}");
        assert_eq!(titles(&release).len(), 1, "{base}");
    }
}

#[actix_web::test]
async fn projects_of_a_group_that_moves_take_no_milestone_of_the_old_parent_along() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = async |name: &str, parent: Value| {
        let new = json!({ "name": name, "path": name, "parent_id": parent });
        ada.post("/groups", new).await.created()["id"].clone()
    };
    let (old, new) = (group("old", Value::Null).await, group("new", Value::Null).await);
    let team = group("team", old.clone()).await;
    let milestone = async |group: &Value, title: &str| {
        let path = format!("/groups/{group}/milestones");
        ada.post(&path, json!({ "title": title })).await.created()["id"].clone()
    };
    let mut ids = Vec::new();
    for (of, title) in [(&old, "Gone"), (&old, "Both"), (&team, "Own"), (&new, "Both")] {
        ids.push(milestone(of, title).await);
    }
    let mut projects = Vec::new();
    for (name, home) in [("engine", &team), ("wheels", &team), ("stays", &old)] {
        let project = json!({ "name": name, "namespace_id": home });
        let project = ada.post("/projects", project).await.created()["id"].clone();
        let id = ProjectId(project.as_i64().expect("an id"));
        commit(&ada, id, "main", "one", "build: {script: x}\n").await;
        let base = format!("/projects/{project}");
        for milestone in &ids[..if name == "stays" { 2 } else { 3 }] {
            let new = json!({ "title": "It leaks", "milestone_id": milestone });
            ada.post(&format!("{base}/issues"), new).await.created();
        }
        let new = json!({ "tag_name": "v1", "ref": "main", "milestone_ids": &ids[..2] });
        ada.post(&format!("{base}/releases"), new).await.created();
        projects.push(base);
    }

    ada.post(&format!("/groups/{team}/transfer"), json!({ "group_id": new })).await.created();

    for base in &projects[..2] {
        let issue = async |iid: i64| ada.get(&format!("{base}/issues/{iid}")).await.ok();
        let (gone, both, own) = (issue(1).await, issue(2).await, issue(3).await);
        assert_eq!(gone["milestone"]["title"], "Gone");
        assert_eq!(base, &format!("/projects/{}", gone["milestone"]["project_id"]), "a copy");
        assert_eq!(both["milestone"]["id"], ids[3], "the new parent has one of that title");
        assert_eq!(own["milestone"]["id"], ids[2], "the group's own stays");
        let release = ada.get(&format!("{base}/releases/v1")).await.ok();
        let shown: Vec<&Value> =
            vec![&release["milestones"][0]["id"], &release["milestones"][1]["id"]];
        assert!(shown.contains(&&gone["milestone"]["id"]) && shown.contains(&&ids[3]), "{release}");
    }
    let stays = ada.get(&format!("{}/issues/1", projects[2])).await.ok();
    assert_eq!(stays["milestone"]["id"], ids[0]);
    let release = ada.get(&format!("{}/releases/v1", projects[2])).await.ok();
    assert_eq!(titles(&release), ["Both", "Gone"]);
}
