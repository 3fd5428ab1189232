//! The addresses that records call `web_url`, and those that installers, package managers and `go get` fetch.

use actix_web::http::Method;
use kernel::{
    AccessLevel::Guest,
    Visibility::{Private, Public},
};
use repo::testing::Fixture;
use serde_json::json;

use crate::support::{Answer, TestApp, uploads::send_file};

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

#[track_caller]
fn assert_page(answer: &Answer, status: u16, words: &[&str]) {
    let text = text(answer);
    assert_eq!(answer.status, status, "{text}");
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{text}");
    for word in words {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

#[actix_web::test]
async fn a_raw_address_gives_the_file_of_its_revision() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    fixture.git(&["update-ref", "refs/heads/f/lib", "topic"]);
    app.project_from(&fixture);
    let nobody = app.anonymous();
    let id = fixture.id("main").to_string();
    for (place, object) in [
        ("main/lib/program.c", "main:lib/program.c"),
        ("v1.0/lib/program.c", "v1.0:lib/program.c"),
        ("f/lib/topic.txt", "topic:topic.txt"),
        ("refs/heads/f/lib/topic.txt", "topic:topic.txt"),
        ("HEAD/lib/program.c", "main:lib/program.c"),
        (&format!("{id}/lib/program.c"), "main:lib/program.c"),
    ] {
        let found = nobody.get(&format!("//ada/forge/-/raw/{place}")).await;
        assert_eq!(found.status, 200, "{place}");
        assert_eq!(found.bytes, fixture.git(&["show", object]), "{place}");
        assert_eq!(found.header("content-type"), Some("text/plain"));
    }
    let saved = nobody.get("//ada/forge/-/raw/main/lib/program.c?inline=false").await;
    assert!(saved.header("content-disposition").is_some_and(|way| way.starts_with("attachment")));
    for absent in ["main", "main/nothing", "nothing/lib/program.c", "main/lib", "f/lib", "%ff/x"] {
        let found = nobody.get(&format!("//ada/forge/-/raw/{absent}")).await;
        assert_eq!(found.status, 404, "{absent}");
    }
}

#[actix_web::test]
async fn an_archive_address_gives_what_it_is_called() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    fixture.git(&["update-ref", "refs/heads/f/x", "topic"]);
    app.project_from(&fixture);
    let nobody = app.anonymous();
    let (main, topic) = (fixture.id("main"), fixture.id("topic"));
    for (place, name, magic) in [
        ("v1.0/forge-v1.0.zip", "forge-v1.0.zip".to_owned(), &b"PK\x03\x04"[..]),
        ("v1.0/forge-v1.0.tar", "forge-v1.0.tar".to_owned(), b"forge-v1.0/"),
        ("f/x/forge-f-x.tar.gz", "forge-f-x.tar.gz".to_owned(), b"\x1f\x8b"),
        ("f/x/other.tar", format!("forge-f-x-{topic}.tar"), b"forge-f-x-"),
        ("main.tar", format!("forge-main-{main}.tar"), b"forge-main-"),
    ] {
        let found = nobody.get(&format!("//ada/forge/-/archive/{place}")).await;
        assert_eq!(found.status, 200, "{place}");
        let disposition = found.header("content-disposition").unwrap_or_default();
        assert!(disposition.contains(&format!("\"{name}\"")), "{disposition}");
        let start = if place.ends_with(".tar") { "pax_global_header" } else { "" };
        assert!(found.bytes.starts_with(magic) || text(&found).starts_with(start), "{place}");
    }
    for absent in ["nothing/forge-nothing.zip", "main/forge-main.rar", "main"] {
        let found = nobody.get(&format!("//ada/forge/-/archive/{absent}")).await;
        assert_eq!(found.status, 404, "{absent}");
    }
}

