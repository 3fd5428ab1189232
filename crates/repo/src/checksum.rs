//! The checksum of a repository's refs: the exclusive or of a hash of each ref and the object that it names.
//!
//! The transaction that decides a move takes the move into the kept sum ([`db::checksum::refs::toggle`]);
//! [`recount::recount`] adds up the refs that lie there and tells both.
//!
//! All refs below `refs/` count: branches, tags, notes, and what keeps the commits of merge requests and deployments.
//! Two kinds do not. `refs/pipelines/…` live as long as their pipelines and come and go with every job. What lies at
//! `refs/merge-requests/…/merge` is made anew from two commits whenever somebody asks for it. HEAD is no ref below
//! `refs/`, and follows from the default branch, which is a row.

pub mod recount;

use bstr::ByteSlice as _;
use db::{
    Tx,
    checksum::refs::{self as kept, RefHolder, RefSum},
};
use kernel::Result;
use sha2::{Digest as _, Sha256};

use crate::git::{Oid, RefName, Wiki, refs::RefMove};

const PIPELINES: &[u8] = b"refs/pipelines/";
const MERGE_REQUESTS: &[u8] = b"refs/merge-requests/";

/// Whether a ref is part of the checksum.
pub fn is_counted(name: &RefName) -> bool {
    let name = name.as_bstr();
    let is_test_merge = name.starts_with(MERGE_REQUESTS) && name.ends_with(b"/merge");
    !name.starts_with(PIPELINES) && !is_test_merge
}

/// The sum of one ref.
pub fn of_ref(name: &RefName, id: Oid) -> RefSum {
    if !is_counted(name) {
        return RefSum::default();
    }
    let mut digest = Sha256::new();
    digest.update(id.to_string());
    digest.update(b" ");
    digest.update(name.as_bstr().as_bytes());
    RefSum::of_digest(digest.finalize().into())
}

/// The sum of refs that are there.
pub fn of_refs<'r>(refs: impl IntoIterator<Item = (&'r RefName, Oid)>) -> RefSum {
    refs.into_iter().fold(RefSum::default(), |sum, (name, id)| sum ^ of_ref(name, id))
}

/// What moves change of the sum.
pub fn of_moves<'m>(moves: impl IntoIterator<Item = &'m RefMove>) -> RefSum {
    moves.into_iter().fold(RefSum::default(), |sum, step| {
        let of = |id: Option<Oid>| id.map(|id| of_ref(&step.name, id)).unwrap_or_default();
        sum ^ of(step.old.oid()) ^ of(step.new)
    })
}

/// Takes moves into the sum that is kept of a repository. To be said in the transaction that decides them.
pub fn keep(tx: &mut Tx<'_>, place: RefHolder, moves: &[RefMove]) -> Result<()> {
    match of_moves(moves) {
        delta if delta.is_zero() => Ok(()),
        delta => kept::toggle(tx, place, delta),
    }
}

/// Where the sum of a wiki is kept.
pub fn place_of_wiki(wiki: Wiki) -> RefHolder {
    match wiki {
        Wiki::Project(project) => RefHolder::ProjectWiki(project),
        Wiki::Group(group) => RefHolder::GroupWiki(group),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_counted, of_moves, of_ref};
    use crate::git::{Oid, RefName, refs::RefMove};

    #[test]
    fn what_comes_and_goes_with_every_job_does_not_count() {
        for (name, counts) in [
            ("refs/heads/main", true),
            ("refs/tags/v1", true),
            ("refs/notes/commits", true),
            ("refs/keep-around/4b825dc6", true),
            ("refs/merge-requests/1/head", true),
            ("refs/environments/production/deployments/1", true),
            ("refs/heads/feature/merge", true),
            ("refs/merge-requests/1/merge", false),
            ("refs/pipelines/1", false),
        ] {
            assert_eq!(is_counted(&RefName::full(name).unwrap()), counts, "{name}");
        }
    }

    #[test]
    fn a_ref_that_comes_and_goes_leaves_no_trace_in_the_sum() {
        let name = RefName::branch("main").unwrap();
        let step = |old: Option<Oid>, new| RefMove { name: name.clone(), old: old.into(), new };
        let (one, two) = (Oid::EMPTY_TREE, Oid::new([1; 20]));

        let moves = [step(None, Some(one)), step(Some(one), Some(two)), step(Some(two), None)];

        assert!(of_moves(&moves).is_zero());
        assert_eq!(of_moves(&moves[..2]), of_ref(&name, two));
    }
}
