//! Making, picking and reverting commits.

use actix_web::http::Method;
use kernel::{AccessLevel, Visibility};
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

struct Forge<'a> {
    ada: Person<'a>,
    path: String,
}

/// A project of `ada`'s without any commit.
fn empty(app: &TestApp) -> Forge<'_> {
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Visibility::Public);
    Forge { ada, path: format!("/projects/{project}/repository") }
}

/// The fixture's history.
fn full<'a>(app: &'a TestApp, fixture: &Fixture) -> Forge<'a> {
    let project = app.project_from(fixture);
    Forge { ada: app.person("ada"), path: format!("/projects/{project}/repository") }
}

impl Forge<'_> {
    async fn commit(&self, body: Value) -> crate::support::Answer {
        self.ada.post(&format!("{}/commits", self.path), body).await
    }

    async fn act(&self, actions: Value) -> crate::support::Answer {
        let body = json!({ "branch": "main", "commit_message": "Act\n", "actions": actions });
        self.commit(body).await
    }

    /// The content of a file on `main`.
    async fn raw(&self, file: &str) -> Option<Vec<u8>> {
        let answer = self.ada.get(&format!("{}/files/{file}/raw?ref=main", self.path)).await;
        (answer.status == 200).then_some(answer.bytes)
    }

    async fn head(&self, branch: &str) -> String {
        let answer = self.ada.get(&format!("{}/commits/{branch}", self.path)).await;
        answer.body["id"].as_str().unwrap_or_default().to_owned()
    }
}

#[track_caller]
fn refused(answer: crate::support::Answer, text: &str) {
    answer.refused(400, json!({ "message": text }));
}

#[actix_web::test]
async fn the_first_commit_makes_the_default_branch() {
    let app = TestApp::new();
    let forge = empty(&app);

    let actions = json!([
        { "action": "create", "file_path": "a.txt", "content": "a\n" },
        { "action": "create", "file_path": "b/empty", "content": "" },
        { "action": "create", "file_path": "run", "content": "IyEK", "encoding": "base64", "execute_filemode": true },
    ]);
    let body = forge.act(actions).await.created();

    assert_eq!(body["title"], "Act");
    assert_eq!(body["message"], "Act\n");
    assert_eq!(body["parent_ids"], json!([]));
    assert_eq!(body["stats"], json!({ "additions": 2, "deletions": 0, "total": 2 }));
    assert_eq!((&body["author_name"], &body["committer_name"]), (&json!("ada"), &json!("ada")));
    assert_eq!(body["committed_date"], "2026-01-01T00:00:00.000+00:00");
    assert_eq!(forge.head("HEAD").await, body["id"].as_str().unwrap_or_default());
    let listed = forge.ada.get(&format!("{}/commits", forge.path)).await.each("id");
    assert_eq!(listed, vec![body["id"].clone()]);
}

#[actix_web::test]
async fn every_action_acts() {
    let app = TestApp::new();
    let forge = empty(&app);
    let files = ["keep", "change", "gone", "mode", "from", "rewrite"];
    let create = |path: &&str| json!({ "action": "create", "file_path": path, "content": "x\n" });
    forge.act(files.iter().map(create).collect()).await.created();

    let actions = json!([
        { "action": "update", "file_path": "change", "content": "y\n" },
        { "action": "delete", "file_path": "gone" },
        { "action": "chmod", "file_path": "mode", "execute_filemode": true },
        { "action": "move", "file_path": "to/there", "previous_path": "from" },
        { "action": "move", "file_path": "rewritten", "previous_path": "rewrite", "content": "" },
    ]);
    let id = forge.act(actions).await.created()["id"].clone();

    let path = format!("{}/commits/{}/diff", forge.path, id.as_str().unwrap_or_default());
    let diff = forge.ada.get(&path).await.ok();
    let of = |path: &str| {
        let files = diff.as_array().into_iter().flatten();
        files.into_iter().find(|file| file["new_path"] == path).cloned().unwrap_or_default()
    };
    assert_eq!(of("change")["diff"], "@@ -1 +1 @@\n-x\n+y\n");
    assert_eq!(of("gone")["deleted_file"], true);
    assert_eq!(
        (&of("mode")["a_mode"], &of("mode")["b_mode"]),
        (&json!("100644"), &json!("100755"))
    );
    assert_eq!(forge.raw("to%2Fthere").await.as_deref(), Some(&b"x\n"[..]));
    assert_eq!(forge.raw("rewritten").await.as_deref(), Some(&b""[..]));
    assert_eq!(forge.raw("from").await, None);
}

