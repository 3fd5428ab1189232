//! Fragments: what they are for, where they may be spread, and that they end.

use std::collections::{BTreeSet, HashMap};

use serde_json::json;

use super::{Usage, Validation};
use crate::{
    document::{Document, Fragment, Position},
    model::TypeModel,
};

/// The fragments that are spread in an operation, also by others.
pub(super) fn reached<'a>(
    used: &Usage<'a>,
    by_fragment: &HashMap<&'a str, Usage<'a>>,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&str> = used.fragments.iter().copied().collect();
    while let Some(name) = left.pop() {
        if found.insert(name) {
            left.extend(by_fragment.get(name).into_iter().flat_map(|used| &used.fragments));
        }
    }
    found
}

impl<'a> Validation<'a> {
    pub(super) fn fragment(&mut self, fragment: &'a Fragment) {
        self.path = vec![format!("fragment {}", fragment.name).into()];
        self.directives(&fragment.directives, ("FRAGMENT_DEFINITION", "fragment definitions"));
        let condition = &fragment.condition;
        if let Some(on) = self.condition(&condition.text, condition.at) {
            self.selections(&fragment.selections, on);
        }
    }

    /// The type that a fragment is for.
    pub(super) fn condition(&mut self, name: &str, at: Position) -> Option<&'a TypeModel> {
        match self.rules.model.find(name) {
            None => {
                let message = format!("No such type {name}, so it can't be a fragment condition");
                self.report(message, at, json!({ "code": "undefinedType", "typeName": name }));
                None
            }
            Some(found) if !found.is_composite() => {
                let message =
                    format!("Invalid fragment on type {name} (must be Union, Interface or Object)");
                let extensions = json!({ "code": "fragmentOnNonCompositeType", "typeName": name });
                self.report(message, at, extensions);
                None
            }
            found => found,
        }
    }

    /// Ensures that an object of one type may be of the other.
    pub(super) fn spread(&mut self, name: Option<&String>, to: &str, on: &TypeModel, at: Position) {
        let Some(to) = self.rules.model.find(to).filter(|to| to.is_composite()) else { return };
        if !self.rules.model.overlaps(on, to) {
            let what = match name {
                Some(name) => format!("Fragment {name} on {}", to.name),
                None => format!("Fragment on {}", to.name),
            };
            let message = format!("{what} can't be spread inside {}", on.name);
            let extensions = json!({
                "code": "cannotSpreadFragment",
                "typeName": on.name.as_str(),
                "fragmentName": name.map_or("unknown", String::as_str),
                "parentName": to.name.as_str(),
            });
            self.report(message, at, extensions);
        }
    }

    /// Fragments that spread themselves.
    pub(super) fn fragments_end(
        &mut self,
        by_fragment: &HashMap<&'a str, Usage<'a>>,
        document: &Document,
    ) {
        for fragment in &document.fragments {
            let name = fragment.name.as_str();
            let ends =
                by_fragment.get(name).is_none_or(|used| !reached(used, by_fragment).contains(name));
            if !ends {
                self.path = vec![format!("fragment {name}").into()];
                let message = format!("Fragment {name} contains an infinite loop");
                let extensions = json!({ "code": "infiniteLoop", "fragmentName": name });
                self.report(message, fragment.at, extensions);
            }
        }
    }
}
