//! The registry of background jobs and their schedules.

use admin::archive::RemoveArchives;
use ci::schedule::runs::RunDueSchedules;
use kernel::Result;
use org::{
    email::actions::SendConfirmation,
    jobs::{AnnounceExpiringTokens, PurgeDeletions, RemoveExpiredAccess, RemoveOverdue},
    mail::SendLetter,
    member::SendInvitation,
    status::actions::{ClearStatuses, clear_ended},
    user::{dormant::DeactivateDormantUsers, removal::RemoveUser},
};
use repo::jobs::{EmptyTrash, SweepLfs};
use security::export::RemoveExports;
use time::{Duration, macros::time};
use worker::Worker;

use crate::{
    Forge, archive,
    checksums::{self, CheckChecksums},
    deployment::{self, SweepEnvironments},
    files::sizes::CountUploads,
    geo::{CountStatus, count_status},
    import,
    mail::{
        self,
        account_letters::{confirm_address, send_password_link},
        email_confirmation,
    },
    merge_request::{
        approvals::{RecomputeAllApprovals, RecomputeApprovals},
        code_owners::UpdateCodeOwners,
        diff_notes,
        head_refs::{DropHead, KeepHead},
        merge::{self, UnlockMerges},
    },
    outbox::{ForgetFacts, forget_facts},
    pipeline::{self, DropStaleJobs, StartDelayedJobs},
    project::{maintenance, repository::EnsureRepository, statistics::RefreshStatistics},
    purge,
    runner::{
        artifact_sweep::{self, SweepArtifacts},
        artifacts::{self, RemoveArtifacts},
        removal as job_removal,
    },
    security::{exports, imports},
    user::removal,
    webhook::{ForgetDeliveries, forget_deliveries, send_circular},
    wiki::MaintainWiki,
};

/// A worker that knows all work.
pub(crate) fn worker(forge: Forge) -> Worker<Forge> {
    let (underway, name) = (forge.underway.clone(), forge.key.name().to_owned());
    let worker = Worker::new(forge.db.clone(), forge).named(&name).noting(underway);
    with_merge_requests(with_pipelines(worker))
        .on(maintenance::maintain)
        .on(maintenance::run_maintenance)
        .on(maintain_wiki)
        .on(empty_trash)
        .on(sweep_lfs)
        .on(send_circular)
        .on(survey)
        .on(count_uploads)
        .on(ensure_repository)
        .on(keep_head)
        .on(drop_head)
        .on(diff_notes::follow_lines)
        .on(send_letter)
        .on(send_confirmation)
        .on(send_invitation)
        .on(confirm_address)
        .on(send_password_link)
        .on(remove_expired)
        .on(remove_overdue)
        .on(purge_removed)
        .on(remove_user)
        .daily(time!(0:00), RemoveExpiredAccess {})
        .on(announce_expiring_tokens)
        .daily(time!(0:30), AnnounceExpiringTokens {})
        .on(clear_statuses)
        .every(Duration::minutes(15), ClearStatuses {})
        .daily(time!(1:00), RemoveOverdue {})
        .on(deactivate_dormant)
        .daily(time!(1:30), DeactivateDormantUsers {})
        .on(forget_facts)
        .daily(time!(2:00), ForgetFacts {})
        .on(checksums::check)
        .every(Duration::minutes(1), CheckChecksums {})
        .on(count_status)
        .every(Duration::minutes(1), CountStatus {})
        .on(forget_deliveries)
        .every(Duration::hours(1), ForgetDeliveries {})
        .every(Duration::hours(6), PurgeDeletions {})
        .every(Duration::hours(1), EmptyTrash {})
        .every(Duration::days(1), SweepLfs {})
}

