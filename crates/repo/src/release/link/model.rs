//! A link of a release, and what it may say.

use std::{collections::HashSet, sync::LazyLock};

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Faults, Ts,
    ids::{ReleaseId, ReleaseLinkId},
    values::is_web_url,
};
use regex::Regex;

const LONGEST_NAME: usize = 255;
/// Bytes, so that an index can hold it.
const LONGEST_URL: usize = 2048;
const LONGEST_PATH: usize = 128;
const TAKEN: &str = "has already been taken";

static PATH: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:/[-.0-9A-Za-z_]+)*/[-.0-9A-Za-z_]*[0-9A-Za-z]$").ok());

kernel::text_enum! {
    /// The type of a release link.
    pub enum LinkType { Other = "other", Runbook = "runbook", Image = "image", Package = "package" }
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::release_links, check_for_backend(db::AnyBackend))]
pub struct ReleaseLink {
    pub id: ReleaseLinkId,
    pub release_id: ReleaseId,
    pub name: String,
    pub url: String,
    /// The end of an address below the release that leads to the URL.
    pub filepath: Option<String>,
    pub link_type: LinkType,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// A link that is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLink {
    pub name: String,
    pub url: String,
    pub filepath: Option<String>,
    pub link_type: LinkType,
}

/// Fields of a link to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct LinkChange {
    pub name: Option<String>,
    pub url: Option<String>,
    pub filepath: Option<Option<String>>,
    pub link_type: Option<LinkType>,
}

impl ReleaseLink {
    /// Whether it leads to something of the project with this address.
    pub fn is_internal(&self, project_url: &str) -> bool {
        let rest = self.url.strip_prefix(project_url);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl LinkChange {
    /// The link with this change.
    pub(super) fn applied(self, link: &ReleaseLink) -> NewLink {
        NewLink {
            name: self.name.unwrap_or_else(|| link.name.clone()),
            url: self.url.unwrap_or_else(|| link.url.clone()),
            filepath: self.filepath.unwrap_or_else(|| link.filepath.clone()),
            link_type: self.link_type.unwrap_or(link.link_type),
        }
    }
}

impl From<ReleaseLink> for NewLink {
    fn from(row: ReleaseLink) -> Self {
        Self { name: row.name, url: row.url, filepath: row.filepath, link_type: row.link_type }
    }
}

impl NewLink {
    /// What is wrong with it beside some others of the same release.
    pub(super) fn faults(&self, others: &[Self]) -> Faults {
        let mut faults = Faults::default();
        for (field, text) in [("name", &self.name), ("url", &self.url)] {
            if text.trim().is_empty() {
                faults.add(field, "can't be blank");
            }
        }
        faults.at_most("name", Some(&self.name), LONGEST_NAME);
        if !self.url.trim().is_empty() && !is_link_url(&self.url) {
            faults.add("url", "is blocked: Only allowed schemes are http, https, ftp");
        }
        faults.at_most("filepath", self.filepath.as_deref(), LONGEST_PATH);
        if self.filepath.as_deref().is_some_and(|path| !is_link_path(path)) {
            faults.add("filepath", "is in an invalid format");
        }
        let is_taken = |part: fn(&Self) -> Option<&str>| {
            let own = part(self);
            own.is_some() && others.iter().any(|other| part(other) == own)
        };
        for (field, is_taken) in [
            ("name", is_taken(|link| Some(&link.name))),
            ("url", is_taken(|link| Some(&link.url))),
            ("filepath", is_taken(|link| link.filepath.as_deref())),
        ] {
            if is_taken {
                faults.add(field, TAKEN);
            }
        }
        faults
    }
}

/// Whether it is an address that a link may have.
pub fn is_link_url(text: &str) -> bool {
    let is_ftp = text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("ftp://"));
    // The parts of an address are the same under all three schemes.
    let of_web = text.get(6..).filter(|_| is_ftp).map(|rest| format!("http://{rest}"));
    text.len() <= LONGEST_URL && is_web_url(of_web.as_deref().unwrap_or(text))
}

/// Whether it is the end of an address below a release.
pub fn is_link_path(text: &str) -> bool {
    // Clients leave such parts out of an address, which then leads elsewhere.
    let leads_up = text.split('/').any(|part| matches!(part, "." | ".."));
    text.len() <= LONGEST_PATH && !leads_up && PATH.as_ref().is_some_and(|path| path.is_match(text))
}

/// Those that can be links of one release, each name, URL and path once.
pub(super) fn sound(all: Vec<NewLink>) -> Vec<NewLink> {
    let (mut names, mut urls) = (HashSet::new(), HashSet::new());
    let is_sound = |link: &NewLink| link.faults(&[]).is_empty();
    let is_new = |link: &NewLink| names.insert(link.name.clone()) && urls.insert(link.url.clone());
    all.into_iter().filter(is_sound).filter(is_new).collect()
}

#[cfg(test)]
mod tests {
    use super::{LinkType, NewLink, is_link_path, is_link_url, sound};

    fn link(name: &str, url: &str) -> NewLink {
        NewLink {
            name: name.to_owned(),
            url: url.to_owned(),
            filepath: None,
            link_type: LinkType::Other,
        }
    }

    #[test]
    fn a_link_leads_to_the_web_or_to_a_server_of_files() {
        for url in ["https://a.test/x", "http://a.test", "ftp://a.test/x.zip", "FTP://a.test/x"] {
            assert!(is_link_url(url), "{url}");
        }
        let long = format!("https://a.test/{}", "x".repeat(2048));
        for url in ["", "nowhere", "javascript:alert(1)", "file:///etc/passwd", "ftp:///x", &long] {
            assert!(!is_link_url(url), "{url}");
        }
    }

    #[test]
    fn a_path_has_parts_and_ends_in_a_letter_or_a_digit() {
        for path in ["/bin/linux-amd64", "/a.tar.gz", "/v1", "/a", "/bin/a", "/..a/b"] {
            assert!(is_link_path(path), "{path}");
        }
        for path in
            ["", "/", "bin", "/bin/", "//bin", "/a//b", "/a b", "/a?x", "/../-", "/../a", "/a/./b"]
        {
            assert!(!is_link_path(path), "{path}");
        }
    }

    #[test]
    fn of_two_with_the_same_name_or_address_the_first_stays() {
        let all = vec![
            link("a", "https://a.test"),
            link("a", "https://b.test"),
            link("c", "https://a.test"),
            link("d", "x:y"),
            link("e", "https://e.test"),
        ];
        let names: Vec<String> = sound(all).into_iter().map(|link| link.name).collect();
        assert_eq!(names, ["a", "e"]);
    }
}
