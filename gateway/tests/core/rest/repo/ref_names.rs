//! What branches and tags may be called, and what a name means to whom only asks: as to git, on every endpoint.

use kernel::AccessLevel::Developer;
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::TestApp;

fn told(text: &str) -> Value {
    json!({ "message": text })
}

#[actix_web::test]
async fn no_branch_or_tag_gets_a_name_that_is_taken_for_another() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let dan = app.member(project, "dan", Developer);
    let repository = format!("/projects/{project}/repository");
    let long = "x".repeat(251);
    for name in [
        "refs/heads/main",
        "refs/remotes/a",
        "refs/tags/v1.0",
        "refs/tagsx",
        "@",
        "HEAD",
        "-x",
        &long,
    ] {
        let branch = json!({ "branch": name, "ref": "topic" });
        let refused = dan.post(&format!("{repository}/branches"), branch).await;
        refused.refused(400, told("Branch name is invalid"));
        let tag = json!({ "tag_name": name, "ref": "topic" });
        let refused = dan.post(&format!("{repository}/tags"), tag).await;
        refused.refused(400, told("Tag name invalid"));
        let action = json!({ "action": "create", "file_path": "new", "content": "evil" });
        let commit = json!({ "branch": name, "start_branch": "topic", "commit_message": "m", "actions": [action] });
        let refused = dan.post(&format!("{repository}/commits"), commit).await;
        let text = format!(
            "Something went wrong when we tried to create '{name}' for you: Branch name is invalid"
        );
        refused.refused(400, told(&text));
    }
    let longest = json!({ "branch": "x".repeat(250), "ref": "topic" });
    dan.post(&format!("{repository}/branches"), longest).await.created();
}

#[actix_web::test]
async fn a_branch_does_not_take_the_place_of_a_tag_or_of_a_full_name() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    // As they were made before such names were refused.
    for name in ["v1.0", "refs/heads/main", "refs/tags/v1.0", "@", "heads/main"] {
        fixture.git(&["update-ref", &format!("refs/heads/{name}"), "topic"]);
    }
    let repository = format!("/projects/{}/repository", app.project_from(&fixture));
    let nobody = app.anonymous();
    for (name, id) in [
        ("v1.0", fixture.id("refs/tags/v1.0")),
        ("refs%2Ftags%2Fv1.0", fixture.id("refs/tags/v1.0")),
        ("tags%2Fv1.0", fixture.id("refs/tags/v1.0")),
        ("refs%2Fheads%2Fmain", fixture.id("refs/heads/main")),
        ("heads%2Fmain", fixture.id("refs/heads/main")),
        ("@", fixture.id("refs/heads/main")),
    ] {
        let id = id.to_string();
        let commit = nobody.get(&format!("{repository}/commits/{name}")).await.ok();
        assert_eq!(commit["id"], id, "{name}");
        let listed = nobody.get(&format!("{repository}/commits?ref_name={name}")).await;
        assert_eq!(listed.each("id")[0], id, "{name}");
        let archive = nobody.get(&format!("{repository}/archive?sha={name}")).await;
        assert!(archive.header("content-disposition").is_some_and(|name| name.contains(&id)));
        let path = format!("{repository}/compare?from={name}&to={name}");
        assert_eq!(nobody.get(&path).await.ok()["compare_same_ref"], true, "{name}");
        let file = nobody.get(&format!("{repository}/files/lib%2Fprogram.c?ref={name}")).await;
        assert!(file.status == 404 || file.ok()["commit_id"] == id, "{name}");
    }
    // Where a branch is asked for, only branches count; and what should not be there can go.
    let ada = app.person("ada");
    for name in ["v1.0", "refs%2Fheads%2Fmain", "refs%2Ftags%2Fv1.0", "@"] {
        let branch = format!("{repository}/branches/{name}");
        let found = nobody.get(&branch).await.ok();
        assert_eq!(found["commit"]["id"], fixture.id("topic").to_string(), "{name}");
        assert_eq!(ada.delete(&branch).await.status, 204, "{name}");
    }
}

