//! Addresses that records and pages lead to, and the rows that answer them: the path of a project or group has any number
//! of parts there, and one part in a row.

/// The handler of a web address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The paths of rows, still percent-encoded: the next one where there is nothing under one.
    pub rows: Vec<String>,
    /// Whether it is read by people, refusals too.
    pub is_page: bool,
}

impl Address {
    /// Reads a path, still percent-encoded. What belongs to the server itself is no such address.
    pub fn find(path: &str) -> Option<Self> {
        let path = path.trim_matches('/');
        let first = path.split('/').next().filter(|first| !first.is_empty())?;
        if matches!(first, "-" | "api" | "oauth") || first.starts_with('.') {
            return None;
        }
        if let Some(group) = path.strip_prefix("groups/") {
            return Some(Self::of_group(group));
        }
        if let Some((home, thing)) = path.split_once("/-/") {
            return Some(Self::of_project(home, thing));
        }
        let home = path.strip_suffix("/-").unwrap_or(path);
        Some(match upload(home) {
            Some(row) => Self { rows: vec![row], is_page: false },
            None if home.contains('/') => Self::page(vec![
                format!("/-/project/{}/page", whole(home)),
                format!("/-/group/{}/page", whole(home)),
            ]),
            // Groups are found by numbers, too; that is not for addresses.
            None if is_number(home) => Self::page(vec![format!("/-/user/{home}/page")]),
            None => {
                Self::page(vec![format!("/-/group/{home}/page"), format!("/-/user/{home}/page")])
            }
        })
    }

    fn page(rows: Vec<String>) -> Self {
        Self { rows, is_page: true }
    }

    fn of_group(path: &str) -> Self {
        let (home, thing) = path.split_once("/-/").unwrap_or((path, ""));
        let (home, thing) = (whole(home), whole(thing));
        Self::in_home(&format!("/-/group/{home}"), &thing)
    }

    fn of_project(home: &str, thing: &str) -> Self {
        let (home, thing) = (format!("/-/project/{}", whole(home)), whole(thing));
        for kind in ["raw", "archive"] {
            let rest = thing.strip_prefix(kind).and_then(|rest| rest.strip_prefix("%2F"));
            if let Some(place) = rest.filter(|place| !place.is_empty()) {
                return Self { rows: vec![format!("{home}/{kind}/{place}")], is_page: false };
            }
        }
        if let Some(place) = thing.strip_prefix("releases%2F").filter(|place| is_download(place)) {
            return Self { rows: vec![format!("{home}/releases/{place}")], is_page: false };
        }
        Self::in_home(&home, &thing)
    }

    /// The address of a wiki's page may also be that of a file beside it.
    fn in_home(home: &str, thing: &str) -> Self {
        let page = match thing {
            "" => format!("{home}/page"),
            thing => format!("{home}/page/{thing}"),
        };
        match thing.strip_prefix("wikis%2F") {
            None => Self::page(vec![page]),
            Some(file) if file.starts_with("uploads%2F") => {
                Self { rows: vec![format!("{home}/wikis/{file}")], is_page: false }
            }
            Some(file) => Self::page(vec![format!("{home}/wikis/{file}"), page]),
        }
    }
}

/// `<project>/uploads/<secret>/<file>`
fn upload(path: &str) -> Option<String> {
    let (rest, file) = path.rsplit_once('/')?;
    let (rest, secret) = rest.rsplit_once('/')?;
    let home = rest.strip_suffix("/uploads").filter(|home| home.contains('/'))?;
    let is_secret = secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_secret.then(|| format!("/-/project/{}/uploads/{secret}/{file}", whole(home)))
}

/// `<tag>/downloads/<path of a link>`
fn is_download(place: &str) -> bool {
    place
        .split_once("%2Fdownloads%2F")
        .is_some_and(|(tag, path)| !tag.is_empty() && !path.is_empty())
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// As one part of a path.
fn whole(text: &str) -> String {
    text.trim_matches('/').replace('/', "%2F")
}

/// Kept with a request that has another path than its row.
#[derive(Clone, Debug)]
pub struct RowPath(pub String);

#[cfg(test)]
mod tests {
    use super::Address;

    fn rows(address: &str) -> Vec<String> {
        Address::find(address).map(|found| found.rows).unwrap_or_default()
    }

    #[test]
    fn what_machines_fetch_has_a_row_of_its_own() {
        let secret = "0123456789abcdef0123456789abcdef";
        for (address, row) in [
            (
                "/a/b/-/raw/main/x/y%20z".to_owned(),
                "/-/project/a%2Fb/raw/main%2Fx%2Fy%20z".to_owned(),
            ),
            (
                "/a/b/c/-/archive/v1/c-v1.zip".into(),
                "/-/project/a%2Fb%2Fc/archive/v1%2Fc-v1.zip".into(),
            ),
            (
                "/a/b/-/releases/v1/downloads/bin/x".into(),
                "/-/project/a%2Fb/releases/v1%2Fdownloads%2Fbin%2Fx".into(),
            ),
            (
                format!("/a/b/uploads/{secret}/p.png"),
                format!("/-/project/a%2Fb/uploads/{secret}/p.png"),
            ),
        ] {
            let found = Address::find(&address).unwrap();
            assert_eq!((found.rows, found.is_page), (vec![row], false), "{address}");
        }
    }

    #[test]
    fn files_of_wikis_are_found_by_the_address_in_pages() {
        assert_eq!(
            rows("/a/b/-/wikis/uploads/0/p.png")[0],
            "/-/project/a%2Fb/wikis/uploads%2F0%2Fp.png"
        );
        assert_eq!(rows("/a/b/-/wikis/uploads/0/p.png").len(), 1);
        assert_eq!(rows("/a/b/-/wikis/home").len(), 2);
        assert_eq!(rows("/groups/a/b/-/wikis/x%20y.md")[0], "/-/group/a%2Fb/wikis/x%20y.md");
    }

    #[test]
    fn everything_else_is_a_page() {
        for (address, expected) in [
            ("/a/b", &["/-/project/a%2Fb/page", "/-/group/a%2Fb/page"][..]),
            ("/a/b/-/issues/5/", &["/-/project/a%2Fb/page/issues%2F5"]),
            ("/a/b/-/raw/", &["/-/project/a%2Fb/page/raw"]),
            ("/a/b/-/releases/v1", &["/-/project/a%2Fb/page/releases%2Fv1"]),
            (
                "/a/b/uploads/short/p.png",
                &[
                    "/-/project/a%2Fb%2Fuploads%2Fshort%2Fp.png/page",
                    "/-/group/a%2Fb%2Fuploads%2Fshort%2Fp.png/page",
                ],
            ),
            ("/groups/a/b/-/epics/1", &["/-/group/a%2Fb/page/epics%2F1"]),
            ("/groups/a", &["/-/group/a/page"]),
            ("/a", &["/-/group/a/page", "/-/user/a/page"]),
            ("/7", &["/-/user/7/page"]),
        ] {
            assert_eq!(rows(address), expected, "{address}");
            assert!(Address::find(address).unwrap().is_page);
        }
    }

    #[test]
    fn what_belongs_to_the_server_is_no_address() {
        for path in [
            "/",
            "",
            "/api/v4/nothing",
            "/-/project/1/uploads",
            "/-/x",
            "/oauth/x",
            "/.well-known/x",
        ] {
            assert_eq!(Address::find(path), None, "{path}");
        }
    }
}
