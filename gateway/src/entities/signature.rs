//! Signatures of commits and tags.

use repo::commit::signature::SignatureKind;
use serde::Serialize;
use utoipa::ToSchema;

/// Where the record of the commit came from, in the word that clients know.
const COMMIT_SOURCE: &str = "gitaly";

/// One of the three kinds; no signature can be checked before keys are kept.
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
    pub key: Option<SigningKeyEntity>,
    pub commit_source: &'static str,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SigningKeyEntity {
    pub id: i64,
    pub title: String,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub key: String,
    pub usage_type: String,
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
    pub subject_key_identifier: String,
    pub email: String,
    pub serial_number: String,
    pub certificate_status: String,
}

impl From<SignatureKind> for SignatureEntity {
    fn from(kind: SignatureKind) -> Self {
        let commit_source = COMMIT_SOURCE;
        match kind {
            SignatureKind::Pgp { key_id } => Self::Pgp(PgpSignatureEntity {
                signature_type: "PGP",
                verification_status: "unknown_key",
                gpg_key_id: None,
                gpg_key_primary_keyid: key_id,
                gpg_key_user_name: None,
                gpg_key_user_email: None,
                gpg_key_subkey_id: None,
                commit_source,
            }),
            SignatureKind::Ssh => Self::Ssh(SshSignatureEntity {
                signature_type: "SSH",
                verification_status: "unknown_key",
                key: None,
                commit_source,
            }),
            SignatureKind::X509 => Self::X509(X509SignatureEntity {
                signature_type: "X509",
                verification_status: "unverified",
                x509_certificate: None,
                commit_source,
            }),
        }
    }
}
