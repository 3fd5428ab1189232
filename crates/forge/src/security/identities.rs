//! Identities of findings in the copy of a project. Where a scanner keeps track of a finding by more than its place, its
//! report alone tells the identity.

use ci::artifact::Artifact;
use db::Tx;
use kernel::{Result, ids::ProjectId};
use security::{report::provisional_uuid, vulnerability::KnownFindingStore as _};

use super::imports::{read, report_type, reports};
use crate::Forge;

/// Pipelines whose reports are read, the newest of those that were the last to report something.
const PIPELINES: i64 = 20;
/// Findings that are renamed in one transaction.
const AT_ONCE: usize = 200;

/// Gives the vulnerabilities of a copy the identities that reports of the copy give them, as far as reports came along.
/// Done again, it changes nothing.
///
/// # Errors
/// When the database cannot be read or written.
pub(crate) async fn restore_identities(
    forge: &Forge,
    source: ProjectId,
    copy: ProjectId,
) -> Result<()> {
    for artifact in forge.db.read(move |tx| kept_reports(tx, copy)).await? {
        let Some(kind) = report_type(artifact.file_type) else { continue };
        let in_source = read(forge, source, kind, &artifact).await?;
        let in_copy = read(forge, copy, kind, &artifact).await?;
        let (Ok(in_source), Ok(in_copy)) = (in_source, in_copy) else { continue };
        let pairs = in_source.findings.into_iter().zip(in_copy.findings);
        let names = pairs.map(|(old, new)| (provisional_uuid(&old.uuid, copy), new.uuid));
        let names: Vec<(String, String)> = names.collect();
        for some in names.chunks(AT_ONCE) {
            let some = some.to_vec();
            forge.db.write(move |tx| tx.rename_findings(copy, &some)).await?;
        }
    }
    Ok(())
}

fn kept_reports(tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<Artifact>> {
    let mut all = Vec::new();
    for pipeline in tx.reporting_pipelines(project, PIPELINES)? {
        all.extend(reports(tx, project, pipeline)?);
    }
    let now = tx.now;
    all.retain(|artifact| artifact.is_there(now));
    Ok(all)
}
