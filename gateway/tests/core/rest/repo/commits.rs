//! Reading commits: every answer is what git says.

use kernel::{AccessLevel, Visibility, ids::ProjectId};
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::TestApp;

/// An application with the fixture's history in a public project.
fn forge() -> (TestApp, Fixture, String) {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let project = app.project_from(&fixture);
    (app, fixture, format!("/projects/{project}/repository/commits"))
}

#[track_caller]
fn ids(body: &Value) -> Vec<&str> {
    body.as_array().expect("a list").iter().filter_map(|commit| commit["id"].as_str()).collect()
}

#[actix_web::test]
async fn lists_are_those_of_git_log() {
    let (app, fixture, commits) = forge();
    let first = fixture.id("main").to_string();
    let since = "2020-09-13T12:31:40Z";
    for (query, arguments) in [
        ("?ref_name=", &["main"][..]),
        ("?ref_name=topic", &["topic"]),
        ("?ref_name=v1.0", &["v1.0"]),
        ("?ref_name=release%2F1.x", &["release/1.x"]),
        ("?ref_name=topic..main", &["topic..main"]),
        ("?ref_name=topic...main", &["topic...main"]),
        ("?ref_name=main~2", &["main~2"]),
        (&format!("?ref_name={}", &first[..9]), &["main"]),
        ("?all=true", &["--exclude=refs/keep-around/*", "--all"]),
        ("?first_parent=true", &["--first-parent", "main"]),
        ("?order=topo", &["--topo-order", "main"]),
        (&format!("?since={since}"), &[&format!("--since={since}"), "main"]),
        (&format!("?until={since}"), &[&format!("--until={since}"), "main"]),
        ("?author=ada%40", &["--author=ada@", "main"]),
        ("?path=docs", &["main", "--", "docs"]),
        ("?path=docs%2Fb.txt", &["--follow", "main", "--", "docs/b.txt"]),
        ("?path=%2Flib%2Fprogram.c", &["--follow", "main", "--", "lib/program.c"]),
        ("?path=docs%2F*", &["main", "--", "docs/*"]),
    ] {
        let body = app.anonymous().get(&format!("{commits}{query}&per_page=100")).await.ok();
        let told = fixture.lines(&[&["log", "--format=%H"], arguments].concat());
        assert_eq!(ids(&body), told, "{query}");
    }
}

#[actix_web::test]
async fn a_path_that_is_gone_still_has_its_history() {
    let (app, fixture, commits) = forge();
    let gone = ["log", "--no-renames", "--diff-filter=D", "--name-only", "--format=", "main"];
    let there = fixture.lines(&["ls-tree", "-r", "-t", "--name-only", "main"]);
    let mut gone = fixture.lines(&gone);
    gone.retain(|path| !path.is_empty() && !path.starts_with('"') && !there.contains(path));
    assert!(!gone.is_empty());

    for path in gone {
        let encoded = path.replace('/', "%2F");
        let body =
            app.anonymous().get(&format!("{commits}?path={encoded}&per_page=100")).await.ok();
        let told = fixture.lines(&["log", "--follow", "--format=%H", "main", "--", &path]);
        assert!(!told.is_empty());
        assert_eq!(ids(&body), told, "{path}");
    }
}

#[actix_web::test]
async fn a_record_says_what_the_commit_says() {
    let (app, fixture, commits) = forge();
    let id = fixture.lines(&["log", "--format=%H", "--grep=Change two", "main"])[0].clone();

    let body = app.anonymous().get(&format!("{commits}/{}", &id[..7])).await.ok();

    let said = fixture.lines(&["log", "-1", "--format=%an%n%ae%n%cn%n%ce%n%s%n%P", &id]);
    let fields = ["author_name", "author_email", "committer_name", "committer_email", "title"];
    let shown: Vec<&str> = fields.iter().filter_map(|field| body[*field].as_str()).collect();
    assert_eq!(shown, said[..5]);
    assert_eq!(body["parent_ids"], json!([said[5]]));
    assert_eq!(body["id"], json!(id));
    assert_eq!(body["short_id"], json!(&id[..8]));
    assert!(body["message"].as_str().is_some_and(|message| message.ends_with("Jürgen\n")));
    assert_eq!(body["created_at"], body["committed_date"]);
    assert_eq!(body["web_url"], json!(format!("http://forge.test/ada/forge/-/commit/{id}")));
    assert_eq!(body["stats"], json!({ "additions": 2, "deletions": 2, "total": 4 }));
    assert_eq!((&body["status"], &body["last_pipeline"]), (&Value::Null, &Value::Null));
    assert_eq!(body["trailers"], json!({}));
}

#[actix_web::test]
async fn times_are_in_the_zone_of_the_commit() {
    let (app, fixture, commits) = forge();

    let body = app.anonymous().get(&format!("{commits}?all=true&per_page=100")).await.ok();

    let said = fixture.lines(&["log", "--exclude=refs/keep-around/*", "--all", "--format=%cI"]);
    for (commit, iso) in body.as_array().into_iter().flatten().zip(said) {
        let shown = commit["committed_date"].as_str().unwrap_or_default();
        assert_eq!(
            shown.replacen(".000", "", 1).replace("+00:00", "Z"),
            iso.replace("+00:00", "Z")
        );
    }
}

