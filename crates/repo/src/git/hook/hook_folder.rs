//! The folder of hooks - links to this program - and the socket beside them.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::{PRE_RECEIVE, PROC_RECEIVE};
use crate::{git::service::PushHooks, lfs::smudge};

/// A hook of earlier versions: git would run it for every ref that moves.
const RETIRED: &str = "reference-transaction";

/// What the address of a socket may be long, on every system.
const LONGEST_SOCKET: usize = 100;

/// The hooks of pushes that bring no objects: nothing is in quarantine that could be looked at before.
const WITHOUT_QUARANTINE: &str = "without-quarantine";

/// The folder and the socket. Only the owner of the server's process can reach either.
#[derive(Clone, Debug)]
pub struct Hooks {
    folder: PathBuf,
    socket: PathBuf,
    _elsewhere: Option<Arc<TempDir>>,
}

impl Hooks {
    /// Makes the folder below the data folder, with links to `program`.
    pub fn install(data: &Path, program: &Path) -> io::Result<Self> {
        let folder = data.join("hooks");
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        remove(&folder.join(RETIRED))?;
        for name in [PRE_RECEIVE, PROC_RECEIVE, smudge::NAME] {
            link(program, &folder.join(name))?;
        }
        let late = folder.join(WITHOUT_QUARANTINE);
        DirBuilder::new().recursive(true).mode(0o700).create(&late)?;
        link(program, &late.join(PROC_RECEIVE))?;
        let near = folder.join("socket");
        let (socket, elsewhere) = if near.as_os_str().len() <= LONGEST_SOCKET {
            (near, None)
        } else {
            let far = tempfile::Builder::new().prefix("forgeway-").tempdir()?;
            (far.path().join("socket"), Some(Arc::new(far)))
        };
        Ok(Self { folder, socket, _elsewhere: elsewhere })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The program that puts large files into archives.
    pub fn large_files(&self) -> PathBuf {
        self.folder.join(smudge::NAME)
    }

    /// What a push of `identity` is started with.
    pub fn for_push(&self, identity: String, brings_objects: bool) -> PushHooks {
        let folder = match brings_objects {
            true => self.folder.clone(),
            false => self.folder.join(WITHOUT_QUARANTINE),
        };
        PushHooks { folder, socket: self.socket.clone(), identity }
    }
}

/// Replaces what an earlier version of the program may have left there.
fn link(program: &Path, at: &Path) -> io::Result<()> {
    remove(at)?;
    symlink(program, at)
}

fn remove(at: &Path) -> io::Result<()> {
    match fs::remove_file(at) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
