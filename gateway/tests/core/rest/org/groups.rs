//! Groups.

use kernel::{AccessLevel::Maintainer, Visibility};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

pub(super) async fn group(owner: &Person<'_>, path: &str, more: Value) -> i64 {
    let mut fields = json!({ "name": path, "path": path });
    for (name, value) in more.as_object().expect("fields") {
        fields[name] = value.clone();
    }
    owner.post("/groups", fields).await.created()["id"].as_i64().expect("an id")
}

#[actix_web::test]
async fn whoever_makes_a_group_owns_it() {
    let app = TestApp::new();
    let ada = app.person("ada");

    let made = ada
        .post("/groups", json!({ "name": "Analysts", "path": "analysts", "description": "count" }))
        .await
        .created();
    let id = &made["id"];

    assert_eq!((&made["visibility"], &made["full_name"]), (&json!("private"), &json!("Analysts")));
    assert_eq!(
        (&made["default_branch_protection"], &made["two_factor_grace_period"]),
        (&json!(2), &json!(48))
    );
    assert_eq!(made["web_url"], "http://forge.test/groups/analysts");
    assert_eq!(ada.get("/groups/ANALYSTS").await.ok()["id"], *id);
    assert_eq!(ada.get(&format!("/groups/{id}/members")).await.each("access_level"), [50]);
    let hidden = json!({ "message": "404 Group Not Found" });
    app.person("bob").get("/groups/analysts").await.refused(404, hidden);
}

#[actix_web::test]
async fn what_is_wrong_with_a_group_is_told_in_one_text() {
    let app = TestApp::new();
    let ada = app.person("ada");
    group(&ada, "taken", json!({})).await;
    let told = async |name: &str, path: &str| {
        let answer = ada.post("/groups", json!({ "name": name, "path": path })).await;
        assert_eq!(answer.status, 400);
        answer.body["message"].as_str().unwrap_or_default().to_owned()
    };

    assert_eq!(
        told("x", "TAKEN").await,
        r#"Failed to save group {:path=>["has already been taken"]}"#
    );
    assert_eq!(
        told("x", "Ada").await,
        r#"Failed to save group {:path=>["has already been taken"]}"#
    );
    assert_eq!(
        told("x", "api").await,
        r#"Failed to save group {:path=>["api is a reserved name"]}"#
    );
    assert!(
        told("<x>", "fine").await.starts_with("Failed to save group {:name=>[\"can contain only")
    );
    let missing = json!({ "error": "name is missing, path is missing" });
    ada.post("/groups", json!({})).await.refused(400, missing);
}

#[actix_web::test]
async fn a_subgroup_is_no_more_visible_than_its_parent() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let parent = group(&ada, "top", json!({ "visibility": "internal" })).await;

    let inner = ada
        .post("/groups", json!({ "name": "in", "path": "in", "parent_id": parent }))
        .await
        .created();
    let open = json!({ "name": "o", "path": "op", "parent_id": parent, "visibility": "public" });
    let refused = ada.post("/groups", open).await;

    assert_eq!((&inner["full_path"], &inner["visibility"]), (&json!("top/in"), &json!("private")));
    let text = refused.body["message"].as_str().unwrap_or_default();
    assert!(
        text.contains("public is not allowed since the parent group has a internal visibility."),
        "{text}"
    );
    let foreign = json!({ "name": "x", "path": "xx", "parent_id": parent });
    assert_eq!(bob.post("/groups", foreign).await.status, 403);
    let absent = json!({ "name": "x", "path": "xx", "parent_id": 999 });
    assert_eq!(bob.post("/groups", absent).await.status, 404);
}

#[actix_web::test]
async fn maintainers_make_subgroups_where_the_group_lets_them() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let parent = group(&ada, "top", json!({})).await;
    let fields = json!({ "user_id": app.user("bob").id, "access_level": Maintainer });
    ada.post(&format!("/groups/{parent}/members"), fields).await.created();
    let inner = |path: &str| json!({ "name": path, "path": path, "parent_id": parent });

    assert_eq!(bob.post("/groups", inner("one")).await.status, 201);
    ada.put("/groups/top", json!({ "subgroup_creation_level": "owner" })).await.ok();
    assert_eq!(bob.post("/groups", inner("two")).await.status, 403);
}

