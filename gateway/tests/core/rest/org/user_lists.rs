//! Lists of people, and finding them.

use kernel::Visibility::Public;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn a_list_shows_whom_the_filters_let_through() {
    let app = TestApp::new();
    let root = app.admin();
    for name in ["ada", "bob", "cara"] {
        app.person(name);
    }
    let bob = app.user("bob").id;
    root.post(&format!("/users/{bob}/block"), json!({})).await.created();

    assert_eq!(root.get("/users?search=AR").await.each("username"), ["cara"]);
    assert_eq!(root.get("/users?username=BOB").await.each("username"), ["bob"]);
    assert_eq!(root.get("/users?blocked=true").await.each("username"), ["bob"]);
    assert_eq!(root.get("/users?admins=true").await.each("username"), ["root"]);
    assert_eq!(
        root.get("/users?active=true&order_by=name&sort=asc").await.each("name"),
        ["ada", "cara", "root"]
    );
    assert_eq!(root.get("/users?without_projects=true").await.each("id").len(), 4);
    assert_eq!(root.get("/users?search=cara@example.com").await.each("username"), ["cara"]);
    assert!(app.person("ada").get("/users?search=cara@example.com").await.each("id").is_empty());
}

#[actix_web::test]
async fn a_list_comes_in_pages_and_shows_others_little() {
    let app = TestApp::new();
    for name in ["ada", "bob", "cara"] {
        app.person(name);
    }

    let page = app.person("ada").get("/users?per_page=2&page=2&sort=asc").await;

    assert_eq!(page.header("x-total"), Some("3"));
    assert_eq!(page.body[0]["username"], "ada", "others always see the newest first");
    assert!(page.body[0].get("email").is_none());
    let wrong = json!({ "error": "order_by does not have a valid value" });
    app.admin().get("/users?order_by=email").await.refused(400, wrong);
    let wrong = json!({ "error": "extern_uid, provider provide all or none of parameters" });
    app.admin().get("/users?provider=x").await.refused(400, wrong);
}

#[actix_web::test]
async fn people_without_an_account_find_only_whom_they_can_name() {
    let app = TestApp::new();
    let ada = app.user(&app.person("ada").username).id;
    let nobody = app.anonymous();

    assert_eq!(nobody.get("/users?username=ada").await.each("username"), ["ada"]);
    let told = json!({ "message": "403 Forbidden - Not authorized to access /api/v4/users" });
    nobody.get("/users").await.refused(403, told);
    let told = json!({ "message": "403 Forbidden - Not authorized!" });
    nobody.get(&format!("/users/{ada}")).await.refused(403, told);
    let absent = json!({ "message": "404 User Not Found" });
    app.person("ada").get("/users/999").await.refused(404, absent);
}

#[actix_web::test]
async fn an_address_is_found_whole_by_those_who_may_see_it() {
    let app = TestApp::new();
    let (root, bob) = (app.admin(), app.person("bob"));
    app.person("ada");
    let found = async |who: &crate::support::Person<'_>, term: &str| {
        who.get(&format!("/users?search={term}")).await.each("username")
    };

    assert_eq!(found(&root, "ADA@example.com").await, ["ada"]);
    assert!(found(&root, "ada@example").await.is_empty());
    assert!(found(&bob, "ada@example.com").await.is_empty());
    app.show_publicly("ada", "ada@example.com");
    assert_eq!(found(&bob, "Ada@example.com").await, ["ada"]);
    assert!(found(&bob, "bob@example.com").await.is_empty(), "not even one's own");
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let root = app.admin();
    app.clock.advance(time::Duration::microseconds(1_500));
    app.person("cara");

    assert_eq!(root.counts_until("/users?search=cara", "created_before").await, [1, 0]);
}

#[actix_web::test]
async fn administrators_narrow_a_list_and_others_see_it_whole() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = app.project(&ada, "tool", kernel::Visibility::Public);
    app.member(project, "bob", kernel::AccessLevel::Guest);
    app.clock.advance(time::Duration::days(1));
    app.person("cara");
    let since = app.clock.now().iso();

    let recent = format!("/users?created_after={since}");
    assert_eq!(root.get(&recent).await.each("username"), ["cara"]);
    assert_eq!(ada.get(&recent).await.each("username").len(), 4);
    let before = format!("/users?created_before={since}&order_by=username&sort=asc");
    assert_eq!(root.get(&before).await.each("username"), ["ada", "bob", "cara", "root"]);
    let without = "/users?without_projects=true&sort=asc";
    assert_eq!(root.get(without).await.each("username"), ["root", "cara"]);
    for order in ["id", "name", "username", "created_at", "updated_at"] {
        let up = root.get(&format!("/users?order_by={order}&sort=asc")).await.each("id");
        let mut down = root.get(&format!("/users?order_by={order}&sort=desc")).await.each("id");
        down.reverse();
        assert_eq!(up, down, "{order}");
    }
}

#[actix_web::test]
async fn a_search_finds_parts_of_names_in_every_order() {
    let app = TestApp::new();
    let root = app.admin();
    for (username, name) in [("ada", "Ada King"), ("kingdom", "Zoe"), ("bob", "Bob")] {
        let new = org::user::actions::NewUser {
            name: name.to_owned(),
            ..org::user::actions::NewUser::named(username)
        };
        app.someone(&new, &[]);
    }

    assert_eq!(root.get("/users?search=KING").await.each("username"), ["kingdom", "ada"]);
    let by_name = root.get("/users?search=king&order_by=name&sort=asc").await;
    assert_eq!(by_name.header("x-total"), Some("2"));
    assert_eq!(by_name.each("username"), ["ada", "kingdom"]);
    assert_eq!(root.get("/users?search=ada%20king").await.each("username"), ["ada"]);
    assert!(root.get("/users?search=100%25").await.each("id").is_empty());
    assert_eq!(root.get("/users?search=%22&active=true").await.status, 200);
}

