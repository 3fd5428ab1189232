//! Merge requests that close issues or have to do with them.

use db::schema::{
    issues, item_assignees, item_labels, item_mentions, item_subscriptions, merge_requests,
};
use diesel::prelude::*;
use kernel::{AccessLevel::Guest, Visibility::Public, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// A project `tea` of `ada`'s that everybody sees, with issue 1; merge request 1 closes it, 2 names it, 3 does not.
async fn set_up<'a>(app: &'a TestApp) -> (Person<'a>, Value) {
    let ada = app.person("ada");
    let project = ada.filled_project("tea", "public").await;
    ada.post(&format!("/projects/{project}/issues"), json!({ "title": "Bitter" })).await.created();
    for branch in ["one", "two", "three"] {
        ada.commit(&project, branch, &format!("{branch}.txt")).await;
    }
    ada.propose(&project, "one", "Fixes #1").await;
    ada.propose(&project, "two", "Another").await;
    ada.propose(&project, "three", "Something else").await;
    let words = json!({ "description": "For #1" });
    ada.put(&format!("/projects/{project}/merge_requests/2"), words).await.ok();
    (ada, project)
}

#[actix_web::test]
async fn what_closes_an_issue_is_listed_and_counted() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let issue = format!("/projects/{project}/issues/1");

    let closing = ada.get(&format!("{issue}/closed_by")).await;
    assert_eq!(closing.header("x-total"), Some("1"));
    let closing = closing.ok();
    assert_eq!((&closing[0]["iid"], &closing[0]["title"]), (&json!(1), &json!("Fixes #1")));
    assert_eq!(closing[0].get("head_pipeline"), None, "a basic record");
    assert_eq!(ada.get(&issue).await.ok()["merge_requests_count"], 1);
    let change = json!({ "title": "Nothing any more" });
    ada.put(&format!("/projects/{project}/merge_requests/1"), change).await.ok();
    assert_eq!(ada.get(&format!("{issue}/closed_by")).await.ok(), json!([]));
    assert_eq!(ada.get(&issue).await.ok()["merge_requests_count"], 0);
}

#[actix_web::test]
async fn what_has_to_do_with_an_issue_is_listed_by_number_as_single_records() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let related = format!("/projects/{project}/issues/1/related_merge_requests");

    let listed = ada.get(&related).await.ok();

    let iids: Vec<&Value> =
        listed.as_array().expect("a list").iter().map(|one| &one["iid"]).collect();
    assert_eq!(iids, [&json!(1), &json!(2)]);
    let one = ada.get(&format!("/projects/{project}/merge_requests/2")).await.ok();
    for field in ["pipeline", "head_pipeline", "diff_refs", "changes_count", "user", "merge_error"]
    {
        assert_eq!(listed[1][field], one[field], "{field}");
    }
    assert_eq!(listed[1].get("subscribed"), None);
    let eves = app.person("eve").get(&related).await.ok();
    assert_eq!(
        (&listed[0]["user"]["can_merge"], &eves[0]["user"]["can_merge"]),
        (&json!(true), &json!(false))
    );
    let page = ada.get(&format!("{related}?per_page=1&page=2")).await;
    assert_eq!((page.header("x-total"), page.header("x-next-page")), (Some("2"), Some("")));
    assert_eq!(page.each("iid"), [2]);
    ada.get(&format!("{related}?page=x")).await.with(400);
}

#[actix_web::test]
async fn pipelines_of_related_merge_requests_are_shown_to_those_who_may_know_of_them() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let head = ada.get(&format!("/projects/{project}/merge_requests/2")).await.ok()["sha"].clone();
    let status = format!("/projects/{project}/statuses/{}", head.as_str().expect("a commit"));
    ada.post(&status, json!({ "state": "running", "ref": "two" })).await.created();
    let related = format!("/projects/{project}/issues/1/related_merge_requests");

    let shown = ada.get(&related).await.ok();
    assert_eq!(
        (&shown[0]["pipeline"], &shown[1]["pipeline"]["status"]),
        (&Value::Null, &json!("running"))
    );
    assert_eq!(shown[1]["head_pipeline"]["user"]["username"], "ada");
    let hidden = json!({ "public_jobs": false });
    ada.put(&format!("/projects/{project}"), hidden).await.ok();
    assert_eq!(app.person("eve").get(&related).await.ok()[1]["pipeline"], Value::Null);
}

