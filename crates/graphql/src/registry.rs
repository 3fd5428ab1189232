//! The registry of resolvers by type and field.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    marker::PhantomData,
    sync::Arc,
};

use futures_util::{FutureExt as _, future::BoxFuture};

use crate::{
    arguments::Arguments, coerce::IdClasses, failure::Failure, payload::Payload, value::Value,
};

pub(crate) type Record = Arc<dyn Any + Send + Sync>;
type PlainFn = Box<dyn Fn(&(dyn Any + Send + Sync)) -> Option<Value> + Send + Sync>;
type Lookup<C> = Box<
    dyn Fn(Record, Arguments, Arc<C>) -> BoxFuture<'static, Result<Value, Failure>> + Send + Sync,
>;
type Mutation<C> =
    Box<dyn Fn(Arguments, Arc<C>) -> BoxFuture<'static, Result<Payload, Failure>> + Send + Sync>;

/// Whether an event is one that a subscription asks for.
pub(crate) type EventFilter = Box<dyn Fn(&(dyn Any + Send + Sync)) -> bool + Send + Sync>;
type Subscribe<C> = Box<
    dyn Fn(Arguments, Arc<C>) -> BoxFuture<'static, Result<EventFilter, Failure>> + Send + Sync,
>;
type EventValue<C> = Box<
    dyn Fn(Record, Arguments, Arc<C>) -> BoxFuture<'static, Result<Option<Value>, Failure>>
        + Send
        + Sync,
>;

/// The field of a subscription.
pub(crate) struct SubscriptionResolver<C> {
    pub(crate) subscribe: Subscribe<C>,
    pub(crate) value: EventValue<C>,
}

/// Makes a context for what follows a change.
pub(crate) type Renewal<C> = fn(&C) -> C;

/// The resolver of a field.
pub(crate) enum Resolver<C> {
    Plain(PlainFn),
    Lookup(Lookup<C>),
    Mutation(Mutation<C>),
    Subscription(SubscriptionResolver<C>),
    /// Nothing of the kind exists here.
    Unsupported,
}

/// The registration of a field.
pub(crate) struct FieldEntry<C> {
    pub(crate) resolver: Option<Resolver<C>>,
    pub(crate) once: bool,
    pub(crate) cost: Option<u32>,
    pub(crate) reads_git: bool,
    /// How many elements a page may hold, where it is not the usual number.
    pub(crate) page_limit: Option<usize>,
}

impl<C> Default for FieldEntry<C> {
    fn default() -> Self {
        Self { resolver: None, once: false, cost: None, reads_git: false, page_limit: None }
    }
}

/// The fields of a type, by name.
pub(crate) type FieldEntries<C> = HashMap<&'static str, FieldEntry<C>>;

/// Which function resolves which field of a schema, whose requests have a context of type `C`.
pub struct Registry<C> {
    pub(crate) sdl: Vec<String>,
    pub(crate) types: HashMap<&'static str, FieldEntries<C>>,
    pub(crate) composed: Vec<&'static str>,
    pub(crate) ids: IdClasses,
    pub(crate) other_names: HashMap<&'static str, &'static str>,
    pub(crate) version: &'static str,
    pub(crate) renewal: Option<Renewal<C>>,
    records: HashMap<&'static str, TypeId>,
    pub(crate) mistakes: Vec<String>,
}

