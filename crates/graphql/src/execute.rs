//! Execution by juniper: its traits, for objects whose types the model describes.

use std::{
    borrow::Cow,
    collections::HashSet,
    marker::PhantomData,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::join_all;
use juniper::{
    ArcStr, Arguments as JuniperArguments, BoxFuture, ExecutionResult, Executor, FieldError,
    GraphQLSubscriptionValue, GraphQLType, GraphQLValue, GraphQLValueAsync,
    Object as JuniperObject, Registry, Selection, Value as JuniperValue, meta::MetaType,
};
use serde_json::{Map, Value as Json};

use crate::{
    arguments::{Arguments, Cost},
    connection::Connection,
    document::{Position, Type},
    engine::Engine,
    failure::Failure,
    meta::meta,
    payload::Payload,
    registry::{Record, Resolver},
    request::Outcome,
    value::{Content, Object, Value},
    write::Line,
};

/// The fields of a request that may be asked for once, and were.
pub(crate) type Once = Arc<Mutex<HashSet<(ArcStr, String)>>>;

/// One execution of a plan: what juniper hands to all objects.
pub(crate) struct Execution<C> {
    /// Nothing where only the schema itself is asked for.
    pub(crate) context: Option<Arc<C>>,
    pub(crate) lines: Vec<Option<Line>>,
    pub(crate) cost: Cost,
    /// The fields that were asked for, of those that may be asked for once.
    pub(crate) once: Once,
    /// How the request as a whole went, where that is not as usual.
    pub(crate) outcome: Mutex<Option<Outcome>>,
    /// Values that juniper has no form for. It holds their places in this list, behind a zero byte.
    pub(crate) leaves: Mutex<Vec<Json>>,
    /// The value of the field of a subscription, which follows from an event.
    pub(crate) event_value: Mutex<Option<Result<Value, Failure>>>,
}

impl<C> juniper::Context for Execution<C> {}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What begins a text that stands for a value in [`Execution::leaves`].
const MARK: char = '\0';

impl<C> Execution<C> {
    pub(crate) fn new(context: Option<Arc<C>>, lines: Vec<Option<Line>>, cost: Cost) -> Self {
        Self {
            context,
            lines,
            cost,
            once: Once::default(),
            outcome: Mutex::default(),
            leaves: Mutex::default(),
            event_value: Mutex::default(),
        }
    }

    /// In a request of which other fields were executed before.
    pub(crate) fn with_once(self, once: &Once) -> Self {
        Self { once: once.clone(), ..self }
    }

    /// For an event, of which the field of a subscription got its value.
    pub(crate) fn with_event_value(self, value: Result<Value, Failure>) -> Self {
        Self { event_value: Mutex::new(Some(value)), ..self }
    }

    pub(crate) fn outcome(&self) -> Option<Outcome> {
        *held(&self.outcome)
    }

    /// The place in the client's document that a line of juniper's stands for.
    pub(crate) fn place(&self, line: usize) -> Option<Position> {
        self.lines.get(line)?.as_ref().map(|line| line.at)
    }

    fn keep(&self, leaf: Json) -> JuniperValue {
        let mut leaves = held(&self.leaves);
        leaves.push(leaf);
        JuniperValue::scalar(format!("{MARK}{}", leaves.len() - 1))
    }

    /// An answer of juniper's as JSON.
    pub(crate) fn json(&self, value: JuniperValue) -> Json {
        match value {
            JuniperValue::Null => Json::Null,
            JuniperValue::List(elements) => {
                elements.into_iter().map(|element| self.json(element)).collect()
            }
            JuniperValue::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| (name, self.json(value)));
                Json::Object(Map::from_iter(fields))
            }
            JuniperValue::Scalar(scalar) => self.scalar(&scalar),
        }
    }

    fn scalar(&self, scalar: &juniper::DefaultScalarValue) -> Json {
        let json = serde_json::to_value(scalar).unwrap_or(Json::Null);
        let place = json.as_str().and_then(|text| text.strip_prefix(MARK));
        let place = place.and_then(|place| place.parse::<usize>().ok());
        match place {
            Some(place) => held(&self.leaves).get_mut(place).map_or(Json::Null, Json::take),
            None => json,
        }
    }

    /// What juniper is told of a failure. Some decide over the whole answer.
    fn error(&self, failure: &Failure, is_mutation: bool) -> FieldError {
        let outcome = match failure {
            Failure::TooManyRequests if is_mutation => Some(Outcome::TooManyRequests),
            Failure::Timeout => Some(Outcome::TimedOut),
            Failure::Internal(cause) => {
                tracing::error!(error = %cause, details = ?cause, "a GraphQL field failed");
                Some(Outcome::Failed)
            }
            _ => None,
        };
        if outcome.is_some() {
            *held(&self.outcome) = outcome;
        }
        match failure {
            Failure::WithExtensions(text, extensions) => {
                FieldError::new(text, self.keep(extensions.clone()))
            }
            other => FieldError::new(other, JuniperValue::null()),
        }
    }
}

