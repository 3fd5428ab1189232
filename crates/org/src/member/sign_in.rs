//! By which account elsewhere the members of a group sign in, for those who own the group.

use std::collections::HashMap;

use db::{OneOf as _, Tx, each_backend, error, schema::user_identities};
use diesel::{dsl::exists, prelude::*};
use kernel::{AccessLevel, Result, ids::UserId};

use super::{MemberSource, Source, store::MemberStore};
use crate::user::model::ExternalIdentity;

/// The accounts of those who have one.
pub type Identities = HashMap<UserId, ExternalIdentity>;

/// The accounts of these people with the sign-in of the group's tree; `None` where it has none, or where that is none of
/// the reader's business.
pub fn identities(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    people: &[UserId],
) -> Result<Option<Identities>> {
    let Source::Group(group) = place.source else { return Ok(None) };
    if place.level() < AccessLevel::Owner {
        return Ok(None);
    }
    let Some(top) = tx.lineage(group)?.pop() else { return Ok(None) };
    let here = user_identities::table.filter(user_identities::saml_provider_id.eq(top.id.0));
    let is_used: bool = each_backend!(tx, |conn| diesel::select(exists(here))
        .get_result(conn)
        .map_err(error("Identity")))?;
    if !is_used {
        return Ok(None);
    }
    let theirs = here.filter(user_identities::user_id.one_of(people));
    let rows: Vec<(UserId, ExternalIdentity)> = each_backend!(tx, |conn| theirs
        .select((user_identities::user_id, ExternalIdentity::as_select()))
        .load(conn)
        .map_err(error("Identity")))?;
    Ok(Some(rows.into_iter().collect()))
}
