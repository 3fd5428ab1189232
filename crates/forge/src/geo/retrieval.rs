//! Files that secondaries fetch from the primary.

use std::{io, pin::Pin};

use bytes::Bytes;
use db::checksum::files;
use futures_util::Stream;
use geo::{credential::API_SCOPE, request::SignedRequest};
use kernel::{Error, Result, error::Kind, ids::ProjectId};

use super::ensure_primary;
use crate::Forge;

/// Kinds of files as nodes name them, with the storage of each.
const KINDS: [(&str, &str); 4] = [
    ("upload", "uploads"),
    ("avatar", "avatars"),
    ("lfs_object", repo::lfs::KIND),
    ("job_artifact", "artifacts"),
];

const PIPELINE_REFS: &str = "refs/pipelines/";

/// A content as it is read.
pub type Pieces = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// The content that a secondary retrieves.
pub enum Retrieval {
    Found {
        length: u64,
        pieces: Pieces,
        /// Nothing where the file was not read yet.
        sha256: Option<String>,
    },
    /// There should be a file, and there is none.
    Lost,
    /// The file is another one than the secondary asks for.
    Changed,
}

/// A file by its kind and its name in the storage of that kind. The node must have signed for just this one.
///
/// # Errors
/// 403 on a secondary, 401 where it signed for something else, 404 for a kind or file that is not known.
pub async fn retrieve(
    forge: &Forge,
    request: SignedRequest,
    kind: &str,
    name: &str,
) -> Result<Retrieval> {
    ensure_primary(forge)?;
    request.ensure_says("replicable_name", kind)?;
    request.ensure_says("replicable_id", name)?;
    let (_, place) = KINDS.iter().find(|(known, _)| *known == kind).ok_or_else(Error::missing)?;
    let storage = match *place {
        "uploads" => forge.uploads.clone(),
        "avatars" => forge.avatars.clone(),
        "artifacts" => forge.artifacts.clone(),
        _ => forge.lfs.objects().clone(),
    };
    let sought = name.to_owned();
    let known = forge.db.peek(move |tx| files::find(tx, place, &sought)).await?;
    let sha256 = known.ok_or_else(Error::missing)?.sha256;
    if let (Some(wanted), Some(kept)) = (request.text("checksum"), &sha256)
        && wanted != kept
    {
        return Ok(Retrieval::Changed);
    }
    match storage.read(name).await {
        Ok((length, pieces)) => Ok(Retrieval::Found { length, pieces: Box::pin(pieces), sha256 }),
        Err(gone) if gone.kind == Kind::NotFound => Ok(Retrieval::Lost),
        Err(failure) => Err(failure),
    }
}

/// The refs that keep the commits of pipelines in a repository, `project-1`, as they are on this server, whatever its role.
///
/// # Errors
/// 401 where the node signed for something else, 404 for a repository that is not there.
pub async fn pipeline_refs(
    forge: &Forge,
    request: SignedRequest,
    repository: &str,
) -> Result<Vec<String>> {
    request.ensure_scope(API_SCOPE)?;
    let id = repository.strip_prefix("project-").and_then(|id| id.parse().ok());
    let project = ProjectId(id.ok_or_else(|| Error::not_found("Repository"))?);
    let read = forge.git_read(project, |reader| {
        let all = reader.all_refs()?.into_iter().map(|found| found.name.as_bstr().to_string());
        Ok(all.filter(|name| name.starts_with(PIPELINE_REFS)).collect())
    });
    read.await
}