#[actix_web::test]
async fn forms_say_the_same_as_json() {
    let app = TestApp::new();
    let forge = empty(&app);
    let path = format!("{}/commits", forge.path);
    let form = "branch=main&commit_message=One&actions[][action]=create&actions[][file_path]=a&\
                actions[][content]=a%0A&actions[][action]=create&actions[][file_path]=b&actions[][content]=%ff";
    let multipart = "--x\r\nContent-Disposition: form-data; name=\"branch\"\r\n\r\nmain\r\n\
                     --x\r\nContent-Disposition: form-data; name=\"commit_message\"\r\n\r\nTwo\r\n\
                     --x\r\nContent-Disposition: form-data; name=\"actions[0][action]\"\r\n\r\nupdate\r\n\
                     --x\r\nContent-Disposition: form-data; name=\"actions[0][file_path]\"\r\n\r\na\r\n\
                     --x\r\nContent-Disposition: form-data; name=\"actions[0][content]\"; filename=\"a\"\r\n\r\nnew\r\n--x--\r\n";

    let kind = "application/x-www-form-urlencoded";
    forge.ada.send_bytes(Method::POST, &path, kind, form.as_bytes()).await.created();
    let kind = "multipart/form-data; boundary=x";
    assert_eq!(forge.raw("b").await.as_deref(), Some(&b"\xff"[..]));
    forge.ada.send_bytes(Method::POST, &path, kind, multipart.as_bytes()).await.created();
    assert_eq!(forge.raw("a").await.as_deref(), Some(&b"new"[..]));
}

#[actix_web::test]
async fn parameters_that_are_missing_are_named() {
    let app = TestApp::new();
    let forge = empty(&app);
    let all = json!([
        { "action": "create", "file_path": "a" },
        { "action": "move", "file_path": "a" },
        { "action": "chmod", "file_path": "a" },
        { "action": "sing", "file_path": "a" },
        { "action": "update", "content": "x" },
        { "action": "update", "file_path": "a", "content": "!", "encoding": "base64" },
    ]);

    let text = "actions[0][content] is missing, actions[1][previous_path] is missing, \
                actions[2][execute_filemode] is missing, actions[3][action] does not have a valid value, \
                actions[4][file_path] is missing, actions[5][content] is invalid";
    forge.act(all).await.refused(400, json!({ "error": text }));
    let text = "branch is missing, commit_message is missing, actions is missing";
    forge.commit(json!({})).await.refused(400, json!({ "error": text }));
    let body = json!({ "branch": " ", "commit_message": "m", "actions": "x", "start_branch": "a", "start_sha": "b" });
    let text =
        "branch is empty, actions is invalid, start_branch, start_sha are mutually exclusive";
    forge.commit(body).await.refused(400, json!({ "error": text }));
}

#[actix_web::test]
async fn each_refusal_has_its_text_and_changes_nothing() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let forge = full(&app, &fixture);
    let before = forge.head("main").await;
    let one = |action: &str, path: &str| json!([{ "action": action, "file_path": path, "content": "x", "execute_filemode": true, "previous_path": "nowhere" }]);

    for (actions, text) in [
        (one("create", "LICENSE"), "A file with this name already exists"),
        (one("create", "docs"), "A directory with this name already exists"),
        (one("update", "nowhere"), "A file with this name doesn't exist"),
        (one("delete", "nowhere"), "A file with this name doesn't exist"),
        (one("chmod", "nowhere"), "A file with this name doesn't exist"),
        (one("move", "somewhere"), "A file with this name doesn't exist"),
        (one("create", "../up"), "Path cannot include directory traversal"),
        (one("create", ""), "You must provide a file path"),
        (one("create", ".git/hooks/x"), "invalid path: '.git/hooks/x'"),
        (json!([]), "Your changes could not be committed"),
    ] {
        refused(forge.act(actions).await, text);
    }
    let long = forge.act(one("create", &"a".repeat(1 << 20))).await;
    assert_eq!(long.status, 400);

    assert_eq!(forge.head("main").await, before);
}

