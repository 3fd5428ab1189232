//! Which commits surely leave a path alone: the Bloom filters that `commit-graph write --changed-paths` adds, which
//! gix does not read. With them, the history of a rarely changed file needs almost no trees.

use std::{
    fs::{self, File, Metadata},
    io,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use gix::ObjectId;

use crate::git::{GitError, Result, TreePath};

const CHAIN: &str = "objects/info/commit-graphs/commit-graph-chain";
const SINGLE: &str = "objects/info/commit-graph";
const CHECKSUM: u64 = 20;
/// One row of the table of chunks: a name and where it begins.
const ROW: usize = 12;
/// The filters' version, their number of hashes, and a number that only writers need.
const FILTERS_HEADER: usize = 12;
const SEEDS: [u32; 2] = [0x293a_e76f, 0x7e64_6e2c];

/// Tells whether the files are still those that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// `None` when there is no commit-graph file at all.
    pub(super) fn of(repo: &Path) -> Option<Self> {
        let found = |path: &str| fs::metadata(repo.join(path)).ok();
        let of = |found: Metadata| Self { size: found.len(), modified: found.modified().ok() };
        found(SINGLE).or_else(|| found(CHAIN)).map(of)
    }
}

/// The filters of one repository.
#[derive(Default)]
pub(super) struct ChangedPaths(Vec<Layer>);

/// One file of the commit-graph.
struct Layer {
    commits: gix::commitgraph::File,
    /// For each commit where its filter ends, as big-endian numbers.
    ends: Vec<u8>,
    filters: Vec<u8>,
    hashes: u32,
}

impl ChangedPaths {
    /// What can be read of the filters; without any, nothing is sure.
    pub(super) fn read(repo: &Path) -> Self {
        Self(files(repo).iter().filter_map(|path| Layer::read(path).ok().flatten()).collect())
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|layer| layer.ends.len() + layer.filters.len()).sum()
    }

    /// True only if the commit is the same as its first parent, or as nothing when it has none, at that path.
    pub(super) fn surely_same(&self, commit: ObjectId, path: &PathKeys) -> bool {
        self.0
            .iter()
            .find_map(|layer| layer.filter(commit).map(|filter| (filter, layer.hashes)))
            .is_some_and(|(filter, hashes)| !path.may_be_in(filter, hashes))
    }
}

/// The commit-graph's files: one, or a chain of them. As gix, looks for the single one first.
fn files(repo: &Path) -> Vec<PathBuf> {
    let single = repo.join(SINGLE);
    if single.is_file() {
        return vec![single];
    }
    let chain = fs::read_to_string(repo.join(CHAIN)).unwrap_or_default();
    let folder = repo.join(CHAIN).with_file_name("");
    chain.lines().map(|hash| folder.join(format!("graph-{hash}.graph"))).collect()
}

impl Layer {
    /// `None` when the file has no filters that we know.
    fn read(path: &Path) -> Result<Option<Self>> {
        let file = File::open(path)?;
        let commits = gix::commitgraph::File::at(path)?;
        let size = file.metadata()?.len();
        let checksum = read(&file, size.saturating_sub(CHECKSUM)..size)?;
        if checksum != commits.checksum().as_bytes() {
            // Replaced between the two openings.
            return Ok(None);
        }
        let chunks = Chunks::read(&file)?;
        let (Some(ends), Some(filters)) = (chunks.find(*b"BIDX"), chunks.find(*b"BDAT")) else {
            return Ok(None);
        };
        let (ends, filters) = (read(&file, ends)?, read(&file, filters)?);
        let (version, hashes) = (number(&filters, 0), number(&filters, 4));
        let is_known = matches!(version, Some(1 | 2));
        Ok(hashes.filter(|_| is_known).map(|hashes| Self { commits, ends, filters, hashes }))
    }

    /// The commit's filter; `None` when it is not in this file or was too expensive to make.
    fn filter(&self, commit: ObjectId) -> Option<&[u8]> {
        let position = usize::try_from(self.commits.lookup(commit)?.0).ok()?;
        let end = |position: usize| {
            let end = usize::try_from(number(&self.ends, position * 4)?).ok()?;
            end.checked_add(FILTERS_HEADER)
        };
        let start = if position == 0 { FILTERS_HEADER } else { end(position - 1)? };
        let filter = self.filters.get(start..end(position)?)?;
        (!filter.is_empty()).then_some(filter)
    }
}

/// The table at the beginning of a file.
struct Chunks(Vec<u8>);

impl Chunks {
    fn read(file: &File) -> Result<Self> {
        let header = read(file, 0..8)?;
        // A last row only tells where the last chunk ends.
        let rows = u64::from(header[6]) + 1;
        let length = rows * u64::try_from(ROW).unwrap_or(u64::MAX);
        Ok(Self(read(file, 8..8 + length)?))
    }

    fn find(&self, name: [u8; 4]) -> Option<std::ops::Range<u64>> {
        let mut rows = self.0.chunks_exact(ROW).skip_while(|row| !row.starts_with(&name));
        let start = |row: &[u8]| row[4..].try_into().map(u64::from_be_bytes).ok();
        Some(start(rows.next()?)?..start(rows.next()?)?)
    }
}

fn read(file: &File, range: std::ops::Range<u64>) -> Result<Vec<u8>> {
    let length = range.end.checked_sub(range.start).and_then(|length| usize::try_from(length).ok());
    let within = range.end <= file.metadata()?.len();
    let Some(length) = length.filter(|_| within) else {
        return Err(GitError::Io(io::Error::from(io::ErrorKind::UnexpectedEof)));
    };
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, range.start)?;
    Ok(bytes)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().map(u32::from_be_bytes).ok()
}

/// A path and the folders above it, as the filters know them.
pub(super) struct PathKeys(Vec<[u32; 2]>);

impl PathKeys {
    /// `None` for names with bytes that git's first version of the hash got wrong.
    pub(super) fn new(path: &TreePath) -> Option<Self> {
        let mut keys = Vec::new();
        let mut part = path.clone();
        while !part.is_root() {
            keys.push(SEEDS.map(|seed| murmur3(seed, part.as_bstr())));
            part = part.parent();
        }
        path.as_bstr().is_ascii().then_some(Self(keys))
    }

    fn may_be_in(&self, filter: &[u8], hashes: u32) -> bool {
        let bits = u64::try_from(filter.len()).unwrap_or(u64::MAX) * 8;
        self.0.iter().all(|[first, second]| {
            (0..hashes).all(|nth| {
                let bit = u64::from(first.wrapping_add(nth.wrapping_mul(*second))) % bits;
                let byte = usize::try_from(bit / 8).ok().and_then(|at| filter.get(at));
                byte.is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
            })
        })
    }
}

/// The 32-bit Murmur hash, version 3.
fn murmur3(seed: u32, bytes: &[u8]) -> u32 {
    let mix = |word: u32| word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let words = bytes.chunks_exact(4);
    let rest = words.remainder();
    let mut hash = words.fold(seed, |hash, word| {
        let word = word.iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte));
        (hash ^ mix(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    hash ^= mix(rest.iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte)));
    hash ^= u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::murmur3;

    /// Values that git's tests of its own hash give.
    #[test]
    fn the_hash_is_that_of_the_format() {
        assert_eq!(murmur3(0, b""), 0);
        assert_eq!(murmur3(0, b"Hello world!"), 0x627b_0c2c);
        assert_eq!(murmur3(0, b"The quick brown fox jumps over the lazy dog"), 0x2e4f_f723);
    }
}
