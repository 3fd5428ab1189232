//! A label.

use std::collections::{HashMap, HashSet};

use db::Tx;
use forge::ports::review::OrgHierarchy;
use kernel::{
    Actor, Result,
    ids::{LabelId, ProjectId, UserId},
};
use review::label::{
    Label, LabelStore,
    counts::{self, CountScope, count},
    text_color,
};
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
    /// Only in lists of a project's labels.
    #[serde(flatten)]
    pub in_project: Option<LabelInProject>,
}

/// Number of items with the label that are visible to the caller.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
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
#[derive(Clone, Debug)]
pub struct LabelView {
    pub actor: Actor,
    pub user: UserId,
    pub project: Option<ProjectId>,
    /// Where what carries them is counted, if it is.
    pub counted: Option<CountScope>,
}

impl From<counts::LabelCounts> for LabelCounts {
    fn from(counts: counts::LabelCounts) -> Self {
        Self {
            open_issues_count: counts.open_issues,
            closed_issues_count: counts.closed_issues,
            open_merge_requests_count: counts.open_merge_requests,
        }
    }
}

impl LabelEntity {
    /// Subscriptions and priorities are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, labels: Vec<Label>, view: &LabelView) -> Result<Vec<Self>> {
        let ids: Vec<LabelId> = labels.iter().map(|label| label.id).collect();
        let subscribed = tx.subscribed_labels(view.user, &ids)?;
        let priorities = match view.project {
            Some(project) => tx.label_priorities(project, &ids)?,
            None => HashMap::new(),
        };
        let counts = match &view.counted {
            Some(place) => Some(count(tx, &OrgHierarchy, view.actor, place, &ids)?),
            None => None,
        };
        let entity = |label: Label| {
            let counts = counts.as_ref().map(|all| all.get(&label.id).copied().unwrap_or_default());
            Self {
                counts: counts.map(Into::into),
                ..Self::new(label, view, &subscribed, &priorities)
            }
        };
        Ok(labels.into_iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, label: Label, view: &LabelView) -> Result<Self> {
        Self::all(tx, vec![label], view)?.pop().ok_or_else(kernel::Error::missing)
    }

    fn new(
        label: Label,
        view: &LabelView,
        subscribed: &HashSet<LabelId>,
        priorities: &HashMap<LabelId, i64>,
    ) -> Self {
        Self {
            id: label.id.0,
            text_color: text_color(&label.color),
            description_html: markup::inline(label.description.as_deref().unwrap_or_default()),
            description: label.description,
            counts: None,
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
