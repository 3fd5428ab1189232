//! Execution of a plan: fields that follow from their records at once, and all others of a request together, so that
//! what is looked up for many objects can be read at once.

mod values;

use std::{
    borrow::Cow,
    collections::{HashSet, VecDeque},
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use futures_util::{
    StreamExt as _,
    future::{BoxFuture, FutureExt as _},
    stream::FuturesUnordered,
};
use juniper::ArcStr;

use self::values::{Start, leaf_json, nothing, of_connection, payload_object};
use crate::{
    answer::{Answer, Cells, Content, Entry, Step},
    arguments::{Arguments, Cost},
    connection::Connection,
    document::Type,
    engine::Engine,
    error::QueryError,
    failure::Failure,
    model::{MUTATION, TypeModel},
    plan::{Plan, PlannedField},
    registry::{Record, Resolver},
    request::Outcome,
    value::{self, Object, Value},
};

/// Fields that a request may use only once and has used.
pub(crate) type SingleUseFields = Arc<Mutex<HashSet<(ArcStr, String)>>>;

type ValueResult = Result<Value, Failure>;

/// The context in which fields are resolved.
pub(crate) struct Request<C> {
    pub(crate) context: Arc<C>,
    pub(crate) cost: Cost,
    pub(crate) once: SingleUseFields,
    /// The value of the field of a subscription, which follows from an event.
    pub(crate) event_value: Option<ValueResult>,
    pub(crate) room: TextRoom,
}

impl<C> Request<C> {
    pub(crate) fn new(context: Arc<C>, cost: Cost, room: TextRoom) -> Self {
        Self { context, cost, once: SingleUseFields::default(), event_value: None, room }
    }
}

/// How many bytes of texts the answers to a request may still have, all together. Aliases repeat a text of a megabyte as
/// often as the complexity of a query allows.
#[derive(Clone)]
pub(crate) struct TextRoom(Arc<AtomicUsize>);

impl TextRoom {
    const OF_REQUEST: usize = 32 << 20;
    /// Events are answered for many subscriptions at the same time, and wait for those who read slowly.
    const OF_EVENT: usize = 2 << 20;

    pub(crate) fn of_request() -> Self {
        Self(Arc::new(AtomicUsize::new(Self::OF_REQUEST)))
    }

    pub(crate) fn of_event() -> Self {
        Self(Arc::new(AtomicUsize::new(Self::OF_EVENT)))
    }

    /// Whether there was so much room, which is taken.
    fn take(&self, bytes: usize) -> bool {
        let rest = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).is_ok()
    }
}

/// Executes the plan of a root.
pub(crate) async fn execute<C: Send + Sync + 'static>(
    engine: &Engine<C>,
    root: &'static str,
    plan: &Plan,
    request: Request<C>,
) -> Answer {
    let mut execution = Execution {
        engine,
        request,
        cells: Cells::default(),
        objects: VecDeque::new(),
        later: FuturesUnordered::new(),
        errors: Vec::new(),
        outcome: None,
    };
    let place = execution.cells.root();
    let object = Object { type_name: root.into(), content: value::Content::Record(Arc::new(())) };
    execution.objects.push_back((place, object, plan, None));
    execution.run().await;
    let Execution { cells, errors, outcome, .. } = execution;
    Answer { data: cells.json(place), errors, outcome }
}

/// A field of an object.
#[derive(Clone, Copy)]
struct Target<'p> {
    /// Where its value goes.
    cell: usize,
    field: &'p PlannedField,
    /// The object's type.
    on: &'p TypeModel,
    kind: &'p Type,
}

/// A field whose value is being looked up.
struct LaterField<'p> {
    target: Target<'p>,
    value: BoxFuture<'static, ValueResult>,
}

impl<'p> Future for LaterField<'p> {
    type Output = (Target<'p>, ValueResult);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let done = self.value.poll_unpin(cx);
        done.map(|value| (self.target, value))
    }
}

/// One execution of a plan.
struct Execution<'p, C> {
    engine: &'p Engine<C>,
    request: Request<C>,
    cells: Cells<'p>,
    /// Objects whose fields are still to be resolved, each with the field that it is a value of.
    objects: VecDeque<(usize, Object, &'p Plan, Option<&'p PlannedField>)>,
    later: FuturesUnordered<LaterField<'p>>,
    errors: Vec<QueryError>,
    /// How the request as a whole went, where that is not as usual.
    outcome: Option<Outcome>,
}

