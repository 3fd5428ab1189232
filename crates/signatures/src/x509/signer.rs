//! One signer of a message: the certificate, and whether the signature is valid and the certificate trusted.

use std::time::Duration;

use cms::{
    cert::CertificateChoices,
    signed_data::{SignedAttributes, SignedData, SignerIdentifier, SignerInfo},
};
use rustls_pki_types::{CertificateDer, SignatureVerificationAlgorithm, UnixTime};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use webpki::{
    CertRevocationList, EndEntityCert, KeyUsage, RevocationOptionsBuilder, UnknownStatusPolicy,
    ring,
};
use x509_cert::{
    Certificate,
    der::{
        Decode, Encode as _,
        asn1::{ObjectIdentifier, OctetString},
    },
    ext::pkix::SubjectKeyIdentifier,
    time::Time,
};

use super::{CertificateDetails, TrustedRoots, algorithms};

const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");
const SIGNING_TIME: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.5");
const SHA_256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
const SHA_384: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.2");
const SHA_512: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3");
/// The purpose that a certificate which lists purposes must list: 1.3.6.1.5.5.7.3.4.
const EMAIL_PROTECTION: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 4];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    Valid,
    /// The signature is valid, but the issuer has revoked the certificate.
    Revoked,
    Invalid,
}

/// A signer with the certificates that were sent along.
pub(super) struct Signer<'m> {
    info: &'m SignerInfo,
    certificate: &'m Certificate,
    certificates: Vec<&'m Certificate>,
}

impl<'m> Signer<'m> {
    /// `None` when the signer's certificate was not sent along.
    pub(super) fn find(message: &'m SignedData, info: &'m SignerInfo) -> Option<Self> {
        let certificates: Vec<&Certificate> = message
            .certificates
            .iter()
            .flat_map(|set| set.0.iter())
            .filter_map(|choice| match choice {
                CertificateChoices::Certificate(certificate) => Some(certificate),
                CertificateChoices::Other(_) => None,
            })
            .collect();
        let certificate = certificates.iter().copied().find(|one| identifies(&info.sid, one))?;
        Some(Self { info, certificate, certificates })
    }

    pub(super) fn certificate_details(&self) -> Option<CertificateDetails> {
        CertificateDetails::of(self.certificate)
    }

    /// Checks the signature, and the certificate at the time of signing.
    pub(super) fn validity(&self, payload: &[u8], roots: &TrustedRoots) -> Validity {
        self.signature_validity(payload, roots).unwrap_or(Validity::Invalid)
    }

    fn signature_validity(&self, payload: &[u8], roots: &TrustedRoots) -> Option<Validity> {
        let attributes = self.info.signed_attrs.as_ref()?;
        let (digest, algorithms) = digest(&self.info.digest_alg.oid, payload)?;
        let signed_digest: OctetString = attribute(attributes, MESSAGE_DIGEST)?;
        let signed_at: Time = attribute(attributes, SIGNING_TIME)?;
        let message = attributes.to_der().ok()?;
        let own = CertificateDer::from(self.certificate.to_der().ok()?);
        let own = EndEntityCert::try_from(&own).ok()?;
        let signature = self.info.signature.as_bytes();
        let verifies = |algorithm: &&dyn SignatureVerificationAlgorithm| {
            own.verify_signature(*algorithm, &message, signature).is_ok()
        };
        let is_signed = signed_digest.as_bytes() == digest && algorithms.iter().any(verifies);
        is_signed.then(|| self.certificate_validity(&own, roots, signed_at.to_unix_duration()))
    }

    fn certificate_validity(
        &self,
        own: &EndEntityCert<'_>,
        roots: &TrustedRoots,
        at: Duration,
    ) -> Validity {
        let intermediates: Vec<CertificateDer<'static>> =
            self.certificates.iter().filter_map(|one| Some(one.to_der().ok()?.into())).collect();
        let purpose = KeyUsage::required_if_present(EMAIL_PROTECTION);
        let (at, algorithms) = (UnixTime::since_unix_epoch(at), algorithms::all());
        let lists: Vec<&CertRevocationList<'_>> = roots.revocation_lists.iter().collect();
        let lists = RevocationOptionsBuilder::new(&lists).ok();
        let lists = lists.map(|lists| lists.with_status_policy(UnknownStatusPolicy::Allow).build());
        let anchors = &roots.anchors;
        match own.verify_for_usage(&algorithms, anchors, &intermediates, at, purpose, lists, None) {
            Ok(_) => Validity::Valid,
            Err(webpki::Error::CertRevoked) => Validity::Revoked,
            Err(_) => Validity::Invalid,
        }
    }
}

fn identifies(signer: &SignerIdentifier, certificate: &Certificate) -> bool {
    let own = &certificate.tbs_certificate;
    match signer {
        SignerIdentifier::IssuerAndSerialNumber(one) => {
            one.issuer == own.issuer && one.serial_number == own.serial_number
        }
        SignerIdentifier::SubjectKeyIdentifier(id) => {
            matches!(own.get::<SubjectKeyIdentifier>(), Ok(Some((_, own))) if own == *id)
        }
    }
}

/// The digest of a text, and the signature algorithms that use this digest.
fn digest(
    algorithm: &ObjectIdentifier,
    text: &[u8],
) -> Option<(Vec<u8>, Vec<&'static dyn SignatureVerificationAlgorithm>)> {
    Some(match *algorithm {
        SHA_256 => (
            Sha256::digest(text).to_vec(),
            vec![
                ring::RSA_PKCS1_2048_8192_SHA256,
                ring::ECDSA_P256_SHA256,
                ring::ECDSA_P384_SHA256,
                ring::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
            ],
        ),
        SHA_384 => (
            Sha384::digest(text).to_vec(),
            vec![
                ring::RSA_PKCS1_2048_8192_SHA384,
                ring::ECDSA_P256_SHA384,
                ring::ECDSA_P384_SHA384,
                ring::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
                &algorithms::P521WithSha384,
            ],
        ),
        SHA_512 => (
            Sha512::digest(text).to_vec(),
            vec![
                ring::RSA_PKCS1_2048_8192_SHA512,
                ring::ED25519,
                ring::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
                &algorithms::P256WithSha512,
                &algorithms::P384WithSha512,
                &algorithms::P521WithSha512,
            ],
        ),
        _ => return None,
    })
}

/// The single value of a signed attribute.
fn attribute<T: for<'a> Decode<'a>>(
    attributes: &SignedAttributes,
    oid: ObjectIdentifier,
) -> Option<T> {
    let mut matching = attributes.iter().filter(|attribute| attribute.oid == oid);
    let (Some(attribute), None) = (matching.next(), matching.next()) else { return None };
    let [value] = attribute.values.as_slice() else { return None };
    T::from_der(&value.to_der().ok()?).ok()
}
