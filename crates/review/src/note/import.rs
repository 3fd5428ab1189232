//! Notes that come from another installation, with their authors and times, a page at a time. Nobody is told of them.

use std::collections::BTreeSet;

use db::{
    Tx, each_backend, error,
    schema::{issues, merge_requests, notes},
};
use diesel::{dsl::sql, prelude::*, sql_types::BigInt};
use kernel::{
    Result, Ts,
    ids::{IssueId, MergeRequestId, ProjectId, UserId},
};

use super::NoteType;
use crate::item::{ItemId, ItemKind, import::record_participants};

/// A note as another installation has it.
#[derive(Clone, Debug)]
pub struct ImportedNote {
    pub item: ItemId,
    /// Notes of one thread have the same name: 40 hexadecimal digits.
    pub discussion: String,
    pub note_type: Option<NoteType>,
    pub body: String,
    pub author: UserId,
    /// Tells what happened to the item.
    pub is_system: bool,
    /// A place in a diff, as JSON.
    pub position: Option<String>,
    /// The item of the same project that a system note names: the note is for those alone who may read it.
    pub about: Option<ItemId>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// Rows of one statement.
const AT_ONCE: usize = 500;

const COMMENTS_ON_ISSUE: &str = "(SELECT count(*) FROM notes WHERE notes.item_kind = 'Issue' \
     AND notes.item_id = issues.id AND NOT notes.is_system AND NOT notes.internal)";
const COMMENTS_ON_MERGE_REQUEST: &str = "(SELECT count(*) FROM notes \
     WHERE notes.item_kind = 'MergeRequest' AND notes.item_id = merge_requests.id \
     AND NOT notes.is_system AND NOT notes.internal)";
const OPEN_THREADS: &str = "(SELECT count(DISTINCT notes.discussion) FROM notes \
     WHERE notes.item_kind = 'MergeRequest' AND notes.item_id = merge_requests.id \
     AND notes.note_type IS NOT NULL AND NOT notes.is_system AND notes.resolved_at IS NULL)";

/// Writes notes of a project's items, and counts them there.
pub fn insert_notes(tx: &mut Tx<'_>, project: ProjectId, new: &[ImportedNote]) -> Result<usize> {
    let mut count = 0;
    for some in new.chunks(AT_ONCE) {
        let rows: Vec<_> = some
            .iter()
            .map(|one| {
                (
                    notes::item_kind.eq(one.item.kind),
                    notes::item_id.eq(one.item.id),
                    notes::project_id.eq(project),
                    notes::discussion.eq(&one.discussion),
                    notes::note_type.eq(one.note_type),
                    notes::body.eq(&one.body),
                    notes::author_id.eq(one.author),
                    notes::is_system.eq(one.is_system),
                    notes::internal.eq(false),
                    notes::position.eq(&one.position),
                    notes::original_position.eq(&one.position),
                    (
                        notes::source_kind.eq(one.about.map(|about| about.kind)),
                        notes::source_id.eq(one.about.map(|about| about.id)),
                        notes::source_project_id.eq(one.about.map(|_| project)),
                        notes::created_at.eq(one.created_at),
                        notes::updated_at.eq(one.updated_at),
                    ),
                )
            })
            .collect();
        count += each_backend!(tx, |conn| diesel::insert_into(notes::table)
            .values(&rows)
            .execute(conn)
            .map_err(error("Note")))?;
    }
    for kind in [ItemKind::Issue, ItemKind::MergeRequest] {
        let of_kind = || new.iter().filter(|one| one.item.kind == kind);
        let people: BTreeSet<(i64, UserId)> =
            of_kind().filter(|one| !one.is_system).map(|one| (one.item.id, one.author)).collect();
        if !people.is_empty() {
            record_participants(tx, project, kind, &people)?;
            let items: BTreeSet<i64> = people.into_iter().map(|(item, _)| item).collect();
            count_notes(tx, kind, &items)?;
        }
    }
    Ok(count)
}

fn count_notes(tx: &mut Tx<'_>, kind: ItemKind, items: &BTreeSet<i64>) -> Result<()> {
    match kind {
        ItemKind::Issue => {
            let ids: Vec<IssueId> = items.iter().copied().map(IssueId).collect();
            let rows = diesel::update(issues::table.filter(issues::id.eq_any(ids)))
                .set(issues::user_notes_count.eq(sql::<BigInt>(COMMENTS_ON_ISSUE)));
            each_backend!(tx, |conn| rows.execute(conn).map_err(error("Issue")))?;
        }
        ItemKind::MergeRequest => {
            let ids: Vec<MergeRequestId> = items.iter().copied().map(MergeRequestId).collect();
            let rows = diesel::update(merge_requests::table.filter(merge_requests::id.eq_any(ids)))
                .set((
                    merge_requests::user_notes_count.eq(sql::<BigInt>(COMMENTS_ON_MERGE_REQUEST)),
                    merge_requests::unresolved_threads.eq(sql::<BigInt>(OPEN_THREADS)),
                ));
            each_backend!(tx, |conn| rows.execute(conn).map_err(error("Merge request")))?;
        }
        ItemKind::Epic => {}
    }
    Ok(())
}
