//! The execution plan: the merged selections of an operation, without fragments and directives.

use std::{
    cell::LazyCell,
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use indexmap::IndexMap;
use juniper::ArcStr;
use serde_json::json;

use crate::{
    coerce::{Rules, Variables},
    document::{Directive, Document, Field, Fragment, Literal, Position, Selection, Type},
    error::QueryError,
    input::Input,
    model::{FieldModel, Model, TypeModel},
    selection::Selection as Names,
};

/// The fields to resolve of an object.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) fields: Vec<PlannedField>,
    /// What objects of a narrower type have beside it.
    pub(crate) narrower: Vec<(ArcStr, Plan)>,
}

/// A field that is to be resolved once, with all that is selected below it.
#[derive(Debug)]
pub(crate) struct PlannedField {
    /// The name that it has in the answer.
    pub(crate) key: String,
    pub(crate) name: ArcStr,
    /// The type that the field belongs to.
    pub(crate) on: ArcStr,
    pub(crate) kind: Type,
    pub(crate) at: Position,
    pub(crate) arguments: Arc<Vec<(String, Input)>>,
    /// The names of what is selected below it, for resolvers that look ahead.
    pub(crate) selection: Arc<Names>,
    pub(crate) below: Plan,
}

impl PlannedField {
    /// Whether the field asks for the schema itself.
    pub(crate) fn is_introspection(&self) -> bool {
        self.name.starts_with("__") && self.name != "__typename"
    }
}

/// More fields than any query has that is within the limits.
const MOST_FIELDS: usize = 10_000;

/// Deeper than any query is that is within the limits, fragments in fragments included.
const DEEPEST: usize = 60;

/// Makes the plan of an operation.
///
/// # Errors
/// For fields that would have the same name in the answer, and arguments that variables make wrong.
pub(crate) fn plan(
    rules: Rules<'_>,
    document: &Document,
    selections: &[Selection],
    root: &TypeModel,
    variables: &Variables,
) -> Result<Plan, QueryError> {
    let fragments = document.fragments.iter().map(|it| (it.name.as_str(), it)).collect();
    let mut planner = Planner { rules, fragments, variables, count: 0, depth: 0 };
    let plan = planner.plan(&[(selections, root)], root)?;
    ensure_one_shape(rules.model, &[&plan])?;
    Ok(plan)
}

/// Fields with the same name in the answer have values of the same form, also where objects of different types have
/// them: programs read them into one type.
fn ensure_one_shape(model: &Model, plans: &[&Plan]) -> Result<(), QueryError> {
    let mut fields: IndexMap<&str, Vec<&PlannedField>> = IndexMap::new();
    let mut rest: VecDeque<&Plan> = plans.iter().copied().collect();
    while let Some(plan) = rest.pop_front() {
        for field in &plan.fields {
            fields.entry(&field.key).or_default().push(field);
        }
        rest.extend(plan.narrower.iter().map(|(_, plan)| plan));
    }
    for (key, fields) in fields {
        let Some((first, others)) = fields.split_first() else { continue };
        if let Some(other) = others.iter().find(|it| !has_form_of(model, &it.kind, &first.kind)) {
            let (one, two) = (first.kind.to_string(), other.kind.to_string());
            return Err(conflict(key, &one, &two, first.at));
        }
        let below: Vec<&Plan> = fields.iter().map(|field| &field.below).collect();
        ensure_one_shape(model, &below)?;
    }
    Ok(())
}

fn has_form_of(model: &Model, one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::NonNull(one), Type::NonNull(other)) | (Type::List(one), Type::List(other)) => {
            has_form_of(model, one, other)
        }
        (Type::Named(one), Type::Named(other)) => {
            let is_composite = |name| model.find(name).is_some_and(TypeModel::is_composite);
            one == other || (is_composite(one) && is_composite(other))
        }
        _ => false,
    }
}

struct Planner<'a> {
    rules: Rules<'a>,
    fragments: HashMap<&'a str, &'a Fragment>,
    variables: &'a Variables,
    count: usize,
    depth: usize,
}