#[actix_web::test]
async fn a_list_shows_what_each_caller_may_know_of() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    for (path, visibility) in [("closed", "private"), ("inside", "internal"), ("open", "public")] {
        group(&ada, path, json!({ "visibility": visibility })).await;
    }

    assert_eq!(ada.get("/groups").await.each("path"), ["closed", "inside", "open"]);
    assert!(bob.get("/groups").await.each("path").is_empty());
    assert_eq!(bob.get("/groups?all_available=true").await.each("path"), ["inside", "open"]);
    assert_eq!(app.anonymous().get("/groups").await.each("path"), ["open"]);
    assert_eq!(app.admin().get("/groups").await.each("path").len(), 3);
    assert!(app.admin().get("/groups?owned=true").await.each("path").is_empty());
    assert_eq!(
        ada.get("/groups?min_access_level=50&sort=desc").await.each("path"),
        ["open", "inside", "closed"]
    );
}

#[actix_web::test]
async fn a_list_is_searched_narrowed_and_ordered() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "research", json!({})).await;
    let inner = group(&ada, "ai", json!({ "parent_id": top })).await;
    group(&ada, "sales", json!({ "name": "Zales" })).await;

    assert_eq!(ada.get("/groups?search=SEAR").await.each("full_path"), ["research/ai", "research"]);
    assert!(ada.get("/groups?search=se").await.each("path").is_empty(), "short terms match whole");
    assert_eq!(ada.get(&format!("/groups/{top}/subgroups?search=ai")).await.each("path"), ["ai"]);
    assert_eq!(
        ada.get("/groups?top_level_only=true&order_by=path").await.each("path"),
        ["research", "sales"]
    );
    assert_eq!(
        ada.get(&format!("/groups?skip_groups={top},{inner}")).await.each("path"),
        ["sales"]
    );
    assert_eq!(ada.get("/groups?order_by=id&sort=desc&per_page=1").await.each("path"), ["sales"]);
    assert_eq!(ada.get("/groups/research/descendant_groups").await.each("path"), ["ai"]);
    let wrong = json!({ "error": "min_access_level does not have a valid value" });
    ada.get("/groups?min_access_level=15").await.refused(400, wrong);
}

#[actix_web::test]
async fn people_without_an_account_follow_links_from_page_to_page() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for path in ["one", "two", "three"] {
        group(&ada, path, json!({ "visibility": "public" })).await;
    }
    let nobody = app.anonymous();

    let mut seen = Vec::new();
    let mut next = Some("/groups?pagination=keyset&per_page=2&order_by=name&sort=asc".to_owned());
    while let Some(path) = next {
        let page = nobody.get(&path).await;
        let link = page.header("link").map(str::to_owned);
        seen.extend(page.each("path"));
        next = link.map(|link| {
            link.trim_start_matches("<http://forge.test/api/v4")
                .split('>')
                .next()
                .unwrap_or_default()
                .to_owned()
        });
    }

    assert_eq!(seen, ["one", "three", "two"]);
    assert_eq!(nobody.get("/groups?pagination=keyset&order_by=id").await.status, 405);
    assert_eq!(nobody.get("/groups?page=501&per_page=100").await.status, 405);
    assert_eq!(nobody.get("/groups?pagination=keyset&cursor=x").await.status, 400);
}

