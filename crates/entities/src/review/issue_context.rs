//! Related records of a page of issues, loaded once for all of them.

use std::collections::HashMap;

use db::Tx;
use forge::{ports::directory::Directory, urls::Urls};
use kernel::{
    Actor, Result,
    ids::{IssueId, MilestoneId, ProjectId, UserId},
};
use org::{
    hierarchy,
    user::{User, UserSummary, store::UserStore},
};
use review::{
    issue::{Issue, IssueStore, merge_requests::count_closing},
    item::{ItemId, ItemKind, ItemStore, details::ItemDetails, reading::readable},
    label::Label,
    milestone::MilestoneStore,
};

use super::{epic::BriefEpic, iteration::IterationEntity, milestone::MilestoneEntity};

/// People, labels, milestones and projects, by their ids.
pub struct IssueContext {
    pub users: HashMap<UserId, UserSummary>,
    assignees: HashMap<i64, Vec<UserId>>,
    pub labels: HashMap<i64, Vec<Label>>,
    pub milestones: HashMap<i64, MilestoneEntity>,
    pub epics: HashMap<i64, BriefEpic>,
    pub iterations: HashMap<i64, IterationEntity>,
    paths: HashMap<ProjectId, String>,
    /// Where the issues are that some of these repeat, as far as the reader may read them.
    originals: HashMap<IssueId, (ProjectId, i64)>,
    closing: HashMap<IssueId, i64>,
}

/// What is known already of what belongs to one issue or merge request.
#[derive(Clone, Copy)]
pub struct ItemHints<'a> {
    pub beside: &'a ItemDetails,
    /// The full path of its project.
    pub path: &'a str,
    /// Whoever reads it, where their row was read with their token.
    pub reader: Option<&'a User>,
}

impl IssueContext {
    pub fn load(tx: &mut Tx<'_>, urls: &Urls, reader: Actor, rows: &[Issue]) -> Result<Self> {
        let ids: Vec<i64> = rows.iter().map(|row| row.id.0).collect();
        let assignees = tx.assignees_of(ItemKind::Issue, &ids)?;
        let labels = tx.labels_of(ItemKind::Issue, &ids)?;
        Self::around(tx, urls, reader, rows, (assignees, labels), (HashMap::new(), None))
    }

    /// As [`load`](Self::load), for one of which something is known.
    pub fn of_one(
        tx: &mut Tx<'_>,
        urls: &Urls,
        reader: Actor,
        row: &Issue,
        known: &ItemHints<'_>,
    ) -> Result<Self> {
        let assignees = HashMap::from([(row.id.0, known.beside.assignees.clone())]);
        let labels = match known.beside.has_labels {
            true => tx.labels_of(ItemKind::Issue, &[row.id.0])?,
            false => HashMap::new(),
        };
        let paths = HashMap::from([(row.project_id, known.path.to_owned())]);
        let known = (paths, known.reader);
        Self::around(tx, urls, reader, std::slice::from_ref(row), (assignees, labels), known)
    }

    fn around(
        tx: &mut Tx<'_>,
        urls: &Urls,
        reader: Actor,
        rows: &[Issue],
        (assignees, labels): (HashMap<i64, Vec<UserId>>, HashMap<i64, Vec<Label>>),
        (mut paths, known): (HashMap<ProjectId, String>, Option<&User>),
    ) -> Result<Self> {
        let people = rows.iter().flat_map(|row| [Some(row.author_id), row.closed_by_id]).flatten();
        let people = people.chain(assignees.values().flatten().copied());
        let others = people.filter(|id| known.is_none_or(|known| known.id != *id));
        let mut users = tx.summaries_by_id(&distinct(others))?;
        users.extend(known.map(|known| (known.id, known.summary())));
        let repeated = distinct(rows.iter().filter_map(|row| row.duplicated_to_id));
        let repeated: Vec<i64> = repeated.into_iter().map(|id| id.0).collect();
        let directory = Directory::new(urls);
        let originals = originals(tx, &directory, reader, &repeated)?;
        let projects = rows.iter().map(|row| row.project_id);
        let projects = distinct(projects.filter(|project| !paths.contains_key(project)));
        paths.extend(hierarchy::project_paths(tx, &projects)?);
        let place = |issue: Issue| (issue.id, (issue.project_id, issue.iid));
        Ok(Self {
            users,
            labels,
            milestones: milestones(tx, urls, rows)?,
            epics: BriefEpic::of(tx, reader, &distinct(rows.iter().filter_map(|row| row.epic_id)))?,
            iterations: IterationEntity::of(
                tx,
                urls,
                reader,
                &distinct(rows.iter().filter_map(|row| row.iteration_id)),
            )?,
            paths,
            closing: count_closing(tx, &directory, reader, rows)?,
            originals: originals.into_iter().map(place).collect(),
            assignees,
        })
    }

    pub fn assignees_of(&self, id: IssueId) -> Vec<UserId> {
        self.assignees.get(&id.0).cloned().unwrap_or_default()
    }

    /// The full path of a project.
    pub fn path(&self, project: ProjectId) -> &str {
        self.paths.get(&project).map_or("", String::as_str)
    }

    /// How many merge requests close an issue, of those that the reader may read.
    pub fn closing(&self, id: IssueId) -> i64 {
        self.closing.get(&id).copied().unwrap_or_default()
    }

    /// Where in the API the issue is that this one repeats.
    pub fn original(&self, issue: &Issue) -> Option<String> {
        let (project, iid) = self.originals.get(&issue.duplicated_to_id?)?;
        Some(format!("api/v4/projects/{project}/issues/{iid}"))
    }
}

/// Those of the issues that others repeat which the reader may read.
fn originals(
    tx: &mut Tx<'_>,
    directory: &Directory,
    reader: Actor,
    ids: &[i64],
) -> Result<Vec<Issue>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = tx.issues_in_order(ids)?;
    let places: Vec<(ItemId, ProjectId)> =
        found.iter().map(|issue| (issue.id.into(), issue.project_id)).collect();
    let seen = readable(tx, directory, reader, &places)?;
    found.retain(|issue| seen.contains(&issue.id.into()));
    Ok(found)
}

fn milestones(
    tx: &mut Tx<'_>,
    urls: &Urls,
    rows: &[Issue],
) -> Result<HashMap<i64, MilestoneEntity>> {
    let ids: Vec<MilestoneId> = distinct(rows.iter().filter_map(|row| row.milestone_id));
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = tx.milestones_by_id(&ids)?;
    let shown = MilestoneEntity::all(tx, urls, found)?;
    Ok(shown.into_iter().map(|milestone| (milestone.id, milestone)).collect())
}

fn distinct<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}
