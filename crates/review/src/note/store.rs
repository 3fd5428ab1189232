//! Notes in the database.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issues, merge_requests, notes},
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{NoteId, ProjectId, UserId},
};

use super::model::{Note, NoteType};
use crate::item::{Item, ItemId, ItemKind, hold, reading::AT_ONCE};

/// A note as it is written.
#[derive(Clone, Debug)]
pub struct NewRow<'a> {
    pub discussion: &'a str,
    pub note_type: Option<NoteType>,
    pub body: &'a str,
    pub author: UserId,
    pub is_system: bool,
    pub internal: bool,
    pub position: Option<&'a str>,
    pub commit_id: Option<&'a str>,
    /// Who settled the thread, where a reply is to leave it settled.
    pub resolved_by: Option<UserId>,
    /// The item that names this one, where that is what the note tells.
    pub source: Option<(ItemId, Option<ProjectId>)>,
    pub at: Ts,
}

/// The columns of a note that decide about its visibility and its position in a list.
#[derive(Clone, Debug, Queryable)]
pub struct Head {
    pub id: NoteId,
    pub discussion: String,
    pub author: UserId,
    pub is_system: bool,
    pub internal: bool,
    pub updated_at: Ts,
    pub source: (Option<ItemKind>, Option<i64>, Option<ProjectId>),
}

pub trait NoteStore {
    /// All notes of an item, oldest first, without what they say.
    fn note_heads(&mut self, item: ItemId) -> Result<Vec<Head>>;
    /// As [`note_heads`](Self::note_heads), of several items of one kind, by their ids.
    fn note_heads_of(&mut self, kind: ItemKind, ids: &[i64]) -> Result<HashMap<i64, Vec<Head>>>;
    /// These notes, the oldest first.
    fn notes_by_id(&mut self, ids: &[NoteId]) -> Result<Vec<Note>>;
    /// Those of these notes that are internal, and not somebody's own.
    fn internal_notes(&mut self, ids: &[NoteId], reader: Option<UserId>)
    -> Result<HashSet<NoteId>>;
    fn find_note(&mut self, item: ItemId, id: NoteId) -> Result<Option<Note>>;
    /// What a discussion is about.
    fn item_of_discussion(&mut self, discussion: &str) -> Result<Option<ItemId>>;
    /// The notes of a discussion, oldest first.
    fn notes_of_discussion(&mut self, item: ItemId, discussion: &str) -> Result<Vec<Note>>;
    fn insert_note(&mut self, item: &Item, row: &NewRow<'_>) -> Result<Note>;
    fn save_note_body(&mut self, id: NoteId, body: &str) -> Result<Note>;
    fn save_note_type(&mut self, id: NoteId, of: NoteType) -> Result<()>;
    /// A place in a diff, as JSON.
    fn save_note_position(&mut self, id: NoteId, position: &str) -> Result<Note>;
    /// Settles the threads of these notes, or opens them again.
    fn save_resolved(&mut self, ids: &[NoteId], by: Option<UserId>) -> Result<()>;
    /// Whether it was still there.
    fn delete_note(&mut self, id: NoteId) -> Result<bool>;
    /// Adds to the number of comments on an item that everybody may see, and notes that it changed.
    fn add_to_notes_count(&mut self, item: ItemId, by: i64) -> Result<()>;
    /// Counts the open threads of a merge request anew.
    fn count_unresolved_threads(&mut self, item: ItemId) -> Result<i64>;
    /// Whether an item was told already that another one names it.
    fn has_note_of_source(&mut self, item: ItemId, source: ItemId) -> Result<bool>;
}

impl NoteStore for Tx<'_> {
    fn note_heads(&mut self, item: ItemId) -> Result<Vec<Head>> {
        let query = notes::table
            .filter(notes::item_kind.eq(item.kind).and(notes::item_id.eq(item.id)))
            .order(notes::id)
            .select((
                notes::id,
                notes::discussion,
                notes::author_id,
                notes::is_system,
                notes::internal,
                notes::updated_at,
                (notes::source_kind, notes::source_id, notes::source_project_id),
            ));
        each_backend!(self, |conn| query.load(conn).map_err(error("Note")))
    }

