//! The key that signs who somebody is: RSA, as every client of OpenID Connect knows it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use kernel::{Error, Result};
use rsa::{
    RsaPrivateKey,
    pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _},
    rand_core::OsRng,
    traits::PublicKeyParts as _,
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

const BITS: usize = 2_048;

/// A key as it signs.
#[derive(Clone)]
pub struct SigningKey {
    der: Vec<u8>,
    public: PublicKey,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public).finish_non_exhaustive()
    }
}

/// A key as it is published (RFC 7517); all parts in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// The thumbprint of the key (RFC 7638).
    pub id: String,
    pub modulus: String,
    pub exponent: String,
}

impl SigningKey {
    /// A new key. That takes some tenths of a second.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn generate() -> Result<Self> {
        Self::with(&RsaPrivateKey::new(&mut OsRng, BITS).map_err(Error::internal)?)
    }

    /// A key as it was kept.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_text(text: &str) -> Result<Self> {
        let der = BASE64.decode(text).map_err(Error::internal)?;
        Self::with(&RsaPrivateKey::from_pkcs1_der(&der).map_err(Error::internal)?)
    }

    /// The key, to be sealed.
    pub fn to_text(&self) -> String {
        BASE64.encode(&self.der)
    }

    fn with(key: &RsaPrivateKey) -> Result<Self> {
        let modulus = BASE64.encode(key.n().to_bytes_be());
        let exponent = BASE64.encode(key.e().to_bytes_be());
        let members = format!(r#"{{"e":"{exponent}","kty":"RSA","n":"{modulus}"}}"#);
        let id = BASE64.encode(Sha256::digest(members));
        let der = key.to_pkcs1_der().map_err(Error::internal)?.as_bytes().to_vec();
        Ok(Self { der, public: PublicKey { id, modulus, exponent } })
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The claims as a signed token.
    ///
    /// # Errors
    /// When they cannot be written as JSON.
    pub fn sign(&self, claims: &impl Serialize) -> Result<String> {
        let header = Header { kid: Some(self.public.id.clone()), ..Header::new(Algorithm::RS256) };
        encode(&header, claims, &EncodingKey::from_rsa_der(&self.der)).map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
    use serde_json::{Value, json};

    use super::SigningKey;

    #[test]
    fn what_a_key_signs_is_checked_with_what_is_published_of_it() {
        let made = SigningKey::generate().unwrap();
        let key = SigningKey::from_text(&made.to_text()).unwrap();
        assert_eq!(key.public(), made.public());

        let token = key.sign(&json!({ "sub": "7" })).unwrap();

        let public = key.public();
        assert_eq!(decode_header(&token).unwrap().kid.as_ref(), Some(&public.id));
        let mut rules = Validation::new(Algorithm::RS256);
        rules.required_spec_claims.clear();
        let check = DecodingKey::from_rsa_components(&public.modulus, &public.exponent).unwrap();
        assert_eq!(decode::<Value>(&token, &check, &rules).unwrap().claims["sub"], "7");
        assert!(!format!("{key:?}").contains(&key.to_text()[..40]));
    }
}
