//! Giving and taking membership.

use db::Tx;
use kernel::{
    Ability, AccessLevel, Actor, Error, Grant, Result, Standing, Ts,
    access::{Group, Project},
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{Member, store::MemberStore};
use crate::{
    access,
    faults::Faults,
    namespace::{Kind, Namespace},
    project::store::ProjectStore,
    token::actions::sentence,
    user::{User, store::UserStore},
};

/// What somebody is a member of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Project(ProjectId),
    Group(NamespaceId),
}

impl Source {
    pub(crate) fn columns(self) -> (Option<ProjectId>, Option<NamespaceId>) {
        match self {
            Self::Project(id) => (Some(id), None),
            Self::Group(id) => (None, Some(id)),
        }
    }
}

/// A membership as it is first written down.
#[derive(Clone, Copy, Debug)]
pub struct NewMember {
    pub source: Source,
    pub user_id: UserId,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
    pub created_by: Option<UserId>,
}

/// Adds a member; effective access follows in the same transaction.
pub fn insert(tx: &mut Tx<'_>, new: &NewMember) -> Result<()> {
    tx.insert_member(new)?;
    refresh(tx, new.source, new.user_id)
}

/// Whoever a personal namespace belongs to owns the projects in it, as members, too. Effective access is refreshed by
/// who put the project there.
pub fn settle_owner(tx: &mut Tx<'_>, project: ProjectId, owner: Option<UserId>) -> Result<()> {
    let Some(owner) = owner else { return Ok(()) };
    tx.insert_member(&NewMember {
        source: Source::Project(project),
        user_id: owner,
        access_level: AccessLevel::Owner,
        expires_at: None,
        created_by: Some(owner),
    })
}

fn refresh(tx: &mut Tx<'_>, source: Source, user: UserId) -> Result<()> {
    match source {
        Source::Project(id) => access::refresh_project_member(tx, id, user),
        Source::Group(id) => access::refresh_group_member(tx, id, user),
    }
}

/// Where members come and go, and how the caller stands there: the same rules hold for projects and groups.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub source: Source,
    who: Standing,
}

impl Place {
    pub fn project<A: Ability<Scope = Project>>(grant: &Grant<A>) -> Self {
        Self { source: Source::Project(grant.project()), who: *grant.who() }
    }

    pub fn group<A: Ability<Scope = Group>>(grant: &Grant<A>) -> Self {
        Self { source: Source::Group(grant.group()), who: *grant.who() }
    }

    fn actor(&self) -> Actor {
        self.who.actor
    }

    /// Members of projects are for maintainers, of groups for owners.
    fn may_manage(&self) -> bool {
        match self.source {
            Source::Project(_) => self.who.is(AccessLevel::Maintainer),
            Source::Group(_) => self.who.is(AccessLevel::Owner),
        }
    }
}

/// A role and its end, as they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub level: i64,
    pub expires_at: Option<Ts>,
}

/// The folders that a source lies in, from the inside out; a group itself comes first.
fn lineage(tx: &mut Tx<'_>, source: Source) -> Result<Vec<Namespace>> {
    match source {
        Source::Group(id) => tx.lineage(id),
        Source::Project(id) => {
            let home = tx.project(id)?.namespace_id;
            tx.lineage(home)
        }
    }
}

/// The folders whose members are members here without having been added here.
fn above(source: Source, lineage: &[Namespace]) -> &[Namespace] {
    match source {
        Source::Group(_) => lineage.get(1..).unwrap_or_default(),
        Source::Project(_) => lineage,
    }
}

/// Adds one person.
pub fn add(tx: &mut Tx<'_>, place: Place, user: UserId, terms: Terms) -> Result<Member> {
    let lineage = lineage(tx, place.source)?;
    ensure_unlocked(place.source, &lineage)?;
    let user = tx.find_user(user)?.ok_or(Error::NotFound("User"))?;
    if tx.find_member(place.source, user.id)?.is_some() {
        return Err(Error::Conflict("Member already exists".to_owned()));
    }
    let (level, faults) = check(tx, place, &lineage, &user, terms)?;
    faults.into_result()?;
    if level > place.who.level {
        return Err(Error::Forbidden);
    }
    let new = NewMember {
        source: place.source,
        user_id: user.id,
        access_level: level,
        expires_at: terms.expires_at,
        created_by: place.actor().id,
    };
    insert(tx, &new)?;
    tx.find_member(place.source, user.id)?.ok_or(Error::Missing)
}

