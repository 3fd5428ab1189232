//! Variables of CI: `gateway/src/rest/ci/variables.rs`.

use ci::{
    sealed,
    variable::{RefProtection, VariableOwner, VariableStore as _, for_pipeline},
};
use forge::vault;
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
    ids::{NamespaceId, ProjectId},
    page::PageRequest,
};
use org::{hierarchy::above_project, member::Source};
use secrets::KEY_FILE;
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, pipelines},
};

const SEVERAL: &str =
    "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'";

fn set_up(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let owner = app.person("olga");
    let project = app.project(&owner, "one", Visibility::Private);
    (project, app.member(project, "mia", Maintainer), format!("/projects/{project}/variables"))
}

fn keys(record: &Value) -> Vec<&str> {
    record.as_object().expect("a record").keys().map(String::as_str).collect()
}

#[actix_web::test]
async fn a_variable_is_kept_as_it_was_given() {
    let app = TestApp::new();
    let (_, mia, path) = set_up(&app);

    let plain = mia.post(&path, json!({ "key": " A_1 ", "value": "x" })).await.created();
    let whole = json!({ "key": "FILE", "value": "line\nline", "variable_type": "file", "protected": true,
        "masked": false, "raw": true, "environment_scope": "review/*", "description": "for reviews" });
    let whole_kept = mia.post(&path, whole.clone()).await.created();

    let wanted = json!({ "variable_type": "env_var", "key": "A_1", "value": "x", "hidden": false,
        "protected": false, "masked": false, "raw": false, "environment_scope": "*", "description": null });
    assert_eq!((&plain, keys(&plain)), (&wanted, keys(&wanted)));
    for (name, value) in whole.as_object().expect("fields") {
        assert_eq!(&whole_kept[name], value, "{name}");
    }
    assert_eq!(mia.get(&format!("{path}/A_1")).await.ok(), plain);
    assert_eq!(mia.get(&format!("{path}/FILE")).await.ok(), whole_kept);
    mia.get(&format!("{path}/a_1"))
        .await
        .refused(404, json!({ "message": "404 Variable Not Found" }));
}

