//! Three hundred wrong sign-ins at once: the memory they take and give back, and what others notice of them.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::server::{self, Installation, Server};

const AT_ONCE: usize = 300;
const READERS: usize = 4;
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long the memory may take to go back.
const REST: Duration = Duration::from_secs(5);

/// What was seen, as lines of the report.
pub(super) fn measure(
    installation: &Installation,
    server: &Server,
) -> Result<[(&'static str, String); 2]> {
    let resident = || server::resident(server.id()).map(|(all, _)| all);
    let before = resident()?;
    let (begun, over) = (Instant::now(), AtomicBool::new(false));
    let (peak, waits) = (Mutex::new(before), Mutex::new(Vec::new()));
    let statuses: Vec<u16> = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if let Ok(now) = resident() {
                    let mut peak = peak.lock().unwrap_or_else(PoisonError::into_inner);
                    *peak = peak.max(now);
                }
                thread::sleep(LOOK_EVERY);
            }
        });
        for _ in 0..READERS {
            scope.spawn(|| {
                let own = read_until(installation, &over);
                waits.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
            });
        }
        let guesses: Vec<_> =
            (0..AT_ONCE).map(|number| scope.spawn(move || guess(installation, number))).collect();
        let statuses = guesses.into_iter().filter_map(|guess| guess.join().ok()?.ok()).collect();
        over.store(true, Ordering::Relaxed);
        statuses
    });
    let took = begun.elapsed();
    thread::sleep(REST);
    let peak = peak.into_inner().unwrap_or_else(PoisonError::into_inner);
    let waits = waits.into_inner().unwrap_or_else(PoisonError::into_inner);
    let refused = statuses.iter().filter(|status| **status == 429).count();
    let memory =
        format!("{before:.0} MiB before, {peak:.0} at most, {:.0} afterwards", resident()?);
    let readers = format!(
        "p99 {:.1} ms of {}; {} of {AT_ONCE} hashed, {refused} sent away, all within {:.1} s",
        p99(waits.clone()),
        waits.len(),
        statuses.len() - refused,
        took.as_secs_f64()
    );
    Ok([("resident, 300 wrong sign-ins at once", memory), ("other readers beside them", readers)])
}

fn guess(installation: &Installation, number: usize) -> Result<u16> {
    let fields = json!({
        "grant_type": "password", "username": format!("nobody-{number}"), "password": "wrong",
    });
    Ok(installation.client().post_page("/oauth/token", &fields)?.status)
}

/// How long each of somebody's requests took, in milliseconds.
fn read_until(installation: &Installation, over: &AtomicBool) -> Vec<f64> {
    let client = installation.client();
    let mut waits = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let answer = client.get("/projects?per_page=1").context("a reader");
        if answer.is_ok_and(|answer| answer.is_success()) {
            waits.push(begun.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    waits
}

fn p99(mut waits: Vec<f64>) -> f64 {
    waits.sort_by(f64::total_cmp);
    waits.get(waits.len() * 99 / 100).copied().unwrap_or_default()
}
