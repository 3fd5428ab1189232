//! Fetches URLs with a limit on size and time.

use std::{collections::HashMap, io::Read as _, net::IpAddr, sync::Arc, time::Duration};

use ureq::{Agent, Error, http::Uri, unversioned::transport::DefaultConnector};

use crate::{
    connections::Connections,
    guard::{AddressAllowlist, Guard, PlaceAllowlist, Refusal, check_uri},
};

/// The maximum size of a response, and the time from the DNS lookup to its last byte.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    pub bytes: u64,
    pub time: Duration,
}

/// Reasons for which a fetch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The guard refused the address; the message reveals nothing about it.
    #[error("{0}")]
    Refused(&'static str),
    /// The response has another status than 2xx.
    #[error("status {0}")]
    Status(u16),
    #[error("it took too long")]
    Timeout,
    #[error("it is too large")]
    TooLarge,
    /// The connection failed, or the response is malformed.
    #[error("nobody answers")]
    Unreachable,
}

/// An HTTP client behind the guard.
#[derive(Debug)]
pub struct Client {
    pub(crate) agent: Agent,
    pub(crate) guard: Guard,
    pub(crate) connections: Connections,
    relays: Relays,
}

/// Addresses that stand for hosts elsewhere, by the name of each: what would be sent to `https://host/path` is sent to
/// `<address>/path`, where the guard lets it.
#[derive(Clone, Debug, Default)]
pub struct Relays(Arc<HashMap<String, String>>);

impl Relays {
    pub fn new(addresses: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(Arc::new(addresses.into_iter().collect()))
    }

    /// Where what is meant for a URL goes.
    fn address(&self, uri: Uri) -> Uri {
        let relay = uri.host().and_then(|host| self.0.get(&host.to_ascii_lowercase()));
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let relayed = relay.and_then(|base| format!("{base}{path}").parse().ok());
        relayed.unwrap_or(uri)
    }
}

/// The size of the head of an answer: status and headers. The buffer for it is as large.
pub(crate) const MOST_HEAD: usize = 128 << 10;
/// Maximum number of redirects.
pub(crate) const REDIRECTS: u32 = 5;
/// What is said where there are more.
pub(crate) const ENDLESS: &str = "it leads on and on";

impl Default for Client {
    fn default() -> Self {
        Self::new(Arc::new(|_: IpAddr| false))
    }
}

impl Client {
    /// A client that may also reach the internal addresses on the allowlist.
    pub fn new(allowlist: AddressAllowlist) -> Self {
        Self::to_places(Arc::new(move |_, address| allowlist(address.ip())))
    }

    /// One that also goes to those places inside.
    pub fn to_places(allowlist: PlaceAllowlist) -> Self {
        let config = Agent::config_builder()
            // A proxy would look names up itself, unseen by the guard.
            .proxy(None)
            .max_redirects(REDIRECTS)
            .max_response_header_size(MOST_HEAD)
            .input_buffer_size(MOST_HEAD)
            // What was connected to for one request is looked at again for the next.
            .max_idle_connections(0)
            .user_agent("Forgeway")
            .build();
        let own = Guard::new(Arc::clone(&allowlist));
        Self {
            agent: Agent::with_parts(config, DefaultConnector::default(), own),
            guard: Guard::new(allowlist),
            connections: Connections::default(),
            relays: Relays::default(),
        }
    }

    /// The same, which sends what is meant for some hosts to others.
    #[must_use]
    pub fn with_relays(self, relays: Relays) -> Self {
        Self { relays, ..self }
    }

    pub(crate) fn relayed(&self, uri: Uri) -> Uri {
        self.relays.address(uri)
    }

    /// Fetches a URL. Blocks until the response is read, or the time is up.
    ///
    /// # Errors
    /// When there is nothing that may be had.
    pub fn get(&self, address: &str, bounds: FetchLimits) -> Result<Vec<u8>, FetchError> {
        let uri: Uri =
            address.parse().map_err(|_no_address| FetchError::Refused("it is no address"))?;
        check_uri(&uri).map_err(refused)?;
        let request = self.agent.get(uri).config().timeout_global(Some(bounds.time)).build();
        let mut answer = request.call().map_err(failure)?;
        // A redirect to another scheme is not followed, and comes back as it is.
        if !answer.status().is_success() {
            return Err(FetchError::Status(answer.status().as_u16()));
        }
        let mut bytes = Vec::new();
        let body = answer.body_mut().as_reader();
        let read = body.take(bounds.bytes.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|cause| failure(Error::from(cause)))?;
        match u64::try_from(bytes.len()) {
            Ok(length) if length <= bounds.bytes => Ok(bytes),
            _ => Err(FetchError::TooLarge),
        }
    }
}

pub(crate) fn failure(error: Error) -> FetchError {
    match error {
        Error::StatusCode(status) => FetchError::Status(status),
        Error::Timeout(_) => FetchError::Timeout,
        Error::Other(cause) => match cause.downcast_ref::<Refusal>() {
            Some(refusal) => refused(*refusal),
            None => FetchError::Unreachable,
        },
        Error::Io(cause) if cause.kind() == std::io::ErrorKind::TimedOut => FetchError::Timeout,
        Error::BadUri(_) => refused(Refusal::Scheme),
        Error::TooManyRedirects => FetchError::Refused(ENDLESS),
        _ => FetchError::Unreachable,
    }
}

pub(crate) fn refused(refusal: Refusal) -> FetchError {
    FetchError::Refused(refusal.text())
}
