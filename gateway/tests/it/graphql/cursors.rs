//! Pages of lists: a row that comes or goes between two of them makes the second neither repeat nor miss another.

use kernel::Visibility::Public;
use serde_json::{Value, json};
use time::Duration;

use super::{
    review::{ask, nodes, refusal},
    statements::grow,
};
use crate::support::{Person, TestApp, ci};

/// A page of a connection of `ada/forge`.
async fn page(person: &Person<'_>, list: &str, arguments: &str, field: &str) -> Value {
    let query = format!(
        r#"{{ project(fullPath: "ada/forge") {{ {list}({arguments}) {{ count nodes {{ {field} }}
           pageInfo {{ startCursor endCursor hasNextPage hasPreviousPage }} }} }} }}"#
    );
    ask(person, &query).await["project"][list].clone()
}

fn end(page: &Value) -> &str {
    page["pageInfo"]["endCursor"].as_str().expect("a cursor")
}

async fn write(person: &Person<'_>, title: &str) {
    let new = json!({ "title": title });
    person.post("/projects/ada%2Fforge/issues", new).await.created();
}

#[actix_web::test]
async fn an_issue_that_is_made_between_two_pages_repeats_none_and_hides_none() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "forge", Public);
    for title in ["one", "two", "three", "four"] {
        write(&ada, title).await;
    }
    let first = page(&ada, "issues", "first: 2", "title").await;
    assert_eq!(nodes(&first, "title"), ["four", "three"]);
    write(&ada, "five").await;

    let second =
        page(&ada, "issues", &format!("first: 2, after: {:?}", end(&first)), "title").await;
    assert_eq!(nodes(&second, "title"), ["two", "one"]);
    let info = &second["pageInfo"];
    assert_eq!((&info["hasNextPage"], &info["hasPreviousPage"]), (&json!(false), &json!(true)));
    assert_eq!(second["count"], 5);
    let back = format!("last: 1, before: {}", second["pageInfo"]["startCursor"]);
    let back = page(&ada, "issues", &back, "title").await;
    assert_eq!((nodes(&back, "title"), &back["count"]), (vec![json!("three")], &json!(5)));
}

#[actix_web::test]
async fn issues_are_paged_by_the_values_that_order_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "forge", Public);
    for (title, weight) in [("a", json!(3)), ("b", Value::Null), ("c", json!(1)), ("d", json!(3))] {
        app.clock.advance(Duration::minutes(1));
        let new = json!({ "title": title, "weight": weight });
        ada.post("/projects/ada%2Fforge/issues", new).await.created();
    }
    for (sort, expected) in [
        ("WEIGHT_DESC", ["d", "a", "c", "b"]),
        ("WEIGHT_ASC", ["c", "d", "a", "b"]),
        ("UPDATED_ASC", ["a", "b", "c", "d"]),
        ("TITLE_DESC", ["d", "c", "b", "a"]),
        ("CREATED_ASC", ["a", "b", "c", "d"]),
    ] {
        let (mut shown, mut after) = (Vec::new(), String::new());
        for _ in 0..4 {
            let arguments = format!("sort: {sort}, first: 1{after}");
            let one = page(&ada, "issues", &arguments, "title").await;
            after = format!(", after: {:?}", end(&one));
            shown.extend(nodes(&one, "title"));
        }
        assert_eq!(shown, expected, "{sort}");
    }
}

