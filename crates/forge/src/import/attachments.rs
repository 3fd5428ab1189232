//! Files that texts name at the source: brought along, and named by their addresses here.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    fs::File,
    io::{self, Seek as _},
    path::Path,
    time::Duration,
};

use admin::import::{Import, ImportStore as _, NewFailure, Origin, Relation};
use hmac::{Hmac, Mac as _};
use kernel::{
    Error, Result, TextEnum as _,
    ids::{ProjectId, ReleaseId},
    task::spawn_blocking,
};
use outbound::{Exchange, FetchLimits};
use repo::release::{Release, ReleaseStore as _};
use review::item::{
    ItemKind,
    import::iids_after,
    import_text::{ImportedText, texts_of},
};
use secrets::Secret;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::{
    SourceClient, SourceError,
    batch::{AttachmentBatch, Batch, Step},
};
use crate::{Forge, files::attachments};

/// Items or releases of one step.
const ITEMS: i64 = 20;
/// Files of one step: also where each takes as long as it may, the step ends before somebody else takes it over.
const FILES: usize = 20;
/// Where files of the public service lie that belong to no repository.
const IMAGES: &str = "https://user-images.githubusercontent.com/";
const TIME: Duration = Duration::from_secs(120);
/// Bytes of one file where the installation sets no limit.
const LARGEST: u64 = 100 << 20;
/// What the key is for that the secrets of kept files are made with.
const SECRETS: &str = "attachments of imports";

/// Brings along the next files of the texts at the cursor. What was brought is no address of the source there any more,
/// and what was not is remembered, so the cursor moves on once the texts name nothing else.
pub(crate) async fn step(
    forge: &Forge,
    import: &Import,
    origin: &Origin,
    authorization: Option<String>,
) -> Result<Step, SourceError> {
    let cursor = TextCursor::parse(import.cursor.as_deref());
    let page = TextPage::read(forge, import.project_id, cursor).await?;
    let mut urls = without_lost(forge, import, addresses(page.bodies(), origin)).await?;
    let is_whole = urls.len() <= FILES;
    urls.truncate(FILES);
    let client = SourceClient::new(forge, authorization);
    let bare = SourceClient::new(forge, None);
    let (mut kept, mut failures, mut lost) = (HashMap::new(), Vec::new(), Vec::new());
    for url in urls {
        // Only the host that has given the token is shown it.
        let own = if url.starts_with(IMAGES) { &bare } else { &client };
        match bring(forge, import, own, &url).await? {
            Ok(place) => drop(kept.insert(url, place)),
            Err(message) => {
                lost.push(object_id(&url));
                failures.push(NewFailure {
                    relation: Relation::Attachment,
                    source_name: url,
                    message,
                });
            }
        }
    }
    let next = if is_whole { page.next } else { Some(cursor) };
    Ok(Step {
        fetched: Some((Relation::Attachment, kept.len())),
        failures,
        next: next.map(|next| next.to_string()),
        batch: Batch::Attachments(page.with(&kept, lost)),
        ..Step::default()
    })
}

/// The texts that a step looks at: those behind the item of a number, or behind a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextCursor {
    Items(ItemKind, i64),
    Releases(ReleaseId),
}

/// What stands in a cursor where an item has its kind.
const RELEASES: &str = "Release";

impl fmt::Display for TextCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items(kind, after) => write!(f, "{kind}:{after}"),
            Self::Releases(after) => write!(f, "{RELEASES}:{after}"),
        }
    }
}

impl TextCursor {
    fn parse(text: Option<&str>) -> Self {
        let read = || {
            let (kind, after) = text?.split_once(':')?;
            let after = after.parse().ok()?;
            Some(match kind {
                RELEASES => Self::Releases(ReleaseId(after)),
                kind => Self::Items(ItemKind::find(kind)?, after),
            })
        };
        read().unwrap_or(Self::Items(ItemKind::Issue, 0))
    }
}

/// The texts of a step.
struct TextPage {
    texts: Vec<ImportedText>,
    releases: Vec<Release>,
    /// The cursor behind them; `None` where no texts follow.
    next: Option<TextCursor>,
}

impl TextPage {
    async fn read(forge: &Forge, project: ProjectId, cursor: TextCursor) -> Result<Self> {
        let is_full = |count: usize| i64::try_from(count) == Ok(ITEMS);
        match cursor {
            TextCursor::Items(kind, after) => {
                let found = forge.db.read(move |tx| {
                    let iids = iids_after(tx, project, kind, after, ITEMS)?;
                    let texts = texts_of(tx, project, kind, &iids)?;
                    Ok((iids, texts))
                });
                let (iids, texts) = found.await?;
                let next = match (iids.last(), kind) {
                    (Some(last), _) if is_full(iids.len()) => TextCursor::Items(kind, *last),
                    (_, ItemKind::Issue) => TextCursor::Items(ItemKind::MergeRequest, 0),
                    _ => TextCursor::Releases(ReleaseId(0)),
                };
                Ok(Self { texts, releases: Vec::new(), next: Some(next) })
            }
            TextCursor::Releases(after) => {
                let found = forge.db.read(move |tx| tx.releases_after(project, after, ITEMS));
                let releases = found.await?;
                let last = releases.last().filter(|_| is_full(releases.len()));
                let next = last.map(|release| TextCursor::Releases(release.id));
                Ok(Self { texts: Vec::new(), releases, next })
            }
        }
    }

