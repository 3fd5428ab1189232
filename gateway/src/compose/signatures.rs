//! What signatures of commits and tags are worth, by the keys that people have here.

use kernel::{Error, Result};
use org::key::signed::{
    self, Read, Signed, Verdict,
    certificate::{CertificateFacts, CertificateStore, Numbers},
};
use repo::{commit::signature::signer_email, git::SignedObject};
use tokio::task::spawn_blocking;

use crate::app::App;

/// Reads, looks up, checks: arithmetic on keys has threads of its own.
pub async fn verdict(app: &App, object: SignedObject) -> Result<Verdict> {
    let signed = Signed {
        email: signer_email(&object).unwrap_or_default(),
        signature: object.signature.into(),
        payload: object.payload.into(),
    };
    let (read, signed) = spawn_blocking(move || (Read::of(&signed.signature), signed))
        .await
        .map_err(Error::internal)?;
    let looked = app.db.read(move |tx| {
        let known = signed::look_up(tx, &read, &signed)?;
        Ok((known, read, signed, tx.now))
    });
    let (known, read, signed, now) = looked.await?;
    let roots = app.roots.clone();
    let judged = spawn_blocking(move || signed::judge(&read, &signed, &known, &roots, now));
    judged.await.map_err(Error::internal)
}

/// The numbers of a certificate, which gets them when it is seen first.
pub async fn numbers(app: &App, certificate: CertificateFacts) -> Result<Numbers> {
    let digest = certificate.digest.clone();
    let known = app.db.peek(move |tx| tx.find_certificate(&digest)).await?;
    match known {
        Some(numbers) => Ok(numbers),
        None => app.db.write(move |tx| tx.keep_certificate(&certificate)).await,
    }
}
