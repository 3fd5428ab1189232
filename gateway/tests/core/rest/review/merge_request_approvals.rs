//! Approving merge requests, and the rules of one.

use futures_util::future::join_all;
use kernel::{
    AccessLevel::{self, Developer, Maintainer, Reporter},
    ids::ProjectId,
};
use org::user::password;
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// `ada`'s project with a merge request of `dev`'s.
pub(crate) struct Forge<'a> {
    pub(crate) ada: Person<'a>,
    pub(crate) dev: Person<'a>,
    pub(crate) project: ProjectId,
    /// Below which the merge request is.
    pub(crate) at: String,
}

pub(crate) async fn forge(app: &TestApp) -> Forge<'_> {
    let project = app.project_from(&Fixture::new());
    let (ada, dev) = (app.person("ada"), app.member(project, "dev", Developer));
    change(&dev, project, "feature", "main", "one").await;
    let new = json!({ "title": "A feature", "source_branch": "feature", "target_branch": "main" });
    let made = dev.post(&format!("/projects/{project}/merge_requests"), new).await.created();
    let at = format!("/projects/{project}/merge_requests/{}", made["iid"]);
    app.announced();
    Forge { ada, dev, project, at }
}

/// Commits a file to a branch.
async fn change(person: &Person<'_>, project: ProjectId, branch: &str, start: &str, content: &str) {
    let action = json!({ "action": "create", "file_path": format!("new-{content}.txt"), "content": content });
    let mut body = json!({ "branch": branch, "commit_message": "Change", "actions": [action] });
    if start != branch {
        body["start_branch"] = json!(start);
    }
    person.post(&format!("/projects/{project}/repository/commits"), body).await.created();
}

impl Forge<'_> {
    pub(crate) async fn rule(&self, body: Value) -> Value {
        self.ada.post(&format!("/projects/{}/approval_rules", self.project), body).await.created()
    }

    pub(crate) async fn configure(&self, body: Value) {
        self.ada.post(&format!("/projects/{}/approvals", self.project), body).await.created();
    }

    pub(crate) async fn approvals(&self, person: &Person<'_>) -> Value {
        person.get(&format!("{}/approvals", self.at)).await.ok()
    }

    pub(crate) async fn approve(&self, person: &Person<'_>) -> Value {
        person.post(&format!("{}/approve", self.at), json!({})).await.created()
    }
}

pub(crate) fn usernames(approvers: &Value) -> Vec<&str> {
    let all = approvers.as_array().into_iter().flatten();
    all.filter_map(|one| one["user"]["username"].as_str().or(one["username"].as_str())).collect()
}

fn nobody() -> Value {
    json!({ "message": "401 Unauthorized" })
}

#[actix_web::test]
async fn an_approval_counts_for_the_rules_that_name_its_giver() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let grace = app.member(forge.project, "grace", Developer);
    let named = [app.user("grace").id.0];
    forge.rule(json!({ "name": "Review", "approvals_required": 1, "user_ids": named })).await;
    forge.configure(json!({ "approvals_before_merge": 2 })).await;

    let before = forge.approvals(&grace).await;
    assert_eq!((&before["approved"], &before["approvals_required"]), (&json!(false), &json!(3)));
    assert_eq!((&before["approvals_left"], &before["user_can_approve"]), (&json!(2), &json!(true)));
    assert_eq!(usernames(&forge.approvals(&forge.ada).await["suggested_approvers"]), ["grace"]);
    let half = forge.approve(&grace).await;
    assert_eq!((&half["approved"], &half["approvals_left"]), (&json!(false), &json!(1)));
    assert_eq!(
        (&half["user_has_approved"], &half["user_can_approve"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(half["approval_rules_left"][0]["name"], "All Members");
    let whole = forge.approve(&forge.ada).await;
    assert_eq!((&whole["approved"], &whole["approvals_left"]), (&json!(true), &json!(0)));
    assert_eq!(usernames(&whole["approved_by"]), ["grace", "ada"]);
    let told: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(told.iter().filter(|kind| *kind == "merge_request.approved").count(), 2);
}

#[actix_web::test]
async fn an_approval_is_given_once_and_taken_back() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let (approve, unapprove) = (format!("{}/approve", forge.at), format!("{}/unapprove", forge.at));

    forge.approve(&forge.ada).await;
    forge.ada.post(&approve, json!({})).await.refused(401, nobody());
    let back = forge.ada.post(&unapprove, json!({})).await.created();
    assert_eq!((&back["approved_by"], &back["user_has_approved"]), (&json!([]), &json!(false)));
    let none = json!({ "message": "404 Not Found" });
    forge.ada.post(&unapprove, json!({})).await.refused(404, none);
    forge.approve(&forge.ada).await;
}

#[actix_web::test]
async fn of_those_who_approve_at_once_all_count() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let people = ["one", "two", "three"].map(|name| app.member(forge.project, name, Developer));
    forge
        .rule(json!({ "name": "Three", "approvals_required": 3, "rule_type": "any_approver" }))
        .await;
    let approve = format!("{}/approve", forge.at);

    let all = people.iter().map(|person| person.post(&approve, json!({})));
    for answer in join_all(all).await {
        answer.created();
    }

    assert_eq!(stored(&app), [true]);
    let shown = forge.ada.get(&forge.at).await.ok();
    assert_ne!(shown["detailed_merge_status"], "not_approved");
}

