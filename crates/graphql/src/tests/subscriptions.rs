//! Subscriptions to what people read.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{Library, book, built, limits, now, query};
use crate::{Failure, Limits, Operation, Registry, Schema, Subscription};

/// Somebody read a book.
struct Reading {
    by: &'static str,
    book: usize,
}

pub(super) fn register(registry: &mut Registry<Library>) {
    registry.subscription(
        "read",
        |arguments, _| async move {
            let by = arguments.text("by")?;
            match by.as_str() {
                "nobody" => Err(Failure::NotFoundOrForbidden),
                _ => Ok(move |reading: &Reading| reading.by == by),
            }
        },
        |reading: Arc<Reading>, _, _| async move {
            match reading.book {
                9 => Ok(None),
                8 => Err(Failure::message("The book is lost")),
                number => Ok(Some(book(number))),
            }
        },
    );
    registry.subscription(
        "closed",
        |_, _| async move { Ok(|_: &String| true) },
        |why: Arc<String>, _, _| async move { Ok(Some(why.as_str().into())) },
    );
}

fn begin(schema: &Schema<Library>, text: &str) -> Result<Box<Subscription>, Json> {
    begin_within(schema, text, limits())
}

fn begin_within(
    schema: &Schema<Library>,
    text: &str,
    limits: Limits,
) -> Result<Box<Subscription>, Json> {
    match now(schema.begin(query(text), Arc::new(Library::default()), limits)) {
        Operation::Subscription(subscription) => Ok(subscription),
        Operation::Answer(answer) => Err(answer.body),
    }
}

fn told(schema: &Schema<Library>, subscription: &Subscription, event: Reading) -> Option<Json> {
    let answer = schema.answer_event(subscription, Arc::new(event), Arc::new(Library::default()));
    now(answer).map(|answer| answer.body)
}

const READ: &str = r#"subscription { read(by: "Ada") { id title author { name } } }"#;

#[test]
fn each_event_is_answered_with_what_was_selected() {
    let schema = built();
    let subscription = begin(&schema, READ).expect("a subscription");
    let shown = |number: usize| told(&schema, &subscription, Reading { by: "Ada", book: number });
    let emma =
        json!({ "id": "gid://gitlab/Book/1", "title": "Emma", "author": { "name": "Jane" } });
    assert_eq!(shown(0), Some(json!({ "data": { "read": emma } })));
    assert_eq!(shown(1).expect("an answer")["data"]["read"]["title"], "Dune");
}

#[test]
fn only_events_that_concern_it_reach_a_subscription() {
    let schema = built();
    let subscription = begin(&schema, READ).expect("a subscription");
    assert!(subscription.concerns(&Reading { by: "Ada", book: 0 }));
    assert!(!subscription.concerns(&Reading { by: "Bob", book: 0 }));
    assert!(!subscription.concerns(&"something else".to_owned()));
}

#[test]
fn whoever_may_not_know_of_an_event_is_told_nothing() {
    let schema = built();
    let subscription = begin(&schema, READ).expect("a subscription");
    assert_eq!(told(&schema, &subscription, Reading { by: "Ada", book: 9 }), None);
    let lost = told(&schema, &subscription, Reading { by: "Ada", book: 8 }).expect("an answer");
    assert_eq!(lost["data"], json!({ "read": null }));
    assert_eq!(lost["errors"][0]["message"], "The book is lost");
    assert_eq!(lost["errors"][0]["path"], json!(["read"]));
}

#[test]
fn whoever_may_not_subscribe_hears_why() {
    let refused = begin(&built(), r#"subscription { read(by: "nobody") { id } }"#).err();
    let refused = refused.expect("a refusal");
    assert_eq!(refused["data"], json!({ "read": null }));
    assert_eq!(refused["errors"][0]["message"], Failure::NotFoundOrForbidden.to_string());
}

#[test]
fn a_subscription_has_one_field_and_the_limits_of_queries() {
    let schema = built();
    let two = r#"subscription { closed read(by: "Ada") { id } }"#;
    let refused = begin(&schema, two).err().expect("a refusal");
    assert_eq!(
        refused["errors"][0]["message"],
        "A subscription operation may only have one selection"
    );
    assert_eq!(refused["errors"][0]["extensions"]["code"], "notSingleSubscription");
    let narrow = Limits { complexity: 1, ..limits() };
    let refused = begin_within(&schema, READ, narrow).err().expect("a refusal");
    let message = refused["errors"][0]["message"].as_str().expect("a message").to_owned();
    assert!(message.starts_with("Query has complexity of"), "{message}");
    let unknown = begin(&schema, "subscription { x }").err().expect("a refusal");
    assert_eq!(unknown["errors"][0]["extensions"]["typeName"], "Subscription");
}

#[test]
fn what_is_answered_once_is_answered_at_once() {
    let answer = begin(&built(), r#"{ echo(text: "hi") }"#).err();
    assert_eq!(answer, Some(json!({ "data": { "echo": "hi" } })));
}

#[test]
fn a_plain_request_cannot_subscribe() {
    let answer = super::ask(READ);
    let message = answer["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("text/event-stream"), "{message}");
}

#[test]
fn the_schema_tells_of_its_subscriptions() {
    let data = super::data("{ __schema { subscriptionType { name fields { name } } } }");
    let kind = &data["__schema"]["subscriptionType"];
    assert_eq!(kind["name"], "Subscription");
    assert!(kind["fields"].as_array().is_some_and(|fields| fields.len() == 2), "{kind}");
    assert!(built().sdl().contains("  subscription: Subscription\n"));
}
