//! Projects of a group: its own, those around it, and those shared with it.

use kernel::{
    AccessLevel::{Guest, Maintainer},
    Visibility::Private,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn group(owner: &Person<'_>, path: &str, more: Value) -> i64 {
    let mut fields = json!({ "name": path, "path": path });
    for (name, value) in more.as_object().expect("fields") {
        fields[name] = value.clone();
    }
    owner.post("/groups", fields).await.created()["id"].as_i64().expect("an id")
}

async fn project(owner: &Person<'_>, group: i64, name: &str, more: Value) -> i64 {
    let mut fields = json!({ "name": name, "namespace_id": group });
    for (name, value) in more.as_object().expect("fields") {
        fields[name] = value.clone();
    }
    owner.post("/projects", fields).await.created()["id"].as_i64().expect("an id")
}

async fn paths(person: &Person<'_>, query: &str) -> Vec<String> {
    let found = person.get(query).await.each("path");
    found.into_iter().map(|path| path.as_str().unwrap_or_default().to_owned()).collect()
}

/// A private group `top` with `in` inside it, each with a project, and a project of `ada`'s own shared with `top`.
async fn around(app: &TestApp, ada: &Person<'_>) -> (i64, i64) {
    let top = group(ada, "top", json!({})).await;
    let inner = group(ada, "in", json!({ "parent_id": top })).await;
    project(ada, top, "upper", json!({})).await;
    project(ada, inner, "lower", json!({})).await;
    let own = app.project(ada, "lent", Private);
    let share = json!({ "group_id": top, "group_access": 30 });
    ada.post(&format!("/projects/{own}/share"), share).await.created();
    (top, inner)
}

#[actix_web::test]
async fn a_list_looks_below_above_and_at_what_is_shared() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (top, inner) = around(&app, &ada).await;
    let list = async |group: i64, query: &str| {
        let mut found = paths(&ada, &format!("/groups/{group}/projects?{query}")).await;
        found.sort();
        found
    };

    assert_eq!(list(top, "").await, ["lent", "upper"]);
    assert_eq!(list(top, "with_shared=false").await, ["upper"]);
    assert_eq!(list(top, "include_subgroups=true").await, ["lent", "lower", "upper"]);
    assert_eq!(list(top, "include_subgroups=1&with_shared=0").await, ["lower", "upper"]);
    assert_eq!(list(inner, "").await, ["lower"]);
    assert_eq!(
        list(inner, "include_ancestor_groups=true&with_shared=false").await,
        ["lower", "upper"]
    );
    assert_eq!(list(inner, "include_ancestor_groups=true").await, ["lent", "lower", "upper"]);
    assert_eq!(paths(&ada, &format!("/groups/{top}/projects/shared")).await, ["lent"]);
    assert_eq!(
        paths(&ada, &format!("/groups/{inner}/projects/shared")).await,
        Vec::<String>::new()
    );
    let page = ada.get(&format!("/groups/{top}/projects?include_subgroups=true&per_page=1")).await;
    assert_eq!(page.header("x-total"), Some("3"));
}

#[actix_web::test]
async fn projects_of_a_tree_are_counted_as_they_come_and_go() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (top, other) = (group(&ada, "top", json!({})).await, group(&ada, "other", json!({})).await);
    let inner = group(&ada, "in", json!({ "parent_id": top })).await;
    let counted = async |group: i64| {
        let query = "include_subgroups=true&with_shared=false&per_page=1";
        let page = ada.get(&format!("/groups/{group}/projects?{query}")).await;
        page.header("x-total").map(str::to_owned)
    };
    let some = |total: &str| Some(total.to_owned());
    let [one, two] =
        [project(&ada, top, "one", json!({})).await, project(&ada, inner, "two", json!({})).await];
    project(&ada, inner, "three", json!({})).await;
    assert_eq!([counted(top).await, counted(inner).await], [some("3"), some("2")]);

    ada.delete(&format!("/projects/{one}")).await.with(202);
    assert_eq!([counted(top).await, counted(inner).await], [some("2"), some("2")]);
    ada.put(&format!("/projects/{two}/transfer"), json!({ "namespace": other })).await.ok();
    assert_eq!([counted(top).await, counted(other).await], [some("1"), some("1")]);
    ada.post(&format!("/groups/{inner}/transfer"), json!({ "group_id": other })).await.created();
    assert_eq!([counted(top).await, counted(other).await], [some("0"), some("2")]);
    for (group, path) in [(top, "gone"), (other, "top")] {
        ada.put(&format!("/groups/{group}"), json!({ "path": path })).await.ok();
    }
    assert_eq!([counted(top).await, counted(other).await], [some("0"), some("2")]);
    ada.delete(&format!("/groups/{inner}")).await;
    assert_eq!(counted(other).await, some("1"));
}

