//! The context of every handler: the forge and the request limits.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use entities::server::settings::ShownSettings;
use forge::{Forge, signed_statements::Signer};
use kernel::{Clock, Result};
use repo::git::Git;
use resolvers::subscriptions::feed::Subscribers;

pub use crate::limits::Limits;
use crate::{disk_space::DiskSpace, git_http::Transport, proxies::Proxies, rate_limit::Rates};

/// Shared by all requests; cheap to clone.
pub type App = Arc<State>;

/// The product, which it stands for wherever one is asked for, and what belongs to HTTP.
pub struct State {
    pub forge: Forge,
    pub limits: Limits,
    /// Whose word is taken for where a request came from.
    pub proxies: Proxies,
    /// Whether there is room to write.
    pub room: DiskSpace,
    pub rates: Arc<Rates>,
    /// Clones and pushes of git clients.
    pub transport: Transport,
    pub identity: Signer,
    ready: AtomicBool,
    /// Who waits for what happens.
    pub(crate) subscribers: Subscribers,
    pub(crate) shown_settings: ShownSettings,
}

/// The parameters with which a [`State`] is opened.
#[derive(Clone, Debug)]
pub struct Settings {
    pub forge: forge::Settings,
    pub limits: Limits,
    /// Whose word is taken for where a request came from.
    pub proxies: Proxies,
}

impl Deref for State {
    type Target = Forge;

    fn deref(&self) -> &Forge {
        &self.forge
    }
}

impl State {
    /// Opens the database and the data folder, both made when they are not there.
    pub fn open(settings: &Settings, clock: Arc<Clock>, git: Git) -> Result<App> {
        let forge = Forge::open(&settings.forge, clock, git)?;
        let rates = Arc::new(Rates::new(settings.limits, &forge.settings()));
        let identity = Signer::new(&forge.key, &settings.forge.external_url);
        Ok(Arc::new(Self {
            forge,
            limits: settings.limits,
            proxies: settings.proxies.clone(),
            room: DiskSpace::default(),
            rates,
            transport: Transport::new(),
            identity,
            ready: AtomicBool::new(false),
            subscribers: Subscribers::default(),
            shown_settings: ShownSettings::default(),
        }))
    }

    /// Follows what the installation is set to, also where that concerns HTTP alone.
    pub fn follow(&self, settings: Arc<org::settings::Settings>) {
        self.rates.follow(&settings);
        self.forge.follow(settings);
    }

    /// Whether requests are being served: not before the start is over, nor after the signal to stop.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }
}
