//! Variables that a configuration offers to people who run a pipeline by hand: those with a description.

use super::{
    input::Limits,
    node::{Map, Node},
    yaml,
};

/// A variable with what people are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedVariable {
    pub key: String,
    pub value: String,
    pub description: String,
    /// What the value may be, where that is given.
    pub options: Option<Vec<String>>,
}

/// The variables with a description of a configuration, with all its includes merged.
pub fn offered_variables(merged_yaml: &str) -> Vec<OfferedVariable> {
    let Ok(Some(root)) = yaml::parse_within(&Limits::default(), merged_yaml) else {
        return Vec::new();
    };
    let variables = root.as_map().and_then(|root| root.get("variables")).and_then(Node::as_map);
    let offered = variables.into_iter().flat_map(Map::iter).filter_map(|(key, node)| {
        let fields = node.as_map()?;
        let options = fields.present("options").and_then(Node::as_list);
        Some(OfferedVariable {
            key: key.to_string(),
            value: fields.present("value").and_then(Node::scalar).unwrap_or_default(),
            description: fields.present("description").and_then(Node::scalar)?,
            options: options.map(|all| all.iter().filter_map(Node::scalar).collect()),
        })
    });
    offered.collect()
}

#[cfg(test)]
mod tests {
    use super::offered_variables;

    #[test]
    fn variables_with_a_description_are_offered() {
        let yaml = "variables:\n  PLAIN: a\n  TO:\n    value: staging\n    description: Where to\n    \
                    options: [staging, production]\njob:\n  script: true\n";

        let offered = offered_variables(yaml);

        assert_eq!(offered.len(), 1);
        assert_eq!((offered[0].key.as_str(), offered[0].value.as_str()), ("TO", "staging"));
        assert_eq!(offered[0].options.as_ref().map(Vec::len), Some(2));
    }
}
