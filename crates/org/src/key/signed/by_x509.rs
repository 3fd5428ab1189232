//! Signatures made with certificates: messages as `gpgsm` and `smimesign` write them.

use std::{fmt, sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use cms::{
    cert::CertificateChoices,
    content_info::ContentInfo,
    signed_data::{SignedAttributes, SignedData, SignerIdentifier, SignerInfo},
};
use rustls_pki_types::{
    CertificateDer, CertificateRevocationListDer, SignatureVerificationAlgorithm, TrustAnchor,
    UnixTime, pem::PemObject as _,
};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use webpki::{
    CertRevocationList, EndEntityCert, KeyUsage, OwnedCertRevocationList, RevocationOptionsBuilder,
    UnknownStatusPolicy, anchor_from_trusted_cert, ring,
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

use super::{Known, Signed, Verification, ber, certificate::CertificateFacts, curves};

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

/// Nobody signs with more hands at once.
const MOST_SIGNERS: usize = 8;
/// Nor in more letters.
const LONGEST: usize = 256 * 1024;

/// How a revocation list begins in a PEM file.
const BEGIN_LIST: &[u8] = b"-----BEGIN X509 CRL";

/// Authorities whose word on certificates is taken, and what they have taken back.
#[derive(Clone, Default)]
pub struct Roots {
    anchors: Arc<[TrustAnchor<'static>]>,
    withdrawn: Arc<[CertRevocationList<'static>]>,
}

impl Roots {
    /// The certificates and revocation lists of a PEM file; what is neither is left out.
    pub fn of_pem(text: &[u8]) -> Self {
        let certificates = CertificateDer::pem_slice_iter(text).filter_map(Result::ok);
        let lists = CertificateRevocationListDer::pem_slice_iter(text).filter_map(Result::ok);
        Self {
            anchors: certificates
                .filter_map(|one| Some(anchor_from_trusted_cert(&one).ok()?.to_owned()))
                .collect(),
            withdrawn: lists
                .filter_map(|one| Some(OwnedCertRevocationList::from_der(&one).ok()?.into()))
                .collect(),
        }
    }

    /// How many revocation lists of the text that this was made of cannot be read, and would not count.
    pub fn unread_lists(&self, text: &[u8]) -> usize {
        let lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
        let begun = lines.filter(|line| line.starts_with(BEGIN_LIST)).count();
        begun.saturating_sub(self.withdrawn.len())
    }

    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty()
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roots({}, {})", self.anchors.len(), self.withdrawn.len())
    }
}

/// What a signature is worth, and the certificate that it was made with, where it can be read.
#[derive(Clone, Debug)]
pub struct X509Verdict {
    pub verification: Verification,
    pub certificate: Option<CertificateFacts>,
    /// Whether its issuer has taken the certificate back.
    pub is_withdrawn: bool,
}

pub(super) fn read(text: &[u8]) -> Option<Box<SignedData>> {
    if text.len() > LONGEST {
        return None;
    }
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
    let verdict = |verification, certificate, is_withdrawn| X509Verdict {
        verification,
        certificate,
        is_withdrawn,
    };
    if let Some(message) = message.filter(|message| message.signer_infos.0.len() > MOST_SIGNERS) {
        let first = message.signer_infos.0.iter().next();
        let first = first.and_then(|info| Signer::of(message, info));
        let facts = first.and_then(|one| CertificateFacts::of(one.certificate));
        return verdict(Verification::Unverified, facts, false);
    }
    let signers = message.map(Signer::all).unwrap_or_default();
    let facts: Vec<CertificateFacts> =
        signers.iter().flatten().filter_map(|one| CertificateFacts::of(one.certificate)).collect();
    if facts.is_empty() || facts.len() < signers.len() {
        return verdict(Verification::Unverified, facts.into_iter().next(), false);
    }
    // Where several signed, everybody must have, and one of them is who made the thing.
    let worths: Vec<Worth> =
        signers.iter().flatten().map(|one| one.worth(&signed.payload, roots)).collect();
    let is_named = |facts: &CertificateFacts| {
        facts.email.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(&signed.email))
    };
    let named = facts.iter().position(is_named);
    let shown = named.unwrap_or_default();
    let is_withdrawn = worths.get(shown) == Some(&Worth::Withdrawn);
    let is_proven = worths.iter().all(|worth| *worth == Worth::Proven);
    let verification = match named.is_some() && known.maker.is_some() && is_proven {
        true => Verification::Verified,
        false => Verification::Unverified,
    };
    verdict(verification, facts.into_iter().nth(shown), is_withdrawn)
}

/// What one signer's part is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    Proven,
    /// The issuer has taken the certificate back.
    Withdrawn,
    Nothing,
}

/// The one who signed, with the certificates that came along.
struct Signer<'m> {
    info: &'m SignerInfo,
    certificate: &'m Certificate,
    all: Vec<&'m Certificate>,
}

