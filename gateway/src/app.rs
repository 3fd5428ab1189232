//! What every handler may use: the database, the repositories, and the addresses under which the world sees them.

use std::{
    any::Any,
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use db::{Database, Location};
use kernel::{Clock, Error, Result, ids::ProjectId};
use repo::{
    commit::{Answers, Writer},
    git::{Git, GitError, Reader, RepoPath, Repositories, Storage, Wiki},
    lfs::LfsFiles,
    merge::Checks,
    ports::{Aftermath, Lending, People},
    push::{Journal, Push},
    wiki,
};

use org::settings::store::SettingsStore;
use sha2::{Digest, Sha256};
use signatures::TrustedRoots;
use worker::Underway;

use crate::{
    compose::{
        activity,
        collaboration::Collaboration,
        forge::Forge,
        mail::{MailServer, Post},
        merging::Follower,
        repo::Accounts,
        subscribers,
    },
    git_http::Transport,
    identity::Signer,
    memory,
    passwords::Passwords,
    places::Places,
    proxies::Proxies,
    rate_limit::Rates,
    room::Room,
    sign_ins::SignIns,
};

/// Shared by all requests; cheap to clone.
pub type App = Arc<State>;

pub struct State {
    pub db: Database,
    pub storage: Storage,
    /// The contents of large files.
    pub lfs: LfsFiles,
    pub git: Git,
    pub journal: Journal,
    /// Whose addresses are whose, for push rules.
    pub people: Arc<dyn People>,
    /// Which branches are lent to whom.
    pub lending: Arc<dyn Lending>,
    /// What follows from a push before it is answered.
    pub aftermath: Arc<dyn Aftermath>,
    /// Whether git can merge what.
    pub checks: Checks,
    pub repositories: Repositories,
    /// What was once worked out from git objects.
    pub answers: Answers,
    pub urls: Urls,
    pub limits: Limits,
    /// Whose word is taken for where a request came from.
    pub proxies: Proxies,
    /// Whether there is room to write.
    pub room: Room,
    pub rates: Rates,
    /// Clones and pushes of git clients.
    pub transport: Transport,
    pub passwords: Passwords,
    pub sign_ins: SignIns,
    pub identity: Signer,
    /// Letters to people.
    pub post: Post,
    /// Whose word on certificates is taken.
    pub roots: TrustedRoots,
    data: PathBuf,
    ready: AtomicBool,
    git_reads: Places,
    /// Texts that are being rendered for their own sake.
    pub renderings: Places,
    wiki_locks: wiki::Locks,
    access_changes: Arc<AtomicU64>,
    /// The background work that is being done.
    pub underway: Underway,
}

/// What a [`State`] is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    pub database: Location,
    pub external_url: String,
    pub limits: Limits,
    /// Whose word is taken for where a request came from.
    pub proxies: Proxies,
    /// Without one, letters are only logged.
    pub mail: Option<MailServer>,
    /// Whose word on certificates is taken.
    pub roots: TrustedRoots,
}

impl State {
    /// How often somebody's access has changed, so far as this process did it.
    pub fn access_changes(&self) -> u64 {
        self.access_changes.load(Ordering::Acquire)
    }

    /// Opens the database and the data folder, both made when they are not there.
    pub fn open(settings: &Settings, clock: Arc<Clock>, git: Git) -> Result<App> {
        let db = Database::open(&settings.database, clock)?;
        let urls = Urls::new(&settings.external_url);
        let forge = Forge::new(&urls);
        let access_changes = Arc::new(AtomicU64::new(0));
        let noted = Arc::clone(&access_changes);
        db.listen(move |tx, fact| {
            let any: &dyn Any = fact;
            if any.is::<org::access::Event>() {
                noted.fetch_add(1, Ordering::AcqRel);
            }
            subscribers::inside(tx, fact)?;
            activity::heard(tx, &forge, fact)
        });
        let accounts = Accounts { host: urls.host_name().to_owned() };
        org::access::follow_rules(&db)?;
        let set = db.read_blocking(|tx| tx.settings())?;
        let identity = Signer::open(&settings.data, &settings.external_url)?;
        let post = Post::open(settings.mail.as_ref())?;
        let state = Arc::new_cyclic(|app| Self {
            db,
            storage: Storage::new(&settings.data),
            lfs: LfsFiles::new(&settings.data),
            git,
            journal: Journal::default(),
            people: Arc::new(accounts),
            lending: Arc::new(Collaboration),
            repositories: Repositories::default(),
            aftermath: Arc::new(Follower(Weak::clone(app))),
            checks: Checks::default(),
            answers: Answers::default(),
            urls,
            limits: settings.limits,
            proxies: settings.proxies.clone(),
            room: Room::default(),
            rates: Rates::new(settings.limits),
            transport: Transport::new(),
            passwords: Passwords::default(),
            sign_ins: SignIns::default(),
            identity,
            post,
            roots: settings.roots.clone(),
            data: settings.data.clone(),
            ready: AtomicBool::new(false),
            git_reads: Places::new(reads_at_once()),
            renderings: Places::new(memory::at_once(reads_at_once(), 32)),
            wiki_locks: wiki::Locks::default(),
            access_changes,
            underway: Underway::default(),
        });
        state.follow(&set);
        Ok(state)
    }

    /// Follows what the installation is set to, where answers depend on it everywhere.
    pub fn follow(&self, settings: &org::settings::Settings) {
        self.urls.gravatar.store(settings.gravatar_enabled, Ordering::Relaxed);
    }