#[actix_web::test]
async fn stats_and_trailers_come_when_asked_for() {
    let (app, fixture, commits) = forge();

    let path = format!("{commits}?with_stats=true&trailers=true&per_page=100");
    let body = app.anonymous().get(&path).await.ok();

    for commit in body.as_array().into_iter().flatten() {
        let id = commit["id"].as_str().unwrap_or_default();
        let numbers =
            fixture.lines(&["show", "--first-parent", "-m", "--format=", "--numstat", id]);
        let sum = |column: usize| -> u64 {
            let number = |line: &String| line.split('\t').nth(column)?.parse::<u64>().ok();
            numbers.iter().filter_map(number).sum()
        };
        assert_eq!(commit["stats"]["additions"], json!(sum(0)), "{id}");
        assert_eq!(commit["stats"]["deletions"], json!(sum(1)), "{id}");
    }
    let edit = body
        .as_array()
        .and_then(|all| all.iter().find(|one| one["title"] == "Change two functions"));
    let trailers = &edit.expect("the commit")["trailers"];
    assert_eq!(
        trailers,
        &json!({ "Reviewed-by": "Jürgen", "Signed-off-by": "Ada <ada@example.com>" })
    );
}

#[actix_web::test]
async fn pages_have_links_and_no_totals() {
    let (app, fixture, commits) = forge();
    let all = fixture.lines(&["log", "--format=%H", "main"]);
    let mut seen: Vec<String> = Vec::new();

    for page in 1.. {
        let answer = app.anonymous().get(&format!("{commits}?per_page=3&page={page}")).await;
        assert_eq!(answer.header("x-total"), None);
        let next = answer.header("x-next-page").unwrap_or_default().to_owned();
        assert_eq!(
            answer.header("link").is_some_and(|link| link.contains("next")),
            !next.is_empty()
        );
        seen.extend(ids(&answer.ok()).into_iter().map(str::to_owned));
        if next.is_empty() {
            break;
        }
    }

    assert_eq!(seen, all);
    let beyond = app.anonymous().get(&format!("{commits}?per_page=100&page=99999999")).await;
    assert_eq!(beyond.ok(), json!([]));
    let nothing = app.anonymous().get(&format!("{commits}?per_page=0&page=0")).await;
    assert_eq!((nothing.header("x-per-page"), nothing.header("x-page")), (Some("20"), Some("1")));
    nothing.ok();
}

#[actix_web::test]
async fn pages_of_every_size_make_the_whole_list() {
    for seed in [1, 2] {
        let (app, fixture) = (TestApp::new(), Fixture::random(seed, 60));
        let commits = format!("/projects/{}/repository/commits", app.project_from(&fixture));
        for (query, arguments) in [
            ("", &["main"][..]),
            ("first_parent=true", &["--first-parent", "main"]),
            ("order=topo", &["--topo-order", "main"]),
            ("all=true", &["--exclude=refs/keep-around/*", "--all"]),
        ] {
            let told = fixture.lines(&[&["log", "--format=%H"], arguments].concat());
            for size in [7, 20, 100] {
                let mut seen: Vec<String> = Vec::new();
                for page in 1..=told.len() / size + 2 {
                    let path = format!("{commits}?{query}&per_page={size}&page={page}");
                    let body = app.anonymous().get(&path).await.ok();
                    seen.extend(ids(&body).into_iter().map(str::to_owned));
                }
                assert_eq!(seen, told, "{seed} {query} {size}");
            }
        }
    }
}

#[actix_web::test]
async fn what_is_not_there_and_what_cannot_be_are_told_apart() {
    let (app, _fixture, commits) = forge();
    let nobody = app.anonymous();
    let invalid = json!({ "message": "ref_name is invalid" });

    assert_eq!(nobody.get(&format!("{commits}?ref_name=nowhere")).await.ok(), json!([]));
    assert_eq!(nobody.get(&format!("{commits}?path=nowhere")).await.ok(), json!([]));
    for name in ["a%20b", "--output%3Dx", "-x", "a%00b", "a%0Ab"] {
        let answer = nobody.get(&format!("{commits}?ref_name={name}")).await;
        answer.refused(400, invalid.clone());
    }
    let order = json!({ "error": "order does not have a valid value" });
    nobody.get(&format!("{commits}?order=size")).await.refused(400, order);
    let since = json!({ "error": "since is invalid" });
    nobody.get(&format!("{commits}?since=yesterday")).await.refused(400, since);
    let path = json!({ "error": "path should be a valid file path" });
    nobody.get(&format!("{commits}?path=..%2Fetc")).await.refused(400, path);
    let absent = json!({ "message": "404 Commit Not Found" });
    for sha in ["nowhere", "--output%3Dx", "..%2F..", "main..topic", &"a".repeat(5000)] {
        for tail in ["", "/refs", "/diff", "/sequence", "/signature"] {
            nobody.get(&format!("{commits}/{sha}{tail}")).await.refused(404, absent.clone());
        }
    }
}

