//! Members of projects and groups.

use db::Tx;
use kernel::{
    Actor, Error, Result, Ts,
    ids::UserId,
    page::{Page, PageRequest},
};
use org::{
    member::{MemberFilter, Membership, Place, Source, actions, list},
    policy::{
        LeaveGroup, LeaveProject, ManageGroupMembers, ManageProjectMembers, ReadGroupMembers,
        ReadProjectMembers,
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use super::member_params::{
    AddMembers, ChangeMember, ListAllMembers, ListMembers, OneMember, RemoveMember, end,
};
use crate::{
    app::App,
    entities::member::MemberEntity,
    error::ApiResult,
    extract::Call,
    present::{Created, Either, Json, Listed, NoContent},
    routes,
};

routes! { "Members" at "";
    GET    "/projects/{id}/members"               => list_of_project     : ReadProjectMembers,
    GET    "/projects/{id}/members/all"           => list_all_of_project : ReadProjectMembers,
    GET    "/projects/{id}/members/{user_id}"     => one_of_project      : ReadProjectMembers,
    GET    "/projects/{id}/members/all/{user_id}" => any_of_project      : ReadProjectMembers,
    POST   "/projects/{id}/members"               => add_to_project      : ManageProjectMembers,
    PUT    "/projects/{id}/members/{user_id}"     => change_in_project   : ManageProjectMembers,
    DELETE "/projects/{id}/members/{user_id}"     => remove_from_project : LeaveProject,
    GET    "/groups/{id}/members"                 => list_of_group       : ReadGroupMembers,
    GET    "/groups/{id}/members/all"             => list_all_of_group   : ReadGroupMembers,
    GET    "/groups/{id}/members/{user_id}"       => one_of_group        : ReadGroupMembers,
    GET    "/groups/{id}/members/all/{user_id}"   => any_of_group        : ReadGroupMembers,
    POST   "/groups/{id}/members"                 => add_to_group        : ManageGroupMembers,
    PUT    "/groups/{id}/members/{user_id}"       => change_in_group     : ManageGroupMembers,
    DELETE "/groups/{id}/members/{user_id}"       => remove_from_group   : LeaveGroup,
}

/// How adding several people went.
#[derive(Debug, Serialize, ToSchema)]
pub struct Added {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Whether a list goes beyond those who were added to the thing itself.
#[derive(Clone, Copy)]
enum Reach {
    Direct,
    All,
}

fn one(
    tx: &mut Tx<'_>,
    actor: Actor,
    source: Source,
    reach: Reach,
    user: UserId,
) -> Result<Membership> {
    let filter = MemberFilter { only: Some(vec![user]), ..MemberFilter::default() };
    let page = PageRequest::default();
    let found = match reach {
        Reach::Direct => list::direct(tx, source, &filter, page),
        Reach::All => list::all(tx, actor, source, &filter, page),
    };
    found?.items.into_iter().next().ok_or(Error::Missing)
}

fn listed(app: &App, page: Page<Membership>, seats: bool) -> Listed<MemberEntity> {
    Listed(page.map(|member| match seats {
        true => MemberEntity::with_seat(&app.urls, &member),
        false => MemberEntity::new(&app.urls, &member),
    }))
}

async fn direct(
    app: &App,
    source: Source,
    params: ListMembers,
    page: PageRequest,
) -> ApiResult<Listed<MemberEntity>> {
    let (seats, filter) = (params.show_seat_info, params.filter());
    let page = app.db.read(move |tx| list::direct(tx, source, &filter, page)).await?;
    Ok(listed(app, page, seats))
}

async fn all(
    app: &App,
    actor: Actor,
    source: Source,
    params: ListAllMembers,
    page: PageRequest,
) -> ApiResult<Listed<MemberEntity>> {
    let (seats, filter) = (params.show_seat_info, params.filter());
    let page = app.db.read(move |tx| list::all(tx, actor, source, &filter, page)).await?;
    Ok(listed(app, page, seats))
}

async fn shown(
    app: &App,
    actor: Actor,
    source: Source,
    reach: Reach,
    user: UserId,
) -> ApiResult<Json<MemberEntity>> {
    let member = app.db.read(move |tx| one(tx, actor, source, reach, user)).await?;
    Ok(Json(MemberEntity::new(&app.urls, &member)))
}

type AddAnswer = Either<Created<MemberEntity>, Created<Added>>;

async fn added(app: &App, place: Place, params: AddMembers) -> ApiResult<AddAnswer> {
    let terms = params.terms();
    let users = params.user_id.0;
    if let [user] = *users.as_slice() {
        let member = app.db.write(move |tx| {
            actions::add(tx, place, user, terms)?;
            list::given(tx, place.source, user)
        });
        return Ok(Either::Left(Created(MemberEntity::new(&app.urls, &member.await?))));
    }
    if users.is_empty() {
        return Err(Error::BadParameters("user_id is empty".to_owned()).into());
    }
    let message = app.db.write(move |tx| actions::add_each(tx, place, &users, terms)).await?;
    let status = if message.is_some() { "error" } else { "success" };
    Ok(Either::Right(Created(Added { status, message })))
}

async fn changed(app: &App, place: Place, params: ChangeMember) -> ApiResult<Json<MemberEntity>> {
    let member = app.db.write(move |tx| {
        let end = end(&params.expires_at);
        actions::change(tx, place, params.user_id, params.access_level, end)?;
        list::given(tx, place.source, params.user_id)
    });
    Ok(Json(MemberEntity::new(&app.urls, &member.await?)))
}

async fn removed(
    app: &App,
    place: Place,
    params: RemoveMember,
    since: Option<Ts>,
) -> ApiResult<NoContent> {
    app.rates.check_member_removal(place.source, place.actor().user()?)?;
    let how = params.leaving(since);
    app.db.write(move |tx| actions::remove(tx, place, params.user_id, how)).await?;
    Ok(NoContent)
}

async fn list_of_project(
    app: App,
    call: Call<ReadProjectMembers, ListMembers>,
) -> ApiResult<Listed<MemberEntity>> {
    direct(&app, Source::Project(call.grant.project()), call.params, call.page).await
}

async fn list_all_of_project(
    app: App,
    call: Call<ReadProjectMembers, ListAllMembers>,
) -> ApiResult<Listed<MemberEntity>> {
    let source = Source::Project(call.grant.project());
    all(&app, call.grant.actor(), source, call.params, call.page).await
}

async fn one_of_project(
    app: App,
    call: Call<ReadProjectMembers, OneMember>,
) -> ApiResult<Json<MemberEntity>> {
    let source = Source::Project(call.grant.project());
    shown(&app, call.grant.actor(), source, Reach::Direct, call.params.user_id).await
}

async fn any_of_project(
    app: App,
    call: Call<ReadProjectMembers, OneMember>,
) -> ApiResult<Json<MemberEntity>> {
    let source = Source::Project(call.grant.project());
    shown(&app, call.grant.actor(), source, Reach::All, call.params.user_id).await
}

async fn add_to_project(
    app: App,
    call: Call<ManageProjectMembers, AddMembers>,
) -> ApiResult<AddAnswer> {
    added(&app, Place::project(&call.grant), call.params).await
}

async fn change_in_project(
    app: App,
    call: Call<ManageProjectMembers, ChangeMember>,
) -> ApiResult<Json<MemberEntity>> {
    changed(&app, Place::project(&call.grant), call.params).await
}

async fn remove_from_project(
    app: App,
    call: Call<LeaveProject, RemoveMember>,
) -> ApiResult<NoContent> {
    let (since, place) = (call.unmodified_since(), Place::project(&call.grant));
    removed(&app, place, call.params, since).await
}

async fn list_of_group(
    app: App,
    call: Call<ReadGroupMembers, ListMembers>,
) -> ApiResult<Listed<MemberEntity>> {
    direct(&app, Source::Group(call.grant.group()), call.params, call.page).await
}

async fn list_all_of_group(
    app: App,
    call: Call<ReadGroupMembers, ListAllMembers>,
) -> ApiResult<Listed<MemberEntity>> {
    let source = Source::Group(call.grant.group());
    all(&app, call.grant.actor(), source, call.params, call.page).await
}

async fn one_of_group(
    app: App,
    call: Call<ReadGroupMembers, OneMember>,
) -> ApiResult<Json<MemberEntity>> {
    let source = Source::Group(call.grant.group());
    shown(&app, call.grant.actor(), source, Reach::Direct, call.params.user_id).await
}

async fn any_of_group(
    app: App,
    call: Call<ReadGroupMembers, OneMember>,
) -> ApiResult<Json<MemberEntity>> {
    let source = Source::Group(call.grant.group());
    shown(&app, call.grant.actor(), source, Reach::All, call.params.user_id).await
}

async fn add_to_group(
    app: App,
    call: Call<ManageGroupMembers, AddMembers>,
) -> ApiResult<AddAnswer> {
    added(&app, Place::group(&call.grant), call.params).await
}

async fn change_in_group(
    app: App,
    call: Call<ManageGroupMembers, ChangeMember>,
) -> ApiResult<Json<MemberEntity>> {
    changed(&app, Place::group(&call.grant), call.params).await
}

async fn remove_from_group(app: App, call: Call<LeaveGroup, RemoveMember>) -> ApiResult<NoContent> {
    let (since, place) = (call.unmodified_since(), Place::group(&call.grant));
    removed(&app, place, call.params, since).await
}
