//! Rules that hold for groups out of archives as for all others, and what archives of groups tell nobody.

use std::io::Read as _;

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_failures::{set_writable, with_entry, with_fields, with_lines},
    archive_limits::run,
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

/// Begins an import that stops at the milestones, as one of a server that is killed does.
async fn begin_import(person: &Person<'_>, archive: &[u8], parent: Option<i64>) {
    set_writable(person.app, "milestones", false);
    let parent = parent.map(|id| id.to_string());
    let mut fields = vec![("name", "copy"), ("path", "copy")];
    fields.extend(parent.as_deref().map(|id| ("parent_id", id)));
    send_archive(person, "/groups/import", archive, &fields).await.with(202);
    work(person.app).await;
}

async fn resume_import(app: &TestApp) {
    set_writable(app, "milestones", true);
    app.clock.advance(Duration::minutes(1));
    work(app).await;
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
async fn an_archive_whose_groups_would_lie_too_deep_after_a_transfer_brings_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;
    let (mut parent, mut paths) = (None, vec!["top".to_owned()]);
    for number in 1..19 {
        paths.push(format!("g{number}"));
        parent = Some(ada.group(&format!("g{number}"), parent).await);
    }
    let above = parent.expect("a group").to_string();
    let top = ada.group("top", None).await;

    let fields = [("name", "Copy"), ("path", "copy"), ("parent_id", above.as_str())];
    send_archive(&ada, "/groups/import", &archive, &fields).await.with(202);
    ada.post("/groups/g1/transfer", json!({ "group_id": top })).await.created();
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

#[actix_web::test]
async fn an_import_of_somebody_who_is_no_owner_any_more_brings_nothing() {
    for is_blocked in [false, true] {
        let app = TestApp::new();
        let (ann, root) = (app.person("ann"), app.admin());
        let group = full_group(&ann).await;
        let archive = exported(&ann, &group).await;
        let above = root.group("above", None).await;
        let id = root.adds("ann", 40, "/groups/above").await;

        begin_import(&ann, &archive, Some(above)).await;
        match is_blocked {
            true => root.post(&format!("/users/{id}/block"), json!({})).await.created(),
            false => root.delete(&format!("/groups/above/members/{id}")).await.with(204),
        };
        resume_import(&app).await;

        let copy = "/groups/above%2Fcopy";
        for list in ["subgroups", "labels", "milestones"] {
            assert_eq!(root.get(&format!("{copy}/{list}")).await.ok(), json!([]), "{list}");
        }
        let members = root.get(&format!("{copy}/members/all")).await.each("username");
        assert!(is_blocked || !members.contains(&json!("ann")), "{members:?}");
    }
}

#[actix_web::test]
async fn groups_at_a_place_that_only_another_version_knows_begin_anew() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;

    begin_import(&ada, &archive, None).await;
    run(&app, "UPDATE archive_imports SET relation = 1, line = 0");
    resume_import(&app).await;

    for (list, field, told) in [
        ("copy/subgroups", "path", "small"),
        ("copy/labels", "name", "bug"),
        ("copy/epics", "title", "Brew"),
        ("copy%2Fsmall/milestones", "title", "1.0"),
    ] {
        assert_eq!(ada.get(&format!("/groups/{list}")).await.each(field), [told], "{list}");
    }
}

#[actix_web::test]
async fn an_archive_of_a_group_lacks_only_rows_of_its_own_lists() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;
    let lacking = |list: &str| {
        let row = json!({ "relation": list, "id": 7, "reason": "x" });
        with_entry(&archive, "tree/left_out.ndjson", &format!("{row}\n"))
    };
    for list in ["pipelines", "secrets"] {
        let fields = [("name", "copy"), ("path", "copy")];
        let refused = send_archive(&ada, "/groups/import", &lacking(list), &fields).await;
        let told = refused.with(400).to_string();
        assert!(told.contains("does not say of which list"), "{list}: {told}");
        ada.get("/groups/copy").await.with(404);
    }
    import(&ada, &lacking("epics"), "copy").await;
    assert_eq!(ada.get("/groups/copy/epics").await.each("title"), ["Brew"]);
}

#[actix_web::test]
async fn a_group_that_is_renamed_during_an_import_is_made_once() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;

    begin_import(&ada, &archive, None).await;
    let new = json!({ "name": "Tiny", "path": "tiny" });
    ada.put("/groups/copy%2Fsmall", new).await.ok();
    resume_import(&app).await;

    assert_eq!(ada.get("/groups/copy/subgroups").await.each("path"), ["tiny"]);
    assert_eq!(ada.get("/groups/copy%2Ftiny/milestones").await.each("title"), ["1.0"]);
    assert_eq!(ada.get("/groups/copy/epics").await.each("title"), ["Brew"]);
}