#[actix_web::test]
async fn pages_of_a_large_tree_are_the_list_wherever_its_projects_are() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (top, other) = (group(&ada, "top", json!({})).await, group(&ada, "other", json!({})).await);
    let mut inside = Vec::new();
    for number in 0..44 {
        inside.push(project(&ada, top, &format!("in-{number}"), json!({})).await);
    }
    let newest_first = format!("/groups/{top}/projects?include_subgroups=true&per_page=1");
    let first = async |query: &str| ada.get(&format!("{newest_first}{query}")).await.each("id");
    assert_eq!(first("").await, [inside[43]]);
    assert_eq!(first("&page=2").await, [inside[42]]);
    for number in 0..16 {
        project(&ada, other, &format!("out-{number}"), json!({})).await;
    }
    assert_eq!(first("").await, [inside[43]], "none of the newest is inside");
    assert_eq!(first("&sort=asc").await, [inside[0]]);
    assert_eq!(first("&sort=asc&page=44").await, [inside[43]]);
}

#[actix_web::test]
async fn outsiders_learn_of_no_private_project_in_a_group() {
    let app = TestApp::new();
    let (ada, bob, eve) = (app.person("ada"), app.person("bob"), app.person("eve"));
    let top = group(&ada, "top", json!({ "visibility": "public" })).await;
    let hidden = project(&ada, top, "hidden", json!({})).await;
    project(&ada, top, "inside", json!({ "visibility": "internal" })).await;
    project(&ada, top, "open", json!({ "visibility": "public" })).await;
    let lent = app.project(&bob, "lent", Private);
    let share = json!({ "group_id": top, "group_access": 30 });
    bob.post(&format!("/projects/{lent}/share"), share).await.created();

    for (person, seen) in [(app.anonymous(), vec!["open"]), (eve.clone(), vec!["open", "inside"])] {
        for more in ["", "include_subgroups=true", "include_ancestor_groups=true"] {
            let url = format!("/groups/{top}/projects?{more}");
            assert_eq!(paths(&person, &url).await, seen, "{more}");
            let page = person.get(&url).await;
            assert_eq!(page.header("x-total"), Some(seen.len().to_string().as_str()));
            assert_eq!(paths(&person, &format!("{url}&search=hidden")).await, Vec::<String>::new());
        }
        assert!(paths(&person, &format!("/groups/{top}/projects/shared")).await.is_empty());
    }
    let cleo = app.member(kernel::ids::ProjectId(hidden), "cleo", Guest);
    assert_eq!(
        paths(&cleo, &format!("/groups/{top}/projects")).await,
        ["open", "inside", "hidden"]
    );
    let all = ["lent", "open", "inside", "hidden"];
    assert_eq!(paths(&ada, &format!("/groups/{top}/projects")).await, all);
    let hidden = json!({ "message": "404 Group Not Found" });
    let closed = group(&ada, "closed", json!({})).await;
    eve.get(&format!("/groups/{closed}/projects")).await.refused(404, hidden.clone());
    eve.get(&format!("/groups/{closed}/projects/shared")).await.refused(404, hidden);
}

#[actix_web::test]
async fn what_is_shared_with_a_group_is_listed_to_those_who_can_open_it() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (crew, guests) =
        (group(&ada, "crew", json!({})).await, group(&ada, "guests", json!({})).await);
    ada.adds("bob", 30, &format!("/groups/{guests}")).await;
    app.invite_group(crew, guests, kernel::AccessLevel::Developer);
    let yard = group(&ada, "yard", json!({})).await;
    let lent = project(&ada, yard, "lent", json!({})).await;
    let share = json!({ "group_id": crew, "group_access": 20 });
    ada.post(&format!("/projects/{lent}/share"), share).await.created();

    for (locked, status) in [(false, 200), (true, 404), (false, 200)] {
        let lock = json!({ "share_with_group_lock": locked });
        ada.put(&format!("/groups/{yard}"), lock).await.ok();
        bob.get(&format!("/projects/{lent}")).await.with(status);
        for list in ["projects", "projects/shared", "projects?include_subgroups=true"] {
            let listed = !paths(&bob, &format!("/groups/{crew}/{list}")).await.is_empty();
            assert_eq!(listed, status == 200, "{list}");
        }
    }
    let level = bob.get("/projects?min_access_level=20").await.each("id");
    assert_eq!(
        (level, paths(&bob, "/projects?min_access_level=30").await),
        (vec![json!(lent)], vec![])
    );
}

