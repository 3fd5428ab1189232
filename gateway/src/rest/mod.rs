//! The REST API: one file per resource, each opening with its table of routes.

use crate::{route::RouteRow, web};

pub mod access_params;
pub mod access_requests;
pub mod account_pages;
pub mod approval_params;
pub mod approval_rules;
pub mod approvals;
pub mod archive;
pub mod avatar;
pub mod avatars;
pub mod award_emoji;
pub mod blame;
mod blame_lines;
pub mod blobs;
pub mod branches;
pub mod changelog;
pub mod choices;
pub mod ci_lint;
pub mod commit_actions;
pub mod commit_comments;
pub mod commit_discussions;
pub mod commit_statuses;
pub mod commits;
pub mod compare;
mod compared_commits;
pub mod contributors;
pub mod custom_attribute_params;
pub mod custom_attributes;
pub mod discussions;
pub mod documents;
pub mod email_confirmation;
pub mod epic_children;
pub mod epic_issues;
pub mod epic_notes;
pub mod epic_params;
pub mod epics;
pub mod events;
pub mod files;
pub mod forks;
pub mod group_list_params;
pub mod group_lists;
pub mod group_moves;
pub mod group_params;
pub mod group_projects;
pub mod group_push_rule;
pub mod groups;
pub mod health;
pub mod impersonation_tokens;
pub mod instance_push_rule;
pub mod invitations;
pub mod invites;
pub mod issue_links;
pub mod issue_list_params;
pub mod issue_lists;
pub mod issue_merge_requests;
pub mod issue_moves;
pub mod issue_params;
pub mod issues;
pub mod item_list_params;
pub mod item_params;
pub mod iterations;
pub mod keys;
pub mod label_params;
pub mod labels;
pub mod linked_groups;
pub mod markdown;
pub mod member_params;
pub mod members;
pub mod merge_base;
pub mod merge_request_approval_rules;
pub mod merge_request_approvals;
pub mod merge_request_contents;
pub mod merge_request_context;
pub mod merge_request_list_params;
pub mod merge_request_lists;
pub mod merge_request_merging;
pub mod merge_request_params;
pub mod merge_request_people;
pub mod merge_request_relations;
pub mod merge_requests;
pub mod milestone_items;
pub mod milestone_params;
pub mod milestones;
pub mod namespace_bans;
pub mod namespaces;
pub mod note_params;
pub mod notes;
pub mod oauth;
pub mod people;
pub mod people_named;
pub mod personal_access_tokens;
pub mod pipelines;
pub mod project_lists;
pub mod project_params;
pub mod project_push_rule;
pub mod project_repository;
pub mod project_sharing;
pub mod projects;
pub mod protected_branches;
pub mod protected_tags;
pub mod push_rule_calls;
pub mod push_rule_params;
pub mod resource_access_tokens;
pub mod resource_events;
pub mod seats;
pub mod settings;
pub mod small_numbers;
pub mod stars;
pub mod tags;
pub mod time_tracking;
pub mod todos;
pub mod token_in_use;
pub mod tree;
pub mod uploads;
pub mod user;
pub mod user_emails;
pub mod user_follows;
pub mod user_gpg_keys;
pub mod user_keys;
pub mod user_params;
pub mod user_preferences;
pub mod user_states;
pub mod user_status;
pub mod user_surveys;
pub mod users;
pub mod version;
pub mod wiki_files;
pub mod wikis;

/// All tables.
#[expect(clippy::too_many_lines, reason = "a line for each resource")]
pub fn tables() -> Vec<&'static [RouteRow]> {
    vec![
        seats::ROUTES,
        invitations::ROUTES,
        invites::ROUTES,
        access_requests::ROUTES,
        account_pages::ROUTES,
        approval_rules::ROUTES,
        approvals::ROUTES,
        archive::ROUTES,
        avatars::ROUTES,
        award_emoji::ROUTES,
        award_emoji::of_epics::ROUTES,
        avatar::ROUTES,
        blame::ROUTES,
        blobs::ROUTES,
        branches::ROUTES,
        changelog::ROUTES,
        ci_lint::ROUTES,
        commit_actions::ROUTES,
        commit_comments::ROUTES,
        commit_discussions::ROUTES,
        commit_statuses::ROUTES,
        commits::ROUTES,
        compare::ROUTES,
        contributors::ROUTES,
        custom_attributes::of_groups::ROUTES,
        custom_attributes::of_projects::ROUTES,
        custom_attributes::of_users::ROUTES,
        discussions::ROUTES,
        documents::ROUTES,
        email_confirmation::ROUTES,
        epic_issues::ROUTES,
        epic_notes::ROUTES,
        epic_notes::discussions::ROUTES,
        epics::ROUTES,
        epic_children::ROUTES,
        events::ROUTES,
        events::of_projects::ROUTES,
        files::ROUTES,
        forks::ROUTES,
        group_lists::ROUTES,
        group_projects::ROUTES,
        group_push_rule::ROUTES,
        group_moves::ROUTES,
        groups::ROUTES,
        health::ROUTES,
        impersonation_tokens::ROUTES,
        issue_links::ROUTES,
        issue_lists::ROUTES,
        issue_merge_requests::ROUTES,
        issue_moves::ROUTES,
        issues::ROUTES,
        iterations::ROUTES,
        keys::ROUTES,
        instance_push_rule::ROUTES,
        labels::ROUTES,
        linked_groups::ROUTES,
        markdown::ROUTES,
        members::ROUTES,
        merge_base::ROUTES,
        merge_request_approval_rules::ROUTES,
        merge_request_approvals::ROUTES,
        merge_request_contents::ROUTES,
        merge_request_context::ROUTES,
        merge_request_lists::ROUTES,
        merge_request_people::ROUTES,
        merge_request_relations::ROUTES,
        merge_requests::ROUTES,
        merge_request_merging::ROUTES,
        milestone_items::ROUTES,
        milestones::ROUTES,
        namespace_bans::ROUTES,
        namespaces::ROUTES,
        notes::ROUTES,
        oauth::ROUTES,
        personal_access_tokens::ROUTES,
        pipelines::ROUTES,
        resource_access_tokens::ROUTES,
        resource_events::ROUTES,
        project_lists::ROUTES,
        project_push_rule::ROUTES,
        project_repository::ROUTES,
        project_sharing::ROUTES,
        projects::ROUTES,
        protected_branches::ROUTES,
        protected_tags::ROUTES,
        settings::ROUTES,
        stars::ROUTES,
        tags::ROUTES,
        time_tracking::ROUTES,
        todos::ROUTES,
        token_in_use::ROUTES,
        tree::ROUTES,
        user::ROUTES,
        user_emails::ROUTES,
        user_follows::ROUTES,
        user_gpg_keys::ROUTES,
        user_keys::ROUTES,
        user_preferences::ROUTES,
        user_status::ROUTES,
        user_surveys::ROUTES,
        user_states::ROUTES,
        users::ROUTES,
        version::ROUTES,
        wiki_files::ROUTES,
        wikis::ROUTES,
        uploads::ROUTES,
        web::archive::ROUTES,
        web::pages::ROUTES,
        web::raw::ROUTES,
    ]
}