#[actix_web::test]
async fn what_no_variable_can_be_is_told_by_field() {
    let app = TestApp::new();
    let (_, mia, path) = set_up(&app);
    mia.post(&path, json!({ "key": "K", "value": "x" })).await.created();
    let only = "can contain only letters, digits and '_'.";

    for (given, told) in [
        (json!({ "key": "K", "value": "" }), json!({ "key": ["(K) has already been taken"] })),
        (json!({ "key": "A-B", "value": "x" }), json!({ "key": [only] })),
        (json!({ "key": "", "value": "x" }), json!({ "key": ["can't be blank", only] })),
        (
            json!({ "key": "M", "value": "short", "masked": true }),
            json!({ "value": ["is invalid"] }),
        ),
        (
            json!({ "key": "M", "value": "with spaces", "masked": true, "raw": true }),
            json!({ "value": ["is invalid"] }),
        ),
        (
            json!({ "key": "M", "value": "x".repeat(65_537) }),
            json!({ "value": ["is too long (maximum is 65536 characters)"] }),
        ),
        (
            json!({ "key": "M", "value": "x", "environment_scope": "a;b" }),
            json!({ "environment_scope": ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"] }),
        ),
    ] {
        mia.post(&path, given).await.refused(400, json!({ "message": told }));
    }
    let told = json!({ "error": "key is missing, value is missing, variable_type does not have a valid value" });
    mia.post(&path, json!({ "variable_type": "x" })).await.refused(400, told);
    assert_eq!(mia.get(&path).await.each("key"), ["K"]);
    let masked = json!({ "key": "M", "value": "pass$word", "masked": true, "raw": true });
    assert_eq!(mia.post(&path, masked).await.created()["masked"], true);
}

#[actix_web::test]
async fn of_several_scopes_one_is_chosen() {
    let app = TestApp::new();
    let (_, mia, path) = set_up(&app);
    for scope in ["*", "production"] {
        let new = json!({ "key": "K", "value": scope, "environment_scope": scope });
        mia.post(&path, new).await.created();
    }
    let one = format!("{path}/K");
    let scoped = |scope: &str| format!("{one}?filter[environment_scope]={scope}");

    for answer in [mia.get(&one).await, mia.put(&one, json!({})).await, mia.delete(&one).await] {
        answer.refused(409, json!({ "message": SEVERAL }));
    }
    assert_eq!(mia.get(&scoped("production")).await.ok()["value"], "production");
    mia.get(&scoped("staging")).await.with(404);
    let chosen = json!({ "value": "all", "filter": { "environment_scope": "*" } });
    assert_eq!(mia.put(&one, chosen).await.ok()["value"], "all");
    let taken =
        json!({ "environment_scope": "*", "filter": { "environment_scope": "production" } });
    let told = json!({ "message": { "key": ["(K) has already been taken"] } });
    mia.put(&one, taken).await.refused(400, told);
    mia.delete(&scoped("production")).await.with(204);
    assert_eq!(mia.get(&one).await.ok()["value"], "all");
}

#[actix_web::test]
async fn a_change_touches_what_it_names_and_never_the_key() {
    let app = TestApp::new();
    let (_, mia, path) = set_up(&app);
    let new = json!({ "key": "K", "value": "12345678", "description": "d", "protected": true });
    let made = mia.post(&path, new).await.created();
    let one = format!("{path}/K");

    let change = json!({ "key": "OTHER", "masked": true, "description": "" });
    let after = mia.put(&one, change).await.ok();

    let mut wanted = made;
    wanted["masked"] = json!(true);
    wanted["description"] = Value::Null;
    assert_eq!(after, wanted);
    let told = json!({ "message": { "value": ["is invalid"] } });
    mia.put(&one, json!({ "value": "short" })).await.refused(400, told);
    let after = mia.put(&one, json!({ "value": "short", "masked": false })).await.ok();
    assert_eq!(after["value"], "short");
    let early = mia.sending("If-Unmodified-Since", "Wed, 31 Dec 2025 00:00:00 GMT");
    assert_eq!(early.delete(&one).await.status, 412);
    mia.delete(&one).await.with(204);
}

#[actix_web::test]
async fn what_is_hidden_is_never_shown_again() {
    let app = TestApp::new();
    let (_, mia, path) = set_up(&app);
    let new = json!({ "key": "K", "value": "s3cretvalue", "masked_and_hidden": true });
    let made = mia.post(&path, new).await;
    let one = format!("{path}/K");

    assert_eq!(made.body["masked"], true);
    let told = "The visibility setting cannot be changed for masked and hidden variables.";
    let told = json!({ "message": { "base": [told] } });
    mia.put(&one, json!({ "masked": false })).await.refused(400, told);
    let changed = mia.put(&one, json!({ "value": "s3cretvalue2" })).await;
    for answer in [made, changed, mia.get(&one).await] {
        assert_eq!((&answer.body["hidden"], &answer.body["value"]), (&json!(true), &Value::Null));
        assert!(!String::from_utf8_lossy(&answer.bytes).contains("s3cret"));
    }
    assert!(!mia.get(&path).await.ok().to_string().contains("s3cret"));
}

#[actix_web::test]
async fn groups_and_the_installation_have_their_own() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let group = olga.group("crew", None).await;
    let of_group = format!("/groups/{group}/variables");
    let root = app.admin();
    for (who, path, noun) in [
        (&olga, of_group.as_str(), "GroupVariable"),
        (&root, "/admin/ci/variables", "InstanceVariable"),
    ] {
        let made = who.post(path, json!({ "key": "K", "value": "v" })).await.created();
        let one = format!("{path}/K");
        assert_eq!(who.get(path).await.ok(), json!([made]));
        assert_eq!(who.put(&one, json!({ "raw": true })).await.ok()["raw"], true);
        let told = json!({ "message": { "key": ["(K) has already been taken"] } });
        who.post(path, json!({ "key": "K", "value": "v" })).await.refused(400, told);
        who.delete(&one).await.with(204);
        let told = json!({ "message": format!("404 {noun} Not Found") });
        who.get(&one).await.refused(404, told);
    }
    let of_instance = root.post("/admin/ci/variables", json!({ "key": "K", "value": "v" })).await;
    let wanted = ["variable_type", "key", "value", "protected", "masked", "raw", "description"];
    assert_eq!(keys(&of_instance.created()), wanted);
    let told = "The value of the provided variable exceeds the 10000 character limit";
    let told = json!({ "message": { "value": [told] } });
    let long = json!({ "key": "L", "value": "x".repeat(10_001) });
    root.post("/admin/ci/variables", long).await.refused(400, told);
}

#[actix_web::test]
async fn only_so_many_are_taken() {
    let app = TestApp::new();
    let root = app.admin();
    let new = |n: usize| json!({ "key": format!("K{n}"), "value": "v" });
    for n in 0..25 {
        root.post("/admin/ci/variables", new(n)).await.created();
    }
    let told = "Maximum number of ci instance level variables (25) exceeded";
    let told = json!({ "message": { "base": [told] } });
    root.post("/admin/ci/variables", new(25)).await.refused(400, told);
    let page = root.get("/admin/ci/variables?per_page=10&page=3").await;
    assert_eq!(page.header("x-total"), Some("25"));
    assert_eq!(page.each("key"), ["K20", "K21", "K22", "K23", "K24"]);
}

#[actix_web::test]
async fn who_may_not_administer_sees_no_values() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    mia.post(&path, json!({ "key": "K", "value": "v" })).await.created();
    let dan = app.member(project, "dan", Developer);
    let one = format!("{path}/K");
    for answer in [dan.get(&path).await, dan.get(&one).await, dan.delete(&one).await] {
        answer.refused(403, json!({ "message": "403 Forbidden" }));
    }
    mia.put(&format!("/projects/{project}"), json!({ "builds_access_level": "disabled" }))
        .await
        .ok();
    assert_eq!(mia.get(&one).await.ok()["value"], "v");
    app.person("olga").post(&format!("/projects/{project}/archive"), json!({})).await.created();
    mia.get(&one).await.ok();
    mia.put(&one, json!({ "value": "w" })).await.with(403);
    let group = app.person("olga").group("crew", None).await;
    let max = app.member_of(Source::Group(NamespaceId(group)), "max", Maintainer);
    max.get(&format!("/groups/{group}/variables")).await.with(403);
    max.get("/admin/ci/variables").await.with(403);
}

