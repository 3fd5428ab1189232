//! The GraphQL language around a schema and its resolvers.
//!
//! A schema is written in the schema definition language, and its fields are resolved by functions that are
//! registered by name: [`Registry`]. A [`Request`] is read, held against the schema and its [`Limits`], and executed:
//! [`Schema`].
//!
//! # What juniper does, and what is done here
//!
//! The crate juniper describes the schema: its types are made of the schema text at start, and it answers
//! introspection. Queries are read, checked and executed here, because clients rely on answers that juniper gives
//! otherwise or not at all:
//!
//! - The texts of its parser and its validation, and the codes in `extensions`, are its own: `parse` and `validate`
//!   give those that clients know.
//! - It takes no single value for a list in a literal, and coerces variables field by field: `coerce` does both, once.
//! - It resolves the same field twice where two fragments name it, and awaits fragments one after the other: `plan`
//!   merges selections first, so that all fields of an object are resolved at the same time, and those of a mutation
//!   once.
//! - It knows no cost, depth, recursion or fields that a request may have once: `score` does.
//! - The paths of its errors do not tell the elements of lists apart: `answer` numbers them.
//! - It makes a boxed future of each field of each object, also of those that are there already: `execute` makes one
//!   for what is looked up only, and awaits all of a request together. A board of twenty issues takes less than half
//!   of the time.

#![expect(clippy::result_large_err, reason = "an error ends its query and is moved once")]

mod answer;
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
mod introspection;
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
mod versions;

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
