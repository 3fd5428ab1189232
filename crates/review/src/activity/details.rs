//! What an event tells beside its target: what a push moved, or which page of a wiki it is about.

use serde::{Deserialize, Serialize};

kernel::text_enum! {
    /// The action of a push on a ref.
    pub enum RefAction { Created = "created", Pushed = "pushed", Removed = "removed" }
}

kernel::text_enum! {
    pub enum RefType { Branch = "branch", Tag = "tag" }
}

/// What a push moved: one ref, or many that are told of together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushDetails {
    pub commit_count: i64,
    pub action: RefAction,
    pub ref_type: RefType,
    /// The ref's commit before and after; `None` where it was not there.
    pub commit_from: Option<String>,
    pub commit_to: Option<String>,
    /// The short name; `None` where many refs moved.
    #[serde(rename = "ref")]
    pub ref_name: Option<String>,
    pub commit_title: Option<String>,
    /// The number of refs, where they are told of together.
    pub ref_count: Option<usize>,
}

/// A page of a wiki, as it was called then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WikiPageDetails {
    pub format: String,
    pub slug: String,
    pub title: String,
}
