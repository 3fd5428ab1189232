//! The row of a user.

use diesel::prelude::{AsChangeset, Queryable, Selectable};
use kernel::{
    Actor, Ts,
    ids::{NamespaceId, UserId},
};

use super::{
    State,
    private_address::{PRIVATE_ADDRESS, private_address},
};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::users, check_for_backend(db::AnyBackend))]
pub struct User {
    pub id: UserId,
    pub username: String,
    pub name: String,
    pub email: String,
    pub public_email: Option<String>,
    pub commit_email: Option<String>,
    pub password_hash: Option<String>,
    pub state: State,
    pub admin: bool,
    pub external: bool,
    pub bot: bool,
    pub avatar: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
    pub created_by: Option<UserId>,
    pub confirmed_at: Option<Ts>,
    pub current_sign_in_at: Option<Ts>,
    pub last_sign_in_at: Option<Ts>,
    pub last_activity_at: Option<Ts>,
    pub sign_in_count: i64,
    pub projects_limit: i64,
    pub can_create_group: bool,
    pub private_profile: bool,
    pub note: Option<String>,
    /// From then on the password must be changed before anything else.
    pub password_expires_at: Option<Ts>,
    /// Belongs to the installation itself.
    pub internal: bool,
}

/// What is shown of a person beside what they made. Records of other things read no more of them: on PostgreSQL each column
/// of an answer takes time.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::users, check_for_backend(db::AnyBackend))]
pub struct UserSummary {
    pub id: UserId,
    pub username: String,
    pub name: String,
    /// Leads to a picture where there is no other.
    pub email: String,
    pub state: State,
    pub avatar: Option<String>,
}

impl User {
    pub fn summary(&self) -> UserSummary {
        UserSummary {
            id: self.id,
            username: self.username.clone(),
            name: self.name.clone(),
            email: self.email.clone(),
            state: self.state,
            avatar: self.avatar.clone(),
        }
    }

    pub fn actor(&self) -> Actor {
        Actor { id: Some(self.id), admin: self.admin, external: self.external, ..Actor::ANONYMOUS }
    }

    /// Whether somebody uses the account: neither a token of a project or group nor the installation itself does.
    pub fn is_person(&self) -> bool {
        !self.bot && !self.internal
    }

    pub fn has_expired_password(&self, now: Ts) -> bool {
        self.password_expires_at.is_some_and(|end| end <= now)
    }

    /// The address that commits made through the API carry.
    pub fn git_email(&self, host: &str) -> String {
        match self.commit_email.as_deref() {
            None | Some("") => self.email.clone(),
            Some(PRIVATE_ADDRESS) => private_address(self.id, &self.username, host),
            Some(address) => address.to_owned(),
        }
    }
}

/// The public profile of a user.
#[derive(Clone, Debug, Queryable, Selectable, AsChangeset)]
#[diesel(table_name = db::schema::user_profiles, check_for_backend(db::AnyBackend))]
#[diesel(treat_none_as_null = true)]
pub struct Profile {
    pub bio: String,
    pub location: Option<String>,
    pub skype: String,
    pub linkedin: String,
    pub twitter: String,
    pub website_url: String,
    pub organization: String,
    pub job_title: String,
    pub pronouns: Option<String>,
    pub theme_id: i64,
    pub color_scheme_id: i64,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            bio: String::new(),
            location: None,
            skype: String::new(),
            linkedin: String::new(),
            twitter: String::new(),
            website_url: String::new(),
            organization: String::new(),
            job_title: String::new(),
            pronouns: None,
            theme_id: 1,
            color_scheme_id: 1,
        }
    }
}

impl Profile {
    /// The job and where it is done.
    pub fn work_information(&self) -> Option<String> {
        match (self.job_title.as_str(), self.organization.as_str()) {
            ("", "") => None,
            (job, "") => Some(job.to_owned()),
            ("", organization) => Some(organization.to_owned()),
            (job, organization) => Some(format!("{job} at {organization}")),
        }
    }
}

