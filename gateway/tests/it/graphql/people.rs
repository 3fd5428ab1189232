//! Users, namespaces, groups and members by GraphQL.

use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::support::TestApp;

#[actix_web::test]
async fn a_caller_learns_who_they_are() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.user("ada").id;
    let query = "{ currentUser { id username name state bot webUrl webPath groupCount
        userPermissions { createSnippet } namespace { id fullPath } } }";

    let own = ask(&ada, query).await["currentUser"].clone();
    assert_eq!(own["id"], format!("gid://gitlab/User/{id}"));
    assert_eq!((&own["username"], &own["state"]), (&json!("ada"), &json!("active")));
    assert_eq!(own["webUrl"], "http://forge.test/ada");
    assert_eq!((&own["webPath"], &own["bot"]), (&json!("/ada"), &json!(false)));
    assert_eq!((&own["groupCount"], &own["namespace"]["fullPath"]), (&json!(0), &json!("ada")));
    assert_eq!(own["userPermissions"], json!({ "createSnippet": false }));
    assert_eq!(ask(&app.anonymous(), query).await, json!({ "currentUser": null }));
}

#[actix_web::test]
async fn somebody_is_found_by_id_or_by_name_and_not_by_both() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.id_of("bob"));
    let by_name = ask(&ada, r#"{ user(username: "BOB") { id } }"#).await;
    let query = format!(r#"{{ user(id: "gid://gitlab/User/{bob}") {{ username }} }}"#);
    let by_id = ask(&ada, &query).await;
    assert_eq!(by_name["user"]["id"], format!("gid://gitlab/User/{bob}"));
    assert_eq!(by_id["user"]["username"], "bob");
    assert_eq!(ask(&ada, r#"{ user(username: "zoe") { id } }"#).await["user"], Value::Null);
    assert_eq!(
        refusal(&ada, "{ user { id } }").await,
        "One and only one of [id, username] arguments is required."
    );
    assert_eq!(refusal(&app.anonymous(), r#"{ user(username: "bob") { id } }"#).await, REFUSED);
}

#[actix_web::test]
async fn users_are_listed_by_names_ids_and_words() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.id_of("bob"));
    app.person("bobby");
    let named = ask(&ada, r#"{ users(usernames: ["BOB", "zoe"]) { count nodes { username } } }"#);
    let named = named.await["users"].clone();
    assert_eq!((&named["count"], nodes(&named, "username")), (&json!(1), vec![json!("bob")]));
    let query =
        format!(r#"{{ users(ids: ["gid://gitlab/User/{bob}"]) {{ nodes {{ username }} }} }}"#);
    assert_eq!(nodes(&ask(&ada, &query).await["users"], "username"), ["bob"]);
    let found = ask(&ada, r#"{ users(search: "bobb") { nodes { username } } }"#).await;
    assert_eq!(nodes(&found["users"], "username"), ["bobby"]);
    let both = r#"{ users(usernames: ["bob"], ids: ["gid://gitlab/User/1"]) { count } }"#;
    assert_eq!(refusal(&ada, both).await, "Provide either a list of usernames or ids");
    assert_eq!(refusal(&app.anonymous(), "{ users { count } }").await, REFUSED);
}

#[actix_web::test]
async fn a_page_of_users_goes_on_after_its_cursor() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for name in ["bob", "cleo", "dora"] {
        app.person(name);
    }
    let page = |more: &str| {
        format!(
            "{{ users(sort: CREATED_ASC, search: \"\" {more}) \
             {{ nodes {{ username }} pageInfo {{ endCursor hasNextPage hasPreviousPage }} }} }}"
        )
    };
    let first = ask(&ada, &page("first: 2")).await["users"].clone();
    assert_eq!(first["pageInfo"]["hasNextPage"], true);
    let cursor = first["pageInfo"]["endCursor"].as_str().expect("a cursor").to_owned();
    let next = ask(&ada, &page(&format!("first: 2, after: \"{cursor}\""))).await["users"].clone();
    let last = ask(&ada, &page("last: 1")).await["users"].clone();
    assert_eq!(next["pageInfo"]["hasPreviousPage"], true);
    let all = ask(&ada, &page("")).await["users"].clone();
    let all = nodes(&all, "username");
    assert_eq!(nodes(&first, "username"), all[..2]);
    assert_eq!(nodes(&next, "username"), all[2..4]);
    assert_eq!(nodes(&last, "username"), all[all.len() - 1..]);
}

#[actix_web::test]
async fn a_group_shows_its_settings_projects_and_subgroups() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = ada.group("orchid", None).await;
    ada.group("leaf", Some(top)).await;
    let site = json!({ "name": "Site", "path": "site", "namespace_id": top });
    ada.post("/projects", site).await.created();
    let query = r#"{ group(fullPath: "ORCHID") { id name fullPath visibility webUrl lfsEnabled
        sharedRunnersSetting userPermissions { readGroup createProjects }
        projects { count nodes { fullPath group { id } namespace { fullPath } } }
        descendantGroups { nodes { fullPath parent { fullPath } } }
        rootStorageStatistics { storageSize } } }"#;

    let group = ask(&ada, query).await["group"].clone();
    assert_eq!(group["id"], format!("gid://gitlab/Group/{top}"));
    assert_eq!(group["webUrl"], "http://forge.test/groups/orchid");
    assert_eq!(group["sharedRunnersSetting"], "ENABLED");
    assert_eq!(group["userPermissions"], json!({ "readGroup": true, "createProjects": true }));
    assert_eq!(nodes(&group["projects"], "fullPath"), ["orchid/site"]);
    assert_eq!(group["projects"]["nodes"][0]["group"]["id"], group["id"]);
    assert_eq!(nodes(&group["descendantGroups"], "fullPath"), ["orchid/leaf"]);
    assert_eq!(group["descendantGroups"]["nodes"][0]["parent"]["fullPath"], "orchid");
    assert_eq!(group["rootStorageStatistics"]["storageSize"], 0.0);
    let eve = app.person("eve");
    assert_eq!(ask(&eve, query).await, json!({ "group": null }));
}

#[actix_web::test]
async fn members_are_chosen_by_relation_role_and_order() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = ada.group("orchid", None).await;
    let leaf = ada.group("leaf", Some(top)).await;
    ada.adds("bob", 30, &format!("/groups/{top}")).await;
    ada.adds("cleo", 20, &format!("/groups/{leaf}")).await;
    let listed = |arguments: &str| {
        format!(
            "{{ group(fullPath: \"orchid/leaf\") {{ groupMembers({arguments}) {{ nodes {{ \
             user {{ username }} accessLevel {{ integerValue stringValue }} group {{ fullPath }} }} }} }} }}"
        )
    };
    let names = |answer: Value| -> Vec<Value> {
        let found = answer["group"]["groupMembers"]["nodes"].as_array().cloned();
        found.expect("members").iter().map(|one| one["user"]["username"].clone()).collect()
    };
    let all = ask(&ada, &listed("sort: ACCESS_LEVEL_DESC")).await;
    assert_eq!(names(all), ["ada", "bob", "cleo"]);
    assert_eq!(
        names(ask(&ada, &listed("relations: [INHERITED], accessLevels: [DEVELOPER]")).await),
        ["bob"]
    );
    let direct = ask(&ada, &listed("relations: [DIRECT], search: \"cle\"")).await;
    let cleo = direct["group"]["groupMembers"]["nodes"][0].clone();
    assert_eq!(cleo["accessLevel"], json!({ "integerValue": 20, "stringValue": "REPORTER" }));
    assert_eq!(cleo["group"]["fullPath"], "orchid/leaf");
    let below = ask(&ada, &listed("relations: [DIRECT]").replace("orchid/leaf", "orchid")).await;
    assert_eq!(names(below), ["ada", "bob"]);
}

#[actix_web::test]
async fn an_owner_changes_who_runs_the_jobs_of_a_group() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = ada.group("orchid", None).await;
    ada.adds("bob", 40, &format!("/groups/{top}")).await;
    let input = r#"fullPath: "orchid", sharedRunnersSetting: DISABLED_AND_OVERRIDABLE"#;
    let changed = mutate(&ada, "groupUpdate", input, "group { sharedRunnersSetting }").await;
    assert_eq!(changed["group"]["sharedRunnersSetting"], "DISABLED_AND_OVERRIDABLE");
    let kept = ada.get("/groups/orchid").await.ok()["shared_runners_setting"].clone();
    assert_eq!(kept, "disabled_and_overridable");
    let foreign = format!("mutation {{ groupUpdate(input: {{ {input} }}) {{ errors }} }}");
    assert_eq!(refusal(&bob, &foreign).await, REFUSED);
}

#[actix_web::test]
async fn a_list_of_users_costs_the_same_however_long() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let query =
        "{ users(first: 50) { nodes { username bot publicEmail location status { message } } } }";
    let count = async || app.cost(async || drop(ask(&ada, query).await)).await;
    app.person("bob");
    let few = count().await;
    for name in ["cleo", "dora", "emil"] {
        app.person(name);
    }
    assert_eq!(count().await, few);
}
