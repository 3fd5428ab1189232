//! Access rules of protected environments.

use std::collections::HashMap;

use db::Tx;
use deployments::{
    approval::actions::role_name,
    protection::{AccessRule, Holder},
};
use kernel::{
    AccessLevel, Result,
    ids::{NamespaceId, UserId},
};
use org::{namespace::store::NamespaceStore as _, user::store::UserStore as _};
use serde::Serialize;
use utoipa::ToSchema;

/// A role, user or group that may deploy.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DeployAccessEntity {
    pub id: i64,
    pub access_level: Option<i32>,
    pub access_level_description: String,
    pub user_id: Option<i64>,
    pub group_id: Option<i64>,
    /// `1` if inherited group members count, otherwise `0`.
    pub group_inheritance_type: i64,
}

/// A role, user or group that approves.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ApprovalRuleEntity {
    pub id: i64,
    pub user_id: Option<i64>,
    pub group_id: Option<i64>,
    pub access_level: Option<i32>,
    pub access_level_description: String,
    pub required_approvals: i64,
    /// `1` if inherited group members count, otherwise `0`.
    pub group_inheritance_type: i64,
}

/// What the holders of records are called, looked up once for all of them.
#[derive(Debug, Default)]
pub struct HolderNames {
    users: HashMap<UserId, String>,
    groups: HashMap<NamespaceId, String>,
}

impl HolderNames {
    pub fn of<'a>(tx: &mut Tx<'_>, rules: impl Iterator<Item = &'a AccessRule>) -> Result<Self> {
        let (mut users, mut groups) = (Vec::new(), Vec::new());
        for rule in rules {
            users.extend(rule.user_id);
            groups.extend(rule.group_id);
        }
        let users = if users.is_empty() { HashMap::new() } else { tx.users_by_id(&users)? };
        let groups = if groups.is_empty() { HashMap::new() } else { tx.namespace_names(&groups)? };
        Ok(Self { users: users.into_iter().map(|(id, user)| (id, user.name)).collect(), groups })
    }

    fn describe(&self, holder: Holder) -> String {
        match holder {
            Holder::Role(level) => role_name(level).to_owned(),
            Holder::User(id) => self.users.get(&id).cloned().unwrap_or_default(),
            Holder::Group(id) => self.groups.get(&id).cloned().unwrap_or_default(),
        }
    }
}

impl DeployAccessEntity {
    pub fn new(rule: &AccessRule, names: &HolderNames) -> Self {
        Self {
            id: rule.id.0,
            access_level: rule.access_level.map(AccessLevel::number),
            access_level_description: names.describe(rule.holder()),
            user_id: rule.user_id.map(|id| id.0),
            group_id: rule.group_id.map(|id| id.0),
            group_inheritance_type: i64::from(rule.with_inherited),
        }
    }
}

impl ApprovalRuleEntity {
    pub fn new(rule: &AccessRule, names: &HolderNames) -> Self {
        Self {
            id: rule.id.0,
            user_id: rule.user_id.map(|id| id.0),
            group_id: rule.group_id.map(|id| id.0),
            access_level: rule.access_level.map(AccessLevel::number),
            access_level_description: names.describe(rule.holder()),
            required_approvals: rule.required_approvals,
            group_inheritance_type: i64::from(rule.with_inherited),
        }
    }
}