impl<'p, C: Send + Sync + 'static> Execution<'p, C> {
    async fn run(&mut self) {
        loop {
            while let Some((cell, object, plan, field)) = self.objects.pop_front() {
                self.object(cell, &object, plan, field);
            }
            if self.later.is_empty() {
                return;
            }
            for (target, value) in self.finished().await {
                self.finish(target, value);
            }
        }
    }

    /// All fields that have their values by now, at least one. What they lead to is looked up together then.
    async fn finished(&mut self) -> Vec<(Target<'p>, ValueResult)> {
        poll_fn(|cx| {
            let mut finished = Vec::new();
            while let Poll::Ready(Some(field)) = self.later.poll_next_unpin(cx) {
                finished.push(field);
            }
            match finished.is_empty() {
                true => Poll::Pending,
                false => Poll::Ready(finished),
            }
        })
        .await
    }

    fn object(
        &mut self,
        cell: usize,
        object: &Object,
        plan: &'p Plan,
        of: Option<&'p PlannedField>,
    ) {
        let Some(on) = self.engine.model.find(&object.type_name) else {
            let failure = Failure::internal(format!("there is no type {}", object.type_name));
            return self.fail(cell, of, &failure);
        };
        let mut entries = Vec::with_capacity(plan.fields.len());
        self.fields(cell, object, on, plan, &mut entries);
        self.cells.set(cell, Content::Object(entries));
    }

    /// Begins with the fields that a plan has for objects of a type.
    fn fields(
        &mut self,
        cell: usize,
        object: &Object,
        on: &'p TypeModel,
        plan: &'p Plan,
        entries: &mut Vec<Entry<'p>>,
    ) {
        for field in &plan.fields {
            let place = self.cells.add(cell, Step::Key(&field.key));
            let kind = self.engine.model.field(on, &field.name).map(|known| &known.kind);
            let kind = kind.unwrap_or(&field.kind);
            // Introspection has its value from elsewhere.
            let is_required = kind.is_non_null() && !field.is_introspection();
            entries.push(Entry { key: &field.key, cell: place, is_required });
            if field.name == "__typename" {
                self.cells.set(place, Content::Leaf(on.name.as_str().into()));
                continue;
            }
            if field.is_introspection() {
                continue;
            }
            let target = Target { cell: place, field, on, kind };
            match self.start(object, target) {
                Start::Now(value) => self.finish(target, value),
                Start::Later(value) => self.later.push(LaterField { target, value }),
            }
        }
        for (narrow, plan) in &plan.narrower {
            let narrow = self.engine.model.find(narrow);
            if narrow.is_some_and(|narrow| self.engine.model.is_kind_of(on, narrow)) {
                self.fields(cell, object, on, plan, entries);
            }
        }
    }

    fn start(&mut self, object: &Object, target: Target<'p>) -> Start {
        let Target { field, on, kind, .. } = target;
        let entry = self.engine.entry(&object.type_name, &field.name);
        let entry = entry.filter(|entry| entry.resolver.is_some());
        if let value::Content::Fields(fields) = &object.content {
            // Objects of one type may be records, or bring all their fields along.
            let found = fields.iter().find(|(name, _)| *name == field.name.as_str());
            if found.is_some() || entry.is_none() {
                return found.map_or(Value::Null, |(_, value)| value.clone()).into();
            }
        }
        let record: Record = match (&object.content, entry) {
            (value::Content::Connection(connection), None) => {
                return of_connection(&self.engine.model, connection, on, &field.name);
            }
            (value::Content::Record(record), _) => record.clone(),
            (value::Content::Fields(fields), _) => fields.clone(),
            (value::Content::Connection(connection), Some(_)) => connection.clone(),
        };
        let absent =
            || Failure::internal(format!("{}.{} has no resolver", object.type_name, field.name));
        let Some(entry) = entry else { return absent().into() };
        if entry.once && !self.is_first(object, &field.name) {
            let (name, on) = (&field.name, &object.type_name);
            let text = format!("\"{name}\" field can be requested only for 1 {on}(s) at a time.");
            return Failure::Message(text).into();
        }
        match &entry.resolver {
            Some(Resolver::Plain(value)) => Start::Now(value(&*record).ok_or_else(|| {
                Failure::internal(format!(
                    "{}.{} was asked of another record",
                    object.type_name, field.name
                ))
            })),
            Some(Resolver::Lookup(resolve)) => {
                let context = self.request.context.clone();
                Start::Later(resolve(record, self.arguments(field), context))
            }
            Some(Resolver::Unsupported) => nothing(self.engine, kind).into(),
            Some(Resolver::Subscription(_)) => {
                Start::Now(self.request.event_value.take().unwrap_or_else(|| Err(absent())))
            }
            Some(Resolver::Mutation(resolve)) => {
                let whole = self.arguments(field);
                let input = whole.object("input").unwrap_or(whole);
                let client = input.maybe_text("clientMutationId");
                let payload = resolve(input, self.request.context.clone());
                let type_name = kind.name().to_owned();
                let value = async move {
                    Ok(Value::Object(payload_object(type_name, payload.await?, client)))
                };
                Start::Later(value.boxed())
            }
            None => absent().into(),
        }
    }

    fn arguments(&self, field: &PlannedField) -> Arguments {
        Arguments {
            values: field.arguments.clone(),
            selection: field.selection.clone(),
            cost: self.request.cost,
        }
    }

    fn is_first(&self, object: &Object, field: &str) -> bool {
        let key = (ArcStr::from(object.type_name.as_ref()), field.to_owned());
        self.request.once.lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }

    fn finish(&mut self, target: Target<'p>, value: ValueResult) {
        let Target { cell, field, on, kind } = target;
        match value {
            Ok(Value::Null) if kind.is_non_null() => {
                let (on, name) = (&on.name, &field.name);
                let text = format!("Cannot return null for non-nullable field {on}.{name}.");
                self.fail(cell, Some(field), &Failure::Message(text));
            }
            Ok(value) => self.complete(cell, field, kind, value),
            Err(failure) => self.fail(cell, Some(field), &failure),
        }
    }

    /// Brings a value into the form of its type, with the selection applied.
    fn complete(&mut self, cell: usize, field: &'p PlannedField, kind: &'p Type, value: Value) {
        match (kind.nullable(), value) {
            (_, Value::Null) => {}
            (Type::List(inner), Value::List(elements)) => {
                self.list(cell, field, inner, elements);
            }
            (Type::Named(_), Value::Connection(Connection { failure: Some(failure), .. })) => {
                self.fail(cell, Some(field), &failure);
            }
            (Type::Named(name), Value::Connection(connection)) => {
                let object = Object {
                    type_name: Cow::Owned(name.clone()),
                    content: value::Content::Connection(Arc::new(connection)),
                };
                self.objects.push_back((cell, object, &field.below, Some(field)));
            }
            (Type::Named(_), Value::Object(object)) => {
                self.objects.push_back((cell, object, &field.below, Some(field)));
            }
            (Type::Named(_), Value::Text(text)) if !self.request.room.take(text.len()) => {
                let failure = Failure::message("The answer is too large");
                self.fail(cell, Some(field), &failure);
            }
            (Type::Named(name), leaf) => match leaf_json(leaf, name) {
                Ok(json) => self.cells.set(cell, Content::Leaf(json)),
                Err(Some(failure)) => self.fail(cell, Some(field), &failure),
                Err(None) => self.fail(cell, Some(field), &of_other_type(kind)),
            },
            _ => self.fail(cell, Some(field), &of_other_type(kind)),
        }
    }

    fn list(
        &mut self,
        cell: usize,
        field: &'p PlannedField,
        inner: &'p Type,
        elements: Vec<Value>,
    ) {
        let is_required = inner.is_non_null();
        let mut cells = Vec::with_capacity(elements.len());
        for (number, element) in elements.into_iter().enumerate() {
            let place = self.cells.add(cell, Step::Element(number));
            cells.push(place);
            match element {
                Value::Null if is_required => {
                    let text = "Cannot return null for non-nullable element.".to_owned();
                    self.fail(place, Some(field), &Failure::Message(text));
                }
                element => self.complete(place, field, inner, element),
            }
        }
        self.cells.set(cell, Content::List { cells, is_required });
    }

    /// Notes a failure, some of which decide over the whole answer. The cell stays null.
    fn fail(&mut self, cell: usize, field: Option<&PlannedField>, failure: &Failure) {
        let is_mutation = field.is_some_and(|field| field.on == MUTATION);
        let outcome = match failure {
            Failure::TooManyRequests if is_mutation => Some(Outcome::TooManyRequests),
            Failure::Timeout => Some(Outcome::TimedOut),
            Failure::Internal(cause) => {
                tracing::error!(error = %cause, details = ?cause, "a GraphQL field failed");
                Some(Outcome::Failed)
            }
            _ => None,
        };
        self.outcome = outcome.or(self.outcome);
        let extensions = match failure {
            Failure::WithExtensions(_, extensions) => Some(extensions.clone()),
            _ => None,
        };
        self.errors.push(QueryError {
            message: failure.to_string(),
            locations: field.map(|field| field.at).into_iter().collect(),
            path: Some(self.cells.path(cell)),
            extensions: extensions.filter(|extensions| !extensions.is_null()),
        });
    }
}

fn of_other_type(kind: &Type) -> Failure {
    Failure::internal(format!("a value is not of its type {kind}"))
}

#[cfg(test)]
mod tests {
    use super::TextRoom;

    #[test]
    fn texts_are_taken_while_there_is_room() {
        let room = TextRoom::of_event();
        assert!(room.take(1 << 20) && room.clone().take(1 << 20));
        assert!(!room.take(1) && room.take(0));
    }
}
