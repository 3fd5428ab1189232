//! Parameters of labels, in projects and groups alike.

use review::label::{
    LabelName,
    actions::{LabelChange, NewLabel},
};

use crate::{
    extract::{Change, NonEmpty},
    params,
};

params! {
    pub struct OneLabel {
        /// ID or name.
        label_id: String,
    }
}

impl OneLabel {
    pub(super) fn name(&self) -> LabelName {
        LabelName::parse(&self.label_id)
    }
}

params! {
    pub struct CreateLabel {
        name: String,
        /// Color as `#rrggbb` or CSS color name.
        color: String,
        description: Option<String>,
        /// Priority in the project; 0 is the highest.
        priority: Option<i64>,
    }
}

impl From<CreateLabel> for NewLabel {
    fn from(params: CreateLabel) -> Self {
        let CreateLabel { name, color, description, priority } = params;
        Self { name, color, description, priority }
    }
}

params! {
    pub struct ChangeLabel {
        new_name: Option<String>,
        color: Option<String>,
        description: Change<String>,
        /// Null removes it.
        priority: Change<i64>,
    } with at_least_one("new_name", "color", "description", "priority");
}

impl From<ChangeLabel> for LabelChange {
    fn from(params: ChangeLabel) -> Self {
        Self {
            name: params.new_name,
            color: params.color,
            description: params.description.into_update(),
            priority: params.priority.into_update(),
        }
    }
}

params! {
    /// The older way to name the label: in the parameters.
    pub struct NamedLabel {
        label_id: Option<String>,
        name: Option<NonEmpty>,
    } with exactly_one("label_id", "name");
}

impl NamedLabel {
    pub(super) fn named(&self) -> LabelName {
        match (&self.label_id, &self.name) {
            (Some(id), _) => LabelName::parse(id),
            (None, Some(name)) => LabelName::Name(name.0.clone()),
            (None, None) => LabelName::Name(String::new()),
        }
    }
}

params! {
    pub struct ListLabels: paged {
        /// Whether to include the number of issues and merge requests of each label.
        with_counts: bool = false,
        /// Whether to include labels of ancestor groups.
        include_ancestor_groups: bool = true,
        /// Part of the name or description.
        search: Option<String>,
    }
}

params! {
    /// What lists of a group take besides.
    pub struct ListGroupLabels: paged {
        include_descendant_groups: bool = false,
        /// Whether to leave out labels of projects.
        only_group_labels: bool = true,
    }
}
