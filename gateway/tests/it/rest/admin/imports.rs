//! Imports: what is asked for and refused, what comes along, and what becomes of it when the source breaks.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

use kernel::Visibility::Private;
use serde_json::{Value, json};
use time::Duration;

use super::source::{ImportSource, SourceFault};
use crate::support::{Person, TestApp};

pub(super) const SINCE: &str = "2020-01-02T03:04:05Z";

pub(super) fn user(login: &str) -> Value {
    json!({ "login": login, "id": 70 })
}

pub(super) fn issue(number: i64, title: &str) -> Value {
    json!({
        "number": number, "title": title, "body": "It leaks", "state": "open", "user": user("mia"),
        "assignees": [], "labels": [{ "name": "bug" }], "created_at": SINCE, "updated_at": SINCE,
    })
}

pub(super) fn pull(source: &ImportSource) -> Value {
    json!({
        "number": 2, "title": "Fix it", "body": "Stops the leak", "state": "open", "user": user("mia"),
        "head": { "ref": "fix", "sha": source.commit("fix"), "repo": { "id": 7 }, "user": user("mia") },
        "base": { "ref": "trunk", "sha": source.commit("trunk"), "repo": { "id": 7 } },
        "assignees": [], "requested_reviewers": [], "labels": [],
        "created_at": SINCE, "updated_at": SINCE,
    })
}

/// Does all that is due, and waits for what it begins.
pub(super) async fn work(app: &TestApp) {
    loop {
        app.work().await;
        if app.state.imports.finish().await == 0 {
            return;
        }
    }
}

pub(super) async fn begin(app: &TestApp, ada: &Person<'_>, source: &ImportSource) -> String {
    let made = ada.post("/import/github", source.wanted("ada")).await.created();
    work(app).await;
    format!("/projects/{}", made["id"])
}

/// Lets time pass until nothing is left to do.
pub(super) async fn finish(app: &TestApp) {
    for _ in 0..20 {
        app.clock.advance(Duration::hours(1));
        work(app).await;
    }
}

#[actix_web::test]
async fn an_import_is_written_down_and_the_project_is_told_of() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");

    for path in ["/import/remote_host", "/import/github"] {
        let mut wanted = source.wanted("/ada/");
        wanted["new_name"] = json!(path.replace('/', "-").trim_matches('-'));
        let made = ada.post(path, wanted).await.created();
        assert_eq!(made["full_path"], format!("/ada/{}", made["name"].as_str().unwrap()));
        assert_eq!(made.as_object().unwrap().len(), 4, "{made}");
        let project = ada.get(&format!("/projects/{}", made["id"])).await.ok();
        assert_eq!(project["import_status"], "scheduled");
        assert_eq!(project["import_type"], "github");
        assert_eq!(project["import_url"], source.url("/mia/tea.git"));
        assert_eq!(project["visibility"], "private");
        assert_eq!(project["description"], "Brews");
    }
    assert!(source.credentials().iter().all(|sent| sent == "token t0p"));
    let listed = ada.get("/projects?imported=true&membership=true").await.ok();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
}

#[actix_web::test]
async fn what_is_wrong_with_an_import_is_told_under_a_key_of_its_own() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let (ada, errors) = (app.person("ada"), |text: &str| json!({ "errors": text }));
    let refused = "Namespace or group to import repository into does not exist.";
    ada.post("/import/github", source.wanted("nowhere")).await.refused(422, errors(refused));
    app.person("eve");
    ada.post("/import/github", source.wanted("eve")).await.refused(422, errors(refused));
    let mut wanted = source.wanted("ada");
    wanted["repo_id"] = json!(8);
    let missing = "Import failed due to a GitHub error: Not Found (HTTP 404)";
    ada.post("/import/github", wanted.clone()).await.refused(422, errors(missing));
    source.has("/api/v3/repositories/8", json!([]));
    let odd = "Import failed due to a GitHub error: the repository of the source cannot be read";
    ada.post("/import/github", wanted.clone()).await.refused(503, errors(odd));
    wanted["github_hostname"] = json!("ftp://example.com");
    let odd = "Invalid URL: Only allowed schemes are http, https";
    ada.post("/import/github", wanted).await.refused(400, errors(odd));
    let blank = json!({ "error": "target_namespace is empty" });
    ada.post("/import/github", source.wanted(" ")).await.refused(400, blank);
    app.anonymous().post("/import/github", source.wanted("ada")).await.with(401);
}

