//! By which memberships somebody counts.

use db::{
    Tx, each_backend, error,
    schema::{members, namespaces, projects},
};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{MemberId, UserId},
    page::{Page, PageRequest, Total},
};

use super::counts;
use crate::{
    access::{seats::counted, tree::Tree},
    member::{
        Member, MemberSource,
        tree::{self, NamespaceRow, plain},
    },
    user::store::UserStore,
};

/// A membership with what it is a membership of.
#[derive(Clone, Debug)]
pub struct Seat {
    pub member: Member,
    pub full_name: String,
    pub full_path: String,
}

/// Those that were given in the group or below it.
pub fn direct(
    tx: &mut Tx<'_>,
    place: MemberSource,
    user: UserId,
    page: PageRequest,
) -> Result<Page<Seat>> {
    let tree = countable(tx, place, user)?;
    let now = tx.now.0;
    let rows = format!(
        "FROM members m WHERE m.user_id = {user} AND (m.expires_at IS NULL OR m.expires_at > {now}) \
         AND (m.namespace_id IN (SELECT id FROM groups) OR m.project_id IN (SELECT id FROM inside))"
    );
    let parts = format!("WITH {}", tree.parts());
    listed(tx, &tree, &parts, &rows, page)
}

/// Those in groups that were invited to the group or below it.
pub fn indirect(
    tx: &mut Tx<'_>,
    place: MemberSource,
    user: UserId,
    page: PageRequest,
) -> Result<Page<Seat>> {
    let tree = countable(tx, place, user)?;
    let now = tx.now.0;
    let rows = format!(
        "FROM members m WHERE m.user_id = {user} AND (m.expires_at IS NULL OR m.expires_at > {now}) \
         AND m.access_level >= 10 AND m.namespace_id IN (SELECT id FROM house)"
    );
    let parts = counted(&tree, now, Some(user));
    listed(tx, &tree, &parts, &rows, page)
}

fn countable(tx: &mut Tx<'_>, place: MemberSource, user: UserId) -> Result<Tree> {
    let tree = tree::owned(tx, &place, plain)?;
    tx.find_user(user)?.ok_or_else(Error::missing)?;
    match counts(tx, &tree, user)? {
        true => Ok(tree),
        false => Err(Error::not_found("User")),
    }
}

fn listed(
    tx: &mut Tx<'_>,
    tree: &Tree,
    parts: &str,
    rows: &str,
    page: PageRequest,
) -> Result<Page<Seat>> {
    let (limit, offset) = (page.per_page, page.offset());
    let text =
        format!("{parts} SELECT m.id AS id {rows} ORDER BY m.id LIMIT {limit} OFFSET {offset}");
    let ids: Vec<MemberId> =
        tree.load::<NamespaceRow>(tx, &text)?.into_iter().map(|found| MemberId(found.id)).collect();
    let total = tree.load::<NamespaceRow>(tx, &format!("{parts} SELECT count(*) AS id {rows}"))?;
    type Names = (Option<String>, Option<String>);
    let query = members::table
        .left_join(namespaces::table)
        .left_join(projects::table)
        .filter(members::id.eq_any(ids))
        .order_by(members::id);
    let found: Vec<(Member, Names, Names)> = each_backend!(tx, |conn| query
        .select((
            Member::as_select(),
            (namespaces::full_name.nullable(), namespaces::full_path.nullable()),
            (projects::full_name.nullable(), projects::full_path.nullable()),
        ))
        .load(conn)
        .map_err(error("Member")))?;
    let items = found.into_iter().map(|(member, group, project)| Seat {
        full_name: project.0.or(group.0).unwrap_or_default(),
        full_path: project.1.or(group.1).unwrap_or_default(),
        member,
    });
    let total = Total::Counted(total.first().map_or(0, |found| found.id));
    Ok(Page { items: items.collect(), total })
}
