//! How many bytes groups take.

use std::collections::HashMap;

use db::{Tx, each_backend, error};
use diesel::{prelude::*, sql_query, sql_types::BigInt};
use kernel::{Result, ids::NamespaceId};

use crate::{listing::list_of, project::statistics::Statistics};

pub trait GroupStatistics {
    /// The sums over the projects directly in each group; a group without projects is left out.
    fn statistics_by_group(
        &mut self,
        groups: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, Statistics>>;
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
}

impl GroupStatistics for Tx<'_> {
    fn statistics_by_group(
        &mut self,
        groups: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, Statistics>> {
        let groups: Vec<i64> = groups.iter().map(|id| id.0).collect();
        let sql = format!(
            "SELECT p.namespace_id AS id, CAST(SUM(s.commit_count) AS BIGINT) AS commit_count, \
             CAST(SUM(s.repository_size) AS BIGINT) AS repository_size, \
             CAST(SUM(s.lfs_objects_size) AS BIGINT) AS lfs_objects_size \
             FROM projects p JOIN project_statistics s ON s.project_id = p.id \
             WHERE p.deleted_at IS NULL AND p.namespace_id IN ({}) GROUP BY p.namespace_id",
            list_of(&groups)
        );
        let rows: Vec<Sum> =
            each_backend!(self, |conn| sql_query(sql).load(conn).map_err(error("Group")))?;
        let sums = rows.into_iter().map(|row| {
            let Sum { id, commit_count, repository_size, lfs_objects_size } = row;
            (NamespaceId(id), Statistics { commit_count, repository_size, lfs_objects_size })
        });
        Ok(sums.collect())
    }
}