#[actix_web::test]
async fn a_new_branch_needs_a_start() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let forge = full(&app, &fixture);
    let on = |branch: &str, more: Value| {
        let mut body = json!({ "branch": branch, "commit_message": "New", "actions": [
            { "action": "create", "file_path": "new", "content": "n" },
        ] });
        more.as_object().into_iter().flatten().for_each(|(key, value)| body[key] = value.clone());
        body
    };
    let topic = fixture.id("topic").to_string();

    let nowhere = "You can only create or edit files when you are on a branch";
    refused(forge.commit(on("fresh", json!({}))).await, nowhere);
    refused(forge.commit(on("fresh", json!({ "start_branch": "absent" }))).await, nowhere);
    let sha = json!({ "start_sha": "abc" });
    refused(forge.commit(on("fresh", sha)).await, "Invalid start_sha 'abc'");
    let sha = "f".repeat(40);
    let text = format!("Cannot find start_sha '{sha}'");
    refused(forge.commit(on("fresh", json!({ "start_sha": sha }))).await, &text);
    let text =
        "A branch called 'topic' already exists. Switch to that branch in order to make changes";
    refused(forge.commit(on("topic", json!({ "start_branch": "main" }))).await, text);
    let text =
        "Something went wrong when we tried to create '--output=x' for you: Branch name is invalid";
    refused(forge.commit(on("--output=x", json!({ "start_branch": "main" }))).await, text);

    let made = forge.commit(on("one", json!({ "start_branch": "topic" }))).await.created();
    assert_eq!(made["parent_ids"], json!([topic]));
    let made = forge.commit(on("two", json!({ "start_sha": topic }))).await.created();
    assert_eq!(made["parent_ids"], json!([topic]));
    let forced = json!({ "start_branch": "release/1.x", "force": true, "stats": false });
    let made = forge.commit(on("topic", forced)).await.created();
    assert_eq!(made["parent_ids"], json!([fixture.id("release/1.x").to_string()]));
    assert_eq!(made.get("stats"), None);
    assert_eq!(json!(forge.head("topic").await), made["id"]);
}

#[actix_web::test]
async fn a_start_project_must_be_of_the_same_network() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let forge = full(&app, &fixture);
    app.project(&forge.ada, "other", Visibility::Public);
    let with = |project: &str| {
        let actions = json!([{ "action": "create", "file_path": "new", "content": "n" }]);
        json!({ "branch": "x", "start_branch": "main", "start_project": project, "commit_message": "m", "actions": actions })
    };

    let absent = json!({ "message": "404 Project Not Found" });
    forge.commit(with("ada/nowhere")).await.refused(404, absent);
    let text = "403 Forbidden - Project is not included in the fork network for ada / other";
    forge.commit(with("ada/other")).await.refused(403, json!({ "message": text }));
    forge.commit(with("ada/forge")).await.created();
}

#[actix_web::test]
async fn somebody_elses_change_is_not_overwritten() {
    let app = TestApp::new();
    let forge = empty(&app);
    let create = json!([{ "action": "create", "file_path": "a", "content": "1" }]);
    let first = forge.act(create).await.created()["id"].clone();
    let update = |seen: &Value, content: &str| json!([{ "action": "update", "file_path": "a", "content": content, "last_commit_id": seen }]);

    let second = forge.act(update(&first, "2")).await.created()["id"].clone();
    let text = "The file has changed since you started editing it: a";
    refused(forge.act(update(&first, "3")).await, text);
    forge.act(update(&json!("f".repeat(40)), "4")).await.created();
    refused(forge.act(update(&second, "5")).await, text);
}

#[actix_web::test]
async fn a_thousand_actions_are_one_commit() {
    let app = TestApp::new();
    let forge = empty(&app);
    let create = |n: i32| json!({ "action": "create", "file_path": format!("d{}/f{n}", n % 10), "content": n.to_string() });

    let body = forge.act((0..1000).map(create).collect()).await.created();

    assert_eq!(body["stats"]["additions"], 1000);
    assert_eq!(forge.raw("d7%2Ff77").await.as_deref(), Some(&b"77"[..]));
}

#[actix_web::test]
async fn writers_of_other_files_all_win() {
    let app = TestApp::new();
    let forge = empty(&app);
    let create = |name: &str| json!([{ "action": "create", "file_path": name, "content": name }]);
    forge.act(create("first")).await.created();

    let names = ["a", "b", "c", "d", "e", "f"];
    let answers = futures_util::future::join_all(names.map(|name| forge.act(create(name)))).await;

    for answer in answers {
        assert_eq!(answer.status, 201, "{:?}", answer.body);
    }
    let commits = forge.ada.get(&format!("{}/commits", forge.path)).await.each("id");
    assert_eq!(commits.len(), 1 + names.len());
}

