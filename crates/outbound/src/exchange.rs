//! Requests to programs: headers of one's own, answers of any status, and a body that is copied as it comes.

use std::io::{self, Write};

use ureq::{
    AsSendBody, Body, ResponseExt as _,
    http::{Request, Response, Uri},
};

use crate::{
    Client, FetchError, FetchLimits,
    client::{failure, refused},
    guard::check_uri,
};

/// Headers of an answer that are kept, and bytes of each.
const MOST_HEADERS: usize = 128;
const LONGEST_HEADER: usize = 8 << 10;
/// Bytes that are copied at once.
const CHUNK: usize = 64 << 10;

/// A request to a program.
#[derive(Clone, Debug)]
pub struct Exchange<'a> {
    pub method: &'a str,
    pub url: &'a str,
    /// Those that may be credentials go to another host or port on no redirect.
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
    pub limits: FetchLimits,
}

/// Status and headers of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerHead {
    pub status: u16,
    /// URL that answered, after redirects.
    pub url: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
}

impl AnswerHead {
    /// The first header of this name, which is given in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Client {
    /// Sends once and copies the body of the answer, whatever its status, into `sink`. Blocks until the body has ended
    /// or the time is up. What has no body goes
    /// [where a few redirects lead](Self::exchange_through_redirects); what has one is not sent anywhere else.
    ///
    /// # Errors
    /// When there is no whole answer.
    pub fn exchange(
        &self,
        request: &Exchange<'_>,
        sink: &mut impl Write,
    ) -> Result<AnswerHead, FetchError> {
        if request.body.is_empty() {
            return self.exchange_through_redirects(request, sink);
        }
        let answer = self.response(uri_of(request.url)?, request)?;
        read_answer(answer, sink, request.limits.bytes)
    }

    /// The response of `uri` to a request, whose body is still to be read. No redirect is followed.
    pub(crate) fn response(
        &self,
        uri: Uri,
        request: &Exchange<'_>,
    ) -> Result<Response<Body>, FetchError> {
        check_uri(&uri).map_err(refused)?;
        let mut sent = Request::builder().method(request.method).uri(uri);
        for (name, value) in request.headers {
            sent = sent.header(name, value);
        }
        let (odd, limits) = (|_odd| FetchError::Refused("a header cannot be sent"), request.limits);
        let answer = match request.body.is_empty() {
            true => self.run_with(sent.body(()).map_err(odd)?, limits),
            false => self.run_with(sent.body(request.body).map_err(odd)?, limits),
        };
        answer.map_err(failure)
    }

    pub(crate) fn run_with<B: AsSendBody>(
        &self,
        request: Request<B>,
        limits: FetchLimits,
    ) -> Result<Response<Body>, ureq::Error> {
        let config = self
            .agent
            .configure_request(request)
            .timeout_global(Some(limits.time))
            // The agent's own rule sends credentials to every port of a host.
            .max_redirects(0)
            .http_status_as_error(false);
        self.agent.run(config.build())
    }
}

pub(crate) fn uri_of(url: &str) -> Result<Uri, FetchError> {
    url.parse().map_err(|_no| FetchError::Refused("it is no address"))
}

/// The head of an answer, whose body goes into `sink`.
pub(crate) fn read_answer(
    mut answer: Response<Body>,
    sink: &mut impl Write,
    most: u64,
) -> Result<AnswerHead, FetchError> {
    let head = AnswerHead {
        status: answer.status().as_u16(),
        url: answer.get_uri().to_string(),
        headers: answer
            .headers()
            .iter()
            .take(MOST_HEADERS)
            .map(|(name, value)| {
                let value = value.as_bytes();
                let value = value.get(..LONGEST_HEADER).unwrap_or(value);
                (name.as_str().to_owned(), String::from_utf8_lossy(value).into_owned())
            })
            .collect(),
    };
    copy(&mut answer.body_mut().as_reader(), sink, most)?;
    Ok(head)
}

fn copy(from: &mut impl io::Read, sink: &mut impl Write, most: u64) -> Result<(), FetchError> {
    let (mut chunk, mut left) = (vec![0; CHUNK], most);
    loop {
        let count = from.read(&mut chunk).map_err(|cause| failure(ureq::Error::from(cause)))?;
        let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        left = left
            .checked_sub(u64::try_from(count).unwrap_or(u64::MAX))
            .ok_or(FetchError::TooLarge)?;
        sink.write_all(bytes).map_err(|_full| FetchError::TooLarge)?;
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerHead, copy};
    use crate::FetchError;

    #[test]
    fn a_body_is_copied_up_to_its_limit() {
        let (mut kept, body) = (Vec::new(), vec![7_u8; 100_000]);
        assert_eq!(copy(&mut body.as_slice(), &mut kept, 100_000), Ok(()));
        assert_eq!(kept, body);
        assert_eq!(copy(&mut body.as_slice(), &mut kept, 99_999), Err(FetchError::TooLarge));
    }

    #[test]
    fn headers_are_found_by_name() {
        let headers = vec![("retry-after".to_owned(), "7".to_owned())];
        let head = AnswerHead { status: 204, url: String::new(), headers };
        assert_eq!((head.header("retry-after"), head.header("etag")), (Some("7"), None));
        assert!(head.is_success());
    }
}
