//! What somebody is not to know: of a private group and all in it, nothing reaches those outside of it.

use gateway::{rest, route::RouteRow};
use kernel::{AccessLevel::Reporter, Visibility::Public};
use serde_json::{Value, json};

use crate::support::{Answer, Person, RowRequest, TestApp, declared};

/// In every name and text of what is hidden, and in nothing else.
const WORD: &str = "hushhush";

/// GraphQL's `query` is a document, whose words its refusals repeat.
fn rows() -> impl Iterator<Item = &'static RouteRow> {
    rest::tables().into_iter().flatten().filter(|row| row.pattern != "//api/graphql")
}

/// What is hidden: a group with somebody in it, a project, a page, an issue, and addresses that it had before.
struct Secret {
    group: i64,
    project: i64,
}

async fn keep_secret(app: &TestApp) -> Secret {
    let (ada, mia) = (app.person("ada"), app.person("mia"));
    let group = ada.group_with("hushhush", json!({ "description": WORD })).await;
    mia.get("/user").await.ok();
    ada.adds("mia", 30, &format!("/groups/{group}")).await;
    let project = json!({ "name": WORD, "path": "hushhush-tool", "namespace_id": group, "description": WORD });
    let project = ada.post("/projects", project).await.created()["id"].as_i64().expect("an id");
    let page = json!({ "title": WORD, "content": WORD });
    ada.post(&format!("/groups/{group}/wikis"), page.clone()).await.created();
    ada.post(&format!("/projects/{project}/wikis"), page).await.created();
    // What everybody may see is shared with what nobody may.
    let open = ada.group_with("open", json!({ "visibility": "public" })).await;
    let share = json!({ "group_id": group, "group_access": 30 });
    ada.post(&format!("/groups/{open}/share"), share.clone()).await.created();
    let tool = json!({ "name": "tool", "visibility": "public", "namespace_id": open });
    let tool = ada.post("/projects", tool).await.created()["id"].clone();
    ada.post(&format!("/projects/{tool}/share"), share).await.created();
    let issue = json!({ "title": WORD, "assignee_ids": [app.user("mia").id] });
    ada.post(&format!("/projects/{project}/issues"), issue).await.created();
    let below = ada.group("hushhush-below", Some(group)).await;
    ada.adds("mia", 40, &format!("/groups/{below}")).await;
    Secret { group, project }
}

/// What an answer tells, without what differs between any two.
fn told(answer: &Answer) -> (u16, String, Vec<(String, String)>) {
    let apart = ["x-request-id", "x-runtime", "date", "etag"];
    let headers = answer.headers.iter().filter(|(name, _)| !apart.contains(&name.as_str()));
    let mut headers: Vec<(String, String)> = headers
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()))
        .collect();
    headers.sort();
    (answer.status, String::from_utf8_lossy(&answer.bytes).into_owned(), headers)
}

/// The row, asked of two places that must look the same.
async fn differs(person: &Person<'_>, row: &'static RouteRow, ids: [&str; 2]) -> Option<String> {
    let hidden = told(&RowRequest::of(row, ids[0]).by(person).await);
    let none = told(&RowRequest::of(row, ids[1]).by(person).await);
    (hidden != none).then(|| format!("{} {}: {hidden:?} {none:?}", row.method, row.pattern))
}

