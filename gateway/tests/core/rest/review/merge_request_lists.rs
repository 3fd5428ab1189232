//! Lists of merge requests: of a project, of a group, and of all.

use kernel::{
    AccessLevel::{Developer, Guest},
    ids::ProjectId,
};
use review::merge_request::{Columns, MergeRequestStore, MergeStatus::Unchecked};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// A group `orchid` of `ada`'s with the public project `site`, and its three merge requests: `one` of ada's with a
/// label, `two` a draft given to dora, `three` closed and to `stable`.
async fn set_up<'a>(app: &'a TestApp) -> (Person<'a>, Person<'a>, Value) {
    let ada = app.person("ada");
    let group = json!({ "name": "Orchid", "path": "orchid", "visibility": "public" });
    let group = ada.post("/groups", group).await.created()["id"].clone();
    let new = json!({ "name": "site", "namespace_id": group, "visibility": "public", "initialize_with_readme": true });
    let project = ada.post("/projects", new).await.created()["id"].clone();
    let dora = app.member(ProjectId(project.as_i64().expect("an id")), "dora", Developer);
    let path = format!("/projects/{project}/merge_requests");
    for (branch, target) in [("one", "main"), ("two", "main"), ("three", "stable")] {
        let new = json!({ "title": format!("The {branch}"), "source_branch": branch, "target_branch": target });
        ada.post(&path, new).await.created();
    }
    let user = app.user("dora").id.0;
    let one = json!({ "labels": "bug,docs", "description": "About trees" });
    ada.put(&format!("{path}/1"), one).await.ok();
    let two = json!({ "title": "Draft: The two", "assignee_id": user, "reviewer_ids": [user] });
    ada.put(&format!("{path}/2"), two).await.ok();
    ada.put(&format!("{path}/3"), json!({ "state_event": "close" })).await.ok();
    (ada, dora, project)
}

async fn iids(person: &Person<'_>, path: &str) -> Vec<i64> {
    person.get(path).await.each("iid").iter().filter_map(Value::as_i64).collect()
}

