//! The places of credentials in a request, and their precedence.

use actix_web::{HttpRequest, http::header};
use ci::job::JobToken;
use db::Tx;
use kernel::Error;
use org::{
    access::entry::Entry,
    application::{ClientToken, client_token},
    token::{Kind, Secret},
};

use super::{Locate, raw::RawMap};
use crate::error::{ApiError, ApiResult};

const TWICE: &str = "Both Authorization header and payload includes access token.";
const MAX_TOKEN: usize = 8192;

/// The credentials of a request. The places of each count in an order.
#[derive(Clone)]
pub(super) struct PresentedCredentials {
    /// Where applications put their tokens, and people theirs.
    bearer: Option<Secret>,
    /// Where people put theirs.
    private: Option<Secret>,
}

impl PresentedCredentials {
    pub(super) fn is_empty(&self) -> bool {
        self.bearer.is_none() && self.private.is_none()
    }

    /// An application's token counts before any other. What is at `id` is read with it.
    pub(super) fn find<S: Locate>(
        &self,
        tx: &mut Tx<'_>,
        id: &str,
    ) -> Result<Option<Entry<S::Place>>, Error> {
        match (&self.bearer, &self.private) {
            (None, None) => Ok(None),
            (Some(one), None) | (None, Some(one)) => S::enter(tx, one, id),
            (Some(bearer), Some(private)) => {
                match S::enter(tx, bearer, id)?.filter(|found| found.token.kind == Kind::OAuth) {
                    Some(found) => Ok(Some(found)),
                    None if self.find_client(tx)?.is_some() => Ok(None),
                    None => S::enter(tx, private, id),
                }
            }
        }
    }

    /// The token that an application has for itself.
    pub(super) fn find_client(&self, tx: &mut Tx<'_>) -> Result<Option<ClientToken>, Error> {
        match &self.bearer {
            Some(bearer) => client_token::find(tx, bearer),
            None => Ok(None),
        }
    }
}

fn header_of<'a>(req: &'a HttpRequest, name: &str) -> Option<&'a str> {
    req.headers().get(name).and_then(|value| value.to_str().ok())
}

fn bearer_of(req: &HttpRequest) -> Option<&str> {
    let (kind, token) = header_of(req, header::AUTHORIZATION.as_str())?.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The token of a job, which counts before others as a bearer, and elsewhere where `others` are none.
pub(super) fn shown_job_token(
    req: &HttpRequest,
    params: &RawMap,
    others: &PresentedCredentials,
) -> ApiResult<Option<JobToken>> {
    let is_of_job = |value: &&str| value.starts_with(JobToken::PREFIX);
    let is_there = |value: &&str| !value.is_empty();
    let elsewhere = || {
        let params = ["job_token", "token"].into_iter().filter_map(|name| params.text(name));
        let headers =
            [header_of(req, "JOB-TOKEN"), header_of(req, "PRIVATE-TOKEN").filter(is_of_job)];
        params.chain(headers.into_iter().flatten()).find(is_there)
    };
    let bearer = bearer_of(req).filter(is_of_job);
    let found = bearer.or_else(|| if others.is_empty() { elsewhere() } else { None });
    match found {
        Some(token) if token.len() > MAX_TOKEN => Err(Error::unauthenticated().into()),
        found => Ok(found.map(JobToken::given)),
    }
}

pub(super) fn presented(req: &HttpRequest, params: &RawMap) -> ApiResult<PresentedCredentials> {
    let header = |name: &str| header_of(req, name);
    let bearer = bearer_of(req);
    let param = |name: &str| params.text(name).filter(|value| !value.is_empty());
    if bearer.is_some() && param("access_token").is_some() {
        let status = actix_web::http::StatusCode::BAD_REQUEST;
        return Err(ApiError::OAuth { status, code: "invalid_request", text: TWICE });
    }
    // gitlab-runner puts its job token there; that is no personal token.
    let is_one = |value: &&str| !value.is_empty() && !value.starts_with(JobToken::PREFIX);
    let bearer = param("access_token").or(bearer).or_else(|| param("bearer_token"));
    let private = param("private_token").or_else(|| header("PRIVATE-TOKEN"));
    let (bearer, private) = (bearer.filter(is_one), private.filter(is_one));
    if bearer.into_iter().chain(private).any(|value| value.len() > MAX_TOKEN) {
        return Err(Error::unauthenticated().into());
    }
    Ok(PresentedCredentials {
        bearer: bearer.map(Secret::given),
        private: private.map(Secret::given),
    })
}
