//! Sending archives to an address that somebody gave.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom},
    time::Duration,
};

use admin::{archive::UploadTarget, integration::UrlRule as _};
use kernel::{Error, Result, TextEnum as _, task::spawn_blocking};
use outbound::{FetchLimits, FileUpload};

use crate::Forge;

/// The answer counts for nothing but its status.
const LIMITS: FetchLimits = FetchLimits { bytes: 1 << 20, time: Duration::from_secs(60 * 60) };

/// Whether an address is gone to at all.
pub(super) fn is_open(forge: &Forge, url: &str) -> bool {
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    is_web && forge.courier.rules.web().allows(url)
}

/// Sends a file. Addresses inside are refused however they are written.
pub(super) async fn send(forge: &Forge, target: UploadTarget, mut file: File) -> Result<()> {
    let client = forge.courier.rules.web().client();
    let sent = spawn_blocking(move || {
        file.seek(SeekFrom::Start(0)).map_err(Error::internal)?;
        let upload = FileUpload {
            method: target.method.as_str(),
            url: &target.url,
            content_type: "application/gzip",
            limits: LIMITS,
        };
        let answer = client.upload(&upload, file, &mut io::sink());
        answer.map_err(|cause| refusal(&cause.to_string()))
    });
    let head = sent.await.map_err(Error::internal)??;
    match head.is_success() {
        true => Ok(()),
        false => Err(refusal(&format!("it answered HTTP {}", head.status))),
    }
}

fn refusal(why: &str) -> Error {
    Error::unprocessable().whole(format!("The archive was not taken where it was sent: {why}"))
}