#[actix_web::test]
async fn every_filter_narrows_a_groups_projects() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({ "visibility": "public" })).await;
    let old = project(&ada, top, "old", json!({ "visibility": "public" })).await;
    ada.post(&format!("/projects/{old}/archive"), json!({})).await.created();
    project(
        &ada,
        top,
        "quiet",
        json!({ "issues_enabled": false, "merge_requests_enabled": false }),
    )
    .await;
    let liked = project(&ada, top, "liked", json!({ "description": "Steam" })).await;
    ada.post(&format!("/projects/{liked}/star"), json!({})).await.created();
    let list = async |query: &str| paths(&ada, &format!("/groups/{top}/projects?{query}")).await;

    assert_eq!(list("").await, ["liked", "quiet", "old"]);
    assert_eq!(list("archived=true").await, ["old"]);
    assert_eq!(list("archived=false").await, ["liked", "quiet"]);
    assert_eq!(list("visibility=public").await, ["old"]);
    assert_eq!(list("search=steam").await, ["liked"]);
    assert_eq!(list("starred=true").await, ["liked"]);
    assert_eq!(list("owned=true").await.len(), 3);
    assert_eq!(list("with_issues_enabled=true").await, ["liked", "old"]);
    assert_eq!(list("with_merge_requests_enabled=true").await, ["liked", "old"]);
    assert_eq!(list("min_access_level=50").await.len(), 3);
    assert_eq!(list("with_security_reports=true").await, Vec::<String>::new());
    assert_eq!(list("order_by=name&sort=asc").await, ["liked", "old", "quiet"]);
    assert_eq!(list("order_by=path").await, ["quiet", "old", "liked"]);
    assert_eq!(list("order_by=id&sort=asc").await, ["old", "quiet", "liked"]);
    let bob = app.member(kernel::ids::ProjectId(liked), "bob", Maintainer);
    let his = format!("/groups/{top}/projects?min_access_level=40");
    assert_eq!(paths(&bob, &his).await, ["liked"]);
    assert_eq!(
        paths(&bob, &format!("/groups/{top}/projects?owned=true")).await,
        Vec::<String>::new()
    );
    for (query, text) in [
        ("order_by=star_count", "order_by does not have a valid value"),
        ("min_access_level=15", "min_access_level does not have a valid value"),
        ("visibility=secret", "visibility does not have a valid value"),
        ("archived=perhaps", "archived is invalid"),
    ] {
        let answer = ada.get(&format!("/groups/{top}/projects?{query}")).await;
        answer.refused(400, json!({ "error": text }));
    }
}

#[actix_web::test]
async fn likeness_has_one_direction_and_needs_a_search() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    for name in ["steam-engines-and-more", "engine", "engine-two"] {
        project(&ada, top, name, json!({})).await;
    }
    for sort in ["asc", "desc"] {
        let list = format!("/groups/{top}/projects?order_by=similarity&sort={sort}");
        let alike = ["engine", "engine-two", "steam-engines-and-more"];
        assert_eq!(paths(&ada, &format!("{list}&search=engine")).await, alike);
        assert_eq!(paths(&ada, &list).await, alike, "by name");
    }
    let wrong = json!({ "error": "order_by does not have a valid value" });
    ada.get(&format!("/groups/{top}/projects/shared?order_by=similarity"))
        .await
        .refused(400, wrong);
}

#[actix_web::test]
async fn the_form_and_the_pages_are_those_of_all_projects() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (top, _) = around(&app, &ada).await;

    let full = ada.get(&format!("/groups/{top}/projects")).await.ok();
    let simple = ada.get(&format!("/groups/{top}/projects?simple=true")).await.ok();
    assert_eq!(full[1]["namespace"]["full_path"], "top");
    assert_eq!(full[0]["shared_with_groups"][0]["group_id"], top);
    assert_eq!(simple[0].get("shared_with_groups"), None);
    let open = group(&ada, "open", json!({ "visibility": "public" })).await;
    project(&ada, open, "shown", json!({ "visibility": "public" })).await;
    let list = format!("/groups/{open}/projects");
    let whole = app.anonymous().get(&list).await.ok();
    assert_eq!((&whole[0]["visibility"], &whole[0]["archived"]), (&json!("public"), &json!(false)));
    let simple = app.anonymous().get(&format!("{list}?simple=true")).await.ok();
    assert_eq!(simple[0].get("archived"), None);
    let first = format!("/groups/{top}/projects?pagination=keyset&order_by=id&per_page=1");
    let page = ada.get(&first).await;
    let link = page.header("link").expect("a next page").to_owned();
    let way = link.trim_start_matches("<http://forge.test/api/v4").split('>').next().unwrap_or("");
    assert_eq!(paths(&ada, way).await, ["upper"]);
    let refused = ada.get(&format!("/groups/{top}/projects?pagination=keyset")).await;
    refused.refused(
        405,
        json!({ "error": "Keyset pagination is not yet available for this type of request" }),
    );
}