    fn bodies(&self) -> impl Iterator<Item = &str> {
        let texts = self.texts.iter().map(|one| one.text.as_str());
        texts.chain(self.releases.iter().filter_map(|one| one.description.as_deref()))
    }

    /// Those of the texts that name files which were kept, with the addresses of these here.
    fn with(self, kept: &HashMap<String, String>, lost: Vec<String>) -> AttachmentBatch {
        let changed = |old: &str| Some(replaced(old, kept)).filter(|text| text != old);
        let texts = self.texts.into_iter();
        let releases = self.releases.into_iter();
        AttachmentBatch {
            texts: texts
                .filter_map(|one| Some(ImportedText { text: changed(&one.text)?, ..one }))
                .collect(),
            descriptions: releases
                .filter_map(|one| Some((one.id, changed(one.description.as_deref()?)?)))
                .collect(),
            lost,
        }
    }
}

/// Addresses of files in these texts, each once.
fn addresses<'t>(texts: impl Iterator<Item = &'t str>, origin: &Origin) -> Vec<String> {
    let mut seen = HashSet::new();
    texts
        .flat_map(urls)
        .map(|(_, url)| url)
        .filter(|url| is_attachment(url, &origin.web) && seen.insert(*url))
        .map(str::to_owned)
        .collect()
}

/// Those of these addresses for which nobody has asked in vain.
async fn without_lost(forge: &Forge, import: &Import, urls: Vec<String>) -> Result<Vec<String>> {
    let project = import.project_id;
    let ids: Vec<String> = urls.iter().map(|url| object_id(url)).collect();
    let lost = forge.db.read(move |tx| tx.known_objects(project, Relation::Attachment, &ids));
    let lost = lost.await?;
    Ok(urls.into_iter().filter(|url| !lost.contains(&object_id(url))).collect())
}

/// The id under which a file that was not kept is remembered: its address may be longer than an index takes.
fn object_id(url: &str) -> String {
    hex::encode(Sha1::digest(url.as_bytes()))
}

/// Everything in a text that looks like an address of the web, and where it begins.
fn urls(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("http").filter_map(|(at, _)| {
        let rest = text.get(at..)?;
        let is_end = |letter: char| letter.is_whitespace() || "()<>[]\"'`|\\".contains(letter);
        let url = rest.get(..rest.find(is_end).unwrap_or(rest.len()))?;
        (url.starts_with("http://") || url.starts_with("https://"))
            .then(|| (at, url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_'])))
    })
}

/// Whether an address is that of a file which somebody added to a text of the repository.
fn is_attachment(url: &str, web: &str) -> bool {
    let place = web.find("://").and_then(|at| web.get(at + 3..)?.find('/').map(|end| at + 3 + end));
    let host = place.and_then(|end| web.get(..end)).unwrap_or(web);
    let below = |base: &str, folder: &str| {
        let rest = url.strip_prefix(base).and_then(|rest| rest.strip_prefix(folder));
        rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(".."))
    };
    url.starts_with(IMAGES)
        || below(host, "/user-attachments/assets/")
        || below(host, "/user-attachments/files/")
        || below(web, "/assets/")
        || below(web, "/files/")
}

/// Keeps a file; its place here, or why it was not kept.
async fn bring(
    forge: &Forge,
    import: &Import,
    client: &SourceClient,
    url: &str,
) -> Result<Result<String, String>, SourceError> {
    let most =
        forge.settings().max_attachment_size().and_then(|most| u64::try_from(most << 20).ok());
    let limits = FetchLimits { bytes: most.unwrap_or(LARGEST), time: TIME };
    let (address, agent, headers) = (url.to_owned(), client.agent(), client.headers());
    let folder = forge.data().to_owned();
    let fetched = spawn_blocking(move || -> Result<_, SourceError> {
        let mut file = nameless_file(&folder).map_err(Error::internal)?;
        let request =
            Exchange { method: "GET", url: &address, headers: &headers, body: &[], limits };
        let head = agent.exchange(&request, &mut file)?;
        file.rewind().map_err(Error::internal)?;
        Ok((head, file))
    });
    let (head, file) = match fetched.await.map_err(Error::internal)? {
        Err(failure @ (SourceError::Refused(_) | SourceError::Unusable(_))) => {
            return Ok(Err(failure.to_string()));
        }
        fetched => fetched?,
    };
    match client.ensure_answered(&head) {
        Err(failure) if !failure.is_passing() => return Ok(Err(failure.to_string())),
        answered => answered?,
    }
    let name = file_name(url, head.header("content-type"));
    let key = forge.vault.derived_key(SECRETS);
    let secret = upload_secret(&key, &import.correlation_id, &name, url)?;
    let kept = attachments::keep_under(forge, import.project_id, secret, &name, file).await?;
    Ok(Ok(format!("/uploads/{}/{}", kept.secret, kept.name)))
}

/// A file that goes with the process, however that ends.
fn nameless_file(folder: &Path) -> io::Result<File> {
    tempfile::tempfile_in(folder)
}

/// The secret of a kept file: the same each time, so that a step which is done again writes the same file. Others may know
/// the import and the address at the source, hence the key.
fn upload_secret(key: &Secret, import: &str, name: &str, url: &str) -> Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.reveal().as_bytes())
        .map_err(|length| Error::internal(length.to_string()))?;
    mac.update(format!("{import}/{name}/{url}").as_bytes());
    Ok(hex::encode(mac.finalize().into_bytes()).chars().take(32).collect())
}

