//! What approvals ask of others, and how they hear what happens to merge requests.

use std::collections::{HashMap, HashSet};

use ci::pipeline::PipelineStore;
use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Grant, Result,
    ids::{MergeRequestId, NamespaceId, ProjectId, ProtectedBranchId, UserId},
};
use org::{
    access::{Event, Reach, projects_within},
    project::settings::SettingsStore,
};
use repo::{
    event::Moved,
    protection::{self, BranchRuleStore, rules_matching},
};
use review::{
    approval::{
        self, ApprovalStore, RuleStore, actions, config, own_rules,
        ports::{self, BranchScope},
    },
    merge_request::{self, MergeRequestStore, actions::find, state::Step},
    policy::ReadMergeRequests,
    ports::People as _,
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue};

use super::{
    code_owners::{LookAtCommits, Pushed},
    jobs::worker,
    merge_requests::branch_head,
    merging::wake,
    review::Places,
};
use crate::app::App;

/// Protected branches, people and groups, and older settings, as their domains know them.
#[derive(Clone, Copy, Debug)]
pub struct Approvers;

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
        let standings = Places.standings(tx, project, users)?;
        let members = standings.iter().filter(|who| who.level > AccessLevel::NoAccess);
        let mut members: Vec<UserId> = members.filter_map(|who| who.actor.id).collect();
        members.sort_unstable();
        Ok(members)
    }

    fn named(&self, tx: &mut Tx<'_>, usernames: &[String]) -> Result<Vec<UserId>> {
        if usernames.is_empty() {
            return Ok(Vec::new());
        }
        Ok(Places.named(tx, usernames)?.into_values().collect())
    }

    fn visible_groups(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<NamespaceId>> {
        let known = org::places::known_groups(tx, actor, groups)?;
        Ok(known.into_iter().map(|group| group.id).collect())
    }
}

impl ports::Projects for Approvers {
    fn approvals_before_merge(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<i64> {
        Ok(tx.project_settings(project)?.approvals_before_merge)
    }

    fn keep_approvals_before_merge(
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

/// Which branches are protected has changed, and with it which rules count and where owners have to approve.
pub fn branches_changed(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    approval::refresh_project(tx, &Approvers, project)
}

/// Weighs anew what is open in a project.
#[derive(Debug, Serialize, Deserialize)]
pub struct WeighApprovals {
    project: ProjectId,
}

impl Job for WeighApprovals {
    const KIND: &'static str = "project.weigh_approvals";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

impl WeighApprovals {
    pub async fn run(self, app: &App) -> Result<()> {
        app.db.write(move |tx| approval::refresh_project(tx, &Approvers, self.project)).await
    }
}

/// Weighs now what waits to be weighed since somebody's access changed, so that the answer to the change finds it done.
/// What a worker has begun is waited for; what fails is tried again later.
pub async fn settle(app: &App) {
    let keys = vec![WeighApprovals::KIND.to_owned()];
    if let Err(failure) = worker(app.clone()).hurry_and_wait(keys).await {
        tracing::error!(error = %failure, "approvals wait to be weighed");
    }
}

/// Others than before have a role somewhere, or may sign in: whom rules name there has to be asked anew.
pub fn access_changed(tx: &mut Tx<'_>, fact: &Event) -> Result<()> {
    let projects = match fact {
        Event::SignIn(user) => tx.projects_with_approver(*user)?,
        Event::ShareEnded { project, group } => {
            protection::departure::forget_group(tx, *project, *group)?;
            approval::departure::forget_group(tx, *project, *group)?;
            tx.projects_with_rules(&[*project])?
        }
        Event::Roles(reach) => {
            let reached = projects_within(tx, *reach)?;
            protection::departure::forget_strangers(tx, &reached)?;
            approval::departure::forget_strangers(tx, &reached)?;
            let mut reached = tx.projects_with_rules(&reached)?;
            if let Reach::Group(group) | Reach::Tree(group) = reach {
                let named = tx.groups_with_rules()?;
                let inside = match org::places::groups_within(tx, *group, &named) {
                    // It went in the same transaction.
                    Err(Error::NotFound(_)) => Vec::new(),
                    inside => inside?,
                };
                reached.extend(tx.projects_with_rules_of(&inside)?);
            }
            reached.sort_unstable();
            reached.dedup();
            reached
        }
    };
    for project in projects {
        tx.enqueue(&WeighApprovals { project })?;
    }
    Ok(())
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
            tx.enqueue(&LookAtCommits { merge_request: *merge_request, pushed: None })?;
            actions::ask_approvers(tx, &Approvers, &request)
        }
        merge_request::Event::Updated { merge_request, changes, .. } => {
            let fields: Vec<&str> = changes.iter().map(|change| change.field).collect();
            update(tx, *merge_request, &fields)
        }
        merge_request::Event::Moved { merge_request, .. } => {
            tx.enqueue(&LookAtCommits { merge_request: *merge_request, pushed: None })
        }
        merge_request::Event::Stepped { merge_request, step: Step::Reopen, .. } => {
            let request = tx.merge_request(*merge_request)?;
            approval::refresh(tx, &Approvers, &request).map(drop)
        }
        merge_request::Event::Stepped { .. } | merge_request::Event::Removed { .. } => Ok(()),
    }
}

/// Sees to it that somebody looks whose files a push changed, and merges what waited for an approval alone.
pub fn look_after(tx: &mut Tx<'_>, fact: &approval::Event) -> Result<()> {
    match fact {
        approval::Event::Pushed { of, user, from } => {
            let pushed = Some(Pushed { by: *user, from: from.clone() });
            tx.enqueue(&LookAtCommits { merge_request: of.merge_request, pushed })
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

/// Somebody moved branches, or made them anew: what was approved is no longer what is there.
pub fn follow_push(
    tx: &mut Tx<'_>,
    project: ProjectId,
    user: Option<UserId>,
    moves: &[Moved],
) -> Result<()> {
    for moved in moves.iter().filter(|moved| moved.after.is_some()) {
        let Some(branch) = moved.name.strip_prefix("refs/heads/") else { continue };
        for request in tx.approvable_from(project, branch)? {
            let pusher = user.unwrap_or(request.author_id);
            // A branch that is made anew differs from what its name stood for before.
            let from = moved.before.as_deref().or(request.head_sha.as_deref());
            approval::reset_on_push(tx, &Approvers, &Places, &request, pusher, from)?;
        }
    }
    Ok(())
}

/// # Errors
/// `Unauthenticated` where the source branch is not there: nobody can have looked at it.
pub async fn ensure_source_exists(
    app: &App,
    grant: &Grant<ReadMergeRequests>,
    iid: i64,
) -> Result<()> {
    let grant = grant.clone();
    let row = app.db.read(move |tx| find(tx, &grant, iid)).await?;
    let Some(ends) = row.ends() else { return Err(Error::Unauthenticated) };
    let head = branch_head(app, ends.source, &ends.source_branch).await?;
    head.map(drop).ok_or(Error::Unauthenticated)
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