#[actix_web::test]
async fn every_filter_finds_its_own() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app).await;
    let list = format!("/projects/{project}/merge_requests");
    let user = app.user("dora").id.0;
    ada.post(&format!("{list}/2/award_emoji"), json!({ "name": "thumbsup" })).await.created();
    for (query, expected) in [
        (String::new(), &[3, 2, 1][..]),
        ("state=opened".to_owned(), &[2, 1]),
        ("state=closed".to_owned(), &[3]),
        ("state=merged".to_owned(), &[]),
        ("state=locked".to_owned(), &[]),
        ("scope=assigned-to-me".to_owned(), &[]),
        ("iids[]=1&iids[]=3".to_owned(), &[3, 1]),
        ("author_username=ADA".to_owned(), &[3, 2, 1]),
        ("author_username=nobody".to_owned(), &[]),
        (format!("assignee_id={user}"), &[2]),
        ("assignee_id=None".to_owned(), &[3, 1]),
        ("assignee_id=any".to_owned(), &[2]),
        ("assignee_username[]=dora".to_owned(), &[2]),
        (format!("reviewer_id={user}"), &[2]),
        ("reviewer_id=None".to_owned(), &[3, 1]),
        ("reviewer_username=dora".to_owned(), &[2]),
        ("reviewer_username=Any".to_owned(), &[2]),
        ("labels=bug,docs".to_owned(), &[1]),
        ("labels=bug,none".to_owned(), &[]),
        ("labels=None".to_owned(), &[3, 2]),
        ("labels=Any".to_owned(), &[1]),
        ("milestone=None".to_owned(), &[3, 2, 1]),
        ("milestone=1.0".to_owned(), &[]),
        ("source_branch=two".to_owned(), &[2]),
        ("target_branch=stable".to_owned(), &[3]),
        (format!("source_project_id={project}"), &[3, 2, 1]),
        ("search=trees".to_owned(), &[1]),
        ("search=trees&in=title".to_owned(), &[]),
        ("wip=yes".to_owned(), &[2]),
        ("wip=no".to_owned(), &[3, 1]),
        ("approved=yes".to_owned(), &[3, 2, 1]),
        ("approved=no".to_owned(), &[]),
        ("scope=all".to_owned(), &[3, 2, 1]),
        ("scope=created_by_me".to_owned(), &[3, 2, 1]),
        ("scope=reviews_for_me".to_owned(), &[]),
        (format!("author_id={}", app.user("ada").id), &[3, 2, 1]),
        ("reviewer_id=Any".to_owned(), &[2]),
        ("state=all".to_owned(), &[3, 2, 1]),
        ("search=the&in=title,description".to_owned(), &[3, 2, 1]),
        ("search=trees&in=description".to_owned(), &[1]),
        ("created_before=2100-01-01".to_owned(), &[3, 2, 1]),
        ("updated_after=2100-01-01".to_owned(), &[]),
        ("created_after=2100-01-01".to_owned(), &[]),
        ("updated_before=2100-01-01".to_owned(), &[3, 2, 1]),
        ("environment=production".to_owned(), &[]),
        ("environment=".to_owned(), &[3, 2, 1]),
        ("deployed_after=2000-01-01".to_owned(), &[]),
        ("deployed_before=2100-01-01T00:00:00Z".to_owned(), &[]),
        ("deployed_after=".to_owned(), &[3, 2, 1]),
        ("merge_user_username=ada".to_owned(), &[]),
        ("merge_user_id=1".to_owned(), &[]),
        (format!("not[author_id]={user}"), &[3, 2, 1]),
        ("not[assignee_username]=dora".to_owned(), &[3, 1]),
        ("milestone=Any".to_owned(), &[]),
        ("my_reaction_emoji=thumbsup".to_owned(), &[2]),
        ("my_reaction_emoji=None".to_owned(), &[3, 1]),
        ("my_reaction_emoji=Any".to_owned(), &[2]),
        ("not[my_reaction_emoji]=thumbsup".to_owned(), &[3, 1]),
        ("not[labels]=bug".to_owned(), &[3, 2]),
        ("not[author_username]=ada".to_owned(), &[]),
        (format!("not[assignee_id]={user}"), &[3, 1]),
        (format!("not[reviewer_id]={user}"), &[3, 1]),
        ("not[reviewer_username]=dora".to_owned(), &[3, 1]),
        ("not[milestone]=1.0".to_owned(), &[3, 2, 1]),
        ("sort=asc".to_owned(), &[1, 2, 3]),
        ("order_by=title&sort=asc".to_owned(), &[2, 1, 3]),
        ("order_by=updated_at".to_owned(), &[3, 2, 1]),
        ("order_by=merged_at".to_owned(), &[3, 2, 1]),
        ("order_by=priority".to_owned(), &[3, 2, 1]),
        ("order_by=label_priority".to_owned(), &[3, 2, 1]),
        ("order_by=milestone_due".to_owned(), &[3, 2, 1]),
        ("order_by=popularity".to_owned(), &[2, 3, 1]),
    ] {
        for list in [&list, "/groups/orchid/merge_requests", "/merge_requests"] {
            // The list of all is of one's own, which all of these are.
            assert_eq!(iids(&ada, &format!("{list}?{query}")).await, expected, "{list}?{query}");
        }
    }
}

#[actix_web::test]
async fn what_excludes_each_other_is_refused() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app).await;
    let list = format!("/projects/{project}/merge_requests");
    for (query, text) in [
        ("author_id=1&author_username=ada", "author_id, author_username are mutually exclusive"),
        (
            "assignee_id=1&assignee_username=ada",
            "assignee_id, assignee_username are mutually exclusive",
        ),
        (
            "reviewer_id=1&reviewer_username=ada",
            "reviewer_id, reviewer_username are mutually exclusive",
        ),
        ("state=open", "state does not have a valid value"),
        ("approved_by_ids=x", "approved_by_ids should be an array, 'None' or 'Any', however got x"),
        (
            "approver_ids[]=1&approver_ids[]=Any",
            "approver_ids should be an array, 'None' or 'Any', however got Any",
        ),
        (
            "approved_by_ids=1&approved_by_usernames=ada",
            "approved_by_ids, approved_by_usernames are mutually exclusive",
        ),
        ("wip=maybe", "wip does not have a valid value"),
        ("deployed_after=soon", "deployed_after is invalid"),
        ("deployed_before=1.2", "deployed_before is invalid"),
        ("environment[]=production", "environment is invalid"),
        ("created_before=x", "created_before is invalid"),
        ("milestone[]=x", "milestone is invalid"),
        ("approved=maybe", "approved does not have a valid value"),
        ("scope=mine", "scope does not have a valid value"),
        ("sort=up", "sort does not have a valid value"),
        (
            "merge_user_id=1&merge_user_username=ada",
            "merge_user_id, merge_user_username are mutually exclusive",
        ),
        ("view=full", "view does not have a valid value"),
        ("order_by=weight", "order_by does not have a valid value"),
        ("assignee_id=x", "assignee_id should be an integer, none, or any, however got x"),
    ] {
        ada.get(&format!("{list}?{query}")).await.refused(400, json!({ "error": text }));
    }
}

