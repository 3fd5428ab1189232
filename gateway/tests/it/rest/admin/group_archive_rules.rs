//! Rules that hold for groups out of archives as for all others, and what archives of groups tell nobody.

use std::io::Read as _;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::{
    archive_failures::with_lines,
    archives::{count_nothing, send_archive},
    group_archives::{exported, full_group},
    imports::work,
};
use crate::support::{Person, TestApp};

async fn import(person: &Person<'_>, archive: &[u8], path: &str) {
    let fields = [("name", path), ("path", path)];
    send_archive(person, "/groups/import", archive, &fields).await.with(202);
    work(person.app).await;
}

/// All files of an archive, one after another.
fn text_of(archive: &[u8]) -> String {
    let mut bytes = Vec::new();
    GzDecoder::new(archive).read_to_end(&mut bytes).expect("a stream");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[actix_web::test]
async fn notes_about_epics_of_other_groups_stay_behind() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    ada.group_with("attic", json!({ "visibility": "private" })).await;
    for path in ["attic", "tools%2Fsmall"] {
        let epic = json!({ "title": "Pour", "description": "After tools&1" });
        ada.post(&format!("/groups/{path}/epics"), epic).await.created();
    }
    work(&app).await;
    let mut notes = ada.get("/groups/tools/epics/1/notes").await.each("body");
    assert_eq!(notes.len(), 2, "{notes:?}");

    let archive = exported(&ada, &group).await;

    assert!(!text_of(&archive).contains("attic"));
    import(&ada, &archive, "copy").await;
    notes.retain(|note| !note.to_string().contains("attic"));
    assert_eq!(ada.get("/groups/copy/epics/1/notes").await.each("body"), notes);
}

#[actix_web::test]
async fn owners_bring_no_protection_of_branches_that_they_may_not_set() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let (ada, root) = (app.person("ada"), app.admin());
    let group = full_group(&ada).await;
    ada.put(&format!("/groups/{group}"), json!({ "default_branch_protection": 1 })).await.ok();
    let archive = exported(&ada, &group).await;
    let rule = json!({ "group_owners_can_manage_default_branch_protection": false });
    root.put("/application/settings", rule).await.ok();

    for (person, path, protection) in [(&ada, "of-ada", 2), (&root, "of-root", 1)] {
        import(person, &archive, path).await;
        let copy = person.get(&format!("/groups/{path}")).await.ok();
        assert_eq!(copy["default_branch_protection"], protection, "{path}");
    }
}

#[actix_web::test]
async fn an_archive_whose_groups_would_lie_too_deep_brings_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;
    let (mut parent, mut paths) = (None, Vec::new());
    for number in 1..20 {
        paths.push(format!("g{number}"));
        parent = Some(ada.group(&format!("g{number}"), parent).await);
    }
    let above = parent.expect("a group").to_string();

    let fields = [("name", "Copy"), ("path", "copy"), ("parent_id", above.as_str())];
    send_archive(&ada, "/groups/import", &archive, &fields).await.with(202);
    work(&app).await;

    let copy = format!("/groups/{}%2Fcopy", paths.join("%2F"));
    for list in ["subgroups", "labels"] {
        assert_eq!(ada.get(&format!("{copy}/{list}")).await.ok(), json!([]), "{list}");
    }
}

#[actix_web::test]
async fn epics_lie_no_deeper_than_they_may() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let path = format!("/groups/{group}/epics");
    let mut ids = vec![ada.get(&format!("{path}/1")).await.ok()["id"].clone()];
    for number in 2..=9 {
        let cup = json!({ "title": format!("Cup {number}") });
        ids.push(ada.post(&path, cup).await.created()["id"].clone());
    }
    ada.post(&format!("{path}/1/epics/{}", ids[1]), json!({})).await.created();
    let chain = with_lines(&exported(&ada, &group).await, "epic_parents.ndjson", |row| {
        let inside = |pair: &[Value]| {
            let mut row = row.clone();
            (row["parent_id"], row["id"]) = (pair[0].clone(), pair[1].clone());
            row.to_string()
        };
        ids.windows(2).map(inside).collect::<Vec<_>>().join("\n")
    });

    import(&ada, &chain, "copy").await;

    for (iid, parent) in [(2, json!(1)), (7, json!(6)), (8, Value::Null), (9, Value::Null)] {
        let epic = ada.get(&format!("/groups/copy/epics/{iid}")).await.ok();
        assert_eq!(epic["parent_iid"], parent, "{iid}");
    }
}