/// Settings of an account that not every request needs.
#[derive(Clone, Debug, Default, Queryable, Selectable)]
#[diesel(table_name = db::schema::user_accounts, check_for_backend(db::AnyBackend))]
pub struct Account {
    pub auditor: bool,
    pub two_factor: bool,
    pub current_sign_in_ip: Option<String>,
    pub last_sign_in_ip: Option<String>,
    pub shared_runners_minutes_limit: Option<i64>,
    pub extra_shared_runners_minutes_limit: Option<i64>,
    pub provisioned_by_group_id: Option<i64>,
    /// Becomes the primary address once it is confirmed.
    pub unconfirmed_email: Option<String>,
    pub confirmation_sent_at: Option<Ts>,
    pub reset_sent_at: Option<Ts>,
}

/// An account elsewhere that signs in here.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::user_identities, check_for_backend(db::AnyBackend))]
pub struct ExternalIdentity {
    pub provider: String,
    pub extern_uid: String,
    pub saml_provider_id: Option<i64>,
}

/// The username, name and e-mail address of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub username: String,
    pub name: String,
    pub email: String,
}

impl Identity {
    pub fn new(username: &str, name: &str, email: &str) -> Self {
        Self { username: username.to_owned(), name: name.to_owned(), email: email.to_owned() }
    }
}

/// Everything about an account that an administrator may set.
#[derive(Clone, Debug)]
pub struct Details {
    pub username: String,
    pub name: String,
    pub email: String,
    pub public_email: Option<String>,
    pub commit_email: Option<String>,
    pub admin: bool,
    pub external: bool,
    pub projects_limit: i64,
    pub can_create_group: bool,
    pub private_profile: bool,
    pub note: Option<String>,
    pub profile: Profile,
    pub auditor: bool,
    pub shared_runners_minutes_limit: Option<i64>,
    pub extra_shared_runners_minutes_limit: Option<i64>,
    /// The group through whose single sign-on the account came.
    pub provisioned_by_group_id: Option<i64>,
    /// Set only where it is to change.
    pub view_diffs_file_by_file: Option<bool>,
}

impl Details {
    pub fn of(user: &User, profile: Profile, account: &Account) -> Self {
        Self {
            username: user.username.clone(),
            name: user.name.clone(),
            email: user.email.clone(),
            public_email: user.public_email.clone(),
            commit_email: user.commit_email.clone(),
            admin: user.admin,
            external: user.external,
            projects_limit: user.projects_limit,
            can_create_group: user.can_create_group,
            private_profile: user.private_profile,
            note: user.note.clone(),
            profile,
            auditor: account.auditor,
            shared_runners_minutes_limit: account.shared_runners_minutes_limit,
            extra_shared_runners_minutes_limit: account.extra_shared_runners_minutes_limit,
            provisioned_by_group_id: account.provisioned_by_group_id,
            view_diffs_file_by_file: None,
        }
    }

    pub fn identity(&self) -> Identity {
        Identity::new(&self.username, &self.name, &self.email)
    }

    /// The texts that are kept short.
    pub(crate) fn bounded_texts(&self) -> [(&'static str, Option<&str>); 9] {
        let profile = &self.profile;
        [
            ("bio", Some(&profile.bio)),
            ("location", profile.location.as_deref()),
            ("skype", Some(&profile.skype)),
            ("linkedin", Some(&profile.linkedin)),
            ("twitter", Some(&profile.twitter)),
            ("website_url", Some(&profile.website_url)),
            ("organization", Some(&profile.organization)),
            ("job_title", Some(&profile.job_title)),
            ("pronouns", profile.pronouns.as_deref()),
        ]
    }
}

/// A person with what the longer forms of the API tell.
#[derive(Clone, Debug)]
pub struct FullUser {
    pub user: User,
    pub profile: Profile,
    /// The personal namespace; bots have none.
    pub namespace_id: Option<NamespaceId>,
    pub created_by: Option<User>,
    pub account: Account,
    pub identities: Vec<ExternalIdentity>,
    pub followers: i64,
    pub following: i64,
    /// Whether the reader follows this person.
    pub is_followed: bool,
}
