//! The limits of user names and of the fields of an account.

use kernel::values::is_email;

use super::{
    model::{Details, Identity},
    private_address::PRIVATE_ADDRESS,
};
use crate::{faults::Faults, namespace::rules, settings::Settings};

/// What speaks against a user name, apart from its being taken.
pub fn username_faults(username: &str) -> Vec<String> {
    rules::top_level_path_faults(username)
}

/// What speaks against the names and addresses of an account.
pub fn identity_faults(identity: &Identity, faults: &mut Faults) {
    if identity.email.trim().is_empty() {
        faults.add("email", "can't be blank");
    } else if !is_email(&identity.email) {
        faults.add("email", "is invalid");
    }
    if identity.name.trim().is_empty() {
        faults.add("name", "can't be blank");
    }
    faults.at_most("name", Some(&identity.name), 255);
    let (first, rest) = identity.name.split_once(' ').unwrap_or((&identity.name, ""));
    faults.at_most("first_name", Some(first), 127);
    faults.at_most("last_name", Some(rest), 127);
    faults.add_each("username", username_faults(&identity.username));
}

/// What speaks against the remaining fields.
pub fn detail_faults(details: &Details, faults: &mut Faults) {
    for (name, text) in details.bounded_texts() {
        faults.at_most(name, text, 255);
    }
    faults.at_most("note", details.note.as_deref(), 65_535);
    for (name, minutes) in [
        ("shared_runners_minutes_limit", details.shared_runners_minutes_limit),
        ("extra_shared_runners_minutes_limit", details.extra_shared_runners_minutes_limit),
    ] {
        faults.range(name, minutes, 0..=i64::MAX);
    }
    faults.range("projects_limit", Some(details.projects_limit), 0..=i64::MAX);
    if !(1..=12).contains(&details.profile.theme_id) {
        faults.add("theme_id", "is not included in the list");
    }
    if !(1..=6).contains(&details.profile.color_scheme_id) {
        faults.add("color_scheme_id", "is not included in the list");
    }
}

/// What being external does to what somebody may make: external people make nothing. Who is no longer one may make what
/// is usual, where nothing else is said at the same time.
pub fn reconcile_rights(details: &mut Details, before: &Details, settings: &Settings) {
    if details.external {
        details.can_create_group = false;
        details.projects_limit = 0;
        return;
    }
    if details.can_create_group == before.can_create_group {
        details.can_create_group = settings.can_create_group;
    }
    if details.projects_limit == before.projects_limit {
        details.projects_limit = settings.default_projects_limit;
    }
}

/// Only addresses of one's own are shown. `own` holds them in lower case.
pub fn address_faults(details: &Details, own: &[String], faults: &mut Faults) {
    for (name, address) in
        [("public_email", &details.public_email), ("commit_email", &details.commit_email)]
    {
        let Some(given) = address.as_deref().filter(|address| !address.is_empty()) else {
            continue;
        };
        let hides = name == "commit_email" && given == PRIVATE_ADDRESS;
        if !hides && !own.contains(&given.to_lowercase()) {
            faults.add(name, "is not an email you own");
        }
    }
}
