//! Members of projects and groups.

use db::Tx;
use entities::org::member::MemberEntity;
use kernel::{
    Error, Result, Ts,
    ids::UserId,
    page::{Page, PageRequest},
};
use org::{
    member::{
        MemberFilter, MemberSource, Membership, actions, list,
        quota::Quota,
        sign_in::{self, Identities},
    },
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
    error::ApiResult,
    extract::Call,
    present::{Created, Either, Json, NoContent, PagedList},
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

/// Result of adding several members.
#[derive(Debug, Serialize, ToSchema)]
pub struct AddResult {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Whether inherited and invited members are included.
#[derive(Clone, Copy)]
enum MembershipScope {
    Direct,
    All,
}

/// Members, and how they sign in, where the reader is told.
type MembersWithIdentities = (Page<Membership>, Option<Identities>);

fn member_entities(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    page: Page<Membership>,
) -> Result<MembersWithIdentities> {
    let people: Vec<UserId> = page.items.iter().map(|member| member.user.id).collect();
    let identities = sign_in::identities(tx, place, &people)?;
    Ok((page, identities))
}

/// One member, as [`member_entities`].
fn member_entity(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    member: Membership,
) -> Result<(Membership, Option<Identities>)> {
    let identities = sign_in::identities(tx, place, &[member.user.id])?;
    Ok((member, identities))
}

fn entity(app: &App, (member, identities): &(Membership, Option<Identities>)) -> MemberEntity {
    MemberEntity::new(&app.urls, member).signing_in_by(identities.as_ref())
}

fn one(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    reach: MembershipScope,
    user: UserId,
) -> Result<Membership> {
    let (actor, source) = (place.actor(), place.source);
    let filter = MemberFilter { only: Some(vec![user]), ..MemberFilter::default() };
    let page = PageRequest::default();
    let found = match reach {
        MembershipScope::Direct => list::direct(tx, source, &filter, page),
        MembershipScope::All => list::all(tx, actor, source, &filter, page),
    };
    found?.items.into_iter().next().ok_or_else(Error::missing)
}

fn listed(
    app: &App,
    (page, identities): MembersWithIdentities,
    seats: bool,
) -> PagedList<MemberEntity> {
    PagedList(page.map(|member| {
        let entity = match seats {
            true => MemberEntity::with_seat(&app.urls, &member),
            false => MemberEntity::new(&app.urls, &member),
        };
        entity.signing_in_by(identities.as_ref())
    }))
}

async fn direct(
    app: &App,
    place: MemberSource,
    params: ListMembers,
    page: PageRequest,
) -> ApiResult<PagedList<MemberEntity>> {
    let (seats, filter) = (params.show_seat_info, params.filter(place.actor()));
    let found = app.db.read(move |tx| {
        let found = list::direct(tx, place.source, &filter, page)?;
        member_entities(tx, &place, found)
    });
    Ok(listed(app, found.await?, seats))
}

async fn all(
    app: &App,
    place: MemberSource,
    params: ListAllMembers,
    page: PageRequest,
) -> ApiResult<PagedList<MemberEntity>> {
    let (seats, filter) = (params.show_seat_info, params.filter(place.actor()));
    let found = app.db.read(move |tx| {
        let found = list::all(tx, place.actor(), place.source, &filter, page)?;
        member_entities(tx, &place, found)
    });
    Ok(listed(app, found.await?, seats))
}

async fn read_member(
    app: &App,
    place: MemberSource,
    reach: MembershipScope,
    user: UserId,
) -> ApiResult<Json<MemberEntity>> {
    let found = app.db.read(move |tx| {
        let member = one(tx, &place, reach, user)?;
        member_entity(tx, &place, member)
    });
    Ok(Json(entity(app, &found.await?)))
}

type AddAnswer = Either<Created<MemberEntity>, Created<AddResult>>;

async fn added(app: &App, place: MemberSource, params: AddMembers) -> ApiResult<AddAnswer> {
    let (terms, quota) = (params.terms(), Quota::of(app.limits.invites_per_day));
    let users = params.user_id.0;
    if let [user] = *users.as_slice() {
        let member = app.db.write(move |tx| {
            actions::add(tx, place, user, terms, quota)?;
            let member = list::given(tx, place.source, user)?;
            member_entity(tx, &place, member)
        });
        return Ok(Either::Left(Created(entity(app, &member.await?))));
    }
    if users.is_empty() {
        return Err(Error::bad_request().parameters("user_id is empty").into());
    }
    let message = app.db.write(move |tx| actions::add_each(tx, place, &users, terms, quota));
    let message = message.await?;
    let status = if message.is_some() { "error" } else { "success" };
    Ok(Either::Right(Created(AddResult { status, message })))
}

async fn changed(
    app: &App,
    place: MemberSource,
    params: ChangeMember,
) -> ApiResult<Json<MemberEntity>> {
    let member = app.db.write(move |tx| {
        let end = end(&params.expires_at);
        actions::change(tx, place, params.user_id, params.access_level, end)?;
        let member = list::given(tx, place.source, params.user_id)?;
        member_entity(tx, &place, member)
    });
    Ok(Json(entity(app, &member.await?)))
}

async fn removed(
    app: &App,
    place: MemberSource,
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
) -> ApiResult<PagedList<MemberEntity>> {
    direct(&app, MemberSource::project(&call.grant), call.params, call.page).await
}

async fn list_all_of_project(
    app: App,
    call: Call<ReadProjectMembers, ListAllMembers>,
) -> ApiResult<PagedList<MemberEntity>> {
    all(&app, MemberSource::project(&call.grant), call.params, call.page).await
}

async fn one_of_project(
    app: App,
    call: Call<ReadProjectMembers, OneMember>,
) -> ApiResult<Json<MemberEntity>> {
    read_member(
        &app,
        MemberSource::project(&call.grant),
        MembershipScope::Direct,
        call.params.user_id,
    )
    .await
}

async fn any_of_project(
    app: App,
    call: Call<ReadProjectMembers, OneMember>,
) -> ApiResult<Json<MemberEntity>> {
    read_member(&app, MemberSource::project(&call.grant), MembershipScope::All, call.params.user_id)
        .await
}

async fn add_to_project(
    app: App,
    call: Call<ManageProjectMembers, AddMembers>,
) -> ApiResult<AddAnswer> {
    added(&app, MemberSource::project(&call.grant), call.params).await
}

async fn change_in_project(
    app: App,
    call: Call<ManageProjectMembers, ChangeMember>,
) -> ApiResult<Json<MemberEntity>> {
    changed(&app, MemberSource::project(&call.grant), call.params).await
}

async fn remove_from_project(
    app: App,
    call: Call<LeaveProject, RemoveMember>,
) -> ApiResult<NoContent> {
    let (since, place) = (call.unmodified_since(), MemberSource::project(&call.grant));
    removed(&app, place, call.params, since).await
}

async fn list_of_group(
    app: App,
    call: Call<ReadGroupMembers, ListMembers>,
) -> ApiResult<PagedList<MemberEntity>> {
    direct(&app, MemberSource::group(&call.grant), call.params, call.page).await
}

async fn list_all_of_group(
    app: App,
    call: Call<ReadGroupMembers, ListAllMembers>,
) -> ApiResult<PagedList<MemberEntity>> {
    all(&app, MemberSource::group(&call.grant), call.params, call.page).await
}

async fn one_of_group(
    app: App,
    call: Call<ReadGroupMembers, OneMember>,
) -> ApiResult<Json<MemberEntity>> {
    read_member(
        &app,
        MemberSource::group(&call.grant),
        MembershipScope::Direct,
        call.params.user_id,
    )
    .await
}

async fn any_of_group(
    app: App,
    call: Call<ReadGroupMembers, OneMember>,
) -> ApiResult<Json<MemberEntity>> {
    read_member(&app, MemberSource::group(&call.grant), MembershipScope::All, call.params.user_id)
        .await
}

async fn add_to_group(
    app: App,
    call: Call<ManageGroupMembers, AddMembers>,
) -> ApiResult<AddAnswer> {
    added(&app, MemberSource::group(&call.grant), call.params).await
}

async fn change_in_group(
    app: App,
    call: Call<ManageGroupMembers, ChangeMember>,
) -> ApiResult<Json<MemberEntity>> {
    changed(&app, MemberSource::group(&call.grant), call.params).await
}

async fn remove_from_group(app: App, call: Call<LeaveGroup, RemoveMember>) -> ApiResult<NoContent> {
    let (since, place) = (call.unmodified_since(), MemberSource::group(&call.grant));
    removed(&app, place, call.params, since).await
}
