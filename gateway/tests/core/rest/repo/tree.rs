//! Folders, blobs, comparisons, contributors and merge bases, held against git.

use kernel::Visibility;
use repo::testing::{Entry, Fixture, History};
use serde_json::{Value, json};

use crate::support::TestApp;

/// An application with the fixture's history in a public project, and where its repository is.
fn forge() -> (TestApp, Fixture, String) {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let project = app.project_from(&fixture);
    (app, fixture, format!("/projects/{project}/repository"))
}

fn told(text: &str) -> Value {
    json!({ "message": text })
}

/// `mode type id<TAB>path`, as `git ls-tree` prints it.
fn lines(body: &Value) -> Vec<String> {
    let line = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}\t{}", text("mode"), text("type"), text("id"), text("path"))
    };
    body.as_array().expect("a list").iter().map(line).collect()
}

#[actix_web::test]
async fn a_folder_holds_what_git_says() {
    let (app, fixture, repository) = forge();
    for (query, arguments) in [
        ("", &["main"][..]),
        ("&ref=topic", &["topic"]),
        ("&ref=v1.0&path=lib", &["v1.0", "lib/"]),
        ("&recursive=true", &["-r", "-t", "main"]),
        ("&recursive=true&path=%2Flib%2F", &["-r", "main", "lib/"]),
    ] {
        let body = app.anonymous().get(&format!("{repository}/tree?per_page=100{query}")).await;
        let mut said = fixture.lines(&[&["ls-tree"], arguments].concat());
        // What is no text is shown with replacement characters on both sides.
        if !query.contains("recursive") {
            let kind = |line: &String| match line.split(' ').nth(1) {
                Some("tree") => 0,
                Some("blob") => 1,
                _ => 2,
            };
            said.sort_by_key(kind);
        }
        assert_eq!(lines(&body.ok()), said, "{query}");
    }
}

#[actix_web::test]
async fn a_folder_is_paged_by_number_by_token_or_not_at_all() {
    let (app, _, repository) = forge();
    let tree = format!("{repository}/tree?recursive=true");
    let none = app.anonymous().get(&format!("{tree}&pagination=none")).await;
    assert_eq!((none.header("x-total"), none.header("link")), (None, None));
    let all = none.each("path");
    let second = app.anonymous().get(&format!("{tree}&per_page=4&page=2")).await;
    assert_eq!(second.header("x-total"), Some(all.len().to_string().as_str()));
    assert_eq!(second.each("path"), all[4..8]);

    let (mut seen, mut next) = (Vec::new(), Some(format!("{tree}&pagination=keyset&per_page=5")));
    while let Some(path) = next {
        let answer = app.anonymous().get(&path).await;
        let link = answer.header("link").map(str::to_owned);
        seen.extend(answer.each("path"));
        let url = |link: String| {
            let url = link.trim_start_matches("<http://forge.test/api/v4").split('>').next();
            url.map(str::to_owned)
        };
        next = link.and_then(url);
    }
    assert_eq!(seen, all);
}

#[actix_web::test]
async fn a_folder_that_is_not_there_is_told() {
    let (app, _, repository) = forge();
    let owner = app.person("olga");
    let empty = app.project(&owner, "empty", Visibility::Public);
    let nobody = app.anonymous();
    let nothing = told("404 invalid revision or path Not Found");
    let text = "pagination cannot be \"none\" unless \"recursive\" is true";

    for (query, status, body) in [
        ("ref=lost", 404, told("404 Tree Not Found")),
        ("ref=--output%3Dx", 404, told("404 Tree Not Found")),
        ("path=lost", 404, nothing.clone()),
        ("path=lib.c", 404, nothing.clone()),
        ("path=..%2Fetc", 404, nothing),
        ("pagination=none", 400, json!({ "error": text })),
        ("pagination=all", 400, json!({ "error": "pagination does not have a valid value" })),
        ("recursive=deep", 400, json!({ "error": "recursive is invalid" })),
        ("pagination=keyset&page_token=lost", 422, told("Invalid page token")),
    ] {
        nobody.get(&format!("{repository}/tree?{query}")).await.refused(status, body);
    }
    let path = format!("/projects/{empty}/repository/tree");
    nobody.get(&path).await.refused(404, told("404 Tree Not Found"));
}

