//! Labels that take the place of others: of those of the same name that are promoted with them, and of a group's in
//! projects that left the group.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    listing::{self, list_of},
    schema::labels,
};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Result,
    ids::{LabelId, NamespaceId, ProjectId},
};

use super::{model::Label, store::LabelStore as _};

const NOUN: &str = "Label";

/// Rows that one statement names.
const AT_ONCE: usize = 500;

/// A label that a project uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, QueryableByName)]
pub struct LabelUse {
    #[diesel(sql_type = BigInt)]
    pub project: ProjectId,
    #[diesel(sql_type = BigInt)]
    pub label: LabelId,
}

/// A label that takes the place of another in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelReplacement {
    pub project: ProjectId,
    pub old: LabelId,
    pub new: LabelId,
}

/// The labels of some groups that issues, merge requests and boards of projects have; those of one project where one is
/// named.
///
/// # Errors
/// When the database cannot be read.
pub fn uses_of(
    tx: &mut Tx<'_>,
    groups: &[NamespaceId],
    project: Option<ProjectId>,
) -> Result<Vec<LabelUse>> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let groups = list_of(&groups.iter().map(|group| group.0).collect::<Vec<_>>());
    let project = match project {
        Some(project) => format!("= {project}"),
        None => "IS NOT NULL".to_owned(),
    };
    let of = |uses: &str, column: &str| {
        format!(
            "SELECT {column} AS project, l.id AS label FROM labels l JOIN {uses} \
             WHERE l.namespace_id IN ({groups}) AND {column} {project}"
        )
    };
    // Kinds are named so that the index of labels leads to the project.
    let items = "item_labels i ON i.label_id = l.id AND i.item_kind IN ('Issue', 'MergeRequest')";
    let board = "JOIN boards b ON b.id = u.board_id";
    let text = [
        of(items, "i.project_id"),
        of(&format!("board_lists u ON u.label_id = l.id {board}"), "b.project_id"),
        of(&format!("board_labels u ON u.label_id = l.id {board}"), "b.project_id"),
    ];
    listing::rows(tx, &text.join(" UNION "), &[])
}

/// Gives projects that moved labels of their new home in place of those of groups that they are no longer in: one of the
/// same name where there is one, a copy otherwise. `groups` has the groups above each project that moved; uses in other
/// projects stay.
///
/// # Errors
/// When the database failed.
pub fn replace_foreign(
    tx: &mut Tx<'_>,
    groups: &HashMap<ProjectId, Vec<NamespaceId>>,
    uses: &[LabelUse],
) -> Result<()> {
    let mut all = Vec::new();
    for some in uses.chunks(AT_ONCE) {
        all.extend(replacements(tx, groups, some)?);
    }
    move_uses(tx, &all)
}

/// By what some labels are to be replaced; what is missing is copied.
fn replacements(
    tx: &mut Tx<'_>,
    groups: &HashMap<ProjectId, Vec<NamespaceId>>,
    uses: &[LabelUse],
) -> Result<Vec<LabelReplacement>> {
    let ids: HashSet<LabelId> = uses.iter().map(|one| one.label).collect();
    let rows = tx.labels_by_id(&Vec::from_iter(ids))?;
    let rows: HashMap<LabelId, &Label> = rows.iter().map(|row| (row.id, row)).collect();
    let foreign = uses.iter().filter_map(|one| {
        let (above, old) = (groups.get(&one.project)?, *rows.get(&one.label)?);
        let is_foreign = old.namespace_id.is_some_and(|group| !above.contains(&group));
        is_foreign.then_some((one.project, old))
    });
    let foreign: Vec<(ProjectId, &Label)> = foreign.collect();
    let known = counterparts(tx, groups, &foreign)?;
    if known.len() == foreign.len() {
        return Ok(known);
    }
    let missing = foreign.iter().copied().filter(|(project, old)| {
        !known.iter().any(|one| (one.project, one.old) == (*project, old.id))
    });
    insert_copies(tx, &Vec::from_iter(missing))?;
    counterparts(tx, groups, &foreign)
}

