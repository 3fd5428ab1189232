//! Wikis of projects and groups.

use actix_web::http::Method;
use kernel::{
    AccessLevel::{Developer, Guest, Maintainer},
    Visibility::{Private, Public},
};
use repo::{
    commit::read::deadline,
    git::{LogQuery, Order, Reader, Wiki},
};
use serde_json::{Value, json};

use super::uploads::send_file;
use crate::support::{Person, TestApp};

/// A project's wiki, whose owner is ada.
fn project<'a>(app: &'a TestApp) -> (Person<'a>, String) {
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    (ada, format!("/projects/{id}/wikis"))
}

/// Makes a page and answers its slug.
async fn page(person: &Person<'_>, wiki: &str, title: &str) -> String {
    let body = json!({ "title": title, "content": format!("about {title}") });
    let made = person.post(wiki, body).await.created();
    made["slug"].as_str().expect("a slug").to_owned()
}

async fn slugs(person: &Person<'_>, wiki: &str) -> Vec<Value> {
    person.get(wiki).await.each("slug")
}

#[actix_web::test]
async fn pages_are_made_read_changed_and_taken_away() {
    let app = TestApp::new();
    let (ada, project) = project(&app);
    let group = format!("/groups/{}/wikis", ada.group("works", None).await);
    for wiki in [project, group] {
        assert_eq!(ada.get(&wiki).await.ok(), json!([]));
        let made = ada
            .post(&wiki, json!({ "title": "docs/First  page", "content": "# Hi" }))
            .await
            .created();
        let full = json!({
            "format": "markdown", "slug": "docs/First-page", "title": "First page",
            "content": "# Hi", "encoding": "UTF-8",
        });
        assert_eq!(made, full);
        let path = format!("{wiki}/docs%2FFirst-page");
        assert_eq!(ada.get(&path).await.ok(), full);
        let basic =
            json!([{ "format": "markdown", "slug": "docs/First-page", "title": "First page" }]);
        assert_eq!(ada.get(&wiki).await.ok(), basic);
        assert_eq!(ada.get(&format!("{wiki}?with_content=true")).await.ok(), json!([full]));
        let changed = ada.put(&path, json!({ "content": "" })).await.ok();
        assert_eq!(
            (&changed["content"], &changed["slug"]),
            (&json!(""), &json!("docs/First-page"))
        );
        assert_eq!(ada.delete(&path).await.status, 204);
        ada.get(&path).await.refused(404, json!({ "message": "404 Wiki Page Not Found" }));
        assert_eq!(ada.get(&wiki).await.ok(), json!([]));
    }
}

#[actix_web::test]
async fn a_list_is_whole_and_in_the_order_of_its_files() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    for title in ["b", "a/z", "a", "Z", "a-b"] {
        page(&ada, &wiki, title).await;
    }
    assert_eq!(slugs(&ada, &format!("{wiki}?per_page=1")).await, ["Z", "a-b", "a", "a/z", "b"]);
}

#[actix_web::test]
async fn a_page_is_found_by_what_people_type() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    page(&ada, &wiki, "Dir/My page").await;
    let body = json!({ "title": "notes", "content": "x", "format": "org" });
    assert_eq!(ada.post(&wiki, body).await.created()["format"], "org");
    for slug in ["Dir%2FMy-page", "dir%2Fmy-page", "DIR%2Fmy%20page", "NOTES"] {
        assert_eq!(ada.get(&format!("{wiki}/{slug}")).await.status, 200, "{slug}");
    }
    for slug in ["My-page", "Dir", "notes.org", "..%2F..%2FHEAD", "%2F..", ".git", "a%01b", "*"] {
        let answer = ada.get(&format!("{wiki}/{slug}")).await;
        answer.refused(404, json!({ "message": "404 Wiki Page Not Found" }));
    }
    assert_eq!(ada.get(&format!("{wiki}/a%00b")).await.status, 400);
}

