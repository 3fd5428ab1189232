//! From settings to a server that answers, and from a signal to a quiet end.

use std::{
    fs::{self, File, TryLockError},
    io::IsTerminal,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use admin::delivery::DeliveryQueue as _;
use anyhow::{Context, bail};
use forge::{memory, merge_request::merge, webhook};
use kernel::{
    Clock, Ts,
    task::{JoinHandle, spawn},
};
use org::settings::store::SettingsStore;
use repo::git::{
    Git, cli, quarantine,
    stale_locks::{self, Locks},
};
use tokio::sync::watch;
use tracing_subscriber::{EnvFilter, layer::SubscriberExt as _, util::SubscriberInitExt as _};
use worker::Queue;

use crate::{
    app::{App, State},
    belonging, built_in_runner,
    config::{Config, LogFormat},
    first_run::{self, FirstSecrets},
    git_http,
    listener::{self, Bounds},
    log_noise::MalformedRequestFilter,
    metrics,
    stopping::{self, Signals},
};

/// How long requests that are being answered may take after the signal to stop.
const DRAIN: Duration = Duration::from_secs(30);
/// How long git processes of a server that was killed may still run.
const ORPHANS_END: Duration = Duration::from_secs(2);
const UPKEEP: Duration = Duration::from_secs(60);

/// Begins to log.
pub fn begin_logging(config: &Config) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.log).context("the setting `log` cannot be read")?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Human => log.finish().with(MalformedRequestFilter).init(),
        LogFormat::Json => log.json().finish().with(MalformedRequestFilter).init(),
    }
    Ok(())
}

/// An open data folder. Nobody else has it open for writing while this lives.
pub struct OpenFolder {
    pub app: App,
    _lock: File,
}

/// Opens everything that a server needs, for this process alone, and finishes what a crash interrupted.
pub async fn open_and_recover(config: &Config) -> anyhow::Result<OpenFolder> {
    let lock = take_folder(config)?;
    let app = open_shared(config).await?;
    if !app.node_identity.is_primary() {
        // Its rows are copies: the primary finishes what was begun.
        return Ok(OpenFolder { app, _lock: lock });
    }
    let finished = repo::push::recover(&app.db, &app.storage, None).await.context("the journal")?;
    let wikis = repo::wiki::journal::recover(&app.db, &app.storage, &app.repositories).await;
    let wikis = wikis.context("the journal of wikis")?;
    if finished + wikis > 0 {
        tracing::warn!(pushes = finished, wikis, "finished what was interrupted");
    }
    let unlocked = merge::unlock_stale_merges(&app).await.context("locked merge requests")?;
    if unlocked > 0 {
        tracing::warn!(merge_requests = unlocked, "opened what was being merged");
    }
    forge::vault::seal_clear(&app).await.context("values that were stored in clear")?;
    let name = app.key.name().to_owned();
    // A file of SQLite has one server, whatever it was called before.
    let name = (!app.db.is_sqlite()).then_some(name);
    let freed = app.db.write(move |tx| {
        tx.free_work(name.as_deref())?;
        tx.free_deliveries(name.as_deref())
    });
    let freed = freed.await.context("the queues of background work and of deliveries")?;
    if freed > 0 {
        tracing::info!(deliveries = freed, "what was being sent is sent again");
    }
    Ok(OpenFolder { app, _lock: lock })
}

/// Opens the same beside a server that runs: for reading, and for rows that the server sees at once.
pub async fn open_shared(config: &Config) -> anyhow::Result<App> {
    let app = open_unchecked(config).await?;
    belonging::ensure(&app).await?;
    Ok(app)
}

/// As [`open_shared`], whichever data folder the database belongs to.
pub async fn open_unchecked(config: &Config) -> anyhow::Result<App> {
    let settings = config.settings()?;
    anyhow::ensure!(
        settings.forge.data.is_dir(),
        "there is no data folder {}; start the server once, or give --data",
        settings.forge.data.display()
    );
    belonging::ensure_file(&settings.forge.database, &settings.forge.data)?;
    let mut children = cli::Settings::new(crate::config::search_path());
    children.plumbing = memory::at_once(children.plumbing, 16);
    children.transport = memory::at_once(children.transport, 32);
    let git = Git::find(children).await?;
    let app = State::open(&settings, Arc::new(Clock::system()), git).with_context(|| {
        let forge::Settings { data, database, .. } = &settings.forge;
        format!("the database {database} cannot be opened beside {}", data.display())
    })?;
    Ok(app)
}

