//! Checks for free disk space with a small write, for the readiness probe.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use forge::Forge;
use kernel::task::spawn_blocking;

/// So long the last answer counts; probes are open to everybody.
const HOLDS: Duration = Duration::from_secs(1);
/// Less than this is no room.
static NEEDED: [u8; 128 << 10] = [0x5a; 128 << 10];

/// The last measurement of free disk space, and its time.
#[derive(Debug, Default)]
pub struct DiskSpace(Mutex<Option<(Instant, bool)>>);

impl DiskSpace {
    /// Whether the data folder takes another file, and the database another row.
    pub async fn is_there(&self, forge: &Forge) -> bool {
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, answer)) = *last()
            && at.elapsed() < HOLDS
        {
            return answer;
        }
        let data = forge.data().to_owned();
        let takes_file = spawn_blocking(move || takes_file(&data)).await;
        let answer = takes_file.is_ok_and(|written| written.is_ok()) && forge.db.has_room().await;
        *last() = Some((Instant::now(), answer));
        answer
    }
}

/// The file has no name, so nothing is left of it whatever happens.
fn takes_file(data: &Path) -> io::Result<()> {
    let mut file: File = tempfile::tempfile_in(data)?;
    file.write_all(&NEEDED)
}

#[cfg(test)]
mod tests {
    use super::takes_file;

    #[test]
    fn a_folder_takes_a_file_and_keeps_nothing_of_it() {
        let data = tempfile::tempdir().unwrap();
        assert!(takes_file(data.path()).is_ok());
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
        assert!(takes_file(&data.path().join("gone")).is_err());
    }
}
