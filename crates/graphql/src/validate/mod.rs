//! Validation of a document against the schema: the rules, texts and codes that clients know.

mod arguments;
mod fragments;
mod variables;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value as Json, json};

use self::{arguments::Owner, fragments::reached, variables::VariableUse};
use crate::{
    coerce::Rules,
    document::{Document, Field, Fragment, Operation, OperationKind, Position, Selection},
    error::QueryError,
    model::{TypeKind, TypeModel},
};

/// How many errors are told.
const MOST_ERRORS: usize = 5;

/// Holds a document against the schema. Answers with the first things that are wrong.
pub(crate) fn validate(rules: Rules<'_>, document: &Document) -> Vec<QueryError> {
    let mut validation = Validation {
        rules,
        fragments: document.fragments.iter().map(|it| (it.name.as_str(), it)).collect(),
        errors: Vec::new(),
        path: Vec::new(),
        used: Usage::default(),
    };
    validation.names(document);
    let mut by_fragment = HashMap::new();
    for fragment in &document.fragments {
        validation.fragment(fragment);
        by_fragment.insert(fragment.name.as_str(), std::mem::take(&mut validation.used));
    }
    validation.fragments_end(&by_fragment, document);
    let mut spread = BTreeSet::new();
    for operation in &document.operations {
        validation.operation(operation);
        let used = std::mem::take(&mut validation.used);
        let reached = reached(&used, &by_fragment);
        validation.variables(operation, &used, &reached, &by_fragment);
        spread.extend(reached);
    }
    for fragment in &document.fragments {
        if !spread.contains(fragment.name.as_str()) {
            let message = format!("Fragment {} was defined, but not used", fragment.name);
            validation.path = vec![format!("fragment {}", fragment.name).into()];
            let extensions =
                json!({ "code": "useAndDefineFragment", "fragmentName": fragment.name });
            validation.report(message, fragment.at, extensions);
        }
    }
    validation.errors
}

/// The variables and fragments that a fragment or an operation uses.
#[derive(Default)]
struct Usage<'a> {
    fragments: BTreeSet<&'a str>,
    variables: Vec<VariableUse<'a>>,
}

struct Validation<'a> {
    rules: Rules<'a>,
    fragments: HashMap<&'a str, &'a Fragment>,
    errors: Vec<QueryError>,
    path: Vec<Json>,
    used: Usage<'a>,
}

impl<'a> Validation<'a> {
    fn is_full(&self) -> bool {
        self.errors.len() >= MOST_ERRORS
    }

    fn report(&mut self, message: String, at: Position, extensions: Json) {
        if !self.is_full() {
            self.errors.push(QueryError {
                message,
                locations: vec![at],
                path: Some(self.path.clone()),
                extensions: Some(extensions),
            });
        }
    }

    fn inside(&mut self, step: impl Into<Json>, visit: impl FnOnce(&mut Self)) {
        self.path.push(step.into());
        visit(self);
        self.path.pop();
    }

    fn names(&mut self, document: &Document) {
        let mut operations = BTreeMap::new();
        for operation in &document.operations {
            *operations.entry(operation.name.as_deref()).or_insert(0) += 1;
        }
        for (name, count) in operations {
            if count < 2 && (name.is_some() || document.operations.len() < 2) {
                continue;
            }
            let first = document.operations.iter().find(|it| it.name.as_deref() == name);
            let at = first.map(|operation| operation.at).unwrap_or_default();
            let message = match name {
                Some(name) => format!("Operation name \"{name}\" must be unique"),
                None => {
                    "Operation name is required when multiple operations are present".to_owned()
                }
            };
            let extensions = json!({ "code": "uniquelyNamedOperations", "operationName": name });
            self.report(message, at, extensions);
        }
        let mut fragments = BTreeSet::new();
        for fragment in &document.fragments {
            if !fragments.insert(fragment.name.as_str()) {
                let message = format!("Fragment name \"{}\" must be unique", fragment.name);
                let extensions =
                    json!({ "code": "fragmentNotUnique", "fragmentName": fragment.name });
                self.report(message, fragment.at, extensions);
            }
        }
    }

