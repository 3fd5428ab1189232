//! Variables that name one another without end.

use std::collections::HashMap;

use super::expand::names;
use crate::config::{circle::components, yaml};

/// The sentence about variables that name one another in a circle, if some do. Of one name the last counts.
pub fn circle<'v>(variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Option<String> {
    let mut values: indexmap::IndexMap<&str, &str> = indexmap::IndexMap::new();
    values.extend(variables);
    values.retain(|_, value| value.contains(['$', '%']));
    if values.is_empty() {
        return None;
    }
    let places: HashMap<&str, usize> =
        values.keys().enumerate().map(|(place, key)| (*key, place)).collect();
    let edges: Vec<Vec<usize>> = values
        .values()
        .map(|value| names(value).filter_map(|name| places.get(name).copied()).collect())
        .collect();
    let circles: Vec<String> = components(&edges)
        .into_iter()
        .filter(|component| component.len() > 1)
        .map(|component| {
            listed(
                component.iter().filter_map(|place| values.get_index(*place)).map(|(key, _)| *key),
            )
        })
        .collect();
    let all = circles.join(", ");
    (!circles.is_empty()).then(|| format!("circular variable reference detected: {all}"))
}

/// Names in quotes, in brackets.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    yaml::inline(&crate::config::node::Node::of_list(
        names.map(crate::config::node::Node::of_text).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::circle;

    #[test]
    fn a_circle_is_told_with_its_names() {
        assert_eq!(
            circle([("A", "$B"), ("B", "x ${A}")]).unwrap(),
            "circular variable reference detected: [\"A\", \"B\"]"
        );
        assert_eq!(circle([("A", "$B"), ("B", "$C"), ("C", "c")]), None);
        assert_eq!(circle([("A", "$A:more")]), None);
        assert_eq!(circle([("A", "$B"), ("B", "$A"), ("B", "b")]), None);
    }
}
