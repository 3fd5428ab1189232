//! Signatures made with certificates: messages as `gpgsm` and `smimesign` write them.

use std::{fmt, sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use cms::{
    cert::CertificateChoices,
    content_info::ContentInfo,
    signed_data::{SignedAttributes, SignedData, SignerIdentifier, SignerInfo},
};
use rustls_pki_types::{
    CertificateDer, SignatureVerificationAlgorithm, TrustAnchor, UnixTime, pem::PemObject as _,
};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, KeyUsage, anchor_from_trusted_cert, ring};
use x509_cert::{
    Certificate,
    der::{
        Decode, Encode as _,
        asn1::{ObjectIdentifier, OctetString},
    },
    ext::pkix::SubjectKeyIdentifier,
    time::Time,
};

use super::{Known, Signed, Verification, ber, certificate::CertificateFacts};

const BEGIN: &str = "-----BEGIN SIGNED MESSAGE-----";
const END: &str = "-----END SIGNED MESSAGE-----";

const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");
const SIGNING_TIME: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.5");
const SHA_256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
const SHA_384: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.2");
const SHA_512: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3");
/// What a certificate that says for what it is good must be good for: 1.3.6.1.5.5.7.3.4.
const EMAIL_PROTECTION: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 4];

/// Authorities whose word on certificates is taken.
#[derive(Clone, Default)]
pub struct Roots(Arc<[TrustAnchor<'static>]>);

impl Roots {
    /// Those of a PEM file; what is no certificate in it is left out.
    pub fn of_pem(text: &[u8]) -> Self {
        let certificates = CertificateDer::pem_slice_iter(text).filter_map(Result::ok);
        let anchors = certificates
            .filter_map(|one| Some(anchor_from_trusted_cert(&one).ok()?.to_owned()))
            .collect();
        Self(anchors)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roots({})", self.0.len())
    }
}

/// What a signature is worth, and the certificate that it was made with, where it can be read.
#[derive(Clone, Debug)]
pub struct X509Verdict {
    pub verification: Verification,
    pub certificate: Option<CertificateFacts>,
}

pub(super) fn read(text: &[u8]) -> Option<Box<SignedData>> {
    let text = std::str::from_utf8(text).ok()?;
    let (body, _) = text.strip_prefix(BEGIN)?.split_once(END)?;
    let body: String = body.split_ascii_whitespace().collect();
    let message = ber::definite(&BASE64_STANDARD.decode(body).ok()?)?;
    let info = ContentInfo::from_der(&message).ok()?;
    if info.content_type != SIGNED_DATA {
        return None;
    }
    Some(Box::new(info.content.decode_as().ok()?))
}

pub(super) fn judge(
    message: Option<&SignedData>,
    signed: &Signed,
    known: &Known,
    roots: &Roots,
) -> X509Verdict {
    let unverified =
        |certificate| X509Verdict { verification: Verification::Unverified, certificate };
    let Some(found) = message.and_then(Signer::of) else { return unverified(None) };
    let Some(facts) = CertificateFacts::of(found.certificate) else { return unverified(None) };
    let named = facts.email.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(&signed.email));
    if !named || known.maker.is_none() || !found.vouches(&signed.payload, roots) {
        return unverified(Some(facts));
    }
    X509Verdict { verification: Verification::Verified, certificate: Some(facts) }
}

/// The one who signed, with the certificates that came along.
struct Signer<'m> {
    info: &'m SignerInfo,
    certificate: &'m Certificate,
    all: Vec<&'m Certificate>,
}

impl<'m> Signer<'m> {
    /// `None` where several signed, or where the certificate did not come along.
    fn of(message: &'m SignedData) -> Option<Self> {
        let [info] = message.signer_infos.0.as_slice() else { return None };
        let all: Vec<&Certificate> = message
            .certificates
            .iter()
            .flat_map(|set| set.0.iter())
            .filter_map(|one| match one {
                CertificateChoices::Certificate(certificate) => Some(certificate),
                CertificateChoices::Other(_) => None,
            })
            .collect();
        let certificate = all.iter().copied().find(|one| is_named(&info.sid, one))?;
        Some(Self { info, certificate, all })
    }

    /// Whether the certificate made this signature while an authority stood behind it.
    fn vouches(&self, payload: &[u8], roots: &Roots) -> bool {
        self.is_proven(payload, roots).unwrap_or_default()
    }

    fn is_proven(&self, payload: &[u8], roots: &Roots) -> Option<bool> {
        let attributes = self.info.signed_attrs.as_ref()?;
        let (digest, algorithms) = digest(&self.info.digest_alg.oid, payload)?;
        let told: OctetString = attribute(attributes, MESSAGE_DIGEST)?;
        let at: Time = attribute(attributes, SIGNING_TIME)?;
        let message = attributes.to_der().ok()?;
        let own = CertificateDer::from(self.certificate.to_der().ok()?);
        let own = EndEntityCert::try_from(&own).ok()?;
        let signature = self.info.signature.as_bytes();
        let is_own = |with: &&dyn SignatureVerificationAlgorithm| {
            own.verify_signature(*with, &message, signature).is_ok()
        };
        Some(
            told.as_bytes() == digest
                && algorithms.iter().any(is_own)
                && self.is_trusted(&own, roots, at.to_unix_duration()),
        )
    }

    fn is_trusted(&self, own: &EndEntityCert<'_>, roots: &Roots, at: Duration) -> bool {
        let between: Vec<CertificateDer<'static>> =
            self.all.iter().filter_map(|one| Some(one.to_der().ok()?.into())).collect();
        let purpose = KeyUsage::required_if_present(EMAIL_PROTECTION);
        let at = UnixTime::since_unix_epoch(at);
        own.verify_for_usage(ALL_VERIFICATION_ALGS, &roots.0, &between, at, purpose, None, None)
            .is_ok()
    }
}

fn is_named(signer: &SignerIdentifier, certificate: &Certificate) -> bool {
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

/// The digest of a text by its algorithm, and the signatures that are made with that.
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
            ],
        ),
        SHA_512 => (
            Sha512::digest(text).to_vec(),
            vec![
                ring::RSA_PKCS1_2048_8192_SHA512,
                ring::ED25519,
                ring::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
            ],
        ),
        _ => return None,
    })
}

/// The one value of a signed attribute.
fn attribute<T: for<'a> Decode<'a>>(
    attributes: &SignedAttributes,
    oid: ObjectIdentifier,
) -> Option<T> {
    let mut named = attributes.iter().filter(|one| one.oid == oid);
    let (Some(one), None) = (named.next(), named.next()) else { return None };
    let [value] = one.values.as_slice() else { return None };
    T::from_der(&value.to_der().ok()?).ok()
}
