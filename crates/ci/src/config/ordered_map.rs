//! A map in the order in which its entries came, made for the few entries that mappings and lists of variables have.

use std::hash::Hash;

use indexmap::{Equivalent, IndexSet};

/// Up to so many keys are compared one by one, which is faster than hashing one of them.
const FEW: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct OrderedMap<K, V> {
    entries: Vec<(K, V)>,
    /// The keys in the order of the entries, once there are more than [`FEW`]. They are hashed from a seed of the process, so
    /// that no configuration can be written for which all of them collide.
    index: Option<Box<IndexSet<K, ahash::RandomState>>>,
}

impl<K, V> OrderedMap<K, V> {
    /// Room for so many entries.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { entries: Vec::with_capacity(count), index: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

impl<K: Clone + Eq + Hash, V> OrderedMap<K, V> {
    pub(crate) fn get<Q: Equivalent<K> + Hash + ?Sized>(&self, key: &Q) -> Option<&V> {
        self.position(key).map(|position| &self.entries[position].1)
    }

    pub(crate) fn get_mut<Q: Equivalent<K> + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V> {
        self.position(key).map(|position| &mut self.entries[position].1)
    }

    pub(crate) fn contains_key<Q: Equivalent<K> + Hash + ?Sized>(&self, key: &Q) -> bool {
        self.position(key).is_some()
    }

    /// Adds an entry at the end, or replaces the value of the one that has the key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.position(&key) {
            Some(position) => self.entries[position].1 = value,
            None => self.push(key, value),
        }
    }

    /// Adds an entry whose key is new.
    fn push(&mut self, key: K, value: V) {
        if let Some(index) = &mut self.index {
            index.insert(key.clone());
        } else if self.entries.len() == FEW {
            let keys = self.entries.iter().map(|(key, _)| key).chain([&key]);
            self.index = Some(Box::new(keys.cloned().collect()));
        }
        self.entries.push((key, value));
    }

    fn position<Q: Equivalent<K> + Hash + ?Sized>(&self, key: &Q) -> Option<usize> {
        match &self.index {
            Some(index) => index.get_index_of(key),
            None => self.entries.iter().position(|(other, _)| key.equivalent(other)),
        }
    }
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), index: None }
    }
}

/// Maps are equal when they have the same entries, in whatever order.
impl<K: Clone + Eq + Hash, V: PartialEq> PartialEq for OrderedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: Clone + Eq + Hash, V: Eq> Eq for OrderedMap<K, V> {}

impl<K: Clone + Eq + Hash, V> Extend<(K, V)> for OrderedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Clone + Eq + Hash, V> FromIterator<(K, V)> for OrderedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let mut map = Self::with_capacity(entries.size_hint().0);
        map.extend(entries);
        map
    }
}

impl<K, V> IntoIterator for OrderedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{FEW, OrderedMap};

    fn map(keys: impl Iterator<Item = usize>) -> OrderedMap<Arc<str>, usize> {
        keys.map(|key| (Arc::from(key.to_string()), key)).collect()
    }

    #[test]
    fn entries_keep_their_order_and_the_last_value_of_a_key() {
        for count in [1, FEW, FEW + 1, 4 * FEW] {
            let mut all = map((0..count).chain(0..count));
            all.insert("0".into(), count);

            let values: Vec<usize> = all.iter().map(|(_, value)| *value).collect();
            assert_eq!(values, [count].into_iter().chain(1..count).collect::<Vec<_>>());
            assert_eq!(all.get("0"), Some(&count));
            assert_eq!(all.get((count - 1).to_string().as_str()).is_some(), all.len() == count);
            assert!(!all.contains_key(count.to_string().as_str()));
        }
    }

    #[test]
    fn maps_are_equal_in_whatever_order() {
        for count in [2, FEW, FEW + 1] {
            assert_eq!(map(0..count), map((0..count).rev()));
            assert_ne!(map(0..count), map(1..=count));
            assert_ne!(map(0..count), map(0..=count));
        }
    }
}