#[actix_web::test]
async fn authors_approve_where_the_project_lets_them() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let approve = format!("{}/approve", forge.at);

    forge.dev.post(&approve, json!({})).await.refused(401, nobody());
    assert_eq!(forge.approvals(&forge.dev).await["user_can_approve"], false);
    forge.configure(json!({ "merge_requests_author_approval": true })).await;
    assert_eq!(usernames(&forge.approve(&forge.dev).await["approved_by"]), ["dev"]);
}

#[actix_web::test]
async fn the_installation_may_keep_authors_and_committers_from_approving() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let set = async |settings: Value| {
        app.admin().put("/application/settings", settings).await.ok();
        app.work().await;
    };
    let (approve, config) =
        (format!("{}/approve", forge.at), format!("/projects/{}/approvals", forge.project));
    let author = json!({ "merge_requests_author_approval": true });
    forge.configure(author.clone()).await;

    set(json!({ "prevent_merge_requests_author_approval": true })).await;
    forge.dev.post(&approve, json!({})).await.refused(401, nobody());
    let kept = forge.ada.post(&config, author).await.created();
    assert_eq!(kept["merge_requests_author_approval"], false);

    set(json!({ "prevent_merge_requests_author_approval": false,
                "prevent_merge_requests_committers_approval": true }))
    .await;
    let shown = forge.ada.get(&config).await.ok();
    assert_eq!(shown["merge_requests_author_approval"], true);
    assert_eq!(shown["merge_requests_disable_committers_approval"], true);
    forge.dev.post(&approve, json!({})).await.refused(401, nobody());

    set(json!({ "prevent_merge_requests_committers_approval": false })).await;
    forge.approve(&forge.dev).await;
}

#[actix_web::test]
async fn members_who_may_change_a_merge_request_may_approve_it() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let approve = format!("{}/approve", forge.at);
    let forbidden = json!({ "message": "403 Forbidden" });

    app.person("stranger").post(&approve, json!({})).await.refused(403, forbidden.clone());
    let reporter = app.member(forge.project, "reporter", Reporter);
    reporter.post(&approve, json!({})).await.refused(403, forbidden);
    let absent = format!("/projects/{}/merge_requests/99/approve", forge.project);
    forge.ada.post(&absent, json!({})).await.refused(404, json!({ "message": "404 Not found" }));
    assert_eq!(forge.approvals(&reporter).await["user_can_approve"], false);
}

#[actix_web::test]
async fn what_is_approved_is_what_was_seen() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let approve = format!("{}/approve", forge.at);
    let branch = format!("/projects/{}/repository/branches/feature", forge.project);
    let head = forge.ada.get(&branch).await.ok()["commit"]["id"].clone();

    let told =
        format!("SHA does not match HEAD of source branch: {}", head.as_str().unwrap_or_default());
    let other = json!({ "sha": "0".repeat(40) });
    forge.ada.post(&approve, other).await.refused(409, json!({ "message": told }));
    forge.ada.post(&approve, json!({ "sha": head })).await.created();
}

