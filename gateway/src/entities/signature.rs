//! Signatures of commits and tags.

use kernel::Error;
use org::key::signed::{
    Verdict, Verification,
    certificate::{CertificateFacts, Numbers},
};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::key::SshKeyEntity;
use crate::{app::App, compose::signatures::numbers};

/// Where the record of the commit came from, in the word that clients know.
const COMMIT_SOURCE: &str = "gitaly";

/// One of the three kinds.
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
    #[schema(value_type = String)]
    pub verification_status: Verification,
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
    #[schema(value_type = String)]
    pub verification_status: Verification,
    pub key: Option<SshKeyEntity>,
    pub commit_source: &'static str,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct X509SignatureEntity {
    pub signature_type: &'static str,
    #[schema(value_type = String)]
    pub verification_status: Verification,
    pub x509_certificate: Option<X509CertificateEntity>,
    pub commit_source: &'static str,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct X509CertificateEntity {
    pub id: i64,
    pub subject: String,
    pub subject_key_identifier: Option<String>,
    pub email: Option<String>,
    /// Of any length.
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
    fn new(facts: CertificateFacts, numbers: Numbers, is_withdrawn: bool) -> kernel::Result<Self> {
        Ok(Self {
            id: numbers.certificate,
            subject: facts.subject,
            subject_key_identifier: facts.subject_key_identifier,
            email: facts.email,
            serial_number: RawValue::from_string(facts.serial_number).map_err(Error::internal)?,
            certificate_status: if is_withdrawn { REVOKED } else { GOOD },
            x509_issuer: X509IssuerEntity {
                id: numbers.issuer,
                subject: facts.issuer.subject,
                subject_key_identifier: facts.issuer.subject_key_identifier,
                crl_url: facts.issuer.crl_url,
            },
        })
    }
}

impl SignatureEntity {
    /// As it is shown; a certificate gets a number when it is seen first.
    pub async fn of(app: &App, verdict: Verdict) -> kernel::Result<Self> {
        let commit_source = COMMIT_SOURCE;
        Ok(match verdict {
            Verdict::Pgp(told) => Self::Pgp(PgpSignatureEntity {
                signature_type: "PGP",
                verification_status: told.verification,
                gpg_key_id: told.key.map(|id| id.0),
                gpg_key_primary_keyid: told.keyid,
                gpg_key_user_name: told.name,
                gpg_key_user_email: told.email,
                gpg_key_subkey_id: told.subkey,
                commit_source,
            }),
            Verdict::Ssh(told) => Self::Ssh(SshSignatureEntity {
                signature_type: "SSH",
                verification_status: told.verification,
                key: told.key.map(|(key, owner)| SshKeyEntity::new(&app.urls, &key, &owner)),
                commit_source,
            }),
            Verdict::X509(told) => Self::X509(X509SignatureEntity {
                signature_type: "X509",
                verification_status: told.verification,
                x509_certificate: match told.certificate {
                    Some(facts) => {
                        let numbers = numbers(app, facts.clone()).await?;
                        Some(X509CertificateEntity::new(facts, numbers, told.is_withdrawn)?)
                    }
                    None => None,
                },
                commit_source,
            }),
        })
    }
}
