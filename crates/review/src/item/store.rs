//! Items of any kind in the database, and what hangs on them.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issues, item_assignees as assignees, item_labels, labels, merge_requests},
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{LabelId, ProjectId, UserId},
};

use super::{Item, ItemId, ItemKind};
use crate::{Home, epic::EpicStore as _, label::Label};

pub trait ItemStore {
    /// The item of that number in a project, or the epic in a group. Whether the caller may see it is for the caller to
    /// ask.
    fn find_item(&mut self, home: Home, kind: ItemKind, iid: i64) -> Result<Option<Item>>;
    /// Items of a kind by their ids.
    fn items_by_id(&mut self, kind: ItemKind, ids: &[i64]) -> Result<HashMap<i64, Item>>;
    /// The labels of items, in the order of their names.
    fn labels_of(&mut self, kind: ItemKind, ids: &[i64]) -> Result<HashMap<i64, Vec<Label>>>;
    /// Gives an item exactly these labels.
    fn save_labels(&mut self, item: ItemId, labels: &[LabelId]) -> Result<()>;
    /// The people items are given to, in the order of their ids.
    fn assignees_of(&mut self, kind: ItemKind, ids: &[i64]) -> Result<HashMap<i64, Vec<UserId>>>;
    fn is_assigned(&mut self, item: ItemId, user: UserId) -> Result<bool>;
    /// Gives an item to exactly these people.
    fn save_assignees(&mut self, item: ItemId, people: &[UserId]) -> Result<()>;
}

type Columns =
    (i64, ProjectId, i64, UserId, String, Option<String>, String, bool, Option<bool>, Ts);

macro_rules! of_issue {
    () => {
        (
            issues::id,
            issues::project_id,
            issues::iid,
            issues::author_id,
            issues::title,
            issues::description,
            issues::state,
            issues::confidential,
            issues::discussion_locked,
            issues::updated_at,
        )
    };
}

macro_rules! of_merge_request {
    () => {
        (
            merge_requests::id,
            merge_requests::project_id,
            merge_requests::iid,
            merge_requests::author_id,
            merge_requests::title,
            merge_requests::description,
            merge_requests::state,
            diesel::dsl::sql::<diesel::sql_types::Bool>("false"),
            merge_requests::discussion_locked,
            merge_requests::updated_at,
        )
    };
}

fn item(kind: ItemKind, row: Columns) -> Item {
    let (id, project, iid, author, title, description, state, confidential, locked, updated_at) =
        row;
    Item {
        id: ItemId { kind, id },
        home: Home::Project(project),
        iid,
        author,
        title,
        description,
        state,
        confidential,
        locked: locked.unwrap_or_default(),
        updated_at,
    }
}

