//! The GraphQL language around a schema and its resolvers.
//!
//! A schema is written in the schema definition language, and its fields are resolved by functions that are
//! registered by name: [`Registry`]. A [`Request`] is read, held against the schema and its [`Limits`], and executed:
//! [`Schema`].
//!
//! # What juniper does, and what is done before it
//!
//! The crate juniper executes queries and answers introspection. Its types are made of the schema text at start. Five
//! things are done before a query gets there, because clients rely on answers that juniper gives otherwise or not at
//! all:
//!
//! - The texts of its parser and its validation, and the codes in `extensions`, are its own: `parse` and `validate`
//!   give those that clients know.
//! - It takes no single value for a list in a literal, and coerces variables field by field: `coerce` does both, once.
//! - It resolves the same field twice where two fragments name it, and awaits fragments one after the other: `plan`
//!   merges selections first, so that all fields of an object are resolved at the same time, and those of a mutation
//!   once.
//! - It knows no cost, depth, recursion or fields that a request may have once: `score` does.
//! - The paths of its errors do not tell the elements of lists apart: `execute` numbers them.
//!
//! The document that juniper gets is written from the plan, one field a line, without fragments on concrete types,
//! directives and variables. The number of the line leads from a field of juniper's back to the plan, where its
//! arguments are, already checked; juniper's document only holds placeholders for those that its own validation wants
//! to see.

#![expect(clippy::result_large_err, reason = "an error ends its query and is moved once")]

mod arguments;
mod coerce;
mod connection;
mod directives;
mod document;
mod engine;
mod error;
mod execute;
mod failure;
mod ids;
mod input;
mod lexer;
mod meta;
mod model;
mod mutations;
mod page;
mod parse;
mod payload;
mod plan;
mod print;
mod registry;
mod request;
mod schema;
mod score;
mod selection;
mod subscription;
#[cfg(test)]
mod tests;
mod validate;
mod value;
mod write;

pub use arguments::{Arguments, Cost};
pub use connection::Connection;
pub use failure::Failure;
pub use ids::{ensure_class, number_of, parse_gid};
pub use input::Upload;
pub use page::{Cursor, PAGE_LIMIT, Page};
pub use payload::Payload;
pub use registry::{Fields, Registry};
pub use request::{Limits, Mutations, Outcome, Request, Response};
pub use schema::Schema;
pub use subscription::{Operation, Subscription};
pub use value::{Object, Value, gid};