#[actix_web::test]
async fn what_machines_fetch_asks_for_the_rights_of_the_api() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let bob = app.member(id, "bob", Guest);
    let file = json!({ "branch": "main", "content": "steam", "commit_message": "x" });
    ada.post(&format!("/projects/{id}/repository/files/a.txt"), file).await.created();
    let uploads = format!("/projects/{id}/uploads");
    let kept = send_file(&ada, Method::POST, &uploads, "file", "plan.txt", "II*").await.created();
    let upload = format!("//ada/engine{}", kept["url"].as_str().expect("an address"));

    let (raw, archive) = ("//ada/engine/-/raw/main/a.txt", "//ada/engine/-/archive/main/x.zip");
    assert_eq!(text(&ada.get(raw).await), "steam");
    assert_eq!(ada.get(archive).await.status, 200);
    assert_eq!(text(&bob.get(&upload).await), "II*");
    for guest in [raw, archive] {
        assert_eq!(bob.get(guest).await.status, 403, "{guest}");
    }
    for (path, unknown) in
        [raw, archive, upload.as_str()].map(|path| (path, path.replace("engine", "none")))
    {
        for outsider in [app.anonymous(), app.person("eve")] {
            let (hidden, none) = (outsider.get(path).await, outsider.get(&unknown).await);
            assert_eq!((hidden.status, &hidden.body), (404, &none.body), "{path}");
        }
    }
}

#[actix_web::test]
async fn a_page_names_the_thing_and_where_the_api_tells_it() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    fixture.git(&["update-ref", "refs/heads/f/x", "topic"]);
    app.project_from(&fixture);
    let nobody = app.anonymous();
    for (address, title, record) in [
        ("", "<h1>ada/forge</h1>", "/api/v4/projects/ada%2Fforge\""),
        ("/-/issues/5", "Issue #5", "/projects/ada%2Fforge/issues/5\""),
        ("/-/merge_requests/7/diffs", "Merge request !7", "/merge_requests/7\""),
        ("/-/commit/v1.0", "Commit v1.0", "/repository/commits/v1.0\""),
        ("/-/tree/f/x", "f/x", "/repository/tree?ref=f%2Fx&amp;path=\""),
        ("/-/tree/f/x/lib/", "lib at f/x", "/repository/tree?ref=f%2Fx&amp;path=lib\""),
        (
            "/-/blob/f/x/lib/program.c",
            "lib/program.c at f/x",
            "/repository/files/lib%2Fprogram.c?ref=f%2Fx\"",
        ),
        ("/-/compare/main...f/x", "Comparison of main with f/x", "from=main&amp;to=f%2Fx\""),
        ("/-/settings/ci_cd", "<h1>ada/forge</h1>", "/projects/ada%2Fforge\""),
        ("/-/tags/%3Cb%3E", "Tag &lt;b&gt;", "/repository/tags/%3Cb%3E\""),
    ] {
        let page = nobody.get(&format!("//ada/forge{address}")).await;
        assert_page(&page, 200, &[title, record]);
        assert!(!text(&page).contains("<b>"), "{address}");
        assert!(
            page.header("content-security-policy")
                .is_some_and(|policy| policy.contains("default-src 'none'"))
        );
    }
    assert_page(&nobody.get("//ada").await, 200, &["/api/v4/users?username=ada"]);
    assert_eq!(nobody.head("//ada/forge").await.status, 200);
    assert_eq!(nobody.post("//ada/forge", json!({})).await.status, 404);
}

#[actix_web::test]
async fn pages_of_groups_are_found_with_and_without_their_prefix() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let works = ada.group("works", None).await;
    ada.group("steel", Some(works)).await;
    for (address, record) in [
        ("//works", "/api/v4/groups/works\""),
        ("//works/steel", "/api/v4/groups/works%2Fsteel\""),
        ("//groups/works/steel", "/api/v4/groups/works%2Fsteel\""),
        ("//groups/works/-/epics/3", "/api/v4/groups/works/epics/3\""),
        ("//groups/works/-/milestones/1", "/groups/works/milestones?iids[]=1\""),
    ] {
        assert_page(&ada.get(address).await, 200, &[record]);
        assert_page(&app.anonymous().get(address).await, 404, &["There is nothing here"]);
    }
}

#[actix_web::test]
async fn a_page_of_what_is_hidden_reads_as_one_of_what_is_not_there() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    assert_page(&ada.get("//ada/engine/-/issues/1").await, 200, &["ada/engine"]);
    for outsider in [app.anonymous(), app.person("eve")] {
        for rest in
            ["", "/", "/-/issues/1", "/-/blob/main/a", "/-/tree/main", "/-/wikis/home", "/a/b"]
        {
            let hidden = outsider.get(&format!("//ada/engine{rest}")).await;
            let none = outsider.get(&format!("//ada/nothing{rest}")).await;
            assert_page(&hidden, 404, &["There is nothing here, or you may not see it."]);
            assert_eq!(hidden.bytes, none.bytes, "{rest}");
        }
    }
    assert_page(&app.anonymous().get(&format!("//{id}")).await, 404, &[]);
    let wrong = app.anonymous().sending("PRIVATE-TOKEN", "wrong").get("//ada/engine").await;
    assert_page(&wrong, 401, &[]);
    assert_eq!(app.anonymous().get("/nothing").await.status, 404);
    assert_eq!(app.anonymous().get("//-/nothing").await.body, json!({ "error": "404 Not Found" }));
}