#[actix_web::test]
async fn approvals_choose_merge_requests() {
    let app = TestApp::new();
    let (ada, dora, project) = set_up(&app).await;
    let list = format!("/projects/{project}/merge_requests");
    ada.commit(&project, "one", "one.txt").await;
    app.member(ProjectId(project.as_i64().expect("an id")), "gil", Developer);
    let (dora_id, gil) = (app.user("dora").id, app.user("gil").id);
    let rule = |user| json!({ "name": "Own", "approvals_required": 1, "user_ids": [user] });
    ada.post(&format!("/projects/{project}/approval_rules"), rule(gil.0)).await.created();
    ada.post(&format!("{list}/2/approval_rules"), rule(dora_id.0)).await.created();
    dora.post(&format!("{list}/1/approve"), json!({})).await.created();

    for (query, expected) in [
        (format!("approved_by_ids[]={dora_id}"), &[1][..]),
        (format!("approved_by_ids={dora_id},{gil}"), &[]),
        ("approved_by_ids=Any".to_owned(), &[1]),
        ("approved_by_ids=none".to_owned(), &[3, 2]),
        ("approved_by_ids=".to_owned(), &[3, 2, 1]),
        ("approved_by_usernames[]=DORA".to_owned(), &[1]),
        ("approved_by_usernames=dora,nobody".to_owned(), &[]),
        ("approved_by_usernames=None".to_owned(), &[3, 2]),
        // The third was closed before there was a rule.
        (format!("approver_ids={gil}"), &[1]),
        (format!("approver_ids={dora_id}"), &[2]),
        (format!("approver_ids={dora_id},{gil}"), &[]),
        ("approver_ids=Any".to_owned(), &[2, 1]),
        ("approver_ids=None".to_owned(), &[3]),
    ] {
        assert_eq!(iids(&ada, &format!("{list}?{query}")).await, expected, "{query}");
    }
}

#[actix_web::test]
async fn only_the_first_five_approvers_count() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app).await;
    let list = format!("/projects/{project}/merge_requests");
    ada.commit(&project, "one", "one.txt").await;
    let mut ids = Vec::new();
    for name in ["p1", "p2", "p3", "p4", "p5"] {
        let person = app.member(ProjectId(project.as_i64().expect("an id")), name, Developer);
        person.post(&format!("{list}/1/approve"), json!({})).await.created();
        ids.push(app.user(name).id.to_string());
    }

    let all = ids.join(",");
    assert_eq!(iids(&ada, &format!("{list}?approved_by_ids={all},999")).await, [1]);
    assert_eq!(iids(&ada, &format!("{list}?approved_by_ids=999,{all}")).await, [0_i64; 0]);
    let names = "p1,p2,p3,p4,p5,nobody";
    assert_eq!(iids(&ada, &format!("{list}?approved_by_usernames={names}")).await, [1]);
}

#[actix_web::test]
async fn pages_end_where_they_should() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app).await;

    let page = ada.get(&format!("/projects/{project}/merge_requests?per_page=2&page=2")).await;

    assert_eq!((page.header("x-total"), page.header("x-next-page")), (Some("3"), Some("")));
    assert_eq!(page.each("iid"), [1]);
}

#[actix_web::test]
async fn lists_show_records_in_two_forms() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app).await;
    let list = format!("/projects/{project}/merge_requests");

    let full = ada.get(&format!("{list}?iids[]=1&with_labels_details=true")).await.ok();
    assert_eq!(full[0]["labels"][0]["name"], "bug");
    assert!(full[0]["labels"][0]["text_color"].is_string());
    assert_eq!((full[0].get("subscribed"), full[0].get("changes_count")), (None, None));
    let simple = ada.get(&format!("{list}?iids[]=1&view=simple")).await.ok();
    let mut keys: Vec<&String> = simple[0].as_object().expect("a record").keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        [
            "created_at",
            "description",
            "id",
            "iid",
            "project_id",
            "state",
            "title",
            "updated_at",
            "web_url"
        ]
    );
}

#[actix_web::test]
async fn the_global_list_shows_ones_own_unless_asked_for_more() {
    let app = TestApp::new();
    let (ada, dora, project) = set_up(&app).await;
    let hidden = ada.filled_project("Hidden", "private").await;
    ada.propose(&hidden, "x", "Secret").await;

    assert_eq!(iids(&ada, "/merge_requests").await, [1, 3, 2, 1]);
    assert_eq!(iids(&dora, "/merge_requests").await, [0_i64; 0]);
    assert_eq!(iids(&dora, "/merge_requests?scope=all").await, [3, 2, 1]);
    assert_eq!(iids(&dora, "/merge_requests?scope=assigned_to_me").await, [2]);
    assert_eq!(iids(&dora, "/merge_requests?scope=reviews_for_me").await, [2]);
    app.anonymous().get("/merge_requests?scope=all").await.with(401);
    app.anonymous().get(&format!("/projects/{project}/merge_requests")).await.with(401);
}

