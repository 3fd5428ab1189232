//! A release.

use std::sync::Arc;

use entities::repo::release::encoded;
use forge::{release::release_milestones, urls::Urls};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{
    Ability as _, Ts,
    ids::{MilestoneId, ReleaseId},
};
use repo::{
    policy::{PushCode, ReadCode},
    release::{
        Release,
        link::{ReleaseLink, ReleaseLinkStore as _},
    },
};
use review::policy::{ReadIssues, ReadMergeRequests, ReadMilestones};

use crate::{
    context::Context,
    join::try_join_all,
    loaders::BatchLoader,
    milestones, people,
    projects::ProjectRecord,
    repository,
    values::{markdown, path_of, time},
};

/// A release of a project whose releases the caller may see.
pub(super) struct ReleaseRecord {
    pub(super) project: Arc<ProjectRecord>,
    pub(super) row: Release,
    now: Ts,
}

type Record = Arc<ReleaseRecord>;

pub(super) fn release(context: &Context, project: Arc<ProjectRecord>, row: Release) -> Value {
    let now = context.forge.db.clock().now();
    Value::object("Release", Arc::new(ReleaseRecord { project, row, now }))
}

/// Loaders of releases.
pub(super) struct ReleaseLoaders {
    /// The newest first.
    pub(super) links: BatchLoader<ReleaseId, Arc<Vec<ReleaseLink>>>,
    /// By due date, start date and title.
    milestones: BatchLoader<ReleaseId, Arc<Vec<MilestoneId>>>,
}

impl ReleaseLoaders {
    pub(super) fn of(context: &Context) -> Arc<Self> {
        context.loaders.of(|db| Self {
            links: BatchLoader::new(db, |tx, ids| {
                let found = tx.links_of_releases(ids)?.into_iter();
                Ok(found.map(|(release, links)| (release, Arc::new(links))).collect())
            }),
            milestones: BatchLoader::new(db, |tx, ids| {
                let found = release_milestones(tx, ids)?.into_iter();
                let ids = found.map(|(release, rows)| {
                    (release, Arc::new(rows.iter().map(|row| row.id).collect()))
                });
                Ok(ids.collect())
            }),
        })
    }
}

impl ReleaseLoaders {
    /// Reads what belongs to a release, so that the rest of the request has it when the release is gone.
    pub(super) async fn keep(&self, id: ReleaseId) -> Result<(), Failure> {
        self.links.load(id).await?;
        self.milestones.load(id).await?;
        Ok(())
    }
}

impl ReleaseRecord {
    pub(super) fn has_code(&self) -> bool {
        self.project.may::<ReadCode>()
    }

    /// The address of its page.
    pub(super) fn page(&self) -> String {
        format!("{}/-/releases/{}", self.project.web_url(), encoded(&self.row.tag))
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ReleaseRecord>("Release")
        .plain("createdAt", |record| time(record.row.created_at))
        .plain("description", |record| record.row.description.clone().into())
        .plain("historicalRelease", |record| {
            (record.row.released_at < record.row.created_at).into()
        })
        .plain("id", |record| Value::gid("Release", record.row.id))
        .plain("links", links)
        .plain("name", |record| record.row.name.as_str().into())
        .plain("releasedAt", |record| time(record.row.released_at))
        .plain("tagName", |record| record.row.tag.as_str().into())
        .plain("upcomingRelease", |record| (record.row.released_at > record.now).into())
        .lookup("assets", |record: Record, _, _| async move {
            Ok(Value::object("ReleaseAssets", record))
        })
        .lookup("author", |record: Record, _, context| async move {
            match record.row.author_id {
                Some(id) => people::of_id(&context, id).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("commit", |record: Record, _, context| async move {
            match record.row.sha.as_str() {
                "" => Ok(Value::Null),
                sha => repository::commit_of(&context, record.project.id(), sha).await,
            }
        })
        .lookup("descriptionHtml", |record: Record, _, context| async move {
            let project = Some(record.project.id());
            markdown(&context.forge, record.row.description.as_deref(), project).await
        })
        .lookup("evidences", |_: Record, arguments, _| async move {
            Ok(Connection::of_list(&arguments.page()?, Vec::new()).into())
        })
        .lookup("milestones", |record: Record, arguments, context| async move {
            milestones_of(&record, &arguments, &context).await
        })
        .lookup("tagPath", |record: Record, _, context| async move {
            let tag = Urls::path_text(&record.row.tag);
            let path = format!("{}/-/tags/{tag}", record.project.web_url());
            Ok(record.has_code().then(|| path_of(&context.forge.urls, &path)).into())
        });
}

/// Pages about the release, and lists of what belongs to its milestones.
fn links(record: &ReleaseRecord) -> Value {
    let page = record.page();
    let tag = encoded(&record.row.tag);
    let list = |kind: &str, state: &str| {
        let home = record.project.web_url();
        format!("{home}/-/{kind}?release_tag={tag}&scope=all&state={state}")
    };
    let issues = |state| record.project.may::<ReadIssues>().then(|| list("issues", state));
    let changes =
        |state| record.project.may::<ReadMergeRequests>().then(|| list("merge_requests", state));
    Value::fields(
        "ReleaseLinks",
        [
            ("closedIssuesUrl", issues("closed").into()),
            ("closedMergeRequestsUrl", changes("closed").into()),
            ("editUrl", record.project.may::<PushCode>().then(|| format!("{page}/edit")).into()),
            ("mergedMergeRequestsUrl", changes("merged").into()),
            ("openedIssuesUrl", issues("opened").into()),
            ("openedMergeRequestsUrl", changes("opened").into()),
            ("selfUrl", page.into()),
        ],
    )
}

async fn milestones_of(
    record: &ReleaseRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    // As in REST, whoever reads the release is told of its milestones, also without a credential.
    if !ReadMilestones::allows(&record.project.who) {
        return Ok(Value::Null);
    }
    let found = ReleaseLoaders::of(context).milestones.load(record.row.id).await?;
    let ids = found.unwrap_or_default();
    let values = ids.iter().map(|id| milestones::of_id(context, *id));
    Ok(Connection::of_list(&page, try_join_all(values).await?).into())
}
