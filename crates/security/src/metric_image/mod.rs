//! A metric image: a picture of what a monitor showed, which somebody adds to an alert.

pub mod actions;
mod model;
mod store;

pub use model::{ImageDetails, MetricImage};
pub(crate) use model::{is_image_text, is_image_url};
pub use store::MetricImageStore;
