//! Lists of deployments.

use db::{
    Tx,
    keyset::{ListOrder, ListWindow, WHOLE},
    listing::{self, Bind, Conditions, Selection, page_of_ids},
};
use kernel::{
    Result, TextEnum as _, Ts,
    ids::{DeploymentId, EnvironmentId, ProjectId},
    page::{Page, PageRequest},
};

use super::{Deployment, DeploymentStatus, DeploymentStore as _};

kernel::text_enum! {
    pub enum DeploymentOrder {
        Id = "id",
        Iid = "iid",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        Ref = "ref",
    }
}

/// Which deployments of a project are wanted, and in which order.
#[derive(Clone, Debug)]
pub struct DeploymentFilter {
    pub environment: Option<EnvironmentId>,
    /// Any of these; empty for all.
    pub statuses: Vec<DeploymentStatus>,
    pub updated_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub order: DeploymentOrder,
    pub descending: bool,
}

impl DeploymentFilter {
    fn conditions(&self, project: ProjectId) -> Conditions {
        let mut all = Conditions::default();
        match self.environment {
            // An environment is of one project, and each index that begins with it has an order of the list.
            Some(environment) => all.number("d.environment_id = {}", environment.0),
            None => all.number("d.project_id = {}", project.0),
        }
        match self.statuses.as_slice() {
            [] => {}
            [status] => all.word("d.status = {}", status.as_str()),
            several => {
                let words = several.iter().map(|status| format!("'{status}'"));
                let words = words.collect::<Vec<_>>().join(", ");
                all.plain(format!("d.status IN ({words})"));
            }
        }
        if let Some(before) = self.updated_before {
            all.number("d.updated_at <= {}", before.end_of_shown().0);
        }
        if let Some(after) = self.updated_after {
            all.number("d.updated_at >= {}", after.0);
        }
        all
    }

    /// Numbers and moments of creation come in the order of ids. What is looked for by its last change is listed by that.
    /// An order of refs goes on at the number of a row alone.
    fn order(&self) -> ListOrder {
        let by_change = self.updated_before.is_some() || self.updated_after.is_some();
        let changed = || ListOrder::of_number("d.updated_at", self.descending, "d.id");
        match self.order {
            DeploymentOrder::UpdatedAt => changed().with_ids(true),
            _ if by_change => changed().with_ids(true),
            DeploymentOrder::Ref => ListOrder::of_number("d.ref_name", self.descending, "d.id"),
            DeploymentOrder::Id | DeploymentOrder::Iid | DeploymentOrder::CreatedAt => {
                ListOrder::of_ids("d.id", self.descending)
            }
        }
    }
}

pub trait DeploymentListStore {
    fn deployments(
        &mut self,
        project: ProjectId,
        filter: &DeploymentFilter,
        page: PageRequest,
    ) -> Result<Page<Deployment>> {
        self.deployments_in(project, filter, &WHOLE, page)
    }
    /// As [`deployments`](Self::deployments), of a part of the list.
    fn deployments_in(
        &mut self,
        project: ProjectId,
        filter: &DeploymentFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Deployment>>;
}

impl DeploymentListStore for Tx<'_> {
    fn deployments_in(
        &mut self,
        project: ProjectId,
        filter: &DeploymentFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Deployment>> {
        let (mut conditions, order) = (filter.conditions(project), filter.order());
        order.narrow(&mut conditions, window);
        let from = format!("deployments d WHERE {}", conditions.text());
        let binds: Vec<Bind> = conditions.binds;
        let selection = Selection {
            id: "d.id",
            from: from.clone(),
            binds: binds.clone(),
            order: order.sql(window),
        };
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| {
            let ids: Vec<DeploymentId> = ids.into_iter().map(DeploymentId).collect();
            let mut by_id = self.deployments_by_id(&ids)?;
            Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
        })
    }
}
