//! Imports: projects whose contents come from elsewhere, how far they have come, and what could not be brought along.

mod model;
mod stage;
mod stats;
mod status;
mod store;

pub use model::{
    Credentials, Import, ImportFailure, ImportKind, NewImport, OptionalStages, Origin,
};
pub use stage::Stage;
pub use stats::{ImportStats, Relation};
pub use status::{ImportStatus, ImportStep};
pub use store::{ImportProgress, ImportStore, NewFailure, OmittedRow};