/// Fields with the same name in the answer.
struct Group<'a> {
    key: &'a str,
    fields: Vec<(&'a Field, &'a TypeModel)>,
}

/// The selections of one type.
#[derive(Default)]
#[expect(clippy::type_complexity, reason = "it is read in one place")]
struct FieldGroups<'a> {
    groups: Vec<Group<'a>>,
    /// The places of the groups, by their names in the answer.
    places: HashMap<&'a str, usize>,
    narrower: Vec<(&'a TypeModel, Vec<(&'a [Selection], &'a TypeModel)>)>,
}

impl<'a> FieldGroups<'a> {
    fn add(&mut self, field: &'a Field, on: &'a TypeModel) {
        let next = self.groups.len();
        let place = *self.places.entry(field.key()).or_insert(next);
        match self.groups.get_mut(place) {
            Some(group) => group.fields.push((field, on)),
            None => self.groups.push(Group { key: field.key(), fields: vec![(field, on)] }),
        }
    }
}

impl<'a> Planner<'a> {
    /// Goes one level deeper.
    fn enter(&mut self) -> Result<(), QueryError> {
        self.depth += 1;
        match self.depth > DEEPEST {
            true => Err(QueryError::new("Query too large")),
            false => Ok(()),
        }
    }

    fn plan(
        &mut self,
        selections: &[(&'a [Selection], &'a TypeModel)],
        on: &'a TypeModel,
    ) -> Result<Plan, QueryError> {
        self.enter()?;
        let mut collected = FieldGroups::default();
        for (selections, written_on) in selections {
            self.collect(selections, written_on, on, &mut collected)?;
        }
        let mut plan = Plan::default();
        for group in collected.groups {
            plan.fields.push(self.field(&group)?);
        }
        let places = collected.places;
        for (narrow, selections) in collected.narrower {
            let below = self.plan(&selections, narrow)?;
            for field in &below.fields {
                let same = places.get(field.key.as_str()).and_then(|place| plan.fields.get(*place));
                let differs = |known: &&PlannedField| {
                    known.name != field.name || known.arguments != field.arguments
                };
                if let Some(known) = same.filter(differs) {
                    return Err(conflict(&field.key, &known.name, &field.name, field.at));
                }
            }
            plan.narrower.push((narrow.name.clone(), below));
        }
        self.depth -= 1;
        Ok(plan)
    }

    /// Sorts selections into fields of the type itself, and those of narrower types. `written_on` is the type that the
    /// selections are written for, of which the objects are known to be, as they are of `on`.
    fn collect(
        &mut self,
        selections: &'a [Selection],
        written_on: &'a TypeModel,
        on: &'a TypeModel,
        collected: &mut FieldGroups<'a>,
    ) -> Result<(), QueryError> {
        for selection in selections {
            if !self.is_included(selection.directives()) {
                continue;
            }
            self.count += 1;
            if self.count > MOST_FIELDS {
                return Err(QueryError::new("Query too large"));
            }
            let (condition, selections) = match selection {
                Selection::Field(field) => {
                    // What is registered is found by the objects' type, where that is known.
                    let known = self.rules.model.field(on, &field.name);
                    let written_on = if known.is_some() { on } else { written_on };
                    collected.add(field, written_on);
                    continue;
                }
                Selection::Inline(inline) => {
                    (inline.condition.as_ref().map(|it| it.text.as_str()), &inline.selections)
                }
                Selection::Spread(spread) => {
                    let Some(fragment) = self.fragments.get(spread.name.as_str()) else { continue };
                    (Some(fragment.condition.text.as_str()), &fragment.selections)
                }
            };
            let model = self.rules.model;
            let to = condition.and_then(|name| model.find(name)).unwrap_or(written_on);
            if model.is_kind_of(on, to) {
                self.enter()?;
                self.collect(selections, to, on, collected)?;
                self.depth -= 1;
                continue;
            }
            match collected.narrower.iter_mut().find(|(known, _)| known.name == to.name) {
                Some((_, known)) => known.push((selections, to)),
                None => collected.narrower.push((to, vec![(selections, to)])),
            }
        }
        Ok(())
    }

