//! What an archive of a group holds, what it cannot say, and who is told of the groups that come out of it.

use actix_web::http::Method;
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_contents::plain,
    archive_failures::{set_writable, with_lines},
    archives::{count_nothing, send_archive},
    group_archives::{exported, full_group},
    group_removal::{paths, system},
    imports::work,
    receiver::deliver,
};
use crate::support::{Answer, Person, TestApp, uploads::send_file};

/// As much of a picture as is looked at.
const PICTURE: &str = "GIF89a, and more";

/// Lists that are the same of a group and of its copy.
const LISTS: [&str; 12] = [
    "/labels",
    "/milestones",
    "/epics?sort=asc",
    "/epics/1",
    "/epics/1/notes?sort=asc",
    "/epics/1/award_emoji",
    "/epics/2/epics",
    "/boards",
    "/epic_boards",
    "%2Fsmall/milestones",
    "%2Fsmall/epics/1",
    "%2Fsmall/wikis",
];

/// An answer without what is a group's own.
fn bare(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(bare).collect(),
        Value::Object(fields) => {
            let own = ["group", "group_id", "parent_id"];
            let kept = fields.into_iter().filter(|(name, _)| !own.contains(&name.as_str()));
            kept.map(|(name, value)| (name, bare(value))).collect()
        }
        other => other,
    }
}

async fn snapshot(person: &Person<'_>, group: &str) -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    for list in LISTS {
        let found = person.get(&format!("/groups/{group}{list}")).await.ok();
        all.push((list, bare(plain(&found))));
    }
    all
}

/// The group `tools` with something of everything; epics are inside of younger ones, and of those of the group above.
async fn grown_group(ada: &Person<'_>) -> Value {
    let group = full_group(ada).await;
    let base = format!("/groups/{group}");
    let brew = ada.get(&format!("{base}/epics/1")).await.ok()["id"].clone();
    let serve = json!({ "title": "Serve", "labels": "bug", "description": "After &1" });
    ada.post(&format!("{base}/epics"), serve).await.created();
    ada.post(&format!("{base}/epics/2/epics/{brew}"), json!({})).await.created();
    let pour = json!({ "title": "Pour", "parent_id": brew });
    ada.post("/groups/tools%2Fsmall/epics", pour).await.created();
    ada.post(&format!("{base}/epics/1/notes"), json!({ "body": "Which tea?" })).await.created();
    ada.post(&format!("{base}/epics/1/award_emoji"), json!({ "name": "tea" })).await.created();
    ada.post(&format!("{base}/epics/1/unsubscribe"), json!({})).await.created();
    let milestone = ada.post(&format!("{base}/milestones"), json!({ "title": "2.0" })).await;
    let milestone = milestone.created()["id"].clone();
    let label = ada.get(&format!("{base}/labels")).await.ok()[0]["id"].clone();
    let board = ada.post(&format!("{base}/boards"), json!({ "name": "Next" })).await.created();
    for list in [json!({ "label_id": label }), json!({ "milestone_id": milestone })] {
        ada.post(&format!("{base}/boards/{}/lists", board["id"]), list).await.created();
    }
    let query = r#"mutation { epicBoardCreate(input: { groupPath: "tools", name: "Big", labels: "bug" }) {
        errors } }"#;
    ada.post("//api/graphql", json!({ "query": query })).await.ok();
    let page = json!({ "title": "home", "content": "Tea" });
    ada.post("/groups/tools%2Fsmall/wikis", page).await.created();
    let settings = json!({ "description": "Cups", "default_branch_protection": 1 });
    ada.put(&base, settings).await.ok();
    let small = "/groups/tools%2Fsmall";
    send_file(ada, Method::PUT, small, "avatar", "cup.gif", PICTURE).await.ok();
    group
}

async fn import(person: &Person<'_>, archive: &[u8]) -> Answer {
    send_archive(person, "/groups/import", archive, &[("name", "Copy"), ("path", "copy")]).await
}

#[actix_web::test]
async fn everything_in_a_group_comes_back_equal() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = grown_group(&ada).await;
    let before = snapshot(&ada, "tools").await;
    let archive = exported(&ada, &group).await;
    let there = ada.get("/groups/tools").await.ok();
    app.clock.advance(Duration::hours(1));

    import(&ada, &archive).await.with(202);
    work(&app).await;

    for ((list, copy), (_, original)) in snapshot(&ada, "copy").await.iter().zip(&before) {
        assert_eq!(copy, original, "{list}");
        assert_ne!(copy, &json!([]), "{list}");
    }
    let here = ada.get("/groups/copy").await.ok();
    for field in ["description", "default_branch_protection", "created_at"] {
        assert_eq!(here[field], there[field], "{field}");
    }
    let page = ada.get("/groups/copy%2Fsmall/wikis/home").await.ok();
    assert_eq!(page["content"], "Tea");
    let small = ada.get("/groups/copy%2Fsmall").await.ok();
    let picture = format!("/uploads/-/system/group/avatar/{}/cup.gif", small["id"]);
    assert_eq!(small["avatar_url"], json!(format!("http://forge.test{picture}")));
    assert_eq!(ada.get(&format!("/{picture}")).await.bytes, PICTURE.as_bytes());
    let mut told = ada.get("/events?target_type=milestone").await.each("target_title");
    told.sort_by_key(Value::to_string);
    assert_eq!(told, ["1.0", "1.0", "2.0", "2.0"]);
}

