//! The background work of an import: one step each time, written in one transaction with the place at which to go on. A
//! server that is killed in the middle of a step has written nothing of it; the next one asks the source again.

use admin::import::{
    Credentials, Import, ImportKind, ImportProgress, ImportStatus, ImportStep, ImportStore as _,
    Origin, Stage,
};
use db::Tx;
use kernel::{Result, TextEnum as _, ids::ProjectId};
use org::project::store::ProjectStore as _;
use time::Duration;

use super::{
    SourceClient, SourceError, attachments,
    batch::Step,
    client::basic,
    git::{Remote, land_repository, land_wiki},
    host::HostStep,
    job::{RunImport, advance, enqueue_step, withdraw_step},
    lfs,
    people::People,
    server::ServerStep,
};
use crate::Forge;

/// Failures in a row after which an import is given up, and the first pause between two; each further one is twice as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RetryPlan {
    attempts: i32,
    pause: Duration,
}

/// Half an hour: what was brought along so far is not given up for a short outage.
const LONG_RETRIES: RetryPlan = RetryPlan { attempts: 8, pause: FIRST_PAUSE };
/// A minute: somebody waits for the first answer of an address that may be wrong.
const SHORT_RETRIES: RetryPlan = RetryPlan { attempts: 4, pause: Duration::seconds(10) };
/// So many steps are done before others have their turn.
const STEPS_IN_A_ROW: usize = 8;
/// After this time whoever did a step is gone.
const LONGEST_STEP: Duration = Duration::hours(1);
/// After this time a step that failed, or that was left, is done again.
const FIRST_PAUSE: Duration = Duration::seconds(15);

/// Begins the next step; nothing for imports that have ended. The queue does not wait for it.
pub(crate) async fn run(forge: Forge, job: RunImport) -> Result<()> {
    let project = job.project;
    let Some(import) = forge.db.write(move |tx| begin(tx, project)).await? else { return Ok(()) };
    let own = forge.clone();
    forge.imports.spawn(async move {
        if let Err(cause) = go_on(&own, import).await {
            tracing::error!(%project, error = %cause, "a step of an import is left for later");
            let soon = move |tx: &mut Tx<'_>| enqueue_step(tx, project, tx.now.plus(FIRST_PAUSE));
            // Where that cannot be written down either, whoever looks after it does it.
            let _ = own.db.write(soon).await;
        }
    });
    Ok(())
}

/// Does this step and some that follow it: the queue looks for work once a second, which is longer than most pages take.
async fn go_on(forge: &Forge, import: Import) -> Result<()> {
    let project = import.project_id;
    let mut next = Some(import);
    for _ in 0..STEPS_IN_A_ROW {
        let Some(import) = next.take() else { return Ok(()) };
        if !work(forge, import).await? {
            return Ok(());
        }
        next = forge.db.write(move |tx| begin(tx, project)).await?;
    }
    match next {
        // Others wait for a place, too.
        Some(_) => forge.db.write(move |tx| enqueue_step(tx, project, tx.now)).await,
        None => Ok(()),
    }
}

/// Goes on with all imports that had not ended when the server did.
///
/// # Errors
/// When the database cannot be written.
pub async fn resume(forge: &Forge) -> Result<()> {
    let resumed = move |tx: &mut Tx<'_>| {
        let now = tx.now;
        for project in tx.unfinished_imports()? {
            enqueue_step(tx, project, now)?;
        }
        Ok(())
    };
    forge.db.write(resumed).await
}

/// Does one step; whether another one may follow at once.
async fn work(forge: &Forge, import: Import) -> Result<bool> {
    let project = import.project_id;
    if !forge.storage.exists(project) {
        // Whoever makes the repository has not come so far.
        let later =
            move |tx: &mut Tx<'_>| enqueue_step(tx, project, tx.now.plus(Duration::seconds(5)));
        forge.db.write(later).await?;
        return Ok(false);
    }
    let seen = import.clone();
    let done = match step(forge, &import).await {
        Ok(step) => save(forge, import, step).await.map_err(SourceError::Own),
        Err(SourceError::RateLimited { seconds }) => {
            wait(forge, import, seconds).await?;
            return Ok(false);
        }
        Err(failure) => Err(failure),
    };
    match done {
        Ok(may_follow) => Ok(may_follow),
        // The database or the disk is away, and nobody counts.
        Err(SourceError::Own(cause)) if cause.is_of_machine() => Err(cause),
        Err(failure) => failed(forge, seen, failure).await.map(|()| false),
    }
}

/// How often an import is tried again after this failure; nothing where that does not help.
fn retry_plan(kind: ImportKind, failure: &SourceError) -> Option<RetryPlan> {
    match failure {
        // A rule refused what came. Only somebody who pushed at the same time is a reason to try it again.
        SourceError::Own(cause) if !cause.is_ours() => Some(SHORT_RETRIES),
        failure if !failure.is_passing() && !matches!(failure, SourceError::Own(_)) => None,
        _ if kind == ImportKind::Url => Some(SHORT_RETRIES),
        _ => Some(LONG_RETRIES),
    }
}