#[actix_web::test]
async fn a_blob_is_shown_and_sent() {
    let (app, fixture, repository) = forge();
    let nobody = app.anonymous();
    let id = |path: &str| fixture.lines(&["rev-parse", &format!("main:{path}")])[0].clone();
    let (small, binary) = (id("two.txt"), id("image.bin"));

    let shown = nobody.get(&format!("{repository}/blobs/{small}")).await.ok();
    let raw = nobody.get(&format!("{repository}/blobs/{binary}/raw")).await;

    assert_eq!(
        shown,
        json!({ "size": 6, "encoding": "base64", "content": "MgoyCjIK", "sha": small })
    );
    assert_eq!(raw.header("content-type"), Some("text/plain"));
    assert_eq!(raw.header("cache-control"), Some("no-store, no-cache"));
    assert_eq!(raw.bytes, fixture.git(&["cat-file", "blob", &binary]));
    let commit = fixture.id("main").to_string();
    for lost in [commit.as_str(), &small[..12], "lost", &"0".repeat(40)] {
        for suffix in ["", "/raw"] {
            let path = format!("{repository}/blobs/{lost}{suffix}");
            nobody.get(&path).await.refused(404, told("404 Blob Not Found"));
        }
    }
}

#[actix_web::test]
async fn a_large_blob_is_sent_piece_by_piece() {
    let fixture = Fixture::new();
    let large: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).take(2_500_001).collect();
    let id = fixture.git_with(&["hash-object", "-w", "--stdin"], &large);
    let id = String::from_utf8_lossy(&id).trim().to_owned();
    let app = TestApp::new();
    let blob = format!("/projects/{}/repository/blobs/{id}", app.project_from(&fixture));

    let shown = app.anonymous().get(&blob).await.ok();
    let raw = app.anonymous().get(&format!("{blob}/raw")).await;

    assert_eq!((&shown["size"], &shown["sha"]), (&json!(large.len()), &json!(id)));
    assert_eq!(shown["content"].as_str().map(str::len), Some(large.len().div_ceil(3) * 4));
    assert_eq!(raw.header("content-length"), Some("2500001"));
    assert!(raw.bytes == large);
}

#[actix_web::test]
async fn a_comparison_holds_what_git_says() {
    let (app, fixture, repository) = forge();
    for (from, to, straight) in [
        ("topic", "main", false),
        ("v1.0", "main", true),
        ("a/one", "topic", false),
        ("a/one", "topic", true),
        ("main", "topic", false),
        ("orphan", "main", false),
    ] {
        let query = format!("from={from}&to={to}&straight={straight}");
        let body = app.anonymous().get(&format!("{repository}/compare?{query}")).await.ok();

        let range = format!("{from}..{to}");
        let mut commits = fixture.lines(&["log", "--format=%H", &range]);
        commits.reverse();
        let shown = body["commits"].as_array().expect("a list").iter().map(|one| &one["id"]);
        assert_eq!(shown.collect::<Vec<_>>(), commits.iter().collect::<Vec<_>>(), "{query}");
        assert_eq!(body["commit"]["id"].as_str(), commits.last().map(String::as_str));
        let base = match (straight, fixture.try_git(&["merge-base", from, to], b"")) {
            (false, (true, base)) => String::from_utf8_lossy(&base).trim().to_owned(),
            _ => fixture.id(from).to_string(),
        };
        let names = ["-c", "core.quotePath=false", "diff", "--name-only", "-M", &base, to];
        // A file that becomes a link is told as one that goes and one that comes.
        let mut files: Vec<&Value> =
            body["diffs"].as_array().expect("a list").iter().map(|one| &one["new_path"]).collect();
        files.dedup();
        assert_eq!(files.len(), fixture.lines(&names).len(), "{query}");
        let head = fixture.id(to);
        let url = format!("http://forge.test/ada/forge/-/compare/{base}...{head}");
        assert_eq!(body["web_url"], url);
        assert_eq!(
            (&body["compare_timeout"], &body["compare_same_ref"]),
            (&json!(false), &json!(false))
        );
    }
}

