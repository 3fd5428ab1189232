//! Approvals of deployments: `gateway/src/rest/deployments/deployment_approvals.rs`.

use ci::job::End;
use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, finish, job, run},
};

struct Set<'a> {
    project: ProjectId,
    dan: Person<'a>,
    mia: Person<'a>,
    deployment: Value,
}

/// A deployment of dan's to an environment that is protected so.
async fn set_up<'a>(app: &'a TestApp, protection: Value) -> Set<'a> {
    let project = app.project(&app.person("olga"), "engine", Private);
    let (mia, dan) =
        (app.member(project, "mia", Maintainer), app.member(project, "dan", Developer));
    commit(&mia, project, "main", "first", "other: {script: x}").await;
    let mut body =
        json!({ "name": "production", "deploy_access_levels": [{ "access_level": 30 }] });
    for (name, value) in protection.as_object().expect("a record") {
        body[name] = value.clone();
    }
    mia.post(&format!("/projects/{project}/protected_environments"), body).await.created();
    let branch = json!({ "branch": "feature", "ref": "main" });
    dan.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    commit(&dan, project, "feature", "second", "deploy: {script: x, environment: production}")
        .await;
    let listed = dan.get(&format!("/projects/{project}/deployments")).await.ok();
    Set { project, dan, mia, deployment: listed[0].clone() }
}

impl Set<'_> {
    fn path(&self) -> String {
        format!("/projects/{}/deployments/{}", self.project, self.deployment["id"])
    }

    async fn say(&self, person: &Person<'_>, body: Value) -> crate::support::Answer {
        person.post(&format!("{}/approval", self.path()), body).await
    }

    async fn shown(&self) -> Value {
        self.dan.get(&self.path()).await.ok()
    }

    async fn job(&self) -> Value {
        job(&self.dan, self.project, "deploy").await["status"].clone()
    }
}

#[actix_web::test]
async fn a_deployment_waits_for_approvals_and_then_begins() {
    let app = TestApp::new();
    let set = set_up(&app, json!({ "required_approval_count": 1 })).await;
    assert_eq!(
        (set.job().await, set.shown().await["status"].clone()),
        (json!("manual"), json!("blocked"))
    );
    assert_eq!(set.shown().await["pending_approval_count"], 1);
    let play =
        format!("/projects/{}/jobs/{}/play", set.project, set.deployment["deployable"]["id"]);
    let unplayable = json!({ "message": "400 Bad request - Unplayable Job" });
    set.dan.post(&play, json!({})).await.refused(400, unplayable);
    let own = json!({ "message": "You cannot approve your own deployment." });
    set.say(&set.dan, json!({ "status": "approved" })).await.refused(400, own);

    let said = set.say(&set.mia, json!({ "status": "approved", "comment": "Go" })).await.created();

    assert_eq!((&said["user"]["username"], &said["comment"]), (&json!("mia"), &json!("Go")));
    assert_eq!(set.job().await, "pending");
    let shown = set.shown().await;
    assert_eq!(
        (&shown["status"], &shown["pending_approval_count"]),
        (&json!("created"), &json!(0))
    );
    assert_eq!(shown["approvals"][0]["status"], "approved");
    let late = json!({ "message": "This deployment is not waiting for approvals." });
    set.say(&set.mia, json!({ "status": "approved" })).await.refused(400, late);
}

async fn first_succeeds(app: &TestApp, person: &Person<'_>, project: ProjectId) {
    run(app, person, project, "first").await;
    finish(app, person, project, "first", End::Success).await;
}

#[actix_web::test]
async fn a_job_that_waits_for_others_when_it_is_approved_begins_by_itself() {
    let app = TestApp::new();
    let set = set_up(&app, json!({ "required_approval_count": 1 })).await;
    let text = "stages: [a, b]\nfirst: {stage: a, script: x}\n\
         deploy: {stage: b, script: x, environment: production}\n";
    commit(&set.dan, set.project, "feature", "third", text).await;
    first_succeeds(&app, &set.dan, set.project).await;
    let newest = format!("/projects/{}/deployments?sort=desc", set.project);
    let set = Set { deployment: set.dan.get(&newest).await.ok()[0].clone(), ..set };
    assert_eq!(set.job().await, "manual");
    let first = job(&set.dan, set.project, "first").await["id"].clone();
    let retry = format!("/projects/{}/jobs/{first}/retry", set.project);
    set.dan.post(&retry, json!({})).await.created();

    set.say(&set.mia, json!({ "status": "approved" })).await.created();

    assert_eq!(set.job().await, "created");
    first_succeeds(&app, &set.dan, set.project).await;
    assert_eq!(set.job().await, "pending");
}

