//! Connections that are used again. A name is looked up and judged for each request all the same: a connection is used again
//! only where the request would have connected to the same addresses on the same terms.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use ureq::{
    Agent, Error,
    config::Config,
    http::Uri,
    tls::TlsConfig,
    unversioned::{
        resolver::{ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

use crate::client::MOST_HEAD;

/// How long a connection may be idle.
const IDLE: Duration = Duration::from_secs(15);
/// Idle connections to one place.
const MOST_IDLE: usize = 4;
/// Places to which connections are kept.
const MOST_PLACES: usize = 64;

/// The host, port and proxy of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    scheme: String,
    authority: String,
    /// In their order.
    addresses: Vec<SocketAddr>,
    /// Whether the other's certificate must be good.
    verify: bool,
}

impl Destination {
    pub(crate) fn new(uri: &Uri, addresses: &[SocketAddr], verify: bool) -> Self {
        let mut addresses = addresses.to_vec();
        addresses.sort_unstable();
        Self {
            scheme: uri.scheme_str().unwrap_or_default().to_owned(),
            authority: uri
                .authority()
                .map(|one| one.as_str().to_ascii_lowercase())
                .unwrap_or_default(),
            addresses,
            verify,
        }
    }
}

/// Addresses that were judged. Nothing is looked up.
#[derive(Debug)]
struct JudgedAddresses(Vec<SocketAddr>);

impl Resolver for JudgedAddresses {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut all = self.empty();
        self.0.iter().for_each(|address| all.push(*address));
        Ok(all)
    }
}

#[derive(Debug)]
struct Entry {
    place: Destination,
    agent: Agent,
    used: Instant,
}

/// Agents by place, the one that was used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Connections(Mutex<VecDeque<Entry>>);

impl Connections {
    /// The agent for a place, and whether it may have connections to it.
    pub(crate) fn agent(&self, place: Destination, addresses: &[SocketAddr]) -> (Agent, bool) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        all.retain(|known| now.duration_since(known.used) <= IDLE);
        let at = all.iter().position(|known| known.place == place);
        let found = at.and_then(|at| all.remove(at));
        let is_known = found.is_some();
        let agent = match found {
            Some(known) => known.agent,
            None => new_agent(addresses, place.verify),
        };
        if all.len() >= MOST_PLACES {
            all.pop_front();
        }
        all.push_back(Entry { place, agent: agent.clone(), used: now });
        (agent, is_known)
    }

    /// Forgets the connections to a place.
    pub(crate) fn forget(&self, place: &Destination) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.place != *place);
    }
}

fn new_agent(addresses: &[SocketAddr], verify: bool) -> Agent {
    let config = Agent::config_builder()
        // A proxy would look names up itself.
        .proxy(None)
        .max_redirects(0)
        .max_response_header_size(MOST_HEAD)
        .input_buffer_size(MOST_HEAD)
        .http_status_as_error(false)
        .max_idle_connections(MOST_IDLE)
        .max_idle_connections_per_host(MOST_IDLE)
        .max_idle_age(IDLE)
        .tls_config(TlsConfig::builder().disable_verification(!verify).build())
        .user_agent("Forgeway")
        .build();
    Agent::with_parts(config, DefaultConnector::default(), JudgedAddresses(addresses.to_vec()))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::{Connections, Destination, MOST_PLACES};

    fn place(url: &str, addresses: &[SocketAddr], verify: bool) -> Destination {
        Destination::new(&url.parse().unwrap(), addresses, verify)
    }

    #[test]
    fn connections_are_for_one_place_its_addresses_and_terms() {
        let all = Connections::default();
        let [one, other] = ["192.0.2.1:80", "192.0.2.2:80"].map(|text| text.parse().unwrap());
        let is_known = |url: &str, addresses: &[SocketAddr], verify| {
            all.agent(place(url, addresses, verify), addresses).1
        };
        assert!(!is_known("http://a.example.com/x", &[one, other], true));
        assert!(is_known("http://A.example.com/y", &[other, one], true));
        assert!(!is_known("http://a.example.com/x", &[one], true), "another set of addresses");
        assert!(!is_known("http://b.example.com/x", &[one, other], true), "another name");
        assert!(!is_known("https://a.example.com/x", &[one, other], true), "another scheme");
        assert!(!is_known("http://a.example.com/x", &[one, other], false), "other terms");
    }

    #[test]
    fn the_place_that_was_used_longest_ago_is_forgotten() {
        let all = Connections::default();
        for number in 0..=MOST_PLACES {
            let url = format!("http://h{number}.example.com/");
            all.agent(place(&url, &[], true), &[]);
        }
        assert!(!all.agent(place("http://h0.example.com/", &[], true), &[]).1);
        assert!(all.agent(place("http://h64.example.com/", &[], true), &[]).1);
        all.forget(&place("http://h64.example.com/", &[], true));
        assert!(!all.agent(place("http://h64.example.com/", &[], true), &[]).1);
    }
}
