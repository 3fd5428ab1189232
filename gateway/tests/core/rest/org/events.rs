//! Feeds, and what happened to one side of an issue.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use crate::support::TestApp;

#[actix_web::test]
async fn what_somebody_did_is_in_their_feed_newest_first() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    ada.post(&format!("{issue}/notes"), json!({ "body": "hm" })).await.created();
    ada.post(&format!("{issue}/notes"), json!({ "body": "/close" })).await.with(202);

    let feed = ada.get("/events").await.ok();

    let names: Vec<_> = (0..3).map(|at| feed[at]["action_name"].clone()).collect();
    assert_eq!(names, ["closed", "commented on", "opened"]);
    assert_eq!(
        (&feed[3]["action_name"], &feed[3]["target_type"]),
        (&json!("created"), &json!("Project"))
    );
    assert_eq!((&feed[0]["target_type"], &feed[0]["target_iid"]), (&json!("Issue"), &json!(1)));
    assert_eq!(
        (&feed[0]["target_title"], &feed[0]["project_id"]),
        (&json!("Issue"), &json!(project.0))
    );
    assert_eq!((&feed[1]["target_type"], &feed[1]["note"]["body"]), (&json!("Note"), &json!("hm")));
    assert_eq!(
        (&feed[0]["author"]["username"], &feed[0]["author_username"]),
        (&json!("ada"), &json!("ada"))
    );
    assert!(feed[0].get("note").is_none() && feed[0].get("push_data").is_none());
    assert_eq!(ada.get(&format!("/projects/{project}/events")).await.ok(), feed);
    assert_eq!(app.person("eve").get("/users/ada/events").await.ok(), feed);
}

#[actix_web::test]
async fn feeds_are_filtered_and_come_by_page() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    ada.post(&format!("{issue}/notes"), json!({ "body": "hm" })).await.created();
    let names = async |query: &str| ada.get(&format!("/events?{query}")).await.each("action_name");

    assert_eq!(names("action=commented").await, ["commented on"]);
    assert_eq!(names("target_type=issue").await, ["opened"]);
    assert_eq!(names("target_type=project").await, ["created"]);
    assert_eq!(names("sort=asc").await, ["created", "opened", "commented on"]);
    assert_eq!(names("per_page=1&page=2").await, ["opened"]);
    let today = app.clock.now().iso()[..10].to_owned();
    assert_eq!(names(&format!("before={today}")).await, Vec::<Value>::new());
    assert_eq!(names(&format!("after={today}")).await, Vec::<Value>::new());
    assert_eq!(names("after=2001-01-01").await.len(), 3);
    let refusal = json!({ "error": "action does not have a valid value" });
    ada.get("/events?action=slept").await.refused(400, refusal);
    app.anonymous().get("/events").await.with(401);
}

#[actix_web::test]
async fn days_kinds_and_actions_narrow_a_feed_together() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let day = |app: &TestApp| app.clock.now().iso()[..10].to_owned();
    let first = day(&app);
    app.issue(project, &ada);
    app.clock.advance(time::Duration::days(2));
    let second = day(&app);
    app.issue(project, &ada);
    app.clock.advance(time::Duration::days(2));
    let close = json!({ "state_event": "close" });
    ada.put(&format!("/projects/{project}/issues/1"), close).await.ok();
    let count = async |query: &str| ada.get(&format!("/events?{query}")).await.each("id").len();

    assert_eq!(count("target_type=issue").await, 3);
    assert_eq!(count(&format!("target_type=issue&after={first}")).await, 2);
    assert_eq!(count(&format!("target_type=issue&before={second}")).await, 1);
    assert_eq!(count(&format!("after={first}&before={}", day(&app))).await, 1);
    assert_eq!(count(&format!("action=closed&target_type=issue&after={second}")).await, 1);
    assert_eq!(count(&format!("action=closed&before={second}")).await, 0);
    for wrong in ["before=soon", "target_type=epic", "sort=up", "scope=mine"] {
        assert_eq!(ada.get(&format!("/events?{wrong}")).await.status, 400, "{wrong}");
    }
}

#[actix_web::test]
async fn what_others_do_in_projects_of_somebody_is_in_the_feed_of_all() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let bob = app.member(project, "bob", Reporter);
    app.issue(project, &bob);
    let far = app.project(&app.person("eve"), "far", Public);
    app.issue(far, &app.person("eve"));

    let around = ada.get("/events?scope=all&target_type=issue").await;

    assert_eq!(around.each("author_username"), [json!("bob")]);
    assert_eq!(ada.get("/events?target_type=issue").await.ok(), json!([]));
    let narrow = ada.get("/events?scope=all&target_type=issue&action=closed").await;
    assert_eq!(narrow.ok(), json!([]));
}