/// The last part of an address; pictures without an ending get that of their type.
fn file_name(url: &str, kind: Option<&str>) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = match kind.unwrap_or_default().split(';').next().unwrap_or_default() {
        "image/png" => ".png",
        "image/jpeg" => ".jpg",
        "image/gif" => ".gif",
        "image/webp" => ".webp",
        _ => "",
    };
    if name.contains('.') { name.to_owned() } else { format!("{name}{ending}") }
}

/// A text with other addresses. One address may be the beginning of another one, which stays as it is.
fn replaced(text: &str, kept: &HashMap<String, String>) -> String {
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for (at, url) in urls(text) {
        // What lies inside of an address that was replaced went with it.
        if let Some(place) = kept.get(url).filter(|_| at >= end) {
            out.push_str(text.get(end..at).unwrap_or_default());
            out.push_str(place);
            end = at + url.len();
        }
    }
    out.push_str(text.get(end..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use kernel::ids::ReleaseId;
    use review::item::ItemKind;
    use secrets::Secret;

    use super::{
        TextCursor, file_name, is_attachment, nameless_file, replaced, upload_secret, urls,
    };

    #[test]
    fn a_file_that_arrives_leaves_no_name_for_a_killed_server_to_forget() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = nameless_file(folder.path()).unwrap();
        file.write_all(b"half a picture").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_kept_file_has_the_same_secret_each_time_which_nobody_knows_without_the_key() {
        let key = Secret::new("k3y");
        let secret = |name: &str| upload_secret(&key, "1a2b", name, "https://a.test/1").unwrap();
        let first = secret("1.png");
        assert_eq!((first.len(), &first), (32, &secret("1.png")));
        assert_ne!(first, secret("1.jpg"));
        for (key, import, url) in [
            ("k4y", "1a2b", "https://a.test/1"),
            ("k3y", "1a2c", "https://a.test/1"),
            ("k3y", "1a2b", "https://a.test/2"),
        ] {
            let other = upload_secret(&Secret::new(key), import, "1.png", url).unwrap();
            assert_ne!(first, other, "{key} {import} {url}");
        }
    }

    #[test]
    fn addresses_are_found_in_texts() {
        let text = "See ![a](https://a.test/x.png) and <https://a.test/y>, http://b.test/z.";
        let found: Vec<&str> = urls(text).map(|(_, url)| url).collect();
        assert_eq!(found, ["https://a.test/x.png", "https://a.test/y", "http://b.test/z"]);
    }

    #[test]
    fn an_address_that_only_begins_as_another_one_stays() {
        let kept = [("https://a.test/1".to_owned(), "/uploads/x/1".to_owned())].into();
        let text = "![a](https://a.test/1) https://a.test/12, https://a.test/1.";
        assert_eq!(replaced(text, &kept), "![a](/uploads/x/1) https://a.test/12, /uploads/x/1.");
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for cursor in
            [TextCursor::Items(ItemKind::MergeRequest, 7), TextCursor::Releases(ReleaseId(3))]
        {
            assert_eq!(TextCursor::parse(Some(&cursor.to_string())), cursor);
        }
        assert_eq!(TextCursor::parse(Some("odd")), TextCursor::parse(None));
    }

    #[test]
    fn only_files_of_the_source_are_brought_along() {
        let web = "https://a.test/mia/tea";
        for url in [
            "https://a.test/user-attachments/assets/1-2",
            "https://a.test/mia/tea/assets/7/1.png",
            "https://user-images.githubusercontent.com/1/2.png",
        ] {
            assert!(is_attachment(url, web), "{url}");
        }
        for url in [
            "https://a.test/mia/tea/issues/1",
            "https://b.test/user-attachments/assets/1-2",
            "https://a.test.evil.test/user-attachments/assets/1",
            "https://a.test/user-attachments/assets/../../admin",
        ] {
            assert!(!is_attachment(url, web), "{url}");
        }
    }

    #[test]
    fn pictures_get_an_ending() {
        assert_eq!(file_name("https://a/assets/1-2?x=y", Some("image/png")), "1-2.png");
        assert_eq!(file_name("https://a/files/log.txt", None), "log.txt");
    }
}
