//! Which added files were there before under another name. The steps and numbers are git's, since a file that is a
//! rename for one and not for the other would make every comparison with git's own output useless.

use std::{
    cmp::{Ordering, Reverse},
    collections::HashMap,
};

use bstr::BString;
use gix::ObjectId;

use super::{
    super::Reader,
    changes::{Change, Side, is_regular},
    content::is_binary,
};
use crate::git::{Deadline, Oid, Result, TreePath};

/// Similarities are counted in parts of this.
const ALL: u64 = 60_000;
const ENOUGH: u64 = ALL / 2;
/// What files of the same name need, as long as no other file competes for it.
const ENOUGH_FOR_NAMESAKES: u64 = ENOUGH + (ALL - ENOUGH) / 2;
/// Added and deleted files are only compared each with each up to this many of both.
const MOST_COMPARED: usize = 1000;
/// The best sources that are remembered for each added file.
const CANDIDATES: usize = 4;
/// Larger files are only ever renamed unchanged.
const LARGEST: u64 = 32 << 20;
/// Equal sources beyond this are not looked at.
const MOST_IDENTICAL: usize = 101;

/// A file that a rename could come from or lead to.
pub(super) struct Candidate {
    pub(super) path: TreePath,
    pub(super) side: Side,
}

/// Joins deletions and additions that are one rename.
pub(super) fn pair(
    reader: &Reader,
    changes: Vec<Change>,
    deadline: Deadline,
) -> Result<Vec<Change>> {
    let candidate = |change: &Change, side: Option<Side>| {
        side.map(|side| Candidate { path: change.path.clone(), side })
    };
    let sources: Vec<Candidate> = changes
        .iter()
        .filter(|change| change.new.is_none())
        .filter_map(|change| candidate(change, change.old))
        .collect();
    let targets: Vec<Candidate> = changes
        .iter()
        .filter(|change| change.old.is_none())
        .filter_map(|change| candidate(change, change.new))
        .collect();
    if sources.is_empty() || targets.is_empty() {
        return Ok(changes);
    }
    let mut search = Search::new(reader, &sources, &targets, deadline);
    search.run()?;
    let renamed: HashMap<&TreePath, &Candidate> = (targets.iter().zip(&search.matches))
        .filter_map(|(target, source)| Some((&target.path, &sources[(*source)?])))
        .collect();
    let gone: std::collections::HashSet<&TreePath> =
        renamed.values().map(|source| &source.path).collect();
    let mut joined = Vec::with_capacity(changes.len());
    for change in changes {
        if change.new.is_none() && gone.contains(&change.path) {
            continue;
        }
        let source = if change.old.is_none() { renamed.get(&change.path) } else { None };
        joined.push(match source {
            Some(source) => {
                Change { old: Some(source.side), source: Some(source.path.clone()), ..change }
            }
            None => change,
        });
    }
    Ok(joined)
}

/// Where the file `target` was copied or moved from, among all files of the tree before; `kept` tells which of these
/// still exist.
pub(super) fn origin(
    reader: &Reader,
    sources: &[Candidate],
    kept: Vec<bool>,
    target: Candidate,
    deadline: Deadline,
) -> Result<Option<TreePath>> {
    let targets = [target];
    let mut search = Search::new(reader, sources, &targets, deadline);
    search.used = kept;
    search.copies = true;
    search.run()?;
    Ok(search.matches[0].map(|source| sources[source].path.clone()))
}

struct Search<'a> {
    reader: &'a Reader,
    deadline: Deadline,
    sources: &'a [Candidate],
    targets: &'a [Candidate],
    /// Sources that still exist, or that a target was found for.
    used: Vec<bool>,
    /// Whether a source may serve although it is used.
    copies: bool,
    /// For each target its source.
    matches: Vec<Option<usize>>,
    sizes: HashMap<ObjectId, u64>,
    spans: HashMap<ObjectId, HashMap<u32, u64>>,
}

/// The similarity of a source to a target.
#[derive(Clone, Copy)]
struct RenameScore {
    target: usize,
    source: usize,
    score: u64,
    is_namesake: bool,
}

