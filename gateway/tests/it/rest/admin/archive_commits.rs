//! Commits in archives of projects: those that rows name and no branch has (`crates/forge/src/keep_around.rs`), and
//! rows that name commits which are not there.

use kernel::ids::ProjectId;
use serde_json::{Value, json};

use super::{
    archive_contents::plain,
    archive_failures::{rewritten, with_fields, with_lines},
    archive_pipelines::with_topic,
    archives::{count_nothing, exported, imported},
    imports::work,
};
use crate::support::{Person, TestApp, ci::pipelines, git::Client};

/// A commit that no repository has.
const ABSENT: &str = "1111111111111111111111111111111111111111";

fn id_of(project: &Value) -> ProjectId {
    ProjectId(project.as_i64().expect("an id"))
}

/// The copy of a project that an archive becomes.
async fn copy_of(person: &Person<'_>, archive: &[u8], path: &str) -> Value {
    let done = imported(person, archive, path).await;
    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    done["id"].clone()
}

/// How many refs of a project have this in their names.
fn refs(app: &TestApp, project: &Value, part: &str) -> usize {
    let all = app.refs(id_of(project)).into_iter();
    all.filter(|(path, _)| path.to_string_lossy().contains(part)).count()
}

/// The versions of a merge request, with their commits and differences.
async fn versions(person: &Person<'_>, project: &Value) -> Vec<Value> {
    let path = format!("/projects/{project}/merge_requests/1/versions");
    let mut all = Vec::new();
    for id in person.get(&path).await.each("id") {
        let version = person.get(&format!("{path}/{id}")).await.ok();
        let commits = version["commits"].as_array().expect("commits");
        let ids: Value = commits.iter().map(|commit| commit["id"].clone()).collect();
        all.push(json!([ids, plain(&version)]));
    }
    all
}

/// Has a branch begin anew beside its old commits.
async fn force(person: &Person<'_>, project: &Value, branch: &str) {
    let action = json!({ "action": "create", "file_path": "again.txt", "content": "x" });
    let forced = json!({ "branch": branch, "start_branch": "main", "force": true,
                         "commit_message": "Again", "actions": [action] });
    person.post(&format!("/projects/{project}/repository/commits"), forced).await.created();
}

async fn delete_branch(person: &Person<'_>, project: &Value, branch: &str) {
    person.delete(&format!("/projects/{project}/repository/branches/{branch}")).await.with(204);
}

/// The remark on a line of a merge request.
async fn remark(person: &Person<'_>, project: &Value) -> Value {
    let path = format!("/projects/{project}/merge_requests/1/discussions");
    let said = person.get(&path).await.ok();
    let mut first = said.as_array().expect("threads").iter().map(|thread| &thread["notes"][0]);
    first.find(|note| note["type"] == "DiffNote").cloned().expect("a remark")
}

/// A project with a merge request, and a remark on a line of it.
async fn proposed(ada: &Person<'_>) -> Value {
    let project = ada.filled_project("Engine", "private").await;
    ada.commit_text(&project, "topic", "topic.txt", "one\ntwo\n").await;
    let mut position = ada.propose(&project, "topic", "Add it").await["diff_refs"].clone();
    position["position_type"] = json!("text");
    position["old_path"] = json!("topic.txt");
    position["new_path"] = json!("topic.txt");
    position["new_line"] = json!(1);
    let sent = json!({ "body": "Why?", "position": position });
    ada.post(&format!("/projects/{project}/merge_requests/1/discussions"), sent).await.created();
    project
}

#[actix_web::test]
async fn versions_that_a_forced_push_left_behind_come_back_equal() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = proposed(&ada).await;
    force(&ada, &project, "topic").await;
    work(&app).await;
    let before = versions(&ada, &project).await;
    assert_eq!(before.len(), 2, "{before:?}");

    let copy = copy_of(&ada, &exported(&ada, &project).await, "copy").await;

    assert_eq!(versions(&ada, &copy).await, before);
    assert_eq!(refs(&app, &copy, "refs/keep-around/"), 1);
    assert_eq!(remark(&ada, &copy).await["body"], "Why?");
}

