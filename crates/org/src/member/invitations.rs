//! Addresses that are invited: their owners become members once they are known.

mod accept;
mod letter;
mod store;

use std::collections::BTreeSet;

use db::Tx;
use kernel::{
    AccessLevel, Error, Result, Ts,
    ids::UserId,
    page::{Page, PageRequest},
};
use worker::Queue;

use super::{
    MemberSource, Source,
    actions::{self, AddSummary, EndChange, GrantOutcome, MOST_AT_ONCE, ensure_unlocked},
    member_source::Lineage,
    quota::Quota,
    rules::{self, Terms, sentences},
    store::MemberStore,
};
use crate::{
    access,
    faults::Faults,
    settings::domains,
    user::{User, store::UserStore},
};
pub(super) use accept::end_those_of;
pub use accept::{accept, accept_all, accept_for, find_by_secret, known_as, remove_expired};
pub use letter::SendInvitation;
pub use store::Invitation;

/// The users and addresses to invite.
#[derive(Clone, Debug, Default)]
pub struct Guests {
    pub emails: Vec<String>,
    pub users: Vec<UserId>,
}

/// The outcome of invitations: success, one reason for all, or one for each address that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Refused(String),
    Partly(Vec<(String, String)>),
}

/// Invites addresses and people. Whoever is known becomes a member at once.
pub fn invite(
    tx: &mut Tx<'_>,
    place: MemberSource,
    guests: &Guests,
    terms: Terms,
    quota: Quota,
) -> Result<Outcome> {
    access::lock_access_projection(tx)?;
    if AccessLevel::find(terms.level).is_some_and(|level| level > place.level()) {
        return Err(Error::forbidden());
    }
    let lineage = Lineage::of(tx, place.source)?;
    ensure_unlocked(&lineage)?;
    if guests.emails.len() + guests.users.len() > MOST_AT_ONCE {
        return Ok(Outcome::Refused(actions::too_many()));
    }
    let known = tx.users_by_id(&guests.users)?;
    if known.is_empty() && guests.emails.is_empty() {
        return Ok(Outcome::Refused("Invites cannot be blank".to_owned()));
    }
    let addresses = addressed(tx, &guests.emails)?;
    let people = addresses.iter().filter_map(|(_, user)| user.as_ref()).chain(known.values());
    let people: BTreeSet<UserId> = people.map(|user| user.id).collect();
    let too_many =
        quota.refusal(tx, &lineage, |tx| count_newcomers(tx, place.source, &addresses, &people))?;
    if let Some(why) = too_many {
        return Ok(Outcome::Refused(why));
    }
    let mut done = AddSummary::default();
    for (email, user) in &addresses {
        let given = match user {
            Some(user) => actions::add_or_change(tx, place, &lineage, user, terms)?,
            None => invite_address(tx, place, &lineage, email, terms)?,
        };
        done.add(email, given);
    }
    for user in guests.users.iter().filter_map(|id| known.get(id)) {
        done.add(&user.username, actions::add_or_change(tx, place, &lineage, user, terms)?);
    }
    quota.note(tx, &lineage, done.new)?;
    Ok(if done.refused.is_empty() { Outcome::Done } else { Outcome::Partly(done.refused) })
}

/// An address, and whose it is where that is known.
type Invitee<'a> = (&'a str, Option<User>);

/// Addresses, each once: they differ by more than the case of their letters.
fn addressed<'a>(tx: &mut Tx<'_>, emails: &'a [String]) -> Result<Vec<Invitee<'a>>> {
    let mut seen = BTreeSet::new();
    let emails = emails.iter().filter(|email| seen.insert(email.to_lowercase()));
    emails.map(|email| Ok((email.as_str(), known_as(tx, email)?))).collect()
}

