//! Memberships and last activity of users.

use entities::org::person::{AssociationsEntity, BelongingEntity, UserActivityEntity};
use kernel::{
    Error, Ts,
    access::{Administrate, SignedIn},
    ids::UserId,
};
use org::{
    user::store::UserStore,
    user_activity::{self, SourceKind},
};
use review::contribution_count::written_by;
use time::{Date, Month};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    param_enums, params,
    present::{Json, PagedList},
    routes,
};

routes! { "Users" at "", also [ReadUser];
    GET "/user/activities"              => activities   : Administrate,
    GET "/users/{id}/memberships"        => memberships  : Administrate,
    GET "/users/{id}/associations_count" => associations : SignedIn,
}

param_enums! { SourceKind }

params! {
    struct ListActivities: paged {
        /// First date. Default: six months ago.
        from: Option<Date>,
    }
}
params! {
    struct ListMemberships: paged {
        id: UserId,
        r#type: Option<SourceKind>,
    }
}
params! { struct OneUser { id: UserId } }

async fn activities(
    app: App,
    call: Call<Administrate, ListActivities>,
) -> ApiResult<PagedList<UserActivityEntity>> {
    let (from, page) = (call.params.from, call.page);
    let found = app.db.read(move |tx| {
        let from = from.unwrap_or_else(|| half_a_year_before(tx.now.date()));
        user_activity::active_since(tx, Ts::from_date(from), page)
    });
    Ok(PagedList(found.await?.map(UserActivityEntity::from)))
}

/// The same day of the month, or the last that there is.
fn half_a_year_before(day: Date) -> Date {
    let month = day.month().nth_prev(6);
    let year = if u8::from(month) > u8::from(day.month()) { day.year() - 1 } else { day.year() };
    let last = Month::length(month, year);
    Date::from_calendar_date(year, month, day.day().min(last)).unwrap_or(day)
}

async fn memberships(
    app: App,
    call: Call<Administrate, ListMemberships>,
) -> ApiResult<PagedList<BelongingEntity>> {
    let (ListMemberships { id, r#type: kind }, page) = (call.params, call.page);
    let found = app.db.read(move |tx| {
        tx.user(id)?;
        user_activity::memberships(tx, id, kind, page)
    });
    Ok(PagedList(found.await?.map(BelongingEntity::from)))
}

async fn associations(
    app: App,
    call: Call<SignedIn, OneUser>,
) -> ApiResult<Json<AssociationsEntity>> {
    let (actor, id) = (call.grant.actor(), call.params.id);
    let counted = app.db.read(move |tx| {
        tx.user(id)?;
        if !actor.admin && actor.id != Some(id) {
            return Err(Error::forbidden());
        }
        Ok((user_activity::associations(tx, id)?, written_by(tx, id)?))
    });
    Ok(Json(counted.await?.into()))
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::half_a_year_before;

    #[test]
    fn half_a_year_is_six_months() {
        assert_eq!(half_a_year_before(date!(2026 - 11 - 21)), date!(2026 - 05 - 21));
        assert_eq!(half_a_year_before(date!(2026 - 03 - 01)), date!(2025 - 09 - 01));
        assert_eq!(half_a_year_before(date!(2026 - 06 - 30)), date!(2025 - 12 - 30));
        assert_eq!(half_a_year_before(date!(2024 - 08 - 31)), date!(2024 - 02 - 29));
    }
}
