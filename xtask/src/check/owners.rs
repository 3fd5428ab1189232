//! Each table has one owning crate, and only that crate names it, in queries and in SQL that is written as text.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::outcome::{Outcome, none};
use crate::{
    schema, source,
    workspace::{files, packages, root, shown},
};

/// Who owns which tables.
const OWNERS: &[(&str, &[&str])] = &[
    (
        "db",
        &[
            "outbox",
            "event_cursors",
            "ref_checksums",
            "file_checksums",
            "project_access",
            "namespace_access",
            "stamps",
        ],
    ),
    ("worker", &["work", "work_schedules"]),
    (
        "org",
        &[
            "users",
            "user_profiles",
            "user_callouts",
            "user_emails",
            "user_statuses",
            "user_preferences",
            "user_sessions",
            "user_follows",
            "ssh_keys",
            "gpg_keys",
            "gpg_subkeys",
            "x509_issuers",
            "x509_certificates",
            "user_accounts",
            "user_identities",
            "access_tokens",
            "oauth_applications",
            "oauth_client_tokens",
            "oauth_codes",
            "oauth_signing_keys",
            "namespaces",
            "redirects",
            "projects",
            "project_settings",
            "project_statistics",
            "project_languages",
            "topics",
            "project_topics",
            "project_stars",
            "project_group_links",
            "group_group_links",
            "members",
            "namespace_bans",
            "project_downloads",
            "seats",
            "seat_lists",
            "ldap_group_links",
            "saml_group_links",
            "access_requests",
            "member_invitations",
            "daily_invites",
            "instance_settings",
            "custom_attributes",
        ],
    ),
    (
        "review",
        &[
            "sequences",
            "project_issue_counts",
            "labels",
            "label_priorities",
            "label_subscriptions",
            "boards",
            "board_labels",
            "board_lists",
            "board_visits",
            "collapsed_board_lists",
            "milestones",
            "epics",
            "iteration_cadences",
            "iterations",
            "issues",
            "issue_origins",
            "merge_requests",
            "merge_request_rebases",
            "merge_request_versions",
            "merge_request_reviewers",
            "merge_request_context_commits",
            "merge_request_commits",
            "item_labels",
            "merge_request_closes",
            "item_assignees",
            "item_subscriptions",
            "timelogs",
            "issue_links",
            "notes",
            "todos",
            "award_emoji",
            "item_participants",
            "item_mentions",
            "events",
            "resource_events",
            "approval_settings",
            "approval_rules",
            "approval_rule_users",
            "approval_rule_groups",
            "approval_rule_branches",
            "approvals",
            "merge_request_rules",
            "merge_request_committers",
        ],
    ),
    (
        "ci",
        &[
            "pipelines",
            "pipeline_numbers",
            "pipeline_variables",
            "jobs",
            "job_specs",
            "job_logs",
            "job_artifacts",
            "job_token_groups",
            "job_token_projects",
            "job_variables",
            "inherited_variables",
            "mirrored_pipelines",
            "test_suites",
            "resource_groups",
            "variables",
            "pipeline_schedules",
            "pipeline_schedule_variables",
            "triggers",
        ],
    ),
    (
        "security",
        &[
            "vulnerabilities",
            "vulnerability_changes",
            "vulnerability_exports",
            "security_dashboard_projects",
            "security_scans",
            "alert_integrations",
            "alert_metric_images",
            "alert_assignees",
            "alert_notes",
            "alert_settings",
            "alert_numbers",
            "alerts",
        ],
    ),
    ("admin", &["hook_deliveries", "hook_events", "hook_logs", "hooks", "integrations"]),
    ("admin", &["imports", "import_failures", "imported_objects", "imported_users"]),
    ("admin", &["archive_exports", "archive_imports", "archive_import_ids"]),
    ("admin", &["bulk_imports", "bulk_import_entities", "bulk_import_failures"]),
    ("geo", &["geo_nodes", "geo_node_namespaces", "geo_node_statuses"]),
    ("runners", &["runners", "runner_projects", "runner_managers", "instance_runner_registration"]),
    ("admin", &["audit_events", "broadcast_messages", "feature_gates", "appearances"]),
    (
        "deployments",
        &[
            "environments",
            "deployment_numbers",
            "deployments",
            "deployed_merge_requests",
            "protected_environments",
            "protected_environment_access",
            "deployment_approvals",
            "freeze_periods",
            "review_app_removals",
        ],
    ),
    (
        "repo",
        &[
            "protected_branches",
            "protected_branch_access",
            "protected_tags",
            "protected_tag_access",
            "push_events",
            "ref_journal",
            "commit_notes",
            "push_rules",
            "releases",
            "release_links",
            "release_milestones",
            "lfs_objects",
            "wiki_refs",
            "lfs_locks",
        ],
    ),
];

