//! Account parameters for administrators.

use forge::files::Upload;
use kernel::ids::UserId;
use org::user::Details;

use crate::{extract::Change, params};

params! {
    pub(super) struct CreateUser {
        email: String,
        name: String,
        username: String,
        password: Option<String>,
        reset_password: Option<bool>,
        force_random_password: Option<bool>,
        skip_confirmation: bool = false,
        admin: Option<bool>,
        external: Option<bool>,
    } with at_least_one("password", "reset_password", "force_random_password");
}

params! {
    pub(super) struct ChangeUser {
        id: UserId,
        email: Option<String>,
        name: Option<String>,
        username: Option<String>,
        password: Option<String>,
        /// Whether to send the user a link for setting a new password.
        reset_password: bool = false,
        force_random_password: bool = false,
        skip_reconfirmation: bool = false,
        admin: Option<bool>,
        external: Option<bool>,
    }
}

impl ChangeUser {
    pub(super) fn apply(&self, details: &mut Details) {
        let set = |place: &mut String, given: &Option<String>| {
            if let Some(value) = given {
                place.clone_from(value);
            }
        };
        set(&mut details.email, &self.email);
        set(&mut details.name, &self.name);
        set(&mut details.username, &self.username);
        details.admin = self.admin.unwrap_or(details.admin);
        details.external = self.external.unwrap_or(details.external);
    }
}

params! {
    /// The parameters that making and changing an account share.
    pub(super) struct DetailParams {
        can_create_group: Option<bool>,
        private_profile: Change<bool>,
        projects_limit: Option<i64>,
        theme_id: Option<i64>,
        color_scheme_id: Option<i64>,
        skype: Change<String>,
        linkedin: Change<String>,
        twitter: Change<String>,
        website_url: Change<String>,
        organization: Change<String>,
        job_title: Change<String>,
        location: Change<String>,
        bio: Change<String>,
        pronouns: Change<String>,
        public_email: Change<String>,
        commit_email: Change<String>,
        note: Change<String>,
        extern_uid: Option<String>,
        provider: Option<String>,
        /// ID of the group whose single sign-on provides the identity.
        group_id_for_saml: Option<i64>,
        auditor: Option<bool>,
        view_diffs_file_by_file: Option<bool>,
        shared_runners_minutes_limit: Change<i64>,
        extra_shared_runners_minutes_limit: Change<i64>,
        avatar: Change<Upload>,
    } with together("extern_uid", "provider");
}

/// Sets a text that is never null.
fn text(place: &mut String, change: &Change<String>) {
    match change {
        Change::Keep => {}
        Change::Clear => place.clear(),
        Change::Set(value) => place.clone_from(value),
    }
}

fn nullable<T: Clone>(place: &mut Option<T>, change: &Change<T>) {
    if let Some(update) = change.clone().into_update() {
        *place = update;
    }
}

impl DetailParams {
    pub(super) fn apply(&self, details: &mut Details) {
        if let Some(may) = self.can_create_group {
            details.can_create_group = may;
        }
        if let Some(hidden) = self.private_profile.clone().into_update() {
            details.private_profile = hidden.unwrap_or(false);
        }
        if let Some(limit) = self.projects_limit {
            details.projects_limit = limit;
        }
        nullable(&mut details.public_email, &self.public_email);
        nullable(&mut details.commit_email, &self.commit_email);
        nullable(&mut details.note, &self.note);
        details.auditor = self.auditor.unwrap_or(details.auditor);
        nullable(&mut details.shared_runners_minutes_limit, &self.shared_runners_minutes_limit);
        nullable(
            &mut details.extra_shared_runners_minutes_limit,
            &self.extra_shared_runners_minutes_limit,
        );
        details.view_diffs_file_by_file = self.view_diffs_file_by_file;
        if self.group_id_for_saml.is_some() {
            details.provisioned_by_group_id = self.group_id_for_saml;
        }
        let profile = &mut details.profile;
        profile.theme_id = self.theme_id.unwrap_or(profile.theme_id);
        profile.color_scheme_id = self.color_scheme_id.unwrap_or(profile.color_scheme_id);
        nullable(&mut profile.location, &self.location);
        nullable(&mut profile.pronouns, &self.pronouns);
        text(&mut profile.skype, &self.skype);
        text(&mut profile.linkedin, &self.linkedin);
        text(&mut profile.twitter, &self.twitter);
        text(&mut profile.website_url, &self.website_url);
        text(&mut profile.organization, &self.organization);
        text(&mut profile.job_title, &self.job_title);
        text(&mut profile.bio, &self.bio);
    }
}
