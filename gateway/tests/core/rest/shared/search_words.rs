//! Things are found by parts of words, whatever the database's statistics say of these.

use db::{Conn, Tx, each_backend, error};
use diesel::{QueryableByName, RunQueryDsl, sql_query, sql_types::Text};
use kernel::Visibility::Private;
use org::{token::Scope, user::actions::NewUser};
use serde_json::json;

use crate::{
    rest::review::iterations::iterations,
    support::{Person, TestApp},
};

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

/// Of four scripts.
const WORDS: [&str; 4] = ["Ägypten", "Жуки", "Λόγια", "Գիրքն"];

/// Every list that is searched by a part of a name.
const LISTS: [&str; 27] = [
    "/users?search=",
    "/groups?search=",
    "/namespaces?search=",
    "/projects?search=",
    "/issues?scope=all&search=",
    "/issues?scope=all&in=title&search=",
    "/merge_requests?scope=all&search=",
    "GROUP/subgroups?search=",
    "GROUP/descendant_groups?search=",
    "GROUP/projects?search=",
    "GROUP/members?query=",
    "GROUP/members/all?query=",
    "GROUP/billable_members?search=",
    "GROUP/epics?search=",
    "GROUP/issues?search=",
    "PROJECT/issues?search=",
    "PROJECT/merge_requests?search=",
    "PROJECT/users?search=",
    "PROJECT/members/all?query=",
    "PROJECT/labels?search=",
    "PROJECT/milestones?search=",
    "PROJECT/protected_branches?search=",
    "PROJECT/starrers?search=",
    "GROUP/iterations?search=",
    "PROJECT/groups?with_shared=true&search=",
    "PROJECT/iterations?search=",
    "PROJECT/transfer_locations?search=",
];

/// Everything that has a name, four times, in a group; what lists of it are called, with the name's place.
async fn named(app: &TestApp, ada: &Person<'_>) -> Vec<String> {
    let top = ada.group_with("top", json!({ "visibility": "public" })).await;
    let new = json!({ "name": "site", "namespace_id": top, "initialize_with_readme": true });
    let site = ada.post("/projects", new).await.created()["id"].as_i64().expect("an id");
    let (group, at) = (format!("/groups/{top}"), format!("/projects/{site}"));
    for (number, word) in WORDS.iter().enumerate() {
        let new = NewUser { name: (*word).to_owned(), ..NewUser::named(&format!("p{number}")) };
        let person = app.someone(&new, &[Scope::Api]);
        ada.adds(&person.username, 30, &group).await;
        person.post(&format!("{at}/star"), json!({})).await.created();
        let inner = json!({ "name": word, "parent_id": top });
        let share = json!({ "group_id": ada.group_with(&format!("g{number}"), inner).await, "group_access": 10 });
        ada.post(&format!("{at}/share"), share).await.created();
        let project = json!({ "name": word, "path": format!("x{number}"), "namespace_id": top });
        ada.post("/projects", project).await.created();
        let title = json!({ "title": word });
        ada.post(&format!("{at}/issues"), title.clone()).await.created();
        ada.post(&format!("{group}/epics"), title.clone()).await.created();
        ada.post(&format!("{at}/milestones"), title).await.created();
        let label = json!({ "name": word, "color": "#112233" });
        ada.post(&format!("{at}/labels"), label).await.created();
        ada.post(&format!("{at}/protected_branches"), json!({ "name": word })).await.created();
        let request = json!({ "title": word, "source_branch": format!("b{number}"), "target_branch": "main" });
        let branch = json!({ "branch": format!("b{number}"), "ref": "main" });
        ada.post(&format!("{at}/repository/branches"), branch).await.created();
        ada.post(&format!("{at}/merge_requests"), request).await.created();
    }
    iterations(app, ada, top, &[(WORDS[0], 0), (WORDS[1], 7), (WORDS[2], 14), (WORDS[3], 21)]);
    LISTS.map(|list| list.replace("GROUP", &group).replace("PROJECT", &at)).to_vec()
}

/// Each list finds each word once, as it is written, in small and in large letters.
async fn ensure_found_once(person: &Person<'_>, lists: &[String]) {
    for word in WORDS {
        for written in [word.to_owned(), word.to_lowercase(), word.to_uppercase()] {
            let asked: String = written.bytes().map(|byte| format!("%{byte:02X}")).collect();
            for list in lists {
                let found = person.get(&format!("{list}{asked}")).await.ok();
                assert_eq!(found.as_array().map(Vec::len), Some(1), "{written} in {list}: {found}");
            }
        }
    }
}

#[actix_web::test]
async fn words_of_every_script_are_found_however_they_are_written() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let lists = named(&app, &ada).await;
    ensure_found_once(&ada, &lists).await;
}

/// Apart from the others, as each token of a project or group has an account of that name.
#[actix_web::test]
async fn tokens_are_found_by_words_of_every_script() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = format!("/groups/{}", ada.group("top", None).await);
    let project = format!("/projects/{}", app.project(&ada, "site", Private));
    for word in WORDS {
        let token = json!({ "name": word, "scopes": ["api"], "expires_at": "2026-01-30" });
        for place in [&group, &project] {
            ada.post(&format!("{place}/access_tokens"), token.clone()).await.created();
        }
        let own = json!({ "name": word, "scopes": ["k8s_proxy"], "expires_at": "2026-01-30" });
        ada.post("/user/personal_access_tokens", own).await.created();
    }
    let lists = [
        format!("{group}/access_tokens?search="),
        format!("{project}/access_tokens?search="),
        "/personal_access_tokens?search=".to_owned(),
    ];
    ensure_found_once(&ada, &lists).await;
}

#[actix_web::test]
async fn names_are_read_without_regard_to_case_and_then_by_bytes() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let site = app.project(&ada, "site", Private);
    let titles = ["banana", "Apple", "cherry", "Zebra", "apple pie", "apple", "ähre", "Äpfel"];
    for title in titles {
        ada.post(&format!("/projects/{site}/issues"), json!({ "title": title })).await.created();
    }
    let mut sorted = ["Apple", "apple", "apple pie", "banana", "cherry", "Zebra", "ähre", "Äpfel"];
    for (sort, list) in [("asc", "/issues"), ("desc", "/issues")] {
        let path = format!("{list}?scope=all&order_by=title&sort={sort}");
        assert_eq!(ada.get(&path).await.each("title"), sorted);
        let second = ada.get(&format!("{path}&per_page=3&page=2")).await;
        assert_eq!(second.each("title"), sorted[3..6]);
        sorted.reverse();
    }
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
