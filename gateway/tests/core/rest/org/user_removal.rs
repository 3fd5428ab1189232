//! What the removal of an account costs.

use db::{Conn, Tx, error};
use diesel::{QueryableByName, RunQueryDsl, sql_query, sql_types::Text};

use diesel::sql_types::BigInt;
use kernel::{AccessLevel::Maintainer, Visibility::Public, ids::ProjectId};
use repo::testing::Fixture;
use serde_json::json;

use crate::support::{Person, TestApp};

/// Where rows name people who may go, beside what names them as the first column of its key.
const COLUMNS: [(&str, &str); 28] = [
    ("issues", "author_id"),
    ("issues", "closed_by_id"),
    ("epics", "author_id"),
    ("merge_requests", "author_id"),
    ("merge_requests", "closed_by_id"),
    ("merge_requests", "merge_user_id"),
    ("notes", "author_id"),
    ("notes", "resolved_by_id"),
    ("todos", "author_id"),
    ("todos", "user_id"),
    ("events", "author_id"),
    ("resource_events", "user_id"),
    ("push_events", "user_id"),
    ("commit_notes", "author_id"),
    ("projects", "creator_id"),
    ("members", "created_by"),
    ("members", "user_id"),
    ("users", "created_by"),
    ("protected_branch_access", "user_id"),
    ("protected_tag_access", "user_id"),
    ("access_tokens", "user_id"),
    ("namespaces", "owner_id"),
    ("namespaces", "marked_by"),
    ("timelogs", "user_id"),
    ("pipelines", "user_id"),
    ("jobs", "user_id"),
    ("member_invitations", "created_by"),
    ("award_emoji", "user_id"),
];

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    detail: String,
}

/// How rows are found.
fn plan(tx: &mut Tx<'_>, text: &str) -> kernel::Result<String> {
    let steps: Vec<String> = match &mut tx.conn {
        Conn::Sqlite(conn) => sql_query(format!("EXPLAIN QUERY PLAN {text}"))
            .load::<Step>(&mut **conn)
            .map(|steps| steps.into_iter().map(|step| step.detail).collect()),
        Conn::Postgres(conn) => {
            // Tables are so small here that nothing else would be done.
            sql_query("SET LOCAL enable_seqscan = off")
                .execute(&mut **conn)
                .map_err(error("Plan"))?;
            sql_query(format!("EXPLAIN {text}"))
                .load::<Line>(&mut **conn)
                .map(|lines| lines.into_iter().map(|line| line.detail).collect())
        }
    }
    .map_err(error("Plan"))?;
    Ok(steps.join("; "))
}

#[actix_web::test]
async fn what_somebody_did_is_found_without_reading_everything() {
    let app = TestApp::new();
    for (table, column) in COLUMNS {
        let text = format!("SELECT {column} FROM {table} WHERE {column} = 7");
        let plan = app.write(move |tx| plan(tx, &text));
        assert!(!plan.contains("Seq Scan"), "{table}.{column}: {plan}");
        assert!(!plan.contains("SCAN ") || plan.contains("Index"), "{table}.{column}: {plan}");
    }
}

#[actix_web::test]
async fn who_takes_part_in_an_item_is_asked_of_the_item() {
    let app = TestApp::new();
    let text = "SELECT id FROM notes WHERE item_kind = 'Issue' AND item_id = 7 AND author_id = 7 AND NOT is_system";

    let plan = app.write(move |tx| plan(tx, text));

    // Not of all that somebody ever wrote.
    assert!(plan.contains("notes_people"), "{plan}");
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = diesel::sql_types::Nullable<BigInt>)]
    id: Option<i64>,
}

/// Whom the one row of a table names.
fn named(app: &TestApp, table: &str, column: &str, which: &str) -> Option<i64> {
    let text = format!("SELECT {column} AS id FROM {table} WHERE {which}");
    let found: Vec<IdRow> = app.write(move |tx| {
        db::each_backend!(tx, |conn| sql_query(&text).load(conn).map_err(error("Row")))
    });
    found.first().and_then(|row| row.id)
}

