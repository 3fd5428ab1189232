//! Memberships that wait for approval, anywhere below a top-level group.

use std::collections::BTreeSet;

use db::Tx;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Integer, Nullable, Text},
};
use kernel::{
    AccessLevel, Error, Grant, Result,
    access::SignedIn,
    ids::{MemberId, UserId},
    page::{Page, PageRequest, Total},
};

use super::{
    Event, Member, MemberSource, State, Step,
    event::Fact,
    member_source::Lineage,
    rules::ensure_another_owner,
    steps::{ensure_step, refresh},
    store::MemberStore,
    tree::{self, NamespaceRow, plain},
};
use crate::{
    access::{self, IdOrPath, locate_group},
    policy::AskForSeats,
    user::{User, store::UserStore},
};

/// Lets all memberships of somebody in the tree rest, or work again. The person is looked for before the group.
pub fn set_state(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    group: &IdOrPath,
    user: UserId,
    to: State,
) -> Result<()> {
    let user = tx.find_user(user)?.ok_or_else(|| Error::not_found("User"))?;
    let (scope, who) = locate_group(tx, grant.actor(), group)?;
    let place = MemberSource::group(&Grant::<AskForSeats>::check(&who, scope)?);
    access::lock_access_projection(tx)?;
    let tree = tree::owned(tx, &place, plain)?;
    let step = if to == State::Awaiting { Step::Suspend } else { Step::Approve };
    let all = tree::members_of(tx, &tree, user.id)?;
    let theirs: Vec<&Member> = all.iter().filter(|one| one.state().after(step).is_some()).collect();
    if theirs.is_empty() {
        return Err(Error::unprocessable().whole("No memberships found"));
    }
    if step == Step::Suspend {
        ensure_may_rest(tx, &place, &user, &theirs)?;
    }
    for member in theirs {
        take(tx, place, member, step)?;
    }
    Ok(())
}

fn ensure_may_rest(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    user: &User,
    theirs: &[&Member],
) -> Result<()> {
    let owns = theirs
        .iter()
        .any(|one| one.source() == place.source && one.access_level == AccessLevel::Owner);
    if owns {
        let lineage = Lineage::of(tx, place.source)?;
        let last = |_| Error::unprocessable().whole("The last owner cannot be set to awaiting");
        ensure_another_owner(tx, &lineage, place.source, user).map_err(last)?;
    }
    if place.actor().id == Some(user.id) {
        return Err(Error::unprocessable().whole("You cannot set yourself to awaiting"));
    }
    Ok(())
}

fn take(tx: &mut Tx<'_>, place: MemberSource, member: &Member, step: Step) -> Result<()> {
    let to = ensure_step(member.state(), step)?;
    let awaiting = (to == State::Awaiting).then_some(member.level());
    if !tx.move_member(member, awaiting)? {
        return Err(Error::conflict().whole("409 Conflict: Resource lock"));
    }
    refresh(tx, member.source(), member.user_id)?;
    let level = if awaiting.is_some() { AccessLevel::NoAccess } else { member.level() };
    let actor = place.actor().id;
    let fact = Fact::of(member, level, actor);
    let before = Some((member.access_level, member.expires_at));
    tx.emit(Event::Changed(Fact { before, ..fact }))
}

fn none_pending() -> Error {
    Error::bad_request().because("No memberships found")
}

/// Approves all memberships that somebody waits for, named by one of them.
pub fn approve(tx: &mut Tx<'_>, place: MemberSource, id: MemberId) -> Result<()> {
    access::lock_access_projection(tx)?;
    let tree = tree::owned(tx, &place, plain)?;
    let named = tx.find_member_by_id(id)?.ok_or_else(Error::missing)?;
    let all = tree::members_of(tx, &tree, named.user_id)?;
    if all.iter().all(|member| member.id != id) {
        return Err(Error::missing());
    }
    approve_each(tx, place, all)
}

/// Approves everybody in the tree.
pub fn approve_all(tx: &mut Tx<'_>, place: MemberSource) -> Result<()> {
    access::lock_access_projection(tx)?;
    let tree = tree::owned(tx, &place, plain)?;
    let all = tree::members(tx, &tree, "m.awaiting_level IS NOT NULL")?;
    approve_each(tx, place, all)
}

fn approve_each(tx: &mut Tx<'_>, place: MemberSource, mut all: Vec<Member>) -> Result<()> {
    all.retain(|member| member.state() == State::Awaiting);
    if all.is_empty() {
        return Err(none_pending());
    }
    all.iter().try_for_each(|member| take(tx, place, member, Step::Approve))
}

/// Somebody who is not in yet: a person whose membership waits, or an address that was invited.
#[derive(Clone, Debug)]
pub struct PendingMember {
    /// Of the membership, or of the invitation.
    pub id: i64,
    pub user: Option<User>,
    pub email: String,
    pub approved: bool,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    user_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    email: Option<String>,
    #[diesel(sql_type = Integer)]
    approved: i32,
}

/// Who waits anywhere in the tree, each person and each address once.
pub fn list(
    tx: &mut Tx<'_>,
    place: MemberSource,
    page: PageRequest,
) -> Result<Page<PendingMember>> {
    let tree = tree::owned(tx, &place, plain)?;
    let (parts, now) = (tree.parts(), tx.now.0);
    let living = format!("(w.expires_at IS NULL OR w.expires_at > {now})");
    let here =
        "(w.namespace_id IN (SELECT id FROM groups) OR w.project_id IN (SELECT id FROM inside))";
    let rows = format!(
        "WITH {parts}, waiting AS (SELECT min(w.id) AS id, w.user_id AS user_id, CAST(NULL AS TEXT) AS email, 0 AS approved \
         FROM members w WHERE w.awaiting_level IS NOT NULL AND {living} AND {here} GROUP BY w.user_id \
         UNION ALL SELECT min(w.id), CAST(NULL AS BIGINT), min(w.email), 1 FROM member_invitations w \
         WHERE {living} AND {here} GROUP BY w.email_key)"
    );
    let (limit, offset) = (page.per_page, page.offset());
    let text = format!(
        "{rows} SELECT id, user_id, email, approved FROM waiting ORDER BY id LIMIT {limit} OFFSET {offset}"
    );
    let found: Vec<Row> = tree.load(tx, &text)?;
    let count: Vec<NamespaceRow> =
        tree.load(tx, &format!("{rows} SELECT count(*) AS id FROM waiting"))?;
    let ids: BTreeSet<UserId> = found.iter().filter_map(|row| row.user_id.map(UserId)).collect();
    let people = tx.users_by_id(&ids.into_iter().collect::<Vec<_>>())?;
    let items = found.into_iter().map(|row| {
        let user = row.user_id.and_then(|id| people.get(&UserId(id)).cloned());
        let email = row.email.or_else(|| user.as_ref().map(|user| user.email.clone()));
        PendingMember {
            id: row.id,
            user,
            email: email.unwrap_or_default(),
            approved: row.approved == 1,
        }
    });
    let total = Total::Counted(count.first().map_or(0, |count| count.id));
    Ok(Page { items: items.collect(), total })
}
