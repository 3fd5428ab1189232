//! Webhooks: whether each event that was acknowledged arrives at every hook, at least once and in order, although the
//! server is killed again and again and the receiver is away for an hour; and whether a hook that was deleted is left
//! alone.

use std::{
    collections::{BTreeMap, BTreeSet},
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

const HOOKS: u64 = 100;
/// Changes of issues; each is told to every hook.
const EVENTS: u64 = 100;
const ISSUES: u64 = 10;
/// The hook that is deleted after some events, and the events after which the receiver goes away.
const DELETED: u64 = 0;
const DELETED_AFTER: u64 = 30;
const AWAY_AFTER: u64 = 60;
/// Between a start of the server and its kill.
const MOMENTS: std::ops::Range<u64> = 200..2_500;
/// How long everything may take to arrive: what a killed server held is not sent by the next one for two minutes.
const LONGEST: Duration = Duration::from_secs(900);
const PAUSE: Duration = Duration::from_millis(100);
/// Microseconds.
const HOUR: i64 = 3_600_000_000;

/// The project, its issues and hooks.
struct Stage {
    client: Client,
    project: i64,
    issues: Vec<i64>,
    hooks: Vec<i64>,
}

/// What the server acknowledged.
#[derive(Default)]
struct Promises {
    /// The number of the issue, and of the event.
    events: Mutex<Vec<(i64, u64)>>,
    /// The first event after the hook was deleted; 0 before.
    deleted_at: AtomicU64,
}

/// Kills the server `rounds` times while events happen and are told.
pub(super) fn rounds(
    installation: &Installation,
    rounds: u32,
    random: &mut StdRng,
) -> Result<Vec<String>> {
    let receiver = Receiver::start(true)?;
    let server = installation.start()?;
    let stage = Stage::prepare(installation, &receiver)?;
    let promises = Promises::default();
    let mut killed = 0;
    let server = std::thread::scope(|scope| -> Result<Server> {
        let mut server = server;
        let worker = scope.spawn(|| stage.work(&promises, &receiver));
        while !worker.is_finished() || killed < rounds {
            std::thread::sleep(Duration::from_millis(random.random_range(MOMENTS)));
            server.kill()?;
            server = installation.start()?;
            killed += 1;
        }
        worker.join().ok().context("the worker panicked")??;
        Ok(server)
    })?;
    let server = arrive(installation, server, &receiver)?;
    server.stop()?;
    let events = promises.events.into_inner().unwrap_or_else(PoisonError::into_inner);
    let deleted_at = promises.deleted_at.into_inner();
    let arrivals = receiver.arrivals();
    println!(
        "crash: {} acknowledged events for {HOOKS} hooks, {} arrivals, {killed} kills",
        events.len(),
        arrivals.len()
    );
    findings(&arrivals, &events, deleted_at)
}

impl Stage {
    fn prepare(installation: &Installation, receiver: &Receiver) -> Result<Self> {
        let client = installation.client();
        let local = json!({ "allow_local_requests_from_web_hooks_and_services": true });
        client.put("/application/settings", &local)?.json()?;
        let id = |made: Value| made["id"].as_i64().context("a record without an id");
        let project = id(client.post("/projects", &json!({ "name": "crash-hooks" }))?.json()?)?;
        let mut issues = Vec::new();
        for n in 0..ISSUES {
            let new = json!({ "title": format!("issue {n}") });
            let made = client.post(&format!("/projects/{project}/issues"), &new)?.json()?;
            issues.push(made["iid"].as_i64().context("an issue without a number")?);
        }
        let mut hooks = Vec::new();
        for n in 0..HOOKS {
            let new = json!({ "url": receiver.url(&n.to_string()), "push_events": false,
                              "issues_events": true });
            hooks.push(id(client.post(&format!("/projects/{project}/hooks"), &new)?.json()?)?);
        }
        Ok(Self { client, project, issues, hooks })
    }

    /// Changes issues until enough changes were acknowledged; what fails because the server is gone is not repeated.
    fn work(&self, promises: &Promises, receiver: &Receiver) -> Result<()> {
        let acknowledged = || promises.events.lock().unwrap_or_else(PoisonError::into_inner).len();
        let begun = Instant::now();
        for (n, issue) in (1..).zip(self.issues.iter().cycle()) {
            ensure!(begun.elapsed() < LONGEST, "the server does not come back");
            let count = u64::try_from(acknowledged())?;
            if count >= EVENTS {
                return Ok(());
            }
            if count >= DELETED_AFTER && promises.deleted_at.load(Ordering::SeqCst) == 0 {
                self.delete(n, promises);
            }
            receiver.set_away(count >= AWAY_AFTER);
            let path = format!("/projects/{}/issues/{issue}", self.project);
            let change = json!({ "title": format!("event {n}") });
            match self.client.put(&path, &change) {
                Ok(answer) if answer.is_success() => {
                    let mut all = promises.events.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((*issue, n));
                }
                Ok(answer) if answer.status < 500 => anyhow::bail!("{}", answer.told()),
                Ok(_) | Err(_) => std::thread::sleep(PAUSE),
            }
        }
        Ok(())
    }

    fn delete(&self, next: u64, promises: &Promises) {
        let Some(hook) = usize::try_from(DELETED).ok().and_then(|at| self.hooks.get(at)) else {
            return;
        };
        let path = format!("/projects/{}/hooks/{hook}", self.project);
        // Whether the server that was killed has deleted it does not matter: it is asked again.
        if self.client.delete(&path).is_ok_and(|answer| matches!(answer.status, 204 | 404)) {
            promises.deleted_at.store(next, Ordering::SeqCst);
        }
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
    let all = "SELECT count(*) AS count FROM hook_deliveries";
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
fn findings(arrivals: &[Arrival], events: &[(i64, u64)], deleted_at: u64) -> Result<Vec<String>> {
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
        if keys.insert(arrival.key.clone()) {
            lanes.entry((hook, iid)).or_default().push(n);
        }
    }
    for ((hook, iid), all) in &lanes {
        if !all.is_sorted() {
            found.push(format!("hook {hook} was told of issue {iid} in the order {all:?}"));
        }
    }
    for hook in (0..HOOKS).filter(|hook| *hook != DELETED) {
        let lost = events
            .iter()
            .filter(|(iid, n)| lanes.get(&(hook, *iid)).is_none_or(|all| !all.contains(n)));
        found.extend(lost.map(|(iid, n)| {
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
        let events = [(1, 1), (1, 2)];
        assert!(findings(&arrivals, &events, 2).unwrap().is_empty(), "repeats are right");
        arrivals.push(arrival(0, 2, "b"));
        assert_eq!(findings(&arrivals, &events, 2).unwrap().len(), 1, "it was deleted");
        arrivals.push(arrival(7, 1, "again"));
        assert_eq!(findings(&arrivals, &events, 0).unwrap().len(), 1, "it comes too late");
        assert_eq!(findings(&arrivals[3..], &events, 0).unwrap().len(), 3, "two are lost");
    }
}
