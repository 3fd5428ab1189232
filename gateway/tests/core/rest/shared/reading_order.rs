//! Names come in the order in which people read them: without regard to case, then by bytes, on both databases.

use org::{token::Scope, user::actions::NewUser};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

/// As they are made.
const NAMES: [&str; 7] = ["banana", "Äpfel", "Zebra", "apple", "ähre", "Apple", "cherry"];
const IN_ORDER: [&str; 7] = ["Apple", "apple", "banana", "cherry", "Zebra", "ähre", "Äpfel"];

async fn shown(person: &Person<'_>, list: &str, field: &str) -> Vec<Value> {
    person.get(list).await.each(field)
}

/// A list in either direction.
async fn check(person: &Person<'_>, list: &str, field: &str, in_order: &[&str]) {
    let mut expected: Vec<Value> = in_order.iter().map(|name| json!(name)).collect();
    assert_eq!(shown(person, &format!("{list}&sort=asc"), field).await, expected, "{list}");
    expected.reverse();
    assert_eq!(shown(person, &format!("{list}&sort=desc"), field).await, expected, "{list}");
}

#[actix_web::test]
async fn groups_and_projects_are_listed_in_reading_order() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for (number, name) in NAMES.into_iter().enumerate() {
        // Paths are the other way round: names alone decide.
        let path = format!("p{}", NAMES.len() - number);
        ada.group_with(&path, json!({ "name": name })).await;
        ada.post("/projects", json!({ "name": name, "path": path })).await.created();
    }

    check(&ada, "/groups?order_by=name", "name", &IN_ORDER).await;
    check(&ada, "/projects?order_by=name", "name", &IN_ORDER).await;
    check(&ada, "/users/ada/projects?order_by=name", "name", &IN_ORDER).await;
}

#[actix_web::test]
async fn paths_and_people_are_listed_in_reading_order() {
    let app = TestApp::new();
    let root = app.admin();
    for path in ["b-two", "Able", "zed", "Cut"] {
        let group = root.group_with(path, json!({})).await;
        let inside = json!({ "name": path, "path": format!("{path}-in"), "namespace_id": group });
        root.post("/projects", inside).await.created();
        app.person(&format!("{path}-p"));
    }

    check(&root, "/groups?order_by=path", "path", &["Able", "b-two", "Cut", "zed"]).await;
    let inside = ["Able-in", "b-two-in", "Cut-in", "zed-in"];
    check(&root, "/projects?order_by=path", "path", &inside).await;
    let people = ["Able-p", "b-two-p", "Cut-p", "root", "zed-p"];
    check(&root, "/users?order_by=username", "username", &people).await;
    check(&root, "/users?order_by=name", "name", &people).await;
}

#[actix_web::test]
async fn people_who_are_paid_for_are_listed_in_reading_order() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = format!("/groups/{}", ada.group("crew", None).await);
    for (number, name) in NAMES.into_iter().enumerate() {
        let new = NewUser { name: name.to_owned(), ..NewUser::named(&format!("p{number}")) };
        app.someone(&new, &[Scope::Api]);
        ada.adds(&format!("p{number}"), 30, &group).await;
    }

    let mut expected: Vec<Value> = IN_ORDER.iter().map(|name| json!(name)).collect();
    for sort in ["name_asc", "name_desc"] {
        let mut listed =
            shown(&ada, &format!("{group}/billable_members?sort={sort}"), "name").await;
        listed.retain(|name| expected.contains(name));
        assert_eq!(listed, expected, "{sort}");
        expected.reverse();
    }
}

fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    let next = link.split(", ").find(|part| part.ends_with("rel=\"next\""))?;
    let url = next.strip_prefix('<')?.split('>').next()?;
    Some(url.split_once("/api/v4")?.1.to_owned())
}

#[actix_web::test]
async fn pages_after_a_group_leave_none_out_and_repeat_none() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for (number, name) in NAMES.into_iter().enumerate() {
        ada.group_with(&format!("p{number}"), json!({ "name": name })).await;
    }
    for per_page in 1..4 {
        let mut way = Some(format!("/groups?pagination=keyset&per_page={per_page}"));
        let mut seen: Vec<Value> = Vec::new();
        while let Some(path) = way {
            let page = ada.get(&path).await;
            way = next(&page);
            seen.extend(page.each("name"));
        }
        assert_eq!(seen, IN_ORDER.map(|name| json!(name)), "{per_page} a page");
    }
}
