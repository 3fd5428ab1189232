//! People, groups, projects, members and tokens.

use crate::resources;

pub mod custom_attribute_params;
pub mod group_list_params;
pub mod group_params;
pub mod member_params;
mod oauth_client;
mod own_forms;
pub mod project_params;
pub(crate) mod session_cookie;
pub mod user_params;

resources! {
    abuse_reports,
    access_requests,
    applications,
    password_and_confirmation_pages,
    avatar,
    avatars,
    custom_attributes { of_groups, of_projects, of_users },
    email_confirmation,
    events { self, of_projects },
    forks,
    group_lists,
    group_sharing_and_transfer,
    group_projects,
    groups,
    impersonation_tokens,
    invitations,
    invites,
    keys,
    linked_groups,
    members,
    namespace_bans,
    namespaces,
    oauth,
    oauth_applications,
    oauth_authorization,
    openid { self, discovery },
    session_pages,
    sign_up_pages,
    personal_access_tokens,
    project_lists,
    project_sharing,
    projects,
    resource_access_tokens,
    billable_members,
    stars,
    current_token,
    topics,
    uploads,
    user,
    user_emails,
    user_follows,
    user_gpg_keys,
    user_keys,
    user_preferences,
    user_moderation,
    user_status,
    user_associations,
    users,
}
