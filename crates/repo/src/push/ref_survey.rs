//! Statistics of many refs in a push: each commit and each range is read once.

use std::collections::HashMap;

use super::RefChange;
use crate::git::{
    Deadline, GitError, LogQuery, Oid, Reader, RefName, Result, change::Refusal, refs,
};

/// New commits are counted no further.
pub(super) const MOST_COUNTED: i64 = 100_000;
/// So many different ways are measured; a push of more is nobody's daily work.
const MOST_WAYS: usize = 500;
const LONGEST_TITLE: usize = 255;

/// From where to where a ref goes.
#[derive(Clone, Debug)]
pub(super) struct RefRange {
    pub(super) name: RefName,
    pub(super) old: Option<Oid>,
    pub(super) new: Option<Oid>,
    /// From where its new commits are counted.
    pub(super) base: Option<Oid>,
}

pub(super) struct RefSurvey<'r> {
    reader: &'r Reader,
    deadline: Deadline,
    /// The commits that objects are, or that tags name, with their titles.
    tips: HashMap<Oid, Option<(Oid, String)>>,
    counts: HashMap<(Oid, Option<Oid>), i64>,
    forced: HashMap<(Oid, Oid), bool>,
}

impl<'r> RefSurvey<'r> {
    pub(super) fn new(reader: &'r Reader, deadline: Deadline) -> Self {
        let (tips, counts, forced) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { reader, deadline, tips, counts, forced }
    }

    /// The change, or why there can be none.
    pub(super) fn change(&mut self, way: RefRange) -> Result<Result<RefChange, (RefName, String)>> {
        let RefRange { name, old, new, base } = way;
        if let (Some(old), Some(_)) = (old, new)
            && self.is_damaged(&name, old)?
        {
            let text = Refusal::Damaged(name.short().into_owned()).to_string();
            return Ok(Err((name, text)));
        }
        let tip = match new {
            Some(id) => self.tip(id)?,
            None => None,
        };
        if name.is_branch() && new.is_some() && tip.as_ref().map(|(commit, _)| *commit) != new {
            let text = format!("{name} can only name a commit.");
            return Ok(Err((name, text)));
        }
        let mut change = RefChange::plain(name, old, new);
        if let Some((commit, title)) = tip {
            change.commit_count = match change.name.is_branch() {
                true => self.count(commit, base)?,
                false => i64::from(change.name.is_tag()),
            };
            change.commit_title = Some(title);
        }
        if let (Some(old), Some(new)) = (old, new) {
            change.forced = self.is_forced(old, new)?;
        }
        Ok(Ok(change))
    }

    /// Whether a branch is where its pusher has seen it, and nobody can read what it is there.
    fn is_damaged(&self, name: &RefName, old: Oid) -> Result<bool> {
        if !name.is_branch() || self.reader.is_sound(old) {
            return Ok(false);
        }
        let now = refs::read_now(self.reader.path(), std::slice::from_ref(name))?;
        Ok(now.get(name) == Some(&old))
    }

    fn tip(&mut self, id: Oid) -> Result<Option<(Oid, String)>> {
        if let Some(known) = self.tips.get(&id) {
            return Ok(known.clone());
        }
        let tip = match self.reader.peeled(id)? {
            Some(commit) => {
                let title = self.reader.commit(commit)?.title;
                Some((commit, title.chars().take(LONGEST_TITLE).collect()))
            }
            None => None,
        };
        self.tips.insert(id, tip.clone());
        Ok(tip)
    }

    /// How many commits of `tip` are not also commits of `base`.
    fn count(&mut self, tip: Oid, base: Option<Oid>) -> Result<i64> {
        if base == Some(tip) {
            return Ok(0);
        }
        if let Some(known) = self.counts.get(&(tip, base)) {
            return Ok(*known);
        }
        if self.counts.len() >= MOST_WAYS {
            return Ok(0);
        }
        let exclude = base.into_iter().collect();
        let take = usize::try_from(MOST_COUNTED).unwrap_or(usize::MAX);
        let query = LogQuery { exclude, take, ..LogQuery::of(tip) };
        let count = match self.reader.log_ids(&query, self.deadline) {
            Ok(ids) => i64::try_from(ids.len()).unwrap_or(i64::MAX),
            // The pusher has seen something that is not there: the move will be refused for that.
            Err(GitError::NotFound) => 0,
            Err(error) => return Err(error),
        };
        self.counts.insert((tip, base), count);
        Ok(count)
    }

    /// Whether commits of `old` are lost. Things that have no history always are.
    fn is_forced(&mut self, old: Oid, new: Oid) -> Result<bool> {
        if let Some(known) = self.forced.get(&(old, new)) {
            return Ok(*known);
        }
        let ends = (self.reader.peeled(old)?, self.reader.peeled(new)?);
        let forced = match ends {
            (Some(old), Some(new)) => !self.reader.merge_bases(&[old, new])?.contains(&old),
            _ => true,
        };
        self.forced.insert((old, new), forced);
        Ok(forced)
    }
}
