//! What changes while an archive becomes a project: people who go, rules that are made, and the version of the server.

use std::fs;

use actix_web::http::Method;
use db::Conn;
use diesel::{RunQueryDsl as _, sql_query};
use kernel::{AccessLevel::Developer, Visibility::Private};
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_failures::set_writable,
    archive_limits::run,
    archives::{exported, imported},
    imports::work,
};
use crate::support::{Person, TestApp, uploads::send_file};

/// Has an account go as soon as a row is written into a table.
fn remove_on_write(app: &TestApp, user: i64, table: &str) {
    let gone = format!(
        "DELETE FROM namespaces WHERE owner_id = {user}; DELETE FROM users WHERE id = {user};"
    );
    let own = format!("CREATE TRIGGER removal AFTER INSERT ON {table}");
    app.write(move |tx: &mut db::Tx<'_>| {
        let statements = match &tx.conn {
            Conn::Sqlite(_) => vec![format!("{own} BEGIN {gone} END")],
            Conn::Postgres(_) => vec![
                format!(
                    "CREATE FUNCTION removal() RETURNS trigger LANGUAGE plpgsql AS \
                     $$ BEGIN {gone} RETURN NEW; END $$"
                ),
                format!("{own} FOR EACH ROW EXECUTE FUNCTION removal()"),
            ],
        };
        for text in statements {
            db::each_backend!(tx, |conn| sql_query(&text)
                .execute(conn)
                .map_err(db::error("Table")))?;
        }
        Ok(())
    });
}

#[actix_web::test]
async fn somebody_who_is_removed_during_an_import_has_no_account_from_then_on() {
    let app = TestApp::new();
    let root = app.admin();
    let project = app.project(&root, "engine", Private);
    let bob = app.member(project, "bob", Developer);
    let (base, id) = (format!("/projects/{project}"), app.id_of("bob"));
    let issue =
        json!({ "title": "Mine", "description": "Hm", "labels": "bug", "assignee_ids": [id] });
    bob.post(&format!("{base}/issues"), issue).await.created();
    bob.post(&format!("{base}/issues/1/award_emoji"), json!({ "name": "tea" })).await.created();
    let archive = exported(&root, &json!(project)).await;

    remove_on_write(&app, id, "labels");
    let done = imported(&root, &archive, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = format!("/projects/{}", done["id"]);
    let issue = root.get(&format!("{copy}/issues/1")).await.ok();
    assert_eq!((&issue["author"]["username"], &issue["assignees"]), (&json!("root"), &json!([])));
    let text = issue["description"].as_str().expect("a text");
    assert!(text.starts_with("*By ") && text.ends_with("*\n\nHm"), "{text}");
    assert_eq!(root.get(&format!("{copy}/issues/1/award_emoji")).await.ok(), json!([]));
    assert_eq!(root.get(&format!("{copy}/members")).await.each("username"), ["root"]);
}

#[actix_web::test]
async fn a_rule_for_every_approver_that_is_made_during_an_import_gives_way_to_that_of_the_archive()
{
    let any = |required: i64| json!({ "name": "All", "rule_type": "any_approver", "approvals_required": required });
    let older = json!({ "approvals_before_merge": 3 });
    for (call, body) in [("approval_rules", any(3)), ("approvals", older)] {
        let app = TestApp::new();
        let root = app.admin();
        let project = root.filled_project("Engine", "private").await;
        root.post(&format!("/projects/{project}/approval_rules"), any(2)).await.created();
        let archive = exported(&root, &project).await;

        set_writable(&app, "archive_import_ids", false);
        let half = imported(&root, &archive, "copy").await;
        assert_eq!(half["import_status"], "started", "{half}");
        let copy = format!("/projects/{}", half["id"]);
        let rules = format!("{copy}/approval_rules");
        root.post(&format!("{copy}/{call}"), body).await.created();
        let own = [app.id_of("root")];
        let look = json!({ "name": "Look", "approvals_required": 1, "user_ids": own });
        root.post(&rules, look).await.created();
        set_writable(&app, "archive_import_ids", true);
        app.clock.advance(Duration::minutes(1));
        work(&app).await;

        let done = root.get(&format!("{copy}/import")).await.ok();
        let told = (&done["import_status"], &done["import_error"]);
        assert_eq!(told, (&json!("finished"), &Value::Null), "{call}");
        let kept = root.get(&rules).await.each("rule_type");
        assert_eq!(kept, ["regular", "any_approver"], "{call}");
        let required = root.get(&rules).await.each("approvals_required");
        assert_eq!(json!(required), json!([1, 2]), "{call}");
        let settings = root.get(&format!("{copy}/approvals")).await.ok();
        assert_eq!(settings["approvals_before_merge"], 0, "{call}");
    }
}

#[actix_web::test]
async fn a_rule_for_every_approver_asks_for_what_it_did_whatever_the_setting_says_that_made_it() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let base = format!("/projects/{project}");
    let one = json!({ "approvals_before_merge": 1 });
    root.post(&format!("{base}/approvals"), one).await.created();
    let rule = root.get(&format!("{base}/approval_rules")).await.ok()[0]["id"].clone();
    let five = json!({ "approvals_required": 5 });
    root.put(&format!("{base}/approval_rules/{rule}"), five).await.ok();

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let copy = format!("/projects/{}", done["id"]);
    let rules = root.get(&format!("{copy}/approval_rules")).await;
    assert_eq!(json!(rules.each("approvals_required")), json!([5]), "{done}");
    let settings = root.get(&format!("{copy}/approvals")).await.ok();
    assert_eq!(settings["approvals_before_merge"], 1, "{settings}");
}

