//! Exports: lists of vulnerabilities as files. They are written in the background, and gone after an hour.

pub mod actions;
pub mod csv;
mod inspect;
mod model;
mod state;
mod store;

pub use actions::{Creation, NewExport};
pub use model::{Export, ExportScope, RemoveExports, WriteExport};
pub use state::{Status, Step};
pub use store::ExportStore;
