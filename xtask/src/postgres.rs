//! A scratch PostgreSQL server: made from nothing in a temporary folder, gone with the value that stands for it.

use std::{
    io::Read as _,
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use diesel::{
    Connection as _, PgConnection, QueryableByName, RunQueryDsl as _,
    connection::SimpleConnection as _, sql_query, sql_types::Text,
};

use crate::{scratch, workspace};

/// Outlives this tool for a moment whatever kills it: the end of its standard input tells it to clean up.
const GUARD: &str = r#"
trap '' INT TERM HUP
folder=$1 programs=$2 port=$3; shift 3
cd "$folder" || exit 1
if "$programs/initdb" -D data -U forgeway -A trust -E UTF8 --locale=C.UTF-8 --no-sync >log 2>&1; then
    "$programs/postgres" -D data -p "$port" -k "$folder" "$@" >>log 2>&1 &
    server=$!
    cat >/dev/null
    kill -INT "$server"
    wait "$server"
else
    cat log >&2
fi
cd / && rm -rf "$folder"
"#;

const PREFIX: &str = "forgeway-postgres-";

const START_LIMIT: Duration = Duration::from_secs(60);

/// Whether a committed transaction must survive a crash of the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// For tests, which throw the data away.
    Relaxed,
    /// As an operator runs it.
    Full,
}

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

pub(crate) struct Cluster {
    guard: Child,
    port: u16,
    folder: PathBuf,
    programs: PathBuf,
    /// The server that came after the guard's own was stopped.
    second: Option<Child>,
}

impl Cluster {
    /// Starts a server, or finds that this machine has none.
    pub(crate) fn start(durability: Durability) -> Result<Option<Self>> {
        let Some(programs) = programs() else { return Ok(None) };
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let folder = match durability {
            Durability::Relaxed => scratch::temporary(PREFIX)?,
            Durability::Full => tempfile::Builder::new().prefix(PREFIX).tempdir()?,
        };
        let folder = folder.keep();
        let account = Account::for_server()?;
        if let Some(account) = &account {
            chown(&folder, Some(account.user), Some(account.group))?;
        }
        let guard = guard(account.as_ref(), &folder, &programs, port, durability)?;
        let mut cluster = Self { guard, port, folder, programs, second: None };
        cluster.wait()?;
        Ok(Some(cluster))
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://forgeway@127.0.0.1:{}/{database}", self.port)
    }

    /// An empty database of that name, and how to reach it.
    pub(crate) fn create(&self, database: &str) -> Result<String> {
        let mut connection = PgConnection::establish(&self.url("postgres"))?;
        connection.batch_execute(&format!("CREATE DATABASE {database}"))?;
        Ok(self.url(database))
    }

