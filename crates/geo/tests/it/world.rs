//! An installation of one server, as the use cases of nodes see it.

use std::sync::Arc;

use db::{
    OneOf as _, Tx, each_backend, error, schema::oauth_applications as applications,
    testing::TestDatabase,
};
use diesel::prelude::*;
use geo::{
    Identity, Role,
    node::{GeoNode, NodeChange, NodeStore as _, actions::NodeContext},
    ports,
};
use kernel::{
    Actor, Grant, Result, Standing,
    access::{Administrate, Instance},
    ids::{ApplicationId, GeoNodeId, NamespaceId},
};
use secrets::Vault;

const NOUN: &str = "Application";

/// The rows of OAuth applications, without what else the product does with them.
#[derive(Debug)]
pub(crate) struct Applications;

impl Applications {
    pub(crate) fn names(tx: &mut Tx<'_>) -> Result<Vec<String>> {
        let all = applications::table.order(applications::id).select(applications::name);
        each_backend!(tx, |conn| all.load(conn).map_err(error(NOUN)))
    }
}

impl ports::Applications for Applications {
    fn create(&self, tx: &mut Tx<'_>, name: &str, redirect_uri: &str) -> Result<ApplicationId> {
        let row = (
            applications::uid.eq(name),
            applications::name.eq(name),
            applications::secret_digest.eq(""),
            applications::redirect_uri.eq(redirect_uri),
            applications::scopes.eq("read_user"),
            applications::trusted.eq(true),
            applications::confidential.eq(false),
            applications::created_at.eq(tx.now),
            applications::updated_at.eq(tx.now),
        );
        let insert = diesel::insert_into(applications::table).values(row);
        each_backend!(tx, |conn| insert
            .returning(applications::id)
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn update(&self, tx: &mut Tx<'_>, id: ApplicationId, name: &str, _: &str) -> Result<()> {
        let row = diesel::update(applications::table.find(id)).set(applications::name.eq(name));
        each_backend!(tx, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete(&self, tx: &mut Tx<'_>, id: ApplicationId) -> Result<()> {
        let row = diesel::delete(applications::table.find(id));
        each_backend!(tx, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn existing(&self, tx: &mut Tx<'_>, ids: &[ApplicationId]) -> Result<Vec<ApplicationId>> {
        let rows = applications::table.filter(applications::id.one_of(ids));
        let rows = rows.select(applications::id);
        each_backend!(tx, |conn| rows.load(conn).map_err(error(NOUN)))
    }
}

/// The first two groups exist.
#[derive(Debug)]
pub(crate) struct Namespaces;

impl ports::Namespaces for Namespaces {
    fn existing(&self, _: &mut Tx<'_>, ids: &[NamespaceId]) -> Result<Vec<NamespaceId>> {
        Ok(ids.iter().copied().filter(|id| (1..=2).contains(&id.0)).collect())
    }
}

pub(crate) struct World {
    pub(crate) database: TestDatabase,
    pub(crate) identity: Identity,
    vault: Arc<Vault>,
    _data: tempfile::TempDir,
}

impl World {
    /// A server that runs as the node `north`.
    pub(crate) fn of(role: Role) -> Self {
        let data = tempfile::tempdir().expect("a temporary folder");
        Self {
            database: TestDatabase::new(),
            identity: Identity { name: "north".to_owned(), role },
            vault: Arc::new(Vault::find_or_make(data.path()).expect("a key")),
            _data: data,
        }
    }

    /// Does something with nodes in one transaction.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>, &NodeContext<'_, Applications, Namespaces>) -> Result<T>
        + Clone
        + Send
        + 'static,
    ) -> Result<T> {
        let (identity, vault) = (self.identity.clone(), Arc::clone(&self.vault));
        self.database.db.write_blocking(move |tx| {
            let context = NodeContext {
                identity: &identity,
                vault: &vault,
                applications: &Applications,
                namespaces: &Namespaces,
            };
            work(tx, &context)
        })
    }

    /// Whatever the role of the server: a node as it would come with the rows of a primary.
    pub(crate) fn insert(&self, node: GeoNode) -> GeoNode {
        let made = self.database.db.write_blocking(move |tx| tx.insert_geo_node(&node));
        made.expect("the node is stored")
    }
}

pub(crate) fn administrator() -> Grant<Administrate> {
    let who = Standing::in_instance(Actor { admin: true, ..Actor::ANONYMOUS });
    Grant::check(&who, Instance).expect("an administrator")
}

/// What makes a primary of this name.
pub(crate) fn primary(name: &str) -> NodeChange {
    NodeChange {
        name: Some(name.to_owned()),
        url: Some(format!("https://{name}.test")),
        primary: Some(true),
        ..NodeChange::default()
    }
}

/// A secondary, which no use case makes on SQLite.
pub(crate) fn secondary(name: &str) -> GeoNode {
    GeoNode {
        id: GeoNodeId(0),
        name: name.to_owned(),
        url: format!("https://{name}.test/"),
        internal_url: None,
        primary: false,
        enabled: true,
        files_max_capacity: 10,
        repos_max_capacity: 25,
        verification_max_capacity: 100,
        container_repositories_max_capacity: 10,
        minimum_reverification_interval: 7,
        selective_sync_type: None,
        selective_sync_shards: "[]".to_owned(),
        sync_object_storage: false,
        access_key: name.to_owned(),
        sealed: String::new(),
        oauth_application_id: None,
        created_at: db::testing::start(),
        updated_at: db::testing::start(),
    }
}
