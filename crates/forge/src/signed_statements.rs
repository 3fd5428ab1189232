//! Short-lived signed statements of who somebody is: what git hooks and browser pages carry instead of a token.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use kernel::{
    Error, Result, Ts,
    ids::{ProjectId, UserId},
};
use serde::{Deserialize, Serialize};
use time::Duration;

use crate::server_key::ServerKey;

/// From the first byte of a clone or push to its last.
pub const LONGEST_EXCHANGE: std::time::Duration = std::time::Duration::from_secs(4 * 3600);

/// The purpose of a statement, without which it is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    Hook,
    Page,
}

impl Purpose {
    fn lifetime(self) -> Duration {
        match self {
            // A push may take long: the hook runs when everything has arrived.
            Self::Hook => Duration::seconds_f64(LONGEST_EXCHANGE.as_secs_f64()),
            Self::Page => Duration::minutes(5),
        }
    }
}

/// A user, and the purpose of the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub user: UserId,
    pub project: Option<ProjectId>,
    pub purpose: Purpose,
    /// The push among those under way that a hook asks about.
    pub push: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<ProjectId>,
    purpose: Purpose,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    push: Option<String>,
    iat: i64,
    exp: i64,
}

/// Signs statements and checks them, with the key of this installation.
pub struct Signer {
    issuer: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
}

impl Signer {
    pub fn new(key: &ServerKey, issuer: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            encoding: EncodingKey::from_secret(key.bytes()),
            decoding: DecodingKey::from_secret(key.bytes()),
        }
    }

    pub fn sign(&self, identity: Identity, now: Ts) -> Result<String> {
        let claims = Claims {
            iss: self.issuer.clone(),
            sub: identity.user.to_string(),
            project: identity.project,
            purpose: identity.purpose,
            push: identity.push,
            iat: now.unix(),
            exp: now.plus(identity.purpose.lifetime()).unix(),
        };
        encode(&Header::new(Algorithm::HS256), &claims, &self.encoding).map_err(Error::internal)
    }

    /// Who the statement is about, if it is ours, still holds, and is meant for `purpose`.
    pub fn verify(&self, statement: &str, purpose: Purpose, now: Ts) -> Result<Identity> {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.set_issuer(&[&self.issuer]);
        rules.set_required_spec_claims(&["exp", "iss", "sub"]);
        // The moment that counts is the caller's, so that tests need no waiting.
        rules.validate_exp = false;
        let read = decode::<Claims>(statement, &self.decoding, &rules);
        let claims = read.ok().map(|read| read.claims).ok_or_else(Error::unauthenticated)?;
        let user = claims.sub.parse().ok().map(UserId).ok_or_else(Error::unauthenticated)?;
        if claims.exp <= now.unix() || claims.purpose != purpose {
            return Err(Error::unauthenticated());
        }
        Ok(Identity { user, project: claims.project, purpose, push: claims.push })
    }
}

#[cfg(test)]
mod tests {
    use kernel::{
        Ts,
        ids::{ProjectId, UserId},
    };

    use super::{Identity, LONGEST_EXCHANGE, Purpose, Signer};
    use crate::server_key::ServerKey;

    fn ada() -> Identity {
        let (user, project) = (UserId(7), Some(ProjectId(3)));
        Identity { user, project, purpose: Purpose::Hook, push: Some("p1".to_owned()) }
    }

    fn now() -> Ts {
        Ts::from_unix(1_700_000_000)
    }

    fn signer_with(key: u8, issuer: &str) -> Signer {
        Signer::new(&ServerKey::new(vec![key; 64]), issuer)
    }

    fn signer() -> Signer {
        signer_with(1, "http://forge.test")
    }

    #[test]
    fn a_statement_tells_who_it_was_made_for() {
        let statement = signer().sign(ada(), now()).unwrap();
        assert_eq!(signer().verify(&statement, Purpose::Hook, now()).unwrap(), ada());
    }

    #[test]
    fn a_statement_holds_for_its_purpose_and_its_time_alone() {
        let statement = signer().sign(ada(), now()).unwrap();
        let at = |seconds| now().plus(time::Duration::seconds(seconds));
        let end = i64::try_from(LONGEST_EXCHANGE.as_secs()).unwrap();
        assert!(signer().verify(&statement, Purpose::Hook, at(end - 1)).is_ok());
        assert!(signer().verify(&statement, Purpose::Hook, at(end)).is_err());
        assert!(signer().verify(&statement, Purpose::Page, now()).is_err());
    }

    #[test]
    fn what_others_signed_or_changed_is_nothing() {
        let statement = signer().sign(ada(), now()).unwrap();
        let other_key = signer_with(2, "http://forge.test");
        let other_place = signer_with(1, "http://other.test");
        for stranger in [other_key, other_place] {
            assert!(stranger.verify(&statement, Purpose::Hook, now()).is_err());
        }
        let other = signer().sign(Identity { user: UserId(1), ..ada() }, now()).unwrap();
        let parts: Vec<&str> = statement.split('.').collect();
        let stolen = format!("{}.{}.{}", parts[0], other.split('.').nth(1).unwrap(), parts[2]);
        for tampered in [stolen, format!("{}.{}.", parts[0], parts[1]), "x".to_owned()] {
            assert!(signer().verify(&tampered, Purpose::Hook, now()).is_err());
        }
    }
}
