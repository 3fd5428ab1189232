//! Reactions of approvals to events of merge requests, branches and users.

use std::collections::HashSet;

use admin::archive::ArchiveImportStore as _;
use ci::pipeline::PipelineStore;
use db::Tx;
use deployments::protection as environment_protection;
use kernel::{
    Error, Grant, Result,
    ids::{MergeRequestId, NamespaceId, ProjectId, UserId},
};
use org::{
    access::{AccessScope, Event, projects_within},
    settings::SettingsUpdate,
};
use repo::{event::MovedRef, protection};
use review::{
    approval::{self, ApprovalStore, RuleStore, actions, config, own_rules},
    merge_request::{self, MergeRequestStore, actions::find, state::Step},
    policy::ReadMergeRequests,
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue};

use super::{
    code_owners::{ApprovalReset, UpdateCodeOwners},
    merge::wake,
};
use crate::{
    Forge,
    ports::{approvals::Approvers, review::OrgHierarchy},
};

/// Which branches are protected has changed, and with it which rules count and where owners have to approve.
pub fn branches_changed(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    approval::refresh_project(tx, &Approvers, project)
}

/// Recomputes approvals for every open merge request of a project.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecomputeApprovals {
    project: ProjectId,
}

impl Job for RecomputeApprovals {
    const KIND: &'static str = "project.weigh_approvals";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

impl RecomputeApprovals {
    pub async fn run(self, forge: &Forge) -> Result<()> {
        forge.db.write(move |tx| approval::refresh_project(tx, &Approvers, self.project)).await
    }
}

/// The settings that bind the approvals of all projects.
const LOCKS: &[&str] = &[
    "disable_overriding_approvers_per_merge_request",
    "prevent_merge_requests_author_approval",
    "prevent_merge_requests_committers_approval",
];

/// Projects that one piece of work asks to be recomputed.
const PROJECTS_AT_ONCE: i64 = 500;
/// Asks for [`RecomputeApprovals`] in every project with rules after this one, and in those after the last of them.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecomputeAllApprovals {
    after: ProjectId,
}

impl Job for RecomputeAllApprovals {
    const KIND: &'static str = "approvals.recompute_all";

    fn unique_key(&self) -> Option<String> {
        Some(self.after.to_string())
    }
}

impl RecomputeAllApprovals {
    pub async fn run(self, forge: &Forge) -> Result<()> {
        let ask = move |tx: &mut Tx<'_>| {
            let projects = tx.projects_with_rules_after(self.after, PROJECTS_AT_ONCE)?;
            for project in &projects {
                tx.enqueue(&RecomputeApprovals { project: *project })?;
            }
            match projects.last() {
                Some(last) => tx.enqueue(&Self { after: *last }),
                None => Ok(()),
            }
        };
        forge.db.write(ask).await
    }
}

/// Where the installation decides otherwise than before who approves, what is kept of merge requests is out of date.
pub fn settings_changed(tx: &mut Tx<'_>, fact: &SettingsUpdate) -> Result<()> {
    match fact.changes.iter().any(|change| LOCKS.contains(&change.name)) {
        true => tx.enqueue(&RecomputeAllApprovals { after: ProjectId(0) }),
        false => Ok(()),
    }
}

/// Others than before have a role somewhere, or may sign in: whom rules name there has to be asked anew.
pub fn access_changed(tx: &mut Tx<'_>, fact: &Event) -> Result<()> {
    let projects = match fact {
        Event::SignIn(user) => tx.projects_with_approver(*user)?,
        Event::ShareEnded { project, group } => {
            protection::on_member_removed::forget_group(tx, *project, *group)?;
            environment_protection::on_access_lost::forget_group(tx, *project, *group)?;
            approval::on_member_removed::forget_group(tx, *project, *group)?;
            tx.projects_with_rules(&[*project])?
        }
        Event::Roles(reach) => {
            let reached = projects_within(tx, *reach)?;
            let settled = without_imports(tx, &reached)?;
            protection::on_member_removed::forget_strangers(tx, &settled)?;
            environment_protection::on_access_lost::forget_strangers(tx, &settled)?;
            approval::on_member_removed::forget_strangers(tx, &settled)?;
            let mut reached = tx.projects_with_rules(&reached)?;
            if let AccessScope::Group(group) | AccessScope::Tree(group) = reach {
                let named = tx.groups_with_rules()?;
                let inside = groups_below(tx, *group, &named)?;
                reached.extend(tx.projects_with_rules_of(&inside)?);
                let named = environment_protection::on_access_lost::groups_with_protections(tx)?;
                let inside = groups_below(tx, *group, &named)?;
                environment_protection::on_access_lost::forget_strangers_of_groups(tx, &inside)?;
            }
            reached.sort_unstable();
            reached.dedup();
            reached
        }
    };
    for project in projects {
        tx.enqueue(&RecomputeApprovals { project })?;
    }
    Ok(())
}

