//! Groups and projects that are fetched from another installation.

mod model;
mod state;
mod store;

pub use model::{
    BulkImport, BulkImportEntity, BulkImportFailure, EntityKind, FetchEntity, NewBulkImport,
    NewEntity, SourceAccess,
};
pub use state::{BulkStatus, BulkStep};
pub use store::{BulkImportStore, EntityColumns};
