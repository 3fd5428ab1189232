//! Sending: one request with a body, one answer, no redirects.

use std::{
    io::Read as _,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use ureq::{
    Agent, Body, Error,
    http::{Request, Response, Uri, header::HeaderMap},
};

use crate::{
    Client, FetchError,
    client::{failure, refused},
    connections::Destination,
    guard::check_uri,
};

/// What is kept of an answer.
const BODY: u64 = 8 << 10;
const MOST_HEADERS: usize = 50;
const LONGEST_HEADER: usize = 1 << 10;

/// A request that sends something.
#[derive(Clone, Debug)]
pub struct Post<'a> {
    /// `POST`, or another method.
    pub method: &'a str,
    /// A name and password before the host are sent as Basic authentication.
    pub url: &'a str,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
    /// Whether the other's certificate must be good.
    pub verify: bool,
    pub time: Duration,
}

/// The response to a POST request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Its beginning.
    pub body: String,
    /// Seconds.
    pub duration: f64,
}

impl Client {
    /// Sends once. Blocks until there is an answer, or the time is up. A redirect is an answer.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn send(&self, post: &Post<'_>) -> Result<Answer, FetchError> {
        let begun = Instant::now();
        let (url, basic) = without_person(post.url)?;
        let uri: Uri = url.parse().map_err(|_no| FetchError::Refused("it is no address"))?;
        let uri = self.relayed(uri);
        check_uri(&uri).map_err(refused)?;
        let mut request = Request::builder().method(post.method).uri(uri.clone());
        for (name, value) in post.headers {
            request = request.header(name, value);
        }
        if let Some(basic) = basic {
            request = request.header("Authorization", basic);
        }
        let request = request
            .body(post.body)
            .map_err(|_odd| FetchError::Refused("a header cannot be sent"))?;
        let left = || post.time.saturating_sub(begun.elapsed());
        let addresses = self.guard.addresses(&uri, left()).map_err(failure)?;
        let place = Destination::new(&uri, &addresses, post.verify);
        let (agent, is_known) = self.connections.agent(place.clone(), &addresses);
        let answer = match run(&agent, request.clone(), left()) {
            // The other side ended an idle connection as it was used again.
            Err(Error::Io(_) | Error::ConnectionFailed) if is_known => {
                self.connections.forget(&place);
                let (agent, _) = self.connections.agent(place, &addresses);
                run(&agent, request, left())
            }
            answer => answer,
        };
        let mut response = answer.map_err(failure)?;
        let mut bytes = Vec::new();
        // The status is the answer, also where the body does not come to its end.
        let _cut = response.body_mut().as_reader().take(BODY).read_to_end(&mut bytes);
        Ok(Answer {
            status: response.status().as_u16(),
            headers: bounded(response.headers()),
            body: String::from_utf8_lossy(&bytes).replace('\0', ""),
            duration: begun.elapsed().as_secs_f64(),
        })
    }
}

fn run(agent: &Agent, request: Request<&[u8]>, time: Duration) -> Result<Response<Body>, Error> {
    // Nothing waits for no time at all.
    let time = time.max(Duration::from_millis(1));
    agent.run(agent.configure_request(request).timeout_global(Some(time)).build())
}

fn bounded(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| {
        let value = &value[..value.len().min(LONGEST_HEADER)];
        String::from_utf8_lossy(value).replace('\0', "")
    };
    let all = headers.iter().take(MOST_HEADERS);
    all.map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}

/// The address without a name and password, and these as a header.
fn without_person(url: &str) -> Result<(String, Option<String>), FetchError> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(FetchError::Refused("it is no address"));
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let Some((person, host)) = authority.rsplit_once('@') else {
        return Ok((url.to_owned(), None));
    };
    let (name, password) = person.split_once(':').unwrap_or((person, ""));
    let person = [decoded(name), b":".to_vec(), decoded(password)].concat();
    let basic = format!("Basic {}", BASE64.encode(person));
    Ok((format!("{scheme}://{host}{tail}"), Some(basic)))
}

fn decoded(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

#[cfg(test)]
mod tests {
    use super::without_person;

    #[test]
    fn a_name_and_password_become_a_header() {
        let (url, basic) = without_person("https://ada:s%3At@ci.example.com/x@y").unwrap();
        assert_eq!(url, "https://ci.example.com/x@y");
        assert_eq!(basic.as_deref(), Some("Basic YWRhOnM6dA=="));
        assert_eq!(without_person("https://a/x@y").unwrap(), ("https://a/x@y".to_owned(), None));
    }
}
