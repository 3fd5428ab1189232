//! The shared fields of issues and merge requests.

use forge::urls::Urls;
use review::{
    item::time::{TimeStats, human},
    label::{Label, text_color},
};
use serde::Serialize;
use utoipa::ToSchema;

/// The project or group to which references are relative.
#[derive(Clone, Debug)]
pub enum ReferenceScope {
    /// Their own project, or no place in particular.
    Home,
    /// A group, by its full path.
    Group(String),
    /// A project, which may be another one, by its full path.
    Project(String),
}

/// References to an item, as used in Markdown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct References {
    pub short: String,
    /// Relative to the project or group of the request.
    pub relative: String,
    pub full: String,
}

impl References {
    /// `short` is `!1` or `#1`; `path` is that of the project.
    pub fn new(short: String, path: &str, from: &ReferenceScope) -> Self {
        let full = format!("{path}{short}");
        let place = match from {
            ReferenceScope::Home => None,
            ReferenceScope::Group(group) => Some(group.as_str()),
            ReferenceScope::Project(project) if project == path => None,
            ReferenceScope::Project(project) => project.rsplit_once('/').map(|(home, _)| home),
        };
        let relative = match (place, path.rsplit_once('/')) {
            (None, _) => short.clone(),
            (Some(place), Some((home, name))) if home == place => format!("{name}{short}"),
            _ => full.clone(),
        };
        Self { short, relative, full }
    }
}

/// Time estimate and time spent: in seconds and in words.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TimeStatsEntity {
    pub time_estimate: i64,
    pub total_time_spent: i64,
    pub human_time_estimate: Option<String>,
    pub human_total_time_spent: Option<String>,
}

impl TimeStatsEntity {
    pub fn new(urls: &Urls, estimate: i64, spent: i64) -> Self {
        let hours_only = urls.hours_only();
        Self {
            time_estimate: estimate,
            total_time_spent: spent,
            human_time_estimate: human(estimate, hours_only),
            human_total_time_spent: human(spent, hours_only),
        }
    }

    pub fn of(urls: &Urls, stats: TimeStats) -> Self {
        Self::new(urls, stats.estimate, stats.spent)
    }
}

/// Number of tasks in the description.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct TaskCompletion {
    pub count: i64,
    pub completed_count: i64,
}

/// Labels of an item: names, or objects when `with_labels_details` is true.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum LabelNames {
    Names(Vec<String>),
    Details(Vec<LabelDetail>),
}

impl LabelNames {
    /// `labels` come in the order of their names.
    pub fn new(labels: &[Label], with_details: bool) -> Self {
        match with_details {
            false => Self::Names(labels.iter().map(|label| label.name.clone()).collect()),
            true => Self::Details(labels.iter().map(LabelDetail::from).collect()),
        }
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LabelDetail {
    pub id: i64,
    pub name: String,
    pub color: String,
    pub description: Option<String>,
    pub description_html: String,
    pub text_color: &'static str,
}

impl From<&Label> for LabelDetail {
    fn from(label: &Label) -> Self {
        Self {
            id: label.id.0,
            name: label.name.clone(),
            color: label.color.clone(),
            description: label.description.clone(),
            description_html: markup::inline(label.description.as_deref().unwrap_or_default()),
            text_color: text_color(&label.color),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ReferenceScope, References};

    #[test]
    fn a_reference_is_as_long_as_it_must_be() {
        for (from, relative) in [
            (ReferenceScope::Home, "!7"),
            (ReferenceScope::Group("a/b".to_owned()), "c!7"),
            (ReferenceScope::Group("a".to_owned()), "a/b/c!7"),
            (ReferenceScope::Project("a/b/c".to_owned()), "!7"),
            (ReferenceScope::Project("a/b/d".to_owned()), "c!7"),
            (ReferenceScope::Project("a/d".to_owned()), "a/b/c!7"),
        ] {
            let all = References::new("!7".to_owned(), "a/b/c", &from);
            assert_eq!((all.relative.as_str(), all.full.as_str()), (relative, "a/b/c!7"));
        }
    }
}