#[actix_web::test]
async fn an_empty_repository_has_no_commits_and_a_lost_one_is_not_found() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "empty", Visibility::Public);
    let commits = format!("/projects/{project}/repository/commits");

    assert_eq!(ada.get(&commits).await.ok(), json!([]));
    assert_eq!(ada.get(&format!("{commits}?all=true")).await.ok(), json!([]));
    app.state.storage.delete(project).expect("the repository goes");
    let gone = json!({ "message": "404 Repository Not Found" });
    ada.get(&commits).await.refused(404, gone);
}

#[actix_web::test]
async fn the_refs_of_a_commit_are_branches_then_tags() {
    let (app, fixture, commits) = forge();
    let id = fixture.id("v1.0");

    let all = app.anonymous().get(&format!("{commits}/{id}/refs?per_page=100")).await;
    let tags = app.anonymous().get(&format!("{commits}/{id}/refs?type=tag")).await.each("name");

    let told = |folder: &str| {
        let contains = format!("--contains={id}");
        fixture.lines(&["for-each-ref", "--format=%(refname:lstrip=2)", &contains, folder])
    };
    assert_eq!(all.header("x-total"), None);
    let names: Vec<Value> = all.each("name");
    assert_eq!(json!(names), json!([told("refs/heads"), told("refs/tags")].concat()));
    assert_eq!(json!(tags), json!(told("refs/tags")));
}

#[actix_web::test]
async fn a_diff_holds_the_hunks_that_git_prints() {
    let (app, fixture, commits) = forge();
    for id in fixture.lines(&["log", "--format=%H", "main"]) {
        let body = app.anonymous().get(&format!("{commits}/{id}/diff?per_page=100")).await.ok();
        let arguments = ["show", "--first-parent", "-m", "-M", "--format=", "--name-only", &id];
        let names: Vec<&str> = body
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|file| file["new_path"].as_str())
            .collect();
        let mut told = fixture.lines(&arguments);
        told.iter_mut().for_each(|name| *name = name.trim_matches('"').replace("\\\"", "\""));
        let mut unique = names.clone();
        unique.dedup();
        assert_eq!(unique.len(), told.len(), "{id}: {names:?} {told:?}");
    }
    let id = fixture.id("main");
    let unified = app.anonymous().get(&format!("{commits}/{id}/diff?unidiff=true")).await.ok();
    let two =
        unified.as_array().and_then(|all| all.iter().find(|one| one["new_path"] == "two.txt"));
    let text = two.expect("the file")["diff"].as_str().unwrap_or_default();
    assert!(text.starts_with("--- a/two.txt\n+++ b/two.txt\n@@ -1 +1,3 @@\n"), "{text}");
}

#[actix_web::test]
async fn a_sequence_counts_what_leads_to_a_commit() {
    let (app, fixture, commits) = forge();
    let count = |arguments: &[&str]| fixture.lines(arguments)[0].parse::<u64>().ok();

    let all = app.anonymous().get(&format!("{commits}/main/sequence")).await.ok();
    let first = app.anonymous().get(&format!("{commits}/main/sequence?first_parent=true")).await;

    assert_eq!(all["count"].as_u64(), count(&["rev-list", "--count", "main"]));
    let told = count(&["rev-list", "--count", "--first-parent", "main"]);
    assert_eq!(first.ok()["count"].as_u64(), told);
}

#[actix_web::test]
async fn a_signature_is_shown_where_there_is_one() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let tree = fixture.lines(&["rev-parse", "main^{tree}"])[0].clone();
    let armour = "-----BEGIN SSH SIGNATURE-----\n U1NI\n -----END SSH SIGNATURE-----";
    let commit = format!(
        "tree {tree}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\ngpgsig {armour}\n\nSigned\n"
    );
    let arguments = ["hash-object", "-t", "commit", "-w", "--stdin"];
    let id = fixture.git_with(&arguments, commit.as_bytes());
    let id = String::from_utf8_lossy(&id).trim().to_owned();
    let commits = format!("/projects/{}/repository/commits", app.project_from(&fixture));

    let unsigned = json!({ "message": "404 Signature Not Found" });
    app.anonymous().get(&format!("{commits}/main/signature")).await.refused(404, unsigned);
    let body = app.anonymous().get(&format!("{commits}/{id}/signature")).await.ok();
    assert_eq!(
        body,
        json!({ "signature_type": "SSH", "verification_status": "unverified", "key": null, "commit_source": "gitaly" })
    );
}

#[actix_web::test]
async fn code_is_read_by_whom_the_project_lets() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project: ProjectId = app.project(&ada, "secret", Visibility::Private);
    let commits = format!("/projects/{project}/repository/commits");
    let guest = app.member(project, "guest", AccessLevel::Guest);
    let reporter = app.member(project, "reporter", AccessLevel::Reporter);

    let hidden = json!({ "message": "404 Project Not Found" });
    app.anonymous().get(&commits).await.refused(404, hidden.clone());
    app.person("eve").get(&commits).await.refused(404, hidden);
    guest.get(&commits).await.refused(403, json!({ "message": "403 Forbidden" }));
    assert_eq!(reporter.get(&commits).await.status, 200);
}