impl<'a> Search<'a> {
    fn new(
        reader: &'a Reader,
        sources: &'a [Candidate],
        targets: &'a [Candidate],
        deadline: Deadline,
    ) -> Self {
        Self {
            reader,
            deadline,
            sources,
            targets,
            used: vec![false; sources.len()],
            copies: false,
            matches: vec![None; targets.len()],
            sizes: HashMap::new(),
            spans: HashMap::new(),
        }
    }

    fn run(&mut self) -> Result<()> {
        self.match_identical();
        if !self.copies {
            self.match_namesakes()?;
        }
        let sources: Vec<usize> =
            (0..self.sources.len()).filter(|index| self.copies || !self.used[*index]).collect();
        let open = self.matches.iter().filter(|found| found.is_none()).count();
        if open * sources.len() > MOST_COMPARED * MOST_COMPARED {
            return Ok(());
        }
        let fits = self.best_fits(&sources)?;
        self.take(&fits, false);
        if self.copies {
            self.take(&fits, true);
        }
        Ok(())
    }

    fn accept(&mut self, target: usize, source: usize) {
        self.matches[target] = Some(source);
        self.used[source] = true;
    }

    fn match_identical(&mut self) {
        let mut by_id: HashMap<ObjectId, Vec<usize>> = HashMap::new();
        for (index, source) in self.sources.iter().enumerate() {
            by_id.entry(source.side.id).or_default().push(index);
        }
        for (target, wanted) in self.targets.iter().enumerate() {
            let Some(same) = by_id.get(&wanted.side.id) else { continue };
            let mut best: Option<(u8, usize)> = None;
            for index in same.iter().copied().take(MOST_IDENTICAL) {
                let source = &self.sources[index];
                let fits = source.side.mode == wanted.side.mode
                    || (is_regular(source.side.mode) && is_regular(wanted.side.mode));
                if !fits || (self.used[index] && !self.copies) {
                    continue;
                }
                let score = u8::from(!self.used[index]) + u8::from(are_namesakes(source, wanted));
                if best.is_none_or(|(known, _)| score > known) {
                    best = Some((score, index));
                }
            }
            if let Some((_, source)) = best {
                self.accept(target, source);
            }
        }
    }

    /// A name that only one deleted and one added file have is tried first.
    fn match_namesakes(&mut self) -> Result<()> {
        let open_sources = (0..self.sources.len()).filter(|index| !self.used[*index]);
        let sources = only_of_name(self.sources, open_sources);
        let open_targets = (0..self.targets.len()).filter(|index| self.matches[*index].is_none());
        let targets = only_of_name(self.targets, open_targets);
        for source in 0..self.sources.len() {
            self.deadline.check()?;
            let name = self.sources[source].path.name();
            let (Some(Some(only)), Some(Some(target))) = (sources.get(name), targets.get(name))
            else {
                continue;
            };
            if *only == source
                && self.similarity(source, *target, ENOUGH_FOR_NAMESAKES)? >= ENOUGH_FOR_NAMESAKES
            {
                self.accept(*target, source);
            }
        }
        Ok(())
    }

    /// The best sources of every open target, best first.
    fn best_fits(&mut self, sources: &[usize]) -> Result<Vec<RenameScore>> {
        let mut all = Vec::new();
        for target in 0..self.targets.len() {
            if self.matches[target].is_some() {
                continue;
            }
            let mut best: Vec<RenameScore> = Vec::with_capacity(CANDIDATES);
            for source in sources.iter().copied() {
                self.deadline.check()?;
                let score = self.similarity(source, target, ENOUGH)?;
                let is_namesake = are_namesakes(&self.sources[source], &self.targets[target]);
                keep_if_better(&mut best, RenameScore { target, source, score, is_namesake });
            }
            all.extend(best);
        }
        all.sort_by(by_fit);
        Ok(all)
    }

    fn take(&mut self, fits: &[RenameScore], used: bool) {
        for fit in fits.iter().take_while(|fit| fit.score >= ENOUGH) {
            if self.matches[fit.target].is_none() && (used || !self.used[fit.source]) {
                self.accept(fit.target, fit.source);
            }
        }
    }

