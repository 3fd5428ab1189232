//! Questions about the schema itself, which juniper answers: its traits, for objects whose types the model describes.

use std::{fmt::Write as _, marker::PhantomData, sync::Arc};

use juniper::{
    ArcStr, GraphQLType, GraphQLValue, IntrospectionFormat, Registry, RootNode, Variables,
    meta::MetaType,
};
use serde_json::{Value as Json, json};
use tokio::sync::Semaphore;

use crate::{
    directives,
    document::Literal,
    engine::Engine,
    error::QueryError,
    failure::Failure,
    input::Input,
    meta::meta,
    model::{MUTATION, Model, QUERY, SUBSCRIPTION, TypeModel},
    plan::{Plan, PlannedField},
};

/// Stands where nothing is selected: braces must not be empty.
const NOTHING: &str = "__typename @skip(if: true)";

/// Limits of juniper's own, wider than those of plans.
const DEEPEST: usize = 500;
const MOST: usize = 1_000_000;

/// A schema as juniper knows it.
pub(crate) struct Introspection<C: Send + Sync + 'static> {
    engine: Arc<Engine<C>>,
    root: Arc<SchemaRoot<C>>,
    /// One answer is made at a time: each keeps a processor busy.
    turn: Arc<Semaphore>,
}

type SchemaRoot<C> = RootNode<Node<C>, Node<C>, Node<C>>;

impl<C: Send + Sync + 'static> Introspection<C> {
    pub(crate) fn new(engine: Arc<Engine<C>>) -> Self {
        let info = |name: &'static str| Info { engine: engine.clone(), name: name.into() };
        let root = RootNode::new_with_info(
            Node(PhantomData),
            Node(PhantomData),
            Node(PhantomData),
            info(QUERY),
            info(MUTATION),
            info(SUBSCRIPTION),
        );
        // Plans are within narrower limits; what juniper gets of them must not be refused for its size.
        let root = root.limit_depth(DEEPEST).limit_tokens(MOST).limit_fields(MOST);
        Self { engine, root: Arc::new(root), turn: Arc::new(Semaphore::new(1)) }
    }

    /// The values of those fields of a root that ask for the schema. They are made on a thread that may be blocked.
    ///
    /// # Errors
    /// Where juniper refuses them.
    pub(crate) async fn answer(&self, fields: &[&PlannedField]) -> Result<Json, QueryError> {
        let text = document(&self.engine.model, fields);
        let root = Arc::clone(&self.root);
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(untold)?;
        // The turn lasts as long as the work, also where nobody waits for the answer any more.
        #[expect(clippy::disallowed_methods, reason = "this crate names none of ours")]
        let told = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            tell(&text, &root)
        });
        let told = told.await;
        let mut data = told.map_err(untold)??;
        directives::add_selected(&self.engine.model, fields, &mut data);
        Ok(data)
    }

    /// The answer to the query that tools ask for the schema.
    pub(crate) fn whole(&self) -> Json {
        match juniper::introspect(&self.root, &(), IntrospectionFormat::All) {
            Ok((data, _)) => {
                let mut data = serde_json::to_value(data).unwrap_or_default();
                directives::add_all(&self.engine.model, &mut data);
                json!({ "data": data })
            }
            Err(cause) => json!({ "errors": [{ "message": cause.to_string() }] }),
        }
    }
}

fn tell<C: Send + Sync + 'static>(text: &str, root: &SchemaRoot<C>) -> Result<Json, QueryError> {
    let done = juniper::execute_sync(text, None, root, &Variables::new(), &());
    let (data, errors) = done.map_err(|cause| QueryError::new(cause.to_string()))?;
    match errors.first() {
        Some(error) => Err(QueryError::new(error.error().message())),
        None => serde_json::to_value(data).map_err(untold),
    }
}

fn untold(cause: impl std::error::Error + Send + Sync + 'static) -> QueryError {
    tracing::error!(error = %cause, "the schema cannot be told");
    QueryError::new(Failure::internal(cause).to_string())
}

/// The type of an object, for juniper.
pub(crate) struct Info<C> {
    pub(crate) engine: Arc<Engine<C>>,
    pub(crate) name: ArcStr,
}

impl<C> Info<C> {
    /// Of another type.
    pub(crate) fn of(&self, name: ArcStr) -> Self {
        Self { engine: self.engine.clone(), name }
    }

    /// Whether juniper begins with this type, and hears of all others by it.
    pub(crate) fn is_root(&self) -> bool {
        self.name == QUERY
    }
}

/// Stands for all objects: juniper resolves none of their fields.
pub(crate) struct Node<C>(PhantomData<fn(C)>);

impl<C: Send + Sync + 'static> GraphQLType for Node<C> {
    fn name(info: &Info<C>) -> Option<ArcStr> {
        Some(info.name.clone())
    }

    fn meta(info: &Info<C>, registry: &mut Registry) -> MetaType {
        meta(info, registry)
    }
}

impl<C: Send + Sync + 'static> GraphQLValue for Node<C> {
    type Context = ();
    type TypeInfo = Info<C>;

    fn type_name(&self, info: &Info<C>) -> Option<ArcStr> {
        Some(info.name.clone())
    }
}

/// The document of some fields of the root, without fragments on concrete types, directives and variables.
fn document(model: &Model, fields: &[&PlannedField]) -> String {
    let mut text = "query {\n".to_owned();
    for field in fields {
        write_field(model, field, &mut text);
    }
    text.push('}');
    text
}

fn write_plan(model: &Model, plan: &Plan, text: &mut String) {
    text.push_str(" {\n");
    if plan.fields.is_empty() && plan.narrower.is_empty() {
        text.push_str(NOTHING);
    }
    for field in &plan.fields {
        write_field(model, field, text);
    }
    for (narrow, plan) in &plan.narrower {
        let _ = write!(text, "... on {narrow}");
        write_plan(model, plan, text);
    }
    text.push_str("}\n");
}

fn write_field(model: &Model, field: &PlannedField, text: &mut String) {
    let _ = write!(text, "{}: {}", field.key, field.name);
    let given = field.arguments.iter().filter(|(name, _)| {
        // Of the types of the language juniper knows what is deprecated, too.
        !(model.without_deprecated && name.as_str() == "includeDeprecated")
    });
    let given = given.filter_map(|(name, value)| match value {
        Input::Bool(flag) => Some(format!("{name}: {flag}")),
        Input::Text(text) => Some(format!("{name}: {}", Literal::Text(text.clone()))),
        _ => None,
    });
    let given: Vec<String> = given.collect();
    if !given.is_empty() {
        let _ = write!(text, "({})", given.join(", "));
    }
    match model.find(field.kind.name()).is_some_and(TypeModel::is_composite) {
        true => write_plan(model, &field.below, text),
        false => text.push('\n'),
    }
}
