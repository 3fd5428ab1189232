//! Releases by GraphQL.

use kernel::{
    AccessLevel::{Developer, Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use super::review::{REFUSED, answer, ask, mutate, nodes, refusal};
use crate::support::{Person, TestApp, ci::commit};

const AT: &str = r#"projectPath: "ada/engine""#;

/// A project with one commit.
async fn set_up(app: &TestApp) -> (Person<'_>, ProjectId) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "one", "build: {script: x}\n").await;
    (ada, project)
}

async fn of_project(person: &Person<'_>, fields: &str) -> Value {
    ask(person, &format!(r#"{{ project(fullPath: "ada/engine") {{ {fields} }} }}"#)).await["project"]
        .clone()
}

#[actix_web::test]
async fn a_release_is_made_changed_and_removed() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    ada.post(&format!("/projects/{project}/milestones"), json!({ "title": "1.0" })).await.created();
    let input = format!(
        r#"{AT}, tagName: "v1", ref: "main", name: "One", description: "**New**", milestones: ["1.0"],
           assets: {{ links: [{{ name: "linux", url: "https://a.test/x", directAssetPath: "/bin/x1",
           linkType: PACKAGE }}] }}"#
    );
    let payload = "release { name tagName descriptionHtml upcomingRelease author { username }
        commit { title } milestones { nodes { title } } assets { count
        links { nodes { name directAssetUrl linkType external } } sources { nodes { format } } } }";

    let made = mutate(&ada, "releaseCreate", &input, payload).await;

    let release = &made["release"];
    assert_eq!((&release["name"], &release["author"]["username"]), (&json!("One"), &json!("ada")));
    assert_eq!(
        (&release["commit"]["title"], &release["assets"]["count"]),
        (&json!("one"), &json!(5))
    );
    assert!(release["descriptionHtml"].to_string().contains("<strong>New</strong>"));
    assert_eq!(nodes(&release["milestones"], "title"), ["1.0"]);
    let direct = "http://forge.test/ada/engine/-/releases/v1/downloads/bin/x1";
    let link = json!({ "name": "linux", "directAssetUrl": direct, "linkType": "PACKAGE", "external": true });
    assert_eq!(release["assets"]["links"]["nodes"], json!([link]));
    let again = mutate(&ada, "releaseCreate", &input, payload).await;
    assert_eq!(again["errors"], json!(["Release already exists"]));
    let input = format!(r#"{AT}, tagName: "v1", description: null, milestones: []"#);
    let changed = mutate(
        &ada,
        "releaseUpdate",
        &input,
        "release { name description milestones { nodes { id } } }",
    )
    .await;
    let expected = json!({ "name": "One", "description": null, "milestones": { "nodes": [] } });
    assert_eq!(changed["release"], expected);
    let one = format!(r#"{AT}, tagName: "v1""#);
    let payload = "release { name assets { links { nodes { name } } } }";
    let removed = mutate(&ada, "releaseDelete", &one, payload).await["release"].clone();
    assert_eq!(removed["name"], "One");
    assert_eq!(removed["assets"]["links"]["nodes"], json!([{ "name": "linux" }]));
    assert_eq!(
        of_project(&ada, r#"release(tagName: "v1") { name }"#).await["release"],
        Value::Null
    );
    let gone = mutate(&ada, "releaseDelete", &one, "release { name }").await;
    assert_eq!(gone["errors"], json!(["Release does not exist"]));
}

#[actix_web::test]
async fn links_are_made_changed_and_removed_by_their_ids() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let new = json!({ "tag_name": "v1", "ref": "main" });
    ada.post(&format!("/projects/{project}/releases"), new).await.created();
    let payload = "link { id name url linkType directAssetPath }";
    let input = format!(r#"{AT}, tagName: "v1", name: "log", url: "https://a.test/log""#);

    let made = mutate(&ada, "releaseAssetLinkCreate", &input, payload).await["link"].clone();

    assert_eq!((&made["name"], &made["linkType"]), (&json!("log"), &json!("OTHER")));
    let twice = mutate(&ada, "releaseAssetLinkCreate", &input, payload).await;
    let taken = json!(["Name has already been taken", "Url has already been taken"]);
    assert_eq!((&twice["link"], &twice["errors"]), (&Value::Null, &taken));
    let id = format!("id: {}", made["id"]);
    let change = format!(r#"{id}, linkType: RUNBOOK, directAssetPath: "/log1""#);
    let changed = mutate(&ada, "releaseAssetLinkUpdate", &change, payload).await["link"].clone();
    assert_eq!(
        (&changed["linkType"], &changed["directAssetPath"]),
        (&json!("RUNBOOK"), &json!("/log1"))
    );
    assert_eq!(changed["url"], made["url"]);
    let reporter = app.member(project, "rea", Reporter);
    let query = format!("mutation {{ releaseAssetLinkDelete(input: {{ {id} }}) {{ errors }} }}");
    assert_eq!(refusal(&reporter, &query).await, REFUSED);
    mutate(&ada, "releaseAssetLinkDelete", &id, payload).await;
    assert_eq!(refusal(&ada, &query).await, REFUSED, "it is gone");
    let absent = format!(r#"{AT}, tagName: "v9", name: "log", url: "https://a.test/log""#);
    let absent = mutate(&ada, "releaseAssetLinkCreate", &absent, payload).await;
    assert_eq!(absent["errors"], json!(["Release with tag \"v9\" was not found"]));
}

#[actix_web::test]
async fn releases_are_paged_in_either_order_from_either_end() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    for (tag, day) in [("a", 3), ("b", 1), ("c", 2)] {
        let new = json!({ "tag_name": tag, "ref": "main", "released_at": format!("2020-01-0{day}T00:00:00Z") });
        ada.post(&format!("/projects/{project}/releases"), new).await.created();
        app.clock.advance(time::Duration::seconds(1));
    }
    let page = async |arguments: &str| {
        let fields = format!(
            "releases({arguments}) {{ count nodes {{ tagName }} pageInfo {{ startCursor endCursor \
             hasNextPage hasPreviousPage }} }}"
        );
        of_project(&ada, &fields).await["releases"].clone()
    };

    let first = page("first: 2").await;

    assert_eq!(
        (nodes(&first, "tagName"), &first["count"]),
        (vec![json!("a"), json!("c")], &json!(3))
    );
    assert_eq!(first["pageInfo"]["hasNextPage"], true);
    let rest = page(&format!("first: 2, after: {}", first["pageInfo"]["endCursor"])).await;
    assert_eq!(
        (nodes(&rest, "tagName"), &rest["pageInfo"]["hasNextPage"]),
        (vec![json!("b")], &json!(false))
    );
    let last = page("last: 2").await;
    assert_eq!(nodes(&last, "tagName"), ["c", "b"]);
    assert_eq!(last["pageInfo"]["hasPreviousPage"], true);
    let before = page(&format!("last: 2, before: {}", last["pageInfo"]["startCursor"])).await;
    assert_eq!(nodes(&before, "tagName"), ["a"]);
    assert_eq!(nodes(&page("sort: CREATED_ASC").await, "tagName"), ["a", "b", "c"]);
    let cursor = page("first: 1, sort: CREATED_DESC").await["pageInfo"]["endCursor"].clone();
    let after = page(&format!("sort: CREATED_DESC, after: {cursor}")).await;
    assert_eq!(nodes(&after, "tagName"), ["b", "a"]);
}

#[actix_web::test]
async fn guests_see_releases_without_code_and_strangers_see_none() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let path = format!("/projects/{project}/releases");
    ada.post(&path, json!({ "tag_name": "v1", "ref": "main" })).await.created();
    let fields = r#"release(tagName: "v1") { name tagPath commit { sha } links { selfUrl editUrl }
        assets { count sources { nodes { url } } } evidences { nodes { sha } } }"#;
    let guest = app.member(project, "gus", Guest);

    let shown = of_project(&guest, fields).await["release"].clone();

    assert_eq!(
        (&shown["name"], &shown["commit"], &shown["tagPath"]),
        (&json!("v1"), &Value::Null, &Value::Null)
    );
    assert_eq!(shown["assets"], json!({ "count": 0, "sources": { "nodes": [] } }));
    let page = "http://forge.test/ada/engine/-/releases/v1";
    assert_eq!(shown["links"], json!({ "selfUrl": page, "editUrl": null }));
    assert_eq!(of_project(&app.person("eve"), fields).await, Value::Null);
    let change = json!({ "releases_access_level": "disabled" });
    ada.put(&format!("/projects/{project}"), change).await.ok();
    assert_eq!(of_project(&guest, "releases { nodes { name } }").await["releases"], Value::Null);
    let dev = app.member(project, "dev", Developer);
    let create =
        format!(r#"mutation {{ releaseCreate(input: {{ {AT}, tagName: "v2" }}) {{ errors }} }}"#);
    assert_eq!(refusal(&dev, &create).await, REFUSED);
    let create = answer(&guest, &create).await;
    assert_eq!(create["errors"][0]["message"], REFUSED);
}

#[actix_web::test]
async fn a_milestone_tells_the_releases_that_its_reader_may_see() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group_with("works", json!({ "visibility": "public" })).await;
    ada.post(&format!("/groups/{group}/milestones"), json!({ "title": "1.0" })).await.created();
    for (name, visibility) in [("open", Public), ("closed", Private)] {
        let new =
            json!({ "name": name, "namespace_id": group, "visibility": visibility.to_string() });
        let made = ada.post("/projects", new).await.created();
        let project = ProjectId(made["id"].as_i64().expect("an id"));
        commit(&ada, project, "main", "one", "build: {script: x}\n").await;
        let new = json!({ "tag_name": name, "ref": "main", "milestones": ["1.0"] });
        ada.post(&format!("/projects/{project}/releases"), new).await.created();
    }
    let query = r#"{ group(fullPath: "works") { milestones { nodes { releases { nodes { tagName } } } } } }"#;
    let tags = async |person: &Person<'_>| {
        let found = ask(person, query).await["group"]["milestones"]["nodes"][0].clone();
        nodes(&found["releases"], "tagName")
    };

    assert_eq!(tags(&ada).await, ["closed", "open"]);
    assert_eq!(tags(&app.person("eve")).await, ["open"]);
}

#[actix_web::test]
async fn a_public_release_tells_its_milestones_as_rest_does() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    let path = format!("/projects/{project}");
    commit(&ada, project, "main", "one", "build: {script: x}\n").await;
    ada.post(&format!("{path}/milestones"), json!({ "title": "1.0" })).await.created();
    let new = json!({ "tag_name": "v1", "ref": "main", "milestones": ["1.0"] });
    ada.post(&format!("{path}/releases"), new).await.created();
    let fields = r#"release(tagName: "v1") { milestones { nodes { title } } }"#;
    let anyone = app.anonymous();

    let shown = of_project(&anyone, fields).await["release"]["milestones"].clone();

    assert_eq!(nodes(&shown, "title"), ["1.0"]);
    let rest = anyone.get(&format!("{path}/releases/v1")).await.ok();
    assert_eq!(rest["milestones"][0]["title"], "1.0");
    let hidden =
        json!({ "issues_access_level": "private", "merge_requests_access_level": "private" });
    ada.put(&path, hidden).await.ok();
    let shown = of_project(&anyone, fields).await["release"].clone();
    assert_eq!(shown, json!({ "milestones": null }));
    assert_eq!(anyone.get(&format!("{path}/releases/v1")).await.ok().get("milestones"), None);
}

#[actix_web::test]
async fn a_list_of_releases_costs_the_same_for_any_number() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let path = format!("/projects/{project}");
    let add = async |tag: &str| {
        let title = json!({ "title": tag });
        ada.post(&format!("{path}/milestones"), title).await.created();
        let links = json!([{ "name": tag, "url": "https://a.test/x" }]);
        let new = json!({ "tag_name": tag, "ref": "main", "milestones": [tag], "assets": { "links": links } });
        ada.post(&format!("{path}/releases"), new).await.created();
    };
    let cost = async || {
        let fields = "releases { nodes { author { username } commit { title } milestones { nodes { title } } \
                      assets { count links { nodes { url } } sources { nodes { url } } } } }";
        let by_graphql = app.cost(async || drop(of_project(&ada, fields).await)).await;
        let list = format!("{path}/releases");
        (by_graphql, app.cost(async || drop(ada.get(&list).await.ok())).await)
    };
    add("v1").await;
    let alone = cost().await;
    for tag in ["v2", "v3", "v4"] {
        add(tag).await;
    }

    assert_eq!(cost().await, alone);
}
