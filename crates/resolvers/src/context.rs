//! The context of every resolver: the forge, the caller, and the loaders of the request.

use std::sync::Arc;

use forge::Forge;
use graphql::Failure;
use kernel::{
    Actor, Error, Result,
    ids::{PipelineScheduleId, UserId},
};
use org::user::User;

use super::loaders::Loaders;

/// Rate limits that all interfaces share.
pub trait RequestRates: Send + Sync {
    /// # Errors
    /// When the person wrote too many notes.
    fn check_note(&self, author: &User) -> Result<()>;

    /// # Errors
    /// When the person wrote too many issues.
    fn check_issue(&self, user: UserId) -> Result<()>;

    /// # Errors
    /// When the person read too many records of single people.
    fn check_person(&self, reader: &User) -> Result<()>;

    /// # Errors
    /// When the person started the schedule too often.
    fn check_schedule_play(&self, schedule: PipelineScheduleId, user: UserId) -> Result<()>;
}

/// The context of every resolver.
pub struct Context {
    pub forge: Forge,
    pub rates: Arc<dyn RequestRates>,
    pub loaders: Loaders,
    actor: Actor,
    user: Option<Arc<User>>,
}

impl Context {
    pub fn new(
        forge: Forge,
        rates: Arc<dyn RequestRates>,
        actor: Actor,
        user: Option<Arc<User>>,
    ) -> Self {
        let loaders = Loaders::new(&forge.db, actor);
        Self { forge, rates, loaders, actor, user }
    }

    /// A context for the same caller, without what was read.
    pub fn renewed(&self) -> Self {
        Self::new(self.forge.clone(), self.rates.clone(), self.actor, self.user.clone())
    }

    pub fn actor(&self) -> Actor {
        self.actor
    }

    /// The person who calls, if anybody is signed in.
    pub fn user(&self) -> Option<&Arc<User>> {
        self.user.as_ref()
    }

    /// The person who calls, for functions of the domains.
    ///
    /// # Errors
    /// When nobody is signed in.
    pub fn caller(&self) -> Result<&Arc<User>> {
        self.user.as_ref().ok_or_else(Error::unauthenticated)
    }

    /// The person who calls.
    ///
    /// # Errors
    /// When nobody is signed in.
    pub fn signed_in(&self) -> Result<&Arc<User>, Failure> {
        self.user().ok_or(Failure::NotFoundOrForbidden)
    }
}
