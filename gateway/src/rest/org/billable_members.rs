//! Billable and pending members of a top-level group.

use entities::org::{
    member::MemberEntity,
    seat::{BillableEntity, PendingEntity, SeatEntity},
};
use kernel::{
    access::SignedIn,
    ids::{MemberId, UserId},
};
use org::{
    access::IdOrPath,
    member::{
        MemberSource, actions,
        billable::{self, BillableFilter, Sort},
        pending_members,
    },
    policy::AskForSeats,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::member_params::MembershipState;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    param_enums, params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Seats" at "/groups/{id}";
    GET    "/billable_members"                       => list_billable  : AskForSeats,
    GET    "/billable_members/{user_id}/memberships" => memberships    : AskForSeats,
    GET    "/billable_members/{user_id}/indirect"    => indirect       : AskForSeats,
    DELETE "/billable_members/{user_id}"             => remove         : AskForSeats,
    GET    "/pending_members"                        => list_pending   : AskForSeats,
    PUT    "/members/{user_id}/state"                => set_state      : SignedIn,
    PUT    "/members/{member_id}/approve"            => approve        : AskForSeats,
    POST   "/members/approve_all"                    => approve_all    : AskForSeats,
    POST   "/members/{user_id}/override"             => override_level : AskForSeats,
    DELETE "/members/{user_id}/override"             => end_override   : AskForSeats,
}

param_enums! { Sort }

params! {
    struct ListBillable: paged {
        /// Part of the name or username, or the exact public e-mail address.
        search: Option<String>,
        sort: Option<Sort>,
    }
}
params! { struct SeatsOf: paged { user_id: UserId } }
params! { struct OneUser { user_id: UserId } }
params! { struct OneMembership { member_id: MemberId } }
params! { struct SetState { id: String, user_id: UserId, state: MembershipState } }

type SeatsCall<P = crate::extract::params::NoParams> = Call<AskForSeats, P>;

/// Confirmation of an action.
#[derive(Debug, Serialize, ToSchema)]
pub struct SuccessFlag {
    success: bool,
}

async fn list_billable(
    app: App,
    call: SeatsCall<ListBillable>,
) -> ApiResult<PagedList<BillableEntity>> {
    let (place, page, open) =
        (MemberSource::group(&call.grant), call.page, call.grant.actor().admin);
    let filter = BillableFilter { search: call.params.search, sort: call.params.sort };
    let again = filter.clone();
    let kept = app.db.read(move |tx| billable::list(tx, place, &filter, page)).await?;
    let page = match kept {
        Some(page) => page,
        None => {
            let worked_out = app.db.write(move |tx| {
                billable::work_out(tx, place)?;
                billable::list(tx, place, &again, page)
            });
            worked_out.await?.ok_or_else(kernel::Error::missing)?
        }
    };
    Ok(PagedList(page.map(|counted| BillableEntity::new(&app.urls, &counted, open))))
}

async fn memberships(app: App, call: SeatsCall<SeatsOf>) -> ApiResult<PagedList<SeatEntity>> {
    let (place, user, page) = (MemberSource::group(&call.grant), call.params.user_id, call.page);
    let page = app.db.read(move |tx| billable::direct(tx, place, user, page)).await?;
    Ok(PagedList(page.map(|seat| SeatEntity::new(&app.urls, seat))))
}

async fn indirect(app: App, call: SeatsCall<SeatsOf>) -> ApiResult<PagedList<SeatEntity>> {
    let (place, user, page) = (MemberSource::group(&call.grant), call.params.user_id, call.page);
    let page = app.db.read(move |tx| billable::indirect(tx, place, user, page)).await?;
    Ok(PagedList(page.map(|seat| SeatEntity::new(&app.urls, seat))))
}

async fn remove(app: App, call: SeatsCall<OneUser>) -> ApiResult<NoContent> {
    let (place, user) = (MemberSource::group(&call.grant), call.params.user_id);
    app.db.write(move |tx| billable::remove(tx, place, user)).await?;
    Ok(NoContent)
}

async fn list_pending(app: App, call: SeatsCall<OnlyPage>) -> ApiResult<PagedList<PendingEntity>> {
    let (place, page) = (MemberSource::group(&call.grant), call.page);
    let page = app.db.read(move |tx| pending_members::list(tx, place, page)).await?;
    Ok(PagedList(page.map(|pending| PendingEntity::new(&app.urls, pending))))
}

async fn set_state(app: App, call: Call<SignedIn, SetState>) -> ApiResult<Json<SuccessFlag>> {
    let (grant, SetState { id, user_id, state }) = (call.grant, call.params);
    let group = IdOrPath::parse(&id);
    app.db
        .write(move |tx| pending_members::set_state(tx, &grant, &group, user_id, state.0))
        .await?;
    Ok(Json(SuccessFlag { success: true }))
}

async fn approve(app: App, call: SeatsCall<OneMembership>) -> ApiResult<NoContent> {
    let (place, id) = (MemberSource::group(&call.grant), call.params.member_id);
    app.db.write(move |tx| pending_members::approve(tx, place, id)).await?;
    Ok(NoContent)
}

async fn approve_all(app: App, call: SeatsCall) -> ApiResult<NoContent> {
    let place = MemberSource::group(&call.grant);
    app.db.write(move |tx| pending_members::approve_all(tx, place)).await?;
    Ok(NoContent)
}

async fn override_level(app: App, call: SeatsCall<OneUser>) -> ApiResult<Created<MemberEntity>> {
    let (place, user) = (MemberSource::group(&call.grant), call.params.user_id);
    let member = app.db.write(move |tx| actions::override_level(tx, place, user)).await?;
    Ok(Created(MemberEntity::new(&app.urls, &member)))
}

async fn end_override(app: App, call: SeatsCall<OneUser>) -> ApiResult<Json<MemberEntity>> {
    let (place, user) = (MemberSource::group(&call.grant), call.params.user_id);
    let member = app.db.write(move |tx| actions::override_level(tx, place, user)).await?;
    Ok(Json(MemberEntity::new(&app.urls, &member)))
}
