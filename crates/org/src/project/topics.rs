//! The words that projects are found by.

use std::collections::{BTreeMap, BTreeSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{project_topics, topics},
};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

pub trait TopicStore {
    /// Replaces the topics of a project; names that nobody used yet become topics.
    fn set_topics(&mut self, project: ProjectId, names: &[String]) -> Result<()>;
    /// The topics of a page of projects, by name.
    fn topics_by_project(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<BTreeMap<ProjectId, Vec<String>>>;
}

impl TopicStore for Tx<'_> {
    fn set_topics(&mut self, project: ProjectId, names: &[String]) -> Result<()> {
        let names: BTreeSet<&str> =
            names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
        let new: Vec<_> = names.iter().map(|name| topics::name.eq(*name)).collect();
        each_backend!(self, |conn| diesel::insert_into(topics::table)
            .values(new)
            .on_conflict_do_nothing()
            .execute(conn)
            .map_err(error("Topic")))?;
        let ids: Vec<i64> = each_backend!(self, |conn| topics::table
            .filter(topics::name.eq_any(&names))
            .order(topics::id)
            .select(topics::id)
            .load(conn)
            .map_err(error("Topic")))?;
        let old = project_topics::table.filter(project_topics::project_id.eq(project));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("Topic")))?;
        let rows: Vec<_> = ids
            .into_iter()
            .map(|id| (project_topics::project_id.eq(project), project_topics::topic_id.eq(id)))
            .collect();
        // Somebody else may set the same ones in this moment.
        each_backend!(self, |conn| diesel::insert_into(project_topics::table)
            .values(rows)
            .on_conflict_do_nothing()
            .execute(conn)
            .map_err(error("Topic")))?;
        Ok(())
    }

    fn topics_by_project(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<BTreeMap<ProjectId, Vec<String>>> {
        let rows: Vec<(ProjectId, String)> = each_backend!(self, |conn| project_topics::table
            .inner_join(topics::table)
            .filter(project_topics::project_id.one_of(projects))
            .order(topics::name)
            .select((project_topics::project_id, topics::name))
            .load(conn)
            .map_err(error("Topic")))?;
        let mut found: BTreeMap<ProjectId, Vec<String>> = BTreeMap::new();
        for (project, name) in rows {
            found.entry(project).or_default().push(name);
        }
        Ok(found)
    }
}
