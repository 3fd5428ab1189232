//! The cost and depth of a query, and detection of fragment cycles.

use std::collections::HashMap;

use crate::{
    engine::Engine,
    input::Input,
    page::PAGE_LIMIT,
    plan::{Plan, PlannedField},
    registry::Resolver,
    request::Limits,
};

/// Fields that may be nested as often as depth allows.
const FREE: [&str; 4] = ["nodes", "edges", "node", "ofType"];
/// How often any other field may be nested in itself.
const NESTED: usize = 2;
/// How much more than each of its types a question about the schema may ask for; the one that all tools ask is at
/// about a third of it.
const INTROSPECTION_PER_TYPE: u64 = 3_000;

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
    pub(crate) fn refusal(&self, plan: &Plan, score: u32, limits: &Limits) -> Option<String> {
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
        let types = u64::try_from(self.model.types.len()).unwrap_or(u64::MAX);
        let asked = introspection(plan, types);
        (asked > types * INTROSPECTION_PER_TYPE)
            .then(|| "The query asks for too much of the schema".to_owned())
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

/// About how many values answer what is asked of the schema itself.
fn introspection(plan: &Plan, types: u64) -> u64 {
    let mut total = 0_u64;
    for field in
        plan.fields.iter().filter(|field| field.on.starts_with("__") || field.is_introspection())
    {
        let many = match field.name.as_str() {
            "types" => types,
            "fields" | "inputFields" | "enumValues" => 12,
            "args" | "directives" | "possibleTypes" => 4,
            _ => 1,
        };
        let below = introspection(&field.below, types).saturating_add(1);
        total = total.saturating_add(below.saturating_mul(many));
    }
    total
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
