//! Mutations: the fields of one are executed one after the other, each with a context of its own, so that it sees what
//! the former ones changed.

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use crate::{
    arguments::Cost,
    execute::{self, SingleUseFields, TextRoom},
    model::MUTATION,
    plan::Plan,
    request::{Limits, Outcome, Response},
    schema::Form,
};

impl<C: Send + Sync + 'static> Form<C> {
    /// Executes a mutation. What decides over one of its fields as a request decides over all.
    pub(crate) async fn run_serially(
        &self,
        plan: Plan,
        cost: Cost,
        (context, room): (Arc<C>, TextRoom),
        limits: &Limits,
    ) -> Response {
        let (mut data, mut errors) = (Map::new(), Vec::new());
        let once = SingleUseFields::default();
        let end = tokio::time::Instant::now() + limits.time;
        for field in plan.fields {
            let single = Plan { fields: vec![field], narrower: Vec::new() };
            let context = self.engine.registered.renewed(&context);
            let request = execute::Request::new(context, cost, room.clone());
            let request = execute::Request { once: once.clone(), ..request };
            let time = end.saturating_duration_since(tokio::time::Instant::now());
            let answer = self.answer(MUTATION, &single, request, time).await;
            if answer.outcome != Outcome::Answered {
                return answer;
            }
            if let Some(refusal) = merge(answer.body, &mut data, &mut errors) {
                return Response { outcome: Outcome::Answered, body: refusal };
            }
        }
        let mut body = Map::from_iter([("data".to_owned(), Json::Object(data))]);
        if !errors.is_empty() {
            body.insert("errors".to_owned(), errors.into());
        }
        Response { outcome: Outcome::Answered, body: Json::Object(body) }
    }
}

/// Adds the answer of a field; gives back one that has no data to add.
fn merge(body: Json, data: &mut Map<String, Json>, errors: &mut Vec<Json>) -> Option<Json> {
    let Json::Object(mut body) = body else { return Some(body) };
    if let Some(Json::Array(more)) = body.remove("errors") {
        errors.extend(more);
    }
    match body.remove("data") {
        Some(Json::Object(fields)) => {
            data.extend(fields);
            None
        }
        Some(_) => Some(json!({ "data": null, "errors": errors })),
        None => Some(json!({ "errors": errors })),
    }
}
