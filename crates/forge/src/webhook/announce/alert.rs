//! Alerts of monitors: integrations are told of new ones. Webhooks have no event for them.

use admin::flags::Flag;
use db::Tx;
use kernel::Result;
use security::alert::{Alert, AlertStore as _};
use serde_json::{Value, json};

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        payload::ProjectContext,
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &security::Event) -> Result<()> {
    let security::Event::AlertTriggered { project, alert, .. } = fact else { return Ok(()) };
    let Some((context, audience)) = by.place(tx, *project, &[Flag::Alerts])? else { return Ok(()) };
    let Some(row) = tx.alert_by_id(*alert)? else { return Ok(()) };
    let news = News {
        flag: Flag::Alerts,
        header: "Alert Hook",
        project: Some(*project),
        object: format!("alert/{alert}"),
        payload: alert_payload(&context, &row),
        gaps: None,
    };
    by.tell(tx, &audience, news, &EventTraits::default())
}

fn alert_payload(context: &ProjectContext, alert: &Alert) -> Value {
    json!({
        "object_kind": "alert",
        "project": context.project_json(),
        "object_attributes": {
            "id": alert.id,
            "iid": alert.iid,
            "title": alert.title,
            "url": context.at(&format!("alert_management/{}/details", alert.iid)),
            "severity": alert.severity.to_string(),
            "status": alert.status.to_string(),
            "events": alert.events,
            "started_at": alert.started_at,
        },
    })
}
