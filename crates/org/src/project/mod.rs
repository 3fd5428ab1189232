//! Projects: a repository with a name, a home and its settings.

pub mod actions;
pub mod archive;
pub mod change;
pub mod creation;
pub mod event;
pub mod forks;
pub mod home;
pub mod import;
pub mod in_group;
pub mod links;
pub mod list;
pub mod model;
pub mod names;
pub mod project_access;
pub mod push;
pub mod readable;
pub mod record;
pub mod removal;
mod rules;
pub mod search;
pub mod settings;
pub mod size_limit;
pub mod stars;
pub mod statistics;
pub mod store;
pub mod topics;
pub mod view;

pub use change::{FeatureChange, ProjectChange};
pub use model::{Project, STORAGE};
pub use rules::possible_description;
pub use settings::{Settings, SettingsChange};
pub use view::{Detail, ProjectView};