#[actix_web::test]
async fn a_group_that_is_removed_or_moved_during_an_import_ends_it() {
    for (is_moved, begins_anew) in [(false, false), (true, false), (false, true), (true, true)] {
        let app = TestApp::new();
        let ada = app.person("ada");
        let group = full_group(&ada).await;
        let archive = exported(&ada, &group).await;
        ada.group("attic", None).await;

        begin_import(&ada, &archive, None).await;
        let small = ada.get("/groups/copy%2Fsmall").await.ok()["id"].clone();
        match is_moved {
            true => {
                let attic = json!({ "group_id": ada.get("/groups/attic").await.ok()["id"] });
                ada.post(&format!("/groups/{small}/transfer"), attic).await.created()
            }
            false => ada.delete(&format!("/groups/{small}")).await.with(202),
        };
        if begins_anew {
            run(&app, "UPDATE archive_imports SET relation = 1, line = 0");
        }
        resume_import(&app).await;

        for list in ["subgroups", "labels", "epics"] {
            assert_eq!(ada.get(&format!("/groups/copy/{list}")).await.ok(), json!([]), "{list}");
        }
        let moved = ada.get("/groups/attic/subgroups").await.each("path");
        assert_eq!(moved.len(), usize::from(is_moved), "it stays where it is");
    }
}

#[actix_web::test]
async fn projects_of_people_outlive_an_import_that_fails() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    ada.group_with("empty", json!({ "parent_id": group })).await;
    let label = json!({ "name": "tea", "color": "#00ff00" });
    ada.post("/groups/tools%2Fsmall/labels", label).await.created();
    let flawed = with_lines(&exported(&ada, &group).await, "milestones.ndjson", |row| {
        let mut twin = row.clone();
        twin["id"] = json!(row["id"].as_i64().expect("an id") + 1_000_000);
        format!("{row}\n{twin}")
    });

    begin_import(&ada, &flawed, None).await;
    let small = ada.get("/groups/copy%2Fsmall").await.ok()["id"].clone();
    let labels = ada.get("/groups/copy%2Fsmall/labels?include_ancestor_groups=false").await;
    assert_eq!(labels.each("name"), ["tea"]);
    let project = json!({ "name": "kept", "namespace_id": small });
    ada.post("/projects", project).await.created();
    resume_import(&app).await;

    ada.get("/projects/copy%2Fsmall%2Fkept").await.ok();
    assert_eq!(ada.get("/groups/copy/subgroups").await.each("path"), ["small"]);
    for group in ["copy", "copy%2Fsmall"] {
        for list in ["labels", "milestones"] {
            let path = format!("/groups/{group}/{list}");
            assert_eq!(ada.get(&path).await.ok(), json!([]), "{path}");
        }
    }
}

#[actix_web::test]
async fn groups_and_numbers_that_cannot_be_are_refused_before_a_group_is_made() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let base = format!("/groups/{group}");
    let label = ada.get(&format!("{base}/labels")).await.ok()[0]["id"].clone();
    let board = ada.post(&format!("{base}/boards"), json!({ "name": "Next" })).await.created();
    let list = json!({ "label_id": label });
    ada.post(&format!("{base}/boards/{}/lists", board["id"]), list).await.created();
    let archive = exported(&ada, &group).await;
    // Further groups below the second one, or beside it.
    let with_groups = |count: i64, is_chain: bool| {
        with_lines(&archive, "tree/groups.ndjson", |row| {
            let mut lines = vec![row.to_string()];
            let mut next = row.clone();
            for number in 0..count * i64::from(row["parent_id"].is_number()) {
                if is_chain {
                    next["parent_id"] = next["id"].clone();
                }
                next["id"] = json!(1_000_000 + number);
                next["path"] = json!("SMALL");
                lines.push(next.to_string());
            }
            lines.join("\n")
        })
    };
    let large = |field: &str| json!({ field: 1_i64 << 31 });
    for (name, flawed) in [
        ("twins", with_groups(1, false)),
        ("depth", with_groups(19, true)),
        ("count", with_fields(&archive, "board_label_lists.ndjson", &large("max_issue_count"))),
        ("weight", with_fields(&archive, "board_label_lists.ndjson", &large("max_issue_weight"))),
    ] {
        let fields = [("name", "copy"), ("path", "copy")];
        let answer = send_archive(&ada, "/groups/import", &flawed, &fields).await;
        assert_eq!(answer.status, 400, "{name}: {}", answer.body);
        ada.get("/groups/copy").await.with(404);
    }
    import(&ada, &with_groups(18, true), "copy").await;
    assert_eq!(ada.get("/groups/copy/labels").await.each("name"), ["bug"]);
}
