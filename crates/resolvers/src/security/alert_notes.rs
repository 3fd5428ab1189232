//! System notes and comments of an alert.

use std::sync::Arc;

use graphql::{Arguments, Failure, Payload};
use kernel::ids::AlertId;
use security::{
    alert::{AlertNote, AlertStore as _, NoteKind, actions},
    policy::{ChangeAlerts, ReadAlerts},
};

use super::{
    loaders::SecurityLoaders,
    record::{AlertRecord, alert},
};
use crate::{
    context::Context,
    failure::{done, failure_of},
    other_notes::{self, OtherNote, Subject},
    pipelines::located_project,
};

/// The class of alerts in global ids.
pub const ALERT: &str = "AlertManagement::Alert";

fn subject(record: &AlertRecord, context: &Context) -> Subject {
    Subject {
        project: record.home.id(),
        value: alert(record.home.clone(), record.row.clone()),
        class: ALERT,
        id: record.row.id.0,
        page: record.url(context),
        note_class: "AlertManagement::AlertNote",
        open: record.home.may::<ChangeAlerts>(),
    }
}

fn icon(kind: NoteKind) -> Option<&'static str> {
    match kind {
        NoteKind::Alert => Some("warning"),
        NoteKind::Status => Some("status"),
        NoteKind::Incident => Some("issues"),
        NoteKind::Assignees => Some("user"),
        NoteKind::Comment => None,
    }
}

fn shown(row: &AlertNote) -> OtherNote {
    OtherNote {
        id: row.id.0,
        author: row.author_id,
        body: row.body.clone(),
        system: row.kind.is_system(),
        icon: icon(row.kind),
        created_at: row.created_at,
    }
}

/// All notes of an alert, the oldest first.
pub(super) async fn all(
    record: &AlertRecord,
    context: &Context,
) -> Result<(Subject, Vec<OtherNote>), Failure> {
    let found = SecurityLoaders::of(context).alert_notes.load(record.row.id).await?;
    let all = found.unwrap_or_default().iter().map(shown).collect();
    Ok((subject(record, context), all))
}

/// Says something of the alert that `createNote` names.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller may not change the alert.
pub async fn comment(
    context: &Context,
    input: &Arguments,
    id: AlertId,
) -> Result<Payload, Failure> {
    let caller = context.signed_in()?;
    let found = context.forge.db.read(move |tx| tx.alert_by_id(id)).await;
    let row = found.map_err(failure_of)?.ok_or(Failure::NotFoundOrForbidden)?;
    let home = located_project::expect(context, row.project_id).await?;
    home.grant::<ReadAlerts>().map_err(failure_of)?;
    let grant = home.grant::<ChangeAlerts>().map_err(failure_of)?;
    context.rates.check_note(caller).map_err(failure_of)?;
    let (iid, body) = (row.iid, input.text("body")?);
    let said = context.forge.db.write(move |tx| actions::comment(tx, &grant, iid, &body)).await;
    Ok(match done(said)? {
        Ok(said) => {
            let subject = subject(&AlertRecord { home: Arc::clone(&home), row }, context);
            let note = other_notes::note(context, &subject, &shown(&said)).await?;
            Payload::new().field("note", note)
        }
        Err(errors) => Payload::errors(errors),
    })
}
