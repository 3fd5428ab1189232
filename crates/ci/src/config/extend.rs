//! `extends`: a job is merged over the jobs and templates that it names.

use std::{collections::HashMap, sync::Arc};

use super::{
    merge::{Budget, deep_merge},
    node::{Entries, Map, Node},
};

/// How far below the job a name may still extend something.
const DEEPEST: usize = 10;

/// The document with every `extends` followed. The first problem ends it.
pub(super) fn extend(document: &Map, budget: &mut Budget) -> Result<Map, String> {
    let uses = |value: &Node| value.as_map().is_some_and(|map| map.contains("extends"));
    if !document.iter().any(|(_, value)| uses(value)) {
        return Ok(document.clone());
    }
    let mut extension = Extension { document, budget, done: HashMap::new(), chain: Vec::new() };
    let mut entries = Entries::with_capacity(document.len());
    for (key, value) in document.iter() {
        let value = if uses(value) { extension.entry(key.as_str(), value)? } else { value.clone() };
        entries.insert(key.clone(), value);
    }
    Ok(Map::new(entries))
}

struct Extension<'d, 'b> {
    document: &'d Map,
    budget: &'b mut Budget,
    /// What each name came to, and how many bases lie above it.
    done: HashMap<&'d str, (Node, usize)>,
    /// The names from the job down to the one being read.
    chain: Vec<&'d str>,
}

impl<'d> Extension<'d, '_> {
    fn entry(&mut self, name: &'d str, value: &'d Node) -> Result<Node, String> {
        if let Some((node, height)) = self.done.get(name) {
            // The last name of a chain extends nothing.
            if self.chain.len() + height > DEEPEST + 1 {
                return Err(format!("{name}: nesting too deep in `extends`"));
            }
            return Ok(node.clone());
        }
        let Some(map) = value.as_map() else { return Ok(value.clone()) };
        let Some(bases) = map.present("extends") else { return Ok(value.clone()) };
        let bases = self.bases(name, bases)?;
        self.chain.push(name);
        let (mut merged, mut height): (Option<Arc<Map>>, _) = (None, 0);
        for base in bases {
            let base_value = self.document.get(base).unwrap_or(&Node::Null);
            let node = self.entry(base, base_value)?;
            height = height.max(self.done.get(base).map_or(0, |(_, above)| *above) + 1);
            self.budget.take(node.weight())?;
            if let Node::Map(base) = &node {
                merged = Some(match merged {
                    Some(below) => Arc::new(deep_merge(&below, base)),
                    None => Arc::clone(base),
                });
            }
        }
        self.chain.pop();
        let node = match merged {
            Some(base) => Node::Map(Arc::new(deep_merge(&base, map))),
            None => value.clone(),
        };
        self.budget.take(node.weight())?;
        self.done.insert(name, (node.clone(), height));
        Ok(node)
    }

    /// The names that stand in `extends`, all of them there and fit to be merged.
    fn bases(&self, name: &str, value: &'d Node) -> Result<Vec<&'d str>, String> {
        let names: Vec<&str> = match value {
            Node::List(list) => list.items().iter().filter_map(Node::as_text).collect(),
            other => other.as_text().into_iter().collect(),
        };
        if self.chain.contains(&name) {
            return Err(format!("{name}: circular dependency detected in `extends`"));
        }
        if self.chain.len() > DEEPEST {
            return Err(format!("{name}: nesting too deep in `extends`"));
        }
        let missing = pick(&names, |base| !self.document.contains(base));
        if !missing.is_empty() {
            return Err(format!("{name}: unknown keys in `extends` ({missing})"));
        }
        let unfit = pick(&names, |base| {
            self.document.get(base).is_some_and(|node| node.as_map().is_none())
        });
        if !unfit.is_empty() {
            return Err(format!("{name}: invalid base hashes in `extends` ({unfit})"));
        }
        Ok(names)
    }
}

fn pick(names: &[&str], condition: impl Fn(&str) -> bool) -> String {
    names.iter().copied().filter(|name| condition(name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{Budget, extend};
    use crate::config::yaml::{emit, parse};

    fn extended(text: &str) -> Result<String, String> {
        let document = parse(text).unwrap().unwrap();
        extend(document.as_map().unwrap(), &mut Budget::new()).map(|map| emit(&map))
    }

    #[test]
    fn later_bases_win_over_earlier_ones_and_the_job_over_all() {
        let text =
            extended(".a: {u: a, v: a}\n.b: {v: b, w: b}\njob: {extends: [.a, .b], w: own}\n");

        assert!(
            text.unwrap()
                .ends_with("job:\n  u: a\n  v: b\n  w: own\n  extends:\n  - \".a\"\n  - \".b\"\n")
        );
    }

    #[test]
    fn what_cannot_be_extended_is_named() {
        for (text, problem) in [
            ("a: {extends: [.n1, .n2]}", "a: unknown keys in `extends` (.n1, .n2)"),
            (".l: [1]\na: {extends: .l}", "a: invalid base hashes in `extends` (.l)"),
            ("a: {extends: b}\nb: {extends: a}", "a: circular dependency detected in `extends`"),
            ("a: {extends: a}", "a: circular dependency detected in `extends`"),
        ] {
            assert_eq!(extended(text), Err(problem.to_owned()));
        }
    }

    fn chain(length: usize, last_first: bool) -> String {
        let mut links: Vec<String> =
            (1..length).map(|link| format!(".l{link}: {{extends: .l{}}}", link + 1)).collect();
        links.push(format!(".l{length}: {{script: x}}"));
        links.push("job: {extends: .l1}".to_owned());
        if last_first {
            links.reverse();
        }
        links.join("\n")
    }

    #[test]
    fn a_job_stands_on_at_most_eleven_names() {
        for last_first in [false, true] {
            assert!(extended(&chain(11, last_first)).is_ok());
            let problem = extended(&chain(12, last_first)).unwrap_err();
            assert!(problem.ends_with("nesting too deep in `extends`"), "{problem}");
        }
    }

    #[test]
    fn many_jobs_of_one_large_template_come_to_an_end() {
        let mut text = format!(".t: {{script: {}}}\n", "x".repeat(1 << 20));
        for job in 0..100 {
            text.push_str(&format!("j{job}: {{extends: .t}}\n"));
        }

        assert_eq!(extended(&text), Err("The parsed YAML is too big".to_owned()));
    }
}
