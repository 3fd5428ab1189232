//! The fields that a query selects below a field.

use std::sync::Arc;

use juniper::ArcStr;

/// The names of the fields below a field, and what is selected below those.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    pub(crate) fields: Vec<(ArcStr, Arc<Selection>)>,
}

impl Selection {
    /// Whether a field with this path is selected. `nodes` also finds what is selected by `edges` and their `node`.
    pub(crate) fn selects(&self, path: &str) -> bool {
        let (name, rest) =
            path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let below = |selection: &Self| rest.is_none_or(|rest| selection.selects(rest));
        self.fields.iter().any(|(field, selection)| {
            (field == name && below(selection))
                || (name == "nodes"
                    && field == "edges"
                    && selection.fields.iter().any(|(field, node)| field == "node" && below(node)))
        })
    }
}
