//! What is sent to webhooks, how often, and what becomes of those that do not answer.

use admin::delivery::{BusyReceivers, DeliveryQueue as _};
use kernel::{AccessLevel::Maintainer, Visibility::Private, ids::ProjectId};
use org::settings::store::SettingsStore as _;
use serde_json::{Value, json};
use time::Duration;

use super::receiver::{Receiver, deliver};
use crate::support::{Person, TestApp, ci::commit};

fn set_up(app: &TestApp) -> (Person<'_>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    (ada, project, format!("/projects/{project}/hooks"))
}

async fn open_issue(person: &Person<'_>, project: ProjectId, title: &str) -> Value {
    person.post(&format!("/projects/{project}/issues"), json!({ "title": title })).await.created()
}

#[actix_web::test]
async fn a_delivery_has_its_headers_and_is_sent_once() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let mut new = receiver.hook(&["issues_events"]);
    new["token"] = json!("t0p");
    new["custom_headers"] = json!([{ "key": "X-Own", "value": "v" }]);
    ada.post(&path, new).await.created();

    open_issue(&ada, project, "One").await;
    deliver(&app).await;

    let told = receiver.told();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    for (name, value) in [
        ("Content-Type", "application/json"),
        ("X-Gitlab-Event", "Issue Hook"),
        ("X-Gitlab-Instance", "http://forge.test"),
        ("X-Gitlab-Token", "t0p"),
        ("X-Own", "v"),
    ] {
        assert_eq!(told.header(name), Some(value), "{name}");
    }
    for name in ["X-Gitlab-Event-UUID", "Idempotency-Key", "X-Gitlab-Webhook-UUID"] {
        assert_eq!(told.header(name).map(str::len), Some(36), "{name}");
    }
    assert_eq!(told.body["object_attributes"]["title"], "One");
    deliver(&app).await;
    assert!(receiver.told().is_empty());
}

#[actix_web::test]
async fn inner_addresses_are_reached_only_where_settings_say_so() {
    let (app, receiver) = (TestApp::new(), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let refusal = json!({ "error": "Invalid url given" });
    ada.post(&path, receiver.hook(&["issues_events"])).await.refused(422, refusal);
    let allow = |allowed: bool| {
        let set = app.write(move |tx| {
            let mut settings = tx.settings()?;
            settings.allow_local_requests_from_web_hooks_and_services = allowed;
            tx.store_settings(&settings)?;
            Ok(settings)
        });
        app.state.follow(std::sync::Arc::new(set));
    };
    allow(true);
    let hook = ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    open_issue(&ada, project, "One").await;
    deliver(&app).await;
    assert_eq!(receiver.told().len(), 1);

    allow(false);
    open_issue(&ada, project, "Two").await;
    deliver(&app).await;

    assert!(receiver.told().is_empty());
    let logs = ada.get(&format!("{path}/{}/events", hook["id"])).await.ok();
    assert_eq!(logs[0]["response_status"], "internal error");
}

#[actix_web::test]
async fn the_log_tells_how_long_a_request_without_an_answer_took() {
    let app = TestApp::reaching("127.0.0.1");
    let (ada, project, path) = set_up(&app);
    // Nobody listens there any more.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    drop(listener);
    let new = json!({ "url": url, "push_events": false, "issues_events": true });
    let hook = ada.post(&path, new).await.created();

    open_issue(&ada, project, "One").await;
    deliver(&app).await;

    let logs = ada.get(&format!("{path}/{}/events", hook["id"])).await.ok();
    assert_eq!(logs[0]["response_status"], "internal error");
    assert!(logs[0]["execution_duration"].as_f64().is_some_and(|took| took > 0.0), "{logs}");
}

#[actix_web::test]
async fn what_a_killed_server_was_sending_is_sent_at_once_after_its_next_start() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    open_issue(&ada, project, "One").await;
    assert!(app.write(|tx| tx.queue_events()));
    let taken = app.write(|tx| tx.take_deliveries(9, &BusyReceivers::default(), "killed"));
    assert_eq!(taken.len(), 1);
    deliver(&app).await;
    assert!(receiver.told().is_empty(), "somebody has it");

    assert_eq!(app.write(|tx| tx.free_deliveries(Some("killed"))), 1);
    deliver(&app).await;

    assert_eq!(receiver.told().len(), 1);
}

