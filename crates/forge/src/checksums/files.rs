//! Stored files are read again and held against the checksum that was written down when they were stored.

use db::checksum::files::{self as kept, FileChecksum};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kernel::{Error, Result, error::Kind};
use objects::Objects;
use repo::lfs::{self, LfsId};
use sha2::{Digest as _, Sha256};

use super::{AGAIN_AFTER, ARTIFACTS, AVATARS, CheckRate, UPLOADS};
use crate::Forge;

/// So many files and bytes are read in one turn. The turn ends with the file that exceeds them.
const AT_ONCE: i64 = 500;
const BYTES_AT_ONCE: u64 = 256 << 20;
/// So many names are noted in one transaction.
const NAMES_AT_ONCE: usize = 500;

fn kinds(forge: &Forge) -> [(&'static str, &Objects); 4] {
    [
        (lfs::KIND, forge.lfs.objects()),
        (ARTIFACTS, &forge.artifacts),
        (UPLOADS, &forge.uploads),
        (AVATARS, &forge.avatars),
    ]
}

/// Notes files that lie there without a row, as those do which were stored before checksums were kept. Each kind is
/// listed once in the time for which a check holds.
pub(super) async fn find(forge: &Forge, pace: CheckRate) -> Result<()> {
    for (kind, objects) in kinds(forge) {
        let subject = format!("files listed: {kind}");
        let asked = subject.clone();
        let due = forge.db.read(move |tx| {
            let last = db::stamp::of(tx, &asked)?;
            Ok(last.is_none_or(|last| last <= tx.now.plus(-pace.good_for).unix()))
        });
        if !due.await? {
            continue;
        }
        let names = objects.list("").map_ok(|one| one.name);
        let names = names.try_filter(|name| std::future::ready(is_content(kind, name)));
        let mut some = Box::pin(names.try_chunks(NAMES_AT_ONCE));
        while let Some(names) = some.try_next().await.map_err(|cut| cut.1)? {
            forge.db.write(move |tx| kept::note_found(tx, kind, &names)).await?;
        }
        forge.db.write(move |tx| db::stamp::keep(tx, &subject, tx.now.unix())).await?;
    }
    Ok(())
}

/// Drafts of large files lie beside them.
fn is_content(kind: &str, name: &str) -> bool {
    kind != lfs::KIND || name.rsplit('/').next().is_some_and(|name| name.parse::<LfsId>().is_ok())
}

pub(super) async fn check_due(forge: &Forge, pace: CheckRate) -> Result<()> {
    let due = forge.db.read(|tx| kept::due(tx, AT_ONCE)).await?;
    let checks = stream::iter(due).map(|file| check(forge, pace, file));
    let (mut checks, mut read) = (Box::pin(checks.buffer_unordered(pace.at_once)), 0);
    while let Some(bytes) = checks.try_next().await? {
        read += bytes;
        if read >= BYTES_AT_ONCE {
            break;
        }
    }
    Ok(())
}

/// How many bytes were read.
async fn check(forge: &Forge, pace: CheckRate, file: FileChecksum) -> Result<u64> {
    let stored = kinds(forge).into_iter().find(|(kind, _)| *kind == file.kind);
    let Some((kind, objects)) = stored else { return Ok(0) };
    let (read, found) = match digest(objects, &file.name).await {
        Ok((read, sha256)) => (read, Ok(sha256)),
        Err(gone) if gone.kind == Kind::NotFound && file.sha256.is_none() => {
            // It was removed between being listed and being read.
            forge.db.write(move |tx| kept::forget(tx, kind, &[file.name])).await?;
            return Ok(0);
        }
        Err(gone) if gone.kind == Kind::NotFound => (0, Err("The file is not there.".to_owned())),
        // The storage does not answer: the file may be as it should.
        Err(failure) if failure.kind == Kind::Unavailable => return Err(failure),
        Err(failure) => (0, Err(format!("The file cannot be read: {failure}"))),
    };
    let found = found.and_then(|found| match &file.sha256 {
        Some(kept) if *kept != found => {
            Err(format!("The content has SHA-256 {found}, and {kept} was stored."))
        }
        _ => Ok(found),
    });
    if let Err(reason) = &found {
        tracing::error!(kind, name = file.name, reason, "the checksum of a file failed");
    }
    let noted = forge.db.write(move |tx| {
        let span = if found.is_ok() { pace.good_for } else { AGAIN_AFTER };
        let next = tx.now.plus(span);
        match &found {
            Ok(sha256) => kept::note_check(tx, &file, (Some(sha256), None), next),
            Err(reason) => {
                let sha256 = file.sha256.as_deref();
                kept::note_check(tx, &file, (sha256, Some(reason)), next)
            }
        }
    });
    noted.await?;
    Ok(read)
}

/// Reads a file: its length and its SHA-256.
async fn digest(objects: &Objects, name: &str) -> Result<(u64, String)> {
    let (size, content) = objects.read(name).await?;
    let (mut content, mut digest) = (Box::pin(content), Sha256::new());
    while let Some(piece) = content.try_next().await.map_err(Error::internal)? {
        digest.update(&piece);
    }
    Ok((size, hex::encode(digest.finalize())))
}
