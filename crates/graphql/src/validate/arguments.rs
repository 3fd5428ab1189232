//! Arguments of fields and directives, with the values that stand in the document.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Validation, variables::VariableUse};
use crate::{
    coerce::Variables,
    document::{Argument, Directive, Literal, Position, Type},
    model::{ArgumentModel, TypeKind},
};

/// The owner of arguments, as messages name it.
pub(super) struct Owner<'a> {
    pub(super) kind: &'static str,
    pub(super) name: &'a str,
}

impl Owner<'_> {
    fn words(&self) -> String {
        match self.kind {
            "InputObject" => format!("InputObject '{}'", self.name),
            kind => format!("{kind} '{}'", self.name),
        }
    }
}

impl<'a> Validation<'a> {
    pub(super) fn directives(&mut self, directives: &'a [Directive], place: (&str, &str)) {
        let mut seen = BTreeSet::new();
        for directive in directives {
            let name = directive.name.as_str();
            let models = &self.rules.model.directives;
            let Some(model) = models.iter().find(|model| model.name == name) else {
                let message = format!("Directive @{name} is not defined");
                let extensions = json!({ "code": "undefinedDirective", "directiveName": name });
                self.report(message, directive.at, extensions);
                continue;
            };
            if !model.locations.iter().any(|location| location == place.0) {
                let allowed: Vec<_> = model.locations.iter().map(|it| words_for(it)).collect();
                let message = format!(
                    "'@{name}' can't be applied to {} (allowed: {})",
                    place.1,
                    allowed.join(", ")
                );
                let extensions = json!({
                    "code": "directiveCannotBeApplied",
                    "targetName": place.1,
                    "name": name,
                });
                self.report(message, directive.at, extensions);
            }
            if !seen.insert(name) {
                let message =
                    format!("The directive \"{name}\" can only be used once at this location.");
                let extensions =
                    json!({ "code": "directiveNotUniqueForLocation", "directiveName": name });
                self.report(message, directive.at, extensions);
            }
            let owner = Owner { kind: "Directive", name };
            self.arguments(&directive.arguments, &model.arguments, &owner, directive.at);
        }
    }

