//! Alerts of monitors, with the projects that they are sent to and the incidents that are opened for them.

mod incidents;
pub mod intake;

pub use incidents::Incidents;
