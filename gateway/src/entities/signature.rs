//! Signatures of commits and tags.

use org::key::signed::{Verdict, Verification};
use serde::Serialize;
use utoipa::ToSchema;

use super::key::SshKeyEntity;
use crate::app::Urls;

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
    pub subject_key_identifier: String,
    pub email: String,
    pub serial_number: String,
    pub certificate_status: String,
}

impl SignatureEntity {
    pub fn new(urls: &Urls, verdict: Verdict) -> Self {
        let commit_source = COMMIT_SOURCE;
        match verdict {
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
                key: told.key.map(|(key, owner)| SshKeyEntity::new(urls, &key, &owner)),
                commit_source,
            }),
            Verdict::X509(verification_status) => Self::X509(X509SignatureEntity {
                signature_type: "X509",
                verification_status,
                x509_certificate: None,
                commit_source,
            }),
        }
    }
}
