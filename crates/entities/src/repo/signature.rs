//! Signatures of commits and tags.

use forge::{Forge, commit::signatures::certificate_ids};
use kernel::Error;
use org::key::{certificate::CertificateIds, signature::Verdict};
use serde::Serialize;
use serde_json::value::RawValue;
use signatures::x509::CertificateDetails;
use utoipa::ToSchema;

use crate::org::key::SshKeyEntity;

/// Where the record of the commit came from, in the word that clients know.
const COMMIT_SOURCE: &str = "gitaly";

/// A PGP, SSH or X.509 signature.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SignatureEntity {
    Pgp(PgpSignatureEntity),
    Ssh(SshSignatureEntity),
    X509(X509SignatureEntity),
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PgpSignatureEntity {
    pub signature_type: &'static str,
    pub verification_status: &'static str,
    pub gpg_key_id: Option<i64>,
    pub gpg_key_primary_keyid: Option<String>,
    pub gpg_key_user_name: Option<String>,
    pub gpg_key_user_email: Option<String>,
    pub gpg_key_subkey_id: Option<i64>,
    pub commit_source: &'static str,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SshSignatureEntity {
    pub signature_type: &'static str,
    pub verification_status: &'static str,
    pub key: Option<SshKeyEntity>,
    pub commit_source: &'static str,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct X509SignatureEntity {
    pub signature_type: &'static str,
    pub verification_status: &'static str,
    pub x509_certificate: Option<X509CertificateEntity>,
    pub commit_source: &'static str,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct X509CertificateEntity {
    pub id: i64,
    pub subject: String,
    pub subject_key_identifier: Option<String>,
    pub email: Option<String>,
    /// Serial number, an integer of any size.
    #[schema(value_type = i64)]
    pub serial_number: Box<RawValue>,
    pub certificate_status: &'static str,
    pub x509_issuer: X509IssuerEntity,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct X509IssuerEntity {
    pub id: i64,
    pub subject: String,
    pub subject_key_identifier: Option<String>,
    pub crl_url: Option<String>,
}

const GOOD: &str = "good";
const REVOKED: &str = "revoked";

impl X509CertificateEntity {
    fn new(
        certificate: CertificateDetails,
        ids: CertificateIds,
        is_revoked: bool,
    ) -> kernel::Result<Self> {
        Ok(Self {
            id: ids.certificate,
            subject: certificate.subject,
            subject_key_identifier: certificate.subject_key_identifier,
            email: certificate.email,
            serial_number: RawValue::from_string(certificate.serial_number)
                .map_err(Error::internal)?,
            certificate_status: if is_revoked { REVOKED } else { GOOD },
            x509_issuer: X509IssuerEntity {
                id: ids.issuer,
                subject: certificate.issuer.subject,
                subject_key_identifier: certificate.issuer.subject_key_identifier,
                crl_url: certificate.issuer.crl_url,
            },
        })
    }
}

impl SignatureEntity {
    /// As it is shown; a certificate gets a number when it is seen first.
    pub async fn of(forge: &Forge, verdict: Verdict) -> kernel::Result<Self> {
        let commit_source = COMMIT_SOURCE;
        Ok(match verdict {
            Verdict::Pgp(verdict) => Self::Pgp(PgpSignatureEntity {
                signature_type: "PGP",
                verification_status: verdict.verification.as_str(),
                gpg_key_id: verdict.key,
                gpg_key_primary_keyid: verdict.keyid,
                gpg_key_user_name: verdict.name,
                gpg_key_user_email: verdict.email,
                gpg_key_subkey_id: verdict.subkey,
                commit_source,
            }),
            Verdict::Ssh(verdict) => Self::Ssh(SshSignatureEntity {
                signature_type: "SSH",
                verification_status: verdict.verification.as_str(),
                key: verdict.key.map(|(key, owner)| SshKeyEntity::new(&forge.urls, &key, &owner)),
                commit_source,
            }),
            Verdict::X509(verdict) => Self::X509(X509SignatureEntity {
                signature_type: "X509",
                verification_status: verdict.verification.as_str(),
                x509_certificate: match verdict.certificate {
                    Some(certificate) => {
                        let ids = certificate_ids(forge, &certificate).await?;
                        Some(X509CertificateEntity::new(certificate, ids, verdict.is_revoked)?)
                    }
                    None => None,
                },
                commit_source,
            }),
        })
    }
}
