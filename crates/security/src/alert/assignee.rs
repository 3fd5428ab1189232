//! Assignees of alerts.

use std::collections::HashMap;

use db::{OneOf as _, Tx, each_backend, error, schema::alert_assignees as assignees};
use diesel::prelude::*;
use kernel::{
    Ability as _, Error, Grant, Result,
    ids::{AlertId, UserId},
};

use super::{
    Alert, AlertStore as _,
    note::{Fact, note},
};
use crate::{
    policy::{ChangeAlerts, ReadAlerts},
    ports::Directory,
};

const NOUN: &str = "Alert";
/// People who look after one alert.
const ASSIGNEE_LIMIT: usize = 200;

pub trait AssigneeStore {
    /// Who looks after each of these alerts.
    fn alert_assignees(&mut self, alerts: &[AlertId]) -> Result<HashMap<AlertId, Vec<UserId>>>;
    /// Gives an alert to these people and nobody else.
    fn set_alert_assignees(&mut self, alert: AlertId, people: &[UserId]) -> Result<()>;
}

impl AssigneeStore for Tx<'_> {
    fn alert_assignees(&mut self, alerts: &[AlertId]) -> Result<HashMap<AlertId, Vec<UserId>>> {
        let mut by_alert: HashMap<AlertId, Vec<UserId>> = HashMap::new();
        if alerts.is_empty() {
            return Ok(by_alert);
        }
        let rows: Vec<(AlertId, UserId)> = each_backend!(self, |conn| assignees::table
            .filter(assignees::alert_id.one_of(alerts))
            .order(assignees::user_id)
            .select((assignees::alert_id, assignees::user_id))
            .load(conn)
            .map_err(error(NOUN)))?;
        for (alert, user) in rows {
            by_alert.entry(alert).or_default().push(user);
        }
        Ok(by_alert)
    }

    fn set_alert_assignees(&mut self, alert: AlertId, people: &[UserId]) -> Result<()> {
        let before = assignees::table.filter(assignees::alert_id.eq(alert));
        each_backend!(self, |conn| diesel::delete(before).execute(conn).map_err(error(NOUN)))?;
        for user in people {
            let row = (assignees::alert_id.eq(alert), assignees::user_id.eq(*user));
            let insert = diesel::insert_into(assignees::table).values(row);
            each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        }
        Ok(())
    }
}

/// Gives an alert to the people that `choose` makes of those who had it. Whoever may not see the alert is left out.
///
/// # Errors
/// `Invalid` for more than 200 people.
pub fn assign(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    directory: &impl Directory,
    iid: i64,
    choose: impl FnOnce(&mut Tx<'_>, Vec<UserId>) -> Result<Vec<UserId>>,
) -> Result<Alert> {
    let alert = tx.find_alert(grant.project(), iid)?.ok_or_else(|| Error::not_found("Alert"))?;
    let before = tx.alert_assignees(&[alert.id])?.remove(&alert.id).unwrap_or_default();
    let mut after = choose(tx, before.clone())?;
    after.sort_unstable();
    after.dedup();
    if after.len() > ASSIGNEE_LIMIT {
        return Err(Error::invalid("assignees", "are too many (at most 200)"));
    }
    let mut allowed = Vec::with_capacity(after.len());
    for user in after {
        let Some(actor) = directory.actor(tx, user)? else { continue };
        let who = directory.in_project(tx, actor, alert.project_id)?;
        if who.is_some_and(|who| ReadAlerts::allows(&who)) {
            allowed.push(user);
        }
    }
    if allowed == before {
        return Ok(alert);
    }
    tx.set_alert_assignees(alert.id, &allowed)?;
    let people: Vec<UserId> = before.iter().chain(&allowed).copied().collect();
    let names = directory.usernames(tx, &people)?;
    let named = |people: &[UserId], but: &[UserId]| -> Vec<String> {
        let people = people.iter().filter(|user| !but.contains(user));
        people.filter_map(|user| names.get(user).cloned()).collect()
    };
    let (added, removed) = (named(&allowed, &before), named(&before, &allowed));
    note(
        tx,
        alert.id,
        Some(grant.user()?),
        &[Fact::Assignees { added: &added, removed: &removed }],
    )?;
    Ok(alert)
}