#[actix_web::test]
async fn a_cursor_of_another_list_is_none() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "forge", Public);
    write(&ada, "one").await;
    let list = |arguments: &str| {
        format!(
            r#"{{ project(fullPath: "ada/forge") {{ issues({arguments}) {{ nodes {{ title }} }} }} }}"#
        )
    };
    let by_id = page(&ada, "issues", "first: 1", "title").await;
    let mixed = list(&format!("sort: UPDATED_DESC, after: {:?}", end(&by_id)));
    assert_eq!(refusal(&ada, &mixed).await, "Please provide a valid cursor");
    // The number 1, as lists without positions have it.
    assert_eq!(refusal(&ada, &list(r#"after: "MQ""#)).await, "Please provide a valid cursor");
    ada.put("/projects/ada%2Fforge/issues/1", json!({ "weight": 3 })).await.ok();
    for sort in ["UPDATED_DESC", "WEIGHT_ASC"] {
        let other = page(&ada, "issues", &format!("sort: {sort}, first: 1"), "title").await;
        let after = list(&format!("sort: CREATED_DESC, after: {:?}", end(&other)));
        assert_eq!(refusal(&ada, &after).await, "Please provide a valid cursor", "{sort}");
    }
}

#[actix_web::test]
async fn a_cursor_is_a_place_in_its_order_whichever_way_the_list_runs() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "forge", Public);
    for title in ["one", "two", "three"] {
        app.clock.advance(Duration::minutes(1));
        write(&ada, title).await;
    }
    for order in ["CREATED", "UPDATED"] {
        let first = page(&ada, "issues", &format!("sort: {order}_DESC, first: 2"), "title").await;
        assert_eq!(nodes(&first, "title"), ["three", "two"]);
        let back = format!("sort: {order}_ASC, after: {:?}", end(&first));
        assert_eq!(nodes(&page(&ada, "issues", &back, "title").await, "title"), ["three"]);
    }
}

#[actix_web::test]
async fn pipelines_and_jobs_go_on_behind_the_last_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let run = async |name: &str| {
        let text = format!("{name}:\n  script: make\n");
        ci::commit(&ada, project, "main", name, &text).await;
    };
    for name in ["one", "two", "three"] {
        run(name).await;
    }
    let pipelines = page(&ada, "pipelines", "first: 1", "iid").await;
    let jobs = page(&ada, "jobs", "first: 1", "name").await;
    assert_eq!(
        (nodes(&pipelines, "iid"), nodes(&jobs, "name")),
        (vec![json!("3")], vec![json!("three")])
    );
    run("four").await;

    let behind = |page: &Value| format!("first: 2, after: {:?}", end(page));
    let next = page(&ada, "pipelines", &behind(&pipelines), "iid").await;
    assert_eq!((nodes(&next, "iid"), &next["count"]), (vec![json!("2"), json!("1")], &json!(4)));
    let next = page(&ada, "jobs", &behind(&jobs), "name").await;
    assert_eq!(nodes(&next, "name"), ["two", "one"]);
    let before = format!("last: 1, before: {}", next["pageInfo"]["startCursor"]);
    assert_eq!(nodes(&page(&ada, "jobs", &before, "name").await, "name"), ["three"]);
    assert_eq!(nodes(&page(&ada, "jobs", "last: 1", "name").await, "name"), ["one"]);
}

#[actix_web::test]
async fn merge_requests_and_projects_go_on_behind_the_last_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    app.merge_request(project, &ada);
    app.merge_request(project, &ada);
    let first = page(&ada, "mergeRequests", "first: 1", "iid").await;
    app.merge_request(project, &ada);
    let next = format!("first: 5, after: {:?}", end(&first));
    assert_eq!(nodes(&page(&ada, "mergeRequests", &next, "iid").await, "iid"), ["1"]);

    app.project(&ada, "second", Public);
    let list = |arguments: &str| {
        format!("{{ projects({arguments}) {{ count nodes {{ path }} pageInfo {{ endCursor }} }} }}")
    };
    let first = ask(&ada, &list("first: 1")).await["projects"].clone();
    app.project(&ada, "third", Public);
    let second = ask(&ada, &list(&format!("after: {:?}", end(&first)))).await["projects"].clone();
    assert_eq!((nodes(&second, "path"), &second["count"]), (vec![json!("forge")], &json!(3)));
    let last = ask(&ada, &list("sort: \"id_asc\", last: 1")).await["projects"].clone();
    assert_eq!(nodes(&last, "path"), ["third"]);
}

