//! Giving, changing and taking membership.

use std::collections::BTreeSet;

use db::Tx;
use kernel::{AccessLevel, Error, Result, Ts, error::Kind, ids::UserId};

use super::{
    Event, Member, MemberSource, Membership, NewMember, Source, State, Step,
    event::Fact,
    invitations, letters,
    member_source::Lineage,
    quota::Quota,
    requests,
    rules::{self, Newness, Terms, ensure_another_owner, sentences},
    steps::{drop_member, ensure_step, insert, refresh},
    store::MemberStore,
};
use crate::{
    access,
    faults::Faults,
    user::{User, store::UserStore},
};

/// Adds one person.
pub fn add(
    tx: &mut Tx<'_>,
    place: MemberSource,
    user: UserId,
    terms: Terms,
    quota: Quota,
) -> Result<Member> {
    access::lock_access_projection(tx)?;
    let user = tx.find_user(user)?.ok_or_else(|| Error::not_found("User"))?;
    if tx.find_member(place.source, user.id)?.is_some() {
        return Err(Error::conflict().whole("Member already exists"));
    }
    let lineage = Lineage::of(tx, place.source)?;
    ensure_unlocked(&lineage)?;
    if let Some(why) = quota.refusal(tx, &lineage, |_| Ok(1))? {
        return Err(Error::bad_request().whole(why));
    }
    let (level, faults) = rules::check(tx, &lineage, place.source, &user, terms, Newness::New)?;
    faults.into_result()?;
    if level > place.level() {
        return Err(Error::forbidden());
    }
    reconcile(tx, place, &lineage, &user, level, terms.expires_at)?;
    quota.note(tx, &lineage, 1)?;
    tx.find_member_row(place.source, user.id)?.ok_or_else(Error::missing)
}

/// Makes somebody a member who is none. Whatever they were before that - asking, invited - is over.
pub(super) fn reconcile(
    tx: &mut Tx<'_>,
    place: MemberSource,
    lineage: &Lineage,
    user: &User,
    level: AccessLevel,
    expires_at: Option<Ts>,
) -> Result<()> {
    if requests::end(tx, place.source, user.id)? {
        ensure_step(State::Requested, Step::Add)?;
    }
    if invitations::end_those_of(tx, place.source, user)? {
        ensure_step(State::Invited, Step::Add)?;
    }
    let new = NewMember {
        source: place.source,
        user_id: user.id,
        access_level: level,
        expires_at,
        created_by: place.actor().id,
    };
    insert(tx, &new)?;
    letters::granted(tx, lineage, user, level)
}

/// The most people that one call may add.
pub const MOST_AT_ONCE: usize = 100;

/// What a call is told that names more people than that.
pub(super) fn too_many() -> String {
    format!("Too many users specified (limit is {MOST_AT_ONCE})")
}

/// Adds many people, or changes their role where they have one; those with whom that cannot be done are named with the
/// reason, in one sentence.
pub fn add_each(
    tx: &mut Tx<'_>,
    place: MemberSource,
    users: &[UserId],
    terms: Terms,
    quota: Quota,
) -> Result<Option<String>> {
    access::lock_access_projection(tx)?;
    if users.len() > MOST_AT_ONCE {
        return Ok(Some(too_many()));
    }
    let lineage = Lineage::of(tx, place.source)?;
    ensure_unlocked(&lineage)?;
    let known = tx.users_by_id(users)?;
    if known.is_empty() {
        return Ok(Some("No users specified.".to_owned()));
    }
    let people: BTreeSet<UserId> = known.keys().copied().collect();
    let too_many = quota.refusal(tx, &lineage, |tx| tx.count_strangers(place.source, &people))?;
    if let Some(why) = too_many {
        return Ok(Some(why));
    }
    let mut done = AddSummary::default();
    for user in users.iter().filter_map(|id| known.get(id)) {
        done.add(&user.username, add_or_change(tx, place, &lineage, user, terms)?);
    }
    quota.note(tx, &lineage, done.new)?;
    let refused: Vec<String> =
        done.refused.into_iter().map(|(name, why)| format!("{name}: {why}")).collect();
    Ok((!refused.is_empty()).then(|| refused.join(" and ")))
}

/// The outcome of granting a role to one user.
pub(super) enum GrantOutcome {
    /// They had none here; an address was not invited either.
    New,
    /// They have another one now, or the same.
    Changed,
    Refused(String),
}

/// The outcome of granting roles to several users.
#[derive(Default)]
pub(super) struct AddSummary {
    pub(super) new: usize,
    /// With the reasons.
    pub(super) refused: Vec<(String, String)>,
}

impl AddSummary {
    pub(super) fn add(&mut self, name: &str, given: GrantOutcome) {
        match given {
            GrantOutcome::New => self.new += 1,
            GrantOutcome::Changed => {}
            GrantOutcome::Refused(why) => self.refused.push((name.to_owned(), why)),
        }
    }
}

/// Gives somebody a role, new or instead of the one they have.
pub(super) fn add_or_change(
    tx: &mut Tx<'_>,
    place: MemberSource,
    lineage: &Lineage,
    user: &User,
    terms: Terms,
) -> Result<GrantOutcome> {
    let Some(member) = tx.find_member(place.source, user.id)? else {
        let (level, faults) = rules::check(tx, lineage, place.source, user, terms, Newness::New)?;
        if let Some(why) = sentences(faults) {
            return Ok(GrantOutcome::Refused(why));
        }
        if level > place.level() {
            return Ok(GrantOutcome::Refused("not authorized to create member".to_owned()));
        }
        reconcile(tx, place, lineage, user, level, terms.expires_at)?;
        return Ok(GrantOutcome::New);
    };
    match altered(tx, place, lineage, &member, user, terms) {
        Ok(_) => Ok(GrantOutcome::Changed),
        Err(refused) if refused.kind == Kind::Forbidden => {
            Ok(GrantOutcome::Refused("not authorized to update member".to_owned()))
        }
        Err(other) => {
            let fields = other.into_fields()?;
            let mut faults = Faults::default();
            fields.into_iter().for_each(|(field, texts)| faults.add_each(&field, texts));
            Ok(sentences(faults).map_or(GrantOutcome::Changed, GrantOutcome::Refused))
        }
    }
}

