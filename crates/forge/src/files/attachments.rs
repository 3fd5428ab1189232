//! Files that people add to projects: pictures in texts, and whatever else.

use std::fs::File;

use futures_util::TryStreamExt as _;
use kernel::{Error, Result, ids::ProjectId};

use super::Upload;
use crate::Forge;

const PICTURES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "bmp", "tiff", "ico", "webp"];
/// Longest name that every file system takes, with room for an ending.
const LONGEST_NAME: usize = 200;

/// A file that was kept: nobody finds it who was not told its secret.
#[derive(Clone, Debug)]
pub struct StoredFile {
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
pub async fn keep(forge: &Forge, project: ProjectId, upload: Upload) -> Result<StoredFile> {
    let secret = hex::encode(rand::random::<[u8; 16]>());
    let file = upload.file.reopen().map_err(Error::internal)?;
    keep_under(forge, project, secret, &upload.file_name, file).await
}

/// As [`keep`], under a secret of 32 hexadecimal digits that the caller has; what is there under the same secret and name
/// is replaced. The file is read from where it stands.
pub(crate) async fn keep_under(
    forge: &Forge,
    project: ProjectId,
    secret: String,
    file_name: &str,
    file: File,
) -> Result<StoredFile> {
    let name = plain_name(file_name);
    forge.uploads.keep_file(&location(&secret, project, &name), file).await?;
    Ok(StoredFile { secret, name })
}

/// Where a file lies.
pub(crate) fn location(secret: &str, project: ProjectId, name: &str) -> String {
    format!("{secret}/{project}/{name}")
}

/// Whose file it is that lies there: `secret/project/name`.
pub(super) fn owner_of(location: &str) -> Option<ProjectId> {
    let mut parts = location.split('/').skip(1);
    let (owner, _name) = (parts.next()?, parts.next()?);
    owner.parse().ok().map(ProjectId)
}

/// Secret and name of a file that lies there, where it is a project's.
pub(crate) fn parts_of(location: &str, project: ProjectId) -> Option<(String, String)> {
    let (secret, rest) = location.split_once('/')?;
    let (_, name) = rest.split_once('/')?;
    (owner_of(location) == Some(project)).then(|| (secret.to_owned(), name.to_owned()))
}

/// Whether a file can be kept under that name.
pub(crate) fn is_plain(name: &str) -> bool {
    plain_name(name) == name
}

/// Where a kept file lies, and whose it is.
pub async fn find(forge: &Forge, secret: &str, name: &str) -> Result<(ProjectId, String)> {
    let well_formed = secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !well_formed || plain_name(name) != name {
        return Err(Error::missing());
    }
    let found = Box::pin(forge.uploads.list(secret)).try_next().await?;
    let location = found.ok_or_else(Error::missing)?.name;
    let owner = owner_of(&location).filter(|_| location.rsplit('/').next() == Some(name));
    owner.map(|owner| (owner, location)).ok_or_else(Error::missing)
}

/// Removes all that was uploaded to a project.
pub async fn remove_uploads(forge: &Forge, project: ProjectId) -> Result<()> {
    let mut all = Box::pin(forge.uploads.list(""));
    while let Some(one) = all.try_next().await? {
        if owner_of(&one.name) == Some(project) {
            forge.uploads.remove(&one.name).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::ids::ProjectId;

    use super::{owner_of, plain_name, shown_as};

    #[test]
    fn a_place_tells_its_project() {
        assert_eq!(owner_of("00ff/7/plan.png"), Some(ProjectId(7)));
        for other in ["", "00ff", "00ff/7", "00ff/x/plan.png"] {
            assert_eq!(owner_of(other), None, "{other}");
        }
    }

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