/// The most people that one call may add.
pub const MOST_AT_ONCE: usize = 100;

/// Adds many people; those who cannot be added are named with the reason, in one sentence.
pub fn add_each(
    tx: &mut Tx<'_>,
    place: Place,
    users: &[UserId],
    terms: Terms,
) -> Result<Option<String>> {
    if users.len() > MOST_AT_ONCE {
        return Ok(Some(format!("Too many users specified (limit is {MOST_AT_ONCE})")));
    }
    let lineage = lineage(tx, place.source)?;
    ensure_unlocked(place.source, &lineage)?;
    let mut refused = Vec::new();
    for id in users {
        let Some(user) = tx.find_user(*id)? else { continue };
        if tx.find_member(place.source, user.id)?.is_some() {
            refused.push(format!("{}: User already exists in source", user.username));
            continue;
        }
        let (level, faults) = check(tx, place, &lineage, &user, terms)?;
        if let Some(why) = sentence(faults) {
            refused.push(format!("{}: {}", user.username, why.replace('_', " ")));
            continue;
        }
        if level > place.who.level {
            refused.push(format!("{}: not authorized to create member", user.username));
            continue;
        }
        let new = NewMember {
            source: place.source,
            user_id: user.id,
            access_level: level,
            expires_at: terms.expires_at,
            created_by: place.actor().id,
        };
        insert(tx, &new)?;
    }
    Ok((!refused.is_empty()).then(|| refused.join(" and ")))
}

/// A group can keep its projects from having members of their own.
fn ensure_unlocked(source: Source, lineage: &[Namespace]) -> Result<()> {
    let locked = lineage.first().is_some_and(|home| home.settings().membership_lock);
    match source {
        Source::Project(_) if locked => Err(Error::NotAllowed("405 Method Not Allowed".to_owned())),
        _ => Ok(()),
    }
}

/// The level that was asked for, and what speaks against giving it.
fn check(
    tx: &mut Tx<'_>,
    place: Place,
    lineage: &[Namespace],
    user: &User,
    terms: Terms,
) -> Result<(AccessLevel, Faults)> {
    let mut faults = Faults::default();
    let top = matches!(place.source, Source::Group(_)) && lineage.len() == 1;
    let level = AccessLevel::find(terms.level).filter(|level| match level {
        AccessLevel::NoAccess | AccessLevel::Admin => false,
        AccessLevel::Minimal => top,
        _ => true,
    });
    if level.is_none() {
        faults.add("access_level", "is not included in the list");
    }
    let level = level.unwrap_or_default();
    let above = above(place.source, lineage);
    let ids: Vec<NamespaceId> = above.iter().map(|group| group.id).collect();
    if let Some((inherited, from)) = tx.highest_in(&ids, user.id)?.filter(|_| faults.is_empty())
        && level < inherited
    {
        let name = above.iter().find(|group| group.id == from).map_or("", |group| &group.name);
        faults.add(
            "access_level",
            format!(
                "should be greater than or equal to {} inherited membership from group {name}",
                role(inherited)
            ),
        );
    }
    if terms.expires_at.is_some_and(|end| end.date() < tx.now.date()) {
        faults.add("expires_at", "cannot be a date in the past");
    }
    if user.bot {
        faults.add("user_id", "project bots cannot be added to other groups / projects");
    }
    Ok((level, faults))
}

/// The name of a role, as sentences and payloads tell it.
pub fn role(level: AccessLevel) -> &'static str {
    match level {
        AccessLevel::NoAccess => "No access",
        AccessLevel::Minimal => "Minimal Access",
        AccessLevel::Guest => "Guest",
        AccessLevel::Reporter => "Reporter",
        AccessLevel::Developer => "Developer",
        AccessLevel::Maintainer => "Maintainer",
        AccessLevel::Owner | AccessLevel::Admin => "Owner",
    }
}