/// What somebody does in a project of `ada`'s, beside writing: the path of an issue they worked on.
async fn work(project: ProjectId, person: &Person<'_>, name: &str) -> String {
    let issues = format!("/projects/{project}/issues");
    let issue = person.post(&issues, json!({ "title": "One" })).await.created()["iid"].clone();
    let issue = format!("{issues}/{issue}");
    person.post(&format!("{issue}/add_spent_time"), json!({ "duration": "1h" })).await.created();
    let report = json!({ "state": "success", "name": name });
    person.post(&format!("/projects/{project}/statuses/main"), report).await.created();
    let invite = json!({ "email": format!("{name}@y.test"), "access_level": 30 });
    person.post(&format!("/projects/{project}/invitations"), invite).await.created();
    issue
}

#[actix_web::test]
async fn work_stays_under_the_name_of_nobody() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let bob = app.member(project, "bob", Maintainer);
    work(project, &bob, "check").await;
    let (root, id) = (app.admin(), app.user("bob").id);
    root.put("/application/settings", json!({ "delayed_group_deletion": true })).await.ok();
    let group = root.group("works", None).await;
    root.adds("bob", 50, &format!("/groups/{group}")).await;
    bob.delete(&format!("/groups/{group}")).await.with(202);

    root.delete(&format!("/users/{id}")).await.with(204);

    let ghost = Some(app.user("ghost").id.0);
    for (table, column) in [
        ("timelogs", "user_id"),
        ("pipelines", "user_id"),
        ("jobs", "user_id"),
        ("member_invitations", "created_by"),
    ] {
        assert_eq!(named(&app, table, column, "id > 0"), ghost, "{table}");
    }
    assert_eq!(named(&app, "namespaces", "marked_by", &format!("id = {group}")), ghost);
}

#[actix_web::test]
async fn work_of_those_who_go_with_everything_is_not_counted() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let ada = app.person("ada");
    let bob = app.member(project, "bob", Maintainer);
    let issue = work(project, &ada, "first").await;
    bob.post(&format!("{issue}/add_spent_time"), json!({ "duration": "2h" })).await.created();
    let report = json!({ "state": "success", "name": "second" });
    bob.post(&format!("/projects/{project}/statuses/main"), report).await.created();
    let id = app.user("bob").id;

    app.admin().delete(&format!("/users/{id}?hard_delete=true")).await.with(204);

    let stats = ada.get(&format!("{issue}/time_stats")).await.ok();
    assert_eq!(stats["total_time_spent"], 3600);
    assert_eq!(named(&app, "timelogs", "user_id", "id > 0"), Some(app.user("ada").id.0));
    assert_eq!(named(&app, "timelogs", "user_id", &format!("user_id = {id}")), None);
    assert_eq!(named(&app, "jobs", "user_id", "name = 'second'"), None);
    assert_eq!(named(&app, "jobs", "user_id", "name = 'first'"), Some(app.user("ada").id.0));
}

#[actix_web::test]
async fn reactions_stay_once_and_thumbs_are_counted_again() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let emoji = format!("/projects/{project}/issues/{}/award_emoji", app.issue(project, &ada));
    for name in ["bob", "cara", "dora"] {
        app.person(name).post(&emoji, json!({ "name": "thumbsup" })).await.created();
    }
    app.person("cara").post(&emoji, json!({ "name": "rocket" })).await.created();
    assert_eq!(app.votes(project, 1), (3, 0));
    let root = app.admin();

    root.delete(&format!("/users/{}?hard_delete=true", app.user("dora").id)).await.with(204);
    assert_eq!(app.votes(project, 1), (2, 0));
    for name in ["bob", "cara"] {
        root.delete(&format!("/users/{}", app.user(name).id)).await.with(204);
    }

    assert_eq!(app.votes(project, 1), (1, 0), "nobody reacts twice in the same way");
    let left = ada.get(&emoji).await;
    assert_eq!(left.body[1]["user"]["username"], "ghost");
    assert_eq!(left.each("name"), ["thumbsup", "rocket"]);
}