#[actix_web::test]
async fn inner_addresses_and_sources_that_are_off_are_not_gone_to() {
    let (app, source) = (TestApp::new(), ImportSource::hosted());
    let ada = app.person("ada");
    let inner = json!({ "errors": "Invalid URL: Requests to the local network are not allowed" });
    ada.post("/import/github", source.wanted("ada")).await.refused(400, inner);
    let new = json!({ "name": "x", "import_url": source.url("/mia/tea.git") });
    ada.post("/projects", new).await.with(400);
    assert!(source.requests().is_empty());

    let settings = json!({ "import_sources": ["gitea"] });
    app.admin().put("/application/settings", settings).await.ok();
    let off = json!({ "errors": ["import source is disabled"] });
    ada.post("/import/github", source.wanted("ada")).await.refused(403, off);
}

#[actix_web::test]
async fn nobody_asks_for_more_than_six_imports_in_a_minute() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    for _ in 0..6 {
        ada.post("/import/github", source.wanted("nowhere")).await.with(422);
    }
    let told = "This endpoint has been requested too many times. Try again later.";
    let answer = ada.post("/import/github", source.wanted("ada")).await;
    answer.refused(429, json!({ "errors": told }));
}

#[actix_web::test]
async fn the_repository_comes_with_branches_tags_and_heads() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");

    let project = begin(&app, &ada, &source).await;

    let status = ada.get(&format!("{project}/import")).await.ok();
    assert_eq!(status["import_status"], "finished", "{status}");
    let branches = ada.get(&format!("{project}/repository/branches")).await.each("name");
    assert_eq!(branches, ["fix", "trunk"]);
    assert_eq!(ada.get(&project).await.ok()["default_branch"], "trunk");
    let tags = ada.get(&format!("{project}/repository/tags")).await.each("name");
    assert_eq!(tags, ["v1"]);
    let pipelines = ada.get(&format!("{project}/pipelines")).await.ok();
    assert_eq!(pipelines, json!([]));
}

#[actix_web::test]
async fn issues_and_merge_requests_keep_numbers_times_and_authors() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.has("/api/v3/users/ada", json!({ "login": "ada", "email": "ada@example.com" }));
    let mut own = issue(3, "Mine");
    (own["user"], own["state"], own["closed_at"]) = (user("ada"), json!("closed"), json!(SINCE));
    own["milestone"] = json!({ "number": 4 });
    let due = json!({ "number": 4, "title": "Soon", "state": "open", "created_at": SINCE });
    source.lists("milestones", vec![due]);
    source.lists("labels", vec![json!({ "name": "bug", "color": "ff0000" })]);
    source.lists("issues", vec![issue(1, "Leak"), own]);
    source.lists("pulls", vec![pull(&source)]);
    source.has("/api/v3/repos/mia/tea/pulls/2", json!({ "number": 2, "merged_by": null }));
    source.lists("pulls/2/reviews", Vec::new());

    let project = begin(&app, &ada, &source).await;

    let first = ada.get(&format!("{project}/issues/1")).await.ok();
    assert_eq!(first["description"], "*Created by: mia*\n\nIt leaks");
    assert_eq!((&first["labels"], &first["state"]), (&json!(["bug"]), &json!("opened")));
    assert!(first["created_at"].as_str().unwrap().starts_with("2020-01-02T03:04:05"));
    let second = ada.get(&format!("{project}/issues/3")).await.ok();
    assert_eq!((&second["state"], &second["milestone"]["iid"]), (&json!("closed"), &json!(4)));
    assert_eq!(second["author"]["username"], "ada", "by the address");
    assert_eq!(second["description"], "It leaks");
    let request = ada.get(&format!("{project}/merge_requests/2")).await.ok();
    assert_eq!(request["source_branch"], "fix");
    assert_eq!(request["diff_refs"]["head_sha"], source.commit("fix"));
    assert_eq!(request["changes_count"], "1");
    let next = ada.post(&format!("{project}/issues"), json!({ "title": "Next" })).await.created();
    assert_eq!(next["iid"], 4);
}

