//! Pipelines and jobs of projects, merge requests and commits.

use std::sync::Arc;

use ci::{
    Status,
    job::{Job, JobFilter, JobKind, JobListStore as _, actions as jobs},
    pipeline::{
        Pipeline, PipelineFilter, PipelineListStore as _, PipelineOrder, PipelineScope,
        PipelineStore as _, Source, actions,
    },
    policy::{ReadJobs, ReadPipelines},
};
use forge::{pipeline::PipelineQuery, ports::ci::Projects};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{
    Grant, TextEnum as _, Ts,
    access::Administrate,
    ids::{JobId, PipelineId},
    page::{PageRequest, Total},
};

use super::{
    enum_names::{value_of, values_of},
    job::{job_of_id, jobs_of_rows},
    loaders::CiLoaders,
    located_project::{LocatedProject, instance_grant},
    pipeline::pipeline,
};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    keyset_list::{Bounds, KeysetList, ListPart, ReadDirection, id_cursor, id_of},
    projects::ProjectRecord,
    repository::CommitRecord,
    review::merge_request::MergeRequestRecord,
};

/// Pipelines of a merge request that are listed.
const OF_MERGE_REQUEST: usize = 500;
/// Pipelines of each kind that are counted.
const COUNTED: i64 = 1_000;
/// Jobs that a list counts, and one more where there are more.
const COUNTED_JOBS: i64 = 1_000;

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry.query().lookup("jobs", |_, arguments, context| async move {
        all_jobs(&arguments, &context).await
    });
    register_project(registry);
    register_merge_request(registry);
    let _ = registry.object::<CommitRecord>("Commit").lookup(
        "pipelines",
        |record: Arc<CommitRecord>, arguments, context| async move {
            of_commit(&record, &arguments, &context).await
        },
    );
}

fn register_project(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup("pipeline", |record: Arc<ProjectRecord>, arguments, context| async move {
            one_pipeline(&LocatedProject::of(&record), &arguments, &context).await
        })
        .lookup("pipelines", |record: Arc<ProjectRecord>, arguments, context| async move {
            pipelines(&LocatedProject::of(&record), &arguments, &context).await
        })
        .lookup("pipelineCounts", |record: Arc<ProjectRecord>, arguments, context| async move {
            counts(&LocatedProject::of(&record), &arguments, &context).await
        })
        .lookup("job", |record: Arc<ProjectRecord>, arguments, context| async move {
            one_job(&LocatedProject::of(&record), &arguments, &context).await
        })
        .lookup("jobs", |record: Arc<ProjectRecord>, arguments, context| async move {
            project_jobs(&LocatedProject::of(&record), &arguments, &context).await
        })
        .once("jobs");
}