    fn is_included(&self, directives: &[Directive]) -> bool {
        directives.iter().all(|directive| {
            let is_true = || match directive.arguments.first().map(|argument| &argument.value) {
                Some(Literal::Bool(flag)) => *flag,
                Some(Literal::Variable(name)) => {
                    matches!(self.variables.get(name), Some(Input::Bool(true)))
                }
                _ => false,
            };
            match directive.name.as_str() {
                "include" => is_true(),
                "skip" => !is_true(),
                _ => true,
            }
        })
    }

    fn field(&mut self, group: &Group<'a>) -> Result<PlannedField, QueryError> {
        let Some(&(first, on)) = group.fields.first() else {
            return Err(QueryError::new("Query too large"));
        };
        let model = self.model_of(first, on)?;
        let of_first = LazyCell::new(|| written_arguments(first));
        for (other, other_on) in group.fields.iter().skip(1) {
            // A fragment that is spread again.
            if std::ptr::eq(*other, first) {
                continue;
            }
            if other.name != first.name {
                return Err(conflict(group.key, &first.name, &other.name, first.at));
            }
            let (one, two) = (of_first.as_str(), written_arguments(other));
            if one != two {
                let key = group.key;
                let message = format!("Field '{key}' has an argument conflict: {one} or {two}?");
                let conflicts = format!("{one} or {two}");
                let code =
                    json!({ "code": "argumentConflict", "fieldName": key, "conflicts": conflicts });
                return Err(QueryError {
                    extensions: Some(code),
                    ..QueryError::at(message, first.at)
                });
            }
            if self.model_of(other, other_on)?.kind != model.kind {
                return Err(conflict(group.key, &first.name, &other.name, first.at));
            }
        }
        let given: Vec<_> =
            first.arguments.iter().map(|it| (it.name.as_str(), &it.value)).collect();
        let arguments = self.rules.arguments(&model.arguments, &given, self.variables);
        let arguments = arguments.map_err(|reason| {
            let message = reason.unwrap_or_else(|| {
                format!("Field '{}' has an argument with an invalid value", first.name)
            });
            QueryError::at(message, first.at)
        })?;
        let below = match self.rules.model.find(model.kind.name()) {
            Some(kind) if kind.is_composite() => {
                let selections: Vec<_> = (group.fields.iter())
                    .map(|(field, _)| (field.selections.as_slice(), kind))
                    .collect();
                self.plan(&selections, kind)?
            }
            _ => Plan::default(),
        };
        Ok(PlannedField {
            key: group.key.to_owned(),
            name: model.name.clone(),
            on: on.name.clone(),
            kind: model.kind.clone(),
            at: first.at,
            arguments: Arc::new(arguments),
            selection: Arc::new(below.names()),
            below,
        })
    }

    fn model_of(&self, field: &Field, on: &'a TypeModel) -> Result<&'a FieldModel, QueryError> {
        let found = self.rules.model.field(on, &field.name);
        found.ok_or_else(|| {
            QueryError::at(
                format!("Field '{}' doesn't exist on type '{}'", field.name, on.name),
                field.at,
            )
        })
    }
}

/// The arguments of a field as they are compared: whatever their order.
fn written_arguments(field: &Field) -> String {
    let mut given: Vec<_> =
        field.arguments.iter().map(|it| format!("{}:{}", it.name, it.value)).collect();
    given.sort();
    format!("{{{}}}", given.join(","))
}

fn conflict(key: &str, one: &str, two: &str, at: Position) -> QueryError {
    let conflicts = format!("{one} or {two}");
    let message = format!("Field '{key}' has a field conflict: {conflicts}?");
    QueryError {
        extensions: Some(json!({
            "code": "fieldConflict",
            "fieldName": key,
            "conflicts": conflicts,
        })),
        ..QueryError::at(message, at)
    }
}

impl Plan {
    fn names(&self) -> Names {
        let mut names = Names::default();
        self.add_names(&mut names);
        names
    }

    fn add_names(&self, names: &mut Names) {
        for field in &self.fields {
            names.fields.push((field.name.clone(), field.selection.clone()));
        }
        for (_, plan) in &self.narrower {
            plan.add_names(names);
        }
    }
}