#[actix_web::test]
async fn an_old_version_is_a_commit() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    page(&ada, &wiki, "home").await;
    let first = app.announced();
    let (_, payload) = first.iter().find(|(kind, _)| kind == "wiki.changed").expect("a fact");
    let fact: Value = serde_json::from_str(payload).expect("JSON");
    let commit = fact["commit"].as_str().expect("a commit");
    assert_eq!((&fact["action"], &fact["path"]), (&json!("create"), &json!("home.md")));
    ada.put(&format!("{wiki}/home"), json!({ "content": "new" })).await.ok();

    let read = |version: &str| format!("{wiki}/home?version={version}");
    assert_eq!(ada.get(&read(commit)).await.ok()["content"], "about home");
    assert_eq!(ada.get(&format!("{wiki}/home")).await.ok()["content"], "new");
    for bad in ["0123456789012345678901234567890123456789", "main", "x", "HEAD~1"] {
        ada.get(&read(bad)).await.refused(404, json!({ "message": "404 Wiki Page Not Found" }));
    }
}

#[actix_web::test]
async fn a_page_is_sent_as_html_that_is_safe() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let content = "**big** <script>alert(1)</script> [[Other page]]";
    ada.post(&wiki, json!({ "title": "home", "content": content })).await.created();
    let shown = ada.get(&format!("{wiki}/home?render_html=true")).await.ok();
    let html = shown["content"].as_str().expect("HTML");
    assert!(html.contains("<strong>big</strong>"), "{html}");
    assert!(html.contains("http://forge.test/ada/engine/-/wikis/Other-page"), "{html}");
    assert!(!html.contains("<script"), "{html}");
    ada.get(&format!("{wiki}/home?render_html=maybe")).await.with(400);
}

#[actix_web::test]
async fn what_cannot_be_a_page_is_refused_and_leaves_nothing() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let content = json!("x");
    for (body, error) in [
        (json!({ "content": content }), "title is missing"),
        (json!({ "title": "a" }), "content is missing"),
        (
            json!({ "title": "a", "content": "x", "format": "pdf" }),
            "format does not have a valid value",
        ),
        (json!({ "title": "a\u{0}b", "content": "x" }), "title is invalid"),
    ] {
        ada.post(&wiki, body).await.refused(400, json!({ "error": error }));
    }
    for (title, flaw) in [
        (" ".to_owned(), "can't be blank".to_owned()),
        ("..".to_owned(), "can't be blank".to_owned()),
        ("templates".to_owned(), "'templates' is a reserved name".to_owned()),
        ("ä".repeat(123), "exceeds the limit of 245 bytes".to_owned()),
        ("x".repeat(1 << 20), "exceeds the limit of 245 bytes".to_owned()),
        (".git/config".to_owned(), "is invalid".to_owned()),
        ("a\u{7}b".to_owned(), "is invalid".to_owned()),
    ] {
        let answer = ada.post(&wiki, json!({ "title": title, "content": "x" })).await;
        answer.refused(400, json!({ "message": { "title": [flaw] } }));
    }
    assert_eq!(ada.get(&wiki).await.ok(), json!([]));
    assert!(app.announced().iter().all(|(kind, _)| kind != "wiki.changed"));
}

#[actix_web::test]
async fn a_title_is_there_once_whatever_its_case_and_format() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    page(&ada, &wiki, "Home page").await;
    let again = json!({ "title": "home PAGE", "content": "x", "format": "rdoc" });
    let text = "Duplicate page: A page with that title already exists in the file Home-page.md";
    ada.post(&wiki, again).await.refused(400, json!({ "message": { "base": [text] } }));
    page(&ada, &wiki, "other").await;
    let text = "There is already a page with the same title in that path.";
    let answer = ada.put(&format!("{wiki}/other"), json!({ "title": "home Page" })).await;
    answer.refused(400, json!({ "message": { "base": [text] } }));
    assert_eq!(slugs(&ada, &wiki).await, ["Home-page", "other"]);
}

