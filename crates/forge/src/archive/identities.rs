//! Identities of findings in the copy of a project, report by report.

use admin::archive::ArchiveImport;
use db::Tx;
use kernel::ids::ProjectId;
use security::vulnerability::KnownFindingStore as _;

use super::{
    failure::ArchiveError,
    progress::{lines_done, save_page},
};
use crate::{
    Forge,
    security::{report_identities, telling_reports},
};

/// Gives the vulnerabilities of a copy the identities that reports of the copy give them, as far as reports came along.
/// These are read the newest first, and the place says which one was the last. Returns the import as it is then.
pub(super) async fn restore(
    forge: &Forge,
    import: ArchiveImport,
    place: i64,
    (source, copy): (ProjectId, ProjectId),
) -> Result<ArchiveImport, ArchiveError> {
    let done = lines_done(&import, place);
    let mut seen = import;
    let reports = forge.db.read(move |tx: &mut Tx<'_>| telling_reports(tx, copy)).await?;
    for report in reports.iter().filter(|report| done == 0 || report.id < done) {
        let names = report_identities(forge, source, copy, report).await?;
        let write =
            move |tx: &mut Tx<'_>| tx.rename_findings(copy, &names).map_err(ArchiveError::from);
        seen = save_page(forge, seen, place, report.id, write).await?;
    }
    Ok(seen)
}
