//! Where tests keep what they throw away: in memory, where the machine has room there.
//!
//! A test on PostgreSQL copies a database of 1,500 files and drops it again. Filesystems on disks take three times as long for
//! that as one in memory, ext4 above all: it looks for a free inode past each that was freed in the last five seconds.

use std::path::PathBuf;

use crate::workspace::{self, output};

/// A filesystem in memory, on Linux.
const MEMORY: &str = "/dev/shm";

/// Bytes that have to be free there: the databases and repositories of the tests that run at the same time.
const ROOM: u64 = 4 << 30;

/// Bytes of memory that have to be free, for what is kept there and for the programs.
const FREE_MEMORY: u64 = 8 << 30;

/// A folder that goes with the value. `TMPDIR` says where else than in memory.
pub(crate) fn temporary(prefix: &str) -> std::io::Result<tempfile::TempDir> {
    let in_memory = workspace::environment("TMPDIR").is_none() && has_room().unwrap_or(false);
    let parent = if in_memory { PathBuf::from(MEMORY) } else { std::env::temp_dir() };
    tempfile::Builder::new().prefix(prefix).tempdir_in(parent)
}

/// `None` where the system does not tell.
fn has_room() -> Option<bool> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let mut df = workspace::command("df");
    let free = output(df.args(["--output=avail", "-B1", MEMORY])).ok()?;
    let free: u64 = free.lines().last()?.trim().parse().ok()?;
    Some(runs_programs(&mounts)? && free >= ROOM && available(&memory)? >= FREE_MEMORY)
}

/// Whether programs may be started from there, as the hooks of repositories are: containers often refuse it.
fn runs_programs(mounts: &str) -> Option<bool> {
    let mount = mounts.lines().rev().find(|line| line.split(' ').nth(1) == Some(MEMORY))?;
    Some(!mount.split(' ').nth(3)?.split(',').any(|option| option == "noexec"))
}

/// Bytes of memory that programs can get.
fn available(memory: &str) -> Option<u64> {
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filesystem_from_which_nothing_is_started_is_left_alone() {
        let mount =
            |options: &str| format!("/dev/vda / ext4 rw 0 0\ntmpfs {MEMORY} tmpfs {options} 0 0\n");

        assert_eq!(runs_programs(&mount("rw,relatime")), Some(true));
        assert_eq!(runs_programs(&mount("rw,nosuid,noexec")), Some(false));
        assert_eq!(runs_programs("/dev/vda / ext4 rw 0 0\n"), None);
    }

    #[test]
    fn memory_is_read_in_bytes() {
        let memory = "MemTotal:       24683656 kB\nMemAvailable:   23500000 kB\n";

        assert_eq!(available(memory), Some(23_500_000 << 10));
        assert_eq!(available(""), None);
    }
}