#[actix_web::test]
async fn nobody_learns_of_merge_requests_that_they_may_not_read() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let secret = ada.filled_project("secret", "private").await;
    ada.commit(&secret, "deep", "deep.txt").await;
    ada.propose(&secret, "deep", "Closes ada/tea#1").await;
    let issue = format!("/projects/{project}/issues/1");
    let seen = async |person: &Person<'_>| {
        let one = person.get(&issue).await.ok()["merge_requests_count"].clone();
        let listed =
            person.get(&format!("/projects/{project}/issues")).await.each("merge_requests_count");
        assert_eq!(listed.first(), Some(&one));
        let closing = person.get(&format!("{issue}/closed_by")).await.each("title");
        (
            one,
            closing.len(),
            person.get(&format!("{issue}/related_merge_requests")).await.each("title").len(),
        )
    };

    assert_eq!(seen(&ada).await, (json!(2), 2, 3));
    assert_eq!(seen(&app.person("eve")).await, (json!(1), 1, 2));
    assert_eq!(seen(&app.anonymous()).await, (json!(1), 1, 2));
    let members = json!({ "merge_requests_access_level": "private" });
    ada.put(&format!("/projects/{project}"), members).await.ok();
    assert_eq!(seen(&app.person("eve")).await, (json!(0), 0, 0));
    let gus = app.member(ProjectId(secret.as_i64().expect("an id")), "gus", Guest);
    assert_eq!(seen(&gus).await, (json!(0), 0, 0), "guests read no code");
}

#[actix_web::test]
async fn hidden_issues_have_nothing_to_show() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let hidden = app.confidential_issue(project, &ada);
    let absent = json!({ "message": "404 Not found" });

    for iid in [hidden, 99] {
        for list in ["closed_by", "related_merge_requests"] {
            let path = format!("/projects/{project}/issues/{iid}/{list}");
            app.person("eve").get(&path).await.refused(404, absent.clone());
        }
    }
}

/// Rows of issues and merge requests that are gone.
fn orphans(app: &TestApp) -> [i64; 4] {
    app.write(|tx| {
        macro_rules! count {
            ($table:ident, $kind:ident, $id:ident) => {{
                let lost =
                    $table::table
                        .filter(
                            $table::$kind
                                .eq("Issue")
                                .and($table::$id.ne_all(issues::table.select(issues::id))),
                        )
                        .or_filter($table::$kind.eq("MergeRequest").and(
                            $table::$id.ne_all(merge_requests::table.select(merge_requests::id)),
                        ));
                db::each_backend!(tx, |conn| lost
                    .count()
                    .get_result(conn)
                    .map_err(db::error("Row")))?
            }};
        }
        Ok([
            count!(item_labels, item_kind, item_id),
            count!(item_assignees, item_kind, item_id),
            count!(item_subscriptions, item_kind, item_id),
            count!(item_mentions, source_kind, source_id),
        ])
    })
}

#[actix_web::test]
async fn a_project_that_goes_takes_with_it_what_it_said_elsewhere() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let other = ada.filled_project("other", "public").await;
    ada.commit(&other, "far", "far.txt").await;
    ada.propose(&other, "far", "Closes ada/tea#1").await;
    let issue = format!("/projects/{project}/issues/1");
    let near = json!({ "title": "Waits", "description": "for ada/tea#1", "labels": "new", "assignee_ids": [app.user("ada").id.0] });
    ada.post(&format!("/projects/{other}/issues"), near).await.created();
    ada.post(&format!("/projects/{other}/issues/1/unsubscribe"), json!({})).await.created();
    let link = json!({ "target_project_id": other, "target_issue_iid": 1, "link_type": "blocks" });
    ada.post(&format!("{issue}/links"), link).await.created();
    assert_eq!(ada.get(&issue).await.ok()["blocking_issues_count"], 1);
    let told = async || {
        ada.get(&format!("{issue}/notes?activity_filter=only_activity")).await.each("body")
    };
    assert!(
        told()
            .await
            .iter()
            .any(|body| body.as_str().is_some_and(|body| body.contains("ada/other")))
    );

    ada.delete(&format!("/projects/{other}")).await.with(202);
    app.work().await;

    let left = ada.get(&issue).await.ok();
    assert_eq!(
        (&left["merge_requests_count"], &left["blocking_issues_count"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(
        app.kept_issue(ProjectId(project.as_i64().expect("an id")), 1).merge_requests_count,
        1
    );
    assert!(
        !told()
            .await
            .iter()
            .any(|body| body.as_str().is_some_and(|body| body.contains("mentioned in"))
                && body.as_str().is_some_and(|body| body.contains("ada/other")))
    );
    assert_eq!(orphans(&app), [0; 4]);
}

#[actix_web::test]
async fn a_merge_request_that_is_removed_closes_nothing() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;

    ada.delete(&format!("/projects/{project}/merge_requests/1")).await.with(204);

    let issue = format!("/projects/{project}/issues/1");
    assert_eq!(
        app.kept_issue(ProjectId(project.as_i64().expect("an id")), 1).merge_requests_count,
        0
    );
    assert_eq!(ada.get(&format!("{issue}/closed_by")).await.ok(), json!([]));
}
