//! Large files in the place of their pointers, in archives: git starts our program for each file that its attributes
//! call large, and sends what the program prints.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use futures_util::TryStreamExt as _;
use objects::Bucket;
use tempfile::NamedTempFile;

use super::{
    LfsFiles, LfsId, Pointer,
    files::{KIND, name_of},
};

/// What the link to our program is called.
pub const NAME: &str = "large-file";
/// Where the contents lie, if it is a folder.
const FOLDER: &str = "FORGEWAY_LARGE_FILES";
/// A file that tells of the bucket where they lie else.
const BUCKET: &str = "FORGEWAY_LARGE_FILE_BUCKET";
/// A file with the names of those that may be shown.
const LIST: &str = "FORGEWAY_LARGE_FILE_LIST";

/// The smudge filter that inserts large files into an archive.
#[derive(Debug)]
pub struct Smudge {
    program: PathBuf,
    place: ObjectSource,
    list: NamedTempFile,
}

#[derive(Debug)]
enum ObjectSource {
    Folder(PathBuf),
    Bucket(NamedTempFile),
}

impl Smudge {
    /// `program` is a link of the name [`NAME`] to our own; no other files than these are shown.
    pub fn new(program: PathBuf, files: &LfsFiles, shown: &[LfsId]) -> io::Result<Self> {
        let mut list = NamedTempFile::new()?;
        let names: Vec<&str> = shown.iter().map(LfsId::as_str).collect();
        list.write_all(names.join("\n").as_bytes())?;
        list.flush()?;
        let objects = files.objects();
        let place = match (objects.folder(), objects.bucket()) {
            (None, Some(bucket)) => {
                // Readable for this user alone, as no environment is.
                let mut file = NamedTempFile::new()?;
                file.write_all(&serde_json::to_vec(bucket)?)?;
                file.flush()?;
                ObjectSource::Bucket(file)
            }
            (folder, _) => ObjectSource::Folder(folder.unwrap_or(Path::new("")).to_owned()),
        };
        Ok(Self { program, place, list })
    }

    /// A setting for git, which starts a plain word by itself and gives any other to a shell, hence the quotes.
    pub fn setting(&self) -> String {
        let program = self.program.to_string_lossy();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
        match program.chars().all(is_plain) {
            true => format!("filter.lfs.smudge={program}"),
            false => format!("filter.lfs.smudge='{}'", program.replace('\'', "'\\''")),
        }
    }

    pub fn environment(&self) -> [(&'static str, &Path); 2] {
        let place = match &self.place {
            ObjectSource::Folder(folder) => (FOLDER, folder.as_path()),
            ObjectSource::Bucket(file) => (BUCKET, file.path()),
        };
        [place, (LIST, self.list.path())]
    }
}

/// Does the work when git started this program under the name of the link. Call it before anything else.
pub fn run_if_called() -> Option<ExitCode> {
    let program = std::env::args_os().next()?;
    if Path::new(&program).file_name() != Some(OsStr::new(NAME)) {
        return None;
    }
    Some(match show(&variable(LIST)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Prints the file that a pointer names, or what was no pointer to a file that may be shown.
fn show(list: &OsStr) -> io::Result<()> {
    let mut given = Vec::new();
    io::stdin().lock().read_to_end(&mut given)?;
    let mut out = io::stdout().lock();
    match Pointer::parse(&given).filter(|pointer| is_listed(list, &pointer.id)) {
        Some(pointer) => {
            copy(&pointer.id, &mut out)?;
        }
        None => out.write_all(&given)?,
    }
    out.flush()
}

fn variable(name: &str) -> OsString {
    std::env::var_os(name).unwrap_or_default()
}

/// Copies a content from where it lies.
fn copy(id: &LfsId, out: &mut impl Write) -> io::Result<()> {
    let bucket = variable(BUCKET);
    if bucket.is_empty() {
        let folder = PathBuf::from(variable(FOLDER));
        return io::copy(&mut File::open(folder.join(name_of(id)))?, out).map(drop);
    }
    let bucket: Bucket = serde_json::from_slice(&std::fs::read(bucket)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let objects = bucket.objects(KIND).map_err(io::Error::other)?;
        let (_, pieces) = objects.read(&name_of(id)).await.map_err(io::Error::other)?;
        let mut pieces = std::pin::pin!(pieces);
        while let Some(piece) = pieces.try_next().await? {
            out.write_all(&piece)?;
        }
        Ok(())
    })
}

fn is_listed(list: &OsStr, id: &LfsId) -> bool {
    let names = std::fs::read_to_string(list).unwrap_or_default();
    names.lines().any(|name| name == id.as_str())
}

#[cfg(test)]
mod tests {
    use super::{LfsFiles, Smudge};

    #[test]
    fn only_a_name_that_needs_it_is_quoted() {
        let setting = |program: &str| {
            let folder = tempfile::tempdir().expect("a folder");
            let objects = objects::Objects::in_folder(folder.path()).expect("objects");
            let files = LfsFiles::new(folder.path(), objects);
            Smudge::new(program.into(), &files, &[]).expect("a list").setting()
        };

        assert_eq!(setting("/a/large-file"), "filter.lfs.smudge=/a/large-file");
        assert_eq!(setting("/a b/it's"), r"filter.lfs.smudge='/a b/it'\''s'");
    }
}
