//! Every fact, and who hears it.

use std::any::Any;

use db::Tx;
use kernel::{Result, event::Event, ids::ProjectId};
use org::{
    namespace::{chain::group_chain, default_branch},
    project::{self, push::Noted, statistics::StatisticsStore, store::ProjectStore},
};
use repo::{
    jobs::MaintainRepository,
    protection::{self, actions::DefaultProtection},
    push_rule,
};
use review::{
    item::departure,
    merge_request::{self, forks, merge::failed, state::Step},
};
use worker::Queue;

use super::{
    approvals,
    diff_notes::FollowLines,
    jobs::AFTER_PUSH,
    merge_requests::{DropHead, promise_head},
    merging::{
        FinishMerge, LookAt, RefreshCloses, hold_touched, note_push, promise_to_close, wake,
    },
    surveys::SurveyRepository,
    wiki_repositories::MaintainWiki,
};

/// Heard before the commit, in the same transaction.
pub fn inside(tx: &mut Tx<'_>, fact: &dyn Event) -> Result<()> {
    let fact: &dyn Any = fact;
    if let Some(fact) = fact.downcast_ref() {
        return of_project(tx, fact);
    }
    if let Some(org::user::event::Event::UserDestroy { person, heir }) = fact.downcast_ref() {
        review::heirs::hand_over(tx, person.user_id, *heir)?;
        ci::heirs::hand_over(tx, person.user_id, *heir)?;
        return repo::heirs::hand_over(tx, person.user_id, *heir);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_merge_request(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_pipeline(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return approvals::look_after(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_membership(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return approvals::access_changed(tx, fact);
    }
    fact.downcast_ref().map_or(Ok(()), |fact| of_repository(tx, fact))
}

fn of_membership(tx: &mut Tx<'_>, fact: &org::member::Event) -> Result<()> {
    match fact {
        org::member::Event::Removed { fact, unassign_issuables: true } => unassign(tx, fact),
        _ => Ok(()),
    }
}

fn of_repository(tx: &mut Tx<'_>, fact: &repo::Event) -> Result<()> {
    match fact {
        repo::Event::RefsMoved {
            project,
            user,
            becomes_default,
            moves,
            head,
            growth,
            by_rebase,
            ..
        } => {
            hold_touched(tx, *project, moves)?;
            if !*by_rebase {
                approvals::follow_push(tx, *project, *user, moves)?;
            }
            note_push(tx, *project, *user, moves)?;
            promise_to_close(tx, *project, *user, head.as_deref())?;
            let (first, head) = (becomes_default.as_deref(), head.as_deref());
            let noted = org::project::push::note(tx, *project, first, head, *growth)?;
            if let Some(branch) = becomes_default {
                protect_default_branch(tx, *project, branch)?;
            }
            if noted == Noted::InPart {
                tx.enqueue(&SurveyRepository { project: *project })?;
            }
            let later = tx.now.plus(AFTER_PUSH);
            tx.enqueue_at(&MaintainRepository { project: *project }, later)
        }
        repo::Event::LfsChanged { project, bytes } => tx.save_lfs_size(*project, *bytes),
        repo::Event::WikiChanged { project, group, .. } => {
            if let Some(project) = project {
                org::project::push::note_activity(tx, *project)?;
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
        merge_request::Event::Moved { merge_request, .. } => {
            promise_head(tx, *merge_request)?;
            tx.enqueue(&FollowLines { merge_request: *merge_request })?;
            tx.enqueue(&LookAt { merge_request: *merge_request })
        }
        merge_request::Event::Removed { project, iid, .. } => {
            tx.enqueue(&DropHead { project: *project, iid: *iid })
        }
        merge_request::Event::Opened { merge_request, .. }
        | merge_request::Event::Updated { merge_request, .. } => {
            tx.enqueue(&RefreshCloses { merge_request: *merge_request })
        }
        merge_request::Event::Stepped { merge_request, step: Step::Merge, .. } => {
            tx.enqueue(&FinishMerge { merge_request: *merge_request })
        }
        merge_request::Event::Stepped { .. } => Ok(()),
    }
}

/// What waits for a pipeline is merged when it succeeds; when it fails, somebody has to look.
fn of_pipeline(tx: &mut Tx<'_>, fact: &ci::Event) -> Result<()> {
    match fact {
        ci::Event::PipelineChanged { project, sha, status: ci::Status::Success, .. } => {
            wake(tx, *project, sha)
        }
        ci::Event::PipelineChanged { project, sha, status: ci::Status::Failed, .. } => {
            failed::tell(tx, *project, sha)
        }
        ci::Event::PipelineChanged { .. } | ci::Event::StatusChanged { .. } => Ok(()),
    }
}

fn of_project(tx: &mut Tx<'_>, fact: &project::event::Event) -> Result<()> {
    match fact {
        project::event::Event::ProjectCreated { project, namespace, .. } => {
            let groups = group_chain(tx, *namespace)?;
            push_rule::actions::begin(tx, *project, &groups)
        }
        project::event::Event::ApprovalsRequired { project, required } => {
            approvals::require(tx, *project, *required)
        }
        project::event::Event::NetworkLeft { project, user } => {
            forks::close_from(tx, *project, *user)
        }
    }
}

/// Whoever left a project, or a group with all below it, looks after nothing there any more.
fn unassign(tx: &mut Tx<'_>, left: &org::member::event::Fact) -> Result<()> {
    let theirs = departure::projects_of_assignee(tx, left.user)?;
    let inside = match left.group {
        Some(group) => org::places::projects_below(tx, group, &theirs)?,
        None => theirs.into_iter().filter(|project| Some(*project) == left.project).collect(),
    };
    departure::unassign(tx, left.user, &inside)
}

/// The first branch of a repository is protected as its group or the installation wants it.
pub fn protect_default_branch(tx: &mut Tx<'_>, project: ProjectId, branch: &str) -> Result<()> {
    let namespace = tx.project(project)?.namespace_id;
    let level = DefaultProtection::of_number(default_branch::protection(tx, namespace)?);
    protection::actions::protect_default_branch(tx, project, branch, level)
}