#[actix_web::test]
async fn groups_show_what_their_projects_have_unless_archived() {
    let app = TestApp::new();
    let (ada, dora, project) = set_up(&app).await;
    let shown = dora.get("/groups/orchid/merge_requests?iids[]=1").await.ok();
    assert_eq!(
        shown[0]["references"],
        json!({ "short": "!1", "relative": "site!1", "full": "orchid/site!1" })
    );
    assert_eq!(shown[0]["reference"], "site!1");
    ada.post(&format!("/projects/{project}/archive"), json!({})).await.created();

    assert_eq!(iids(&dora, "/groups/orchid/merge_requests").await, [0_i64; 0]);
    assert_eq!(iids(&dora, "/groups/orchid/merge_requests?non_archived=false").await, [3, 2, 1]);
}

#[actix_web::test]
async fn who_may_not_read_code_reads_no_merge_requests() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app).await;
    ada.put(&format!("/projects/{project}"), json!({ "visibility": "private" })).await.ok();
    let gus = app.member(ProjectId(project.as_i64().expect("an id")), "gus", Guest);

    let list = format!("/projects/{project}/merge_requests");
    gus.get(&list).await.refused(403, json!({ "message": "403 Forbidden" }));
    assert_eq!(iids(&gus, "/merge_requests?scope=all").await, [0_i64; 0]);
    assert_eq!(iids(&gus, "/groups/orchid/merge_requests").await, [0_i64; 0]);
}

#[actix_web::test]
async fn milestones_list_their_merge_requests() {
    let app = TestApp::new();
    let (ada, dora, project) = set_up(&app).await;
    let milestones = format!("/projects/{project}/milestones");
    let milestone = ada.post(&milestones, json!({ "title": "1.0" })).await.created();
    let change = json!({ "milestone_id": milestone["id"] });
    ada.put(&format!("/projects/{project}/merge_requests/2"), change).await.ok();

    let path = format!("{milestones}/{}/merge_requests", milestone["id"]);
    assert_eq!(iids(&dora, &path).await, [2]);
    assert_eq!(
        iids(&dora, &format!("/projects/{project}/merge_requests?milestone=1.0")).await,
        [2]
    );
    ada.get(&format!("{milestones}/0/merge_requests")).await.with(404);
}

#[actix_web::test]
async fn milestones_of_groups_call_merge_requests_as_seen_from_there() {
    let app = TestApp::new();
    let (ada, dora, project) = set_up(&app).await;
    let group = ada.get(&format!("/projects/{project}")).await.ok()["namespace"].clone();
    let milestones = format!("/groups/{}/milestones", group["id"]);
    let milestone = ada.post(&milestones, json!({ "title": "year" })).await.created();
    let change = json!({ "milestone_id": milestone["id"] });
    ada.put(&format!("/projects/{project}/merge_requests/2"), change).await.ok();

    let listed = dora.get(&format!("{milestones}/{}/merge_requests", milestone["id"])).await.ok();

    let path = ada.get(&format!("/projects/{project}")).await.ok()["path"].clone();
    let path = path.as_str().expect("a path").to_owned();
    assert_eq!(listed[0]["references"]["relative"], format!("{path}!2"));
    assert_eq!(listed[0]["reference"], format!("{path}!2"));
}

#[actix_web::test]
async fn git_is_asked_again_for_a_list_where_that_is_wanted() {
    let app = TestApp::new();
    let (ada, dora, project) = set_up(&app).await;
    let number = ProjectId(project.as_i64().expect("an id"));
    app.write(move |tx| {
        let row = tx.find_merge_request(number, 1)?.expect("a merge request");
        let unchecked = Columns { merge_status: Some(Unchecked), ..Columns::default() };
        tx.change_merge_request(row.id, &unchecked)
    });
    let list = format!("/projects/{project}/merge_requests");
    let asked = || app.queued().iter().filter(|work| work.contains("merge_request")).count();

    ada.get(&list).await.ok();
    app.person("eve").get(&format!("{list}?with_merge_status_recheck=true")).await.ok();
    assert_eq!(asked(), 0);
    dora.get(&format!("{list}?with_merge_status_recheck=true")).await.ok();
    assert_eq!(asked(), 1);
}