#[actix_web::test]
async fn a_value_is_sealed_in_its_row_for_its_place() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    for key in ["A", "B"] {
        mia.post(&path, json!({ "key": key, "value": format!("clear {key}") })).await.created();
    }
    let page = PageRequest { page: 1, per_page: 5 };
    let mut rows = app.write(move |tx| tx.variables(VariableOwner::Project(project), page)).items;
    rows.reverse();
    assert_eq!(rows.len(), 2);
    let told = format!("{rows:?}");
    assert!(!told.contains("clear") && rows.iter().all(|row| row.project_id == Some(project)));
    // A row that somebody copied over another one's is not read there.
    let mut moved = rows[0].clone();
    moved.key.clone_from(&rows[1].key);
    assert!(moved.value(&app.state.vault).is_err());
    assert_eq!(rows[0].value(&app.state.vault).unwrap().reveal(), "clear B");
}

#[actix_web::test]
async fn nothing_opens_without_the_key_of_what_is_sealed() {
    let app = TestApp::new();
    let (_, mia, path) = set_up(&app);
    let file = app.state.data().join(KEY_FILE);
    let open =
        || vault::open(&app.state.db, app.state.data(), &app.state.key).map(|vault| vault.number());
    let first = open().expect("the folder's own key");
    std::fs::remove_file(&file).unwrap();
    assert_ne!(open().expect("nothing is sealed yet"), first, "another one is made");
    std::fs::remove_file(&file).unwrap();
    mia.post(&path, json!({ "key": "K", "value": "v" })).await.created();

    let refusal = open().expect_err("what is sealed cannot be read").to_string();
    assert!(refusal.contains("secrets.key is not there"), "{refusal}");
    assert!(!file.exists(), "no other key is made beside it");
    std::fs::write(&file, [1; 32]).unwrap();
    assert!(open().is_err(), "another key is refused");
    app.write(sealed::delete_all);
    assert!(open().is_ok());
}