/// Lists of a project in the orders that show the newest first, and fields that tell their elements apart.
const NEWEST_FIRST: &[(&str, &str)] = &[
    ("vulnerabilities(sort: detected_desc", "title"),
    ("vulnerabilities(sort: severity_desc", "title"),
    ("alertManagementAlerts(sort: CREATED_TIME_DESC", "iid"),
    ("alertManagementAlerts(sort: ENDED_AT_DESC", "iid"),
    ("runners(sort: CREATED_DESC", "id"),
    ("runners(sort: CONTACTED_DESC", "id"),
    ("timelogs(username: \"ada\"", "id"),
    ("milestones(sort: CREATED_DESC", "title"),
    ("milestones(sort: DUE_DATE_DESC", "title"),
    ("projectMembers(sort: CREATED_DESC", "id"),
    ("projectMembers(sort: USER_FULL_NAME_DESC", "id"),
    ("projectMembers(sort: ACCESS_LEVEL_ASC", "id"),
    ("projectMembers", "id"),
    ("environments", "name"),
    ("labels", "title"),
];

/// One element of a list of `ada/forge`, and where the next one is.
async fn one_of(
    person: &Person<'_>,
    (list, field): (&str, &str),
    after: Option<&str>,
) -> (Option<Value>, String) {
    let open = if list.contains('(') { ", " } else { "(" };
    let after = after.map(|cursor| format!(", after: {cursor:?}")).unwrap_or_default();
    let query = format!(
        r#"{{ project(fullPath: "ada/forge") {{ list: {list}{open}first: 1{after}) {{ nodes {{ {field} }}
           pageInfo {{ endCursor }} }} }} }}"#
    );
    let shown = ask(person, &query).await["project"]["list"].clone();
    let cursor = shown["pageInfo"]["endCursor"].as_str().unwrap_or_default().to_owned();
    (nodes(&shown, field).pop(), cursor)
}

#[actix_web::test]
async fn lists_that_grow_between_two_pages_repeat_nothing_and_hide_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    for number in 0..2 {
        grow(&app, &ada, project, number).await;
    }
    let mut begun = Vec::new();
    for &list in NEWEST_FIRST {
        let (first, cursor) = one_of(&ada, list, None).await;
        let (second, _) = one_of(&ada, list, Some(cursor.as_str())).await;
        begun.push((first.expect("an element"), second.expect("another"), cursor));
    }
    grow(&app, &ada, project, 2).await;
    for (&list, (first, second, cursor)) in NEWEST_FIRST.iter().zip(begun) {
        let (mut seen, mut after) = (vec![first], cursor);
        while let (Some(next), cursor) = one_of(&ada, list, Some(after.as_str())).await {
            assert!(!seen.contains(&next), "{list:?} repeats {next}");
            (seen, after) = ([seen, vec![next]].concat(), cursor);
        }
        assert!(seen.contains(&second), "{list:?} hides {second}");
    }
}

