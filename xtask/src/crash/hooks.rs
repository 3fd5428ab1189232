//! Webhooks: whether each event that was acknowledged arrives at every hook of its project, at least once and in order,
//! although servers are killed again and again and the receiver is away for hours; and whether a hook that was deleted is
//! left alone. On PostgreSQL a second server works on the same database.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    os::unix::fs::symlink,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use diesel::{QueryableByName, RunQueryDsl as _, sql_query, sql_types::BigInt};
use rand::{RngExt as _, rngs::StdRng};
use serde_json::{Value, json};

use super::facts::load;
use crate::{
    client::Client,
    migrate::Connection,
    receiver::{Arrival, Receiver},
    server::{Installation, Server},
};

/// Hooks, and the projects over which they are spread; each event is told to all hooks of its project.
const HOOKS: u64 = 100;
const PROJECTS: u64 = 10;
const ISSUES: usize = 5;
/// Whoever changes issues has projects of their own, so that the order of changes is known.
const WRITERS: u64 = 5;
/// The hook that is deleted, of the first project.
const DELETED: u64 = 0;
/// Between a start of a server and its kill.
const MOMENTS: std::ops::Range<u64> = 200..2_500;
/// How long everything may take to arrive: what a killed server held is not sent by the next one for two minutes.
const LONGEST: Duration = Duration::from_secs(900);
const PAUSE: Duration = Duration::from_millis(100);
/// Microseconds.
const HOUR: i64 = 3_600_000_000;

/// A project with its issues and hooks.
struct Project {
    id: i64,
    issues: Vec<i64>,
    hooks: Vec<i64>,
}

/// What is changed, and by whom it is told.
struct Stage {
    /// Of each server one.
    clients: Vec<Client>,
    projects: Vec<Project>,
    /// Acknowledged changes.
    events: u64,
}

/// What the servers acknowledged.
#[derive(Default)]
struct Promises {
    /// The project, the number of the issue, and of the event.
    events: Mutex<Vec<(u64, i64, u64)>>,
    /// Changes that were begun.
    begun: AtomicU64,
    /// The first event after the hook was deleted; 0 before.
    deleted_at: AtomicU64,
}

impl Promises {
    fn count(&self) -> u64 {
        let all = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        u64::try_from(all.len()).unwrap_or(u64::MAX)
    }
}

/// Kills servers at least `rounds` times while so many events happen and are told.
pub(super) fn rounds(
    installation: &Installation,
    (rounds, events): (u32, u64),
    random: &mut StdRng,
) -> Result<Vec<String>> {
    let receiver = Receiver::start(true)?;
    let mut servers = vec![installation.start()?];
    let mut stage = Stage::prepare(installation, &receiver, events)?;
    let second = installation.database.as_ref().map(|_| beside(installation)).transpose()?;
    let all: Vec<&Installation> = [installation].into_iter().chain(&second).collect();
    for one in second.iter() {
        servers.push(one.start()?);
        stage.clients.push(one.client());
    }
    let promises = Promises::default();
    let mut killed = 0;
    std::thread::scope(|scope| -> Result<()> {
        let (stage, promises, receiver) = (&stage, &promises, &receiver);
        let workers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || stage.work(writer, promises, receiver)))
            .collect();
        while killed < rounds || workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(random.random_range(MOMENTS)));
            let victim = random.random_range(0..servers.len());
            servers.swap_remove(victim).kill()?;
            let again = all.get(victim).context("no such server")?.start()?;
            servers.push(again);
            let last = servers.len() - 1;
            servers.swap(victim, last);
            killed += 1;
        }
        for worker in workers {
            worker.join().ok().context("a writer panicked")??;
        }
        Ok(())
    })?;
    // One of them brings the rest.
    while servers.len() > 1 {
        servers.pop().context("no server")?.stop()?;
    }
    let server = arrive(installation, servers.pop().context("no server")?, &receiver)?;
    server.stop()?;
    let events = promises.events.into_inner().unwrap_or_else(PoisonError::into_inner);
    let arrivals = receiver.arrivals();
    println!(
        "crash: {} acknowledged events for {HOOKS} hooks, {} arrivals, {} servers, {killed} kills",
        events.len(),
        arrivals.len(),
        all.len()
    );
    findings(&arrivals, &events, promises.deleted_at.into_inner())
}

/// A second server on the same database and the same repositories. It has the keys of the first one: to the database
/// they are one data folder.
fn beside(installation: &Installation) -> Result<Installation> {
    let data = installation.data.with_extension("second");
    std::fs::create_dir_all(&data)?;
    for key in ["identity.key", "secrets.key"] {
        std::fs::copy(installation.data.join(key), data.join(key))?;
    }
    share(&installation.data.join("repositories"), &data.join("repositories"))?;
    let mut second =
        Installation::new(installation.binary.clone(), data, installation.database.clone())?;
    second.settings.clone_from(&installation.settings);
    Ok(second)
}

