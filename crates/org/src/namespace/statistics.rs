//! How many bytes groups take.

use std::collections::HashMap;

use db::{Tx, each_backend, error, schema::namespaces};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{Result, ids::NamespaceId};

use crate::{
    listing::{list_of, rows},
    project::statistics::Statistics,
};

pub trait GroupStatistics {
    /// The sums over the projects directly in each group, and what the groups take themselves.
    fn statistics_by_group(
        &mut self,
        groups: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, Statistics>>;
    fn record_group_wiki_size(&mut self, group: NamespaceId, bytes: i64) -> Result<()>;
}

#[derive(QueryableByName)]
struct Sum {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    commit_count: i64,
    #[diesel(sql_type = BigInt)]
    repository_size: i64,
    #[diesel(sql_type = BigInt)]
    lfs_objects_size: i64,
    #[diesel(sql_type = BigInt)]
    wiki_size: i64,
    #[diesel(sql_type = BigInt)]
    uploads_size: i64,
}

impl GroupStatistics for Tx<'_> {
    fn statistics_by_group(
        &mut self,
        groups: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, Statistics>> {
        let groups: Vec<i64> = groups.iter().map(|id| id.0).collect();
        let sql = format!(
            "SELECT n.id, CAST(COALESCE(SUM(s.commit_count), 0) AS BIGINT) AS commit_count, \
             CAST(COALESCE(SUM(s.repository_size), 0) AS BIGINT) AS repository_size, \
             CAST(COALESCE(SUM(s.lfs_objects_size), 0) AS BIGINT) AS lfs_objects_size, \
             CAST(n.wiki_size + COALESCE(SUM(s.wiki_size), 0) AS BIGINT) AS wiki_size, \
             CAST(COALESCE(SUM(s.uploads_size), 0) AS BIGINT) AS uploads_size \
             FROM namespaces n \
             LEFT JOIN projects p ON p.namespace_id = n.id AND p.deleted_at IS NULL \
             LEFT JOIN project_statistics s ON s.project_id = p.id \
             WHERE n.id IN ({}) GROUP BY n.id, n.wiki_size",
            list_of(&groups)
        );
        let rows: Vec<Sum> = rows(self, &sql, &[])?;
        let sums = rows.into_iter().map(|row| {
            let sum = Statistics {
                commit_count: row.commit_count,
                repository_size: row.repository_size,
                lfs_objects_size: row.lfs_objects_size,
                wiki_size: row.wiki_size,
                uploads_size: row.uploads_size,
            };
            (NamespaceId(row.id), sum)
        });
        Ok(sums.collect())
    }

    fn record_group_wiki_size(&mut self, group: NamespaceId, bytes: i64) -> Result<()> {
        let row = diesel::update(namespaces::table.find(group));
        let size = namespaces::wiki_size.eq(bytes);
        each_backend!(self, |conn| row.set(size).execute(conn).map_err(error("Group")))?;
        Ok(())
    }
}
