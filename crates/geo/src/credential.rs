//! What a node shows another one: its access key, and a statement of what it asks for, signed with its secret key.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use kernel::{Error, Result, Ts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::Duration;

use crate::node::SecretKey;

/// The first word of a credential.
const SCHEME: &str = "GL-Geo";
const LONGEST: usize = 8_192;
/// How far the clocks of two nodes may be apart.
const LEEWAY: Duration = Duration::seconds(60);
/// How long before it is made a statement begins to count.
const EARLY: Duration = Duration::seconds(5);
/// How long a statement may count at most.
const LONGEST_LIFE: Duration = Duration::minutes(120);

const CLOCKS: &str = "Signature not within leeway of 60 seconds. Check your system clocks!";

/// The scope of what is asked of the API.
pub const API_SCOPE: &str = "geo_api";

/// The unverified credential of a node's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credential<'a> {
    pub access_key: &'a str,
    statement: &'a str,
}

/// The signed statement of a node about its request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement(Map<String, Value>);

#[derive(Serialize, Deserialize)]
struct Claims {
    jti: String,
    iat: i64,
    nbf: i64,
    exp: i64,
    /// A JSON object, as text.
    data: String,
}

/// Whether a request shows such a credential, good or not.
pub fn is_shown(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
}

impl<'a> Credential<'a> {
    /// `GL-Geo <access key>:<statement>`
    pub fn parse(text: &'a str) -> Option<Self> {
        if text.len() > LONGEST || !is_shown(text) {
            return None;
        }
        let (access_key, statement) = text.split_once(' ')?.1.trim().split_once(':')?;
        let is_named = !access_key.is_empty() && !access_key.contains('\0');
        is_named.then_some(Self { access_key, statement })
    }

    /// What the node says, where its key signed it and its time has not passed.
    ///
    /// # Errors
    /// A wrong signature, and a clock that is too far from ours; a statement that counts for too long.
    pub fn prove(&self, key: &SecretKey, now: Ts) -> Result<Statement> {
        // The clock of this program decides, not that of the library.
        let mut rules = Validation::new(Algorithm::HS256);
        (rules.validate_exp, rules.validate_nbf, rules.validate_aud) = (false, false, false);
        rules.required_spec_claims.clear();
        let claims =
            decode::<Claims>(self.statement, &DecodingKey::from_secret(key.bytes()), &rules)
                .map_err(|_forged| Error::unauthenticated())?
                .claims;
        claims.ensure_current(now)?;
        match serde_json::from_str(&claims.data) {
            Ok(Value::Object(data)) => Ok(Statement(data)),
            _ => Err(Error::unauthenticated()),
        }
    }
}

