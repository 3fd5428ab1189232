//! Every fact, and who hears it.

use std::any::Any;

use ci::{
    artifact::keep_newest,
    pipeline::{PipelineStore as _, control::cancel_after_failure},
};
use db::Tx;
use kernel::{
    Result,
    event::Event,
    ids::{PipelineId, ProjectId},
};
use org::{
    hierarchy::group_chain,
    project::{self, push::PushRecord, settings::SettingsStore as _},
};
use repo::{jobs::MaintainRepository, push_rule, release};
use review::{
    item::on_member_removed,
    merge_request::{self, forks, merge::pipeline_failure, state::Step},
};
use secrets::Vault;
use worker::Queue;

use crate::{
    alert,
    checksums::FIRST_CHECK,
    deployment, label,
    merge_request::{
        approvals,
        diff_notes::FollowLines,
        head_refs::{DropHead, enqueue_head},
        merge::{
            CheckMergeability, FinishMerge, RefreshCloses, enqueue_closing, hold_touched,
            proposed_by, record_push, wake,
        },
    },
    milestone, pipeline,
    project::{
        default_branch::protect_default_branch, maintenance::AFTER_PUSH,
        statistics::RefreshStatistics,
    },
    runner::{artifacts::keeps_latest, removal},
    security::imports,
    wiki::MaintainWiki,
};

