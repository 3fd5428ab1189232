//! Alerts as monitors send them, and as people move them.

use db::Tx;
use kernel::{Result, error::Kind, page::PageRequest};
use security::{
    alert::{
        ALERTS_AT_ONCE, Alert, AlertFilter, AlertSeverity, AlertStatus, AlertStore as _,
        AssigneeStore as _, IntakeResult, NoteKind, NoteStore as _, Notice,
        actions::{comment, set_status},
        assignee::assign,
    },
    archive::{reserve_numbers, restore_counters},
    integration::{Endpoint, IntegrationKind, IntegrationStore as _},
    policy::ChangeAlerts,
};
use serde_json::{Value, json};

use crate::world::{FakeIncidents, World, alerts, notes, send, test};

fn stored(iid: i64, title: &str) -> IntakeResult {
    IntakeResult::Stored(vec![Notice { iid, title: title.to_owned() }])
}

fn over(title: &str) -> Value {
    json!({ "title": title, "end_time": "2026-01-02T00:00:00Z" })
}

/// An alert of the first project.
fn alert(tx: &mut Tx<'_>, world: &World, title: &str) -> Result<Alert> {
    let endpoint = Endpoint::Oldest(IntegrationKind::Http);
    let to = match tx.find_alert_integration(world.project, &endpoint)? {
        Some(known) => known,
        None => world.integration(tx)?,
    };
    send(tx, &FakeIncidents::default(), &to, &json!({ "title": title }))?;
    Ok(alerts(tx, world.project)?.remove(0))
}

#[test]
fn alerts_are_numbered_in_each_project_from_one() {
    test(|tx, world| {
        let here = world.integration(tx)?;
        let there = world.integration_in(tx, world.other, IntegrationKind::Http)?;
        for (to, title, iid) in [(&here, "a", 1), (&here, "b", 2), (&there, "a", 1)] {
            let received = send(tx, &FakeIncidents::default(), to, &json!({ "title": title }))?;
            assert_eq!(received, stored(iid, title));
        }
        Ok(())
    });
}

#[test]
fn an_archive_raises_numbers_and_never_lowers_them() {
    test(|tx, world| {
        alert(tx, world, "a")?;
        reserve_numbers(tx, world.project, 7)?;
        restore_counters(tx, world.project)?;
        alert(tx, world, "b")?;
        let last = alerts(tx, world.project)?.into_iter().map(|alert| alert.iid).max();
        assert_eq!(last, Some(8));
        Ok(())
    });
}

#[test]
fn the_same_again_is_one_more_event_and_nothing_else() {
    test(|tx, world| {
        let to = world.integration(tx)?;
        for _ in 0..3 {
            let told = json!({ "title": "a", "hosts": "h", "start_time": "2020-01-01" });
            assert_eq!(send(tx, &FakeIncidents::default(), &to, &told)?, stored(1, "a"));
        }
        let [known] = &alerts(tx, world.project)?[..] else { panic!("one alert") };
        assert_eq!((known.events, known.status), (3, AlertStatus::Triggered));
        assert_eq!(notes(tx, known)?, ["logged an alert from **Monitor**"]);
        Ok(())
    });
}

#[test]
fn what_says_nothing_of_itself_is_always_new() {
    test(|tx, world| {
        let to = world.integration(tx)?;
        for iid in 1..=2 {
            assert_eq!(
                send(tx, &FakeIncidents::default(), &to, &json!({}))?,
                stored(iid, "New: Alert")
            );
        }
        Ok(())
    });
}

#[test]
fn a_recovery_ends_the_alert_at_its_time() {
    test(|tx, world| {
        let to = world.integration(tx)?;
        let told = json!({ "title": "a", "monitoring_tool": "nagios" });
        send(tx, &FakeIncidents::default(), &to, &told)?;
        let mut ended = told;
        ended["end_time"] = json!(1_767_312_000_000_i64);

        assert_eq!(send(tx, &FakeIncidents::default(), &to, &ended)?, stored(1, "a"));

        let [known] = &alerts(tx, world.project)?[..] else { panic!("one alert") };
        let ended_at = known.ended_at.map(kernel::Ts::iso);
        assert_eq!(known.status, AlertStatus::Resolved);
        assert_eq!(ended_at.as_deref(), Some("2026-01-02T00:00:00.000Z"));
        let told = [
            "logged an alert from **nagios**",
            "logged a recovery alert from **nagios**",
            "changed the status to **Resolved**",
        ];
        assert_eq!(notes(tx, known)?, told);
        Ok(())
    });
}

