//! The rules by which a project's merge requests are approved.

use entities::review::approval_rule::ProjectRuleEntity;
use forge::ports::approvals::Approvers;
use review::{
    approval::rules,
    policy::{AdminApprovals, ReadApprovals},
};

use super::approval_params::{
    ChangeApprovalRule, CreateApprovalRule, OneApprovalRule, RuleHolders,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Approval rules" at "/projects/{id}/approval_rules";
    GET    ""                    => list   : ReadApprovals,
    GET    "/{approval_rule_id}" => show   : ReadApprovals,
    POST   ""                    => create : AdminApprovals,
    PUT    "/{approval_rule_id}" => update : AdminApprovals,
    DELETE "/{approval_rule_id}" => remove : AdminApprovals,
}

async fn list(
    app: App,
    call: Call<ReadApprovals, OnlyPage>,
) -> ApiResult<PagedList<ProjectRuleEntity>> {
    let (grant, page, urls) = (call.grant, call.page, app.urls.clone());
    let listed = app.db.read(move |tx| {
        let found = rules::list(tx, &grant, page)?;
        let (actor, project) = (grant.actor(), grant.project());
        found.try_map_all(|rules| ProjectRuleEntity::all(tx, &urls, actor, project, &rules))
    });
    Ok(PagedList(listed.await?))
}

async fn show(
    app: App,
    call: Call<ReadApprovals, OneApprovalRule>,
) -> ApiResult<Json<ProjectRuleEntity>> {
    let (grant, id, urls) = (call.grant, call.params.approval_rule_id, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let rule = rules::read(tx, &grant, id)?;
        ProjectRuleEntity::one(tx, &urls, grant.actor(), grant.project(), rule)
    });
    Ok(Json(shown.await?))
}

async fn create(
    app: App,
    call: Call<AdminApprovals, (CreateApprovalRule, RuleHolders)>,
) -> ApiResult<Created<ProjectRuleEntity>> {
    let (grant, (params, named), urls) = (call.grant, call.params, app.urls.clone());
    let new = params.into_new(named);
    let made = app.db.write(move |tx| {
        let rule = rules::create(tx, &grant, &Approvers, &Approvers, &new)?;
        ProjectRuleEntity::one(tx, &urls, grant.actor(), grant.project(), rule)
    });
    Ok(Created(made.await?))
}

async fn update(
    app: App,
    call: Call<AdminApprovals, (OneApprovalRule, (ChangeApprovalRule, RuleHolders))>,
) -> ApiResult<Json<ProjectRuleEntity>> {
    let (grant, (one, (params, named)), urls) = (call.grant, call.params, app.urls.clone());
    let (id, change) = (one.approval_rule_id, params.into_change(named));
    let changed = app.db.write(move |tx| {
        let rule = rules::update(tx, &grant, &Approvers, &Approvers, id, &change)?;
        ProjectRuleEntity::one(tx, &urls, grant.actor(), grant.project(), rule)
    });
    Ok(Json(changed.await?))
}

async fn remove(app: App, call: Call<AdminApprovals, OneApprovalRule>) -> ApiResult<NoContent> {
    let (since, id) = (call.unmodified_since(), call.params.approval_rule_id);
    app.db.write(move |tx| rules::remove(tx, &call.grant, &Approvers, id, since)).await?;
    Ok(NoContent)
}
