//! Files that people own, and what that means for pushes and merge requests.

use kernel::{AccessLevel::Developer, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

const OWNERS: &str = "*.md @grace\n[Code][1] @dev\n/src/\n^[Tests]\n*_test.rs @grace\n";

/// `ada`'s project with a file of code owners; `dev` and `grace` are developers.
struct Forge<'a> {
    ada: Person<'a>,
    dev: Person<'a>,
    grace: Person<'a>,
    project: ProjectId,
}

async fn forge(app: &TestApp) -> Forge<'_> {
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", kernel::Visibility::Private);
    let (dev, grace) =
        (app.member(project, "dev", Developer), app.member(project, "grace", Developer));
    let forge = Forge { ada, dev, grace, project };
    forge.commit(&forge.ada, "main", None, &[("CODEOWNERS", OWNERS)]).await.created();
    forge
}

impl Forge<'_> {
    fn at(&self, path: &str) -> String {
        format!("/projects/{}{path}", self.project)
    }

    async fn commit(
        &self,
        by: &Person<'_>,
        branch: &str,
        start: Option<&str>,
        files: &[(&str, &str)],
    ) -> crate::support::Answer {
        let action = |(path, content): &(&str, &str)| json!({ "action": "create", "file_path": path, "content": content });
        let actions: Vec<Value> = files.iter().map(action).collect();
        let mut body = json!({ "branch": branch, "commit_message": "Change", "actions": actions });
        if let Some(start) = start {
            body["start_branch"] = json!(start);
        }
        by.post(&self.at("/repository/commits"), body).await
    }

    async fn protect_main(&self) {
        let rules = self.at("/protected_branches");
        self.ada.delete(&format!("{rules}/main")).await;
        let rule = json!({ "name": "main", "push_access_level": 30, "code_owner_approval_required": true });
        self.ada.post(&rules, rule).await.created();
    }

    /// A merge request of `dev`'s that adds these files, looked at.
    async fn propose(&self, files: &[(&str, &str)]) -> String {
        self.commit(&self.dev, "feature", Some("main"), files).await.created();
        let new = json!({ "title": "x", "source_branch": "feature", "target_branch": "main" });
        let made = self.dev.post(&self.at("/merge_requests"), new).await.created();
        self.at(&format!("/merge_requests/{}", made["iid"]))
    }

    async fn rules(&self, request: &str) -> Vec<Value> {
        let state = self.dev.get(&format!("{request}/approval_state")).await.ok();
        state["rules"].as_array().cloned().unwrap_or_default()
    }
}

#[actix_web::test]
async fn owners_of_what_changes_have_to_approve_where_the_branch_wants_it() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    forge.protect_main().await;
    let request = forge.propose(&[("a.md", "a"), ("b.md", "b"), ("x.txt", "x")]).await;

    let rules = forge.rules(&request).await;
    assert_eq!(rules.len(), 1);
    assert_eq!((&rules[0]["name"], &rules[0]["section"]), (&json!("*.md"), &json!("codeowners")));
    assert_eq!(
        (&rules[0]["rule_type"], &rules[0]["code_owner"]),
        (&json!("code_owner"), &json!(true))
    );
    assert_eq!(
        (&rules[0]["approvals_required"], &rules[0]["approved"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(rules[0]["users"][0]["username"], "grace");
    let approve = format!("{request}/approve");
    let by_other = forge.ada.post(&approve, json!({})).await.created();
    assert_eq!((&by_other["approved"], &by_other["approvals_left"]), (&json!(false), &json!(1)));
    assert_eq!(forge.grace.post(&approve, json!({})).await.created()["approved"], true);
    let one = format!("{request}/approval_rules/{}", rules[0]["id"]);
    let forbidden = json!({ "message": "403 Forbidden" });
    forge.ada.put(&one, json!({ "approvals_required": 0 })).await.refused(403, forbidden.clone());
    forge.ada.delete(&one).await.refused(403, forbidden);
}

#[actix_web::test]
async fn owners_are_told_but_not_waited_for_elsewhere_and_in_optional_sections() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let request = forge.propose(&[("a.md", "a"), ("src/x_test.rs", "x")]).await;

    let rules = forge.rules(&request).await;
    let told: Vec<(&Value, &Value)> =
        rules.iter().map(|rule| (&rule["name"], &rule["approvals_required"])).collect();
    let (md, src, test) = (json!("*.md"), json!("/src/"), json!("*_test.rs"));
    assert_eq!(told, [(&md, &json!(0)), (&src, &json!(0)), (&test, &json!(0))]);
    forge.protect_main().await;
    let rules = forge.rules(&request).await;
    let required: Vec<&Value> = rules.iter().map(|rule| &rule["approvals_required"]).collect();
    assert_eq!(required, [&json!(1), &json!(1), &json!(0)]);
    // Nobody but the author owns the code: that is not waited for.
    assert_eq!((&rules[0]["approved"], &rules[1]["approved"]), (&json!(false), &json!(true)));
}

#[actix_web::test]
async fn a_push_past_owners_is_refused() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    forge.protect_main().await;

    let told = forge.commit(&forge.dev, "main", None, &[("docs/a.md", "a")]).await.with(400);

    let text = told["message"].as_str().unwrap_or_default();
    assert!(
        text.starts_with("Pushes to protected branches that contain changes to files that"),
        "{text}"
    );
    assert!(text.ends_with("were matched:\n- *.md"), "{text}");
    forge.commit(&forge.dev, "main", None, &[("a.txt", "a"), ("a_test.rs", "a")]).await.created();
    forge.commit(&forge.dev, "topic", Some("main"), &[("a.md", "a")]).await.created();
}

