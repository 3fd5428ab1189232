//! Commits as records.

use bstr::{BStr, ByteSlice as _};
use gix::objs::{CommitRef, Kind, commit::MessageRef};

use super::Reader;
use crate::git::{CommitInfo, GitError, Oid, Result, Signature};

impl Reader {
    /// The commit, or what an annotated tag of this id leads to.
    pub fn commit(&self, id: Oid) -> Result<CommitInfo> {
        let id = self.peel_to_commit(id.gix())?;
        let object = self.object(id)?;
        Ok(record(Oid::of(&id), &object.try_to_commit_ref()?))
    }

    pub fn commits(&self, ids: &[Oid]) -> Result<Vec<CommitInfo>> {
        ids.iter().map(|id| self.commit(*id)).collect()
    }

    /// Whether `id` is a commit of this repository.
    pub fn is_commit(&self, id: Oid) -> Result<bool> {
        match self.header(id.gix()) {
            Ok((kind, _)) => Ok(kind == Kind::Commit),
            Err(GitError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn record(id: Oid, commit: &CommitRef<'_>) -> CommitInfo {
    let message = decode(commit.message, commit.encoding);
    let title = message.lines().next().unwrap_or_default().to_owned();
    CommitInfo {
        id,
        parents: commit.parents().map(|parent| Oid::of(&parent)).collect(),
        tree: Oid::of(&commit.tree()),
        title,
        trailers: trailers(&message),
        message,
        author: signature(commit.author, commit.encoding),
        committer: signature(commit.committer, commit.encoding),
    }
}

/// Reads `Name <e-mail> seconds zone`. What cannot be read becomes the name, at the beginning of time.
pub(super) fn signature(line: &BStr, encoding: Option<&BStr>) -> Signature {
    match gix::actor::SignatureRef::from_bytes(line) {
        Ok(parsed) => {
            let time = parsed.time().unwrap_or_default();
            let parsed = parsed.trim();
            Signature {
                name: decode(parsed.name, encoding),
                email: decode(parsed.email, encoding),
                at: time.seconds,
                offset: time.offset,
            }
        }
        Err(_) => {
            Signature { name: decode(line, encoding), email: String::new(), at: 0, offset: 0 }
        }
    }
}

fn trailers(message: &str) -> Vec<(String, String)> {
    let Some(body) = MessageRef::from_bytes(message.as_bytes()).body() else {
        return Vec::new();
    };
    body.trailers()
        .map(|trailer| (trailer.token.to_string(), trailer.value.to_str_lossy().into_owned()))
        .collect()
}

/// Text as the commit's `encoding` header says. Of the others, ISO 8859-1 is the only one seen in practice.
pub(super) fn decode(bytes: &BStr, encoding: Option<&BStr>) -> String {
    let is_latin = encoding.is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        matches!(
            name.as_slice(),
            b"iso-8859-1" | b"iso8859-1" | b"latin1" | b"latin-1" | b"iso-8859-15"
        )
    });
    if is_latin {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    } else {
        bytes.to_str_lossy().into_owned()
    }
}