pub(super) fn ensure_unlocked(lineage: &Lineage) -> Result<()> {
    match lineage.is_locked() {
        true => Err(Error::not_allowed()),
        false => Ok(()),
    }
}

/// Change of the expiry of a membership.
#[derive(Clone, Copy, Debug)]
pub enum EndChange {
    Keep,
    Set(Option<Ts>),
}

impl EndChange {
    pub fn over(self, old: Option<Ts>) -> Option<Ts> {
        match self {
            Self::Keep => old,
            Self::Set(end) => end,
        }
    }
}

/// Changes somebody's role or its end.
pub fn change(
    tx: &mut Tx<'_>,
    place: MemberSource,
    user: UserId,
    level: i64,
    end: EndChange,
) -> Result<Member> {
    access::lock_access_projection(tx)?;
    let member = tx.find_member(place.source, user)?.ok_or_else(Error::missing)?;
    let lineage = Lineage::of(tx, place.source)?;
    let terms = Terms { level, expires_at: end.over(member.expires_at) };
    let user = tx.user(user)?;
    altered(tx, place, &lineage, &member, &user, terms)
}

fn altered(
    tx: &mut Tx<'_>,
    place: MemberSource,
    lineage: &Lineage,
    member: &Member,
    user: &User,
    terms: Terms,
) -> Result<Member> {
    if lineage.is_home_of(user.id) || member.level() > place.level() {
        return Err(Error::forbidden());
    }
    let (level, faults) = rules::check(tx, lineage, place.source, user, terms, Newness::Known)?;
    // An end that has been there all along is not asked for now.
    let unchanged = (level, terms.expires_at) == (member.level(), member.expires_at);
    if unchanged && faults.is_empty() {
        return Ok(member.clone());
    }
    faults.into_result()?;
    if level > place.level() {
        return Err(Error::forbidden());
    }
    if member.access_level == AccessLevel::Owner {
        ensure_another_owner(tx, lineage, place.source, user)?;
    }
    tx.save_member(member, level, terms.expires_at)?;
    refresh(tx, place.source, user.id)?;
    let fact = Fact::of(member, level, place.actor().id);
    tx.emit(Event::Changed(Fact { expires_at: terms.expires_at, ..fact }))?;
    tx.find_member_row(place.source, user.id)?.ok_or_else(Error::missing)
}

/// Treatment of memberships below a group when a member of the group is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescendantMemberships {
    Keep,
    Remove,
}

/// Options of removing a member.
#[derive(Clone, Copy, Debug)]
pub struct RemovalOptions {
    pub below: DescendantMemberships,
    /// Whether issues and merge requests lose them as an assignee.
    pub unassign_issuables: bool,
    pub unless_newer: Option<Ts>,
}

/// Takes somebody out. Everybody may take out themselves.
pub fn remove(
    tx: &mut Tx<'_>,
    place: MemberSource,
    user: UserId,
    how: RemovalOptions,
) -> Result<()> {
    access::lock_access_projection(tx)?;
    let member = tx.find_member(place.source, user)?.ok_or_else(Error::missing)?;
    member.updated_at.ensure_unchanged_since(how.unless_newer)?;
    let oneself = place.actor().id == Some(user);
    let may = oneself || (place.may_manage() && member.level() <= place.level());
    let lineage = Lineage::of(tx, place.source)?;
    let user = tx.user(user)?;
    if !may || lineage.is_home_of(user.id) || user.bot {
        return Err(Error::forbidden());
    }
    if member.access_level == AccessLevel::Owner {
        ensure_another_owner(tx, &lineage, place.source, &user)?;
    }
    drop_member(tx, place, &member, how.unassign_issuables)?;
    if let (Source::Group(_), DescendantMemberships::Remove, Some(group)) =
        (place.source, how.below, lineage.home())
    {
        for inner in tx.members_below(group, user.id)? {
            drop_member(tx, place, &inner, how.unassign_issuables)?;
        }
    }
    // A group's roles are worked out with all below it.
    refresh(tx, place.source, user.id)
}

/// How many expired memberships one transaction removes.
const REMOVED_AT_ONCE: i64 = 200;

/// Removes memberships whose end has come; tells whether there may be more.
pub fn remove_expired(tx: &mut Tx<'_>) -> Result<bool> {
    access::lock_access_projection(tx)?;
    let expired = tx.expired_members(REMOVED_AT_ONCE)?;
    for member in &expired {
        tx.delete_member(member.source(), member.user_id)?;
        refresh(tx, member.source(), member.user_id)?;
        let fact = Fact::of(member, member.level(), None);
        tx.emit(Event::Removed { fact, unassign_issuables: false })?;
    }
    Ok(i64::try_from(expired.len()).unwrap_or(0) == REMOVED_AT_ONCE)
}

/// Sets a role apart from what a directory says. Nobody's role comes from a directory here, so that this is always
/// refused.
pub fn override_level(tx: &mut Tx<'_>, place: MemberSource, user: UserId) -> Result<Membership> {
    tx.find_member(place.source, user)?.ok_or_else(Error::missing)?;
    Err(Error::forbidden())
}