#[actix_web::test]
async fn whose_commits_they_are_may_keep_somebody_from_approving() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    forge.commit(&forge.grace, "feature", Some("main"), &[("g.txt", "g")]).await.created();
    let new = json!({ "title": "x", "source_branch": "feature", "target_branch": "main" });
    let made = forge.dev.post(&forge.at("/merge_requests"), new).await.created();
    let approve = forge.at(&format!("/merge_requests/{}/approve", made["iid"]));
    let strict = json!({ "merge_requests_disable_committers_approval": true });
    forge.ada.post(&forge.at("/approvals"), strict).await.created();

    let nobody = json!({ "message": "401 Unauthorized" });
    forge.grace.post(&approve, json!({})).await.refused(401, nobody);
    forge.ada.post(&approve, json!({})).await.created();
}

#[actix_web::test]
async fn a_push_takes_back_the_approvals_of_those_who_own_what_it_changed() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let some = json!({ "reset_approvals_on_push": false, "selective_code_owner_removals": true });
    forge.ada.post(&forge.at("/approvals"), some).await.created();
    let request = forge.propose(&[("a.md", "a")]).await;
    for person in [&forge.ada, &forge.grace] {
        person.post(&format!("{request}/approve"), json!({})).await.created();
    }
    let approved = async || {
        let shown = forge.ada.get(&format!("{request}/approvals")).await.ok();
        let by = shown["approved_by"].as_array().cloned().unwrap_or_default();
        by.iter().map(|one| one["user"]["username"].clone()).collect::<Vec<Value>>()
    };

    forge.commit(&forge.dev, "feature", None, &[("x.txt", "x")]).await.created();
    assert_eq!(approved().await, ["ada", "grace"]);
    forge.commit(&forge.dev, "feature", None, &[("b.md", "b")]).await.created();
    assert_eq!(approved().await, ["ada"]);
}

#[actix_web::test]
async fn owners_look_anew_at_what_a_branch_holds_that_was_made_anew() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let some = json!({ "reset_approvals_on_push": false, "selective_code_owner_removals": true });
    forge.ada.post(&forge.at("/approvals"), some).await.created();
    let request = forge.propose(&[("a.md", "a")]).await;
    for person in [&forge.ada, &forge.grace] {
        person.post(&format!("{request}/approve"), json!({})).await.created();
    }

    let branch = forge.at("/repository/branches/feature");
    assert_eq!(forge.dev.delete(&branch).await.status, 204);
    let files = [("a.md", "other"), ("x.txt", "x")];
    forge.commit(&forge.dev, "feature", Some("main"), &files).await.created();
    forge.dev.put(&request, json!({ "state_event": "reopen" })).await.ok();

    let shown = forge.ada.get(&format!("{request}/approvals")).await.ok();
    let by = shown["approved_by"].as_array().cloned().unwrap_or_default();
    let by: Vec<&Value> = by.iter().map(|one| &one["user"]["username"]).collect();
    assert_eq!(by, ["ada"]);
}