/// The type of an object, for juniper.
pub(crate) struct Info<C> {
    pub(crate) engine: Arc<Engine<C>>,
    pub(crate) name: ArcStr,
    /// Whether juniper begins with this type, and hears of all others by it.
    pub(crate) is_root: bool,
}

impl<C> Info<C> {
    /// Of another type.
    pub(crate) fn of(&self, name: ArcStr) -> Self {
        Self { engine: self.engine.clone(), name, is_root: false }
    }
}

/// An object, for juniper.
pub(crate) struct Node<C> {
    object: Object,
    context: PhantomData<fn(C)>,
}

impl<C> Node<C> {
    pub(crate) fn new(object: Object) -> Self {
        Self { object, context: PhantomData }
    }

    /// The object that fields of a root are resolved of.
    pub(crate) fn root(type_name: &'static str) -> Self {
        Self::new(Object { type_name: type_name.into(), content: Content::Record(Arc::new(())) })
    }
}

impl<C: Send + Sync + 'static> GraphQLType for Node<C> {
    fn name(info: &Info<C>) -> Option<ArcStr> {
        Some(info.name.clone())
    }

    fn meta(info: &Info<C>, registry: &mut Registry) -> MetaType {
        meta(info, registry)
    }
}

impl<C: Send + Sync + 'static> GraphQLValue for Node<C> {
    type Context = Execution<C>;
    type TypeInfo = Info<C>;

    fn type_name(&self, info: &Info<C>) -> Option<ArcStr> {
        let found = info.engine.model.find(&self.object.type_name);
        Some(found.map_or_else(|| info.name.clone(), |found| found.name.clone()))
    }

    fn concrete_type_name(&self, _: &Execution<C>, _: &Info<C>) -> String {
        self.object.type_name.clone().into_owned()
    }
}

/// Events are answered as queries are, so no stream of juniper's is ever asked for.
impl<C: Send + Sync + 'static> GraphQLSubscriptionValue for Node<C> {}

impl<C: Send + Sync + 'static> GraphQLValueAsync for Node<C> {
    fn resolve_field_async<'a>(
        &'a self,
        info: &'a Info<C>,
        field: &'a str,
        _: &'a JuniperArguments<'_>,
        executor: &'a Executor<'_, '_, Execution<C>>,
    ) -> BoxFuture<'a, ExecutionResult> {
        Box::pin(async move {
            let execution = executor.context();
            let on = info.engine.model.find(&self.object.type_name);
            let model = on.and_then(|on| info.engine.model.field(on, field));
            let line = executor.location().line();
            let line = execution.lines.get(line).and_then(Option::as_ref);
            let (Some(model), Some(line)) = (model, line) else {
                let failure = Failure::internal(format!("no plan for the field {field}"));
                return Err(execution.error(&failure, false));
            };
            let is_mutation = self.object.type_name == crate::model::MUTATION;
            let found = self.field(info, field, &model.kind, line, execution).await;
            let value = found.map_err(|failure| execution.error(&failure, is_mutation))?;
            let value = FieldValue { value, kind: &model.kind, context: PhantomData };
            executor.resolve_async(info, &value).await
        })
    }
}