#[actix_web::test]
async fn notes_reviews_and_line_comments_come_in_their_threads() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.lists("pulls", vec![pull(&source)]);
    let merged = json!({ "number": 2, "merged_by": user("mia") });
    source.has("/api/v3/repos/mia/tea/pulls/2", merged);
    let review = json!({
        "id": 5, "user": user("bo"), "state": "APPROVED", "body": "", "submitted_at": SINCE,
    });
    source.lists("pulls/2/reviews", vec![review]);
    let line = |id: i64, body: &str| {
        json!({
            "id": id, "body": body, "user": user("bo"), "path": "tea.txt", "created_at": SINCE,
            "diff_hunk": "@@ -1,2 +1,2 @@\n green\n-black\n+white",
            "pull_request_url": source.url("/api/v3/repos/mia/tea/pulls/2"),
        })
    };
    let mut reply = line(9, "Indeed");
    reply["in_reply_to_id"] = json!(8);
    source.lists("pulls/comments", vec![line(8, "Too pale"), reply]);
    let comment = json!({
        "id": 6, "body": "Nice", "user": user("bo"), "created_at": SINCE,
        "issue_url": source.url("/api/v3/repos/mia/tea/issues/2"),
    });
    source.lists("issues/comments", vec![comment]);

    let project = begin(&app, &ada, &source).await;

    let path = format!("{project}/merge_requests/2/discussions");
    let threads = ada.get(&path).await.ok();
    let said: Vec<Vec<&Value>> = threads
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["notes"].as_array().unwrap().iter().map(|note| &note["body"]).collect())
        .collect();
    let by = |text: &str| json!(format!("*Created by: bo*\n\n{text}"));
    assert_eq!(said.len(), 3, "{threads}");
    assert!(said.contains(&vec![&by("Too pale"), &by("Indeed")]), "{threads}");
    assert!(said.contains(&vec![&by("Nice")]) && said.contains(&vec![&by("**Review:** Approved")]));
    let place =
        threads.as_array().unwrap().iter().find(|one| !one["notes"][0]["position"].is_null());
    assert_eq!(place.unwrap()["notes"][0]["position"]["new_line"], 2);
}

#[actix_web::test]
async fn a_source_that_breaks_is_asked_again_and_nothing_comes_twice() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.lists("issues", (1..=150).map(|number| issue(number, "Leak")).collect());
    source.breaks("labels", [SourceFault::Garbage, SourceFault::Status(502)]);
    source.breaks("issues", [SourceFault::Half]);

    let project = begin(&app, &ada, &source).await;
    finish(&app).await;

    let status = ada.get(&format!("{project}/import")).await.ok();
    assert_eq!(status["import_status"], "finished", "{status}");
    assert_eq!(status["stats"]["imported"]["issue"], 150);
    let mut asked = source.requests();
    asked.retain(|path| path.contains("/issues?"));
    assert_eq!(asked.len(), 3, "half a page, the first and the second: {asked:?}");
    let last = ada.get(&format!("{project}/issues?per_page=1&sort=desc")).await.ok();
    assert_eq!(last[0]["iid"], 150);
}