impl<'m> Signer<'m> {
    /// Everybody who signed; `None` for somebody whose certificate did not come along.
    fn all(message: &'m SignedData) -> Vec<Option<Self>> {
        message.signer_infos.0.iter().map(|info| Self::of(message, info)).collect()
    }

    fn of(message: &'m SignedData, info: &'m SignerInfo) -> Option<Self> {
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
    fn worth(&self, payload: &[u8], roots: &Roots) -> Worth {
        self.proven(payload, roots).unwrap_or(Worth::Nothing)
    }

    fn proven(&self, payload: &[u8], roots: &Roots) -> Option<Worth> {
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
        let is_signed = told.as_bytes() == digest && algorithms.iter().any(is_own);
        is_signed.then(|| self.trusted(&own, roots, at.to_unix_duration()))
    }

    fn trusted(&self, own: &EndEntityCert<'_>, roots: &Roots, at: Duration) -> Worth {
        let between: Vec<CertificateDer<'static>> =
            self.all.iter().filter_map(|one| Some(one.to_der().ok()?.into())).collect();
        let purpose = KeyUsage::required_if_present(EMAIL_PROTECTION);
        let (at, ways) = (UnixTime::since_unix_epoch(at), curves::all());
        let withdrawn: Vec<&CertRevocationList<'_>> = roots.withdrawn.iter().collect();
        let lists = RevocationOptionsBuilder::new(&withdrawn).ok();
        let lists = lists.map(|lists| lists.with_status_policy(UnknownStatusPolicy::Allow).build());
        let roots = &roots.anchors;
        match own.verify_for_usage(&ways, roots, &between, at, purpose, lists, None) {
            Ok(_) => Worth::Proven,
            Err(webpki::Error::CertRevoked) => Worth::Withdrawn,
            Err(_) => Worth::Nothing,
        }
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
                &curves::P521WithSha384,
            ],
        ),
        SHA_512 => (
            Sha512::digest(text).to_vec(),
            vec![
                ring::RSA_PKCS1_2048_8192_SHA512,
                ring::ED25519,
                ring::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
                &curves::P256WithSha512,
                &curves::P384WithSha512,
                &curves::P521WithSha512,
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

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_STANDARD};

    use super::{BEGIN, END, LONGEST, Roots, read};

    #[test]
    fn lists_that_cannot_be_read_are_counted() {
        let unread = |text: &str| Roots::of_pem(text.as_bytes()).unread_lists(text.as_bytes());
        let broken =
            |body: &str| format!("-----BEGIN X509 CRL-----\n{body}\n-----END X509 CRL-----\n");
        assert_eq!(unread("# No list.\n"), 0);
        assert_eq!(unread(&broken("AAAA")), 1);
        assert_eq!(unread(&format!("# Two.\r\n{}{}", broken("AAAA"), broken("!"))), 2);
        assert_eq!(unread("-----BEGIN X509 CRL-----\nAAAA\n"), 1, "it does not end");
    }

    #[test]
    fn what_is_longer_than_any_signature_is_not_read() {
        // Data signed by nobody.
        let message = [
            &[0x30_u8, 35, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 2, 0xa0, 22, 0x30, 20][..],
            &[2, 1, 1, 0x31, 0, 0x30, 11, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 1],
            &[0x31, 0],
        ]
        .concat();
        let body = BASE64_STANDARD.encode(message);
        let padded = |spaces: usize| format!("{BEGIN}\n{body}{}\n{END}\n", " ".repeat(spaces));
        assert!(read(padded(0).as_bytes()).is_some());
        assert!(read(padded(LONGEST).as_bytes()).is_none());
    }
}
