//! Errors of git over HTTP, as sentences that git prints.

use actix_web::{HttpResponse, http::StatusCode, http::header};
use kernel::{Error, error::Kind};
use repo::git::GitError;

use crate::error::SOON;

pub(super) const NO_WIKI: &str = "There is no such wiki, or you may not see it.";
pub(super) const MAY_NOT_PUSH_TO_WIKI: &str = "You are not allowed to push to this wiki.";

/// Every way in which a git client is turned away.
#[derive(Debug)]
pub enum Refusal {
    /// Nothing was shown, and without it there is nothing to see.
    NoCredential,
    /// What was shown is not known.
    WrongCredential,
    /// A token that was good once.
    Spent(&'static str),
    /// The clock of a node is too far from ours; the sentence says so.
    Clocks(String),
    /// The account is not in use; the sentence says why.
    Account(String),
    /// The token's scopes do not reach; the one that would.
    Scope(&'static str),
    NoProject,
    NoRepository,
    /// The path does not end in `.git`.
    NoSuffix,
    MayNotRead,
    MayNotPush,
    NoWiki,
    MayNotReadWiki,
    MayNotPushToWiki,
    Archived,
    /// The protocol of git before 1.6.6.
    Dumb,
    Method(&'static str),
    ContentType,
    Encoding,
    TooManyRefs,
    Busy,
    TooFast(crate::rate_limit::Refusal, kernel::Ts),
    /// Too many wrong passwords, or too many people who sign in; seconds to wait.
    Wait(u64),
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error.retry_after() {
            Some(seconds) => Self::Wait(seconds),
            None => Self::Failed(error),
        }
    }
}

impl From<GitError> for Refusal {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Timeout => Self::Busy,
            other => Self::Failed(other.into()),
        }
    }
}

impl Refusal {
    pub fn response(&self) -> HttpResponse {
        if let Self::TooFast(refusal, now) = self {
            return refusal.response(*now);
        }
        if let Self::Failed(cause) = self {
            tracing::error!(error = %cause, details = ?cause, "a git request failed");
        }
        let (status, text) = self.parts();
        let mut response = HttpResponse::build(status);
        // Git shows nothing but plain text to its user.
        response.content_type("text/plain; charset=utf-8");
        match self {
            Self::NoCredential | Self::WrongCredential | Self::Spent(_) => {
                response.insert_header((header::WWW_AUTHENTICATE, "Basic realm=\"GitLab\""));
            }
            Self::Method(allowed) => {
                response.insert_header((header::ALLOW, *allowed));
            }
            Self::Busy => {
                response.insert_header((header::RETRY_AFTER, "30"));
            }
            Self::Wait(seconds) => {
                response.insert_header((header::RETRY_AFTER, seconds.to_string()));
            }
            Self::Failed(cause) if cause.kind == Kind::Unavailable => {
                response.insert_header((header::RETRY_AFTER, SOON));
            }
            _ => {}
        }
        response.body(format!("{text}\n"))
    }

    #[expect(clippy::too_many_lines, reason = "a table with a row for each refusal")]
    pub(super) fn parts(&self) -> (StatusCode, String) {
        let (status, text) = match self {
            Self::NoCredential => {
                (StatusCode::UNAUTHORIZED, "Please sign in: use an access token as the password.")
            }
            Self::WrongCredential => {
                (StatusCode::UNAUTHORIZED, "The user name, password or access token is not right.")
            }
            Self::Spent(text) => (StatusCode::UNAUTHORIZED, *text),
            Self::Clocks(text) => (StatusCode::UNAUTHORIZED, text.as_str()),
            Self::Account(text) => (StatusCode::FORBIDDEN, text.as_str()),
            Self::Scope(scope) => {
                let text =
                    format!("This access token lacks the scope {scope}, which is needed here.");
                return (StatusCode::FORBIDDEN, text);
            }
            Self::NoProject => {
                (StatusCode::NOT_FOUND, "There is no such project, or you may not see it.")
            }
            Self::NoRepository => (StatusCode::NOT_FOUND, "This project has no repository yet."),
            Self::NoSuffix => (
                StatusCode::NOT_FOUND,
                "The address of a repository is /<namespace>/<project>.git: does it end in .git?",
            ),
            Self::MayNotRead => {
                (StatusCode::FORBIDDEN, "You are not allowed to read this project's code.")
            }
            Self::MayNotPush => {
                (StatusCode::FORBIDDEN, "You are not allowed to push to this project.")
            }
            Self::NoWiki => (StatusCode::NOT_FOUND, NO_WIKI),
            Self::MayNotReadWiki => {
                (StatusCode::FORBIDDEN, "You are not allowed to read this wiki.")
            }
            Self::MayNotPushToWiki => (StatusCode::FORBIDDEN, MAY_NOT_PUSH_TO_WIKI),
            Self::Archived => (
                StatusCode::FORBIDDEN,
                "This project is archived: it can be read, but nothing can be pushed to it.",
            ),
            Self::Dumb => (
                StatusCode::FORBIDDEN,
                "Please use git 1.6.6 or newer: only the smart protocol is spoken here.",
            ),
            Self::Method(_) => (StatusCode::METHOD_NOT_ALLOWED, "This method is of no use here."),
            Self::ContentType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "The content type is not that of a git request.",
            ),
            Self::Encoding => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Only gzip is understood as an encoding.")
            }
            Self::TooManyRefs => {
                (StatusCode::PAYLOAD_TOO_LARGE, "These are too many refs for one push.")
            }
            Self::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "The server is busy with other clones and pushes. Please try again in a minute.",
            ),
            Self::TooFast(..) => (StatusCode::TOO_MANY_REQUESTS, "Too many requests."),
            Self::Wait(_) => (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many tries to sign in. Please wait a while, or use an access token.",
            ),
            Self::Failed(cause) if cause.kind == Kind::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "The server cannot answer for the moment. Please try again soon.",
            ),
            Self::Failed(cause) if cause.kind == Kind::Full => {
                (StatusCode::INSUFFICIENT_STORAGE, "There is no room left on the server's disk.")
            }
            Self::Failed(_) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "Something failed in the server. Please try again.",
            ),
        };
        (status, text.to_owned())
    }
}