#[actix_web::test]
async fn a_source_is_left_alone_for_as_long_as_it_wants() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.breaks("labels", [SourceFault::Busy(90)]);
    let reset = app.clock.now().unix() + 90 + 3600;
    source.breaks("milestones", [SourceFault::Exhausted(reset)]);
    let project = begin(&app, &ada, &source).await;
    let status =
        || async { ada.get(&format!("{project}/import")).await.ok()["import_status"].clone() };
    source.requests();

    app.clock.advance(Duration::seconds(89));
    work(&app).await;
    assert!(source.requests().is_empty());
    app.clock.advance(Duration::seconds(1));
    work(&app).await;
    assert_eq!(source.requests().len(), 2, "labels, and milestones once");
    assert_eq!(status().await, "started");
    app.clock.advance(Duration::hours(1));
    work(&app).await;

    assert_eq!(status().await, "finished");
}

#[actix_web::test]
async fn a_source_that_stays_broken_ends_the_import_with_a_reason() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.breaks("labels", vec![SourceFault::Status(502); 20]);

    let project = begin(&app, &ada, &source).await;
    finish(&app).await;

    let told = "The import stopped at the stage \"labels\": the source answered HTTP 502.";
    let status = ada.get(&format!("{project}/import")).await.ok();
    assert_eq!(
        (&status["import_status"], &status["import_error"]),
        (&json!("failed"), &json!(told))
    );
    assert_eq!(ada.get(&project).await.ok()["import_error"], told);
}

#[actix_web::test]
async fn an_import_is_canceled_by_its_owner_until_it_has_ended() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let (ada, bo) = (app.person("ada"), app.person("bo"));
    let made = ada.post("/import/github", source.wanted("ada")).await.created();
    let id = json!({ "project_id": made["id"] });
    bo.post("/import/github/cancel", id.clone())
        .await
        .refused(404, json!({ "message": "Not Found" }));
    let plain = app.project(&ada, "plain", Private);
    let other = json!({ "project_id": plain });
    let missing = json!({ "message": "404 Not found" });
    ada.post("/import/github/cancel", other).await.refused(404, missing);

    let canceled = ada.post("/import/remote_host/cancel", id.clone()).await.ok();

    assert_eq!(canceled["import_source"], "mia/tea");
    assert_eq!(canceled["human_import_status_name"], "canceled");
    assert_eq!(canceled["provider_link"], source.url("/mia/tea"));
    source.requests();
    work(&app).await;
    assert!(source.requests().is_empty(), "nothing goes on");
    let again = json!({ "message": "The import cannot be canceled because it is canceled" });
    ada.post("/import/github/cancel", id).await.refused(400, again);
}

#[actix_web::test]
async fn an_import_is_canceled_between_two_pages() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.lists("issues", vec![issue(1, "Leak")]);
    source.breaks("issues", [SourceFault::Busy(60)]);
    let project = begin(&app, &ada, &source).await;
    let id: i64 = project.rsplit('/').next().unwrap().parse().unwrap();
    assert_eq!(ada.get(&project).await.ok()["import_status"], "started");

    ada.post("/import/github/cancel", json!({ "project_id": id })).await.ok();
    finish(&app).await;

    assert_eq!(ada.get(&format!("{project}/issues")).await.ok(), json!([]));
    assert_eq!(ada.get(&project).await.ok()["import_status"], "canceled");
}

