//! New objects: gathered in memory, then made durable before any ref may name them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::objs::{Kind, WriteTo};

use super::blocking::blocking;
use super::cli::Git;
use super::open::open;
use super::{GitError, Oid, RepoPath};

/// Up to so many objects are written one by one, at two syncs each; beyond, they become one pack at three syncs and
/// a process. Packs are not worth it for less: every read looks into each of them until the next repack.
const FEW: usize = 16;

struct NewObject {
    id: Oid,
    kind: Kind,
    body: Bytes,
}

/// Objects by content, in the order in which they were made: whatever an object names comes before it.
#[derive(Default)]
pub struct NewObjects {
    objects: Vec<NewObject>,
    places: HashMap<Oid, usize>,
}

impl NewObjects {
    /// Keeps an object and tells its name. The same content is kept once.
    pub fn add(&mut self, kind: Kind, body: impl Into<Bytes>) -> Result<Oid, GitError> {
        let body = body.into();
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, &body)
            .map_err(GitError::corrupt)?;
        let id = Oid::of(&id);
        if let Entry::Vacant(place) = self.places.entry(id) {
            place.insert(self.objects.len());
            self.objects.push(NewObject { id, kind, body });
        }
        Ok(id)
    }

    pub fn add_encoded(&mut self, object: &impl WriteTo) -> Result<Oid, GitError> {
        let mut body = Vec::new();
        object.write_to(&mut body)?;
        self.add(object.kind(), body)
    }

    pub fn body(&self, id: Oid) -> Option<&[u8]> {
        self.places.get(&id).map(|place| self.objects[*place].body.as_ref())
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Writes what the repository lacks and returns when it would survive a power cut. Tells how many bytes that were.
    pub async fn persist(self, git: &Git, repo: &RepoPath) -> Result<i64, GitError> {
        let place = repo.clone();
        let stored = blocking(move || self.store(&open(&place)?, &place)).await?;
        stored.persist(git, repo).await
    }

    /// Writes loose objects, or makes the pack that is better written by git. `known` was opened just now.
    pub(super) fn store(
        mut self,
        known: &gix::Repository,
        repo: &RepoPath,
    ) -> Result<ObjectStorage, GitError> {
        self.objects.retain(|object| !gix::objs::Exists::exists(&known.objects, &object.id.gix()));
        if self.objects.len() > FEW {
            return self.pack().map(ObjectStorage::Pack);
        }
        self.write_loose(&repo.as_path().join("objects")).map(ObjectStorage::Loose)
    }

    /// Writes every object as a file of its own below `folder`, durably. Tells how many bytes that were.
    pub(super) fn write_loose(&self, folder: &Path) -> Result<i64, GitError> {
        let mut written = 0;
        let mut touched = BTreeSet::new();
        for object in &self.objects {
            let name = object.id.to_string();
            let (fan_out, rest) = name.split_at(2);
            let home = folder.join(fan_out);
            if create_folder(&home)? {
                touched.insert(folder.to_path_buf());
            }
            written += object.write_loose(&home, rest)?;
            touched.insert(home);
        }
        for folder in touched {
            File::open(folder)?.sync_all()?;
        }
        Ok(written)
    }

    /// All objects as one pack file, without deltas: the next repack makes them.
    fn pack(&self) -> Result<Vec<u8>, GitError> {
        let count = u32::try_from(self.objects.len()).or(Err(GitError::TooLarge))?;
        let mut pack = b"PACK\0\0\0\x02".to_vec();
        pack.extend_from_slice(&count.to_be_bytes());
        for object in &self.objects {
            push_header(&mut pack, object.kind, object.body.len());
            pack = deflate(pack, &[&object.body])?;
        }
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(&pack);
        let checksum = hasher.try_finalize().map_err(GitError::corrupt)?;
        pack.extend_from_slice(checksum.as_slice());
        Ok(pack)
    }
}

/// The location of new objects.
pub(super) enum ObjectStorage {
    /// Durable on disk, in so many bytes.
    Loose(i64),
    /// In a pack that git has yet to take.
    Pack(Vec<u8>),
}

impl ObjectStorage {
    /// Returns when the objects would survive a power cut. Tells how many bytes they take.
    pub(super) async fn persist(self, git: &Git, repo: &RepoPath) -> Result<i64, GitError> {
        match self {
            Self::Loose(bytes) => Ok(bytes),
            Self::Pack(pack) => {
                let bytes = i64::try_from(pack.len()).unwrap_or(i64::MAX);
                git.at(repo, "index-pack").args(["--stdin"]).input(pack).succeed().await?;
                Ok(bytes)
            }
        }
    }
}

impl NewObject {
    /// Tells how many bytes were written.
    fn write_loose(&self, home: &Path, name: &str) -> Result<i64, GitError> {
        let header = format!("{} {}\0", self.kind, self.body.len());
        let bytes = deflate(Vec::new(), &[header.as_bytes(), &self.body])?;
        // git takes files of this name for its own leftovers and cleans them up.
        let mut file = tempfile::Builder::new().prefix("tmp_obj_").tempfile_in(home)?;
        file.write_all(&bytes)?;
        make_read_only(file.as_file())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(home.join(name)) {
            Ok(_) => Ok(i64::try_from(bytes.len()).unwrap_or(i64::MAX)),
            // Somebody else wrote the same content.
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(0),
            Err(error) => Err(error.error.into()),
        }
    }
}

fn make_read_only(file: &File) -> Result<(), GitError> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.set_permissions(fs::Permissions::from_mode(0o444))?)
}

/// True when the folder was not there before.
pub(super) fn create_folder(folder: &Path) -> Result<bool, GitError> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn deflate(into: Vec<u8>, parts: &[&[u8]]) -> Result<Vec<u8>, GitError> {
    let mut encoder = ZlibEncoder::new(into, Compression::fast());
    for part in parts {
        encoder.write_all(part)?;
    }
    Ok(encoder.finish()?)
}

/// The type and the size of an entry: four bits, then seven at a time, lowest first.
fn push_header(pack: &mut Vec<u8>, kind: Kind, size: usize) {
    let kind = match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let low = |bits: usize, width: u32| u8::try_from(bits & ((1 << width) - 1)).unwrap_or_default();
    let mut rest = size >> 4;
    let mut byte = (kind << 4) | low(size, 4);
    while rest > 0 {
        pack.push(byte | 0x80);
        byte = low(rest, 7);
        rest >>= 7;
    }
    pack.push(byte);
}
