//! What member endpoints of projects and groups take.

use kernel::{AccessLevel, Ts, ids::UserId};
use org::member::{
    MemberFilter,
    actions::{Below, End, Terms},
};
use serde_json::{Value, json};
use time::Date;

use crate::{
    extract::{Change, Csv, Flaws, Param, Raw, params::NOT_LISTED},
    params,
};

/// A role that a member can have.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Level(pub AccessLevel);

impl Param for Level {
    fn read(raw: &Raw) -> Result<Option<Self>, Flaws> {
        match AccessLevel::read(raw)? {
            Some(level) if level < AccessLevel::Guest || level > AccessLevel::Owner => {
                Err(Flaws::one(NOT_LISTED))
            }
            level => Ok(level.map(Self)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer", "enum": [10, 20, 30, 40, 50] })
    }
}

params! {
    pub(super) struct ListMembers: paged {
        query: Option<String>,
        user_ids: Option<Csv<UserId>>,
        skip_users: Option<Csv<UserId>>,
    }
}
params! { pub(super) struct OneMember { user_id: UserId } }
params! {
    pub(super) struct AddMembers {
        /// One id, or several with commas.
        user_id: Csv<UserId>,
        access_level: i64,
        expires_at: Option<Date>,
    }
}
params! {
    pub(super) struct ChangeMember {
        user_id: UserId,
        access_level: i64,
        expires_at: Change<Date>,
    }
}
params! {
    pub(super) struct RemoveMember {
        user_id: UserId,
        /// Leaves memberships below a group as they are.
        skip_subresources: bool = false,
    }
}

impl ListMembers {
    pub(super) fn filter(self) -> MemberFilter {
        MemberFilter {
            query: self.query,
            only: self.user_ids.map(|ids| ids.0).unwrap_or_default(),
            skip: self.skip_users.map(|ids| ids.0).unwrap_or_default(),
        }
    }
}

impl AddMembers {
    pub(super) fn terms(&self) -> Terms {
        Terms { level: self.access_level, expires_at: self.expires_at.map(Ts::from_date) }
    }
}

impl ChangeMember {
    pub(super) fn end(&self) -> End {
        match self.expires_at {
            Change::Keep => End::Keep,
            Change::Clear => End::Set(None),
            Change::Set(date) => End::Set(Some(Ts::from_date(date))),
        }
    }
}

impl RemoveMember {
    pub(super) fn below(&self) -> Below {
        if self.skip_subresources { Below::Keep } else { Below::Remove }
    }
}