#[actix_web::test]
async fn a_name_that_no_ref_can_have_for_its_length_is_unknown() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let (ada, at) = (app.person("ada"), format!("/projects/{project}/repository"));
    for long in [256, 300, 3000].map(|length| "x".repeat(length)) {
        for (path, status) in [
            (format!("{at}/branches/{long}"), 404),
            (format!("{at}/tags/{long}"), 404),
            (format!("{at}/commits/{long}"), 404),
            (format!("{at}/commits?ref_name={long}"), 200),
            (format!("{at}/commits?ref_name={long}..main"), 200),
            (format!("{at}/files/lib%2Fprogram.c?ref={long}"), 404),
            (format!("{at}/files/lib%2Fprogram.c/raw?ref={long}"), 404),
            (format!("{at}/files/lib%2Fprogram.c/blame?ref={long}"), 404),
            (format!("{at}/tree?ref={long}"), 404),
            (format!("{at}/archive?sha={long}"), 404),
            (format!("{at}/compare?from={long}&to=main"), 404),
            (format!("{at}/merge_base?refs[]={long}&refs[]=main"), 400),
            (format!("{at}/contributors?ref={long}"), 404),
            (format!("{at}/changelog?version=1.0.0&from={long}"), 422),
            (format!("/projects/{project}/pipelines/latest?ref={long}"), 403),
        ] {
            let answer = ada.get(&path).await;
            assert_eq!(answer.status, status, "{} {path}", String::from_utf8_lossy(&answer.bytes));
            assert!(status != 200 || answer.body == json!([]), "{path}");
            let head = ada.head(&path).await;
            assert_eq!(head.status, status, "{path}");
        }
        assert_eq!(ada.delete(&format!("{at}/branches/{long}")).await.status, 404);
        assert_eq!(ada.delete(&format!("{at}/tags/{long}")).await.status, 404);
        for (path, body, status) in [
            (format!("{at}/branches"), json!({ "branch": "ok", "ref": long }), 400),
            (format!("{at}/tags"), json!({ "tag_name": "ok", "ref": long }), 400),
            (format!("{at}/commits/main/cherry_pick"), json!({ "branch": long }), 404),
            (format!("/projects/{project}/statuses/{long}"), json!({ "state": "success" }), 404),
        ] {
            assert_eq!(ada.post(&path, body).await.status, status, "{path}");
        }
        let renamed = json!({ "default_branch": long });
        assert_eq!(ada.put(&format!("/projects/{project}"), renamed).await.status, 400);
    }
}

#[actix_web::test]
async fn a_name_that_is_too_long_is_no_fault_of_the_server_where_jobs_and_deployments_name_it() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let (ada, at) = (app.person("ada"), format!("/projects/{project}"));
    let trigger = ada.post(&format!("{at}/triggers"), json!({ "description": "t" })).await;
    let token = trigger.created()["token"].clone();
    for long in [251, 256, 3000].map(|length| "x".repeat(length)) {
        for path in [
            format!("{at}/jobs/artifacts/{long}/download?job=x"),
            format!("{at}/jobs/artifacts/{long}/raw/x?job=x"),
            format!("{at}/environments/{long}"),
            format!("{at}/protected_environments/{long}"),
            format!("{at}/resource_groups/{long}"),
            format!("{at}/variables/{long}"),
        ] {
            let answer = ada.get(&path).await;
            assert!((400..500).contains(&answer.status), "{} {path}", answer.status);
        }
        for path in
            [format!("{at}/pipelines?ref={long}"), format!("{at}/deployments?environment={long}")]
        {
            assert_eq!(ada.get(&path).await.ok(), json!([]), "{path}");
        }
        let deployed = json!({ "environment": "live", "sha": long, "ref": long, "tag": false, "status": "success" });
        for (path, body) in [
            ("/pipeline".to_owned(), json!({ "ref": long })),
            ("/trigger/pipeline".to_owned(), json!({ "ref": long, "token": token })),
            (format!("/ref/{long}/trigger/pipeline"), json!({ "token": token })),
            ("/deployments".to_owned(), deployed),
        ] {
            let answer = ada.post(&format!("{at}{path}"), body).await;
            assert!((400..500).contains(&answer.status), "{} {path}", answer.status);
        }
        // The branch of a schedule may come later.
        let schedule = json!({ "description": "d", "ref": long, "cron": "0 1 * * *" });
        let answer = ada.post(&format!("{at}/pipeline_schedules"), schedule).await;
        assert!(answer.status < 500, "{}", answer.status);
        let answer = ada.get(&format!("{at}/ci/lint?sha={long}&dry_run=true&ref={long}")).await;
        assert!(answer.status < 500, "{}", answer.status);
    }
}

#[actix_web::test]
async fn a_name_below_or_above_another_one_says_which() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    fixture.git(&["update-ref", "refs/heads/feat/one", "topic"]);
    fixture.git(&["update-ref", "refs/tags/rel/one", "topic"]);
    let repository = format!("/projects/{}/repository", app.project_from(&fixture));
    let ada = app.person("ada");
    let refused =
        |name: &str, other: &str| told(&format!("'{name}' cannot be created: '{other}' exists"));
    for (name, other) in [("feat", "feat/one"), ("feat/one/x", "feat/one"), ("main/x", "main")] {
        let branch = json!({ "branch": name, "ref": "main" });
        let answer = ada.post(&format!("{repository}/branches"), branch).await;
        answer.refused(400, refused(name, other));
    }
    let tag = json!({ "tag_name": "rel", "ref": "main" });
    ada.post(&format!("{repository}/tags"), tag).await.refused(400, refused("rel", "rel/one"));
}

#[actix_web::test]
async fn of_several_who_make_one_branch_the_others_read_that_it_is_there() {
    let app = TestApp::new();
    let repository = format!("/projects/{}/repository", app.project_from(&Fixture::new()));
    let ada = app.person("ada");
    for (kind, name, sentence) in [
        ("branches", json!({ "branch": "new", "ref": "main" }), "Branch already exists"),
        ("tags", json!({ "tag_name": "new", "ref": "main" }), "Tag new already exists"),
    ] {
        let path = format!("{repository}/{kind}");
        let made = (0..6).map(|_| ada.post(&path, name.clone()));
        let answers = futures_util::future::join_all(made).await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|one| one.status == 201);
        assert_eq!(won.len(), 1, "{kind}");
        lost.into_iter().for_each(|answer| answer.refused(400, told(sentence)));
    }
}