#[actix_web::test]
async fn commits_that_only_comments_name_come_along() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "private").await;
    let mut commits = Vec::new();
    for file in ["one.txt", "two.txt"] {
        let sha = ada.commit(&project, "topic", file).await;
        let path = format!("/projects/{project}/repository/commits/{sha}/comments");
        ada.post(&path, json!({ "note": file })).await.created();
        commits.push((file, sha));
    }
    delete_branch(&ada, &project, "topic").await;

    let archive = exported(&ada, &project).await;
    let copy = copy_of(&ada, &archive, "copy").await;

    for (file, sha) in commits {
        let path = format!("/projects/{copy}/repository/commits/{sha}");
        assert_eq!(ada.get(&path).await.ok()["id"], sha);
        assert_eq!(ada.get(&format!("{path}/comments")).await.ok()[0]["note"], file);
        assert_eq!(ada.get(&format!("{path}/diff")).await.ok()[0]["new_path"], file);
    }
    // A ref of the last one keeps those before it, too.
    assert_eq!(refs(&app, &project, "refs/keep-around/"), 1);
    assert_eq!(refs(&app, &copy, "refs/keep-around/"), 1);
}

#[actix_web::test]
async fn the_commit_of_a_pipeline_of_which_no_job_began_comes_along() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, sha) = with_topic(&app, &ada).await;
    assert_eq!(pipelines(&ada, project, &format!("?sha={sha}")).await.len(), 1);
    delete_branch(&ada, &json!(project), "topic").await;

    let copy = copy_of(&ada, &exported(&ada, &json!(project)).await, "copy").await;

    let found = pipelines(&ada, id_of(&copy), &format!("?sha={sha}")).await;
    assert_eq!(found.len(), 1, "{found:?}");
    ada.get(&format!("/projects/{copy}/repository/commits/{sha}")).await.ok();
}

#[actix_web::test]
async fn notes_of_git_come_along() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "private").await;
    let home = app.state.storage.repository(id_of(&project));
    let home = home.as_path().to_str().expect("a path").to_owned();
    let git = Client::new();
    git.git(&["--git-dir", &home, "notes", "add", "-m", "seen", "main"]).await.ok();

    let copy = copy_of(&ada, &exported(&ada, &project).await, "copy").await;

    assert_eq!(refs(&app, &copy, "refs/notes/commits"), 1);
}

/// An archive with other words of the same length in the first lines of its bundle.
fn with_bundle(archive: &[u8], old: &str, new: &str) -> Vec<u8> {
    rewritten(archive, |path, mut content| {
        if path.ends_with("project.bundle") {
            let mut windows = content.windows(old.len());
            let place = windows.position(|part| part == old.as_bytes()).expect("a ref");
            content[place..place + old.len()].copy_from_slice(new.as_bytes());
        }
        (path, content)
    })
}

#[actix_web::test]
async fn a_ref_that_keeps_a_commit_keeps_no_other_thing() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "private").await;
    let sha = ada.commit(&project, "topic", "one.txt").await;
    let path = format!("/projects/{project}/repository/commits/{sha}/comments");
    ada.post(&path, json!({ "note": "Hm" })).await.created();
    delete_branch(&ada, &project, "topic").await;
    let archive = exported(&ada, &project).await;
    let home = app.state.storage.repository(id_of(&project));
    let home = home.as_path().to_str().expect("a path").to_owned();
    let of_tree = format!("{sha}^{{tree}}");
    let tree = Client::new().git(&["--git-dir", &home, "rev-parse", &of_tree]).await.ok();
    let line = |id: &str, name: &str| format!("{id} refs/keep-around/{name}\n");

    for (name, new, kept) in [
        ("whole", line(&sha, &sha), 1),
        ("other", line(&sha, ABSENT), 0),
        ("of-a-tree", line(&tree, &tree), 0),
    ] {
        let forged = with_bundle(&archive, &line(&sha, &sha), &new);
        let copy = copy_of(&ada, &forged, name).await;
        assert_eq!(refs(&app, &copy, "refs/keep-around/"), kept, "{name}");
    }
}