impl<C: Send + Sync + 'static> Node<C> {
    async fn field(
        &self,
        info: &Info<C>,
        field: &str,
        kind: &Type,
        line: &Line,
        execution: &Execution<C>,
    ) -> Result<Value, Failure> {
        let entry = info.engine.entry(&self.object.type_name, field);
        let entry = entry.filter(|entry| entry.resolver.is_some());
        if let Content::Fields(fields) = &self.object.content {
            // Objects of one type may be records, or bring all their fields along.
            let found = fields.iter().find(|(name, _)| name == field);
            if found.is_some() || entry.is_none() {
                return Ok(found.map_or(Value::Null, |(_, value)| value.clone()));
            }
        }
        let record: Record = match (&self.object.content, entry) {
            (Content::Connection(connection), None) => {
                return self.of_connection(info, connection, field).await;
            }
            (Content::Record(record), _) => record.clone(),
            (Content::Fields(fields), _) => fields.clone(),
            (Content::Connection(connection), Some(_)) => connection.clone(),
        };
        let type_name = &self.object.type_name;
        let absent = || Failure::internal(format!("{type_name}.{field} has no resolver"));
        let entry = entry.ok_or_else(absent)?;
        if entry.once {
            let key = (ArcStr::from(type_name.as_ref()), field.to_owned());
            if !held(&execution.once).insert(key) {
                return Err(Failure::Message(format!(
                    "\"{field}\" field can be requested only for 1 {type_name}(s) at a time."
                )));
            }
        }
        let arguments = || Arguments {
            values: line.arguments.clone(),
            selection: line.selection.clone(),
            cost: execution.cost,
        };
        let context = || execution.context.clone().ok_or_else(absent);
        match entry.resolver.as_ref().ok_or_else(absent)? {
            Resolver::Plain(value) => value(&*record).ok_or_else(|| {
                Failure::internal(format!("{type_name}.{field} was asked of another record"))
            }),
            Resolver::Lookup(resolve) => resolve(record, arguments(), context()?).await,
            Resolver::Unsupported => Ok(nothing(info, kind)),
            Resolver::Subscription(_) => {
                held(&execution.event_value).take().unwrap_or_else(|| Err(absent()))
            }
            Resolver::Mutation(resolve) => {
                let whole = arguments();
                let input = whole.object("input").unwrap_or(whole);
                let client = input.maybe_text("clientMutationId");
                let payload = resolve(input, context()?).await?;
                Ok(Value::Object(payload_object(kind.name(), payload, client)))
            }
        }
    }

    async fn of_connection(
        &self,
        info: &Info<C>,
        connection: &Connection,
        field: &str,
    ) -> Result<Value, Failure> {
        let rows = || connection.rows.iter();
        let cursor = |row: Option<&(crate::Cursor, Value)>| {
            Value::from(row.map(|(cursor, _)| cursor.as_str()))
        };
        let made: Vec<(Cow<'static, str>, Value)> = match field {
            "nodes" => return Ok(Value::List(rows().map(|(_, value)| value.clone()).collect())),
            "edges" => {
                let on = info.engine.model.find(&self.object.type_name);
                let edge = on.and_then(|on| info.engine.model.field(on, field));
                let edge = edge.map_or_else(String::new, |edge| edge.kind.name().to_owned());
                let edges = rows().map(|(cursor, value)| {
                    let fields = vec![
                        ("cursor".into(), cursor.as_str().into()),
                        ("node".into(), value.clone()),
                    ];
                    Value::Object(Object::of_fields(Cow::Owned(edge.clone()), fields))
                });
                return Ok(Value::List(edges.collect()));
            }
            "pageInfo" => vec![
                ("startCursor".into(), cursor(connection.rows.first())),
                ("endCursor".into(), cursor(connection.rows.last())),
                ("hasNextPage".into(), connection.has_next.into()),
                ("hasPreviousPage".into(), connection.has_previous.into()),
            ],
            other => {
                let known = connection.fields.iter().find(|(name, _)| name == other);
                return match (known, connection.later(other)) {
                    (Some((_, value)), _) => Ok(value.clone()),
                    (None, Some(later)) => later.await,
                    // What is the whole list has been counted.
                    (None, None) if other == "count" && connection.is_whole() => {
                        Ok(connection.rows.len().into())
                    }
                    (None, None) => Err(Failure::internal(format!(
                        "{}.{other} was not given",
                        self.object.type_name
                    ))),
                };
            }
        };
        Ok(Value::Object(Object::of_fields(Cow::Borrowed("PageInfo"), made)))
    }
}

