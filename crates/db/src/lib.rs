//! Connections, transactions, schema, outbox: the only crate that knows there are two databases.

mod any_backend;
pub mod archive;
mod cause;
pub mod checksum;
mod columns;
mod commit_number;
mod count;
mod database;
mod error;
mod figures;
mod folded;
mod fragment;
pub mod keyset;
pub mod listing;
mod migrations;
mod one_of;
mod origin;
pub mod outbox;
mod piece;
mod pool;
mod postgres;
mod retry;
mod row_set;
pub mod schema;
mod sqlite;
pub mod stamp;
mod statement;
mod subselect;
#[cfg(feature = "testing")]
pub mod testing;
pub mod trigram;
mod tx;
mod wide_table;

pub use any_backend::AnyBackend;
pub use cause::{caused_by, spawn};
#[doc(hidden)]
pub use columns::writes_text;
pub use columns::{Columns, columns};
pub use commit_number::LostCommits;
pub use count::CountOf;
pub use database::{Database, Listener, Location};
pub use error::{error, is_duplicate};
pub use figures::register_metrics;
pub use folded::{LowerCase, lower};
pub use fragment::Fragment;
pub use one_of::{IsOneOf, OneOf};
pub use origin::{Origin, with_origin};
pub use row_set::RowSet;
pub use subselect::{Subselect, SubselectText};
pub use tx::{Conn, Tx};
#[doc(hidden)]
pub use wide_table::read_column;

#[doc(hidden)]
pub use diesel;
