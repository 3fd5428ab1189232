//! Looking at the whole tree of an archive before anything of it is written.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use admin::import::OmittedRow;
use db::archive::{self, ArchiveRow, Relation};
use kernel::Error;
use org::{
    namespace::{archive::GroupRecord, rules::MAX_DEPTH},
    project::archive::ProjectRecord,
};

use super::{
    failure::{ArchiveError, unreadable},
    files, job_artifacts, job_logs, layout, left_out,
    lines::{self, Lines},
    people::{self, Person},
    picture,
    rows::row_flaw,
    settings::{self, ProjectSettings},
};

/// Groups of one archive.
const MOST_GROUPS: usize = 1000;
/// Bytes of the record of a project: two templates of a million signs, each of which JSON writes with up to six bytes, and
/// room for everything else.
const LONGEST_RECORD: u64 = 16 << 20;
/// The column of the number that a row has in its project or group.
const NUMBER: &str = "iid";

/// An archive of a project.
#[derive(Debug)]
pub(super) struct ProjectTree {
    pub(super) project: ProjectRecord,
    pub(super) settings: ProjectSettings,
    pub(super) people: Vec<Person>,
    pub(super) left_out: Vec<OmittedRow>,
    /// The last number of the rows of each relation that has some with numbers, by its name.
    pub(super) numbers: HashMap<&'static str, i64>,
}

/// An archive of a group and those below it.
#[derive(Debug)]
pub(super) struct GroupTree {
    pub(super) groups: Vec<GroupRecord>,
    /// Levels of groups below the first one.
    pub(super) levels_below: usize,
    pub(super) people: Vec<Person>,
    /// As those of a project, by the ids of groups.
    pub(super) numbers: HashMap<i64, HashMap<&'static str, i64>>,
}

/// Reads an unpacked archive of a project, and looks whether all of it can be taken. Blocks.
pub(super) fn project(folder: &Path) -> Result<ProjectTree, ArchiveError> {
    ensure_version(folder)?;
    let project = project_record(folder)?;
    picture::ensure_sound(folder, project.avatar.as_deref())?;
    let (lists, mut numbers) = (layout::project_lists(), HashMap::new());
    for relation in &lists {
        let last = ensure_sound(folder, &layout::of_project(relation), relation)?;
        numbers.extend(last.map(|last| (relation.name, last)));
    }
    files::uploads(folder)?;
    files::check_lfs(folder)?;
    job_logs::check(folder)?;
    job_artifacts::check(folder)?;
    let settings = settings::read(folder)?;
    let (people, left_out) = (people_of(folder)?, left_out::read(folder, &lists)?);
    Ok(ProjectTree { project, settings, people, left_out, numbers })
}

fn project_record(folder: &Path) -> Result<ProjectRecord, ArchiveError> {
    let path = folder.join(layout::PROJECT);
    let about = std::fs::metadata(&path)
        .map_err(|_gone| ArchiveError::flawed("The archive is not one of a project."))?;
    if about.len() > LONGEST_RECORD {
        return Err(ArchiveError::flawed("The archive's record of the project is too long."));
    }
    let text = std::fs::read(path)?;
    let unread = |cause| unreadable("The archive's record of the project", &cause);
    let project: ProjectRecord = serde_json::from_slice(&text).map_err(unread)?;
    settings::ensure_storable(layout::PROJECT, &serde_json::from_slice(&text).map_err(unread)?)?;
    ensure_id("project", project.id)?;
    project.ensure_sound().map_err(|cause| settings::flaw("settings", &cause))?;
    Ok(project)
}

/// As [`project`], for an archive of a group.
pub(super) fn groups(folder: &Path) -> Result<GroupTree, ArchiveError> {
    ensure_version(folder)?;
    let groups: Vec<GroupRecord> = lines::read_all(folder, layout::GROUPS, MOST_GROUPS)?;
    if groups.first().is_none_or(|first| first.parent_id.is_some()) {
        return Err(ArchiveError::flawed("The archive is not one of a group."));
    }
    let levels_below = ensure_tree(&groups)?;
    let (lists, mut numbers) = (layout::group_lists(), HashMap::new());
    for group in &groups {
        group.ensure_sound().map_err(|cause| settings::flaw("a group", &cause))?;
        let fields = serde_json::to_value(group).map_err(Error::internal)?;
        settings::ensure_storable(layout::GROUPS, &fields)?;
        picture::ensure_sound_of_group(folder, group.id, group.avatar.as_deref())?;
        numbers.insert(group.id, group_numbers(folder, group.id, &lists)?);
    }
    left_out::read(folder, &lists)?;
    Ok(GroupTree { groups, levels_below, people: people_of(folder)?, numbers })
}

