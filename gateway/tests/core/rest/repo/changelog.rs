//! Changelogs: `gateway/src/rest/repo/changelog.rs`.

use kernel::{AccessLevel::Developer, ids::ProjectId};
use repo::testing::{Entry, Fixture, History};
use serde_json::{Value, json};

use crate::{rest::review::merge_stage::Stage, support::TestApp};

/// A project whose commits after `v1.0.0` have trailers, and where its changelog is.
fn forge(config: Option<&str>) -> (TestApp, Fixture, ProjectId, String) {
    let mut history = History::new();
    let mut at = 1_600_000_000;
    let mut commit = |message: &str, parents: &[_], entries: &[Entry]| {
        at += 100;
        history.commit("main", at, message, parents, entries)
    };
    let config = config.map(|text| Entry::file(".gitlab/changelog_config.yml", text));
    let entries: Vec<Entry> = config.into_iter().chain([Entry::file("a", "1\n")]).collect();
    let root = commit("Start\n\nChangelog: added\n", &[], &entries);
    let one = commit("Add one\n\nChangelog: added\n", &[root], &[Entry::file("a", "2\n")]);
    let two = commit("Fix two\n\nchangelog: fixed\n", &[one], &[Entry::file("a", "3\n")]);
    let three = commit("Say nothing\n", &[two], &[Entry::file("a", "4\n")]);
    commit("Add four\n\nChangelog: added\nOther: changed\n", &[three], &[Entry::file("a", "5\n")]);
    history.annotated_tag("v1.0.0", root, "One\n");
    history.lightweight_tag("v1.1.0-rc1", two);
    let (app, fixture) = (TestApp::new(), Fixture::of(history));
    let project = app.project_from(&fixture);
    (app, fixture, project, format!("/projects/{project}/repository/changelog"))
}

/// What the section says, with the ids left out.
fn told(fixture: &Fixture, body: &Value) -> String {
    let mut notes = body["notes"].as_str().unwrap_or_default().to_owned();
    for id in fixture.lines(&["rev-list", "main"]) {
        notes = notes.replace(&id, "[id]");
    }
    notes
}

const NOTES: &str = "\
## 1.1.0 (2026-01-01)

### added (2 changes)

- [Add four](ada/forge@[id])
- [Add one](ada/forge@[id])

### fixed (1 change)

- [Fix two](ada/forge@[id]) by @ada
";

#[actix_web::test]
async fn changes_since_the_last_release_are_told_by_category() {
    let (app, fixture, _, changelog) = forge(None);

    let body = app.anonymous().get(&format!("{changelog}?version=1.1.0")).await.ok();

    assert_eq!(told(&fixture, &body), NOTES);
    let later = app.anonymous().get(&format!("{changelog}?version=1.1.0&trailer=Other")).await.ok();
    assert!(told(&fixture, &later).contains("### changed (1 change)"));
    let query = "version=2.0.0&from=main~2&to=main~1&date=2020-02-03";
    let nothing = app.anonymous().get(&format!("{changelog}?{query}")).await.ok();
    assert_eq!(told(&fixture, &nothing), "## 2.0.0 (2020-02-03)\n\nNo changes.\n");
}

#[actix_web::test]
async fn a_change_names_the_merge_request_that_brought_it() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let start = stage.tip("main").await["id"].clone();
    stage.commit_saying("feature", Some("main"), "a", "1\n", "Add a\n\nChangelog: added").await;
    stage.commit_saying("main", None, "b", "1\n", "Add b\n\nChangelog: added").await;
    let proposed =
        json!({ "source_branch": "feature", "target_branch": "main", "title": "Add it" });
    stage.ada.post(&format!("{}/merge_requests", stage.home), proposed).await.created();
    let changelog = format!(
        "{}/repository/changelog?version=1.0.0&from={}",
        stage.home,
        start.as_str().unwrap()
    );
    let lines = async |to: &str| {
        let body = stage.ada.get(&format!("{changelog}&to={to}")).await.ok();
        let notes = body["notes"].as_str().expect("text").to_owned();
        let told = notes.lines().filter(|line| line.starts_with('-'));
        told.map(|line| line.ends_with("([merge request](ada/forge!1))")).collect::<Vec<_>>()
    };
    assert_eq!(lines("feature").await, [false], "not merged");

    stage.merge(1, json!({})).await.ok();

    let mut told = lines("main").await;
    told.sort_unstable();
    assert_eq!(told, [false, true]);
}