#[actix_web::test]
async fn of_two_writers_of_one_file_one_wins_and_the_other_is_told() {
    let app = TestApp::new();
    let forge = empty(&app);
    let write = |action: &str, text: &str| json!([{ "action": action, "file_path": "first", "content": text }]);
    forge.act(write("create", "first")).await.created();

    let texts = ["a", "b", "c", "d"].map(|text| forge.act(write("update", text)));
    let answers = futures_util::future::join_all(texts).await;

    let won = answers.iter().filter(|answer| answer.status == 201).count();
    assert!(won >= 1);
    let told = json!("Could not update refs/heads/main. Please refresh and try again.");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!((answer.status, &answer.body["message"]), (400, &told));
    }
    let commits = forge.ada.get(&format!("{}/commits", forge.path)).await.each("id");
    assert_eq!(commits.len(), 1 + won);
}

#[actix_web::test]
async fn a_branch_that_looks_like_a_commit_or_lies_in_the_way_is_told_in_its_own_words() {
    let app = TestApp::new();
    let forge = empty(&app);
    let create = json!([{ "action": "create", "file_path": "a", "content": "a" }]);
    forge.act(create).await.created();
    let branch = json!({ "branch": "feat/one", "ref": "main" });
    forge.ada.post(&format!("{}/branches", forge.path), branch).await.created();

    for (name, text) in [
        (
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "You cannot create a branch with a 40-character hexadecimal branch name.",
        ),
        ("feat", "'feat' cannot be created: 'feat/one' exists"),
        ("feat/one/x", "'feat/one/x' cannot be created: 'feat/one' exists"),
    ] {
        let told = json!({ "message": text });
        let actions = json!([{ "action": "create", "file_path": "b", "content": "b" }]);
        let body = json!({ "branch": name, "start_branch": "main", "commit_message": "m", "actions": actions });
        forge.commit(body).await.refused(400, told.clone());
        let branch = json!({ "branch": name, "ref": "main" });
        forge.ada.post(&format!("{}/branches", forge.path), branch).await.refused(400, told);
    }
}

#[actix_web::test]
async fn nothing_is_committed_on_top_of_a_damaged_commit() {
    let app = TestApp::new();
    let forge = empty(&app);
    let create = |name: &str| json!([{ "action": "create", "file_path": name, "content": name }]);
    forge.act(create("a")).await.created();
    let head = forge.head("main").await;
    let repo = app.state.storage.repository(app.project_id("ada/forge"));
    let object = repo.as_path().join("objects").join(&head[..2]).join(&head[2..]);
    std::fs::remove_file(&object).unwrap();
    std::fs::write(&object, b"garbage").unwrap();

    let told = "The newest commit of 'main' is damaged. Nothing can be committed on top of it until it is restored.";
    forge.act(create("b")).await.refused(400, json!({ "message": told }));
}

#[actix_web::test]
async fn who_may_not_push_is_told_so() {
    let app = TestApp::new();
    let forge = empty(&app);
    forge.act(json!([{ "action": "create", "file_path": "a", "content": "1" }])).await.created();
    let project = app.project_id("ada/forge");
    let reporter = app.member(project, "rita", AccessLevel::Reporter);
    let body = json!({ "branch": "main", "commit_message": "m", "actions": [{ "action": "delete", "file_path": "a" }] });
    let pick = json!({ "branch": "main" });
    let commits = format!("{}/commits", forge.path);

    let told = json!({ "message": "403 Forbidden - You are not allowed to push into this branch" });
    reporter.post(&commits, body.clone()).await.refused(403, told.clone());
    for verb in ["cherry_pick", "revert"] {
        let path = format!("{commits}/main/{verb}");
        reporter.post(&path, pick.clone()).await.refused(403, told.clone());
        let nobody = json!({ "message": "401 Unauthorized" });
        app.anonymous().post(&path, pick.clone()).await.refused(401, nobody);
    }
    let nobody = json!({ "message": "401 Unauthorized" });
    app.anonymous().post(&commits, body).await.refused(401, nobody);
}

