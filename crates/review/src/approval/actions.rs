//! Approving a merge request, and no longer approving it.

use db::Tx;
use kernel::{AccessLevel, Error, Grant, Result, Standing};

use super::{
    event::Event,
    load::{refresh, state_of},
    ports::Branches,
    state::ApprovalState,
    store::ApprovalStore as _,
};
use crate::{
    activity,
    item::hold,
    merge_request::{
        MergeRequest, MergeRequestState, MergeRequestStore as _, actions::find, change::may_update,
    },
    note::write_system_note,
    policy::ReadMergeRequests,
    todo::{TodoAction, TodoStore as _},
};

/// A merge request and how far its approval is, for one who looks.
#[derive(Clone, Debug)]
pub struct Approvals {
    pub request: MergeRequest,
    pub state: ApprovalState,
    /// Whether the one who looks could approve it now.
    pub can_approve: bool,
}

/// Whether somebody showed that they know their password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Password {
    Shown,
    NotShown,
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    branches: &impl Branches,
    iid: i64,
) -> Result<Approvals> {
    let request = find(tx, grant, iid)?;
    let state = state_of(tx, branches, &request)?;
    shown(tx, grant, request, state)
}

pub(super) fn shown(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    request: MergeRequest,
    state: ApprovalState,
) -> Result<Approvals> {
    shown_to(tx, grant.who(), request, state)
}

/// How far a merge request is, for somebody who may read it and stands so in its project.
pub fn shown_to(
    tx: &mut Tx<'_>,
    who: &Standing,
    request: MergeRequest,
    state: ApprovalState,
) -> Result<Approvals> {
    let can_approve = match who.actor.id {
        Some(user) => {
            has_something(&request) && may_approve(tx, who, &request)? && state.is_eligible(user)
        }
        None => false,
    };
    Ok(Approvals { request, state, can_approve })
}

/// The checks that come before a password is asked for. Whether one has to be shown.
///
/// # Errors
/// `Forbidden` for those who may not change the merge request or are no members, `Conflict` where `sha` is not what
/// is to be merged.
pub fn begin(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    iid: i64,
    sha: Option<&str>,
) -> Result<bool> {
    let request = find(tx, grant, iid)?;
    ensure_fit(tx, grant, &request, sha)?;
    Ok(tx.approval_settings(grant.project())?.require_password)
}

/// A merge request that passes, and that nobody pushes to or merges before it is approved.
fn checked(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    iid: i64,
    sha: Option<&str>,
) -> Result<MergeRequest> {
    let request = find(tx, grant, iid)?;
    let request = match hold(tx, request.id.into())? {
        true => tx.merge_request(request.id)?,
        false => request,
    };
    ensure_fit(tx, grant, &request, sha)?;
    Ok(request)
}

fn ensure_fit(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    request: &MergeRequest,
    sha: Option<&str>,
) -> Result<()> {
    if !may_approve(tx, grant.who(), request)? {
        return Err(Error::forbidden());
    }
    let head = request.head_sha.as_deref().unwrap_or_default();
    if sha.is_some_and(|sha| sha != head) {
        return Err(
            Error::conflict().whole(format!("SHA does not match HEAD of source branch: {head}"))
        );
    }
    Ok(())
}

/// Approves a merge request.
///
/// # Errors
/// As [`begin`]; `Unauthenticated` without the password that the project wants, without anything to approve, and for
/// those who cannot approve it: they did already, or it is theirs.
pub fn approve(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    branches: &impl Branches,
    iid: i64,
    sha: Option<&str>,
    password: Password,
) -> Result<Approvals> {
    let request = checked(tx, grant, iid, sha)?;
    let user = grant.user()?;
    let before = state_of(tx, branches, &request)?;
    let unproven = before.settings.require_password && password == Password::NotShown;
    if unproven || !has_something(&request) || !before.is_eligible(user) {
        return Err(Error::unauthenticated());
    }
    tx.insert_approval(request.id, user)?;
    let item = request.item();
    write_system_note(tx, &item, user, "approved this merge request")?;
    activity::record(tx, &item, user, activity::Action::Approved)?;
    tx.finish_todos(item.id, user)?;
    let state = refresh(tx, branches, &request)?;
    let complete = state.is_approved();
    tx.emit(Event::Approved { of: (&request).into(), user, complete })?;
    shown(tx, grant, request, state)
}

/// No longer approves a merge request.
///
/// # Errors
/// `NotFound` for those who had not.
pub fn unapprove(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    branches: &impl Branches,
    iid: i64,
) -> Result<Approvals> {
    let request = checked(tx, grant, iid, None)?;
    let user = grant.user()?;
    if request.state == MergeRequestState::Merged {
        return Err(Error::unauthenticated());
    }
    let was_approved = state_of(tx, branches, &request)?.is_approved();
    if !tx.delete_approval(request.id, user)? {
        return Err(Error::hidden());
    }
    let item = request.item();
    write_system_note(tx, &item, user, "unapproved this merge request")?;
    let state = refresh(tx, branches, &request)?;
    let lost = was_approved && !state.is_approved();
    tx.emit(Event::Unapproved { of: (&request).into(), user, lost })?;
    shown(tx, grant, request, state)
}

/// Takes all approvals back, for a machine that found what they did not know of.
///
/// # Errors
/// `Unauthenticated` for people, and for what is merged.
pub fn reset(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    branches: &impl Branches,
    iid: i64,
    is_bot: bool,
) -> Result<()> {
    let request = find(tx, grant, iid)?;
    let merged = request.state == MergeRequestState::Merged;
    if !is_bot || merged || !may_update(tx, grant.who(), &request)? {
        return Err(Error::unauthenticated());
    }
    let taken_from = tx.delete_approvals(request.id, None)?;
    refresh(tx, branches, &request)?;
    tx.emit(Event::Reset { of: (&request).into(), user: grant.actor().id, taken_from })
}

/// Asks those whom the rules of a new merge request name to approve it.
pub fn ask_approvers(
    tx: &mut Tx<'_>,
    branches: &impl Branches,
    request: &MergeRequest,
) -> Result<()> {
    let state = refresh(tx, branches, request)?;
    let item = request.item();
    let open = state.rules.iter().filter(|rule| !rule.approved);
    for rule in open {
        for user in rule.rule.users.iter().filter(|user| rule.approvers.contains(user)) {
            tx.raise_todo(&item, *user, request.author_id, TodoAction::ApprovalRequired, None)?;
        }
    }
    Ok(())
}

/// Whether there is something to approve: what is merged is over, and of a source that nobody has seen nothing is known.
fn has_something(request: &MergeRequest) -> bool {
    request.state != MergeRequestState::Merged && request.head_sha.is_some()
}

fn may_approve(tx: &mut Tx<'_>, who: &Standing, request: &MergeRequest) -> Result<bool> {
    Ok(who.is(AccessLevel::Guest) && may_update(tx, who, request)?)
}