#[actix_web::test]
async fn a_renamed_group_takes_everything_inside_along() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "old", json!({})).await;
    let inner = group(&ada, "in", json!({ "parent_id": top })).await;
    let project = app.write(move |tx| {
        let new = org::project::creation::NewProject {
            namespace_id: kernel::ids::NamespaceId(inner),
            creator_id: kernel::ids::UserId(1),
            name: "tool".to_owned(),
            path: "tool".to_owned(),
            description: None,
            visibility: Visibility::Private,
        };
        org::project::creation::insert(tx, &new)
    });

    let changed = ada.put("/groups/old", json!({ "path": "new", "name": "New" })).await.ok();

    assert_eq!(changed["full_path"], "new");
    assert_eq!(ada.get("/groups/new%2Fin").await.ok()["full_name"], "New / in");
    assert_eq!(ada.get("/groups/old").await.status, 404);
    for path in ["new%2Fin%2Ftool", "old%2Fin%2Ftool"] {
        assert_eq!(ada.get(&format!("/projects/{path}/members/all")).await.status, 200, "{path}");
    }
    let found =
        app.state.db.read_blocking(|tx| org::project::store::ProjectStore::project(tx, project.id));
    assert_eq!(found.expect("the project").full_name, "New / in / tool");
}

#[actix_web::test]
async fn a_group_shows_no_less_than_what_is_inside() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({ "visibility": "public" })).await;
    group(&ada, "in", json!({ "parent_id": top, "visibility": "public" })).await;

    let refused = json!({ "message": { "visibility_level": ["private is not allowed since there are sub-groups with higher visibility."] } });
    ada.put("/groups/top", json!({ "visibility": "private" })).await.refused(400, refused);
    let changed = ada
        .put("/groups/top", json!({ "lfs_enabled": false, "mentions_disabled": true }))
        .await
        .ok();
    assert_eq!(
        (&changed["lfs_enabled"], &changed["mentions_disabled"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(app.person("bob").put("/groups/top", json!({ "name": "x" })).await.status, 403);
}

#[actix_web::test]
async fn a_removed_group_is_gone_with_everything_inside_and_its_path_is_free() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "in", json!({ "parent_id": top })).await;

    let since = "Mon, 01 Jan 1990 00:00:00 GMT";
    assert_eq!(ada.sending("If-Unmodified-Since", since).delete("/groups/top").await.status, 412);
    assert_eq!(ada.delete("/groups/top").await.with(202), json!({ "message": "202 Accepted" }));

    assert_eq!(ada.get(&format!("/groups/{inner}")).await.status, 404);
    assert!(ada.get("/groups").await.each("id").is_empty());
    group(&ada, "top", json!({})).await;
}

#[actix_web::test]
async fn an_old_address_leads_nowhere_once_somebody_else_has_it() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = group(&ada, "top", json!({ "visibility": "public" })).await;
    let new = json!({ "path": "engine", "namespace_id": top, "visibility": "public" });
    ada.post("/projects", new).await.created();
    ada.put("/groups/top", json!({ "path": "peak" })).await.ok();
    assert_eq!(bob.get("/projects/top%2Fengine").await.status, 200);

    group(&bob, "top", json!({ "visibility": "public" })).await;

    assert_eq!(bob.get("/projects/top%2Fengine").await.status, 404);
    assert_eq!(bob.get("/projects/peak%2Fengine").await.status, 200);
}

#[actix_web::test]
async fn a_private_group_above_ones_own_is_there_by_id_as_in_the_list() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    ada.post("/projects", json!({ "path": "secret", "namespace_id": top })).await.created();
    ada.adds("bob", 30, &format!("/groups/{inner}")).await;

    assert_eq!(bob.get("/groups").await.each("id"), [json!(inner), json!(top)]);
    let shell = bob.get(&format!("/groups/{top}")).await.ok();
    assert_eq!((&shell["name"], &shell["projects"]), (&json!("top"), &json!([])));
    let forbidden = json!({ "message": "403 Forbidden" });
    bob.get(&format!("/groups/{top}/members")).await.refused(403, forbidden.clone());
    bob.get(&format!("/groups/{top}/wikis")).await.refused(403, forbidden.clone());
    bob.put(&format!("/groups/{top}"), json!({ "description": "x" })).await.refused(403, forbidden);
    assert_eq!(bob.get(&format!("/groups/{top}/subgroups")).await.each("id"), [json!(inner)]);
    assert_eq!(app.person("eve").get(&format!("/groups/{top}")).await.status, 404);
}