#[actix_web::test]
async fn what_is_hidden_answers_every_call_as_what_is_not_there() {
    let app = TestApp::new();
    let secret = keep_secret(&app).await;
    let (group, project) = (secret.group.to_string(), secret.project.to_string());
    let mut wrong = Vec::new();
    for person in [app.person("eve"), app.anonymous()] {
        for row in rows().filter(|row| row.pattern.contains("{id}")) {
            let ids = match row.pattern {
                pattern if pattern.starts_with("/groups/") => {
                    vec![[group.as_str(), "999999"], ["hushhush", "nothing-there"]]
                }
                pattern if pattern.starts_with("/projects/") => vec![
                    [project.as_str(), "999999"],
                    ["hushhush/hushhush-tool", "nothing/nothing-there"],
                ],
                pattern if pattern.starts_with("/namespaces/") => {
                    vec![[group.as_str(), "999999"], ["hushhush", "nothing-there"]]
                }
                _ => continue,
            };
            // A free path and one that is taken are told apart: whoever makes a group learns that anyway.
            for ids in ids.into_iter().filter(|_| !row.pattern.ends_with("/exists")) {
                wrong.extend(differs(&person, row, ids).await);
            }
        }
    }
    assert!(wrong.is_empty(), "{} calls tell:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(app.person("ada").get("/groups/hushhush").await.status, 200, "it is there");
}

/// What the database was asked since the last look, whatever the values; nothing on PostgreSQL.
fn asked(app: &TestApp) -> Vec<String> {
    let beside = ["UPDATE `access_tokens`", "UPDATE `users`"];
    let asked = app.statements().into_iter();
    let asked = asked.filter(|sql| beside.iter().all(|one| !sql.starts_with(one)));
    asked.map(|sql| sql.split(" -- binds").next().unwrap_or_default().to_owned()).collect()
}

/// What is asked of the database for a call.
async fn asked_for(
    app: &TestApp,
    person: &Person<'_>,
    row: &'static RouteRow,
    id: &str,
) -> Vec<String> {
    asked(app);
    RowRequest::of(row, id).by(person).await;
    asked(app)
}

#[actix_web::test]
async fn git_looks_for_what_is_hidden_as_long_as_for_what_is_not_there() {
    let app = TestApp::new();
    keep_secret(&app).await;
    for person in [app.person("eve").by_password(), app.anonymous()] {
        let (fetch, push) = ("git-upload-pack", "git-receive-pack");
        for [hidden, none, service] in [
            ["hushhush/hushhush-tool", "nothing/nothing-there", fetch],
            ["hushhush/hushhush-tool.wiki", "nothing/nothing-there.wiki", fetch],
            ["hushhush.wiki", "nothing-there.wiki", fetch],
            // A push to nothing makes a project, so it asks for the group, whose path is known to be taken.
            ["hushhush/hushhush-tool", "hushhush/nothing-there", push],
        ] {
            let [hidden, none] =
                [hidden, none].map(|path| format!("//{path}.git/info/refs?service={service}"));
            asked(&app);
            let first = person.get(&hidden).await.status;
            let for_hidden = asked(&app);
            let second = person.get(&none).await.status;
            assert_eq!((first, for_hidden), (second, asked(&app)), "{hidden}");
        }
    }
}

#[actix_web::test]
async fn what_is_hidden_is_looked_for_as_long_as_what_is_not_there() {
    let app = TestApp::new();
    let secret = keep_secret(&app).await;
    let (group, project) = (secret.group.to_string(), secret.project.to_string());
    let mut wrong = Vec::new();
    for person in [app.person("eve"), app.anonymous()] {
        for row in rows().filter(|row| row.pattern.contains("{id}")) {
            let pairs = match row.pattern {
                pattern if pattern.starts_with("/groups/") => {
                    [[group.as_str(), "999999"], ["hushhush", "nothing-there"]]
                }
                pattern if pattern.starts_with("/projects/") => {
                    [[project.as_str(), "999999"], ["hushhush/hushhush-tool", "nothing/there"]]
                }
                "/namespaces/{id}" => [[group.as_str(), "999999"], ["hushhush", "nothing-there"]],
                _ => continue,
            };
            for [hidden, none] in pairs {
                let hidden = asked_for(&app, &person, row, hidden).await;
                let none = asked_for(&app, &person, row, none).await;
                if hidden != none {
                    wrong.push(format!(
                        "{row:?}: {} and {}\n{hidden:#?}\n{none:#?}",
                        hidden.len(),
                        none.len()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} calls tell:\n{}", wrong.len(), wrong.join("\n"));
}

/// The calls that list or count something for whoever calls.
fn lists() -> impl Iterator<Item = &'static RouteRow> {
    rows().filter(|row| row.method == "GET" && !row.pattern.contains('{'))
}

#[actix_web::test]
async fn no_list_holds_counts_or_finds_what_is_hidden() {
    let app = TestApp::new();
    keep_secret(&app).await;
    for person in [app.person("eve"), app.anonymous()] {
        for row in lists() {
            let names = declared(row);
            let takes = |name: &str| names.iter().any(|param| param.name == name);
            let sought = if takes("search") { "search" } else { "query" };
            let everything = "all_available=true&scope=all&statistics=true&per_page=100";
            let path = |word: &str| format!("{}?{everything}&{sought}={word}", row.pattern);
            let found = person.get(&path(WORD)).await;
            let none = person.get(&path("nosuchword")).await;
            let text = String::from_utf8_lossy(&found.bytes).into_owned();
            if takes(sought) {
                let totals = |answer: &Answer| answer.header("x-total").map(str::to_owned);
                assert_eq!(
                    (totals(&found), &found.body),
                    (totals(&none), &none.body),
                    "{}",
                    row.pattern
                );
            }
            let all = person.get(&format!("{}?{everything}", row.pattern)).await;
            let all = String::from_utf8_lossy(&all.bytes).into_owned();
            for text in [text, all] {
                assert!(!text.contains(WORD), "{}: {text}", row.pattern);
            }
        }
    }
}

#[actix_web::test]
async fn what_is_shared_with_something_hidden_does_not_say_so() {
    let app = TestApp::new();
    keep_secret(&app).await;
    for place in ["/groups/open", "/projects/open%2Ftool"] {
        let told = app.person("ada").get(place).await.ok();
        assert_eq!(told["shared_with_groups"][0]["group_full_path"], "hushhush");
    }
    for person in [app.person("eve"), app.anonymous()] {
        for row in rows().filter(|row| row.method == "GET") {
            for (beginning, id) in [("/groups/{id}", "open"), ("/projects/{id}", "open/tool")] {
                if row.pattern.starts_with(beginning) {
                    let answer = RowRequest::of(row, id).by(&person).await;
                    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
                    assert!(!text.contains(WORD) && !text.contains("\"mia\""), "{row:?}: {text}");
                }
            }
        }
    }
}

#[actix_web::test]
async fn what_a_person_does_in_secret_is_not_told_of_them() {
    let app = TestApp::new();
    keep_secret(&app).await;
    let id = app.user("mia").id;
    for person in [app.person("eve"), app.anonymous()] {
        for row in rows().filter(|row| row.method == "GET" && row.pattern.starts_with("/users/{")) {
            let path =
                row.pattern.replacen("{user_id}", "{id}", 1).replacen("{id}", &id.to_string(), 1);
            let path = path.split('{').next().unwrap_or_default().trim_end_matches('/').to_owned();
            let answer = person.get(&path).await;
            let text = String::from_utf8_lossy(&answer.bytes).into_owned();
            assert!(!text.contains(WORD), "{path}: {text}");
            assert!(
                matches!(answer.header("x-total"), None | Some("0"))
                    || row.pattern.ends_with("keys"),
                "{path}"
            );
        }
    }
}

#[actix_web::test]
async fn an_address_that_something_hidden_had_leads_nowhere() {
    let app = TestApp::new();
    let secret = keep_secret(&app).await;
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    ada.put(&format!("/groups/{}", secret.group), json!({ "path": "hushhush-new" })).await.ok();
    ada.put(&format!("/projects/{}", secret.project), json!({ "path": "renamed" })).await.ok();
    let old = "hushhush%2Fhushhush-tool";
    assert_eq!(ada.get(&format!("/projects/{old}")).await.ok()["path"], "renamed");

    for person in [eve, app.anonymous()] {
        for (hidden, none) in [
            (format!("/projects/{old}"), "/projects/nothing%2Fthere".to_owned()),
            (format!("/projects/{old}/wikis"), "/projects/nothing%2Fthere/wikis".to_owned()),
            ("/groups/hushhush".to_owned(), "/groups/nothing".to_owned()),
            (
                "//hushhush/hushhush-tool.git/info/refs?service=git-upload-pack".to_owned(),
                "//nothing/there.git/info/refs?service=git-upload-pack".to_owned(),
            ),
        ] {
            assert_eq!(
                told(&person.get(&hidden).await),
                told(&person.get(&none).await),
                "{hidden}"
            );
        }
    }
}

#[actix_web::test]
async fn nothing_is_learnt_by_naming_what_is_hidden_in_a_change() {
    let app = TestApp::new();
    let secret = keep_secret(&app).await;
    let eve = app.person("eve");
    let own = eve.group("own", None).await;
    let place = format!("/groups/{own}");
    let tries = |group: i64| -> Vec<(String, Value)> {
        vec![
            ("/groups".to_owned(), json!({ "name": "x", "path": "x", "parent_id": group })),
            (format!("{place}/share"), json!({ "group_id": group, "group_access": 30 })),
            (format!("{place}/transfer"), json!({ "group_id": group })),
            ("/projects".to_owned(), json!({ "name": "x", "namespace_id": group })),
        ]
    };
    let rows = app.row_counts();
    for ((path, hidden), (_, none)) in tries(secret.group).into_iter().zip(tries(999_999)) {
        let (hidden, none) = (eve.post(&path, hidden).await, eve.post(&path, none).await);
        assert_eq!(told(&hidden), told(&none), "{path}");
        assert!(matches!(hidden.status, 400 | 404), "{path}: {}", hidden.status);
    }
    assert_eq!(app.row_counts(), rows);
}

/// An issue of a public project that outsiders may not see, with what belongs to it, and one that is not there.
#[actix_web::test]
async fn a_confidential_issue_answers_every_call_as_one_that_is_not_there() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "open", Public);
    let hidden = app.confidential_issue(project, &ada);
    let issue = format!("/projects/{project}/issues/{hidden}");
    ada.post(&format!("{issue}/notes"), json!({ "body": WORD })).await.created();
    ada.post(&format!("{issue}/award_emoji"), json!({ "name": "rocket" })).await.created();
    ada.post(&format!("{issue}/todo"), json!({})).await.created();
    let (eve, nobody) = (app.person("eve"), app.anonymous());
    eve.get("/user").await.ok();
    let (before, mut wrong) = (app.row_counts(), Vec::new());

    for row in rows().filter(|row| row.pattern.contains("{issue_iid}")) {
        for person in [&eve, &nobody] {
            let asked =
                |iid: i64| RowRequest::of(row, &project.to_string()).with("issue_iid", &json!(iid));
            let (hidden, none) = (asked(hidden).by(person).await, asked(999).by(person).await);
            if told(&hidden) != told(&none) {
                wrong.push(format!(
                    "{} {}: {:?} {:?}",
                    row.method,
                    row.pattern,
                    told(&hidden),
                    told(&none)
                ));
            }
        }
    }

    assert!(wrong.is_empty(), "{} calls tell:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(app.row_counts(), before);
}

#[actix_web::test]
async fn who_speaks_in_secret_is_not_counted_among_those_who_take_part() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "open", Public);
    let (rita, _) = (app.member(project, "rita", Reporter), app.member(project, "rob", Reporter));
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    let internal = json!({ "body": "@rob psst", "internal": true });
    rita.post(&format!("{issue}/notes"), internal).await.created();

    for person in [app.person("eve"), app.anonymous()] {
        let takes_part = person.get(&format!("{issue}/participants")).await;
        assert_eq!(takes_part.each("username"), ["ada"]);
        assert_eq!(person.get(&issue).await.ok()["user_notes_count"], 0);
    }
    let eve = app.person("eve");
    assert_eq!(eve.get(&issue).await.ok()["subscribed"], false);
    assert_eq!(eve.get("/todos").await.header("x-total"), Some("0"));
}

#[actix_web::test]
async fn who_may_look_no_more_neither_hears_of_it_nor_begins_or_ends_to() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "open", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    let eve = app.person("eve");
    eve.post(&format!("{issue}/subscribe"), json!({})).await.created();

    ada.put(&issue, json!({ "confidential": true })).await.ok();

    for what in ["subscribe", "unsubscribe", "todo"] {
        eve.post(&format!("{issue}/{what}"), json!({})).await.with(404);
    }
    ada.post(&format!("{issue}/notes"), json!({ "body": "@eve" })).await.created();
    assert_eq!(eve.get("/todos").await.ok(), json!([]));
    assert_eq!(ada.get(&format!("{issue}/participants")).await.each("username"), ["ada"]);
}
