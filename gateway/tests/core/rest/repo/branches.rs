//! Branches: `gateway/src/rest/repo/branches.rs`, held against git.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
    ids::ProjectId,
};
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// An application with the fixture's history in a public project, and where its branches are.
fn forge() -> (TestApp, Fixture, ProjectId, String) {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let project = app.project_from(&fixture);
    (app, fixture, project, format!("/projects/{project}/repository/branches"))
}

async fn protect(person: &Person<'_>, project: ProjectId, body: Value) {
    person.post(&format!("/projects/{project}/protected_branches"), body).await.created();
}

fn rejected(text: &str) -> Value {
    json!({ "message": text })
}

#[actix_web::test]
async fn the_list_is_that_of_git() {
    let (app, fixture, _, branches) = forge();
    let sorted = |keys: &[&str]| {
        let list = ["for-each-ref", "--format=%(refname:short)", "refs/heads"];
        fixture.lines(&[&list[..], keys].concat())
    };

    let body = app.anonymous().get(&branches).await.ok();

    let all = body.as_array().expect("a list");
    let names: Vec<&Value> = all.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, sorted(&["--sort=refname"]).iter().collect::<Vec<_>>());
    let merged: Vec<&Value> =
        all.iter().filter(|one| one["merged"] == true).map(|one| &one["name"]).collect();
    let mut told = fixture.lines(&["branch", "--merged", "main", "--format=%(refname:short)"]);
    told.retain(|name| name != "main");
    assert_eq!(merged, told.iter().collect::<Vec<_>>());
    for one in all {
        let name = one["name"].as_str().unwrap_or_default();
        assert_eq!(one["commit"]["id"], fixture.id(&format!("refs/heads/{name}")).to_string());
        assert_eq!(one["default"], name == "main");
        assert_eq!(one["web_url"], format!("http://forge.test/ada/forge/-/tree/{name}"));
    }
    let newest = app.anonymous().get(&format!("{branches}?sort=updated_desc")).await;
    assert_eq!(newest.each("name"), sorted(&["--sort=refname", "--sort=-committerdate"]));
}

#[actix_web::test]
async fn the_list_is_searched_and_paged() {
    let (app, _, _, branches) = forge();
    let nobody = app.anonymous();
    let list = |query: &str| format!("{branches}?{query}");

    assert_eq!(nobody.get(&list("search=TOPIC")).await.each("name"), ["topic"]);
    assert_eq!(nobody.get(&list("search=%5Ea%2F")).await.each("name"), ["a/one", "a/two"]);
    assert_eq!(nobody.get(&list("search=e%24")).await.each("name"), ["a/one"]);
    assert_eq!(nobody.get(&list("regex=%5E%5Bmo%5D.*n%24")).await.each("name"), ["main", "orphan"]);
    let second = nobody.get(&list("per_page=2&page=2")).await;
    assert_eq!(second.header("x-total"), Some("6"));
    assert_eq!(second.each("name"), ["main", "orphan"]);
    for (query, text) in [
        ("sort=size", "sort does not have a valid value"),
        ("regex=(", "regex is invalid"),
        ("page=x", "page is invalid"),
    ] {
        nobody.get(&list(query)).await.refused(400, json!({ "error": text }));
    }
}

#[actix_web::test]
async fn tokens_lead_from_page_to_page() {
    let (app, _, _, branches) = forge();
    for sort in ["name_asc", "updated_asc"] {
        let all = app.anonymous().get(&format!("{branches}?sort={sort}")).await.each("name");
        let mut seen = Vec::new();
        let mut next = format!("{branches}?sort={sort}&pagination=keyset&per_page=4");
        loop {
            let answer = app.anonymous().get(&next).await;
            assert_eq!(answer.header("x-total"), None);
            let link = answer.header("link").map(str::to_owned);
            seen.extend(answer.each("name"));
            let Some(link) = link else { break };
            let url = link.trim_start_matches("<http://forge.test/api/v4").split('>').next();
            next = url.expect("an address").to_owned();
        }
        assert_eq!(seen, all, "{sort}");
    }
    let lost = format!("{branches}?sort=updated_asc&pagination=keyset&page_token=lost");
    app.anonymous().get(&lost).await.refused(422, rejected("Invalid page token"));
}