#[actix_web::test]
async fn a_page_moves_with_the_pages_below_it() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    for title in ["guide/setup", "guide/setup/linux", "guide/use"] {
        page(&ada, &wiki, title).await;
    }
    app.announced();

    let moved = ada.put(&format!("{wiki}/guide%2Fsetup"), json!({ "title": "Set up" })).await.ok();

    assert_eq!(
        (&moved["slug"], &moved["content"]),
        (&json!("guide/Set-up"), &json!("about guide/setup"))
    );
    assert_eq!(slugs(&ada, &wiki).await, ["guide/Set-up", "guide/Set-up/linux", "guide/use"]);
    assert_eq!(app.announced().len(), 1, "all in one commit");
    let top = ada.put(&format!("{wiki}/guide%2Fuse"), json!({ "title": "/use" })).await.ok();
    assert_eq!(top["slug"], "use");
    let blank = ada.put(&format!("{wiki}/use"), json!({ "title": " " })).await;
    blank.refused(400, json!({ "message": { "title": ["can't be blank"] } }));
}

#[actix_web::test]
async fn an_update_says_what_it_changes() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let body = json!({ "title": "notes", "content": "x", "format": "asciidoc" });
    ada.post(&wiki, body).await.created();
    let path = format!("{wiki}/notes");
    ada.put(&path, json!({})).await.refused(
        400,
        json!({ "error": "content, title, format are missing, at least one parameter must be provided" }),
    );
    let kept = ada.put(&path, json!({ "content": "y", "format": "asciidoc" })).await.ok();
    assert_eq!((&kept["format"], &kept["content"]), (&json!("asciidoc"), &json!("y")));
    app.announced();
    let same = ada.put(&path, json!({ "content": "y", "format": "asciidoc" })).await.ok();
    assert_eq!((same, app.announced().len()), (kept, 0), "nothing changed");
    let filled = ada.put(&path, json!({ "content": "z" })).await.ok();
    assert_eq!((&filled["format"], &filled["slug"]), (&json!("markdown"), &json!("notes")));
    let gone = ada.put(&format!("{wiki}/nowhere"), json!({ "content": "z" })).await;
    gone.refused(404, json!({ "message": "404 Wiki Page Not Found" }));
}

#[actix_web::test]
async fn roles_decide_who_reads_writes_and_deletes() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let wiki = format!("/projects/{id}/wikis");
    page(&ada, &wiki, "home").await;
    let gus = app.member(id, "gus", Guest);
    let dev = app.member(id, "dev", Developer);
    let max = app.member(id, "max", Maintainer);
    let home = format!("{wiki}/home");
    let forbidden = || json!({ "message": "403 Forbidden" });

    assert_eq!(gus.get(&home).await.status, 200);
    gus.put(&home, json!({ "content": "x" })).await.refused(403, forbidden());
    gus.post(&wiki, json!({ "title": "a", "content": "x" })).await.refused(403, forbidden());
    dev.put(&home, json!({ "content": "x" })).await.ok();
    dev.delete(&home).await.refused(403, forbidden());
    for person in [app.person("eve"), app.anonymous()] {
        let hidden = json!({ "message": "404 Project Not Found" });
        person.get(&home).await.refused(404, hidden.clone());
        person.get(&wiki).await.refused(404, hidden);
    }
    assert_eq!(app.anonymous().delete(&home).await.status, 401);
    assert_eq!(max.delete(&home).await.status, 204);
}

