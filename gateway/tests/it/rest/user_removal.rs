//! What the removal of an account costs.

use db::{Conn, Tx, error};
use diesel::{QueryableByName, RunQueryDsl, sql_query, sql_types::Text};

use crate::support::TestApp;

/// Where rows name people who may go, beside what names them as the first column of its key.
const COLUMNS: [(&str, &str); 22] = [
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