    pub(super) fn arguments(
        &mut self,
        given: &'a [Argument],
        models: &'a [ArgumentModel],
        owner: &Owner<'_>,
        at: Position,
    ) {
        let mut seen = BTreeSet::new();
        for argument in given {
            let name = argument.name.as_str();
            if !seen.insert(name) {
                let message = format!("There can be only one argument named \"{name}\"");
                let extensions = json!({ "code": "argumentNotUnique", "name": name });
                self.report(message, argument.at, extensions);
            }
            self.inside(name, |this| match models.iter().find(|model| model.name == name) {
                Some(model) => this.argument(&argument.value, name, model, owner, argument.at),
                None => this.unknown_argument(name, owner, argument.at),
            });
        }
        let missing = models.iter().filter(|model| {
            model.is_required() && !given.iter().any(|given| model.name == given.name.as_str())
        });
        let missing: Vec<&str> = missing.map(|model| model.name.as_str()).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            let message = format!("{} is missing required arguments: {missing}", owner.words());
            let extensions = json!({
                "code": "missingRequiredArguments",
                "className": owner.kind,
                "name": owner.name,
                "arguments": missing,
            });
            self.report(message, at, extensions);
        }
    }

    pub(super) fn unknown_argument(&mut self, name: &str, owner: &Owner<'_>, at: Position) {
        let message = format!("{} doesn't accept argument '{name}'", owner.words());
        let extensions = json!({
            "code": "argumentNotAccepted",
            "name": owner.name,
            "typeName": owner.kind,
            "argumentName": name,
        });
        self.report(message, at, extensions);
    }

    /// An argument's value, or the value of a field of an input object.
    pub(super) fn argument(
        &mut self,
        value: &'a Literal,
        name: &str,
        model: &'a ArgumentModel,
        owner: &Owner<'_>,
        at: Position,
    ) {
        if self.parts(value, &model.kind, model.default.is_some(), name, at) {
            return;
        }
        let words = owner.words();
        let extensions = json!({
            "code": "argumentLiteralsIncompatible",
            "typeName": owner.kind,
            "argumentName": name,
        });
        let message = match self.rules.literal(&known(value), &model.kind, &Variables::new()) {
            Err(Some(reason)) => reason,
            _ => format!(
                "Argument '{name}' on {words} has an invalid value ({value}). Expected type '{}'.",
                model.kind
            ),
        };
        self.report(message, at, extensions);
    }

    /// Whether a value may stand where the type is wanted. What is wrong inside of input objects is reported at once;
    /// variables are noted, and looked at when all of the operation is known.
    pub(super) fn parts(
        &mut self,
        value: &'a Literal,
        kind: &Type,
        has_default: bool,
        name: &str,
        at: Position,
    ) -> bool {
        match (value, kind) {
            (Literal::Variable(variable), _) => {
                self.used.variables.push(VariableUse {
                    name: variable,
                    argument: name.to_owned(),
                    wanted: Some(kind.clone()),
                    has_default,
                    at,
                    path: self.path.clone(),
                });
                true
            }
            (Literal::Null, _) => !kind.is_non_null(),
            (_, Type::NonNull(inner)) => self.parts(value, inner, has_default, name, at),
            (Literal::List(elements), Type::List(inner)) => {
                elements.iter().all(|element| self.parts(element, inner, false, name, at))
            }
            (_, Type::List(inner)) => self.parts(value, inner, false, name, at),
            (_, Type::Named(type_name)) => self.named_parts(value, type_name, at),
        }
    }

    pub(super) fn named_parts(
        &mut self,
        value: &'a Literal,
        type_name: &str,
        at: Position,
    ) -> bool {
        let model = self.rules.model.find(type_name);
        match (model.map(|model| &model.kind), value) {
            (Some(TypeKind::Input(fields)), Literal::Object(given)) => {
                let owner = Owner { kind: "InputObject", name: type_name };
                let mut seen = BTreeSet::new();
                for (name, value) in given {
                    if !seen.insert(name) {
                        let message = format!("There can be only one input field named \"{name}\"");
                        let extensions = json!({ "code": "inputFieldNotUnique", "name": name });
                        self.report(message, at, extensions);
                    }
                    self.inside(name.as_str(), |this| {
                        match fields.iter().find(|field| field.name == name.as_str()) {
                            Some(field) => this.argument(value, name, field, &owner, at),
                            None => this.unknown_argument(name, &owner, at),
                        }
                    });
                }
                for field in fields.iter().filter(|field| field.is_required()) {
                    if !given.iter().any(|(name, _)| field.name == name.as_str()) {
                        self.required_field(field, type_name, at);
                    }
                }
                true
            }
            (Some(TypeKind::Input(_)), _) => false,
            (Some(TypeKind::Scalar), Literal::List(_) | Literal::Object(_)) => {
                let mut inside = Vec::new();
                value.each_variable(&mut |name| inside.push(name));
                let path = self.path.clone();
                self.used.variables.extend(inside.into_iter().map(|name| VariableUse {
                    name,
                    argument: String::new(),
                    wanted: None,
                    has_default: true,
                    at,
                    path: path.clone(),
                }));
                type_name == "JSON"
            }
            _ => {
                let kind = Type::Named(type_name.to_owned());
                self.rules.literal(value, &kind, &Variables::new()).is_ok()
            }
        }
    }

    pub(super) fn required_field(&mut self, field: &ArgumentModel, on: &str, at: Position) {
        let (name, kind) = (field.name.as_str(), &field.kind);
        let message =
            format!("Argument '{name}' on InputObject '{on}' is required. Expected type {kind}");
        let extensions = json!({
            "code": "missingRequiredInputObjectAttribute",
            "argumentName": name,
            "argumentType": kind.to_string(),
            "inputObjectType": on,
        });
        self.inside(name, |this| this.report(message, at, extensions));
    }
}

/// A literal without its variables, to find the reason why it is refused.
fn known(literal: &Literal) -> Literal {
    match literal {
        Literal::List(elements) => Literal::List(
            elements.iter().filter(|it| !matches!(it, Literal::Variable(_))).map(known).collect(),
        ),
        other => other.clone(),
    }
}

fn words_for(location: &str) -> &'static str {
    match location {
        "QUERY" => "queries",
        "MUTATION" => "mutations",
        "SUBSCRIPTION" => "subscriptions",
        "FIELD" => "fields",
        "FRAGMENT_DEFINITION" => "fragment definitions",
        "FRAGMENT_SPREAD" => "fragment spreads",
        "INLINE_FRAGMENT" => "inline fragments",
        _ => "schemas",
    }
}