/// How many of these are neither members nor invited yet. Whoever is named in more than one way is one.
fn count_newcomers(
    tx: &mut Tx<'_>,
    source: Source,
    addresses: &[Invitee<'_>],
    people: &BTreeSet<UserId>,
) -> Result<usize> {
    let unknown = addresses.iter().filter(|(_, user)| user.is_none());
    let keys: Vec<String> = unknown.map(|(email, _)| email.to_lowercase()).collect();
    let invited = store::living_to(tx, source, &keys)?;
    Ok(tx.count_strangers(source, people)? + keys.len().saturating_sub(invited))
}

fn invite_address(
    tx: &mut Tx<'_>,
    place: MemberSource,
    lineage: &Lineage,
    email: &str,
    terms: Terms,
) -> Result<GrantOutcome> {
    let mut faults = Faults::default();
    let level = rules::level(lineage, place.source, terms.level, &mut faults);
    rules::check_end(tx.now, terms.expires_at, &mut faults);
    if !domains::is_welcome(tx, email)? {
        faults.add("user", rules::unwelcome(place.source));
    }
    if let Some(why) = sentences(faults) {
        return Ok(GrantOutcome::Refused(why));
    }
    match store::find(tx, place.source, email)? {
        Some(old) if old.has_ended(tx.now) => {
            store::keep(tx, old.id, level, terms.expires_at)?;
            tx.enqueue(&SendInvitation { invitation: old.id })?;
            Ok(GrantOutcome::New)
        }
        Some(old) if old.access_level > place.level() => {
            Ok(GrantOutcome::Refused("not authorized to update member".to_owned()))
        }
        Some(old) => {
            store::keep(tx, old.id, level, terms.expires_at)?;
            Ok(GrantOutcome::Changed)
        }
        None => {
            let id = store::insert(tx, &place, email, level, terms.expires_at)?;
            tx.enqueue(&SendInvitation { invitation: id })?;
            Ok(GrantOutcome::New)
        }
    }
}

/// An invitation with who made it.
pub type InvitationWithAuthor = (Invitation, Option<User>);

/// Invitations that nobody has accepted; `email` narrows them to one address.
pub fn list(
    tx: &mut Tx<'_>,
    place: MemberSource,
    email: Option<&str>,
    page: PageRequest,
) -> Result<Page<InvitationWithAuthor>> {
    let page = store::list(tx, place.source, email, page)?;
    page.try_map_all(|found| told(tx, found))
}

fn told(tx: &mut Tx<'_>, found: Vec<Invitation>) -> Result<Vec<InvitationWithAuthor>> {
    let hosts: Vec<UserId> = found.iter().filter_map(|invitation| invitation.created_by).collect();
    let hosts = tx.users_by_id(&hosts)?;
    let host = |id: Option<UserId>| id.and_then(|id| hosts.get(&id).cloned());
    Ok(found.into_iter().map(|one| (one.clone(), host(one.created_by))).collect())
}

/// The invitation to this address. One to a membership that would have ended is none.
fn living(tx: &mut Tx<'_>, source: Source, email: &str) -> Result<Option<Invitation>> {
    let now = tx.now;
    Ok(store::find(tx, source, email)?.filter(|invitation| !invitation.has_ended(now)))
}

/// Changes what an invitation will give; `None` where there is none to this address.
pub fn change(
    tx: &mut Tx<'_>,
    place: MemberSource,
    email: &str,
    level: Option<AccessLevel>,
    end: EndChange,
) -> Result<Option<InvitationWithAuthor>> {
    let Some(invitation) = living(tx, place.source, email)? else { return Ok(None) };
    let level = level.unwrap_or(invitation.access_level);
    if level.max(invitation.access_level) > place.level() {
        return Err(Error::forbidden());
    }
    let expires_at = end.over(invitation.expires_at);
    let mut faults = Faults::default();
    rules::check_end(tx.now, expires_at, &mut faults);
    faults.into_result()?;
    store::keep(tx, invitation.id, level, expires_at)?;
    let changed = store::find(tx, place.source, email)?;
    Ok(told(tx, changed.into_iter().collect())?.pop())
}

/// Takes an invitation back; false where there is none to this address.
pub fn withdraw(
    tx: &mut Tx<'_>,
    place: MemberSource,
    email: &str,
    unless_newer: Option<Ts>,
) -> Result<bool> {
    let Some(invitation) = living(tx, place.source, email)? else { return Ok(false) };
    if invitation.access_level > place.level() {
        return Err(Error::forbidden());
    }
    invitation.updated_at.ensure_unchanged_since(unless_newer)?;
    store::delete(tx, invitation.id)?;
    Ok(true)
}

impl Invitation {
    pub fn source(&self) -> Source {
        Source::of(self.project_id, self.namespace_id)
    }

    fn has_ended(&self, now: Ts) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// What an invitation is to, for whoever holds its secret.
pub fn target(tx: &mut Tx<'_>, invitation: &Invitation) -> Result<super::letters::SourceName> {
    let lineage = Lineage::of(tx, invitation.source())?;
    super::letters::SourceName::of(tx, invitation.source(), &lineage)
}