    fn note_heads_of(&mut self, kind: ItemKind, ids: &[i64]) -> Result<HashMap<i64, Vec<Head>>> {
        let query = notes::table
            .filter(notes::item_kind.eq(kind).and(notes::item_id.one_of(ids)))
            .order(notes::id)
            .select((
                notes::item_id,
                (
                    notes::id,
                    notes::discussion,
                    notes::author_id,
                    notes::is_system,
                    notes::internal,
                    notes::updated_at,
                    (notes::source_kind, notes::source_id, notes::source_project_id),
                ),
            ));
        let rows: Vec<(i64, Head)> =
            each_backend!(self, |conn| query.load(conn).map_err(error("Note")))?;
        let mut all: HashMap<i64, Vec<Head>> = HashMap::new();
        for (item, head) in rows {
            all.entry(item).or_default().push(head);
        }
        Ok(all)
    }

    fn notes_by_id(&mut self, ids: &[NoteId]) -> Result<Vec<Note>> {
        each_backend!(self, |conn| notes::table
            .filter(notes::id.one_of(ids))
            .order(notes::id)
            .select(Note::as_select())
            .load(conn)
            .map_err(error("Note")))
    }

    fn internal_notes(
        &mut self,
        ids: &[NoteId],
        reader: Option<UserId>,
    ) -> Result<HashSet<NoteId>> {
        let reader = reader.unwrap_or(UserId(0));
        let mut internal = HashSet::new();
        for ids in ids.chunks(AT_ONCE) {
            let some: Vec<NoteId> = each_backend!(self, |conn| notes::table
                .filter(notes::id.one_of(ids).and(notes::internal.eq(true)))
                .filter(notes::author_id.ne(reader))
                .select(notes::id)
                .load(conn)
                .map_err(error("Note")))?;
            internal.extend(some);
        }
        Ok(internal)
    }