#[actix_web::test]
async fn a_server_is_imported_with_its_pull_requests_and_comments() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::server());
    let ada = app.person("ada");
    let mia = json!({ "slug": "mia", "emailAddress": "mia@source.test" });
    let end = |branch: &str| {
        json!({
            "displayId": branch, "latestCommit": source.commit(branch),
            "repository": { "id": 1, "project": { "key": "TEA" } },
        })
    };
    source.server_lists(
        "pull-requests",
        vec![json!({
            "id": 2, "title": "Fix it", "description": "Stops it", "state": "MERGED",
            "createdDate": 1_577_934_245_000_i64, "closedDate": 1_577_934_300_000_i64,
            "fromRef": end("fix"), "toRef": end("trunk"), "author": { "user": mia }, "reviewers": [],
        })],
    );
    let comment = json!({
        "action": "COMMENTED", "commentAction": "ADDED", "user": mia,
        "createdDate": 1_577_934_245_000_i64,
        "commentAnchor": { "path": "tea.txt", "line": 2, "lineType": "ADDED" },
        "comment": { "id": 1, "text": "Pale", "author": mia, "comments": [
            { "id": 2, "text": "Yes", "author": mia, "comments": [] },
        ] },
    });
    source.server_lists("pull-requests/2/activities", vec![comment]);
    let wanted = json!({
        "bitbucket_server_url": source.url("/"), "server_username": "mia",
        "personal_access_token": "s3", "server_project": "TEA", "bitbucket_server_repo": "pot",
    });

    let made = ada.post("/import/remote_server", wanted).await.created();
    work(&app).await;

    let project = format!("/projects/{}", made["id"]);
    let request = ada.get(&format!("{project}/merge_requests/2")).await.ok();
    assert_eq!((&request["state"], &request["title"]), (&json!("merged"), &json!("Fix it")));
    let threads = ada.get(&format!("{project}/merge_requests/2/discussions")).await.ok();
    assert_eq!(threads[0]["notes"].as_array().map(Vec::len), Some(2), "{threads}");
    assert_eq!(threads[0]["notes"][0]["position"]["new_line"], 2);
    assert_eq!(ada.get(&project).await.ok()["import_type"], "bitbucket_server");
}

#[actix_web::test]
async fn what_a_server_import_lacks_is_told_one_level_deeper() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::server());
    let ada = app.person("ada");
    let mut wanted = json!({ "server_url": source.url(""), "personal_access_token": "s3" });
    let missing = "server_username is missing, server_project is missing, server_repo is missing";
    let refused = ada.post("/import/bitbucket_server", wanted.clone()).await;
    refused.refused(400, json!({ "error": missing }));
    let nothing = "server_url is missing, server_username is missing, personal_access_token is missing, \
                   server_project is missing, server_repo is missing";
    let path = "/import/bitbucket_server";
    ada.post(path, json!({})).await.refused(400, json!({ "error": nothing }));
    wanted["server_username"] = json!("mia");
    (wanted["server_project"], wanted["server_repo"]) = (json!("TEA"), json!("cup"));
    let deep = |text: &str| json!({ "message": { "error": text } });
    let no_url = json!({
        "server_url": "", "server_username": "", "personal_access_token": "", "server_project": "",
        "bitbucket_server_repo": "",
    });
    let odd = deep("Invalid URL: Only allowed schemes are http, https");
    ada.post(path, no_url).await.refused(400, odd);
    let gone = deep("Project TEA/cup could not be found");
    ada.post(path, wanted.clone()).await.refused(422, gone);
    source.breaks_server("cup", [SourceFault::Status(401)]);
    let denied = "Import failed due to a BitBucket Server error: the credentials were refused";
    ada.post(path, wanted.clone()).await.refused(400, deep(denied));
    wanted["target_namespace"] = json!("nowhere");
    let nowhere = deep("Namespace or group to import repository into does not exist.");
    ada.post(path, wanted.clone()).await.refused(422, nowhere);
    let public = json!({ "name": "Open", "path": "open", "visibility": "public" });
    app.person("bo").post("/groups", public).await.created();
    wanted["target_namespace"] = json!("open");
    let foreign = deep("You don't have permissions to import this project");
    ada.post(path, wanted).await.refused(401, foreign);
}