/// The content of the tag that Go reads.
fn module(answer: &Answer) -> String {
    let text = text(answer);
    assert_eq!(answer.status, 200, "{text}");
    let (_, rest) = text.split_once("name=\"go-import\" content=\"").expect("a tag");
    rest.split('"').next().unwrap_or_default().to_owned()
}

#[actix_web::test]
async fn go_finds_the_project_from_any_address_in_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let works = ada.group("works", None).await;
    let fields = json!({ "name": "steel", "namespace_id": works, "visibility": "public" });
    let group = json!({ "visibility": "public" });
    ada.put(&format!("/groups/{works}"), group).await.ok();
    ada.post("/projects", fields).await.created();
    app.project(&ada, "engine", Private);
    let nobody = app.anonymous();

    for path in ["works/steel", "works/steel/v2", "works/steel/cmd/x", "works/steel/-/tree/main"] {
        let found = nobody.get(&format!("//{path}?go-get=1")).await;
        assert_eq!(
            module(&found),
            "forge.test/works/steel git http://forge.test/works/steel.git",
            "{path}"
        );
        assert!(text(&found).contains("http://forge.test/works/steel/-/tree/main{/dir}"));
    }
    for path in ["ada/engine", "ada/engine/pkg", "ada/nothing/pkg"] {
        let name = path.trim_end_matches("/pkg");
        let tag = format!("forge.test/{name} git http://forge.test/{name}.git");
        assert_eq!(module(&nobody.get(&format!("//{path}?go-get=1")).await), tag);
    }
    let odd = nobody.get("//a/%22%3E%3Cscript%3E?go-get=1").await;
    assert!(!text(&odd).contains("<script>"), "{}", text(&odd));
    assert_page(&nobody.get("//works?go-get=1").await, 200, &["/api/v4/groups/works"]);
}

#[actix_web::test]
async fn go_shows_who_it_is_as_git_does() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let works = ada.group("works", None).await;
    let deep = ada.group("deep", Some(works)).await;
    ada.post("/projects", json!({ "name": "engine", "namespace_id": deep })).await.created();
    let path = "//works/deep/engine/pkg?go-get=1";

    let seen = module(&ada.by_password().get(path).await);
    let unseen = module(&app.person("eve").by_password().get(path).await);

    assert_eq!(seen, "forge.test/works/deep/engine git http://forge.test/works/deep/engine.git");
    assert_eq!(unseen, "forge.test/works/deep git http://forge.test/works/deep.git");
    assert_eq!(app.anonymous().sending("PRIVATE-TOKEN", "wrong").get(path).await.status, 401);
}

#[actix_web::test]
async fn the_web_address_of_each_record_is_a_page() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Public);
    let fields = json!({ "branch": "main", "content": "x", "commit_message": "x" });
    let project = format!("/projects/{id}");
    ada.post(&format!("{project}/repository/files/README.md"), fields).await.created();
    let issue = ada.post(&format!("{project}/issues"), json!({ "title": "x" })).await.created();
    let milestone =
        ada.post(&format!("{project}/milestones"), json!({ "title": "x" })).await.created();
    let branch = ada.get(&format!("{project}/repository/branches/main")).await.ok();
    let compared = ada.get(&format!("{project}/repository/compare?from=main&to=main")).await.ok();
    let record = ada.get(&project).await.ok();

    for url in [
        &issue["web_url"],
        &issue["author"]["web_url"],
        &milestone["web_url"],
        &branch["web_url"],
        &branch["commit"]["web_url"],
        &compared["web_url"],
        &record["web_url"],
        &record["readme_url"],
    ] {
        let url = url.as_str().expect("an address");
        let page = app.anonymous().get(&url.replace("http://forge.test/", "//")).await;
        assert_page(&page, 200, &["/api/v4/"]);
    }
}
