//! Pages of deployments and of epics, forwards and backwards.

use kernel::Visibility::Private;
use serde_json::{Value, json};
use time::Duration;

use super::review::{ask, nodes, refusal};
use crate::{
    support::epics::{epic, set_up},
    support::{Person, TestApp, ci::commit},
};

const INFO: &str = "pageInfo { startCursor endCursor hasNextPage hasPreviousPage }";

/// What a page tells of the list around it: whether it goes on behind the page, and in front of it.
fn around(page: &Value) -> (bool, bool) {
    let told = |name: &str| page["pageInfo"][name].as_bool().expect("a flag");
    (told("hasNextPage"), told("hasPreviousPage"))
}

/// An environment with three deployments; the second one was finished last.
async fn deployments(app: &TestApp) -> Person<'_> {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let sha = commit(&ada, project, "main", "first", "job: {script: x, when: manual}").await;
    let path = format!("/projects/{project}/deployments");
    let mut ids = Vec::new();
    for _ in 0..3 {
        app.clock.advance(Duration::minutes(1));
        let new = json!({ "environment": "live", "sha": sha, "ref": "main", "tag": false,
                          "status": "running" });
        ids.push(ada.post(&path, new).await.created()["id"].clone());
    }
    for place in [0, 2, 1] {
        app.clock.advance(Duration::minutes(1));
        let end = json!({ "status": "success" });
        ada.put(&format!("{path}/{}", ids[place]), end).await.ok();
    }
    ada
}

fn deployments_query(arguments: &str) -> String {
    format!(
        r#"{{ project(fullPath: "ada/engine") {{ environment(name: "live") {{ deployments({arguments}) {{
           nodes {{ iid }} {INFO} }} }} }} }}"#
    )
}

async fn deployed(person: &Person<'_>, arguments: &str) -> Value {
    ask(person, &deployments_query(arguments)).await["project"]["environment"]["deployments"]
        .clone()
}

#[actix_web::test]
async fn deployments_are_read_from_either_end_in_each_order() {
    let app = TestApp::new();
    let ada = deployments(&app).await;
    for (order, expected) in [
        ("orderBy: { createdAt: DESC }", ["3", "2", "1"]),
        ("orderBy: { createdAt: ASC }", ["1", "2", "3"]),
        ("orderBy: { finishedAt: DESC }", ["2", "3", "1"]),
        ("orderBy: { finishedAt: ASC }", ["1", "3", "2"]),
    ] {
        let first = deployed(&ada, &format!("{order}, first: 2")).await;
        assert_eq!(nodes(&first, "iid"), expected[..2], "{order}");
        assert_eq!(around(&first), (true, false), "{order}");
        let after = format!("{order}, first: 2, after: {}", first["pageInfo"]["endCursor"]);
        let rest = deployed(&ada, &after).await;
        assert_eq!((nodes(&rest, "iid"), around(&rest)), (vec![json!(expected[2])], (false, true)));
        let last = deployed(&ada, &format!("{order}, last: 2")).await;
        assert_eq!(nodes(&last, "iid"), expected[1..], "{order}");
        assert_eq!(around(&last), (false, true), "{order}");
        let before = format!("{order}, last: 2, before: {}", last["pageInfo"]["startCursor"]);
        let begin = deployed(&ada, &before).await;
        assert_eq!(
            (nodes(&begin, "iid"), around(&begin)),
            (vec![json!(expected[0])], (true, false))
        );
    }
}

#[actix_web::test]
async fn a_deployment_that_is_made_between_two_pages_repeats_none_and_hides_none() {
    let app = TestApp::new();
    let ada = deployments(&app).await;
    let newest = "orderBy: { createdAt: DESC }, first: 1";
    let first = deployed(&ada, newest).await;
    let project = ada.get("/projects/ada%2Fengine").await.ok()["id"].clone();
    let path = format!("/projects/{project}/deployments");
    let one = ada.get(&path).await.ok()[0].clone();
    app.clock.advance(Duration::minutes(1));
    let new = json!({ "environment": "live", "sha": one["sha"], "ref": "main", "tag": false,
                      "status": "running" });
    ada.post(&path, new).await.created();

    let after = format!("{newest}, after: {}", first["pageInfo"]["endCursor"]);
    assert_eq!(nodes(&deployed(&ada, &after).await, "iid"), ["2"]);
    let other =
        format!("orderBy: {{ finishedAt: DESC }}, after: {}", first["pageInfo"]["endCursor"]);
    let refused = refusal(&ada, &deployments_query(&other)).await;
    assert_eq!(refused, "Please provide a valid cursor", "it is one of another order");
}

#[actix_web::test]
async fn epics_are_read_from_either_end_and_go_on_behind_the_last_one() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    for title in ["one", "two", "three"] {
        app.clock.advance(Duration::minutes(1));
        epic(&ada, group, json!({ "title": title })).await;
    }
    let page = async |arguments: &str| {
        let query = format!(
            r#"{{ group(fullPath: "orchid") {{ epics({arguments}) {{ count nodes {{ title }} {INFO} }} }} }}"#
        );
        ask(&ada, &query).await["group"]["epics"].clone()
    };
    for (sort, expected) in [
        ("sort: CREATED_DESC", ["three", "two", "one"]),
        ("sort: CREATED_ASC", ["one", "two", "three"]),
    ] {
        let first = page(&format!("{sort}, first: 2")).await;
        assert_eq!(
            (nodes(&first, "title"), around(&first)),
            (expected[..2].iter().map(|one| json!(one)).collect(), (true, false))
        );
        let after = format!("{sort}, first: 2, after: {}", first["pageInfo"]["endCursor"]);
        let rest = page(&after).await;
        assert_eq!(
            (nodes(&rest, "title"), around(&rest)),
            (vec![json!(expected[2])], (false, true))
        );
        let last = page(&format!("{sort}, last: 2")).await;
        assert_eq!(nodes(&last, "title"), expected[1..], "{sort}");
        assert_eq!(around(&last), (false, true), "{sort}");
        let before = format!("{sort}, last: 2, before: {}", last["pageInfo"]["startCursor"]);
        let begin = page(&before).await;
        assert_eq!(
            (nodes(&begin, "title"), around(&begin)),
            (vec![json!(expected[0])], (true, false))
        );
    }
    let first = page("sort: CREATED_DESC, first: 1").await;
    epic(&ada, group, json!({ "title": "four" })).await;
    let after = format!("sort: CREATED_DESC, first: 5, after: {}", first["pageInfo"]["endCursor"]);
    let rest = page(&after).await;
    assert_eq!(
        (nodes(&rest, "title"), &rest["count"]),
        (vec![json!("two"), json!("one")], &json!(4))
    );
}
