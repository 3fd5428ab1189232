//! Creating, changing and removing protected environments.

use db::Tx;
use kernel::{
    Error, Grant, Result, TextEnum as _,
    audit::{AuditPlace, AuditRecord},
    ids::EnvironmentAccessId,
    page::{Page, PageRequest},
};

use super::{Holder, NewAccess, Protection, ProtectionHome, ProtectionStore as _, RuleKind};
use crate::{
    environment::Tier,
    policy::{ProtectEnvironments, ProtectGroupEnvironments},
    ports::Members,
};

/// The longest name of an environment.
const LONGEST: usize = 255;
/// So many records one protection may have.
const MOST_RULES: usize = 100;

/// The project or group whose environments a caller may protect.
pub trait ProtectionScope {
    fn home(&self) -> ProtectionHome;
}

impl ProtectionScope for Grant<ProtectEnvironments> {
    fn home(&self) -> ProtectionHome {
        ProtectionHome::Project(self.project())
    }
}

impl ProtectionScope for Grant<ProtectGroupEnvironments> {
    fn home(&self) -> ProtectionHome {
        ProtectionHome::Group(self.group())
    }
}

#[derive(Clone, Debug, Default)]
pub struct NewProtection {
    /// For a group, the name of the tier.
    pub name: String,
    pub deployers: Vec<NewAccess>,
    pub required_approval_count: i64,
    pub approvers: Vec<NewAccess>,
}

/// A change to one record.
#[derive(Clone, Copy, Debug)]
pub enum AccessChange {
    Add(NewAccess),
    Set(EnvironmentAccessId, NewAccess),
    Remove(EnvironmentAccessId),
}

/// A change to a protection; records that are not named stay.
#[derive(Clone, Debug, Default)]
pub struct ProtectionChange {
    pub deployers: Vec<AccessChange>,
    pub required_approval_count: Option<i64>,
    pub approvers: Vec<AccessChange>,
}

pub fn list(
    tx: &mut Tx<'_>,
    grant: &impl ProtectionScope,
    page: PageRequest,
) -> Result<Page<Protection>> {
    tx.protections(grant.home(), page)
}

pub fn read(tx: &mut Tx<'_>, grant: &impl ProtectionScope, name: &str) -> Result<Protection> {
    tx.find_protection(grant.home(), name)?.ok_or_else(Error::missing)
}

pub fn protect(
    tx: &mut Tx<'_>,
    grant: &impl ProtectionScope,
    members: &impl Members,
    new: &NewProtection,
) -> Result<Protection> {
    let (home, name) = (grant.home(), &new.name);
    if tx.find_protection(home, name)?.is_some() {
        return Err(
            Error::conflict().whole(format!("Protected environment '{name}' already exists"))
        );
    }
    ensure_name(home, name)?;
    ensure_count(new.required_approval_count)?;
    for access in new.deployers.iter().chain(&new.approvers) {
        ensure_member(tx, members, home, *access)?;
    }
    ensure_few(new.deployers.len() + new.approvers.len())?;
    let made = tx.insert_protection(home, name, new.required_approval_count)?;
    for (kind, accesses) in
        [(RuleKind::Deploy, &new.deployers), (RuleKind::Approve, &new.approvers)]
    {
        for access in accesses {
            tx.insert_access(made.id, kind, *access)?;
        }
    }
    let made = read(tx, grant, name)?;
    record(tx, &made, AuditRecord::addition("environment_protected", place(home), WHAT));
    Ok(made)
}

const WHAT: &str = "protected_environment";

fn place(home: ProtectionHome) -> AuditPlace {
    match home {
        ProtectionHome::Project(project) => AuditPlace::Project(project),
        ProtectionHome::Group(group) => AuditPlace::Group(group),
    }
}

/// Writes down who did it, with whom the protection lets in.
fn record(tx: &mut Tx<'_>, protection: &Protection, action: AuditRecord) {
    let holders = |kind: RuleKind| -> String {
        let holders = protection.of(kind).map(|rule| match rule.holder() {
            Holder::Role(level) => level.number().to_string(),
            Holder::User(user) => format!("User:{user}"),
            Holder::Group(group) => format!("Group:{group}"),
        });
        holders.collect::<Vec<_>>().join(", ")
    };
    let environment = &protection.environment;
    let action = action
        .detail("deploy_access_levels", holders(RuleKind::Deploy))
        .detail("approval_rules", holders(RuleKind::Approve))
        .detail("required_approval_count", environment.required_approval_count.to_string());
    tx.mention(action.target("ProtectedEnvironment", environment.id.0, &environment.name));
}