    /// Drops the databases whose names begin like that; a test leaves its own behind.
    pub(crate) fn forget(&self, prefix: &str) -> Result<()> {
        let mut connection = PgConnection::establish(&self.url("postgres"))?;
        let names: Vec<Name> = sql_query(
            "SELECT datname::text AS name FROM pg_database WHERE starts_with(datname, $1)",
        )
        .bind::<Text, _>(prefix)
        .load(&mut connection)?;
        for Name { name } in names {
            connection.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)"))?;
        }
        Ok(())
    }

    /// Stops the server as a crash would; its data stay.
    pub(crate) fn stop(&mut self) -> Result<()> {
        let known = std::fs::read_to_string(self.folder.join("data/postmaster.pid"))?;
        let number = known.lines().next().context("a server has a number")?;
        crate::server::signal("QUIT", &[number.parse()?])?;
        let deadline = Instant::now() + START_LIMIT;
        while PgConnection::establish(&self.url("postgres")).is_ok() {
            ensure!(Instant::now() < deadline, "the scratch PostgreSQL does not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Starts a server on the data of the one that was stopped.
    pub(crate) fn start_again(&mut self) -> Result<()> {
        let run = "programs=$1 folder=$2 port=$3; cd \"$folder\" || exit 1; \
                   exec \"$programs/postgres\" -D data -p \"$port\" -k \"$folder\" \
                   -c listen_addresses=127.0.0.1 >>log 2>&1";
        let account = Account::for_server()?;
        let mut command = account.map_or_else(|| Command::new("sh"), |account| account.command());
        command.args(["-c", run, "sh"]).arg(&self.programs).arg(&self.folder);
        command.arg(self.port.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
        let second = command.process_group(0).spawn().context("starting PostgreSQL again")?;
        self.second = Some(second);
        self.wait()
    }

    /// Ends every connection to a database, as an operator or a restart does.
    pub(crate) fn end_connections(&self, database: &str) -> Result<()> {
        let mut connection = PgConnection::establish(&self.url("postgres"))?;
        sql_query(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1",
        )
        .bind::<Text, _>(database)
        .execute(&mut connection)?;
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        let folder = &self.folder;
        let deadline = Instant::now() + START_LIMIT;
        loop {
            if PgConnection::establish(&self.url("postgres")).is_ok() {
                return Ok(());
            }
            if Instant::now() > deadline || self.guard.try_wait()?.is_some() {
                let mut log = String::new();
                if let Ok(mut file) = std::fs::File::open(folder.join("log")) {
                    file.read_to_string(&mut log)?;
                }
                bail!("the scratch PostgreSQL does not answer\n{log}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(mut second) = self.second.take()
            && crate::server::signal("INT", &[second.id()]).is_ok()
        {
            drop(second.wait());
        }
        drop(self.guard.stdin.take());
        if let Err(error) = self.guard.wait() {
            eprintln!("the scratch PostgreSQL may still run: {error}");
        }
    }
}

/// The folder that holds PostgreSQL's server programs: on `PATH`, else the newest of Debian's.
pub(crate) fn programs() -> Option<PathBuf> {
    let mut debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .collect::<Vec<_>>();
    debian.sort_by_key(|entry| {
        entry.file_name().to_string_lossy().parse::<u32>().unwrap_or_default()
    });
    let debian = debian.iter().rev().map(|entry| entry.path().join("bin")).collect::<Vec<_>>();
    let program = workspace::find_program("initdb", &debian)?;
    // The program on PATH may be a link; the server stands beside the file it points to.
    let folder = program.canonicalize().ok()?.parent()?.to_owned();
    folder.join("postgres").is_file().then_some(folder)
}

fn guard(
    account: Option<&Account>,
    folder: &Path,
    programs: &Path,
    port: u16,
    durability: Durability,
) -> Result<Child> {
    let mut command = match account {
        Some(account) => account.command(),
        None => Command::new("sh"),
    };
    command.args(["-c", GUARD, "sh"]).arg(folder).arg(programs).arg(port.to_string());
    command.args(["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=300"]);
    if durability == Durability::Relaxed {
        command.args([
            "-c",
            "fsync=off",
            "-c",
            "synchronous_commit=off",
            "-c",
            "full_page_writes=off",
            "-c",
            "wal_level=minimal",
            "-c",
            "max_wal_senders=0",
            // It would look through every database of every test.
            "-c",
            "autovacuum=off",
        ]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
    command.spawn().context("starting the scratch PostgreSQL")
}

/// The account the server runs as when we are root, which PostgreSQL refuses to be.
struct Account {
    user: u32,
    group: u32,
}

impl Account {
    fn for_server() -> Result<Option<Self>> {
        let me = workspace::output(Command::new("id").arg("-u"))?;
        if me.trim() != "0" {
            return Ok(None);
        }
        let known = std::fs::read_to_string("/etc/passwd")?;
        let account = ["postgres", "nobody"].iter().find_map(|name| Self::named(name, &known));
        account.map(Some).context("no account other than root to run PostgreSQL as")
    }

    fn named(name: &str, known: &str) -> Option<Self> {
        let fields = known
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields[0] == name)?;
        Some(Self { user: fields.get(2)?.parse().ok()?, group: fields.get(3)?.parse().ok()? })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={}", self.user)).arg(format!("--regid={}", self.group));
        command.args(["--clear-groups", "sh"]);
        command
    }
}
