//! What was once worked out about commits and blobs. Objects never change, so an answer that is kept by their names
//! stays right; every store is bounded.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::compare::{self, Comparison, Start, bytes_of};
use crate::git::{
    Deadline, FileDiff, GitError, LineStats, LogQuery, Oid, Reader, Result, Tips, TreePath,
    blame::{Blame, LineRange, Span},
    cache::{Cache, CommitDiffKey, ComparisonKey, DiffKey, Key, LinesKey},
};

/// Entries of a store whose values are small.
const ENTRIES: u64 = 100_000;
/// One or two for each project that somebody looks at.
const PROJECTS: u64 = 10_000;
const LOG_BYTES: u64 = 16 << 20;
const BLAME_BYTES: u64 = 16 << 20;
const BLAME_TEXT_BYTES: u64 = 64 << 20;
const COMPARISON_BYTES: u64 = 32 << 20;
const DIFF_BYTES: u64 = 64 << 20;

/// Bytes by language, the most first.
type Languages = Arc<[(&'static str, u64)]>;

/// Cheap to clone; shared by all requests.
#[derive(Clone)]
pub struct Answers {
    stats: Cache<Oid, LineStats>,
    last_commits: Cache<(Oid, TreePath), Option<Oid>>,
    /// Pages of logs, by the whole question.
    logs: Cache<String, Arc<[Oid]>>,
    counts: Cache<(Oid, bool), u64>,
    /// Whether the first has the second in its history.
    merged: Cache<(Oid, Oid), bool>,
    ref_times: Cache<Oid, i64>,
    checksums: Cache<Oid, Arc<str>>,
    languages: Cache<Oid, Languages>,
    blames: Cache<LinesKey, Arc<Blame>>,
    /// Blames as they are sent.
    blame_texts: Cache<LinesKey, Arc<Bytes>>,
    comparisons: Cache<ComparisonKey, Arc<Comparison>>,
    diffs: Cache<CommitDiffKey, Arc<Vec<FileDiff>>>,
    /// How the files differ between two commits.
    changes: Cache<DiffKey, Arc<[FileDiff]>>,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            stats: Cache::new(ENTRIES),
            last_commits: Cache::new(ENTRIES),
            logs: Cache::with_weights(LOG_BYTES, |key: &Key, ids: &Arc<[Oid]>| {
                100 + key.text().len() + ids.len() * 20
            }),
            counts: Cache::new(ENTRIES),
            merged: Cache::new(ENTRIES),
            ref_times: Cache::new(ENTRIES),
            checksums: Cache::new(ENTRIES),
            languages: Cache::new(PROJECTS),
            blames: Cache::with_weights(BLAME_BYTES, |_: &Key, blame: &Arc<Blame>| {
                200 + blame.spans.len() * size_of::<Span>()
            }),
            blame_texts: Cache::with_weights(BLAME_TEXT_BYTES, |_: &Key, text: &Arc<Bytes>| {
                200 + text.len()
            }),
            comparisons: Cache::with_weights(
                COMPARISON_BYTES,
                |_: &Key, found: &Arc<Comparison>| found.weight(),
            ),
            diffs: Cache::with_weights(COMPARISON_BYTES, |_: &Key, files: &Arc<Vec<FileDiff>>| {
                bytes_of(files)
            }),
            changes: Cache::with_weights(DIFF_BYTES, |_: &Key, files: &Arc<[FileDiff]>| {
                100 + files.iter().map(|file| file.text.len() + 300).sum::<usize>()
            }),
        }
    }
}

impl Answers {
    /// The lines a commit added and removed.
    pub fn stats(&self, reader: &Reader, id: Oid, deadline: Deadline) -> Result<LineStats> {
        self.stats.get_or_insert(id, || reader.stats(id, deadline))
    }

    /// The newest commit that leads to `tip` and changed the path.
    pub fn last_commit(
        &self,
        reader: &Reader,
        tip: Oid,
        path: &TreePath,
        deadline: Deadline,
    ) -> Result<Option<Oid>> {
        let key = (tip, path.clone());
        self.last_commits.get_or_insert(key, || reader.last_commit(tip, path, deadline))
    }

    /// The commits that a query finds. Where it begins must be said by ids to be kept.
    pub fn log(&self, reader: &Reader, query: &LogQuery, deadline: Deadline) -> Result<Arc<[Oid]>> {
        if query.tips == Tips::AllRefs {
            return Ok(reader.log_ids(query, deadline)?.into());
        }
        self.logs
            .get_or_insert(format!("{query:?}"), || Ok(reader.log_ids(query, deadline)?.into()))
    }

    /// How many commits lead to one, itself included.
    pub fn count(
        &self,
        reader: &Reader,
        id: Oid,
        first_parent: bool,
        deadline: Deadline,
    ) -> Result<u64> {
        self.counts.get_or_insert((id, first_parent), || {
            let query = LogQuery { first_parent, ..LogQuery::of(id) };
            let ids = reader.log_ids(&query, deadline)?;
            u64::try_from(ids.len()).or(Err(GitError::TooLarge))
        })
    }

