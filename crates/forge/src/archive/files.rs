//! Files of a project on their way into an archive and out of one: uploads and large files.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::Read as _,
    path::Path,
};

use admin::archive::ArchiveImport;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use kernel::{Error, Result, ids::ProjectId, task::spawn_blocking};
use repo::lfs::{LfsId, LfsStore as _};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;

use super::{
    failure::ArchiveError,
    layout::{self, MOST_FILES},
    lines,
    pack::Packer,
};
use crate::{Forge, files::attachments};

/// Bytes of the largest large file that archives hold.
const LARGEST: i64 = i64::MAX;

/// A file that was added to a text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UploadLine {
    pub(super) secret: String,
    pub(super) name: String,
}

/// A large file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LfsLine {
    oid: String,
    size: i64,
}

/// The list of an archive's files of one kind.
struct FileList<L> {
    /// What they are called.
    kind: &'static str,
    lines: Vec<L>,
    most: usize,
}

impl<L: Serialize> FileList<L> {
    fn of(kind: &'static str) -> Self {
        Self { kind, lines: Vec::new(), most: MOST_FILES }
    }

    /// # Errors
    /// `Unprocessable` for one file more than imports take.
    fn add(&mut self, line: L) -> Result<()> {
        if self.lines.len() >= self.most {
            let text = format!("the project has more than {} {}", self.most, self.kind);
            return Err(Error::unprocessable().whole(text));
        }
        self.lines.push(line);
        Ok(())
    }
}

/// Adds all files of a project.
///
/// # Errors
/// `Unprocessable` where these are more than imports take.
pub(super) async fn write(forge: &Forge, packer: &mut Packer, project: ProjectId) -> Result<()> {
    let mut uploads = FileList::of("uploads");
    let mut listed = Box::pin(forge.uploads.list(""));
    while let Some(one) = listed.try_next().await? {
        let Some((secret, name)) = attachments::parts_of(&one.name, project) else { continue };
        let path = layout::upload(&secret);
        uploads.add(UploadLine { secret, name })?;
        let (_, content) = forge.uploads.read(&one.name).await?;
        let file = copy_into(packer.draft()?, content).await?;
        packer.file(&path, file).await?;
    }
    packer.text(layout::UPLOADS, &lines_of(&uploads.lines)?).await?;
    let ids = forge.db.read(move |tx| tx.lfs_objects_up_to(project, LARGEST)).await?;
    let mut objects = FileList::of("large files");
    for id in ids {
        let (size, content) = forge.lfs.read(&id).await?;
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        objects.add(LfsLine { oid: id.as_str().to_owned(), size })?;
        let file = copy_into(packer.draft()?, content).await?;
        packer.file(&layout::lfs_object(id.as_str()), file).await?;
    }
    packer.text(layout::LFS_OBJECTS, &lines_of(&objects.lines)?).await
}

pub(super) fn lines_of<T: Serialize>(all: &[T]) -> Result<String> {
    let mut text = String::new();
    for one in all {
        text.push_str(&serde_json::to_string(one).map_err(Error::internal)?);
        text.push('\n');
    }
    Ok(text)
}

pub(super) async fn copy_into(
    into: File,
    content: impl Stream<Item = std::io::Result<Bytes>>,
) -> Result<File> {
    let (mut file, mut content) = (tokio::fs::File::from_std(into), Box::pin(content));
    while let Some(piece) = content.next().await {
        file.write_all(&piece.map_err(Error::internal)?).await.map_err(Error::internal)?;
    }
    file.flush().await.map_err(Error::internal)?;
    Ok(file.into_std().await)
}

/// The uploads that an archive says it has.
pub(super) fn uploads(folder: &Path) -> Result<Vec<UploadLine>, ArchiveError> {
    let all: Vec<UploadLine> = lines::read_all(folder, layout::UPLOADS, MOST_FILES)?;
    let is_sound = |one: &UploadLine| {
        one.secret.len() == 32
            && one.secret.bytes().all(|byte| byte.is_ascii_hexdigit())
            && attachments::is_plain(&one.name)
    };
    if !all.iter().all(is_sound) {
        return Err(ArchiveError::flawed("The archive has an upload without a usable name."));
    }
    let secrets = all.iter().map(|one| &one.secret).collect::<HashSet<_>>().len();
    match secrets == all.len() {
        true => Ok(all),
        false => Err(ArchiveError::flawed("The archive has two uploads with the same secret.")),
    }
}

/// A file that was added to a text, as an archive has it.
#[derive(Clone, Debug)]
pub(super) struct ArchiveUpload {
    pub(super) name: String,
    /// `None` where the archive does not have the file itself.
    pub(super) bytes: Option<i64>,
}

