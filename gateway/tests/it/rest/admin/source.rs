//! A server on this machine that answers like the sources of imports do, and breaks on demand. It has a repository that
//! git can fetch.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

/// What happens instead of an answer.
#[derive(Clone, Debug)]
pub(super) enum SourceFault {
    Status(u16),
    /// With `Retry-After`.
    Busy(u32),
    /// No requests are left until that moment.
    Exhausted(i64),
    /// The connection ends in the middle of the page.
    Half,
    Garbage,
    /// What was asked for is at this address.
    Moved(String),
}

#[derive(Default)]
struct Answers {
    documents: HashMap<String, Value>,
    lists: HashMap<String, Vec<Value>>,
    /// `None` is an answer as usual.
    breaks: HashMap<String, VecDeque<Option<SourceFault>>>,
    asked: Vec<String>,
    credentials: Vec<String>,
}

/// The server, and what it was asked.
#[derive(Clone)]
pub(super) struct ImportSource {
    pub(super) address: SocketAddr,
    answers: Arc<Mutex<Answers>>,
    repository: Arc<tempfile::TempDir>,
    /// Whether pages of lists have starts and limits.
    is_server: bool,
}

/// Where the API of an enterprise installation begins.
const API: &str = "/api/v3";

impl ImportSource {
    /// The hosted service, with a repository `mia/tea` of id 7.
    pub(super) fn hosted() -> Self {
        let source = Self::listening(false);
        let web = source.url("/mia/tea");
        source.has(
            &format!("{API}/repositories/7"),
            json!({
                "id": 7, "name": "tea", "full_name": "mia/tea", "private": true,
                "description": "Brews", "default_branch": "trunk", "has_wiki": false, "size": 10,
                "html_url": web, "clone_url": format!("{web}.git"),
            }),
        );
        for list in ["labels", "milestones", "collaborators", "branches", "pulls", "issues"] {
            source.lists(list, Vec::new());
        }
        for list in ["issues/comments", "pulls/comments", "issues/events", "releases"] {
            source.lists(list, Vec::new());
        }
        source
    }

    /// The server that people run themselves, with a repository `TEA/pot`.
    pub(super) fn server() -> Self {
        let source = Self::listening(true);
        let href = source.url("/scm/tea/pot.git");
        source.has(
            "/rest/api/1.0/projects/TEA/repos/pot",
            json!({
                "slug": "pot", "name": "Pot", "public": false,
                "links": { "clone": [{ "name": "ssh", "href": "ssh://x" }, { "name": "http", "href": href }] },
            }),
        );
        source.server_lists("pull-requests", Vec::new());
        source
    }