    /// The folder of everything that is no row.
    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn has_data_folder(&self) -> bool {
        self.data.is_dir()
    }

    /// Whether requests are being served: not before the start is over, nor after the signal to stop.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
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

    /// As [`git_read`](Self::git_read), for a wiki; nothing while nobody has written to it.
    pub async fn wiki_read<T: Send + 'static>(
        &self,
        wiki: Wiki,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        match self.git_read_at(self.storage.wiki(wiki), work).await {
            Err(Error::NotFound("Repository")) => Ok(None),
            read => read.map(Some),
        }
    }

    /// As [`git_read`](Self::git_read), for any repository.
    pub async fn git_read_at<T: Send + 'static>(
        &self,
        path: RepoPath,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        memory::ensure_some()?;
        let place = self.git_reads.take().await?;
        let repositories = self.repositories.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            let read = match repositories.open(&path) {
                Ok(reader) => work(&reader),
                Err(GitError::NotFound) => return Err(Error::NotFound("Repository")),
                Err(failure) => Err(failure.into()),
            };
            match read {
                // It was open, and has been deleted since.
                Err(Error::Internal(_)) if !path.as_path().exists() => {
                    repositories.forget(&path);
                    Err(Error::NotFound("Repository"))
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
            lending: &self.lending,
            aftermath: &self.aftermath,
        }
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

/// Git reads are bound to a core while they run, and rarely wait.
fn reads_at_once() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    memory::at_once(cores * 2, 16)
}

/// Bounds on what comes from outside.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request body, git pushes and uploads excepted.
    pub body: usize,
    /// Bytes of one uploaded file.
    pub upload: u64,
    /// Bytes of one git push; 0 is no limit.
    pub push: u64,
    /// Bytes of one object in a git push, unpacked; 0 is no limit.
    pub object: u64,
    /// How long a client may take to begin with its request; see [`Paced`](crate::extract::Paced).
    pub patience: Duration,
    /// Requests a minute by one person; 0 is no limit.
    pub user_per_minute: u32,
    /// Requests a minute from one address without a credential; 0 is no limit.
    pub address_per_minute: u32,
    /// Archives a minute for one person or address; 0 is no limit.
    pub archives_per_minute: u32,
    /// Questions a minute by one person whether a path is taken; 0 is no limit.
    pub namespaces_per_minute: u32,
    /// Records of single people that one person asks for in ten minutes; 0 is no limit.
    pub people_per_ten_minutes: u32,
    /// Notes that one person writes in a minute; 0 is no limit.
    pub notes_per_minute: u32,
    /// Issues that one person writes in a minute; 0 is no limit.
    pub issues_per_minute: u32,
    /// People and addresses invited in a day into one namespace at the top and all in it; 0 is no limit.
    pub invites_per_day: u32,
}

impl Limits {
    /// For who shows no credential: what a form without files may have.
    #[must_use]
    pub fn for_strangers(self) -> Self {
        const MOST: usize = 1 << 20;
        Self { body: self.body.min(MOST), upload: self.upload.min(1 << 20), ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            upload: 200 << 20,
            push: 0,
            object: 512 << 20,
            patience: Duration::from_secs(10),
            user_per_minute: 0,
            address_per_minute: 0,
            archives_per_minute: 0,
            namespaces_per_minute: 0,
            people_per_ten_minutes: 0,
            notes_per_minute: 0,
            issues_per_minute: 0,
            invites_per_day: 0,
        }
    }
}

/// Addresses in answers. All begin with the configured external URL.
#[derive(Clone, Debug)]
pub struct Urls {
    /// Without a trailing slash.
    base: String,
    /// Whether people without a picture of their own have the one of Gravatar, as the settings say.
    gravatar: Arc<AtomicBool>,
}

impl Urls {
    pub fn new(external: &str) -> Self {
        Self {
            base: external.trim_end_matches('/').to_owned(),
            gravatar: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Where Gravatar would show a picture for an address; it is never asked from here.
    pub fn gravatar(&self, email: &str) -> Option<String> {
        self.gravatar_as_wide(email, 40)
    }

    /// The same, to be shown so wide; sharp screens show twice as many points.
    pub fn gravatar_as_wide(&self, email: &str, width: i64) -> Option<String> {
        let on = self.gravatar.load(Ordering::Relaxed) && !email.is_empty();
        on.then(|| {
            let digest = Sha256::digest(email.trim().to_lowercase());
            let (digest, points) = (hex::encode(digest), width.saturating_mul(2));
            format!("https://www.gravatar.com/avatar/{digest}?s={points}&d=identicon")
        })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// `http` or `https`, host and port.
    pub fn origin(&self) -> &str {
        let after_scheme = self.base.find("://").map_or(0, |at| at + 3);
        let end =
            self.base[after_scheme..].find('/').map_or(self.base.len(), |at| after_scheme + at);
        &self.base[..end]
    }

    /// The folder below the origin in which everything lies; usually none.
    pub fn folder(&self) -> &str {
        self.base.strip_prefix(self.origin()).unwrap_or_default()
    }

    /// Host and port alone.
    pub fn host(&self) -> &str {
        self.origin().split_once("://").map_or(self.origin(), |(_, host)| host)
    }

    /// Host alone.
    pub fn host_name(&self) -> &str {
        let host = self.host();
        host.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(host, |(host, _)| host)
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }
}
