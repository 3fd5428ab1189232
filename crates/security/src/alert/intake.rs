//! Receiving alerts: from the authorization key to the row.

use db::Tx;
use kernel::{
    Error, Result, Ts,
    ids::{ProjectId, UserId},
};
use serde_json::{Map, Value};

use super::{
    Alert, AlertStatus, AlertStore as _, NewAlert, SettingsStore as _, generic, incident,
    note::{Fact, note},
    prometheus,
};
use crate::{
    Event,
    integration::{AlertIntegration, Endpoint, IntegrationKey, IntegrationStore as _},
    ports::{Environments, Incidents},
};

/// So many alerts of one call are read.
pub const ALERTS_AT_ONCE: usize = 100;
/// Maximum nesting depth of a payload.
const DEEPEST: usize = 100;

/// The payload of an alert request.
#[derive(Clone, Debug)]
pub struct Payload {
    fields: Map<String, Value>,
    is_prometheus: bool,
}

impl Payload {
    /// Reads a JSON object; an empty text is an empty one. `None` for what is no object, lies too deep, or no database
    /// keeps.
    pub fn read(text: &[u8]) -> Option<Self> {
        let value = match text.trim_ascii().is_empty() {
            true => Value::Object(Map::new()),
            false => serde_json::from_slice(text).ok()?,
        };
        if !is_keepable(&value, DEEPEST) {
            return None;
        }
        let Value::Object(fields) = value else { return None };
        Some(Self { is_prometheus: prometheus::is_call(&fields), fields })
    }

    /// Whether it is a call of Prometheus.
    pub fn is_prometheus(&self) -> bool {
        self.is_prometheus
    }
}

fn is_keepable(value: &Value, deep: usize) -> bool {
    let Some(deeper) = deep.checked_sub(1) else {
        return !matches!(value, Value::Array(_) | Value::Object(_));
    };
    match value {
        Value::String(text) => !text.contains('\0'),
        Value::Array(all) => all.iter().all(|one| is_keepable(one, deeper)),
        Value::Object(all) => {
            all.iter().all(|(name, one)| !name.contains('\0') && is_keepable(one, deeper))
        }
        _ => true,
    }
}

/// Reasons for which a payload is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// No active integration has this address.
    NoIntegration,
    WrongKey,
}

/// The integration of an endpoint, if the key is right.
pub fn authorize(
    tx: &mut Tx<'_>,
    project: ProjectId,
    endpoint: &Endpoint,
    key: Option<&IntegrationKey>,
) -> Result<Result<AlertIntegration, Denial>> {
    let found = tx.find_alert_integration(project, endpoint)?;
    let Some(integration) = found.filter(|found| found.active) else {
        return Ok(Err(Denial::NoIntegration));
    };
    Ok(match key.is_some_and(|key| integration.accepts(key)) {
        true => Ok(integration),
        false => Err(Denial::WrongKey),
    })
}

/// The alert that something was told of, as who sent it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub iid: i64,
    pub title: String,
}

/// The outcome of an alert request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntakeResult {
    Stored(Vec<Notice>),
    /// A call of Prometheus, however many of its alerts were good.
    Taken,
    /// It ends an alert that is not known.
    NotStored,
}

/// Whether anything of this is told for the first time.
pub fn is_news(tx: &mut Tx<'_>, integration: &AlertIntegration, payload: &Payload) -> Result<bool> {
    for new in told(integration, payload)? {
        let is_known = open_alert(tx, integration.project_id, &new)?.is_some();
        if new.ended_at.is_none() && !is_known {
            return Ok(true);
        }
    }
    Ok(false)
}

fn told(integration: &AlertIntegration, payload: &Payload) -> Result<Vec<NewAlert>> {
    Ok(match payload.is_prometheus {
        true => prometheus::read(&payload.fields, ALERTS_AT_ONCE),
        false => vec![generic::read(&payload.fields, &integration.mapped_fields()?)],
    })
}

/// Stores the alerts of a payload.
pub fn receive(
    tx: &mut Tx<'_>,
    around: &(impl Incidents + Environments),
    integration: &AlertIntegration,
    payload: &Payload,
) -> Result<IntakeResult> {
    let mut touched = Vec::new();
    for new in told(integration, payload)? {
        touched.extend(take(tx, around, integration, &new)?);
    }
    if payload.is_prometheus {
        return Ok(IntakeResult::Taken);
    }
    let notice = |alert: Alert| Notice { iid: alert.iid, title: alert.title };
    Ok(match touched.is_empty() {
        true => IntakeResult::NotStored,
        false => IntakeResult::Stored(touched.into_iter().map(notice).collect()),
    })
}

