//! Protected branches: `gateway/src/rest/repo/protected_branches.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

fn set_up(app: &TestApp) -> (ProjectId, Person<'_>) {
    let owner = app.person("olga");
    let project = app.project(&owner, "one", Visibility::Private);
    (project, app.member(project, "mia", Maintainer))
}

fn levels(body: &Value, kind: &str) -> Vec<Value> {
    let records = body[format!("{kind}_access_levels")].as_array().expect("a list");
    records.iter().map(|one| json!([one["access_level"], one["user_id"]])).collect()
}

async fn protect(person: &Person<'_>, project: ProjectId, body: Value) -> Answer {
    person.post(&format!("/projects/{project}/protected_branches"), body).await
}

#[actix_web::test]
async fn a_protected_branch_lets_maintainers_in_unless_told_otherwise() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);

    let body = protect(&mia, project, json!({ "name": "main" })).await.created();

    let one = |id| {
        json!([{ "id": id, "access_level": 40, "access_level_description": "Maintainers",
                 "user_id": null, "group_id": null }])
    };
    let expected = json!({
        "id": 1, "name": "main", "push_access_levels": one(1), "merge_access_levels": one(2),
        "allow_force_push": false, "unprotect_access_levels": one(3),
        "code_owner_approval_required": false,
    });
    assert_eq!(body, expected);
    let shown = mia.get(&format!("/projects/{project}/protected_branches/main")).await.ok();
    assert_eq!(shown, expected);
}

#[actix_web::test]
async fn every_level_and_holder_that_is_asked_for_is_kept() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let dan = app.member(project, "dan", Developer);
    let dan = app.user(&dan.username);

    let body = json!({
        "name": "*-stable", "push_access_level": 0, "merge_access_level": 30,
        "unprotect_access_level": 60, "allow_force_push": true,
        "allowed_to_push": [{ "user_id": dan.id }], "allowed_to_merge": [{ "access_level": 60 }],
        "code_owner_approval_required": true,
    });
    let body = protect(&mia, project, body).await.created();

    assert_eq!(levels(&body, "push"), [json!([0, null]), json!([null, dan.id])]);
    assert_eq!(levels(&body, "merge"), [json!([30, null]), json!([60, null])]);
    assert_eq!(levels(&body, "unprotect"), [json!([60, null])]);
    let told: Vec<&Value> = body["push_access_levels"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["access_level_description"])
        .collect();
    assert_eq!(told, ["No one", &dan.name]);
    assert_eq!(body["allow_force_push"], true);
    assert_eq!(body["code_owner_approval_required"], true);
}

#[actix_web::test]
async fn what_cannot_be_protected_is_told() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    protect(&mia, project, json!({ "name": "main" })).await.created();
    let stranger = app.person("sam");
    let stranger = app.user(&stranger.username).id;
    let error = |text: &str| json!({ "error": text });
    let message = |texts: Value| json!({ "message": texts });
    let none_given = "allowed_to_push[0][user_id], allowed_to_push[0][group_id], allowed_to_push[0][access_level] are missing, exactly one parameter must be provided";
    let both =
        "allowed_to_push[0][user_id], allowed_to_push[0][access_level] are mutually exclusive";
    let no_hashes =
        "allowed_to_push is invalid, allowed_to_merge is invalid, allowed_to_unprotect is invalid";

    for (body, status, expected) in [
        (json!({}), 400, error("name is missing")),
        (
            json!({ "name": "x", "push_access_level": 20 }),
            400,
            error("push_access_level does not have a valid value"),
        ),
        (
            json!({ "name": "x", "unprotect_access_level": 0 }),
            400,
            error("unprotect_access_level does not have a valid value"),
        ),
        (
            json!({ "name": "x", "allow_force_push": "maybe" }),
            400,
            error("allow_force_push is invalid"),
        ),
        (json!({ "name": "x", "allowed_to_push": [{}] }), 400, error(none_given)),
        (
            json!({ "name": "x", "allowed_to_push": [{ "user_id": 1, "access_level": 30 }] }),
            400,
            error(both),
        ),
        (
            json!({ "name": "x", "allowed_to_push": [{ "access_level": 50 }] }),
            400,
            error("allowed_to_push[0][access_level] does not have a valid value"),
        ),
        (
            json!({ "name": "x", "allowed_to_push": [1], "allowed_to_merge": ["a"],
                 "allowed_to_unprotect": [30] }),
            400,
            error(no_hashes),
        ),
        (json!({ "name": "main" }), 409, message(json!("Protected branch 'main' already exists"))),
        (json!({ "name": " " }), 422, message(json!(["Name can't be blank"]))),
        (
            json!({ "name": "x", "allowed_to_push": [{ "user_id": stranger }],
                 "allowed_to_merge": [{ "group_id": 1 }] }),
            422,
            message(json!([
                "Push access levels user is not a member of the project",
                "Merge access levels group does not have access to the project"
            ])),
        ),
    ] {
        protect(&mia, project, body).await.refused(status, expected);
    }
    let names = mia.get(&format!("/projects/{project}/protected_branches")).await.each("name");
    assert_eq!(names, ["main"]);
}

