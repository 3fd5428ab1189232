//! Subscriptions: queries of one field that are answered once for each event that concerns them.

use std::{any::Any, sync::Arc};

use serde_json::json;

use crate::{
    arguments::{Arguments, Cost},
    document::OperationKind,
    error::QueryError,
    execute::TextRoom,
    failure::Failure,
    plan::PlannedField,
    registry::{EventFilter, Record, Resolver, SubscriptionResolver},
    request::{Limits, Request, Response},
    schema::{Form, OperationPlan, Refusal, Schema, ensure_short},
};

/// The operation of a request.
pub enum Operation {
    /// It has one answer, and this is it.
    Answer(Response),
    /// It has an answer for each event that concerns it.
    Subscription(Box<Subscription>),
}

/// A subscription that somebody may have. It is answered by the schema that made it.
pub struct Subscription {
    prepared: OperationPlan,
    interest: EventFilter,
    limits: Limits,
}

impl Subscription {
    /// Whether an event concerns it.
    pub fn concerns(&self, event: &(dyn Any + Send + Sync)) -> bool {
        (self.interest)(event)
    }
}

impl<C: Send + Sync + 'static> Schema<C> {
    /// Answers a query or a mutation, and begins a subscription.
    pub async fn begin(&self, request: Request, context: Arc<C>, limits: Limits) -> Operation {
        if let Err(refusal) = ensure_short(std::slice::from_ref(&request)) {
            return Operation::Answer(refusal);
        }
        let form = self.form(&limits);
        let prepared = match form.prepare(&request, &limits) {
            Ok(prepared) if prepared.kind == OperationKind::Subscription => prepared,
            Ok(prepared) => {
                let place = (context, TextRoom::of_request());
                return Operation::Answer(form.run(prepared, place, &limits).await);
            }
            Err(refusal) => return Operation::Answer(refusal.into()),
        };
        match subscribe(form, &prepared, context.clone(), &limits).await {
            Ok(interest) => {
                let made = Subscription { prepared, interest, limits };
                Operation::Subscription(Box::new(made))
            }
            Err(NoSubscription::Refused(error)) => {
                Operation::Answer(Refusal::Errors(vec![error]).into())
            }
            Err(NoSubscription::Failed(failure)) => Operation::Answer(
                form.answer_event(&prepared, Err(failure), context, &limits).await,
            ),
        }
    }

    /// The answer to an event, for a caller as they stand now; nothing where they are told nothing of it.
    pub async fn answer_event(
        &self,
        subscription: &Subscription,
        event: Record,
        context: Arc<C>,
    ) -> Option<Response> {
        let Subscription { prepared, limits, .. } = subscription;
        let form = self.form(limits);
        let (field, resolver) = root_field(form, prepared)?;
        let arguments = arguments_of(field, prepared, limits);
        let value = (resolver.value)(event, arguments, context.clone()).await.transpose()?;
        Some(form.answer_event(prepared, value, context, limits).await)
    }
}

/// Reasons for which a subscription does not start.
enum NoSubscription {
    Refused(QueryError),
    Failed(Failure),
}

async fn subscribe<C: Send + Sync + 'static>(
    form: &Form<C>,
    prepared: &OperationPlan,
    context: Arc<C>,
    limits: &Limits,
) -> Result<EventFilter, NoSubscription> {
    let Some((field, resolver)) = root_field(form, prepared) else {
        let code = json!({ "code": "notSingleSubscription" });
        let error = QueryError::new("A subscription operation may only have one selection");
        return Err(NoSubscription::Refused(QueryError { extensions: Some(code), ..error }));
    };
    let arguments = arguments_of(field, prepared, limits);
    (resolver.subscribe)(arguments, context).await.map_err(NoSubscription::Failed)
}

/// The one field of a subscription.
fn root_field<'f, C: Send + Sync + 'static>(
    form: &'f Form<C>,
    prepared: &'f OperationPlan,
) -> Option<(&'f PlannedField, &'f SubscriptionResolver<C>)> {
    let [field] = prepared.plan.fields.as_slice() else { return None };
    match form.engine.entry(&field.on, &field.name)?.resolver.as_ref()? {
        Resolver::Subscription(resolver) => Some((field, resolver)),
        _ => None,
    }
}

fn arguments_of(field: &PlannedField, prepared: &OperationPlan, limits: &Limits) -> Arguments {
    Arguments {
        values: field.arguments.clone(),
        selection: field.selection.clone(),
        cost: Cost { score: prepared.score, limit: limits.complexity },
    }
}
