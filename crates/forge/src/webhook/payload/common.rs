//! Parts that many payloads share.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    AccessLevel, Result, Ts, Visibility,
    ids::{ProjectId, UserId},
};
use org::{
    namespace::{Namespace, store::NamespaceStore as _},
    project::{Project, settings::SettingsStore as _, store::ProjectStore as _},
    user::{User, store::UserStore as _},
};
use repo::git::{CommitInfo, Signature};
use review::label::Label;
use serde_json::{Map, Value, json};
use time::{OffsetDateTime, UtcOffset, macros::format_description};

use crate::urls::Urls;

/// What stands for an address that nobody is to see.
pub(super) const REDACTED: &str = "[REDACTED]";

/// The project in which something happened.
#[derive(Clone, Debug)]
pub(crate) struct ProjectContext {
    pub(crate) project: Project,
    namespace: String,
    ci_config_path: Option<String>,
    urls: Urls,
}

impl ProjectContext {
    /// Nothing where the project is gone.
    pub(crate) fn load(tx: &mut Tx<'_>, urls: &Urls, project: ProjectId) -> Result<Option<Self>> {
        match tx.find_project(project)? {
            Some(project) => Self::of(tx, urls, project).map(Some),
            None => Ok(None),
        }
    }

    /// As [`load`](Self::load), of a project that was read before.
    pub(crate) fn of(tx: &mut Tx<'_>, urls: &Urls, project: Project) -> Result<Self> {
        let namespace = tx.namespace(project.namespace_id)?.name;
        let ci_config_path = tx.project_settings(project.id)?.ci_config_path;
        Ok(Self { project, namespace, ci_config_path, urls: urls.clone() })
    }

    pub(crate) fn urls(&self) -> &Urls {
        &self.urls
    }

    /// The address of its page.
    pub(crate) fn url(&self) -> String {
        self.urls.at(&self.project.full_path)
    }

    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}/-/{path}", self.url())
    }

    fn ssh(&self) -> String {
        format!("git@{}:{}.git", self.urls.host_name(), self.project.full_path)
    }

    fn http(&self) -> String {
        format!("{}.git", self.url())
    }

    /// The whole record.
    pub(crate) fn project_json(&self) -> Value {
        let project = &self.project;
        let picture = project.avatar.as_ref();
        let picture = picture.map(|file| {
            self.urls.at(&format!("uploads/-/system/project/avatar/{}/{file}", project.id))
        });
        let (ssh, http) = (self.ssh(), self.http());
        json!({
            "id": project.id,
            "name": project.name,
            "description": project.description,
            "web_url": self.url(),
            "avatar_url": picture,
            "git_ssh_url": ssh,
            "git_http_url": http,
            "namespace": self.namespace,
            "visibility_level": visibility_number(project.visibility),
            "path_with_namespace": project.full_path,
            "default_branch": project.default_branch,
            "ci_config_path": self.ci_config_path,
            "homepage": self.url(),
            "url": ssh,
            "ssh_url": ssh,
            "http_url": http,
        })
    }

    /// The repository as pushes and jobs name it.
    pub(crate) fn repository(&self) -> Value {
        let mut short = self.short_repository();
        short["git_http_url"] = json!(self.http());
        short["git_ssh_url"] = json!(self.ssh());
        short["visibility_level"] = json!(visibility_number(self.project.visibility));
        short
    }

    pub(crate) fn short_repository(&self) -> Value {
        json!({
            "name": self.project.name,
            "url": self.ssh(),
            "description": self.project.description,
            "homepage": self.url(),
        })
    }

    /// The repository of the wiki.
    pub(crate) fn wiki(&self) -> Value {
        let ssh = self.ssh();
        let http = self.http();
        json!({
            "web_url": self.at("wikis/home"),
            "git_ssh_url": ssh.replacen(".git", ".wiki.git", 1),
            "git_http_url": http.replacen(".git", ".wiki.git", 1),
            "path_with_namespace": format!("{}.wiki", self.project.full_path),
            "default_branch": self.project.default_branch.as_deref().unwrap_or("main"),
        })
    }
}