#[actix_web::test]
async fn releases_come_along_with_their_tags_and_what_has_none_is_told() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let release = json!({
        "id": 1, "tag_name": "v1", "name": "One", "body": "First tea", "author": { "login": "mia" },
        "created_at": "2020-01-01T10:00:00Z", "published_at": "2020-01-02T10:00:00Z",
        "assets": [
            { "name": "pot.zip", "browser_download_url": "https://files.test/pot.zip" },
            { "name": "pot.zip", "browser_download_url": "https://files.test/again.zip" },
            { "name": "odd", "browser_download_url": "javascript:alert(1)" },
            { "name": "pot.tar", "browser_download_url": "https://files.test/pot.tar" },
        ],
    });
    let draft = json!({ "id": 2, "tag_name": "v2", "name": "Two", "draft": true });
    let lost = json!({ "id": 3, "tag_name": "gone", "name": "Gone" });
    source.lists("releases", vec![release, draft, lost]);

    let project = begin(&app, &ada, &source).await;

    let status = ada.get(&format!("{project}/import")).await.ok();
    let stats = &status["stats"];
    let counts = (&stats["fetched"]["release"], &stats["imported"]["release"]);
    assert_eq!(counts, (&json!(3), &json!(1)), "{status}");
    let failed = &status["failed_relations"];
    assert_eq!((&failed[0]["relation_name"], &failed[1]), (&json!("release"), &Value::Null));
    let listed = ada.get(&format!("{project}/releases")).await.ok();
    assert_eq!((&listed[0]["tag_name"], &listed[0]["name"]), (&json!("v1"), &json!("One")));
    assert_eq!(listed[0]["released_at"], "2020-01-02T10:00:00.000Z");
    assert_eq!(listed[0]["description"], "*Created by: mia*\n\nFirst tea");
    let links = ada.get(&format!("{project}/releases/v1/assets/links")).await;
    assert_eq!(links.each("name"), ["pot.zip", "pot.tar"], "what is no address stays behind");
    assert_eq!(listed[0]["assets"]["links"][0]["url"], "https://files.test/pot.zip");
    let tag = ada.get(&format!("{project}/repository/tags/v1")).await.ok();
    assert_eq!(
        (&tag["release"]["tag_name"], &listed[0]["commit"]["id"]),
        (&json!("v1"), &tag["commit"]["id"])
    );
}

#[actix_web::test]
async fn pages_of_releases_come_once_although_the_server_breaks_between_them() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let release = json!({ "id": 1, "tag_name": "v1", "name": "One", "body": "First tea" });
    source.lists("releases", vec![release; 101]);

    let project = begin(&app, &ada, &source).await;

    let status = ada.get(&format!("{project}/import")).await.ok();
    assert_eq!(status["stats"]["imported"]["release"], 1, "{status}");
    assert_eq!(ada.get(&format!("{project}/releases")).await.each("tag_name"), ["v1"]);
}

#[actix_web::test]
async fn a_new_project_is_filled_from_a_url_and_its_password_is_not_shown() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let url = source.url("/mia/tea.git");
    let new = json!({ "name": "tea", "import_url": url.replace("://", "://ada:s3@") });

    let made = ada.post("/projects", new).await.created();
    assert_eq!((&made["import_status"], &made["import_url"]), (&json!("scheduled"), &json!(url)));
    work(&app).await;

    let project = ada.get(&format!("/projects/{}", made["id"])).await.ok();
    assert_eq!(
        (&project["import_status"], &project["import_type"]),
        (&json!("finished"), &json!("git"))
    );
    assert_eq!(project["default_branch"], "trunk");
    assert!(source.credentials().contains(&"Basic YWRhOnMz".to_owned()));
}

