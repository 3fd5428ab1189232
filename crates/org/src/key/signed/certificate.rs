//! What a certificate says of whom it is for and who issued it, and the numbers under which that is known here.

use db::{
    Tx, each_backend, error,
    schema::{x509_certificates, x509_issuers},
};
use diesel::prelude::*;
use kernel::Result;
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

/// What a certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Of the whole certificate.
    pub digest: String,
    pub subject: String,
    /// In pairs of digits, as in `0A:FF`.
    pub subject_key_identifier: Option<String>,
    pub email: Option<String>,
    /// A decimal number, of more digits than fit elsewhere.
    pub serial_number: String,
    pub issuer: IssuerFacts,
}

/// What a certificate says of its issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerFacts {
    pub subject: String,
    pub subject_key_identifier: Option<String>,
    /// Where the issuer tells what it has taken back.
    pub crl_url: Option<String>,
}

impl CertificateFacts {
    pub(super) fn of(certificate: &Certificate) -> Option<Self> {
        let own = &certificate.tbs_certificate;
        let key: Option<SubjectKeyIdentifier> = own.get().ok()?.map(|(_, id)| id);
        let issuer: Option<AuthorityKeyIdentifier> = own.get().ok()?.map(|(_, id)| id);
        let issuer_key = issuer.and_then(|issuer| issuer.key_identifier);
        Some(Self {
            digest: hex::encode(Sha256::digest(certificate.to_der().ok()?)),
            subject: own.subject.to_string(),
            subject_key_identifier: key.map(|id| in_pairs(id.0.as_bytes())),
            email: email(certificate),
            serial_number: decimal(own.serial_number.as_bytes()),
            issuer: IssuerFacts {
                subject: own.issuer.to_string(),
                subject_key_identifier: issuer_key.map(|id| in_pairs(id.as_bytes())),
                crl_url: crl_url(certificate),
            },
        })
    }
}

impl IssuerFacts {
    fn digest(&self) -> String {
        let key = self.subject_key_identifier.as_deref().unwrap_or_default();
        hex::encode(Sha256::digest(format!("{key}\n{}", self.subject)))
    }
}

/// The address beside the name, or within it as it was once done.
fn email(certificate: &Certificate) -> Option<String> {
    let own = &certificate.tbs_certificate;
    let others = own.get::<SubjectAltName>().ok()?;
    let beside = others.iter().flat_map(|(_, names)| &names.0).find_map(|name| match name {
        GeneralName::Rfc822Name(address) => Some(address.to_string()),
        _ => None,
    });
    beside.or_else(|| {
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

fn in_pairs(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

/// A number of any length, as people write it.
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

/// The numbers of a certificate and its issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    pub certificate: i64,
    pub issuer: i64,
}

pub trait CertificateStore {
    fn find_certificate(&mut self, digest: &str) -> Result<Option<Numbers>>;
    /// Gives a certificate its number, unless it has one.
    fn keep_certificate(&mut self, facts: &CertificateFacts) -> Result<Numbers>;
}

impl CertificateStore for Tx<'_> {
    fn find_certificate(&mut self, digest: &str) -> Result<Option<Numbers>> {
        let found: Option<(i64, i64)> = each_backend!(self, |conn| x509_certificates::table
            .filter(x509_certificates::digest.eq(digest))
            .select((x509_certificates::id, x509_certificates::issuer_id))
            .get_result(conn)
            .optional()
            .map_err(error("Certificate")))?;
        Ok(found.map(|(certificate, issuer)| Numbers { certificate, issuer }))
    }

    fn keep_certificate(&mut self, facts: &CertificateFacts) -> Result<Numbers> {
        let digest = facts.issuer.digest();
        let row = (x509_issuers::digest.eq(&digest), x509_issuers::created_at.eq(self.now));
        let insert = diesel::insert_into(x509_issuers::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error("Certificate")))?;
        let issuer = x509_issuers::table.filter(x509_issuers::digest.eq(&digest));
        let issuer: i64 = each_backend!(self, |conn| issuer
            .select(x509_issuers::id)
            .get_result(conn)
            .map_err(error("Certificate")))?;
        let row = (
            x509_certificates::issuer_id.eq(issuer),
            x509_certificates::digest.eq(&facts.digest),
            x509_certificates::created_at.eq(self.now),
        );
        let insert =
            diesel::insert_into(x509_certificates::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error("Certificate")))?;
        self.find_certificate(&facts.digest)?.ok_or(kernel::Error::NotFound("Certificate"))
    }
}

#[cfg(test)]
mod tests {
    use super::{decimal, in_pairs};

    #[test]
    fn numbers_of_any_length_are_written_out() {
        assert_eq!(decimal(&[0]), "0");
        assert_eq!(decimal(&[0, 1, 0]), "256");
        assert_eq!(decimal(&[0xff; 16]), "340282366920938463463374607431768211455");
        assert_eq!(in_pairs(&[0x0a, 0xff]), "0A:FF");
    }
}
