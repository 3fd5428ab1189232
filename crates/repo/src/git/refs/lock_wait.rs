//! Waits for the lock of another process.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::git::{RepoPath, Result, lock_file, stale_locks};

const PAUSE: Duration = Duration::from_millis(5);
/// So many pauses are made between two looks at whether somebody still holds a lock: that reads all of `refs/`.
const HEALED_AFTER: u32 = 40;

pub(super) struct Wait {
    tries: u32,
    deadline: Instant,
}

impl Wait {
    pub(super) fn new(patience: Duration) -> Self {
        Self { tries: 0, deadline: Instant::now() + patience }
    }

    /// Waits a moment, now and then taking away what nobody holds. False once patience has come to its end.
    pub(super) async fn again(&mut self, repo: &RepoPath, lock: &Path) -> Result<bool> {
        let (first, heals) = (self.tries == 0, self.heals(lock));
        self.tries += 1;
        if heals {
            // Whoever held it may have been killed.
            stale_locks::heal(repo).await?;
        }
        if first && heals {
            return Ok(true);
        }
        if Instant::now() > self.deadline {
            return Ok(false);
        }
        sleep(PAUSE.mul_f64(rand::random_range(1.0..2.0))).await;
        Ok(true)
    }

    fn heals(&self, lock: &Path) -> bool {
        self.tries.is_multiple_of(HEALED_AFTER) && !lock_file::is_ours(lock)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::Wait;
    use crate::git::lock_file::LockFile;

    #[test]
    fn a_lock_is_looked_at_now_and_then_and_never_when_it_is_our_own() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("a.lock");
        let deadline = Instant::now();
        let looks =
            || (0..200).filter(|tries| Wait { tries: *tries, deadline }.heals(&lock)).count();

        assert_eq!(looks(), 5);
        let _ours = LockFile::create(lock.clone()).unwrap();
        assert_eq!(looks(), 0);
    }
}