/// The labels of the same names that projects may use, their own before those of groups. What has none is left out.
fn counterparts(
    tx: &mut Tx<'_>,
    groups: &HashMap<ProjectId, Vec<NamespaceId>>,
    foreign: &[(ProjectId, &Label)],
) -> Result<Vec<LabelReplacement>> {
    if foreign.is_empty() {
        return Ok(Vec::new());
    }
    let names: BTreeSet<&str> = foreign.iter().map(|(_, old)| old.name.as_str()).collect();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let projects: BTreeSet<ProjectId> = foreign.iter().map(|(project, _)| *project).collect();
    let around = projects.iter().filter_map(|project| groups.get(project)).flatten();
    let around: BTreeSet<NamespaceId> = around.copied().collect();
    let (projects, around) = (Vec::from_iter(projects), Vec::from_iter(around));
    let usable = labels::project_id.one_of(&projects).or(labels::namespace_id.one_of(&around));
    let rows = labels::table.filter(labels::name.one_of(&names)).filter(usable);
    let mut rows: Vec<Label> = each_backend!(tx, |conn| rows
        .order(labels::id)
        .select(Label::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    rows.sort_by_key(|row| row.project_id.is_none());
    let found = foreign.iter().filter_map(|(project, old)| {
        let above = groups.get(project)?;
        let new = rows.iter().find(|row| {
            let is_usable = row.project_id == Some(*project)
                || row.namespace_id.is_some_and(|group| above.contains(&group));
            is_usable && row.name == old.name
        })?;
        Some(LabelReplacement { project: *project, old: old.id, new: new.id })
    });
    Ok(found.collect())
}

/// Copies labels into projects, each name once.
fn insert_copies(tx: &mut Tx<'_>, missing: &[(ProjectId, &Label)]) -> Result<()> {
    let copies: BTreeMap<(ProjectId, &str), &Label> =
        missing.iter().map(|(project, old)| ((*project, old.name.as_str()), *old)).collect();
    let now = tx.now;
    let row = |((project, name), old): ((ProjectId, &str), &Label)| {
        (
            labels::project_id.eq(project),
            labels::name.eq(name.to_owned()),
            labels::color.eq(old.color.clone()),
            labels::description.eq(old.description.clone()),
            labels::created_at.eq(now),
            labels::updated_at.eq(now),
        )
    };
    let rows: Vec<_> = copies.into_iter().map(row).collect();
    each_backend!(tx, |conn| diesel::insert_into(labels::table)
        .values(&rows)
        .execute(conn)
        .map_err(error(NOUN)))?;
    Ok(())
}

/// Has what uses labels in projects use others: issues and merge requests, priorities, and boards. An item or board that
/// has the new one already loses the old one.
///
/// # Errors
/// When the database cannot be written.
pub(super) fn move_uses(tx: &mut Tx<'_>, all: &[LabelReplacement]) -> Result<()> {
    for some in all.chunks(AT_ONCE) {
        for text in statements(some) {
            each_backend!(tx, |conn| diesel::sql_query(&text).execute(conn).map_err(error(NOUN)))?;
        }
    }
    Ok(())
}

/// In the table `r`, `column1` is the project, `column2` the old label, `column3` the new one.
fn statements(some: &[LabelReplacement]) -> [String; 8] {
    let row = |one: &LabelReplacement| format!("({}, {}, {})", one.project, one.old, one.new);
    let rows: Vec<String> = some.iter().map(row).collect();
    let pairs = format!("(VALUES {})", rows.join(", "));
    let old = ids_of(some.iter().map(|one| one.old));
    let kinds = "item_kind IN ('Issue', 'MergeRequest')";
    let of_projects = format!("SELECT column1, column2 FROM {pairs} AS r");
    let of_boards = format!(
        "SELECT b.id, r.column2 FROM {pairs} AS r JOIN boards b ON b.project_id = r.column1"
    );
    [
        format!(
            "INSERT INTO item_labels (item_kind, item_id, label_id, project_id) \
             SELECT DISTINCT i.item_kind, i.item_id, r.column3, i.project_id FROM {pairs} AS r \
             JOIN item_labels i ON i.label_id = r.column2 AND i.{kinds} AND i.project_id = r.column1 \
             WHERE true ON CONFLICT DO NOTHING"
        ),
        format!(
            "DELETE FROM item_labels WHERE label_id IN ({old}) AND {kinds} \
             AND (project_id, label_id) IN ({of_projects})"
        ),
        // Of the priorities of several old labels the most urgent counts; one that the new label has already stays.
        format!(
            "INSERT INTO label_priorities (project_id, label_id, priority) \
             SELECT r.column1, r.column3, min(p.priority) FROM {pairs} AS r \
             JOIN label_priorities p ON p.project_id = r.column1 AND p.label_id = r.column2 \
             WHERE true GROUP BY r.column1, r.column3 ON CONFLICT DO NOTHING"
        ),
        format!("DELETE FROM label_priorities WHERE (project_id, label_id) IN ({of_projects})"),
        format!(
            "INSERT INTO board_labels (board_id, label_id) \
             SELECT DISTINCT u.board_id, r.column3 FROM {pairs} AS r \
             JOIN boards b ON b.project_id = r.column1 \
             JOIN board_labels u ON u.board_id = b.id AND u.label_id = r.column2 \
             WHERE true ON CONFLICT DO NOTHING"
        ),
        format!("DELETE FROM board_labels WHERE (board_id, label_id) IN ({of_boards})"),
        // A board has one list of a label.
        format!(
            "DELETE FROM board_lists WHERE id IN (\
             SELECT l.id FROM {pairs} AS r JOIN boards b ON b.project_id = r.column1 \
             JOIN board_lists l ON l.board_id = b.id AND l.label_id = r.column2 \
             JOIN board_lists o ON o.board_id = b.id AND o.id <> l.id \
             LEFT JOIN {pairs} AS s ON s.column1 = r.column1 AND s.column2 = o.label_id \
             WHERE o.label_id = r.column3 OR (s.column3 = r.column3 AND o.id < l.id))"
        ),
        format!(
            "UPDATE board_lists SET label_id = r.column3 FROM {pairs} AS r \
             JOIN boards b ON b.project_id = r.column1 \
             WHERE board_lists.board_id = b.id AND board_lists.label_id = r.column2"
        ),
    ]
}

fn ids_of(labels: impl Iterator<Item = LabelId>) -> String {
    labels.map(|label| label.to_string()).collect::<Vec<_>>().join(", ")
}

/// Has who hears of some labels hear of another one.
///
/// # Errors
/// When the database cannot be written.
pub(super) fn move_subscriptions(tx: &mut Tx<'_>, old: &[LabelId], new: LabelId) -> Result<()> {
    for some in old.chunks(AT_ONCE) {
        let some = ids_of(some.iter().copied());
        let text = format!(
            "INSERT INTO label_subscriptions (user_id, label_id) \
             SELECT DISTINCT user_id, {new} FROM label_subscriptions WHERE label_id IN ({some}) \
             ON CONFLICT DO NOTHING"
        );
        each_backend!(tx, |conn| diesel::sql_query(&text).execute(conn).map_err(error(NOUN)))?;
    }
    Ok(())
}
