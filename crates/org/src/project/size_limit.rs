//! The size limit of a repository with its large files.

use db::Tx;
use kernel::{Error, Result, head::Growth, ids::ProjectId};

use super::statistics::StatisticsStore;
use crate::settings::store::SettingsStore;

const MEBIBYTE: i64 = 1 << 20;

/// Notes that a repository has another size, unless that is too large.
///
/// # Errors
/// `BadRequest` with a sentence for whoever pushes, where it grows beyond the limit of the settings.
pub(super) fn grow(tx: &mut Tx<'_>, project: ProjectId, growth: Growth) -> Result<()> {
    match growth {
        Growth::By(bytes) if bytes <= 0 => tx.record_growth(project, growth),
        Growth::By(_) | Growth::To(_) => {
            within(tx, project, |tx| tx.record_growth(project, growth))
        }
    }
}

/// Notes that a project has so many bytes of large files.
///
/// # Errors
/// `BadRequest` with a sentence for the uploader, where the limit of the settings is exceeded.
pub fn note_lfs_size(tx: &mut Tx<'_>, project: ProjectId, bytes: i64) -> Result<()> {
    within(tx, project, |tx| tx.save_lfs_size(project, bytes))
}

fn within(
    tx: &mut Tx<'_>,
    project: ProjectId,
    note: impl FnOnce(&mut Tx<'_>) -> Result<()>,
) -> Result<()> {
    let limit = tx.settings()?.repository_size_limit().unwrap_or_default();
    if limit == 0 {
        return note(tx);
    }
    let before = size(tx, project)?;
    note(tx)?;
    let after = size(tx, project)?;
    match after - limit.saturating_mul(MEBIBYTE) {
        // What is too large already may become smaller.
        excess if excess > 0 && after > before => {
            Err(Error::bad_request().whole(refusal(limit, excess)))
        }
        _ => Ok(()),
    }
}

fn refusal(limit: i64, excess: i64) -> String {
    let excess = (excess + MEBIBYTE - 1) / MEBIBYTE;
    format!(
        "Your push has been rejected, because this repository has exceeded its size limit of {limit} MB by {excess} \
         MB. Please contact your administrator for more information."
    )
}

fn size(tx: &mut Tx<'_>, project: ProjectId) -> Result<i64> {
    let found = tx.statistics_by_project(&[project])?;
    Ok(found.get(&project).map_or(0, |known| known.repository_size + known.lfs_objects_size))
}

#[cfg(test)]
mod tests {
    use super::{MEBIBYTE, refusal};

    #[test]
    fn an_excess_is_told_in_whole_megabytes() {
        assert!(refusal(10, 1).contains("size limit of 10 MB by 1 MB"));
        assert!(refusal(10, MEBIBYTE + 1).contains("by 2 MB"));
    }
}
