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

pub(crate) fn note(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    note: &Note,
    subject: &Subject,
    (user, action): (UserId, &str),
) -> Result<Value> {
    let people = People::load(tx, &[user])?;
    let (place, kind, key, about) = match subject {
        Subject::Issue(part) => {
            let mut about = part.attributes(context);
            about["labels"] = json!(part.labels_json());
            (format!("issues/{}", part.issue.iid), "Issue", "issue", about)
        }
        Subject::MergeRequest(part) => {
            let mut about = part.attributes(context);
            about["labels"] = json!(part.labels_json());
            (format!("merge_requests/{}", part.row.iid), "MergeRequest", "merge_request", about)
        }
    };
    let mut payload = json!({
        "object_kind": "note",
        "event_type": if is_confidential(note, subject) { "confidential_note" } else { "note" },
        "user": people.json(context.urls(), Some(user)),
        "project_id": context.project.id,
        "project": context.project_json(),
        "object_attributes": {
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
            "noteable_type": kind,
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
            "updated_by_id": (action == "update").then_some(user),
            "description": with_absolute_pictures(context, &note.body),
            "url": context.at(&format!("{place}#note_{}", note.id)),
            "action": action,
        },
        "repository": context.short_repository(),
    });
    payload[key] = about;
    Ok(payload)
}

pub(crate) fn is_confidential(note: &Note, subject: &Subject) -> bool {
    note.internal || matches!(subject, Subject::Issue(part) if part.issue.confidential)
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
