//! A schema with its resolvers, and the way of a request through it.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use serde_json::{Map, Value as Json, json};
use tokio::time::timeout_at;

use super::versions::leave_out;
use crate::{
    answer::Answer,
    arguments::Cost,
    document::{Document, Operation, OperationKind, Selection},
    engine::{Engine, Resolvers},
    error::QueryError,
    execute::{self, TextRoom},
    failure::Failure,
    introspection::Introspection,
    model::{MUTATION, Model, QUERY, SUBSCRIPTION},
    parse::parse,
    plan::{Plan, plan},
    print::print,
    registry::Registry,
    request::{Limits, Mutations, Outcome, Request, Response},
    score::{TOO_MUCH_SCHEMA, exceeded},
    validate::validate,
    value::Value,
};

/// How many characters the queries of a request may have, all together.
const LONGEST: usize = 10_000;

/// How many characters the queries have whose documents are kept, all together.
const KEPT: u64 = 128 << 10;

/// What is said of a subscription where nothing can be sent later.
const NO_STREAM: &str = "Subscriptions are answered over WebSocket and as Server-Sent Events \
                         (`Accept: text/event-stream`)";

/// A schema with its resolvers.
pub struct Schema<C: Send + Sync + 'static> {
    whole: Form<C>,
    /// Without what is deprecated.
    current: Form<C>,
}

impl<C: Send + Sync + 'static> Registry<C> {
    /// The schema with its resolvers.
    ///
    /// # Errors
    /// With all that does not fit: fields without resolvers, resolvers without fields, types that nobody registered,
    /// and mistakes in the schema itself.
    pub fn build(self) -> Result<Schema<C>, Vec<String>> {
        Schema::of(self)
    }
}

/// One of the two forms of a schema.
pub(crate) struct Form<C: Send + Sync + 'static> {
    pub(crate) engine: Arc<Engine<C>>,
    introspection: Introspection<C>,
    /// Valid documents by their texts: clients send the same few again and again.
    documents: Cache<String, Arc<Document>>,
}

impl<C: Send + Sync + 'static> Form<C> {
    fn new(engine: Engine<C>) -> Self {
        let engine = Arc::new(engine);
        let length =
            |text: &String, _: &Arc<Document>| u32::try_from(text.len()).unwrap_or(u32::MAX);
        let documents = Cache::builder().max_capacity(KEPT).weigher(length).build();
        Self { introspection: Introspection::new(engine.clone()), engine, documents }
    }
}

/// A query that may be executed.
pub(crate) struct OperationPlan {
    pub(crate) kind: OperationKind,
    pub(crate) plan: Plan,
    pub(crate) score: u32,
    /// About how many values of the schema itself are asked for.
    pub(crate) introspection_score: u64,
}

/// Reasons for which a query is not executed.
pub(crate) enum Refusal {
    /// The whole request is turned down.
    Whole(Response),
    Errors(Vec<QueryError>),
    /// With its score.
    TooComplex(u32, QueryError),
    /// With the value that `data` has all the same.
    WithData(Json, Vec<QueryError>),
}