fn payload_object(type_name: &str, payload: Payload, client: Option<String>) -> Object {
    let mut fields = payload.fields;
    fields.push(("errors".into(), payload.errors.into()));
    fields.push(("clientMutationId".into(), client.into()));
    Object::of_fields(Cow::Owned(type_name.to_owned()), fields)
}

/// What stands for what does not exist here.
fn nothing<C>(info: &Info<C>, kind: &Type) -> Value {
    let is_required = kind.is_non_null();
    match kind.nullable() {
        Type::List(_) => Value::List(Vec::new()),
        Type::Named(name)
            if info.engine.model.find(name).is_some_and(super::model::TypeModel::is_connection) =>
        {
            Value::Connection(Connection::empty())
        }
        Type::Named(name) if is_required => match name.as_str() {
            "Boolean" => Value::Bool(false),
            "Int" | "Float" => Value::Int(0),
            "BigInt" => Value::big(0),
            "String" => Value::Text(String::new()),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

/// A value that is to be brought into the form of its type, with the selection applied.
struct FieldValue<'t, C> {
    value: Value,
    kind: &'t Type,
    context: PhantomData<fn(C)>,
}

impl<C: Send + Sync + 'static> GraphQLValue for FieldValue<'_, C> {
    type Context = Execution<C>;
    type TypeInfo = Info<C>;

    fn type_name(&self, _: &Info<C>) -> Option<ArcStr> {
        None
    }
}

impl<C: Send + Sync + 'static> GraphQLValueAsync for FieldValue<'_, C> {
    fn resolve_async<'a>(
        &'a self,
        info: &'a Info<C>,
        selections: Option<&'a [Selection<'_>]>,
        executor: &'a Executor<'_, '_, Execution<C>>,
    ) -> BoxFuture<'a, ExecutionResult> {
        complete(&self.value, self.kind, info, selections, executor)
    }
}

/// The numbers of elements in the paths of errors, which juniper wants as names. Longer lists do not tell theirs.
static NUMBERS: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..1_000).map(|number: u32| number.to_string()).collect());

fn complete<'a, C: Send + Sync + 'static>(
    value: &'a Value,
    kind: &'a Type,
    info: &'a Info<C>,
    selections: Option<&'a [Selection<'a>]>,
    executor: &'a Executor<'a, 'a, Execution<C>>,
) -> BoxFuture<'a, ExecutionResult> {
    Box::pin(async move {
        let execution = executor.context();
        let of_other_type = || {
            let failure = Failure::internal(format!("a value is not of its type {kind}"));
            execution.error(&failure, false)
        };
        match (kind.nullable(), value) {
            (_, Value::Null) => Ok(JuniperValue::null()),
            (Type::List(inner), Value::List(elements)) => {
                let elements = elements.iter().enumerate().map(|(number, element)| {
                    completed_element(number, element, inner, info, selections, executor)
                });
                let elements = join_all(elements).await;
                let is_void = inner.is_non_null() && elements.iter().any(JuniperValue::is_null);
                match is_void {
                    true => Ok(JuniperValue::null()),
                    false => Ok(JuniperValue::list(elements)),
                }
            }
            (Type::Named(name), Value::Connection(connection)) => {
                if let Some(failure) = &connection.failure {
                    return Err(execution.error(failure, false));
                }
                let object = Object {
                    type_name: Cow::Owned(name.clone()),
                    content: Content::Connection(Arc::new(connection.clone())),
                };
                completed_object(object, info, selections, executor).await
            }
            (Type::Named(_), Value::Object(object)) => {
                completed_object(object.clone(), info, selections, executor).await
            }
            (Type::Named(name), leaf) => {
                completed_leaf(leaf, name, execution).ok_or_else(of_other_type)?
            }
            _ => Err(of_other_type()),
        }
    })
}

