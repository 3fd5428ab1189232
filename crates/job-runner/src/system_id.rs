//! The id that tells this program from others that share its token. It lies beside the configuration file.

use std::{
    fs::{File, TryLockError},
    path::Path,
};

use anyhow::{Context as _, Result};

const FILE: &str = ".forgeway_runner_system_id";

/// Reads the id, or makes one where there is none.
///
/// # Errors
/// When the file cannot be read or written.
pub fn load_or_create(config_file: &Path) -> Result<String> {
    let file = config_file.parent().unwrap_or(Path::new("")).join(FILE);
    match std::fs::read_to_string(&file) {
        Ok(text) if is_valid(text.trim()) => return Ok(text.trim().to_owned()),
        Ok(_damaged) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
    let id = format!("r_{}", hex::encode(rand::random::<[u8; 6]>()));
    std::fs::write(&file, &id).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(id)
}

/// Waits until no other process runs the jobs of a configuration. As long as the file is kept, others wait.
///
/// # Errors
/// When the file of the id cannot be opened or locked.
pub fn wait_for_others(config_file: &Path) -> Result<File> {
    let path = config_file.parent().unwrap_or(Path::new("")).join(FILE);
    let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {
            tracing::warn!(
                "another process runs the jobs of this configuration; waiting for its end"
            );
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", path.display()));
        }
    }
    file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

fn is_valid(id: &str) -> bool {
    id.len() == 14 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("runner.toml");
        let id = load_or_create(&config).unwrap();
        assert!(is_valid(&id), "{id}");
        assert_eq!(load_or_create(&config).unwrap(), id);
    }

    #[test]
    fn two_processes_do_not_run_the_same_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("runner.toml");
        load_or_create(&config).unwrap();
        let first = wait_for_others(&config).unwrap();
        let second = File::open(folder.path().join(FILE)).unwrap();
        assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
        drop(first);
        wait_for_others(&config).unwrap();
    }

    #[test]
    fn a_damaged_id_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "../../etc\n").unwrap();
        assert!(is_valid(&load_or_create(&folder.path().join("runner.toml")).unwrap()));
    }
}
