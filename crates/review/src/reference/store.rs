//! Rows of participants, and of references from texts to items.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{item_mentions as mentions, item_participants as participants},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{NoteId, ProjectId, UserId},
};

use crate::item::{Item, ItemId, ItemKind};

pub trait ParticipantStore {
    /// Somebody commented on an item, or is mentioned there.
    fn record_participant(&mut self, item: &Item, user: UserId) -> Result<()>;
    /// Who commented on items or was mentioned there; authors and assignees are kept elsewhere.
    fn participants_of(&mut self, kind: ItemKind, ids: &[i64])
    -> Result<HashMap<i64, Vec<UserId>>>;
}

pub trait MentionStore {
    /// The items of a kind whose texts name an item, and those that its own texts name.
    fn items_named_with(&mut self, item: ItemId, kind: ItemKind) -> Result<Vec<i64>>;
    /// Which items a text names: that of an item itself, or of one of its notes.
    fn save_mentions(
        &mut self,
        source: ItemId,
        note: Option<NoteId>,
        targets: &[(ItemId, Option<ProjectId>)],
    ) -> Result<()>;
}

impl ParticipantStore for Tx<'_> {
    fn record_participant(&mut self, item: &Item, user: UserId) -> Result<()> {
        let row = (
            participants::item_kind.eq(item.id.kind),
            participants::item_id.eq(item.id.id),
            participants::user_id.eq(user),
            participants::project_id.eq(item.project()),
        );
        let row = diesel::insert_into(participants::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn participants_of(
        &mut self,
        kind: ItemKind,
        ids: &[i64],
    ) -> Result<HashMap<i64, Vec<UserId>>> {
        let rows: Vec<(i64, UserId)> = each_backend!(self, |conn| participants::table
            .filter(participants::item_kind.eq(kind).and(participants::item_id.one_of(ids)))
            .order((participants::item_id, participants::user_id))
            .select((participants::item_id, participants::user_id))
            .load(conn)
            .map_err(error("User")))?;
        let mut all: HashMap<i64, Vec<UserId>> = HashMap::new();
        for (item, user) in rows {
            all.entry(item).or_default().push(user);
        }
        Ok(all)
    }
}

impl MentionStore for Tx<'_> {
    fn items_named_with(&mut self, item: ItemId, kind: ItemKind) -> Result<Vec<i64>> {
        let naming = mentions::table
            .filter(mentions::target_kind.eq(item.kind).and(mentions::target_id.eq(item.id)))
            .filter(mentions::source_kind.eq(kind))
            .select(mentions::source_id);
        let mut all: Vec<i64> =
            each_backend!(self, |conn| naming.load(conn).map_err(error("Item")))?;
        let named = mentions::table
            .filter(mentions::source_kind.eq(item.kind).and(mentions::source_id.eq(item.id)))
            .filter(mentions::target_kind.eq(kind))
            .select(mentions::target_id);
        let named: Vec<i64> = each_backend!(self, |conn| named.load(conn).map_err(error("Item")))?;
        all.extend(named);
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn save_mentions(
        &mut self,
        source: ItemId,
        note: Option<NoteId>,
        targets: &[(ItemId, Option<ProjectId>)],
    ) -> Result<()> {
        let note = note.map_or(0, |note| note.0);
        let old = mentions::table
            .filter(mentions::source_kind.eq(source.kind).and(mentions::source_id.eq(source.id)))
            .filter(mentions::note_id.eq(note));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("Item")))?;
        for (target, project) in targets {
            let row = (
                mentions::source_kind.eq(source.kind),
                mentions::source_id.eq(source.id),
                mentions::note_id.eq(note),
                mentions::target_kind.eq(target.kind),
                mentions::target_id.eq(target.id),
                mentions::project_id.eq(*project),
            );
            let row = diesel::insert_into(mentions::table).values(row).on_conflict_do_nothing();
            each_backend!(self, |conn| row.execute(conn).map_err(error("Item")))?;
        }
        Ok(())
    }
}
