//! Storage statistics of groups.

use std::collections::HashMap;

use db::{Tx, each_backend, error, schema::namespaces};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};

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
    /// For each namespace the sum over all projects and groups inside it, at any depth, and the namespace itself.
    fn statistics_of_trees(
        &mut self,
        namespaces: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, Statistics>>;
    /// The projects that are counted for these namespaces: all inside, or those directly in each.
    fn counted_projects(
        &mut self,
        namespaces: &[NamespaceId],
        whole_trees: bool,
    ) -> Result<Vec<(NamespaceId, ProjectId)>>;
    fn record_group_wiki_size(&mut self, group: NamespaceId, bytes: i64) -> Result<()>;
}

#[derive(QueryableByName)]
struct Pair {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    project_id: i64,
}

/// Everything below the namespace `r` has a key between these two.
fn inside(row: &str) -> String {
    format!("{row}.path_key >= r.path_key || '/' AND {row}.path_key < r.path_key || '0'")
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

impl From<Sum> for Statistics {
    fn from(row: Sum) -> Self {
        Self {
            commit_count: row.commit_count,
            repository_size: row.repository_size,
            lfs_objects_size: row.lfs_objects_size,
            wiki_size: row.wiki_size,
            uploads_size: row.uploads_size,
        }
    }
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
        Ok(rows.into_iter().map(|row| (NamespaceId(row.id), row.into())).collect())
    }

    fn statistics_of_trees(
        &mut self,
        namespaces: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, Statistics>> {
        let ids: Vec<i64> = namespaces.iter().map(|id| id.0).collect();
        let sql = format!(
            "SELECT r.id, CAST(COALESCE(SUM(s.commit_count), 0) AS BIGINT) AS commit_count, \
             CAST(COALESCE(SUM(s.repository_size), 0) AS BIGINT) AS repository_size, \
             CAST(COALESCE(SUM(s.lfs_objects_size), 0) AS BIGINT) AS lfs_objects_size, \
             CAST(COALESCE(SUM(s.wiki_size), 0) + (SELECT COALESCE(SUM(n.wiki_size), 0) FROM namespaces n \
             WHERE n.deleted_at IS NULL AND (n.id = r.id OR ({}))) AS BIGINT) AS wiki_size, \
             CAST(COALESCE(SUM(s.uploads_size), 0) AS BIGINT) AS uploads_size \
             FROM namespaces r LEFT JOIN projects p ON p.deleted_at IS NULL AND {} \
             LEFT JOIN project_statistics s ON s.project_id = p.id \
             WHERE r.id IN ({}) GROUP BY r.id, r.path_key",
            inside("n"),
            inside("p"),
            list_of(&ids)
        );
        let rows: Vec<Sum> = rows(self, &sql, &[])?;
        Ok(rows.into_iter().map(|row| (NamespaceId(row.id), row.into())).collect())
    }

    fn counted_projects(
        &mut self,
        namespaces: &[NamespaceId],
        whole_trees: bool,
    ) -> Result<Vec<(NamespaceId, ProjectId)>> {
        let ids: Vec<i64> = namespaces.iter().map(|id| id.0).collect();
        let belongs = match whole_trees {
            true => inside("p"),
            false => "p.namespace_id = r.id".to_owned(),
        };
        let sql = format!(
            "SELECT r.id, p.id AS project_id FROM namespaces r \
             JOIN projects p ON p.deleted_at IS NULL AND {belongs} WHERE r.id IN ({})",
            list_of(&ids)
        );
        let rows: Vec<Pair> = rows(self, &sql, &[])?;
        Ok(rows.into_iter().map(|row| (NamespaceId(row.id), ProjectId(row.project_id))).collect())
    }

    fn record_group_wiki_size(&mut self, group: NamespaceId, bytes: i64) -> Result<()> {
        let row = diesel::update(namespaces::table.find(group));
        let size = namespaces::wiki_size.eq(bytes);
        each_backend!(self, |conn| row.set(size).execute(conn).map_err(error("Group")))?;
        Ok(())
    }
}
