//! Validation of project settings by role.

use std::ops::RangeInclusive;

use kernel::{
    Actor, Error, Result, Visibility,
    values::{MOST_APPROVALS, length_fault},
};

use super::{ProjectChange, STORAGE, Settings, SettingsChange};
use crate::{
    faults::Faults,
    namespace::{Namespace, runners::SharedRunners},
};

/// Refuses a reach that the installation keeps to its administrators.
pub(super) fn ensure_unrestricted(
    actor: Actor,
    installation: &crate::settings::Settings,
    wanted: Visibility,
) -> Result<()> {
    if actor.admin || !installation.restricted_visibility_levels.contains(&wanted) {
        return Ok(());
    }
    let text = format!("{wanted} has been restricted by your GitLab administrator");
    Err(Error::invalid("visibility_level", text))
}

/// Refuses to switch shared runners on where the group keeps them off for all below it.
pub(super) fn ensure_runners(
    home: &Namespace,
    old: &Settings,
    change: &SettingsChange,
) -> Result<()> {
    let switched_on = change.shared_runners_enabled == Some(true) && !old.shared_runners_enabled;
    let above = home.settings().shared_runners_setting();
    match switched_on && above == SharedRunners::DisabledAndUnoverridable {
        false => Ok(()),
        true => Err(Error::invalid(
            "shared_runners_enabled",
            "cannot be enabled because parent group does not allow it",
        )),
    }
}

/// Refuses an administrator a storage that is not there; from anybody else the wish does not count.
pub(super) fn ensure_storage(actor: Actor, change: &ProjectChange) -> Result<()> {
    let wanted = change.repository_storage.as_deref().filter(|_| actor.admin);
    match wanted.is_none_or(|wanted| wanted.is_empty() || wanted == STORAGE) {
        true => Ok(()),
        false => Err(Error::invalid("repository_storage", "is not included in the list")),
    }
}

/// Refuses a new project where no storage takes any, unless an administrator names the one that it goes to.
pub(super) fn ensure_storage_for_new(
    actor: Actor,
    named: Option<&str>,
    installation: &crate::settings::Settings,
) -> Result<()> {
    let is_named = actor.admin && named.is_some_and(|storage| !storage.is_empty());
    match is_named || installation.has_storage_for_projects() {
        true => Ok(()),
        false => Err(Error::invalid(
            "repository_storage",
            "cannot be chosen, since every storage has the weight 0 in the application settings",
        )),
    }
}

/// Characters of the description of a project.
const LONGEST_DESCRIPTION: usize = 2000;
const LONGEST_LINE: usize = 255;
/// Of a message that merges are written with.
const LONGEST_MESSAGE: usize = 500;
/// Of what new issues and merge requests begin with, as of their descriptions.
const LONGEST_TEMPLATE: usize = 1_048_576;
/// Topics of one project.
const MOST_TOPICS: usize = 100;

/// Refuses a description and topics that no project can have.
pub(super) fn ensure_described(change: &ProjectChange) -> Result<()> {
    let mut faults = Faults::default();
    let description = change.description.as_ref().and_then(Option::as_deref);
    faults.at_most("description", description, LONGEST_DESCRIPTION);
    add_topic_faults(&mut faults, change.topics.as_deref().unwrap_or_default());
    faults.into_result()
}

/// A description as a project can have it, of one that comes from elsewhere or that an earlier version took.
pub fn possible_description(text: &str) -> String {
    text.chars().take(LONGEST_DESCRIPTION).collect()
}

/// Says what is wrong with the topics of a project.
pub(super) fn add_topic_faults(faults: &mut Faults, topics: &[String]) {
    if topics.len() > MOST_TOPICS {
        faults.add("topics", format!("is too long (maximum is {MOST_TOPICS} entries)"));
    }
    faults.add_each("topics", topics.iter().find_map(|topic| length_fault(topic, LONGEST_LINE)));
}

/// The topics that a project can have, of what earlier versions let it have.
pub(super) fn possible_topics(mut topics: Vec<String>) -> Vec<String> {
    topics.retain(|topic| length_fault(topic, LONGEST_LINE).is_none());
    topics.truncate(MOST_TOPICS);
    topics
}

/// As [`possible_topics`], of the settings.
pub(super) fn possible_settings(mut settings: Settings) -> Settings {
    for (_, text, most) in texts(&mut settings) {
        if let Some(text) = text
            && let Some((end, _)) = text.char_indices().nth(most)
        {
            text.truncate(end);
        }
    }
    settings.approvals_before_merge = settings.approvals_before_merge.clamp(0, MOST_APPROVALS);
    settings
}

/// A text of settings, with its name and how many characters it may have.
type BoundText<'s> = (&'static str, &'s mut Option<String>, usize);

fn texts(settings: &mut Settings) -> Vec<BoundText<'_>> {
    let label = &mut settings.external_authorization_classification_label;
    let mut all: Vec<BoundText<'_>> = vec![
        ("ci_config_path", &mut settings.ci_config_path, LONGEST_LINE),
        ("suggestion_commit_message", &mut settings.suggestion_commit_message, LONGEST_LINE),
        ("merge_commit_template", &mut settings.merge_commit_template, LONGEST_MESSAGE),
        ("squash_commit_template", &mut settings.squash_commit_template, LONGEST_MESSAGE),
        ("issue_branch_template", &mut settings.issue_branch_template, LONGEST_LINE),
        ("external_authorization_classification_label", label, LONGEST_LINE),
        ("issues_template", &mut settings.issues_template, LONGEST_TEMPLATE),
        ("merge_requests_template", &mut settings.merge_requests_template, LONGEST_TEMPLATE),
    ];
    if let Some(policy) = &mut settings.container_expiration_policy {
        all.extend([
            ("container_expiration_policy.cadence", &mut policy.cadence, LONGEST_LINE),
            ("container_expiration_policy.older_than", &mut policy.older_than, LONGEST_LINE),
            ("container_expiration_policy.name_regex", &mut policy.name_regex, LONGEST_LINE),
            (
                "container_expiration_policy.name_regex_keep",
                &mut policy.name_regex_keep,
                LONGEST_LINE,
            ),
        ]);
    }
    all
}

/// Refuses settings that no job could run with, and texts that are too long.
pub(super) fn ensure_possible(change: &SettingsChange) -> Result<()> {
    /// Ten minutes to a month.
    const TIMEOUT: RangeInclusive<i64> = 600..=2_678_400;
    const DEPTH: RangeInclusive<i64> = 0..=1000;
    let mut faults = Faults::default();
    if change.build_timeout.is_some_and(|seconds| !TIMEOUT.contains(&seconds)) {
        faults.add("build_timeout", "needs to be between 10 minutes and 1 month");
    }
    faults.range("ci_default_git_depth", change.ci_default_git_depth.flatten(), DEPTH);
    let approvals = change.approvals_before_merge;
    faults.range("approvals_before_merge", approvals, 0..=MOST_APPROVALS);
    let mut settings = Settings::default();
    change.apply(&mut settings);
    for (name, text, most) in texts(&mut settings) {
        faults.at_most(name, text.as_deref(), most);
    }
    faults.into_result()
}
