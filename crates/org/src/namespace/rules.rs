//! Validation of group names, paths and visibility.

use std::ops::RangeInclusive;

use kernel::{Visibility, values::length_fault};

use super::{GroupSettings, networks::Networks};
use crate::faults::Faults;

const PATH: &str = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or \
                    '.atom'.";
const NAME: &str = "can contain only letters, digits, emojis, '_', '.', dash, space, parenthesis. It must start with \
                    letter, digit, emoji or '_'.";
/// Segments that the server's own pages occupy.
const TOP_LEVEL: &[&str] = &[
    "-",
    ".well-known",
    "404.html",
    "422.html",
    "500.html",
    "502.html",
    "503.html",
    "admin",
    "api",
    "apple-touch-icon.png",
    "apple-touch-icon-precomposed.png",
    "assets",
    "dashboard",
    "deploy.html",
    "explore",
    "favicon.ico",
    "favicon.png",
    "files",
    "groups",
    "health_check",
    "help",
    "import",
    "jwt",
    "login",
    "oauth",
    "profile",
    "projects",
    "public",
    "robots.txt",
    "s",
    "search",
    "sitemap",
    "sitemap.xml",
    "sitemap.xml.gz",
    "slash-command-logo.png",
    "snippets",
    "unsubscribes",
    "uploads",
    "users",
    "v2",
];
const INNER: &[&str] = &[
    "-",
    "badges",
    "blame",
    "blob",
    "builds",
    "commits",
    "create",
    "create_dir",
    "edit",
    "files",
    "find_file",
    "new",
    "preview",
    "raw",
    "refs",
    "tree",
    "update",
    "wikis",
];
/// How many groups may lie inside one another.
pub const MAX_DEPTH: usize = 20;
/// What speaks against the parent of a group that would lie deeper.
pub(super) const TOO_DEEP: &str = "has too deep level of nesting";
/// Characters of a description.
pub const LONGEST_DESCRIPTION: usize = 500;
/// The numbers of the ways to protect default branches.
pub const BRANCH_PROTECTIONS: RangeInclusive<i32> = 0..=3;

/// Whether the last of so many levels of groups would lie too deep below the group with this full path.
pub(super) fn is_too_deep(above: &str, levels: usize) -> bool {
    above.split('/').count().saturating_add(levels) > MAX_DEPTH
}

/// What speaks against a path of a top-level group or a user name.
pub fn top_level_path_faults(path: &str) -> Vec<String> {
    path_faults(path, TOP_LEVEL)
}

/// What speaks against a path of a subgroup.
pub fn inner_path_faults(path: &str) -> Vec<String> {
    path_faults(path, INNER)
}

fn path_faults(path: &str, reserved: &[&str]) -> Vec<String> {
    let mut texts = Vec::new();
    if path.trim().is_empty() {
        return vec!["can't be blank".to_owned()];
    }
    if path.chars().count() < 2 {
        texts.push("is too short (minimum is 2 characters)".to_owned());
    }
    texts.extend(length_fault(path, 255));
    if reserved.contains(&path.to_lowercase().as_str()) {
        texts.push(format!("{path} is a reserved name"));
    } else if !is_path(path) {
        texts.push(PATH.to_owned());
    }
    texts
}

fn is_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        && !path.starts_with('-')
        && !path.ends_with('.')
        && !lower.ends_with(".git")
        && !lower.ends_with(".atom")
}

/// What speaks against the name of a group.
pub fn name_faults(name: &str) -> Vec<String> {
    let mut texts = Vec::new();
    if name.trim().is_empty() {
        return vec!["can't be blank".to_owned()];
    }
    texts.extend(length_fault(name, 255));
    let starts = name.chars().next().is_some_and(begins_name);
    if !starts || !name.chars().all(|letter| begins_name(letter) || "._- ()".contains(letter)) {
        texts.push(NAME.to_owned());
    }
    texts
}

