//! Large files: the pointers in the repository say which there are, the source's batch API where to get them.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Duration,
};

use super::{
    SourceClient, SourceError,
    batch::{Batch, Step},
    json::{list, text},
};
use crate::Forge;
use admin::import::{Import, NewFailure, Origin, Relation};
use kernel::{Error, Result, task::spawn_blocking};
use outbound::{Exchange, FetchError, FetchLimits};
use repo::{
    git::{Oid, RepoPath, cli::ProcessClass},
    lfs::{IncomingFile, LfsId, Pointer},
};
use serde_json::{Value, json};

/// Objects of one step.
const AT_ONCE: usize = 20;
/// No pointer is larger.
const LARGEST_POINTER: u64 = 1024;
/// One large file.
const FILE: FetchLimits = FetchLimits { bytes: 2 << 30, time: Duration::from_secs(10 * 60) };
/// How long git may list objects, and bytes of the list.
const LISTING: Duration = Duration::from_secs(5 * 60);
const LONGEST_LIST: u64 = 1 << 30;
const KIND: &str = "application/vnd.git-lfs+json";

/// Brings the next large files along; the cursor is the id of the last one.
pub(crate) async fn step(
    forge: &Forge,
    import: &Import,
    origin: &Origin,
    client: &SourceClient,
) -> Result<Step, SourceError> {
    let all = pointers(forge, import).await?;
    let after = import.cursor.clone().unwrap_or_default();
    let mut rest = all.into_iter().filter(|(id, _)| *id > after);
    let some: Vec<(String, i64)> = rest.by_ref().take(AT_ONCE).collect();
    let next = rest.next().and_then(|_| some.last().map(|(id, _)| id.clone()));
    if some.is_empty() {
        return Ok(Step::default());
    }
    let objects: Vec<Value> =
        some.iter().map(|(id, size)| json!({ "oid": id, "size": size })).collect();
    let body = json!({ "operation": "download", "transfers": ["basic"], "objects": objects });
    let git = origin.git.trim_end_matches('/').trim_end_matches(".git");
    let url = format!("{git}.git/info/lfs/objects/batch");
    let told = match client.post_through_redirects(url, &body, KIND).await {
        Err(
            SourceError::Missing
            | SourceError::Denied(_)
            | SourceError::Unusable(_)
            | SourceError::Refused(_),
        ) => Value::Null,
        told => told?,
    };
    let offers: BTreeMap<&str, &Value> =
        list(&told["objects"]).iter().map(|one| (text(one, "oid"), one)).collect();
    let (mut kept, mut failures) = (Vec::new(), Vec::new());
    for (id, size) in &some {
        let offer = offers.get(id.as_str()).map(|one| &one["actions"]["download"]);
        match download(forge, id, *size, offer).await? {
            Ok(id) => kept.push((id, *size)),
            Err(message) => failures.push(NewFailure {
                relation: Relation::LfsObject,
                source_name: id.clone(),
                message,
            }),
        }
    }
    Ok(Step {
        batch: Batch::LfsObjects(kept),
        fetched: Some((Relation::LfsObject, some.len())),
        failures,
        next,
        ..Step::default()
    })
}

/// Keeps one large file, or says why not.
async fn download(
    forge: &Forge,
    id: &str,
    size: i64,
    offer: Option<&Value>,
) -> Result<Result<LfsId, String>, SourceError> {
    let Ok(id) = id.parse::<LfsId>() else { return Ok(Err("it has no usable id".to_owned())) };
    let Some(offer) = offer.filter(|offer| offer.is_object()) else {
        return Ok(Err("the source does not offer it".to_owned()));
    };
    let headers = offer["header"].as_object().into_iter().flatten();
    let headers: Vec<(String, String)> = headers
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let limits = FetchLimits { bytes: u64::try_from(size).unwrap_or(0).min(FILE.bytes), ..FILE };
    // The place of the file is often another host: it is told nothing but what the offer says.
    let bare = SourceClient::new(forge, None);
    let (url, files, agent) = (text(offer, "href").to_owned(), forge.lfs.clone(), bare.agent());
    let fetched = spawn_blocking(move || -> Result<_, SourceError> {
        let mut sink = Sink(files.begin()?);
        let request = Exchange { method: "GET", url: &url, headers: &headers, body: &[], limits };
        match agent.exchange_through_redirects(&request, &mut sink) {
            // It would be as large the next time.
            Err(FetchError::TooLarge) => Ok(None),
            head => Ok(Some((head?, sink.0))),
        }
    });
    let (head, arrived) = match fetched.await.map_err(Error::internal)? {
        Err(SourceError::Refused(why)) => return Ok(Err(why.to_owned())),
        fetched => match fetched? {
            Some(fetched) => fetched,
            None => return Ok(Err("it is larger than its pointer says".to_owned())),
        },
    };
    match bare.ensure_answered(&head) {
        Err(failure) if !failure.is_passing() => return Ok(Err(failure.to_string())),
        answered => answered?,
    }
    match forge.lfs.keep(arrived, &id, size).await {
        Ok(()) => Ok(Ok(id)),
        Err(cause) if !cause.is_ours() => Ok(Err("its content does not have its id".to_owned())),
        Err(cause) => Err(cause.into()),
    }
}

/// A large file while it arrives.
struct Sink(IncomingFile);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All pointers in a repository, by their ids.
async fn pointers(forge: &Forge, import: &Import) -> Result<BTreeMap<String, i64>> {
    let repository = forge.storage.repository(import.project_id);
    let small = small_blobs(forge, &repository).await?;
    forge
        .git_read(import.project_id, move |reader| {
            let mut found = BTreeMap::new();
            for id in small {
                let content = reader.blob(id, LARGEST_POINTER)?;
                if let Some(pointer) = Pointer::parse(&content) {
                    found.insert(pointer.id.as_str().to_owned(), pointer.size);
                }
            }
            Ok(found)
        })
        .await
}

async fn small_blobs(forge: &Forge, repository: &RepoPath) -> Result<Vec<Oid>> {
    let listed = forge
        .git
        .at(repository, "cat-file")
        .args([
            "--batch-all-objects",
            "--batch-check=%(objecttype) %(objectsize) %(objectname)",
            "--buffer",
            "--unordered",
        ])
        .lane(ProcessClass::Background)
        .time_limit(LISTING)
        .output_limit(LONGEST_LIST)
        .succeed()
        .await
        .map_err(Error::from)?;
    let text = String::from_utf8_lossy(&listed);
    Ok(text
        .lines()
        .filter_map(|line| {
            let (size, id) = line.strip_prefix("blob ")?.split_once(' ')?;
            let is_small =
                size.parse::<u64>().is_ok_and(|size| (100..LARGEST_POINTER).contains(&size));
            id.parse().ok().filter(|_| is_small)
        })
        .collect())
}