#[actix_web::test]
async fn a_wiki_can_be_switched_off_and_kept_to_members() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Public);
    let group = ada.group_with("works", json!({ "visibility": "public" })).await;
    for place in [format!("/projects/{id}"), format!("/groups/{group}")] {
        let wiki = format!("{place}/wikis");
        page(&ada, &wiki, "home").await;
        let eve = app.person("eve");
        assert_eq!(app.anonymous().get(&wiki).await.status, 200);
        ada.put(&place, json!({ "wiki_access_level": "private" })).await.ok();
        assert_eq!((ada.get(&wiki).await.status, eve.get(&wiki).await.status), (200, 403));
        ada.put(&place, json!({ "wiki_access_level": "disabled" })).await.ok();
        for path in [wiki.clone(), format!("{wiki}/home"), format!("{wiki}/nowhere")] {
            ada.get(&path).await.refused(403, json!({ "message": "403 Forbidden" }));
        }
        ada.post(&wiki, json!({ "title": "a", "content": "x" })).await.with(403);
    }
}

#[actix_web::test]
async fn an_archived_project_keeps_its_wiki_as_it_is() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let wiki = format!("/projects/{id}/wikis");
    page(&ada, &wiki, "home").await;
    ada.post(&format!("/projects/{id}/archive"), json!({})).await.created();
    assert_eq!(ada.get(&wiki).await.status, 200);
    ada.put(&format!("{wiki}/home"), json!({ "content": "x" })).await.with(403);
    ada.delete(&format!("{wiki}/home")).await.with(403);
}

#[actix_web::test]
async fn attachments_are_kept_beside_the_pages() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let path = format!("{wiki}/attachments");
    let kept = send_file(&ada, Method::POST, &path, "file", "my plan.png", "II*").await.created();

    let place = kept["file_path"].as_str().expect("a path").to_owned();
    let parts: Vec<&str> = place.split('/').collect();
    assert_eq!((parts[0], parts[1].len(), parts[2]), ("uploads", 32, "my_plan.png"));
    assert_eq!((&kept["file_name"], &kept["branch"]), (&json!("my_plan.png"), &json!("main")));
    assert_eq!(kept["link"], json!({ "url": place, "markdown": format!("![my_plan]({place})") }));
    assert_eq!(ada.get(&wiki).await.ok(), json!([]), "it is no page");
    ada.post(&path, json!({})).await.refused(400, json!({ "error": "file is missing" }));
    let wrong = ada.post(&path, json!({ "file": "text" })).await;
    wrong.refused(400, json!({ "error": "file is invalid" }));
    let odd = send_file(&ada, Method::POST, &path, "file", "..", "x").await;
    assert_eq!(odd.status, 400);
}

#[actix_web::test]
async fn wikis_of_projects_and_groups_are_not_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let group = ada.group("works", None).await;
    page(&ada, &format!("/projects/{id}/wikis"), "of-project").await;
    page(&ada, &format!("/groups/{group}/wikis"), "of-group").await;
    assert_eq!(slugs(&ada, &format!("/projects/{id}/wikis")).await, ["of-project"]);
    assert_eq!(slugs(&ada, &format!("/groups/{group}/wikis")).await, ["of-group"]);
    app.person("eve")
        .get(&format!("/groups/{group}/wikis"))
        .await
        .refused(404, json!({ "message": "404 Group Not Found" }));
}

#[actix_web::test]
async fn every_change_is_a_commit_of_its_author() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let wiki = format!("/projects/{id}/wikis");
    page(&ada, &wiki, "docs/My page").await;
    ada.put(&format!("{wiki}/docs%2FMy-page"), json!({ "content": "x" })).await.ok();
    send_file(&ada, Method::POST, &format!("{wiki}/attachments"), "file", "a b.txt", "x")
        .await
        .created();
    ada.delete(&format!("{wiki}/docs%2FMy-page")).await;

    let reader = Reader::alone(&app.state.storage.wiki(Wiki::Project(id))).expect("a repository");
    let tip = reader.resolve("HEAD").expect("a version");
    let log = reader.log(&LogQuery { order: Order::Topo, ..LogQuery::of(tip) }, deadline());
    let log = log.expect("versions");
    let titles: Vec<&str> = log.iter().map(|commit| commit.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "ada deleted page: My page",
            "Upload attachment a_b.txt",
            "ada updated page: docs/My page",
            "ada created page: docs/My page",
        ]
    );
    let user = app.user("ada");
    assert!(log.iter().all(|commit| commit.author.name == user.name));
    let kinds: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "wiki.changed").count(), 4);
}