/// A server whose repositories are all at another address: it says so where git asks for refs, and knows nothing else.
fn moved_to(url: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let own = format!("http://{}/old", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut head = [0; 4096];
            let length = stream.read(&mut head).unwrap_or(0);
            let status = match head[..length].starts_with(b"GET /old/info/refs?") {
                true => "302 Found",
                false => "404 Not Found",
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\nLocation: {url}/info/refs?service=git-upload-pack\r\n\
                 Content-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    own
}

#[actix_web::test]
async fn a_repository_is_fetched_from_the_address_that_it_has_moved_to() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let url = moved_to(source.url("/mia/tea.git"));

    let made = ada.post("/projects", json!({ "name": "tea", "import_url": url })).await.created();
    work(&app).await;

    let project = ada.get(&format!("/projects/{}", made["id"])).await.ok();
    assert_eq!(project["import_status"], "finished", "{project}");
    assert!(source.requests().iter().any(|path| path == "/mia/tea.git/git-upload-pack"));
}

#[actix_web::test]
async fn an_address_that_refuses_fails_at_once_and_says_what_to_do() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let url = source.url("/mia/tea.git").replace("://", "://ada:s3cret@");
    for (name, fault, told) in [
        ("gone", SourceFault::Status(404), "no such repository (HTTP 404)"),
        ("denied", SourceFault::Status(401), "refused the credentials (HTTP 401)"),
        ("odd", SourceFault::Garbage, "no git repository at its address"),
    ] {
        source.breaks_git([fault]);
        let made = ada.post("/projects", json!({ "name": name, "import_url": url })).await;
        work(&app).await;

        let project = ada.get(&format!("/projects/{}", made.created()["id"])).await.ok();
        assert_eq!(project["import_status"], "failed", "{name}: {project}");
        let error = project["import_error"].as_str().expect("a reason");
        assert!(error.contains(told) && !error.contains("s3cret"), "{name}: {error}");
    }
}

#[actix_web::test]
async fn an_address_in_trouble_is_asked_again_for_two_minutes_at_most() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let begin = async |name: &str, faults: usize| {
        source.breaks_git(vec![SourceFault::Status(503); faults]);
        let new = json!({ "name": name, "import_url": source.url("/mia/tea.git") });
        let made = ada.post("/projects", new).await.created();
        work(&app).await;
        for _ in 0..12 {
            app.clock.advance(Duration::seconds(10));
            work(&app).await;
        }
        ada.get(&format!("/projects/{}", made["id"])).await.ok()
    };

    let passing = begin("passing", 3).await;
    assert_eq!(passing["import_status"], "finished", "{passing}");
    let lasting = begin("lasting", 20).await;
    assert_eq!(lasting["import_status"], "failed", "{lasting}");
    let told = "The import stopped at the stage \"repository\": the source answered HTTP 503.";
    assert_eq!(lasting["import_error"], told);
}

#[actix_web::test]
async fn files_that_texts_name_come_along_where_that_is_asked_for() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let (path, mut named) = ("/user-attachments/assets/1-2", issue(1, "Leak"));
    source.has(path, json!("a picture"));
    named["body"] = json!(format!("![it]({})", source.url(path)));
    source.lists("issues", vec![named]);
    let mut wanted = source.wanted("ada");
    wanted["optional_stages"] = json!({ "attachments_import": true });

    let made = ada.post("/import/github", wanted).await.created();
    work(&app).await;

    let project = format!("/projects/{}", made["id"]);
    let issue = ada.get(&format!("{project}/issues/1")).await.ok();
    let text = issue["description"].as_str().unwrap();
    assert!(text.contains("![it](/uploads/") && !text.contains("127.0.0.1"), "{text}");
    let stats = ada.get(&format!("{project}/import")).await.ok()["stats"].clone();
    assert_eq!(stats["imported"]["attachment"], 1);
}

#[actix_web::test]
async fn events_and_notes_come_one_item_at_a_time_where_that_is_asked_for() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.lists("issues", vec![issue(1, "Leak"), issue(3, "Rust")]);
    let closed = json!({ "id": 1, "event": "closed", "actor": user("bo"), "created_at": SINCE });
    source.lists("issues/3/events", vec![closed]);
    let comment = json!({
        "id": 6, "body": "Nice", "user": user("bo"), "created_at": SINCE,
        "issue_url": source.url("/api/v3/repos/mia/tea/issues/1"),
    });
    source.lists("issues/1/comments", vec![comment]);
    let mut wanted = source.wanted("ada");
    wanted["optional_stages"] = json!({
        "single_endpoint_issue_events_import": true, "single_endpoint_notes_import": true,
    });

    let made = ada.post("/import/github", wanted).await.created();
    work(&app).await;

    let project = format!("/projects/{}", made["id"]);
    let notes = ada.get(&format!("{project}/issues/1/notes")).await.each("body");
    assert_eq!(notes, ["*Created by: bo*\n\nNice"]);
    let events = ada.get(&format!("{project}/issues/3/resource_state_events")).await.each("state");
    assert_eq!(events, ["closed"]);
    assert!(source.requests().iter().all(|path| !path.contains("/issues/comments")));
}