pub fn update(
    tx: &mut Tx<'_>,
    grant: &impl ProtectionScope,
    members: &impl Members,
    name: &str,
    change: &ProtectionChange,
) -> Result<Protection> {
    let before = read(tx, grant, name)?;
    let id = before.environment.id;
    if let Some(count) = change.required_approval_count {
        ensure_count(count)?;
        tx.set_required_approvals(id, count)?;
    }
    ensure_few(before.rules.len() + change.deployers.len() + change.approvers.len())?;
    for (kind, changes) in
        [(RuleKind::Deploy, &change.deployers), (RuleKind::Approve, &change.approvers)]
    {
        for one in changes {
            let is_own =
                |wanted: EnvironmentAccessId| before.of(kind).any(|rule| rule.id == wanted);
            match *one {
                AccessChange::Add(access) => {
                    ensure_member(tx, members, grant.home(), access)?;
                    tx.insert_access(id, kind, access)?;
                }
                AccessChange::Set(record, _) | AccessChange::Remove(record) if !is_own(record) => {
                    return Err(Error::missing());
                }
                AccessChange::Set(record, access) => {
                    ensure_member(tx, members, grant.home(), access)?;
                    tx.set_access(record, access)?;
                }
                AccessChange::Remove(record) => tx.delete_access(record)?,
            }
        }
    }
    let after = read(tx, grant, name)?;
    ensure_deployers(after.of(RuleKind::Deploy).count())?;
    if after.environment.required_approval_count != before.environment.required_approval_count
        || after.rules != before.rules
    {
        let changed =
            AuditRecord::change("protected_environment_updated", place(grant.home()), WHAT);
        record(tx, &after, changed);
    }
    Ok(after)
}

pub fn unprotect(tx: &mut Tx<'_>, grant: &impl ProtectionScope, name: &str) -> Result<()> {
    let found = read(tx, grant, name)?;
    tx.delete_protection(found.environment.id)?;
    record(tx, &found, AuditRecord::removal("environment_unprotected", place(grant.home()), WHAT));
    Ok(())
}

fn ensure_name(home: ProtectionHome, name: &str) -> Result<()> {
    if name.chars().count() > LONGEST {
        let text = format!("is too long (maximum is {LONGEST} characters)");
        return Err(Error::invalid("name", text));
    }
    match home {
        ProtectionHome::Group(_) if Tier::find(name).is_none() => Err(Error::invalid(
            "name",
            "must be one of environment tiers: production, staging, testing, development, other.",
        )),
        ProtectionHome::Group(_) | ProtectionHome::Project(_) => Ok(()),
    }
}

/// The most approvals that a deployment may need.
pub(super) const MOST_APPROVALS: i64 = 5;

fn ensure_count(count: i64) -> Result<()> {
    match (0..=MOST_APPROVALS).contains(&count) {
        true => Ok(()),
        false => Err(Error::invalid("required_approval_count", "is not included in the list")),
    }
}

fn ensure_deployers(count: usize) -> Result<()> {
    match count {
        0 => Err(Error::invalid("deploy_access_levels", "can't be blank")),
        _ => Ok(()),
    }
}

fn ensure_few(rules: usize) -> Result<()> {
    match rules <= MOST_RULES {
        true => Ok(()),
        false => Err(Error::invalid("base", format!("at most {MOST_RULES} rules are possible"))),
    }
}

/// Records name people and groups that have to do with the project or group.
fn ensure_member(
    tx: &mut Tx<'_>,
    members: &impl Members,
    home: ProtectionHome,
    access: NewAccess,
) -> Result<()> {
    if !(1..=MOST_APPROVALS).contains(&access.required_approvals) {
        return Err(Error::invalid("required_approvals", "is not included in the list"));
    }
    let (fits, field) = match (access.holder, home) {
        (Holder::Role(_), _) => (true, ""),
        (Holder::User(user), ProtectionHome::Project(project)) => {
            (members.is_in_project(tx, user, project)?, "user")
        }
        (Holder::User(user), ProtectionHome::Group(group)) => {
            (members.is_in_group(tx, user, group, true)?, "user")
        }
        (Holder::Group(group), ProtectionHome::Project(project)) => {
            (members.is_group_of(tx, group, project)?, "group")
        }
        (Holder::Group(group), ProtectionHome::Group(above)) => {
            (members.is_group_below(tx, group, above)?, "group")
        }
    };
    match fits {
        true => Ok(()),
        false => Err(Error::invalid(field, "is not a member of the project or group")),
    }
}