#[actix_web::test]
async fn a_receiver_in_trouble_is_given_time_and_told_again_in_order() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let hook = ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    let one = format!("{path}/{}", hook["id"]);
    receiver.answers(503);
    let issue = open_issue(&ada, project, "One").await;
    deliver(&app).await;
    let first = receiver.told();
    assert_eq!(ada.get(&one).await.ok()["alert_status"], "temporarily_disabled");
    let place = format!("/projects/{project}/issues/{}", issue["iid"]);
    ada.put(&place, json!({ "title": "Two" })).await.ok();
    deliver(&app).await;
    assert!(receiver.told().is_empty(), "nothing is sent meanwhile");

    receiver.answers(200);
    app.clock.advance(Duration::minutes(11));
    deliver(&app).await;

    let told = receiver.told();
    let actions: Vec<&Value> =
        told.iter().map(|one| &one.body["object_attributes"]["action"]).collect();
    assert_eq!(actions, ["open", "update"]);
    let key =
        |one: &super::receiver::ReceivedRequest| one.header("Idempotency-Key").map(str::to_owned);
    assert_eq!(key(&told[0]), key(&first[0]), "the receiver knows it by its key");
    assert_eq!(ada.get(&one).await.ok()["alert_status"], "executable");
}

#[actix_web::test]
async fn a_receiver_that_refuses_is_left_alone_until_somebody_looks_after_it() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let hook = ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    let one = format!("{path}/{}", hook["id"]);
    receiver.answers(404);
    for title in ["1", "2", "3", "4", "5"] {
        open_issue(&ada, project, title).await;
        deliver(&app).await;
    }
    assert_eq!(receiver.told().len(), 4);
    assert_eq!(ada.get(&one).await.ok()["alert_status"], "disabled");

    receiver.answers(302);
    ada.put(&one, json!({ "issues_events": true })).await.ok();
    open_issue(&ada, project, "6").await;
    deliver(&app).await;

    assert_eq!(receiver.told().len(), 1, "a redirect is an answer, and not followed");
    assert_eq!(ada.get(&one).await.ok()["alert_status"], "executable");
}

#[actix_web::test]
async fn payloads_that_are_too_large_are_logged_and_say_nothing_of_the_receiver() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let mut new = receiver.hook(&["issues_events"]);
    new["custom_webhook_template"] = json!("{{object_attributes.description}}".repeat(40));
    let hook = ada.post(&path, new).await.created();
    let large = json!({ "title": "One", "description": "x".repeat(700_000) });
    for _ in 0..4 {
        ada.post(&format!("/projects/{project}/issues"), large.clone()).await.created();
    }
    deliver(&app).await;

    let one = format!("{path}/{}", hook["id"]);
    assert_eq!(ada.get(&one).await.ok()["alert_status"], "executable");
    assert!(receiver.told().is_empty());
    let logs = ada.get(&format!("{one}/events")).await.ok();
    assert_eq!(logs.as_array().map(Vec::len), Some(4));
    assert_eq!(logs[0]["response_status"], "internal error");
    assert_eq!(logs[0]["request_data"], json!({ "oversize": true }));
    let resend = format!("{one}/events/{}/resend", logs[0]["id"]);
    ada.post(&resend, json!({})).await.with(422);
}

#[actix_web::test]
async fn what_was_sent_is_listed_and_sent_once_more() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let mut new = receiver.hook(&["issues_events"]);
    new["token"] = json!("t0p");
    let hook = ada.post(&path, new).await.created();
    open_issue(&ada, project, "One").await;
    deliver(&app).await;
    let events = format!("{path}/{}/events", hook["id"]);

    let logs = ada.get(&events).await.ok();

    assert_eq!(logs[0]["response_status"], "200");
    assert_eq!(logs[0]["trigger"], "issues_events");
    assert_eq!(logs[0]["request_headers"]["X-Gitlab-Token"], "[REDACTED]");
    assert_eq!(logs[0]["request_data"]["object_kind"], "issue");
    assert_eq!(ada.get(&format!("{events}?status=client_failure")).await.ok(), json!([]));
    let first = receiver.told().remove(0);
    let again = ada.post(&format!("{events}/{}/resend", logs[0]["id"]), json!({})).await.created();
    assert_eq!(again["response_status"], 200);
    let second = receiver.told().remove(0);
    assert_eq!(second.body, first.body);
    assert_eq!(second.header("Idempotency-Key"), first.header("Idempotency-Key"));
    app.recurring().await;
    app.clock.advance(Duration::days(8));
    app.recurring().await;
    assert_eq!(ada.get(&events).await.ok(), json!([]));
}

