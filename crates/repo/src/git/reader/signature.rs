//! Signatures of commits and tags, and the bytes that were signed.

use bstr::{BString, ByteSlice as _};
use gix::objs::Kind;

use super::Reader;
use crate::git::{GitError, Oid, Result};

/// A detached signature, as stored, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedObject {
    /// Armoured: PGP, SSH or X.509.
    pub signature: BString,
    pub payload: BString,
}

impl Reader {
    /// The signature of a commit or an annotated tag; `None` when it has none.
    pub fn signature(&self, id: Oid) -> Result<Option<SignedObject>> {
        let object = self.object(id.gix())?;
        match object.kind {
            Kind::Commit => Ok(of_commit(&object.data)),
            Kind::Tag => Ok(of_tag(&object.data)),
            Kind::Tree | Kind::Blob => Err(GitError::NotFound),
        }
    }
}

/// The header `gpgsig` goes on over lines that begin with a blank; everything but that header was signed.
fn of_commit(data: &[u8]) -> Option<SignedObject> {
    let end = data.find(b"\n\n").map_or(data.len(), |at| at + 1);
    let (headers, message) = data.split_at(end);
    let (mut signature, mut payload) = (Vec::new(), Vec::new());
    let (mut found, mut inside) = (false, false);
    for line in headers.lines_with_terminator() {
        inside = line.starts_with(b"gpgsig ") || (inside && line.starts_with(b" "));
        if !inside {
            payload.extend_from_slice(line);
            continue;
        }
        found = true;
        signature.extend_from_slice(line.strip_prefix(b"gpgsig ").unwrap_or(&line[1..]));
    }
    payload.extend_from_slice(message);
    found.then(|| SignedObject { signature: signature.into(), payload: payload.into() })
}

/// A tag's signature is the end of its message.
fn of_tag(data: &[u8]) -> Option<SignedObject> {
    const MARKS: [&[u8]; 4] = [
        b"-----BEGIN PGP SIGNATURE-----",
        b"-----BEGIN PGP MESSAGE-----",
        b"-----BEGIN SSH SIGNATURE-----",
        b"-----BEGIN SIGNED MESSAGE-----",
    ];
    let start = data.rfind(b"\n-----BEGIN ")? + 1;
    let (payload, signature) = data.split_at(start);
    MARKS
        .iter()
        .any(|mark| signature.starts_with(mark))
        .then(|| SignedObject { signature: signature.into(), payload: payload.into() })
}
