//! The answer to a request too many.

use std::{sync::Arc, time::Duration};

use actix_web::{HttpResponse, http::header};
use kernel::{Error, Ts};

/// A request too many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(super) name: &'static str,
    pub(super) limit: u32,
    pub(super) wait_seconds: u64,
    pub(super) interval: Duration,
    /// What is said instead of the usual words.
    pub(super) text: Option<Arc<str>>,
}

impl From<Refusal> for Error {
    /// The limit of one endpoint: clients are told to come back when all of it is theirs again.
    fn from(refusal: Refusal) -> Self {
        Self::too_many(refusal.interval.as_secs())
    }
}

impl Refusal {
    /// The plain answer of the outermost limiter, with the headers that clients pace themselves by.
    pub fn response(&self, now: Ts) -> HttpResponse {
        let reset = Ts::from_unix(now.unix() + i64::try_from(self.wait_seconds).unwrap_or(60));
        let http_date = httpdate(reset);
        HttpResponse::TooManyRequests()
            .content_type("text/plain")
            .insert_header(("RateLimit-Name", self.name))
            .insert_header(("RateLimit-Limit", self.limit.to_string()))
            .insert_header(("RateLimit-Observed", self.limit.saturating_add(1).to_string()))
            .insert_header(("RateLimit-Remaining", "0"))
            .insert_header(("RateLimit-Reset", reset.unix().to_string()))
            .insert_header(("RateLimit-ResetTime", http_date))
            .insert_header((header::RETRY_AFTER, self.wait_seconds.to_string()))
            .body(format!("{}\n", self.text.as_deref().unwrap_or("Retry later")))
    }
}

pub(super) fn httpdate(at: Ts) -> String {
    let form = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    at.datetime().format(form).unwrap_or_default()
}