#[test]
fn a_recovery_of_what_is_not_open_keeps_nothing() {
    test(|tx, world| {
        let to = world.integration(tx)?;
        assert_eq!(send(tx, &FakeIncidents::default(), &to, &over("a"))?, IntakeResult::NotStored);
        send(tx, &FakeIncidents::default(), &to, &json!({ "title": "a" }))?;
        send(tx, &FakeIncidents::default(), &to, &over("a"))?;
        assert_eq!(send(tx, &FakeIncidents::default(), &to, &over("a"))?, IntakeResult::NotStored);
        let [known] = &alerts(tx, world.project)?[..] else { panic!("one alert") };
        assert_eq!(notes(tx, known)?.len(), 3);
        Ok(())
    });
}

#[test]
fn what_was_over_is_a_new_alert_when_it_comes_back() {
    test(|tx, world| {
        let to = world.integration(tx)?;
        for payload in [json!({ "title": "a" }), over("a"), json!({ "title": "a" })] {
            send(tx, &FakeIncidents::default(), &to, &payload)?;
        }
        let all = alerts(tx, world.project)?;
        let seen: Vec<_> = all.iter().map(|one| (one.iid, one.status)).collect();
        assert_eq!(seen, [(2, AlertStatus::Triggered), (1, AlertStatus::Resolved)]);
        Ok(())
    });
}

#[test]
fn of_one_call_of_prometheus_a_hundred_alerts_are_read() {
    test(|tx, world| {
        let to = world.integration_in(tx, world.project, IntegrationKind::Prometheus)?;
        let one = |n: usize| json!({ "status": "firing", "labels": { "alertname": format!("a{n}") }, "startsAt": "2026-01-01T00:00:00Z" });
        let all: Vec<Value> = (0..ALERTS_AT_ONCE + 5).map(one).collect();
        let call = json!({
            "version": "4", "groupKey": "k", "status": "firing", "receiver": "r", "groupLabels": {},
            "commonLabels": {}, "commonAnnotations": {}, "externalURL": "u", "alerts": all,
        });

        assert_eq!(send(tx, &FakeIncidents::default(), &to, &call)?, IntakeResult::Taken);

        let page = PageRequest { page: 2, per_page: 100 };
        assert!(tx.alerts(world.project, &AlertFilter::default(), page)?.items.is_empty());
        assert_eq!(alerts(tx, world.project)?.len(), ALERTS_AT_ONCE);
        Ok(())
    });
}

#[test]
fn people_move_an_alert_and_their_names_stand_beside() {
    test(|tx, world| {
        alert(tx, world, "a")?;
        let grant = world.may::<ChangeAlerts>(world.developer)?;
        for status in [AlertStatus::Acknowledged, AlertStatus::Ignored, AlertStatus::Triggered] {
            let moved = set_status(tx, &grant, &FakeIncidents::default(), 1, status)?;
            assert_eq!(moved.status, status);
        }
        let ended = set_status(tx, &grant, &FakeIncidents::default(), 1, AlertStatus::Resolved)?;
        assert_eq!(ended.ended_at, Some(tx.now));
        let told = tx.alert_notes(ended.id, PageRequest::default())?.items;
        let authors: Vec<_> = told.iter().rev().map(|note| note.author_id).collect();
        let dev = Some(world.developer);
        assert_eq!(authors, [None, dev, dev, dev, dev]);
        Ok(())
    });
}

#[test]
fn a_status_that_is_so_already_leaves_no_trace() {
    test(|tx, world| {
        let known = alert(tx, world, "a")?;
        let grant = world.may::<ChangeAlerts>(world.developer)?;
        set_status(tx, &grant, &FakeIncidents::default(), 1, AlertStatus::Triggered)?;
        assert_eq!(notes(tx, &known)?.len(), 1);
        let unknown = set_status(tx, &grant, &FakeIncidents::default(), 9, AlertStatus::Ignored);
        assert_eq!(unknown.unwrap_err().kind, Kind::NotFound);
        assert!(world.may::<ChangeAlerts>(world.reporter).is_err());
        Ok(())
    });
}

