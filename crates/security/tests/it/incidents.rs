//! What follows from alerts.

use db::Tx;
use kernel::Result;
use security::{
    alert::{
        AlertSettings, AlertStatus, Payload, SettingsStore as _,
        actions::{SettingsChange, change_settings, set_status, settings},
        is_news,
    },
    policy::{AdminAlerts, ChangeAlerts, ReadAlertIntegrations},
};
use serde_json::{Value, json};

use crate::world::{FakeIncidents, World, alerts, notes, send, test};

fn follow(tx: &mut Tx<'_>, world: &World, settings: &AlertSettings) -> Result<()> {
    tx.save_alert_settings(world.project, settings)
}

fn told() -> Value {
    json!({ "title": "a" })
}

#[test]
fn an_incident_is_asked_for_once_for_each_alert() {
    test(|tx, world| {
        let (to, desk) = (world.integration(tx)?, FakeIncidents::default());
        follow(tx, world, &AlertSettings { create_issue: true, ..AlertSettings::default() })?;
        for _ in 0..2 {
            send(tx, &desk, &to, &told())?;
        }
        assert_eq!(desk.calls(), ["open a"]);
        let [known] = &alerts(tx, world.project)?[..] else { panic!("one alert") };
        assert_eq!(known.issue_id, None, "the project takes no issues");
        assert_eq!(notes(tx, known)?, ["logged an alert from **Monitor**"]);
        Ok(())
    });
}

#[test]
fn a_letter_is_written_once_for_each_alert() {
    test(|tx, world| {
        let (to, desk) = (world.integration(tx)?, FakeIncidents::default());
        follow(tx, world, &AlertSettings { send_email: true, ..AlertSettings::default() })?;
        send(tx, &desk, &to, &told())?;
        send(tx, &desk, &to, &told())?;
        send(tx, &desk, &to, &json!({ "title": "a", "end_time": "2026-01-02" }))?;
        assert_eq!(desk.calls(), ["tell a"]);
        Ok(())
    });
}

#[test]
fn without_settings_nothing_follows() {
    test(|tx, world| {
        let (to, desk) = (world.integration(tx)?, FakeIncidents::default());
        send(tx, &desk, &to, &told())?;
        let grant = world.may::<ChangeAlerts>(world.developer)?;
        set_status(tx, &grant, &desk, 1, AlertStatus::Resolved)?;
        assert!(desk.calls().is_empty());
        let usual = settings(tx, &world.may::<ReadAlertIntegrations>(world.maintainer)?)?;
        assert_eq!(usual, AlertSettings::default());
        assert!(usual.auto_close_incident);
        Ok(())
    });
}

#[test]
fn settings_change_one_by_one_and_an_empty_template_is_none() {
    test(|tx, world| {
        let grant = world.may::<AdminAlerts>(world.maintainer)?;
        let named = |key: &str| SettingsChange {
            issue_template_key: Some(key.to_owned()),
            ..SettingsChange::default()
        };
        change_settings(tx, &grant, named("incident"))?;
        let change = SettingsChange { create_issue: Some(true), ..SettingsChange::default() };
        let both = change_settings(tx, &grant, change)?;
        assert!(both.create_issue && both.auto_close_incident);
        assert_eq!(both.issue_template_key.as_deref(), Some("incident"));
        assert_eq!(change_settings(tx, &grant, named(""))?.issue_template_key, None);
        Ok(())
    });
}

#[test]
fn only_what_is_told_the_first_time_is_news() {
    test(|tx, world| {
        let (to, desk) = (world.integration(tx)?, FakeIncidents::default());
        let news = |tx: &mut Tx<'_>, payload: Value| {
            is_news(tx, &to, &Payload::read(payload.to_string().as_bytes()).unwrap())
        };
        assert!(news(tx, told())?);
        assert!(!news(tx, json!({ "title": "a", "end_time": "2026-01-02" }))?);
        send(tx, &desk, &to, &told())?;
        assert!(!news(tx, told())?);
        assert!(news(tx, json!({ "title": "b" }))?);
        Ok(())
    });
}