    fn listening(is_server: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let source = Self {
            address: listener.local_addr().expect("an address"),
            answers: Arc::default(),
            repository: Arc::new(repository()),
            is_server,
        };
        let own = source.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let own = own.clone();
                std::thread::spawn(move || own.answer(stream));
            }
        });
        source
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers a path with a document.
    pub(super) fn has(&self, path: &str, document: Value) {
        self.with(|all| all.documents.insert(path.to_owned(), document));
    }

    /// Answers a path of the repository with pages of a list.
    pub(super) fn lists(&self, path: &str, items: Vec<Value>) {
        let path = format!("{API}/repos/mia/tea/{path}");
        self.with(|all| all.lists.insert(path, items));
    }

    pub(super) fn server_lists(&self, path: &str, items: Vec<Value>) {
        let path = format!("/rest/api/1.0/projects/TEA/repos/pot/{path}");
        self.with(|all| all.lists.insert(path, items));
    }

    /// Adds a file to the branch `trunk`.
    pub(super) fn adds(&self, name: &str, content: &str) {
        std::fs::write(self.path().join(name), content).expect("a file");
        git(&self.path(), &["add", "."]);
        git(&self.path(), &["commit", "--quiet", "--message=Add"]);
    }

    /// Answers `/gists` with these.
    pub(super) fn has_gists(&self, gists: Value) {
        self.has(&format!("{API}/gists"), gists);
    }

    /// Says that the repository has a wiki; it has the same pages as the repository.
    pub(super) fn has_wiki(&self) {
        let place = format!("{API}/repositories/7");
        self.with(|all| {
            all.documents.get_mut(&place).expect("a repository")["has_wiki"] = json!(true)
        });
    }

    /// Breaks the next answers to a path.
    pub(super) fn breaks(&self, path: &str, how: impl IntoIterator<Item = SourceFault>) {
        let path = format!("{API}/repos/mia/tea/{path}");
        self.with(|all| all.breaks.entry(path).or_default().extend(how.into_iter().map(Some)));
    }

    /// Breaks an answer about the repository after so many that are as usual.
    pub(super) fn breaks_after(&self, usual: usize, path: &str, how: SourceFault) {
        let place = match self.is_server {
            true => format!("/rest/api/1.0/projects/TEA/repos/pot/{path}"),
            false => format!("{API}/repos/mia/tea/{path}"),
        };
        let answers = std::iter::repeat_n(None, usual).chain([Some(how)]);
        self.with(|all| all.breaks.entry(place).or_default().extend(answers));
    }

    /// Breaks the next answers about the refs of the repository.
    pub(super) fn breaks_git(&self, how: impl IntoIterator<Item = SourceFault>) {
        let path = "/mia/tea.git/info/refs".to_owned();
        self.with(|all| all.breaks.entry(path).or_default().extend(how.into_iter().map(Some)));
    }

    /// Breaks the next answers about another repository of the server's project.
    pub(super) fn breaks_server(&self, name: &str, how: impl IntoIterator<Item = SourceFault>) {
        let path = format!("/rest/api/1.0/projects/TEA/repos/{name}");
        self.with(|all| all.breaks.entry(path).or_default().extend(how.into_iter().map(Some)));
    }

    /// Breaks the next answer to a path that is no part of the repository's API.
    pub(super) fn breaks_at(&self, path: &str, how: SourceFault) {
        self.with(|all| all.breaks.entry(path.to_owned()).or_default().push_back(Some(how)));
    }

    /// Sends the next request for a path on to another address.
    pub(super) fn moves(&self, path: &str, to: String) {
        self.breaks_at(path, SourceFault::Moved(to));
    }

    /// What was asked for since the last look.
    pub(super) fn requests(&self) -> Vec<String> {
        self.with(|all| std::mem::take(&mut all.asked))
    }

    pub(super) fn credentials(&self) -> Vec<String> {
        self.with(|all| all.credentials.clone())
    }

    /// The commits that refs of the repository name.
    pub(super) fn commit(&self, name: &str) -> String {
        let out = git(&self.path(), &["rev-parse", name]);
        String::from_utf8(out).expect("an id").trim().to_owned()
    }

    /// An import of the repository of the hosted service.
    pub(super) fn wanted(&self, namespace: &str) -> Value {
        json!({
            "personal_access_token": "t0p", "repo_id": 7, "target_namespace": namespace,
            "github_hostname": self.url(""),
        })
    }

    fn path(&self) -> PathBuf {
        self.repository.path().to_owned()
    }

    fn with<T>(&self, work: impl FnOnce(&mut Answers) -> T) -> T {
        work(&mut self.answers.lock().expect("no panic"))
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
        let mut first = String::new();
        if reader.read_line(&mut first).is_err() {
            return;
        }
        let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.trim().split_once(": ") {
                headers.insert(name.to_ascii_lowercase(), value.to_owned());
            }
        }
        let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let broken = self.with(|all| {
            all.asked.push(target.clone());
            let secrets = ["authorization", "private-token"].map(|name| headers.get(name).cloned());
            all.credentials.extend(secrets.into_iter().flatten());
            all.breaks.get_mut(path).and_then(VecDeque::pop_front).flatten()
        });
        let bytes = match broken {
            Some(how) => broken_answer(&how),
            None if path.ends_with(".git/info/refs") => self.refs(),
            None if path.ends_with(".git/git-upload-pack") => self.pack(&body),
            None => self.page(path, query),
        };
        let _ = stream.write_all(&bytes);
    }

    fn refs(&self) -> Vec<u8> {
        let mut body = b"001e# service=git-upload-pack\n0000".to_vec();
        body.extend(git(&self.path(), &["upload-pack", "--http-backend-info-refs", "."]));
        response(200, "", &body)
    }

    fn pack(&self, body: &[u8]) -> Vec<u8> {
        let mut child = Command::new("git")
            .current_dir(self.path())
            .args(["upload-pack", "--stateless-rpc", "."])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git runs");
        child.stdin.take().expect("a pipe").write_all(body).expect("git listens");
        let out = child.wait_with_output().expect("git ends");
        response(200, "", &out.stdout)
    }

    fn page(&self, path: &str, query: &str) -> Vec<u8> {
        if let Some(document) = self.with(|all| all.documents.get(path).cloned()) {
            return response(200, "", document.to_string().as_bytes());
        }
        let Some(items) = self.with(|all| all.lists.get(path).cloned()) else {
            return response(404, "", b"{}");
        };
        let number = |name: &str, usual: usize| {
            let given =
                query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            given.and_then(|text| text.parse().ok()).unwrap_or(usual)
        };
        if self.is_server {
            let (start, limit) = (number("start", 0), number("limit", 25));
            let end = (start + limit).min(items.len());
            let body = json!({
                "values": items[start.min(end)..end], "isLastPage": end == items.len(),
                "nextPageStart": end,
            });
            return response(200, "", body.to_string().as_bytes());
        }
        let (page, size) = (number("page", 1), number("per_page", 30));
        let start = ((page - 1) * size).min(items.len());
        let end = (start + size).min(items.len());
        let link = match end < items.len() {
            true => "Link: <http://elsewhere/next>; rel=\"next\"\r\n",
            false => "",
        };
        response(200, link, json!(items[start..end]).to_string().as_bytes())
    }
}