#[actix_web::test]
async fn a_large_push_is_one_line_of_the_feed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "private").await;
    let most = json!({ "push_event_activities_limit": 0 });
    app.admin().put("/application/settings", most).await.ok();

    ada.commit(&project, "topic", "topic.txt").await;

    let pushed = ada.get(&format!("/projects/{project}/events?action=pushed")).await.ok();
    let data = &pushed[0]["push_data"];
    assert_eq!((&data["ref"], &data["ref_count"]), (&Value::Null, &json!(1)));
}

#[actix_web::test]
async fn pushes_and_members_are_in_the_feed_of_a_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "private").await;
    let head = ada.commit(&project, "topic", "topic.txt").await;
    ada.adds("bob", 30, &format!("/projects/{project}")).await;

    let feed = ada.get(&format!("/projects/{project}/events")).await.ok();

    assert_eq!(
        (&feed[0]["action_name"], &feed[0]["author_username"]),
        (&json!("joined"), &json!("bob"))
    );
    let push = &feed[1];
    assert_eq!((&push["action_name"], &push["target_type"]), (&json!("pushed new"), &Value::Null));
    let data = &push["push_data"];
    assert_eq!((&data["ref"], &data["ref_type"]), (&json!("topic"), &json!("branch")));
    assert_eq!((&data["commit_to"], &data["action"]), (&json!(head), &json!("created")));
    assert_eq!(data["commit_title"], "Change topic.txt");
    assert_eq!(push.get("wiki_page"), None);
    app.person("eve").get(&format!("/projects/{project}/events")).await.with(404);
}

#[actix_web::test]
async fn milestones_are_in_the_feed_of_those_who_may_read_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let path = format!("/projects/{project}/milestones");
    let made = ada.post(&path, json!({ "title": "1.0" })).await.created();
    let one = format!("{path}/{}", made["id"]);
    for change in [
        json!({ "state_event": "close" }),
        json!({ "state_event": "close" }),
        json!({ "state_event": "activate" }),
        json!({ "title": "1.1" }),
    ] {
        ada.put(&one, change).await.ok();
    }
    ada.delete(&one).await.with(204);
    let feed = format!("/projects/{project}/events?target_type=milestone&sort=asc");

    let told = ada.get(&feed).await.ok();
    let names: Vec<&Value> = (0..4).map(|at| &told[at]["action_name"]).collect();
    assert_eq!(names, ["opened", "closed", "opened", "destroyed"]);
    assert_eq!(
        (&told[0]["target_type"], &told[0]["target_id"]),
        (&json!("Milestone"), &made["id"])
    );
    assert_eq!((&told[0]["target_iid"], &told[0]["target_title"]), (&json!(1), &json!("1.0")));
    assert_eq!(told[3]["target_title"], "1.1");
    assert_eq!(app.person("eve").get(&feed).await.ok(), told);
    assert_eq!(app.anonymous().get(&feed).await.ok(), json!([]));
    let members =
        json!({ "issues_access_level": "private", "merge_requests_access_level": "private" });
    ada.put(&format!("/projects/{project}"), members).await.ok();
    assert_eq!(app.person("eve").get(&feed).await.ok(), json!([]));
}

#[actix_web::test]
async fn milestones_of_groups_are_in_the_feed_of_those_who_see_the_group() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let owls = ada.group_with("owls", json!({ "visibility": "public" })).await;
    let moles = ada.group_with("moles", json!({ "visibility": "private" })).await;
    for (group, title) in [(owls, "1.0"), (moles, "secret")] {
        let milestones = format!("/groups/{group}/milestones");
        let made = ada.post(&milestones, json!({ "title": title })).await.created();
        let close = json!({ "state_event": "close" });
        ada.put(&format!("{milestones}/{}", made["id"]), close).await.ok();
    }
    ada.adds("bob", 10, &format!("/groups/{moles}")).await;
    let bob = app.person("bob");
    let feed = format!("/users/{}/events?target_type=milestone&sort=asc", app.user("ada").id);

    let told = ada.get(&feed).await.ok();

    assert_eq!(ada.get(&feed).await.each("action_name"), ["opened", "closed", "opened", "closed"]);
    assert_eq!((&told[0]["project_id"], &told[0]["target_title"]), (&Value::Null, &json!("1.0")));
    assert_eq!((&told[0]["target_type"], &told[0]["target_iid"]), (&json!("Milestone"), &json!(1)));
    assert_eq!(bob.get(&feed).await.ok(), told);
    assert_eq!(eve.get(&feed).await.each("target_title"), ["1.0", "1.0"]);
    assert_eq!(app.anonymous().get(&feed).await.ok(), json!([]));
    let around = bob.get("/events?scope=all&target_type=milestone").await;
    assert_eq!(around.each("target_title"), ["secret", "secret"], "a member's group alone");
    assert_eq!(eve.get("/events?scope=all").await.ok(), json!([]));
    ada.delete(&format!("/groups/{owls}")).await.with(202);
    assert_eq!(eve.get(&feed).await.ok(), json!([]));
}

