//! People who ask to become members.

use entities::org::{access_request::AccessRequestEntity, member::MemberEntity};
use kernel::{AccessLevel, Ts, ids::UserId, page::PageRequest};
use org::{
    member::{MemberSource, list, requests},
    policy::{
        AskForGroupAccess, AskForProjectAccess, LeaveGroup, LeaveProject, ManageGroupMembers,
        ManageProjectMembers,
    },
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Created, NoContent, PagedList},
    routes,
};

routes! { "Access requests" at "";
    GET    "/projects/{id}/access_requests"                   => list_of_project    : ManageProjectMembers,
    POST   "/projects/{id}/access_requests"                   => ask_project        : AskForProjectAccess,
    PUT    "/projects/{id}/access_requests/{user_id}/approve" => approve_in_project : ManageProjectMembers,
    DELETE "/projects/{id}/access_requests/{user_id}"         => deny_in_project    : LeaveProject,
    GET    "/groups/{id}/access_requests"                     => list_of_group      : ManageGroupMembers,
    POST   "/groups/{id}/access_requests"                     => ask_group          : AskForGroupAccess,
    PUT    "/groups/{id}/access_requests/{user_id}/approve"   => approve_in_group   : ManageGroupMembers,
    DELETE "/groups/{id}/access_requests/{user_id}"           => deny_in_group      : LeaveGroup,
}

params! { struct OneRequest { user_id: UserId } }
params! {
    struct Approve {
        user_id: UserId,
        access_level: i64 = i64::from(AccessLevel::Developer.number()),
    }
}

async fn listed(
    app: &App,
    place: MemberSource,
    page: PageRequest,
) -> ApiResult<PagedList<AccessRequestEntity>> {
    let page = app.db.read(move |tx| requests::list(tx, place, page)).await?;
    Ok(PagedList(page.map(|asked| AccessRequestEntity::new(&app.urls, &asked))))
}

async fn request_access(app: &App, place: MemberSource) -> ApiResult<Created<AccessRequestEntity>> {
    let asked = app.db.write(move |tx| requests::ask(tx, place)).await?;
    Ok(Created(AccessRequestEntity::new(&app.urls, &asked)))
}

async fn approved(
    app: &App,
    place: MemberSource,
    given: Approve,
) -> ApiResult<Created<MemberEntity>> {
    let member = app.db.write(move |tx| {
        requests::approve(tx, place, given.user_id, given.access_level)?;
        list::given(tx, place.source, given.user_id)
    });
    Ok(Created(MemberEntity::new(&app.urls, &member.await?)))
}

async fn denied(
    app: &App,
    place: MemberSource,
    user: UserId,
    since: Option<Ts>,
) -> ApiResult<NoContent> {
    app.db.write(move |tx| requests::deny(tx, place, user, since)).await?;
    Ok(NoContent)
}

async fn list_of_project(
    app: App,
    call: Call<ManageProjectMembers, OnlyPage>,
) -> ApiResult<PagedList<AccessRequestEntity>> {
    listed(&app, MemberSource::project(&call.grant), call.page).await
}

async fn ask_project(
    app: App,
    call: Call<AskForProjectAccess>,
) -> ApiResult<Created<AccessRequestEntity>> {
    request_access(&app, MemberSource::project(&call.grant)).await
}

async fn approve_in_project(
    app: App,
    call: Call<ManageProjectMembers, Approve>,
) -> ApiResult<Created<MemberEntity>> {
    approved(&app, MemberSource::project(&call.grant), call.params).await
}

async fn deny_in_project(app: App, call: Call<LeaveProject, OneRequest>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    denied(&app, MemberSource::project(&call.grant), call.params.user_id, since).await
}

async fn list_of_group(
    app: App,
    call: Call<ManageGroupMembers, OnlyPage>,
) -> ApiResult<PagedList<AccessRequestEntity>> {
    listed(&app, MemberSource::group(&call.grant), call.page).await
}

async fn ask_group(
    app: App,
    call: Call<AskForGroupAccess>,
) -> ApiResult<Created<AccessRequestEntity>> {
    request_access(&app, MemberSource::group(&call.grant)).await
}

async fn approve_in_group(
    app: App,
    call: Call<ManageGroupMembers, Approve>,
) -> ApiResult<Created<MemberEntity>> {
    approved(&app, MemberSource::group(&call.grant), call.params).await
}

async fn deny_in_group(app: App, call: Call<LeaveGroup, OneRequest>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    denied(&app, MemberSource::group(&call.grant), call.params.user_id, since).await
}
