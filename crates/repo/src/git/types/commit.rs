//! One commit.

use super::Oid;

/// The author or committer of a commit, with time. Bytes that are not UTF-8 are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    pub email: String,
    /// Seconds since the Unix epoch.
    pub at: i64,
    /// Seconds east of UTC.
    pub offset: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    pub id: Oid,
    pub parents: Vec<Oid>,
    pub tree: Oid,
    /// The whole first line of the message.
    pub title: String,
    /// The message as stored, with its final newline.
    pub message: String,
    pub author: Signature,
    pub committer: Signature,
    /// `Signed-off-by: …` and the like, in the order of the message, repeated keys included.
    pub trailers: Vec<(String, String)>,
}

impl CommitInfo {
    pub fn is_merge(&self) -> bool {
        self.parents.len() > 1
    }
}