/// Work of pipelines, and of what comes of them.
fn with_pipelines(worker: Worker<Forge>) -> Worker<Forge> {
    worker
        .on(pipeline::make_for_push)
        .on(pipeline::make_for_merge_request)
        .on(pipeline::cancel_outdated_pipelines)
        .on(pipeline::make_downstream)
        .on(pipeline::run_due_schedules)
        .every(Duration::seconds(15), RunDueSchedules {})
        .on(pipeline::run_schedule)
        .on(pipeline::start_delayed_jobs)
        .every(Duration::seconds(30), StartDelayedJobs {})
        .on(job_removal::remove_job_files)
        .on(artifacts::remove_expired)
        .every(Duration::minutes(10), RemoveArtifacts {})
        .on(artifact_sweep::sweep)
        .every(Duration::days(1), SweepArtifacts {})
        .on(exports::write)
        .on(exports::remove)
        .on(imports::import)
        .on(import::run)
        .on(archive::export::write)
        .on(archive::export::remove)
        .on(archive::import::read)
        .on(archive::transfer::fetch)
        .every(Duration::minutes(15), RemoveArchives {})
        .every(Duration::minutes(5), RemoveExports {})
        .on(pipeline::drop_stale_jobs)
        .every(Duration::hours(1), DropStaleJobs {})
        .on(deployment::follow_deployment)
        .on(deployment::drop_refs)
        .on(deployment::stop_stale)
        .on(deployment::stop_environments_of)
        .on(deployment::sweep_environments)
        .every(Duration::minutes(5), SweepEnvironments {})
}

fn with_merge_requests(worker: Worker<Forge>) -> Worker<Forge> {
    worker
        .on(merge::follow_push)
        .on(merge::close_named)
        .on(merge::check_heads)
        .on(merge::refresh_closed_issues)
        .on(merge::finish_merge)
        .on(merge::merge_waiting)
        .on(merge::recover)
        .on(merge::check_after_push)
        .on(merge::unlock_merges)
        .every(Duration::minutes(5), UnlockMerges {})
        .on(update_code_owners)
        .on(recompute_approvals)
        .on(recompute_all_approvals)
}

async fn remove_overdue(forge: Forge, job: RemoveOverdue) -> Result<()> {
    job.run(&forge.db).await
}

async fn deactivate_dormant(forge: Forge, job: DeactivateDormantUsers) -> Result<()> {
    job.run(&forge.db).await
}

async fn purge_removed(forge: Forge, job: PurgeDeletions) -> Result<()> {
    purge::run(&forge, job).await
}

async fn remove_user(forge: Forge, job: RemoveUser) -> Result<()> {
    removal::run(&forge, job).await
}

async fn ensure_repository(forge: Forge, job: EnsureRepository) -> Result<()> {
    job.run(&forge).await
}

async fn keep_head(forge: Forge, job: KeepHead) -> Result<()> {
    job.run(&forge).await
}

async fn drop_head(forge: Forge, job: DropHead) -> Result<()> {
    job.run(&forge).await
}

async fn recompute_approvals(forge: Forge, job: RecomputeApprovals) -> Result<()> {
    job.run(&forge).await
}

async fn recompute_all_approvals(forge: Forge, job: RecomputeAllApprovals) -> Result<()> {
    job.run(&forge).await
}

async fn update_code_owners(forge: Forge, job: UpdateCodeOwners) -> Result<()> {
    job.run(&forge).await
}

async fn survey(forge: Forge, job: RefreshStatistics) -> Result<()> {
    job.run(&forge).await
}

async fn count_uploads(forge: Forge, job: CountUploads) -> Result<()> {
    job.run(&forge).await
}

async fn maintain_wiki(forge: Forge, job: MaintainWiki) -> Result<()> {
    job.run(&forge).await
}

async fn empty_trash(forge: Forge, job: EmptyTrash) -> Result<()> {
    job.run(&forge.storage).await
}

async fn sweep_lfs(forge: Forge, job: SweepLfs) -> Result<()> {
    job.run(&forge.db, &forge.lfs).await
}

async fn remove_expired(forge: Forge, job: RemoveExpiredAccess) -> Result<()> {
    job.run(&forge.db).await
}

async fn announce_expiring_tokens(forge: Forge, job: AnnounceExpiringTokens) -> Result<()> {
    job.run(&forge.db).await
}

async fn send_letter(forge: Forge, job: SendLetter) -> Result<()> {
    mail::deliver(&forge, job.letter).await
}

async fn send_confirmation(forge: Forge, job: SendConfirmation) -> Result<()> {
    email_confirmation::send(&forge, job).await
}

async fn clear_statuses(forge: Forge, _: ClearStatuses) -> Result<()> {
    forge.db.write(clear_ended).await.map(drop)
}

async fn send_invitation(forge: Forge, job: SendInvitation) -> Result<()> {
    match job.letter(&forge.db, forge.urls.at("-/invites")).await? {
        Some(letter) => mail::deliver(&forge, letter).await,
        None => Ok(()),
    }
}
