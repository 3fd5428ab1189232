//! Lists of projects in the order in which they were made.

use graphql::{Failure, Page, Value};
use kernel::ids::ProjectId;
use org::project::{
    Project,
    list::{Order, OrderBy, ProjectFilter, ProjectLists as _, Sort},
};

use super::record::{project, record_of};
use crate::{
    context::Context,
    failure::failure_of,
    keyset_list::{Bounds, KeysetList, ListPart, ReadDirection, id_cursor, id_of},
};

/// A page of projects, the newest or the oldest first, of which those are left out that the caller does not see; with
/// the length of the whole list where it `counts`.
///
/// # Errors
/// For a cursor of another list, and when the database failed.
pub async fn connection_by_id(
    context: &Context,
    page: &Page,
    (filter, sort): (ProjectFilter, Sort),
    counts: bool,
) -> Result<Value, Failure> {
    let (actor, window, bounds) = (context.actor(), page.clone(), Bounds::of(page, id_of)?);
    let found = context.forge.db.read(move |tx| {
        KeysetList::read(&window, &bounds, (counts, ReadDirection::BothWays), |part| {
            let (filter, order) = part_of(&filter, sort, &part);
            tx.projects(actor, &filter, order, part.page)
        })
    });
    shown(context, page, found.await.map_err(failure_of)?).await
}

/// A page of projects that were read already, the newest first.
///
/// # Errors
/// As [`connection_by_id`].
pub async fn connection_of(
    context: &Context,
    page: &Page,
    all: &[Project],
) -> Result<Value, Failure> {
    let bounds = Bounds::of(page, id_of)?;
    let found = KeysetList::read(page, &bounds, (true, ReadDirection::BothWays), |part| {
        let after = part.bounds.after.unwrap_or(i64::MAX);
        let before = part.bounds.before.unwrap_or_default();
        let rows = all.iter().filter(|row| row.id.0 < after && row.id.0 > before).cloned();
        let mut rows: Vec<Project> = rows.collect();
        if part.reversed {
            rows.reverse();
        }
        Ok(part.page.slice(rows))
    });
    shown(context, page, found.map_err(failure_of)?).await
}

async fn shown(
    context: &Context,
    page: &Page,
    found: KeysetList<Project>,
) -> Result<Value, Failure> {
    let load =
        |row: Project| async move { Ok::<_, Failure>((row.id, record_of(context, row.id).await?)) };
    let found = found.load_each(load).await?;
    let cursor = |(id, _): &(ProjectId, Option<_>)| id_cursor(id.0);
    Ok(found.connection(page, cursor, |(_, found)| found.map_or(Value::Null, project)).into())
}

fn part_of(filter: &ProjectFilter, sort: Sort, part: &ListPart<'_, i64>) -> (ProjectFilter, Order) {
    let (after, before) = (part.bounds.after, part.bounds.before);
    let (id_after, id_before) = match sort {
        Sort::Ascending => (after, before),
        Sort::Descending => (before, after),
    };
    let sort = match (sort, part.reversed) {
        (Sort::Ascending, false) | (Sort::Descending, true) => Sort::Ascending,
        _ => Sort::Descending,
    };
    let filter = ProjectFilter { id_after, id_before, ..filter.clone() };
    (filter, Order { by: OrderBy::Id, sort })
}