#[actix_web::test]
async fn two_equal_entries_of_one_request_are_both_kept() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);

    let twice = json!([{ "access_level": 30 }, { "access_level": 30 }]);
    let body = protect(&mia, project, json!({ "name": "x", "allowed_to_push": twice })).await;

    assert_eq!(levels(&body.created(), "push"), [json!([30, null]), json!([30, null])]);
}

#[actix_web::test]
async fn the_list_is_searched_and_paged() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    for name in ["main", "*-stable", "re_lease", "Main-2", "release"] {
        protect(&mia, project, json!({ "name": name })).await.created();
    }
    let list = |query: &str| format!("/projects/{project}/protected_branches?{query}");

    assert_eq!(mia.get(&list("search=main")).await.each("name"), ["main", "Main-2"]);
    assert_eq!(mia.get(&list("search=*")).await.each("name"), ["*-stable"]);
    assert_eq!(mia.get(&list("search=_")).await.each("name"), ["re_lease"]);
    let second = mia.get(&list("per_page=2&page=2")).await;
    assert_eq!(second.header("x-total"), Some("5"));
    assert_eq!(second.header("x-next-page"), Some("3"));
    assert_eq!(second.each("name"), ["re_lease", "Main-2"]);
    mia.get(&list("per_page=many")).await.refused(400, json!({ "error": "per_page is invalid" }));
}

#[actix_web::test]
async fn a_change_adds_sets_and_removes_records() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let dan = app.member(project, "dan", Developer);
    let dan = app.user(&dan.username).id;
    let start = json!({ "name": "main", "allowed_to_push": [{ "access_level": 40 }, { "access_level": 30 }],
                        "code_owner_approval_required": true });
    let body = protect(&mia, project, start).await.created();
    let id = |place: usize| body["push_access_levels"][place]["id"].clone();

    let change = json!({
        "allow_force_push": true,
        "allowed_to_push": [{ "id": id(0), "user_id": dan }, { "id": id(1), "_destroy": true },
                            { "access_level": 60 }],
    });
    let path = format!("/projects/{project}/protected_branches/main");
    let changed = mia.patch(&path, change).await.ok();

    assert_eq!(levels(&changed, "push"), [json!([null, dan]), json!([60, null])]);
    assert_eq!(levels(&changed, "merge"), [json!([40, null])]);
    assert_eq!(changed["allow_force_push"], true);
    assert_eq!(changed["code_owner_approval_required"], false);
    assert_eq!(mia.get(&path).await.ok(), changed);
}