#[actix_web::test]
async fn pages_of_wikis_of_groups_are_in_the_feed_of_those_who_may_read_them() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let owls = ada.group_with("owls", json!({ "visibility": "public" })).await;
    let moles = ada.group_with("moles", json!({ "visibility": "private" })).await;
    for group in [owls, moles] {
        let page = json!({ "title": format!("Of {group}"), "content": "hot" });
        ada.post(&format!("/groups/{group}/wikis"), page).await.created();
    }
    let feed = format!("/users/{}/events?action=created", app.user("ada").id);

    let told = ada.get(&feed).await.ok();

    let (of_owls, of_moles) = (json!(format!("Of {owls}")), json!(format!("Of {moles}")));
    assert_eq!(ada.get("/events").await.each("target_title"), [of_moles, of_owls.clone()]);
    assert_eq!((&told[1]["project_id"], &told[1]["target_title"]), (&Value::Null, &of_owls));
    assert_eq!(
        (&told[1]["action_name"], &told[1]["target_type"], &told[1]["wiki_page"]["format"]),
        (&json!("created"), &json!("WikiPage::Meta"), &json!("markdown"))
    );
    assert_eq!(eve.get(&feed).await.ok(), json!([told[1]]));
    assert_eq!(app.anonymous().get(&feed).await.ok(), json!([told[1]]));
    assert_eq!(eve.get("/events?scope=all").await.ok(), json!([]));
    let members = json!({ "wiki_access_level": "private" });
    ada.put(&format!("/groups/{owls}"), members).await.ok();
    assert_eq!(eve.get(&feed).await.ok(), json!([]));
    ada.adds("eve", 10, &format!("/groups/{owls}")).await;
    assert_eq!(eve.get(&feed).await.ok(), json!([told[1]]));
    assert_eq!(eve.get("/events?scope=all").await.ok(), json!([told[1]]));
    ada.put(&format!("/groups/{owls}"), json!({ "wiki_access_level": "disabled" })).await.ok();
    assert_eq!(ada.get(&feed).await.ok(), json!([told[0]]));
}

#[actix_web::test]
async fn pages_of_wikis_are_in_the_feed_of_those_who_may_read_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let wikis = format!("/projects/{project}/wikis");
    ada.post(&wikis, json!({ "title": "Green tea", "content": "hot" })).await.created();
    ada.put(&format!("{wikis}/Green-tea"), json!({ "content": "hotter" })).await.ok();
    ada.delete(&format!("{wikis}/Green-tea")).await.with(204);
    let feed = format!("/projects/{project}/events");

    let told = ada.get(&feed).await.ok();
    let names: Vec<&Value> = (0..4).map(|at| &told[at]["action_name"]).collect();
    assert_eq!(names, ["destroyed", "updated", "created", "created"]);
    assert_eq!(
        told[2]["wiki_page"],
        json!({ "format": "markdown", "slug": "Green-tea", "title": "Green tea" })
    );
    assert_eq!(
        (&told[2]["target_type"], &told[2]["target_title"]),
        (&json!("WikiPage::Meta"), &json!("Green tea"))
    );
    assert_eq!((told[2].get("push_data"), told[3].get("wiki_page")), (None, None));
    assert_eq!(app.anonymous().get(&feed).await.ok(), told);
    ada.put(&format!("/projects/{project}"), json!({ "wiki_access_level": "private" })).await.ok();
    assert_eq!(app.person("eve").get(&feed).await.each("target_type"), ["Project"]);
}

#[actix_web::test]
async fn approvals_are_in_the_feed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("engine", "public").await;
    let bob = ada.adds("bob", 30, &format!("/projects/{project}")).await;
    ada.commit(&project, "topic", "topic.txt").await;
    ada.propose(&project, "topic", "Add it").await;
    let approve = format!("/projects/{project}/merge_requests/1/approve");
    app.person("bob").post(&approve, json!({})).await.created();

    let told = ada.get(&format!("/projects/{project}/events?action=approved")).await.ok();

    assert_eq!(
        (&told[0]["action_name"], &told[0]["target_title"]),
        (&json!("approved"), &json!("Add it"))
    );
    assert_eq!(
        (&told[0]["target_type"], &told[0]["author_id"]),
        (&json!("MergeRequest"), &json!(bob))
    );
}

