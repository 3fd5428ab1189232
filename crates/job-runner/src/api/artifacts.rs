//! Artifacts go up and come down.

use std::{
    fs::File,
    io::{Read, Seek as _, Write as _},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use ureq::{SendBody, http::Request};

use super::{client::Answer, job::JobCall};

/// The server reads a whole archive before it answers.
const PATIENCE: Duration = Duration::from_secs(600);
const REDIRECTS: usize = 5;

/// One artifact on its way to the server.
pub(crate) struct Upload<'u> {
    pub(crate) kind: &'u str,
    pub(crate) format: &'u str,
    pub(crate) expire_in: &'u str,
    pub(crate) filename: &'u str,
    pub(crate) content: &'u mut File,
}

/// The outcome of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UploadResult {
    Done,
    /// Trying again would not help.
    Refused(String),
    /// The server has trouble.
    Unwell {
        is_busy: bool,
        message: String,
    },
    /// Another address of the same server takes it.
    Elsewhere(String),
}

/// The outcome of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Download {
    Done(u64),
    Refused(String),
    Unwell(String),
}

impl JobCall<'_> {
    /// Sends an artifact once, to another scheme and host where `origin` names one.
    pub(crate) fn upload(
        &self,
        upload: &mut Upload<'_>,
        origin: Option<&str>,
    ) -> Result<UploadResult> {
        let size = upload.content.seek(std::io::SeekFrom::End(0))?;
        upload.content.rewind()?;
        let boundary = format!("forgeway{}", hex::encode(rand::random::<[u8; 16]>()));
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n",
            quoted(upload.filename),
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        let length = u64::try_from(head.len() + tail.len())? + size;
        let address = self.upload_address(upload);
        let address = match origin {
            Some(origin) => moved(&address, origin)?,
            None => address,
        };
        let mut body = head.as_bytes().chain((&*upload.content).take(size)).chain(tail.as_bytes());
        let request = Request::post(address)
            .header("Accept", "application/json")
            .header("JOB-TOKEN", self.token)
            .header("Content-Type", format!("multipart/form-data; boundary={boundary}"))
            .header("Content-Length", length.to_string())
            .body(SendBody::from_reader(&mut body))?;
        Ok(outcome(&Answer::read(self.client.run(request, PATIENCE)?)?))
    }

    fn upload_address(&self, upload: &Upload<'_>) -> String {
        let mut query = format!(
            "artifact_type={}&artifact_format={}",
            encoded(upload.kind),
            encoded(upload.format)
        );
        if !upload.expire_in.is_empty() {
            query.push_str(&format!("&expire_in={}", encoded(upload.expire_in)));
        }
        self.client.address(&format!("/jobs/{}/artifacts?{query}", self.id))
    }

    /// Fetches the archive of this job, or of the other job that this call is made for, once.
    pub(crate) fn download(&self, into: &mut File, largest: u64) -> Result<Download> {
        let mut address =
            self.client.address(&format!("/jobs/{}/artifacts?direct_download=true", self.id));
        let home = origin_of(&address).map(str::to_owned);
        for _redirect in 0..=REDIRECTS {
            let mut request = Request::get(&address);
            // Where files are stored is not told the token.
            if origin_of(&address) == home.as_deref() {
                request = request.header("JOB-TOKEN", self.token);
            }
            let response = self.client.run(request.body(SendBody::none())?, PATIENCE)?;
            let status = response.status().as_u16();
            if status == 200 {
                into.rewind()?;
                into.set_len(0)?;
                let mut body = response.into_body().into_reader().take(largest + 1);
                let size = std::io::copy(&mut body, into)?;
                into.flush()?;
                if size > largest {
                    return Ok(Download::Refused(format!(
                        "the archive is larger than {largest} bytes"
                    )));
                }
                return Ok(Download::Done(size));
            }
            let answer = Answer::read(response)?;
            address = match status {
                301 | 302 | 303 | 307 | 308 => {
                    let to = answer.header("Location").context("a redirect leads nowhere")?;
                    anyhow::ensure!(origin_of(to).is_some(), "a redirect leads to {to:?}");
                    to.to_owned()
                }
                400..=499 if status != 408 && status != 429 => {
                    return Ok(Download::Refused(answer.message()));
                }
                _ => return Ok(Download::Unwell(answer.message())),
            };
        }
        bail!("the server redirects more than {REDIRECTS} times")
    }
}

fn outcome(answer: &Answer) -> UploadResult {
    match answer.status {
        200..=299 => UploadResult::Done,
        307 => match answer.header("Location") {
            Some(location) => UploadResult::Elsewhere(location.to_owned()),
            None => UploadResult::Refused("a redirect leads nowhere".to_owned()),
        },
        503 => UploadResult::Unwell { is_busy: true, message: answer.message() },
        408 | 429 | 500.. => UploadResult::Unwell { is_busy: false, message: answer.message() },
        _ => UploadResult::Refused(answer.message()),
    }
}

/// Scheme and host of an address.
fn origin_of(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once("://")?;
    if scheme != "http" && scheme != "https" {
        return None;
    }
    let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    address.get(..scheme.len() + 3 + host)
}

/// An address with the scheme and host of another one.
fn moved(address: &str, to: &str) -> Result<String> {
    let own = origin_of(address).context("an address without a host")?;
    let origin = origin_of(to).with_context(|| format!("a redirect leads to {to:?}"))?;
    // A token does not leave encryption.
    anyhow::ensure!(
        !own.starts_with("https:") || origin.starts_with("https:"),
        "a redirect leads from https to http"
    );
    Ok(format!("{origin}{}", &address[own.len()..]))
}

fn encoded(text: &str) -> String {
    let sign = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(sign).collect()
}

/// A file name between quotes of a header.
fn quoted(name: &str) -> String {
    name.chars().filter(|sign| !sign.is_control() && !matches!(sign, '"' | '\\' | '/')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_changes_scheme_and_host_only() {
        let to = moved("http://a:1/api/v4/jobs/1/artifacts?x=1", "https://b/other").unwrap();
        assert_eq!(to, "https://b/api/v4/jobs/1/artifacts?x=1");
        assert!(moved("https://a/x", "http://b/").is_err());
        assert!(moved("https://a/x", "file:///etc").is_err());
    }

    #[test]
    fn names_cannot_end_a_header() {
        assert_eq!(quoted("a\"\r\nX: y/../b.zip"), "aX: y..b.zip");
        assert_eq!(encoded("1 week&x"), "1%20week%26x");
    }
}
