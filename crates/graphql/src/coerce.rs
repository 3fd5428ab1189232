//! Values that come in, brought into the forms that the schema demands.

mod scalar;

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value as Json, json};

use self::scalar::JsonValue;
use crate::{
    document::{Literal, Operation, Type, VariableDefinition},
    error::QueryError,
    input::{Input, Upload},
    model::{ArgumentModel, Model, TypeKind},
};

/// The classes of records whose ids scalars take: `IssueID` those of `Issue`.
pub(crate) type IdClasses = HashMap<&'static str, &'static [&'static str]>;

/// The types that values are checked against.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) model: &'a Model,
    pub(crate) ids: &'a IdClasses,
}

/// The values of variables, by their names. What was not given is absent.
pub(crate) type Variables = HashMap<String, Input>;

/// A problem with a part of a variable's value.
struct Problem {
    path: Vec<Json>,
    explanation: String,
}

/// Values deeper than any input type are taken apart no further.
const DEEPEST: usize = 100;

impl Rules<'_> {
    /// The values of an operation's variables.
    ///
    /// # Errors
    /// With what is wrong with each.
    pub(crate) fn variables(
        self,
        operation: &Operation,
        given: &Json,
        uploads: &HashMap<String, Arc<Upload>>,
    ) -> Result<Variables, Vec<QueryError>> {
        let (mut values, mut errors) = (Variables::new(), Vec::new());
        for definition in &operation.variables {
            let path = definition.name.clone();
            let json = given.get(&definition.name);
            let json = match json {
                None if uploads.contains_key(&path) => Some(&Json::Null),
                other => other,
            };
            let mut problems = Vec::new();
            let value = match (json, &definition.default) {
                (None, Some(default)) => self.literal(default, &definition.kind, &Variables::new()),
                (None, None) if definition.kind.is_non_null() => {
                    problems.push(expected_not_null(Vec::new()));
                    Err(None)
                }
                (None, None) => continue,
                (Some(json), _) => {
                    let place = Site { path: Vec::new(), upload: path, uploads };
                    Ok(self.json(json, &definition.kind, &place, &mut problems))
                }
            };
            match value {
                Ok(value) if problems.is_empty() => {
                    values.insert(definition.name.clone(), value);
                }
                _ => errors.push(invalid_variable(definition, json, &problems)),
            }
        }
        if errors.is_empty() { Ok(values) } else { Err(errors) }
    }

    fn json(
        self,
        json: &Json,
        kind: &Type,
        place: &Site<'_>,
        problems: &mut Vec<Problem>,
    ) -> Input {
        if let Some(upload) = place.uploads.get(&place.upload).filter(|_| json.is_null())
            && kind.name() == "Upload"
        {
            return Input::Upload(upload.clone());
        }
        match kind {
            Type::NonNull(_) if json.is_null() => {
                problems.push(expected_not_null(place.path.clone()));
                Input::Null
            }
            Type::NonNull(inner) => self.json(json, inner, place, problems),
            _ if json.is_null() => Input::Null,
            Type::List(inner) => match json {
                Json::Array(elements) => {
                    let elements = elements.iter().enumerate();
                    let coerced = elements.map(|(number, element)| {
                        self.json(
                            element,
                            inner,
                            &place.below(&number.to_string(), number.into()),
                            problems,
                        )
                    });
                    Input::List(coerced.collect())
                }
                // One value stands for a list of it.
                single => Input::List(vec![self.json(single, inner, place, problems)]),
            },
            Type::Named(name) => self.named_json(json, name, place, problems),
        }
    }

    fn named_json(
        self,
        json: &Json,
        name: &str,
        place: &Site<'_>,
        problems: &mut Vec<Problem>,
    ) -> Input {
        let mut problem = |explanation: String| {
            problems.push(Problem { path: place.path.clone(), explanation });
            Input::Null
        };
        match self.model.find(name).map(|found| &found.kind) {
            Some(TypeKind::Scalar) => match self.scalar(name, &JsonValue::of_json(json)) {
                Ok(value) => value,
                Err(Some(reason)) => problem(reason),
                Err(None) => problem(format!("Could not coerce value {json} to {name}")),
            },
            Some(TypeKind::Enum(values)) => match json.as_str() {
                Some(text) if values.iter().any(|value| value.name == text) => {
                    Input::Text(text.to_owned())
                }
                _ => {
                    let names: Vec<_> = values.iter().map(|value| value.name.as_str()).collect();
                    problem(format!("Expected {json} to be one of: {}", names.join(", ")))
                }
            },
            Some(TypeKind::Input(fields)) => match json {
                Json::Object(given) if place.path.len() < DEEPEST => {
                    for key in given.keys() {
                        if !fields.iter().any(|field| field.name == key.as_str()) {
                            let path = place.below(key, key.as_str().into()).path;
                            let explanation = format!("Field is not defined on {name}");
                            problems.push(Problem { path, explanation });
                        }
                    }
                    let mut values = Vec::new();
                    for field in fields {
                        let below = place.below(&field.name, field.name.as_str().into());
                        match given.get(field.name.as_str()) {
                            Some(json) => {
                                let value = self.json(json, &field.kind, &below, problems);
                                values.push((field.name.to_string(), value));
                            }
                            None if field.is_required() => {
                                problems.push(expected_not_null(below.path));
                            }
                            None => values.extend(self.default(field)),
                        }
                    }
                    Input::Object(Arc::new(values))
                }
                other => problem(format!("Expected {other} to be a key-value object.")),
            },
            _ => problem(format!("{name} is no type for variables")),
        }
    }

    /// The value of an argument that was not given, where the schema has one.
    fn default(self, argument: &ArgumentModel) -> Option<(String, Input)> {
        let default = argument.default.as_ref()?;
        let value = self.literal(default, &argument.kind, &Variables::new()).ok()?;
        Some((argument.name.to_string(), value))
    }

    /// The values of arguments, or of an input object's fields, in the schema's order, with defaults.
    pub(crate) fn arguments(
        self,
        models: &[ArgumentModel],
        given: &[(&str, &Literal)],
        variables: &Variables,
    ) -> Result<Vec<(String, Input)>, Option<String>> {
        let mut values = Vec::new();
        for model in models {
            let literal = given.iter().find(|(name, _)| model.name == *name);
            let absent = match literal {
                Some((_, Literal::Variable(name))) => !variables.contains_key(name),
                Some(_) => false,
                None => true,
            };
            match literal {
                Some((_, literal)) if !absent => {
                    let value = self.literal(literal, &model.kind, variables)?;
                    values.push((model.name.to_string(), value));
                }
                _ => values.extend(self.default(model)),
            }
        }
        Ok(values)
    }

    /// The value of a literal of a type. Variables that have no value are null.
    ///
    /// # Errors
    /// Where it is none of that type, with the reason of the scalar that refuses it, if it gave one.
    pub(crate) fn literal(
        self,
        literal: &Literal,
        kind: &Type,
        variables: &Variables,
    ) -> Result<Input, Option<String>> {
        match (kind, literal) {
            (Type::NonNull(_), Literal::Null) => Err(None),
            (Type::NonNull(inner), _) => match self.literal(literal, inner, variables)? {
                Input::Null => Err(None),
                value => Ok(value),
            },
            (_, Literal::Null) => Ok(Input::Null),
            (_, Literal::Variable(name)) => {
                let value = variables.get(name).cloned().unwrap_or(Input::Null);
                Ok(as_wide_as(value, kind))
            }
            (Type::List(inner), Literal::List(elements)) => {
                let elements = elements.iter();
                let coerced = elements.map(|element| self.literal(element, inner, variables));
                coerced.collect::<Result<_, _>>().map(Input::List)
            }
            (Type::List(inner), single) => {
                Ok(Input::List(vec![self.literal(single, inner, variables)?]))
            }
            (Type::Named(name), literal) => self.named_literal(literal, name, variables),
        }
    }

    fn named_literal(
        self,
        literal: &Literal,
        name: &str,
        variables: &Variables,
    ) -> Result<Input, Option<String>> {
        match (self.model.find(name).map(|found| &found.kind), literal) {
            (Some(TypeKind::Scalar), literal) => {
                self.scalar(name, &JsonValue::of_literal(literal, variables))
            }
            (Some(TypeKind::Enum(values)), Literal::Enum(text)) => {
                match values.iter().any(|value| value.name == text.as_str()) {
                    true => Ok(Input::Text(text.clone())),
                    false => Err(None),
                }
            }
            (Some(TypeKind::Input(fields)), Literal::Object(given)) => {
                let named = |name: &str| fields.iter().any(|field| field.name == name);
                let given: Vec<_> =
                    given.iter().map(|(name, value)| (name.as_str(), value)).collect();
                let values = self.arguments(fields, &given, variables)?;
                let lacks = |field: &ArgumentModel| {
                    field.is_required()
                        && !values.iter().any(|(name, _)| field.name == name.as_str())
                };
                match given.iter().all(|(name, _)| named(name)) && !fields.iter().any(lacks) {
                    true => Ok(Input::Object(Arc::new(values))),
                    false => Err(None),
                }
            }
            _ => Err(None),
        }
    }
}

