//! The approval settings of a project.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result,
    audit::{AuditPlace, AuditRecord},
    ids::ProjectId,
    values::MOST_APPROVALS,
};

use super::{
    load::{refresh_project, settings_in},
    model::{ApprovalLocks, ApprovalSettings, RuleType},
    ports::{Branches, Projects},
    rule_event::RuleEvent,
    rule_fields::{Details, faults_of_count},
    rule_store::RuleStore as _,
    store::ApprovalStore as _,
};
use crate::policy::{AdminApprovals, ReadApprovals};

const NOT_BOTH: &str =
    "selective_code_owner_removals can only be enabled when reset_approvals_on_push is disabled";

/// The settings that count, with how many approvals everybody's rule began with.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub settings: ApprovalSettings,
    pub approvals_before_merge: i64,
}

/// Settings to change; `None` keeps a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConfigChange {
    pub approvals_before_merge: Option<i64>,
    pub reset_on_push: Option<bool>,
    pub selective_removals: Option<bool>,
    pub no_overriding: Option<bool>,
    pub author_approval: Option<bool>,
    pub no_committer_approval: Option<bool>,
    pub require_password: Option<bool>,
}

impl ConfigChange {
    /// The settings of a project with these changes. What the installation decides stays as the project has it, for the time
    /// when that ends.
    fn applied_to(self, old: ApprovalSettings, locks: ApprovalLocks) -> ApprovalSettings {
        let unless = |is_locked: bool, wanted: Option<bool>| wanted.filter(|_| !is_locked);
        let no_overriding = unless(locks.no_overriding, self.no_overriding);
        let author_approval = unless(locks.no_author_approval, self.author_approval);
        let no_committer_approval = unless(locks.no_committer_approval, self.no_committer_approval);
        ApprovalSettings {
            reset_on_push: self.reset_on_push.unwrap_or(old.reset_on_push),
            selective_removals: self.selective_removals.unwrap_or(old.selective_removals),
            no_overriding: no_overriding.unwrap_or(old.no_overriding),
            author_approval: author_approval.unwrap_or(old.author_approval),
            no_committer_approval: no_committer_approval.unwrap_or(old.no_committer_approval),
            require_password: self.require_password.unwrap_or(old.require_password),
        }
    }
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadApprovals>,
    projects: &impl Projects,
) -> Result<Config> {
    config(tx, grant.project(), projects)
}

fn config(tx: &mut Tx<'_>, project: ProjectId, projects: &impl Projects) -> Result<Config> {
    Ok(Config {
        settings: settings_in(tx, projects, project)?,
        approvals_before_merge: projects.approvals_before_merge(tx, project)?,
    })
}

/// Changes what a project wants, and weighs its merge requests anew.
pub fn change(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminApprovals>,
    projects: &impl Projects,
    branches: &impl Branches,
    change: ConfigChange,
) -> Result<Config> {
    let project = grant.project();
    let (locks, old) = (projects.approval_locks(tx)?, tx.approval_settings(project)?);
    let approvals_before_merge = projects.approvals_before_merge(tx, project)?;
    let before = Config { settings: old.within(locks), approvals_before_merge };
    let new = change.applied_to(old, locks);
    if new.reset_on_push && new.selective_removals {
        return Err(Error::invalid("base", NOT_BOTH));
    }
    if let Some(required) = change.approvals_before_merge {
        let mut faults = Faults::default();
        faults.range("approvals_before_merge", Some(required), 0..=MOST_APPROVALS);
        faults.into_result()?;
        projects.save_approvals_before_merge(tx, project, required)?;
        require_any(tx, project, required)?;
    }
    tx.save_approval_settings(project, &new)?;
    refresh_project(tx, branches, project)?;
    let after = config(tx, project, projects)?;
    record_changes(tx, project, (before, after));
    let (settings, required) = (after.settings, after.approvals_before_merge);
    tx.emit(RuleEvent::Configured { project, settings, required, user: grant.user()? })?;
    Ok(after)
}

/// Writes down each setting that changed, with both values.
fn record_changes(tx: &mut Tx<'_>, project: ProjectId, (before, after): (Config, Config)) {
    let place = AuditPlace::Project(project);
    let pairs = audited_values(before).into_iter().zip(audited_values(after));
    for ((name, what, from), (_, _, to)) in pairs.filter(|(old, new)| old != new) {
        let change = AuditRecord::change(name, place, what).values(from, to);
        tx.mention(change.target("Project", project.0, "approvals"));
    }
}

/// The values, each with the name of the event of its change and that of the parameter.
fn audited_values(config: Config) -> Vec<(&'static str, &'static str, String)> {
    let ApprovalSettings {
        reset_on_push,
        selective_removals,
        no_overriding,
        author_approval,
        no_committer_approval,
        require_password,
    } = config.settings;
    let flags = [
        ("project_reset_approvals_on_push_updated", "reset_approvals_on_push", reset_on_push),
        (
            "selective_code_owner_removals_updated",
            "selective_code_owner_removals",
            selective_removals,
        ),
        (
            "project_disable_overriding_approvers_per_merge_request_updated",
            "disable_overriding_approvers_per_merge_request",
            no_overriding,
        ),
        (
            "project_merge_requests_author_approval_updated",
            "merge_requests_author_approval",
            author_approval,
        ),
        (
            "project_merge_requests_disable_committers_approval_updated",
            "merge_requests_disable_committers_approval",
            no_committer_approval,
        ),
        ("require_password_to_approve_updated", "require_password_to_approve", require_password),
    ];
    let required = config.approvals_before_merge.to_string();
    let flags = flags.into_iter().map(|(name, what, is_on)| (name, what, is_on.to_string()));
    flags
        .chain([("project_approvals_before_merge_updated", "approvals_before_merge", required)])
        .collect()
}

/// Makes the rule of a project that everybody's approval counts for ask for so many. There is none for nothing.
pub fn require_any(tx: &mut Tx<'_>, project: ProjectId, required: i64) -> Result<()> {
    let mut faults = Faults::default();
    faults_of_count(&mut faults, required);
    faults.into_result()?;
    let rules = tx.project_rules(project)?;
    let any = rules.iter().find(|rule| rule.row.rule_type == RuleType::AnyApprover);
    match any {
        Some(rule) => {
            let details = Details { approvals_required: required, ..Details::of(rule) };
            tx.save_rule(rule.row.id, &details)
        }
        None if required == 0 => Ok(()),
        None => tx.insert_rule(project, None, None, &Details::of_any(required)).map(drop),
    }
}
