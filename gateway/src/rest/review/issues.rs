//! Issues of a project, one at a time.

use entities::{
    org::brief_user::BriefUser,
    review::{issue::IssueEntity, issue_context::ItemHints},
    server::user_agent::UserAgentEntity,
};
use forge::{
    ports::directory::Directory,
    quick_actions::{Sender, after_describing},
};
use kernel::{Error, Grant, access::Administrate};
use review::{
    issue::{
        Issue, IssueStore,
        actions::{self, NewIssue},
        origin::{self, Origin},
    },
    item::subscriptions::{participants, set_subscription},
    policy::{CreateIssues, DeleteIssues, ReadIssueOrigins, ReadIssues},
    quick_action::{DeferredAction, in_description},
};

use super::{
    issue_list_params::OneIssueById,
    issue_params::{ChangeIssue, CreateIssue, OneIssue},
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Caller, params::OnlyPage},
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Issues" at "";
    GET    "/issues/{issue_id}"                              => show_any     : Administrate,
    POST   "/projects/{id}/issues"                           => create       : CreateIssues,
    GET    "/projects/{id}/issues/{issue_iid}"               => show         : ReadIssues,
    PUT    "/projects/{id}/issues/{issue_iid}"               => update       : CreateIssues,
    DELETE "/projects/{id}/issues/{issue_iid}"               => remove       : DeleteIssues,
    POST   "/projects/{id}/issues/{issue_iid}/subscribe"     => subscribe    : CreateIssues,
    POST   "/projects/{id}/issues/{issue_iid}/unsubscribe"   => unsubscribe  : CreateIssues,
    GET    "/projects/{id}/issues/{issue_iid}/participants"  => who_takes_part : ReadIssues,
    GET    "/projects/{id}/issues/{issue_iid}/user_agent_detail" => origin : ReadIssueOrigins,
}

async fn show_any(
    app: App,
    call: Call<Administrate, OneIssueById>,
) -> ApiResult<Json<IssueEntity>> {
    let (grant, id, urls) = (call.grant, call.params.issue_id, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let issue = tx.find_issue_by_id(id)?.ok_or_else(Error::missing)?;
        IssueEntity::one(tx, &urls, issue, grant.actor())
    });
    Ok(Json(shown.await?))
}

async fn show(app: App, call: Call<ReadIssues, OneIssue>) -> ApiResult<Json<IssueEntity>> {
    let (grant, iid, urls) = (call.grant, call.params.issue_iid, app.urls.clone());
    let reader = call.caller.user;
    let shown = app.db.read(move |tx| {
        let (issue, beside) = actions::find_with(tx, &grant, iid)?;
        let path = &grant.facts().full_path;
        let known = ItemHints { beside: &beside, path, reader: reader.as_deref() };
        IssueEntity::one_with(tx, &urls, issue, grant.actor(), &known)
    });
    Ok(Json(shown.await?))
}

async fn create(
    app: App,
    call: Call<CreateIssues, CreateIssue>,
) -> ApiResult<Created<IssueEntity>> {
    app.rates.check_issue(call.grant.user()?)?;
    let origin = origin_of(&call);
    let (grant, new) = (call.grant, NewIssue { origin, ..call.params.into() });
    let (asked, directory) = (grant.clone(), Directory::new(&app.urls));
    let made = app.db.write(move |tx| in_description::create_issue(tx, &asked, &directory, new));
    Ok(Created(written(&app, &grant, &call.caller, made.await?).await?))
}

/// What a request tells of where it comes from; nothing where the client has no name.
fn origin_of(call: &Call<CreateIssues, CreateIssue>) -> Option<Origin> {
    let user_agent = call.header("User-Agent")?.to_owned();
    Some(Origin { user_agent, ip_address: call.address()?.to_string() })
}

async fn update(
    app: App,
    call: Call<CreateIssues, (OneIssue, ChangeIssue)>,
) -> ApiResult<Json<IssueEntity>> {
    let (grant, (one, change)) = (call.grant, call.params);
    let (asked, directory) = (grant.clone(), Directory::new(&app.urls));
    let changed = app.db.write(move |tx| {
        in_description::update_issue(tx, &asked, &directory, one.issue_iid, change.into())
    });
    Ok(Json(written(&app, &grant, &call.caller, changed.await?).await?))
}

/// The record after all that its description wants was done.
async fn written(
    app: &App,
    grant: &Grant<CreateIssues>,
    caller: &Caller,
    (issue, later): (Issue, Vec<DeferredAction>),
) -> ApiResult<IssueEntity> {
    let sender = Sender { grant, caller: caller.user()?, seen: None };
    // What is done after the transaction may change the row once more.
    let is_final = later.is_empty();
    after_describing(app, &sender, &issue.item(), later).await;
    let (urls, actor) = (app.urls.clone(), grant.actor());
    let shown = app.db.read(move |tx| {
        let issue = match is_final {
            true => issue,
            false => tx.find_issue_by_id(issue.id)?.ok_or_else(Error::missing)?,
        };
        IssueEntity::one(tx, &urls, issue, actor)
    });
    Ok(shown.await?)
}

async fn remove(app: App, call: Call<DeleteIssues, OneIssue>) -> ApiResult<NoContent> {
    let (since, iid) = (call.unmodified_since(), call.params.issue_iid);
    app.db.write(move |tx| actions::remove(tx, &call.grant, iid, since)).await?;
    Ok(NoContent)
}

async fn subscribe(
    app: App,
    call: Call<CreateIssues, OneIssue>,
) -> ApiResult<Created<IssueEntity>> {
    subscription(app, call, true).await
}

async fn unsubscribe(
    app: App,
    call: Call<CreateIssues, OneIssue>,
) -> ApiResult<Created<IssueEntity>> {
    subscription(app, call, false).await
}

async fn subscription(
    app: App,
    call: Call<CreateIssues, OneIssue>,
    wanted: bool,
) -> ApiResult<Created<IssueEntity>> {
    let (grant, iid, urls) = (call.grant, call.params.issue_iid, app.urls.clone());
    let set = app.db.write(move |tx| {
        let issue = actions::read(tx, grant.who(), grant.project(), iid)?;
        set_subscription(tx, &issue.item(), grant.user()?, wanted)?;
        IssueEntity::one(tx, &urls, issue, grant.actor())
    });
    Ok(Created(set.await?))
}

async fn origin(
    app: App,
    call: Call<ReadIssueOrigins, OneIssue>,
) -> ApiResult<Json<UserAgentEntity>> {
    let (grant, iid) = (call.grant, call.params.issue_iid);
    Ok(Json(app.db.read(move |tx| origin::of(tx, &grant, iid)).await?.into()))
}

async fn who_takes_part(
    app: App,
    call: Call<ReadIssues, (OneIssue, OnlyPage)>,
) -> ApiResult<PagedList<BriefUser>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let issue = actions::find(tx, &grant, one.issue_iid)?;
        let people = page.slice(participants(tx, &issue.item())?);
        people.try_map_all(|people| BriefUser::in_order(tx, &urls, &people))
    });
    Ok(PagedList(found.await?))
}
