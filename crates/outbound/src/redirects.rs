//! Requests that go on where redirects lead, with their method and body.

use std::{io::Write, time::Instant};

use ureq::{
    Body,
    http::{Response, Uri, header},
};

use crate::{
    AnswerHead, Client, Exchange, FetchError, FetchLimits,
    client::{ENDLESS, REDIRECTS},
    exchange::{read_answer, uri_of},
};

/// Headers that are sent to another host, too: none of them tells who asks.
const OPEN_HEADERS: [&str; 2] = ["Accept", "Content-Type"];

impl Client {
    /// As [`exchange`](Self::exchange), but every redirect is followed with the method and the body of the request, as clients
    /// of large files do. Each one goes through the guard, and all of them together have the time of the request. Headers
    /// that may be credentials stay at their host.
    ///
    /// # Errors
    /// When there is no whole answer, or one redirect follows the other.
    pub fn exchange_through_redirects(
        &self,
        request: &Exchange<'_>,
        sink: &mut impl Write,
    ) -> Result<AnswerHead, FetchError> {
        let begun = Instant::now();
        let (mut uri, mut headers) = (uri_of(request.url)?, request.headers.to_vec());
        for _ in 0..=REDIRECTS {
            let time = request.limits.time.saturating_sub(begun.elapsed());
            let limits = FetchLimits { time, ..request.limits };
            let hop = Exchange { headers: &headers, limits, ..request.clone() };
            let answer = self.response(uri.clone(), &hop)?;
            let Some(next) = redirect_target(&uri, &answer) else {
                return read_answer(answer, sink, request.limits.bytes);
            };
            if !may_have_credentials(&uri.to_string(), &next.to_string()) {
                let is_open =
                    |name: &str| OPEN_HEADERS.iter().any(|one| name.eq_ignore_ascii_case(one));
                headers.retain(|(name, _)| is_open(name));
            }
            uri = next;
        }
        Err(FetchError::Refused(ENDLESS))
    }
}

/// Whether the credentials for one address may be sent to another: the host is the same, and the scheme is, or is HTTPS.
pub fn may_have_credentials(own: &str, other: &str) -> bool {
    let split = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        Some((scheme.to_ascii_lowercase(), authority.to_ascii_lowercase()))
    };
    let (Some((own_scheme, own_host)), Some((scheme, host))) = (split(own), split(other)) else {
        return false;
    };
    // The port may only change with the scheme.
    let without_port = |host: &str| match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name.to_owned(),
        _ => host.to_owned(),
    };
    let is_upgrade = own_scheme == "http" && scheme == "https";
    let is_same_name = without_port(&own_host) == without_port(&host);
    own_scheme == scheme && own_host == host || is_upgrade && is_same_name
}

/// Where an answer sends on to; `None` where it is the last one, or names no address.
fn redirect_target(from: &Uri, answer: &Response<Body>) -> Option<Uri> {
    let is_redirect = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = answer.headers().get(header::LOCATION).filter(|_| is_redirect)?;
    resolve(from, location.to_str().ok()?)
}

/// The address that a `Location` means in an answer of `from`.
fn resolve(from: &Uri, location: &str) -> Option<Uri> {
    if let Ok(whole) = location.parse::<Uri>()
        && whole.scheme().is_some()
    {
        return Some(whole);
    }
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    let place = match location.strip_prefix("//") {
        Some(place) => format!("{scheme}://{place}"),
        None if location.starts_with('?') => {
            format!("{scheme}://{authority}{}{location}", from.path())
        }
        None if location.starts_with('/') => format!("{scheme}://{authority}{location}"),
        None => {
            let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{scheme}://{authority}{folder}/{location}")
        }
    };
    place.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{may_have_credentials, resolve};

    #[test]
    fn credentials_stay_at_their_host() {
        let own = "http://a.test:8080/p";
        for (other, may) in [
            ("http://A.test:8080/new/p.git", true),
            ("https://a.test/p.git", true),
            ("http://b.test:8080/p", false),
            ("http://a.test:9090/p", false),
            ("http://a.test.b.test:8080/p", false),
        ] {
            assert_eq!(may_have_credentials(own, other), may, "{other}");
        }
        assert!(!may_have_credentials("https://a.test/p", "http://a.test/p"), "in the clear");
    }

    #[test]
    fn a_location_is_an_address_or_a_part_of_one() {
        let from = "https://a.test:8080/p/q?r".parse().unwrap();
        for (location, to) in [
            ("http://b.test/x?y", "http://b.test/x?y"),
            ("//b.test/x", "https://b.test/x"),
            ("/x", "https://a.test:8080/x"),
            ("x/y", "https://a.test:8080/p/x/y"),
            ("?s", "https://a.test:8080/p/q?s"),
        ] {
            assert_eq!(resolve(&from, location).unwrap().to_string(), to);
        }
        assert_eq!(resolve(&from, "no address"), None);
    }
}
