//! Files that people add to projects: pictures in texts, and whatever else.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use kernel::{Error, Result, ids::ProjectId};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

use super::Upload;
use crate::Forge;

const PICTURES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "bmp", "tiff", "ico", "webp"];
/// Longest name that every file system takes, with room for an ending.
const LONGEST_NAME: usize = 200;

/// A file that was kept: nobody finds it who was not told its secret.
#[derive(Clone, Debug)]
pub struct Kept {
    pub secret: String,
    pub name: String,
}

/// The part of a name that a path and a header can hold.
pub(super) fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last
        .chars()
        .map(|letter| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '_' })
        .collect();
    let mut end = kept.len().min(LONGEST_NAME);
    while !kept.is_char_boundary(end) {
        end -= 1;
    }
    match kept[..end].trim_start_matches('.') {
        "" => "file".to_owned(),
        plain => plain.to_owned(),
    }
}

/// The lower-case ending of a name.
fn ending(name: &str) -> String {
    name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default()
}

pub fn is_picture(name: &str) -> bool {
    PICTURES.contains(&ending(name).as_str())
}

/// The type that a browser may show; anything else is only to be saved.
pub fn shown_as(name: &str) -> Option<&'static str> {
    match ending(name).as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        "bmp" => Some("image/bmp"),
        "ico" => Some("image/x-icon"),
        _ => None,
    }
}

/// Keeps a file for a project.
pub async fn keep(forge: &Forge, project: ProjectId, upload: Upload) -> Result<Kept> {
    let secret = hex::encode(rand::random::<[u8; 16]>());
    let name = plain_name(&upload.file_name);
    let folder = forge.data().join("uploads").join(&secret).join(project.to_string());
    copy(upload, folder, name.clone()).await?;
    Ok(Kept { secret, name })
}

pub(super) async fn copy(upload: Upload, folder: PathBuf, name: String) -> Result<()> {
    let done = spawn_blocking(move || copy_now(&upload, &folder, &name));
    done.await.map_err(Error::internal)?.map_err(Error::internal)
}

fn copy_now(upload: &Upload, folder: &Path, name: &str) -> io::Result<()> {
    draft(upload, folder)?.persist(folder.join(name)).map_err(|failed| failed.error)?;
    File::open(folder)?.sync_all()
}

/// What was sent, in a file that goes again unless somebody gives it a name.
pub(super) fn draft(upload: &Upload, folder: &Path) -> io::Result<NamedTempFile> {
    fs::create_dir_all(folder)?;
    let mut source = upload.file.reopen()?;
    let mut draft = NamedTempFile::new_in(folder)?;
    let mut block = vec![0; 64 << 10];
    loop {
        let read = source.read(&mut block)?;
        if read == 0 {
            break;
        }
        draft.write_all(&block[..read])?;
    }
    draft.as_file().sync_all()?;
    Ok(draft)
}

/// Where a kept file lies, and whose it is.
pub async fn find(forge: &Forge, secret: &str, name: &str) -> Result<(ProjectId, PathBuf)> {
    let well_formed = secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !well_formed || plain_name(name) != name {
        return Err(Error::Missing);
    }
    let (folder, name) = (forge.data().join("uploads").join(secret), name.to_owned());
    let found = spawn_blocking(move || -> io::Result<Option<(ProjectId, PathBuf)>> {
        let mut owners = match fs::read_dir(folder) {
            Err(absent) if absent.kind() == io::ErrorKind::NotFound => return Ok(None),
            owners => owners?,
        };
        let Some(owner) = owners.next().transpose()? else { return Ok(None) };
        let id = owner.file_name().to_str().and_then(|name| name.parse().ok());
        let file = owner.path().join(name);
        Ok(id.filter(|_| file.is_file()).map(|id| (ProjectId(id), file)))
    });
    found.await.map_err(Error::internal)?.map_err(Error::internal)?.ok_or(Error::Missing)
}

/// Removes all that was uploaded to a project.
pub async fn remove_uploads(forge: &Forge, project: ProjectId) -> Result<()> {
    let (all, owner) = (forge.data().join("uploads"), project.to_string());
    let done = spawn_blocking(move || -> io::Result<()> {
        let secrets = match fs::read_dir(all) {
            Ok(secrets) => secrets,
            Err(absent) if absent.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(failed) => return Err(failed),
        };
        for secret in secrets {
            let folder = secret?.path();
            if folder.join(&owner).is_dir() {
                fs::remove_dir_all(folder)?;
            }
        }
        Ok(())
    });
    done.await.map_err(Error::internal)?.map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::{plain_name, shown_as};

    #[test]
    fn names_lose_what_could_lead_elsewhere() {
        for (given, kept) in [
            ("plan.png", "plan.png"),
            ("../../etc/passwd", "passwd"),
            ("..", "file"),
            (".hidden", "hidden"),
            ("a b\"c.txt", "a_b_c.txt"),
            ("C:\\x\\Grüße.gif", "Grüße.gif"),
        ] {
            assert_eq!(plain_name(given), kept, "{given}");
        }
        assert_eq!(plain_name(&"ä".repeat(300)).len(), 200);
    }

    #[test]
    fn only_pictures_are_shown() {
        assert_eq!(shown_as("a.PNG"), Some("image/png"));
        assert_eq!(shown_as("a.svg"), None);
        assert_eq!(shown_as("a.html"), None);
    }
}