/// Heard before the commit, in the same transaction.
pub(crate) fn inside(tx: &mut Tx<'_>, vault: &Vault, fact: &dyn Event) -> Result<()> {
    let fact: &dyn Any = fact;
    if let Some(fact) = fact.downcast_ref() {
        return of_project(tx, fact);
    }
    if let Some(org::user::event::Event::UserDestroy { person, heir, .. }) = fact.downcast_ref() {
        review::reassign::reassign(tx, person.user_id, *heir)?;
        ci::reassign::reassign(tx, person.user_id, *heir)?;
        deployments::deployment::actions::reassign(tx, person.user_id, *heir)?;
        return repo::reassign::reassign(tx, person.user_id, *heir);
    }
    if let Some(org::namespace::event::Event::GroupTransfer { group, old_full_path, .. }) =
        fact.downcast_ref()
    {
        milestone::group_moved(tx, group.group_id, old_full_path)?;
        return label::group_moved(tx, group.group_id, old_full_path);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_merge_request(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_pipeline(tx, vault, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return deployment::follow(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return alert::follow(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return approvals::on_approval_event(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_membership(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return approvals::access_changed(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return approvals::settings_changed(tx, fact);
    }
    fact.downcast_ref().map_or(Ok(()), |fact| of_repository(tx, vault, fact))
}

fn of_membership(tx: &mut Tx<'_>, fact: &org::member::Event) -> Result<()> {
    match fact {
        org::member::Event::Removed { fact, unassign_issuables: true } => unassign(tx, fact),
        _ => Ok(()),
    }
}

fn of_repository(tx: &mut Tx<'_>, vault: &Vault, fact: &repo::Event) -> Result<()> {
    match fact {
        repo::Event::RefsMoved {
            project,
            user,
            becomes_default,
            moves,
            head,
            growth,
            by_rebase,
            options,
            earlier,
            ..
        } => {
            hold_touched(tx, *project, moves)?;
            release::actions::tags_removed(tx, *project, moves)?;
            let proposed = proposed_by(tx, *project, moves)?;
            if !*by_rebase {
                approvals::follow_push(tx, *project, *user, moves, &proposed)?;
            }
            record_push(tx, *project, *user, moves, &proposed)?;
            deployment::branches_removed(tx, *project, *user, moves)?;
            let pushed =
                pipeline::PushContext { project: *project, user: *user, earlier: *earlier };
            pipeline::enqueue_for_push(tx, vault, pushed, moves, options)?;
            enqueue_closing(tx, *project, *user, head.as_deref())?;
            let (first, head) = (becomes_default.as_deref(), head.as_deref());
            let noted = org::project::push::note(tx, *project, first, head, *growth)?;
            if let Some(branch) = becomes_default {
                protect_default_branch(tx, *project, branch)?;
            }
            if noted == PushRecord::InPart {
                tx.enqueue(&RefreshStatistics { project: *project })?;
            }
            let later = tx.now.plus(AFTER_PUSH);
            tx.enqueue_at(&MaintainRepository { project: *project }, later)
        }
        repo::Event::LfsChanged { project, bytes } => {
            org::project::size_limit::note_lfs_size(tx, *project, *bytes)
        }
        repo::Event::WikiChanged { project, group, .. } => {
            if let Some(project) = project {
                org::project::push::record_activity(tx, *project)?;
            }
            let later = tx.now.plus(AFTER_PUSH);
            let project = project.map(MaintainWiki::Project);
            match project.or(group.map(MaintainWiki::Group)) {
                Some(care) => tx.enqueue_at(&care, later),
                None => Ok(()),
            }
        }
        repo::Event::CommitCommented { .. }
        | repo::Event::CommitCommentChanged { .. }
        | repo::Event::CommitCommentRemoved { .. } => Ok(()),
    }
}

fn of_merge_request(tx: &mut Tx<'_>, fact: &merge_request::Event) -> Result<()> {
    approvals::follow(tx, fact)?;
    match fact {
        merge_request::Event::Moved { merge_request, head, opener, .. } => {
            enqueue_head(tx, *merge_request)?;
            pipeline::enqueue_for_merge_request(tx, *merge_request, head.as_deref(), *opener)?;
            tx.enqueue(&FollowLines { merge_request: *merge_request })?;
            tx.enqueue(&CheckMergeability { merge_request: *merge_request })
        }
        merge_request::Event::Removed { project, iid, .. } => {
            tx.enqueue(&DropHead { project: *project, iid: *iid })
        }
        merge_request::Event::Opened { merge_request, .. }
        | merge_request::Event::Updated { merge_request, .. } => {
            tx.enqueue(&RefreshCloses { merge_request: *merge_request })
        }
        merge_request::Event::Stepped { merge_request, user, step, .. } => {
            deployment::merge_request_ended(tx, *merge_request, *user, *step)?;
            match step {
                Step::Merge => tx.enqueue(&FinishMerge { merge_request: *merge_request }),
                _ => Ok(()),
            }
        }
    }
}

/// What waits for a pipeline is merged when it succeeds; when it fails, somebody has to look.
fn of_pipeline(tx: &mut Tx<'_>, vault: &Vault, fact: &ci::Event) -> Result<()> {
    imports::enqueue_for_pipeline(tx, fact)?;
    match fact {
        ci::Event::PipelineChanged {
            project, pipeline, sha, status: ci::Status::Success, ..
        } => {
            keep_latest_artifacts(tx, *project, *pipeline)?;
            wake(tx, *project, sha)
        }
        ci::Event::PipelineChanged { project, sha, status: ci::Status::Failed, .. } => {
            pipeline_failure::tell(tx, *project, sha)
        }
        ci::Event::EnvironmentsNamed { pipeline, .. } => {
            deployment::begin_for_pipeline(tx, vault, *pipeline)
        }
        ci::Event::JobsMoved { pipeline, jobs, .. } => {
            removal::forget_secrets(tx, jobs)?;
            deployment::follow_jobs(tx, vault, jobs)?;
            cancel_after_failure(tx, *pipeline, jobs)?;
            pipeline::begin_bridges(tx, *pipeline, jobs)
        }
        ci::Event::JobErased { job, .. } => removal::erased(tx, *job),
        ci::Event::PipelineRemoved { project, pipeline } => {
            removal::pipeline_removed(tx, *project, *pipeline)
        }
        ci::Event::PipelineChanged { .. } | ci::Event::StatusChanged { .. } => Ok(()),
    }
}

/// Where the project and the installation want that, the artifacts of the newest pipeline of a ref that succeeded stay.
fn keep_latest_artifacts(tx: &mut Tx<'_>, project: ProjectId, id: PipelineId) -> Result<()> {
    let is_wanted = tx.project_settings(project)?.keep_latest_artifact;
    let keeps = keeps_latest(tx, is_wanted)?;
    match tx.find_pipeline(project, id)?.filter(|_| keeps) {
        Some(pipeline) => keep_newest(tx, &pipeline),
        None => Ok(()),
    }
}

fn of_project(tx: &mut Tx<'_>, fact: &project::event::Event) -> Result<()> {
    match fact {
        project::event::Event::ProjectCreated { project, namespace, .. } => {
            let groups = group_chain(tx, *namespace)?;
            let check_at = tx.now.plus(FIRST_CHECK);
            db::checksum::refs::begin(tx, *project, check_at)?;
            push_rule::actions::begin(tx, *project, &groups)
        }
        project::event::Event::ApprovalsRequired { project, required } => {
            approvals::require(tx, *project, *required)
        }
        project::event::Event::NetworkLeft { project, user } => {
            forks::close_from(tx, *project, *user)
        }
        project::event::Event::ProjectMoved { project, old_path, transferred: true } => {
            milestone::project_moved(tx, *project)?;
            label::project_moved(tx, *project, old_path)
        }
        project::event::Event::ProjectUpdated { .. }
        | project::event::Event::ProjectMoved { transferred: false, .. }
        | project::event::Event::ProjectDeletionMarked { .. }
        | project::event::Event::ProjectRestored { .. }
        | project::event::Event::ProjectDestroyed { .. } => Ok(()),
    }
}

/// Whoever left a project, or a group with all below it, looks after nothing there any more.
fn unassign(tx: &mut Tx<'_>, left: &org::member::event::Fact) -> Result<()> {
    let theirs = on_member_removed::projects_of_assignee(tx, left.user)?;
    let inside = match left.group {
        Some(group) => org::hierarchy::projects_below(tx, group, &theirs)?,
        None => theirs.into_iter().filter(|project| Some(*project) == left.project).collect(),
    };
    on_member_removed::unassign(tx, left.user, &inside)
}
