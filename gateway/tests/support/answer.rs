//! What came back.

use actix_web::http::header::HeaderMap;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
    /// Null when the answer is no JSON.
    pub(crate) body: Value,
}

impl Answer {
    #[track_caller]
    pub(crate) fn with(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.bytes));
        self.body
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        self.with(200)
    }

    #[track_caller]
    pub(crate) fn created(self) -> Value {
        self.with(201)
    }

    /// Asserts the status and the whole body of a refusal.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "callers write the body where they call")]
    pub(crate) fn refused(self, status: u16, body: Value) {
        assert_eq!(
            (self.status, &self.body),
            (status, &body),
            "{}",
            String::from_utf8_lossy(&self.bytes)
        );
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The values of one field of a list.
    #[track_caller]
    pub(crate) fn each(self, field: &str) -> Vec<Value> {
        let body = self.ok();
        body.as_array().expect("a list").iter().map(|item| item[field].clone()).collect()
    }
}
