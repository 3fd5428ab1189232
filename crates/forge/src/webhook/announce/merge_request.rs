//! Merge requests and their approvals.

use admin::flags::Flag;
use db::Tx;
use kernel::{
    Result,
    ids::{MergeRequestId, ProjectId, UserId},
    page::PageRequest,
};
use repo::push::journal::JournalStore as _;
use review::{
    approval,
    event::EarlierValues,
    merge_request::{
        Event as Fact, MergeRequestState, MergeRequestStore as _, VersionStore as _, state::Step,
    },
};

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        audience::Audience,
        gaps::Gaps,
        payload::merge_request::{self, MergeRequestAction},
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &Fact) -> Result<()> {
    match fact {
        Fact::Opened { merge_request, project, user } => tell_merge_request(
            tx,
            by,
            (*merge_request, *project),
            Some(*user),
            (MergeRequestAction::Open, &EarlierValues::default()),
        ),
        Fact::Updated { merge_request, project, user, changes, earlier, .. } => {
            let deed = MergeRequestAction::Update(changes);
            tell_merge_request(tx, by, (*merge_request, *project), Some(*user), (deed, earlier))
        }
        Fact::Stepped { merge_request, project, user, step, earlier } => {
            let deed = match step {
                Step::Close => MergeRequestAction::Step("close"),
                Step::Reopen => MergeRequestAction::Step("reopen"),
                Step::Merge => MergeRequestAction::Step("merge"),
                Step::Lock | Step::Unlock => return Ok(()),
            };
            tell_merge_request(tx, by, (*merge_request, *project), *user, (deed, earlier))
        }
        Fact::Moved { merge_request, project, opener: None, head: Some(head) } => {
            if !Audience::of_project(tx, *project)?.hears(Flag::MergeRequests) {
                return Ok(());
            }
            let page = PageRequest { page: 1, per_page: 2 };
            let versions = tx.versions(*merge_request, page)?.items;
            // Where the target alone has moved, it holds what it held before.
            let before = versions.get(1).filter(|version| version.head_commit_sha != *head);
            let Some(before) = before.map(|version| version.head_commit_sha.clone()) else {
                return Ok(());
            };
            let Some(row) = tx.merge_requests_in_order(&[merge_request.0])?.pop() else {
                return Ok(());
            };
            let source = row.source_project_id.unwrap_or(*project);
            let name = format!("refs/heads/{}", row.source_branch);
            let pusher = tx.find_pusher(source, &name, head)?;
            let deed = MergeRequestAction::Push { before: Some(&before) };
            let deed = (deed, &EarlierValues::default());
            tell_merge_request(tx, by, (*merge_request, *project), pusher, deed)
        }
        Fact::Moved { .. } | Fact::Removed { .. } => Ok(()),
    }
}

pub(super) fn tell_merge_request(
    tx: &mut Tx<'_>,
    by: &Announcer,
    (id, project): (MergeRequestId, ProjectId),
    user: Option<UserId>,
    deed: (MergeRequestAction<'_>, &EarlierValues),
) -> Result<()> {
    let flags = [Flag::MergeRequests];
    let Some((context, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let Some(mut row) = tx.merge_requests_in_order(&[id.0])?.pop() else { return Ok(()) };
    // A change is told as of before the step that was taken with it, of which another event tells.
    row.state = match (deed.0, deed.1.was_open, row.state) {
        (MergeRequestAction::Update(_), Some(true), MergeRequestState::Closed) => {
            MergeRequestState::Opened
        }
        (MergeRequestAction::Update(_), Some(false), MergeRequestState::Opened) => {
            MergeRequestState::Closed
        }
        (_, _, state) => state,
    };
    let head = row.head_sha.clone();
    let home = row.source_project_id.unwrap_or(project);
    let part = merge_request::MergeRequestPart::load(tx, &context, row)?;
    let payload = merge_request::merge_request(tx, &context, &part, user, deed)?;
    let gaps = head.map(|sha| Gaps::commit(home, &sha, "/object_attributes/last_commit"));
    let news = |gaps, payload| News {
        flag: Flag::MergeRequests,
        header: "Merge Request Hook",
        project: Some(project),
        object: format!("merge_request/{id}"),
        payload,
        gaps,
    };
    by.tell(tx, &audience, news(gaps.clone(), payload.clone()), &EventTraits::default())?;
    by.tell_system(tx, &audience, news(gaps, payload), Some(Flag::MergeRequests))
}

pub(super) fn approval_heard(
    tx: &mut Tx<'_>,
    by: &Announcer,
    fact: &approval::Event,
) -> Result<()> {
    let (of, user, action) = match fact {
        approval::Event::Approved { of, user, complete: true } => (of, *user, "approved"),
        approval::Event::Approved { of, user, .. } => (of, *user, "approval"),
        approval::Event::Unapproved { of, user, lost: true } => (of, *user, "unapproved"),
        approval::Event::Unapproved { of, user, .. } => (of, *user, "unapproval"),
        approval::Event::Pushed { .. } | approval::Event::Reset { .. } => return Ok(()),
    };
    let deed = (MergeRequestAction::Step(action), &EarlierValues::default());
    tell_merge_request(tx, by, (of.merge_request, of.project), Some(user), deed)
}