#[actix_web::test]
async fn a_branch_and_a_tag_of_one_name_both_come_along() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "private").await;
    let base = format!("/projects/{project}/repository");
    ada.post(&format!("{base}/branches"), json!({ "branch": "v1", "ref": "main" })).await.created();
    for name in ["main", "v1", "v2"] {
        ada.post(&format!("{base}/tags"), json!({ "tag_name": name, "ref": "main" }))
            .await
            .created();
    }

    let copy = copy_of(&ada, &exported(&ada, &project).await, "copy").await;

    for (kind, names) in [("branches", vec!["main", "v1"]), ("tags", vec!["main", "v1", "v2"])] {
        let path = format!("/projects/{copy}/repository/{kind}");
        let mut found = ada.get(&path).await.each("name");
        found.sort_by_key(ToString::to_string);
        assert_eq!(found, names, "{kind}");
    }
}

#[actix_web::test]
async fn an_archive_whose_branch_is_no_commit_is_refused_at_once() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "private").await;
    let archive = exported(&ada, &project).await;
    let branch = format!("/projects/{project}/repository/branches/main");
    let sha = ada.get(&branch).await.ok()["commit"]["id"].as_str().expect("a hash").to_owned();
    let home = app.state.storage.repository(id_of(&project));
    let home = home.as_path().to_str().expect("a path").to_owned();
    let of_tree = format!("{sha}^{{tree}}");
    let tree = Client::new().git(&["--git-dir", &home, "rev-parse", &of_tree]).await.ok();
    let line = |id: &str| format!("{id} refs/heads/main\n");

    let done = imported(&ada, &with_bundle(&archive, &line(&sha), &line(&tree)), "copy").await;

    assert_eq!(done["import_status"], "failed", "{done}");
    assert_eq!(done["import_error"], "A bundle of the archive has a branch that is no commit.");
}

#[actix_web::test]
async fn a_merge_request_without_its_commits_is_no_error_of_the_server() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = proposed(&ada).await;
    let archive = exported(&ada, &project).await;
    let fields = json!({ "head_sha": ABSENT });
    let forged = with_fields(&archive, "project/merge_requests.ndjson", &fields);
    let fields = json!({ "head_commit_sha": ABSENT });
    let forged = with_fields(&forged, "project/merge_request_versions.ndjson", &fields);

    let copy = copy_of(&ada, &forged, "copy").await;

    let path = format!("/projects/{copy}/merge_requests/1");
    let version = ada.get(&format!("{path}/versions")).await.each("id")[0].clone();
    for part in ["changes", "diffs", "raw_diffs", "commits", &format!("versions/{version}")] {
        assert_eq!(ada.get(&format!("{path}/{part}")).await.status, 404, "{part}");
    }
    for part in ["", "/versions", "/context_commits", "/pipelines", "/discussions"] {
        ada.get(&format!("{path}{part}")).await.ok();
    }
}

/// The kinds of background work that failed.
fn failures(app: &TestApp) -> Vec<String> {
    use db::schema::work;
    use diesel::prelude::*;
    app.write(|tx| {
        let rows = work::table.filter(work::attempts.gt(0)).select(work::kind);
        db::each_backend!(tx, |conn| rows.load(conn).map_err(db::error("Work")))
    })
}

#[actix_web::test]
async fn threads_about_lines_of_absent_commits_stay_where_they_are() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = proposed(&ada).await;
    let archive = exported(&ada, &project).await;
    let forged = with_lines(&archive, "project/notes.ndjson", |mut row| {
        if let Some(text) = row["position"].as_str() {
            let mut place: Value = serde_json::from_str(text).expect("a position");
            place["head_sha"] = json!(ABSENT);
            row["position"] = json!(place.to_string());
        }
        row.to_string()
    });
    let copy = copy_of(&ada, &forged, "copy").await;

    ada.commit_text(&copy, "topic", "topic.txt", "zero\none\ntwo\n").await;
    work(&app).await;

    assert!(!failures(&app).iter().any(|kind| kind == "merge_request.follow_lines"));
    let note = remark(&ada, &copy).await;
    assert_eq!((&note["body"], &note["position"]["new_line"]), (&json!("Why?"), &json!(1)));
    assert_eq!(note["position"]["head_sha"], ABSENT);
}
