//! A server that hands out jobs and remembers what it is told of them.

use std::{
    collections::{HashMap, VecDeque},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::http::{Reply, Request, converse};

/// A test that waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) jobs: VecDeque<Value>,
    pub(crate) log: Vec<u8>,
    /// What was told of ends.
    pub(crate) ends: Vec<Value>,
    /// Queries and bodies of artifacts.
    pub(crate) uploads: Vec<(String, Vec<u8>)>,
    /// Archives by job.
    pub(crate) archives: HashMap<u64, Vec<u8>>,
    /// What the next pieces of the log are answered instead of being taken.
    pub(crate) odd_pieces: VecDeque<ServerFault>,
    /// What the next ends are answered instead of being taken.
    pub(crate) odd_ends: VecDeque<ServerFault>,
    /// Statuses that the next artifacts are answered with.
    pub(crate) odd_uploads: VecDeque<u16>,
    /// How the job stands, once its log holds the text.
    pub(crate) status_after: Option<(&'static str, &'static str)>,
    pub(crate) refuses_runner: bool,
    /// Whether requests with a cursor are held until there is a job.
    pub(crate) holds: bool,
    /// How many are being held.
    pub(crate) held: usize,
    pub(crate) requests: Vec<Value>,
    /// What was asked about runners: the method, the path and the body.
    pub(crate) management: Vec<(String, Value)>,
    /// What management is answered instead of success.
    pub(crate) odd_management: Option<u16>,
}

#[derive(Debug)]
pub(crate) enum ServerFault {
    Status(u16),
    /// Half of a piece was lost.
    Half,
    /// The whole log was lost.
    Forget,
}

pub(crate) struct Server {
    state: Mutex<State>,
    changed: Condvar,
    address: SocketAddr,
}

impl Server {
    pub(crate) fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = Arc::new(Self { state: Mutex::default(), changed: Condvar::new(), address });
        let own = Arc::clone(&server);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let own = Arc::clone(&own);
                thread::spawn(move || converse(stream, |request| own.answer(&request)));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test has failed in between")
    }

    /// Waits until something holds, and gives it.
    pub(crate) fn wait_for<T>(&self, mut what: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut state = self.lock();
        loop {
            if let Some(found) = what(&mut state) {
                return found;
            }
            let (next, waited) = self.changed.wait_timeout(state, PATIENCE).expect("no poison");
            state = next;
            assert!(!waited.timed_out(), "nothing happened; the log: {}", text(&state.log));
        }
    }

    /// The next end of a job with the log until then.
    pub(crate) fn end(&self) -> (Value, String) {
        self.wait_for(|state| {
            let end = (!state.ends.is_empty()).then(|| state.ends.remove(0))?;
            Some((end, text(&std::mem::take(&mut state.log))))
        })
    }

    fn answer(&self, request: &Request) -> Reply {
        let mut state = self.lock();
        let path = request.path.strip_prefix("/api/v4").unwrap_or_default();
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let is_request = (request.method.as_str(), path) == ("POST", "/jobs/request");
        if is_request && state.holds && request.json()["last_update"].is_string() {
            state.held += 1;
            self.changed.notify_all();
            while state.jobs.is_empty() {
                state = self.changed.wait(state).expect("no poison");
            }
        }
        let reply = match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["jobs", "request"]) => state.request(request),
            ("PATCH", ["jobs", _, "trace"]) => state.append(request),
            ("PUT", ["jobs", _]) => state.update(request),
            ("POST", ["jobs", _, "artifacts"]) => state.upload(request),
            ("GET", ["jobs", id, "artifacts"]) => state.download(id),
            (_, ["runners", ..]) => state.manage(request, path),
            _ => Reply::status(404),
        };
        self.changed.notify_all();
        reply
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl State {
    fn manage(&mut self, request: &Request, path: &str) -> Reply {
        self.management.push((format!("{} {path}", request.method), request.json()));
        match (self.odd_management, path) {
            (Some(status), _) => {
                Reply::json(status, &serde_json::json!({ "message": "not for you" }))
            }
            (None, "/runners/verify") => Reply::json(200, &serde_json::json!({ "id": 5 })),
            (None, _) if request.method == "DELETE" => Reply::status(204),
            (None, _) => Reply::json(201, &serde_json::json!({ "id": 6, "token": "made-by-it" })),
        }
    }

    fn request(&mut self, request: &Request) -> Reply {
        self.requests.push(serde_json::from_slice(&request.body).expect("JSON"));
        if self.refuses_runner {
            return Reply::status(403);
        }
        match self.jobs.pop_front() {
            Some(job) => Reply::json(201, &job),
            None => Reply::status(204).with("X-GitLab-Last-Update", "cursor"),
        }
    }

    fn job_status(&self) -> &'static str {
        match self.status_after {
            Some((told, status)) if text(&self.log).contains(told) => status,
            _ => "running",
        }
    }

    fn append(&mut self, request: &Request) -> Reply {
        assert!(request.headers.contains_key("job-token"), "{request:?}");
        let range = &request.headers["content-range"];
        let (start, end) = range.split_once('-').expect("a range");
        let (start, end): (usize, usize) =
            (start.parse().expect("a number"), end.parse().expect("a number"));
        assert_eq!(end + 1 - start, request.body.len());
        let taken = match self.odd_pieces.pop_front() {
            Some(ServerFault::Status(status)) => return Reply::status(status),
            Some(ServerFault::Half) => &request.body[..request.body.len() / 2],
            Some(ServerFault::Forget) => {
                self.log.clear();
                &[]
            }
            None => &request.body,
        };
        let fits = start == self.log.len();
        if fits {
            self.log.extend_from_slice(taken);
        }
        let status = match fits && taken.len() == request.body.len() {
            true => 202,
            false => 416,
        };
        let status = if self.job_status() == "canceled" { 403 } else { status };
        Reply::status(status)
            .with("Job-Status", &self.job_status())
            .with("Range", &format!("0-{}", self.log.len()))
            .with("X-GitLab-Trace-Update-Interval", &0)
    }

    fn update(&mut self, request: &Request) -> Reply {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        if body["state"] == "running" {
            return Reply::status(200).with("Job-Status", &self.job_status());
        }
        match self.odd_ends.pop_front() {
            Some(ServerFault::Status(status)) => return Reply::status(status),
            Some(ServerFault::Forget | ServerFault::Half) => {
                self.log.clear();
                return Reply::status(412);
            }
            None => {}
        }
        self.ends.push(body);
        Reply::status(200).with("Job-Status", "success").body("200")
    }

    fn upload(&mut self, request: &Request) -> Reply {
        if let Some(status) = self.odd_uploads.pop_front() {
            return Reply::json(status, &serde_json::json!({ "message": "not now" }));
        }
        let kind = &request.headers["content-type"];
        let boundary = kind.split_once("boundary=").expect("a boundary").1;
        let body = &request.body;
        let find = |what: &[u8]| body.windows(what.len()).position(|part| part == what);
        let begin = find(b"\r\n\r\n").expect("a head") + 4;
        let end = find(format!("\r\n--{boundary}--").as_bytes()).expect("an end");
        self.uploads.push((request.query.clone(), body[begin..end].to_vec()));
        Reply::status(201).body("201")
    }

    fn download(&self, id: &str) -> Reply {
        match id.parse().ok().and_then(|id: u64| self.archives.get(&id)) {
            Some(archive) => Reply::status(200).body(archive.clone()),
            None => Reply::status(404),
        }
    }
}
