//! Texts of items and notes that came from another installation, for who puts addresses of this one into them.

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issues, merge_requests, notes},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{IssueId, MergeRequestId, NoteId, ProjectId},
};

use super::{ItemId, ItemKind};

/// The description of an item, or what a note says.
#[derive(Clone, Debug)]
pub struct ImportedText {
    pub item: ItemId,
    pub note: Option<NoteId>,
    pub text: String,
}

/// The descriptions of these items, and what their notes say, in the same order each time.
pub fn texts_of(
    tx: &mut Tx<'_>,
    project: ProjectId,
    kind: ItemKind,
    iids: &[i64],
) -> Result<Vec<ImportedText>> {
    macro_rules! described {
        ($table:ident, $id:ty) => {{
            let rows = $table::table
                .filter($table::project_id.eq(project).and($table::iid.one_of(iids)))
                .order($table::id)
                .select(($table::id, $table::description));
            let rows: Vec<($id, Option<String>)> =
                each_backend!(tx, |conn| rows.load(conn).map_err(error("Item")))?;
            rows.into_iter().map(|(id, text)| (id.0, text)).collect()
        }};
    }
    let described: Vec<(i64, Option<String>)> = match kind {
        ItemKind::Issue => described!(issues, IssueId),
        ItemKind::MergeRequest => described!(merge_requests, MergeRequestId),
        ItemKind::Epic => Vec::new(),
    };
    let ids: Vec<i64> = described.iter().map(|(id, _)| *id).collect();
    let said = notes::table
        .filter(notes::item_kind.eq(kind).and(notes::item_id.one_of(&ids)))
        .filter(notes::is_system.eq(false))
        .order((notes::item_id, notes::id))
        .select((notes::item_id, notes::id, notes::body));
    let said: Vec<(i64, NoteId, String)> =
        each_backend!(tx, |conn| said.load(conn).map_err(error("Note")))?;
    let described = described.into_iter().filter_map(|(id, text)| {
        Some(ImportedText { item: ItemId { kind, id }, note: None, text: text? })
    });
    let said = said.into_iter().map(|(item, id, text)| ImportedText {
        item: ItemId { kind, id: item },
        note: Some(id),
        text,
    });
    Ok(described.chain(said).collect())
}

/// Writes texts that were changed. When they are from stays as it was.
pub fn save_texts(tx: &mut Tx<'_>, texts: &[ImportedText]) -> Result<()> {
    for one in texts {
        match (one.note, one.item.kind) {
            (Some(note), _) => {
                let row = diesel::update(notes::table.find(note)).set(notes::body.eq(&one.text));
                each_backend!(tx, |conn| row.execute(conn).map_err(error("Note")))?;
            }
            (None, ItemKind::Issue) => {
                let row = diesel::update(issues::table.find(IssueId(one.item.id)))
                    .set(issues::description.eq(&one.text));
                each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
            }
            (None, ItemKind::MergeRequest) => {
                let row = merge_requests::table.find(MergeRequestId(one.item.id));
                let row = diesel::update(row).set(merge_requests::description.eq(&one.text));
                each_backend!(tx, |conn| row.execute(conn).map_err(error("Merge request")))?;
            }
            (None, ItemKind::Epic) => {}
        }
    }
    Ok(())
}
