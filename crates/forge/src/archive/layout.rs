//! Paths of the files in an archive.

use db::archive::{Column, Relation};
use deployments::{
    environment::archive::{freeze_period_columns, freeze_periods},
    ports::Calendar as _,
};

use crate::ports::deployments::Calendar;

/// The version of the layout, which the file [`VERSION`] has.
pub(super) const FORMAT: &str = "0.2.4";
pub(super) const VERSION: &str = "VERSION";
pub(super) const PROJECT: &str = "tree/project.json";
pub(super) const GROUPS: &str = "tree/groups.ndjson";
pub(super) const USERS: &str = "tree/users.ndjson";
/// Rows that no import takes, and why.
pub(super) const LEFT_OUT: &str = "tree/left_out.ndjson";
pub(super) const UPLOADS: &str = "tree/project/uploads.ndjson";
pub(super) const LFS_OBJECTS: &str = "tree/project/lfs_objects.ndjson";
pub(super) const JOB_LOGS: &str = "tree/project/job_logs.ndjson";
pub(super) const JOB_ARTIFACTS: &str = "tree/project/job_artifacts.ndjson";
pub(super) const REPOSITORY: &str = "project.bundle";
pub(super) const WIKI: &str = "project.wiki.bundle";
pub(super) const GROUP_WIKI: &str = "group.wiki.bundle";
/// The picture of the project. Its name is in the record of the project.
pub(super) const AVATAR: &str = "avatar";
pub(super) const HOOKS: &str = "tree/project/hooks.ndjson";
pub(super) const INTEGRATIONS: &str = "tree/project/integrations.ndjson";
pub(super) const PUSH_RULES: &str = "tree/project/push_rules.ndjson";

/// Uploads of one archive, and large files. Their names have up to 200 bytes: a list of so many uploads is read at once, and
/// takes less than 100 MB of memory.
pub(super) const MOST_FILES: usize = 200_000;
/// Logs of one archive, and artifacts.
pub(super) const MOST_JOB_FILES: usize = 100_000;

static FREEZE_PERIODS: Relation = freeze_periods(&FREEZE_PERIOD_COLUMNS);
static FREEZE_PERIOD_COLUMNS: [Column; 6] = freeze_period_columns(is_cron, is_zone);

fn is_cron(text: &str) -> bool {
    Calendar.is_cron(text)
}

fn is_zone(text: &str) -> bool {
    Calendar.is_zone(text)
}

/// The file of an upload: its secret alone, since names may be longer than headers.
pub(super) fn upload(secret: &str) -> String {
    format!("uploads/{secret}")
}

pub(super) fn lfs_object(id: &str) -> String {
    format!("lfs-objects/{id}")
}

/// The log of a job, by the id of the job in the archive.
pub(super) fn job_log(job: i64) -> String {
    format!("job-logs/{job}")
}

pub(super) fn job_artifact(id: i64) -> String {
    format!("job-artifacts/{id}")
}

/// The picture of a group.
pub(super) fn group_avatar(group: i64) -> String {
    format!("group-avatars/{group}")
}

/// The wiki of a group below the first one.
pub(super) fn group_wiki(group: i64) -> String {
    format!("group-wikis/{group}.bundle")
}

pub(super) fn of_project(relation: &Relation) -> String {
    format!("tree/project/{}.ndjson", relation.name)
}

pub(super) fn of_group(group: i64, relation: &Relation) -> String {
    format!("tree/groups/{group}/{}.ndjson", relation.name)
}

/// What archives of projects hold of tables, each after those that it names.
pub(super) fn project_relations() -> Vec<&'static Relation> {
    let parts = [
        repo::protection::archive::RELATIONS,
        repo::release::archive::RELATIONS,
        repo::lfs::archive::RELATIONS,
        review::archive::PROJECT,
        &[&repo::release::archive::MILESTONES],
        ci::schedule::archive::RELATIONS,
        ci::archive::RELATIONS,
        deployments::environment::archive::RELATIONS,
        &[&FREEZE_PERIODS],
        deployments::protection::archive::RELATIONS,
        deployments::deployment::archive::RELATIONS,
        security::archive::RELATIONS,
    ];
    parts.into_iter().flatten().copied().collect()
}

