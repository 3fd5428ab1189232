//! Deep merging: mappings are joined, everything else is replaced.

use std::sync::Arc;

use super::node::{Entries, Map, Node};

/// Letters of all that a configuration comes to once templates and references are written out.
const LARGEST: u64 = 32 << 20;

/// `over` on `base`: keys of `base` first, then new ones, values of `over` where both have one.
pub(super) fn deep_merge(base: &Map, over: &Map) -> Map {
    let mut entries = Entries::with_capacity(base.len() + over.len());
    entries.extend(base.iter().map(|(key, value)| (key.clone(), value.clone())));
    for (key, value) in over.iter() {
        let Some(below) = entries.get_mut(key) else {
            entries.insert(key.clone(), value.clone());
            continue;
        };
        *below = match (&*below, value) {
            (Node::Map(below), Node::Map(above)) => Node::Map(Arc::new(deep_merge(below, above))),
            _ => value.clone(),
        };
    }
    Map::new(entries)
}

/// The remaining size that a configuration may expand to. A small file can expand to gigabytes.
pub(super) struct Budget(u64);

impl Budget {
    pub(super) fn new() -> Self {
        Self(LARGEST)
    }

    pub(super) fn take(&mut self, weight: u64) -> Result<(), String> {
        self.0 =
            self.0.checked_sub(weight).ok_or_else(|| super::yaml::Fault::TooBig.to_string())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::deep_merge;
    use crate::config::yaml::{emit, parse};

    #[test]
    fn mappings_are_joined_and_everything_else_is_replaced() {
        let [base, over] = ["{a: {u: 1, v: [1]}, b: 1}", "{a: {v: [2], w: ~}, c: {d: 1}}"]
            .map(|text| parse(text).unwrap().unwrap());

        let merged = deep_merge(base.as_map().unwrap(), over.as_map().unwrap());

        assert_eq!(emit(&merged), "---\na:\n  u: 1\n  v:\n  - 2\n  w:\nb: 1\nc:\n  d: 1\n");
    }
}