#[actix_web::test]
async fn nobody_without_an_account_finds_anybody_where_nothing_is_public() {
    let app = TestApp::new();
    let root = app.admin();
    assert_eq!(app.anonymous().get("/users?username=root").await.each("username"), ["root"]);

    let only = json!({ "restricted_visibility_levels": ["public"] });
    root.put("/application/settings", only).await.ok();

    let told = json!({ "message": "403 Forbidden - Not authorized to access /api/v4/users" });
    app.anonymous().get("/users?username=root").await.refused(403, told);
}

#[actix_web::test]
async fn a_list_is_narrowed_by_what_administrators_noted() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let note = format!("/users/{}/custom_attributes/desk", app.user("ada").id);
    root.put(&note, json!({ "value": "12" })).await.ok();

    let found =
        root.get("/users?custom_attributes[desk]=12&with_custom_attributes=true").await.ok();
    assert_eq!(found[0]["custom_attributes"], json!([{ "key": "desk", "value": "12" }]));
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    assert!(root.get("/users?custom_attributes[desk]=13").await.each("id").is_empty());
    let path = format!("/users/{}?with_custom_attributes=true", app.user("ada").id);
    assert_eq!(root.get(&path).await.ok()["custom_attributes"][0]["value"], "12");
    assert!(ada.get(&path).await.ok().get("custom_attributes").is_none());
    let others = ada.get("/users?custom_attributes[desk]=13").await;
    assert_eq!(others.each("username").len(), 2, "it means nothing for others");
}

#[actix_web::test]
async fn nobody_looks_everybody_up_one_by_one() {
    let limits = gateway::app::Limits { people_per_ten_minutes: 2, ..Default::default() };
    let app = TestApp::with_limits(limits);
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let path = format!("/users/{}", app.user("bob").id);
    for _ in 0..2 {
        ada.get(&path).await.ok();
    }

    let refused = json!({ "message": { "error": "This endpoint has been requested too many times. Try again later." } });
    ada.get(&path).await.refused(429, refused);
    bob.get(&path).await.ok();
    ada.get("/users").await.ok();
}

#[actix_web::test]
async fn whose_last_role_has_ended_is_without_projects() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = app.project(&ada, "tool", kernel::Visibility::Private);
    let bob = app.id_of("bob");
    let role = json!({ "user_id": bob, "access_level": 30, "expires_at": "2026-03-10" });
    ada.post(&format!("/projects/{project}/members"), role).await.created();
    let without = "/users?without_projects=true&username=bob";
    assert!(root.get(without).await.each("id").is_empty());

    app.clock.advance(time::Duration::days(400));

    assert_eq!(root.get(without).await.each("id"), [json!(bob)]);
}

#[actix_web::test]
async fn outsiders_and_machines_are_chosen_or_left_out() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let out = json!({ "username": "out", "name": "Out", "email": "out@x.test", "external": true,
        "force_random_password": true });
    root.post("/users", out).await.created();
    let project = app.project(&ada, "tool", kernel::Visibility::Private);
    let token = json!({ "name": "robot", "scopes": ["api"] });
    ada.post(&format!("/projects/{project}/access_tokens"), token).await.created();

    for person in [&root, &ada] {
        let found = async |query: &str| {
            let mut names = person.get(&format!("/users?{query}")).await.each("name");
            names.sort_by_key(ToString::to_string);
            names
        };
        assert_eq!(found("").await, ["Out", "ada", "robot", "root"]);
        assert_eq!(found("external=true").await, ["Out"]);
        assert_eq!(found("exclude_external=true").await, ["ada", "robot", "root"]);
        assert_eq!(found("without_project_bots=true").await, ["Out", "ada", "root"]);
        // What is false asks for nothing.
        let no = "external=false&exclude_external=false&without_project_bots=false&active=false&blocked=false";
        assert_eq!(found(no).await.len(), 4);
    }
}

#[actix_web::test]
async fn administrators_read_the_same_of_people_in_lists_as_one_by_one() {
    let app = TestApp::new();
    let root = app.admin();
    let ada = app.id_of("ada");

    let listed = root.get("/users?username=ada").await.ok()[0].clone();

    assert_eq!((&listed["sign_in_count"], &listed["trial"]), (&json!(0), &json!(false)));
    assert!(listed.get("plan").is_some());
    assert_eq!(listed, root.get(&format!("/users/{ada}")).await.ok());
}

#[actix_web::test]
async fn bots_have_a_namespace_in_which_they_make_nothing() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let tokens = format!("/projects/{}/access_tokens", app.project(&ada, "tool", Public));
    let wanted = json!({ "name": "ci", "scopes": ["api"] });
    let token = ada.post(&tokens, wanted).await.created();

    let record = root.get(&format!("/users/{}", token["user_id"])).await.ok();

    assert!(record["namespace_id"].is_i64());
    assert_eq!(
        (&record["projects_limit"], &record["can_create_group"]),
        (&json!(0), &json!(false))
    );
    let bot = app.anonymous().sending("PRIVATE-TOKEN", token["token"].as_str().expect("a secret"));
    assert_eq!(bot.post("/projects", json!({ "name": "own" })).await.status, 403);
}
