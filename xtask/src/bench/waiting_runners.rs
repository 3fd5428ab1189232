//! Runners that wait with open requests: what they cost while nothing happens, and how soon they have a job.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    memory::processor_seconds,
    runners::{self, Note, Size, make_pipeline, numbers, percentile, project_of_jobs},
};
use crate::{
    client::Client,
    runner::{JobAnswer, Runner},
    server::{Installation, Server},
};

/// Runners have asked by then, and are held.
const SETTLE: Duration = Duration::from_secs(3);
/// So long nothing happens.
const IDLE: Duration = Duration::from_secs(15);
const PATIENCE: Duration = Duration::from_secs(20);

/// Jobs with the moment at which a runner had them.
type Handovers = Mutex<Vec<(i64, i64)>>;

/// What the server has done while nothing happened.
struct Idle {
    /// Of one core.
    percent: f64,
    transactions: f64,
}

pub(super) fn measure(
    installation: &Installation,
    server: &Server,
    size: Size,
) -> Result<Vec<Note>> {
    let client = installation.client();
    let project = project_of_jobs(&client, "waiting", 1)?;
    let alone = idle(&client, server)?;
    let fields = json!({ "runner_type": "instance_type" });
    let create =
        |n| Runner::create(&client, &installation.root(), &fields, &format!("r_waiting_{n}"));
    let all = (0..size.waiting).map(create).collect::<Result<Vec<_>>>()?;
    let (received, stop) = (Handovers::default(), AtomicBool::new(false));
    let seen = thread::scope(|scope| {
        let (received, stop) = (&received, &stop);
        for runner in &all {
            scope.spawn(move || wait_for_jobs(runner, received, stop));
        }
        thread::sleep(SETTLE);
        let seen = idle(&client, server)
            .and_then(|idle| Ok((idle, dispatch_job(installation, project, received, size)?)));
        stop.store(true, Ordering::Relaxed);
        // What a runner asks is answered when it is removed.
        for runner in &all {
            client.delete(&format!("/runners/{}", runner.id))?;
        }
        seen
    });
    let (beside, mut waits) = seen?;
    let told = |idle: &Idle| {
        format!("{:.2} % of a core, {:.0} transactions", idle.percent, idle.transactions)
    };
    let figures = format!(
        "median {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        percentile(&mut waits, 50),
        percentile(&mut waits, 99),
        percentile(&mut waits, 100)
    );
    Ok(vec![
        ("idle for 15 s without runners", told(&alone)),
        ("idle for 15 s beside 100 runners that wait", told(&beside)),
        ("from a job's wait to a runner that has it, 100 waiting", figures),
    ])
}

fn idle(client: &Client, server: &Server) -> Result<Idle> {
    let (used, done) = (processor_seconds(server)?, transactions(client)?);
    thread::sleep(IDLE);
    let percent = (processor_seconds(server)? - used) / IDLE.as_secs_f64() * 100.0;
    Ok(Idle { percent, transactions: transactions(client)? - done })
}

/// How many transactions there were since the start.
fn transactions(client: &Client) -> Result<f64> {
    let page = client.page("/-/metrics")?;
    ensure!(page.is_success(), "{}", page.told());
    let text = String::from_utf8_lossy(&page.body).into_owned();
    let counts = text.lines().filter(|line| line.starts_with("forgeway_database_seconds_count"));
    let numbers = counts.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    Ok(numbers.sum())
}

/// A runner that does nothing but wait and be done.
fn wait_for_jobs(runner: &Runner, received: &Handovers, stop: &AtomicBool) {
    let mut cursor = String::new();
    while !stop.load(Ordering::Relaxed) {
        match runner.request((!cursor.is_empty()).then_some(cursor.as_str())) {
            Ok(JobAnswer::Job(job)) => {
                let (Ok(at), Ok(_)) = (runners::now(), job.succeed(0)) else { return };
                received.lock().unwrap_or_else(PoisonError::into_inner).push((job.id, at));
                cursor.clear();
            }
            Ok(JobAnswer::Nothing(next)) => cursor = next,
            Err(_removed) => return,
        }
    }
}

/// Milliseconds from the moment at which a job began to wait until its runner had it.
fn dispatch_job(
    installation: &Installation,
    project: i64,
    received: &Handovers,
    size: Size,
) -> Result<Vec<f64>> {
    let client = installation.client();
    let count = || received.lock().unwrap_or_else(PoisonError::into_inner).len();
    for n in 0..size.hand_overs {
        make_pipeline(&client, project)?;
        let begun = Instant::now();
        while count() <= n {
            ensure!(begun.elapsed() < PATIENCE, "nobody has taken the job");
            thread::sleep(Duration::from_millis(1));
        }
        // The one that was busy waits again.
        thread::sleep(Duration::from_millis(50));
    }
    let received = received.lock().unwrap_or_else(PoisonError::into_inner);
    let mut waits = Vec::new();
    for (job, at) in received.iter() {
        let query = format!("SELECT queued_at AS number FROM jobs WHERE id = {job}");
        for queued in numbers(&installation.database_address(), &query)? {
            waits.push(Duration::from_micros((at - queued).try_into()?).as_secs_f64() * 1_000.0);
        }
    }
    Ok(waits)
}
