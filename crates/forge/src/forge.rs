//! The context of every use case: database, repositories and URLs.

use std::{
    any::Any,
    collections::{BTreeSet, HashMap},
    fmt,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, atomic::AtomicU64},
};

use ci::log::LogFiles;
use db::Database;
use kernel::{Error, Result, error::Kind, ids::ProjectId};
use objects::Objects;
use org::settings::Settings;
use repo::{
    commit::{Answers, Writer},
    git::{
        CommitInfo, DiffLimits, Git, GitError, Oid, Reader, RefName, RepoPath, Repositories,
        Storage, Wiki, refs::RefMove,
    },
    lfs::LfsFiles,
    merge::Checks,
    ports::{AfterPush, ForkPushBranches, People},
    push::{InternalMove, Journal, Push},
    wiki,
};
use secrets::Vault;
use signatures::TrustedRoots;
use worker::{RunningWork, Worker};

use crate::{
    external_authorization::AuthorizationAnswers,
    import::RunningSteps,
    mail::smtp::Mailer,
    memory,
    runner::{HandoverLocks, JobNotifier, LogFollowers, built_in_rule::BuiltIn, contact::Contacts},
    server_key::ServerKey,
    sign_in::{Passwords, SignIns},
    slots::Slots,
    urls::Urls,
    webhook::Courier,
};

/// A function that reads from a repository.
type GitWork = Box<dyn FnOnce(&Reader) -> Result<Box<dyn Any + Send>> + Send>;

/// One installation. Shared by all who work with it; cheap to clone.
#[derive(Clone)]
pub struct Forge(pub(crate) Arc<Services>);

pub struct Services {
    pub db: Database,
    pub storage: Storage,
    /// The contents of large files.
    pub lfs: LfsFiles,
    pub git: Git,
    pub journal: Journal,
    /// Whose addresses are whose, for push rules.
    pub people: Arc<dyn People>,
    /// The branches of open merge requests that allow collaboration.
    pub fork_push_access: Arc<dyn ForkPushBranches>,
    /// What follows from a push before it is answered.
    pub aftermath: Arc<dyn AfterPush>,
    /// Whether git can merge what.
    pub checks: Checks,
    pub repositories: Repositories,
    /// What was once worked out from git objects.
    pub answers: Answers,
    pub urls: Urls,
    /// The commit that the server was built from.
    pub revision: String,
    /// Letters to people.
    pub mailer: Mailer,
    /// Whose word on certificates is taken.
    pub roots: TrustedRoots,
    /// Goes out of the machine on somebody's word.
    pub outbound: outbound::Client,
    /// Sends what happens to webhooks and integrations.
    pub courier: Arc<Courier>,
    /// Steps of imports that are under way.
    pub imports: RunningSteps,
    /// Who may enter which projects, as a service of the administrators says.
    pub authorizations: Arc<AuthorizationAnswers>,
    /// Hashes and checks passwords.
    pub passwords: Passwords,
    /// Wrong passwords by account.
    pub sign_ins: SignIns,
    pub key: ServerKey,
    /// As which node this server runs.
    pub node_identity: geo::Identity,
    /// Seals secrets that rows hold.
    pub vault: Arc<Vault>,
    /// Runners that wait for jobs.
    pub bell: Arc<JobNotifier>,
    /// The runner that this server brings along.
    pub built_in: BuiltIn,
    /// Jobs that are being handed over.
    pub handing_over: HandoverLocks,
    /// Files that jobs leave behind.
    pub artifacts: Objects,
    /// Files that people add to projects.
    pub uploads: Objects,
    /// Pictures of projects, groups and people.
    pub avatars: Objects,
    /// Vulnerabilities as files that somebody asked for.
    pub exports: Objects,
    /// What jobs write.
    pub logs: LogFiles,
    /// Those who follow what jobs write.
    pub followers: LogFollowers,
    /// Which calls of runners were written down.
    pub contacts: Contacts,
    /// The background work that is being done.
    pub underway: RunningWork,
    /// What the installation is set to, as this server last read it.
    pub(crate) settings: RwLock<Arc<Settings>>,
    /// Held by whoever changes the settings, until this server follows them.
    pub(crate) settings_change: tokio::sync::Mutex<()>,
    pub(crate) data: PathBuf,
    pub(crate) git_reads: Slots,
    /// For fetching what configurations include.
    pub(crate) fetches: Slots,
    /// For compiling configurations that belong to no repository.
    pub(crate) lints: Slots,
    /// Texts that are being rendered for their own sake.
    pub(crate) renderings: Slots,
    pub(crate) wiki_locks: wiki::Locks,
    pub(crate) access_changes: Arc<AtomicU64>,
    /// Knows how all background work is done: a value, since the work itself names [`Forge`].
    pub(crate) make_worker: fn(Forge) -> Worker<Forge>,
}

impl Deref for Forge {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.0
    }
}

impl fmt::Debug for Forge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forge").field("data", &self.data).finish_non_exhaustive()
    }
}

impl Forge {
    /// Somebody who does the background work of this installation.
    pub fn worker(&self) -> Worker<Self> {
        (self.make_worker)(self.clone())
    }

    /// Follows what the installation is set to, where answers depend on it everywhere.
    pub fn follow(&self, settings: Arc<Settings>) {
        self.urls.follow(&settings);
        self.courier.rules.follow(&settings);
        self.repositories.limit_diffs(diff_limits(&settings));
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// What the installation is set to: what this server changed at once, what others changed within a minute.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The folder of everything that is no row.
    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn has_data_folder(&self) -> bool {
        self.data.is_dir()
    }

    /// Reads a project's repository on a thread that may block; only so many at once, and one person only half of
    /// these. A repository that is not on disk is a 404.
    pub async fn git_read<T: Send + 'static>(
        &self,
        project: ProjectId,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.git_read_at(self.storage.repository(project), work).await
    }