/// Makes the data folder when it is not there, and keeps other servers out of it as long as the value lives.
pub fn take_folder(config: &Config) -> anyhow::Result<File> {
    let data = config.data_folder()?;
    make_folder(&data)?;
    lock(&data)
}

fn make_folder(data: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .with_context(|| format!("the data folder {} cannot be made", data.display()))
}

/// One process at a time: the lock goes with the process, however it ends.
fn lock(data: &Path) -> anyhow::Result<File> {
    let path = data.join("forgeway.lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .with_context(|| format!("{} cannot be opened", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!(
                "{} is in use by another forgeway process; stop it first, or give --data another folder",
                data.display()
            )
        }
        Err(TryLockError::Error(cause)) => Err(cause).context("the data folder cannot be locked"),
    }
}

/// Serves until SIGTERM or SIGINT, then lets requests end.
pub async fn run(config: Config) -> anyhow::Result<()> {
    metrics::install();
    db::register_metrics();
    allow_many_files();
    let opened = open_and_recover(&config).await?;
    let app = opened.app.clone();
    let first =
        first_run::prepare(&app.db, config.root_password.as_deref(), config.root_token.as_deref())
            .await?;
    let runner = built_in_runner::prepare(&app, &config).await.context("the built-in runner")?;
    let _hooks = git_http::listen(&app).context("git's hooks cannot be set up")?;
    let server = listener::bind(app.clone(), &config.listen, bounds(&config))
        .with_context(|| format!("cannot listen on {}", config.listen))?;
    // Before anybody can know that it serves.
    let signals = Signals::listen()?;
    greet(&app, first.as_ref(), runner.as_ref().map(built_in_runner::PreparedRunner::said));
    let runner = runner.map(built_in_runner::PreparedRunner::start).transpose()?;
    let stopper = spawn(stopping::on_signal(signals, app.clone(), server.handle(), runner));
    let background = Background::start(&app);
    app.set_ready(true);
    let served = server.await;
    app.set_ready(false);
    stopper.abort();
    background.stop().await;
    tracing::info!("stopped");
    served.context("the server failed")
}

fn bounds(config: &Config) -> Bounds {
    let workers = match config.workers {
        0 => std::thread::available_parallelism().map_or(2, usize::from),
        given => given,
    };
    Bounds {
        workers,
        connections: config.max_connections,
        head: Duration::from_secs(config.request_seconds),
        drain: DRAIN,
    }
}

/// The tasks that run beside the requests of a server.
struct Background {
    upkeep: JoinHandle<()>,
    releasing: JoinHandle<()>,
    working: JoinHandle<()>,
    sending: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

impl Background {
    fn start(app: &App) -> Self {
        let (stop, stopping) = watch::channel(false);
        Self {
            upkeep: spawn(keep_up(app.clone())),
            releasing: spawn(release_locks(app.clone(), Instant::now())),
            working: spawn(work(app.clone(), stopping.clone())),
            sending: spawn(send_webhooks(app.clone(), stopping)),
            stop,
        }
    }

