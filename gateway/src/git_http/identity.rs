//! The signed statement that a push carries through git to its hooks.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use kernel::{
    Error, Result, Ts,
    ids::{ProjectId, UserId},
};
use serde::{Deserialize, Serialize};

use super::exchange::LONGEST;

const AUDIENCE: &str = "git-hook";

/// Whose push it is, where it goes, and until when this may be said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    aud: String,
    exp: i64,
    /// Names the push among those under way.
    pub(super) push: String,
    pub(super) project: i64,
    pub(super) user: i64,
}

/// Signs for this process alone: a push never outlives it.
pub(super) struct Key {
    sign: EncodingKey,
    check: DecodingKey,
}

impl Key {
    pub(super) fn generate() -> Self {
        let secret: [u8; 32] = rand::random();
        Self { sign: EncodingKey::from_secret(&secret), check: DecodingKey::from_secret(&secret) }
    }

    pub(super) fn sign(
        &self,
        push: &str,
        project: ProjectId,
        user: UserId,
        now: Ts,
    ) -> Result<String> {
        let lifetime = i64::try_from(LONGEST.as_secs()).unwrap_or(i64::MAX);
        let identity = Identity {
            aud: AUDIENCE.to_owned(),
            exp: now.unix().saturating_add(lifetime),
            push: push.to_owned(),
            project: project.0,
            user: user.0,
        };
        encode(&Header::new(Algorithm::HS256), &identity, &self.sign).map_err(Error::internal)
    }

    /// Who a token is about, when it was signed here and is still good.
    pub(super) fn verify(&self, token: &str, now: Ts) -> Option<Identity> {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.set_audience(&[AUDIENCE]);
        // The application's clock decides, not the machine's.
        rules.validate_exp = false;
        let identity = decode::<Identity>(token, &self.check, &rules).ok()?.claims;
        (identity.exp > now.unix()).then_some(identity)
    }
}

#[cfg(test)]
mod tests {
    use kernel::{
        Ts,
        ids::{ProjectId, UserId},
    };

    use super::{Key, LONGEST};

    #[test]
    fn only_the_own_fresh_signature_counts() {
        let (key, now) = (Key::generate(), Ts::from_unix(1_000_000));
        let token = key.sign("p1", ProjectId(7), UserId(3), now).unwrap();

        let identity = key.verify(&token, now).unwrap();

        assert_eq!((identity.push.as_str(), identity.project, identity.user), ("p1", 7, 3));
        let late = Ts::from_unix(1_000_000 + i64::try_from(LONGEST.as_secs()).unwrap());
        assert_eq!(key.verify(&token, late), None);
        assert_eq!(Key::generate().verify(&token, now), None);
        assert_eq!(key.verify(&format!("{token}x"), now), None);
        assert_eq!(key.verify("", now), None);
    }
}
