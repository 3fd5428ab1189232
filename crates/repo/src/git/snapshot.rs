//! A repository as one tar file, written while it is sent.

use std::{
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use futures_util::{Stream, stream};
use tokio::sync::mpsc;

use super::RepoPath;

/// Pieces that wait for a slow client.
const WAITING: usize = 4;
const PIECE: usize = 64 << 10;

/// Refs first: every object that they name is then among those that follow. Dropping the stream ends the work.
pub fn snapshot(repo: &RepoPath) -> impl Stream<Item = io::Result<Bytes>> + use<> {
    let (sender, mut receiver) = mpsc::channel(WAITING);
    let path = repo.as_path().to_owned();
    kernel::task::spawn_blocking(move || {
        let pipe = Pipe(sender.clone());
        if let Err(cause) = write(&path, pipe) {
            // Whoever would read it may have gone already.
            let _ = sender.blocking_send(Err(cause));
        }
    });
    stream::poll_fn(move |context| receiver.poll_recv(context))
}

/// The end of a channel, to be written to.
struct Pipe(mpsc::Sender<io::Result<Bytes>>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Bytes::copy_from_slice(bytes);
        self.0.blocking_send(Ok(piece)).map_err(|_gone| io::Error::from(ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(repo: &Path, pipe: Pipe) -> io::Result<()> {
    let mut tar = tar::Builder::new(BufWriter::with_capacity(PIECE, pipe));
    tar.follow_symlinks(false);
    for name in ["HEAD", "config", "packed-refs", "refs", "objects"] {
        append(&mut tar, &repo.join(name), Path::new(name))?;
    }
    tar.into_inner()?.flush()
}

/// What is being written, and what an interrupted push left, is no part of the repository.
fn is_passing(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.ends_with(".lock") || name.starts_with("tmp_") || name.starts_with("incoming-")
}

fn append<W: Write>(tar: &mut tar::Builder<W>, path: &Path, name: &Path) -> io::Result<()> {
    let Some(found) = there(fs::symlink_metadata(path))? else { return Ok(()) };
    if is_passing(path) {
        return Ok(());
    }
    if found.is_file() {
        let Some(file) = there(File::open(path))? else { return Ok(()) };
        return append_file(tar, file, name);
    }
    let Some(inside) = there(fs::read_dir(path))?.filter(|_| found.is_dir()) else { return Ok(()) };
    tar.append_dir(name, path)?;
    let mut inside: Vec<PathBuf> =
        inside.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    // Packs come last: what they took over from loose files is then in one or the other.
    inside.sort_by_key(|path| (path.ends_with("pack"), path.clone()));
    for path in inside {
        let Some(last) = path.file_name() else { continue };
        append(tar, &path, &name.join(last))?;
    }
    Ok(())
}

/// As many bytes as the file had when it was opened: a ref that is moved is a new file, and objects never change.
fn append_file<W: Write>(tar: &mut tar::Builder<W>, file: File, name: &Path) -> io::Result<()> {
    let size = file.metadata()?.len();
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o644);
    tar.append_data(&mut header, name, file.take(size))
}

/// `None` for what has disappeared meanwhile.
fn there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}
