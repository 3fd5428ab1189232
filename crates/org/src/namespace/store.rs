//! Finding groups and personal namespaces.

use std::collections::HashMap;

use db::{
    Tx, each_backend, error,
    schema::{namespaces, redirects},
};
use diesel::prelude::*;
use kernel::{Result, ids::NamespaceId};

use super::Namespace;

pub trait NamespaceStore {
    fn namespace(&mut self, id: NamespaceId) -> Result<Namespace>;
    fn find_namespace(&mut self, id: NamespaceId) -> Result<Option<Namespace>>;
    /// The names of all namespaces of a page at once.
    fn namespace_names(&mut self, ids: &[NamespaceId]) -> Result<HashMap<NamespaceId, String>>;
    /// By full path; letter case does not matter, and paths it had before count too.
    fn find_namespace_at(&mut self, full_path: &str) -> Result<Option<Namespace>>;
}

impl NamespaceStore for Tx<'_> {
    fn namespace(&mut self, id: NamespaceId) -> Result<Namespace> {
        let query = namespaces::table.find(id);
        each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .get_result(conn)
            .map_err(error("Namespace")))
    }

    fn find_namespace(&mut self, id: NamespaceId) -> Result<Option<Namespace>> {
        let query = namespaces::table.find(id);
        each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Namespace")))
    }

    fn namespace_names(&mut self, ids: &[NamespaceId]) -> Result<HashMap<NamespaceId, String>> {
        let rows: Vec<(NamespaceId, String)> = each_backend!(self, |conn| namespaces::table
            .filter(namespaces::id.eq_any(ids))
            .select((namespaces::id, namespaces::name))
            .load(conn)
            .map_err(error("Namespace")))?;
        Ok(rows.into_iter().collect())
    }

    fn find_namespace_at(&mut self, full_path: &str) -> Result<Option<Namespace>> {
        let key = full_path.to_lowercase();
        let query = namespaces::table.filter(namespaces::path_key.eq(&key));
        let found: Option<Namespace> = each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Namespace")))?;
        if found.is_some() {
            return Ok(found);
        }
        let moved =
            redirects::table.inner_join(namespaces::table).filter(redirects::path_key.eq(&key));
        each_backend!(self, |conn| moved
            .select(Namespace::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Namespace")))
    }
}
