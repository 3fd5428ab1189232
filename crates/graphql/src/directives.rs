//! The schema's own directives in answers to introspection: juniper tells of those of the language alone.

use serde_json::{Map, Value as Json, json};

use crate::{
    document::{Literal, Type},
    model::{ArgumentModel, DirectiveModel, Model, TypeKind},
    plan::{Plan, PlannedField},
};

/// The directives that juniper tells of.
const OF_THE_LANGUAGE: [&str; 5] = ["deprecated", "include", "oneOf", "skip", "specifiedBy"];

/// Adds the directives to the data of an answer, with what its plan selects of them.
pub(crate) fn add_selected(model: &Model, fields: &[&PlannedField], data: &mut Json) {
    for schema in fields.iter().filter(|field| field.name == "__schema") {
        for field in schema.below.fields.iter().filter(|field| field.name == "directives") {
            let list = data.get_mut(&schema.key).and_then(|schema| schema.get_mut(&field.key));
            if let Some(Json::Array(list)) = list {
                list.extend(
                    directives(model).map(|directive| selection_of(&directive, &field.below)),
                );
            }
        }
    }
}

/// Adds the directives to the data of the query that tools ask, in the form of those that are there.
pub(crate) fn add_all(model: &Model, data: &mut Json) {
    let Some(Json::Array(list)) = data.pointer_mut("/__schema/directives") else { return };
    let example = list.iter().find(|directive| directive["name"] == "deprecated").cloned();
    if let Some(example) = example {
        list.extend(directives(model).map(|directive| in_form_of(&directive, &example)));
    }
}

fn directives(model: &Model) -> impl Iterator<Item = Json> {
    let own = model.directives.iter();
    let own = own.filter(|directive| !OF_THE_LANGUAGE.contains(&directive.name.as_str()));
    own.map(|directive| directive_json(model, directive))
}

/// All that can be asked of a directive.
fn directive_json(model: &Model, directive: &DirectiveModel) -> Json {
    let arguments = directive.arguments.iter().map(|argument| argument_json(model, argument));
    let stands_on = |places: &[&str]| {
        directive.locations.iter().any(|location| places.contains(&location.as_str()))
    };
    json!({
        "name": directive.name.as_str(),
        "description": directive.description.as_deref(),
        "isRepeatable": false,
        "locations": directive.locations,
        "args": arguments.collect::<Vec<_>>(),
        // How tools asked for the locations once.
        "onOperation": stands_on(&["QUERY", "MUTATION", "SUBSCRIPTION"]),
        "onFragment": stands_on(&["FRAGMENT_DEFINITION", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"]),
        "onField": stands_on(&["FIELD"]),
    })
}

fn argument_json(model: &Model, argument: &ArgumentModel) -> Json {
    json!({
        "name": argument.name.as_str(),
        "description": argument.description.as_deref(),
        "type": type_json(model, &argument.kind),
        "defaultValue": argument.default.as_ref().map(Literal::to_string),
        "isDeprecated": argument.deprecated.is_some(),
        "deprecationReason": argument.deprecated.as_deref(),
    })
}

fn type_json(model: &Model, kind: &Type) -> Json {
    let (word, name, inner) = match kind {
        Type::NonNull(inner) => ("NON_NULL", None, Some(inner)),
        Type::List(inner) => ("LIST", None, Some(inner)),
        Type::Named(name) => match model.find(name).map(|found| &found.kind) {
            Some(TypeKind::Enum(_)) => ("ENUM", Some(name), None),
            Some(TypeKind::Input(_)) => ("INPUT_OBJECT", Some(name), None),
            _ => ("SCALAR", Some(name), None),
        },
    };
    let inner = inner.map(|inner| type_json(model, inner));
    json!({ "kind": word, "name": name, "ofType": inner })
}

/// What a plan selects.
fn selection_of(whole: &Json, plan: &Plan) -> Json {
    match whole {
        Json::Array(elements) => {
            elements.iter().map(|element| selection_of(element, plan)).collect()
        }
        Json::Object(fields) => {
            let chosen = plan.fields.iter().map(|field| {
                let value = match field.name.as_str() {
                    "__typename" => field.on.as_str().into(),
                    name => fields
                        .get(name)
                        .map_or(Json::Null, |value| selection_of(value, &field.below)),
                };
                (field.key.clone(), value)
            });
            Json::Object(Map::from_iter(chosen))
        }
        leaf => leaf.clone(),
    }
}

/// What an example has, too.
fn in_form_of(whole: &Json, example: &Json) -> Json {
    match (whole, example) {
        (Json::Array(elements), Json::Array(examples)) => match examples.first() {
            Some(example) => elements.iter().map(|element| in_form_of(element, example)).collect(),
            None => whole.clone(),
        },
        (Json::Object(fields), Json::Object(examples)) => {
            let chosen = examples.iter().map(|(name, example)| {
                (
                    name.clone(),
                    fields.get(name).map_or(Json::Null, |value| in_form_of(value, example)),
                )
            });
            Json::Object(Map::from_iter(chosen))
        }
        _ => whole.clone(),
    }
}
