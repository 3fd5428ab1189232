//! Labels in the database, their priorities and who hears of them.

use std::collections::{HashMap, HashSet};

use db::{
    CountOf, OneOf as _, Tx, each_backend, error, lower,
    schema::{label_priorities as priorities, label_subscriptions as subscriptions, labels},
};
use diesel::{prelude::*, sql_types::Text};
use kernel::{
    Result,
    ids::{LabelId, ProjectId, UserId},
    like::containing,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::model::{Label, LabelFilter, LabelName};
use crate::Home;

/// Columns of a label that can be changed.
#[derive(Clone, Debug)]
pub struct LabelDetails {
    pub name: String,
    pub color: String,
    pub description: Option<String>,
}

/// A place in the order of names: the name of a label, and its id.
pub type NameEdge = (String, LabelId);

pub trait LabelStore {
    /// A page of labels in the order of their names.
    fn labels(&mut self, filter: &LabelFilter, page: PageRequest) -> Result<Page<Label>> {
        self.labels_between(filter, (None, None), page)
    }
    /// As [`labels`](Self::labels), of those behind a name and an id, and before others.
    fn labels_between(
        &mut self,
        filter: &LabelFilter,
        edges: (Option<&NameEdge>, Option<&NameEdge>),
        page: PageRequest,
    ) -> Result<Page<Label>>;
    /// The first label of that name or id; an id counts before a name.
    fn find_label(&mut self, within: &LabelFilter, name: &LabelName) -> Result<Option<Label>>;
    /// Every label of these names, in no order.
    fn labels_named(&mut self, within: &LabelFilter, names: &[String]) -> Result<Vec<Label>>;
    fn labels_by_id(&mut self, ids: &[LabelId]) -> Result<Vec<Label>>;
    fn insert_label(&mut self, home: Home, details: &LabelDetails) -> Result<Label>;
    fn save_label(&mut self, id: LabelId, details: &LabelDetails) -> Result<Label>;
    /// Makes a project's label one of a group.
    fn lift_label(&mut self, id: LabelId, to: Home) -> Result<Label>;
    /// Whether it was still there.
    fn delete_label(&mut self, id: LabelId) -> Result<bool>;
    fn label_priorities(
        &mut self,
        project: ProjectId,
        ids: &[LabelId],
    ) -> Result<HashMap<LabelId, i64>>;
    fn save_label_priority(
        &mut self,
        project: ProjectId,
        id: LabelId,
        priority: Option<i64>,
    ) -> Result<()>;
    /// Which of these a person hears of.
    fn subscribed_labels(&mut self, user: UserId, ids: &[LabelId]) -> Result<HashSet<LabelId>>;
    /// Tells whether that was new.
    fn subscribe_to_label(&mut self, user: UserId, id: LabelId) -> Result<bool>;
    /// Tells whether there was something to end.
    fn unsubscribe_from_label(&mut self, user: UserId, id: LabelId) -> Result<bool>;
}

impl LabelStore for Tx<'_> {
    fn labels_between(
        &mut self,
        filter: &LabelFilter,
        (after, before): (Option<&NameEdge>, Option<&NameEdge>),
        page: PageRequest,
    ) -> Result<Page<Label>> {
        let pattern = filter.search.as_deref().map(containing);
        let (items, total) = each_backend!(self, |conn| {
            let chosen = || {
                let within = labels::project_id
                    .eq_any(&filter.projects)
                    .or(labels::namespace_id.eq_any(&filter.groups));
                let mut all = labels::table.filter(within.assume_not_null()).into_boxed();
                if let Some(name) = &filter.name {
                    all = all.filter(labels::name.eq(name));
                }
                let (folded, name, id) = (lower(labels::name), labels::name, labels::id);
                if let Some((last, number)) = after {
                    let limit = lower(last.as_str().into_sql::<Text>());
                    let tied = name.eq(last).and(id.gt(*number));
                    let same = folded.eq(limit).and(name.gt(last).or(tied));
                    all = all.filter(folded.gt(limit).or(same));
                }
                if let Some((first, number)) = before {
                    let limit = lower(first.as_str().into_sql::<Text>());
                    let tied = name.eq(first).and(id.lt(*number));
                    let same = folded.eq(limit).and(name.lt(first).or(tied));
                    all = all.filter(folded.lt(limit).or(same));
                }
                match &pattern {
                    None => all,
                    Some(pattern) => {
                        let described = diesel::dsl::sql::<diesel::sql_types::Text>(
                            "coalesce(labels.description, '')",
                        );
                        all.filter(
                            lower(labels::name)
                                .like(pattern)
                                .escape('\\')
                                .or(lower(described).like(pattern).escape('\\')),
                        )
                    }
                }
            };
            let items = chosen()
                .order((lower(labels::name), labels::name, labels::id))
                .limit(page.per_page)
                .offset(page.offset())
                .select(Label::as_select())
                .load(conn)
                .map_err(error("Label"))?;
            let counted = CountOf(chosen().select(labels::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Label"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn find_label(&mut self, within: &LabelFilter, name: &LabelName) -> Result<Option<Label>> {
        let (id, text) = match name {
            LabelName::Number(id, text) => (*id, text),
            LabelName::Name(text) => (LabelId(0), text),
        };
        let found: Vec<Label> = each_backend!(self, |conn| labels::table
            .filter(
                labels::project_id
                    .eq_any(&within.projects)
                    .or(labels::namespace_id.eq_any(&within.groups))
                    .assume_not_null(),
            )
            .filter(labels::id.eq(id).or(labels::name.eq(text)))
            .order(labels::id)
            .select(Label::as_select())
            .load(conn)
            .map_err(error("Label")))?;
        let by_id = found.iter().position(|label| label.id == id).unwrap_or_default();
        Ok(found.into_iter().nth(by_id))
    }

    fn labels_named(&mut self, within: &LabelFilter, names: &[String]) -> Result<Vec<Label>> {
        each_backend!(self, |conn| labels::table
            .filter(
                labels::project_id
                    .eq_any(&within.projects)
                    .or(labels::namespace_id.eq_any(&within.groups))
                    .assume_not_null(),
            )
            .filter(labels::name.one_of(names))
            .select(Label::as_select())
            .load(conn)
            .map_err(error("Label")))
    }

    fn labels_by_id(&mut self, ids: &[LabelId]) -> Result<Vec<Label>> {
        each_backend!(self, |conn| labels::table
            .filter(labels::id.one_of(ids))
            .select(Label::as_select())
            .load(conn)
            .map_err(error("Label")))
    }

    fn insert_label(&mut self, home: Home, details: &LabelDetails) -> Result<Label> {
        let row = (
            labels::project_id.eq(home.project()),
            labels::namespace_id.eq(home.group()),
            labels::name.eq(&details.name),
            labels::color.eq(&details.color),
            labels::description.eq(&details.description),
            labels::created_at.eq(self.now),
            labels::updated_at.eq(self.now),
        );
        each_backend!(self, |conn| diesel::insert_into(labels::table)
            .values(row)
            .returning(Label::as_returning())
            .get_result(conn)
            .map_err(error("Label")))
    }

    fn save_label(&mut self, id: LabelId, details: &LabelDetails) -> Result<Label> {
        let row = (
            labels::name.eq(&details.name),
            labels::color.eq(&details.color),
            labels::description.eq(&details.description),
            labels::updated_at.eq(self.now),
        );
        each_backend!(self, |conn| diesel::update(labels::table.find(id))
            .set(row)
            .returning(Label::as_returning())
            .get_result(conn)
            .map_err(error("Label")))
    }

    fn lift_label(&mut self, id: LabelId, to: Home) -> Result<Label> {
        let row = (
            labels::project_id.eq(to.project()),
            labels::namespace_id.eq(to.group()),
            labels::updated_at.eq(self.now),
        );
        each_backend!(self, |conn| diesel::update(labels::table.find(id))
            .set(row)
            .returning(Label::as_returning())
            .get_result(conn)
            .map_err(error("Label")))
    }

    fn delete_label(&mut self, id: LabelId) -> Result<bool> {
        let row = diesel::delete(labels::table.find(id));
        let gone = each_backend!(self, |conn| row.execute(conn).map_err(error("Label")))?;
        Ok(gone > 0)
    }

    fn label_priorities(
        &mut self,
        project: ProjectId,
        ids: &[LabelId],
    ) -> Result<HashMap<LabelId, i64>> {
        let rows: Vec<(LabelId, i64)> = each_backend!(self, |conn| priorities::table
            .filter(priorities::project_id.eq(project).and(priorities::label_id.one_of(ids)))
            .select((priorities::label_id, priorities::priority))
            .load(conn)
            .map_err(error("Label")))?;
        Ok(rows.into_iter().collect())
    }

    fn save_label_priority(
        &mut self,
        project: ProjectId,
        id: LabelId,
        priority: Option<i64>,
    ) -> Result<()> {
        let old = priorities::table.find((project, id));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("Label")))?;
        let Some(priority) = priority else { return Ok(()) };
        let row = (
            priorities::project_id.eq(project),
            priorities::label_id.eq(id),
            priorities::priority.eq(priority),
        );
        each_backend!(self, |conn| diesel::insert_into(priorities::table)
            .values(row)
            .execute(conn)
            .map_err(error("Label")))?;
        Ok(())
    }

    fn subscribed_labels(&mut self, user: UserId, ids: &[LabelId]) -> Result<HashSet<LabelId>> {
        let rows: Vec<LabelId> = each_backend!(self, |conn| subscriptions::table
            .filter(subscriptions::user_id.eq(user).and(subscriptions::label_id.one_of(ids)))
            .select(subscriptions::label_id)
            .load(conn)
            .map_err(error("Label")))?;
        Ok(rows.into_iter().collect())
    }

    fn subscribe_to_label(&mut self, user: UserId, id: LabelId) -> Result<bool> {
        let row = (subscriptions::user_id.eq(user), subscriptions::label_id.eq(id));
        let new = each_backend!(self, |conn| diesel::insert_into(subscriptions::table)
            .values(row)
            .on_conflict_do_nothing()
            .execute(conn)
            .map_err(error("Label")))?;
        Ok(new > 0)
    }

    fn unsubscribe_from_label(&mut self, user: UserId, id: LabelId) -> Result<bool> {
        let row = diesel::delete(subscriptions::table.find((user, id)));
        let gone = each_backend!(self, |conn| row.execute(conn).map_err(error("Label")))?;
        Ok(gone > 0)
    }
}