/// A variable's value where a list is wanted, and it is none.
fn as_wide_as(value: Input, kind: &Type) -> Input {
    match (kind, value) {
        (_, Input::Null) => Input::Null,
        (Type::List(_), Input::List(elements)) => Input::List(elements),
        (Type::List(inner), single) => Input::List(vec![as_wide_as(single, inner.nullable())]),
        (_, value) => value,
    }
}

/// A position in a variable's value.
struct Site<'a> {
    path: Vec<Json>,
    /// The same, as the multipart form writes it.
    upload: String,
    uploads: &'a HashMap<String, Arc<Upload>>,
}

impl Site<'_> {
    fn below(&self, name: &str, step: Json) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        let upload = match self.uploads.is_empty() {
            true => String::new(),
            false => format!("{}.{name}", self.upload),
        };
        Self { path, upload, uploads: self.uploads }
    }
}

fn expected_not_null(path: Vec<Json>) -> Problem {
    Problem { path, explanation: "Expected value to not be null".to_owned() }
}

fn invalid_variable(
    definition: &VariableDefinition,
    given: Option<&Json>,
    problems: &[Problem],
) -> QueryError {
    let VariableDefinition { name, kind, at, .. } = definition;
    let mut message = format!("Variable ${name} of type {kind} was provided invalid value");
    let inner: Vec<String> = (problems.iter())
        .filter(|problem| !problem.path.is_empty())
        .map(|problem| {
            let steps = problem.path.iter();
            let steps: Vec<_> =
                steps.map(|step| step.as_str().map_or(step.to_string(), str::to_owned)).collect();
            format!("{} ({})", steps.join("."), problem.explanation)
        })
        .collect();
    if !inner.is_empty() {
        message.push_str(" for ");
        message.push_str(&inner.join(", "));
    }
    let problems: Vec<Json> = (problems.iter())
        .map(|problem| json!({ "path": problem.path, "explanation": problem.explanation }))
        .collect();
    QueryError {
        extensions: Some(json!({ "value": given, "problems": problems })),
        ..QueryError::at(message, *at)
    }
}
