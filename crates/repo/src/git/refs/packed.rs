//! `packed-refs`: many refs in one sorted file, which is read as a whole and written anew.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead as _, BufReader, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use bstr::{BStr, BString, ByteSlice as _};
use gix::refs::packed::Buffer;

use crate::git::{GitError, Oid, RefName, RepoPath, Result, lock_file::LockFile};

pub(super) const NAME: &str = "packed-refs";
/// Where git, too, writes the next one. Whoever has the lock may do so.
pub(crate) const NEXT: &str = "packed-refs.new";
const FULLY_PEELED: &str = "# pack-refs with: peeled fully-peeled sorted \n";
/// For files that do not say of each tag what it stands for.
const SORTED: &str = "# pack-refs with: sorted \n";
/// Larger files are mapped, not read.
const READ: u64 = 64 << 10;

/// The file as it is now.
pub(super) struct PackedRefs {
    /// None where there is no such file.
    refs: Option<Buffer>,
    place: PathBuf,
}

/// New targets of refs; `None` removes a ref.
pub(super) type Edits = BTreeMap<BString, Option<Target>>;

/// The object of a ref, and the peeled object of a tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) id: Oid,
    pub(super) peeled: Option<Oid>,
}

impl PackedRefs {
    pub(super) fn open(repo: &RepoPath) -> Result<Self> {
        let place = repo.as_path().join(NAME);
        // A file that cannot be looked at is not one that is not there: all in it would be written over.
        let refs = match fs::metadata(&place) {
            Ok(_) => Some(Buffer::open(place.clone(), READ, gix::hash::Kind::Sha1)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { refs, place })
    }

    pub(super) fn find(&self, name: &RefName) -> Result<Option<Oid>> {
        let Some(refs) = &self.refs else { return Ok(None) };
        let found = refs.try_find(name.as_bstr())?;
        let found = found.filter(|found| found.name.as_bstr() == name.as_bstr());
        Ok(found.map(|found| Oid::of(&found.target())))
    }

    /// Whether there are refs for which this name would have to be a folder.
    pub(super) fn has_below(&self, name: &RefName) -> Result<bool> {
        let Some(refs) = &self.refs else { return Ok(false) };
        let mut folder = name.as_bstr().to_owned();
        folder.push(b'/');
        Ok(refs.iter_prefixed(folder)?.next().transpose()?.is_some())
    }

    /// Writes what the file is to be, durably, beside it.
    pub(super) fn write(&self, repo: &RepoPath, edits: &Edits) -> Result<LockFile> {
        let place = repo.as_path().join(NEXT);
        let mut next = match LockFile::create(place.clone()) {
            // A process that is gone has left it: the lock is ours.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                fs::remove_file(&place)?;
                LockFile::create(place)?
            }
            made => made?,
        };
        next.fill(|file| {
            let mut text = BufWriter::new(file);
            text.write_all(self.header()?.as_bytes())?;
            self.merge(&mut text, edits)?;
            text.flush()?;
            Ok::<_, GitError>(file.set_modified(self.next_moment())?)
        })?;
        Ok(next)
    }

    fn header(&self) -> Result<&'static str> {
        if self.refs.is_none() {
            return Ok(FULLY_PEELED);
        }
        let mut first = String::new();
        BufReader::new(File::open(&self.place)?).read_line(&mut first)?;
        Ok(if first.contains(" fully-peeled ") { FULLY_PEELED } else { SORTED })
    }

    /// Both are in the order of their names.
    fn merge(&self, text: &mut impl Write, edits: &Edits) -> Result<()> {
        let mut edits = edits.iter().peekable();
        if let Some(refs) = &self.refs {
            for stored in refs.iter()? {
                let stored = stored?;
                let name = stored.name.as_bstr();
                while let Some((before, target)) = edits.next_if(|(edited, _)| *edited < name) {
                    put(text, before.as_bstr(), *target)?;
                }
                match edits.next_if(|(edited, _)| *edited == name) {
                    Some((_, target)) => put(text, name, *target)?,
                    None => {
                        let peeled = stored.object.map(|_| Oid::of(&stored.object()));
                        put(text, name, Some(Target { id: Oid::of(&stored.target()), peeled }))?;
                    }
                }
            }
        }
        edits.try_for_each(|(name, target)| put(text, name.as_bstr(), *target))
    }

    /// Readers tell by the time of the file whether they have to read it again, and file systems tell time coarsely.
    #[expect(
        clippy::disallowed_methods,
        reason = "git compares the file's time with the clock of the machine"
    )]
    fn next_moment(&self) -> SystemTime {
        let now = SystemTime::now();
        let last = fs::metadata(&self.place).and_then(|about| about.modified());
        last.map_or(now, |last| now.max(last + Duration::from_nanos(1)))
    }
}

fn put(text: &mut impl Write, name: &BStr, target: Option<Target>) -> Result<()> {
    let Some(Target { id, peeled }) = target else { return Ok(()) };
    write!(text, "{id} ")?;
    text.write_all(name)?;
    text.write_all(b"\n")?;
    if let Some(peeled) = peeled {
        writeln!(text, "^{peeled}")?;
    }
    Ok(())
}

/// The file that keeps others from writing it.
pub(super) fn lock_of(repo: &Path) -> PathBuf {
    repo.join("packed-refs.lock")
}
