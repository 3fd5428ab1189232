//! All that is asked of one commit at one time.

pub mod actions;
mod activity;
mod advance;
mod auto_cancel;
pub mod control;
pub mod creation;
mod figures;
mod list;
mod model;
mod new_pipeline;
mod scope;
mod state;
mod statistics;
mod store;
pub(crate) mod variable;

pub use activity::ActivityStore;
pub(crate) use advance::{advance, advance_others};
pub use creation::{Content, PlanWithSpecs};
pub use list::{
    MergeRequestPipelines, NewestOfRefs, PipelineFilter, PipelineListStore, PipelineOrder,
};
pub use model::{ConfigSource, Pipeline, PipelineRef, Source};
pub use new_pipeline::{NewPipeline, Parent};
pub use scope::PipelineScope;
pub use statistics::{CoverageFigures, DayFigures, PipelineStatistics, PipelineTime, has_coverage};
pub use store::PipelineStore;
pub(crate) use variable::{LONGEST_NAME, LONGEST_VALUE};
pub use variable::{PipelineVariable, PipelineVariableStore, VariableType};
