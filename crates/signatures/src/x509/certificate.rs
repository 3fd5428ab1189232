//! Contents of a certificate: subject, issuer, serial number and revocation list.

use sha2::{Digest as _, Sha256};
use x509_cert::{
    Certificate,
    der::{Encode as _, asn1::ObjectIdentifier},
    ext::pkix::{
        AuthorityKeyIdentifier, CrlDistributionPoints, SubjectAltName, SubjectKeyIdentifier,
        name::{DistributionPointName, GeneralName},
    },
};

const EMAIL_ADDRESS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.1");

/// Contents of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateDetails {
    /// SHA-256 of the whole certificate.
    pub digest: String,
    pub subject: String,
    /// Hexadecimal with colons, as in `0A:FF`.
    pub subject_key_identifier: Option<String>,
    pub email: Option<String>,
    /// A decimal number that may exceed any integer type.
    pub serial_number: String,
    pub issuer: IssuerDetails,
}

/// The issuer of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerDetails {
    pub subject: String,
    pub subject_key_identifier: Option<String>,
    /// Where the issuer publishes its revocation list.
    pub crl_url: Option<String>,
}

impl CertificateDetails {
    pub(super) fn of(certificate: &Certificate) -> Option<Self> {
        let own = &certificate.tbs_certificate;
        let key: Option<SubjectKeyIdentifier> = own.get().ok()?.map(|(_, id)| id);
        let issuer: Option<AuthorityKeyIdentifier> = own.get().ok()?.map(|(_, id)| id);
        let issuer_key = issuer.and_then(|issuer| issuer.key_identifier);
        Some(Self {
            digest: hex::encode(Sha256::digest(certificate.to_der().ok()?)),
            subject: own.subject.to_string(),
            subject_key_identifier: key.map(|id| colon_hex(id.0.as_bytes())),
            email: email(certificate),
            serial_number: decimal(own.serial_number.as_bytes()),
            issuer: IssuerDetails {
                subject: own.issuer.to_string(),
                subject_key_identifier: issuer_key.map(|id| colon_hex(id.as_bytes())),
                crl_url: crl_url(certificate),
            },
        })
    }
}

/// The alternative name, or the obsolete attribute of the subject.
fn email(certificate: &Certificate) -> Option<String> {
    let own = &certificate.tbs_certificate;
    let others = own.get::<SubjectAltName>().ok()?;
    let alternative = others.iter().flat_map(|(_, names)| &names.0).find_map(|name| match name {
        GeneralName::Rfc822Name(address) => Some(address.to_string()),
        _ => None,
    });
    alternative.or_else(|| {
        let mut parts = own.subject.0.iter().flat_map(|part| part.0.iter());
        let part = parts.find(|part| part.oid == EMAIL_ADDRESS)?;
        String::from_utf8(part.value.value().to_vec()).ok()
    })
}

fn crl_url(certificate: &Certificate) -> Option<String> {
    let points = certificate.tbs_certificate.get::<CrlDistributionPoints>().ok()??.1;
    let names = points.0.into_iter().filter_map(|point| match point.distribution_point? {
        DistributionPointName::FullName(names) => Some(names),
        DistributionPointName::NameRelativeToCRLIssuer(_) => None,
    });
    names.flatten().find_map(|name| match name {
        GeneralName::UniformResourceIdentifier(url) => Some(url.to_string()),
        _ => None,
    })
}

fn colon_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

/// A big-endian number of any length in decimal.
fn decimal(bytes: &[u8]) -> String {
    let mut digits = vec![0_u16];
    for byte in bytes {
        let mut carry = u16::from(*byte);
        for digit in &mut digits {
            let sum = *digit * 256 + carry;
            (*digit, carry) = (sum % 10, sum / 10);
        }
        while carry > 0 {
            digits.push(carry % 10);
            carry /= 10;
        }
    }
    digits.iter().rev().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::{colon_hex, decimal};

    #[test]
    fn numbers_of_any_length_are_decimal() {
        assert_eq!(decimal(&[0]), "0");
        assert_eq!(decimal(&[0, 1, 0]), "256");
        assert_eq!(decimal(&[0xff; 16]), "340282366920938463463374607431768211455");
        assert_eq!(colon_hex(&[0x0a, 0xff]), "0A:FF");
    }
}
