//! Files that texts name at the source: brought along, and named by their addresses here.

use std::{
    collections::HashMap,
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use admin::import::{Import, NewFailure, Origin, Relation};
use kernel::{Error, TextEnum as _};
use outbound::{Exchange, FetchLimits};
use review::item::{
    ItemKind,
    import::iids_after,
    import_text::{ImportedText, texts_of},
};
use tokio::task::spawn_blocking;

use super::{
    SourceClient, SourceError,
    batch::{Batch, Step},
};
use crate::{
    Forge,
    files::{Upload, attachments},
};

/// Items of one step, and files of one step.
const ITEMS: i64 = 20;
const FILES: usize = 50;
/// Where files of the public service lie that belong to no repository.
const IMAGES: &str = "https://user-images.githubusercontent.com/";
const TIME: Duration = Duration::from_secs(120);
/// Bytes of one file where the installation sets no limit.
const LARGEST: u64 = 100 << 20;

/// Brings along the files of the next items.
pub(crate) async fn step(
    forge: &Forge,
    import: &Import,
    origin: &Origin,
    authorization: Option<String>,
) -> Result<Step, SourceError> {
    let (kind, after) = cursor(import);
    let project = import.project_id;
    let found = forge.db.read(move |tx| {
        let iids = iids_after(tx, project, kind, after, ITEMS)?;
        let texts = texts_of(tx, project, kind, &iids)?;
        Ok((iids, texts))
    });
    let (iids, texts) = found.await?;
    let next = match (iids.last(), kind) {
        (Some(last), _) if i64::try_from(iids.len()) == Ok(ITEMS) => Some(format!("{kind}:{last}")),
        (_, ItemKind::Issue) => Some(format!("{}:0", ItemKind::MergeRequest)),
        _ => None,
    };
    let client = SourceClient::new(forge, authorization);
    let bare = SourceClient::new(forge, None);
    let (mut kept, mut failures) = (HashMap::new(), Vec::new());
    for url in addresses(&texts, origin) {
        // Only the host that has given the token is shown it.
        let own = if url.starts_with(IMAGES) { &bare } else { &client };
        match bring(forge, import, own, &url).await? {
            Ok(place) => drop(kept.insert(url, place)),
            Err(message) => failures.push(NewFailure {
                relation: Relation::Attachment,
                source_name: url,
                message,
            }),
        }
    }
    let changed: Vec<ImportedText> = texts
        .into_iter()
        .filter_map(|one| {
            let text = replaced(&one.text, &kept);
            (text != one.text).then_some(ImportedText { text, ..one })
        })
        .collect();
    Ok(Step {
        fetched: Some((Relation::Attachment, kept.len())),
        batch: Batch::Texts(changed),
        failures,
        next,
        ..Step::default()
    })
}

fn cursor(import: &Import) -> (ItemKind, i64) {
    let first = (ItemKind::Issue, 0);
    let Some((kind, number)) = import.cursor.as_deref().and_then(|text| text.split_once(':'))
    else {
        return first;
    };
    match (ItemKind::find(kind), number.parse()) {
        (Some(kind), Ok(number)) => (kind, number),
        _ => first,
    }
}

/// Addresses of files in these texts, each once.
fn addresses(texts: &[ImportedText], origin: &Origin) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for url in texts.iter().flat_map(|one| urls(&one.text)) {
        if found.len() < FILES
            && is_attachment(url, &origin.web)
            && !found.iter().any(|one| one == url)
        {
            found.push(url.to_owned());
        }
    }
    found
}

/// Everything in a text that looks like an address of the web.
fn urls(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("http").filter_map(|(at, _)| {
        let rest = text.get(at..)?;
        let is_end = |letter: char| letter.is_whitespace() || "()<>[]\"'`|\\".contains(letter);
        let url = rest.get(..rest.find(is_end).unwrap_or(rest.len()))?;
        (url.starts_with("http://") || url.starts_with("https://"))
            .then(|| url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']))
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
        let file = tempfile::NamedTempFile::new_in(folder).map_err(Error::internal)?;
        let mut sink = CountedFile { file, bytes: 0 };
        let request =
            Exchange { method: "GET", url: &address, headers: &headers, body: &[], limits };
        let head = agent.exchange(&request, &mut sink)?;
        Ok((head, sink))
    });
    let (head, sink) = match fetched.await.map_err(Error::internal)? {
        Err(failure @ (SourceError::Refused(_) | SourceError::Unusable(_))) => {
            return Ok(Err(failure.to_string()));
        }
        fetched => fetched?,
    };
    match client.ensure_answered(&head) {
        Err(failure) if !failure.is_passing() => return Ok(Err(failure.to_string())),
        answered => answered?,
    }
    let upload = Upload {
        file_name: file_name(url, head.header("content-type")),
        content_type: head.header("content-type").map(str::to_owned),
        size: sink.bytes,
        file: Arc::new(sink.file),
    };
    let kept = attachments::keep(forge, import.project_id, upload).await?;
    Ok(Ok(format!("/uploads/{}/{}", kept.secret, kept.name)))
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

fn replaced(text: &str, kept: &HashMap<String, String>) -> String {
    // The longest first: one address may be the beginning of another one.
    let mut all: Vec<(&String, &String)> = kept.iter().collect();
    all.sort_unstable_by_key(|(url, _)| std::cmp::Reverse(url.len()));
    all.into_iter().fold(text.to_owned(), |text, (url, place)| text.replace(url, place))
}

/// A file while it arrives.
struct CountedFile {
    file: tempfile::NamedTempFile,
    bytes: u64,
}

impl Write for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.bytes += u64::try_from(bytes.len()).unwrap_or_default();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::{file_name, is_attachment, urls};

    #[test]
    fn addresses_are_found_in_texts() {
        let text = "See ![a](https://a.test/x.png) and <https://a.test/y>, http://b.test/z.";
        let found: Vec<&str> = urls(text).collect();
        assert_eq!(found, ["https://a.test/x.png", "https://a.test/y", "http://b.test/z"]);
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
