//! Too few open files, and too little memory.

use std::{
    fs,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::{FaultFixture, Verdict, load::Load};
use crate::server::{Installation, resident};

/// Open files that the server may have.
const FILES: usize = 128;
const HEAVY: usize = 40;
const MEMORY: &str = "134217728";

/// A program that starts the server with a limit of its own.
fn limited(ground: &FaultFixture, before: &str) -> Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let script = ground.folder.join("limited");
    let text = format!("#!/bin/sh\n{before}\nexec '{}' \"$@\"\n", ground.binary.display());
    fs::write(&script, text)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(script)
}

pub(super) fn files(ground: &FaultFixture) -> Result<Verdict> {
    let program = limited(ground, &format!("ulimit -n {FILES}"))?;
    let installation = Installation::new(program, ground.folder.join("data"), None)?;
    let server = installation.start()?;
    let mut load = Load::begin(&installation)?;
    for n in 0..3 {
        ensure!(load.round(n)?, "a write failed before anything was broken");
    }
    load.count_anew();
    // As many as leave the server a few, which clones and commits then need.
    let open = || TcpStream::connect(("127.0.0.1", installation.port));
    let idle: Vec<TcpStream> = (0..FILES - 40).map_while(|_| open().ok()).collect();
    let clones: Vec<_> = (0..20)
        .map(|n| clone(&installation, &load.path, &ground.folder.join(format!("clone-{n}"))))
        .collect::<Result<_>>()?;
    for n in 3..13 {
        load.round(n)?;
    }
    for mut clone in clones {
        clone.wait()?;
    }
    drop(idle);
    let answers = load.told();
    let recovery = load.until_good()?;
    let kept = load.ensure_kept()?;
    server.stop()?;
    Ok(Verdict::Good { answers, recovery, kept })
}

fn clone(installation: &Installation, path: &str, into: &Path) -> Result<std::process::Child> {
    let mut git = Command::new("git");
    git.args(["clone", "-q", &installation.remote(path)]).arg(into);
    Ok(git.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

/// A group of processes with a bound on their memory; it goes with the value.
struct Group(PathBuf);

impl Group {
    /// Nothing where groups cannot be made. Of version 2, else of version 1.
    fn bound() -> Option<Self> {
        for (parent, limit) in
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
        {
            let group = Path::new(parent).join(format!("forgeway-faults-{}", std::process::id()));
            let made = fs::create_dir(&group).is_ok();
            if made && fs::write(group.join(limit), MEMORY).is_ok() {
                // Without it the kernel would hide what is too much.
                let _swap = fs::write(group.join("memory.swap.max"), "0");
                return Some(Self(group));
            }
            if made {
                let _gone = fs::remove_dir(&group);
            }
        }
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            eprintln!("{} is left: {error}", self.0.display());
        }
    }
}

pub(super) fn memory(ground: &FaultFixture) -> Result<Verdict> {
    let Some(group) = Group::bound() else {
        return Ok(Verdict::Skipped("control groups cannot be made".to_owned()));
    };
    let join = format!("echo $$ > '{}/cgroup.procs' || exit 1", group.0.display());
    let program = limited(ground, &join)?;
    let installation = Installation::new(program, ground.folder.join("data"), None)?;
    let server = installation.start()?;
    let mut load = Load::begin(&installation)?;
    fill(&load)?;
    load.count_anew();
    for status in heavy(&load)? {
        load.note(status);
    }
    ensure!(load.came(0) == 0, "requests had no answer: {}", load.told());
    ensure!(load.came(500) == 0, "requests failed: {}", load.told());
    let (all, own) = resident(server.id()).context("the server was killed")?;
    let answers = format!("{}; {all:.0} MB resident afterwards, {own:.0} of its own", load.told());
    let recovery = load.until_good()?;
    let kept = load.ensure_kept()?;
    server.stop()?;
    Ok(Verdict::Good { answers, recovery, kept })
}

/// A file of a megabyte in many lines, and fifty more, so that there is something to do.
fn fill(load: &Load) -> Result<()> {
    let lines: String =
        (0..20_000).map(|n| format!("line {n} of a file that is long enough\n")).collect();
    let mut actions =
        vec![json!({ "action": "create", "file_path": "long.txt", "content": lines })];
    actions.extend((0..50).map(|n| {
        json!({ "action": "create", "file_path": format!("many/{n}.txt"), "content": lines[..20_000] })
    }));
    let body = json!({ "branch": "main", "commit_message": "Much", "actions": actions });
    let path = format!("/projects/{}/repository/commits", load.project);
    load.client.post(&path, &body)?.json()?;
    Ok(())
}

/// Heavy requests of every kind at once; the status of each, 0 where there was no answer.
fn heavy(load: &Load) -> Result<Vec<u16>> {
    let project = format!("/projects/{}", load.project);
    let text = "* a list with **words** and `code` of @root and #1\n".repeat(10_000);
    let statuses = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for n in 0..HEAVY {
            let (project, text, statuses, client) = (&project, &text, &statuses, &load.client);
            scope.spawn(move || {
                let answer = match n % 5 {
                    0 => client.get(&format!("{project}/repository/archive.zip")),
                    1 => client.get(&format!("{project}/repository/files/long.txt/blame?ref=main")),
                    2 => client.get(&format!("{project}/repository/compare?from=main~1&to=main")),
                    3 => client.post("/markdown", &json!({ "text": text, "gfm": true })),
                    _ => {
                        let pair = json!({ "grant_type": "password", "username": format!("nobody-{n}"),
                            "password": "wrong" });
                        client.post_page("/oauth/token", &pair)
                    }
                };
                let status = answer.map_or(0, |answer| answer.status);
                if let Ok(mut all) = statuses.lock() {
                    all.push(status);
                }
            });
        }
    });
    thread::sleep(Duration::from_millis(100));
    statuses.into_inner().ok().context("a thread panicked")
}