/// Tries again later what may succeed then, and gives up the rest.
async fn failed(forge: &Forge, import: Import, failure: SourceError) -> Result<()> {
    if let SourceError::Own(cause) = &failure {
        tracing::error!(project = %import.project_id, error = %cause, "a step of an import failed");
    }
    let plan = retry_plan(import.kind, &failure);
    match plan.filter(|plan| import.attempts + 1 < plan.attempts) {
        Some(plan) => retry(forge, import, plan.pause).await,
        None => give_up(forge, import, &failure).await,
    }
}

/// The import, if it is still to be worked on.
fn begin(tx: &mut Tx<'_>, id: ProjectId) -> Result<Option<Import>> {
    let Some(project) = tx.find_project(id)? else { return Ok(None) };
    let status = ImportStatus::find(&project.import_status).unwrap_or(ImportStatus::None);
    if !status.is_active() {
        return Ok(None);
    }
    let import = tx.find_import(id)?;
    match (&import, status) {
        // Whoever asked for it has no account any more, and the row went with it.
        (None, _) => drop(advance(tx, id, status, ImportStep::Fail)?),
        (Some(_), ImportStatus::Scheduled) => drop(advance(tx, id, status, ImportStep::Start)?),
        (Some(_), _) => {}
    }
    if import.is_some() {
        // Should this server end in the middle of the step, another one does it.
        enqueue_step(tx, id, tx.now.plus(LONGEST_STEP))?;
    }
    Ok(import)
}

/// Whether an import still goes on, in the transaction that is to write for it.
fn is_under_way(tx: &mut Tx<'_>, project: ProjectId) -> Result<bool> {
    let row = tx.find_project(project)?;
    Ok(row.is_some_and(|row| row.import_status == ImportStatus::Started.as_str()))
}

async fn step(forge: &Forge, import: &Import) -> Result<Step, SourceError> {
    let origin = import.origin()?;
    let credentials = import.credentials(&forge.vault)?;
    let (api, git) = match (&credentials, import.kind) {
        (None, _) => (None, None),
        (Some(one), ImportKind::RemoteHost) => {
            (Some(format!("token {}", one.password)), Some(basic("x-access-token", &one.password)))
        }
        (Some(one), ImportKind::RemoteServer | ImportKind::Url) => {
            let basic = basic(&one.username, &one.password);
            (Some(basic.clone()), Some(basic))
        }
    };
    let client = SourceClient::new(forge, api.clone());
    let (project, user) = (import.project_id, import.user_id);
    match import.stage {
        Stage::Repository => {
            // Git is asked without the credentials of the API, which are of another form.
            let bare = SourceClient::new(forge, None);
            let remote = Remote::new(bare, &origin.git, git);
            land_repository(forge, &remote, project, user).await?;
            Ok(Step::default())
        }
        Stage::Wiki if origin.has_wiki => {
            let url = format!("{}.wiki.git", origin.git.trim_end_matches(".git"));
            let remote = Remote::new(SourceClient::new(forge, None), &url, git);
            land_wiki(forge, &remote, project).await?;
            Ok(Step::default())
        }
        Stage::LfsObjects => {
            let bare = SourceClient::new(forge, git);
            lfs::step(forge, import, &origin, &bare).await
        }
        Stage::Attachments => attachments::step(forge, import, &origin, api).await,
        Stage::Wiki | Stage::Done => Ok(Step::default()),
        _ => of_source(forge, import, &origin, &client).await,
    }
}

async fn of_source(
    forge: &Forge,
    import: &Import,
    origin: &Origin,
    client: &SourceClient,
) -> Result<Step, SourceError> {
    let host = origin.web.split("://").nth(1).and_then(|rest| rest.split(['/', ':']).next());
    let people = People {
        forge,
        client,
        project: import.project_id,
        kind: import.kind,
        importer: import.user_id,
        base: &origin.base,
        private_host: format!("users.noreply.{}", host.unwrap_or_default()),
    };
    match import.kind {
        ImportKind::RemoteHost => {
            HostStep { forge, import, origin, client, people: &people }.run().await
        }
        ImportKind::RemoteServer => {
            ServerStep { forge, import, origin, client, people: &people }.run().await
        }
        ImportKind::Url => Ok(Step::default()),
    }
}

/// Writes a step, and asks for the next one; whether it may follow at once.
async fn save(forge: &Forge, import: Import, step: Step) -> Result<bool> {
    let origin = import.origin()?;
    forge.db.write(move |tx| save_in(tx, &import, &origin, &step)).await
}

