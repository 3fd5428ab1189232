//! The last editors of an item, and of its title or description.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issues, merge_requests},
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{IssueId, UserId},
};

use super::{ItemId, ItemKind};
use crate::event::Change;

const NOUN: &str = "Item";

/// The last changes of an item by people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Queryable)]
pub struct LastEdit {
    /// When title or description were changed; nothing where they never were.
    pub edited_at: Option<Ts>,
    pub edited_by: Option<UserId>,
    /// Who changed anything at all.
    pub updated_by: Option<UserId>,
}

/// The last changes of an issue or merge request; none of what is gone, and of epics.
///
/// # Errors
/// When the database cannot be read.
pub fn last_edit(tx: &mut Tx<'_>, item: ItemId) -> Result<LastEdit> {
    macro_rules! found {
        ($table:ident) => {{
            let row = $table::table.filter($table::id.eq(item.id)).select((
                $table::last_edited_at,
                $table::last_edited_by_id,
                $table::updated_by_id,
            ));
            each_backend!(tx, |conn| row
                .get_result::<LastEdit>(conn)
                .optional()
                .map_err(error(NOUN)))?
        }};
    }
    let found = match item.kind {
        ItemKind::Issue => found!(issues),
        ItemKind::MergeRequest => found!(merge_requests),
        ItemKind::Epic => None,
    };
    Ok(found.unwrap_or_default())
}

/// Who changed each of these issues last.
///
/// # Errors
/// When the database cannot be read.
pub fn updaters_of_issues(tx: &mut Tx<'_>, ids: &[IssueId]) -> Result<HashMap<IssueId, UserId>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = issues::table.filter(issues::id.one_of(ids));
    let found: Vec<(IssueId, Option<UserId>)> = each_backend!(tx, |conn| rows
        .select((issues::id, issues::updated_by_id))
        .load(conn)
        .map_err(error(NOUN)))?;
    Ok(found.into_iter().filter_map(|(id, user)| Some((id, user?))).collect())
}

/// Notes who made these changes to an issue or merge request, and when it was updated, where that is given. `before` has
/// the last changes until now; the answer is what of them is another value.
pub(crate) fn record_edit(
    tx: &mut Tx<'_>,
    item: ItemId,
    (by, updated_at): (UserId, Option<Ts>),
    changes: &[Change],
    before: LastEdit,
) -> Result<Vec<Change>> {
    let edited = changes.iter().any(|change| matches!(change.field, "title" | "description"));
    let now = tx.now;
    macro_rules! record {
        ($table:ident) => {{
            let row = $table::table.filter($table::id.eq(item.id));
            // Values that are `None` stay as they are.
            let values = (
                $table::updated_by_id.eq(Some(by)),
                edited.then(|| $table::last_edited_at.eq(Some(now))),
                edited.then(|| $table::last_edited_by_id.eq(Some(by))),
                updated_at.map(|at| $table::updated_at.eq(at)),
            );
            let update = diesel::update(row).set(values);
            each_backend!(tx, |conn| update.execute(conn).map_err(error(NOUN)))?;
        }};
    }
    match item.kind {
        ItemKind::Issue => record!(issues),
        ItemKind::MergeRequest => record!(merge_requests),
        ItemKind::Epic => return Ok(Vec::new()),
    }
    let after = match edited {
        true => LastEdit { edited_at: Some(now), edited_by: Some(by), updated_by: Some(by) },
        false => LastEdit { updated_by: Some(by), ..before },
    };
    Ok(edit_changes(before, after))
}

fn edit_changes(before: LastEdit, after: LastEdit) -> Vec<Change> {
    let moment = |edit: LastEdit| edit.edited_at.map(|at| at.0);
    let all = [
        Change::between("last_edited_at", moment(before), moment(after)),
        Change::between("last_edited_by_id", before.edited_by, after.edited_by),
        Change::between("updated_by_id", before.updated_by, after.updated_by),
    ];
    all.into_iter().flatten().collect()
}
