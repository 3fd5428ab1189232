//! Roles, a caller's standing in a project or group, and grants: proofs that an ability was checked.

mod level;

use std::{net::IpAddr, sync::Arc};

pub use level::AccessLevel;

use crate::{
    Error, Result,
    ids::{NamespaceId, ProjectId, UserId},
};

crate::text_enum! {
    /// The visibility of a project or group.
    pub enum Visibility { Private = "private", Internal = "internal", Public = "public" }
}

crate::text_enum! {
    /// The access level of a project's feature.
    pub enum FeatureAccess { Disabled = "disabled", Private = "private", Enabled = "enabled", Public = "public" }
}

/// The features of a project that can be switched off or kept to members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    Repository,
    Issues,
    MergeRequests,
    Forking,
    Builds,
    Wiki,
    Snippets,
}

/// The access of each [`Feature`] of one project.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    pub repository: FeatureAccess,
    pub issues: FeatureAccess,
    pub merge_requests: FeatureAccess,
    pub forking: FeatureAccess,
    pub builds: FeatureAccess,
    pub wiki: FeatureAccess,
    pub snippets: FeatureAccess,
}

impl Features {
    pub const ALL_ENABLED: Self = Self {
        repository: FeatureAccess::Enabled,
        issues: FeatureAccess::Enabled,
        merge_requests: FeatureAccess::Enabled,
        forking: FeatureAccess::Enabled,
        builds: FeatureAccess::Enabled,
        wiki: FeatureAccess::Enabled,
        snippets: FeatureAccess::Enabled,
    };

    pub fn of(&self, feature: Feature) -> FeatureAccess {
        match feature {
            Feature::Repository => self.repository,
            Feature::Issues => self.issues,
            Feature::MergeRequests => self.merge_requests,
            Feature::Forking => self.forking,
            Feature::Builds => self.builds,
            Feature::Wiki => self.wiki,
            Feature::Snippets => self.snippets,
        }
    }
}

/// The caller. An anonymous one has no id.
#[derive(Clone, Copy, Debug, Default)]
pub struct Actor {
    pub id: Option<UserId>,
    /// Sees everything and may do everything.
    pub admin: bool,
    /// External users count as outsiders on internal projects.
    pub external: bool,
    /// From where they ask; what the program does by itself comes from nowhere, and no network is closed to it.
    pub address: Option<IpAddr>,
}

impl Actor {
    pub const ANONYMOUS: Self = Self { id: None, admin: false, external: false, address: None };

    /// The same, asking from there.
    #[must_use]
    pub fn at(self, address: Option<IpAddr>) -> Self {
        Self { address, ..self }
    }

    /// The id, where the ability was "signed in".
    pub fn user(&self) -> Result<UserId> {
        self.id.ok_or_else(Error::unauthenticated)
    }
}

/// The whole installation, as a scope.
#[derive(Clone, Copy, Debug)]
pub struct Instance;

/// The facts of a project that every request inside it needs, loaded once with the caller's standing.
#[derive(Clone, Debug)]
pub struct ProjectFacts {
    pub id: ProjectId,
    pub namespace_id: NamespaceId,
    pub name: String,
    /// `group/subgroup/project`.
    pub full_path: String,
    /// `None` until the first push.
    pub default_branch: Option<String>,
    /// The role that may make the first push; of no meaning afterwards.
    pub first_push: AccessLevel,
    pub visibility: Visibility,
    pub archived: bool,
    pub features: Features,
}

/// One project, as a scope.
#[derive(Clone, Debug)]
pub struct Project(pub Arc<ProjectFacts>);

/// The facts of a group or personal namespace that every request inside it needs.
#[derive(Clone, Debug)]
pub struct GroupFacts {
    pub id: NamespaceId,
    pub name: String,
    pub full_path: String,
    pub visibility: Visibility,
}

/// One group, as a scope.
#[derive(Clone, Debug)]
pub struct Group(pub Arc<GroupFacts>);

/// The caller and their role and rights in one project or group.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    pub actor: Actor,
    /// The effective role: highest of every membership; administrators are owners.
    pub level: AccessLevel,
    /// Whether the caller may know of the scope.
    pub visible: bool,
    pub visibility: Visibility,
    pub archived: bool,
    pub features: Features,
}

impl Standing {
    /// How `actor` stands in the installation itself.
    pub fn in_instance(actor: Actor) -> Self {
        Self {
            actor,
            level: if actor.admin { AccessLevel::Owner } else { AccessLevel::NoAccess },
            visible: true,
            visibility: Visibility::Public,
            archived: false,
            features: Features::ALL_ENABLED,
        }
    }

    /// How `actor`, with the role `level`, stands in a scope of this visibility.
    pub fn in_scope(actor: Actor, level: AccessLevel, visibility: Visibility) -> Self {
        let level = if actor.admin { AccessLevel::Owner } else { level };
        let open = match visibility {
            Visibility::Public => true,
            Visibility::Internal => actor.id.is_some() && !actor.external,
            Visibility::Private => false,
        };
        Self {
            actor,
            level,
            visible: open || level > AccessLevel::NoAccess,
            visibility,
            archived: false,
            features: Features::ALL_ENABLED,
        }
    }

    /// How `actor`, with the role `level`, stands in `project`.
    pub fn in_project(actor: Actor, level: AccessLevel, project: &ProjectFacts) -> Self {
        let plain = Self::in_scope(actor, level, project.visibility);
        Self { archived: project.archived, features: project.features, ..plain }
    }

