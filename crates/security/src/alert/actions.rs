//! Reading alerts and changing their status.

use db::{
    Tx,
    keyset::{ListWindow, WHOLE},
};
use kernel::{
    Error, Faults, Grant, Result,
    ids::{IssueId, UserId},
    page::{Page, PageRequest},
};

use super::{
    Alert, AlertFilter, AlertNote, AlertSettings, AlertStatus, AlertStore as _, NoteStore as _,
    SettingsStore as _,
    intake::{open_incident, over, resolve},
    note::{Fact, note},
};
use crate::{
    policy::{AdminAlerts, ChangeAlerts, ReadAlertIntegrations, ReadAlerts},
    ports::{Directory, Incident, Incidents},
};

const ALREADY_OPEN: &str = "An alert with the same fingerprint is already open. To change the status of this alert, resolve the linked alert.";

/// A page of a project's alerts, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadAlerts>,
    filter: &AlertFilter,
    page: PageRequest,
) -> Result<Page<Alert>> {
    list_in(tx, grant, filter, &WHOLE, page)
}

/// As [`list`], of a part of the list.
pub fn list_in(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadAlerts>,
    filter: &AlertFilter,
    window: &ListWindow,
    page: PageRequest,
) -> Result<Page<Alert>> {
    tx.alerts_in(grant.project(), filter, window, page)
}

pub fn read(tx: &mut Tx<'_>, grant: &Grant<ReadAlerts>, iid: i64) -> Result<Alert> {
    tx.find_alert(grant.project(), iid)?.ok_or_else(|| Error::not_found("Alert"))
}

/// A page of what happened to an alert, newest first.
pub fn notes(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadAlerts>,
    iid: i64,
    page: PageRequest,
) -> Result<Page<AlertNote>> {
    let alert = read(tx, grant, iid)?;
    tx.alert_notes(alert.id, page)
}

const LONGEST_COMMENT: usize = 1_000_000;

/// Says something of an alert.
///
/// # Errors
/// `Invalid` for nothing, and for more than a million characters.
pub fn comment(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    iid: i64,
    body: &str,
) -> Result<AlertNote> {
    let alert = tx.find_alert(grant.project(), iid)?.ok_or_else(|| Error::not_found("Alert"))?;
    let mut faults = Faults::default();
    if body.trim().is_empty() {
        faults.add("note", "can't be blank");
    }
    faults.at_most("note", Some(body), LONGEST_COMMENT);
    faults.into_result()?;
    note(tx, alert.id, Some(grant.user()?), &[Fact::Comment(body)])?;
    tx.newest_alert_note(alert.id)?.ok_or_else(Error::gave_way)
}

/// Makes an incident that is there already the one of an alert, or takes it away again.
///
/// # Errors
/// `BadRequest` where the alert has another incident.
pub fn set_issue(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    iid: i64,
    issue: IssueId,
    linked: bool,
) -> Result<Alert> {
    let alert = tx.find_alert(grant.project(), iid)?.ok_or_else(|| Error::not_found("Alert"))?;
    match (linked, alert.issue_id) {
        (true, Some(other)) if other != issue => {
            Err(Error::bad_request().whole("An issue already exists"))
        }
        (true, Some(_)) => Ok(alert),
        (true, None) => {
            tx.set_incident(alert.id, Some(issue))?;
            Ok(Alert { issue_id: Some(issue), ..alert })
        }
        (false, Some(known)) if known == issue => {
            tx.set_incident(alert.id, None)?;
            Ok(Alert { issue_id: None, ..alert })
        }
        (false, _) => Err(Error::not_found("Alert")),
    }
}

/// Opens an incident for an alert.
///
/// # Errors
/// `BadRequest` where there is one already, `Forbidden` where the project takes no issues from the caller.
pub fn create_incident(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    incidents: &impl Incidents,
    iid: i64,
) -> Result<Alert> {
    let alert = tx.find_alert(grant.project(), iid)?.ok_or_else(|| Error::not_found("Alert"))?;
    if alert.issue_id.is_some() {
        return Err(Error::bad_request().whole("An issue already exists"));
    }
    let opened = open_incident(tx, incidents, alert)?;
    if opened.issue_id.is_some() { Ok(opened) } else { Err(Error::forbidden()) }
}

/// Changes the status of an alert; the same status changes nothing.
///
/// # Errors
/// `BadRequest` for a resolved alert that is open again under another number.
pub fn set_status(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeAlerts>,
    incidents: &impl Incidents,
    iid: i64,
    status: AlertStatus,
) -> Result<Alert> {
    let before = tx.find_alert(grant.project(), iid)?.ok_or_else(|| Error::not_found("Alert"))?;
    let by = grant.user()?;
    let Some(after) = before.status.after(status.step()) else { return Ok(before) };
    if !after.is_open() {
        let now = tx.now;
        return over(tx, incidents, &before, now, Some(by));
    }
    if let Some(fingerprint) = before.fingerprint.as_ref().filter(|_| !before.status.is_open())
        && tx.find_open_alert(before.project_id, fingerprint)?.is_some()
    {
        return Err(Error::bad_request().whole(ALREADY_OPEN));
    }
    note(tx, before.id, Some(by), &[Fact::Status(after)])?;
    tx.move_alert(&before, after, None)?.ok_or_else(Error::gave_way)
}

/// Resolves the alerts of an incident that somebody closed, who need not be allowed to change alerts. An incident that is
/// opened again opens no alert: a monitor that still sees something tells of it anew.
pub fn incident_closed(
    tx: &mut Tx<'_>,
    people: &impl Directory,
    incident: Incident,
    by: UserId,
) -> Result<()> {
    let mut open = tx.alerts_of_issues(&[incident.id])?;
    // An alert that closed the incident is over already.
    open.retain(|alert| alert.status.is_open());
    if open.is_empty() {
        return Ok(());
    }
    let name = people.usernames(tx, &[by])?.remove(&by).unwrap_or_default();
    let (now, why) = (tx.now, Fact::IncidentClosed { iid: incident.iid, by: &name });
    open.iter().try_for_each(|alert| resolve(tx, alert, now, None, why).map(drop))
}

pub fn settings(tx: &mut Tx<'_>, grant: &Grant<ReadAlertIntegrations>) -> Result<AlertSettings> {
    tx.alert_settings(grant.project())
}

/// What is to change; the rest stays.
#[derive(Clone, Debug, Default)]
pub struct SettingsChange {
    pub create_issue: Option<bool>,
    /// An empty name takes the template away.
    pub issue_template_key: Option<String>,
    pub send_email: Option<bool>,
    pub auto_close_incident: Option<bool>,
}

pub fn change_settings(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminAlerts>,
    change: SettingsChange,
) -> Result<AlertSettings> {
    let before = tx.alert_settings(grant.project())?;
    let after = AlertSettings {
        create_issue: change.create_issue.unwrap_or(before.create_issue),
        issue_template_key: match change.issue_template_key {
            Some(key) => Some(key).filter(|key| !key.is_empty()),
            None => before.issue_template_key,
        },
        send_email: change.send_email.unwrap_or(before.send_email),
        auto_close_incident: change.auto_close_incident.unwrap_or(before.auto_close_incident),
    };
    tx.save_alert_settings(grant.project(), &after)?;
    Ok(after)
}