#[actix_web::test]
async fn writers_at_once_follow_one_another() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let bodies: Vec<Value> =
        (0..6).map(|n| json!({ "title": format!("p{n}"), "content": "x" })).collect();
    let made = futures_util::future::join_all(bodies.into_iter().map(|body| ada.post(&wiki, body)));
    assert!(made.await.iter().all(|answer| answer.status == 201));
    assert_eq!(slugs(&ada, &wiki).await, ["p0", "p1", "p2", "p3", "p4", "p5"]);
}

#[actix_web::test]
async fn a_write_is_weighed_before_it_is_answered() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let size = async || {
        let shown = ada.get(&format!("/projects/{project}?statistics=true")).await.ok();
        shown["statistics"]["wiki_size"].as_i64().expect("a size")
    };
    assert_eq!(size().await, 0);

    page(&ada, &format!("/projects/{project}/wikis"), "home").await;

    assert!(size().await > 0);
}

#[actix_web::test]
async fn a_rendered_page_leads_to_its_files() {
    let app = TestApp::new();
    let (ada, project) = project(&app);
    let group = format!("/groups/{}/wikis", ada.group("works", None).await);
    for wiki in [project, group] {
        let path = format!("{wiki}/attachments");
        let png = "\u{1}PNG";
        let added = send_file(&ada, Method::POST, &path, "file", "plan.png", png).await.created();
        let text = added["link"]["markdown"].clone();
        ada.post(&wiki, json!({ "title": "docs/a", "content": text })).await.created();

        let shown = ada.get(&format!("{wiki}/docs%2Fa?render_html=true")).await.ok();
        let html = shown["content"].as_str().expect("HTML");
        let at = html.find("http://forge.test/").expect("an address");
        let url: String = html[at..].chars().take_while(|letter| *letter != '"').collect();
        let url = url.replace("http://forge.test/", "//");
        let found = ada.get(&url).await;

        assert_eq!((found.status, found.bytes.as_slice()), (200, png.as_bytes()), "{url}");
        assert_eq!(found.header("content-security-policy"), Some("sandbox; default-src 'none'"));
        assert_eq!(app.anonymous().get(&url).await.status, 404);
        assert_eq!(app.person("eve").get(&url).await.status, 404);
        assert_eq!(ada.get(&format!("{url}x")).await.status, 404);
        assert_eq!(ada.get(&url.replace("/plan.png", "")).await.status, 404, "a folder is no file");
    }
}

#[actix_web::test]
async fn no_browser_runs_a_file_of_a_wiki() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let path = format!("{wiki}/attachments");
    for name in ["page.html", "drawing.svg"] {
        let content = "<script>alert(1)</script>";
        let added = send_file(&ada, Method::POST, &path, "file", name, content).await.created();
        let url = format!("//ada/engine/-/wikis/{}", added["file_path"].as_str().expect("a path"));
        let found = ada.get(&url).await;
        assert_eq!((found.status, found.header("content-type")), (200, Some("text/plain")));
    }
}

#[actix_web::test]
async fn a_page_is_as_long_as_the_installation_allows() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let settings = "/application/settings";
    let low = json!({ "wiki_page_max_content_bytes": 1023 });
    let why = json!({ "message": { "wiki_page_max_content_bytes": ["must be greater than or equal to 1024"] } });
    app.admin().put(settings, low).await.refused(400, why);
    let limit = json!({ "wiki_page_max_content_bytes": 1024 });
    app.admin().put(settings, limit).await.ok();

    ada.post(&wiki, json!({ "title": "a", "content": "x".repeat(1024) })).await.created();
    let long = json!({ "content": "x".repeat(1025) });
    let text = "is too long (1 KiB). The maximum size is 1 KiB.";
    let why = json!({ "message": { "content": [text] } });
    ada.put(&format!("{wiki}/a"), long).await.refused(400, why);
}

