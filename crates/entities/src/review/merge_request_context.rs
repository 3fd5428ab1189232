//! Related records of a page of merge requests, loaded once for all of them.

use std::collections::{HashMap, HashSet};

use ci::pipeline::PipelineStore;
use db::Tx;
use forge::{merge_request::merge::stands, ports::fork_push_access, urls::Urls};
use kernel::{
    Result,
    ids::{MergeRequestId, MilestoneId, ProjectId, UserId},
};
use org::{
    hierarchy,
    project::settings::SettingsStore,
    user::{UserSummary, store::UserStore},
};
use review::{
    item::{ItemKind, ItemStore},
    label::Label,
    merge_request::{
        MergeRequest, ReviewerStore,
        mergeability::{Facts, HeadPipeline, MergeRequirements},
    },
    milestone::MilestoneStore,
};

use super::{issue_context::ItemHints, milestone::MilestoneEntity};

/// People, labels, milestones and projects, by their ids.
pub struct MergeRequestContext {
    pub users: HashMap<UserId, UserSummary>,
    assignees: HashMap<i64, Vec<UserId>>,
    reviewers: HashMap<MergeRequestId, Vec<UserId>>,
    pub labels: HashMap<i64, Vec<Label>>,
    pub milestones: HashMap<i64, MilestoneEntity>,
    paths: HashMap<ProjectId, String>,
    collaboration: HashSet<MergeRequestId>,
    demands: HashMap<ProjectId, MergeRequirements>,
    pipelines: HashMap<(ProjectId, String), HeadPipeline>,
}

impl MergeRequestContext {
    pub fn load(tx: &mut Tx<'_>, urls: &Urls, rows: &[MergeRequest]) -> Result<Self> {
        let ids: Vec<i64> = rows.iter().map(|row| row.id.0).collect();
        let assignees = tx.assignees_of(ItemKind::MergeRequest, &ids)?;
        let labels = tx.labels_of(ItemKind::MergeRequest, &ids)?;
        Self::around(tx, urls, rows, (assignees, labels), HashMap::new())
    }

    /// As [`load`](Self::load), for one of which something is known.
    pub fn of_one(
        tx: &mut Tx<'_>,
        urls: &Urls,
        row: &MergeRequest,
        known: &ItemHints<'_>,
    ) -> Result<Self> {
        let id = row.id.0;
        let assignees = HashMap::from([(id, known.beside.assignees.clone())]);
        let labels = match known.beside.has_labels {
            true => tx.labels_of(ItemKind::MergeRequest, &[id])?,
            false => HashMap::new(),
        };
        let paths = HashMap::from([(row.project_id, known.path.to_owned())]);
        Self::around(tx, urls, std::slice::from_ref(row), (assignees, labels), paths)
    }

    fn around(
        tx: &mut Tx<'_>,
        urls: &Urls,
        rows: &[MergeRequest],
        (assignees, labels): (HashMap<i64, Vec<UserId>>, HashMap<i64, Vec<Label>>),
        paths: HashMap<ProjectId, String>,
    ) -> Result<Self> {
        let ids: Vec<MergeRequestId> = rows.iter().map(|row| row.id).collect();
        let reviewers: HashMap<MergeRequestId, Vec<UserId>> = tx
            .reviewers_of(&ids)?
            .into_iter()
            .map(|(id, all)| (id, all.into_iter().map(|reviewer| reviewer.user_id).collect()))
            .collect();
        let mut people: Vec<UserId> = rows
            .iter()
            .flat_map(|row| [Some(row.author_id), row.merge_user_id, row.closed_by_id])
            .flatten()
            .chain(assignees.values().flatten().copied())
            .chain(reviewers.values().flatten().copied())
            .collect();
        people.sort_unstable();
        people.dedup();
        let mut projects: Vec<ProjectId> = rows.iter().map(|row| row.project_id).collect();
        projects.sort_unstable();
        projects.dedup();
        let demands = demands(tx, &projects)?;
        Ok(Self {
            users: tx.summaries_by_id(&people)?,
            labels,
            milestones: milestones(tx, urls, rows)?,
            paths: match projects.iter().all(|project| paths.contains_key(project)) {
                true => paths,
                false => hierarchy::project_paths(tx, &projects)?,
            },
            pipelines: pipelines(tx, rows, &demands)?,
            collaboration: fork_push_access::allowing_collaboration(tx, rows)?,
            demands,
            assignees,
            reviewers,
        })
    }

