//! The job token scope of a project.

use ci::{
    job_token_scope::actions,
    policy::{ChangeJobTokenScope, ReadJobTokenScope},
};
use db::Tx;
use entities::{
    ci::job_token_scope::{
        JobTokenGroupEntity, JobTokenProjectEntity, JobTokenScopeEntity, ListedGroupEntity,
    },
    org::project::BasicProject,
};
use forge::job_token::set_inbound;
use kernel::{
    Actor,
    ids::{NamespaceId, ProjectId},
};
use org::{
    access::{IdOrPath, locate_group, locate_project, standings_of_one},
    hierarchy::known_groups,
    project::{Detail, settings::SettingsStore as _, store::ProjectStore as _, view},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Job token scope" at "/projects/{id}/job_token_scope";
    GET    ""                                     => show           : ReadJobTokenScope,
    PATCH  ""                                     => update         : ChangeJobTokenScope,
    GET    "/allowlist"                           => projects       : ReadJobTokenScope,
    POST   "/allowlist"                           => add_project    : ChangeJobTokenScope,
    DELETE "/allowlist/{target_project_id}"       => remove_project : ChangeJobTokenScope,
    GET    "/groups_allowlist"                    => groups         : ReadJobTokenScope,
    POST   "/groups_allowlist"                    => add_group      : ChangeJobTokenScope,
    DELETE "/groups_allowlist/{target_group_id}"  => remove_group   : ChangeJobTokenScope,
}

async fn show(app: App, call: Call<ReadJobTokenScope>) -> ApiResult<Json<JobTokenScopeEntity>> {
    let project = call.grant.project();
    let settings = app.db.read(move |tx| tx.project_settings(project)).await?;
    Ok(Json(JobTokenScopeEntity {
        inbound_enabled: settings.ci_inbound_job_token_scope_enabled,
        outbound_enabled: settings.ci_job_token_scope_enabled,
    }))
}

params! {
    pub struct ChangeScope {
        /// Whether job tokens of other projects are limited to an allowlist.
        enabled: bool,
    }
}

async fn update(app: App, call: Call<ChangeJobTokenScope, ChangeScope>) -> ApiResult<NoContent> {
    let (grant, enabled) = (call.grant, call.params.enabled);
    app.db.write(move |tx| set_inbound(tx, &grant, enabled)).await?;
    Ok(NoContent)
}

/// Lists the project itself first, then those that it lists, as far as the caller may know of them.
async fn projects(
    app: App,
    call: Call<ReadJobTokenScope, OnlyPage>,
) -> ApiResult<PagedList<BasicProject>> {
    let (grant, page) = (call.grant, call.page);
    let found = app.db.read(move |tx| {
        let (listed, actor) = (actions::projects(tx, &grant)?, grant.actor());
        let seen = standings_of_one::in_projects(tx, actor, &listed)?;
        let page = page.slice(listed.into_iter().filter(|id| seen.contains_key(id)).collect());
        page.try_map_all(|ids| shown_in_order(tx, actor, &ids))
    });
    Ok(PagedList(found.await?.map(|shown| BasicProject::new(&app.urls, &shown))))
}

fn shown_in_order(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> kernel::Result<Vec<view::ProjectView>> {
    let mut projects = tx.projects_by_id(ids)?;
    projects.sort_unstable_by_key(|project| ids.iter().position(|id| *id == project.id));
    view::page(tx, actor, projects, Detail::Basic)
}

params! {
    pub struct AddProject {
        /// A project that may access this one with job tokens.
        target_project_id: ProjectId,
    }
}

async fn add_project(
    app: App,
    call: Call<ChangeJobTokenScope, AddProject>,
) -> ApiResult<Created<JobTokenProjectEntity>> {
    let (grant, target) = (call.grant, call.params.target_project_id);
    let own = grant.project();
    let added = app.db.write(move |tx| {
        locate_project(tx, grant.actor(), &IdOrPath::Id(target.0))?;
        actions::add_project(tx, &grant, target)
    });
    added.await?;
    Ok(Created(JobTokenProjectEntity { source_project_id: own.0, target_project_id: target.0 }))
}

async fn remove_project(
    app: App,
    call: Call<ChangeJobTokenScope, AddProject>,
) -> ApiResult<NoContent> {
    let (grant, target) = (call.grant, call.params.target_project_id);
    let removed = app.db.write(move |tx| {
        let actor = grant.actor();
        let seen = |tx: &mut Tx<'_>| locate_project(tx, actor, &IdOrPath::Id(target.0)).map(drop);
        actions::remove_project(tx, &grant, target, seen)
    });
    removed.await?;
    Ok(NoContent)
}

/// The groups that the project lists, as far as the caller may know of them.
async fn groups(
    app: App,
    call: Call<ReadJobTokenScope, OnlyPage>,
) -> ApiResult<PagedList<ListedGroupEntity>> {
    let (grant, page) = (call.grant, call.page);
    let found = app.db.read(move |tx| {
        let listed = actions::groups(tx, &grant)?;
        known_groups(tx, grant.actor(), &listed)
    });
    let page = page.slice(found.await?);
    Ok(PagedList(page.map(|group| ListedGroupEntity::new(&app.urls, &group))))
}

params! {
    pub struct AddGroup {
        /// A group whose projects may access this one with job tokens.
        target_group_id: NamespaceId,
    }
}

async fn add_group(
    app: App,
    call: Call<ChangeJobTokenScope, AddGroup>,
) -> ApiResult<Created<JobTokenGroupEntity>> {
    let (grant, target) = (call.grant, call.params.target_group_id);
    let own = grant.project();
    let added = app.db.write(move |tx| {
        locate_group(tx, grant.actor(), &IdOrPath::Id(target.0))?;
        actions::add_group(tx, &grant, target)
    });
    added.await?;
    Ok(Created(JobTokenGroupEntity { source_project_id: own.0, target_group_id: target.0 }))
}

async fn remove_group(app: App, call: Call<ChangeJobTokenScope, AddGroup>) -> ApiResult<NoContent> {
    let (grant, target) = (call.grant, call.params.target_group_id);
    let removed = app.db.write(move |tx| {
        let actor = grant.actor();
        let seen = |tx: &mut Tx<'_>| locate_group(tx, actor, &IdOrPath::Id(target.0)).map(drop);
        actions::remove_group(tx, &grant, target, seen)
    });
    removed.await?;
    Ok(NoContent)
}
