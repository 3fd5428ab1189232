//! A milestone.

use db::Tx;
use forge::urls::Urls;
use kernel::{
    Result, Ts,
    ids::{NamespaceId, ProjectId},
    time::date_text,
};
use org::hierarchy;
use review::milestone::{Milestone, MilestoneState};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MilestoneEntity {
    pub id: i64,
    pub iid: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<i64>,
    pub title: String,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub state: MilestoneState,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    /// Date (`2026-12-31`).
    pub due_date: Option<String>,
    pub start_date: Option<String>,
    pub expired: bool,
    pub web_url: String,
}

impl MilestoneEntity {
    /// Paths are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, milestones: Vec<Milestone>) -> Result<Vec<Self>> {
        let mut projects: Vec<ProjectId> =
            milestones.iter().filter_map(|milestone| milestone.project_id).collect();
        projects.sort_unstable();
        projects.dedup();
        let mut groups: Vec<NamespaceId> =
            milestones.iter().filter_map(|milestone| milestone.namespace_id).collect();
        groups.sort_unstable();
        groups.dedup();
        let projects = hierarchy::project_paths(tx, &projects)?;
        let groups = hierarchy::group_paths(tx, &groups)?;
        let now = tx.now;
        let entity = |milestone: Milestone| {
            let project = milestone.project_id.and_then(|id| projects.get(&id).cloned());
            let group = milestone.namespace_id.and_then(|id| groups.get(&id));
            let home = project.or_else(|| group.map(|path| format!("groups/{path}")));
            Self::new(urls, milestone, &home.unwrap_or_default(), now)
        };
        Ok(milestones.into_iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, milestone: Milestone) -> Result<Self> {
        Self::all(tx, urls, vec![milestone])?.pop().ok_or_else(kernel::Error::missing)
    }

    fn new(urls: &Urls, milestone: Milestone, home: &str, now: Ts) -> Self {
        let day = |at: Ts| date_text(at.date());
        Self {
            id: milestone.id.0,
            iid: milestone.iid,
            project_id: milestone.project_id.map(|id| id.0),
            group_id: milestone.namespace_id.map(|id| id.0),
            expired: milestone.is_expired(now),
            title: milestone.title,
            description: milestone.description,
            state: milestone.state,
            created_at: milestone.created_at,
            updated_at: milestone.updated_at,
            due_date: milestone.due_date.map(day),
            start_date: milestone.start_date.map(day),
            web_url: urls.at(&format!("{home}/-/milestones/{}", milestone.iid)),
        }
    }
}
