//! Files from addresses that a configuration includes. Fetching takes seconds, reading git a place that few have: so a
//! configuration is compiled in passes, and what a pass misses is fetched between them, in a place of its own.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use ci::{config::input::FetchFailure, pipeline::PipelineStore as _};
use kernel::{Actor, Error, Result, ids::ProjectId, task::spawn_blocking};
use outbound::{Client, FetchError, FetchLimits};

use super::config::PATIENCE;
use crate::{
    Forge,
    slots::{FOR, SlotOwner},
};

/// What is taken of one file: the language itself reads no more of one.
const FILE: FetchLimits = FetchLimits { bytes: 2 << 20, time: Duration::from_secs(5) };
/// What is taken of all files of one configuration.
const ALL_FILES: FetchLimits = FetchLimits { bytes: 8 << 20, time: Duration::from_secs(10) };
/// A file may include another, and that one the next: so deep they are followed.
const MAX_PASSES: usize = 8;

/// The content of a remote file, or the reason for its absence.
type Answer = std::result::Result<String, FetchFailure>;

/// One compilation with the files that were fetched before it. Those that it misses are noted, and the outcome counts for
/// nothing.
#[derive(Debug)]
pub(super) struct CompilePass {
    fetched: HashMap<String, Answer>,
    missing: Mutex<Vec<String>>,
    /// Set for the last pass: what is missing stays away.
    is_last: bool,
    time: Duration,
    begun: OnceLock<Instant>,
    /// The number of the pipeline in its project; all passes share it.
    iid: Arc<Mutex<Option<i64>>>,
}

impl CompilePass {
    fn new(
        fetched: HashMap<String, Answer>,
        time: Duration,
        is_last: bool,
        iid: &Arc<Mutex<Option<i64>>>,
    ) -> Self {
        let (missing, begun) = (Mutex::default(), OnceLock::new());
        Self { fetched, missing, is_last, time, begun, iid: Arc::clone(iid) }
    }

    /// Takes the next number of the project's pipelines. A pipeline that is not made after all leaves a gap.
    pub(super) fn reserve_iid(&self, forge: &Forge, project: ProjectId) -> Result<i64> {
        let mut iid = self.iid.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(iid) = *iid {
            return Ok(iid);
        }
        let taken = forge.db.write_blocking(move |tx| tx.reserve_pipeline_iid(project))?;
        *iid = Some(taken);
        Ok(taken)
    }

    /// The text at an address; [`FetchFailure::Pending`] before it was fetched.
    pub(super) fn text(&self, address: &str) -> Answer {
        match self.fetched.get(address) {
            Some(known) => known.clone(),
            None if self.is_last => Err(FetchFailure::Timeout),
            None => {
                let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
                if missing.iter().all(|one| one != address) {
                    missing.push(address.to_owned());
                }
                Err(FetchFailure::Pending)
            }
        }
    }

    /// When it ends at the latest; it begins with the first question. All passes share their time.
    pub(super) fn deadline(&self) -> Instant {
        *self.begun.get_or_init(Instant::now) + self.time
    }

    fn missing(&self) -> Vec<String> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn time_left(&self) -> Duration {
        let spent = self.begun.get().map_or(Duration::ZERO, Instant::elapsed);
        self.time.saturating_sub(spent)
    }
}

/// Compiles until nothing is missing. `run` is asked for each pass, and holds what it needs for that pass alone.
///
/// # Errors
/// As `run` says, or when too many wait already to have files fetched.
pub(super) async fn in_passes<T, F: Future<Output = Result<T>>>(
    forge: &Forge,
    actor: Actor,
    run: impl Fn(Arc<CompilePass>) -> F,
) -> Result<T> {
    // Work that nobody waits for takes places from the share of whom it is done for.
    match actor.id {
        Some(user) if FOR.try_with(|_| ()).is_err() => {
            FOR.scope(SlotOwner::User(user), repeat(forge, run)).await
        }
        _ => repeat(forge, run).await,
    }
}