/// Refuses groups that cannot lie as they do: each has its own path below one that comes before it. Returns the levels
/// below the first one.
fn ensure_tree(groups: &[GroupRecord]) -> Result<usize, ArchiveError> {
    let mut depths: HashMap<i64, usize> = HashMap::new();
    let mut paths = HashSet::new();
    for (place, group) in groups.iter().enumerate() {
        ensure_id("groups", group.id)?;
        let above = group.parent_id.and_then(|id| depths.get(&id).copied());
        if depths.contains_key(&group.id) || (place > 0 && above.is_none()) {
            return Err(ArchiveError::flawed("The archive has a group that lies nowhere."));
        }
        let depth = above.unwrap_or(0).saturating_add(1);
        if depth > MAX_DEPTH {
            return Err(ArchiveError::flawed("The archive has groups that lie too deep."));
        }
        if !paths.insert((group.parent_id, group.path.to_lowercase())) {
            return Err(ArchiveError::flawed("The archive has two groups with one path."));
        }
        depths.insert(group.id, depth);
    }
    Ok(depths.into_values().max().unwrap_or_default().saturating_sub(1))
}

/// Refuses rows of a group that cannot be taken; returns the last numbers of its relations.
fn group_numbers(
    folder: &Path,
    group: i64,
    lists: &[&'static Relation],
) -> Result<HashMap<&'static str, i64>, ArchiveError> {
    let mut numbers = HashMap::new();
    for relation in lists {
        let last = ensure_sound(folder, &layout::of_group(group, relation), relation)?;
        numbers.extend(last.map(|last| (relation.name, last)));
    }
    Ok(numbers)
}

fn people_of(folder: &Path) -> Result<Vec<Person>, ArchiveError> {
    let people: Vec<Person> = lines::read_all(folder, layout::USERS, people::MOST)?;
    people.iter().try_for_each(|person| ensure_id("users", person.id))?;
    let is_odd = |person: &Person| {
        let texts = [Some(&person.username), Some(&person.name), person.email.as_ref()];
        texts.into_iter().flatten().any(|text| text.chars().count() > 255 || text.contains('\0'))
    };
    match people.iter().any(is_odd) {
        true => Err(ArchiveError::flawed("The archive names somebody who cannot be called so.")),
        false => Ok(people),
    }
}

fn ensure_id(of: &str, id: i64) -> Result<(), ArchiveError> {
    match id > 0 {
        true => Ok(()),
        false => Err(ArchiveError::Flawed(format!(
            "The archive has a row that cannot be taken: {of}: id is not an id."
        ))),
    }
}

fn ensure_version(folder: &Path) -> Result<(), ArchiveError> {
    let path = folder.join(layout::VERSION);
    let length = std::fs::metadata(&path).map_or(0, |about| about.len());
    let found = if length < 100 {
        std::fs::read_to_string(path).unwrap_or_default()
    } else {
        String::new()
    };
    match found.trim() == layout::FORMAT {
        true => Ok(()),
        false => {
            let found: String =
                found.trim().chars().filter(|letter| !letter.is_control()).collect();
            if found.is_empty() {
                return Err(ArchiveError::Flawed(format!(
                    "The archive names no version: it must have a file {} with {}.",
                    layout::VERSION,
                    layout::FORMAT
                )));
            }
            Err(ArchiveError::Flawed(format!(
                "Import version mismatch: Required {} but was {found}",
                layout::FORMAT
            )))
        }
    }
}

/// Refuses rows that cannot be taken; returns the last number that one of them has in its project or group.
fn ensure_sound(
    folder: &Path,
    path: &str,
    relation: &'static Relation,
) -> Result<Option<i64>, ArchiveError> {
    let (mut lines, mut named) = (Lines::open(folder, path)?, Vec::new());
    let (number, mut last) = (relation.column(NUMBER), None::<i64>);
    while let Some(row) = lines.next::<ArchiveRow>()? {
        named.clear();
        archive::first_pass(relation, &row, &mut named).map_err(|flaw| row_flaw(&flaw))?;
        last = last.max(number.and_then(|column| row.get(column.name)?.as_i64()));
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::{ensure_version, layout};

    #[test]
    fn a_version_that_is_missing_or_another_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let told = || ensure_version(folder.path()).map_err(|flaw| flaw.to_string());
        let missing = "The archive names no version: it must have a file VERSION with 0.2.4.";
        assert_eq!(told(), Err(missing.to_owned()));
        for (content, told_then) in [
            ("\n", Err(missing)),
            ("0.1\n", Err("Import version mismatch: Required 0.2.4 but was 0.1")),
            ("0.2.4\n", Ok(())),
        ] {
            std::fs::write(folder.path().join(layout::VERSION), content).unwrap();
            assert_eq!(told(), told_then.map_err(str::to_owned), "{content:?}");
        }
    }
}
