//! Rows that an archive names and does not hold, since no import takes them.

use std::path::Path;

use admin::import::OmittedRow;
use db::archive::Relation;

use super::{failure::ArchiveError, layout, lines};

/// Rows that one archive names so: as many as failures are shown of an import.
pub(super) const MOST: usize = 100;
/// Characters of a reason.
const LONGEST_REASON: usize = 500;

/// The rows of some lists that an archive says it does not hold.
pub(super) fn read(folder: &Path, lists: &[&Relation]) -> Result<Vec<OmittedRow>, ArchiveError> {
    let rows: Vec<OmittedRow> = lines::read_all(folder, layout::LEFT_OUT, MOST)?;
    let is_sound = |row: &OmittedRow| {
        lists.iter().any(|relation| relation.name == row.relation)
            && row.reason.chars().count() <= LONGEST_REASON
            && !row.reason.contains('\0')
    };
    match rows.iter().all(is_sound) {
        true => Ok(rows),
        false => Err(ArchiveError::flawed(
            "The archive lacks a row, and does not say of which list and why.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Relation, layout, read};

    fn is_read(row: &str, lists: &[&Relation]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(layout::LEFT_OUT);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("{row}\n")).unwrap();
        read(folder.path(), lists).is_ok()
    }

    #[test]
    fn what_an_archive_lacks_is_of_a_list_and_has_a_short_reason() {
        let long = "x".repeat(501);
        for (row, is_sound) in [
            (r#"{"relation":"pipelines","id":7,"reason":"x"}"#.to_owned(), true),
            (r#"{"relation":"project_members","reason":"x"}"#.to_owned(), true),
            (r#"{"relation":"secrets","id":7,"reason":"x"}"#.to_owned(), false),
            (r#"{"relation":"pipelines","reason":"a\u0000"}"#.to_owned(), false),
            (r#"{"relation":"pipelines"}"#.to_owned(), false),
            (format!(r#"{{"relation":"pipelines","reason":"{long}"}}"#), false),
        ] {
            assert_eq!(is_read(&row, &layout::project_lists()), is_sound, "{row}");
        }
    }

    #[test]
    fn projects_and_groups_lack_rows_of_their_own_lists() {
        for (list, of_project, of_group) in [
            ("labels", true, true),
            ("pipelines", true, false),
            ("epics", false, true),
            ("members", false, true),
        ] {
            let row = format!(r#"{{"relation":"{list}","reason":"x"}}"#);
            let found =
                [layout::project_lists(), layout::group_lists()].map(|lists| is_read(&row, &lists));
            assert_eq!(found, [of_project, of_group], "{list}");
        }
    }
}
