//! Protected branches and tags, and whom they let in.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    AccessLevel, Result,
    ids::{NamespaceId, UserId},
};
use org::{namespace::store::NamespaceStore, user::store::UserStore};
use repo::protection::{Access, BranchRule, Holder, TagRule};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProtectedBranchEntity {
    pub id: i64,
    pub name: String,
    pub push_access_levels: Vec<AccessLevelEntity>,
    pub merge_access_levels: Vec<AccessLevelEntity>,
    pub allow_force_push: bool,
    pub unprotect_access_levels: Vec<AccessLevelEntity>,
    pub code_owner_approval_required: bool,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProtectedTagEntity {
    pub name: String,
    pub create_access_levels: Vec<AccessLevelEntity>,
}

/// A role, user or group that is allowed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AccessLevelEntity {
    pub id: i64,
    pub access_level: Option<i32>,
    pub access_level_description: String,
    pub user_id: Option<i64>,
    pub group_id: Option<i64>,
}

impl ProtectedBranchEntity {
    /// Names are looked up once for all rules.
    pub fn all(tx: &mut Tx<'_>, rules: Vec<BranchRule>) -> Result<Vec<Self>> {
        let names = Names::of(tx, rules.iter().flat_map(BranchRule::records))?;
        let entity = |rule: BranchRule| Self {
            id: rule.branch.id.0,
            push_access_levels: names.entities(&rule.push),
            merge_access_levels: names.entities(&rule.merge),
            allow_force_push: rule.branch.allow_force_push,
            unprotect_access_levels: names.entities(&rule.unprotect),
            code_owner_approval_required: rule.branch.code_owner_approval_required,
            name: rule.branch.name,
        };
        Ok(rules.into_iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, rule: BranchRule) -> Result<Self> {
        Self::all(tx, vec![rule])?.pop().ok_or_else(kernel::Error::missing)
    }
}

impl ProtectedTagEntity {
    /// Names are looked up once for all rules.
    pub fn all(tx: &mut Tx<'_>, rules: Vec<TagRule>) -> Result<Vec<Self>> {
        let names = Names::of(tx, rules.iter().flat_map(|rule| &rule.create))?;
        let entity = |rule: TagRule| Self {
            create_access_levels: names.entities(&rule.create),
            name: rule.tag.name,
        };
        Ok(rules.into_iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, rule: TagRule) -> Result<Self> {
        Self::all(tx, vec![rule])?.pop().ok_or_else(kernel::Error::missing)
    }
}

/// What the holders of access records are called.
struct Names {
    users: HashMap<UserId, String>,
    groups: HashMap<NamespaceId, String>,
}

impl Names {
    fn of<'a>(tx: &mut Tx<'_>, records: impl Iterator<Item = &'a Access>) -> Result<Self> {
        let holders: Vec<Holder> = records.map(|access| access.holder).collect();
        let users: Vec<UserId> = holders.iter().filter_map(|holder| holder.user()).collect();
        let groups: Vec<NamespaceId> = holders.iter().filter_map(|holder| holder.group()).collect();
        let users = if users.is_empty() { HashMap::new() } else { tx.users_by_id(&users)? };
        let groups = if groups.is_empty() { HashMap::new() } else { tx.namespace_names(&groups)? };
        Ok(Self { users: users.into_iter().map(|(id, user)| (id, user.name)).collect(), groups })
    }

    fn entities(&self, records: &[Access]) -> Vec<AccessLevelEntity> {
        let entity = |access: &Access| AccessLevelEntity {
            id: access.id.0,
            access_level: access.holder.role().map(AccessLevel::number),
            access_level_description: self.describe(access.holder),
            user_id: access.holder.user().map(|id| id.0),
            group_id: access.holder.group().map(|id| id.0),
        };
        records.iter().map(entity).collect()
    }

    fn describe(&self, holder: Holder) -> String {
        match holder {
            Holder::Role(level) => role_text(level).to_owned(),
            Holder::User(id) => self.users.get(&id).cloned().unwrap_or_default(),
            Holder::Group(id) => self.groups.get(&id).cloned().unwrap_or_default(),
        }
    }
}

fn role_text(level: AccessLevel) -> &'static str {
    match level {
        AccessLevel::Developer => "Developers + Maintainers",
        AccessLevel::Maintainer => "Maintainers",
        AccessLevel::Admin => "Instance admins",
        _ => "No one",
    }
}