/// Who may see which project and group: every list joins it, whoever owns the list. `org` keeps it.
const ACCESS_PROJECTION: &[&str] = &["project_access", "namespace_access"];

pub(super) fn check() -> Result<Outcome> {
    let text = std::fs::read_to_string(schema::file()).unwrap_or_default();
    let tables = tables(&text);
    let mut found = disagreements(&tables);
    for file in files(&["crates/*/src/*.rs", "gateway/src/*.rs"])? {
        let name = shown(&file);
        let home = home(&name);
        if home == "db" {
            continue;
        }
        let source = std::fs::read_to_string(root().join(&file))?;
        found.extend(
            foreign(home, &named_tables(&source, &tables))
                .into_iter()
                .map(|table| format!("{name}: {}", sentence(home, &table))),
        );
    }
    let in_sql = foreign_in_sql(&tables)?;
    found.extend(disallowed(&in_sql));
    none(&found)
}

/// Pairs of a file and a table of another crate that its SQL names.
fn foreign_in_sql(tables: &BTreeSet<String>) -> Result<BTreeSet<(String, String)>> {
    let mut found = BTreeSet::new();
    for package in packages()?.iter().filter(|package| !["db", "xtask"].contains(&&*package.name)) {
        for module in source::modules(package)?.iter() {
            let mut texts = Vec::new();
            for item in &module.items {
                source::literals(&source::tokens(item), &mut texts);
            }
            let named = texts.iter().flat_map(|text| tables_in_sql(text, tables)).collect();
            let file = shown(&module.file);
            found.extend(foreign(&package.name, &named).into_iter().map(|t| (file.clone(), t)));
        }
    }
    Ok(found)
}

fn disallowed(in_sql: &BTreeSet<(String, String)>) -> Vec<String> {
    let sentences =
        in_sql.iter().map(|(file, table)| format!("{file}: SQL: {}", sentence(home(file), table)));
    sentences.collect()
}

fn home(path: &str) -> &str {
    path.strip_prefix("crates/").unwrap_or(path).split('/').next().unwrap_or_default()
}

fn owner_of(table: &str) -> Option<&'static str> {
    OWNERS.iter().find(|(_, tables)| tables.contains(&table)).map(|(owner, _)| *owner)
}

/// Those of the tables that another crate owns.
fn foreign(home: &str, named: &BTreeSet<String>) -> Vec<String> {
    let others = named.iter().filter(|table| !ACCESS_PROJECTION.contains(&table.as_str()));
    let is_foreign = |table: &&String| owner_of(table).is_some_and(|owner| owner != home);
    others.filter(is_foreign).cloned().collect()
}

fn sentence(home: &str, table: &str) -> String {
    let owner = owner_of(table).unwrap_or("nobody");
    format!("{home} names the table {table}, which {owner} owns")
}

/// Tables without an owner, with two, or in the list only.
fn disagreements(tables: &BTreeSet<String>) -> Vec<String> {
    let mut count: BTreeMap<&str, usize> = tables.iter().map(|table| (table.as_str(), 0)).collect();
    let mut found = Vec::new();
    for table in OWNERS.iter().flat_map(|(_, tables)| *tables) {
        match count.get_mut(table) {
            Some(owners) => *owners += 1,
            None => found.push(format!(
                "xtask/src/check/owners.rs lists {table}, which schema.rs does not have"
            )),
        }
    }
    for (table, owners) in count {
        if owners != 1 {
            found.push(format!("table {table} has {owners} owners in xtask/src/check/owners.rs"));
        }
    }
    found
}

/// The tables that `schema.rs` declares.
fn tables(schema: &str) -> BTreeSet<String> {
    let bodies = schema.split("table! {").skip(1);
    bodies.filter_map(|body| Some(body.trim_start().split_once(" (")?.0.to_owned())).collect()
}