#[actix_web::test]
async fn what_cannot_be_changed_is_told_and_nothing_happens() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let before = protect(&mia, project, json!({ "name": "main" })).await.created();
    let path = format!("/projects/{project}/protected_branches/main");
    let push = |entry: Value| json!({ "allow_force_push": true, "allowed_to_push": [entry] });
    let taken = json!({ "message": ["Push access levels access level has already been taken"] });

    for (body, status, expected) in [
        (json!({ "allow_force_push": "" }), 400, json!({ "error": "allow_force_push is empty" })),
        (
            push(json!({ "_destroy": true })),
            400,
            json!({ "error": "allowed_to_push[0][id] is missing" }),
        ),
        (push(json!({ "access_level": 40 })), 422, taken),
        (
            push(json!({ "user_id": 999 })),
            422,
            json!({ "message": ["Push access levels user is not a member of the project"] }),
        ),
        (
            push(json!({ "id": 999, "access_level": 30 })),
            404,
            json!({ "message": "404 Not found" }),
        ),
        // A record of another kind.
        (
            push(json!({ "id": before["merge_access_levels"][0]["id"], "_destroy": true })),
            404,
            json!({ "message": "404 Not found" }),
        ),
    ] {
        mia.patch(&path, body).await.refused(status, expected);
    }
    assert_eq!(mia.get(&path).await.ok(), before);
    let other = format!("/projects/{project}/protected_branches/other");
    mia.patch(&other, json!({})).await.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn the_rule_says_who_may_take_it_away() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let new = json!({ "name": "release/*", "unprotect_access_level": 60 });
    protect(&mia, project, new).await.created();
    let path = format!("/projects/{project}/protected_branches/release%2F*");

    let forbidden = json!({ "message": "403 Forbidden" });
    mia.delete(&path).await.refused(403, forbidden.clone());
    mia.patch(&path, json!({})).await.refused(403, forbidden);
    assert_eq!(app.admin().delete(&path).await.status, 204);
    mia.get(&path).await.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn a_rule_that_changed_meanwhile_stays() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    protect(&mia, project, json!({ "name": "main" })).await.created();
    let path = format!("/projects/{project}/protected_branches/main");

    let early = mia.sending("If-Unmodified-Since", "Wed, 31 Dec 2025 23:59:59 GMT");
    let gone = json!({ "message": "412 Precondition Failed" });
    early.delete(&path).await.refused(412, gone);
    let late = mia.sending("If-Unmodified-Since", "Thu, 01 Jan 2026 00:00:00 GMT");
    assert_eq!(late.delete(&path).await.status, 204);
}

async fn group(person: &Person<'_>, path: &str, protection: i64) -> Value {
    let fields = json!({ "name": path, "path": path, "default_branch_protection": protection });
    person.post("/groups", fields).await.created()["id"].clone()
}

#[actix_web::test]
async fn a_group_that_is_invited_lets_its_members_in() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let (gus, eve) = (app.member(project, "gus", Developer), app.member(project, "eve", Developer));
    let reviewers = group(&gus, "reviewers", 2).await;
    let rule = json!({ "name": "main", "allowed_to_push": [{ "group_id": reviewers }] });
    let refused =
        json!({ "message": ["Push access levels group does not have access to the project"] });
    protect(&mia, project, rule.clone()).await.refused(422, refused);

    let share = json!({ "group_id": reviewers, "group_access": 30 });
    app.admin().post(&format!("/projects/{project}/share"), share).await.created();
    let body = protect(&mia, project, rule).await.created();

    let record = &body["push_access_levels"][0];
    assert_eq!(record["group_id"], reviewers);
    assert_eq!(record["access_level_description"], "reviewers");
    let branches = format!("/projects/{project}/repository/branches");
    app.admin().post(&branches, json!({ "branch": "other", "ref": "main" })).await.created();
    let can_push = async |person: &Person<'_>| {
        person.get(&format!("{branches}/main")).await.ok()["can_push"].clone()
    };
    assert_eq!((can_push(&gus).await, can_push(&eve).await), (json!(true), json!(false)));
}

#[actix_web::test]
async fn the_first_branch_is_protected_as_its_group_wants_it() {
    let app = TestApp::new();
    let (olga, dan) = (app.person("olga"), app.person("dan"));
    let dan_id = app.user("dan").id;
    for (protection, first_push, expected) in [
        (0, 201, None),
        (1, 201, Some((30, 40))),
        (2, 400, Some((40, 40))),
        (3, 400, Some((40, 30))),
    ] {
        let group = group(&olga, &format!("group-{protection}"), protection).await;
        let member = json!({ "user_id": dan_id, "access_level": 30 });
        olga.post(&format!("/groups/{group}/members"), member).await.created();
        let new = json!({ "name": "one", "namespace_id": group });
        let project = olga.post("/projects", new).await.created()["id"].clone();
        let branches = format!("/projects/{project}/repository/branches");
        let branch = json!({ "branch": "other", "ref": "main" });

        assert_eq!(dan.post(&branches, branch.clone()).await.status, first_push, "{protection}");
        if first_push == 400 {
            olga.post(&branches, branch).await.created();
        }

        let rules = olga.get(&format!("/projects/{project}/protected_branches")).await.ok();
        let level = |rule: &Value, kind: &str| {
            rule[format!("{kind}_access_levels")][0]["access_level"].as_i64().unwrap_or_default()
        };
        let rule = rules.get(0).map(|rule| (level(rule, "push"), level(rule, "merge")));
        assert_eq!(rule, expected, "{protection}");
    }
}
