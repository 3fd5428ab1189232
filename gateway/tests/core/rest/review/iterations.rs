//! Iterations of groups.

use kernel::{AccessLevel::Reporter, Error, Grant, Ts, ids::ProjectId};
use org::access::{IdOrPath, locate_group};
use review::iteration::actions::{NewIteration, create, create_cadence};
use serde_json::{Value, json};
use time::Duration;

use super::epics::{issue, set_up, titles};
use crate::support::{Person, TestApp};

/// Makes a cadence with an iteration for each of these: what it is called, and in how many days it begins. Each lasts a
/// week.
pub(crate) fn iterations(
    app: &TestApp,
    person: &Person<'_>,
    group: i64,
    all: &[(&str, i64)],
) -> Vec<i64> {
    let actor = app.user(&person.username).actor();
    let all: Vec<(String, i64)> =
        all.iter().map(|(title, day)| ((*title).to_owned(), *day)).collect();
    app.write(move |tx| {
        let (scope, who) = locate_group(tx, actor, &IdOrPath::Id(group))?;
        let grant = Grant::check(&who, scope)?;
        let cadence = create_cadence(tx, &grant, "Weekly")?.id;
        let today = Ts::from_date(tx.now.date());
        let mut made = Vec::new();
        for (title, day) in all {
            let start_date = today.plus(Duration::days(day));
            let due_date = start_date.plus(Duration::days(6));
            let new = NewIteration { title: Some(title), description: None, start_date, due_date };
            made.push(create(tx, &grant, Some(cadence), &new)?.id);
        }
        Ok(made)
    })
}

async fn give(person: &Person<'_>, project: ProjectId, iid: i64, iteration: i64) {
    let body = json!({ "body": format!("/iteration *iteration:{iteration}") });
    person.post(&format!("/projects/{project}/issues/{iid}/notes"), body).await.with(202);
}

#[actix_web::test]
async fn iterations_are_listed_by_every_filter() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let made = iterations(&app, &ada, group, &[("next", 5), ("now", -2), ("last", -9)]);
    let below = ada.group("bulb", Some(group)).await;

    let shown = ada.get(&format!("/groups/{group}/iterations?state=current")).await.ok();
    assert_eq!((&shown[0]["id"], &shown[0]["state"]), (&json!(made[1]), &json!(2)));
    assert_eq!((&shown[0]["sequence"], &shown[0]["group_id"]), (&json!(2), &json!(group)));
    let url = format!("http://forge.test/groups/orchid/-/iterations/{}", made[1]);
    assert_eq!(shown[0]["web_url"], url);
    let places =
        [format!("/groups/{group}"), format!("/projects/{project}"), format!("/groups/{below}")];
    for place in places {
        for (query, found) in [
            ("", &["last", "now", "next"][..]),
            ("state=opened", &["now", "next"]),
            ("state=upcoming", &["next"]),
            ("state=closed", &["last"]),
            ("per_page=1&page=2", &["now"]),
            ("search=NEX", &["next"]),
            ("search=week", &[]),
            ("search=week&in[]=cadence_title", &["last", "now", "next"]),
            ("updated_after=2100-01-01", &[]),
        ] {
            let path = format!("{place}/iterations?{query}");
            assert_eq!(titles(&ada, &path).await, found, "{path}");
        }
    }
    let own = format!("/groups/{below}/iterations?include_ancestors=false");
    assert_eq!(titles(&ada, &own).await, Vec::<Value>::new());
    let wrong = json!({ "error": "state does not have a valid value" });
    ada.get(&format!("/groups/{group}/iterations?state=over")).await.refused(400, wrong);
    assert_eq!(app.person("eve").get(&format!("/groups/{group}/iterations")).await.status, 404);
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    app.clock.advance(Duration::microseconds(1_500));
    iterations(&app, &ada, group, &[("now", -2)]);

    let list = format!("/groups/{group}/iterations");
    assert_eq!(ada.counts_until(&list, "updated_before").await, [1, 0]);
}