    fn find_note(&mut self, item: ItemId, id: NoteId) -> Result<Option<Note>> {
        each_backend!(self, |conn| notes::table
            .filter(notes::id.eq(id))
            .filter(notes::item_kind.eq(item.kind).and(notes::item_id.eq(item.id)))
            .select(Note::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Note")))
    }

    fn item_of_discussion(&mut self, discussion: &str) -> Result<Option<ItemId>> {
        let first = notes::table
            .filter(notes::discussion.eq(discussion))
            .order(notes::id)
            .select((notes::item_kind, notes::item_id));
        let found: Option<(ItemKind, i64)> =
            each_backend!(self, |conn| first.first(conn).optional().map_err(error("Note")))?;
        Ok(found.map(|(kind, id)| ItemId { kind, id }))
    }

    fn notes_of_discussion(&mut self, item: ItemId, discussion: &str) -> Result<Vec<Note>> {
        each_backend!(self, |conn| notes::table
            .filter(notes::discussion.eq(discussion))
            .filter(notes::item_kind.eq(item.kind).and(notes::item_id.eq(item.id)))
            .order(notes::id)
            .select(Note::as_select())
            .load(conn)
            .map_err(error("Note")))
    }

    fn insert_note(&mut self, item: &Item, row: &NewRow<'_>) -> Result<Note> {
        let (source, source_project) = row.source.unzip();
        let source_project = source_project.flatten();
        let values = (
            notes::item_kind.eq(item.id.kind),
            notes::item_id.eq(item.id.id),
            notes::project_id.eq(item.project()),
            notes::discussion.eq(row.discussion),
            notes::note_type.eq(row.note_type),
            notes::body.eq(row.body),
            notes::author_id.eq(row.author),
            notes::is_system.eq(row.is_system),
            notes::internal.eq(row.internal),
            notes::position.eq(row.position),
            notes::original_position.eq(row.position),
            notes::commit_id.eq(row.commit_id),
            notes::resolved_by_id.eq(row.resolved_by),
            notes::resolved_at.eq(row.resolved_by.map(|_| row.at)),
            (
                notes::source_kind.eq(source.map(|source| source.kind)),
                notes::source_id.eq(source.map(|source| source.id)),
                notes::source_project_id.eq(source_project),
                notes::created_at.eq(row.at),
                notes::updated_at.eq(row.at),
            ),
        );
        let insert = diesel::insert_into(notes::table).values(values);
        each_backend!(self, |conn| insert
            .returning(Note::as_returning())
            .get_result(conn)
            .map_err(error("Note")))
    }

    fn save_note_body(&mut self, id: NoteId, body: &str) -> Result<Note> {
        let changed = (notes::body.eq(body), notes::updated_at.eq(self.now));
        each_backend!(self, |conn| diesel::update(notes::table.find(id))
            .set(changed)
            .returning(Note::as_returning())
            .get_result(conn)
            .map_err(error("Note")))
    }

    fn save_note_type(&mut self, id: NoteId, of: NoteType) -> Result<()> {
        let row = diesel::update(notes::table.find(id)).set(notes::note_type.eq(of));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Note")))?;
        Ok(())
    }

    fn save_note_position(&mut self, id: NoteId, position: &str) -> Result<Note> {
        let changed = (notes::position.eq(Some(position)), notes::updated_at.eq(self.now));
        each_backend!(self, |conn| diesel::update(notes::table.find(id))
            .set(changed)
            .returning(Note::as_returning())
            .get_result(conn)
            .map_err(error("Note")))
    }

    fn save_resolved(&mut self, ids: &[NoteId], by: Option<UserId>) -> Result<()> {
        let changed = (
            notes::resolved_by_id.eq(by),
            notes::resolved_at.eq(by.map(|_| self.now)),
            notes::updated_at.eq(self.now),
        );
        let rows = diesel::update(notes::table.filter(notes::id.one_of(ids))).set(changed);
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Note")))?;
        Ok(())
    }

    fn delete_note(&mut self, id: NoteId) -> Result<bool> {
        let row = diesel::delete(notes::table.find(id));
        let gone = each_backend!(self, |conn| row.execute(conn).map_err(error("Note")))?;
        Ok(gone > 0)
    }

    fn add_to_notes_count(&mut self, item: ItemId, by: i64) -> Result<()> {
        let now = self.now;
        match item.kind {
            ItemKind::Issue => {
                let row = diesel::update(issues::table.find(kernel::ids::IssueId(item.id))).set((
                    issues::user_notes_count.eq(issues::user_notes_count + by),
                    issues::updated_at.eq(now),
                ));
                each_backend!(self, |conn| row.execute(conn).map_err(error("Issue")))?;
            }
            ItemKind::MergeRequest => {
                let row = merge_requests::table.find(kernel::ids::MergeRequestId(item.id));
                let row = diesel::update(row).set((
                    merge_requests::user_notes_count.eq(merge_requests::user_notes_count + by),
                    merge_requests::updated_at.eq(now),
                ));
                each_backend!(self, |conn| row.execute(conn).map_err(error("MergeRequest")))?;
            }
            ItemKind::Epic => {}
        }
        Ok(())
    }

    fn count_unresolved_threads(&mut self, item: ItemId) -> Result<i64> {
        if item.kind != ItemKind::MergeRequest {
            return Ok(0);
        }
        hold(self, item)?;
        let open = notes::table
            .filter(notes::item_kind.eq(item.kind).and(notes::item_id.eq(item.id)))
            .filter(notes::note_type.is_not_null().and(notes::is_system.eq(false)))
            .filter(notes::resolved_at.is_null())
            .select(diesel::dsl::count(notes::discussion).aggregate_distinct());
        let open: i64 = each_backend!(self, |conn| open.get_result(conn).map_err(error("Note")))?;
        let row = diesel::update(merge_requests::table.find(kernel::ids::MergeRequestId(item.id)))
            .set(merge_requests::unresolved_threads.eq(open));
        each_backend!(self, |conn| row.execute(conn).map_err(error("MergeRequest")))?;
        Ok(open)
    }

    fn has_note_of_source(&mut self, item: ItemId, source: ItemId) -> Result<bool> {
        // Other sentences about the same item do not tell that its text names this one.
        let told = notes::table
            .filter(notes::body.like("mentioned in %"))
            .filter(notes::source_kind.eq(source.kind).and(notes::source_id.eq(source.id)))
            .filter(notes::item_kind.eq(item.kind).and(notes::item_id.eq(item.id)));
        each_backend!(self, |conn| diesel::select(diesel::dsl::exists(told))
            .get_result(conn)
            .map_err(error("Note")))
    }
}