    /// Lets jobs and deliveries that have begun end, within [`DRAIN`] each.
    async fn stop(self) {
        self.upkeep.abort();
        self.releasing.abort();
        // The worker may have ended already; then nobody listens, and nobody needs to.
        let _ = self.stop.send(true);
        if tokio::time::timeout(DRAIN, self.working).await.is_err() {
            tracing::warn!("background work was cut short; it is done again at the next start");
        }
        if tokio::time::timeout(DRAIN, self.sending).await.is_err() {
            tracing::warn!("deliveries were cut short; they are sent again at the next start");
        }
    }
}

/// Runs jobs, on the primary only: the rows of other nodes are copies.
async fn work(app: App, stopping: watch::Receiver<bool>) {
    if !app.node_identity.is_primary() {
        return;
    }
    if let Err(cause) = forge::import::resume(&app.forge).await {
        tracing::error!(error = %cause, "imports go on within an hour");
    }
    if let Err(cause) = forge::archive::resume(&app.forge).await {
        tracing::error!(error = %cause, "archives go on within two hours");
    }
    app.worker().run(stopping).await;
}

/// Delivers webhooks, on the primary only.
async fn send_webhooks(app: App, stopping: watch::Receiver<bool>) {
    if app.node_identity.is_primary() {
        webhook::run(app.forge.clone(), stopping).await;
    }
}

/// Takes away what killed git processes left locked, and folders that a killed server left. Orphans of a killed server
/// get a moment to end by themselves.
async fn release_locks(app: App, since: Instant) {
    tokio::time::sleep(ORPHANS_END).await;
    let mut left = stale_locks::release_all(&app.storage, since).await.unwrap_or_else(|cause| {
        tracing::error!(error = %cause, "locks that nobody holds may be left");
        Vec::new()
    });
    while let Some(repo) = left.pop() {
        match stale_locks::release(&repo, since.elapsed()).await {
            Ok(Locks::Released(_)) => continue,
            Ok(Locks::InUse) => left.insert(0, repo),
            Err(cause) => tracing::error!(error = %cause, "locks that nobody holds may be left"),
        }
        tokio::time::sleep(ORPHANS_END).await;
    }
    match quarantine::clear_all(&app.storage, since).await {
        Ok(0) => {}
        Ok(pushes) => tracing::warn!(pushes, "cleared away what interrupted pushes left"),
        Err(cause) => tracing::error!(error = %cause, "parts of interrupted pushes may be left"),
    }
    match forge::archive::clear_leftovers(&app.forge, since).await {
        Ok(0) => {}
        Ok(archives) => tracing::warn!(archives, "cleared away what interrupted imports left"),
        Err(cause) => tracing::error!(error = %cause, "parts of interrupted imports may be left"),
    }
}

/// A connection takes a file: as many as the system allows, not as few as it gives unasked.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(cause) = setrlimit(Resource::Nofile, wanted) {
        tracing::warn!(error = %cause, "the limit of open files stays as it was");
    }
}

async fn keep_up(app: App) {
    // A ref that stays locked is waited for, and holds up nothing else.
    tokio::join!(store_settings(&app), keep_settled(&app));
}

async fn keep_settled(app: &App) {
    if !app.node_identity.is_primary() {
        return;
    }
    let mut tick = tokio::time::interval(UPKEEP);
    loop {
        tick.tick().await;
        finish_interrupted(app).await;
    }
}

async fn store_settings(app: &App) {
    let mut tick = tokio::time::interval(UPKEEP);
    loop {
        tick.tick().await;
        app.rates.forget_the_quiet(app.db.clock().now());
        match app.db.read(|tx| tx.settings()).await {
            Ok(settings) => app.follow(Arc::new(settings)),
            Err(cause) => tracing::warn!(error = %cause, "the settings cannot be read"),
        }
        metrics::upkeep();
    }
}

/// Carries out what was decided and then failed, as a start does.
async fn finish_interrupted(app: &App) {
    let seconds = i64::try_from(UPKEEP.as_secs()).unwrap_or(i64::MAX);
    let before = Ts::from_unix(app.db.clock().now().unix().saturating_sub(seconds));
    match repo::push::replay(&app.db, &app.storage, &app.journal, before).await {
        Ok(0) => {}
        Ok(pushes) => tracing::warn!(pushes, "finished what was interrupted"),
        Err(cause) => tracing::error!(error = %cause, "a push that was decided is not carried out"),
    }
    let forge = &app.forge;
    let (db, storage, repositories) = (&forge.db, &forge.storage, &forge.repositories);
    match repo::wiki::journal::replay(db, storage, repositories, before).await {
        Ok(0) => {}
        Ok(wikis) => tracing::warn!(wikis, "finished what was interrupted"),
        Err(cause) => tracing::error!(error = %cause, "a push to a wiki is not carried out"),
    }
}

#[expect(
    clippy::print_stdout,
    reason = "what a person needs at the first start goes to the terminal, not to the log"
)]
fn greet(app: &App, first: Option<&FirstSecrets>, runner: Option<String>) {
    let url = app.urls.base();
    println!("Forgeway serves on {url}");
    if let Some(said) = runner {
        println!("{said}");
    }
    let Some(first) = first else { return };
    println!(
        "\nThis is the first start. The administrator is root; the secrets below are shown only now."
    );
    if let Some(password) = &first.password {
        println!("  password: {password}");
    }
    let shown = first.token.as_ref().map_or("$FORGEWAY_ROOT_TOKEN", |token| token.reveal());
    println!("  token:    {shown}");
    let (scheme, host) = url.split_once("://").unwrap_or(("http", url));
    println!("\nPush a repository; the project is made when it is not there:");
    println!("  git push {scheme}://root:{shown}@{host}/root/my-project.git HEAD:main\n");
}