fn share(folder: &Path, link: &Path) -> Result<()> {
    match link.symlink_metadata() {
        Ok(_there) => Ok(()),
        Err(_missing) => Ok(symlink(folder, link)?),
    }
}

impl Project {
    fn prepare(client: &Client, receiver: &Receiver, number: u64) -> Result<Self> {
        let id = |made: Value| made["id"].as_i64().context("a record without an id");
        let new = json!({ "name": format!("crash-hooks-{number}") });
        let project = id(client.post("/projects", &new)?.json()?)?;
        let mut issues = Vec::new();
        for n in 0..ISSUES {
            let new = json!({ "title": format!("issue {n}") });
            let made = client.post(&format!("/projects/{project}/issues"), &new)?.json()?;
            issues.push(made["iid"].as_i64().context("an issue without a number")?);
        }
        let mut hooks = Vec::new();
        for n in (0..HOOKS).filter(|hook| home(*hook) == number) {
            let new = json!({ "url": receiver.url(&n.to_string()), "push_events": false,
                              "issues_events": true });
            hooks.push(id(client.post(&format!("/projects/{project}/hooks"), &new)?.json()?)?);
        }
        Ok(Self { id: project, issues, hooks })
    }
}

/// The project that a hook is of.
fn home(hook: u64) -> u64 {
    hook / (HOOKS / PROJECTS)
}

impl Stage {
    fn prepare(installation: &Installation, receiver: &Receiver, events: u64) -> Result<Self> {
        let client = installation.client();
        let local = json!({ "allow_local_requests_from_web_hooks_and_services": true });
        client.put("/application/settings", &local)?.json()?;
        let projects = (0..PROJECTS).map(|n| Project::prepare(&client, receiver, n));
        let projects = projects.collect::<Result<_>>()?;
        Ok(Self { clients: vec![client], projects, events })
    }

    /// Changes issues of some projects until enough changes were acknowledged; what fails because a server is gone is not
    /// repeated.
    fn work(&self, writer: u64, promises: &Promises, receiver: &Receiver) -> Result<()> {
        let own: Vec<(u64, &Project, i64)> = (0..)
            .zip(&self.projects)
            .filter(|(number, _)| number % WRITERS == writer)
            .flat_map(|(number, one)| one.issues.iter().map(move |iid| (number, one, *iid)))
            .collect();
        let place = usize::try_from(writer)? % self.clients.len();
        let client = self.clients.get(place).context("no server")?;
        let begun = Instant::now();
        for (number, project, iid) in own.iter().cycle() {
            ensure!(begun.elapsed() < LONGEST, "a server does not come back");
            let count = promises.count();
            if count >= self.events {
                return Ok(());
            }
            // Three tenths in, a hook goes; six tenths in, the receiver does.
            let is_due = count * 10 >= self.events * 3;
            if *number == home(DELETED) && is_due && promises.deleted_at.load(Ordering::SeqCst) == 0
            {
                self.delete(client, promises)?;
            }
            receiver.set_away(count * 10 >= self.events * 6);
            let n = promises.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let path = format!("/projects/{}/issues/{iid}", project.id);
            match client.put(&path, &json!({ "title": format!("event {n}") })) {
                Ok(answer) if answer.is_success() => {
                    let mut all = promises.events.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((*number, *iid, n));
                }
                Ok(answer) if answer.status < 500 => anyhow::bail!("{}", answer.told()),
                Ok(_) | Err(_) => std::thread::sleep(PAUSE),
            }
        }
        Ok(())
    }

    fn delete(&self, client: &Client, promises: &Promises) -> Result<()> {
        let project = self.projects.first().context("no project")?;
        let hook = project.hooks.first().context("no hook")?;
        let path = format!("/projects/{}/hooks/{hook}", project.id);
        // Whether a server that was killed has deleted it does not matter: it is asked again.
        if client.delete(&path).is_ok_and(|answer| matches!(answer.status, 204 | 404)) {
            let next = promises.begun.load(Ordering::SeqCst) + 1;
            promises.deleted_at.store(next, Ordering::SeqCst);
        }
        Ok(())
    }
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// The receiver comes back, and time passes hour by hour, until nothing waits any more.
fn arrive(installation: &Installation, server: Server, receiver: &Receiver) -> Result<Server> {
    let (begun, mut server) = (Instant::now(), server);
    let mut connection = Connection::open(&installation.database_address())?;
    let mut waiting = |sql: &str| -> Result<i64> {
        let rows: Vec<Count> = load(&mut connection, sql)?;
        Ok(rows.first().map_or(0, |row| row.count))
    };
    let paused = "SELECT count(*) AS count FROM hooks WHERE disabled_until IS NOT NULL";
    let all = "SELECT (SELECT count(*) FROM hook_deliveries) \
               + (SELECT count(*) FROM hook_events WHERE NOT queued) AS count";
    while waiting(paused)? == 0 && waiting(all)? > 0 {
        ensure!(begun.elapsed() < LONGEST, "nobody has noticed that the receiver is away");
        std::thread::sleep(PAUSE);
    }
    receiver.set_away(false);
    while waiting(all)? > 0 {
        ensure!(begun.elapsed() < LONGEST, "{} deliveries still wait", waiting(all)?);
        server.stop()?;
        pass_hour(installation)?;
        server = installation.start()?;
        let begun = Instant::now();
        while waiting(all)? > 0 && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(PAUSE);
        }
    }
    Ok(server)
}

