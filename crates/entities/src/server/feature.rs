//! Features of the installation.

use admin::feature::{Feature, Gate, State};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct FeatureEntity {
    pub name: String,
    /// `on`, `off` or `conditional`.
    #[schema(value_type = String)]
    pub state: State,
    pub gates: Vec<GateEntity>,
    /// Always null: no feature has a definition.
    pub definition: Option<FeatureDefinition>,
}

/// Gate of a feature flag: boolean, percentage or actors.
#[derive(Debug, Serialize, ToSchema)]
pub struct GateEntity {
    #[schema(value_type = String)]
    pub key: Gate,
    /// A boolean, a percentage, or a list of names.
    #[schema(value_type = Object)]
    pub value: Value,
}

/// Definition of a feature flag.
#[derive(Debug, Serialize, ToSchema)]
pub struct FeatureDefinition {
    pub name: String,
}

impl From<Feature> for FeatureEntity {
    fn from(feature: Feature) -> Self {
        let mut gates = vec![GateEntity { key: Gate::Boolean, value: json!(feature.boolean) }];
        for (key, names) in [(Gate::Actors, &feature.actors), (Gate::Groups, &feature.groups)] {
            if !names.is_empty() {
                gates.push(GateEntity { key, value: json!(names) });
            }
        }
        for (key, part) in [
            (Gate::PercentageOfActors, feature.percentage_of_actors),
            (Gate::PercentageOfTime, feature.percentage_of_time),
        ] {
            if part != 0 {
                gates.push(GateEntity { key, value: json!(part) });
            }
        }
        Self { state: feature.state(), name: feature.name, gates, definition: None }
    }
}