/// Of version 4.
fn random_uuid() -> String {
    let mut bytes: [u8; 16] = rand::random();
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = hex::encode(bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

impl Claims {
    fn ensure_current(&self, now: Ts) -> Result<()> {
        let (now, leeway) = (now.unix(), LEEWAY.whole_seconds());
        let latest = now.saturating_add(leeway);
        if self.nbf > latest || self.iat > latest || self.exp.saturating_add(leeway) <= now {
            return Err(Error::unauthenticated().whole(CLOCKS));
        }
        match self.exp.saturating_sub(self.iat) <= LONGEST_LIFE.whole_seconds() {
            true => Ok(()),
            false => Err(Error::unauthenticated()),
        }
    }
}

impl Statement {
    pub fn new<const N: usize>(data: [(&str, Value); N]) -> Self {
        Self(data.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
    }

    /// A request of the API.
    pub fn of_api() -> Self {
        Self::new([("scope", API_SCOPE.into())])
    }

    pub fn has_scope(&self, scope: &str) -> bool {
        self.text("scope") == Some(scope)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Whether it says this, as text or as a number.
    pub fn says(&self, name: &str, value: &str) -> bool {
        match self.0.get(name) {
            Some(Value::String(text)) => text == value,
            Some(Value::Number(number)) => number.to_string() == value,
            _ => false,
        }
    }

    /// The credential of a node that says this; it counts from now on for `life`.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn sign(
        &self,
        (access_key, key): (&str, &SecretKey),
        life: Duration,
        now: Ts,
    ) -> Result<String> {
        let claims = Claims {
            jti: random_uuid(),
            iat: now.unix(),
            nbf: now.plus(-EARLY).unix(),
            exp: now.plus(life).unix(),
            data: Value::Object(self.0.clone()).to_string(),
        };
        let key = EncodingKey::from_secret(key.bytes());
        let signed = encode(&Header::new(Algorithm::HS256), &claims, &key);
        Ok(format!("{SCHEME} {access_key}:{}", signed.map_err(Error::internal)?))
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Ts, error::Message};
    use time::Duration;

    use super::{Algorithm, CLOCKS, Credential, Statement};
    use crate::node::KeyPair;

    const NOW: Ts = Ts(1_700_000_000_000_000);

    fn after(seconds: i64) -> Ts {
        NOW.plus(Duration::seconds(seconds))
    }

    fn signed(keys: &KeyPair, life: Duration) -> String {
        Statement::of_api().sign((&keys.access_key, &keys.secret), life, NOW).unwrap()
    }

    #[test]
    fn a_credential_says_what_its_node_signed() {
        let keys = KeyPair::generate();
        let text = signed(&keys, Duration::minutes(1));
        let shown = Credential::parse(&text).unwrap();
        assert_eq!(shown.access_key, keys.access_key);
        let statement = shown.prove(&keys.secret, NOW).unwrap();
        assert!(statement.has_scope("geo_api") && !statement.has_scope("group/project"));
    }

    #[test]
    fn each_statement_is_named_by_a_uuid() {
        let (one, other) = (super::random_uuid(), super::random_uuid());
        assert_ne!(one, other);
        assert_eq!((one.len(), &one[14..15], one.matches('-').count()), (36, "4", 4));
    }

    #[test]
    fn clocks_may_be_a_minute_apart() {
        let keys = KeyPair::generate();
        let text = signed(&keys, Duration::minutes(1));
        let shown = Credential::parse(&text).unwrap();
        for seconds in [-60, 0, 60, 119] {
            assert!(shown.prove(&keys.secret, after(seconds)).is_ok(), "{seconds}");
        }
        for seconds in [-61, -3600, 120, 86_400] {
            let refusal = shown.prove(&keys.secret, after(seconds)).unwrap_err();
            assert_eq!(refusal.message, Message::Whole(CLOCKS.to_owned()), "{seconds}");
        }
    }

    #[test]
    fn no_statement_counts_for_longer_than_two_hours() {
        let keys = KeyPair::generate();
        let (short, long) =
            (signed(&keys, Duration::minutes(120)), signed(&keys, Duration::minutes(121)));
        assert!(Credential::parse(&short).unwrap().prove(&keys.secret, after(7_000)).is_ok());
        assert!(Credential::parse(&long).unwrap().prove(&keys.secret, NOW).is_err());
    }

    #[test]
    fn whatever_is_no_credential_is_not_taken_for_one() {
        for text in ["", "GL-Geo", "GL-Geo x", "Bearer x:y", "GL-Geo :y", "GL-Geox:y"] {
            assert_eq!(Credential::parse(text), None, "{text:?}");
        }
        let long = format!("GL-Geo x:{}", "y".repeat(9_000));
        assert_eq!(Credential::parse(&long), None);
    }

    #[test]
    fn ten_thousand_stale_credentials_are_refused() {
        let keys = KeyPair::generate();
        let text = signed(&keys, Duration::minutes(1));
        let shown = Credential::parse(&text).unwrap();
        for round in 0..5_000 {
            let seconds = round * round * 7 + round;
            for apart in [120 + seconds, -61 - seconds] {
                let refusal = shown.prove(&keys.secret, after(apart)).unwrap_err();
                assert_eq!(refusal.message, Message::Whole(CLOCKS.to_owned()), "{apart}");
            }
        }
    }

    #[test]
    fn a_statement_of_another_form_is_refused() {
        let keys = KeyPair::generate();
        let claims = |algorithm, data: &str| {
            let now = NOW.unix();
            let claims = super::Claims {
                jti: "1".to_owned(),
                iat: now,
                nbf: now,
                exp: now + 60,
                data: data.to_owned(),
            };
            let key = super::EncodingKey::from_secret(keys.secret.bytes());
            let signed = super::encode(&super::Header::new(algorithm), &claims, &key).unwrap();
            let text = format!("GL-Geo {}:{signed}", keys.access_key);
            Credential::parse(&text).unwrap().prove(&keys.secret, NOW).is_ok()
        };
        assert!(claims(Algorithm::HS256, "{}"));
        for data in ["", "[]", "1", "null", "{"] {
            assert!(!claims(Algorithm::HS256, data), "{data:?}");
        }
        // Only what both sides agreed on, whatever the header says.
        assert!(!claims(Algorithm::HS384, "{}") && !claims(Algorithm::HS512, "{}"));
        let body = signed(&keys, Duration::minutes(1));
        let (_, rest) = body.split_once('.').unwrap();
        // {"alg":"none"}
        let bare = format!("GL-Geo {}:eyJhbGciOiJub25lIn0.{rest}", keys.access_key);
        assert!(Credential::parse(&bare).unwrap().prove(&keys.secret, NOW).is_err());
    }

    #[test]
    fn ten_thousand_forged_credentials_are_refused() {
        let keys = KeyPair::generate();
        let text = signed(&keys, Duration::minutes(1));
        let start = text.find(':').unwrap() + 1;
        for round in 0..10_000_usize {
            let mut bytes = text.clone().into_bytes();
            let last = bytes.len() - start - 1;
            let at = start + (round * 7_919) % last;
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(bytes).unwrap();
            let shown = Credential::parse(&forged).unwrap();
            assert!(shown.prove(&keys.secret, NOW).is_err(), "{forged}");
        }
        assert!(Credential::parse(&text).unwrap().prove(&KeyPair::generate().secret, NOW).is_err());
    }
}
