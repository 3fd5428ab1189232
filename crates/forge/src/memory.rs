//! How much memory this process may use, and whether that is nearly all taken: then heavy work is refused, so that the
//! system need not kill the server.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use kernel::{Error, Result};

/// The control group of this process, where it has a bound.
static BOUND: LazyLock<Option<MemoryLimit>> = LazyLock::new(|| {
    fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| MemoryLimit::find(&text))
});

struct MemoryLimit {
    limit: u64,
    /// Where the group tells what it holds, and the word for memory that cannot be given back.
    figures: PathBuf,
    word: &'static str,
}

/// A limit beyond that is none.
const NONE: u64 = 1 << 50;

impl MemoryLimit {
    fn find(groups: &str) -> Option<Self> {
        groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
            let (root, limit, word) = match controllers {
                "" => ("/sys/fs/cgroup", "memory.max", "anon"),
                "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "total_rss"),
                _ => return None,
            };
            let folder = PathBuf::from(root).join(path);
            let limit = fs::read_to_string(folder.join(limit)).ok()?.trim().parse().ok()?;
            (limit < NONE).then(|| Self { limit, figures: folder.join("memory.stat"), word })
        })
    }

    /// How much is kept free for what is under way already: a quarter, and not more than many requests need.
    fn reserve(&self) -> u64 {
        (self.limit / 4).min(512 << 20)
    }

    fn is_scarce(&self) -> bool {
        let figures = fs::read_to_string(&self.figures).unwrap_or_default();
        figure(&figures, self.word)
            .is_some_and(|held| held > self.limit.saturating_sub(self.reserve()))
    }
}

fn figure(figures: &str, word: &str) -> Option<u64> {
    let line = figures.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

/// Below this a process counts as a small one.
const SMALL: u64 = 1 << 30;
/// How many pools the allocator of the C library may have; it makes eight for each core, and gives back nothing of
/// what each had at its worst moment.
const POOLS: &str = "MALLOC_ARENA_MAX";

/// Begins the process anew with few pools of memory, where it has little of it. Does nothing when that was said already,
/// or cannot be.
pub fn be_frugal() {
    use std::os::unix::process::CommandExt as _;
    let is_small = BOUND.as_ref().is_some_and(|bound| bound.limit <= SMALL);
    if !is_small || std::env::var_os(POOLS).is_some() {
        return;
    }
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_else(|| "forgeway".into());
    let mut again = Command::new("/proc/self/exe");
    let failure = again.arg0(name).args(words).env(POOLS, "2").exec();
    tracing::warn!(error = %failure, "memory that was used once may not be given back");
}

/// So long an answer counts. The system adds the figures up when they are read, and most requests ask.
const HOLDS: Duration = Duration::from_millis(20);

/// To be asked before work that takes megabytes.
pub fn ensure_some() -> Result<()> {
    static LAST: Mutex<Option<(Instant, bool)>> = Mutex::new(None);
    let Some(bound) = &*BOUND else { return Ok(()) };
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let known = last.filter(|(at, _)| at.elapsed() < HOLDS);
    let (_, is_scarce) = *last.insert(known.unwrap_or_else(|| (Instant::now(), bound.is_scarce())));
    match is_scarce {
        true => Err(Error::out_of_reach("nearly all memory is in use")),
        false => Ok(()),
    }
}

/// Of `most` pieces of work that take so many megabytes each, as many as half of the memory holds, and two.
pub fn at_once(most: usize, megabytes: u64) -> usize {
    let Some(bound) = &*BOUND else { return most };
    let fits = bound.limit / 2 / (megabytes << 20);
    usize::try_from(fits).map_or(most, |fits| fits.clamp(2, most.max(2)))
}

#[cfg(test)]
mod tests {
    use super::{MemoryLimit, figure};

    #[test]
    fn a_figure_is_found_by_its_whole_word() {
        let figures = "cache 7\nanon_thp 3\nanon 1048576\ntotal_rss 5\n";
        assert_eq!(figure(figures, "anon"), Some(1 << 20));
        assert_eq!(figure(figures, "total_rss"), Some(5));
        assert_eq!(figure(figures, "rss"), None);
    }

    #[test]
    fn memory_is_scarce_when_less_than_a_quarter_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let figures = folder.path().join("memory.stat");
        let bound = MemoryLimit { limit: 128 << 20, figures: figures.clone(), word: "anon" };
        let is_scarce = |held: u64| {
            std::fs::write(&figures, format!("anon {}\n", held << 20)).unwrap();
            bound.is_scarce()
        };
        assert!(!is_scarce(90));
        assert!(is_scarce(100));
    }

    #[test]
    fn a_process_without_a_group_has_no_bound() {
        assert!(MemoryLimit::find("").is_none());
        assert!(MemoryLimit::find("5:cpu:/\n0::/no such group\n").is_none());
    }
}