#[actix_web::test]
async fn with_rules_somebody_plays_the_job_once_it_is_approved() {
    let app = TestApp::new();
    let rules = json!({ "approval_rules": [{ "access_level": 40, "required_approvals": 2 }] });
    let set = set_up(&app, rules).await;
    let max = app.member(set.project, "max", Maintainer);
    let rob = app.member(set.project, "rob", Reporter);
    let denied = "You don't have permission to approve this deployment. Contact the project or group owner for help.";
    set.say(&rob, json!({ "status": "approved" })).await.refused(400, json!({ "message": denied }));
    let none = "There are no approval rules for the given `represent_as` parameter. Use a valid User/Group/Role name instead.";
    let body = json!({ "status": "approved", "represented_as": "Nobody" });
    set.say(&max, body).await.refused(400, json!({ "message": none }));

    set.say(&set.mia, json!({ "status": "approved" })).await.created();
    set.say(&set.mia, json!({ "status": "approved" })).await.created();
    assert_eq!(set.shown().await["pending_approval_count"], 1);
    set.say(&max, json!({ "status": "approved", "represented_as": "Maintainers" })).await.created();

    let shown = set.shown().await;
    assert_eq!(
        (&shown["status"], &shown["pending_approval_count"]),
        (&json!("created"), &json!(0))
    );
    let rule = &shown["approval_summary"]["rules"][0];
    assert_eq!(rule["deployment_approvals"].as_array().map(Vec::len), Some(2));
    assert_eq!(set.job().await, "manual");
    let play =
        format!("/projects/{}/jobs/{}/play", set.project, set.deployment["deployable"]["id"]);
    set.dan.post(&play, json!({})).await.ok();
    assert_eq!(set.job().await, "pending");
}

#[actix_web::test]
async fn whoever_no_rule_lets_in_is_told_that_they_may_not_approve() {
    let app = TestApp::new();
    let rules = json!([{ "access_level": 40, "required_approvals": 1 }]);
    let set = set_up(&app, json!({ "approval_rules": rules })).await;
    let dev = app.member(set.project, "dev", Developer);
    let query = format!(
        r#"{{ project(fullPath: "olga/engine") {{ deployment(iid: "{}") {{
           userPermissions {{ approveDeployment }} }} }} }}"#,
        set.deployment["iid"]
    );
    for (person, may) in [(&set.mia, true), (&set.dan, false), (&dev, false)] {
        let answer = person.post("//api/graphql", json!({ "query": query })).await.ok();
        let told = &answer["data"]["project"]["deployment"]["userPermissions"];
        assert_eq!(told["approveDeployment"], may, "{}: {answer}", person.username);
    }
}

#[actix_web::test]
async fn one_rejection_ends_a_deployment() {
    let app = TestApp::new();
    let set = set_up(&app, json!({ "required_approval_count": 2 })).await;

    set.say(&set.mia, json!({ "status": "rejected", "comment": "No" })).await.created();

    assert_eq!(set.shown().await["status"], "failed");
    let failed = job(&set.dan, set.project, "deploy").await;
    assert_eq!(failed["failure_reason"], "deployment_rejected");
    let again = format!("/projects/{}/jobs/{}/retry", set.project, failed["id"]);
    let told = json!({ "message": "403 Forbidden - Job is not retryable" });
    set.dan.post(&again, json!({})).await.refused(403, told);
}

#[actix_web::test]
async fn approvals_that_mean_nothing_are_refused() {
    let app = TestApp::new();
    let set = set_up(&app, json!({})).await;
    assert_eq!(set.job().await, "pending");
    let none = json!({ "message": "Deployment approvals is not configured for this environment." });
    set.say(&set.mia, json!({ "status": "approved" })).await.refused(400, none);
    let bad = json!({ "error": "status does not have a valid value" });
    set.say(&set.mia, json!({ "status": "seen" })).await.refused(400, bad);
    let path = format!("/projects/{}/protected_environments/production", set.project);
    set.mia.delete(&path).await.with(204);

    let free = json!({ "message": "This environment is not protected." });
    set.say(&set.mia, json!({ "status": "approved" })).await.refused(400, free);
}

#[actix_web::test]
async fn a_comment_has_at_most_255_letters() {
    let app = TestApp::new();
    let set = set_up(&app, json!({ "required_approval_count": 2 })).await;
    let with = |length: usize| json!({ "status": "approved", "comment": "a".repeat(length) });

    let long = json!({ "message": ["Comment is too long (maximum is 255 characters)"] });
    set.say(&set.mia, with(256)).await.refused(400, long);

    set.say(&set.mia, with(255)).await.created();
    // What is said twice stays as it was, and another verdict takes its place.
    let same = set.say(&set.mia, json!({ "status": "approved", "comment": "b" })).await.created();
    assert_eq!(same["comment"].as_str().map(str::len), Some(255));
    let other = json!({ "status": "rejected", "comment": "b" });
    assert_eq!(set.say(&set.mia, other).await.created()["comment"], "b");
    assert_eq!(set.shown().await["approvals"].as_array().map(Vec::len), Some(1));
}
