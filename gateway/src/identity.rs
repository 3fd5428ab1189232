//! Short-lived signed statements of who somebody is: what git hooks and browser pages carry instead of a token.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use kernel::{
    Error, Result, Ts,
    ids::{ProjectId, UserId},
};
use serde::{Deserialize, Serialize};
use time::Duration;
use twox_hash::XxHash3_64;

use crate::git_http::LONGEST;

/// Where the key lies in the data folder.
pub const KEY_FILE: &str = "identity.key";
const KEY_LENGTH: usize = 64;

kernel::text_enum! {
    /// What a statement may be used for; it is worth nothing for anything else.
    pub enum Purpose { Hook = "hook", Page = "page" }
}

impl Purpose {
    fn lifetime(self) -> Duration {
        match self {
            // A push may take long: the hook runs when everything has arrived.
            Self::Hook => Duration::seconds_f64(LONGEST.as_secs_f64()),
            Self::Page => Duration::minutes(5),
        }
    }
}

/// Who somebody is, and what for.
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
    number: u64,
    name: String,
    issuer: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
}

impl Signer {
    /// Reads the key of a data folder; the first start makes it.
    pub fn open(data: &Path, issuer: &str) -> Result<Self> {
        let key = read_or_make(&data.join(KEY_FILE)).map_err(Error::internal)?;
        Ok(Self::new(&key, issuer))
    }

    fn new(key: &[u8], issuer: &str) -> Self {
        let number = XxHash3_64::oneshot(key);
        Self {
            number,
            name: format!("{number:016x}"),
            issuer: issuer.to_owned(),
            encoding: EncodingKey::from_secret(key),
            decoding: DecodingKey::from_secret(key),
        }
    }

    /// What tells this data folder from others; nobody can make the key of it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name as a number of a column.
    pub fn number(&self) -> i64 {
        self.number.cast_signed()
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
        let claims = read.ok().map(|read| read.claims).ok_or(Error::Unauthenticated)?;
        let user = claims.sub.parse().ok().map(UserId).ok_or(Error::Unauthenticated)?;
        if claims.exp <= now.unix() || claims.purpose != purpose {
            return Err(Error::Unauthenticated);
        }
        Ok(Identity { user, project: claims.project, purpose, push: claims.push })
    }
}

fn read_or_make(path: &Path) -> io::Result<Vec<u8>> {
    match make(path) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => read(path),
        made => made,
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut key = Vec::new();
    fs::File::open(path)?.read_to_end(&mut key)?;
    match key.len() {
        KEY_LENGTH => Ok(key),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the key file is damaged")),
    }
}

/// Written beside its place first, so that nobody ever reads half a key.
fn make(path: &Path) -> io::Result<Vec<u8>> {
    if path.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let key = rand::random::<[u8; KEY_LENGTH]>().to_vec();
    let beside = path.with_extension(format!("{:016x}", rand::random::<u64>()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(&key)?;
    file.sync_all()?;
    let placed = fs::hard_link(&beside, path);
    fs::remove_file(&beside)?;
    placed.map(|()| key)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use kernel::{
        Ts,
        ids::{ProjectId, UserId},
    };

    use super::{Identity, KEY_FILE, Purpose, Signer};

    fn ada() -> Identity {
        let (user, project) = (UserId(7), Some(ProjectId(3)));
        Identity { user, project, purpose: Purpose::Hook, push: Some("p1".to_owned()) }
    }

    fn now() -> Ts {
        Ts::from_unix(1_700_000_000)
    }

    fn signer() -> Signer {
        Signer::new(&[1; 64], "http://forge.test")
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
        let end = i64::try_from(crate::git_http::LONGEST.as_secs()).unwrap();
        assert!(signer().verify(&statement, Purpose::Hook, at(end - 1)).is_ok());
        assert!(signer().verify(&statement, Purpose::Hook, at(end)).is_err());
        assert!(signer().verify(&statement, Purpose::Page, now()).is_err());
    }

    #[test]
    fn what_others_signed_or_changed_is_nothing() {
        let statement = signer().sign(ada(), now()).unwrap();
        let other_key = Signer::new(&[2; 64], "http://forge.test");
        let other_place = Signer::new(&[1; 64], "http://other.test");
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

    #[test]
    fn the_key_is_made_once_and_is_nobody_elses() {
        let data = tempfile::tempdir().unwrap();
        let first = Signer::open(data.path(), "http://forge.test").unwrap();
        let again = Signer::open(data.path(), "http://forge.test").unwrap();
        let statement = first.sign(ada(), now()).unwrap();
        assert!(again.verify(&statement, Purpose::Hook, now()).is_ok());
        let mode = std::fs::metadata(data.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);
    }
}
