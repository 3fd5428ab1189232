//! Events of the activity feed.

use std::collections::HashMap;

use db::Tx;
use forge::urls::Urls;
use kernel::{
    Result, TextEnum, Ts,
    ids::{CommitNoteId, NoteId, UserId},
};
use org::user::{User, store::UserStore};
use repo::commit::note::CommitNoteStore;
use review::{
    activity::{Action, Activity, COMMIT_NOTE, MILESTONE},
    item::{Item, ItemKind, ItemStore},
    note::{Note, NoteStore},
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::brief_user::BriefUser;
use crate::review::note::NoteEntity;

#[derive(Debug, Serialize, ToSchema)]
pub struct ActivityEntity {
    pub id: i64,
    pub project_id: Option<i64>,
    pub action_name: &'static str,
    pub target_id: Option<i64>,
    pub target_iid: Option<i64>,
    pub target_type: Option<String>,
    pub author_id: i64,
    pub target_title: Option<String>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<NoteEntity>,
    /// Format, slug and title of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub wiki_page: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub push_data: Option<Value>,
    /// Null when the user has been deleted.
    pub author: Option<BriefUser>,
    pub author_username: Option<String>,
}

/// What events tell of, looked up once for a page.
struct ActivityContext {
    people: HashMap<UserId, User>,
    issues: HashMap<i64, Item>,
    merge_requests: HashMap<i64, Item>,
    notes: HashMap<NoteId, NoteEntity>,
    commit_notes: HashMap<i64, NoteEntity>,
}

impl ActivityEntity {
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, events: Vec<Activity>) -> Result<Vec<Self>> {
        let mut told = ActivityContext::load(tx, urls, &events)?;
        Ok(events.into_iter().map(|event| Self::new(urls, event, &mut told)).collect())
    }

    fn new(urls: &Urls, event: Activity, told: &mut ActivityContext) -> Self {
        let author = told.people.get(&event.author_id);
        let details: Option<Value> =
            event.details.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let pushed = event.action == Action::Pushed;
        let (push_data, wiki_page) = if pushed { (details, None) } else { (None, details) };
        let action_name = name(&event, push_data.as_ref());
        // What an item is called now, not what it was called then.
        let title = told.item(&event).map(|item| item.title.clone()).or(event.target_title);
        let note = match event.target_type.as_deref() == Some(COMMIT_NOTE) {
            true => event.target_id.and_then(|id| told.commit_notes.remove(&id)),
            false => event.note_id.and_then(|id| told.notes.remove(&id)),
        };
        let of_note =
            |note: &NoteEntity| note.note_type.map_or("Note", TextEnum::as_str).to_owned();
        Self {
            id: event.id,
            project_id: event.project_id.map(|id| id.0),
            action_name,
            target_id: event.target_id,
            target_iid: event.target_iid.or(event.target_id),
            target_type: note.as_ref().map(of_note).or(event.target_type),
            author_id: event.author_id.0,
            target_title: title,
            created_at: event.created_at,
            wiki_page,
            push_data,
            author: author.map(|user| BriefUser::new(urls, user)),
            author_username: author.map(|user| user.username.clone()),
            note,
        }
    }
}

/// The words for what somebody did.
fn name(event: &Activity, push: Option<&Value>) -> &'static str {
    let of_milestone = event.target_type.as_deref() == Some(MILESTONE);
    match event.action {
        Action::Created if event.item_kind.is_some() || of_milestone => "opened",
        Action::Created => "created",
        Action::Updated => "updated",
        Action::Closed => "closed",
        Action::Reopened => "opened",
        Action::Pushed => match push.and_then(|push| push["action"].as_str()) {
            Some("created") => "pushed new",
            Some("removed") => "deleted",
            _ => "pushed to",
        },
        Action::Commented => "commented on",
        Action::Merged => "accepted",
        Action::Joined => "joined",
        Action::Left => "left",
        Action::Destroyed => "destroyed",
        Action::Expired => "removed due to membership expiration from",
        Action::Approved => "approved",
    }
}

impl ActivityContext {
    fn load(tx: &mut Tx<'_>, urls: &Urls, events: &[Activity]) -> Result<Self> {
        let mut authors: Vec<UserId> = events.iter().map(|event| event.author_id).collect();
        authors.sort_unstable();
        authors.dedup();
        let of = |kind: ItemKind| -> Vec<i64> {
            let of_kind = events.iter().filter(|event| event.item_kind == Some(kind));
            of_kind.filter_map(|event| event.item_id).collect()
        };
        let issues = tx.items_by_id(ItemKind::Issue, &of(ItemKind::Issue))?;
        let merge_requests = tx.items_by_id(ItemKind::MergeRequest, &of(ItemKind::MergeRequest))?;
        let ids: Vec<NoteId> = events.iter().filter_map(|event| event.note_id).collect();
        let notes = tx.notes_by_id(&ids)?;
        let mut told = Self {
            people: tx.users_by_id(&authors)?,
            issues,
            merge_requests,
            notes: HashMap::new(),
            commit_notes: HashMap::new(),
        };
        told.commit_notes = told.of_commits(tx, urls, events)?;
        told.notes = told.shown(tx, urls, notes)?;
        Ok(told)
    }

    fn of_commits(
        &self,
        tx: &mut Tx<'_>,
        urls: &Urls,
        events: &[Activity],
    ) -> Result<HashMap<i64, NoteEntity>> {
        let told = events.iter().filter(|event| event.target_type.as_deref() == Some(COMMIT_NOTE));
        let ids: Vec<_> = told.filter_map(|event| event.target_id.map(CommitNoteId)).collect();
        let notes = tx.commit_notes_by_id(&ids)?.into_iter();
        let shown = notes.map(|note| NoteEntity::of_commit(urls, note, &self.people));
        Ok(shown.map(|note| (note.id, note)).collect())
    }

    fn shown(
        &self,
        tx: &mut Tx<'_>,
        urls: &Urls,
        notes: Vec<Note>,
    ) -> Result<HashMap<NoteId, NoteEntity>> {
        let of_items = notes.into_iter().filter_map(|note| {
            let item = self.of_kind(note.item_kind)?.get(&note.item_id)?;
            Some((item, note))
        });
        let all = NoteEntity::of_items(tx, urls, of_items.collect())?;
        Ok(all.into_iter().map(|note| (NoteId(note.id), note)).collect())
    }

    fn of_kind(&self, kind: ItemKind) -> Option<&HashMap<i64, Item>> {
        match kind {
            ItemKind::Issue => Some(&self.issues),
            ItemKind::MergeRequest => Some(&self.merge_requests),
            ItemKind::Epic => None,
        }
    }

    fn item(&self, event: &Activity) -> Option<&Item> {
        self.of_kind(event.item_kind?)?.get(&event.item_id?)
    }
}