fn begins_name(letter: char) -> bool {
    // Emoji and what joins or varies them: everything from the miscellaneous symbols on that is no control character.
    letter.is_alphanumeric()
        || letter == '_'
        || matches!(letter, '\u{200d}' | '\u{20e3}' | '\u{fe0f}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// What speaks against the numbers and lists that a group is set to; `top` is whether it lies in no other.
pub fn settings_faults(settings: &GroupSettings, top: bool, faults: &mut Faults) {
    const DOWNLOADS: i64 = 10_000;
    const TEN_DAYS: i64 = 864_000;
    const NAMES: usize = 100;
    let mut within =
        |field: &str, value: i64, most: i64| faults.range(field, Some(value), 0..=most);
    within("two_factor_grace_period", settings.two_factor_grace_period, i32::MAX.into());
    within("unique_project_download_limit", settings.unique_project_download_limit, DOWNLOADS);
    within(
        "unique_project_download_limit_interval_in_seconds",
        settings.unique_project_download_limit_interval_in_seconds,
        TEN_DAYS,
    );
    let minutes = [
        ("shared_runners_minutes_limit", settings.shared_runners_minutes_limit),
        ("extra_shared_runners_minutes_limit", settings.extra_shared_runners_minutes_limit),
    ];
    for (field, value) in minutes {
        within(field, value.unwrap_or(0), i32::MAX.into());
    }
    if settings.unique_project_download_limit_allowlist.len() > NAMES {
        let text = format!("exceeds maximum length ({NAMES} usernames)");
        faults.add("unique_project_download_limit_allowlist", text);
    }
    if settings.unique_project_download_limit_alertlist.len() > NAMES {
        let text = format!("exceeds maximum length ({NAMES} user ids)");
        faults.add("unique_project_download_limit_alertlist", text);
    }
    if settings.prevent_sharing_groups_outside_hierarchy && !top {
        faults
            .add("prevent_sharing_groups_outside_hierarchy", "only available on top-level groups.");
    }
    if !settings.allow_mfa_for_subgroups && !top {
        faults.add(
            "allow_mfa_for_subgroups",
            "is not allowed since the group is not top-level group.",
        );
    }
    if settings.unique_project_download_limit > 0 && !top {
        faults.add("unique_project_download_limit", "only available on top-level groups.");
    }
    if let Some(ranges) = &settings.ip_restriction_ranges {
        if !top {
            faults.add("ip_restriction_ranges", "IP restriction only allowed for top-level groups");
        }
        if Networks::parse(ranges).is_none() {
            faults.add("ip_restriction_ranges", "is an invalid IP address range");
        }
    }
}

/// The visibility of a group's parent and of its contents, which limit its own.
#[derive(Clone, Copy, Debug)]
pub struct VisibilityLimits {
    pub parent: Option<Visibility>,
    /// The most visible of the direct projects.
    pub projects: Option<Visibility>,
    /// The most visible of the direct subgroups.
    pub groups: Option<Visibility>,
}

pub fn visibility_faults(wanted: Visibility, around: VisibilityLimits) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(parent) = around.parent.filter(|parent| wanted > *parent) {
        texts.push(format!(
            "{wanted} is not allowed since the parent group has a {parent} visibility."
        ));
    }
    if around.projects.is_some_and(|most| wanted < most) {
        texts.push(format!(
            "{wanted} is not allowed since this group contains projects with higher visibility."
        ));
    }
    if around.groups.is_some_and(|most| wanted < most) {
        texts.push(format!(
            "{wanted} is not allowed since there are sub-groups with higher visibility."
        ));
    }
    texts
}

#[cfg(test)]
mod tests {
    use kernel::Visibility;

    use super::{
        VisibilityLimits, inner_path_faults, name_faults, top_level_path_faults, visibility_faults,
    };

    #[test]
    fn paths_that_a_url_or_a_folder_could_mistake_are_refused() {
        for path in ["my-group", "a.b", "_x", "..x", "V3", "blob"] {
            assert_eq!(top_level_path_faults(path), Vec::<String>::new(), "{path}");
        }
        for path in ["", "a", "-x", "x.", "x.git", "x.ATOM", "a/b", "a b", "ä1", "api", "Admin"] {
            assert_eq!(top_level_path_faults(path).len(), 1, "{path}");
        }
        assert_eq!(inner_path_faults("Blob"), ["Blob is a reserved name"]);
        assert!(inner_path_faults("api").is_empty());
    }

    #[test]
    fn names_may_be_friendlier_than_paths() {
        for name in ["Müller & Söhne", "<b>x</b>", "-x", " x", "a/b", ""] {
            assert_eq!(name_faults(name).len(), 1, "{name}");
        }
        for name in ["Müller (Söhne)", "🦀 crabs", "_x", "a.b-c d"] {
            assert!(name_faults(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_group_is_no_more_visible_than_its_parent_and_no_less_than_its_content() {
        let around = VisibilityLimits {
            parent: Some(Visibility::Internal),
            projects: Some(Visibility::Internal),
            groups: None,
        };
        assert_eq!(visibility_faults(Visibility::Public, around).len(), 1);
        assert_eq!(visibility_faults(Visibility::Private, around).len(), 1);
        assert!(visibility_faults(Visibility::Internal, around).is_empty());
    }
}