impl<C: Send + Sync + 'static> Schema<C> {
    pub(crate) fn of(mut registry: Registry<C>) -> Result<Self, Vec<String>> {
        let mut mistakes = std::mem::take(&mut registry.mistakes);
        let whole = Model::read(&registry.sdl, false)?;
        let current = Model::read(&registry.sdl, true)?;
        let registered = Arc::new(Resolvers::of(registry));
        let whole = Engine { model: whole, registered: registered.clone() };
        let current = Engine { model: current, registered };
        mistakes.extend(whole.mistakes());
        if whole.model.mutation.is_none() {
            mistakes.push(format!("there is no type {MUTATION}"));
        }
        if whole.model.subscription.is_none() {
            mistakes.push(format!("there is no type {SUBSCRIPTION}"));
        }
        match mistakes.is_empty() {
            true => Ok(Self { whole: Form::new(whole), current: Form::new(current) }),
            false => Err(mistakes),
        }
    }

    pub(crate) fn form(&self, limits: &Limits) -> &Form<C> {
        if limits.without_deprecated { &self.current } else { &self.whole }
    }

    /// Answers a query.
    pub async fn execute(&self, request: Request, context: Arc<C>, limits: Limits) -> Response {
        if let Err(refusal) = ensure_short(std::slice::from_ref(&request)) {
            return refusal;
        }
        let form = self.form(&limits);
        match form.prepare(&request, &limits) {
            Ok(prepared) => form.run(prepared, (context, TextRoom::of_request()), &limits).await,
            Err(refusal) => refusal.into(),
        }
    }

    /// Answers queries in their order, in a list. What decides over one of them as a request decides over all.
    pub async fn execute_batch(
        &self,
        requests: Vec<Request>,
        context: Arc<C>,
        limits: Limits,
    ) -> Response {
        if let Err(refusal) = ensure_short(&requests) {
            return refusal;
        }
        let form = self.form(&limits);
        let prepared: Vec<_> =
            requests.iter().map(|request| form.prepare(request, &limits)).collect();
        let scores = prepared.iter().map(|prepared| match prepared {
            Ok(prepared) => prepared.score,
            Err(Refusal::TooComplex(score, _)) => *score,
            Err(_) => 0,
        });
        let too_much = exceeded(scores.fold(0, u32::saturating_add), limits.complexity);
        let of_schema = prepared.iter().flatten().map(|prepared| prepared.introspection_score);
        let of_schema = of_schema.fold(0, u64::saturating_add);
        let is_schema_too_much = form.engine.is_too_much_schema(of_schema);
        let room = TextRoom::of_request();
        let mut answers = Vec::with_capacity(prepared.len());
        let mut context = context;
        for prepared in prepared {
            let is_change = matches!(&prepared, Ok(it) if it.kind == OperationKind::Mutation);
            let answer = match (prepared, &too_much) {
                (Ok(_), Some(refusal)) => {
                    Response::from(Refusal::Errors(vec![QueryError::new(refusal.as_str())]))
                }
                (Ok(prepared), None) if prepared.introspection_score > 0 && is_schema_too_much => {
                    Refusal::Errors(vec![QueryError::new(TOO_MUCH_SCHEMA)]).into()
                }
                (Ok(prepared), None) => {
                    form.run(prepared, (context.clone(), room.clone()), &limits).await
                }
                (Err(refusal), _) => refusal.into(),
            };
            if answer.outcome != Outcome::Answered {
                return answer;
            }
            answers.push(answer.body);
            if is_change {
                // What was read before the change is not what the next query asks for.
                context = form.engine.registered.renewed(&context);
            }
        }
        Response { outcome: Outcome::Answered, body: answers.into() }
    }

    /// The whole schema in the schema definition language.
    pub fn sdl(&self) -> String {
        print(&self.whole.engine.model)
    }

    /// The answer to the query that tools ask for the schema.
    pub fn introspection(&self) -> Json {
        self.whole.introspection.whole()
    }

    /// The fields of what does not exist here, as `Type.field`.
    pub fn unsupported(&self) -> Vec<String> {
        self.whole.engine.unsupported()
    }
}

pub(crate) fn ensure_short(requests: &[Request]) -> Result<(), Response> {
    let length: usize = requests.iter().map(|request| request.query.chars().count()).sum();
    match length > LONGEST {
        true => Err(Response::refusal(Outcome::Unprocessable, "Query too large")),
        false => Ok(()),
    }
}

impl<C: Send + Sync + 'static> Form<C> {
    pub(crate) fn prepare(
        &self,
        request: &Request,
        limits: &Limits,
    ) -> Result<OperationPlan, Refusal> {
        let document = self.document(&request.query)?;
        let rules = self.engine.rules();
        let operation = chosen(&document, request.operation_name.as_deref())?;
        if operation.kind == OperationKind::Mutation {
            ensure_may_change(operation, &limits.mutations)?;
        }
        let variables = rules
            .variables(operation, &request.variables, &request.uploads)
            .map_err(Refusal::Errors)?;
        let root = match operation.kind {
            OperationKind::Mutation => MUTATION,
            OperationKind::Subscription => SUBSCRIPTION,
            OperationKind::Query => QUERY,
        };
        let Some(root) = self.engine.model.find(root) else {
            return Err(Refusal::Errors(vec![QueryError::new("Schema is not configured")]));
        };
        let plan = plan(rules, &document, &operation.selections, root, &variables)
            .map_err(|error| Refusal::Errors(vec![error]))?;
        let score = self.engine.score(&plan);
        let introspection_score = self.engine.introspection_score(&plan);
        match self.engine.refusal(&plan, (score, introspection_score), limits) {
            Some(refusal) => Err(Refusal::TooComplex(score, QueryError::new(refusal))),
            None => Ok(OperationPlan { kind: operation.kind, plan, score, introspection_score }),
        }
    }

    /// The document of a query, which is valid.
    fn document(&self, query: &str) -> Result<Arc<Document>, Refusal> {
        if let Some(known) = self.documents.get(query) {
            return Ok(known);
        }
        let mut document = parse(query).map_err(|error| Refusal::Errors(vec![error]))?;
        let version = &self.engine.registered.version;
        for operation in &mut document.operations {
            leave_out(&mut operation.selections, version);
            operation.rename_types(&self.engine.registered.other_names);
        }
        for fragment in &mut document.fragments {
            leave_out(&mut fragment.selections, version);
        }
        let errors = validate(self.engine.rules(), &document);
        if !errors.is_empty() {
            return Err(Refusal::Errors(errors));
        }
        let document = Arc::new(document);
        self.documents.insert(query.to_owned(), document.clone());
        Ok(document)
    }

    pub(crate) async fn run(
        &self,
        prepared: OperationPlan,
        (context, room): (Arc<C>, TextRoom),
        limits: &Limits,
    ) -> Response {
        let OperationPlan { kind, plan, score, .. } = prepared;
        if kind == OperationKind::Subscription {
            return Refusal::Errors(vec![QueryError::new(NO_STREAM)]).into();
        }
        if plan.fields.is_empty() {
            return Response { outcome: Outcome::Answered, body: json!({ "data": {} }) };
        }
        let cost = Cost { score, limit: limits.complexity };
        if kind == OperationKind::Mutation {
            return self.run_serially(plan, cost, (context, room), limits).await;
        }
        let request = execute::Request::new(context, cost, room);
        self.answer(QUERY, &plan, request, limits.time).await
    }

    /// The answer to an event, of which the field of a subscription got its value.
    pub(crate) async fn answer_event(
        &self,
        prepared: &OperationPlan,
        value: Result<Value, Failure>,
        context: Arc<C>,
        limits: &Limits,
    ) -> Response {
        let cost = Cost { score: prepared.score, limit: limits.complexity };
        let request = execute::Request::new(context, cost, TextRoom::of_event());
        let request = execute::Request { event_value: Some(value), ..request };
        self.answer(SUBSCRIPTION, &prepared.plan, request, limits.time).await
    }

    /// Executes the plan of a root.
    pub(crate) async fn answer(
        &self,
        root: &'static str,
        plan: &Plan,
        request: execute::Request<C>,
        time: Duration,
    ) -> Response {
        let about_schema: Vec<_> =
            plan.fields.iter().filter(|field| field.is_introspection()).collect();
        let end = tokio::time::Instant::now() + time;
        let told = match about_schema.is_empty() {
            true => None,
            false => match timeout_at(end, self.introspection.answer(&about_schema)).await {
                Ok(Ok(told)) => Some(told),
                Ok(Err(error)) => return Refusal::Errors(vec![error]).into(),
                Err(_elapsed) => return failed(Outcome::TimedOut),
            },
        };
        let work = Box::pin(execute::execute(&self.engine, root, plan, request));
        let Ok(Answer { mut data, mut errors, outcome }) = timeout_at(end, work).await else {
            return failed(Outcome::TimedOut);
        };
        if let Some(outcome) = outcome {
            return failed(outcome);
        }
        if let (Some(Json::Object(told)), Json::Object(data)) = (told, &mut data) {
            data.extend(told);
        }
        errors.sort_by(|one, other| one.place().cmp(&other.place()));
        let mut body = Map::from_iter([("data".to_owned(), data)]);
        if !errors.is_empty() {
            body.insert("errors".to_owned(), errors.iter().map(QueryError::to_json).collect());
        }
        Response { outcome: Outcome::Answered, body: Json::Object(body) }
    }
}