#[actix_web::test]
async fn a_pipeline_gets_all_that_reach_it_in_one_statement() {
    let app = TestApp::new();
    let (olga, root) = (app.person("olga"), app.admin());
    let outer = olga.group("outer", None).await;
    let inner = olga.group("inner", Some(outer)).await;
    let new = json!({ "name": "one", "namespace_id": inner });
    let project = olga.post("/projects", new).await.created()["id"].as_i64().unwrap();
    let elsewhere = olga.group("elsewhere", None).await;
    for (who, path) in [
        (&root, "/admin/ci".to_owned()),
        (&olga, format!("/groups/{outer}")),
        (&olga, format!("/groups/{inner}")),
        (&olga, format!("/groups/{elsewhere}")),
        (&olga, format!("/projects/{project}")),
    ] {
        for (key, protected) in [("OPEN", false), ("SHUT", true)] {
            let new = json!({ "key": key, "value": path, "protected": protected });
            who.post(&format!("{path}/variables"), new).await.created();
        }
    }
    let project = ProjectId(project);
    let groups = app.write(move |tx| above_project(tx, project));
    app.statements();

    let layers = |ref_protection| {
        let (vault, groups) = (app.state.vault.clone(), groups.clone());
        app.write(move |tx| for_pipeline(tx, &vault, project, &groups, ref_protection))
    };
    let open = layers(RefProtection::Unprotected);

    assert!(app.statements().iter().filter(|sql| sql.starts_with("SELECT")).count() <= 1);
    let values: Vec<_> = open.iter().flatten().map(|one| one.variable.value.as_str()).collect();
    let (of_outer, of_inner) = (format!("/groups/{outer}"), format!("/groups/{inner}"));
    let of_project = format!("/projects/{project}");
    assert_eq!(values, ["/admin/ci", of_outer.as_str(), of_inner.as_str(), of_project.as_str()]);
    assert_eq!((open.len(), layers(RefProtection::Protected).iter().flatten().count()), (4, 8));
    assert!(open.iter().flatten().all(|one| !one.variable.public));
}

#[actix_web::test]
async fn rules_of_a_pipeline_see_the_variables_of_its_project() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    mia.post(&path, json!({ "key": "OPEN", "value": "yes" })).await.created();
    mia.post(&path, json!({ "key": "SHUT", "value": "yes", "protected": true })).await.created();
    let job = |key: &str| format!("{key}: {{script: x, rules: [{{if: ${key} == \"yes\"}}]}}\n");
    let text = job("OPEN") + &job("SHUT");
    let protected = json!({ "name": "main", "push_access_level": 40 });
    mia.post(&format!("/projects/{project}/protected_branches"), protected).await.created();

    commit(&mia, project, "main", "protected", &text).await;
    let topic = json!({ "branch": "topic", "ref": "main" });
    mia.post(&format!("/projects/{project}/repository/branches"), topic).await.created();
    app.work().await;

    let mut names = Vec::new();
    for pipeline in pipelines(&mia, project, "?sort=asc").await {
        let jobs = format!("/projects/{project}/pipelines/{}/jobs", pipeline["id"]);
        let mut of_one = mia.get(&jobs).await.each("name");
        of_one.sort_by_key(ToString::to_string);
        names.push(of_one);
    }
    assert_eq!(names, [vec![json!("OPEN"), json!("SHUT")], vec![json!("OPEN")]]);
}