fn broken_answer(how: &SourceFault) -> Vec<u8> {
    match how {
        SourceFault::Status(status) => response(*status, "", b"{}"),
        SourceFault::Busy(seconds) => response(429, &format!("Retry-After: {seconds}\r\n"), b"{}"),
        SourceFault::Exhausted(reset) => {
            let headers = format!("X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: {reset}\r\n");
            response(403, &headers, b"{}")
        }
        SourceFault::Half => {
            b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n[{\"number\": 1,"
                .to_vec()
        }
        SourceFault::Garbage => response(200, "", b"<html>not what you think</html>"),
        SourceFault::Moved(to) => response(307, &format!("Location: {to}\r\n"), b""),
    }
}

fn response(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "HTTP/1.1 {status} Answer\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn git(path: &std::path::Path, arguments: &[&str]) -> Vec<u8> {
    let out = Command::new("git")
        .current_dir(path)
        .args(["-c", "user.name=Mia", "-c", "user.email=mia@source.test"])
        .args(arguments)
        .output()
        .expect("git runs");
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

/// A repository with a branch `trunk`, a branch `fix` that changes one line of `tea.txt`, a tag, and the head of pull
/// request 2.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    git(path, &["init", "--quiet", "--initial-branch=trunk"]);
    std::fs::write(path.join("tea.txt"), "green\nblack\n").expect("a file");
    std::fs::write(path.join("Home.md"), "# Tea\n").expect("a file");
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message=Begin"]);
    git(path, &["tag", "v1"]);
    git(path, &["checkout", "--quiet", "-b", "fix"]);
    std::fs::write(path.join("tea.txt"), "green\nwhite\n").expect("a file");
    git(path, &["commit", "--quiet", "--all", "--message=Fix"]);
    git(path, &["update-ref", "refs/pull/2/head", "HEAD"]);
    git(path, &["update-ref", "refs/pull-requests/2/from", "HEAD"]);
    git(path, &["checkout", "--quiet", "trunk"]);
    folder
}