fn failed(outcome: Outcome) -> Response {
    let failure = match outcome {
        Outcome::TooManyRequests => Failure::TooManyRequests,
        Outcome::TimedOut => Failure::Timeout,
        _ => Failure::internal("the request failed"),
    };
    Response::refusal(outcome, &failure.to_string())
}

/// The operation that is to be executed.
fn chosen<'a>(document: &'a Document, name: Option<&str>) -> Result<&'a Operation, Refusal> {
    let refused = |text: String| Refusal::Errors(vec![QueryError::new(text)]);
    match (name.filter(|name| !name.is_empty()), document.operations.as_slice()) {
        (None, [only]) => Ok(only),
        (None, []) => Err(refused("No query string was present".to_owned())),
        (None, _) => Err(refused("An operation name is required".to_owned())),
        (Some(name), operations) => operations
            .iter()
            .find(|operation| operation.name.as_deref() == Some(name))
            .ok_or_else(|| refused(format!("No operation named \"{name}\""))),
    }
}

fn ensure_may_change(operation: &Operation, mutations: &Mutations) -> Result<(), Refusal> {
    match mutations {
        Mutations::Allowed => Ok(()),
        Mutations::ForbiddenByMethod => Err(Refusal::Whole(Response::refusal(
            Outcome::Unprocessable,
            "Mutations are forbidden in GET requests",
        ))),
        Mutations::ForbiddenByScope | Mutations::Refused(_) => {
            let text = match mutations {
                Mutations::Refused(text) => text.clone(),
                _ => Failure::NotFoundOrForbidden.to_string(),
            };
            let (mut data, mut errors) = (Map::new(), Vec::new());
            for selection in &operation.selections {
                if let Selection::Field(field) = selection {
                    data.insert(field.key().to_owned(), Json::Null);
                    errors.push(QueryError {
                        path: Some(vec![field.key().into()]),
                        ..QueryError::at(text.as_str(), field.at)
                    });
                }
            }
            if errors.is_empty() {
                errors.push(QueryError::new(text));
            }
            Err(Refusal::WithData(Json::Object(data), errors))
        }
    }
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        let told =
            |errors: Vec<QueryError>| -> Json { errors.iter().map(QueryError::to_json).collect() };
        let body = match refusal {
            Refusal::Whole(response) => return response,
            Refusal::Errors(errors) => json!({ "errors": told(errors) }),
            Refusal::TooComplex(_, error) => json!({ "errors": told(vec![error]) }),
            Refusal::WithData(data, errors) => json!({ "data": data, "errors": told(errors) }),
        };
        Self { outcome: Outcome::Answered, body }
    }
}
