//! Details of a user beyond the basic record.

use kernel::{AccessLevel, Ts};
use org::{
    preference::Preferences,
    status::{Availability, Status, emoji},
    user::User,
    user_activity::{Associations, SourceKind, UserMembership},
};
use review::{contribution_count::ContributionCount, todo::open_counts::AssignmentCounts};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct StatusEntity {
    emoji: Option<String>,
    message: Option<String>,
    #[schema(value_type = Option<String>)]
    availability: Option<Availability>,
    message_html: String,
    #[schema(value_type = Option<String>)]
    clear_status_at: Option<Ts>,
}

impl From<Option<Status>> for StatusEntity {
    fn from(status: Option<Status>) -> Self {
        let (availability, clear_status_at) =
            status.as_ref().map(|status| (status.availability, status.clear_status_at)).unzip();
        let (emoji, message) = status.map(|status| (status.emoji, status.message)).unzip();
        let message = message.flatten();
        Self {
            emoji,
            message_html: message.as_deref().map(emoji::html).unwrap_or_default(),
            message,
            availability,
            clear_status_at: clear_status_at.flatten(),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PreferencesEntity {
    /// Null where nothing is stored yet and the server takes no writes.
    id: Option<i64>,
    user_id: i64,
    view_diffs_file_by_file: bool,
    show_whitespace_in_diffs: bool,
}

impl From<Preferences> for PreferencesEntity {
    fn from(preferences: Preferences) -> Self {
        Self {
            id: Some(preferences.id).filter(|id| *id != 0),
            user_id: preferences.user_id.0,
            view_diffs_file_by_file: preferences.view_diffs_file_by_file,
            show_whitespace_in_diffs: preferences.show_whitespace_in_diffs,
        }
    }
}

/// Number of items that wait for the caller.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountsEntity {
    /// Same as `assigned_merge_requests`; deprecated.
    merge_requests: i64,
    assigned_issues: i64,
    assigned_merge_requests: i64,
    review_requested_merge_requests: i64,
    todos: i64,
}

impl From<AssignmentCounts> for CountsEntity {
    fn from(waiting: AssignmentCounts) -> Self {
        Self {
            merge_requests: waiting.merge_requests,
            assigned_issues: waiting.issues,
            assigned_merge_requests: waiting.merge_requests,
            review_requested_merge_requests: waiting.reviews,
            todos: waiting.todos,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct UserActivityEntity {
    username: String,
    last_activity_on: Option<String>,
    /// Same as `last_activity_on`; deprecated.
    last_activity_at: Option<String>,
}

impl From<User> for UserActivityEntity {
    fn from(user: User) -> Self {
        let day = user.last_activity_at.map(|at| kernel::time::date_text(at.date()));
        Self { username: user.username, last_activity_on: day.clone(), last_activity_at: day }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BelongingEntity {
    source_id: i64,
    source_name: String,
    #[schema(value_type = String)]
    source_type: SourceKind,
    #[schema(value_type = i32)]
    access_level: AccessLevel,
}

impl From<UserMembership> for BelongingEntity {
    fn from(belonging: UserMembership) -> Self {
        Self {
            source_id: belonging.source_id,
            source_name: belonging.source_name,
            source_type: belonging.source_kind,
            access_level: belonging.access_level,
        }
    }
}

/// Number of memberships and contributions of a user.
#[derive(Debug, Serialize, ToSchema)]
pub struct AssociationsEntity {
    groups_count: i64,
    projects_count: i64,
    issues_count: i64,
    merge_requests_count: i64,
}

impl From<(Associations, ContributionCount)> for AssociationsEntity {
    fn from((counted, written): (Associations, ContributionCount)) -> Self {
        Self {
            groups_count: counted.groups,
            projects_count: counted.projects,
            issues_count: written.issues,
            merge_requests_count: written.merge_requests,
        }
    }
}
