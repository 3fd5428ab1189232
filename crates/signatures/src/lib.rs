//! Reading and checking of OpenPGP, SSH and X.509 signatures, and of public keys.
//!
//! The crate knows no database and no crate of this workspace, so that the cryptographic libraries build beside everything
//! else. A caller parses a signature, looks up the keys that the signature names, and passes them in as a [`Keyring`]:
//!
//! ```
//! # use forgeway_signatures as signatures;
//! use signatures::{Keyring, Signature, SignedMessage, TrustedRoots, Verdict, Verification};
//!
//! let message = SignedMessage {
//!     signature: b"-----BEGIN PGP SIGNATURE-----".to_vec(),
//!     payload: b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_vec(),
//!     email: "ada@example.com".to_owned(),
//! };
//! let signature = Signature::parse(&message.signature);
//! let now = 1_700_000_000;
//! let verdict = signature.check(&message, &Keyring::default(), &TrustedRoots::default(), now);
//! let Verdict::OpenPgp(verdict) = verdict else { panic!("another kind of signature") };
//! assert_eq!(verdict.verification, Verification::UnknownKey);
//! ```

mod keyring;
pub mod openpgp;
pub mod ssh;
mod verification;
pub mod x509;

pub use keyring::{Keyring, OpenPgpKey, OpenPgpSubkey, SshKey};
pub use openpgp::OpenPgpVerdict;
pub use ssh::SshVerdict;
pub use verification::Verification;
pub use x509::{TrustedRoots, X509Verdict};

/// A message with its signature.
#[derive(Clone, Debug)]
pub struct SignedMessage {
    /// Armoured.
    pub signature: Vec<u8>,
    pub payload: Vec<u8>,
    /// The address of the committer or tagger, as the message states it.
    pub email: String,
}

/// A parsed signature. Parsing says nothing about its validity.
pub enum Signature {
    OpenPgp(openpgp::Signatures),
    /// `None` when the armour does not hold a signature.
    Ssh(Option<ssh::Signature>),
    X509(Option<x509::Signature>),
}

impl Signature {
    /// Recognises the kind by the armour; whatever is not SSH or X.509 is read as OpenPGP.
    pub fn parse(armor: &[u8]) -> Self {
        let text = armor.trim_ascii_start();
        if text.starts_with(ssh::SIGNATURE_HEADER) {
            Self::Ssh(ssh::Signature::parse(text.trim_ascii_end()))
        } else if text.starts_with(x509::SIGNATURE_HEADER) {
            Self::X509(x509::Signature::parse(text))
        } else {
            Self::OpenPgp(openpgp::Signatures::parse(text))
        }
    }

    /// Checks the signature at `now`, in Unix seconds. This is CPU-bound: do not call it on an async thread.
    pub fn check(
        &self,
        message: &SignedMessage,
        keys: &Keyring,
        roots: &TrustedRoots,
        now: i64,
    ) -> Verdict {
        match self {
            Self::OpenPgp(signatures) => Verdict::OpenPgp(signatures.check(message, keys, now)),
            Self::Ssh(signature) => Verdict::Ssh(ssh::check(signature.as_ref(), message, keys)),
            Self::X509(signature) => {
                Verdict::X509(Box::new(x509::check(signature.as_ref(), message, keys, roots)))
            }
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug)]
pub enum Verdict {
    OpenPgp(OpenPgpVerdict),
    Ssh(SshVerdict),
    X509(Box<X509Verdict>),
}