/// The tables that a source file takes from `schema`, by path or by a `use` tree.
fn named_tables(source: &str, tables: &BTreeSet<String>) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (place, path) in source.match_indices("schema::") {
        if source[..place].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &source[place + path.len()..];
        let tree = if rest.starts_with('{') { tree(rest) } else { word(rest) };
        named.extend(tree.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
    }
    named.retain(|name| tables.contains(name));
    named
}

/// The tables that SQL names behind `FROM`, `JOIN`, `INTO`, `UPDATE` or a comma, or that a part of a statement begins with.
fn tables_in_sql(text: &str, tables: &BTreeSet<String>) -> BTreeSet<String> {
    let mut words = words(text).into_iter().peekable();
    // `projects p`, which a caller puts behind a `FROM`; a longer word would be one of a sentence.
    let begins =
        |alias: Option<&&str>| alias.is_some_and(|alias| alias.len() == 1 && is_alias(alias));
    let mut found = BTreeSet::new();
    let mut is_expected = false;
    let mut is_first = true;
    while let Some(word) = words.next() {
        if (is_expected || (is_first && begins(words.peek()))) && tables.contains(word) {
            found.insert(word.to_owned());
            // `FROM a x, b`
            words.next_if(|alias| is_alias(alias));
            is_expected = words.next_if_eq(&",").is_some();
        } else {
            is_expected = ["FROM", "JOIN", "INTO", "UPDATE", "ONLY"].contains(&word);
        }
        is_first = false;
    }
    found
}

fn is_alias(word: &str) -> bool {
    word.len() <= 2 && word.chars().all(|c| c.is_ascii_lowercase())
}

/// Words, and every other sign but blanks by itself.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = word(rest).len().max(first.len_utf8());
        let (one, after) = rest.split_at(length);
        found.push(one);
        rest = after.trim_start();
    }
    found
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The text up to the brace that closes the first one.
fn tree(text: &str) -> &str {
    let mut depth = 0_usize;
    for (place, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return &text[..place],
            '}' => depth -= 1,
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "diesel::table! {\n    users (id) {\n id -> BigInt, } }\ndiesel::table! {\n    work (id) {\n} }";

    fn named(source: &str) -> Vec<String> {
        named_tables(source, &tables(SCHEMA)).into_iter().collect()
    }

    #[test]
    fn the_tables_of_a_schema_are_found() {
        assert_eq!(tables(SCHEMA).into_iter().collect::<Vec<_>>(), ["users", "work"]);
    }

    #[test]
    fn a_path_and_a_tree_name_tables() {
        assert_eq!(named("use db::schema::users;"), ["users"]);
        assert_eq!(
            named("use db::{Tx, schema::{self, users::dsl, other::{a, work}}}; work"),
            ["users", "work"]
        );
        assert_eq!(named("db::schema::work::table"), ["work"]);
        assert_eq!(named("my_schema::work"), Vec::<String>::new());
    }

    #[test]
    fn a_foreign_table_is_refused_and_the_projection_is_not() {
        let named = ["users", "project_access"].map(str::to_owned).into();

        assert_eq!(foreign("repo", &named), ["users"]);
        assert_eq!(sentence("repo", "users"), "repo names the table users, which org owns");
        assert!(foreign("org", &named).is_empty());
    }

    #[test]
    fn sql_names_tables_behind_its_words() {
        let tables = tables(SCHEMA);
        let in_sql = |text| tables_in_sql(text, &tables).into_iter().collect::<Vec<_>>();

        assert_eq!(
            in_sql("SELECT id FROM users u\n JOIN work w ON w.id = u.id"),
            ["users", "work"]
        );
        assert_eq!(in_sql("SELECT 1 FROM work, users"), ["users", "work"]);
        assert_eq!(in_sql("INSERT INTO work (id) VALUES (1)"), ["work"]);
        assert_eq!(in_sql("DELETE FROM ONLY users"), ["users"]);
        assert_eq!(in_sql("UPDATE users SET work = 1"), ["users"]);
        assert_eq!(in_sql("users u WHERE u.id = 1"), ["users"]);
        assert_eq!(in_sql("users of work"), Vec::<String>::new());
        assert_eq!(in_sql("SELECT work FROM others o, users_of"), Vec::<String>::new());
    }

    #[test]
    fn a_table_without_an_owner_is_told() {
        let tables = ["orphans".to_owned()].into();

        assert!(disagreements(&tables).iter().any(|line| line.contains("orphans has 0 owners")));
    }
}