#[actix_web::test]
async fn a_project_says_how_its_changelog_looks() {
    let config = "\
date_format: '%d.%m.%Y'
categories:
  added: New
template: |
  {% each categories %}
  {{ title }}:{% each entries %} {{ title }};{% end %}

  {% end %}
";
    let (app, fixture, _, changelog) = forge(Some(config));

    let body = app.anonymous().get(&format!("{changelog}?version=v1.1.0")).await.ok();

    let notes = "## v1.1.0 (01.01.2026)\n\nNew: Add four; Add one;\nfixed: Fix two;\n";
    assert_eq!(told(&fixture, &body), notes);
}

#[actix_web::test]
async fn what_cannot_be_told_is_refused() {
    let (app, _, _, changelog) = forge(None);
    let nobody = app.anonymous();
    let (broken, _, _, elsewhere) = forge(Some("template: '{% if %'"));
    let failed =
        |why: &str| json!({ "message": format!("Failed to generate the changelog: {why}") });

    for (query, status, body) in [
        ("", 400, json!({ "error": "version is missing" })),
        ("version=one", 400, json!({ "error": "version is invalid" })),
        ("version=1.1.0&date=soon", 400, json!({ "error": "date is invalid" })),
        (
            "version=0.5.0",
            422,
            failed(
                "The commit start range is unspecified, and no previous tag could be found to use instead",
            ),
        ),
        ("version=1.1.0&from=lost", 422, failed("the commit lost does not exist")),
    ] {
        nobody.get(&format!("{changelog}?{query}")).await.refused(status, body);
    }
    let path = format!("{elsewhere}?version=1.1.0");
    broken.anonymous().get(&path).await.refused(422, failed("the template lacks a `%}`"));
}

#[actix_web::test]
async fn a_section_is_committed_to_the_file() {
    let (app, fixture, project, changelog) = forge(None);
    let ada = app.person("ada");
    let raw = format!("/projects/{project}/repository/files/CHANGELOG.md/raw?ref=main");

    assert_eq!(ada.post(&changelog, json!({ "version": "1.1.0" })).await.status, 200);
    let early = json!({ "version": "1.0.5", "to": "v1.1.0-rc1", "message": "Tell of 1.0.5" });
    assert_eq!(ada.post(&changelog, early).await.status, 200);

    let file = ada.get(&raw).await;
    let text = String::from_utf8_lossy(&file.bytes).into_owned();
    let text = told(&fixture, &json!({ "notes": text }));
    assert!(text.starts_with(NOTES), "{text}");
    assert!(text.contains("## 1.0.5 (2026-01-01)\n\n### fixed (1 change)"), "{text}");
    let commits = ada.get(&format!("/projects/{project}/repository/commits")).await.each("title");
    assert_eq!(commits[..2], ["Tell of 1.0.5", "Add changelog for version 1.1.0"]);
}

#[actix_web::test]
async fn a_protected_branch_keeps_its_changelog() {
    let (app, _, project, changelog) = forge(None);
    let dan = app.member(project, "dan", Developer);
    let rule = json!({ "name": "main" });
    let rules = format!("/projects/{project}/protected_branches");
    app.person("ada").post(&rules, rule).await.created();

    let text = "403 Forbidden - You are not allowed to commit a changelog on this branch";
    let refused = dan.post(&changelog, json!({ "version": "1.1.0" })).await;
    refused.refused(403, json!({ "message": text }));
}