#[actix_web::test]
async fn a_commit_is_picked_onto_another_branch_once() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let forge = full(&app, &fixture);
    let picked = fixture.id("a/two");
    let path = format!("{}/commits/{picked}/cherry_pick", forge.path);
    let topic = fixture.id("topic").to_string();

    let dry = forge.ada.post(&path, json!({ "branch": "topic", "dry_run": true })).await;
    assert_eq!(dry.ok(), json!({ "dry_run": "success" }));
    assert_eq!(forge.head("topic").await, topic);
    let body = forge.ada.post(&path, json!({ "branch": "topic" })).await.created();
    let message = format!("Octopus two, from the past\n\n\n(cherry picked from commit {picked})");
    assert_eq!(body["message"], json!(message));
    assert_eq!(body["parent_ids"], json!([topic]));
    assert_eq!(body["committer_name"], "ada");
    assert_ne!(body["author_email"], body["committer_email"]);
    assert_eq!(body.get("stats"), None);
    let again = forge.ada.post(&path, json!({ "branch": "topic" })).await;
    assert_eq!((again.status, &again.body["error_code"]), (400, &json!("empty")));
    let told = again.body["message"].as_str().unwrap_or_default().to_owned();
    assert!(told.starts_with("Sorry, we cannot cherry-pick this commit automatically."), "{told}");
    let own = json!({ "branch": "orphan", "message": "My words" });
    assert_eq!(forge.ada.post(&path, own).await.created()["message"], "My words");
}

#[actix_web::test]
async fn a_commit_is_reverted_or_the_conflict_told() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let forge = full(&app, &fixture);
    let head = fixture.id("main").to_string();
    let path = format!("{}/commits/{head}/revert", forge.path);

    let body = forge.ada.post(&path, json!({ "branch": "main" })).await.created();
    let message = format!("Revert \"Replace a file by a folder\"\n\nThis reverts commit {head}");
    assert_eq!(body["message"], json!(message));
    assert_eq!(body["author_name"], "ada");
    let diff = forge.ada.get(&format!("{}/compare?from={head}~1&to=main", forge.path)).await;
    assert!(diff.status == 404 || diff.body["diffs"] == json!([]));
    let again = forge.ada.post(&path, json!({ "branch": "main", "dry_run": true })).await;
    assert_eq!(again.status, 400);
    assert!(["empty", "conflict"].contains(&again.body["error_code"].as_str().unwrap_or_default()));
}

#[actix_web::test]
async fn what_git_cannot_join_is_a_conflict_and_nothing_is_written() {
    let app = TestApp::new();
    let forge = empty(&app);
    let update = |branch: &str, content: &str| {
        json!({ "branch": branch, "start_branch": "main", "commit_message": content, "actions": [
            { "action": "update", "file_path": "a", "content": content },
        ] })
    };
    let create = json!([{ "action": "create", "file_path": "a", "content": "one" }]);
    forge.act(create).await.created();
    let side = forge.commit(update("side", "two")).await.created()["id"].clone();
    let side = side.as_str().unwrap_or_default();
    let main = forge.commit(update("main", "three")).await.created()["id"].clone();

    for (verb, done) in [("cherry_pick", "cherry-picked"), ("revert", "reverted")] {
        let word = verb.replace('_', "-");
        let told = json!({ "error_code": "conflict", "message": format!(
            "Sorry, we cannot {word} this commit automatically. This commit may already have been {done}, or a \
             more recent commit may have updated some of its content.") });
        let path = format!("{}/commits/{side}/{verb}", forge.path);
        for dry_run in [true, false] {
            let body = json!({ "branch": "main", "dry_run": dry_run });
            forge.ada.post(&path, body).await.refused(400, told.clone());
        }
    }
    assert_eq!(json!(forge.head("main").await), main);
}

#[actix_web::test]
async fn what_cannot_be_picked_is_named() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let forge = full(&app, &fixture);
    let post = |sha: &str, branch: &str| {
        let path = format!("{}/commits/{sha}/cherry_pick", forge.path);
        let (ada, body) = (forge.ada.clone(), json!({ "branch": branch }));
        async move { ada.post(&path, body).await }
    };

    post("nowhere", "main").await.refused(404, json!({ "message": "404 Commit Not Found" }));
    post("topic", "absent").await.refused(404, json!({ "message": "404 Branch Not Found" }));
    refused(post("topic", "--output=x").await, "The branch refname is invalid");
    post("topic", "").await.refused(400, json!({ "error": "branch is empty" }));
}