#[actix_web::test]
async fn equal_and_unknown_sides_are_told() {
    let (app, _, repository) = forge();
    let nobody = app.anonymous();
    let compare = |query: &str| format!("{repository}/compare?{query}");

    let same = nobody.get(&compare("from=main&to=main")).await.ok();
    assert_eq!((&same["commit"], &same["commits"]), (&Value::Null, &json!([])));
    assert_eq!((&same["diffs"], &same["compare_same_ref"]), (&json!([]), &json!(true)));
    nobody.get(&compare("from=main")).await.refused(400, json!({ "error": "to is missing" }));
    for query in ["from=lost&to=main", "from=main&to=--all"] {
        nobody.get(&compare(query)).await.refused(404, told("404 Ref Not Found"));
    }
}

#[actix_web::test]
async fn only_a_project_of_the_fork_network_is_compared_with() {
    let (app, _, repository) = forge();
    let owner = app.person("olga");
    let other = app.project(&owner, "other", Visibility::Public);
    let own = repository.split('/').nth(2).unwrap_or_default().to_owned();

    for source in [other.0, 999] {
        let path = format!("{repository}/compare?from=main&to=main&from_project_id={source}");
        let text = format!("Target project id:{source} is not a fork of project id:{own}");
        app.anonymous().get(&path).await.refused(400, told(&text));
    }
    let path = format!("{repository}/compare?from=main&to=main&from_project_id={own}");
    app.anonymous().get(&path).await.ok();
}

#[actix_web::test]
async fn contributors_are_those_of_git_shortlog() {
    let (app, fixture, repository) = forge();
    let list = |query: &str| format!("{repository}/contributors?{query}");

    let body = app.anonymous().get(&list("")).await.ok();

    let all = body.as_array().expect("a list");
    let counted: u64 = all.iter().filter_map(|one| one["commits"].as_u64()).sum();
    let log = fixture.lines(&["log", "--no-merges", "--format=%aE", "main"]);
    assert_eq!(counted, u64::try_from(log.len()).unwrap());
    let counts: Vec<u64> = all.iter().filter_map(|one| one["commits"].as_u64()).collect();
    assert!(counts.is_sorted());
    for one in all {
        let email = one["email"].as_str().unwrap_or_default();
        let own = log.iter().filter(|other| *other == email).count();
        assert_eq!(one["commits"], own);
        assert_eq!((&one["additions"], &one["deletions"]), (&json!(0), &json!(0)));
    }
    let mut emails = app.anonymous().get(&list("order_by=email&sort=desc")).await.each("email");
    emails.reverse();
    assert!(emails.is_sorted_by_key(|email| email.as_str().unwrap_or_default().to_owned()));
    let page = app.anonymous().get(&list("order_by=name&per_page=1&page=2&ref=topic")).await;
    assert_eq!(page.header("x-page"), Some("2"));
    assert_eq!(page.each("name").len(), 1);
    let text = json!({ "error": "order_by does not have a valid value" });
    app.anonymous().get(&list("order_by=age")).await.refused(400, text);
    app.anonymous().get(&list("ref=lost")).await.refused(404, told("404 Commit Not Found"));
}

#[actix_web::test]
async fn the_merge_base_is_that_of_git() {
    let (app, fixture, repository) = forge();
    let nobody = app.anonymous();
    let base = |query: &str| format!("{repository}/merge_base?{query}");

    for refs in [&["main", "topic"][..], &["a/one", "topic"], &["main", "a/two", "release/1.x"]] {
        let query: Vec<String> = refs.iter().map(|name| format!("refs[]={name}")).collect();
        let body = nobody.get(&base(&query.join("&"))).await.ok();
        let said = fixture.lines(&[&["merge-base"], refs].concat());
        assert_eq!(body["id"], said[0], "{refs:?}");
    }
    assert_eq!(nobody.get(&base("refs=main,topic")).await.status, 200);
    for (query, status, text) in [
        ("refs[]=main", 400, "Provide at least 2 refs"),
        ("refs[]=main&refs[]=lost", 400, "Could not find ref: lost"),
        ("refs=lost,main,gone", 400, "Could not find refs: lost, gone"),
        ("refs=main,orphan", 404, "404 Merge Base Not Found"),
    ] {
        nobody.get(&base(query)).await.refused(status, told(text));
    }
    nobody.get(&base("")).await.refused(400, json!({ "error": "refs is missing" }));
}