    pub fn assignees_of(&self, id: MergeRequestId) -> Vec<UserId> {
        self.assignees.get(&id.0).cloned().unwrap_or_default()
    }

    pub fn reviewers_of(&self, id: MergeRequestId) -> Vec<UserId> {
        self.reviewers.get(&id).cloned().unwrap_or_default()
    }

    /// The full path of a project.
    pub fn path(&self, project: ProjectId) -> &str {
        self.paths.get(&project).map_or("", String::as_str)
    }

    /// Whether those who may merge it may push to its source.
    pub fn allows_collaboration(&self, id: MergeRequestId) -> bool {
        self.collaboration.contains(&id)
    }

    fn pipeline(&self, row: &MergeRequest) -> HeadPipeline {
        let newest = row.source_project_id.zip(row.head_sha.clone());
        newest.and_then(|key| self.pipelines.get(&key).copied()).unwrap_or(HeadPipeline::Missing)
    }

    /// Everything that decides whether it can be merged.
    pub fn facts(&self, row: &MergeRequest) -> Facts {
        Facts {
            state: row.state,
            merge_status: row.known_merge_status(),
            draft: row.draft,
            approved: row.approved,
            has_open_threads: row.unresolved_threads > 0,
            pipeline: self.pipeline(row),
            demands: self.demands.get(&row.project_id).copied().unwrap_or_default(),
        }
    }
}

fn milestones(
    tx: &mut Tx<'_>,
    urls: &Urls,
    rows: &[MergeRequest],
) -> Result<HashMap<i64, MilestoneEntity>> {
    let mut ids: Vec<MilestoneId> = rows.iter().filter_map(|row| row.milestone_id).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    ids.sort_unstable();
    ids.dedup();
    let found = tx.milestones_by_id(&ids)?;
    let entities = MilestoneEntity::all(tx, urls, found)?;
    Ok(entities.into_iter().map(|milestone| (milestone.id, milestone)).collect())
}

/// How the newest pipelines stand, where projects want them to succeed.
fn pipelines(
    tx: &mut Tx<'_>,
    rows: &[MergeRequest],
    demands: &HashMap<ProjectId, MergeRequirements>,
) -> Result<HashMap<(ProjectId, String), HeadPipeline>> {
    let mut heads: HashMap<ProjectId, Vec<String>> = HashMap::new();
    for row in rows {
        let wanted = demands.get(&row.project_id).is_some_and(|all| all.successful_pipeline);
        if let (true, Some(source), Some(head)) = (wanted, row.source_project_id, &row.head_sha) {
            heads.entry(source).or_default().push(head.clone());
        }
    }
    let mut found = HashMap::new();
    for (source, shas) in heads {
        for (sha, pipeline) in tx.newest_pipelines(source, &shas)? {
            found.insert((source, sha), stands(Some(pipeline.status)));
        }
    }
    Ok(found)
}

/// What each project wants to be true before a merge.
fn demands(
    tx: &mut Tx<'_>,
    projects: &[ProjectId],
) -> Result<HashMap<ProjectId, MergeRequirements>> {
    let settings = tx.settings_by_project(projects)?;
    let demands = settings.into_iter().map(|(project, settings)| {
        let demands = MergeRequirements {
            resolved_threads: settings.only_allow_merge_if_all_discussions_are_resolved,
            successful_pipeline: settings.only_allow_merge_if_pipeline_succeeds,
            skipped_is_success: settings.allow_merge_on_skipped_pipeline.unwrap_or_default(),
        };
        (project, demands)
    });
    Ok(demands.collect())
}
