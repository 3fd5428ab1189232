//! The cost and depth of a query, and detection of fragment cycles.

use std::collections::HashMap;

use crate::{
    engine::Engine,
    input::Input,
    model::{Model, TypeKind},
    page::PAGE_LIMIT,
    plan::{Plan, PlannedField},
    registry::Resolver,
    request::Limits,
};

/// Fields that may be nested as often as depth allows.
const FREE: [&str; 4] = ["nodes", "edges", "node", "ofType"];
/// How often any other field may be nested in itself.
const NESTED: usize = 2;
/// How many values a request may ask for of each type of the schema, on average; the question that all tools ask is at less
/// than half of it.
const INTROSPECTION_PER_TYPE: u64 = 1_500;
/// What is said of a request that asks for more.
pub(crate) const TOO_MUCH_SCHEMA: &str = "The query asks for too much of the schema";

impl<C> Engine<C> {
    /// The cost of a plan. The schema itself is asked for free.
    pub(crate) fn score(&self, plan: &Plan) -> u32 {
        let own = plan.fields.iter().map(|field| self.score_of(field)).fold(0, u32::saturating_add);
        let narrower = plan.narrower.iter().map(|(_, plan)| self.score(plan)).max();
        own.saturating_add(narrower.unwrap_or(0))
    }

    fn score_of(&self, field: &PlannedField) -> u32 {
        if field.is_introspection() {
            return 0;
        }
        let below = self.score(&field.below);
        let Some(entry) = self.entry(&field.on, &field.name) else {
            return below.saturating_add(1);
        };
        if let Some(cost) = entry.cost {
            return below.saturating_add(cost);
        }
        let mut score = below.saturating_add(1);
        if !matches!(entry.resolver, Some(Resolver::Lookup(_))) {
            return score;
        }
        let given = |name: &str| {
            field.arguments.iter().any(|(known, value)| known == name && *value != Input::Null)
        };
        for (argument, cost) in [("sort", 1), ("search", 5)] {
            score = score.saturating_add(if given(argument) { cost } else { 0 });
        }
        score = score.saturating_add(u32::from(entry.reads_git));
        let is_connection =
            self.model.find(field.kind.name()).is_some_and(super::model::TypeModel::is_connection);
        if !is_connection || given("iid") || given("iids") {
            return score;
        }
        let size = |name: &str| match field.arguments.iter().find(|(known, _)| known == name) {
            Some((_, Input::Int(size))) => u64::try_from(*size).ok(),
            _ => None,
        };
        let usual = u64::try_from(PAGE_LIMIT).unwrap_or(u64::MAX);
        let most = entry.page_limit.and_then(|most| u64::try_from(most).ok()).unwrap_or(usual);
        let size = size("first").or(size("last")).unwrap_or(usual).min(most);
        let score = u64::from(score);
        u32::try_from(score + score * size / 100).unwrap_or(u32::MAX)
    }

    /// What is said of a query that may not be asked, if anything.
    pub(crate) fn refusal(
        &self,
        plan: &Plan,
        (score, introspection_score): (u32, u64),
        limits: &Limits,
    ) -> Option<String> {
        let depth = depth(plan);
        if let Some(refusal) = exceeded(score, limits.complexity) {
            return Some(refusal);
        }
        if depth > limits.depth {
            let most = limits.depth;
            return Some(format!("Query has depth of {depth}, which exceeds max depth of {most}"));
        }
        if let Some((name, times)) = recursion(plan, &mut HashMap::new()) {
            return Some(format!(
                "Recursive query - too many of fields '{{\"{name}\"=>{times}}}' detected in branches"
            ));
        }
        self.is_too_much_schema(introspection_score).then(|| TOO_MUCH_SCHEMA.to_owned())
    }

    /// About how many values answer what a plan asks of the schema itself.
    pub(crate) fn introspection_score(&self, plan: &Plan) -> u64 {
        let asks = |plan: &Plan| plan.fields.iter().any(PlannedField::is_introspection);
        match asks(plan) || plan.narrower.iter().any(|(_, plan)| asks(plan)) {
            true => introspection(plan, &SchemaSize::of(&self.model), false),
            false => 0,
        }
    }

    /// Whether the queries of a request ask for more of the schema than is told at once.
    pub(crate) fn is_too_much_schema(&self, score: u64) -> bool {
        score > length(&self.model.types).saturating_mul(INTROSPECTION_PER_TYPE)
    }
}

