//! Records that are looked up for many objects of a query at once, once each.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt::Debug,
    hash::Hash,
    marker::PhantomData,
    sync::{Arc, Mutex, PoisonError},
};

use dataloader::{BatchFn, cached::Loader};
use db::{Database, Tx};
use graphql::Failure;
use kernel::{
    Actor,
    ids::{MilestoneId, NamespaceId, ProjectId, UserId},
};
use org::{
    namespace::Namespace,
    project::{
        Project,
        home::HomeStore as _,
        store::{ProjectStore as _, ProjectWithLevel},
    },
    user::{User, store::UserStore as _},
};
use review::{
    item::{ItemKind, ItemStore as _},
    label::Label,
    milestone::{Milestone, MilestoneStore as _},
};

use super::failure::failure_of;

type Values<K, V> = kernel::Result<HashMap<K, V>>;

// Each type of values would have all of the following compiled once more, so values are known by their own types only where
// they are made and where they are handed out.
/// A type of its own, and no alias: the compiler then knows in every future that it holds no reference.
#[derive(Clone)]
struct AnyValue(Arc<dyn Any + Send + Sync>);

/// What belongs to a key, if anything does.
type Answer = Result<Option<AnyValue>, Failure>;
/// What belongs to each of some keys, in their order.
type AnyValues = Vec<Option<AnyValue>>;
type Read<K> = Arc<dyn Fn(&mut Tx<'_>, &[K]) -> kernel::Result<AnyValues> + Send + Sync>;
type BatchRead = Arc<dyn Fn(&mut Tx<'_>) -> kernel::Result<AnyValues> + Send + Sync>;
type AnyLoader<K> = Loader<K, Answer, Batch<K>>;

/// Finds what belongs to keys: those that are asked for at the same time by one statement, and no key twice in a
/// request.
pub struct BatchLoader<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
{
    loader: AnyLoader<K>,
    value: PhantomData<fn() -> V>,
}

/// The statement behind a [`BatchLoader`].
struct Batch<K> {
    db: Database,
    read: Read<K>,
}

impl<K> BatchFn<K, Answer> for Batch<K>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
{
    async fn load(&mut self, keys: &[K]) -> HashMap<K, Answer> {
        let (read, wanted) = (self.read.clone(), keys.to_vec());
        match read_batch(&self.db, Arc::new(move |tx| read(tx, &wanted))).await {
            Ok(found) => keys.iter().cloned().zip(found.into_iter().map(Ok)).collect(),
            Err(failure) => keys.iter().map(|key| (key.clone(), Err(failure.clone()))).collect(),
        }
    }
}

async fn read_batch(db: &Database, read: BatchRead) -> Result<AnyValues, Failure> {
    db.read(move |tx| read(tx)).await.map_err(failure_of)
}

fn any_value<V: Send + Sync + 'static>(value: V) -> AnyValue {
    AnyValue(Arc::new(value))
}

fn any_loader<K>(db: &Database, read: Read<K>) -> AnyLoader<K>
where
    K: Clone + Debug + Eq + Hash + Send + Sync + 'static,
{
    Loader::new(Batch { db: db.clone(), read }).with_max_batch_size(MOST)
}

async fn load_any<K>(loader: &AnyLoader<K>, key: K) -> Answer
where
    K: Clone + Debug + Eq + Hash + Send + Sync + 'static,
{
    loader.try_load(key).await.map_err(Failure::internal)?
}

impl<K, V> BatchLoader<K, V>
where
    K: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub fn new<F>(db: &Database, read: F) -> Self
    where
        F: Fn(&mut Tx<'_>, &[K]) -> Values<K, V> + Send + Sync + 'static,
    {
        let read: Read<K> = Arc::new(move |tx, keys| {
            let mut found = read(tx, keys)?;
            Ok(keys.iter().map(|key| found.remove(key).map(any_value)).collect())
        });
        Self { loader: any_loader(db, read), value: PhantomData }
    }

    /// What belongs to a key, if anything does.
    ///
    /// # Errors
    /// When the database failed.
    pub async fn load(&self, key: K) -> Result<Option<V>, Failure> {
        let found = load_any(&self.loader, key).await?;
        Ok(found.and_then(|AnyValue(value)| value.downcast_ref::<V>().cloned()))
    }
}

/// How many keys one statement asks for.
const MOST: usize = 500;

/// The loaders of one request.
pub struct Loaders {
    db: Database,
    pub users: BatchLoader<UserId, Arc<User>>,
    /// Whether the caller may see them is not asked.
    pub projects: BatchLoader<ProjectId, Arc<Project>>,
    /// Projects with the caller's level in each.
    pub scopes: BatchLoader<ProjectId, Arc<ProjectWithLevel>>,
    /// Groups and personal namespaces; whether the caller may see them is not asked.
    pub namespaces: BatchLoader<NamespaceId, Arc<Namespace>>,
    pub milestones: BatchLoader<MilestoneId, Arc<Milestone>>,
    pub labels_of_merge_request: BatchLoader<i64, Arc<Vec<Label>>>,
    pub labels_of_epic: BatchLoader<i64, Arc<Vec<Label>>>,
    others: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Loaders {
    pub fn new(db: &Database, actor: Actor) -> Self {
        Self {
            db: db.clone(),
            users: BatchLoader::new(db, |tx, ids| Ok(shared(tx.users_by_id(ids)?))),
            projects: BatchLoader::new(db, |tx, ids| {
                Ok(shared(tx.projects_by_id(ids)?.into_iter().map(|found| (found.id, found))))
            }),
            scopes: BatchLoader::new(db, move |tx, ids| {
                let found = tx.find_scopes(actor, ids)?.into_iter();
                Ok(shared(found.map(|found| (found.0.id, found))))
            }),
            namespaces: BatchLoader::new(db, |tx, ids| Ok(shared(tx.namespaces_by_id(ids)?))),
            milestones: BatchLoader::new(db, |tx, ids| {
                Ok(shared(tx.milestones_by_id(ids)?.into_iter().map(|found| (found.id, found))))
            }),
            labels_of_merge_request: labels(db, ItemKind::MergeRequest),
            labels_of_epic: labels(db, ItemKind::Epic),
            others: Mutex::default(),
        }
    }

    /// Loaders of an area's own, made when the first is asked for.
    pub fn of<L: Send + Sync + 'static>(&self, make: impl FnOnce(&Database) -> L) -> Arc<L> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Ok(known)) = others.get(&TypeId::of::<L>()).map(|any| any.clone().downcast()) {
            return known;
        }
        let made = Arc::new(make(&self.db));
        others.insert(TypeId::of::<L>(), made.clone());
        made
    }
}

fn shared<K: Eq + Hash, V>(found: impl IntoIterator<Item = (K, V)>) -> HashMap<K, Arc<V>> {
    found.into_iter().map(|(key, value)| (key, Arc::new(value))).collect()
}

fn labels(db: &Database, kind: ItemKind) -> BatchLoader<i64, Arc<Vec<Label>>> {
    BatchLoader::new(db, move |tx, ids| Ok(shared(tx.labels_of(kind, ids)?)))
}
