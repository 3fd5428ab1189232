//! Runners of the installation, of groups and of projects.

use std::sync::Arc;

use db::{Tx, keyset::ListWindow};
use forge::{
    ports::runners::Roles,
    runner::lists::{self, RunnerMembership},
};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{
    Grant, Result as KernelResult, access::Administrate, ids::RunnerId, page::PageRequest,
};
use runners::{
    policy::{ReadGroupRunners, ReadProjectRunners, UseRunners},
    runner::{Runner, RunnerFilter, RunnerOrder, RunnerType, StatusFilter, actions},
};

use super::runner::{of_id, runner};
use crate::{
    context::Context,
    failure::visible,
    groups::GroupRecord,
    pipelines::{
        LocatedProject,
        located_project::{group_grant, instance_grant},
        value_of,
    },
    projects::ProjectRecord,
    windowed_page::{CursorOrder, WindowedPage},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .query()
        .lookup("runner", |_, arguments, context| async move {
            of_id(&context, RunnerId(arguments.gid("id", &["Ci::Runner"])?)).await
        })
        .lookup("runners", |_, arguments, context| async move {
            everywhere(&arguments, &context).await
        });
    let _ = registry.object::<ProjectRecord>("Project").lookup(
        "runners",
        |record: Arc<ProjectRecord>, arguments, context| async move {
            let grant = visible(LocatedProject::of(&record).grant::<ReadProjectRunners>())?;
            let (Some(grant), Some(filter)) = (grant, filter(&arguments)) else {
                return Ok(Connection::empty().into());
            };
            listed(&context, &arguments, filter, move |tx, filter, part| {
                lists::of_project(tx, &grant, filter, part)
            })
            .await
        },
    );
    let _ = registry.object::<GroupRecord>("Group").lookup(
        "runners",
        |record: Arc<GroupRecord>, arguments, context| async move {
            let grant = match group_grant::<ReadGroupRunners>(&context, record.id()).await {
                Ok(grant) => Some(grant),
                Err(Failure::NotFoundOrForbidden) => None,
                Err(failure) => return Err(failure),
            };
            let (Some(grant), Some(filter)) = (grant, filter(&arguments)) else {
                return Ok(Connection::empty().into());
            };
            let membership = match arguments.maybe_enum("membership").as_deref() {
                Some("DIRECT") => RunnerMembership::Direct,
                Some("ALL_AVAILABLE") => RunnerMembership::AllAvailable,
                _ => RunnerMembership::Descendants,
            };
            listed(&context, &arguments, filter, move |tx, filter, part| {
                lists::of_group(tx, &grant, membership, filter, part)
            })
            .await
        },
    );
}

/// Which runners are wanted; nothing where none can fit.
fn filter(arguments: &Arguments) -> Option<RunnerFilter> {
    // Which version a runner could be upgraded to is not known.
    if arguments.maybe_enum("upgradeStatus").is_some() {
        return None;
    }
    let paused = arguments.maybe_bool("paused");
    let sort = arguments.maybe_enum("sort").unwrap_or_else(|| "CREATED_DESC".to_owned());
    let order = match sort.starts_with("CONTACTED") {
        true => RunnerOrder::ContactedAt,
        false => RunnerOrder::CreatedAt,
    };
    Some(RunnerFilter {
        runner_type: value_of::<RunnerType>(arguments.maybe_enum("type")),
        statuses: value_of::<StatusFilter>(arguments.maybe_enum("status")).into_iter().collect(),
        paused: paused.or_else(|| arguments.maybe_bool("active").map(|active| !active)),
        tags: arguments.texts("tagList"),
        search: arguments.maybe_text("search"),
        order,
        descending: sort.ends_with("_DESC"),
        window: ListWindow::default(),
    })
}

/// A page of a list of runners, which `list` reads.
async fn listed(
    context: &Context,
    arguments: &Arguments,
    filter: RunnerFilter,
    list: impl Fn(&mut Tx<'_>, &RunnerFilter, PageRequest) -> KernelResult<kernel::page::Page<Runner>>
    + Clone
    + Send
    + Sync
    + 'static,
) -> Result<Value, Failure> {
    let order = match filter.order {
        RunnerOrder::CreatedAt => CursorOrder::Id,
        RunnerOrder::ContactedAt => CursorOrder::Number("contacted_at"),
    };
    let page = WindowedPage::new(arguments.page()?, order)?;
    let (asked, wanted, counts) = (page.clone(), filter.clone(), arguments.counts());
    let read = context.forge.db.read(move |tx| {
        asked.read(counts, |window, part| {
            let filter = RunnerFilter { window: window.clone(), ..wanted.clone() };
            list(tx, &filter, part)
        })
    });
    let Some(found) = visible(read.await)? else { return Ok(Value::Null) };
    let position = |row: &Runner| filter.position(row);
    Ok(page.connection(found, position, |row| runner(context, Arc::new(row))).into())
}

/// All runners for administrators; for others those that they may manage.
async fn everywhere(arguments: &Arguments, context: &Context) -> Result<Value, Failure> {
    let Some(filter) = filter(arguments) else { return Ok(Connection::empty().into()) };
    let all: Option<Grant<Administrate>> = visible(instance_grant(context))?;
    let Some(own) = visible(instance_grant::<UseRunners>(context))? else {
        return Ok(Value::Null);
    };
    listed(context, arguments, filter, move |tx, filter, part| match &all {
        Some(all) => actions::list_all(tx, all, filter, part),
        None => actions::list_own(tx, &own, &Roles, filter, part),
    })
    .await
}
