//! PostgreSQL servers of a test: a primary, and a standby of it.

use std::{
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use db::{Database, Location};
use kernel::Clock;

const START_LIMIT: Duration = Duration::from_secs(60);

/// A server that ends with the value.
pub(crate) struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    child: Child,
}

/// The account that the server runs as when we are root, which PostgreSQL refuses to be.
fn account() -> Option<(u32, u32)> {
    let me = Command::new("id").arg("-u").output().expect("who we are");
    if String::from_utf8_lossy(&me.stdout).trim() != "0" {
        return None;
    }
    let known = std::fs::read_to_string("/etc/passwd").expect("the accounts");
    let named = |name: &str| {
        let row = known.lines().find(|line| line.starts_with(&format!("{name}:")))?;
        let mut ids = row.split(':').skip(2);
        Some((ids.next()?.parse().ok()?, ids.next()?.parse().ok()?))
    };
    Some(named("postgres").or_else(|| named("nobody")).expect("an account other than root"))
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = account() {
        command.uid(user).gid(group);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    command
}

/// The folder of PostgreSQL's programs, where this machine has them.
fn programs() -> Option<PathBuf> {
    let all = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let all = all.map(|version| version.path().join("bin"));
    all.filter(|folder| folder.join("pg_basebackup").is_file()).max()
}

impl Server {
    /// A new primary in a folder; `None` where this machine has no PostgreSQL.
    #[expect(clippy::print_stderr, reason = "nobody is to believe that the test ran")]
    pub(crate) fn primary(folder: &Path) -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!("left out: no pg_basebackup below /usr/lib/postgresql");
            return None;
        };
        if let Some((user, group)) = account() {
            chown(folder, Some(user), Some(group)).expect("the folder is given away");
        }
        let data = folder.join("primary");
        let made = command(&programs.join("initdb"))
            .args(["-U", "forgeway", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"])
            .arg("-D")
            .arg(&data)
            .status();
        assert!(made.expect("initdb runs").success());
        Some(Self::start(programs, data))
    }

    fn start(programs: PathBuf, folder: PathBuf) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = port.local_addr().expect("a port").port();
        let sockets = folder.parent().expect("a folder").to_owned();
        let child = command(&programs.join("postgres"))
            .arg("-D")
            .arg(&folder)
            .args([
                "-p",
                &port.to_string(),
                "-c",
                "fsync=off",
                "-c",
                "listen_addresses=127.0.0.1",
                "-k",
            ])
            .arg(sockets)
            .spawn()
            .expect("the server starts");
        Self { programs, folder, port, child }
    }

    /// A standby that reads from the replication slot of this name.
    pub(crate) fn standby(&self, slot: &str) -> Self {
        let data = self.folder.with_file_name("standby");
        let copied = command(&self.programs.join("pg_basebackup"))
            .args([
                "-h",
                "127.0.0.1",
                "-p",
                &self.port.to_string(),
                "-U",
                "forgeway",
                "-R",
                "-X",
                "stream",
            ])
            .args(["--checkpoint=fast", "-S", slot, "-D"])
            .arg(&data)
            .status();
        assert!(copied.expect("pg_basebackup runs").success());
        Self::start(self.programs.clone(), data)
    }

    pub(crate) fn location(&self) -> Location {
        Location::Postgres(format!("postgres://forgeway@127.0.0.1:{}/postgres", self.port))
    }

    /// Its database; migrated, where it is a primary.
    pub(crate) fn database(&self) -> Database {
        let location = self.location();
        let deadline = Instant::now() + START_LIMIT;
        loop {
            match Database::open(&location, Arc::new(Clock::system())) {
                Ok(database) => return database,
                Err(failure) if Instant::now() > deadline => {
                    panic!("no server answers: {failure:?}")
                }
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