/// What becomes of the end of a membership that is changed.
#[derive(Clone, Copy, Debug)]
pub enum End {
    Keep,
    Set(Option<Ts>),
}

/// Changes somebody's role or its end.
pub fn change(tx: &mut Tx<'_>, place: Place, user: UserId, level: i64, end: End) -> Result<Member> {
    let member = tx.find_member(place.source, user)?.ok_or(Error::Missing)?;
    let lineage = lineage(tx, place.source)?;
    if owns_home(place.source, &lineage, user) || member.access_level > place.who.level {
        return Err(Error::Forbidden);
    }
    let expires_at = match end {
        End::Keep => member.expires_at,
        End::Set(at) => at,
    };
    let person = User { bot: false, ..tx.user(user)? };
    let asked = Terms { level, expires_at };
    let (level, faults) = check(tx, place, &lineage, &person, asked)?;
    faults.into_result()?;
    if level > place.who.level {
        return Err(Error::Forbidden);
    }
    let demoted = member.access_level == AccessLevel::Owner && level < AccessLevel::Owner;
    if demoted {
        ensure_another_owner(tx, place.source, &lineage, user)?;
    }
    tx.keep_member(&member, level, expires_at)?;
    refresh(tx, place.source, user)?;
    tx.find_member(place.source, user)?.ok_or(Error::Missing)
}

/// Whether the source is a project of the user's personal namespace.
fn owns_home(source: Source, lineage: &[Namespace], user: UserId) -> bool {
    let home = lineage.first().filter(|home| home.kind == Kind::User);
    matches!(source, Source::Project(_)) && home.is_some_and(|home| home.owner_id == Some(user))
}

/// A group always has somebody who owns it, itself or from above.
fn ensure_another_owner(
    tx: &mut Tx<'_>,
    source: Source,
    lineage: &[Namespace],
    user: UserId,
) -> Result<()> {
    if matches!(source, Source::Project(_)) {
        return Ok(());
    }
    let ids: Vec<NamespaceId> = lineage.iter().map(|group| group.id).collect();
    match tx.count_other_owners(&ids, user)? {
        0 => Err(Error::Forbidden),
        _ => Ok(()),
    }
}

/// What becomes of memberships below a group that somebody is taken out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    Keep,
    Remove,
}

/// Takes somebody out. Everybody may take out themselves.
pub fn remove(
    tx: &mut Tx<'_>,
    place: Place,
    user: UserId,
    below: Below,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let member = tx.find_member(place.source, user)?.ok_or(Error::Missing)?;
    let oneself = place.actor().id == Some(user);
    let may = oneself || (place.may_manage() && member.access_level <= place.who.level);
    let lineage = lineage(tx, place.source)?;
    if !may || owns_home(place.source, &lineage, user) || tx.user(user)?.bot {
        return Err(Error::Forbidden);
    }
    member.updated_at.ensure_unchanged_since(unless_newer)?;
    if member.access_level == AccessLevel::Owner {
        ensure_another_owner(tx, place.source, &lineage, user)?;
    }
    tx.delete_member(place.source, user)?;
    if let (Source::Group(_), Below::Remove, Some(group)) = (place.source, below, lineage.first()) {
        for inner in tx.memberships_below(group, user)? {
            tx.delete_member(inner, user)?;
        }
    }
    refresh(tx, place.source, user)
}

/// How many expired memberships one transaction removes.
const REMOVED_AT_ONCE: i64 = 200;

/// Removes memberships whose end has come; tells whether there may be more.
pub fn remove_expired(tx: &mut Tx<'_>) -> Result<bool> {
    let expired = tx.expired_members(REMOVED_AT_ONCE)?;
    for member in &expired {
        tx.delete_member(member.source(), member.user_id)?;
        refresh(tx, member.source(), member.user_id)?;
    }
    Ok(i64::try_from(expired.len()).unwrap_or(0) == REMOVED_AT_ONCE)
}
