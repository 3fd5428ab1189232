//! Alerts: reports of monitoring tools about a project.

pub mod actions;
pub mod assignee;
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

pub use assignee::AssigneeStore;
pub use intake::{
    ALERTS_AT_ONCE, Denial, IntakeResult, Notice, Payload, authorize, is_news, receive,
};
pub use model::{Alert, AlertSeverity, NewAlert};
pub use note::{AlertNote, NoteKind, NoteStore};
pub use settings::{AlertSettings, SettingsStore};
pub use state::{AlertStatus, AlertStep};
pub use store::{AlertFilter, AlertOrder, AlertStore};
