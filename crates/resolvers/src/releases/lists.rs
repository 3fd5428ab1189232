//! Releases of a project, and of a milestone.

use std::sync::Arc;

use forge::release::is_open;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{
    access::FeatureAccess,
    ids::{MilestoneId, ProjectId},
};
use org::{policy::ReadProject, project::settings::SettingsStore as _};
use repo::release::{
    Release, ReleaseKey, ReleaseMilestoneStore as _, ReleaseOrder, ReleaseStore as _,
};

use super::record::release;
use crate::{
    context::Context,
    failure::failure_of,
    join::try_join_all,
    loaders::BatchLoader,
    projects::{self, ProjectRecord},
    windowed_page::{CursorOrder, WindowedPage},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup("release", |record: Arc<ProjectRecord>, arguments, context| async move {
            one(&context, record, arguments.text("tagName")?).await
        })
        .lookup("releases", |record: Arc<ProjectRecord>, arguments, context| async move {
            list(&context, record, &arguments).await
        });
}

/// The access level of releases in projects.
struct ReleaseAccess(BatchLoader<ProjectId, FeatureAccess>);

/// Whether the caller may see the releases of a project.
pub(super) async fn is_readable(
    context: &Context,
    project: &ProjectRecord,
) -> Result<bool, Failure> {
    if !project.may::<ReadProject>() {
        return Ok(false);
    }
    let loader = context.loaders.of(|db| {
        ReleaseAccess(BatchLoader::new(db, |tx, ids| {
            let found = tx.settings_by_project(ids)?.into_iter();
            Ok(found.map(|(id, settings)| (id, settings.releases_access_level)).collect())
        }))
    });
    let access = loader.0.load(project.id()).await?;
    Ok(access.is_some_and(|access| is_open(access, &project.who)))
}

async fn one(
    context: &Context,
    project: Arc<ProjectRecord>,
    tag: String,
) -> Result<Value, Failure> {
    if !is_readable(context, &project).await? {
        return Ok(Value::Null);
    }
    let id = project.id();
    let found = context.forge.db.read(move |tx| tx.find_release(id, &tag)).await;
    let found = found.map_err(failure_of)?;
    Ok(found.map_or(Value::Null, |row| release(context, project, row)))
}

/// The order, and what cursors call its value.
fn order(sort: Option<&str>) -> (ReleaseOrder, CursorOrder) {
    let (key, name) = match sort {
        Some("CREATED_ASC" | "CREATED_DESC") => (ReleaseKey::Created, "created_at"),
        _ => (ReleaseKey::Released, "released_at"),
    };
    let ascending = sort.is_some_and(|sort| sort.ends_with("_ASC"));
    (ReleaseOrder { key, ascending }, CursorOrder::Number(name))
}

async fn list(
    context: &Context,
    project: Arc<ProjectRecord>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let (order, cursors) = order(arguments.maybe_enum("sort").as_deref());
    let page = WindowedPage::new(arguments.page()?, cursors)?;
    if !is_readable(context, &project).await? {
        return Ok(Value::Null);
    }
    let (id, asked, counts) = (project.id(), page.clone(), arguments.counts());
    let read = context
        .forge
        .db
        .read(move |tx| asked.read(counts, |window, part| tx.releases_in(id, order, window, part)));
    let found = read.await.map_err(failure_of)?;
    let position = |row: &Release| order.position(row);
    Ok(page.connection(found, position, |row| release(context, project.clone(), row)).into())
}

/// The releases that complete milestones.
struct MilestoneReleases(BatchLoader<MilestoneId, Arc<Vec<Release>>>);

/// The releases that complete a milestone, of projects whose releases the caller may see, the newest first.
///
/// # Errors
/// When the database failed.
pub(crate) async fn of_milestone(
    context: &Context,
    id: MilestoneId,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let loader = context.loaders.of(|db| {
        MilestoneReleases(BatchLoader::new(db, |tx, ids| {
            let found = tx.releases_of_milestones(ids)?.into_iter();
            Ok(found.map(|(milestone, rows)| (milestone, Arc::new(rows))).collect())
        }))
    });
    let rows = loader.0.load(id).await?.unwrap_or_default();
    let values = rows.iter().map(|row| async move {
        let Some(project) = projects::record_of(context, row.project_id).await? else {
            return Ok(None);
        };
        let is_readable = is_readable(context, &project).await?;
        Ok::<_, Failure>(is_readable.then(|| release(context, project, row.clone())))
    });
    let readable = try_join_all(values).await?.into_iter().flatten().collect();
    Ok(Connection::of_list(&page, readable).into())
}
