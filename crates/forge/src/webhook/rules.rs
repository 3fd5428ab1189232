//! The outbound request rules of administrators, known to every HTTP client.

use std::{
    net::SocketAddr,
    sync::{Arc, PoisonError, RwLock},
};

use admin::integration::UrlRule;
use org::{namespace::Networks, settings::Settings};
use outbound::{Client, LocalRequests, Relays};
use time::Duration;

/// What could not be sent for so long is not sent any more.
pub(super) const LONGEST_WAIT: Duration = Duration::days(2);

/// The rules as they are at the moment; cheap to clone, and all clones follow the settings.
#[derive(Clone, Debug)]
pub struct OutgoingRules {
    web: Arc<RwLock<LocalRequests>>,
    system: Arc<RwLock<LocalRequests>>,
    /// What is open at any rate.
    inner: Networks,
    relays: Relays,
}

impl OutgoingRules {
    pub(crate) fn new(inner: Networks, relays: Relays) -> Self {
        Self { web: Arc::default(), system: Arc::default(), inner, relays }
    }

    /// Follows what the installation is set to.
    pub(crate) fn follow(&self, settings: &Settings) {
        let rules = |allowed: bool| LocalRequests {
            allowed,
            allowlist: settings.outbound_local_requests_whitelist.clone(),
        };
        let keep = |place: &RwLock<LocalRequests>, rules: LocalRequests| {
            *place.write().unwrap_or_else(PoisonError::into_inner) = rules;
        };
        keep(&self.web, rules(settings.allow_local_requests_from_web_hooks_and_services));
        keep(&self.system, rules(settings.allow_local_requests_from_system_hooks));
    }

    /// For webhooks of projects and groups, and integrations.
    pub fn web(&self) -> OutgoingRule {
        self.rule(&self.web)
    }

    /// For system hooks.
    pub fn system(&self) -> OutgoingRule {
        self.rule(&self.system)
    }

    fn rule(&self, local: &Arc<RwLock<LocalRequests>>) -> OutgoingRule {
        let (local, inner, relays) = (local.clone(), self.inner.clone(), self.relays.clone());
        OutgoingRule { local, inner, relays }
    }
}

/// The rule for one kind of requests.
#[derive(Clone, Debug)]
pub struct OutgoingRule {
    local: Arc<RwLock<LocalRequests>>,
    inner: Networks,
    relays: Relays,
}

impl OutgoingRule {
    pub(crate) fn client(&self) -> Client {
        let rule = self.clone();
        Client::to_places(Arc::new(move |host, address| rule.permits(host, address)))
            .with_relays(self.relays.clone())
    }

    fn permits(&self, host: &str, address: SocketAddr) -> bool {
        let local = self.local.read().unwrap_or_else(PoisonError::into_inner);
        self.inner.hold(address.ip()) || local.permit(host, address)
    }
}

impl UrlRule for OutgoingRule {
    fn allows(&self, url: &str) -> bool {
        let local = self.local.read().unwrap_or_else(PoisonError::into_inner);
        local.allows_url_with(url, |address| self.inner.hold(address))
    }
}
