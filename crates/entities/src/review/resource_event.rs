//! Events of labels, milestones, states, weights and iterations.

use std::collections::HashMap;

use db::Tx;
use forge::urls::Urls;
use kernel::{
    Actor, Result, Ts,
    ids::{LabelId, MilestoneId, UserId},
};
use org::user::store::UserStore;
use review::{
    activity::{ResourceAction, ResourceEvent, ResourceKind, ResourceState},
    item::ItemKind,
    label::LabelStore,
    milestone::MilestoneStore,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{iteration::IterationEntity, milestone::MilestoneEntity};
use crate::org::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct ResourceEventEntity {
    pub id: i64,
    /// Null when the user has been deleted.
    pub user: Option<BriefUser>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub resource_type: ItemKind,
    pub resource_id: i64,
    #[serde(flatten)]
    pub change: ResourceChange,
}

/// The changed label, milestone, iteration, weight or state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ResourceChange {
    Label {
        /// Null when the label has been deleted.
        label: Option<EventLabel>,
        #[schema(value_type = Option<String>)]
        action: Option<ResourceAction>,
    },
    Milestone {
        /// Null when the milestone has been deleted.
        milestone: Option<Box<MilestoneEntity>>,
        #[schema(value_type = Option<String>)]
        action: Option<ResourceAction>,
        /// State of the item at the time of the event.
        state: Option<String>,
    },
    State {
        #[schema(value_type = Option<String>)]
        state: Option<ResourceState>,
    },
    Weight {
        issue_id: i64,
        weight: Option<i64>,
    },
    Iteration {
        /// Null when the iteration has been deleted or is not visible to the caller.
        iteration: Option<Box<IterationEntity>>,
        #[schema(value_type = Option<String>)]
        action: Option<ResourceAction>,
    },
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EventLabel {
    pub id: i64,
    pub name: String,
    pub color: String,
    pub description: Option<String>,
}

impl ResourceEventEntity {
    /// People, labels and milestones are looked up once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        (kind, reader): (ResourceKind, Actor),
        events: Vec<ResourceEvent>,
    ) -> Result<Vec<Self>> {
        let mut ids: Vec<UserId> = events.iter().map(|event| event.user_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let people = tx.users_by_id(&ids)?;
        let iterations: Vec<i64> = events.iter().filter_map(|event| event.iteration_id).collect();
        let named = EventContext {
            labels: labels(tx, &events)?,
            milestones: milestones(tx, urls, &events)?,
            iterations: IterationEntity::of(tx, urls, reader, &iterations)?,
        };
        let entity = |event: ResourceEvent| Self {
            id: event.id,
            user: people.get(&event.user_id).map(|user| BriefUser::new(urls, user)),
            created_at: event.created_at,
            resource_type: event.item_kind,
            resource_id: event.item_id,
            change: change(kind, &event, &named),
        };
        Ok(events.into_iter().map(entity).collect())
    }

    pub fn one(
        tx: &mut Tx<'_>,
        urls: &Urls,
        of: (ResourceKind, Actor),
        event: ResourceEvent,
    ) -> Result<Self> {
        Self::all(tx, urls, of, vec![event])?.pop().ok_or_else(kernel::Error::missing)
    }
}

type Milestones = HashMap<i64, MilestoneEntity>;
type Labels = HashMap<LabelId, review::label::Label>;

/// What events speak of.
struct EventContext {
    labels: Labels,
    milestones: Milestones,
    iterations: HashMap<i64, IterationEntity>,
}

fn labels(tx: &mut Tx<'_>, events: &[ResourceEvent]) -> Result<Labels> {
    let ids: Vec<LabelId> = events.iter().filter_map(|event| event.label_id).collect();
    Ok(tx.labels_by_id(&ids)?.into_iter().map(|label| (label.id, label)).collect())
}

fn milestones(tx: &mut Tx<'_>, urls: &Urls, events: &[ResourceEvent]) -> Result<Milestones> {
    let ids: Vec<MilestoneId> = events.iter().filter_map(|event| event.milestone_id).collect();
    let found = tx.milestones_by_id(&ids)?;
    let all = MilestoneEntity::all(tx, urls, found)?;
    Ok(all.into_iter().map(|milestone| (milestone.id, milestone)).collect())
}

fn change(kind: ResourceKind, event: &ResourceEvent, named: &EventContext) -> ResourceChange {
    let action = event.action;
    match kind {
        ResourceKind::Label => {
            let label = event.label_id.and_then(|id| named.labels.get(&id));
            let shown = |label: &review::label::Label| EventLabel {
                id: label.id.0,
                name: label.name.clone(),
                color: label.color.clone(),
                description: label.description.clone(),
            };
            ResourceChange::Label { label: label.map(shown), action }
        }
        ResourceKind::Milestone => {
            let id = event.milestone_id.map(|id| id.0);
            let milestone = id.and_then(|id| named.milestones.get(&id)).cloned().map(Box::new);
            ResourceChange::Milestone { milestone, action, state: None }
        }
        ResourceKind::State => ResourceChange::State { state: event.state },
        ResourceKind::Weight => {
            ResourceChange::Weight { issue_id: event.item_id, weight: event.weight }
        }
        ResourceKind::Iteration => {
            let found = event.iteration_id.and_then(|id| named.iterations.get(&id));
            let iteration = found.cloned().map(Box::new);
            ResourceChange::Iteration { iteration, action }
        }
    }
}
