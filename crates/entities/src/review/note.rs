//! Notes and discussions.

use std::collections::HashMap;

use db::Tx;
use forge::urls::Urls;
use kernel::{Result, TextEnum as _, Ts, ids::UserId};
use org::user::{User, store::UserStore};
use review::{
    item::Item,
    note::{Discussion, Note, NoteType, actions::NoteResult},
    quick_action::ActionSummary,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::org::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct NoteEntity {
    pub id: i64,
    #[serde(rename = "type")]
    #[schema(value_type = Option<String>)]
    pub note_type: Option<NoteType>,
    pub body: String,
    /// Always null: attachments are links in the body.
    pub attachment: Option<String>,
    /// Null when the user has been deleted.
    pub author: Option<BriefUser>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    pub system: bool,
    /// Null for notes on commits.
    pub noteable_id: Option<i64>,
    pub noteable_type: &'static str,
    pub project_id: Option<i64>,
    /// Present for notes on a line of a diff.
    #[serde(flatten)]
    pub at: Option<NotePositionFields>,
    pub resolvable: bool,
    #[serde(flatten)]
    pub resolution: Option<Resolution>,
    pub confidential: bool,
    pub internal: bool,
    pub noteable_iid: Option<i64>,
    /// Changes made by quick actions of this request; empty when a note is read later.
    #[schema(value_type = Object)]
    pub commands_changes: Map<String, Value>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct NotePositionFields {
    /// Commit of the merge request that the note is about. Absent for notes on commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub commit_id: Option<Option<String>>,
    #[schema(value_type = Object)]
    pub position: Value,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Resolution {
    pub resolved: bool,
    pub resolved_by: Option<BriefUser>,
    #[schema(value_type = Option<String>)]
    pub resolved_at: Option<Ts>,
}

impl NoteEntity {
    /// People are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, item: &Item, notes: Vec<Note>) -> Result<Vec<Self>> {
        let people = people(tx, notes.iter())?;
        Ok(notes.into_iter().map(|note| Self::new(urls, item, note, &people)).collect())
    }

    /// As [`all`](Self::all), of several items.
    pub fn of_items(tx: &mut Tx<'_>, urls: &Urls, notes: Vec<(&Item, Note)>) -> Result<Vec<Self>> {
        let people = people(tx, notes.iter().map(|(_, note)| note))?;
        Ok(notes.into_iter().map(|(item, note)| Self::new(urls, item, note, &people)).collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, item: &Item, note: Note) -> Result<Self> {
        Self::all(tx, urls, item, vec![note])?.pop().ok_or_else(kernel::Error::missing)
    }

    fn new(urls: &Urls, item: &Item, note: Note, people: &HashMap<UserId, User>) -> Self {
        let brief = |id: UserId| people.get(&id).map(|user| BriefUser::new(urls, user));
        let resolvable = note.is_resolvable();
        let position = note.position.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let commit_id = note.commit_id;
        Self {
            id: note.id.0,
            note_type: note.note_type,
            body: note.body,
            attachment: None,
            author: brief(note.author_id),
            created_at: note.created_at,
            updated_at: note.updated_at,
            system: note.is_system,
            noteable_id: Some(item.id.id),
            noteable_type: item.id.kind.as_str(),
            project_id: note.project_id.map(|id| id.0),
            at: position
                .map(|position| NotePositionFields { commit_id: Some(commit_id), position }),
            resolvable,
            resolution: resolvable.then(|| Resolution {
                resolved: note.resolved_at.is_some(),
                resolved_by: note.resolved_by_id.and_then(brief),
                resolved_at: note.resolved_at,
            }),
            confidential: note.internal,
            internal: note.internal,
            noteable_iid: Some(item.iid),
            commands_changes: Map::new(),
        }
    }
}

/// Result of a note that consisted of quick actions only.
#[derive(Debug, Serialize, ToSchema)]
pub struct CommandsEntity {
    #[schema(value_type = Object)]
    pub commands_changes: Map<String, Value>,
    /// Messages about the executed quick actions.
    pub summary: Vec<String>,
}

impl From<ActionSummary> for CommandsEntity {
    fn from(done: ActionSummary) -> Self {
        Self { commands_changes: done.changes, summary: done.summary }
    }
}

/// A created note, or the results of its quick actions when nothing else was left.
pub enum NoteResultEntity {
    Note(Box<NoteEntity>),
    Commands(CommandsEntity),
}

impl NoteResultEntity {
    pub fn new(tx: &mut Tx<'_>, urls: &Urls, said: NoteResult) -> Result<Self> {
        let Some(note) = said.note else { return Ok(Self::Commands(said.done.into())) };
        let mut note = NoteEntity::one(tx, urls, &said.item, note)?;
        note.commands_changes = said.done.changes;
        Ok(Self::Note(Box::new(note)))
    }
}

fn people<'n>(
    tx: &mut Tx<'_>,
    notes: impl Iterator<Item = &'n Note>,
) -> Result<HashMap<UserId, User>> {
    let mut ids: Vec<UserId> =
        notes.flat_map(|note| [Some(note.author_id), note.resolved_by_id]).flatten().collect();
    ids.sort_unstable();
    ids.dedup();
    tx.users_by_id(&ids)
}

/// A thread of notes.
#[derive(Debug, Serialize, ToSchema)]
pub struct DiscussionEntity {
    pub id: String,
    /// Whether the discussion is a single note without replies.
    pub individual_note: bool,
    pub notes: Vec<NoteEntity>,
}

impl DiscussionEntity {
    /// People are looked up once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        item: &Item,
        discussions: Vec<Discussion>,
    ) -> Result<Vec<Self>> {
        let people = people(tx, discussions.iter().flat_map(|thread| &thread.notes))?;
        let entity = |thread: Discussion| Self {
            individual_note: thread.is_individual(),
            id: thread.id,
            notes: thread
                .notes
                .into_iter()
                .map(|note| NoteEntity::new(urls, item, note, &people))
                .collect(),
        };
        Ok(discussions.into_iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, item: &Item, thread: Discussion) -> Result<Self> {
        Self::all(tx, urls, item, vec![thread])?.pop().ok_or_else(kernel::Error::missing)
    }
}