    /// How much of the larger file comes from the other; zero when it cannot reach `least`.
    fn similarity(&mut self, source: usize, target: usize, least: u64) -> Result<u64> {
        let (source, target) = (self.sources[source].side, self.targets[target].side);
        if !is_regular(source.mode) || !is_regular(target.mode) {
            return Ok(0);
        }
        let (one, other) = (self.size(source.id)?, self.size(target.id)?);
        let (largest, difference) = (one.max(other), one.abs_diff(other));
        if largest == 0 || largest > LARGEST || largest * (ALL - least) < difference * ALL {
            return Ok(0);
        }
        self.load_spans(source.id)?;
        self.load_spans(target.id)?;
        let (Some(before), Some(after)) = (self.spans.get(&source.id), self.spans.get(&target.id))
        else {
            return Ok(0);
        };
        let copied: u64 =
            before.iter().map(|(span, bytes)| *bytes.min(after.get(span).unwrap_or(&0))).sum();
        Ok(copied * ALL / largest)
    }

    fn size(&mut self, id: ObjectId) -> Result<u64> {
        if let Some(size) = self.sizes.get(&id) {
            return Ok(*size);
        }
        let size = self.reader.blob_info(Oid::of(&id))?.size;
        self.sizes.insert(id, size);
        Ok(size)
    }

    fn load_spans(&mut self, id: ObjectId) -> Result<()> {
        if !self.spans.contains_key(&id) {
            let content = self.reader.blob(Oid::of(&id), LARGEST)?;
            self.spans.insert(id, spans(&content));
        }
        Ok(())
    }
}

/// For each name the one file that has it, `None` where several do.
fn only_of_name(
    files: &[Candidate],
    open: impl Iterator<Item = usize>,
) -> HashMap<BString, Option<usize>> {
    let mut names = HashMap::new();
    for index in open {
        names
            .entry(files[index].path.name().to_owned())
            .and_modify(|only| *only = None)
            .or_insert(Some(index));
    }
    names
}

fn are_namesakes(one: &Candidate, other: &Candidate) -> bool {
    one.path.name() == other.path.name()
}

fn by_fit(one: &RenameScore, other: &RenameScore) -> Ordering {
    (Reverse(one.score), Reverse(one.is_namesake))
        .cmp(&(Reverse(other.score), Reverse(other.is_namesake)))
}

/// Replaces the worst of a full list, the first of these where several are.
fn keep_if_better(best: &mut Vec<RenameScore>, fit: RenameScore) {
    if best.len() < CANDIDATES {
        best.push(fit);
        return;
    }
    let mut worst = 0;
    for index in 1..best.len() {
        if by_fit(&best[index], &best[worst]).is_gt() {
            worst = index;
        }
    }
    if by_fit(&best[worst], &fit).is_gt() {
        best[worst] = fit;
    }
}

/// How many bytes of a file lie in each of its pieces: lines, or 64 bytes of a longer line, known by a hash.
fn spans(content: &[u8]) -> HashMap<u32, u64> {
    const PIECE: u64 = 64;
    const HASHES: u32 = 107_927;
    let is_text = !is_binary(content);
    let mut found = HashMap::new();
    let (mut low, mut high, mut length) = (0_u32, 0_u32, 0_u64);
    for (at, byte) in content.iter().copied().enumerate() {
        if is_text && byte == b'\r' && content.get(at + 1) == Some(&b'\n') {
            continue;
        }
        let before = low;
        low = ((low << 7) ^ (high >> 25)).wrapping_add(u32::from(byte));
        high = (high << 7) ^ (before >> 25);
        length += 1;
        if length >= PIECE || byte == b'\n' {
            *found.entry(low.wrapping_add(high.wrapping_mul(0x61)) % HASHES).or_default() += length;
            (low, high, length) = (0, 0, 0);
        }
    }
    if length > 0 {
        *found.entry(low.wrapping_add(high.wrapping_mul(0x61)) % HASHES).or_default() += length;
    }
    found
}