impl ItemStore for Tx<'_> {
    fn find_item(&mut self, home: Home, kind: ItemKind, iid: i64) -> Result<Option<Item>> {
        let project = match home {
            Home::Project(project) => project,
            Home::Group(group) if kind == ItemKind::Epic => {
                return Ok(self.find_epic(group, iid)?.map(|epic| epic.whole()));
            }
            Home::Group(_) => return Ok(None),
        };
        let row: Option<Columns> = match kind {
            ItemKind::Issue => each_backend!(self, |conn| issues::table
                .filter(issues::project_id.eq(project).and(issues::iid.eq(iid)))
                .select(of_issue!())
                .first(conn)
                .optional()
                .map_err(error("Issue")))?,
            ItemKind::MergeRequest => each_backend!(self, |conn| merge_requests::table
                .filter(merge_requests::project_id.eq(project).and(merge_requests::iid.eq(iid)))
                .select(of_merge_request!())
                .first(conn)
                .optional()
                .map_err(error("Merge request")))?,
            ItemKind::Epic => None,
        };
        Ok(row.map(|row| item(kind, row)))
    }

    fn items_by_id(&mut self, kind: ItemKind, ids: &[i64]) -> Result<HashMap<i64, Item>> {
        let rows: Vec<Columns> = match kind {
            ItemKind::Issue => each_backend!(self, |conn| issues::table
                .filter(issues::id.one_of(ids))
                .select(of_issue!())
                .load(conn)
                .map_err(error("Issue")))?,
            ItemKind::MergeRequest => each_backend!(self, |conn| merge_requests::table
                .filter(merge_requests::id.one_of(ids))
                .select(of_merge_request!())
                .load(conn)
                .map_err(error("Merge request")))?,
            ItemKind::Epic => {
                let found = self.epics_by_id(ids)?;
                return Ok(found.into_iter().map(|epic| (epic.id, epic.whole())).collect());
            }
        };
        Ok(rows.into_iter().map(|row| (row.0, item(kind, row))).collect())
    }

    fn labels_of(&mut self, kind: ItemKind, ids: &[i64]) -> Result<HashMap<i64, Vec<Label>>> {
        let rows: Vec<(i64, Label)> = each_backend!(self, |conn| item_labels::table
            .inner_join(labels::table)
            .filter(item_labels::item_kind.eq(kind).and(item_labels::item_id.one_of(ids)))
            .order((labels::name, labels::id))
            .select((item_labels::item_id, Label::as_select()))
            .load(conn)
            .map_err(error("Label")))?;
        Ok(grouped(rows))
    }

    fn save_labels(&mut self, item: ItemId, labels: &[LabelId]) -> Result<()> {
        let old = item_labels::table
            .filter(item_labels::item_kind.eq(item.kind).and(item_labels::item_id.eq(item.id)));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("Label")))?;
        if labels.is_empty() {
            return Ok(());
        }
        let project = project_of(self, item)?;
        for label in labels {
            let row = (
                item_labels::item_kind.eq(item.kind),
                item_labels::item_id.eq(item.id),
                item_labels::project_id.eq(project),
                item_labels::label_id.eq(*label),
            );
            let row = diesel::insert_into(item_labels::table).values(row);
            each_backend!(self, |conn| row.execute(conn).map_err(error("Label")))?;
        }
        Ok(())
    }

    fn assignees_of(&mut self, kind: ItemKind, ids: &[i64]) -> Result<HashMap<i64, Vec<UserId>>> {
        let rows: Vec<(i64, UserId)> = each_backend!(self, |conn| assignees::table
            .filter(assignees::item_kind.eq(kind).and(assignees::item_id.one_of(ids)))
            .order((assignees::item_id, assignees::user_id))
            .select((assignees::item_id, assignees::user_id))
            .load(conn)
            .map_err(error("User")))?;
        Ok(grouped(rows))
    }

    fn is_assigned(&mut self, item: ItemId, user: UserId) -> Result<bool> {
        let row = assignees::table.find((item.kind, item.id, user));
        each_backend!(self, |conn| diesel::select(diesel::dsl::exists(row))
            .get_result(conn)
            .map_err(error("User")))
    }

    fn save_assignees(&mut self, item: ItemId, people: &[UserId]) -> Result<()> {
        let old = assignees::table
            .filter(assignees::item_kind.eq(item.kind).and(assignees::item_id.eq(item.id)));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("User")))?;
        if people.is_empty() {
            return Ok(());
        }
        let project = project_of(self, item)?;
        for person in people {
            let row = (
                assignees::item_kind.eq(item.kind),
                assignees::item_id.eq(item.id),
                assignees::project_id.eq(project),
                assignees::user_id.eq(*person),
            );
            let row = diesel::insert_into(assignees::table).values(row);
            each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        }
        Ok(())
    }
}

/// The project that an item is in; epics are in none.
fn project_of(tx: &mut Tx<'_>, item: ItemId) -> Result<Option<ProjectId>> {
    let found = match item.kind {
        ItemKind::Issue => each_backend!(tx, |conn| issues::table
            .find(item.id)
            .select(issues::project_id)
            .first(conn)
            .map_err(error("Issue")))?,
        ItemKind::MergeRequest => each_backend!(tx, |conn| merge_requests::table
            .find(item.id)
            .select(merge_requests::project_id)
            .first(conn)
            .map_err(error("Merge request")))?,
        ItemKind::Epic => return Ok(None),
    };
    Ok(Some(found))
}

/// Rows by the item they belong to, in their order.
fn grouped<T>(rows: Vec<(i64, T)>) -> HashMap<i64, Vec<T>> {
    let mut all: HashMap<i64, Vec<T>> = HashMap::new();
    for (id, row) in rows {
        all.entry(id).or_default().push(row);
    }
    all
}
