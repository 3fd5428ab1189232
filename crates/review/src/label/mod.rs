//! Labels of projects and groups.

pub mod actions;
mod color;
pub mod counts;
pub mod event;
pub mod import;
mod model;
pub mod replacement;
mod store;

pub use color::{Color, FIRST_COLOR, text_color};
pub use model::{Label, LabelFilter, LabelName};
pub use store::{LabelDetails, LabelStore, NameEdge};
