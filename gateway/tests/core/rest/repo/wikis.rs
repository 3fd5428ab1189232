//! Wikis of projects and groups.

use kernel::Visibility::Private;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// A project's wiki, whose owner is ada.
pub(super) fn project<'a>(app: &'a TestApp) -> (Person<'a>, String) {
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    (ada, format!("/projects/{id}/wikis"))
}

/// Makes a page and answers its slug.
pub(super) async fn page(person: &Person<'_>, wiki: &str, title: &str) -> String {
    let body = json!({ "title": title, "content": format!("about {title}") });
    let made = person.post(wiki, body).await.created();
    made["slug"].as_str().expect("a slug").to_owned()
}

pub(super) async fn slugs(person: &Person<'_>, wiki: &str) -> Vec<Value> {
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
    for nothing in [json!({}), json!({ "format": "org" })] {
        ada.put(&path, nothing).await.refused(
            400,
            json!({ "error": "content, title are missing, at least one parameter must be provided" }),
        );
    }
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
async fn each_format_is_sent_as_html_that_is_safe() {
    let app = TestApp::new();
    let (ada, project) = project(&app);
    let group = format!("/groups/{}/wikis", ada.group("works", None).await);
    for wiki in [project, group] {
        for (format, content) in [
            ("markdown", "# Top\n\n**big** <script>alert(1)</script>"),
            ("asciidoc", "== Top\n\n*big* +++<script>alert(1)</script>+++"),
            (
                "org",
                "* Top\n\n*big*\n\n#+BEGIN_EXPORT html\n<script>alert(1)</script>\n#+END_EXPORT",
            ),
            ("rdoc", "= Top\n\n*big* <script>alert(1)</script>"),
        ] {
            let page = json!({ "title": format, "content": content, "format": format });
            let made = ada.post(&wiki, page).await.created();
            assert_eq!((&made["format"], &made["content"]), (&json!(format), &json!(content)));
            let shown = ada.get(&format!("{wiki}/{format}?render_html=true")).await.ok();
            let html = shown["content"].as_str().expect("HTML");
            assert!(html.contains("<h") && html.contains("big</"), "{format}: {html}");
            assert!(!html.contains("<script"), "{format}: {html}");
        }
    }
}
