//! The commits of imported pull requests, as the repository has them.

use kernel::Result;
use repo::{
    git::{Oid, RefName},
    range,
};
use review::merge_request::{Heads, version::MOST_FILES};

use kernel::ids::ProjectId;

use crate::Forge;

/// The head and start commit of a pull request, as the source reports them.
#[derive(Clone, Debug)]
pub(crate) struct PullRequestCommits {
    pub(crate) head: String,
    pub(crate) start: String,
}

/// What the repository says of each of these, in their order. A commit that did not come along is none.
pub(crate) async fn of_all(
    forge: &Forge,
    project: ProjectId,
    all: Vec<PullRequestCommits>,
) -> Result<Vec<Heads>> {
    let read = forge.git_read(project, move |reader| {
        all.iter()
            .map(|ends| {
                let known = |sha: &str| {
                    sha.parse::<Oid>().ok().filter(|id| !id.is_null() && reader.has(*id))
                };
                let Some(head) = known(&ends.head) else { return Ok(Heads::default()) };
                let start = known(&ends.start);
                let Some(start) = start else {
                    return Ok(Heads { head: Some(head.to_string()), ..Heads::default() });
                };
                let found = range::range_summary(reader, start, head)?;
                let files = found.files.and_then(|files| i64::try_from(files).ok());
                Ok(Heads {
                    head: Some(head.to_string()),
                    start: Some(start.to_string()),
                    base: Some(found.base.to_string()),
                    files: files.unwrap_or(MOST_FILES + 1),
                })
            })
            .collect::<Result<Vec<Heads>>>()
    });
    read.await
}

/// A branch that an open pull request needs, and the commit at which it is; `None` for a name that no branch can have.
pub(crate) fn branch(name: &str, sha: Option<&String>) -> Option<(RefName, Oid)> {
    Some((RefName::new_branch(name).ok()?, sha?.parse().ok()?))
}
