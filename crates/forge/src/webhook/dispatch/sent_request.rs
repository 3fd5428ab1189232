//! A request that was sent, and what came of it.

use admin::{
    delivery::{HookEvent, NewLog, OVERSIZE_DATA, Receiver},
    hook::{Hook, Outcome},
};
use kernel::ids::UserId;
use outbound::FetchError;
use serde_json::Value;

use crate::webhook::{courier::SendResult, request::Request};

/// A sent request and its result.
pub(in crate::webhook) struct SentRequest<'a> {
    pub(in crate::webhook) event: &'a HookEvent,
    pub(in crate::webhook) request: &'a Request,
    pub(in crate::webhook) result: &'a SendResult,
}

impl SentRequest<'_> {
    pub(in crate::webhook) fn outcome(&self) -> Outcome {
        match &self.result.answer {
            Ok(answer) if (200..400).contains(&answer.status) => Outcome::Success,
            Ok(answer) if (400..500).contains(&answer.status) => Outcome::Refusal,
            // What is not allowed will not be allowed by waiting.
            Err(FetchError::Refused(_)) => Outcome::Refusal,
            Err(FetchError::TooLarge) => Outcome::Oversize,
            Ok(_) | Err(_) => Outcome::Failure,
        }
    }

    pub(in crate::webhook) fn log(&self, hook: &Hook, key: &str, by: Option<UserId>) -> NewLog {
        let headers = |all: &[(String, String)]| {
            let all = all.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            Value::Object(all.collect()).to_string()
        };
        let (response_headers, response_body, response_status) = match &self.result.answer {
            Ok(answer) => (headers(&answer.headers), answer.body.clone(), Some(answer.status)),
            Err(cause) => ("{}".to_owned(), failure_text(*cause), None),
        };
        let request_data = match self.outcome() {
            Outcome::Oversize => OVERSIZE_DATA.to_owned(),
            _ => self.request.body.clone(),
        };
        NewLog {
            hook: hook.id,
            uuid: self.event.uuid_for(Receiver::Hook(hook.id)),
            idempotency_key: key.to_owned(),
            trigger: self.event.trigger_name,
            header: self.event.header.clone(),
            url: self.request.shown_url.clone(),
            request_headers: self.request.shown_headers(),
            request_data,
            response_headers,
            response_body,
            response_status,
            duration: self.result.duration,
            requested_by: by,
        }
    }
}

/// Why a request brought no answer, for who reads the log.
pub(in crate::webhook) fn failure_text(cause: FetchError) -> String {
    match cause {
        FetchError::TooLarge => "The payload is larger than 25 MB and was not sent".to_owned(),
        cause => cause.to_string(),
    }
}
