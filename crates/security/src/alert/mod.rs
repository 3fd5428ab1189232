//! An alert: something that a monitor saw in what a project runs.

pub mod actions;
mod generic;
mod incident;
mod intake;
mod model;
mod note;
mod parts;
mod prometheus;
mod settings;
mod state;
mod store;

pub use intake::{ALERTS_AT_ONCE, Denial, Notice, Payload, Received, authorize, is_news, receive};
pub use model::{Alert, AlertSeverity, NewAlert};
pub use note::{AlertNote, NoteKind, NoteStore};
pub use settings::{AlertSettings, SettingsStore};
pub use state::{AlertStatus, AlertStep};
pub use store::{AlertFilter, AlertStore};
