//! From what a caller wrote to a commit, by git's rules: `main`, `v1.0`, `refs/heads/x`, `HEAD~2`, `a1b2c3d`, `a..b`.

use std::collections::HashSet;

use bstr::{BStr, BString, ByteSlice as _};
use gix::{ObjectId, hash::Prefix, objs::Kind};

use super::Reader;
use crate::git::{GitError, Oid, RefInfo, Result};

/// What a branch or tag may be called in all, with `refs/remotes/` before it.
const LONGEST_NAME: usize = 1024;

/// Steps such as `~5` go no further than this.
const MOST_STEPS: u32 = 100_000;

/// A range of commits: those that lead to `tips` but not to `exclude`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub tips: Vec<Oid>,
    pub exclude: Vec<Oid>,
}

impl Reader {
    /// The commit that `text` means: a full id, HEAD, the full name of a ref, a tag, a branch, an abbreviated id; each
    /// with steps like `~2`, `^`, `^2` behind it. Whatever cannot be read so is not found. Git looks in the same order:
    /// were it another one, a branch could take the place of a protected tag of its name.
    pub fn resolve(&self, text: &str) -> Result<Oid> {
        let split = text.find(['~', '^']).unwrap_or(text.len());
        let (base, steps) = text.split_at(split);
        let mut id = self.resolve_base(base)?;
        for step in Steps(steps) {
            id = self.take(step?, id)?;
        }
        Ok(Oid::of(&id))
    }

    /// As [`resolve`](Self::resolve), where `a..b` and `a...b` are understood too; a missing side is HEAD.
    pub fn resolve_range(&self, text: &str) -> Result<Range> {
        let side = |text: &str| self.resolve(if text.is_empty() { "HEAD" } else { text });
        if let Some((left, right)) = text.split_once("...") {
            let (left, right) = (side(left)?, side(right)?);
            return Ok(Range {
                tips: vec![left, right],
                exclude: self.merge_bases(&[left, right])?,
            });
        }
        match text.split_once("..") {
            Some((left, right)) => {
                Ok(Range { tips: vec![side(right)?], exclude: vec![side(left)?] })
            }
            None => Ok(Range { tips: vec![self.resolve(text)?], exclude: Vec::new() }),
        }
    }

    /// Where a revision ends and a path begins in `feature/x/lib/a.c`: after the longest name of a ref, else after the
    /// first part. What is no text names no revision.
    pub fn split_revision(&self, place: &BStr) -> Result<(String, BString)> {
        let at = |end: usize| {
            let name = place[..end].to_str().or(Err(GitError::NotFound))?.to_owned();
            let path = place.get(end + 1..).unwrap_or_default();
            Ok((name, BString::from(path)))
        };
        let ends = place.find_iter("/").chain([place.len()]).take_while(|end| *end <= LONGEST_NAME);
        let ends: Vec<usize> = ends.collect();
        let first = ends.first().copied().ok_or(GitError::NotFound)?;
        if first == 40 && place[..first].iter().all(u8::is_ascii_hexdigit) {
            return at(first);
        }
        for end in ends.iter().rev() {
            let Ok(name) = place[..*end].to_str() else { continue };
            if self.find_named(name)?.is_some() {
                return at(*end);
            }
        }
        at(first)
    }

    fn resolve_base(&self, base: &str) -> Result<ObjectId> {
        if let Ok(id) = base.parse::<Oid>() {
            match self.peel_to_commit(id.gix()) {
                Err(GitError::NotFound) => {}
                found => return found,
            }
        }
        if matches!(base, "HEAD" | "@") {
            return self.head();
        }
        match self.find_named(base)? {
            Some(RefInfo { commit: Some(commit), .. }) => Ok(commit.gix()),
            // A tag of a tree, or a ref whose object is lost.
            Some(RefInfo { target, .. }) => {
                self.peel(target.gix()).map_err(GitError::lost)?.ok_or(GitError::NotFound)
            }
            None => self.resolve_prefix(base),
        }
    }

    fn head(&self) -> Result<ObjectId> {
        let id = self.repo.head()?.try_peel_to_id()?.ok_or(GitError::NotFound)?;
        self.peel_to_commit(id.detach())
    }

    /// An abbreviated id of at least four digits; where several objects share it, the only commit among them.
    fn resolve_prefix(&self, text: &str) -> Result<ObjectId> {
        if text.len() < 4 || text.len() > 40 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(GitError::NotFound);
        }
        let prefix = Prefix::from_hex(text).map_err(GitError::corrupt)?;
        let mut candidates = HashSet::default();
        self.repo.objects.lookup_prefix(prefix, Some(&mut candidates))?;
        let mut commits = Vec::new();
        for id in candidates {
            match self.header(id)?.0 {
                Kind::Commit => commits.push(id),
                Kind::Tag => commits.extend(self.peel(id).map_err(GitError::lost)?),
                Kind::Tree | Kind::Blob => {}
            }
        }
        match commits.as_slice() {
            [only] => Ok(*only),
            _ => Err(GitError::NotFound),
        }
    }

    fn take(&self, step: Step, from: ObjectId) -> Result<ObjectId> {
        let parent = |id: ObjectId, nth: usize| -> Result<ObjectId> {
            let commit = self.object(id)?;
            let commit = commit.try_to_commit_ref()?;
            commit.parents().nth(nth).ok_or(GitError::NotFound)
        };
        match step {
            Step::Parent(0) => Ok(from),
            Step::Parent(nth) => {
                parent(from, usize::try_from(nth).or(Err(GitError::NotFound))? - 1)
            }
            Step::Back(count) => (0..count).try_fold(from, |id, _| parent(id, 0)),
        }
    }
}

#[derive(Clone, Copy)]
enum Step {
    /// `^n`
    Parent(u32),
    /// `~n`
    Back(u32),
}

struct Steps<'a>(&'a str);

impl Iterator for Steps<'_> {
    type Item = Result<Step>;

    fn next(&mut self) -> Option<Self::Item> {
        let mark = self.0.chars().next()?;
        let rest = &self.0[mark.len_utf8()..];
        if let Some(rest) = rest.strip_prefix("{commit}").or_else(|| rest.strip_prefix("{}"))
            && mark == '^'
        {
            self.0 = rest;
            return Some(Ok(Step::Parent(0)));
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at(digits);
        self.0 = rest;
        let count = if number.is_empty() { Some(1) } else { number.parse().ok() };
        let count = count.filter(|count| *count <= MOST_STEPS);
        Some(match (mark, count) {
            ('^', Some(nth)) => Ok(Step::Parent(nth)),
            ('~', Some(count)) => Ok(Step::Back(count)),
            _ => {
                self.0 = "";
                Err(GitError::NotFound)
            }
        })
    }
}
