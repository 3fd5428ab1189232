//! Who may do what with wikis.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer},
    Visibility::{Private, Public},
};
use serde_json::json;

use super::wikis::{page, slugs};
use crate::support::{Person, TestApp};

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