fn length<T>(all: &indexmap::IndexMap<juniper::ArcStr, T>) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}

/// The number of types, and how many members one has.
struct SchemaSize {
    types: u64,
    /// Of a type on average, and of the type that has most.
    fields: (u64, u64),
    values: (u64, u64),
    inputs: (u64, u64),
    /// Of a field on average.
    arguments: u64,
}

impl SchemaSize {
    fn of(model: &Model) -> Self {
        let types = length(&model.types).max(1);
        let (mut fields, mut values, mut inputs, mut arguments) = ((0, 0), (0, 0), (0, 0), 0);
        let add = |sums: &mut (u64, u64), count: usize| {
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            *sums = (sums.0 + count, sums.1.max(count));
        };
        for kind in model.types.values().map(|one| &one.kind) {
            match kind {
                TypeKind::Object(members) | TypeKind::Interface(members) => {
                    add(&mut fields, members.fields.len());
                    let given = members.fields.values().map(|field| field.arguments.len());
                    arguments += u64::try_from(given.sum::<usize>()).unwrap_or(u64::MAX);
                }
                TypeKind::Enum(members) => add(&mut values, members.len()),
                TypeKind::Input(members) => add(&mut inputs, members.len()),
                TypeKind::Scalar | TypeKind::Union => {}
            }
        }
        let arguments = arguments.div_ceil(fields.0.max(1));
        let average = |(sum, most): (u64, u64)| (sum.div_ceil(types), most);
        let (fields, values, inputs) = (average(fields), average(values), average(inputs));
        Self { types, fields, values, inputs, arguments }
    }

    /// How many values a field of the schema has. Of each type in turn that is the average, of a named one it may be most.
    fn values_of(&self, field: &str, of_each_type: bool) -> u64 {
        let of = |(average, most): (u64, u64)| if of_each_type { average } else { most };
        match field {
            "types" => self.types,
            "fields" => of(self.fields),
            "enumValues" => of(self.values),
            "inputFields" => of(self.inputs),
            "args" => self.arguments,
            "directives" => 8,
            "possibleTypes" => 2,
            _ => 1,
        }
    }
}

/// What is said of a score that is too high.
pub(crate) fn exceeded(score: u32, most: u32) -> Option<String> {
    (score > most)
        .then(|| format!("Query has complexity of {score}, which exceeds max complexity of {most}"))
}

fn depth(plan: &Plan) -> usize {
    let own = plan.fields.iter().filter(|field| !field.is_introspection());
    let own = own.map(|field| depth(&field.below) + 1);
    own.chain(plan.narrower.iter().map(|(_, plan)| depth(plan))).max().unwrap_or(0)
}

/// A field that is nested in itself too often, with how often.
fn recursion<'a>(plan: &'a Plan, above: &mut HashMap<&'a str, usize>) -> Option<(&'a str, usize)> {
    for field in &plan.fields {
        let name = field.name.as_str();
        let has_selection = !field.below.fields.is_empty() || !field.below.narrower.is_empty();
        if !has_selection || FREE.contains(&name) {
            if let Some(found) = recursion(&field.below, above) {
                return Some(found);
            }
            continue;
        }
        let times = above.entry(name).or_insert(0);
        *times += 1;
        let found = match *times > NESTED {
            true => Some((name, *times)),
            false => recursion(&field.below, above),
        };
        if let Some(times) = above.get_mut(name) {
            *times -= 1;
        }
        if found.is_some() {
            return found;
        }
    }
    plan.narrower.iter().find_map(|(_, plan)| recursion(plan, above))
}

fn introspection(plan: &Plan, size: &SchemaSize, of_each_type: bool) -> u64 {
    let mut total = 0_u64;
    for field in
        plan.fields.iter().filter(|field| field.on.starts_with("__") || field.is_introspection())
    {
        let name = field.name.as_str();
        let below = introspection(&field.below, size, name == "types").saturating_add(1);
        total = total.saturating_add(below.saturating_mul(size.values_of(name, of_each_type)));
    }
    let narrower = plan.narrower.iter().map(|(_, plan)| introspection(plan, size, of_each_type));
    narrower.fold(total, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::exceeded;

    #[test]
    fn a_score_that_is_too_high_is_told_with_its_limit() {
        assert_eq!(exceeded(250, 250), None);
        assert_eq!(
            exceeded(271, 250).as_deref(),
            Some("Query has complexity of 271, which exceeds max complexity of 250")
        );
    }
}