#[actix_web::test]
async fn a_project_may_ask_for_the_password() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let approve = format!("{}/approve", forge.at);
    let ada = app.user("ada").id;
    app.write(move |tx| {
        use org::user::store::UserStore as _;
        tx.save_password(ada, &password::hash("correct horse")?, None)
    });
    forge.configure(json!({ "require_password_to_approve": true })).await;

    assert_eq!(forge.approvals(&forge.ada).await["require_password_to_approve"], true);
    forge.ada.post(&approve, json!({})).await.refused(401, nobody());
    let wrong = json!({ "approval_password": "wrong" });
    forge.ada.post(&approve, wrong).await.refused(401, nobody());
    let right = json!({ "approval_password": "correct horse" });
    assert_eq!(usernames(&forge.ada.post(&approve, right).await.created()["approved_by"]), ["ada"]);
}

#[actix_web::test]
async fn approvals_are_told_among_notes_and_finish_what_was_asked() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let (ada, dev) = (app.person("ada"), app.member(project, "dev", Developer));
    let named = [app.user("ada").id.0];
    let rule = json!({ "name": "Review", "approvals_required": 1, "user_ids": named });
    ada.post(&format!("/projects/{project}/approval_rules"), rule).await.created();
    change(&dev, project, "feature", "main", "one").await;
    let new = json!({ "title": "A feature", "source_branch": "feature", "target_branch": "main" });
    let made = dev.post(&format!("/projects/{project}/merge_requests"), new).await.created();
    assert_eq!(todos(&app), [("approval_required".to_owned(), "pending".to_owned())]);
    assert_eq!(stored(&app), [false]);

    let at = format!("/projects/{project}/merge_requests/{}", made["iid"]);
    ada.post(&format!("{at}/approve"), json!({})).await.created();

    assert_eq!(todos(&app), [("approval_required".to_owned(), "done".to_owned())]);
    assert_eq!(stored(&app), [true]);
    assert!(notes(&app).contains(&"approved this merge request".to_owned()));
}

fn todos(app: &TestApp) -> Vec<(String, String)> {
    use db::schema::todos;
    use diesel::prelude::*;
    app.write(|tx| {
        let all = todos::table.order(todos::id).select((todos::action, todos::state));
        db::each_backend!(tx, |conn| all.load(conn).map_err(db::error("Todo")))
    })
}

/// Whether each merge request is kept as approved.
pub(crate) fn stored(app: &TestApp) -> Vec<bool> {
    use db::schema::merge_requests;
    use diesel::prelude::*;
    app.write(|tx| {
        let all = merge_requests::table.order(merge_requests::id).select(merge_requests::approved);
        db::each_backend!(tx, |conn| all.load(conn).map_err(db::error("Merge request")))
    })
}

fn notes(app: &TestApp) -> Vec<String> {
    use db::schema::notes;
    use diesel::prelude::*;
    app.write(|tx| {
        let all = notes::table.order(notes::id).select(notes::body);
        db::each_backend!(tx, |conn| all.load(conn).map_err(db::error("Note")))
    })
}

#[actix_web::test]
async fn what_a_project_wants_changes_what_is_kept_of_its_merge_requests() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    assert_eq!(stored(&app), [true]);

    let named = [app.user("ada").id.0];
    let rule =
        forge.rule(json!({ "name": "Review", "approvals_required": 1, "user_ids": named })).await;
    assert_eq!(stored(&app), [false]);
    let one = format!("/projects/{}/approval_rules/{}", forge.project, rule["id"]);
    forge.ada.put(&one, json!({ "approvals_required": 0 })).await.ok();
    assert_eq!(stored(&app), [true]);
    forge.configure(json!({ "approvals_before_merge": 1 })).await;
    assert_eq!(stored(&app), [false]);
    forge.approve(&forge.ada).await;
    assert_eq!(stored(&app), [true]);
}

