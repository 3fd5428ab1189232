//! Deliveries of servers that end in the middle of their work, beside another server.

use std::collections::{BTreeMap, BTreeSet};

use admin::delivery::{BusyReceivers, DeliveryQueue as _};
use kernel::{
    Visibility::Private,
    ids::{HookId, ProjectId},
};
use serde_json::{Value, json};
use time::Duration;

use super::receiver::{ReceivedRequest, Receiver, deliver};
use crate::support::{Person, TestApp};

const HOOKS: usize = 20;
const EVENTS: usize = 30;
const ISSUES: usize = 3;
/// The first hook is deleted before this event.
const DELETED_AT: usize = 12;

/// A project whose issues many hooks are told of.
struct Scene<'a> {
    app: &'a TestApp,
    ada: Person<'a>,
    project: ProjectId,
    receiver: Receiver,
    hooks: Vec<i64>,
}

impl<'a> Scene<'a> {
    async fn new(app: &'a TestApp) -> Self {
        let (ada, receiver) = (app.person("ada"), Receiver::new());
        let project = app.project(&ada, "engine", Private);
        for _ in 0..ISSUES {
            app.issue(project, &ada);
        }
        let mut hooks = Vec::new();
        for n in 0..HOOKS {
            let mut new = receiver.hook(&["issues_events"]);
            new["url"] = json!(receiver.url(&format!("hook/{n}")));
            let made = ada.post(&format!("/projects/{project}/hooks"), new).await.created();
            hooks.push(made["id"].as_i64().expect("an id"));
        }
        Self { app, ada, project, receiver, hooks }
    }

    async fn change(&self, n: usize) {
        let path = format!("/projects/{}/issues/{}", self.project, n % ISSUES + 1);
        self.ada.put(&path, json!({ "title": format!("event {n}") })).await.ok();
    }

    /// Sends until something has arrived, and ends in the middle of the rest.
    async fn end_in_the_middle(&self) {
        let before = self.receiver.count();
        tokio::select! {
            () = deliver(self.app) => {}
            () = async {
                while self.receiver.count() < before + 3 {
                    tokio::task::yield_now().await;
                }
            } => {}
        }
    }

    /// Takes what is due, and ends before anything is sent.
    async fn end_before_sending(&self) {
        let taken = |tx: &mut db::Tx<'_>| {
            tx.queue_events()?;
            tx.take_deliveries(10, &BusyReceivers::default(), "killed")
        };
        self.app.state.db.write(taken).await.expect("deliveries");
    }

    /// Takes and sends some of what is due, as another server does.
    async fn other_server(&self) {
        for _ in 0..5 {
            let taken = self.app.state.db.write(|tx| {
                tx.queue_events()?;
                let taken = tx.take_deliveries(7, &BusyReceivers::default(), "other")?;
                let ids: Vec<_> = taken.iter().map(|one| one.event_id).collect();
                Ok((taken, tx.events_with(&ids)?))
            });
            let (taken, events) = taken.await.expect("deliveries");
            for one in taken {
                let event = events.iter().find(|event| event.id == one.event_id).expect("a fact");
                let hook = one.hook_id.map_or(0, |HookId(id)| id);
                let n = self.hooks.iter().position(|known| *known == hook).expect("a hook");
                self.receiver.note(ReceivedRequest {
                    path: format!("/hook/{n}"),
                    headers: vec![("Idempotency-Key".to_owned(), one.idempotency_key.clone())],
                    body: serde_json::from_str(&event.payload).expect("a payload"),
                });
                let done = self.app.state.db.write(move |tx| tx.finish_delivery(&one));
                done.await.expect("it is finished");
            }
        }
    }
}

/// What arrived first of each delivery: the events by hook and issue.
fn lanes(told: &[ReceivedRequest]) -> BTreeMap<(String, i64), Vec<usize>> {
    let (mut keys, mut lanes) = (BTreeSet::new(), BTreeMap::new());
    for one in told {
        let issue = &one.body["object_attributes"];
        let number = |value: &Value| {
            let text = value.as_str().and_then(|title| title.strip_prefix("event "));
            text.and_then(|text| text.parse::<usize>().ok())
        };
        let event = number(&issue["title"]).expect("an event");
        let lane = (one.path.clone(), issue["iid"].as_i64().expect("a number"));
        if keys.insert(one.header("Idempotency-Key").expect("a key").to_owned()) {
            lanes.entry(lane).or_insert_with(Vec::new).push(event);
        }
    }
    lanes
}

#[actix_web::test]
async fn every_event_arrives_in_order_although_servers_end_and_another_works_beside_them() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::new(&app).await;
    for n in 0..EVENTS {
        if n == DELETED_AT {
            let path = format!("/projects/{}/hooks/{}", scene.project, scene.hooks[0]);
            scene.ada.delete(&path).await.with(204);
        }
        scene.change(n).await;
        match n % 6 {
            1 => scene.end_in_the_middle().await,
            3 => scene.end_before_sending().await,
            5 => drop(futures_util::join!(deliver(&app), scene.other_server())),
            _ => {}
        }
    }
    // By then nobody holds what the servers had taken that ended.
    for _ in 0..3 {
        app.clock.advance(Duration::minutes(3));
        deliver(&app).await;
    }

    let lanes = lanes(&scene.receiver.told());

    assert_eq!(app.write(|tx| tx.waiting_deliveries()), 0);
    for hook in 1..HOOKS {
        for issue in 0..ISSUES {
            let wanted: Vec<usize> = (0..EVENTS).filter(|n| n % ISSUES == issue).collect();
            let lane = (format!("/hook/{hook}"), i64::try_from(issue).expect("small") + 1);
            assert_eq!(lanes.get(&lane), Some(&wanted), "{lane:?}");
        }
    }
    let of_deleted = lanes.iter().filter(|((path, _), _)| path == "/hook/0");
    let late: Vec<_> = of_deleted.flat_map(|(_, all)| all).filter(|n| **n >= DELETED_AT).collect();
    assert!(late.is_empty(), "{late:?}");
}

#[actix_web::test]
async fn what_many_receivers_answer_is_written_down_with_few_statements() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::new(&app).await;
    scene.change(0).await;
    app.statements();

    deliver(&app).await;

    let statements = app.statements();
    let logs =
        statements.iter().filter(|sql| sql.contains("INSERT INTO") && sql.contains("hook_logs"));
    assert_eq!(scene.receiver.told().len(), HOOKS);
    assert!(logs.count() < HOOKS, "{statements:#?}");
}
