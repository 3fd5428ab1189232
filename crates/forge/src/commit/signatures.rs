//! Checks of the signatures of commits and tags against the keys of users.

use std::sync::Arc;

use kernel::{Error, Result, task::spawn_blocking};
use org::key::{
    certificate::{CertificateIds, CertificateStore},
    signature::{self, KeyRecords, Verdict},
};
use repo::{commit::signature::signer_email, git::SignedObject};
use signatures::{Signature, SignedMessage, x509::CertificateDetails};

use crate::Forge;

/// As [`verdicts`], of one signature.
///
/// # Errors
/// When the database cannot be read.
pub async fn verdict(forge: &Forge, object: SignedObject) -> Result<Verdict> {
    verdicts(forge, vec![object]).await?.pop().ok_or_else(Error::missing)
}

/// Parses and checks signatures, and answers in their order. Both are CPU-bound and run off the async threads; the keys of all are
/// looked up together.
///
/// # Errors
/// When the database cannot be read.
pub async fn verdicts(forge: &Forge, objects: Vec<SignedObject>) -> Result<Vec<Verdict>> {
    let parsed = spawn_blocking(move || {
        let all = objects.into_iter().map(|object| {
            let message = SignedMessage {
                email: signer_email(&object).unwrap_or_default(),
                signature: object.signature.into(),
                payload: object.payload.into(),
            };
            (Signature::parse(&message.signature), message)
        });
        all.collect::<Vec<_>>()
    });
    let signed = Arc::new(parsed.await.map_err(Error::internal)?);
    let of_them = Arc::clone(&signed);
    let lookup =
        forge.db.read(move |tx| Ok((signature::key_records(tx, of_them.as_slice())?, tx.now)));
    let (records, now) = lookup.await?;
    let roots = forge.roots.clone();
    let check = spawn_blocking(move || {
        let each = signed.iter().zip(records);
        let verdict = |((parsed, message), records): (&(Signature, SignedMessage), KeyRecords)| {
            signature::check(parsed, message, records, &roots, now)
        };
        each.map(verdict).collect()
    });
    check.await.map_err(Error::internal)
}

/// Row ids of a certificate, which is inserted when it is first seen.
pub async fn certificate_ids(
    forge: &Forge,
    certificate: &CertificateDetails,
) -> Result<CertificateIds> {
    let digest = certificate.digest.clone();
    if let Some(ids) = forge.db.peek(move |tx| tx.find_certificate(&digest)).await? {
        return Ok(ids);
    }
    let certificate = certificate.clone();
    forge.db.write(move |tx| tx.ensure_certificate(&certificate)).await
}
