//! Reactions.

use db::Tx;
use kernel::Result;
use review::{emoji::event::Fact, note::Note};
use serde_json::{Value, json};

use super::{
    common::{People, ProjectContext, utc, word},
    note::{Subject, note_attributes},
};

/// A reaction to an issue or merge request, or to a comment on it.
pub(crate) fn emoji(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    fact: &Fact,
    (subject, note): (&Subject, Option<&Note>),
    action: &str,
) -> Result<Value> {
    let people = People::load(tx, &[fact.user])?;
    let record = subject.record(context);
    let url = match note {
        Some(note) => context.at(&format!("{}#note_{}", record.path, note.id)),
        None => context.at(&record.path),
    };
    let mut payload = json!({
        "object_kind": "emoji",
        "event_type": action,
        "user": people.json(context.urls(), Some(fact.user)),
        "project_id": context.project.id,
        "project": context.project_json(),
        "object_attributes": {
            "user_id": fact.given_by,
            "created_at": utc(fact.created_at),
            "id": fact.award,
            "name": fact.name,
            "awardable_type": word(fact.awarded_kind),
            "awardable_id": fact.awarded,
            "updated_at": utc(fact.updated_at),
            "action": action,
            "awarded_on_url": url,
        },
    });
    if let Some(note) = note {
        payload["note"] = note_attributes(context, note, &record);
    }
    payload[record.key] = record.about;
    Ok(payload)
}
