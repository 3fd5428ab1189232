//! Parameters of member endpoints of projects and groups.

use kernel::{AccessLevel, Actor, Ts, ids::UserId};
use org::member::{
    MemberFilter, State,
    actions::{DescendantMemberships, EndChange, RemovalOptions},
    rules::Terms,
};
use serde_json::{Value, json};
use time::Date;

use crate::{
    extract::{Change, Csv, Param, ParamErrors, Raw, params::NOT_LISTED},
    params,
};

/// A role that a member can have.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Level(pub AccessLevel);

impl Param for Level {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match AccessLevel::read(raw)? {
            Some(level) if level < AccessLevel::Guest || level > AccessLevel::Owner => {
                Err(ParamErrors::one(NOT_LISTED))
            }
            level => Ok(level.map(Self)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer", "enum": [10, 20, 30, 40, 50] })
    }
}

/// Whether a membership works or waits for approval.
#[derive(Clone, Copy, Debug)]
pub struct MembershipState(pub State);

impl Param for MembershipState {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match String::read(raw)?.as_deref() {
            None => Ok(None),
            Some("active") => Ok(Some(Self(State::Active))),
            Some("awaiting") => Ok(Some(Self(State::Awaiting))),
            Some(_) => Err(ParamErrors::one(NOT_LISTED)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "enum": ["awaiting", "active"] })
    }
}

params! {
    pub struct ListMembers: paged {
        /// Part of the name or username, or the exact public e-mail address.
        query: Option<String>,
        user_ids: Option<Csv<UserId>>,
        skip_users: Option<Csv<UserId>>,
        /// Whether to include `is_using_seat`.
        show_seat_info: bool = false,
    }
}
params! {
    pub struct ListAllMembers: paged {
        /// Part of the name or username, or the exact public e-mail address.
        query: Option<String>,
        user_ids: Option<Csv<UserId>>,
        /// Whether to include `is_using_seat`.
        show_seat_info: bool = false,
        state: Option<MembershipState>,
    }
}
params! { pub struct OneMember { user_id: UserId } }
params! {
    pub struct AddMembers {
        /// User IDs, separated by commas.
        user_id: Csv<UserId>,
        access_level: i64,
        expires_at: Option<Date>,
        /// Accepted for compatibility and not stored.
        invite_source: String = "members-api".to_owned(),
        /// Accepted without effect: for an onboarding tour that is not part of the API.
        tasks_to_be_done: Option<Csv<String>>,
        tasks_project_id: Option<i64>,
    }
}
params! {
    pub struct ChangeMember {
        user_id: UserId,
        access_level: i64,
        expires_at: Change<Date>,
    }
}
params! {
    pub struct RemoveMember {
        user_id: UserId,
        /// Whether to keep memberships in subgroups and projects.
        skip_subresources: bool = false,
        /// Whether to unassign the member from issues and merge requests.
        unassign_issuables: bool = false,
    }
}

fn some_of(ids: Option<Csv<UserId>>) -> Option<Vec<UserId>> {
    ids.map(|ids| ids.0).filter(|ids| !ids.is_empty())
}

impl ListMembers {
    pub(super) fn filter(self, reader: Actor) -> MemberFilter {
        MemberFilter {
            query: self.query,
            any_email: reader.admin,
            only: some_of(self.user_ids),
            skip: some_of(self.skip_users).unwrap_or_default(),
            state: None,
        }
    }
}

impl ListAllMembers {
    pub(super) fn filter(self, reader: Actor) -> MemberFilter {
        MemberFilter {
            query: self.query,
            any_email: reader.admin,
            only: some_of(self.user_ids),
            skip: Vec::new(),
            state: self.state.map(|state| state.0),
        }
    }
}

impl AddMembers {
    pub(super) fn terms(&self) -> Terms {
        Terms { level: self.access_level, expires_at: self.expires_at.map(Ts::from_date) }
    }
}

/// What becomes of an end that is changed.
pub(super) fn end(given: &Change<Date>) -> EndChange {
    match given {
        Change::Keep => EndChange::Keep,
        Change::Clear => EndChange::Set(None),
        Change::Set(date) => EndChange::Set(Some(Ts::from_date(*date))),
    }
}

impl RemoveMember {
    pub(super) fn leaving(&self, unless_newer: Option<Ts>) -> RemovalOptions {
        RemovalOptions {
            below: if self.skip_subresources {
                DescendantMemberships::Keep
            } else {
                DescendantMemberships::Remove
            },
            unassign_issuables: self.unassign_issuables,
            unless_newer,
        }
    }
}
