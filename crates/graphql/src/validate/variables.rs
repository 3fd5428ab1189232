//! Variables: that they are declared, used, and of types that fit where they stand.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value as Json, json};

use super::{Usage, Validation};
use crate::{
    coerce::Variables,
    document::{Literal, Operation, Position, Type},
    model::TypeModel,
};

/// A variable in the value of an argument.
pub(super) struct VariableUse<'a> {
    pub(super) name: &'a str,
    pub(super) argument: String,
    /// The type at that place; nothing inside values of any form.
    pub(super) wanted: Option<Type>,
    /// Whether the place has a value of its own.
    pub(super) has_default: bool,
    pub(super) at: Position,
    pub(super) path: Vec<Json>,
}

impl<'a> Validation<'a> {
    pub(super) fn variables(
        &mut self,
        operation: &Operation,
        used: &Usage<'a>,
        reached: &BTreeSet<&'a str>,
        by_fragment: &HashMap<&'a str, Usage<'a>>,
    ) {
        let owner = operation.name.clone();
        let owner = owner.unwrap_or_else(|| format!("anonymous {}", operation.kind.word()));
        let own_path = self.path.clone();
        self.definitions(operation);
        let fragments = reached.iter().filter_map(|name| by_fragment.get(name));
        let uses: Vec<_> =
            std::iter::once(used).chain(fragments).flat_map(|used| &used.variables).collect();
        for definition in &operation.variables {
            if !uses.iter().any(|used| used.name == definition.name) {
                let name = &definition.name;
                let message = format!("Variable ${name} is declared by {owner} but not used");
                let extensions = json!({ "code": "variableNotUsed", "variableName": name });
                self.path.clone_from(&own_path);
                self.report(message, definition.at, extensions);
            }
        }
        for used in uses {
            let name = used.name;
            let Some(definition) = operation.variables.iter().find(|it| it.name == name) else {
                let message = format!("Variable ${name} is used by {owner} but not declared");
                let extensions = json!({ "code": "variableNotDefined", "variableName": name });
                self.path.clone_from(&used.path);
                self.report(message, used.at, extensions);
                continue;
            };
            let default = definition.default.as_ref();
            let has_value = used.has_default || default.is_some_and(|it| *it != Literal::Null);
            let mismatch = used
                .wanted
                .as_ref()
                .and_then(|wanted| mismatch(&definition.kind, wanted, has_value));
            if let (Some(why), Some(wanted)) = (mismatch, &used.wanted) {
                let message = format!(
                    "{why} on variable ${name} and argument {} ({} / {wanted})",
                    used.argument, definition.kind
                );
                let extensions = json!({
                    "code": "variableMismatch",
                    "variableName": name,
                    "typeName": definition.kind.to_string(),
                    "argumentName": used.argument,
                    "errorMessage": why,
                });
                self.path.clone_from(&used.path);
                self.report(message, used.at, extensions);
            }
        }
        self.path = own_path;
    }

    pub(super) fn definitions(&mut self, operation: &Operation) {
        let mut seen = BTreeSet::new();
        for definition in &operation.variables {
            let (name, kind) = (&definition.name, &definition.kind);
            if !seen.insert(name) {
                let message = format!("There can only be one variable named \"{name}\"");
                let extensions = json!({ "code": "variableNotUnique", "variableName": name });
                self.report(message, definition.at, extensions);
            }
            let type_name = kind.name();
            let found = self.rules.model.find(type_name);
            if !found.is_some_and(TypeModel::is_input) {
                let message = match found {
                    None => format!("{type_name} isn't a defined input type (on ${name})"),
                    Some(_) => format!("{type_name} isn't a valid input type (on ${name})"),
                };
                let extensions = json!({
                    "code": "variableRequiresValidType",
                    "typeName": type_name,
                    "variableName": name,
                });
                self.report(message, definition.at, extensions);
                continue;
            }
            if let Some(default) = &definition.default {
                let fits = self.rules.literal(default, kind, &Variables::new());
                if fits.is_err() {
                    let message = format!("Default value for ${name} doesn't match type {kind}");
                    let extensions = json!({
                        "code": "defaultValueInvalidType",
                        "variableName": name,
                        "typeName": kind.to_string(),
                    });
                    self.report(message, definition.at, extensions);
                }
            }
        }
    }
}

/// Why a variable may not stand where another type is wanted.
fn mismatch(given: &Type, wanted: &Type, has_value: bool) -> Option<&'static str> {
    match (given, wanted) {
        (Type::NonNull(given), Type::NonNull(wanted)) => mismatch(given, wanted, false),
        (Type::NonNull(given), wanted) => mismatch(given, wanted, false),
        (given, Type::NonNull(wanted)) if has_value => mismatch(given, wanted, false),
        (_, Type::NonNull(wanted)) => {
            Some(mismatch(given, wanted, false).unwrap_or("Nullability mismatch"))
        }
        (Type::List(given), Type::List(wanted)) => mismatch(given, wanted, false),
        (Type::Named(given), Type::Named(wanted)) => (given != wanted).then_some("Type mismatch"),
        _ => Some("List dimension mismatch"),
    }
}