#[actix_web::test]
async fn a_decided_write_that_git_did_not_follow_is_finished_at_the_start() {
    use repo::{
        git::{RefName, refs},
        wiki::journal,
    };
    let app = TestApp::new();
    let (ada, path) = project(&app);
    page(&ada, &path, "one").await;
    page(&ada, &path, "two").await;
    let wiki = Wiki::Project(app.project_id("ada/engine"));
    let state = &app.state;
    let repository = state.storage.wiki(wiki);
    let main = RefName::branch("main").expect("a name");
    let second = refs::read(&state.git, &repository, [&main]).await.expect("refs")[&main];
    let parent =
        state.git.at(&repository, "rev-parse").args(["main^"]).succeed().await.expect("git");
    let parent = String::from_utf8(parent).expect("text");
    let first = parent.trim().parse().expect("an id");
    let step = |old, new| refs::RefMove {
        name: main.clone(),
        old: refs::Expect::Exactly(old),
        new: Some(new),
    };
    refs::move_now(&state.git, &repository, &[step(second, first)]).await.expect("refs move");
    let decided = step(first, second);
    app.write(move |tx| journal::WikiJournal::keep_wiki_moves(tx, wiki, &[decided]));
    assert_eq!(slugs(&ada, &path).await, ["one"]);
    let open = || journal::unsettled(&state.db, &state.git, &state.storage);
    assert_eq!(open().await.expect("rows").len(), 1);

    let recover = || journal::recover(&state.db, &state.git, &state.storage, &state.repositories);
    assert_eq!(recover().await.expect("a start"), 1);

    assert_eq!(slugs(&ada, &path).await, ["one", "two"]);
    assert!(open().await.expect("rows").is_empty());
    assert_eq!(recover().await.expect("a start"), 0);
}

#[actix_web::test]
async fn a_write_is_settled_once_git_has_followed() {
    let app = TestApp::new();
    let (ada, path) = project(&app);
    page(&ada, &path, "one").await;

    let (rows, open) = app.write(|tx| {
        use repo::wiki::journal::WikiJournal;
        Ok((tx.all_wiki_refs()?.len(), tx.open_wiki_moves()?.len()))
    });

    assert_eq!((rows, open), (1, 0));
}

#[actix_web::test]
async fn names_on_a_page_are_links_for_those_who_may_know_of_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let works = ada.group_with("works", json!({ "visibility": "public" })).await;
    let new = |path: &str, visibility: &str| json!({ "path": path, "namespace_id": works, "visibility": visibility });
    for (path, visibility) in [("engine", "public"), ("plans", "private")] {
        let project = ada.post("/projects", new(path, visibility)).await.created()["id"].clone();
        let issue = json!({ "title": "Wheels" });
        ada.post(&format!("/projects/{project}/issues"), issue).await.created();
    }
    let content = "= Page\n\nengine#1 plans#1 @ada #1";
    for wiki in [format!("/groups/{works}/wikis"), "/projects/works%2Fengine/wikis".to_owned()] {
        let page = json!({ "title": "home", "content": content, "format": "asciidoc" });
        ada.post(&wiki, page).await.created();
        let links = async |person: Person<'_>| {
            let shown = person.get(&format!("{wiki}/home?render_html=true")).await.ok();
            shown["content"].as_str().expect("HTML").matches("class=\"gfm").count()
        };
        let own = usize::from(wiki.contains("projects"));
        assert_eq!(links(ada.clone()).await, 3 + own, "{wiki}");
        assert_eq!(links(app.person("eve")).await, 2 + own, "{wiki}");
        assert_eq!(links(app.anonymous()).await, 2 + own, "{wiki}");
        let plain = ada.get(&format!("{wiki}/home")).await.ok();
        assert_eq!(plain["content"], content);
    }
}