fn take(
    tx: &mut Tx<'_>,
    around: &(impl Incidents + Environments),
    integration: &AlertIntegration,
    new: &NewAlert,
) -> Result<Option<Alert>> {
    let tool = new.monitoring_tool.as_deref().unwrap_or(&integration.name);
    match new.ended_at {
        Some(at) => {
            let Some(open) = open_alert(tx, integration.project_id, new)? else { return Ok(None) };
            note(tx, open.id, None, &[Fact::Recovered(tool)])?;
            over(tx, around, &open, at, None).map(Some)
        }
        None => fire(tx, around, integration.project_id, tool, new).map(Some),
    }
}

/// A new alert, or one more event of an open one.
fn fire(
    tx: &mut Tx<'_>,
    around: &(impl Incidents + Environments),
    project: ProjectId,
    tool: &str,
    new: &NewAlert,
) -> Result<Alert> {
    let again = |tx: &mut Tx<'_>| match &new.fingerprint {
        Some(fingerprint) => tx.count_event(project, fingerprint),
        None => Ok(None),
    };
    if let Some(known) = again(tx)? {
        return Ok(known);
    }
    let environment = match &new.environment {
        Some(name) => around.named(tx, project, name)?,
        None => None,
    };
    let Some(alert) = tx.insert_alert(project, environment, new)? else {
        // Somebody else was told of it at the same moment.
        return again(tx)?.ok_or_else(Error::gave_way);
    };
    tx.emit(Event::AlertTriggered { project, alert: alert.id, iid: alert.iid })?;
    note(tx, alert.id, None, &[Fact::Triggered(tool)])?;
    let settings = tx.alert_settings(project)?;
    if settings.send_email {
        around.tell(tx, &alert)?;
    }
    match settings.create_issue {
        true => open_incident(tx, around, alert),
        false => Ok(alert),
    }
}

/// Opens an incident for an alert, which stays as it was where the project takes no issues.
pub(super) fn open_incident(
    tx: &mut Tx<'_>,
    incidents: &impl Incidents,
    alert: Alert,
) -> Result<Alert> {
    let description = incident::description(&alert)?;
    let opened = incidents.open(tx, &alert, description)?;
    let Some(incident) = opened else { return Ok(alert) };
    tx.set_incident(alert.id, Some(incident.id))?;
    note(tx, alert.id, None, &[Fact::Incident(incident.iid)])?;
    Ok(Alert { issue_id: Some(incident.id), ..alert })
}

/// What is over by this; nothing where no open alert is known.
fn open_alert(tx: &mut Tx<'_>, project: ProjectId, new: &NewAlert) -> Result<Option<Alert>> {
    match &new.fingerprint {
        Some(fingerprint) => tx.find_open_alert(project, fingerprint),
        None => Ok(None),
    }
}

/// An alert is over, and its incident with it where that is wanted. `by` is who says so, if it is no monitor.
pub(super) fn over(
    tx: &mut Tx<'_>,
    incidents: &impl Incidents,
    open: &Alert,
    at: Ts,
    by: Option<UserId>,
) -> Result<Alert> {
    let alert = resolve(tx, open, at, by, Fact::Status(AlertStatus::Resolved))?;
    let settings = tx.alert_settings(alert.project_id)?;
    if let Some(issue) = alert.issue_id.filter(|_| settings.auto_close_incident) {
        incidents.close(tx, issue)?;
    }
    Ok(alert)
}

/// An alert is over, and its incident is left as it is; `why` is what its notes tell.
pub(super) fn resolve(
    tx: &mut Tx<'_>,
    open: &Alert,
    at: Ts,
    by: Option<UserId>,
    why: Fact<'_>,
) -> Result<Alert> {
    let moved = tx.move_alert(open, AlertStatus::Resolved, Some(at))?;
    let alert = moved.ok_or_else(Error::gave_way)?;
    note(tx, alert.id, by, &[why])?;
    let (project, iid) = (alert.project_id, alert.iid);
    tx.emit(Event::AlertResolved { project, alert: alert.id, iid })?;
    Ok(alert)
}

#[cfg(test)]
mod tests {
    use super::Payload;

    fn nested(deep: usize) -> String {
        format!("{{\"a\":{}1{}}}", "[".repeat(deep), "]".repeat(deep))
    }

    #[test]
    fn only_an_object_that_can_be_kept_is_a_payload() {
        for good in ["", " \n", "{}", "{\"a\":1,\"a\":2}", &nested(99)] {
            assert!(Payload::read(good.as_bytes()).is_some(), "{good}");
        }
        for odd in [
            "[]",
            "1",
            "{",
            "{} {}",
            "{\"a\":\"\\u0000\"}",
            "{\"\\u0000\":1}",
            "{\"a\":1e999}",
            &nested(100),
        ] {
            assert!(Payload::read(odd.as_bytes()).is_none(), "{odd}");
        }
        assert!(Payload::read(b"{\"a\":\"\xff\"}").is_none());
        assert!(Payload::read("[".repeat(1_000_000).as_bytes()).is_none());
        let many: Vec<String> = (0..10_000).map(|key| format!("\"k{key}\":{key}")).collect();
        assert!(Payload::read(format!("{{{}}}", many.join(",")).as_bytes()).is_some());
    }
}
