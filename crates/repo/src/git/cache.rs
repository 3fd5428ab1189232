//! Bounded caches for many types of keys and contents, over a single type of moka's cache: each further one is 0.1 MB of
//! machine code.

use std::{any::Any, fmt, marker::PhantomData, sync::Arc};

use super::{DiffLimits, FileDiff, LineStats, Oid, RepoPath, Result, TreePath};

/// A commit, a file of it, and the first and last of the lines where not all are meant.
pub(crate) type LinesKey = (Oid, TreePath, Option<(u32, u32)>);
/// A commit, and the limits of its diff.
pub(crate) type CommitDiffKey = (Oid, DiffLimits);
/// From, to, and within which limits.
pub(crate) type DiffKey = (Oid, Oid, DiffLimits);
/// From, to, whether the files are compared with the first itself, and within which limits.
pub(crate) type ComparisonKey = (Oid, Oid, bool, DiffLimits);

/// A bounded map from `K` to `V`. Cheap to clone; clones share the entries.
#[derive(Clone)]
pub(crate) struct Cache<K, V> {
    entries: moka::sync::Cache<Key, Value>,
    types: PhantomData<fn(K) -> V>,
}

impl<K: Into<Key>, V: Content> Cache<K, V> {
    /// A cache of at most `capacity` entries.
    pub(crate) fn new(capacity: u64) -> Self {
        Self { entries: moka::sync::Cache::new(capacity), types: PhantomData }
    }

    /// A cache whose entries weigh at most `capacity` together.
    pub(crate) fn with_weights(
        capacity: u64,
        weight: impl Fn(&Key, &V) -> usize + Send + Sync + 'static,
    ) -> Self {
        let weigher = move |key: &Key, value: &Value| {
            let content = V::from_value(value.clone());
            let bytes = content.map_or(0, |content| weight(key, &content));
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let entries = moka::sync::Cache::builder().max_capacity(capacity).weigher(weigher).build();
        Self { entries, types: PhantomData }
    }

    pub(crate) fn get(&self, key: K) -> Option<V> {
        let key: Key = key.into();
        V::from_value(self.entries.get(&key)?)
    }

    pub(crate) fn insert(&self, key: K, content: V) {
        self.entries.insert(key.into(), content.into_value());
    }

    /// What is known of the key, or else what `work` finds, which is known from then on. Callers at the same time may
    /// each do the work.
    pub(crate) fn get_or_insert(&self, key: K, work: impl FnOnce() -> Result<V>) -> Result<V> {
        let key: Key = key.into();
        if let Some(known) = self.entries.get(&key).and_then(V::from_value) {
            return Ok(known);
        }
        let content = work()?;
        self.entries.insert(key, content.clone().into_value());
        Ok(content)
    }

    pub(crate) fn invalidate(&self, key: K) {
        let key: Key = key.into();
        self.entries.invalidate(&key);
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

/// A key of any cache. Those of one cache are all of one variant. A large one is boxed, so that the many that are an id
/// or two stay small.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Object(Oid),
    Flag(Oid, bool),
    Pair(Oid, Oid),
    Path(Oid, TreePath),
    Repository(RepoPath),
    Text(String),
    Lines(Box<LinesKey>),
    CommitDiff(Box<CommitDiffKey>),
    Diff(Box<DiffKey>),
    Comparison(Box<ComparisonKey>),
}

impl Key {
    /// The text of a key that is one; empty for others.
    pub(crate) fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }
}

macro_rules! cache_keys {
    ($($from:ty, $parts:pat_param => $key:expr;)+) => {
        $(impl From<$from> for Key {
            fn from($parts: $from) -> Self {
                $key
            }
        })+
    };
}

cache_keys! {
    Oid, id => Key::Object(id);
    (Oid, bool), (id, flag) => Key::Flag(id, flag);
    (Oid, Oid), (first, second) => Key::Pair(first, second);
    (Oid, TreePath), (at, path) => Key::Path(at, path);
    RepoPath, path => Key::Repository(path);
    String, text => Key::Text(text);
    LinesKey, key => Key::Lines(Box::new(key));
    CommitDiffKey, key => Key::CommitDiff(Box::new(key));
    DiffKey, key => Key::Diff(Box::new(key));
    ComparisonKey, key => Key::Comparison(Box::new(key));
}

/// What a cache may hold. All of it is cheap to clone.
pub(crate) trait Content: Clone {
    fn into_value(self) -> Value;

    /// `None` for a value of another type, which a cache does not have.
    fn from_value(value: Value) -> Option<Self>;
}

macro_rules! cache_values {
    ($($variant:ident($content:ty),)+) => {
        /// A content of any cache. Those of one cache are all of one variant.
        #[derive(Clone)]
        pub(crate) enum Value {
            $($variant($content),)+
            /// An `Arc` of any other type.
            Other(Arc<dyn Any + Send + Sync>),
        }

        $(impl Content for $content {
            fn into_value(self) -> Value {
                Value::$variant(self)
            }

            fn from_value(value: Value) -> Option<Self> {
                if let Value::$variant(content) = value { Some(content) } else { None }
            }
        })+
    };
}

cache_values! {
    Flag(bool),
    Count(u64),
    Time(i64),
    Lines(LineStats),
    Commit(Option<Oid>),
    Commits(Arc<[Oid]>),
    Text(Arc<str>),
    Files(Arc<[FileDiff]>),
    Languages(Arc<[(&'static str, u64)]>),
}

impl<T: Any + Send + Sync> Content for Arc<T> {
    fn into_value(self) -> Value {
        Value::Other(self)
    }

    fn from_value(value: Value) -> Option<Self> {
        if let Value::Other(content) = value { content.downcast().ok() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Cache, Key, Value};
    use crate::git::{GitError, LineStats, Oid};

    #[test]
    fn work_that_succeeds_is_done_once_for_a_key() {
        let cache: Cache<Oid, LineStats> = Cache::new(10);
        let lines = LineStats { additions: 1, deletions: 2 };
        let failure = || Err(GitError::NotFound);

        assert!(cache.get_or_insert(Oid::NULL, failure).is_err());
        assert_eq!(cache.get_or_insert(Oid::NULL, || Ok(lines)).ok(), Some(lines));
        assert_eq!(cache.get_or_insert(Oid::NULL, failure).ok(), Some(lines));
        assert_eq!(cache.get(Oid::EMPTY_TREE), None);
        cache.invalidate(Oid::NULL);
        assert_eq!(cache.get(Oid::NULL), None);
    }

    #[test]
    fn a_cache_gives_back_the_very_value_and_keeps_no_more_than_its_weight() {
        let weight = |key: &Key, bytes: &Arc<Vec<u8>>| key.text().len() + bytes.len();
        let cache: Cache<String, Arc<Vec<u8>>> = Cache::with_weights(100, weight);
        let (small, large) = (Arc::new(vec![0; 3]), Arc::new(vec![0; 200]));

        cache.insert("small".to_owned(), small.clone());
        cache.insert("large".to_owned(), large);
        cache.entries.run_pending_tasks();

        assert_eq!(cache.entries.weighted_size(), 8);
        assert!(cache.get("small".to_owned()).is_some_and(|found| Arc::ptr_eq(&found, &small)));
        assert!(cache.get("large".to_owned()).is_none());
    }

    #[test]
    fn an_entry_is_no_larger_than_two_ids_and_the_lines_of_a_commit() {
        assert!(size_of::<Key>() <= 48 && size_of::<Value>() <= 24);
    }
}
