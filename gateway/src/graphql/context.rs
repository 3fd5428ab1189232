//! What every resolver may use: the application, the caller, and the loaders of the request.

use std::sync::Arc;

use graphql::Failure;
use kernel::Actor;
use org::user::User;

use super::loaders::Loaders;
use crate::{app::App, extract::Caller};

/// What every resolver may use.
pub struct Context {
    pub app: App,
    pub caller: Caller,
    pub loaders: Loaders,
}

impl Context {
    pub fn new(app: App, caller: Caller) -> Self {
        let loaders = Loaders::new(&app.db, caller.actor());
        Self { app, caller, loaders }
    }

    /// A context for the same caller, without what was read.
    pub fn renewed(&self) -> Self {
        Self::new(self.app.clone(), self.caller.clone())
    }

    pub fn actor(&self) -> Actor {
        self.caller.actor()
    }

    /// The person who calls, if anybody is signed in.
    pub fn user(&self) -> Option<&Arc<User>> {
        self.caller.user.as_ref()
    }

    /// The person who calls.
    ///
    /// # Errors
    /// When nobody is signed in.
    pub fn signed_in(&self) -> Result<&Arc<User>, Failure> {
        self.user().ok_or(Failure::NotFoundOrForbidden)
    }
}
