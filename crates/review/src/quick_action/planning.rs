//! Quick actions that say how an issue is planned, and no longer: its days, its weight, and how bad it is.

use kernel::{TextEnum as _, Ts, values::LARGEST_INTEGER};
use serde_json::{Value, json};

use super::{
    apply::{ActionContext, Row},
    day::day,
    table::Effect,
};
use crate::{
    issue::{HealthStatus, IssueType, Severity},
    ports::{Branches, Forge},
};

impl<F: Forge + Branches> ActionContext<'_, F> {
    /// Notes what one command wants; whether it is one of these.
    pub(super) fn plan(&mut self, now: Ts, effect: Effect, argument: &str) -> bool {
        match effect {
            Effect::Due => self.due(now, argument),
            Effect::Confidential => {
                self.wanted.confidential = true;
                self.changed("confidential", json!(true), "Made this issue confidential.");
            }
            Effect::Weight => self.weight(argument),
            Effect::Severity => self.severity(argument),
            Effect::HealthStatus => self.health(argument),
            Effect::RemoveMilestone
            | Effect::RemoveDueDate
            | Effect::ClearWeight
            | Effect::ClearHealthStatus => self.clear(effect),
            _ => return false,
        }
        true
    }

    fn clear(&mut self, effect: Effect) {
        let (field, summary) = match effect {
            Effect::RemoveMilestone => {
                self.wanted.milestone = Some(None);
                ("milestone_id", "Removed milestone.")
            }
            Effect::RemoveDueDate => {
                self.wanted.due = Some(None);
                ("due_date", "Removed the due date.")
            }
            Effect::ClearWeight => {
                self.wanted.weight = Some(None);
                ("weight", "Cleared weight.")
            }
            Effect::ClearHealthStatus => {
                self.wanted.health = Some(None);
                ("health_status", "Cleared health status.")
            }
            _ => return,
        };
        self.changed(field, Value::Null, summary);
    }

    fn due(&mut self, now: Ts, argument: &str) {
        let Some(day) = day(now, argument) else { return };
        let text = kernel::time::date_text(day.date());
        self.wanted.due = Some(Some(day));
        self.changed("due_date", json!(text), format!("Set the due date to {text}."));
    }

    fn weight(&mut self, argument: &str) {
        let is_weight = |weight: &i64| (0..=LARGEST_INTEGER).contains(weight);
        let Some(weight) = argument.parse().ok().filter(is_weight) else { return };
        self.wanted.weight = Some(Some(weight));
        self.changed("weight", json!(weight), format!("Set weight to {weight}."));
    }

    fn severity(&mut self, argument: &str) {
        let is_incident =
            matches!(&self.row, Row::Issue(issue) if issue.issue_type == IssueType::Incident);
        if !is_incident {
            return;
        }
        let name = argument.to_lowercase();
        let number = match name.as_str() {
            "s1" => "critical",
            "s2" => "high",
            "s3" => "medium",
            "s4" => "low",
            name => name,
        };
        let Some(severity) = Severity::find(number) else { return };
        self.wanted.severity = Some(severity);
        self.changed("severity", json!(severity), format!("Set the severity to {severity}."));
    }

    fn health(&mut self, argument: &str) {
        let Some(health) = HealthStatus::find(&argument.to_lowercase()) else { return };
        self.wanted.health = Some(Some(health));
        self.changed("health_status", json!(health), format!("Set health status to {health}."));
    }
}
