//! The approval settings of a project.

use db::Tx;
use kernel::{Error, Faults, Grant, Result, ids::ProjectId};

use super::{
    load::refresh_project,
    model::{ApprovalSettings, RuleType},
    ports::{Branches, Projects},
    rule_event::RuleEvent,
    rule_fields::{Details, faults_of_count},
    rule_store::RuleStore as _,
    store::ApprovalStore as _,
};
use crate::policy::{AdminApprovals, ReadApprovals};

const NOT_BOTH: &str =
    "selective_code_owner_removals can only be enabled when reset_approvals_on_push is disabled";

/// The settings, with how many approvals everybody's rule began with.
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

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadApprovals>,
    projects: &impl Projects,
) -> Result<Config> {
    config(tx, grant.project(), projects)
}

fn config(tx: &mut Tx<'_>, project: ProjectId, projects: &impl Projects) -> Result<Config> {
    Ok(Config {
        settings: tx.approval_settings(project)?,
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
    let old = tx.approval_settings(project)?;
    let new = ApprovalSettings {
        reset_on_push: change.reset_on_push.unwrap_or(old.reset_on_push),
        selective_removals: change.selective_removals.unwrap_or(old.selective_removals),
        no_overriding: change.no_overriding.unwrap_or(old.no_overriding),
        author_approval: change.author_approval.unwrap_or(old.author_approval),
        no_committer_approval: change.no_committer_approval.unwrap_or(old.no_committer_approval),
        require_password: change.require_password.unwrap_or(old.require_password),
    };
    if new.reset_on_push && new.selective_removals {
        return Err(Error::invalid("base", NOT_BOTH));
    }
    if let Some(required) = change.approvals_before_merge {
        let mut faults = Faults::default();
        faults.range("approvals_before_merge", Some(required), 0..=i64::MAX);
        faults.into_result()?;
        projects.save_approvals_before_merge(tx, project, required)?;
        require_any(tx, project, required)?;
    }
    tx.save_approval_settings(project, &new)?;
    refresh_project(tx, branches, project)?;
    let config = config(tx, project, projects)?;
    let (settings, required) = (config.settings, config.approvals_before_merge);
    tx.emit(RuleEvent::Configured { project, settings, required, user: grant.user()? })?;
    Ok(config)
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