/// What archives of projects hold besides: it is read as a whole, and written last.
pub(super) fn project_closing_relations() -> [&'static Relation; 2] {
    [&org::project::archive::MEMBERS, &security::integration::archive::INTEGRATIONS]
}

pub(super) fn group_relations() -> Vec<&'static Relation> {
    review::archive::GROUP.to_vec()
}

/// All lists of tables in archives of projects.
pub(super) fn project_lists() -> Vec<&'static Relation> {
    project_relations().into_iter().chain(project_closing_relations()).collect()
}

/// All lists of tables that archives of groups have of each group.
pub(super) fn group_lists() -> Vec<&'static Relation> {
    group_relations().into_iter().chain([&org::namespace::archive::MEMBERS]).collect()
}

/// Whether a path is one of an archive; all others are left alone.
pub(super) fn is_known(path: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let is_lines = |name: &str| name.strip_suffix(".ndjson").is_some_and(is_word);
    let is_hex = |name: &str, length: usize| {
        name.len() == length && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_id = |name: &str| name.parse::<i64>().is_ok_and(|id| id > 0 && id.to_string() == name);
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [VERSION | REPOSITORY | WIKI | GROUP_WIKI | AVATAR] | ["tree", "project.json"] => true,
        ["tree", name] | ["tree", "project", name] => is_lines(name),
        ["tree", "groups", id, name] => id.parse::<u32>().is_ok() && is_lines(name),
        ["uploads", secret] => is_hex(secret, 32),
        ["lfs-objects", id] => is_hex(id, 64),
        ["job-logs" | "job-artifacts" | "group-avatars", id] => is_id(id),
        ["group-wikis", name] => name.strip_suffix(".bundle").is_some_and(is_id),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use db::archive::Field;

    use super::{
        JOB_ARTIFACTS, JOB_LOGS, group_avatar, group_relations, group_wiki, is_known, job_artifact,
        job_log, of_project, project_relations,
    };

    #[test]
    fn every_relation_comes_after_those_that_it_names() {
        for all in [project_relations(), group_relations()] {
            let mut known: HashSet<&str> = HashSet::from(["projects"]);
            for relation in all {
                known.insert(relation.table);
                for column in relation.columns {
                    let named: Vec<&str> = match column.field {
                        Field::Row(of) | Field::Itself(of) => vec![of],
                        Field::Kind(kinds) => kinds.iter().map(|(_, of)| *of).collect(),
                        _ => Vec::new(),
                    };
                    for of in named {
                        assert!(known.contains(of), "{} names {of}", relation.name);
                    }
                }
                assert!(is_known(&of_project(relation)), "{}", relation.name);
            }
        }
    }

    #[test]
    fn only_what_the_layout_has_is_taken_out_of_an_archive() {
        for path in [
            "VERSION",
            "tree/project/issues.ndjson",
            "tree/groups/7/labels.ndjson",
            JOB_LOGS,
            JOB_ARTIFACTS,
            &job_log(7),
            &job_artifact(i64::MAX),
            &group_wiki(7),
            &group_avatar(7),
        ] {
            assert!(is_known(path), "{path}");
        }
        for path in [
            "../VERSION",
            "/VERSION",
            "tree/../../x.ndjson",
            "tree/groups/../x.ndjson",
            "uploads/../../secrets.key",
            "uploads/0123456789abcdef0123456789abcdeg",
            "tree/project/.ndjson",
            "hooks/post-receive",
            "job-logs/../7",
            "job-logs/07",
            "job-logs/+7",
            "job-artifacts/0",
            "job-artifacts/-7",
            "job-artifacts/7/x",
            "job-artifacts/9223372036854775808",
            "group-wikis/../7.bundle",
            "group-wikis/7",
        ] {
            assert!(!is_known(path), "{path}");
        }
    }
}
