//! Signatures made with X.509 certificates, the certificates, and the authorities that are trusted to issue them.

mod algorithms;
mod ber;
mod certificate;
mod roots;
mod signature;
mod signer;

pub use certificate::{CertificateDetails, IssuerDetails};
pub use roots::TrustedRoots;
pub(crate) use signature::{SIGNATURE_HEADER, check};
pub use signature::{Signature, X509Verdict};