/// Those of some projects into which no archive is read: people whom the rules of the others name become members last.
fn without_imports(tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<Vec<ProjectId>> {
    let active = tx.projects_in_import(projects)?;
    Ok(projects.iter().copied().filter(|project| !active.contains(project)).collect())
}

/// Which of these groups are a group or lie below it; none where it went in the same transaction.
fn groups_below(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    among: &[NamespaceId],
) -> Result<Vec<NamespaceId>> {
    match org::hierarchy::groups_within(tx, group, among) {
        Err(gone) if gone.is_gone() => Ok(Vec::new()),
        inside => inside,
    }
}

/// A project asks for so many approvals in the older way.
pub fn require(tx: &mut Tx<'_>, project: ProjectId, required: i64) -> Result<()> {
    config::require_any(tx, project, required)?;
    approval::refresh_project(tx, &Approvers, project)
}

/// Weighs the approval of a merge request that is new, or that is something else than before.
pub fn follow(tx: &mut Tx<'_>, fact: &merge_request::Event) -> Result<()> {
    match fact {
        merge_request::Event::Opened { merge_request, .. } => {
            let request = tx.merge_request(*merge_request)?;
            if let Some(required) = request.approvals_before_merge.filter(|count| *count > 0) {
                own_rules::require_any(tx, &request, required)?;
            }
            tx.enqueue(&UpdateCodeOwners { merge_request: *merge_request, pushed: None })?;
            actions::ask_approvers(tx, &Approvers, &request)
        }
        merge_request::Event::Updated { merge_request, changes, .. } => {
            let fields: Vec<&str> = changes.iter().map(|change| change.field).collect();
            update(tx, *merge_request, &fields)
        }
        merge_request::Event::Moved { merge_request, .. } => {
            tx.enqueue(&UpdateCodeOwners { merge_request: *merge_request, pushed: None })
        }
        merge_request::Event::Stepped { merge_request, step: Step::Reopen, .. } => {
            let request = tx.merge_request(*merge_request)?;
            approval::refresh(tx, &Approvers, &request).map(drop)
        }
        merge_request::Event::Stepped { .. } | merge_request::Event::Removed { .. } => Ok(()),
    }
}

/// Sees to it that somebody looks whose files a push changed, and merges what waited for an approval alone.
pub fn on_approval_event(tx: &mut Tx<'_>, fact: &approval::Event) -> Result<()> {
    match fact {
        approval::Event::Pushed { of, user, from } => {
            let pushed = Some(ApprovalReset { by: *user, from: from.clone() });
            tx.enqueue(&UpdateCodeOwners { merge_request: of.merge_request, pushed })
        }
        approval::Event::Approved { of, complete: true, .. } => {
            let request = tx.merge_request(of.merge_request)?;
            let home = request.source_project_id.unwrap_or(of.project);
            let Some(head) = request.head_sha else { return Ok(()) };
            match tx.newest_pipeline(home, &head)? {
                Some(pipeline) if pipeline.status == ci::Status::Success => wake(tx, home, &head),
                _ => Ok(()),
            }
        }
        approval::Event::Approved { .. }
        | approval::Event::Unapproved { .. }
        | approval::Event::Reset { .. } => Ok(()),
    }
}

/// Somebody moved branches, or made them anew: what was approved is no longer what is there. `proposed` are those of the
/// branches that merge requests name.
pub fn follow_push(
    tx: &mut Tx<'_>,
    project: ProjectId,
    user: Option<UserId>,
    moves: &[MovedRef],
    proposed: &HashSet<String>,
) -> Result<()> {
    for moved in moves.iter().filter(|moved| moved.after.is_some()) {
        let branch = moved.name.strip_prefix("refs/heads/");
        let Some(branch) = branch.filter(|branch| proposed.contains(*branch)) else { continue };
        for request in tx.approvable_from(project, branch)? {
            let pusher = user.unwrap_or(request.author_id);
            // A branch that is made anew differs from what its name stood for before.
            let from = moved.before.as_deref().or(request.head_sha.as_deref());
            approval::reset_on_push(tx, &Approvers, &OrgHierarchy, &request, pusher, from)?;
        }
    }
    Ok(())
}

/// # Errors
/// `Unauthenticated` where the source branch is not there: nobody can have looked at it.
pub async fn ensure_source_exists(
    forge: &Forge,
    grant: &Grant<ReadMergeRequests>,
    iid: i64,
) -> Result<()> {
    let grant = grant.clone();
    let row = forge.db.read(move |tx| find(tx, &grant, iid)).await?;
    let Some(ends) = row.ends() else { return Err(Error::unauthenticated()) };
    let head = forge.branch_head(ends.source, &ends.source_branch).await?;
    head.map(drop).ok_or_else(Error::unauthenticated)
}

fn update(tx: &mut Tx<'_>, id: MergeRequestId, changes: &[&str]) -> Result<()> {
    let asks = changes.contains(&"approvals_before_merge");
    if !asks && !changes.contains(&"target_branch") {
        return Ok(());
    }
    let request = tx.merge_request(id)?;
    if let Some(required) = request.approvals_before_merge.filter(|_| asks) {
        own_rules::require_any(tx, &request, required)?;
    }
    approval::refresh(tx, &Approvers, &request).map(drop)
}
