//! What nodes report, and what a server counts of its own: `crates/geo/src/status/actions.rs`

use std::time::{Duration, Instant};

use db::{Tx, outbox};
use geo::{
    Role, event_log,
    node::{GeoNode, actions::create},
    status::{
        NodeStatus, StatusStore as _,
        actions::{self, ServerFacts, StatusReport},
    },
};
use kernel::{Result, error::Kind, event::Event, ids::ProjectId, page::PageRequest};

use super::world::{World, administrator, primary, secondary};

struct Note;

impl Event for Note {
    fn kind(&self) -> &'static str {
        "test.note"
    }
    fn project(&self) -> Option<ProjectId> {
        None
    }
    fn payload(&self) -> String {
        String::new()
    }
}

/// The status that the server counts of a node.
fn counted(world: &World, node: &GeoNode) -> NodeStatus {
    let (identity, node) = (world.identity.clone(), node.clone());
    let count = move |tx: &mut Tx<'_>| {
        let facts = ServerFacts {
            identity: identity.clone(),
            version: "17.0.0",
            revision: "0123abcd".to_owned(),
            storage_configuration_digest: String::new(),
        };
        actions::count(tx, &node, &facts, 3)
    };
    world.database.db.read_blocking(count).expect("the status is counted")
}

fn health(world: &World, node: &GeoNode) -> String {
    counted(world, node).health(db::testing::start())
}

#[test]
fn a_primary_counts_itself_and_has_no_cursor() {
    let world = World::of(Role::Primary);
    let made = world.write(|tx, context| {
        (0..3).try_for_each(|_| tx.emit(Note))?;
        create(tx, &administrator(), context, primary("north"))
    });
    let node = made.expect("the node is made");

    let status = counted(&world, &node);

    assert_eq!(status.health(db::testing::start()), "Healthy");
    assert_eq!(status.counters().get("projects_count"), Some(3));
    assert_eq!(status.counters().get("repositories_count"), Some(0));
    assert!(status.last_event_id.is_some() && status.cursor_last_event_id.is_none());
    assert_eq!(status.db_replication_lag_seconds, None);
}

#[test]
fn a_server_whose_row_has_another_role_complains() {
    let server = World::of(Role::Primary);
    let row = server.insert(secondary("north"));
    let text = health(&server, &row);
    assert!(
        text.starts_with("The server runs as the primary, and its node is a secondary"),
        "{text}"
    );

    let copy = World::of(Role::Secondary);
    let row = copy.insert(GeoNode { primary: true, ..secondary("north") });
    let text = health(&copy, &row);
    assert!(
        text.starts_with("The server runs as a secondary, and its node is the primary"),
        "{text}"
    );
}

#[test]
fn a_secondary_without_a_standby_complains() {
    let copy = World::of(Role::Secondary);
    let row = copy.insert(secondary("north"));
    assert_eq!(health(&copy, &row), "The database is not a standby of the primary's");
}

/// On PostgreSQL a fact is final once no older transaction is under way, those of other tests too.
fn wait_until_final(world: &World, last: i64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while world.database.db.read_blocking(outbox::end).expect("the log is read").id < last {
        assert!(Instant::now() < deadline, "{last} does not become final");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_cursor_of_a_node_follows_its_reports_and_never_goes_back() {
    let world = World::of(Role::Primary);
    let node = world.insert(secondary("copy"));
    let write = |work: fn(&mut Tx<'_>, &GeoNode) -> Result<i64>| {
        let node = node.clone();
        world.write(move |tx, _| work(tx, &node)).expect("the transaction succeeds")
    };
    write(|tx, node| event_log::open(tx, node.id).map(|()| 0));
    let last = write(|tx, _| {
        (0..5).try_for_each(|_| tx.emit(Note))?;
        Ok(event_log::last_event(tx)?.expect("an event").id)
    });
    wait_until_final(&world, last);
    let id = node.id;
    let report = move |at: i64| {
        let node = node.clone();
        let said = StatusReport { cursor_last_event_id: Some(at), ..StatusReport::default() };
        let done = world.write(move |tx, _| {
            actions::report(tx, &node, said.clone())?;
            Ok(event_log::cursor(tx, id)?.and_then(|cursor| cursor.last).map(|last| last.id))
        });
        done.expect("the report is taken")
    };

    assert_eq!(report(last - 2), Some(last - 2));
    assert_eq!(report(last - 4), Some(last - 2), "it never goes back");
    assert_eq!(report(last), Some(last));
    assert_eq!(report(last + 100), Some(last), "nobody has read what was not written");
}

#[test]
fn a_report_out_of_range_keeps_the_last_one() {
    let world = World::of(Role::Primary);
    let node = world.insert(secondary("copy"));
    let done = world.write(move |tx, _| {
        let good = StatusReport {
            version: Some("17.0.0".to_owned()),
            counters: vec![("uploads_count".to_owned(), 3), ("cats_count".to_owned(), -9)],
            ..StatusReport::default()
        };
        actions::report(tx, &node, good)?;
        let kept = tx.geo_status(node.id)?.expect("a status");
        for wrong in [
            StatusReport { db_replication_lag_seconds: Some(-1), ..StatusReport::default() },
            StatusReport { version: Some("x".repeat(256)), ..StatusReport::default() },
            StatusReport {
                counters: vec![("uploads_count".to_owned(), -1)],
                ..StatusReport::default()
            },
        ] {
            let refusal = actions::report(tx, &node, wrong).expect_err("out of range");
            assert_eq!(refusal.kind, Kind::BadRequest);
        }
        assert_eq!(tx.geo_status(node.id)?, Some(kept.clone()));
        assert_eq!(kept.counters().get("uploads_count"), Some(3));
        Ok(())
    });
    done.expect("the transaction succeeds");
}

#[test]
fn a_list_leaves_out_who_never_reported_and_says_who_lacks_an_application() {
    let world = World::of(Role::Primary);
    let (one, _silent) = (world.insert(secondary("copy")), world.insert(secondary("third")));
    let listed = world.write(move |tx, context| {
        actions::report(tx, &one, StatusReport::default())?;
        let page = PageRequest::default();
        actions::list(tx, &administrator(), context.applications, None, page)
    });

    let items = listed.expect("statuses are read").items;

    let shown: Vec<_> =
        items.iter().map(|one| (one.node.name.as_str(), one.missing_oauth_application)).collect();
    assert_eq!(shown, [("copy", true)]);
}
