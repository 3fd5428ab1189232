//! Merge requests: proposing, reading, changing and removing one.

use kernel::{Ability, Grant, Result, access::Project};
use review::{
    merge_request::{
        Ends, MergeRequest, MergeRequestStore as _,
        actions::{self, Proposal},
        change::MergeRequestChange,
        merge::rebase,
    },
    policy::{
        CreateMergeRequests, DeleteMergeRequests, ProposeMergeRequests, ReadMergeRequests,
        TakePartInMergeRequests,
    },
    quick_action::described,
};

use super::merge_request_params::{
    CreateMergeRequest, OneMergeRequest, ReadMergeRequest, UpdateMergeRequest,
};
use crate::{
    app::App,
    compose::{
        commands::{Sender, after_describing},
        forge::Forge,
        merge_request_records::{self as records, Extras},
        merge_requests::{elsewhere, kinship, look, look_before},
        merging::{self, recheck},
    },
    entities::merge_request_detail::MergeRequestDetail,
    error::ApiResult,
    extract::Call,
    present::{Created, Json, NoContent},
    routes,
};

routes! { "Merge requests" at "/projects/{id}/merge_requests";
    POST   ""                     => create : ProposeMergeRequests,
    GET    "/{merge_request_iid}" => show   : ReadMergeRequests,
    PUT    "/{merge_request_iid}" => update : TakePartInMergeRequests,
    DELETE "/{merge_request_iid}" => remove : DeleteMergeRequests,
}

async fn create(
    app: App,
    call: Call<ProposeMergeRequests, CreateMergeRequest>,
) -> ApiResult<Created<MergeRequestDetail>> {
    let (source, params, urls) = (call.grant, call.params, app.urls.clone());
    let forge = Forge::new(&app.urls);
    let to = params.target_project_id.unwrap_or(source.project());
    let (from, who) = (source.project(), *source.who());
    let known = app.db.read(move |tx| {
        Ok((elsewhere::<CreateMergeRequests>(tx, &who, to)?, kinship(tx, from, to)?))
    });
    let (target, kinship) = known.await?;
    let ends = Ends {
        source: from,
        source_branch: params.source_branch.clone(),
        target: to,
        target_branch: params.target_branch.clone(),
    };
    let heads = look(&app, &ends, kinship).await?;
    let proposal = Proposal { ends, kinship, heads };
    let made = app.db.write(move |tx| {
        let new = params.into();
        let (made, later) =
            described::create_merge_request(tx, &source, &target, &forge, &proposal, new)?;
        Ok((made, later, target))
    });
    let (made, later, target) = made.await?;
    merging::catch_up(&app, made.id).await?;
    merging::settle(&app, made.id).await?;
    // The answer says whether git can merge it.
    merging::look(&app, made.id).await?;
    let sender = Sender { grant: &target, caller: call.caller.user()?, seen: None };
    after_describing(&app, &sender, &made.item(), later).await;
    let shown = app.db.read(move |tx| {
        let row = tx.merge_request(made.id)?;
        records::written(tx, &urls, &target, &row)
    });
    Ok(Created(shown.await?))
}

async fn show(
    app: App,
    call: Call<ReadMergeRequests, ReadMergeRequest>,
) -> ApiResult<Json<MergeRequestDetail>> {
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let row = found(&app, &grant, params.merge_request_iid).await?;
    if row.merge_status.is_open() {
        let seen = row.clone();
        app.db.write(move |tx| recheck(tx, &seen)).await?;
    }
    let diverged = match params.include_diverged_commits_count {
        true => Some(records::diverged_commits(&app, &row).await?),
        false => None,
    };
    let asked = params.include_rebase_in_progress;
    let shown = app.db.read(move |tx| {
        let rebasing = asked.then(|| rebase::is_under_way(tx, row.id)).transpose()?;
        let extras = Extras {
            render_html: params.render_html,
            rebase_in_progress: rebasing,
            diverged_commits: diverged,
        };
        records::read(tx, &urls, &grant, &row, extras)
    });
    Ok(Json(shown.await?))
}

async fn update(
    app: App,
    call: Call<TakePartInMergeRequests, (OneMergeRequest, UpdateMergeRequest)>,
) -> ApiResult<Json<MergeRequestDetail>> {
    let (grant, (one, params), urls) = (call.grant, call.params, app.urls.clone());
    let forge = Forge::new(&app.urls);
    let (iid, change) = (one.merge_request_iid, MergeRequestChange::from(params));
    let asks_git = change.asks_git();
    let looked = match asks_git {
        true => look_before(&app, &found(&app, &grant, iid).await?, &change).await?,
        false => None,
    };
    let asked = grant.clone();
    let changed = app.db.write(move |tx| {
        described::update_merge_request(tx, &asked, &forge, iid, looked.as_ref(), change)
    });
    let (row, later) = changed.await?;
    if asks_git {
        merging::catch_up(&app, row.id).await?;
    }
    merging::settle(&app, row.id).await?;
    let sender = Sender { grant: &grant, caller: call.caller.user()?, seen: None };
    after_describing(&app, &sender, &row.item(), later).await;
    let shown = app.db.read(move |tx| {
        let row = tx.merge_request(row.id)?;
        records::written(tx, &urls, &grant, &row)
    });
    Ok(Json(shown.await?))
}

async fn found<A: Ability<Scope = Project> + Clone + Send>(
    app: &App,
    grant: &Grant<A>,
    iid: i64,
) -> Result<MergeRequest> {
    let grant = grant.clone();
    app.db.read(move |tx| actions::find(tx, &grant, iid)).await
}

async fn remove(
    app: App,
    call: Call<DeleteMergeRequests, OneMergeRequest>,
) -> ApiResult<NoContent> {
    let (since, iid) = (call.unmodified_since(), call.params.merge_request_iid);
    app.db.write(move |tx| actions::remove(tx, &call.grant, iid, since)).await?;
    Ok(NoContent)
}