fn save_in(tx: &mut Tx<'_>, import: &Import, origin: &Origin, step: &Step) -> Result<bool> {
    let project = import.project_id;
    if !is_under_way(tx, project)? {
        return Ok(false);
    }
    let (stage, cursor) = match &step.next {
        Some(next) => (import.stage, Some(next.clone())),
        None => (import.stage.next(import.kind, origin.optional), None),
    };
    let mut stats = import.stats()?;
    // Another server that took the same work over has been faster, or is going to see that this one was.
    if !tx.save_progress(
        import,
        &ImportProgress { stage, cursor: cursor.clone(), stats: stats.clone() },
    )? {
        return Ok(false);
    }
    step.write(tx, import, &mut stats)?;
    let mut seen = import.clone();
    seen.steps += 1;
    tx.save_progress(&seen, &ImportProgress { stage, cursor, stats })?;
    if stage == Stage::Done {
        advance(tx, project, ImportStatus::Started, ImportStep::Finish)?;
        withdraw_step(tx, project)?;
        tx.end_import(project, None)?;
        return Ok(false);
    }
    // Whoever did this step does the next one at once. Were it due for the queue as well, two would ask the source.
    let pause = step.pause.map_or(FIRST_PAUSE, Duration::seconds);
    enqueue_step(tx, project, tx.now.plus(pause))?;
    Ok(step.pause.is_none())
}

/// Leaves a source alone for as long as it wants; that is no failure.
async fn wait(forge: &Forge, import: Import, seconds: i64) -> Result<()> {
    let project = import.project_id;
    let later = move |tx: &mut Tx<'_>| {
        let at = tx.now.plus(Duration::seconds(seconds));
        match is_under_way(tx, project)? {
            true => enqueue_step(tx, project, at),
            false => Ok(()),
        }
    };
    forge.db.write(later).await
}

async fn retry(forge: &Forge, import: Import, first: Duration) -> Result<()> {
    let later = move |tx: &mut Tx<'_>| {
        let project = import.project_id;
        if !is_under_way(tx, project)? || !tx.save_attempt(&import)? {
            return Ok(());
        }
        let pause = first * (1_i32 << import.attempts.clamp(0, 10));
        enqueue_step(tx, project, tx.now.plus(pause))
    };
    forge.db.write(later).await
}

/// A text without the credentials, which a source may repeat in what it says.
fn masked(text: &str, credentials: Option<&Credentials>) -> String {
    // A token alone before the host of an address is a name without a password.
    let secret = credentials.map(|one| match one.password.is_empty() {
        true => one.username.as_str(),
        false => one.password.as_str(),
    });
    match secret.filter(|secret| !secret.is_empty()) {
        Some(secret) => text.replace(secret, "*****"),
        None => text.to_owned(),
    }
}

async fn give_up(forge: &Forge, import: Import, failure: &SourceError) -> Result<()> {
    // Those that cannot be opened were sent nowhere.
    let credentials = import.credentials(&forge.vault).ok().flatten();
    let reason = masked(&failure.to_string(), credentials.as_ref());
    let text = format!(
        "The import stopped at the stage \"{}\": {}.",
        import.stage,
        reason.trim_end_matches('.')
    );
    tracing::warn!(project = %import.project_id, failure = reason, "an import failed");
    let failed = move |tx: &mut Tx<'_>| {
        let project = import.project_id;
        match advance(tx, project, ImportStatus::Started, ImportStep::Fail)? {
            true => {
                withdraw_step(tx, project)?;
                tx.end_import(project, Some(&text))
            }
            false => Ok(()),
        }
    };
    forge.db.write(failed).await
}

#[cfg(test)]
mod tests {
    use admin::import::{Credentials, ImportKind};
    use kernel::Error;

    use super::{LONG_RETRIES, SHORT_RETRIES, SourceError, masked, retry_plan};

    #[test]
    fn definite_refusals_are_not_tried_again_and_short_outages_not_for_long_at_an_address() {
        let away = SourceError::of_status(503);
        assert_eq!(retry_plan(ImportKind::Url, &away), Some(SHORT_RETRIES));
        assert_eq!(retry_plan(ImportKind::RemoteHost, &away), Some(LONG_RETRIES));
        for status in [401, 404, 400] {
            assert_eq!(retry_plan(ImportKind::RemoteHost, &SourceError::of_status(status)), None);
        }
        let refused = SourceError::Own(Error::bad_request().whole("It is too large."));
        assert_eq!(retry_plan(ImportKind::RemoteServer, &refused), Some(SHORT_RETRIES));
        let pauses: i64 = (0..SHORT_RETRIES.attempts - 1)
            .map(|attempt| (SHORT_RETRIES.pause * (1_i32 << attempt)).whole_seconds())
            .sum();
        assert!(pauses <= 120, "{pauses}");
    }

    #[test]
    fn a_source_that_repeats_the_password_is_quoted_without_it() {
        let told = "the git server says: no access for ada:s3cret";
        let with = |password: &str| Credentials {
            username: "ada".to_owned(),
            password: password.to_owned(),
        };
        let shown = masked(told, Some(&with("s3cret")));
        assert_eq!(shown, "the git server says: no access for ada:*****");
        let shown = masked(told, Some(&with("")));
        assert_eq!(shown, "the git server says: no access for *****:s3cret", "a token alone");
        assert_eq!(masked(told, None), told);
    }
}
