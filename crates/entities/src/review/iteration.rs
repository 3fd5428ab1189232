//! An iteration.

use std::collections::HashMap;

use db::Tx;
use forge::{ports::review::OrgHierarchy, urls::Urls};
use kernel::{Actor, Result, Ts, ids::NamespaceId, time::date_text};
use org::hierarchy;
use review::iteration::{Iteration, IterationState, list::readable};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IterationEntity {
    pub id: i64,
    pub iid: i64,
    pub sequence: i64,
    pub group_id: i64,
    pub title: Option<String>,
    pub description: Option<String>,
    /// 1: upcoming, 2: current, 3: closed.
    pub state: i64,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    /// Date (`2026-12-31`).
    pub start_date: String,
    pub due_date: String,
    pub web_url: String,
}

impl IterationEntity {
    /// Paths are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, iterations: Vec<Iteration>) -> Result<Vec<Self>> {
        let mut groups: Vec<NamespaceId> =
            iterations.iter().map(|iteration| iteration.namespace_id).collect();
        groups.sort_unstable();
        groups.dedup();
        let paths = hierarchy::group_paths(tx, &groups)?;
        let now = tx.now;
        let entity = |iteration: Iteration| {
            let path = paths.get(&iteration.namespace_id).map_or("", String::as_str);
            Self::new(urls, iteration, path, now)
        };
        Ok(iterations.into_iter().map(entity).collect())
    }

    /// Those of these iterations that somebody may see, by their ids.
    pub fn of(
        tx: &mut Tx<'_>,
        urls: &Urls,
        reader: Actor,
        ids: &[i64],
    ) -> Result<HashMap<i64, Self>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let found = readable(tx, &OrgHierarchy, reader, ids)?;
        Ok(Self::all(tx, urls, found)?.into_iter().map(|shown| (shown.id, shown)).collect())
    }

    fn new(urls: &Urls, iteration: Iteration, path: &str, now: Ts) -> Self {
        Self {
            state: match iteration.state(now) {
                IterationState::Upcoming => 1,
                IterationState::Current => 2,
                IterationState::Closed => 3,
            },
            id: iteration.id,
            iid: iteration.iid,
            sequence: iteration.sequence,
            group_id: iteration.namespace_id.0,
            title: iteration.title,
            description: iteration.description,
            created_at: iteration.created_at,
            updated_at: iteration.updated_at,
            start_date: date_text(iteration.start_date.date()),
            due_date: date_text(iteration.due_date.date()),
            web_url: urls.at(&format!("groups/{path}/-/iterations/{}", iteration.id)),
        }
    }
}
