//! Things are found by parts of words, whatever the database's statistics say of these.

use db::{Conn, Tx, each_backend, error};
use diesel::{QueryableByName, RunQueryDsl, sql_query, sql_types::Text};
use kernel::Visibility::Private;
use serde_json::json;

use crate::support::TestApp;

/// The database learns which texts there are, and what was known of them before becomes too old.
fn learn_texts(app: &TestApp) {
    app.write(|tx| {
        each_backend!(tx, |conn| sql_query("ANALYZE").execute(conn).map_err(error("Plan")))
    });
    app.clock.advance(time::Duration::minutes(20));
}

#[actix_web::test]
async fn words_with_several_parts_are_found_whole() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let issues = format!("/projects/{project}/issues");
    for title in ["about topic-4321", "about topic-77, again", "other topic-5", "4321 of topic"] {
        let issue = json!({ "title": title, "description": "What is said of Größe_10%" });
        ada.post(&issues, issue).await.created();
    }
    ada.put(&format!("{issues}/3"), json!({ "description": "see also TOPIC-4321" })).await.ok();
    learn_texts(&app);

    for (words, found) in [
        ("topic-4321", &["other topic-5", "about topic-4321"][..]),
        ("topic-4321&in=title", &["about topic-4321"]),
        ("Topic-77", &["about topic-77, again"]),
        ("opic-5", &["other topic-5"]),
        ("topic+4321", &["4321 of topic", "other topic-5", "about topic-4321"]),
        ("gr%C3%B6%C3%9Fe_10%25", &["4321 of topic", "about topic-77, again", "about topic-4321"]),
        ("topic-4322", &[]),
    ] {
        for list in [&issues, "/issues"] {
            let answer = ada.get(&format!("{list}?search={words}")).await;
            assert_eq!(answer.header("x-total"), Some(found.len().to_string().as_str()), "{words}");
            assert_eq!(answer.each("title"), found, "{words} in {list}");
        }
        let oldest = format!("{issues}?search={words}&order_by=title&sort=asc&per_page=1");
        assert_eq!(ada.get(&oldest).await.each("title").len(), found.len().min(1), "{words}");
    }
    let all = ada.get("/issues?search=topic&order_by=title&sort=asc").await.each("title");
    assert_eq!(all[0], "4321 of topic");
    assert_eq!(all[3], "other topic-5");
}

#[actix_web::test]
async fn people_groups_and_projects_are_found_by_words_with_several_parts() {
    let app = TestApp::new();
    let ada = app.person("ada-4321");
    for name in ["bob-77", "77-bob", "cyd-4321x"] {
        app.person(name);
        app.project(&ada, &format!("engine-{name}"), Private);
        let group = json!({ "name": format!("crew {name}"), "path": format!("crew-{name}") });
        ada.post("/groups", group).await.created();
    }
    learn_texts(&app);
    let found = async |list: &str, field: &str| {
        let mut found = ada.get(list).await.each(field);
        found.sort_by_key(ToString::to_string);
        found
    };

    assert_eq!(found("/users?search=bob-77", "username").await, ["bob-77"]);
    assert_eq!(found("/users?search=D-4321", "username").await, ["cyd-4321x"]);
    assert_eq!(found("/groups?search=crew-bob-77", "path").await, ["crew-bob-77"]);
    assert_eq!(found("/groups?search=d-4321", "path").await, ["crew-cyd-4321x"]);
    assert_eq!(found("/projects?search=engine-bob-77", "path").await, ["engine-bob-77"]);
    let both = ["engine-77-bob", "engine-bob-77"];
    assert_eq!(found("/projects?search=engine+bob", "path").await, both);
}

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    name: String,
}

/// What there is in one issue is in `more` others as well, each with a title of its own.
fn repeat_the_issue(tx: &mut Tx<'_>, more: i64) -> kernel::Result<()> {
    let columns = match &tx.conn {
        Conn::Sqlite(_) => "SELECT name FROM pragma_table_info('issues')",
        Conn::Postgres(_) => {
            "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'issues'"
        }
    };
    let columns: Vec<Column> =
        each_backend!(tx, |conn| sql_query(columns).load(conn).map_err(error("Column")))?;
    let own = ["id", "iid", "title"];
    let same: Vec<String> = columns.into_iter().map(|column| column.name).collect();
    let same: Vec<&String> = same.iter().filter(|name| !own.contains(&name.as_str())).collect();
    let same = same.iter().map(|name| format!(", {name}")).collect::<String>();
    let text = format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {more}) \
         INSERT INTO issues (iid, title{same}) \
         SELECT iid + n, 'engine ' || n{same} FROM issues CROSS JOIN numbers"
    );
    each_backend!(tx, |conn| sql_query(text).execute(conn).map_err(error("Issue")))?;
    Ok(())
}

#[actix_web::test]
async fn what_very_many_have_is_listed_but_not_counted() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    ada.post(&format!("/projects/{project}/issues"), json!({ "title": "engine 0" }))
        .await
        .created();
    app.write(|tx| repeat_the_issue(tx, 10_000));

    for query in ["search=engine", "search=engine&order_by=title&sort=asc"] {
        let answer = ada.get(&format!("/issues?{query}&per_page=2&page=3")).await;
        assert_eq!((answer.header("x-total"), answer.header("x-next-page")), (None, Some("4")));
    }
    let titles =
        async |query: &str| ada.get(&format!("/issues?{query}&per_page=2")).await.each("title");
    assert_eq!(titles("search=engine").await, ["engine 10000", "engine 9999"]);
    assert_eq!(titles("search=ENGINE&page=5000&sort=asc").await, ["engine 9998", "engine 9999"]);
    assert_eq!(titles("search=engine&page=5001").await, ["engine 0"]);
    assert!(titles("search=engine&page=5002").await.is_empty());

    let beyond = ada.get("/issues?search=engine+9999&page=3").await;
    assert_eq!(beyond.header("x-total"), Some("1"));
    assert!(beyond.each("title").is_empty());
}
