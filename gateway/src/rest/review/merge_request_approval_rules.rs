//! The rules by which one merge request is approved.

use entities::review::approval_rule::OwnRuleEntity;
use forge::ports::approvals::Approvers;
use review::{approval::own_rules, policy::ReadMergeRequests};

use super::approval_params::{ChangeOwnRule, CreateOwnRule, OneOwnRule, RuleHolders};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Approval rules of merge requests" at "/projects/{id}/merge_requests/{merge_request_iid}/approval_rules";
    GET    ""                    => list   : ReadMergeRequests,
    GET    "/{approval_rule_id}" => show   : ReadMergeRequests,
    POST   ""                    => create : ReadMergeRequests,
    PUT    "/{approval_rule_id}" => update : ReadMergeRequests,
    DELETE "/{approval_rule_id}" => remove : ReadMergeRequests,
}

params! {
    pub struct ListOwnRules: paged {
        merge_request_iid: i64,
    }
}

async fn list(
    app: App,
    call: Call<ReadMergeRequests, ListOwnRules>,
) -> ApiResult<PagedList<OwnRuleEntity>> {
    let (grant, iid, urls) = (call.grant, call.params.merge_request_iid, app.urls.clone());
    let listed = app.db.read(move |tx| {
        let own = own_rules::list(tx, &grant, iid)?;
        OwnRuleEntity::all(tx, &urls, grant.actor(), &own)
    });
    Ok(PagedList(call.page.slice(listed.await?)))
}

async fn show(
    app: App,
    call: Call<ReadMergeRequests, OneOwnRule>,
) -> ApiResult<Json<OwnRuleEntity>> {
    let (grant, one, urls) = (call.grant, call.params, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let own = own_rules::read(tx, &grant, one.merge_request_iid, one.approval_rule_id)?;
        OwnRuleEntity::one(tx, &urls, grant.actor(), &own)
    });
    Ok(Json(shown.await?))
}

async fn create(
    app: App,
    call: Call<ReadMergeRequests, (CreateOwnRule, RuleHolders)>,
) -> ApiResult<Created<OwnRuleEntity>> {
    let (grant, (params, named), urls) = (call.grant, call.params, app.urls.clone());
    let (iid, after) = (params.merge_request_iid, params.approval_project_rule_id);
    let new = params.into_new(named);
    let made = app.db.write(move |tx| {
        let own = own_rules::create(tx, &grant, &Approvers, &Approvers, iid, &new, after)?;
        OwnRuleEntity::one(tx, &urls, grant.actor(), &own)
    });
    Ok(Created(made.await?))
}

async fn update(
    app: App,
    call: Call<ReadMergeRequests, (OneOwnRule, (ChangeOwnRule, RuleHolders))>,
) -> ApiResult<Json<OwnRuleEntity>> {
    let (grant, (one, (params, named)), urls) = (call.grant, call.params, app.urls.clone());
    let (iid, id, change) =
        (one.merge_request_iid, one.approval_rule_id, params.into_change(named));
    let changed = app.db.write(move |tx| {
        let own = own_rules::update(tx, &grant, &Approvers, &Approvers, iid, id, &change)?;
        OwnRuleEntity::one(tx, &urls, grant.actor(), &own)
    });
    Ok(Json(changed.await?))
}

async fn remove(app: App, call: Call<ReadMergeRequests, OneOwnRule>) -> ApiResult<NoContent> {
    let (since, one) = (call.unmodified_since(), call.params);
    let (iid, id) = (one.merge_request_iid, one.approval_rule_id);
    let done =
        app.db.write(move |tx| own_rules::remove(tx, &call.grant, &Approvers, iid, id, since));
    done.await?;
    Ok(NoContent)
}