pub(super) fn visibility_number(visibility: Visibility) -> i32 {
    match visibility {
        Visibility::Private => 0,
        Visibility::Internal => 10,
        Visibility::Public => 20,
    }
}

/// A group beside what happened in it.
pub(super) fn group_json(group: &Namespace) -> Value {
    json!({
        "group_name": group.name,
        "group_path": group.path,
        "group_id": group.id,
        "full_path": group.full_path,
    })
}

/// The word for a role.
pub(crate) fn role(level: AccessLevel) -> &'static str {
    match level {
        AccessLevel::NoAccess => "No access",
        AccessLevel::Minimal => "Minimal Access",
        AccessLevel::Guest => "Guest",
        AccessLevel::Reporter => "Reporter",
        AccessLevel::Developer => "Developer",
        AccessLevel::Maintainer => "Maintainer",
        AccessLevel::Owner | AccessLevel::Admin => "Owner",
    }
}

/// The address of a picture.
pub(super) fn picture(urls: &Urls, user: &User) -> Option<String> {
    let file = user.avatar.as_ref();
    let own = file.map(|file| urls.at(&format!("uploads/-/system/user/avatar/{}/{file}", user.id)));
    own.or_else(|| urls.gravatar(&user.email))
}

/// The address of a person that everybody may see.
pub(super) fn shown_email(user: &User) -> String {
    let shown = user.public_email.clone().filter(|address| !address.is_empty());
    shown.unwrap_or_else(|| REDACTED.to_owned())
}

pub(crate) fn user_json(urls: &Urls, user: &User) -> Value {
    json!({
        "id": user.id,
        "name": user.name,
        "username": user.username,
        "avatar_url": picture(urls, user),
        "email": shown_email(user),
    })
}

/// People by their ids, loaded once.
pub(super) struct People(HashMap<UserId, User>);