#[actix_web::test]
async fn one_branch_is_shown_or_not_there() {
    let (app, _, _, branches) = forge();
    let nobody = app.anonymous();

    assert_eq!(nobody.get(&format!("{branches}/a%2Fone")).await.ok()["name"], "a/one");
    assert_eq!(nobody.head(&format!("{branches}/main")).await.status, 204);
    assert_eq!(nobody.head(&format!("{branches}/lost")).await.status, 404);
    nobody.get(&format!("{branches}/lost")).await.refused(404, rejected("404 Branch Not Found"));
    for name in ["a..b", "--output=x", "a%20b", "x.lock"] {
        let path = format!("{branches}/{name}");
        nobody.get(&path).await.refused(400, rejected("The branch refname is invalid"));
    }
}

#[actix_web::test]
async fn the_flags_say_what_protection_means_for_the_caller() {
    let (app, _, project, branches) = forge();
    let ada = app.person("ada");
    let dan = app.member(project, "dan", Developer);
    protect(&ada, project, json!({ "name": "main", "merge_access_level": 30 })).await;
    protect(&ada, project, json!({ "name": "a/*", "push_access_level": 30 })).await;

    let flags = |one: Value| {
        ["protected", "developers_can_push", "developers_can_merge", "can_push"]
            .map(|flag| one[flag] == true)
    };
    let of = async |person: &Person<'_>, name: &str| {
        flags(person.get(&format!("{branches}/{name}")).await.ok())
    };

    assert_eq!(of(&dan, "main").await, [true, false, true, false]);
    assert_eq!(of(&dan, "a%2Fone").await, [true, true, false, true]);
    assert_eq!(of(&dan, "topic").await, [false, false, false, true]);
    assert_eq!(of(&ada, "main").await, [true, false, true, true]);
    assert_eq!(of(&app.anonymous(), "topic").await, [false, false, false, false]);
}

#[actix_web::test]
async fn a_branch_begins_where_it_is_asked_to() {
    let (app, fixture, project, branches) = forge();
    let dan = app.member(project, "dan", Developer);

    for (name, from) in
        [("new/one", "topic"), ("from-tag", "v1.0"), ("from-id", &fixture.id("main").to_string())]
    {
        let body = dan.post(&branches, json!({ "branch": name, "ref": from })).await.created();
        assert_eq!(body["name"], name);
        assert_eq!(body["commit"]["id"], fixture.id(from).to_string());
    }
    let query = format!("{branches}?branch=by-query&ref=main");
    assert_eq!(dan.post(&query, json!({})).await.created()["name"], "by-query");
    assert_eq!(dan.get(&format!("{branches}/new%2Fone")).await.ok()["can_push"], true);
}

#[actix_web::test]
async fn what_cannot_be_made_is_told() {
    let (app, fixture, project, branches) = forge();
    let dan = app.member(project, "dan", Developer);
    let ada = app.person("ada");
    protect(&ada, project, json!({ "name": "sealed*", "merge_access_level": 40 })).await;
    protect(&ada, project, json!({ "name": "stable*", "merge_access_level": 30 })).await;
    let id = fixture.id("main");

    for (body, error) in [
        (json!({ "ref": "main" }), json!({ "error": "branch is missing" })),
        (json!({ "branch": " ", "ref": "" }), json!({ "error": "branch is empty, ref is empty" })),
        (json!({ "branch": "main", "ref": "lost" }), rejected("Branch already exists")),
        (json!({ "branch": "a b", "ref": "main" }), rejected("Branch name is invalid")),
        (json!({ "branch": "--output=x", "ref": "main" }), rejected("Branch name is invalid")),
        (
            json!({ "branch": "new", "ref": "lost" }),
            rejected("Failed to create branch 'new': invalid reference name 'lost'"),
        ),
        (
            json!({ "branch": format!("{id}/x"), "ref": "main" }),
            rejected("You cannot create a branch with a 40-character hexadecimal branch name."),
        ),
        (
            json!({ "branch": "sealed-1", "ref": "main" }),
            rejected("You are not allowed to create protected branches on this project."),
        ),
        (
            json!({ "branch": "stable-1", "ref": "main" }),
            rejected(
                "You can only use an existing protected branch ref as the basis of a new protected branch.",
            ),
        ),
    ] {
        dan.post(&branches, body).await.refused(400, error);
    }
    protect(&ada, project, json!({ "name": "main" })).await;
    dan.post(&branches, json!({ "branch": "stable-1", "ref": "main" })).await.created();
}