#[actix_web::test]
async fn a_fork_is_compared_with_its_source() {
    let (app, _, repository) = forge();
    let source = repository.split('/').nth(2).unwrap_or_default().to_owned();
    let bob = app.person("bob");
    let fork = bob.post(&format!("/projects/{source}/fork"), json!({})).await.created();
    let fork = fork["id"].clone();
    let commit = json!({ "branch": "main", "content": "x", "commit_message": "Go on" });
    bob.post(&format!("/projects/{fork}/repository/files/new"), commit).await.created();

    let commit = bob.get(&format!("/projects/{fork}/repository/commits/main")).await.ok();
    let id = commit["id"].as_str().unwrap_or_default().to_owned();

    let ahead = format!("/projects/{fork}/repository/compare?from=main&to=main");
    let ahead = bob.get(&format!("{ahead}&from_project_id={source}")).await.ok();
    let behind = format!("{repository}/compare?from=main&to=main&from_project_id={fork}");
    let behind = bob.get(&behind).await.ok();

    assert_eq!(ahead["commits"][0]["title"], "Go on");
    assert_eq!(ahead["diffs"][0]["new_path"], "new");
    assert_eq!((&behind["commits"], &behind["commit"]), (&json!([]), &Value::Null));
    // Looking brings nothing over.
    app.anonymous().get(&format!("{repository}/commits/{id}")).await.with(404);
}

/// A history in one line, of so many commits that each add a word.
fn long_history(commits: usize) -> Fixture {
    let mut history = History::new();
    let mut parent = history.commit("main", 1_600_000_000, "0", &[], &[Entry::file("a", "0\n")]);
    for number in 1..=commits {
        let (at, entry) = (1_600_000_000, Entry::file("a", &format!("{number}\n")));
        let seconds = i64::try_from(number).expect("a small number");
        parent = history.commit("main", at + seconds, &number.to_string(), &[parent], &[entry]);
    }
    Fixture::of(history)
}

#[actix_web::test]
async fn a_long_comparison_comes_in_pieces_and_says_the_same() {
    let (app, fixture) = (TestApp::new(), long_history(2_500));
    let project = app.project_from(&fixture);
    let nobody = app.anonymous();
    let compared =
        |from: &str| format!("/projects/{project}/repository/compare?from={from}&to=main");

    for count in [1_000, 1_001, 2_500] {
        let path = compared(&format!("main~{count}"));
        let body = nobody.get(&path).await.ok();
        let range = format!("main~{count}..main");
        let ids = fixture.lines(&["rev-list", "--reverse", &range]);
        let told: Vec<&str> = body["commits"]
            .as_array()
            .expect("commits")
            .iter()
            .map(|commit| commit["id"].as_str().expect("an id"))
            .collect();
        assert_eq!(told, ids, "{count}");
        assert_eq!(body["commit"], body["commits"][count - 1]);
        assert_eq!(body["diffs"][0]["new_path"], "a");
        assert_eq!(
            (&body["compare_timeout"], &body["compare_same_ref"]),
            (&json!(false), &json!(false))
        );
        let keys: Vec<&String> = body.as_object().expect("a record").keys().collect();
        assert_eq!(keys.len(), 6, "{keys:?}");
        assert_eq!(nobody.head(&path).await.status, 200);
    }
}

#[actix_web::test]
async fn a_comparison_ends_where_the_limits_of_diffs_are() {
    let (app, mut history) = (TestApp::new(), History::new());
    let base = history.commit("main", 1_600_000_000, "base", &[], &[Entry::file("a", "a\n")]);
    let files: Vec<Entry> =
        (0..1_010).map(|n| Entry::file(&format!("f{n:04}"), &format!("{n}\n"))).collect();
    history.commit("topic", 1_600_000_001, "many", &[base], &files);
    let project = app.project_from(&Fixture::of(history));

    let path = format!("/projects/{project}/repository/compare?from=main&to=topic");
    let body = app.anonymous().get(&path).await.ok();

    assert_eq!(body["diffs"].as_array().map(Vec::len), Some(1_000));
    assert_eq!(body["compare_timeout"], true);
    let diffs = body["diffs"].as_array().expect("diffs");
    assert!(diffs.iter().all(|file| file["diff"] != ""), "each that is told is told whole");
}