    /// Which of `heads` are in the history of `tip` and not `tip` itself; one walk for all that are not known.
    pub fn merged(
        &self,
        reader: &Reader,
        tip: Oid,
        heads: &[Oid],
        deadline: Deadline,
    ) -> Result<HashSet<Oid>> {
        let (mut merged, mut unknown) = (HashSet::new(), Vec::new());
        for head in heads {
            match self.merged.get((tip, *head)) {
                Some(true) => drop(merged.insert(*head)),
                Some(false) => {}
                None => unknown.push(*head),
            }
        }
        if unknown.is_empty() {
            return Ok(merged);
        }
        let query = LogQuery { exclude: vec![tip], ..LogQuery::new(Tips::Many(unknown.clone())) };
        let ahead: HashSet<Oid> = reader.log_ids(&query, deadline)?.into_iter().collect();
        for head in unknown {
            let is_merged = head != tip && !ahead.contains(&head);
            self.merged.insert((tip, head), is_merged);
            if is_merged {
                merged.insert(head);
            }
        }
        Ok(merged)
    }

    /// When what a ref names was made: the date of an annotated tag, else the committer date of the commit.
    pub fn ref_time(&self, reader: &Reader, target: Oid) -> Result<i64> {
        self.ref_times.get_or_insert(target, || reader.ref_time(target))
    }

    /// The SHA-256 of a blob, in hexadecimal: from its content, where that is at hand.
    pub fn checksum(&self, blob: Oid, content: Option<&[u8]>) -> Option<Arc<str>> {
        if let Some(known) = self.checksums.get(blob) {
            return Some(known);
        }
        let sum: Arc<str> = hex::encode(Sha256::digest(content?)).into();
        self.keep_checksum(blob, &sum);
        Some(sum)
    }

    pub fn keep_checksum(&self, blob: Oid, sum: &Arc<str>) {
        self.checksums.insert(blob, Arc::clone(sum));
    }

    /// Bytes of each language in what a branch points to.
    pub fn languages(&self, reader: &Reader, at: Oid, deadline: Deadline) -> Result<Languages> {
        self.languages.get_or_insert(at, || Ok(reader.languages(at, deadline)?.into()))
    }

    /// What a commit changed, within the limits of diffs that are shown.
    pub fn commit_diff(
        &self,
        reader: &Reader,
        id: Oid,
        deadline: Deadline,
    ) -> Result<Arc<Vec<FileDiff>>> {
        let limits = reader.diff_limits();
        self.diffs
            .get_or_insert((id, limits), || Ok(Arc::new(reader.commit_diff(id, limits, deadline)?)))
    }

    /// What one commit has that another lacks. Which projects they are in does not matter: the caller has found both.
    pub fn comparison(
        &self,
        reader: &Reader,
        from: Oid,
        to: Oid,
        start: Start,
    ) -> kernel::Result<Arc<Comparison>> {
        let key = (from, to, start == Start::Straight, reader.diff_limits());
        if let Some(known) = self.comparisons.get(key) {
            return Ok(known);
        }
        let found = Arc::new(compare::compare(reader, from, to, start)?);
        // Another time there may be more of it.
        if !found.timed_out {
            self.comparisons.insert(key, Arc::clone(&found));
        }
        Ok(found)
    }

    /// How each file differs between two commits, within the limits of diffs that are shown.
    pub fn diff(
        &self,
        reader: &Reader,
        base: Oid,
        head: Oid,
        deadline: Deadline,
    ) -> Result<Arc<[FileDiff]>> {
        let limits = reader.diff_limits();
        self.changes.get_or_insert((base, head, limits), || {
            Ok(reader.diff(Some(base), head, limits, deadline)?.into())
        })
    }

    pub fn blame(&self, at: Oid, path: &TreePath, lines: Option<LineRange>) -> Option<Arc<Blame>> {
        self.blames.get(blame_key(at, path, lines))
    }

    pub fn keep_blame(
        &self,
        at: Oid,
        path: &TreePath,
        lines: Option<LineRange>,
        found: &Arc<Blame>,
    ) {
        self.blames.insert(blame_key(at, path, lines), Arc::clone(found));
    }
}

impl Answers {
    /// A blame as it was sent before.
    pub fn blame_text(&self, at: Oid, path: &TreePath, lines: Option<LineRange>) -> Option<Bytes> {
        let text = self.blame_texts.get(blame_key(at, path, lines))?;
        Some(Bytes::clone(&text))
    }

    pub fn keep_blame_text(
        &self,
        at: Oid,
        path: &TreePath,
        lines: Option<LineRange>,
        text: &Bytes,
    ) {
        self.blame_texts.insert(blame_key(at, path, lines), Arc::new(text.clone()));
    }
}

impl std::fmt::Debug for Answers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answers").finish_non_exhaustive()
    }
}

fn blame_key(at: Oid, path: &TreePath, lines: Option<LineRange>) -> LinesKey {
    (at, path.clone(), lines.map(|lines| (lines.first, lines.last)))
}
