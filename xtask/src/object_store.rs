//! The product with its contents in S3-compatible storage: a server of that kind from `PyPI`, some of each content written, and
//! read again after a restart.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};

use crate::{
    clients,
    server::{Installation, PASSWORD, TOKEN},
    workspace::run,
};

const BUCKET: &str = "forgeway";
const PREFIX: &str = "forge";
const START_LIMIT: Duration = Duration::from_secs(60);
/// What has a place in the bucket; in the data folder only drafts of large files may be left of it.
const KINDS: [&str; 4] = ["artifacts", "uploads", "avatars", "lfs"];

/// A server that speaks S3 and keeps everything in memory, until it is dropped.
struct Store {
    child: Child,
    endpoint: String,
}

impl Store {
    fn start(python: &Path, log: &Path) -> Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port().to_string();
        let log = fs::File::create(log)?;
        let child = Command::new(python.with_file_name("moto_server"))
            .args(["--host", "127.0.0.1", "--port", &port])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("starting moto_server")?;
        let store = Self { child, endpoint: format!("http://127.0.0.1:{port}") };
        store.make_bucket()?;
        Ok(store)
    }

    fn make_bucket(&self) -> Result<()> {
        let begun = Instant::now();
        let address = format!("{}/{BUCKET}", self.endpoint);
        while ureq::put(&address).send_empty().is_err() {
            ensure!(begun.elapsed() < START_LIMIT, "moto_server does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("FORGEWAY_S3_URL", format!("s3://{BUCKET}/{PREFIX}")),
            ("FORGEWAY_S3_ENDPOINT", self.endpoint.clone()),
            ("FORGEWAY_S3_ACCESS_KEY", "forgeway".to_owned()),
            ("FORGEWAY_S3_SECRET_KEY", "scratch-secret".to_owned()),
        ]
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}

/// Writes contents, restarts the server, and reads and removes them.
pub(crate) fn check(binary: PathBuf, tools: &Path, scratch: &Path) -> Result<()> {
    println!("Contents in S3-compatible storage");
    let python = clients::python(&tools.join("object-store"), "object_store_requirements.txt")?;
    let store = Store::start(&python, &scratch.join("object-store.log"))?;
    let mut installation = Installation::new(binary, scratch.join("object-store"), None)?;
    installation.settings = store.settings();
    for what in ["write", "read", "remove"] {
        let server = installation.start()?;
        let mut client = Command::new(&python);
        client
            .arg(clients::script("object_store.py"))
            .arg(what)
            .current_dir(scratch)
            .env("FORGEWAY_URL", installation.root())
            .env("FORGEWAY_TOKEN", TOKEN)
            .env("FORGEWAY_PASSWORD", PASSWORD)
            .env("S3_ENDPOINT", &store.endpoint)
            .env("S3_BUCKET", BUCKET)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        run(&mut client)?;
        server.stop()?;
    }
    for kind in KINDS {
        let left = files_below(&installation.data.join(kind))?;
        ensure!(left.is_empty(), "the data folder has {}", left[0].display());
    }
    Ok(())
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop().filter(|folder| folder.is_dir()) {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    Ok(found)
}
