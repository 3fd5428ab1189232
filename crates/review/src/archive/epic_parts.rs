//! Records of epics in archives. Who else mentions an epic, and the issues of projects in it, are not of the group.

use std::collections::HashSet;

use db::{
    OneOf as _, Tx,
    archive::{ArchiveRow, Column, Field, Relation},
    each_backend, error,
    schema::epics,
};
use diesel::prelude::*;
use kernel::{Result, ids::NamespaceId};
use serde_json::Value;

use super::choices::{EPIC, is_emoji, is_one_of, is_sha};
use crate::note::NoteType;

const OWN: &str = "item_kind = 'Epic' AND item_id IN \
    (SELECT epics.id FROM epics WHERE epics.namespace_id = $1)";
const KIND: Column = Column::new("item_kind", Field::Kind(EPIC));
const ITEM: Column = Column::new("item_id", Field::Item("item_kind"));
const CREATED: Column = Column::moment("created_at");
const UPDATED: Column = Column::moment("updated_at");

/// Epics inside of epics, which may be older than those that they are inside of.
pub(super) static PARENTS: Relation = Relation {
    name: "epic_parents",
    table: "epics",
    scope: "namespace_id = $1 AND parent_id IS NOT NULL AND parent_position IS NOT NULL",
    key: &["id"],
    columns: &[
        Column::itself("epics"),
        Column::row("parent_id", "epics"),
        Column::number("parent_position", -(1 << 50), 1 << 50),
    ],
    signed: None,
};

pub(super) static LABELS: Relation = Relation {
    name: "item_labels",
    table: "item_labels",
    scope: OWN,
    key: &["item_kind", "item_id", "label_id"],
    columns: &[KIND, ITEM, Column::row("label_id", "labels")],
    signed: None,
};

/// Sentences about items of projects stay behind with those, and so do those that [`retain_inner_notes`] takes away.
pub(super) static NOTES: Relation = Relation {
    name: "notes",
    table: "notes",
    scope: "item_kind = 'Epic' AND item_id IN \
        (SELECT epics.id FROM epics WHERE epics.namespace_id = $1) \
        AND (source_kind IS NULL OR source_kind = 'Epic')",
    key: &["id"],
    columns: &[
        KIND,
        ITEM,
        Column::choice("discussion", is_sha),
        Column::choice("note_type", is_one_of::<NoteType>).optional(),
        Column::text("body"),
        Column::author("author_id"),
        Column::flag("is_system"),
        Column::flag("internal"),
        CREATED,
        UPDATED,
        Column::new("source_kind", Field::Kind(EPIC)).optional(),
        Column::new("source_id", Field::Item("source_kind")).strict(),
    ],
    signed: Some("body"),
};

pub(super) static PARTICIPANTS: Relation = Relation {
    name: "item_participants",
    table: "item_participants",
    scope: OWN,
    key: &["item_kind", "item_id", "user_id"],
    columns: &[KIND, ITEM, Column::person("user_id")],
    signed: None,
};

/// Which epic speaks of which other one; no note is the description.
pub(super) static MENTIONS: Relation = Relation {
    name: "item_mentions",
    table: "item_mentions",
    scope: "source_kind = 'Epic' AND target_kind = 'Epic' AND source_id IN \
        (SELECT epics.id FROM epics WHERE epics.namespace_id = $1)",
    key: &["source_kind", "source_id", "note_id", "target_kind", "target_id"],
    columns: &[
        Column::new("source_kind", Field::Kind(EPIC)),
        Column::new("source_id", Field::Item("source_kind")),
        Column::row("note_id", "notes").or_zero(),
        Column::new("target_kind", Field::Kind(EPIC)),
        Column::new("target_id", Field::Item("target_kind")),
    ],
    signed: None,
};

pub(super) static AWARDS: Relation = Relation {
    name: "award_emoji",
    table: "award_emoji",
    scope: "((item_kind = 'Epic' AND item_id IN \
        (SELECT epics.id FROM epics WHERE epics.namespace_id = $1)) \
        OR (item_kind = 'Note' AND item_id IN (SELECT notes.id FROM notes \
        JOIN epics ON epics.id = notes.item_id \
        WHERE notes.item_kind = 'Epic' AND epics.namespace_id = $1)))",
    key: &["id"],
    columns: &[
        Column::new("item_kind", Field::Kind(&[("Epic", "epics"), ("Note", "notes")])),
        ITEM,
        Column::person("user_id"),
        Column::choice("name", is_emoji),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

/// Takes notes away that name epics of other groups than these: not everybody who gets the archive may read those.
///
/// # Errors
/// When the database cannot be read.
pub fn retain_inner_notes(
    tx: &mut Tx<'_>,
    relation: &Relation,
    rows: &mut Vec<ArchiveRow>,
    groups: &[NamespaceId],
) -> Result<()> {
    let source = |row: &ArchiveRow| match row.get("source_kind").and_then(Value::as_str) {
        Some("Epic") => row.get("source_id").and_then(Value::as_i64),
        _ => None,
    };
    let named: Vec<i64> = rows.iter().filter_map(source).collect();
    if relation.name != NOTES.name || named.is_empty() {
        return Ok(());
    }
    let groups: HashSet<NamespaceId> = groups.iter().copied().collect();
    let found = epics::table.filter(epics::id.one_of(&named));
    let found = found.select((epics::id, epics::namespace_id));
    let found: Vec<(i64, NamespaceId)> =
        each_backend!(tx, |conn| found.load(conn).map_err(error("Epic")))?;
    let inner = found.into_iter().filter(|(_, group)| groups.contains(group));
    let inner: HashSet<i64> = inner.map(|(id, _)| id).collect();
    rows.retain(|row| source(row).is_none_or(|id| inner.contains(&id)));
    Ok(())
}
