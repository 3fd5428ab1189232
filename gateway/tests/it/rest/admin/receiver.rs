//! A local HTTP server that records the webhook requests it receives.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU16, Ordering},
    },
};

use serde_json::{Value, json};

use crate::support::TestApp;

/// A request that the server received.
#[derive(Clone, Debug)]
pub(super) struct ReceivedRequest {
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

impl ReceivedRequest {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(one, _)| one.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Answers with one status after the other; the last one stays.
#[derive(Clone)]
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    told: Arc<Mutex<Vec<ReceivedRequest>>>,
    status: Arc<AtomicU16>,
    /// Whether answers wait, and how they hear that they need not any more.
    hold: Arc<(Mutex<bool>, Condvar)>,
    text: Arc<Mutex<String>>,
}

impl Receiver {
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let receiver = Self {
            address: listener.local_addr().expect("an address"),
            told: Arc::default(),
            status: Arc::new(AtomicU16::new(200)),
            hold: Arc::default(),
            text: Arc::new(Mutex::new("ok".to_owned())),
        };
        let own = receiver.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let own = own.clone();
                std::thread::spawn(move || own.answer(stream));
            }
        });
        receiver
    }

    /// Answers with this status from now on.
    pub(super) fn answers(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// Takes requests, and answers none of them before the [`release`](Self::release).
    pub(super) fn hold(&self) {
        *self.hold.0.lock().expect("no panic") = true;
    }

    /// Answers all who wait for it, and from now on at once.
    pub(super) fn release(&self) {
        *self.hold.0.lock().expect("no panic") = false;
        self.hold.1.notify_all();
    }

    /// Says this from now on.
    pub(super) fn says(&self, body: &Value) {
        *self.text.lock().expect("no panic") = body.to_string();
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
        let mut first = String::new();
        if reader.read_line(&mut first).is_err() {
            return;
        }
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.trim().split_once(": ") {
                headers.push((name.to_owned(), value.to_owned()));
            }
        }
        let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let body = serde_json::from_slice(&body).unwrap_or_default();
        self.told.lock().expect("no panic").push(ReceivedRequest { path, headers, body });
        let (held, released) = &*self.hold;
        let turn = released.wait_while(held.lock().expect("no panic"), |held| *held);
        drop(turn.expect("no panic"));
        let status = self.status.load(Ordering::SeqCst);
        let body = self.text.lock().expect("no panic").clone();
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status} Answer\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        );
        let _ = stream.write_all(text.as_bytes());
    }

    /// How much it was told since the last look.
    pub(super) fn count(&self) -> usize {
        self.told.lock().expect("no panic").len()
    }

    /// Is told by somebody who needs no connection.
    pub(super) fn note(&self, told: ReceivedRequest) {
        self.told.lock().expect("no panic").push(told);
    }

    /// What it was told since the last look.
    pub(super) fn told(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut *self.told.lock().expect("no panic"))
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// A webhook that asks for these events.
    pub(super) fn hook(&self, flags: &[&str]) -> Value {
        let mut new = json!({ "url": self.url("hook"), "push_events": false });
        flags.iter().for_each(|flag| new[*flag] = json!(true));
        new
    }
}

/// Sends all that is due.
pub(super) async fn deliver(app: &TestApp) {
    app.state.deliver_due().await.expect("the queue can be read");
}

/// The names of an object's values, in order.
pub(super) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default()
}