#[actix_web::test]
async fn a_wiki_comes_along_where_the_source_has_one() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.has_wiki();

    let project = begin(&app, &ada, &source).await;

    assert_eq!(ada.get(&format!("{project}/wikis")).await.each("slug"), ["Home", "tea"]);
    assert!(source.requests().iter().any(|path| path.starts_with("/mia/tea.wiki.git/info/refs")));
}

#[actix_web::test]
async fn collaborators_and_protected_branches_come_along() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let (ada, bo) = (app.person("ada"), app.person("bo"));
    source.has("/api/v3/users/bo", json!({ "login": "bo", "email": "bo@example.com" }));
    let mut known = user("bo");
    known["role_name"] = json!("maintain");
    source.lists("collaborators", vec![known, user("mia")]);
    source.lists("branches", vec![json!({ "name": "fix", "protected": true })]);

    let project = begin(&app, &ada, &source).await;

    let members = ada.get(&format!("{project}/members")).await.ok();
    let found = members.as_array().unwrap().iter().find(|one| one["username"] == bo.username);
    assert_eq!(found.unwrap()["access_level"], 40, "{members}");
    let names = ada.get(&format!("{project}/protected_branches")).await.each("name");
    assert!(names.contains(&json!("fix")), "{names:?}");
    let failed = ada.get(&format!("{project}/import")).await.ok()["failed_relations"].clone();
    assert_eq!(
        (&failed[0]["relation_name"], &failed[0]["source"]),
        (&json!("collaborator"), &json!("mia"))
    );
}

#[actix_web::test]
async fn nobody_at_a_source_is_a_bot_here() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let own = app.project(&ada, "engine", Private);
    let token = json!({ "name": "robot", "scopes": ["api"], "access_level": 40,
                        "expires_at": "2026-02-01" });
    let made = ada.post(&format!("/projects/{own}/access_tokens"), token).await.created();
    let bot = app.admin().get(&format!("/users/{}", made["user_id"])).await.ok();
    assert!(bot["email"].is_string(), "{bot}");
    source.has("/api/v3/users/mia", json!({ "login": "mia", "email": bot["email"] }));
    let mut keeper = user("mia");
    keeper["role_name"] = json!("maintain");
    source.lists("collaborators", vec![keeper]);
    source.lists("issues", vec![issue(1, "Leak")]);

    let project = begin(&app, &ada, &source).await;

    let issue = ada.get(&format!("{project}/issues/1")).await.ok();
    assert_eq!(issue["author"]["username"], "ada");
    assert_eq!(issue["description"], "*Created by: mia*\n\nIt leaks");
    let members = ada.get(&format!("{project}/members")).await.each("username");
    assert!(!members.contains(&bot["username"]), "{members:?}");
}

#[actix_web::test]
async fn a_server_that_starts_again_goes_on_with_its_imports() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.lists("issues", vec![issue(1, "Leak")]);
    let made = ada.post("/import/github", source.wanted("ada")).await.created();
    app.work().await;
    app.state.imports.finish().await;

    forge::import::resume(&app.state).await.expect("the queue can be written");
    work(&app).await;

    let status = ada.get(&format!("/projects/{}/import", made["id"])).await.ok();
    assert_eq!(
        (&status["import_status"], &status["stats"]["imported"]["issue"]),
        (&json!("finished"), &json!(1))
    );
}
