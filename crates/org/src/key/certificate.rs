//! Certificates that signatures were made with: each one and its issuer have a row, whose id the API shows.

use db::{
    Tx, each_backend, error,
    schema::{x509_certificates, x509_issuers},
};
use diesel::prelude::*;
use kernel::Result;
use sha2::{Digest as _, Sha256};
use signatures::x509::{CertificateDetails, IssuerDetails};

/// Row ids of a certificate and its issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateIds {
    pub certificate: i64,
    pub issuer: i64,
}

pub trait CertificateStore {
    fn find_certificate(&mut self, digest: &str) -> Result<Option<CertificateIds>>;
    /// Inserts the certificate and its issuer unless they are there.
    fn ensure_certificate(&mut self, certificate: &CertificateDetails) -> Result<CertificateIds>;
}

impl CertificateStore for Tx<'_> {
    fn find_certificate(&mut self, digest: &str) -> Result<Option<CertificateIds>> {
        let found: Option<(i64, i64)> = each_backend!(self, |conn| x509_certificates::table
            .filter(x509_certificates::digest.eq(digest))
            .select((x509_certificates::id, x509_certificates::issuer_id))
            .get_result(conn)
            .optional()
            .map_err(error("Certificate")))?;
        Ok(found.map(|(certificate, issuer)| CertificateIds { certificate, issuer }))
    }

    fn ensure_certificate(&mut self, certificate: &CertificateDetails) -> Result<CertificateIds> {
        let digest = issuer_digest(&certificate.issuer);
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
            x509_certificates::digest.eq(&certificate.digest),
            x509_certificates::created_at.eq(self.now),
        );
        let insert =
            diesel::insert_into(x509_certificates::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error("Certificate")))?;
        self.find_certificate(&certificate.digest)?
            .ok_or_else(|| kernel::Error::not_found("Certificate"))
    }
}

fn issuer_digest(issuer: &IssuerDetails) -> String {
    let key = issuer.subject_key_identifier.as_deref().unwrap_or_default();
    hex::encode(Sha256::digest(format!("{key}\n{}", issuer.subject)))
}
