//! Groups, projects and what is in them.

use super::form::{Form, Preset, Setting, choice, choices, special, switch, typed};

const LEVEL: Form = Form::Choice { words: &["private", "internal", "public"], empty: &[] };

const SOURCES: &[&str] = &[
    "github",
    "bitbucket",
    "bitbucket_server",
    "gitlab",
    "fogbugz",
    "git",
    "gitlab_project",
    "gitea",
    "manifest",
    "phabricator",
];

pub(super) const ROWS: &[Setting] = &[
    typed("default_branch_name", Form::Text { most: 244 }),
    typed("default_branch_protection", Form::Number(&[0, 1, 2, 3])),
    typed("default_group_visibility", LEVEL),
    typed("default_project_creation", Form::Number(&[0, 1, 2])),
    typed("default_project_visibility", LEVEL),
    choice("default_snippet_visibility", "private", &["private", "internal", "public"]),
    choices("import_sources", SOURCES, SOURCES).acts(),
    switch("project_export_enabled", true).acts(),
    special("restricted_visibility_levels", Form::Levels, Preset::Typed).acts(),
    switch("time_tracking_limit_to_hours", false).acts(),
];