#[actix_web::test]
async fn a_hook_is_tried_out_five_times_a_minute() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let hook = ada.post(&path, receiver.hook(&[])).await.created();
    let test = format!("{path}/{}/test", hook["id"]);
    let issues = format!("{test}/issues_events");
    ada.post(&issues, json!({}))
        .await
        .refused(422, json!({ "message": "Ensure the project has issues." }));
    open_issue(&ada, project, "One").await;
    commit(&ada, project, "main", "a", "b\n").await;

    ada.post(&issues, json!({})).await.refused(201, json!({ "message": "201 Created" }));

    ada.post(&format!("{test}/push_events"), json!({})).await.created();
    let told = receiver.told();
    assert!(told[0].body["object_attributes"].get("action").is_none());
    assert_eq!(told[1].body["total_commits_count"], 1);
    ada.post(&format!("{test}/nothing"), json!({})).await.with(400);
    receiver.answers(500);
    ada.post(&issues, json!({})).await.refused(422, json!({ "message": "ok" }));
    for _ in 0..2 {
        ada.post(&issues, json!({})).await.with(422);
    }
    ada.post(&issues, json!({})).await.with(429);
}

#[actix_web::test]
async fn five_times_a_minute_is_for_all_hooks_of_a_project_together() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    open_issue(&ada, project, "One").await;
    let mut tests = Vec::new();
    for _ in 0..2 {
        let hook = ada.post(&path, receiver.hook(&[])).await.created();
        tests.push(format!("{path}/{}/test/issues_events", hook["id"]));
    }
    for test in [&tests[0], &tests[0], &tests[0], &tests[1], &tests[1]] {
        ada.post(test, json!({})).await.created();
    }

    ada.post(&tests[1], json!({})).await.with(429);

    assert_eq!(receiver.told().len(), 5);
    app.clock.advance(Duration::minutes(2));
    ada.post(&tests[1], json!({})).await.created();
}

#[actix_web::test]
async fn what_has_waited_for_two_days_is_forgotten() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    app.recurring().await;
    receiver.answers(503);
    open_issue(&ada, project, "One").await;
    deliver(&app).await;
    assert_eq!(receiver.told().len(), 1);
    receiver.answers(200);

    app.clock.advance(Duration::days(3));
    app.recurring().await;

    assert_eq!(app.write(|tx| tx.waiting_deliveries()), 0);
    deliver(&app).await;
    assert!(receiver.told().is_empty());
}

#[actix_web::test]
async fn a_server_that_was_too_slow_does_not_end_what_another_took() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    open_issue(&ada, project, "One").await;
    assert!(app.write(|tx| tx.queue_events()));
    let take = || app.write(|tx| tx.take_deliveries(9, &BusyReceivers::default(), "one")).remove(0);
    let slow = take();
    app.clock.advance(Duration::minutes(3));
    let quick = take();

    app.write(move |tx| tx.finish_delivery(&slow));

    assert_eq!(app.write(|tx| tx.waiting_deliveries()), 1);
    app.write(move |tx| tx.finish_delivery(&quick));
    assert_eq!(app.write(|tx| tx.waiting_deliveries()), 0);
}

#[actix_web::test]
async fn a_payload_that_cannot_be_completed_is_sent_as_it_is_at_the_third_attempt() {
    use db::schema::hook_events;
    use diesel::prelude::*;
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    open_issue(&ada, project, "One").await;
    app.write(|tx| {
        let odd = diesel::update(hook_events::table).set(hook_events::gaps.eq(Some("nothing")));
        db::each_backend!(tx, |conn| odd.execute(conn).map_err(db::error("Hook Event")))
    });
    for _ in 0..2 {
        deliver(&app).await;
        assert!(receiver.told().is_empty());
        app.clock.advance(Duration::minutes(10));
    }

    deliver(&app).await;

    let told = receiver.told();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].body["object_attributes"]["title"], "One");
}

