//! A tree as one file to download, streamed while git makes it. The same commit gives the same bytes.

use std::io::Write;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use bzip2::Compression;
use bzip2::write::BzEncoder;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::time::timeout_at;

use super::blocking::blocking;
use super::cli::{Call, Git, GitProcess, ProcessClass};
use super::{GitError, Oid, RepoPath, TreePath};
use crate::lfs::Smudge;

const CHUNK: usize = 64 * 1024;

/// Includes the time in which a slow reader takes it.
const TIME_LIMIT: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    Zip,
    Tar,
    TarGz,
    TarBz2,
}

impl ArchiveFormat {
    /// By the ending that a caller asks for.
    pub fn of_extension(text: &str) -> Option<Self> {
        match text {
            "zip" => Some(Self::Zip),
            "tar" => Some(Self::Tar),
            "tar.gz" | "tgz" | "gz" => Some(Self::TarGz),
            "tar.bz2" | "tbz" | "tbz2" | "tb2" | "bz2" => Some(Self::TarBz2),
            _ => None,
        }
    }

    /// The ending of the file that is sent.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::Tar => "tar",
            Self::TarGz => "tar.gz",
            Self::TarBz2 => "tar.bz2",
        }
    }

    fn made_by_git(self) -> &'static str {
        match self {
            Self::Zip => "--format=zip",
            Self::Tar | Self::TarBz2 => "--format=tar",
            Self::TarGz => "--format=tar.gz",
        }
    }
}

/// The contents of an archive.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Its time becomes the time of every entry.
    pub commit: Oid,
    pub format: ArchiveFormat,
    /// The one folder at the top.
    pub top: String,
    /// Only what lies at this path.
    pub path: Option<TreePath>,
}

/// Starts the archive; `large` are the large files that go into it, whose pointers do otherwise. What git refuses, it refuses here, before anything is sent.
pub async fn archive(
    git: &Git,
    repo: &RepoPath,
    wanted: &Archive,
    large: Option<Smudge>,
) -> Result<impl Stream<Item = Result<Bytes, GitError>> + use<>, GitError> {
    let top = wanted.top.replace('/', "-");
    let call = git
        .at(repo, "archive")
        // Git's own compression rather than whatever gzip is installed: the same bytes everywhere.
        .config("tar.tar.gz.command=git archive gzip")
        .args([wanted.format.made_by_git(), &format!("--prefix={top}/")])
        .id(wanted.commit)
        .paths(wanted.path.as_ref().filter(|path| !path.is_root()))
        .lane(ProcessClass::Transport)
        .time_limit(TIME_LIMIT);
    let call = match &large {
        Some(smudge) => with_large_files(call, smudge),
        None => call,
    };
    let mut child = call.start().await?;
    drop(child.stdin.take());
    let Some(stdout) = child.stdout.take() else {
        return Err(GitError::Corrupt("git archive has no pipes".to_owned()));
    };
    let squeezer = match wanted.format {
        ArchiveFormat::TarBz2 => Some(BzEncoder::new(Vec::new(), Compression::default())),
        ArchiveFormat::Zip | ArchiveFormat::Tar | ArchiveFormat::TarGz => None,
    };
    let mut source = Source { child, stdout, squeezer, first: None, ended: false, _large: large };
    source.first = source.next().await?;
    Ok(try_unfold(source, |mut source| async move {
        let chunk = match source.first.take() {
            Some(first) => Some(first),
            None => source.next().await?,
        };
        Ok(chunk.map(|chunk| (chunk, source)))
    }))
}

struct Source {
    child: GitProcess,
    stdout: ChildStdout,
    squeezer: Option<BzEncoder<Vec<u8>>>,
    first: Option<Bytes>,
    ended: bool,
    /// Git reads it until it ends.
    _large: Option<Smudge>,
}

fn with_large_files(call: Call, smudge: &Smudge) -> Call {
    // An archive that lacks a file is no archive.
    let call = call.config(smudge.setting()).config("filter.lfs.required=true");
    smudge.environment().into_iter().fold(call, |call, (name, value)| call.env(name, value))
}

impl Source {
    /// The next piece to send. None only after git has ended well.
    async fn next(&mut self) -> Result<Option<Bytes>, GitError> {
        while !self.ended {
            let chunk = self.read().await?;
            self.ended = chunk.is_empty();
            if self.ended {
                end(&mut self.child).await?;
            }
            let chunk = self.squeeze(chunk).await?;
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }

    async fn read(&mut self) -> Result<Bytes, GitError> {
        let mut chunk = BytesMut::with_capacity(CHUNK);
        match timeout_at(self.child.deadline(), self.stdout.read_buf(&mut chunk)).await {
            Ok(read) => {
                read?;
                Ok(chunk.freeze())
            }
            Err(_) => Err(GitError::Timeout),
        }
    }

    /// Compresses a piece where git does not; the empty piece is the last.
    async fn squeeze(&mut self, chunk: Bytes) -> Result<Bytes, GitError> {
        let Some(mut squeezer) = self.squeezer.take() else { return Ok(chunk) };
        let (squeezer, out) = blocking(move || {
            if chunk.is_empty() {
                return Ok((None, squeezer.finish()?));
            }
            squeezer.write_all(&chunk)?;
            let out = std::mem::take(squeezer.get_mut());
            Ok((Some(squeezer), out))
        })
        .await?;
        self.squeezer = squeezer;
        Ok(out.into())
    }
}

async fn end(child: &mut GitProcess) -> Result<(), GitError> {
    if child.wait().await?.success() {
        return Ok(());
    }
    let complaint = child.complaint().await;
    if complaint.contains("did not match any files") {
        return Err(GitError::NotFound);
    }
    Err(GitError::Corrupt(format!("git archive: {}", complaint.trim())))
}
