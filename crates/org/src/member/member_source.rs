//! A project or group as the source of memberships, with the caller's standing.

use db::Tx;
use kernel::{
    Ability, AccessLevel, Actor, Grant, Result, Standing,
    access::{Group, Project},
    ids::{NamespaceId, UserId},
};

use super::{Source, store::MemberStore};
use crate::{
    namespace::{Kind, Namespace},
    project::store::ProjectStore,
};

/// A source with the caller's standing: the same rules hold for projects and groups.
#[derive(Clone, Copy, Debug)]
pub struct MemberSource {
    pub source: Source,
    pub(super) who: Standing,
}

impl MemberSource {
    pub fn project<A: Ability<Scope = Project>>(grant: &Grant<A>) -> Self {
        Self { source: Source::Project(grant.project()), who: *grant.who() }
    }

    pub fn group<A: Ability<Scope = Group>>(grant: &Grant<A>) -> Self {
        Self { source: Source::Group(grant.group()), who: *grant.who() }
    }

    pub fn actor(&self) -> Actor {
        self.who.actor
    }

    pub(crate) fn level(&self) -> AccessLevel {
        self.who.level
    }

    pub(crate) fn is_archived(&self) -> bool {
        self.who.archived
    }

    /// Members of projects are for maintainers, of groups for owners.
    pub(crate) fn may_manage(&self) -> bool {
        match self.source {
            Source::Project(_) => self.who.is(AccessLevel::Maintainer),
            Source::Group(_) => self.who.is(AccessLevel::Owner),
        }
    }
}

/// The folders that a source lies in, from the inside out; a group itself comes first.
#[derive(Clone, Debug)]
pub(crate) struct Lineage {
    source: Source,
    all: Vec<Namespace>,
}

impl Lineage {
    pub(crate) fn of(tx: &mut Tx<'_>, source: Source) -> Result<Self> {
        let home = match source {
            Source::Group(id) => id,
            Source::Project(id) => tx.project(id)?.namespace_id,
        };
        Ok(Self { source, all: tx.lineage(home)? })
    }

    pub(crate) fn source(&self) -> Source {
        self.source
    }

    pub(crate) fn ids(&self) -> Vec<NamespaceId> {
        self.all.iter().map(|namespace| namespace.id).collect()
    }

    /// The group itself, or what a project lies in.
    pub(crate) fn home(&self) -> Option<&Namespace> {
        self.all.first()
    }

    /// The namespace at the top.
    pub(crate) fn top(&self) -> Option<NamespaceId> {
        self.all.last().map(|namespace| namespace.id)
    }

    /// The folders whose members are members here without having been added here.
    pub(crate) fn above(&self) -> &[Namespace] {
        match self.source {
            Source::Group(_) => self.all.get(1..).unwrap_or_default(),
            Source::Project(_) => &self.all,
        }
    }

    pub(crate) fn is_top_level_group(&self) -> bool {
        matches!(self.source, Source::Group(_)) && self.all.len() == 1
    }

    /// A group can keep its projects from having members of their own.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self.source, Source::Project(_))
            && self.home().is_some_and(|home| home.settings().membership_lock)
    }

    /// Whether nobody is to get letters about what happens here.
    pub(crate) fn is_silent(&self) -> bool {
        self.all.iter().any(|group| group.settings().emails_disabled == Some(true))
    }

    /// Whether the source is a project of the user's personal namespace.
    pub(crate) fn is_home_of(&self, user: UserId) -> bool {
        matches!(self.source, Source::Project(_))
            && self
                .home()
                .is_some_and(|home| home.kind == Kind::User && home.owner_id == Some(user))
    }
}
