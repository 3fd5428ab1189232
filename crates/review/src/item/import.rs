//! Imports labels, people, notes and emoji of items from another installation, a page at a time.

use std::collections::{BTreeSet, HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issues, item_assignees as assignees, item_labels, item_participants, merge_requests},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{IssueId, LabelId, MergeRequestId, ProjectId, UserId},
};

use super::ItemKind;
use crate::{
    Home,
    label::{
        FIRST_COLOR, LabelFilter, LabelStore as _,
        import::{ImportedLabel, insert_labels},
    },
};

/// Labels and assignees of one item.
#[derive(Clone, Debug)]
pub(crate) struct ItemAttachments<'a> {
    pub(crate) id: i64,
    pub(crate) labels: &'a [String],
    pub(crate) assignees: &'a [UserId],
}

/// Gives new items their labels and assignees; labels that are not there are made.
pub(crate) fn attach(
    tx: &mut Tx<'_>,
    project: ProjectId,
    kind: ItemKind,
    items: &[ItemAttachments<'_>],
) -> Result<()> {
    let labels = label_ids(tx, project, items)?;
    let rows: BTreeSet<(i64, LabelId)> = items
        .iter()
        .flat_map(|item| item.labels.iter().map(move |name| (item.id, name)))
        .filter_map(|(id, name)| Some((id, *labels.get(name)?)))
        .collect();
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(id, label)| {
            (
                item_labels::item_kind.eq(kind),
                item_labels::item_id.eq(id),
                item_labels::label_id.eq(label),
                item_labels::project_id.eq(project),
            )
        })
        .collect();
    if !rows.is_empty() {
        each_backend!(tx, |conn| diesel::insert_into(item_labels::table)
            .values(&rows)
            .execute(conn)
            .map_err(error("Label")))?;
    }
    let rows: BTreeSet<(i64, UserId)> = items
        .iter()
        .flat_map(|item| item.assignees.iter().map(move |user| (item.id, *user)))
        .collect();
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(id, user)| {
            (
                assignees::item_kind.eq(kind),
                assignees::item_id.eq(id),
                assignees::user_id.eq(user),
                assignees::project_id.eq(project),
            )
        })
        .collect();
    if !rows.is_empty() {
        each_backend!(tx, |conn| diesel::insert_into(assignees::table)
            .values(&rows)
            .execute(conn)
            .map_err(error("User")))?;
    }
    Ok(())
}

fn label_ids(
    tx: &mut Tx<'_>,
    project: ProjectId,
    items: &[ItemAttachments<'_>],
) -> Result<HashMap<String, LabelId>> {
    let names: BTreeSet<&String> = items.iter().flat_map(|item| item.labels).collect();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let new: Vec<ImportedLabel> = names
        .iter()
        .map(|name| ImportedLabel {
            name: (*name).clone(),
            color: FIRST_COLOR.to_owned(),
            description: None,
        })
        .collect();
    insert_labels(tx, project, &new)?;
    let names: Vec<String> = names.into_iter().cloned().collect();
    let found = tx.labels_named(&LabelFilter::of(Home::Project(project)), &names)?;
    Ok(found.into_iter().map(|label| (label.name, label.id)).collect())
}

/// The issues or merge requests of a project by their numbers.
pub fn ids_by_iid(
    tx: &mut Tx<'_>,
    project: ProjectId,
    kind: ItemKind,
    iids: &[i64],
) -> Result<HashMap<i64, i64>> {
    macro_rules! found {
        ($table:ident, $id:ty) => {{
            let found = $table::table
                .filter($table::project_id.eq(project).and($table::iid.one_of(iids)))
                .select(($table::iid, $table::id));
            let found: Vec<(i64, $id)> =
                each_backend!(tx, |conn| found.load(conn).map_err(error("Item")))?;
            found.into_iter().map(|(iid, id)| (iid, id.0)).collect()
        }};
    }
    Ok(match kind {
        ItemKind::Issue => found!(issues, IssueId),
        ItemKind::MergeRequest => found!(merge_requests, MergeRequestId),
        ItemKind::Epic => HashMap::new(),
    })
}

/// The next numbers of issues or merge requests after one, in order.
pub fn iids_after(
    tx: &mut Tx<'_>,
    project: ProjectId,
    kind: ItemKind,
    after: i64,
    most: i64,
) -> Result<Vec<i64>> {
    macro_rules! next {
        ($table:ident) => {{
            let next = $table::table
                .filter($table::project_id.eq(project).and($table::iid.gt(after)))
                .order($table::iid)
                .limit(most)
                .select($table::iid);
            each_backend!(tx, |conn| next.load(conn).map_err(error("Item")))
        }};
    }
    match kind {
        ItemKind::Issue => next!(issues),
        ItemKind::MergeRequest => next!(merge_requests),
        ItemKind::Epic => Ok(Vec::new()),
    }
}

/// Notes who took part in items of a kind.
pub(crate) fn record_participants(
    tx: &mut Tx<'_>,
    project: ProjectId,
    kind: ItemKind,
    people: &BTreeSet<(i64, UserId)>,
) -> Result<()> {
    let items: BTreeSet<i64> = people.iter().map(|(item, _)| *item).collect();
    let known = item_participants::table
        .filter(item_participants::item_kind.eq(kind))
        .filter(item_participants::item_id.eq_any(items))
        .select((item_participants::item_id, item_participants::user_id));
    let known: Vec<(i64, UserId)> =
        each_backend!(tx, |conn| known.load(conn).map_err(error("User")))?;
    let known: HashSet<(i64, UserId)> = known.into_iter().collect();
    let rows: Vec<_> = people
        .iter()
        .filter(|pair| !known.contains(pair))
        .map(|(item, user)| {
            (
                item_participants::item_kind.eq(kind),
                item_participants::item_id.eq(*item),
                item_participants::user_id.eq(*user),
                item_participants::project_id.eq(project),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    each_backend!(tx, |conn| diesel::insert_into(item_participants::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("User")))?;
    Ok(())
}