#[actix_web::test]
async fn epics_are_never_inside_of_themselves() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = grown_group(&ada).await;
    let archive = exported(&ada, &group).await;
    let circle = with_lines(&archive, "epic_parents.ndjson", |row| {
        let mut back = row.clone();
        (back["id"], back["parent_id"]) = (row["parent_id"].clone(), row["id"].clone());
        format!("{row}\n{back}")
    });

    import(&ada, &circle).await.with(202);
    work(&app).await;

    for iid in [1, 2] {
        let epic = ada.get(&format!("/groups/copy/epics/{iid}")).await.ok();
        assert_eq!(epic["parent_iid"], Value::Null, "{iid}");
    }
}

#[actix_web::test]
async fn boards_of_epics_have_no_lists_of_milestones() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = grown_group(&ada).await;
    let board = ada.get("/groups/tools/epic_boards").await.ok()[0]["id"].clone();
    let archive = exported(&ada, &group).await;
    let moved = with_lines(&archive, "board_milestone_lists.ndjson", |mut row| {
        row["board_id"] = board.clone();
        row.to_string()
    });

    import(&ada, &moved).await.with(202);
    work(&app).await;

    let boards = ada.get("/groups/copy/epic_boards").await.ok();
    assert_eq!((&boards[0]["name"], &boards[0]["lists"]), (&json!("Big"), &json!([])));
    let board = ada.get("/groups/copy/boards").await.ok()[0].clone();
    assert_eq!(board["lists"].as_array().map(Vec::len), Some(1), "{board}");
}

#[actix_web::test]
async fn groups_that_cannot_be_are_refused() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;
    for (field, value) in [
        ("path", json!("../tea")),
        ("path", json!("blob")),
        ("name", json!("<b>Tea</b>")),
        ("description", json!("x".repeat(501))),
        ("description", json!("\0")),
        ("default_branch_protection", json!(9)),
        ("settings", json!({ "two_factor_grace_period": -1 })),
    ] {
        let changed = with_lines(&archive, "tree/groups.ndjson", |mut row| {
            if !row["parent_id"].is_null() {
                row[field] = value.clone();
            }
            row.to_string()
        });
        let refused = import(&ada, &changed).await.with(400).to_string();
        assert!(refused.contains("The archive has a group") || field == "description", "{refused}");
        ada.get("/groups/copy").await.with(404);
    }
}

#[actix_web::test]
async fn a_group_below_gives_no_more_than_the_one_above_allows() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;
    let above = ada.group("above", None).await;
    let off = json!({ "shared_runners_setting": "disabled_and_unoverridable" });
    ada.put(&format!("/groups/{above}"), off).await.ok();

    let above = above.to_string();
    let fields = [("name", "Copy"), ("path", "copy"), ("parent_id", above.as_str())];
    send_archive(&ada, "/groups/import", &archive, &fields).await.with(202);
    work(&app).await;

    for path in ["above%2Fcopy", "above%2Fcopy%2Fsmall"] {
        let shown = ada.get(&format!("/groups/{path}")).await.ok();
        assert_eq!(shown["shared_runners_setting"], "disabled_and_unoverridable", "{path}");
    }
}

#[actix_web::test]
async fn groups_of_an_archive_are_told_of_once_they_are_whole() {
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;
    let system = system(&app).await;
    set_writable(&app, "milestones", false);
    import(&ada, &archive).await.with(202);
    work(&app).await;
    deliver(&app).await;
    assert_eq!(paths(&system.told(), "group_create", "full_path"), ["copy"]);

    set_writable(&app, "milestones", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;
    deliver(&app).await;

    assert_eq!(paths(&system.told(), "group_create", "full_path"), ["copy/small"]);
}

#[actix_web::test]
async fn groups_whose_import_fails_were_never_there() {
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let flawed = with_lines(&exported(&ada, &group).await, "milestones.ndjson", |row| {
        let mut twin = row.clone();
        twin["id"] = json!(1_000_000);
        format!("{row}\n{twin}")
    });
    let system = system(&app).await;

    import(&ada, &flawed).await.with(202);
    work(&app).await;
    deliver(&app).await;

    let told = system.told();
    assert_eq!(paths(&told, "group_create", "full_path"), ["copy"]);
    assert_eq!(paths(&told, "group_destroy", "full_path"), Vec::<&str>::new());
    ada.get("/groups/copy%2Fsmall").await.with(404);
}