async fn repeat<T, F: Future<Output = Result<T>>>(
    forge: &Forge,
    run: impl Fn(Arc<CompilePass>) -> F,
) -> Result<T> {
    let (mut fetched, mut time, mut left) = (HashMap::new(), PATIENCE, ALL_FILES);
    let iid = Arc::default();
    for number in 1.. {
        let is_last = number == MAX_PASSES || left.time.is_zero();
        let pass = Arc::new(CompilePass::new(fetched.clone(), time, is_last, &iid));
        let done = run(Arc::clone(&pass)).await;
        let missing = pass.missing();
        if missing.is_empty() {
            return done;
        }
        time = pass.time_left();
        (fetched, left) = fetch(forge, fetched, missing, left).await?;
    }
    Err(Error::internal("the last pass misses nothing"))
}

/// Fetches files one after the other, outside of every other place of work.
async fn fetch(
    forge: &Forge,
    mut fetched: HashMap<String, Answer>,
    missing: Vec<String>,
    mut left: FetchLimits,
) -> Result<(HashMap<String, Answer>, FetchLimits)> {
    let slot = forge.fetches.take_soon().await?;
    let forge = forge.clone();
    let done = spawn_blocking(move || {
        let _slot = slot;
        for address in missing {
            let answer = fetch_one(&forge.outbound, &address, &mut left);
            fetched.insert(address, answer);
        }
        (fetched, left)
    });
    done.await.map_err(Error::internal)
}

/// Fetches one file with what is left for all, and takes off what it took.
fn fetch_one(client: &Client, address: &str, left: &mut FetchLimits) -> Answer {
    if left.time.is_zero() {
        return Err(FetchFailure::Timeout);
    }
    let limits = FetchLimits { bytes: FILE.bytes.min(left.bytes), time: FILE.time.min(left.time) };
    let begun = Instant::now();
    let found = client.get(address, limits);
    left.time = left.time.saturating_sub(begun.elapsed());
    let bytes = found.map_err(unreachable)?;
    left.bytes = left.bytes.saturating_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unreachable(failure: FetchError) -> FetchFailure {
    match failure {
        FetchError::Status(status) => FetchFailure::Status(status),
        FetchError::Timeout => FetchFailure::Timeout,
        FetchError::Unreachable => FetchFailure::Socket,
        FetchError::Refused(words) => FetchFailure::Refused(words.to_owned()),
        FetchError::TooLarge => FetchFailure::Refused(failure.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, sync::Arc, time::Duration};

    use ci::config::input::FetchFailure;
    use outbound::{Client, FetchLimits};

    use super::{CompilePass, fetch_one};

    #[test]
    fn a_pass_notes_what_it_misses_once_and_the_last_does_without() {
        let fetched = HashMap::from([("https://a/a.yml".to_owned(), Ok("a: 1".to_owned()))]);
        let pass =
            CompilePass::new(fetched.clone(), Duration::from_secs(1), false, &Arc::default());
        assert_eq!(pass.text("https://a/a.yml").as_deref(), Ok("a: 1"));
        for _ in 0..2 {
            assert_eq!(pass.text("https://a/b.yml"), Err(FetchFailure::Pending));
        }
        assert_eq!(pass.missing(), ["https://a/b.yml"]);

        let last = CompilePass::new(fetched, Duration::from_secs(1), true, &Arc::default());
        assert_eq!(last.text("https://a/b.yml"), Err(FetchFailure::Timeout));
        assert!(last.missing().is_empty());
    }

    #[test]
    fn all_files_share_their_time() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/a.yml", silent.local_addr().unwrap());
        let client = Client::new(std::sync::Arc::new(|_| true));
        let mut left = FetchLimits { bytes: 1 << 20, time: Duration::from_millis(50) };
        assert_eq!(fetch_one(&client, &address, &mut left), Err(FetchFailure::Timeout));
        assert_eq!(left.time, Duration::ZERO, "what one file took is not there for the next");
        assert_eq!(fetch_one(&client, &address, &mut left), Err(FetchFailure::Timeout));
    }
}
