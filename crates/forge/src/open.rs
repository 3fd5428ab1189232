//! Opening an installation, with everything that listens and works in it.

use std::{
    any::Any,
    path::PathBuf,
    sync::{
        Arc, RwLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use ci::log::LogFiles;
use db::{Database, Location};
use kernel::{Clock, Result};
use objects::{ContentStorage, Objects};
use org::{namespace::Networks, settings::store::SettingsStore as _};
use repo::{
    commit::Answers,
    git::{Git, Repositories, Storage},
    lfs::{self, LfsFiles},
    merge::Checks,
    push::Journal,
    wiki,
};
use secrets::Vault;
use signatures::TrustedRoots;
use tokio::sync::Notify;
use worker::RunningWork;

use crate::{
    Forge, Services, activity_feed, audit,
    checksums::{ARTIFACTS, AVATARS, FileLedger, UPLOADS},
    geo::GeoSettings,
    import::RunningSteps,
    jobs, listeners,
    mail::smtp::{MailServer, Mailer},
    markdown, memory,
    merge_request::merge::Follower,
    outbox,
    ports::{directory::Directory, fork_push_access::Collaboration, repo::Accounts},
    runner::{HandoverLocks, JobNotifier, LogFollowers, built_in_rule::BuiltIn, contact::Contacts},
    server_key::ServerKey,
    sign_in::{Passwords, SignIns},
    slots::Slots,
    urls::Urls,
    vault,
    webhook::{self, Announcer, Courier, OutgoingRules},
};

/// The parameters with which a [`Forge`] is opened.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    pub database: Location,
    pub external_url: String,
    /// The commit that the server was built from.
    pub revision: String,
    /// Without one, letters are only logged.
    pub mail: Option<MailServer>,
    /// Whose word on certificates is taken.
    pub roots: TrustedRoots,
    /// What requests on somebody's word may reach beside the open internet.
    pub inner_networks: Networks,
    /// Hosts of other products that are reached by way of another address.
    pub relays: outbound::Relays,
    /// Where artifacts, uploads, pictures and large files are kept.
    pub contents: ContentStorage,
    /// As which node of the installation it runs.
    pub geo: GeoSettings,
}

impl Forge {
    /// Opens the database and the data folder, both made when they are not there.
    pub fn open(settings: &Settings, clock: Arc<Clock>, git: Git) -> Result<Self> {
        let foundation = Foundation::open(settings, clock)?;
        let contents = Contents::open(settings, &foundation.db)?;
        let listening = Subscriptions::install(&foundation)?;
        let stored = Arc::new(foundation.db.read_blocking(|tx| tx.settings())?);
        let mailer = Mailer::open(settings.mail.as_ref())?;
        let courier = Arc::new(courier(settings, listening.wake));
        let forge = Self(Arc::new_cyclic(|services| Services {
            storage: Storage::new(&settings.data),
            lfs: contents.lfs,
            git,
            journal: Journal::default(),
            people: Arc::new(Accounts { urls: foundation.urls.clone() }),
            fork_push_access: Arc::new(Collaboration),
            repositories: Repositories::default(),
            aftermath: Arc::new(Follower(Weak::clone(services))),
            checks: Checks::default(),
            answers: Answers::default(),
            revision: settings.revision.clone(),
            mailer,
            roots: settings.roots.clone(),
            outbound: courier.rules.web().client(),
            courier,
            imports: RunningSteps::default(),
            authorizations: Arc::clone(&foundation.urls.authorizations),
            passwords: Passwords::default(),
            sign_ins: SignIns::default(),
            node_identity: settings.geo.identity(&settings.external_url),
            bell: listening.bell,
            built_in: BuiltIn::default(),
            handing_over: HandoverLocks::default(),
            artifacts: contents.artifacts,
            uploads: contents.uploads,
            avatars: contents.avatars,
            exports: contents.exports,
            logs: LogFiles::new(&settings.data),
            followers: listening.followers,
            contacts: Contacts::default(),
            settings: RwLock::new(stored.clone()),
            settings_change: tokio::sync::Mutex::default(),
            data: settings.data.clone(),
            git_reads: Slots::new(reads_at_once()),
            fetches: Slots::new(FETCHES_AT_ONCE),
            lints: Slots::new(reads_at_once()),
            renderings: markdown::slots(),
            wiki_locks: wiki::Locks::default(),
            access_changes: listening.access_changes,
            underway: RunningWork::default(),
            make_worker: jobs::worker,
            db: foundation.db,
            urls: foundation.urls,
            key: foundation.key,
            vault: foundation.vault,
        }));
        forge.follow(stored);
        Ok(forge)
    }
}

/// The parts of a [`Forge`] that its other parts are made with.
struct Foundation {
    db: Database,
    urls: Urls,
    key: ServerKey,
    vault: Arc<Vault>,
}

impl Foundation {
    fn open(settings: &Settings, clock: Arc<Clock>) -> Result<Self> {
        let db = Database::open(&settings.database, clock)?;
        let key = ServerKey::open(&settings.data)?;
        let vault = Arc::new(vault::open(&db, &settings.data, &key)?);
        outbox::follow_server(&db)?;
        Ok(Self { db, urls: Urls::new(&settings.external_url), key, vault })
    }
}

/// The parts of a [`Forge`] that hear of facts.
struct Subscriptions {
    access_changes: Arc<AtomicU64>,
    bell: Arc<JobNotifier>,
    followers: LogFollowers,
    /// Wakes the deliveries of webhooks.
    wake: Arc<Notify>,
}

impl Subscriptions {
    fn install(foundation: &Foundation) -> Result<Self> {
        let Foundation { db, urls, vault, .. } = foundation;
        let listening = Self {
            access_changes: Arc::new(AtomicU64::new(0)),
            bell: Arc::new(JobNotifier::default()),
            followers: LogFollowers::default(),
            wake: Arc::new(Notify::new()),
        };
        let announcer = Announcer::new(urls, vault, &listening.wake);
        let context = ListenerContext {
            directory: Directory::new(urls),
            vault: Arc::clone(vault),
            access_changes: Arc::clone(&listening.access_changes),
            bell: Arc::clone(&listening.bell),
            followers: listening.followers.clone(),
        };
        listen(db, context, announcer);
        org::access::follow_rules(db)?;
        Ok(listening)
    }
}

fn courier(settings: &Settings, wake: Arc<Notify>) -> Courier {
    Courier::new(OutgoingRules::new(settings.inner_networks.clone(), settings.relays.clone()), wake)
}

/// The stores of files that are not part of a repository.
struct Contents {
    lfs: LfsFiles,
    artifacts: Objects,
    uploads: Objects,
    avatars: Objects,
    exports: Objects,
}

impl Contents {
    /// Exports are there for a time only, and nobody notes them: those of vulnerabilities for an hour, archives for a day.
    fn open(settings: &Settings, db: &Database) -> Result<Self> {
        let objects = |kind| settings.contents.objects(&settings.data, kind);
        let noted = |kind| -> Result<Objects> {
            let ledger = Arc::new(FileLedger::new(db, kind));
            Ok(objects(kind)?.noted_by(ledger))
        };
        Ok(Self {
            lfs: LfsFiles::new(&settings.data, noted(lfs::KIND)?),
            artifacts: noted(ARTIFACTS)?,
            uploads: noted(UPLOADS)?,
            avatars: noted(AVATARS)?,
            exports: objects("exports")?,
        })
    }
}

/// The state that listeners work with.
struct ListenerContext {
    directory: Directory,
    vault: Arc<Vault>,
    access_changes: Arc<AtomicU64>,
    bell: Arc<JobNotifier>,
    followers: LogFollowers,
}

/// Installs whoever hears facts: what they do is part of the transaction in which the fact became true.
fn listen(db: &Database, heard: ListenerContext, announcer: Announcer) {
    db.listen(move |tx, fact| {
        let any: &dyn Any = fact;
        if any.is::<org::access::Event>() {
            heard.access_changes.fetch_add(1, Ordering::AcqRel);
        }
        heard.bell.on_event(tx, any);
        heard.followers.on_event(tx, any);
        audit::on_event(tx, fact)?;
        listeners::inside(tx, &heard.vault, fact)?;
        activity_feed::on_event(tx, &heard.directory, fact)?;
        webhook::on_event(tx, &announcer, fact)
    });
}

/// Who fetches waits for the network, and holds a thread meanwhile.
const FETCHES_AT_ONCE: usize = 8;

/// Git reads are bound to a core while they run, and rarely wait.
fn reads_at_once() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    memory::at_once(cores * 2, 16)
}
