//! A project's pipelines.

use ci::{
    Status,
    pipeline::{NewestOfRefs, PipelineFilter, PipelineOrder, Source, actions},
    policy::ReadPipelines,
};
use forge::ports::ci::Projects;
use kernel::{Error, Grant, Result, Ts, ids::PipelineId};
use org::user::store::UserStore;
use repo::git::RefName;

use crate::{
    app::App,
    entities::ci::pipeline::{FullPipelineEntity, PipelineEntity},
    error::ApiResult,
    extract::{Call, Sort},
    param_enums, params,
    present::{Json, PagedList},
    routes,
};

routes! { "Pipelines" at "/projects/{id}";
    GET "/pipelines"               => list   : ReadPipelines,
    GET "/pipelines/latest"        => latest : ReadPipelines,
    GET "/pipeline/latest"         => latest : ReadPipelines,
    POST "/pipelines/latest"       => latest : ReadPipelines,
    POST "/pipeline/latest"        => latest : ReadPipelines,
    GET "/pipelines/{pipeline_id}" => show   : ReadPipelines,
}

kernel::text_enum! {
    /// Which pipelines are wanted: by how far they are, or of each branch or tag the newest.
    pub enum Scope {
        Running = "running",
        Pending = "pending",
        Finished = "finished",
        Branches = "branches",
        Tags = "tags",
    }
}
param_enums! { Scope, Status, Source, PipelineOrder }

params! {
    pub struct ListPipelines: paged {
        scope: Option<Scope>,
        status: Option<Status>,
        source: Option<Source>,
        r#ref: Option<String>,
        sha: Option<String>,
        /// Only pipelines with (true) or without (false) configuration errors.
        yaml_errors: Option<bool>,
        /// Username of the user who triggered the pipeline.
        username: Option<String>,
        updated_before: Option<Ts>,
        updated_after: Option<Ts>,
        order_by: PipelineOrder = PipelineOrder::Id,
        sort: Sort = Sort::Desc,
    }
}

impl ListPipelines {
    /// The statuses that fit; `None` where the two that were asked for contradict each other.
    fn statuses(&self) -> Option<Vec<Status>> {
        let of_scope = match self.scope {
            Some(Scope::Running) => vec![Status::Running],
            Some(Scope::Pending) => vec![Status::Pending],
            Some(Scope::Finished) => vec![Status::Success, Status::Failed, Status::Canceled],
            Some(Scope::Branches | Scope::Tags) | None => Vec::new(),
        };
        match self.status {
            None => Some(of_scope),
            Some(status) if of_scope.is_empty() || of_scope.contains(&status) => Some(vec![status]),
            Some(_) => None,
        }
    }

    /// Which pipelines are wanted, by the branches and tags that are there and the ID of the user.
    pub(crate) async fn into_filter(
        self,
        app: &App,
        grant: &Grant<ReadPipelines>,
    ) -> Result<PipelineFilter> {
        let newest = newest(app, grant, self.scope).await?;
        let users = match self.username.clone().filter(|name| !name.is_empty()) {
            Some(name) => {
                let found = app.db.read(move |tx| tx.find_user_named(&name)).await?;
                Some(Vec::from_iter(found.map(|user| user.id)))
            }
            None => None,
        };
        let statuses = self.statuses();
        let contradiction = statuses.is_none();
        Ok(PipelineFilter {
            statuses: statuses.unwrap_or_default(),
            source: self.source,
            ref_name: self.r#ref,
            sha: self.sha,
            newest,
            yaml_errors: self.yaml_errors,
            users: if contradiction { Some(Vec::new()) } else { users },
            updated_before: self.updated_before,
            updated_after: self.updated_after,
            id_before: None,
            id_after: None,
            order: self.order_by,
            descending: self.sort == Sort::Desc,
        })
    }
}

async fn list(
    app: App,
    call: Call<ReadPipelines, ListPipelines>,
) -> ApiResult<PagedList<PipelineEntity>> {
    let (grant, page) = (call.grant, call.page);
    let filter = call.params.into_filter(&app, &grant).await?;
    let url = app.urls.at(&grant.facts().full_path);
    let listed = app.db.read(move |tx| actions::list(tx, &grant, &Projects, &filter, page));
    Ok(PagedList(listed.await?.map(|pipeline| PipelineEntity::new(&pipeline, &url))))
}

/// The branches or tags that are there, where each is to show its newest pipeline.
async fn newest(
    app: &App,
    grant: &Grant<ReadPipelines>,
    scope: Option<Scope>,
) -> Result<Option<NewestOfRefs>> {
    let tags = match scope {
        Some(Scope::Branches) => false,
        Some(Scope::Tags) => true,
        _ => return Ok(None),
    };
    let read = app.git_read(grant.project(), move |reader| {
        let found = if tags { reader.tag_refs()? } else { reader.branches()? };
        Ok(found.into_iter().map(|found| found.name.short().into_owned()).collect())
    });
    Ok(Some(NewestOfRefs { tags, names: read.await? }))
}

params! {
    pub struct OnePipeline {
        pipeline_id: PipelineId,
    }
}

async fn show(
    app: App,
    call: Call<ReadPipelines, OnePipeline>,
) -> ApiResult<Json<FullPipelineEntity>> {
    let (grant, id, urls) = (call.grant, call.params.pipeline_id, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let pipeline = actions::read(tx, &grant, &Projects, id)?;
        FullPipelineEntity::load(tx, &urls, grant.facts(), &pipeline)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct LatestPipeline {
        /// Branch. Default: the default branch.
        r#ref: Option<String>,
    }
}

/// What the tip of a branch came to; a branch without a pipeline there is refused.
async fn latest(
    app: App,
    call: Call<ReadPipelines, LatestPipeline>,
) -> ApiResult<Json<FullPipelineEntity>> {
    let (grant, urls) = (call.grant, app.urls.clone());
    let named = call.params.r#ref.filter(|name| !name.is_empty());
    let branch = named.or_else(|| grant.facts().default_branch.clone()).ok_or(Error::forbidden())?;
    let name = RefName::branch(&branch).map_err(|_no_name| Error::forbidden())?;
    let tip = app.git_read(grant.project(), move |reader| {
        Ok(reader.find_reference(&name)?.and_then(|found| found.commit))
    });
    let tip = tip.await?.ok_or(Error::forbidden())?.to_string();
    let shown = app.db.read(move |tx| {
        let pipeline = actions::newest_at(tx, &grant, &Projects, &branch, &tip)?;
        FullPipelineEntity::load(tx, &urls, grant.facts(), &pipeline)
    });
    Ok(Json(shown.await?))
}
