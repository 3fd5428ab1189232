//! Epics of groups: what issues of several projects work towards.

pub mod actions;
pub mod children;
mod content;
mod event;
pub mod issues;
pub mod list;
mod model;
mod order;
pub mod promotion;
mod store;
mod visible;

pub use content::{ReadableContent, readable_content};
pub use event::{Event, Fact};
pub use issues::EpicName;
pub use model::{DateRange, Epic};
pub(crate) use order::first_place;
pub(crate) use store::delete;
pub use store::{EpicStore, forget_gone};
pub(crate) use visible::condition;
pub use visible::readable;