    pub fn is(&self, at_least: AccessLevel) -> bool {
        at_least <= self.level
    }

    pub fn admin(&self) -> bool {
        self.actor.admin
    }

    pub fn signed_in(&self) -> bool {
        self.actor.id.is_some()
    }

    /// Whether the caller may read a feature. On a private project the role must be at least `private_needs`;
    /// elsewhere everybody who sees the project may, unless the feature is kept to members or switched off.
    pub fn reads(&self, feature: Feature, private_needs: AccessLevel) -> bool {
        let member = self.level >= AccessLevel::Guest;
        match self.features.of(feature) {
            FeatureAccess::Disabled => false,
            FeatureAccess::Private => {
                if self.visibility == Visibility::Private {
                    self.is(private_needs)
                } else {
                    member
                }
            }
            FeatureAccess::Enabled | FeatureAccess::Public => {
                self.visibility != Visibility::Private || self.is(private_needs)
            }
        }
    }

    /// Whether the caller may change something that a role of `at_least` may change: never in an archived project.
    pub fn writes(&self, at_least: AccessLevel) -> bool {
        self.is(at_least) && !self.archived
    }
}

/// A scope that can be denied: tells how its absence is named.
pub trait Scope: Clone + Send + Sync + 'static {
    const NAME: &'static str;
}
impl Scope for Instance {
    const NAME: &'static str = "Instance";
}
impl Scope for Project {
    const NAME: &'static str = "Project";
}
impl Scope for Group {
    const NAME: &'static str = "Group";
}

/// One thing a person may do: a row of a domain's `policy.rs`.
pub trait Ability: 'static {
    type Scope: Scope;
    const NAME: &'static str;
    /// Whether a caller without a credential is heard at all.
    const OPEN: bool;
    fn allows(who: &Standing) -> bool;
    /// What somebody is told who may not.
    fn refusal(_who: &Standing) -> Error {
        Error::forbidden()
    }
}

/// Proof that `A` was checked for this actor in this scope. Only [`Grant::check`] makes one.
#[derive(Debug)]
pub struct Grant<A: Ability> {
    scope: A::Scope,
    who: Standing,
}

impl<A: Ability> Clone for Grant<A> {
    fn clone(&self) -> Self {
        Self { scope: self.scope.clone(), who: self.who }
    }
}

// Every route checks an ability of its own: a copy in each would be much code.
#[inline(never)]
fn ensure_allowed(
    who: &Standing,
    scope: &'static str,
    allows: fn(&Standing) -> bool,
    refusal: fn(&Standing) -> Error,
) -> Result<()> {
    if !who.visible {
        return Err(Error::not_found(scope));
    }
    if !allows(who) {
        return Err(refusal(who));
    }
    Ok(())
}

impl<A: Ability> Grant<A> {
    pub fn check(who: &Standing, scope: A::Scope) -> Result<Self> {
        ensure_allowed(who, A::Scope::NAME, A::allows, A::refusal)?;
        Ok(Self { scope, who: *who })
    }

    pub fn actor(&self) -> Actor {
        self.who.actor
    }

    /// The caller, where the ability needs one.
    pub fn user(&self) -> Result<UserId> {
        self.who.actor.user()
    }

    /// How the caller stands: for what a role alone cannot say.
    pub fn who(&self) -> &Standing {
        &self.who
    }

    /// The proof of a further ability in the same scope.
    pub fn also<B: Ability<Scope = A::Scope>>(&self) -> Result<Grant<B>> {
        Grant::check(&self.who, self.scope.clone())
    }
}

impl<A: Ability<Scope = Project>> Grant<A> {
    pub fn project(&self) -> ProjectId {
        self.scope.0.id
    }

    pub fn facts(&self) -> &Arc<ProjectFacts> {
        &self.scope.0
    }
}

impl<A: Ability<Scope = Group>> Grant<A> {
    pub fn group(&self) -> NamespaceId {
        self.scope.0.id
    }

    pub fn group_facts(&self) -> &Arc<GroupFacts> {
        &self.scope.0
    }
}

/// The policy of a domain: one ability a line. `=> function` says what those are told who may not.
#[macro_export]
macro_rules! abilities {
    (in $scope:ident, open; $($rows:tt)*) => { $crate::abilities!(@ $scope true; $($rows)*); };
    (in $scope:ident, signed in; $($rows:tt)*) => { $crate::abilities!(@ $scope false; $($rows)*); };
    (@ $scope:ident $open:literal; $($(#[$meta:meta])* $name:ident if |$who:ident| $rule:expr $(=> $refusal:path)?),* $(,)?) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl $crate::Ability for $name {
            type Scope = $crate::access::$scope;
            const NAME: &'static str = stringify!($name);
            const OPEN: bool = $open;
            fn allows($who: &$crate::access::Standing) -> bool { $rule }
            $(fn refusal(who: &$crate::access::Standing) -> $crate::Error { $refusal(who) })?
        }
    )* };
}

mod everybody {
    crate::abilities! { in Instance, open;
        /// Everybody, with or without a credential.
        Anyone if |_who| true,
    }
    crate::abilities! { in Instance, signed in;
        /// Everybody with a credential.
        SignedIn if |_who| true,
        /// Administrators of the installation.
        Administrate if |who| who.admin(),
    }
}
pub use everybody::{Administrate, Anyone, SignedIn};