    /// Commits that records of other things name. What is gone is left out, and all where there is no repository.
    pub async fn shared_commits(
        &self,
        project: ProjectId,
        ids: BTreeSet<Oid>,
    ) -> Result<HashMap<Oid, Arc<CommitInfo>>> {
        let path = self.storage.repository(project);
        let (mut found, mut others) = (HashMap::with_capacity(ids.len()), Vec::new());
        for id in ids {
            match self.repositories.known_commit(&path, id) {
                Some(commit) => drop(found.insert(id, commit)),
                None => others.push(id),
            }
        }
        if others.is_empty() {
            return Ok(found);
        }
        let read = self.git_read_at(path, move |reader| {
            for id in others {
                found.extend(reader.shared_commit(id)?.map(|commit| (id, commit)));
            }
            Ok(found)
        });
        match read.await {
            Err(gone) if gone.is_not_found("Repository") => Ok(HashMap::new()),
            found => found,
        }
    }

    /// As [`git_read`](Self::git_read), for a wiki; nothing while nobody has written to it.
    pub async fn wiki_read<T: Send + 'static>(
        &self,
        wiki: Wiki,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        match self.git_read_at(self.storage.wiki(wiki), work).await {
            Err(gone) if gone.is_not_found("Repository") => Ok(None),
            read => read.map(Some),
        }
    }

    /// Where a branch is; nowhere in a project without a repository, or under a name that no branch has.
    pub async fn branch_head(&self, project: ProjectId, branch: &str) -> Result<Option<Oid>> {
        let Ok(name) = RefName::branch(branch) else { return Ok(None) };
        let read = self.git_read(project, move |reader| {
            Ok(reader.find_reference(&name)?.and_then(|found| found.commit))
        });
        match read.await {
            Err(gone) if gone.is_not_found("Repository") => Ok(None),
            found => found,
        }
    }

    /// As [`git_read`](Self::git_read), for any repository.
    pub async fn git_read_at<T: Send + 'static>(
        &self,
        path: RepoPath,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let work: GitWork = Box::new(move |reader| Ok(Box::new(work(reader)?)));
        let answer = self.git_work(path, work).await?;
        answer
            .downcast()
            .map(|answer| *answer)
            .map_err(|_answer| Error::internal("an answer of another type"))
    }

    async fn git_work(&self, path: RepoPath, work: GitWork) -> Result<Box<dyn Any + Send>> {
        memory::ensure_some()?;
        let slot = self.git_reads.take().await?;
        let repositories = self.repositories.clone();
        let done = kernel::task::spawn_blocking(move || {
            let _slot = slot;
            let read = match repositories.open(&path) {
                Ok(reader) => work(&reader),
                Err(GitError::NotFound) => return Err(Error::not_found("Repository")),
                Err(failure) => Err(failure.into()),
            };
            match read {
                // It was open, and has been deleted since.
                Err(failure) if failure.kind == Kind::Internal && !path.as_path().exists() => {
                    repositories.forget(&path);
                    Err(Error::not_found("Repository"))
                }
                read => read,
            }
        });
        done.await.map_err(Error::internal)?
    }

    /// Makes commits on behalf of the API.
    pub fn writer(&self) -> Writer<'_> {
        Writer {
            db: &self.db,
            git: &self.git,
            storage: &self.storage,
            repositories: &self.repositories,
            journal: &self.journal,
            people: &self.people,
            fork_push_access: &self.fork_push_access,
            aftermath: &self.aftermath,
        }
    }

    /// Moves refs that the server keeps for itself; see [`repo::push::move_own`].
    pub(crate) async fn move_own(
        &self,
        project: ProjectId,
        moves: Vec<RefMove>,
    ) -> Result<InternalMove> {
        repo::push::move_own((&self.db, &self.storage, &self.journal), project, moves).await
    }

    /// Changes wikis on behalf of the API.
    pub fn wikis(&self) -> wiki::Writer {
        wiki::Writer {
            db: self.db.clone(),
            git: self.git.clone(),
            storage: self.storage.clone(),
            repositories: self.repositories.clone(),
            locks: self.wiki_locks.clone(),
        }
    }

    /// Moves refs on behalf of the API; see [`repo::push`].
    pub async fn push(&self, push: Push) -> Result<()> {
        repo::push::apply(self.writer(), push).await
    }
}

/// The limits of diffs that the installation is set to.
fn diff_limits(settings: &Settings) -> DiffLimits {
    let usual = DiffLimits::default();
    let size = |most: Option<i64>, usual: usize| {
        most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usual)
    };
    let lines = settings.diff_max_lines().and_then(|most| u64::try_from(most).ok());
    DiffLimits::bounded(
        size(settings.diff_max_files(), usual.files),
        lines.unwrap_or(usual.total_lines),
        size(settings.diff_max_patch_bytes(), usual.patch_bytes),
    )
}

#[cfg(test)]
mod tests {
    use org::settings::Settings;
    use repo::git::DiffLimits;

    use super::diff_limits;

    #[test]
    fn diffs_are_bounded_as_the_settings_say() {
        let mut settings = Settings::default();
        assert_eq!(diff_limits(&settings), DiffLimits::default());
        for (name, most) in [
            ("diff_max_files", 2000),
            ("diff_max_lines", 60_000),
            ("diff_max_patch_bytes", 300_000),
        ] {
            settings.other.insert(name.to_owned(), most.into());
        }
        assert_eq!(diff_limits(&settings), DiffLimits::bounded(2000, 60_000, 300_000));
    }
}
