//! Pages of lists: a row that comes or goes between two of them makes the second neither repeat nor miss another.

use kernel::Visibility::Public;
use serde_json::{Value, json};
use time::Duration;

use super::review::{ask, nodes, refusal};
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