#[actix_web::test]
async fn nothing_is_sent_to_a_hook_that_is_gone() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let hook = ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    open_issue(&ada, project, "One").await;
    ada.delete(&format!("{path}/{}", hook["id"])).await.with(204);

    deliver(&app).await;

    assert!(receiver.told().is_empty());
}

#[actix_web::test]
async fn what_waited_for_its_place_is_sent_as_the_hook_is_by_then() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    let hook = ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    let place = format!("{path}/{}", hook["id"]);
    for (is_deleted, expected) in [(false, [4, 4]), (true, [0, 4])] {
        for title in ["1", "2", "3", "4", "5", "6", "7", "8"] {
            open_issue(&ada, project, title).await;
        }
        receiver.hold();
        futures_util::join!(deliver(&app), async {
            while receiver.count() < 4 {
                tokio::task::yield_now().await;
            }
            app.clock.advance(Duration::seconds(1));
            match is_deleted {
                false => drop(ada.put(&place, json!({ "url": receiver.url("new") })).await.ok()),
                true => drop(ada.delete(&place).await.with(204)),
            }
            receiver.release();
        });

        let told = receiver.told();
        let at = |path: &str| told.iter().filter(|one| one.path == path).count();
        assert_eq!([at("/hook"), at("/new")], expected, "{is_deleted}");
    }
}

#[actix_web::test]
async fn a_hook_that_leads_to_an_event_is_not_told_of_it() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    open_issue(&ada, project, "One").await;
    deliver(&app).await;
    let uuid = receiver.told()[0].header("X-Gitlab-Event-UUID").expect("an id").to_owned();
    let later = Receiver::new();
    ada.post(&path, later.hook(&["issues_events"])).await.created();
    let again = ada.sending("X-Gitlab-Event-UUID", &uuid);

    open_issue(&again, project, "Two").await;
    deliver(&app).await;

    assert!(receiver.told().is_empty(), "it led there itself");
    let told = later.told();
    assert_eq!(told[0].header("X-Gitlab-Event-UUID"), Some(uuid.as_str()));
    open_issue(&again, project, "Three").await;
    deliver(&app).await;
    assert!(receiver.told().is_empty() && later.told().is_empty(), "both are in the chain");
    app.clock.advance(Duration::minutes(31));
    open_issue(&again, project, "Four").await;
    deliver(&app).await;
    assert_eq!((receiver.told().len(), later.told().len()), (1, 1), "it is forgotten");
}

#[actix_web::test]
async fn what_one_receiver_of_an_event_does_is_told_to_the_others() {
    let (app, receiver, other) = (TestApp::reaching("127.0.0.1"), Receiver::new(), Receiver::new());
    let (ada, project, path) = set_up(&app);
    for one in [&receiver, &other] {
        ada.post(&path, one.hook(&["issues_events"])).await.created();
    }
    open_issue(&ada, project, "One").await;
    deliver(&app).await;
    let uuid = receiver.told()[0].header("X-Gitlab-Event-UUID").expect("an id").to_owned();
    let beside = other.told()[0].header("X-Gitlab-Event-UUID").expect("an id").to_owned();
    assert_ne!(uuid, beside);

    open_issue(&ada.sending("X-Gitlab-Event-UUID", &uuid), project, "Two").await;
    deliver(&app).await;

    assert!(receiver.told().is_empty(), "it led there itself");
    let told = other.told();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(told.body["object_attributes"]["title"], "Two");
    assert_eq!(told.header("X-Gitlab-Event-UUID"), Some(uuid.as_str()));
}

#[actix_web::test]
async fn nobody_hides_from_system_hooks_by_the_id_of_an_event() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    open_issue(&ada, project, "One").await;
    deliver(&app).await;
    let uuid = receiver.told()[0].header("X-Gitlab-Event-UUID").expect("an id").to_owned();
    let system = Receiver::new();
    app.admin().post("/hooks", json!({ "url": system.url("system") })).await.created();
    let again = ada.sending("X-Gitlab-Event-UUID", &uuid);

    for name in ["one", "two", "three"] {
        again.post("/projects", json!({ "name": name })).await.created();
    }
    deliver(&app).await;

    let told = system.told();
    let created = told.iter().filter(|one| one.body["event_name"] == "project_create");
    assert_eq!(created.count(), 3, "{told:?}");
}

