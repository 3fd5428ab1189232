//! Alerts of monitors, with the projects that they are sent to, the incidents that are opened for them, and the pictures
//! that people add.

mod incidents;
pub mod intake;
pub mod metric_images;
pub mod templates;

pub(crate) use incidents::follow;
pub use incidents::{GrantIncidents, Incidents};
