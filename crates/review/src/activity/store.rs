//! Feeds in the database.

use db::{Tx, each_backend, error, schema::events};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{CommitNoteId, NamespaceId, NoteId, ProjectId, UserId},
};

use crate::{
    item::{Item, ItemKind, reading},
    milestone::Milestone,
    note::Note,
};

kernel::text_enum! {
    /// The action of an event.
    pub enum Action {
        Created = "created",
        Updated = "updated",
        Closed = "closed",
        Reopened = "reopened",
        Pushed = "pushed",
        Commented = "commented",
        Merged = "merged",
        Joined = "joined",
        Left = "left",
        Destroyed = "destroyed",
        Expired = "expired",
        Approved = "approved",
    }
}

/// The type under which events keep what was done to milestones.
pub const MILESTONE: &str = "Milestone";
/// As [`MILESTONE`], of pages of wikis.
pub const WIKI_PAGE: &str = "WikiPage::Meta";
/// As [`MILESTONE`], of comments on commits.
pub const COMMIT_NOTE: &str = "CommitNote";

/// One line of a feed.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = events, check_for_backend(db::AnyBackend))]
pub struct Activity {
    pub id: i64,
    pub project_id: Option<ProjectId>,
    pub author_id: UserId,
    pub action: Action,
    /// `Issue`, `MergeRequest`, `Note`, `DiffNote`, `Milestone`, …
    pub target_type: Option<String>,
    pub target_id: Option<i64>,
    pub target_iid: Option<i64>,
    pub target_title: Option<String>,
    pub item_kind: Option<ItemKind>,
    pub item_id: Option<i64>,
    pub note_id: Option<NoteId>,
    /// What a push moved, or which page of a wiki, as JSON.
    pub details: Option<String>,
    pub created_at: Ts,
}

/// A line to be added to the feeds.
#[derive(Clone, Debug, Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
pub struct NewActivity {
    pub project_id: Option<ProjectId>,
    /// Where it is done in a group.
    pub namespace_id: Option<NamespaceId>,
    pub author_id: UserId,
    pub action: Action,
    pub target_type: Option<String>,
    pub target_id: Option<i64>,
    pub target_iid: Option<i64>,
    pub target_title: Option<String>,
    pub item_kind: Option<ItemKind>,
    pub item_id: Option<i64>,
    pub note_id: Option<NoteId>,
    pub details: Option<String>,
    pub created_at: Ts,
}

/// Tells the feeds that somebody did something to an item of a project; epics are not in feeds.
pub fn record(tx: &mut Tx<'_>, item: &Item, author: UserId, action: Action) -> Result<()> {
    let Some(project) = item.project() else { return Ok(()) };
    let now = tx.now;
    tx.insert_activity(&NewActivity {
        project_id: Some(project),
        namespace_id: None,
        author_id: author,
        action,
        target_type: Some(reading::name(item.id.kind).to_owned()),
        target_id: Some(item.id.id),
        target_iid: Some(item.iid),
        target_title: Some(item.title.clone()),
        item_kind: Some(item.id.kind),
        item_id: Some(item.id.id),
        note_id: None,
        details: None,
        created_at: now,
    })
}

/// Tells the feeds that somebody did something to a milestone of a project or group.
pub(crate) fn record_milestone(
    tx: &mut Tx<'_>,
    milestone: &Milestone,
    author: UserId,
    action: Action,
) -> Result<()> {
    let now = tx.now;
    tx.insert_activity(&NewActivity {
        project_id: milestone.project_id,
        namespace_id: milestone.namespace_id,
        author_id: author,
        action,
        target_type: Some(MILESTONE.to_owned()),
        target_id: Some(milestone.id.0),
        target_iid: Some(milestone.iid),
        target_title: Some(milestone.title.clone()),
        item_kind: None,
        item_id: None,
        note_id: None,
        details: None,
        created_at: now,
    })
}

/// Tells the feeds that somebody said something about an item of a project.
pub(crate) fn record_note(tx: &mut Tx<'_>, item: &Item, note: &Note) -> Result<()> {
    let Some(project) = item.project() else { return Ok(()) };
    let kind = note.note_type.map_or("Note", kernel::TextEnum::as_str);
    tx.insert_activity(&NewActivity {
        project_id: Some(project),
        namespace_id: None,
        author_id: note.author_id,
        action: Action::Commented,
        target_type: Some(kind.to_owned()),
        target_id: Some(note.id.0),
        target_iid: Some(note.id.0),
        target_title: Some(item.title.clone()),
        item_kind: Some(item.id.kind),
        item_id: Some(item.id.id),
        note_id: Some(note.id),
        details: None,
        created_at: note.created_at,
    })
}

pub trait ActivityStore {
    fn insert_activity(&mut self, new: &NewActivity) -> Result<()>;
    /// A note is gone: nobody said it.
    fn delete_activity_of_note(&mut self, id: NoteId) -> Result<()>;
    /// As [`delete_activity_of_note`](Self::delete_activity_of_note), for a comment on a commit.
    fn delete_activity_of_commit_note(&mut self, id: CommitNoteId) -> Result<()>;
    /// The repository of a project is taken away: nobody pushed to it.
    fn delete_activity_of_pushes(&mut self, project: ProjectId) -> Result<()>;
}

impl ActivityStore for Tx<'_> {
    fn insert_activity(&mut self, new: &NewActivity) -> Result<()> {
        let row = diesel::insert_into(events::table).values(new);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Event")))?;
        Ok(())
    }

    fn delete_activity_of_note(&mut self, id: NoteId) -> Result<()> {
        let rows = diesel::delete(events::table.filter(events::note_id.eq(id)));
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Event")))?;
        Ok(())
    }

    fn delete_activity_of_commit_note(&mut self, id: CommitNoteId) -> Result<()> {
        let told = events::target_type.eq(COMMIT_NOTE).and(events::target_id.eq(id.0));
        let rows = diesel::delete(events::table.filter(told));
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Event")))?;
        Ok(())
    }

    fn delete_activity_of_pushes(&mut self, project: ProjectId) -> Result<()> {
        let pushed = events::project_id.eq(project).and(events::action.eq(Action::Pushed));
        let rows = diesel::delete(events::table.filter(pushed));
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Event")))?;
        Ok(())
    }
}
