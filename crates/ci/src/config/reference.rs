//! `!reference [job, key …]`: the value that stands somewhere else.

use std::sync::Arc;

use super::{
    merge::Budget,
    node::{Entries, Map, Node, Reference},
    yaml,
};

/// References inside what references name.
const DEEPEST: usize = 10;
/// What following one costs at the least, in letters.
const STEP: u64 = 64;

/// The document with every reference replaced. The first problem ends it.
pub(super) fn resolve(document: &Map, budget: &mut Budget) -> Result<Map, String> {
    let mut resolver = Resolver { document, budget, open: Vec::new() };
    resolver.map(document).map(|map| map.unwrap_or_else(|| document.clone()))
}

struct Resolver<'d, 'b> {
    document: &'d Map,
    budget: &'b mut Budget,
    /// The references being followed, each inside the one before.
    open: Vec<Arc<Reference>>,
}

impl Resolver<'_, '_> {
    /// The value without references; `None` when it held none.
    fn node(&mut self, node: &Node) -> Result<Option<Node>, String> {
        match node {
            Node::Map(map) => Ok(self.map(map)?.map(|map| Node::Map(Arc::new(map)))),
            Node::List(list) => self.list(list.items()),
            Node::Reference(reference) => self.follow(reference).map(Some),
            _ => Ok(None),
        }
    }

    fn map(&mut self, map: &Map) -> Result<Option<Map>, String> {
        let mut changed: Option<Entries> = None;
        for (key, value) in map.iter() {
            if let Some(value) = self.node(value)? {
                changed.get_or_insert_with(|| map.entries().clone()).insert(key.clone(), value);
            }
        }
        Ok(changed.map(Map::new))
    }

    fn list(&mut self, items: &[Node]) -> Result<Option<Node>, String> {
        let mut changed: Option<Vec<Node>> = None;
        for (index, item) in items.iter().enumerate() {
            let Some(item) = self.node(item)? else { continue };
            if let Some(place) = changed.get_or_insert_with(|| items.to_vec()).get_mut(index) {
                *place = item;
            }
        }
        Ok(changed.map(Node::of_list))
    }

    fn follow(&mut self, reference: &Arc<Reference>) -> Result<Node, String> {
        let refusal = |problem: &str| {
            format!("{} {problem}", yaml::inline(&Node::Reference(Arc::clone(reference))))
        };
        if self.open.iter().any(|open| Arc::ptr_eq(open, reference)) {
            return Err(refusal("is part of a circular chain"));
        }
        let names: Option<Vec<&str>> = reference.path.iter().map(Node::as_text).collect();
        let names = names.filter(|names| !names.is_empty() && self.open.len() < DEEPEST);
        let names = names.ok_or_else(|| refusal("is not valid"))?;
        let value = self.find(&names).cloned();
        let value = value.ok_or_else(|| refusal("could not be found"))?;
        self.open.push(Arc::clone(reference));
        let value = self.node(&value)?.unwrap_or(value);
        self.open.pop();
        self.budget.take(STEP + value.weight())?;
        Ok(value)
    }

    fn find(&self, names: &[&str]) -> Option<&Node> {
        let (last, before) = names.split_last()?;
        let mut map = self.document;
        for name in before {
            map = map.get(name)?.as_map()?;
        }
        map.present(last)
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, resolve};
    use crate::config::yaml::{inline, parse};

    fn resolved(text: &str) -> Result<String, String> {
        let document = parse(text).unwrap().unwrap();
        let map = resolve(document.as_map().unwrap(), &mut Budget::new())?;
        Ok(map.iter().last().map(|(_, value)| inline(value)).unwrap())
    }

    #[test]
    fn a_reference_is_replaced_by_what_it_names() {
        assert_eq!(resolved("a: {b: [x]}\nc: [!reference [a, b], y]").unwrap(), "[[\"x\"], \"y\"]");
        assert_eq!(resolved("a: {b: 1}\nc: !reference [a]").unwrap(), "{\"b\": 1}");
        assert_eq!(resolved("a: !reference [b, x]\nb: {x: 2}\nc: !reference [a]").unwrap(), "2");
    }

    #[test]
    fn what_leads_nowhere_or_in_a_circle_is_told() {
        for (text, problem) in [
            (
                "c: !reference [\".a\", script]",
                "!reference [\".a\", \"script\"] could not be found",
            ),
            ("c: !reference [5]", "!reference [5] is not valid"),
            (
                ".a: {script: [!reference [.b, script]]}\n.b: {script: [!reference [.a, script]]}",
                "!reference [\".b\", \"script\"] is part of a circular chain",
            ),
            ("a: !reference [a]", "!reference [\"a\"] is part of a circular chain"),
        ] {
            assert_eq!(resolved(text), Err(problem.to_owned()));
        }
    }

    #[test]
    fn references_that_double_themselves_come_to_an_end() {
        let mut text = format!("a0: {}\n", "x".repeat(10_000));
        for level in 1..9 {
            let before = format!("!reference [a{}]", level - 1);
            text.push_str(&format!("a{level}: [{}]\n", vec![before; 9].join(", ")));
        }

        assert_eq!(resolved(&text), Err("The parsed YAML is too big".to_owned()));
    }
}
