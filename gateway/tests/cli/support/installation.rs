//! A data folder, settings and a port; the program is run on them.

use std::{
    fs::File,
    io::Write,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use db::{Location, testing::TestDatabase};
use diesel::{Connection as _, PgConnection, SqliteConnection, connection::SimpleConnection};

use super::{Connection, PASSWORD, Reply, TOKEN};

/// Long enough for a busy machine; nothing waits so long unless it is broken.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks again until there is an answer.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) struct Installation {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) port: u16,
    database: Option<String>,
    variables: Vec<(String, String)>,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct CommandResult {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl CommandResult {
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert!(self.status.success(), "{self:?}");
        self.output
    }

    /// The complaint of a command that failed.
    #[track_caller]
    pub(crate) fn failed(self) -> String {
        assert_eq!(self.status.code(), Some(1), "{self:?}");
        self.errors
    }
}

impl Installation {
    /// An empty one, with secrets that tests know.
    pub(crate) fn new() -> Self {
        let mut made = Self::bare();
        made.set("FORGEWAY_ROOT_PASSWORD", PASSWORD);
        made.set("FORGEWAY_ROOT_TOKEN", TOKEN);
        made
    }

    /// An empty one that must invent its secrets.
    pub(crate) fn bare() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let probe = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = probe.local_addr().expect("an address").port();
        Self { folder, port, database: empty_database(), variables: Vec::new() }
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// What the server has printed so far.
    pub(crate) fn printed(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("output")).unwrap_or_default()
    }

    pub(crate) fn location(&self) -> Location {
        match &self.database {
            Some(url) => Location::Postgres(url.clone()),
            None => Location::File(self.data().join("forgeway.sqlite3")),
        }
    }

    pub(crate) fn is_on_sqlite(&self) -> bool {
        self.database.is_none()
    }

    /// What nobody but a test does: rows are changed behind the program's back.
    pub(crate) fn change_rows(&self, sql: &str) {
        let changed = match self.location() {
            Location::File(path) => SqliteConnection::establish(&path.to_string_lossy())
                .expect("the file opens")
                .batch_execute(sql),
            Location::Postgres(url) => {
                PgConnection::establish(&url).expect("the cluster answers").batch_execute(sql)
            }
        };
        changed.expect("the rows are changed");
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forgeway"));
        let inherited = std::env::vars_os()
            .map(|(name, _)| name)
            .filter(|name| name.to_string_lossy().starts_with("FORGEWAY_"));
        for name in inherited {
            command.env_remove(name);
        }
        command
            .current_dir(self.folder.path())
            .env("FORGEWAY_LISTEN", format!("127.0.0.1:{}", self.port))
            .env("FORGEWAY_DATA", self.data())
            .envs(self.database.as_ref().map(|url| ("FORGEWAY_DATABASE_URL", url)))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandResult {
        self.run_with_input(arguments, "")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> CommandResult {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("an input");
        // A command that does not read its input may end before it is written.
        drop(stdin.write_all(input.as_bytes()));
        drop(stdin);
        let done = child.wait_with_output().expect("the program ends");
        CommandResult {
            status: done.status,
            output: String::from_utf8_lossy(&done.stdout).into_owned(),
            errors: String::from_utf8_lossy(&done.stderr).into_owned(),
        }
    }

    /// Starts the server and waits until it says that it is ready.
    pub(crate) fn start(&self) -> Server<'_> {
        self.start_with(&[])
    }

    pub(crate) fn start_with(&self, arguments: &[&str]) -> Server<'_> {
        let file = |name: &str| {
            let path = self.folder.path().join(name);
            File::options().create(true).append(true).open(path).expect("a file for the output")
        };
        let mut command = self.command();
        command.args(arguments).stdout(file("output")).stderr(file("log"));
        let child = command.spawn().expect("the program starts");
        let mut server = Server { installation: self, child };
        eventually("the server is ready", || {
            let ended = server.child.try_wait().expect("the server can be asked");
            assert!(ended.is_none(), "the server ended: {}", self.log());
            // While the port opens, a connection may end without a word.
            let mut connection = Connection::try_open(self.port)?;
            connection.write(
                b"GET /-/readiness HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            );
            connection.rest().starts_with(b"HTTP/1.1 200").then_some(())
        });
        server
    }

    pub(crate) fn remote(&self, project: &str) -> String {
        format!("http://root:{TOKEN}@127.0.0.1:{}/{project}.git", self.port)
    }
}

/// A server that runs; it is killed when the test forgets it.
pub(crate) struct Server<'a> {
    installation: &'a Installation,
    child: Child,
}

impl Server<'_> {
    pub(crate) fn open(&self) -> Connection {
        Connection::try_open(self.installation.port).expect("the server accepts connections")
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.open().get(path, &[("PRIVATE-TOKEN", TOKEN)])
    }

    pub(crate) fn post(&self, path: &str, json: &str) -> Reply {
        let headers = [("PRIVATE-TOKEN", TOKEN), ("Content-Type", "application/json")];
        self.open().send("POST", path, &headers, json.as_bytes())
    }

    /// The most memory that it ever used, in bytes.
    pub(crate) fn most_memory(&self) -> usize {
        let path = format!("/proc/{}/status", self.child.id());
        let told = std::fs::read_to_string(path).expect("the system tells");
        let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
        number.and_then(|number| number.parse::<usize>().ok()).expect("a number") << 10
    }

    pub(crate) fn terminate(&self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for the end and tells how it was.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        eventually("the server ends", || self.child.try_wait().expect("the server can be asked"))
    }

    /// SIGTERM, and a good end.
    #[track_caller]
    pub(crate) fn stop(mut self) {
        self.terminate();
        let status = self.ended();
        assert!(status.success(), "{status}: {}", self.installation.log());
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}

/// A database without any table on the test cluster, or nothing where tests use SQLite.
fn empty_database() -> Option<String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    // It is there as long as the value, and somebody has to be connected to a database to make another one.
    let neighbour = TestDatabase::new();
    let Location::Postgres(url) = &neighbour.location else { return None };
    let (server, _) = url.rsplit_once('/').expect("a database name");
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("forgeway_test_cli_{}_{number}", std::process::id());
    let mut conn = PgConnection::establish(url).expect("the cluster answers");
    conn.batch_execute(&format!("CREATE DATABASE {name}")).expect("an empty database");
    Some(format!("{server}/{name}"))
}

/// Whether others than the owner may do anything with a file.
pub(crate) fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).expect("the file is there").permissions().mode();
    mode & 0o077 == 0
}