#[actix_web::test]
async fn an_import_at_a_place_that_only_another_version_knows_begins_anew() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let base = format!("/projects/{project}");
    let issue = json!({ "title": "Leak", "labels": "bug" });
    root.post(&format!("{base}/issues"), issue).await.created();
    let files = format!("{base}/uploads");
    send_file(&root, Method::POST, &files, "file", "plan.txt", "steam").await.created();
    root.post(&format!("{base}/boards"), json!({ "name": "Next" })).await.created();
    let archive = exported(&root, &project).await;

    set_writable(&app, "boards", false);
    let half = imported(&root, &archive, "copy").await;
    assert_eq!(half["import_status"], "started", "{half}");
    run(&app, "UPDATE archive_imports SET relation = 40, line = 1");
    set_writable(&app, "boards", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;

    let copy = format!("/projects/{}", half["id"]);
    assert_eq!(root.get(&format!("{copy}/import")).await.ok()["import_status"], "finished");
    for (list, field, told) in
        [("issues", "title", "Leak"), ("boards", "name", "Next"), ("labels", "name", "bug")]
    {
        assert_eq!(root.get(&format!("{copy}/{list}")).await.each(field), [told], "{list}");
    }
    let shown = root.get(&format!("{copy}?statistics=true")).await.ok();
    assert_eq!(shown["statistics"]["uploads_size"], 5, "{shown}");
}

/// Whether repositories can be removed: they go into a folder first.
fn set_removable(app: &TestApp, removable: bool) {
    let trash = app.state.data().join("trash");
    if removable {
        return fs::remove_file(&trash).expect("it is removed");
    }
    if trash.exists() {
        fs::remove_dir_all(&trash).expect("it is removed");
    }
    fs::write(&trash, "in the way").expect("it is written");
}

/// Begins an import that does not come to the boards of its archive. Returns the path of the copy.
async fn half_imported(root: &Person<'_>) -> String {
    let project = root.filled_project("Engine", "private").await;
    let base = format!("/projects/{project}");
    root.post(&format!("{base}/issues"), json!({ "title": "Leak" })).await.created();
    root.post(&format!("{base}/boards"), json!({ "name": "Next" })).await.created();
    let archive = exported(root, &project).await;
    set_writable(root.app, "boards", false);
    let half = imported(root, &archive, "copy").await;
    assert_eq!(half["import_status"], "started", "{half}");
    format!("/projects/{}", half["id"])
}

/// Looks at a copy whose rows were removed and whose repository could not be, and has the import go on.
async fn ensure_whole_in_the_end(root: &Person<'_>, copy: &str, after: Duration) {
    let list = async |name: &str| root.get(&format!("{copy}/{name}")).await;
    assert_eq!(list("issues").await.ok(), json!([]));
    assert_eq!(list("import").await.ok()["import_status"], "started");
    set_removable(root.app, true);
    root.app.clock.advance(after);
    work(root.app).await;

    let done = list("import").await.ok();
    assert_eq!(done["import_status"], "finished", "{done}");
    assert_eq!(list("issues").await.each("title"), ["Leak"]);
    assert_eq!(list("boards").await.each("name"), ["Next"]);
    assert_eq!(list("repository/branches").await.each("name"), ["main"]);
    assert_eq!(root.get(copy).await.ok()["default_branch"], "main");
}

#[actix_web::test]
async fn an_import_that_begins_anew_and_ends_in_the_middle_of_that_does_so_again() {
    let app = TestApp::new();
    let root = app.admin();
    let copy = half_imported(&root).await;

    run(&app, "UPDATE archive_imports SET relation = 40, line = 1");
    set_writable(&app, "boards", true);
    set_removable(&app, false);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;

    ensure_whole_in_the_end(&root, &copy, Duration::minutes(1)).await;
}

#[actix_web::test]
async fn an_import_that_is_given_up_and_goes_on_in_the_middle_of_that_begins_anew() {
    let app = TestApp::new();
    let root = app.admin();
    let copy = half_imported(&root).await;

    set_removable(&app, false);
    for _ in 0..4 {
        app.clock.advance(Duration::minutes(1));
        work(&app).await;
    }
    set_writable(&app, "boards", true);

    ensure_whole_in_the_end(&root, &copy, Duration::hours(2)).await;
}
