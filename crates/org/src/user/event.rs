//! Events of users, named like the system hooks.

use db::Tx;
use kernel::{
    Ts,
    ids::{ProjectId, UserId},
};
use serde::Serialize;

use super::{State, Step, User, value_change::ValueChange};

/// A person as they are called in facts about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Person {
    pub user_id: UserId,
    pub username: String,
    pub name: String,
    pub email: String,
    #[serde(skip)]
    pub created_at: Ts,
}

impl From<&User> for Person {
    fn from(user: &User) -> Self {
        Self {
            user_id: user.id,
            username: user.username.clone(),
            name: user.name.clone(),
            email: user.email.clone(),
            created_at: user.created_at,
        }
    }
}

/// A fact about a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event_name", rename_all = "snake_case")]
pub enum Event {
    UserCreate {
        #[serde(flatten)]
        person: Person,
    },
    UserRename {
        #[serde(flatten)]
        person: Person,
        old_username: String,
    },
    /// Somebody is about to be gone: what they wrote becomes the heir's, or nobody's.
    UserDestroy {
        #[serde(flatten)]
        person: Person,
        #[serde(skip)]
        heir: Option<UserId>,
        /// The administrator who asked for it.
        #[serde(skip)]
        by: Option<Person>,
    },
    /// Somebody who is locked out tried to sign in.
    UserFailedLogin {
        #[serde(flatten)]
        person: Person,
        state: State,
    },
    /// Somebody who waited for it may use their account.
    UserApprove {
        #[serde(flatten)]
        person: Person,
    },
}

/// Actions on an account for the audit log, announced inside the transaction only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountAction {
    pub person: Person,
    /// Whose doing it is; nobody's where the server did it by itself.
    pub by: Option<UserId>,
    pub change: AccountChange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountChange {
    /// The state changed.
    Step(Step),
    Rename {
        old_username: String,
    },
    /// An administrator asked for the account to be removed.
    RemovalRequest,
    TwoFactorRemoval,
    /// Somebody gave a password that is not the account's.
    WrongPassword,
    /// Other values changed.
    Values(Vec<ValueChange>),
}

/// Says what somebody did to an account, for the record.
pub(super) fn record_action(
    tx: &mut Tx<'_>,
    by: Option<UserId>,
    user: &User,
    change: AccountChange,
) {
    tx.mention(AccountAction { person: user.into(), by, change });
}

impl kernel::event::Event for AccountAction {
    fn kind(&self) -> &'static str {
        "user.action"
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    /// Nothing: it is never kept.
    fn payload(&self) -> String {
        String::new()
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::UserCreate { .. } => "user.create",
            Self::UserRename { .. } => "user.rename",
            Self::UserDestroy { .. } => "user.destroy",
            Self::UserFailedLogin { .. } => "user.failed_login",
            Self::UserApprove { .. } => "user.approve",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
