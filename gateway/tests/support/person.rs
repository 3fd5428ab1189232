//! Somebody who calls the API.

use std::net::SocketAddr;

use actix_web::{App, http::Method, test};
use base64::{Engine, engine::general_purpose::STANDARD};
use gateway::serve;
use org::token::Secret;
use serde_json::Value;

use super::{Answer, TestApp};

/// A caller with a token, or nobody.
#[derive(Clone)]
pub(crate) struct Person<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) username: String,
    pub(crate) token: Option<Secret>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) address: Option<SocketAddr>,
}

impl<'a> Person<'a> {
    /// The same person, sending one more header.
    pub(crate) fn sending(&self, name: &str, value: &str) -> Person<'a> {
        let mut other = self.clone();
        other.headers.push((name.to_owned(), value.to_owned()));
        other
    }

    /// The same person, asking from an address.
    pub(crate) fn from(&self, address: &str) -> Person<'a> {
        let address = address.parse().expect("an address");
        Person { address: Some(SocketAddr::new(address, 1024)), ..self.clone() }
    }

    /// The same person as git clients show who they are.
    pub(crate) fn by_password(&self) -> Person<'a> {
        let secret = self.token.as_ref().map_or("", |token| token.reveal());
        let pair = STANDARD.encode(format!("{}:{secret}", self.username));
        let plain = Person { token: None, ..self.clone() };
        plain.sending("Authorization", &format!("Basic {pair}"))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    /// How many elements a list has until 1 ms after the start of the clock, as answers show it, and until 1.4 ms after it.
    pub(crate) async fn counts_until(&self, list: &str, parameter: &str) -> [usize; 2] {
        let sign = if list.contains('?') { '&' } else { '?' };
        let mut counts = [0; 2];
        for (count, fraction) in counts.iter_mut().zip(["001", "001400"]) {
            let path = format!("{list}{sign}{parameter}=2026-01-01T00:00:00.{fraction}Z");
            *count = self.get(&path).await.each("id").len();
        }
        counts
    }

    pub(crate) async fn head(&self, path: &str) -> Answer {
        self.send(Method::HEAD, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// `path` is below `/api/v4`, or from the server's root when it begins with `//`.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.set_json(body);
        }
        self.answer(request).await
    }

    /// Sends a body that is no JSON.
    pub(crate) async fn send_bytes(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> Answer {
        let request = self.request(method, path).insert_header(("Content-Type", content_type));
        self.answer(request.set_payload(body.to_vec())).await
    }

    fn request(&self, method: Method, path: &str) -> test::TestRequest {
        let url = match path.strip_prefix("//") {
            Some(path) => format!("/{path}"),
            None => format!("/api/v4{path}"),
        };
        let mut request = test::TestRequest::default().method(method).uri(&url);
        if let Some(address) = self.address {
            request = request.peer_addr(address);
        }
        if let Some(token) = &self.token {
            request = request.insert_header(("PRIVATE-TOKEN", token.reveal()));
        }
        for (name, value) in &self.headers {
            request = request.insert_header((name.as_str(), value.as_str()));
        }
        request
    }

    async fn answer(&self, request: test::TestRequest) -> Answer {
        let service =
            test::init_service(App::new().configure(serve::configure(self.app.state.clone())))
                .await;
        let response = test::call_service(&service, request.to_request()).await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = test::read_body(response).await.to_vec();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Answer { status, headers, bytes, body }
    }
}
