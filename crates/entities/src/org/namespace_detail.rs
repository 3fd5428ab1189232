//! A namespace by itself, with what those are told who look after it.

use forge::urls::Urls;
use kernel::Actor;
use org::namespace::{Kind, Namespace, list_all::HeadCounts};
use serde::Serialize;
use utoipa::ToSchema;

use super::namespace::NamespaceEntity;

#[derive(Debug, Serialize, ToSchema)]
pub struct NamespaceDetailEntity {
    #[serde(flatten)]
    pub namespace: NamespaceEntity,
    /// Groups only, for owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members_count_with_descendants: Option<i64>,
    /// Number of billable members; null unless the caller is an owner.
    pub billable_members_count: Option<i64>,
    #[serde(flatten)]
    pub plan: Option<PlanEntity>,
    #[serde(flatten)]
    pub minutes: Option<MinuteLimits>,
}

/// Plan of the namespace, for its owners. There is a single plan, which is free.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlanEntity {
    pub plan: &'static str,
    pub trial_ends_on: Option<String>,
    pub trial: bool,
}

/// Monthly limits of job minutes, for administrators. Null: the limit of the installation applies.
#[derive(Debug, Serialize, ToSchema)]
pub struct MinuteLimits {
    pub shared_runners_minutes_limit: Option<i64>,
    pub extra_shared_runners_minutes_limit: Option<i64>,
}

impl NamespaceDetailEntity {
    /// `care` is there for those who look after the namespace.
    pub fn new(
        urls: &Urls,
        actor: Actor,
        namespace: &Namespace,
        care: Option<&HeadCounts>,
    ) -> Self {
        let is_group = namespace.kind == Kind::Group;
        let limits = || {
            let settings = namespace.settings();
            MinuteLimits {
                shared_runners_minutes_limit: settings.shared_runners_minutes_limit,
                extra_shared_runners_minutes_limit: settings.extra_shared_runners_minutes_limit,
            }
        };
        Self {
            namespace: NamespaceEntity::new(urls, namespace),
            members_count_with_descendants: care.filter(|_| is_group).map(|care| care.members),
            billable_members_count: care.map(|care| care.seats),
            plan: care.map(|_| PlanEntity { plan: "default", trial_ends_on: None, trial: false }),
            minutes: actor.admin.then(limits),
        }
    }
}
