//! Under which addresses the world sees this installation.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use org::token::Secret;
use sha2::{Digest, Sha256};

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

    /// Follows what the installation is set to.
    pub fn show_gravatars(&self, enabled: bool) {
        self.gravatar.store(enabled, Ordering::Relaxed);
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

    /// The page that confirms an address of somebody's.
    pub fn confirm_email(&self, secret: &Secret) -> String {
        self.at(&format!("-/profile/emails/confirmation?confirmation_token={}", secret.reveal()))
    }
}
