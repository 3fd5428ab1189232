//! The ports of `review` for approvals.

use std::collections::{HashMap, HashSet};

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId, ProtectedBranchId, UserId},
};
use org::{project::settings::SettingsStore, settings::store::SettingsStore as _};
use repo::protection::{BranchRuleStore, rules_matching};
use review::{
    approval::{
        ApprovalLocks,
        ports::{self, BranchScope},
    },
    ports::People as _,
};

use crate::ports::review::OrgHierarchy;

/// Protected branches, people and groups, and older settings, as their domains know them.
#[derive(Clone, Copy, Debug)]
pub struct Approvers;

impl ports::Installation for Approvers {
    fn approval_locks(&self, tx: &mut Tx<'_>) -> Result<ApprovalLocks> {
        let settings = tx.settings()?;
        Ok(ApprovalLocks {
            no_overriding: settings.disable_overriding_approvers_per_merge_request(),
            no_author_approval: settings.prevent_merge_requests_author_approval(),
            no_committer_approval: settings.prevent_merge_requests_committers_approval(),
        })
    }
}

impl ports::Branches for Approvers {
    fn scopes(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        branches: &HashSet<String>,
    ) -> Result<HashMap<String, BranchScope>> {
        let found = rules_matching(tx, project, branches.iter().cloned())?.into_iter();
        let scopes = found.map(|(name, rules)| {
            let needs_code_owner = rules.iter().any(|rule| rule.code_owner_approval_required);
            let protected = rules.iter().map(|rule| rule.id).collect();
            (name, BranchScope { protected, needs_code_owner })
        });
        Ok(scopes.collect())
    }

    fn protected(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        ids: &[ProtectedBranchId],
    ) -> Result<Vec<ProtectedBranchId>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let own = tx.branch_rules(project)?.into_iter().map(|rule| rule.branch.id);
        Ok(own.filter(|id| ids.contains(id)).collect())
    }
}

impl ports::People for Approvers {
    fn members(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        users: &[UserId],
    ) -> Result<Vec<UserId>> {
        let standings = OrgHierarchy.standings(tx, project, users)?;
        let members = standings.iter().filter(|who| who.level > AccessLevel::NoAccess);
        let mut members: Vec<UserId> = members.filter_map(|who| who.actor.id).collect();
        members.sort_unstable();
        Ok(members)
    }

    fn named(&self, tx: &mut Tx<'_>, usernames: &[String]) -> Result<Vec<UserId>> {
        if usernames.is_empty() {
            return Ok(Vec::new());
        }
        Ok(OrgHierarchy.named(tx, usernames)?.into_values().collect())
    }

    fn visible_groups(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<NamespaceId>> {
        let known = org::hierarchy::known_groups(tx, actor, groups)?;
        Ok(known.into_iter().map(|group| group.id).collect())
    }
}

impl ports::Projects for Approvers {
    fn approvals_before_merge(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<i64> {
        Ok(tx.project_settings(project)?.approvals_before_merge)
    }

    fn save_approvals_before_merge(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        required: i64,
    ) -> Result<()> {
        let mut settings = tx.project_settings(project)?;
        settings.approvals_before_merge = required;
        tx.save_settings(project, &settings)
    }
}