/// The uploads of an archive by their secrets.
pub(super) fn uploads_by_secret(
    folder: &Path,
) -> Result<HashMap<String, ArchiveUpload>, ArchiveError> {
    let upload = |one: UploadLine| {
        let about = std::fs::metadata(folder.join(layout::upload(&one.secret))).ok();
        let bytes = about.map(|about| i64::try_from(about.len()).unwrap_or(i64::MAX));
        (one.secret, ArchiveUpload { name: one.name, bytes })
    };
    Ok(uploads(folder)?.into_iter().map(upload).collect())
}

/// Looks whether the large files that an archive says it has can be named.
pub(super) fn check_lfs(folder: &Path) -> Result<(), ArchiveError> {
    large_files(folder).map(drop)
}

fn large_files(folder: &Path) -> Result<Vec<(LfsId, i64)>, ArchiveError> {
    let all: Vec<LfsLine> = lines::read_all(folder, layout::LFS_OBJECTS, MOST_FILES)?;
    let ids = all.into_iter().map(|one| one.oid.parse::<LfsId>().ok().map(|id| (id, one.size)));
    let ids: Option<Vec<_>> = ids.collect();
    ids.ok_or_else(|| ArchiveError::flawed("The archive has a large file without a usable id."))
}

/// Keeps all files of an archive; done again, it writes the same ones. Returns the bytes of the uploads.
pub(super) async fn land(
    forge: &Forge,
    folder: &Path,
    project: ProjectId,
    import: &ArchiveImport,
) -> Result<i64, ArchiveError> {
    let mut bytes = 0;
    for one in uploads(folder)? {
        let Ok(file) = File::open(folder.join(layout::upload(&one.secret))) else { continue };
        bytes += i64::try_from(file.metadata()?.len()).unwrap_or(i64::MAX);
        let secret = import.upload_secret(&one.secret);
        let place = attachments::location(&secret, project, &one.name);
        forge.uploads.remove(&place).await?;
        forge.uploads.keep_file(&place, file).await?;
    }
    for (id, size) in large_files(folder)? {
        let path = folder.join(layout::lfs_object(id.as_str()));
        let Ok(mut file) = File::open(path) else { continue };
        let files = forge.lfs.clone();
        let arrived = spawn_blocking(move || -> Result<_, ArchiveError> {
            let mut incoming = files.begin()?;
            let mut block = vec![0; 64 << 10];
            loop {
                let count = file.read(&mut block)?;
                match block.get(..count).filter(|bytes| !bytes.is_empty()) {
                    Some(bytes) => incoming.write(bytes)?,
                    None => return Ok(incoming),
                }
            }
        });
        let arrived = arrived.await.map_err(Error::internal)??;
        forge.lfs.keep(arrived, &id, size).await.map_err(|cause| match cause.is_ours() {
            true => ArchiveError::Own(cause),
            false => {
                ArchiveError::flawed("The archive has a large file that is not what its id says.")
            }
        })?;
        forge.db.write(move |tx| tx.add_lfs_object(project, &id, size)).await?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{
        FileList, UploadLine,
        layout::{self, MOST_FILES},
        lines, lines_of, uploads,
    };

    fn line(number: usize) -> UploadLine {
        UploadLine { secret: format!("{number:032x}"), name: "a".to_owned() }
    }

    #[test]
    fn more_files_than_an_import_takes_are_not_written() {
        let mut list = FileList { most: 2, ..FileList::of("uploads") };
        list.add(line(0)).unwrap();
        list.add(line(1)).unwrap();
        let refused = list.add(line(2)).unwrap_err().to_string();
        assert!(refused.contains("the project has more than 2 uploads"), "{refused}");
        assert_eq!(FileList::<UploadLine>::of("uploads").most, MOST_FILES);
    }

    #[test]
    fn an_import_takes_as_many_uploads_as_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(layout::UPLOADS);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let all: Vec<UploadLine> = (0..=MOST_FILES).map(line).collect();
        std::fs::write(&path, lines_of(&all[..MOST_FILES]).unwrap()).unwrap();
        assert_eq!(uploads(folder.path()).unwrap().len(), MOST_FILES);
        std::fs::write(&path, lines_of(&all).unwrap()).unwrap();
        assert!(uploads(folder.path()).is_err());

        let longest = UploadLine { name: "a".repeat(200), ..line(0) };
        assert!(lines_of(&[longest]).unwrap().len() * MOST_FILES < lines::LONGEST_LIST);
    }
}