#[actix_web::test]
async fn members_of_a_group_approve_by_membership_from_above_too() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let owls = forge.ada.post("/groups", json!({ "name": "Owls", "path": "owls" })).await.created();
    let inner = json!({ "name": "Young", "path": "young", "parent_id": owls["id"] });
    let inner = forge.ada.post("/groups", inner).await.created();
    let grace = app.member(forge.project, "grace", Developer);
    let member = json!({ "user_id": app.user("grace").id.0, "access_level": 30 });
    forge.ada.post(&format!("/groups/{}/members", owls["id"]), member).await.created();
    forge
        .rule(json!({ "name": "Night", "approvals_required": 1, "group_ids": [inner["id"]] }))
        .await;

    let state = forge.ada.get(&format!("{}/approval_state", forge.at)).await.ok();
    assert_eq!(usernames(&state["rules"][0]["eligible_approvers"]), ["ada", "grace"]);
    assert_eq!(stored(&app), [false]);
    let approved = forge.approve(&grace).await;
    assert_eq!((&approved["approved"], &approved["approvals_left"]), (&json!(true), &json!(0)));
    assert_eq!(approved["approver_groups"][0]["group"]["path"], "young");
    assert_eq!(forge.approvals(&forge.dev).await["approver_groups"], json!([]));
}

#[actix_web::test]
async fn only_machines_take_all_approvals_back() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    forge.approve(&forge.ada).await;
    let reset = format!("{}/reset_approvals", forge.at);

    forge.ada.put(&reset, json!({})).await.refused(401, nobody());
    let bot = bot(&app, forge.project, Maintainer);
    let accepted = bot.put(&reset, json!({})).await.with(202);
    assert_eq!(accepted, json!({ "message": "202 Accepted" }));
    assert_eq!(forge.approvals(&forge.ada).await["approved_by"], json!([]));
}

fn bot(app: &TestApp, project: ProjectId, level: AccessLevel) -> Person<'_> {
    use db::schema::users;
    use diesel::prelude::*;
    let person = app.member(project, "robot", level);
    let id = app.user("robot").id;
    app.write(move |tx| {
        let row = diesel::update(users::table.find(id)).set(users::bot.eq(true));
        db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("User")))
    });
    person
}

#[actix_web::test]
async fn a_push_takes_approvals_back_where_the_project_wants_it() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    forge.approve(&forge.ada).await;

    change(&forge.dev, forge.project, "feature", "feature", "two").await;

    assert_eq!(forge.approvals(&forge.ada).await["approved_by"], json!([]));
    let told = "reset approvals from @ada by pushing to the branch".to_owned();
    assert!(notes(&app).contains(&told));
    assert_eq!(todos(&app), [("approval_required".to_owned(), "pending".to_owned())]);
    forge.configure(json!({ "reset_approvals_on_push": false })).await;
    forge.approve(&forge.ada).await;
    change(&forge.dev, forge.project, "feature", "feature", "three").await;
    assert_eq!(usernames(&forge.approvals(&forge.ada).await["approved_by"]), ["ada"]);
}

#[actix_web::test]
async fn a_rebase_by_the_platform_takes_nothing_back() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    forge.approve(&forge.ada).await;
    change(&forge.ada, forge.project, "main", "main", "elsewhere").await;

    forge.dev.put(&format!("{}/rebase", forge.at), json!({})).await.with(202);

    assert_eq!(usernames(&forge.approvals(&forge.ada).await["approved_by"]), ["ada"]);
}

#[actix_web::test]
async fn what_is_not_approved_is_not_merged() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let named = [app.user("ada").id.0];
    forge.rule(json!({ "name": "Review", "approvals_required": 1, "user_ids": named })).await;
    let merge = format!("{}/merge", forge.at);

    let refusal = json!({ "message": "405 Method Not Allowed" });
    forge.ada.put(&merge, json!({})).await.refused(405, refusal);
    assert_eq!(forge.ada.get(&forge.at).await.ok()["detailed_merge_status"], "not_approved");
    forge.approve(&forge.ada).await;
    assert_eq!(forge.ada.put(&merge, json!({})).await.ok()["state"], "merged");
    forge.ada.post(&format!("{}/unapprove", forge.at), json!({})).await.refused(401, nobody());
    let grace = app.member(forge.project, "grace", Developer);
    grace.post(&format!("{}/approve", forge.at), json!({})).await.refused(401, nobody());
}