#[actix_web::test]
async fn issues_are_found_by_their_iteration_by_those_who_see_it() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let made = iterations(&app, &ada, group, &[("now", -2), ("next", 5)]);
    for title in ["a", "b", "c"] {
        issue(&ada, project, json!({ "title": title })).await;
    }
    give(&ada, project, 1, made[0]).await;
    give(&ada, project, 2, made[1]).await;
    let issues = format!("/projects/{project}/issues");

    let shown = ada.get(&format!("{issues}/1")).await.ok();
    assert_eq!(
        (&shown["iteration"]["id"], &shown["iteration"]["title"]),
        (&json!(made[0]), &json!("now"))
    );
    for (query, found) in [
        (format!("iteration_id={}", made[0]), &["a"][..]),
        ("iteration_id=current".to_owned(), &["a"]),
        ("iteration_id=None".to_owned(), &["c"]),
        ("iteration_id=Any".to_owned(), &["b", "a"]),
        ("iteration_title=next".to_owned(), &["b"]),
        ("iteration_title=none".to_owned(), &["c"]),
        (format!("not[iteration_id]={}", made[0]), &["c", "b"]),
        ("not[iteration_id]=Current".to_owned(), &["c", "b"]),
        ("not[iteration_title]=next".to_owned(), &["c", "a"]),
    ] {
        assert_eq!(titles(&ada, &format!("{issues}?{query}")).await, found, "{query}");
    }
    let rita = app.member(project, "rita", Reporter);
    assert_eq!(rita.get(&format!("{issues}/1")).await.ok()["iteration"], Value::Null);
    assert_eq!(titles(&rita, &format!("{issues}?iteration_id=Any")).await, Vec::<Value>::new());
    assert_eq!(titles(&rita, &format!("{issues}?iteration_title=now")).await, Vec::<Value>::new());
    let body = json!({ "body": format!("/iteration *iteration:{}", made[0]) });
    assert_eq!(rita.post(&format!("{issues}/3/notes"), body).await.status, 400);
    let body = json!({ "body": "/remove_iteration" });
    ada.post(&format!("{issues}/1/notes"), body).await.with(202);
    assert_eq!(app.kept_issue(project, 1).iteration_id, None);
}

#[actix_web::test]
async fn iterations_of_a_cadence_do_not_overlap() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let actor = app.user("ada").actor();

    let refused = app.write(move |tx| {
        let (scope, who) = locate_group(tx, actor, &IdOrPath::Id(group))?;
        let grant = Grant::check(&who, scope)?;
        let cadence = create_cadence(tx, &grant, "Weekly")?.id;
        let day = |day| Ts::from_date(tx.now.date()).plus(Duration::days(day));
        let span = |from, to| NewIteration {
            title: None,
            description: None,
            start_date: day(from),
            due_date: day(to),
        };
        let (first, second, backwards) = (span(0, 6), span(6, 12), span(20, 20));
        create(tx, &grant, Some(cadence), &first)?;
        let fails = |done: Result<_, Error>| done.is_err_and(|refused| refused.is_invalid());
        Ok([
            fails(create(tx, &grant, Some(cadence), &second)),
            fails(create(tx, &grant, Some(cadence), &backwards)),
        ])
    });

    assert_eq!(refused, [true, true]);
    assert_eq!(ada.get(&format!("/groups/{group}/iterations")).await.ok()[0]["title"], Value::Null);
}

#[actix_web::test]
async fn what_happened_to_the_iteration_of_an_issue_is_listed_for_who_sees_it() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let made = iterations(&app, &ada, group, &[("now", -2)]);
    issue(&ada, project, json!({ "title": "a" })).await;
    give(&ada, project, 1, made[0]).await;
    let body = json!({ "body": "/remove_iteration" });
    ada.post(&format!("/projects/{project}/issues/1/notes"), body).await.with(202);
    let events = format!("/projects/{project}/issues/1/resource_iteration_events");

    let all = ada.get(&events).await.ok();

    assert_eq!(
        (&all[0]["action"], &all[0]["iteration"]["title"], &all[1]["action"]),
        (&json!("add"), &json!("now"), &json!("remove"))
    );
    assert_eq!(ada.get(&format!("{events}/{}", all[1]["id"])).await.ok(), all[1]);
    let rita = app.member(project, "rita", Reporter);
    assert_eq!(rita.get(&events).await.ok()[0]["iteration"], Value::Null);
    ada.get(&format!("{events}/99")).await.with(404);
}