    fn operation(&mut self, operation: &'a Operation) {
        self.path = vec![match &operation.name {
            Some(name) => format!("{} {name}", operation.kind.word()).into(),
            None => operation.kind.word().into(),
        }];
        self.directives(
            &operation.directives,
            match operation.kind {
                OperationKind::Query => ("QUERY", "queries"),
                OperationKind::Mutation => ("MUTATION", "mutations"),
                OperationKind::Subscription => ("SUBSCRIPTION", "subscriptions"),
            },
        );
        let model = self.rules.model;
        let root = match operation.kind {
            OperationKind::Query => model.find(crate::model::QUERY),
            OperationKind::Mutation => model.mutation.as_ref().and_then(|name| model.find(name)),
            OperationKind::Subscription => {
                model.subscription.as_ref().and_then(|name| model.find(name))
            }
        };
        match root {
            Some(root) => self.selections(&operation.selections, root),
            None => {
                let word = operation.kind.word();
                let code = match operation.kind {
                    OperationKind::Subscription => "missingSubscriptionConfiguration",
                    _ => "missingMutationConfiguration",
                };
                let message = format!("Schema is not configured for {word}s");
                self.report(message, operation.at, json!({ "code": code }));
            }
        }
    }

    fn selections(&mut self, selections: &'a [Selection], on: &'a TypeModel) {
        for selection in selections {
            if self.is_full() {
                return;
            }
            match selection {
                Selection::Field(field) => {
                    self.inside(field.key(), |this| this.field(field, on));
                }
                Selection::Spread(spread) => {
                    self.directives(&spread.directives, ("FRAGMENT_SPREAD", "fragment spreads"));
                    self.used.fragments.insert(&spread.name);
                    match self.fragments.get(spread.name.as_str()) {
                        Some(fragment) => {
                            let (name, to) = (Some(&spread.name), &fragment.condition.text);
                            self.spread(name, to, on, spread.at);
                        }
                        None => {
                            let message =
                                format!("Fragment {} was used, but not defined", spread.name);
                            let extensions = json!({
                                "code": "useAndDefineFragment",
                                "fragmentName": spread.name,
                            });
                            self.report(message, spread.at, extensions);
                        }
                    }
                }
                Selection::Inline(inline) => {
                    self.directives(&inline.directives, ("INLINE_FRAGMENT", "inline fragments"));
                    let step = match &inline.condition {
                        Some(condition) => format!("... on {}", condition.text),
                        None => "...".to_owned(),
                    };
                    self.inside(step, |this| match &inline.condition {
                        None => this.selections(&inline.selections, on),
                        Some(condition) => {
                            if let Some(to) = this.condition(&condition.text, condition.at) {
                                this.spread(None, &condition.text, on, inline.at);
                                this.selections(&inline.selections, to);
                            }
                        }
                    });
                }
            }
        }
    }

    fn field(&mut self, field: &'a Field, on: &'a TypeModel) {
        let Some(model) = self.rules.model.field(on, &field.name) else {
            let (name, kind) = (&field.name, on.name.as_str());
            let message = match on.kind {
                TypeKind::Union => {
                    format!(
                        "Selections can't be made directly on unions (see selections on {kind})"
                    )
                }
                _ => format!("Field '{name}' doesn't exist on type '{kind}'"),
            };
            let extensions =
                json!({ "code": "undefinedField", "typeName": kind, "fieldName": name });
            return self.report(message, field.at, extensions);
        };
        self.directives(&field.directives, ("FIELD", "fields"));
        let owner = Owner { kind: "Field", name: &field.name };
        self.arguments(&field.arguments, &model.arguments, &owner, field.at);
        let Some(kind) = self.rules.model.find(model.kind.name()) else { return };
        match (kind.is_composite(), field.selections.is_empty()) {
            (true, false) => self.selections(&field.selections, kind),
            (false, true) => {}
            (true, true) => self.selection_mismatch(
                field,
                kind,
                format!(
                    "Field must have selections (field '{0}' returns {1} but has no selections. \
                 Did you mean '{0} {{ ... }}'?)",
                    field.name, kind.name
                ),
            ),
            (false, false) => {
                let names = field.selections.iter().map(|selection| match selection {
                    Selection::Field(field) => field.name.clone(),
                    Selection::Spread(spread) => spread.name.clone(),
                    Selection::Inline(inline) => {
                        inline.condition.as_ref().map_or(String::new(), |it| it.text.clone())
                    }
                });
                let names = names.take(MOST_ERRORS).collect::<Vec<_>>().join(", ");
                self.selection_mismatch(field, kind, format!(
                    "Selections can't be made on scalars (field '{}' returns {} but has selections [{names}])",
                    field.name, kind.name
                ));
            }
        }
    }

    fn selection_mismatch(&mut self, field: &Field, kind: &TypeModel, message: String) {
        let extensions = json!({
            "code": "selectionMismatch",
            "nodeName": format!("field '{}'", field.name),
            "typeName": kind.name.as_str(),
        });
        self.report(message, field.at, extensions);
    }
}
