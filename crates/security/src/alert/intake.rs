//! What monitors send, from the key to the row.

use db::Tx;
use kernel::{
    Result, Ts,
    ids::{IssueId, ProjectId},
};
use serde_json::{Map, Value};

use super::{
    Alert, AlertStatus, AlertStore as _, NewAlert, SettingsStore as _, generic, incident,
    prometheus,
};
use crate::{
    Event,
    integration::{AlertIntegration, Endpoint, IntegrationKey, IntegrationStore as _},
    ports::Incidents,
};

/// So many alerts of one call are read.
pub const ALERTS_AT_ONCE: usize = 100;
/// So deep lists and maps may lie in one another.
const DEEPEST: usize = 100;

/// What was sent.
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

/// Why nothing is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// No active integration has this address.
    NoIntegration,
    WrongKey,
}

/// The integration of an address, for whoever shows its key.
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

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    Stored(Vec<Notice>),
    /// A call of Prometheus, however many of its alerts were good.
    Taken,
    /// It says that something is over which is not known.
    NotStored,
}

/// Takes what an integration sent.
pub fn receive(
    tx: &mut Tx<'_>,
    incidents: &impl Incidents,
    integration: &AlertIntegration,
    payload: &Payload,
) -> Result<Received> {
    let project = integration.project_id;
    if payload.is_prometheus {
        for new in prometheus::read(&payload.fields, ALERTS_AT_ONCE) {
            take(tx, incidents, project, &new)?;
        }
        return Ok(Received::Taken);
    }
    let new = generic::read(&payload.fields, &integration.mapped_fields()?);
    Ok(match take(tx, incidents, project, &new)? {
        Some(alert) => Received::Stored(vec![Notice { iid: alert.iid, title: alert.title }]),
        None => Received::NotStored,
    })
}

fn take(
    tx: &mut Tx<'_>,
    incidents: &impl Incidents,
    project: ProjectId,
    new: &NewAlert,
) -> Result<Option<Alert>> {
    match new.ended_at {
        Some(at) => resolve(tx, incidents, project, new.fingerprint.as_deref(), at),
        None => fire(tx, incidents, project, new).map(Some),
    }
}

/// A new alert, or one more event of an open one.
fn fire(
    tx: &mut Tx<'_>,
    incidents: &impl Incidents,
    project: ProjectId,
    new: &NewAlert,
) -> Result<Alert> {
    let again = |tx: &mut Tx<'_>| match &new.fingerprint {
        Some(fingerprint) => tx.count_event(project, fingerprint),
        None => Ok(None),
    };
    if let Some(known) = again(tx)? {
        return Ok(known);
    }
    let Some(alert) = tx.insert_alert(project, new)? else {
        // Somebody else was told of it at the same moment.
        return again(tx)?.ok_or(kernel::Error::gave_way());
    };
    tx.emit(Event::AlertTriggered { project, alert: alert.id, iid: alert.iid })?;
    let settings = tx.alert_settings(project)?;
    if settings.send_email {
        incidents.tell(tx, &alert)?;
    }
    if !settings.create_issue {
        return Ok(alert);
    }
    let description = incident::description(&alert)?;
    let issue: Option<IssueId> = incidents.open(tx, project, &alert.title, description)?;
    if let Some(issue) = issue {
        tx.set_incident(alert.id, issue)?;
    }
    Ok(Alert { issue_id: issue, ..alert })
}

/// Nothing where no open alert is known.
fn resolve(
    tx: &mut Tx<'_>,
    incidents: &impl Incidents,
    project: ProjectId,
    fingerprint: Option<&str>,
    at: Ts,
) -> Result<Option<Alert>> {
    let Some(fingerprint) = fingerprint else { return Ok(None) };
    match tx.find_open_alert(project, fingerprint)? {
        Some(open) => over(tx, incidents, &open, at).map(Some),
        None => Ok(None),
    }
}

/// An alert is over, and its incident with it where that is wanted.
pub(super) fn over(
    tx: &mut Tx<'_>,
    incidents: &impl Incidents,
    open: &Alert,
    at: Ts,
) -> Result<Alert> {
    let alert = tx.set_alert_status(open.id, AlertStatus::Resolved, Some(at))?;
    let (project, iid) = (alert.project_id, alert.iid);
    tx.emit(Event::AlertResolved { project, alert: alert.id, iid })?;
    let settings = tx.alert_settings(project)?;
    if let Some(issue) = alert.issue_id.filter(|_| settings.auto_close_incident) {
        incidents.close(tx, issue)?;
    }
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