impl People {
    pub(super) fn load(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<Self> {
        Ok(Self(tx.users_by_id(ids)?))
    }

    pub(super) fn get(&self, id: UserId) -> Option<&User> {
        self.0.get(&id)
    }

    /// Null for who is gone.
    pub(super) fn json(&self, urls: &Urls, id: Option<UserId>) -> Value {
        id.and_then(|id| self.get(id)).map_or(Value::Null, |user| user_json(urls, user))
    }

    pub(super) fn all(&self, urls: &Urls, ids: &[UserId]) -> Vec<Value> {
        ids.iter().filter_map(|id| self.get(*id)).map(|user| user_json(urls, user)).collect()
    }
}

pub(super) fn label_json(label: &Label) -> Value {
    let kind = if label.project_id.is_some() { "ProjectLabel" } else { "GroupLabel" };
    json!({
        "id": label.id,
        "title": label.name,
        "color": label.color,
        "project_id": label.project_id,
        "created_at": utc(label.created_at),
        "updated_at": utc(label.updated_at),
        "template": false,
        "description": label.description,
        "type": kind,
        "group_id": label.namespace_id,
    })
}

/// `2022-12-15 09:08:07 UTC`
pub(crate) fn utc(at: Ts) -> String {
    let form = format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
    at.datetime().format(&form).unwrap_or_default()
}

/// `2022-12-15T09:08:07Z`, as events of accounts, groups, members and projects have it.
pub(super) fn iso(at: Ts) -> String {
    let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    at.datetime().format(&form).unwrap_or_default()
}

pub(super) fn utc_or_null(at: Option<Ts>) -> Value {
    at.map_or(Value::Null, |at| json!(utc(at)))
}

/// A commit without its files.
pub(crate) fn commit(project_url: &str, commit: &CommitInfo) -> Value {
    json!({
        "id": commit.id.to_string(),
        "message": commit.message,
        "title": commit.title,
        "timestamp": written_at(&commit.committer),
        "url": format!("{project_url}/-/commit/{}", commit.id),
        "author": { "name": commit.author.name, "email": commit.author.email },
    })
}

/// `2012-09-20T09:06:12+03:00`
fn written_at(by: &Signature) -> String {
    let form = format_description!(
        "[year]-[month]-[day]T[hour]:[minute]:[second][offset_hour sign:mandatory]:[offset_minute]"
    );
    let offset = UtcOffset::from_whole_seconds(by.offset / 60 * 60).unwrap_or(UtcOffset::UTC);
    let moment = OffsetDateTime::from_unix_timestamp(by.at).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    moment.checked_to_offset(offset).unwrap_or(moment).format(&form).unwrap_or_default()
}

/// Seconds as people say them, `1h 30m`; null for none.
pub(super) fn human_time(seconds: i64) -> Value {
    if seconds == 0 {
        return Value::Null;
    }
    let units = [("mo", 576_000), ("w", 144_000), ("d", 28_800), ("h", 3_600), ("m", 60), ("s", 1)];
    let (mut left, mut words) = (seconds.saturating_abs(), Vec::new());
    for (unit, length) in units {
        let count = left / length;
        left %= length;
        if count > 0 {
            words.push(format!("{count}{unit}"));
        }
    }
    let sign = if seconds < 0 { "-" } else { "" };
    json!(format!("{sign}{}", words.join(" ")))
}

/// What changed, by attribute.
pub(super) fn change(previous: &Value, current: &Value) -> Value {
    json!({ "previous": previous, "current": current })
}

/// What a new record has, as changes from nothing.
pub(super) fn all_new(attributes: &Value, names: &[&str]) -> Map<String, Value> {
    let named = names.iter().filter_map(|name| Some((*name, attributes.get(name)?)));
    let filled = named.filter(|(_, value)| !value.is_null());
    filled.map(|(name, value)| (name.to_owned(), change(&Value::Null, value))).collect()
}

/// The truth in a stored field's text.
pub(super) fn bool_value(text: Option<&str>) -> Value {
    text.map_or(Value::Null, |text| json!(text == "true"))
}

/// A text in which the pictures of the installation have whole addresses.
pub(super) fn with_absolute_pictures(context: &ProjectContext, text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("![") {
        let (before, picture) = rest.split_at(start);
        all.push_str(before);
        let end = picture.find([']', '\n']).filter(|end| picture[*end..].starts_with("]("));
        let Some(end) = end.map(|end| end + 2) else {
            let (sign, more) = picture.split_at(2);
            all.push_str(sign);
            rest = more;
            continue;
        };
        let (words, address) = picture.split_at(end);
        all.push_str(words);
        if address.starts_with("/uploads/") {
            all.push_str(&context.url());
        } else if address.starts_with('/') && !address.starts_with("//") {
            all.push_str(context.urls.at("").trim_end_matches('/'));
        }
        rest = address;
    }
    all.push_str(rest);
    all
}

/// The number in a stored field's text.
pub(super) fn number_value(text: Option<&str>) -> Value {
    text.and_then(|text| text.parse::<i64>().ok()).map_or(Value::Null, |number| json!(number))
}

/// The moment in a stored field's text, which is a number of microseconds.
pub(super) fn moment_value(text: Option<&str>) -> Value {
    utc_or_null(text.and_then(|text| text.parse().ok()).map(Ts))
}

/// The ids in a stored field's text.
pub(super) fn ids_of(text: Option<&str>) -> Vec<i64> {
    text.unwrap_or_default().split(',').filter_map(|id| id.parse().ok()).collect()
}

/// A visibility's or a state's word.
pub(super) fn word<T: kernel::TextEnum>(value: T) -> &'static str {
    value.as_str()
}
