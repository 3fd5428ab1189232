//! Whose jobs reach a project: `gateway/src/rest/ci/job_token_scope.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Private,
};
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn the_scope_is_on_until_a_maintainer_switches_it_off() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Private);
    let mia = app.member(project, "mia", Maintainer);
    let path = format!("/projects/{project}/job_token_scope");

    let shown = mia.get(&path).await.ok();
    assert_eq!(shown, json!({ "inbound_enabled": true, "outbound_enabled": false }));
    let changed = mia.patch(&path, json!({ "enabled": false })).await;
    assert_eq!((changed.status, changed.bytes.len()), (204, 0));
    assert_eq!(mia.get(&path).await.ok()["inbound_enabled"], false);
    mia.patch(&path, json!({})).await.refused(400, json!({ "error": "enabled is missing" }));
    let bad = json!({ "error": "enabled is invalid" });
    mia.patch(&path, json!({ "enabled": "perhaps" })).await.refused(400, bad);
    mia.put(&format!("/projects/{project}"), json!({ "ci_job_token_scope_enabled": true }))
        .await
        .ok();
    let shown = mia.get(&path).await.ok();
    assert_eq!(shown, json!({ "inbound_enabled": false, "outbound_enabled": true }));
}

#[actix_web::test]
async fn projects_are_listed_once_and_taken_off_again() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let [own, other, third] =
        ["own", "other", "third"].map(|path| app.project(&olga, path, Private));
    let hidden = app.project(&app.person("eve"), "hidden", Private);
    let path = format!("/projects/{own}/job_token_scope/allowlist");
    let add = async |id: i64| olga.post(&path, json!({ "target_project_id": id })).await;
    let refusal = |text: &str| json!({ "message": format!("400 Bad request - {text}") });

    let made = add(other.0).await.created();
    assert_eq!(made, json!({ "source_project_id": own.0, "target_project_id": other.0 }));
    add(third.0).await.created();
    let listed = olga.get(&path).await;
    assert_eq!(listed.header("X-Total"), Some("3"));
    assert_eq!(listed.each("id"), [own.0, other.0, third.0].map(|id| json!(id)));
    let second = olga.get(&format!("{path}?per_page=1&page=2")).await.ok();
    assert_eq!(second[0]["path_with_namespace"], "olga/other");
    add(other.0).await.refused(400, refusal("Target project is already in the job token scope"));
    let same = "Target project can't be the same as the source project";
    add(own.0).await.refused(400, refusal(same));
    let absent = json!({ "message": "404 Project Not Found" });
    add(hidden.0).await.refused(404, absent.clone());
    add(99_999).await.refused(404, absent.clone());
    olga.post(&path, json!({}))
        .await
        .refused(400, json!({ "error": "target_project_id is missing" }));

    let gone = olga.delete(&format!("{path}/{other}")).await;
    assert_eq!((gone.status, gone.bytes.len()), (204, 0));
    let unlisted = refusal("Target project is not in the job token scope");
    olga.delete(&format!("{path}/{other}")).await.refused(400, unlisted);
    let itself = refusal("Source project cannot be removed from the job token scope");
    olga.delete(&format!("{path}/{own}")).await.refused(400, itself);
    olga.delete(&format!("{path}/{hidden}")).await.refused(404, absent);
    olga.delete(&format!("{path}/x")).await.with(400);
}

#[actix_web::test]
async fn groups_are_listed_once_and_taken_off_again() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let own = app.project(&olga, "own", Private);
    let group = olga.group("tools", None).await;
    let hidden = app.person("eve").group("hidden", None).await;
    let path = format!("/projects/{own}/job_token_scope/groups_allowlist");
    let add = async |id: i64| olga.post(&path, json!({ "target_group_id": id })).await;
    let refusal = |text: &str| json!({ "message": format!("400 Bad request - {text}") });

    let made = add(group).await.created();
    assert_eq!(made, json!({ "source_project_id": own.0, "target_group_id": group }));
    let url = "http://forge.test/groups/tools";
    let listed = json!([{ "id": group, "web_url": url, "name": "tools" }]);
    assert_eq!(olga.get(&path).await.ok(), listed);
    add(group).await.refused(400, refusal("Target group is already in the job token scope"));
    add(hidden).await.refused(404, json!({ "message": "404 Group Not Found" }));
    olga.delete(&format!("{path}/{group}")).await.with(204);
    let unlisted = refusal("Target group is not in the job token scope");
    olga.delete(&format!("{path}/{group}")).await.refused(400, unlisted);
    olga.delete(&format!("{path}/{hidden}")).await.with(404);
    assert_eq!(olga.get(&path).await.ok(), json!([]));
}

#[actix_web::test]
async fn the_lists_are_for_maintainers_and_hide_what_these_may_not_know_of() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let (own, other) = (app.project(&olga, "own", Private), app.project(&olga, "other", Private));
    let group = olga.group("tools", None).await;
    let (mia, dan) = (app.member(own, "mia", Maintainer), app.member(own, "dan", Developer));
    let scope = format!("/projects/{own}/job_token_scope");
    let lists = [format!("{scope}/allowlist"), format!("{scope}/groups_allowlist")];
    olga.post(&lists[0], json!({ "target_project_id": other.0 })).await.created();
    olga.post(&lists[1], json!({ "target_group_id": group })).await.created();

    for path in [&scope, &lists[0], &lists[1]] {
        dan.get(path).await.refused(403, json!({ "message": "403 Forbidden" }));
        app.person("eve").get(path).await.with(404);
        app.anonymous().get(path).await.with(401);
    }
    assert_eq!(mia.get(&lists[0]).await.each("id"), [json!(own.0)]);
    assert_eq!(mia.get(&lists[1]).await.ok(), json!([]));
    // What is listed may be taken off by who sees no more than its number.
    mia.delete(&format!("{}/{other}", lists[0])).await.with(204);
    mia.delete(&format!("{}/{group}", lists[1])).await.with(204);
    dan.patch(&scope, json!({ "enabled": false })).await.with(403);
    olga.post(&format!("/projects/{own}/archive"), json!({})).await.created();
    mia.get(&scope).await.ok();
    mia.patch(&scope, json!({ "enabled": false })).await.with(403);
}