#[actix_web::test]
async fn nobody_reads_of_what_is_not_for_them() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let open = app.project(&ada, "open", Public);
    let closed = app.project(&ada, "closed", Private);
    app.issue(closed, &ada);
    let hidden = app.confidential_issue(open, &ada);
    let hidden = format!("/projects/{open}/issues/{hidden}");
    ada.post(&format!("{hidden}/notes"), json!({ "body": "secret" })).await.created();
    let shown = format!("/projects/{open}/issues/{}", app.issue(open, &ada));
    let internal = json!({ "body": "psst", "internal": true });
    ada.post(&format!("{shown}/notes"), internal).await.created();

    assert_eq!(
        eve.get("/users/ada/events?target_type=issue").await.each("target_title"),
        ["Issue"]
    );
    let listed = eve.get(&format!("/projects/{open}/events")).await;
    assert_eq!(listed.header("x-total"), Some("2"));
    assert_eq!(listed.each("action_name"), ["opened", "created"]);
    let gus = app.member(closed, "gus", Guest);
    assert_eq!(gus.get("/users/ada/events").await.each("id").len(), 4);
    let rita = app.member(open, "rita", Reporter);
    assert_eq!(rita.get("/users/ada/events?action=commented").await.each("id").len(), 2);
    assert_eq!(ada.get("/events").await.each("id").len(), 7);
    app.hide_profile("ada");
    assert_eq!(eve.get("/users/ada/events").await.ok(), json!([]));
    app.person("eve")
        .get("/users/nobody/events")
        .await
        .refused(404, json!({ "message": "404 User Not Found" }));
}

#[actix_web::test]
async fn what_happened_to_an_issue_is_listed_by_kind() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    let milestone =
        ada.post(&format!("/projects/{project}/milestones"), json!({ "title": "1.0" })).await;
    let milestone = milestone.created()["id"].clone();
    for text in ["/milestone %1.0\n/weight 5", "/remove_milestone", "/close", "/reopen"] {
        ada.post(&format!("{issue}/notes"), json!({ "body": text })).await.with(202);
    }

    let moved = ada.get(&format!("{issue}/resource_milestone_events")).await.ok();
    assert_eq!((&moved[0]["action"], &moved[0]["milestone"]["id"]), (&json!("add"), &milestone));
    assert_eq!(
        (&moved[1]["action"], &moved[1]["user"]["username"]),
        (&json!("remove"), &json!("ada"))
    );
    let states = ada.get(&format!("{issue}/resource_state_events")).await.ok();
    assert_eq!((&states[0]["state"], &states[1]["state"]), (&json!("closed"), &json!("reopened")));
    let one = format!("{issue}/resource_state_events/{}", states[1]["id"]);
    assert_eq!(ada.get(&one).await.ok(), states[1]);
    let weights = ada.get(&format!("{issue}/resource_weight_events")).await.ok();
    assert_eq!((&weights[0]["weight"], &weights[0]["resource_type"]), (&json!(5), &json!("Issue")));
    let other = one.replace("state_events", "weight_events");
    ada.get(&other).await.with(404);
}

#[actix_web::test]
async fn projects_to_which_somebody_contributed_are_listed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (open, closed) = (app.project(&ada, "open", Public), app.project(&ada, "closed", Private));
    app.project(&ada, "idle", Public);
    app.issue(open, &ada);
    app.issue(closed, &ada);

    let seen = ada.get("/users/ada/contributed_projects?order_by=id&sort=asc").await;
    assert_eq!(seen.each("path"), ["open", "closed"]);
    let seen = app.person("eve").get("/users/ada/contributed_projects").await;
    assert_eq!(seen.each("path"), ["open"]);
    app.hide_profile("ada");
    let seen = app.person("eve").get("/users/ada/contributed_projects").await;
    assert_eq!(seen.each("path"), Vec::<Value>::new());
}

#[actix_web::test]
async fn comments_on_commits_are_in_the_feed_of_those_who_may_read_code() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "public").await;
    let commits = format!("/projects/{project}/repository/commits");
    let sha = ada.get(&commits).await.ok()[0]["id"].as_str().expect("a name").to_owned();
    let comments = format!("{commits}/{sha}/discussions");
    let made = ada.post(&comments, json!({ "body": "Why?" })).await.created();
    let feed = format!("/projects/{project}/events?target_type=note");

    let told = ada.get(&feed).await.ok();

    assert_eq!(
        (&told[0]["action_name"], &told[0]["target_type"], &told[0]["note"]["body"]),
        (&json!("commented on"), &json!("DiscussionNote"), &json!("Why?"))
    );
    assert_eq!(told[0]["note"]["noteable_type"], "Commit");
    ada.put(&format!("/projects/{project}"), json!({ "repository_access_level": "private" }))
        .await
        .ok();
    assert_eq!(app.person("eve").get(&feed).await.ok(), json!([]));
    assert_eq!(app.anonymous().get(&feed).await.ok(), json!([]));
    let note = format!(
        "{comments}/{}/notes/{}",
        made["id"].as_str().expect("a name"),
        made["notes"][0]["id"]
    );
    ada.delete(&note).await.with(204);
    assert_eq!(ada.get(&feed).await.ok(), json!([]));
}
