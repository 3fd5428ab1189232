//! `forgeway serve --with-runner` as a process.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    net::TcpListener,
    process::{Child, ChildStderr, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{Pipe, workshop::patiently};
use crate::support::git::Client;

const TOKEN: &str = "glpat-of-the-first-start";

/// A server that is killed with the value.
struct RunningServer {
    child: Child,
    output: BufReader<ChildStdout>,
    log: BufReader<ChildStderr>,
    address: String,
    data: tempfile::TempDir,
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // It may have ended.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl RunningServer {
    fn start(with_runner: &str) -> Self {
        let socket = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = socket.local_addr().expect("an address").to_string();
        drop(socket);
        let data = tempfile::tempdir().expect("a folder");
        let mut server = Command::new(env!("CARGO_BIN_EXE_forgeway"));
        server.args(["serve", "--listen", &address, with_runner]).current_dir(data.path());
        server.env("FORGEWAY_ROOT_TOKEN", TOKEN).env("FORGEWAY_ROOT_PASSWORD", "a-long-password");
        server.env("DEPLOY_KEY", "of-the-server").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = server.spawn().expect("a server");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let log = BufReader::new(child.stderr.take().expect("its log"));
        Self { child, output, log, address, data }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line
    }

    /// Brings a commit with this configuration to `main` of the administrator's project.
    async fn push(&self, configuration: &str) {
        let client = Client::with_commit().await;
        client.commit_file(".gitlab-ci.yml", configuration.as_bytes(), "jobs").await;
        let url = format!("http://root:{TOKEN}@{}/root/hello.git", self.address);
        client.git(&["push", "-q", &url, "main"]).await.ok();
    }

    /// Waits until the log says something.
    fn logged(&mut self, what: &str) {
        let found = self.log.by_ref().lines().any(|line| line.expect("text").contains(what));
        assert!(found, "the log ended");
    }

    fn signal(&self) {
        let id = i32::try_from(self.child.id()).expect("a number");
        kill_process(Pid::from_raw(id).expect("a process"), Signal::TERM).expect("a signal");
    }
}

#[actix_web::test]
async fn a_server_does_the_jobs_of_its_administrator_and_shows_them_no_secret() {
    let mut server = RunningServer::start("--with-runner");
    assert!(server.line().starts_with("Forgeway serves on "));
    let said = server.line();
    assert!(
        said.starts_with("A built-in runner does jobs that administrators start as user "),
        "{said}"
    );
    assert!(said.ends_with("forgeway-data/runner\n"), "{said}");
    let pipe = Pipe::new(server.data.path());

    server.push(&format!("job: {{script: 'env > {}'}}\n", pipe.path())).await;

    let (first, heard) = pipe.hear().await;
    let environment = format!("{first}\n{}", heard.rest().await);
    assert!(environment.contains("CI_PROJECT_PATH=root/hello\n"), "{environment}");
    for secret in [TOKEN, "a-long-password", "of-the-server"] {
        assert!(!environment.contains(secret), "{environment}");
    }
    let begun = Instant::now();
    server.signal();
    let status = patiently(move || server.child.wait().expect("an end")).await;
    assert!(status.success());
    assert!(begun.elapsed() < Duration::from_secs(20), "the runner's request was waited for");
}

#[actix_web::test]
async fn a_second_signal_ends_a_job_that_runs() {
    let mut server = RunningServer::start("--with-runner=all");
    server.line();
    assert!(server.line().contains(" does everybody's jobs as "));
    let pipe = Pipe::new(server.data.path());
    let script = format!("exec 3> {}; echo on >&3; sleep 1000", pipe.path());
    server.push(&format!("job: {{script: '{script}'}}\n")).await;
    let (_, heard) = pipe.hear().await;

    server.signal();
    server.logged("stopping");
    server.signal();

    assert_eq!(heard.rest().await, "");
    let status = patiently(move || server.child.wait().expect("an end")).await;
    assert!(status.success());
}
