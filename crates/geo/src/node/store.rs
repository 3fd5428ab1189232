//! Nodes in the database.

use std::collections::HashMap;

use db::{
    Conn, CountOf, OneOf as _, Tx, each_backend, error,
    schema::{geo_node_namespaces as chosen, geo_node_statuses as statuses, geo_nodes as nodes},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ApplicationId, GeoNodeId, NamespaceId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::GeoNode;

const NOUN: &str = "GeoNode";
/// No row has it.
const NOBODY: GeoNodeId = GeoNodeId(0);

pub trait NodeStore {
    /// Keeps everybody else from changing nodes before the transaction ends: what one may be depends on the others.
    fn lock_geo_nodes(&mut self) -> Result<()>;
    /// A page, the oldest first.
    fn geo_nodes(&mut self, page: PageRequest) -> Result<Page<GeoNode>>;
    /// A page of those that have a status, and of the one whose status is known in another way.
    fn reported_geo_nodes(
        &mut self,
        also: Option<GeoNodeId>,
        page: PageRequest,
    ) -> Result<Page<GeoNode>>;
    fn geo_node(&mut self, id: GeoNodeId) -> Result<Option<GeoNode>>;
    fn geo_node_named(&mut self, name: &str) -> Result<Option<GeoNode>>;
    fn geo_node_with_key(&mut self, access_key: &str) -> Result<Option<GeoNode>>;
    fn primary_geo_node(&mut self) -> Result<Option<GeoNode>>;
    fn insert_geo_node(&mut self, new: &GeoNode) -> Result<GeoNode>;
    fn save_geo_node(&mut self, node: &GeoNode) -> Result<()>;
    fn set_geo_application(&mut self, id: GeoNodeId, of: Option<ApplicationId>) -> Result<()>;
    fn delete_geo_node(&mut self, id: GeoNodeId) -> Result<()>;
    /// The groups that nodes are limited to, in the order of their ids.
    fn geo_namespaces(&mut self, ids: &[GeoNodeId])
    -> Result<HashMap<GeoNodeId, Vec<NamespaceId>>>;
    fn set_geo_namespaces(&mut self, id: GeoNodeId, to: &[NamespaceId]) -> Result<()>;
}

/// A name as names are compared.
pub(super) fn name_key(name: &str) -> String {
    name.to_lowercase()
}

macro_rules! columns {
    ($node:expr) => {
        (
            nodes::name.eq(&$node.name),
            nodes::name_key.eq(name_key(&$node.name)),
            nodes::url.eq(&$node.url),
            nodes::internal_url.eq(&$node.internal_url),
            nodes::is_primary.eq($node.primary),
            nodes::enabled.eq($node.enabled),
            nodes::files_max_capacity.eq($node.files_max_capacity),
            nodes::repos_max_capacity.eq($node.repos_max_capacity),
            nodes::verification_max_capacity.eq($node.verification_max_capacity),
            nodes::container_repositories_max_capacity
                .eq($node.container_repositories_max_capacity),
            nodes::minimum_reverification_interval.eq($node.minimum_reverification_interval),
            nodes::selective_sync_type.eq($node.selective_sync_type),
            nodes::selective_sync_shards.eq(&$node.selective_sync_shards),
            nodes::sync_object_storage.eq($node.sync_object_storage),
            nodes::access_key.eq(&$node.access_key),
            nodes::sealed.eq(&$node.sealed),
            nodes::oauth_application_id.eq($node.oauth_application_id),
            nodes::created_at.eq($node.created_at),
            nodes::updated_at.eq($node.updated_at),
        )
    };
}

macro_rules! one {
    ($tx:expr, $query:expr) => {{
        let query = $query;
        each_backend!($tx, |conn| query
            .select(GeoNode::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }};
}

impl NodeStore for Tx<'_> {
    fn lock_geo_nodes(&mut self) -> Result<()> {
        // SQLite has one writer.
        if let Conn::Postgres(conn) = &mut self.conn {
            let lock = diesel::sql_query("LOCK TABLE geo_nodes IN SHARE ROW EXCLUSIVE MODE");
            lock.execute(&mut **conn).map_err(error(NOUN))?;
        }
        Ok(())
    }

    fn geo_nodes(&mut self, page: PageRequest) -> Result<Page<GeoNode>> {
        let rows = nodes::table.order(nodes::id).limit(page.per_page).offset(page.offset());
        let items: Vec<GeoNode> = each_backend!(self, |conn| rows
            .select(GeoNode::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        let count = CountOf(nodes::table.select(nodes::id).limit(COUNT_LIMIT + 1));
        let total = each_backend!(self, |conn| count.get_result(conn).map_err(error(NOUN)))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn reported_geo_nodes(
        &mut self,
        also: Option<GeoNodeId>,
        page: PageRequest,
    ) -> Result<Page<GeoNode>> {
        let reported = || {
            let is_kept = nodes::id.eq_any(statuses::table.select(statuses::node_id));
            nodes::table.filter(is_kept.or(nodes::id.eq(also.unwrap_or(NOBODY))))
        };
        let rows = reported().order(nodes::id).limit(page.per_page).offset(page.offset());
        let items: Vec<GeoNode> = each_backend!(self, |conn| rows
            .select(GeoNode::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        let count = CountOf(reported().select(nodes::id).limit(COUNT_LIMIT + 1));
        let total = each_backend!(self, |conn| count.get_result(conn).map_err(error(NOUN)))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn geo_node(&mut self, id: GeoNodeId) -> Result<Option<GeoNode>> {
        one!(self, nodes::table.find(id))
    }

    fn geo_node_named(&mut self, name: &str) -> Result<Option<GeoNode>> {
        one!(self, nodes::table.filter(nodes::name_key.eq(name_key(name))))
    }

    fn geo_node_with_key(&mut self, access_key: &str) -> Result<Option<GeoNode>> {
        one!(self, nodes::table.filter(nodes::access_key.eq(access_key)))
    }

    fn primary_geo_node(&mut self) -> Result<Option<GeoNode>> {
        one!(self, nodes::table.filter(nodes::is_primary))
    }

    fn insert_geo_node(&mut self, new: &GeoNode) -> Result<GeoNode> {
        let insert = diesel::insert_into(nodes::table).values(columns!(new));
        each_backend!(self, |conn| insert
            .returning(GeoNode::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_geo_node(&mut self, node: &GeoNode) -> Result<()> {
        let update = diesel::update(nodes::table.find(node.id)).set(columns!(node));
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn set_geo_application(&mut self, id: GeoNodeId, of: Option<ApplicationId>) -> Result<()> {
        let values = (nodes::oauth_application_id.eq(of), nodes::updated_at.eq(self.now));
        let update = diesel::update(nodes::table.find(id)).set(values);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_geo_node(&mut self, id: GeoNodeId) -> Result<()> {
        let delete = diesel::delete(nodes::table.find(id));
        each_backend!(self, |conn| delete.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn geo_namespaces(
        &mut self,
        ids: &[GeoNodeId],
    ) -> Result<HashMap<GeoNodeId, Vec<NamespaceId>>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = chosen::table
            .filter(chosen::node_id.one_of(ids))
            .order((chosen::node_id, chosen::namespace_id))
            .select((chosen::node_id, chosen::namespace_id));
        let rows: Vec<(GeoNodeId, NamespaceId)> =
            each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))?;
        let mut found: HashMap<GeoNodeId, Vec<NamespaceId>> = HashMap::new();
        for (node, namespace) in rows {
            found.entry(node).or_default().push(namespace);
        }
        Ok(found)
    }

    fn set_geo_namespaces(&mut self, id: GeoNodeId, to: &[NamespaceId]) -> Result<()> {
        let delete = diesel::delete(chosen::table.filter(chosen::node_id.eq(id)));
        each_backend!(self, |conn| delete.execute(conn).map_err(error(NOUN)))?;
        for namespace in to {
            let row = (chosen::node_id.eq(id), chosen::namespace_id.eq(*namespace));
            let insert = diesel::insert_into(chosen::table).values(row);
            each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        }
        Ok(())
    }
}