#[actix_web::test]
async fn what_the_background_does_stays_in_the_chain_of_what_led_to_it() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    commit(&ada, project, "main", "Begin", "a: {script: x}\n").await;
    ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    open_issue(&ada, project, "One").await;
    deliver(&app).await;
    let uuid = receiver.told()[0].header("X-Gitlab-Event-UUID").expect("an id").to_owned();

    let again = ada.sending("X-Gitlab-Event-UUID", &uuid);
    commit(&again, project, "main", "Closes #1", "b: {script: y}\n").await;
    app.work().await;
    deliver(&app).await;

    let issue = ada.get(&format!("/projects/{project}/issues/1")).await.ok();
    assert_eq!(issue["state"], "closed");
    assert!(receiver.told().is_empty(), "its receiver led there itself");
    ada.put(&format!("/projects/{project}/issues/1"), json!({ "state_event": "reopen" }))
        .await
        .ok();
    commit(&ada, project, "main", "Closes #1", "c: {script: z}\n").await;
    app.work().await;
    deliver(&app).await;
    assert_eq!(receiver.told().len(), 2, "a person did both");
}

#[actix_web::test]
async fn an_id_that_no_event_has_keeps_nobody_from_hearing() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    ada.post(&path, receiver.hook(&["issues_events"])).await.created();
    let own = "01234567-89ab-4def-8123-456789abcdef";
    let claiming = ada.sending("X-Gitlab-Event-UUID", own);

    for title in ["One", "Two"] {
        open_issue(&claiming, project, title).await;
    }
    deliver(&app).await;

    let told = receiver.told();
    let ids: Vec<_> = told.iter().filter_map(|one| one.header("X-Gitlab-Event-UUID")).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1] && !ids.contains(&own), "{ids:?}");
}

#[actix_web::test]
async fn chat_rooms_of_a_group_hear_of_projects_below() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let group = ada.group("crew", None).await;
    let new = json!({ "name": "engine", "namespace_id": group });
    let project = ada.post("/projects", new).await.created()["id"].as_i64().expect("an id");
    let given = json!({ "webhook": receiver.url("room") });
    ada.put(&format!("/groups/{group}/integrations/pumble"), given).await.ok();

    open_issue(&ada, ProjectId(project), "One").await;
    deliver(&app).await;

    let told = receiver.told();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    let text = told.body["text"].as_str().expect("a text");
    assert!(told.path == "/room" && text.contains("opened issue [#1 One]"), "{text}");
    let mia = app.member(ProjectId(project), "mia", Maintainer);
    mia.get(&format!("/projects/{project}/integrations")).await.ok();
}

#[actix_web::test]
async fn chat_rooms_hear_of_protected_branches_where_they_ask_for_these() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, _) = set_up(&app);
    commit(&ada, project, "main", "a", "b\n").await;
    let home = format!("/projects/{project}");
    ada.post(&format!("{home}/protected_branches"), json!({ "name": "stable" })).await.created();
    let given = json!({
        "webhook": receiver.url("room"), "branches_to_be_notified": "protected",
        "pipeline_events": false,
    });
    ada.put(&format!("{home}/integrations/pumble"), given).await.ok();

    for name in ["stable", "work"] {
        let new = json!({ "branch": name, "ref": "main" });
        ada.post(&format!("{home}/repository/branches"), new).await.created();
    }
    deliver(&app).await;

    let told = receiver.told();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    let text = told.body["text"].as_str().expect("a text");
    assert!(text.contains("pushed new branch stable"), "{text}");
}

#[actix_web::test]
async fn a_chat_room_is_told_more_than_its_host_takes_at_once() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, _) = set_up(&app);
    let given = json!({ "webhook": receiver.url("room") });
    ada.put(&format!("/projects/{project}/integrations/pumble"), given).await.ok();
    for title in ["1", "2", "3", "4", "5", "6", "7", "8", "9"] {
        open_issue(&ada, project, title).await;
    }

    deliver(&app).await;

    assert_eq!(receiver.told().len(), 9);
    assert_eq!(app.write(|tx| tx.waiting_deliveries()), 0);
}
