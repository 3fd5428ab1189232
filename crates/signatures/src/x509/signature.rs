//! Signatures made with certificates, as `gpgsm` and `smimesign` write them, and their check.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use cms::{content_info::ContentInfo, signed_data::SignedData};
use x509_cert::der::{Decode as _, asn1::ObjectIdentifier};

use super::{
    CertificateDetails, TrustedRoots, ber,
    signer::{Signer, Validity},
};
use crate::{Keyring, SignedMessage, Verification};

pub(crate) const SIGNATURE_HEADER: &[u8] = HEADER.as_bytes();
const HEADER: &str = "-----BEGIN SIGNED MESSAGE-----";
const FOOTER: &str = "-----END SIGNED MESSAGE-----";

const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");

/// Real signatures have fewer signers; each one costs a verification.
const MAX_SIGNERS: usize = 8;
/// Real signatures are shorter, in bytes of the armour.
const MAX_LENGTH: usize = 256 * 1024;

/// Result of checking an X.509 signature.
#[derive(Clone, Debug)]
pub struct X509Verdict {
    pub verification: Verification,
    /// The signing certificate, if it was sent along and can be read.
    pub certificate: Option<CertificateDetails>,
    /// Whether the issuer has revoked the certificate.
    pub is_revoked: bool,
}

impl X509Verdict {
    fn unverified(certificate: Option<CertificateDetails>) -> Self {
        Self { verification: Verification::Unverified, certificate, is_revoked: false }
    }
}

/// A CMS message without its content.
pub struct Signature(Box<SignedData>);

impl Signature {
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        let (body, _) = text.strip_prefix(HEADER)?.split_once(FOOTER)?;
        let body: String = body.split_ascii_whitespace().collect();
        let message = ber::to_definite(&BASE64_STANDARD.decode(body).ok()?)?;
        let info = ContentInfo::from_der(&message).ok()?;
        if info.content_type != SIGNED_DATA {
            return None;
        }
        Some(Self(Box::new(info.content.decode_as().ok()?)))
    }

    fn signer_count(&self) -> usize {
        self.0.signer_infos.0.len()
    }

    /// All signers; `None` for one whose certificate was not sent along.
    fn signers(&self) -> impl Iterator<Item = Option<Signer<'_>>> {
        self.0.signer_infos.0.iter().map(|info| Signer::find(&self.0, info))
    }
}

pub(crate) fn check(
    signature: Option<&Signature>,
    message: &SignedMessage,
    keys: &Keyring,
    roots: &TrustedRoots,
) -> X509Verdict {
    let Some(signature) = signature else { return X509Verdict::unverified(None) };
    if signature.signer_count() > MAX_SIGNERS {
        let first = signature.signers().next().flatten();
        return X509Verdict::unverified(first.and_then(|signer| signer.certificate_details()));
    }
    let signers: Vec<Option<Signer<'_>>> = signature.signers().collect();
    let certificates: Vec<CertificateDetails> =
        signers.iter().flatten().filter_map(Signer::certificate_details).collect();
    if certificates.is_empty() || certificates.len() < signers.len() {
        return X509Verdict::unverified(certificates.into_iter().next());
    }
    // With several signers, every signature must be valid, and one of the signers must be the committer.
    let validities: Vec<Validity> =
        signers.iter().flatten().map(|signer| signer.validity(&message.payload, roots)).collect();
    let committer = certificates.iter().position(|certificate| {
        certificate.email.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(&message.email))
    });
    let all_valid = validities.iter().all(|validity| *validity == Validity::Valid);
    let shown = committer.unwrap_or_default();
    X509Verdict {
        verification: match committer.is_some() && keys.committer_has_account && all_valid {
            true => Verification::Verified,
            false => Verification::Unverified,
        },
        is_revoked: validities.get(shown) == Some(&Validity::Revoked),
        certificate: certificates.into_iter().nth(shown),
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_STANDARD};

    use super::{FOOTER, HEADER, MAX_LENGTH, Signature};

    #[test]
    fn what_is_longer_than_any_signature_is_not_read() {
        // Signed data without a signer.
        let message = [
            &[0x30_u8, 35, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 2, 0xa0, 22, 0x30, 20][..],
            &[2, 1, 1, 0x31, 0, 0x30, 11, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 1],
            &[0x31, 0],
        ]
        .concat();
        let body = BASE64_STANDARD.encode(message);
        let padded = |spaces: usize| format!("{HEADER}\n{body}{}\n{FOOTER}\n", " ".repeat(spaces));
        assert!(Signature::parse(padded(0).as_bytes()).is_some());
        assert!(Signature::parse(padded(MAX_LENGTH).as_bytes()).is_none());
    }
}