#[actix_web::test]
async fn an_empty_repository_gets_its_default_branch_first() {
    let app = TestApp::new();
    let owner = app.person("olga");
    let project = app.project(&owner, "new", Visibility::Private);
    let mia = app.member(project, "mia", Maintainer);
    let branches = format!("/projects/{project}/repository/branches");
    assert_eq!(mia.get(&branches).await.ok(), json!([]));

    let body = mia.post(&branches, json!({ "branch": "feature", "ref": "main" })).await.created();

    assert_eq!(body["commit"]["title"], "Add README.md");
    assert_eq!(mia.get(&branches).await.each("name"), ["feature", "main"]);
    let main = mia.get(&format!("{branches}/main")).await.ok();
    assert_eq!((&main["default"], &main["protected"]), (&json!(true), &json!(true)));
}

#[actix_web::test]
async fn a_branch_goes_unless_something_keeps_it() {
    let (app, _, project, branches) = forge();
    let dan = app.member(project, "dan", Developer);
    let ada = app.person("ada");
    protect(&ada, project, json!({ "name": "orphan" })).await;
    let one = |name: &str| format!("{branches}/{name}");

    for (name, status, text) in [
        ("lost", 404, "404 Branch Not Found"),
        ("a..b", 400, "The branch refname is invalid"),
        ("main", 400, "The default branch of a project cannot be deleted."),
        (
            "orphan",
            400,
            "You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.",
        ),
    ] {
        dan.delete(&one(name)).await.refused(status, rejected(text));
    }
    let early = dan.sending("If-Unmodified-Since", "Sun, 13 Sep 2020 12:00:00 GMT");
    early.delete(&one("topic")).await.refused(412, rejected("412 Precondition Failed"));
    assert_eq!(dan.delete(&one("topic")).await.status, 204);
    assert_eq!(ada.delete(&one("orphan")).await.status, 204);
    assert_eq!(dan.head(&one("topic")).await.status, 404);
}

#[actix_web::test]
async fn merged_branches_go_together() {
    let (app, _, project, branches) = forge();
    let dan = app.member(project, "dan", Developer);
    protect(&app.person("ada"), project, json!({ "name": "release/*" })).await;
    let all = format!("/projects/{project}/repository/merged_branches");

    let before = dan.get(&branches).await.each("name");
    assert!(before.contains(&json!("a/one")));
    assert_eq!(dan.delete(&all).await.with(202), rejected("202 Accepted"));

    assert_eq!(dan.get(&branches).await.each("name"), ["main", "orphan", "release/1.x"]);
    assert_eq!(dan.delete(&all).await.status, 202);
}

#[actix_web::test]
async fn the_older_calls_protect_by_role() {
    let (app, _, project, branches) = forge();
    let ada = app.person("ada");
    let path = format!("{branches}/topic");
    let flags = |one: &Value| {
        ["protected", "developers_can_push", "developers_can_merge"].map(|flag| one[flag] == true)
    };

    let put =
        async |suffix: &str, body: Value| ada.put(&format!("{path}{suffix}"), body).await.ok();
    assert_eq!(flags(&put("/protect", json!({})).await), [true, false, false]);
    let push = json!({ "developers_can_push": true });
    assert_eq!(flags(&put("/protect", push).await), [true, true, false]);
    let merge = json!({ "developers_can_merge": true, "developers_can_push": false });
    assert_eq!(flags(&put("/protect", merge).await), [true, false, true]);
    assert_eq!(flags(&put("/unprotect", json!({})).await), [false, false, false]);
    assert_eq!(flags(&put("/unprotect", json!({})).await), [false, false, false]);
    let lost = format!("{branches}/lost/protect");
    ada.put(&lost, json!({})).await.refused(404, rejected("404 Branch Not Found"));
    let rules = ada.get(&format!("/projects/{project}/protected_branches")).await;
    assert_eq!(rules.ok(), json!([]));
}
