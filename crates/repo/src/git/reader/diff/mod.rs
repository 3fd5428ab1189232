//! The difference of two trees, with the files, renames, numbers and hunks that git prints.

pub(super) mod changes;
mod content;
pub(super) mod follow;
mod hunks;
mod renames;

use changes::Change;
use content::Content;

use super::{Reader, diff_limits::DiffLimits};
use crate::git::{ChangeKind, Deadline, FileDiff, LineStats, Oid, Result};

/// Larger files are not read to count their lines.
const COUNTED_BYTES: u64 = 64 << 20;

impl Reader {
    /// How the tree of `from`, or nothing at all, becomes the tree of `to`; ordered by path.
    pub fn diff(
        &self,
        from: Option<Oid>,
        to: Oid,
        limits: DiffLimits,
        deadline: Deadline,
    ) -> Result<Vec<FileDiff>> {
        let mut files = Vec::new();
        let mut room = DiffBudget::of(limits);
        for change in self.changes(from, to, deadline)? {
            deadline.check()?;
            for change in change.split_by_type() {
                files.push(self.file_diff(&change, limits, &mut room)?);
            }
        }
        Ok(files)
    }

    /// As [`diff`](Self::diff), but ends before the first file that is beyond the limits; and whether it did.
    pub fn diff_that_fits(
        &self,
        from: Option<Oid>,
        to: Oid,
        limits: DiffLimits,
        deadline: Deadline,
    ) -> Result<(Vec<FileDiff>, bool)> {
        let mut files = Vec::new();
        let mut room = DiffBudget::of(limits);
        for change in self.changes(from, to, deadline)? {
            deadline.check()?;
            for change in change.split_by_type() {
                let file = self.file_diff(&change, limits, &mut room)?;
                if file.collapsed || files.len() >= limits.files {
                    return Ok((files, true));
                }
                files.push(file);
            }
        }
        Ok((files, false))
    }

    /// What a commit changed; a merge is compared with its first parent.
    pub fn commit_diff(
        &self,
        id: Oid,
        limits: DiffLimits,
        deadline: Deadline,
    ) -> Result<Vec<FileDiff>> {
        self.diff(self.first_parent(id)?, id, limits, deadline)
    }

    /// The lines a commit added and removed; a merge is compared with its first parent.
    pub fn stats(&self, id: Oid, deadline: Deadline) -> Result<LineStats> {
        self.diff_stats(self.first_parent(id)?, id, deadline)
    }

    pub fn stats_of(&self, ids: &[Oid], deadline: Deadline) -> Result<Vec<LineStats>> {
        ids.iter().map(|id| self.stats(*id, deadline)).collect()
    }

    /// The lines added and removed between two trees. Binary and giant files count as none.
    pub fn diff_stats(&self, from: Option<Oid>, to: Oid, deadline: Deadline) -> Result<LineStats> {
        let mut total = LineStats::default();
        for change in self.changes(from, to, deadline)? {
            deadline.check()?;
            if let BlobComparison::Text(before, after) = self.compare(&change, COUNTED_BYTES)? {
                total += hunks::count(&before, &after);
            }
        }
        Ok(total)
    }

    fn first_parent(&self, id: Oid) -> Result<Option<Oid>> {
        let id = self.peel_to_commit(id.gix())?;
        let object = self.object(id)?;
        Ok(object.try_to_commit_ref()?.parents().next().map(|parent| Oid::of(&parent)))
    }

    fn file_diff(
        &self,
        change: &Change,
        limits: DiffLimits,
        room: &mut DiffBudget,
    ) -> Result<FileDiff> {
        let mut file = FileDiff {
            change: change.kind(),
            old_path: change.old_path().clone(),
            new_path: change.path.clone(),
            old_mode: change.old.map(|side| side.mode),
            new_mode: change.new.map(|side| side.mode),
            stats: LineStats::default(),
            binary: false,
            too_large: false,
            collapsed: false,
            text: Vec::new().into(),
        };
        if change.is_same_content() {
            return Ok(file);
        }
        if room.is_used_up() {
            file.collapsed = true;
            return Ok(file);
        }
        match self.compare(change, limits.file_bytes)? {
            BlobComparison::Binary => file.binary = true,
            BlobComparison::TooLarge => file.too_large = true,
            BlobComparison::Text(before, after) => {
                let (text, stats) = hunks::unified(&before, &after);
                file.stats = stats;
                file.too_large = text.len() > limits.patch_bytes;
                file.collapsed = !file.too_large && !room.take(text.len(), stats.total());
                if !file.too_large && !file.collapsed {
                    file.text = text;
                }
            }
        }
        Ok(file)
    }

    fn compare(&self, change: &Change, most: u64) -> Result<BlobComparison> {
        if change.is_same_content() {
            return Ok(BlobComparison::Text(Vec::new(), Vec::new()));
        }
        let before = self.content(change.old, most)?;
        let after = self.content(change.new, most)?;
        Ok(match (before, after) {
            (Content::TooLarge, _) | (_, Content::TooLarge) => BlobComparison::TooLarge,
            (Content::Binary, _) | (_, Content::Binary) => BlobComparison::Binary,
            (Content::Text(before), Content::Text(after)) => BlobComparison::Text(before, after),
        })
    }
}

enum BlobComparison {
    Text(Vec<u8>, Vec<u8>),
    Binary,
    TooLarge,
}

/// The remaining size of the whole diff.
struct DiffBudget {
    bytes: usize,
    lines: u64,
    files: usize,
}

impl DiffBudget {
    fn of(limits: DiffLimits) -> Self {
        Self { bytes: limits.total_bytes, lines: limits.total_lines, files: limits.files }
    }

    fn is_used_up(&self) -> bool {
        self.bytes == 0 || self.lines == 0 || self.files == 0
    }

    /// False when it does not fit; then nothing more will.
    fn take(&mut self, bytes: usize, lines: u64) -> bool {
        let fits = bytes <= self.bytes && lines <= self.lines && self.files > 0;
        self.bytes = if fits { self.bytes - bytes } else { 0 };
        self.lines = self.lines.saturating_sub(lines);
        self.files = self.files.saturating_sub(1);
        fits
    }
}

impl Change {
    fn kind(&self) -> ChangeKind {
        match (self.old, self.new) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            _ if self.source.is_some() => ChangeKind::Renamed,
            _ => ChangeKind::Modified,
        }
    }
}