fn register_merge_request(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<MergeRequestRecord>("MergeRequest")
        .page_limit("pipelines", OF_MERGE_REQUEST)
        .lookup("headPipeline", |record: Arc<MergeRequestRecord>, _, context| async move {
            let (Some(source), Some(head)) = (record.row.source_project_id, &record.row.head_sha)
            else {
                return Ok(Value::Null);
            };
            let found = CiLoaders::of(&context).newest.load((source, head.clone())).await?;
            match found {
                Some(row) => super::pipeline::shown(&context, row).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("pipelines", |record: Arc<MergeRequestRecord>, arguments, context| async move {
            let page = arguments.page_up_to(OF_MERGE_REQUEST)?;
            let loaders = CiLoaders::of(&context);
            let all = loaders.of_merge_request(record.row.clone()).await?;
            let Some(source) = record.row.source_project_id else {
                return Ok(Connection::empty().into());
            };
            let Some(home) = loaders.shown_homes.load(source).await? else {
                return Ok(Connection::empty().into());
            };
            let Some(filter) = filter(&home, &arguments, &context).await? else {
                return Ok(Connection::empty().into());
            };
            let chosen = filter.choose(all.to_vec()).into_iter();
            let values = chosen.map(|row| pipeline(home.clone(), row)).collect();
            Ok(Connection::of_list(&page, values).into())
        });
}

/// Which pipelines are wanted; nothing where no pipeline can fit, or the caller sees none.
async fn filter(
    home: &LocatedProject,
    arguments: &Arguments,
    context: &Context,
) -> Result<Option<PipelineFilter>, Failure> {
    let Some(grant) = visible(home.grant::<ReadPipelines>())? else { return Ok(None) };
    let source = match arguments.maybe_text("source") {
        None => None,
        Some(name) => match Source::find(&name) {
            None => return Ok(None),
            found => found,
        },
    };
    let wanted = PipelineQuery {
        scope: scope(arguments),
        status: value_of::<Status>(arguments.maybe_enum("status")),
        source,
        ref_name: arguments.maybe_text("ref"),
        sha: arguments.maybe_text("sha"),
        yaml_errors: None,
        username: arguments.maybe_text("username"),
        name: None,
        created_before: None,
        created_after: None,
        updated_before: moment(arguments, "updatedBefore")?.map(Ts::end_of_shown_second),
        updated_after: moment(arguments, "updatedAfter")?,
        order: PipelineOrder::Id,
        descending: true,
    };
    Ok(Some(wanted.into_filter(&context.forge, &grant).await.map_err(failure_of)?))
}

/// The scope; where none is given, that of the kind of ref.
fn scope(arguments: &Arguments) -> Option<PipelineScope> {
    let of_refs = || match arguments.maybe_enum("refType").as_deref() {
        Some("HEADS") => Some(PipelineScope::Branches),
        Some("TAGS") => Some(PipelineScope::Tags),
        _ => None,
    };
    value_of(arguments.maybe_enum("scope")).or_else(of_refs)
}

/// A moment that an argument names.
pub fn moment(arguments: &Arguments, name: &str) -> Result<Option<Ts>, Failure> {
    let Some(text) = arguments.maybe_text(name) else { return Ok(None) };
    let refused = || Failure::Message(format!("\"{text}\" is not a valid time"));
    Ts::parse(&text).map(Some).ok_or_else(refused)
}

async fn pipelines(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(filter) = filter(home, arguments, context).await? else {
        return Ok(Connection::empty().into());
    };
    let grant = home.grant::<ReadPipelines>().map_err(failure_of)?;
    let (bounds, counts, asked) = (Bounds::of(&page, id_of)?, arguments.counts(), page.clone());
    let read = context.forge.db.read(move |tx| {
        KeysetList::read(&asked, &bounds, (counts, ReadDirection::BothWays), |part| {
            // The newest comes first: what is behind an element is older.
            let filter = PipelineFilter {
                id_before: part.bounds.after.map(PipelineId),
                id_after: part.bounds.before.map(PipelineId),
                descending: !part.reversed,
                ..filter.clone()
            };
            actions::list(tx, &grant, &Projects, &filter, part.page)
        })
    });
    let Some(found) = visible(read.await)? else { return Ok(Value::Null) };
    let cursor = |row: &Pipeline| id_cursor(row.id.0);
    Ok(found.connection(&page, cursor, |row| pipeline(home.clone(), row)).into())
}

async fn one_pipeline(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let (iid, sha) = (arguments.maybe_text("iid"), arguments.maybe_text("sha"));
    if iid.is_some() == sha.is_some() {
        return Err(Failure::one_of(&["iid", "sha"]));
    }
    let Some(grant) = visible(home.grant::<ReadPipelines>())? else { return Ok(Value::Null) };
    let read = context.forge.db.read(move |tx| {
        if !actions::is_shown(tx, &Projects, grant.who(), grant.project())? {
            return Ok(None);
        }
        Ok(match (iid, sha) {
            (Some(iid), None) => match iid.parse() {
                Ok(iid) => Some(tx.pipeline_numbered(grant.project(), iid)?),
                Err(_) => Some(None),
            },
            (None, Some(sha)) => Some(tx.newest_pipeline(grant.project(), &sha)?),
            _ => None,
        })
    });
    let found = read.await.map_err(failure_of)?.flatten();
    Ok(found.map_or(Value::Null, |row| pipeline(home.clone(), row)))
}

async fn counts(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(filter) = filter(home, arguments, context).await? else { return Ok(Value::Null) };
    let grant = home.grant::<ReadPipelines>().map_err(failure_of)?;
    let read = context.forge.db.read(move |tx| {
        let mut count = |statuses: &[Status]| {
            let filter = PipelineFilter { statuses: statuses.to_vec(), ..filter.clone() };
            let one = PageRequest { page: 1, per_page: 1 };
            let found = actions::list(tx, &grant, &Projects, &filter, one)?;
            Ok::<_, kernel::Error>(match found.total {
                Total::Counted(total) => total.min(COUNTED),
                Total::Uncounted { .. } => 0,
            })
        };
        Ok((
            count(&[])?,
            count(&[Status::Success, Status::Failed, Status::Canceled])?,
            count(&[Status::Pending])?,
            count(&[Status::Running])?,
        ))
    });
    let Some((all, finished, pending, running)) = visible(read.await)? else {
        return Ok(Value::Null);
    };
    Ok(Value::fields(
        "PipelineCounts",
        [
            ("all", all.into()),
            ("finished", finished.into()),
            ("pending", pending.into()),
            ("running", running.into()),
        ],
    ))
}

async fn of_commit(
    record: &CommitRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let home = LocatedProject::of(&record.project);
    let Some(home) = super::pipeline::shown_home(context, &home).await? else {
        return Ok(Value::Null);
    };
    let Some(filter) = filter(&home, arguments, context).await? else {
        return Ok(Connection::empty().into());
    };
    let key = (home.id(), record.commit.id.to_string());
    let all = CiLoaders::of(context).of_commit.load(key).await?.unwrap_or_default();
    let chosen = filter.choose(all.to_vec()).into_iter();
    let values = chosen.map(|row| pipeline(home.clone(), row)).collect();
    Ok(Connection::of_list(&page, values).into())
}

async fn one_job(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let classes = ["CommitStatus", "Ci::Build", "Ci::Bridge", "GenericCommitStatus"];
    let id = JobId(arguments.gid("id", &classes)?);
    let row = CiLoaders::of(context).jobs.load(id).await?;
    match row.filter(|row| row.job.project_id == home.id() && home.may::<ReadJobs>()) {
        Some(_) => job_of_id(context, id).await,
        None => Ok(Value::Null),
    }
}

fn job_filter(arguments: &Arguments) -> JobFilter {
    JobFilter {
        kind: JobKind::Build,
        statuses: values_of(&arguments.texts("statuses")),
        retried: true,
        before: None,
        after: None,
        oldest_first: false,
    }
}

/// The part of a list of jobs, in which the newest come first.
fn part_of(filter: &JobFilter, part: &ListPart<'_, i64>) -> JobFilter {
    JobFilter {
        before: part.bounds.after.map(JobId),
        after: part.bounds.before.map(JobId),
        oldest_first: part.reversed,
        ..filter.clone()
    }
}

async fn project_jobs(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = visible(home.grant::<ReadJobs>())? else { return Ok(Value::Null) };
    let (filter, asked, bounds) = (job_filter(arguments), page.clone(), Bounds::of(&page, id_of)?);
    let (with_artifacts, counts) = (arguments.flag("withArtifacts"), arguments.counts());
    let read = context.forge.db.read(move |tx| {
        jobs::ensure_readable(tx, &grant, &Projects)?;
        let mut list = |filter: &JobFilter, page: PageRequest| match with_artifacts {
            true => tx.project_jobs_with_artifacts(grant.project(), filter, page),
            false => tx.project_jobs(grant.project(), filter, page),
        };
        let count = match counts {
            true => Some(counted(|page| list(&filter, page))?),
            false => None,
        };
        let found = KeysetList::read(&asked, &bounds, (false, ReadDirection::BothWays), |part| {
            list(&part_of(&filter, &part), part.page)
        });
        Ok((found?, count))
    });
    let Some((found, count)) = visible(read.await)? else { return Ok(Value::Null) };
    job_connection(context, &page, found, count).await
}

/// How many jobs a list has, up to one more than are counted.
fn counted(
    mut list: impl FnMut(PageRequest) -> kernel::Result<kernel::page::Page<Job>>,
) -> kernel::Result<i64> {
    let all = list(PageRequest { page: 1, per_page: COUNTED_JOBS + 1 })?;
    Ok(i64::try_from(all.items.len()).unwrap_or(i64::MAX))
}

async fn job_connection(
    context: &Context,
    page: &graphql::Page,
    found: KeysetList<Job>,
    count: Option<i64>,
) -> Result<Value, Failure> {
    let mut values = jobs_of_rows(context, found.rows()).await?.into_iter();
    let cursor = |row: &Job| id_cursor(row.id.0);
    let shown = found.connection(page, cursor, |_| values.next().unwrap_or(Value::Null));
    Ok(count.map_or(shown.clone(), |count| shown.count(count)).into())
}

async fn all_jobs(arguments: &Arguments, context: &Context) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(_grant): Option<Grant<Administrate>> = visible(instance_grant(context))? else {
        return Ok(Value::Null);
    };
    let (filter, asked, counts) = (job_filter(arguments), page.clone(), arguments.counts());
    let bounds = Bounds::of(&page, id_of)?;
    let read = context.forge.db.read(move |tx| {
        let count = match counts {
            true => Some(counted(|page| tx.all_jobs(&filter, page))?),
            false => None,
        };
        let found = KeysetList::read(&asked, &bounds, (false, ReadDirection::BothWays), |part| {
            tx.all_jobs(&part_of(&filter, &part), part.page)
        });
        Ok((found?, count))
    });
    let (found, count) = read.await.map_err(failure_of)?;
    job_connection(context, &page, found, count).await
}
