//! Who does which background work, and when it is asked for.

use kernel::Result;
use org::{
    email::actions::SendConfirmation,
    jobs::{PurgeRemoved, RemoveExpired, RemoveOverdue},
    mail::SendLetter,
    member::SendInvitation,
    status::actions::{ClearStatuses, clear_ended},
    user::removal::RemoveUser,
};
use repo::jobs::{EmptyTrash, Housekeeping, MaintainRepository, SettleJournal, SweepLfs};
use time::{Duration, macros::time};
use worker::Worker;

use super::{
    accounts::{confirm_address, send_password_link},
    approvals::WeighApprovals,
    beginnings::SettleBeginning,
    code_owners::LookAtCommits,
    confirmation, diff_notes,
    merge_requests::{DropHead, KeepHead},
    merging::{self, UnlockMerges},
    outbox::{ForgetFacts, forget_facts},
    purge,
    surveys::{self, SurveyRepository},
    upload_sizes::CountUploads,
    user_removal,
    wiki_repositories::MaintainWiki,
};
use crate::app::App;

/// Pushes come in bursts: care for a repository waits until one is over.
pub const AFTER_PUSH: Duration = Duration::seconds(30);

/// A worker that knows all work.
pub fn worker(app: App) -> Worker<App> {
    let (underway, name) = (app.underway.clone(), app.identity.name().to_owned());
    Worker::new(app.db.clone(), app)
        .named(&name)
        .noting(underway)
        .on(maintain)
        .on(keep_house)
        .on(maintain_wiki)
        .on(empty_trash)
        .on(settle_journal)
        .on(sweep_lfs)
        .on(survey)
        .on(count_uploads)
        .on(settle_beginning)
        .on(keep_head)
        .on(drop_head)
        .on(diff_notes::follow_lines)
        .on(merging::follow_push)
        .on(merging::close_named)
        .on(merging::look_at)
        .on(merging::refresh_closed_issues)
        .on(merging::finish_merge)
        .on(merging::merge_waiting)
        .on(merging::look_after)
        .on(merging::look_into)
        .on(merging::unlock_merges)
        .every(Duration::minutes(5), UnlockMerges {})
        .on(look_at_commits)
        .on(weigh_approvals)
        .on(send_letter)
        .on(send_confirmation)
        .on(send_invitation)
        .on(confirm_address)
        .on(send_password_link)
        .on(remove_expired)
        .on(remove_overdue)
        .on(purge_removed)
        .on(remove_user)
        .daily(time!(0:00), RemoveExpired {})
        .on(clear_statuses)
        .every(Duration::minutes(15), ClearStatuses {})
        .daily(time!(1:00), RemoveOverdue {})
        .on(forget_facts)
        .daily(time!(2:00), ForgetFacts {})
        .every(Duration::hours(6), PurgeRemoved {})
        .every(Duration::hours(1), EmptyTrash {})
        .every(Duration::days(1), SweepLfs {})
        .every(Duration::minutes(10), SettleJournal {})
}

async fn remove_overdue(app: App, job: RemoveOverdue) -> Result<()> {
    job.run(&app.db).await
}

async fn purge_removed(app: App, job: PurgeRemoved) -> Result<()> {
    purge::run(&app, job).await
}

async fn remove_user(app: App, job: RemoveUser) -> Result<()> {
    user_removal::run(&app, job).await
}

async fn settle_beginning(app: App, job: SettleBeginning) -> Result<()> {
    job.run(&app).await
}

async fn keep_head(app: App, job: KeepHead) -> Result<()> {
    job.run(&app).await
}

async fn drop_head(app: App, job: DropHead) -> Result<()> {
    job.run(&app).await
}

async fn weigh_approvals(app: App, job: WeighApprovals) -> Result<()> {
    job.run(&app).await
}

async fn look_at_commits(app: App, job: LookAtCommits) -> Result<()> {
    job.run(&app).await
}

async fn survey(app: App, job: SurveyRepository) -> Result<()> {
    job.run(&app).await
}

async fn count_uploads(app: App, job: CountUploads) -> Result<()> {
    job.run(&app).await
}

async fn maintain(app: App, job: MaintainRepository) -> Result<()> {
    let project = job.project;
    job.run(&app.git, &app.storage).await?;
    surveys::measure(&app, project).await
}

async fn keep_house(app: App, job: Housekeeping) -> Result<()> {
    maintain(app, MaintainRepository { project: job.project }).await
}

async fn maintain_wiki(app: App, job: MaintainWiki) -> Result<()> {
    job.run(&app).await
}

async fn empty_trash(app: App, job: EmptyTrash) -> Result<()> {
    job.run(&app.storage).await
}

async fn sweep_lfs(app: App, job: SweepLfs) -> Result<()> {
    job.run(&app.db, &app.lfs).await
}

async fn settle_journal(app: App, job: SettleJournal) -> Result<()> {
    job.run(&app.db, &app.git, &app.storage).await
}

async fn remove_expired(app: App, job: RemoveExpired) -> Result<()> {
    job.run(&app.db).await
}

async fn send_letter(app: App, job: SendLetter) -> Result<()> {
    app.post.send(job.letter).await
}

async fn send_confirmation(app: App, job: SendConfirmation) -> Result<()> {
    confirmation::send(&app, job).await
}

async fn clear_statuses(app: App, _: ClearStatuses) -> Result<()> {
    app.db.write(clear_ended).await.map(drop)
}

async fn send_invitation(app: App, job: SendInvitation) -> Result<()> {
    match job.letter(&app.db, app.urls.at("-/invites")).await? {
        Some(letter) => app.post.send(letter).await,
        None => Ok(()),
    }
}
