//! Authentication tokens of runners.

use kernel::Ts;
use secrets::Secret;
use sha2::{Digest as _, Sha256};

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
/// Characters of a token that are shown to tell runners apart.
const SHOWN: usize = 9;
/// No token is longer.
const LONGEST: usize = 1024;

/// The authentication token of a runner. The database stores only its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerToken(Secret);

impl RunnerToken {
    /// How tokens of runners begin that were made by a person rather than with a registration token.
    pub const PREFIX: &'static str = "glrt-";

    /// A new one for a runner that registers itself.
    pub fn registered() -> Self {
        Self::given(random())
    }

    /// A new one for a runner that a person makes.
    pub fn created() -> Self {
        Self::given(format!("{}{}", Self::PREFIX, random()))
    }

    /// One given by a client.
    pub fn given(text: impl Into<String>) -> Self {
        Self(Secret::new(text))
    }

    /// A new one of the same kind.
    pub fn another(prefixed: bool) -> Self {
        if prefixed { Self::created() } else { Self::registered() }
    }

    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    /// The first characters, by which people tell runners apart.
    pub fn short(&self) -> String {
        let own = self.reveal();
        own.strip_prefix(Self::PREFIX).unwrap_or(own).chars().take(SHOWN).collect()
    }

    pub fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.reveal()))
    }

    /// Whether it could be one at all.
    pub fn is_plausible(&self) -> bool {
        (1..=LONGEST).contains(&self.reveal().len())
    }
}

/// A token that a runner was given just now.
#[derive(Clone, Debug)]
pub struct NewToken {
    pub token: RunnerToken,
    /// `None` where it does not expire.
    pub expires_at: Option<Ts>,
}

fn random() -> String {
    let bytes: [u8; 20] = rand::random();
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)])).collect()
}

#[cfg(test)]
mod tests {
    use super::RunnerToken;

    #[test]
    fn a_token_is_new_each_time_and_shown_in_no_log() {
        let (one, other) = (RunnerToken::registered(), RunnerToken::created());
        assert_ne!(one.reveal(), RunnerToken::registered().reveal());
        assert!(other.reveal().starts_with("glrt-") && !other.short().starts_with("glrt-"));
        assert!(!format!("{one:?}").contains(one.reveal()));
    }
}
