//! Proof that who changes a code is who asked for it (RFC 7636).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::TextEnum as _;
use sha2::{Digest as _, Sha256};

use super::model::same;

kernel::text_enum! { pub enum ChallengeMethod { Plain = "plain", S256 = "S256" } }

/// A PKCE code challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub text: String,
    pub method: ChallengeMethod,
}

impl Challenge {
    /// Reads what a request says; `Err` for what is no challenge.
    pub(super) fn read(text: Option<&str>, method: Option<&str>) -> Result<Option<Self>, ()> {
        let method = match method.filter(|word| !word.is_empty()) {
            None => ChallengeMethod::Plain,
            Some(word) => ChallengeMethod::find(word).ok_or(())?,
        };
        match text.filter(|text| !text.is_empty()) {
            None => Ok(None),
            Some(text) if is_well_formed(text) => Ok(Some(Self { text: text.to_owned(), method })),
            Some(_) => Err(()),
        }
    }

    pub(super) fn is_met_by(&self, verifier: &str) -> bool {
        let shown = match self.method {
            ChallengeMethod::Plain => verifier.to_owned(),
            ChallengeMethod::S256 => URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())),
        };
        is_well_formed(verifier) && same(&self.text, &shown)
    }
}

/// Between 43 and 128 letters that need no encoding in an address.
fn is_well_formed(text: &str) -> bool {
    (43..=128).contains(&text.len())
        && text.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"-._~".contains(&sign))
}

#[cfg(test)]
mod tests {
    use super::{Challenge, ChallengeMethod};

    /// The example of RFC 7636.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn a_challenge_is_met_by_its_verifier_alone() {
        let read = |method| Challenge::read(Some(CHALLENGE), method).unwrap().unwrap();

        let hashed = read(Some("S256"));
        assert!(hashed.is_met_by(VERIFIER) && !hashed.is_met_by(CHALLENGE));
        let plain = read(None);
        assert_eq!(plain.method, ChallengeMethod::Plain);
        assert!(plain.is_met_by(CHALLENGE) && !plain.is_met_by(VERIFIER));
        assert!(!hashed.is_met_by("") && !plain.is_met_by(""));
    }

    #[test]
    fn what_is_no_challenge_is_not_taken_for_none() {
        assert_eq!(Challenge::read(None, None), Ok(None));
        assert_eq!(Challenge::read(Some("short"), Some("S256")), Err(()));
        assert_eq!(Challenge::read(Some(&"a".repeat(129)), Some("S256")), Err(()));
        assert_eq!(Challenge::read(Some(&format!("{CHALLENGE}+")), Some("S256")), Err(()));
        assert_eq!(Challenge::read(Some(CHALLENGE), Some("S512")), Err(()));
    }
}
