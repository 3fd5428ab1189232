//! The language as a whole, over a schema of books.

mod answers;
mod hostile;
mod limits;
mod lists;
mod refusals;
mod schema;
mod subscriptions;
mod variables;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt as _;
use serde_json::{Value as Json, json};

use crate::{
    Connection, Failure, Limits, Mutations, Outcome, Payload, Registry, Request, Response, Schema,
    Value,
};

const SDL: &str = include_str!("books.graphql");

/// What resolvers of the books know.
#[derive(Default)]
pub(super) struct Library {
    /// How often authors were looked up.
    pub(super) lookups: AtomicUsize,
    pub(super) notes: Arc<std::sync::Mutex<Vec<String>>>,
    /// How many changes came before.
    renewals: usize,
}

pub(super) struct Book {
    id: i64,
    title: &'static str,
}

pub(super) struct Person {
    name: &'static str,
}

const BOOKS: [Book; 3] = [
    Book { id: 1, title: "Emma" },
    Book { id: 2, title: "Dune" },
    Book { id: 3, title: "Ulysses" },
];

fn book(number: usize) -> Value {
    BOOKS.get(number).map_or(Value::Null, |book| {
        Value::object("Book", Arc::new(Book { id: book.id, title: book.title }))
    })
}

fn books() -> Vec<Value> {
    (0..BOOKS.len()).map(book).collect()
}

#[expect(clippy::too_many_lines, reason = "the fields of one type stand in one table")]
pub(super) fn registry() -> Registry<Library> {
    let mut registry = Registry::<Library>::new(&[SDL]);
    registry.ids(&[("BookID", &["Book"])]);
    registry.other_names(&[("Kind", "Genre")]);
    registry.version("15.7.0");
    registry.renewal(|library| Library {
        notes: library.notes.clone(),
        renewals: library.renewals + 1,
        ..Library::default()
    });
    registry.composed(&["Cost", "Crash"]);
    registry
        .query()
        .lookup("book", |_, arguments, _| async move {
            let id = arguments.gid("id", &["Book"])?;
            Ok(book(usize::try_from(id - 1).unwrap_or(usize::MAX)))
        })
        .lookup("books", |_, arguments, _| async move {
            Ok(Connection::of_list(&arguments.page()?, books()).into())
        })
        .lookup("shelf", |_, _, _| async move { Ok(Value::List(books())) })
        .lookup("things", |_, _, _| async move {
            Ok(vec![book(0), Value::object("Person", Arc::new(Person { name: "Ada" }))].into())
        })
        .lookup("given", |_, arguments, _| async move {
            let names = ["text", "number", "texts", "genre", "by", "any", "flag", "at"];
            let given = names
                .into_iter()
                .filter(|&name| arguments.has(name))
                .map(|name| (name.to_owned(), arguments.json(name).into()));
            Ok(Value::Json(Json::Object(given.collect())))
        })
        .lookup("cost", |_, arguments, _| async move {
            let cost = arguments.cost();
            Ok(Value::fields("Cost", [("score", cost.score.into()), ("limit", cost.limit.into())]))
        })
        .lookup("crash", |_, arguments, _| async move {
            Err(match arguments.maybe_text("kind").as_deref() {
                Some("TIMEOUT") => Failure::Timeout,
                Some("INTERNAL") => Failure::internal("the cause"),
                Some("EXTENDED") => Failure::WithExtensions(
                    "Spam".to_owned(),
                    json!({ "spam": true, "n": 9_999_999_999_i64 }),
                ),
                Some("LIMITED") => Failure::TooManyRequests,
                _ => Failure::NotFoundOrForbidden,
            })
        })
        .lookup("slow", |_, _, _| async move {
            std::future::pending::<()>().await;
            Ok(Value::Null)
        })
        .lookup("echo", |_, arguments, _| async move { Ok(arguments.text("text")?.into()) })
        .none(&["films", "oldest", "filmCount"]);
    registry
        .object::<Book>("Book")
        .plain("id", |book| Value::gid("Book", book.id))
        .plain("title", |book| book.title.into())
        .plain("missing", |_| Value::Null)
        .plain("huge", |_| Value::Int(1 << 40))
        .plain("raw", |_| Value::Json(json!({ "n": 9_999_999_999_i64 })))
        .plain("oldTitle", |book| book.title.into())
        .lookup("author", |_, _, library| async move {
            library.lookups.fetch_add(1, Ordering::Relaxed);
            Ok(Value::object("Person", Arc::new(Person { name: "Jane" })))
        })
        .lookup("pages", |_, arguments, _| async move {
            Ok(Connection::of_list(&arguments.page()?, Vec::new()).into())
        })
        .once("pages")
        .lookup("sequel", |book, _, _| async move {
            Ok(self::book(usize::try_from(book.id).unwrap_or(usize::MAX)))
        })
        .lookup("dear", |_, _, _| async move { Ok(1.into()) })
        .cost("dear", 126);
    registry
        .object::<Person>("Person")
        .plain("name", |person| person.name.into())
        .lookup("books", |_, arguments, _| async move {
            Ok(Connection::of_list(&arguments.page_up_to(500)?, books()).into())
        })
        .page_limit("books", 500);
    registry.mutation("note", |input, library| async move {
        let text = input.text("text")?;
        if text.is_empty() {
            return Ok(Payload::errors(vec!["Text can't be blank".to_owned()]));
        }
        // Longer texts take longer.
        for _ in 0..text.len() {
            tokio::task::yield_now().await;
        }
        let mut notes = library.notes.lock().map_err(|_cause| Failure::Timeout)?;
        notes.push(text);
        Ok(Payload::new().field("notes", notes.clone()).field("renewals", library.renewals))
    });
    registry.mutation("limited", |_, _| async move { Err(Failure::TooManyRequests) });
    registry.mutation("refused", |_, _| async move { Err(Failure::NotFoundOrForbidden) });
    subscriptions::register(&mut registry);
    registry
}

pub(super) fn limits() -> Limits {
    Limits {
        complexity: 250,
        depth: 20,
        mutations: Mutations::Allowed,
        without_deprecated: false,
        time: Duration::from_secs(30),
    }
}

pub(super) fn built() -> Schema<Library> {
    registry().build().expect("the books fit their resolvers")
}

pub(super) fn query(text: &str) -> Request {
    Request { query: text.to_owned(), ..Request::default() }
}

/// Nothing here waits for anything but the clock.
pub(super) fn now<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(work)
}

pub(super) fn respond(request: Request, limits: Limits) -> Response {
    let schema = built();
    now(schema.execute(request, Arc::new(Library::default()), limits).boxed())
}

/// The answer to a query.
pub(super) fn ask(text: &str) -> Json {
    let response = respond(query(text), limits());
    assert_eq!(response.outcome, Outcome::Answered, "{}", response.body);
    response.body
}

/// The `data` of an answer without errors.
pub(super) fn data(text: &str) -> Json {
    let mut answer = ask(text);
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"].take()
}

/// The message of the first error.
pub(super) fn message(text: &str) -> String {
    let answer = ask(text);
    answer["errors"][0]["message"].as_str().unwrap_or_default().to_owned()
}