#[test]
fn an_alert_does_not_open_again_beside_its_successor() {
    test(|tx, world| {
        alert(tx, world, "a")?;
        let grant = world.may::<ChangeAlerts>(world.developer)?;
        set_status(tx, &grant, &FakeIncidents::default(), 1, AlertStatus::Resolved)?;
        alert(tx, world, "a")?;
        let refused = set_status(tx, &grant, &FakeIncidents::default(), 1, AlertStatus::Triggered);
        assert_eq!(refused.unwrap_err().kind, Kind::BadRequest);
        set_status(tx, &grant, &FakeIncidents::default(), 2, AlertStatus::Resolved)?;
        let opened = set_status(tx, &grant, &FakeIncidents::default(), 1, AlertStatus::Triggered)?;
        assert_eq!((opened.status, opened.ended_at), (AlertStatus::Triggered, None));
        Ok(())
    });
}

#[test]
fn an_alert_moves_only_from_where_it_was_seen() {
    test(|tx, world| {
        let seen = alert(tx, world, "a")?;
        assert!(tx.move_alert(&seen, AlertStatus::Ignored, None)?.is_some());
        assert!(tx.move_alert(&seen, AlertStatus::Resolved, Some(tx.now))?.is_none());
        let now = tx.find_alert(world.project, 1)?.unwrap();
        assert_eq!((now.status, now.ended_at), (AlertStatus::Ignored, None));
        Ok(())
    });
}

#[test]
fn a_list_shows_what_its_filter_names() {
    test(|tx, world| {
        let to = world.integration(tx)?;
        for (title, severity) in [("a", "low"), ("b", "high"), ("c", "low")] {
            let told = json!({ "title": title, "severity": severity });
            send(tx, &FakeIncidents::default(), &to, &told)?;
        }
        let over = json!({ "title": "c", "severity": "low", "end_time": "2026-01-02" });
        send(tx, &FakeIncidents::default(), &to, &over)?;
        let page = PageRequest { page: 1, per_page: 1 };
        let low = AlertFilter { severities: vec![AlertSeverity::Low], ..AlertFilter::default() };
        let listed = tx.alerts(world.project, &low, page)?;
        assert_eq!((listed.items[0].title.as_str(), listed.items.len()), ("c", 1));
        let open = AlertFilter { statuses: vec![AlertStatus::Triggered], ..low };
        let titles = tx.alerts(world.project, &open, page)?.items;
        assert_eq!(titles[0].title, "a");
        Ok(())
    });
}

#[test]
fn an_alert_is_given_to_people_who_may_see_it() {
    test(|tx, world| {
        let alert = alert(tx, world, "a")?;
        let grant = world.may::<ChangeAlerts>(world.developer)?;
        let (developer, reporter) = (world.developer, world.reporter);
        assign(tx, &grant, &world.around, alert.iid, |_, _| Ok(vec![developer, reporter]))?;
        assert_eq!(tx.alert_assignees(&[alert.id])?[&alert.id], [developer]);
        let theirs = AlertFilter { assignee: Some(developer), ..AlertFilter::default() };
        assert_eq!(tx.alerts(world.project, &theirs, PageRequest::default())?.items.len(), 1);
        assign(tx, &grant, &world.around, alert.iid, |_, _| Ok(Vec::new()))?;
        assert!(tx.alert_assignees(&[alert.id])?.is_empty());
        let history = notes(tx, &alert)?;
        let [.., given, taken] = &history[..] else { panic!("two notes") };
        assert_eq!((&**given, &**taken), ("assigned to @developer", "unassigned @developer"));
        Ok(())
    });
}

#[test]
fn what_people_say_of_an_alert_is_among_its_notes() {
    test(|tx, world| {
        let alert = alert(tx, world, "a")?;
        let grant = world.may::<ChangeAlerts>(world.developer)?;
        let said = comment(tx, &grant, alert.iid, "On it.")?;
        assert_eq!((said.author_id, said.kind), (Some(world.developer), NoteKind::Comment));
        assert_eq!(comment(tx, &grant, alert.iid, " ").unwrap_err().kind, Kind::BadRequest);
        assert_eq!(notes(tx, &alert)?.last().map(String::as_str), Some("On it."));
        Ok(())
    });
}
