//! Checks of the signatures of commits and tags against the keys of users.

use std::sync::Arc;

use kernel::{Error, Result};
use org::key::{
    certificate::{CertificateIds, CertificateStore},
    signature::{self, Verdict},
};
use repo::{commit::signature::signer_email, git::SignedObject};
use signatures::{Signature, SignedMessage, x509::CertificateDetails};
use tokio::task::spawn_blocking;

use crate::Forge;

/// Parses and checks a signature. Both are CPU-bound and run off the async threads.
pub async fn verdict(forge: &Forge, object: SignedObject) -> Result<Verdict> {
    let message = SignedMessage {
        email: signer_email(&object).unwrap_or_default(),
        signature: object.signature.into(),
        payload: object.payload.into(),
    };
    let parsed = spawn_blocking(move || (Signature::parse(&message.signature), message));
    let signed = Arc::new(parsed.await.map_err(Error::internal)?);
    let of_it = Arc::clone(&signed);
    let lookup = forge.db.read(move |tx| {
        let (parsed, message) = &*of_it;
        Ok((signature::key_records(tx, parsed, message)?, tx.now))
    });
    let (records, now) = lookup.await?;
    let roots = forge.roots.clone();
    let check =
        spawn_blocking(move || signature::check(&signed.0, &signed.1, records, &roots, now));
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
