//! Everybody below a top-level group, as one set of people.

use db::{Tx, each_backend, error, schema::members};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Error, Result,
    ids::{MemberId, UserId},
};

use super::{Member, MemberSource, Source};
use crate::{access::tree::Tree, namespace::store::NamespaceStore};

/// The tree of a group that the caller owns.
///
/// # Errors
/// `refusal` where the caller does not own the group, or it is not a top-level one.
pub(super) fn owned(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    refusal: fn(TreeRefusal) -> Error,
) -> Result<Tree> {
    let Source::Group(id) = place.source else { return Err(refusal(TreeRefusal::Nested)) };
    let group = tx.namespace(id)?;
    if group.parent_id.is_some() {
        return Err(refusal(TreeRefusal::Nested));
    }
    if !place.may_manage() {
        return Err(refusal(TreeRefusal::NotOwner));
    }
    Ok(Tree::of_top(group.id, &group.full_path.to_lowercase()))
}

/// Memberships given anywhere here that meet a condition on rows `m`.
pub(super) fn members(tx: &mut Tx<'_>, tree: &Tree, condition: &str) -> Result<Vec<Member>> {
    let text = format!(
        "WITH {} SELECT m.id AS id FROM members m WHERE {condition} \
         AND (m.namespace_id IN (SELECT id FROM groups) OR m.project_id IN (SELECT id FROM inside))",
        tree.parts()
    );
    let ids: Vec<MemberId> =
        tree.load::<NamespaceRow>(tx, &text)?.into_iter().map(|found| MemberId(found.id)).collect();
    let query = members::table.filter(members::id.eq_any(ids)).order_by(members::id);
    each_backend!(tx, |conn| query.select(Member::as_select()).load(conn).map_err(error("Member")))
}

/// Memberships of one person anywhere here that have not ended.
pub(super) fn members_of(tx: &mut Tx<'_>, tree: &Tree, user: UserId) -> Result<Vec<Member>> {
    let now = tx.now.0;
    let living = format!("m.user_id = {user} AND (m.expires_at IS NULL OR m.expires_at > {now})");
    members(tx, tree, &living)
}

#[derive(QueryableByName)]
pub(super) struct NamespaceRow {
    #[diesel(sql_type = BigInt)]
    pub(super) id: i64,
}

/// Reasons for which a tree of members is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeRefusal {
    Nested,
    NotOwner,
}

/// The refusal that says nothing.
pub(super) fn plain(_: TreeRefusal) -> Error {
    Error::bad_request()
}