#[actix_web::test]
async fn notes_and_to_dos_go_on_behind_the_last_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    write(&ada, "one").await;
    let at = format!("/projects/{project}/issues/1");
    let mut notes = Vec::new();
    for body in ["a", "b", "c"] {
        let made = ada.post(&format!("{at}/notes"), json!({ "body": body })).await.created();
        notes.push(made["id"].clone());
    }
    let list = async |name: &str, arguments: &str, field: &str| {
        let query = format!(
            r#"{{ project(fullPath: "ada/forge") {{ issue(iid: "1") {{ {name}({arguments}) {{ nodes {{ {field} }}
               pageInfo {{ startCursor endCursor hasPreviousPage }} }} }} }} }}"#
        );
        ask(&ada, &query).await["project"]["issue"][name].clone()
    };
    let first = list("notes", "first: 2", "body").await;
    let talks = list("discussions", "first: 2", "id").await;
    ada.delete(&format!("{at}/notes/{}", notes[0])).await;
    let behind = |page: &Value| format!("first: 5, after: {:?}", end(page));
    assert_eq!(nodes(&first, "body"), ["a", "b"]);
    assert_eq!(nodes(&list("notes", &behind(&first), "body").await, "body"), ["c"]);
    assert_eq!(nodes(&list("discussions", &behind(&talks), "id").await, "id").len(), 1);
    let last = list("notes", "last: 1", "body").await;
    assert_eq!(
        (nodes(&last, "body"), &last["pageInfo"]["hasPreviousPage"]),
        (vec![json!("c")], &json!(true))
    );
    let before = format!("last: 1, before: {}", last["pageInfo"]["startCursor"]);
    assert_eq!(nodes(&list("notes", &before, "body").await, "body"), ["b"]);

    let todos = async |arguments: &str| {
        let query = format!(
            "{{ currentUser {{ todos({arguments}) {{ nodes {{ id }} pageInfo {{ endCursor }} }} }} }}"
        );
        ask(&ada, &query).await["currentUser"]["todos"].clone()
    };
    for title in ["two", "three"] {
        write(&ada, title).await;
    }
    for iid in 1..=2 {
        ada.post(&format!("/projects/{project}/issues/{iid}/todo"), json!({})).await.created();
    }
    let newest = todos("first: 1").await;
    ada.post(&format!("/projects/{project}/issues/3/todo"), json!({})).await.created();
    let older = todos(&behind(&newest)).await;
    assert_eq!(older["nodes"].as_array().map(Vec::len), Some(1));
    assert_ne!(older["nodes"], newest["nodes"]);
}

#[actix_web::test]
async fn users_and_groups_go_on_behind_the_last_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.person("bob");
    for name in ["beech", "oak"] {
        ada.group(name, None).await;
    }
    let list = async |name: &str, arguments: &str, field: &str| {
        let query =
            format!("{{ {name}({arguments}) {{ nodes {{ {field} }} pageInfo {{ endCursor }} }} }}");
        ask(&ada, &query).await[name].clone()
    };
    let behind = |page: &Value, more: &str| format!("{more}first: 9, after: {:?}", end(page));
    let newest = list("users", "sort: CREATED_DESC, first: 1", "username").await;
    let first = list("groups", "first: 1", "path").await;
    let last = list("groups", "sort: \"name_desc\", first: 1", "path").await;
    assert_eq!(
        (nodes(&first, "path"), nodes(&last, "path")),
        (vec![json!("beech")], vec![json!("oak")])
    );
    app.person("zoe");
    for name in ["ash", "pine"] {
        ada.group(name, None).await;
    }
    let older = list("users", &behind(&newest, "sort: CREATED_DESC, "), "username").await;
    assert!(!nodes(&older, "username").contains(&nodes(&newest, "username")[0]));
    assert_eq!(nodes(&list("groups", &behind(&first, ""), "path").await, "path"), ["oak", "pine"]);
    let down = list("groups", &behind(&last, "sort: \"name_desc\", "), "path").await;
    assert_eq!(nodes(&down, "path"), ["beech", "ash"]);
    let own =
        "{ currentUser { groups(first: 1) { count nodes { path } pageInfo { endCursor } } } }";
    let own = ask(&ada, own).await["currentUser"]["groups"].clone();
    assert_eq!((nodes(&own, "path"), &own["count"]), (vec![json!("ash")], &json!(4)));
    let query =
        format!("{{ currentUser {{ groups({}) {{ nodes {{ path }} }} }} }}", behind(&own, ""));
    let rest = ask(&ada, &query).await["currentUser"]["groups"].clone();
    assert_eq!(nodes(&rest, "path"), ["beech", "oak", "pine"]);
}
