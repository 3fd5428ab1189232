//! PostgreSQL that stops, and comes back.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::{FaultFixture, Verdict, load::Load};
use crate::{
    postgres::{Cluster, Durability},
    server::Installation,
    workspace,
};

/// No answer may take longer while the database is away.
const LIMIT: Duration = Duration::from_secs(2);

pub(super) fn away(ground: &FaultFixture) -> Result<Verdict> {
    let Some(mut cluster) = Cluster::start(Durability::Full)? else {
        return Ok(Verdict::Skipped("there is no PostgreSQL here".to_owned()));
    };
    let database = cluster.create("faults")?;
    let installation =
        Installation::new(ground.binary.clone(), ground.folder.join("data"), Some(database))?;
    let server = installation.start()?;
    let mut load = Load::begin(&installation)?;
    for n in 0..10 {
        ensure!(load.round(n)?, "a write failed before anything was broken");
    }
    load.count_anew();
    cluster.stop()?;
    for n in 10..20 {
        load.round(n)?;
    }
    ensure!(load.came(503) > 0, "nobody was told that the database is away: {}", load.told());
    ensure!(load.slowest < LIMIT, "an answer took {:?}", load.slowest);
    for (page, status) in
        [("/-/health", 200), ("/-/liveness", 200), ("/-/metrics", 200), ("/-/readiness", 503)]
    {
        let begun = Instant::now();
        let answer = load.client.page(page)?;
        ensure!(answer.status == status, "{}", answer.told());
        ensure!(begun.elapsed() < LIMIT, "{page} took {:?}", begun.elapsed());
    }
    let begun = Instant::now();
    let mut git = workspace::command("git");
    let heard = git.args(["ls-remote", &installation.remote(&load.path)]).output()?;
    let heard = String::from_utf8_lossy(&heard.stderr).into_owned();
    ensure!(heard.contains("503"), "git heard: {heard}");
    ensure!(begun.elapsed() < LIMIT, "git waited for {:?}", begun.elapsed());
    let slowest = load.slowest;
    let answers = format!(
        "{}, the slowest after {:.2} s; health and liveness 200, not ready; git 503",
        load.told(),
        slowest.as_secs_f64()
    );
    cluster.start_again()?;
    let recovery = load.until_good()?;
    // Connections that end between two requests are nobody's business.
    load.count_anew();
    for n in 30..33 {
        cluster.end_connections("faults")?;
        ensure!(load.round(n)?, "connections that ended were told: {}", load.told());
    }
    let kept = load.ensure_kept()?;
    server.stop()?;
    Ok(Verdict::Good { answers, recovery, kept })
}
