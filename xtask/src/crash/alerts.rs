//! Alerts: whether each that was acknowledged is there, whole, and once.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Text},
};
use serde_json::json;

use super::{
    facts::load,
    ledger::{Ledger, SharedLedger},
};
use crate::{client::Client, migrate::Connection, server::Installation};

/// What is reported again and again.
const KNOWN: &str = "known";

/// Somebody who sends alerts to a project.
pub(super) struct Monitor {
    client: Client,
    project: i64,
    /// From the server's root.
    path: String,
}

impl Monitor {
    pub(super) fn prepare(client: &Client, project: i64) -> Result<Self> {
        let new = json!({ "name": "Monitor", "active": true });
        let path = format!("/projects/{project}/alert_management_integrations");
        let made = client.post(&path, &new)?.json()?;
        let text = |field: &str| {
            made[field].as_str().with_context(|| format!("an integration without {field}"))
        };
        let (url, key) = (text("url")?, text("token")?);
        // Without the scheme and the host.
        let path = url.splitn(4, '/').nth(3).with_context(|| format!("{url} has no path"))?;
        let path = format!("/{path}");
        Ok(Self { client: client.authorized(format!("Bearer {key}")), project, path })
    }

    /// A new alert, and one that is known.
    pub(super) fn send(&self, ledger: &SharedLedger, name: &str, n: u64) -> Result<()> {
        let title = format!("{name} {n}");
        let iid = self.report(&title)?;
        ledger.write().alerts.push((self.project, iid, title));
        self.report(KNOWN)?;
        ledger.write().repeats += 1;
        Ok(())
    }

    /// The number that the alert has.
    fn report(&self, title: &str) -> Result<i64> {
        let told = self.client.post_page(&self.path, &json!({ "title": title }))?.json()?;
        told[0]["iid"].as_i64().with_context(|| format!("an alert without a number: {told}"))
    }
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    project_id: i64,
    #[diesel(sql_type = BigInt)]
    iid: i64,
    #[diesel(sql_type = Text)]
    title: String,
    #[diesel(sql_type = BigInt)]
    events: i64,
    #[diesel(sql_type = BigInt)]
    notes: i64,
    #[diesel(sql_type = BigInt)]
    last: i64,
}

const ROWS: &str = "SELECT a.project_id, a.iid, a.title, a.events, \
                    (SELECT COUNT(*) FROM alert_notes n WHERE n.alert_id = a.id) AS notes, \
                    (SELECT m.last FROM alert_numbers m WHERE m.project_id = a.project_id) AS last FROM alerts a";

/// What holds at any moment at which nobody writes.
pub(super) fn check(installation: &Installation, ledger: &Ledger) -> Result<Vec<String>> {
    let rows: Vec<Row> = load(&mut Connection::open(&installation.database_address())?, ROWS)?;
    let mut found = Vec::new();
    let mut titles: BTreeMap<(i64, i64), &str> = BTreeMap::new();
    for Row { project_id, iid, title, events, notes, last } in &rows {
        titles.insert((*project_id, *iid), title);
        let is_known = title == KNOWN;
        let is_odd = *notes != 1 || iid > last || (!is_known && *events != 1);
        if is_odd {
            found.push(format!(
                "alert {iid} of project {project_id}: {events} events, {notes} notes, the last number is {last}"
            ));
        }
        if is_known && *events < ledger.repeats {
            found.push(format!("{} reports were acknowledged, {events} are kept", ledger.repeats));
        }
    }
    for (project, iid, title) in &ledger.alerts {
        if titles.get(&(*project, *iid)).copied() != Some(title) {
            found.push(format!("alert {iid} of project {project} was acknowledged: {title}"));
        }
    }
    Ok(found)
}
