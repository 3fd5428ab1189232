//! People, groups, projects, members and tokens.

use crate::route::RouteRow;

pub mod abuse_reports;
pub mod access_requests;
pub mod applications;
pub mod avatar;
pub mod avatars;
pub mod billable_members;
pub mod current_token;
pub mod custom_attribute_params;
pub mod custom_attributes;
pub mod email_confirmation;
pub mod events;
pub mod forks;
pub mod group_list_params;
pub mod group_lists;
pub mod group_params;
pub mod group_projects;
pub mod group_sharing_and_transfer;
pub mod groups;
pub mod impersonation_tokens;
pub mod invitations;
pub mod invites;
pub mod keys;
pub mod linked_groups;
pub mod member_params;
pub mod members;
pub mod namespace_bans;
pub mod namespaces;
pub mod oauth;
pub mod oauth_applications;
pub mod oauth_authorization;
mod oauth_client;
pub mod openid;
pub mod password_and_confirmation_pages;
pub mod personal_access_tokens;
pub mod project_lists;
pub mod project_params;
pub mod project_sharing;
pub mod projects;
pub mod resource_access_tokens;
pub(crate) mod session_cookie;
pub mod session_pages;
pub mod sign_up_pages;
pub mod stars;
pub mod topics;
pub mod uploads;
pub mod user;
pub mod user_associations;
pub mod user_emails;
pub mod user_follows;
pub mod user_gpg_keys;
pub mod user_keys;
pub mod user_moderation;
pub mod user_params;
pub mod user_preferences;
pub mod user_status;
pub mod users;

pub(super) const TABLES: &[&[RouteRow]] = &[
    abuse_reports::ROUTES,
    access_requests::ROUTES,
    applications::ROUTES,
    password_and_confirmation_pages::ROUTES,
    avatar::ROUTES,
    avatars::ROUTES,
    custom_attributes::of_groups::ROUTES,
    custom_attributes::of_projects::ROUTES,
    custom_attributes::of_users::ROUTES,
    email_confirmation::ROUTES,
    events::ROUTES,
    events::of_projects::ROUTES,
    forks::ROUTES,
    group_lists::ROUTES,
    group_sharing_and_transfer::ROUTES,
    group_projects::ROUTES,
    groups::ROUTES,
    impersonation_tokens::ROUTES,
    invitations::ROUTES,
    invites::ROUTES,
    keys::ROUTES,
    linked_groups::ROUTES,
    members::ROUTES,
    namespace_bans::ROUTES,
    namespaces::ROUTES,
    oauth::ROUTES,
    oauth_applications::ROUTES,
    oauth_authorization::ROUTES,
    openid::ROUTES,
    openid::discovery::ROUTES,
    session_pages::ROUTES,
    sign_up_pages::ROUTES,
    personal_access_tokens::ROUTES,
    project_lists::ROUTES,
    project_sharing::ROUTES,
    projects::ROUTES,
    resource_access_tokens::ROUTES,
    billable_members::ROUTES,
    stars::ROUTES,
    current_token::ROUTES,
    topics::ROUTES,
    uploads::ROUTES,
    user::ROUTES,
    user_emails::ROUTES,
    user_follows::ROUTES,
    user_gpg_keys::ROUTES,
    user_keys::ROUTES,
    user_preferences::ROUTES,
    user_moderation::ROUTES,
    user_status::ROUTES,
    user_associations::ROUTES,
    users::ROUTES,
];