async fn completed_element<'a, C: Send + Sync + 'static>(
    number: usize,
    element: &'a Value,
    kind: &'a Type,
    info: &'a Info<C>,
    selections: Option<&'a [Selection<'a>]>,
    executor: &'a Executor<'a, 'a, Execution<C>>,
) -> JuniperValue {
    // `__typename` is a field of each object type, and the only way to make the path longer.
    let type_name = match element {
        Value::Object(object) => object.type_name.as_ref(),
        _ => crate::model::QUERY,
    };
    let known = info.engine.model.find(type_name);
    let type_name = known.map_or(crate::model::QUERY, |known| known.name.as_str());
    let typed = executor.type_sub_executor(Some(type_name), selections);
    let numbered = match NUMBERS.get(number) {
        Some(number) => {
            &typed.field_sub_executor(number, "__typename", *executor.location(), selections)
        }
        None => &typed,
    };
    let done = complete(element, kind, info, selections, numbered).await;
    match done {
        Ok(JuniperValue::Null) if kind.is_non_null() && element.is_null() => {
            numbered.push_error("Cannot return null for non-nullable element.".into());
            JuniperValue::null()
        }
        Ok(done) => done,
        Err(error) => {
            numbered.push_error(error);
            JuniperValue::null()
        }
    }
}

async fn completed_object<'a, C: Send + Sync + 'static>(
    object: Object,
    info: &'a Info<C>,
    selections: Option<&'a [Selection<'a>]>,
    executor: &'a Executor<'a, 'a, Execution<C>>,
) -> ExecutionResult {
    let Some(kind) = info.engine.model.find(&object.type_name) else {
        let failure = Failure::internal(format!("there is no type {}", object.type_name));
        return Err(executor.context().error(&failure, false));
    };
    let typed = executor.type_sub_executor(Some(&kind.name), selections);
    let node = Node::<C>::new(object);
    match selections {
        Some(selections) => node.resolve_async(info, Some(selections), &typed).await,
        None => Ok(JuniperValue::object(JuniperObject::with_capacity(0))),
    }
}

/// A leaf in the form of its type; nothing where it has none.
fn completed_leaf<C>(
    leaf: &Value,
    name: &str,
    execution: &Execution<C>,
) -> Option<ExecutionResult> {
    let whole = |number: i64| match i32::try_from(number) {
        Ok(number) => Ok(JuniperValue::scalar(number)),
        Err(_) => Err(FieldError::new(
            format!("Integer out of bounds: {number}. Consider using ID or BigInt instead."),
            JuniperValue::null(),
        )),
    };
    Some(match (name, leaf) {
        ("Int", Value::Int(number)) => whole(*number),
        ("Int", _) => return None,
        ("Boolean", Value::Bool(flag)) => Ok(JuniperValue::scalar(*flag)),
        ("Boolean", _) => return None,
        ("Float" | "Duration", Value::Int(number)) => {
            let float = serde_json::Number::from(*number).as_f64()?;
            Ok(JuniperValue::scalar(float))
        }
        ("BigInt" | "ID", Value::Int(number)) => Ok(JuniperValue::scalar(number.to_string())),
        (_, Value::Int(number)) => Ok(execution.keep((*number).into())),
        (_, Value::Bool(flag)) => Ok(JuniperValue::scalar(*flag)),
        (_, Value::Float(number)) => Ok(JuniperValue::scalar(*number)),
        (_, Value::Text(text)) if text.starts_with(MARK) => {
            Ok(execution.keep(text.as_str().into()))
        }
        (_, Value::Text(text)) => Ok(JuniperValue::scalar(text.clone())),
        (_, Value::Json(json)) => Ok(execution.keep(json.clone())),
        _ => return None,
    })
}