/// As if an hour had passed for everything that waits.
fn pass_hour(installation: &Installation) -> Result<()> {
    let changes = [
        format!("UPDATE hook_deliveries SET run_at = run_at - {HOUR}"),
        format!(
            "UPDATE hook_deliveries SET locked_until = locked_until - {HOUR} WHERE locked_until IS NOT NULL"
        ),
        format!(
            "UPDATE hooks SET disabled_until = disabled_until - {HOUR} WHERE disabled_until IS NOT NULL"
        ),
    ];
    let mut connection = Connection::open(&installation.database_address())?;
    for change in changes {
        match &mut connection {
            Connection::Sqlite(connection) => sql_query(change).execute(connection)?,
            Connection::Postgres(connection) => sql_query(change).execute(connection)?,
        };
    }
    Ok(())
}

/// What was promised and did not arrive, what arrived out of order, and what arrived at a hook that was deleted.
fn findings(
    arrivals: &[Arrival],
    events: &[(u64, i64, u64)],
    deleted_at: u64,
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut keys = BTreeSet::new();
    let mut lanes: BTreeMap<(u64, i64), Vec<u64>> = BTreeMap::new();
    for arrival in arrivals {
        let hook: u64 = arrival.path.trim_start_matches('/').parse()?;
        let payload: Value = serde_json::from_slice(&arrival.body)?;
        let issue = &payload["object_attributes"];
        let iid = issue["iid"].as_i64().context("an issue without a number")?;
        let title = issue["title"].as_str().and_then(|title| title.strip_prefix("event "));
        let n: u64 = title.context("an issue that nobody changed")?.parse()?;
        if hook == DELETED && deleted_at > 0 && n >= deleted_at {
            found.push(format!("event {n} arrived at a hook that was deleted before"));
        }
        // Repeats have the key of what they repeat.
        if keys.insert(&arrival.key) {
            lanes.entry((hook, iid)).or_default().push(n);
        }
    }
    for ((hook, iid), all) in &lanes {
        if !all.is_sorted() {
            found.push(format!("hook {hook} was told of issue {iid} in the order {all:?}"));
        }
    }
    let told: HashSet<(u64, u64)> =
        lanes.iter().flat_map(|((hook, _), all)| all.iter().map(|n| (*hook, *n))).collect();
    for hook in (0..HOOKS).filter(|hook| *hook != DELETED) {
        let own = events.iter().filter(|(project, _, _)| *project == home(hook));
        let lost = own.filter(|(_, _, n)| !told.contains(&(hook, *n)));
        found.extend(lost.map(|(_, iid, n)| {
            format!("hook {hook} was not told of event {n}, issue {iid}, which was acknowledged")
        }));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Arrival, HOOKS, findings};

    fn arrival(hook: u64, n: u64, key: &str) -> Arrival {
        let body = json!({ "object_attributes": { "iid": 1, "title": format!("event {n}") } });
        Arrival {
            path: format!("/{hook}"),
            key: format!("{hook}/{key}"),
            body: body.to_string().into_bytes(),
        }
    }

    #[test]
    fn what_is_lost_late_or_unwanted_is_found() {
        let all = |hook| [arrival(hook, 1, "a"), arrival(hook, 1, "a"), arrival(hook, 2, "b")];
        let mut arrivals: Vec<Arrival> = (1..HOOKS).flat_map(all).collect();
        let events: Vec<_> = (0..super::PROJECTS).flat_map(|of| [(of, 1, 1), (of, 1, 2)]).collect();
        assert!(findings(&arrivals, &events, 2).unwrap().is_empty(), "repeats are right");
        arrivals.push(arrival(0, 2, "b"));
        assert_eq!(findings(&arrivals, &events, 2).unwrap().len(), 1, "it was deleted");
        arrivals.push(arrival(7, 1, "again"));
        assert_eq!(findings(&arrivals, &events, 0).unwrap().len(), 1, "it comes too late");
        assert_eq!(findings(&arrivals[3..], &events, 0).unwrap().len(), 3, "two are lost");
    }
}
