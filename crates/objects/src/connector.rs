//! HTTP requests to an S3-compatible store, sent with `ureq` as everywhere else.

use std::{
    collections::VecDeque,
    future::poll_fn,
    io::{self, Read as _},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use kernel::task::spawn_blocking;
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
        HttpResponse, HttpResponseBody, HttpService,
    },
};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use ureq::{
    Agent, BodyReader,
    http::{Request, Response, request::Parts},
    tls::{PemItem, RootCerts, TlsConfig, parse_pem},
};

/// Limit for connecting.
const CONNECT: Duration = Duration::from_secs(5);
/// Limit until the response head arrives.
const ANSWER: Duration = Duration::from_secs(60);
/// Limit for a stalled body, in either direction.
const STALL: Duration = Duration::from_secs(60);
/// Idle connections kept for later requests.
const IDLE: usize = 32;
/// Bytes of a body that are read at once.
const BLOCK: usize = 64 << 10;
/// Certificate authorities of the operating system.
const SYSTEM_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Speaks HTTP/1.1, with TLS where the address says so.
#[derive(Clone, Debug)]
pub(crate) struct Connector(Agent);

impl Connector {
    pub(crate) fn new() -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_per_read(Some(STALL))
            .timeout_per_write(Some(STALL))
            .max_idle_connections_per_host(IDLE)
            .proxy(None)
            .tls_config(TlsConfig::builder().root_certs(roots()).build())
            .user_agent("Forgeway")
            .build();
        Self(Agent::new_with_config(config))
    }
}

/// The certificate authorities of the system, so that an internal store with its own authority works; otherwise those that
/// browsers trust.
fn roots() -> RootCerts {
    let text = std::fs::read(SYSTEM_ROOTS).unwrap_or_default();
    let known: Vec<_> = parse_pem(&text)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if known.is_empty() { RootCerts::WebPki } else { known.into() }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

type ResponseFuture<'a> =
    Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Connector {
    fn call<'a, 'b>(&'a self, request: HttpRequest) -> ResponseFuture<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        let agent = self.0.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = gathered(body).await?;
            // A thread is held until the answer begins.
            let answer = spawn_blocking(move || send(&agent, head, &body)).await;
            let answer = answer.map_err(|cause| HttpError::new(HttpErrorKind::Unknown, cause))?;
            let (head, body) = answer.map_err(failed)?.into_parts();
            Ok(Response::from_parts(head, received(body)))
        })
    }
}

/// A body as one piece: it is no longer than a part of an upload.
async fn gathered(mut body: HttpRequestBody) -> Result<Bytes, HttpError> {
    let mut pieces = VecDeque::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        pieces.extend(frame?.into_data());
    }
    Ok(match pieces.len() {
        0 | 1 => pieces.pop_front().unwrap_or_default(),
        _ => pieces
            .into_iter()
            .fold(BytesMut::new(), |mut all, piece| {
                all.extend_from_slice(&piece);
                all
            })
            .freeze(),
    })
}

fn send(agent: &Agent, head: Parts, body: &Bytes) -> Result<Response<ureq::Body>, ureq::Error> {
    let is_read = matches!(head.method.as_str(), "GET" | "HEAD");
    match is_read || body.is_empty() && head.method == "DELETE" {
        true => agent.run(Request::from_parts(head, ())),
        false => agent.run(Request::from_parts(head, body.as_ref())),
    }
}

fn failed(cause: ureq::Error) -> HttpError {
    let kind = match &cause {
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Io(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => {
            HttpErrorKind::Connect
        }
        ureq::Error::Io(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, cause)
}

/// A response body as a stream. A slow reader holds one block and no thread.
fn received(body: ureq::Body) -> HttpResponseBody {
    let (sender, receiver) = channel(1);
    kernel::task::spawn(pass_on(body.into_reader(), sender));
    HttpResponseBody::new(BodyStream(receiver))
}

async fn pass_on(mut reader: BodyReader<'static>, sender: Sender<Result<Bytes, HttpError>>) {
    loop {
        let read = spawn_blocking(move || {
            let mut block = vec![0; BLOCK];
            let read = reader.read(&mut block);
            (read.map(|length| Bytes::from(block).slice(..length)), reader)
        });
        let Ok((read, rest)) = read.await else { return };
        reader = rest;
        let piece = match read {
            Ok(block) if block.is_empty() => return,
            read => read.map_err(|cause| HttpError::new(HttpErrorKind::Interrupted, cause)),
        };
        let is_last = piece.is_err();
        if sender.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

struct BodyStream(Receiver<Result<Bytes, HttpError>>);

impl Body for BodyStream {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
