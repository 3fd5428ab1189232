//! A server on this machine that answers as the hosted service does: one repository with a commit and very many issues.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

const REPOSITORY: &str = "/api/v3/repositories/1";
const LISTS: &str = "/api/v3/repos/mia/many/";
const SINCE: &str = "2020-01-02T03:04:05Z";

/// The server, until the program ends.
pub(crate) struct ImportSource {
    address: SocketAddr,
}

struct Content {
    address: SocketAddr,
    repository: TempDir,
    issues: usize,
}

impl ImportSource {
    pub(crate) fn start(issues: usize) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let content = Arc::new(Content { address, repository: repository()?, issues });
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let content = Arc::clone(&content);
                std::thread::spawn(move || content.answer(&stream).is_ok());
            }
        });
        Ok(Self { address })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Content {
    fn answer(&self, stream: &TcpStream) -> Result<()> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let target = line.split(' ').nth(1).context("a request without a path")?.to_owned();
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let (status, link, body) = if path.ends_with(".git/info/refs") {
            (200, "", self.refs()?)
        } else if path.ends_with(".git/git-upload-pack") {
            (200, "", git(self.repository.path(), &["upload-pack", "--stateless-rpc", "."], &body)?)
        } else {
            self.document(path, query)
        };
        let mut writer = stream;
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Answer\r\n{link}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        writer.write_all(head.as_bytes())?;
        Ok(writer.write_all(&body)?)
    }

    fn refs(&self) -> Result<Vec<u8>> {
        let mut all = b"001e# service=git-upload-pack\n0000".to_vec();
        let told =
            git(self.repository.path(), &["upload-pack", "--http-backend-info-refs", "."], &[])?;
        all.extend(told);
        Ok(all)
    }

    fn document(&self, path: &str, query: &str) -> (u16, &'static str, Vec<u8>) {
        if path == REPOSITORY {
            let web = format!("http://{}/mia/many", self.address);
            let found = json!({
                "id": 1, "name": "many", "full_name": "mia/many", "private": true,
                "default_branch": "main", "has_wiki": false, "html_url": web,
                "clone_url": format!("{web}.git"),
            });
            return (200, "", found.to_string().into_bytes());
        }
        let Some(list) = path.strip_prefix(LISTS) else { return (404, "", b"{}".to_vec()) };
        let number = |name: &str, usual: usize| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let found = pairs.find(|(known, _)| *known == name);
            found.and_then(|(_, value)| value.parse().ok()).unwrap_or(usual)
        };
        let count = if list == "issues" { self.issues } else { 0 };
        let (page, size) = (number("page", 1).max(1), number("per_page", 30));
        let first = ((page - 1) * size).min(count);
        let last = (first + size).min(count);
        let items: Vec<Value> = (first + 1..=last).map(issue).collect();
        let link = if last < count { "Link: <next>; rel=\"next\"\r\n" } else { "" };
        (200, link, json!(items).to_string().into_bytes())
    }
}

fn issue(number: usize) -> Value {
    json!({
        "number": number, "title": format!("Issue {number}"), "state": "open",
        "body": "What is wrong, and how it came to be.\n".repeat(10),
        "user": { "login": "mia", "id": 1 }, "assignees": [], "labels": [{ "name": "bug" }],
        "created_at": SINCE, "updated_at": SINCE,
    })
}

fn repository() -> Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("forgeway-import-").tempdir()?;
    let path = folder.path();
    git(path, &["init", "--quiet", "--initial-branch=main"], &[])?;
    let identity = ["-c", "user.name=Mia", "-c", "user.email=mia@example.org"];
    let commit = ["commit", "--quiet", "--allow-empty", "--message=Begin"];
    git(path, &[&identity[..], &commit[..]].concat(), &[])?;
    Ok(folder)
}

fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
    let mut child = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().context("git without input")?.write_all(input)?;
    let done = child.wait_with_output()?;
    ensure!(done.status.success(), "git {arguments:?} ended with {}", done.status);
    Ok(done.stdout)
}
