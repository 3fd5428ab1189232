//! A label.

use std::collections::{HashMap, HashSet};

use db::Tx;
use kernel::{
    Result,
    ids::{LabelId, ProjectId, UserId},
};
use review::label::{Label, LabelStore, text_color};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct LabelEntity {
    pub id: i64,
    pub name: String,
    pub color: String,
    pub description: Option<String>,
    pub description_html: String,
    pub text_color: &'static str,
    #[serde(flatten)]
    pub counts: Option<LabelCounts>,
    pub subscribed: bool,
    /// Of a project's list alone.
    #[serde(flatten)]
    pub in_project: Option<LabelInProject>,
}

/// How much carries a label: nothing, as long as there are no issues and no merge requests.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct LabelCounts {
    pub open_issues_count: i64,
    pub closed_issues_count: i64,
    pub open_merge_requests_count: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LabelInProject {
    pub priority: Option<i64>,
    pub is_project_label: bool,
}

/// For whom and from where labels are shown.
#[derive(Clone, Copy, Debug)]
pub struct LabelView {
    pub user: UserId,
    pub project: Option<ProjectId>,
    pub with_counts: bool,
}

impl LabelEntity {
    /// Subscriptions and priorities are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, labels: Vec<Label>, view: LabelView) -> Result<Vec<Self>> {
        let ids: Vec<LabelId> = labels.iter().map(|label| label.id).collect();
        let subscribed = tx.subscribed_labels(view.user, &ids)?;
        let priorities = match view.project {
            Some(project) => tx.label_priorities(project, &ids)?,
            None => HashMap::new(),
        };
        let entity = |label| Self::new(label, view, &subscribed, &priorities);
        Ok(labels.into_iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, label: Label, view: LabelView) -> Result<Self> {
        Self::all(tx, vec![label], view)?.pop().ok_or(kernel::Error::Missing)
    }

    fn new(
        label: Label,
        view: LabelView,
        subscribed: &HashSet<LabelId>,
        priorities: &HashMap<LabelId, i64>,
    ) -> Self {
        Self {
            id: label.id.0,
            text_color: text_color(&label.color),
            description_html: markup::inline(label.description.as_deref().unwrap_or_default()),
            description: label.description,
            counts: view.with_counts.then(LabelCounts::default),
            subscribed: subscribed.contains(&label.id),
            in_project: view.project.map(|_| LabelInProject {
                priority: priorities.get(&label.id).copied(),
                is_project_label: label.project_id.is_some(),
            }),
            name: label.name,
            color: label.color,
        }
    }
}