impl<C: Send + Sync + 'static> Registry<C> {
    /// Of a schema in the schema definition language, in any number of files.
    pub fn new(sdl: &[&str]) -> Self {
        Self {
            sdl: sdl.iter().map(|&text| text.to_owned()).collect(),
            types: HashMap::new(),
            composed: Vec::new(),
            ids: IdClasses::new(),
            other_names: HashMap::new(),
            version: "",
            renewal: None,
            records: HashMap::new(),
            mistakes: Vec::new(),
        }
    }

    /// The fields of a type whose objects are records of type `T`; more of them when it is called again.
    pub fn object<T: Send + Sync + 'static>(&mut self, name: &'static str) -> Fields<'_, C, T> {
        let (entries, mistakes) = self.entries_of(name, TypeId::of::<T>());
        Fields { type_name: name, entries, mistakes, record: PhantomData }
    }

    /// The fields of a type whose objects are such records, and the list of mistakes.
    #[inline(never)]
    fn entries_of(
        &mut self,
        name: &'static str,
        record: TypeId,
    ) -> (&mut FieldEntries<C>, &mut Vec<String>) {
        if *self.records.entry(name).or_insert(record) != record {
            self.mistakes.push(format!("{name} is registered with records of two types"));
        }
        (self.types.entry(name).or_default(), &mut self.mistakes)
    }

    /// Types whose objects bring their fields along: those of [`Value::fields`].
    pub fn composed(&mut self, names: &[&'static str]) {
        self.composed.extend(names);
    }

    /// The classes of records whose global ids scalars take, the one first that the others are kinds of. A scalar
    /// without classes takes any.
    pub fn ids(&mut self, scalars: &[(&'static str, &'static [&'static str])]) {
        self.ids.extend(scalars.iter().copied());
    }

    /// Types that clients may call by another name where they declare variables: that name, and the type's own.
    pub fn other_names(&mut self, names: &[(&'static str, &'static str)]) {
        self.other_names.extend(names.iter().copied());
    }

    /// The version whose interface this is, for fields with `@gl_introduced`.
    pub fn version(&mut self, version: &'static str) {
        self.version = version;
    }

    /// How the context of each mutation of a request is made, and of what follows it: without what was read before.
    pub fn renewal(&mut self, renewal: fn(&C) -> C) {
        self.renewal = Some(renewal);
    }

    /// The fields of the root.
    pub fn query(&mut self) -> Fields<'_, C, ()> {
        self.object("Query")
    }

    /// A mutation. Its resolver is given what stands in `input`.
    pub fn mutation<F, Fut>(&mut self, name: &'static str, resolver: F)
    where
        F: Fn(Arguments, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Payload, Failure>> + Send + 'static,
    {
        let resolver =
            Resolver::Mutation(Box::new(move |input, context| resolver(input, context).boxed()));
        self.object::<()>("Mutation").set(name, resolver);
    }
}

impl<C: Send + Sync + 'static> Registry<C> {
    /// A subscription to events of type `E`. `subscribe` is called once: it fails for whoever may not subscribe, and
    /// answers which events concern the subscription. Of each of these `value` makes the field's value, for the caller
    /// as they stand then; nothing where they are told nothing.
    pub fn subscription<E, S, SFut, I, V, VFut>(
        &mut self,
        name: &'static str,
        subscribe: S,
        value: V,
    ) where
        E: Send + Sync + 'static,
        S: Fn(Arguments, Arc<C>) -> SFut + Send + Sync + 'static,
        SFut: Future<Output = Result<I, Failure>> + Send + 'static,
        I: Fn(&E) -> bool + Send + Sync + 'static,
        V: Fn(Arc<E>, Arguments, Arc<C>) -> VFut + Send + Sync + 'static,
        VFut: Future<Output = Result<Option<Value>, Failure>> + Send + 'static,
    {
        let value = Arc::new(value);
        let resolver = SubscriptionResolver {
            subscribe: Box::new(move |arguments, context| {
                let concerns = subscribe(arguments, context);
                async move {
                    let concerns = concerns.await?;
                    let of_type: EventFilter =
                        Box::new(move |event| event.downcast_ref::<E>().is_some_and(&concerns));
                    Ok(of_type)
                }
                .boxed()
            }),
            value: Box::new(move |event, arguments, context| match event.downcast::<E>() {
                Ok(event) => value(event, arguments, context).boxed(),
                Err(_) => async { Ok(None) }.boxed(),
            }),
        };
        self.object::<()>("Subscription").set(name, Resolver::Subscription(resolver));
    }
}

/// The fields of one type.
pub struct Fields<'r, C, T> {
    type_name: &'static str,
    entries: &'r mut FieldEntries<C>,
    mistakes: &'r mut Vec<String>,
    record: PhantomData<fn(T)>,
}

impl<C: Send + Sync + 'static, T: Send + Sync + 'static> Fields<'_, C, T> {
    fn set(&mut self, field: &'static str, resolver: Resolver<C>) {
        set(self.entries, self.mistakes, (self.type_name, field), resolver);
    }

    /// A field that follows from the record alone.
    pub fn plain(mut self, field: &'static str, value: fn(&T) -> Value) -> Self {
        let resolver =
            Resolver::Plain(Box::new(move |record| record.downcast_ref::<T>().map(value)));
        self.set(field, resolver);
        self
    }

    /// A field that is looked up.
    pub fn lookup<F, Fut>(mut self, field: &'static str, resolver: F) -> Self
    where
        F: Fn(Arc<T>, Arguments, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        let type_name = self.type_name;
        let lookup: Lookup<C> =
            Box::new(move |record, arguments, context| match record.downcast::<T>() {
                Ok(record) => resolver(record, arguments, context).boxed(),
                Err(record) => wrong_record(type_name, field, (record, arguments, context)),
            });
        self.set(field, Resolver::Lookup(lookup));
        self
    }

    /// Fields for what does not exist here: null, or what else is nothing in their types. [`Schema::unsupported`](crate::Schema::unsupported) lists
    /// them.
    pub fn none(mut self, fields: &[&'static str]) -> Self {
        for field in fields {
            self.set(field, Resolver::Unsupported);
        }
        self
    }

    /// A field that one query may ask for once only.
    pub fn once(self, field: &'static str) -> Self {
        self.entries.entry(field).or_default().once = true;
        self
    }

    /// The field's whole cost, beside what is selected below it, where it differs from the rule.
    pub fn cost(self, field: &'static str, cost: u32) -> Self {
        self.entries.entry(field).or_default().cost = Some(cost);
        self
    }

    /// A connection whose pages may hold another number of elements than usual. It costs accordingly.
    pub fn page_limit(self, field: &'static str, most: usize) -> Self {
        self.entries.entry(field).or_default().page_limit = Some(most);
        self
    }

    /// A field that reads a repository, which costs one more.
    pub fn reads_git(self, field: &'static str) -> Self {
        self.entries.entry(field).or_default().reads_git = true;
        self
    }
}

/// Registers a field. It knows no type of records, so that it is compiled once for all of them.
#[inline(never)]
fn set<C>(
    entries: &mut FieldEntries<C>,
    mistakes: &mut Vec<String>,
    (type_name, field): (&'static str, &'static str),
    resolver: Resolver<C>,
) {
    let entry = entries.entry(field).or_default();
    if entry.resolver.replace(resolver).is_some() {
        mistakes.push(format!("{type_name}.{field} is registered twice"));
    }
}

/// For an object of one type that holds a record of another. What the field was asked with is dropped here, and not in the
/// code of each field.
#[cold]
#[inline(never)]
fn wrong_record<C>(
    type_name: &'static str,
    field: &'static str,
    asked: (Record, Arguments, Arc<C>),
) -> BoxFuture<'static, Result<Value, Failure>> {
    drop(asked);
    let text = format!("{type_name}.{field} was asked of a record of another type");
    std::future::ready(Err(Failure::internal(text))).boxed()
}
