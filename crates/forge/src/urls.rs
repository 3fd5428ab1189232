//! Under which addresses the world sees this installation.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicBool, Ordering},
};

use org::{settings::Settings, token::Secret};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::external_authorization::AuthorizationAnswers;

/// What is escaped in the parts of an address.
const OUTSIDE_PATHS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Addresses in answers. All begin with the configured external URL.
#[derive(Clone, Debug)]
pub struct Urls {
    /// Without a trailing slash.
    base: String,
    /// Where the host begins in it.
    host_begin: usize,
    /// Where its scheme, host and port end in it.
    origin_end: usize,
    /// Whether people without a picture of their own have the one of Gravatar, as the settings say.
    gravatar: Arc<AtomicBool>,
    /// Whether spans of time are told in hours and minutes alone.
    hours_only: Arc<AtomicBool>,
    /// The host of addresses that tell nobody's real one, where the settings name one.
    private_mail_host: Arc<RwLock<Option<String>>>,
    /// What takes the place of the origin where repositories are cloned from.
    clone_root: Arc<RwLock<Option<String>>>,
    /// Who may enter which projects, as a service of the administrators says: what answers name is behind it, too.
    pub(crate) authorizations: Arc<AuthorizationAnswers>,
}

impl Urls {
    pub fn new(external: &str) -> Self {
        let base = external.trim_end_matches('/');
        let host_begin = base.find("://").map_or(0, |at| at + 3);
        let host_length = base[host_begin..].find('/').unwrap_or(base.len() - host_begin);
        Self {
            base: base.to_owned(),
            host_begin,
            origin_end: host_begin + host_length,
            gravatar: Arc::new(AtomicBool::new(true)),
            hours_only: Arc::default(),
            private_mail_host: Arc::default(),
            clone_root: Arc::default(),
            authorizations: Arc::default(),
        }
    }

    /// Follows what the installation is set to.
    pub fn follow(&self, settings: &Settings) {
        self.gravatar.store(settings.gravatar_enabled, Ordering::Relaxed);
        self.hours_only.store(settings.time_tracking_limit_to_hours(), Ordering::Relaxed);
        let host = settings.commit_email_hostname().map(str::to_owned);
        *self.private_mail_host.write().unwrap_or_else(PoisonError::into_inner) = host;
        let root = settings.custom_http_clone_url_root();
        let root = root.map(|root| root.trim_end_matches('/').to_owned());
        *self.clone_root.write().unwrap_or_else(PoisonError::into_inner) = root;
        self.authorizations.follow(settings);
    }

    /// Whether spans of time are told in hours and minutes alone.
    pub fn hours_only(&self) -> bool {
        self.hours_only.load(Ordering::Relaxed)
    }

    /// Where the repository at a path is cloned from.
    pub fn repository(&self, full_path: &str) -> String {
        let root = self.clone_root.read().unwrap_or_else(PoisonError::into_inner);
        match root.as_deref() {
            Some(root) => format!("{root}{}/{full_path}.git", self.folder()),
            None => self.at(&format!("{full_path}.git")),
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
            let points = width.saturating_mul(2);
            format!("https://www.gravatar.com/avatar/{digest:x}?s={points}&d=identicon")
        })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// `http` or `https`, host and port.
    pub fn origin(&self) -> &str {
        &self.base[..self.origin_end]
    }

    /// The folder below the origin in which everything lies; usually none.
    pub fn folder(&self) -> &str {
        &self.base[self.origin_end..]
    }

    /// Host and port alone.
    pub fn host(&self) -> &str {
        &self.base[self.host_begin..self.origin_end]
    }

    /// Host alone.
    pub fn host_name(&self) -> &str {
        let host = self.host();
        host.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(host, |(host, _)| host)
    }

    /// What the names of a project's images begin with, in a registry that answers under this host.
    pub fn image_prefix(&self, full_path: &str) -> String {
        format!("{}/{}", self.host(), full_path.to_lowercase())
    }

    /// The host of addresses under which people commit who keep their own to themselves.
    pub fn private_mail_host(&self) -> String {
        let set = self.private_mail_host.read().unwrap_or_else(PoisonError::into_inner);
        set.clone().unwrap_or_else(|| format!("users.noreply.{}", self.host_name()))
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }

    /// A text as a part of an address, in which slashes stay.
    pub fn path_text(text: &str) -> String {
        utf8_percent_encode(text, OUTSIDE_PATHS).to_string()
    }

    /// The page that confirms an address of somebody's.
    pub fn confirm_email(&self, secret: &Secret) -> String {
        self.at(&format!("-/profile/emails/confirmation?confirmation_token={}", secret.reveal()))
    }
}
