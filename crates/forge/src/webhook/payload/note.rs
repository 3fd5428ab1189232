//! Comments.

use db::Tx;
use kernel::{Result, ids::UserId};
use repo::commit::note::CommitNote;
use review::note::Note;
use serde_json::{Value, json};

use super::{
    common::{People, ProjectContext, utc, utc_or_null, with_absolute_pictures, word},
    issue::IssuePart,
    merge_request::MergeRequestPart,
};

/// The object that a comment is about.
#[derive(Debug)]
pub(crate) enum Subject {
    Issue(Box<IssuePart>),
    MergeRequest(Box<MergeRequestPart>),
}

/// The object that a comment is about, as payloads name it.
#[derive(Debug)]
pub(super) struct SubjectRecord {
    /// Below the page of the project.
    pub(super) path: String,
    kind: &'static str,
    /// The name of the record in a payload.
    pub(super) key: &'static str,
    pub(super) about: Value,
}

impl Subject {
    pub(crate) fn is_confidential(&self) -> bool {
        matches!(self, Self::Issue(part) if part.issue.confidential)
    }

    pub(super) fn record(&self, context: &ProjectContext) -> SubjectRecord {
        match self {
            Self::Issue(part) => {
                let mut about = part.attributes(context);
                about["labels"] = json!(part.labels_json());
                let path = format!("issues/{}", part.issue.iid);
                SubjectRecord { path, kind: "Issue", key: "issue", about }
            }
            Self::MergeRequest(part) => {
                let mut about = part.attributes(context);
                about["labels"] = json!(part.labels_json());
                let path = format!("merge_requests/{}", part.row.iid);
                SubjectRecord { path, kind: "MergeRequest", key: "merge_request", about }
            }
        }
    }
}

pub(crate) fn note(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    note: &Note,
    subject: &Subject,
    (user, action): (UserId, &str),
) -> Result<Value> {
    let people = People::load(tx, &[user])?;
    let record = subject.record(context);
    let mut attributes = note_attributes(context, note, &record);
    attributes["updated_by_id"] = json!((action == "update").then_some(user));
    attributes["action"] = json!(action);
    let mut payload = json!({
        "object_kind": "note",
        "event_type": if is_confidential(note, subject) { "confidential_note" } else { "note" },
        "user": people.json(context.urls(), Some(user)),
        "project_id": context.project.id,
        "project": context.project_json(),
        "object_attributes": attributes,
        "repository": context.short_repository(),
    });
    payload[record.key] = record.about;
    Ok(payload)
}

/// The attributes of a comment.
pub(super) fn note_attributes(
    context: &ProjectContext,
    note: &Note,
    record: &SubjectRecord,
) -> Value {
    json!({
        "attachment": null,
        "author_id": note.author_id,
        "change_position": null,
        "commit_id": note.commit_id,
        "created_at": utc(note.created_at),
        "discussion_id": note.discussion,
        "id": note.id,
        "internal": note.internal,
        "line_code": null,
        "note": note.body,
        "noteable_id": note.item_id,
        "noteable_type": record.kind,
        "original_position": position(note.position.as_deref()),
        "position": position(note.position.as_deref()),
        "project_id": note.project_id,
        "resolved_at": utc_or_null(note.resolved_at),
        "resolved_by_id": note.resolved_by_id,
        "resolved_by_push": null,
        "st_diff": null,
        "system": note.is_system,
        "type": note.note_type.map(word),
        "updated_at": utc(note.updated_at),
        "updated_by_id": null,
        "description": with_absolute_pictures(context, &note.body),
        "url": context.at(&format!("{}#note_{}", record.path, note.id)),
    })
}

pub(crate) fn is_confidential(note: &Note, subject: &Subject) -> bool {
    note.internal || subject.is_confidential()
}

fn position(text: Option<&str>) -> Value {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
}

/// A comment on a commit, which is added when it was read.
pub(crate) fn commit_note(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    note: &CommitNote,
    (user, action): (UserId, &str),
) -> Result<Value> {
    let people = People::load(tx, &[user])?;
    Ok(json!({
        "object_kind": "note",
        "event_type": "note",
        "user": people.json(context.urls(), Some(user)),
        "project_id": context.project.id,
        "project": context.project_json(),
        "object_attributes": {
            "attachment": null,
            "author_id": note.author_id,
            "change_position": null,
            "commit_id": note.sha,
            "created_at": utc(note.created_at),
            "discussion_id": note.discussion,
            "id": note.id,
            "internal": false,
            "line_code": null,
            "note": note.note,
            "noteable_id": null,
            "noteable_type": "Commit",
            "original_position": position(note.position.as_deref()),
            "position": position(note.position.as_deref()),
            "project_id": note.project_id,
            "resolved_at": null,
            "resolved_by_id": null,
            "resolved_by_push": null,
            "st_diff": null,
            "system": false,
            "type": note.note_type.map(word),
            "updated_at": utc(note.updated_at),
            "updated_by_id": (action == "update").then_some(user),
            "description": with_absolute_pictures(context, &note.note),
            "url": context.at(&format!("commit/{}#note_{}", note.sha, note.id)),
            "action": action,
        },
        "repository": context.short_repository(),
        "commit": null,
    }))
}
