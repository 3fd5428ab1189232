//! The variables that every pipeline has before it is made: of the server, its project, its commit and its ref.

use kernel::access::ProjectFacts;

use super::{Variable, slug};
use crate::config::input::RefKind;

/// The URL, name and version of the server in predefined variables.
#[derive(Clone, Copy, Debug)]
pub struct Server<'s> {
    /// Without a slash at its end.
    pub url: &'s str,
    pub name: &'s str,
    pub version: &'s str,
    /// The commit that it was built from.
    pub revision: &'s str,
}

/// The commit of a pipeline in predefined variables.
#[derive(Clone, Debug, Default)]
pub struct CommitFacts {
    pub sha: String,
    /// `Name <mail>`.
    pub author: String,
    /// The whole first line.
    pub title: String,
    pub message: String,
    /// With the offset of its author.
    pub timestamp: String,
    /// What was written to the tag that it is looked up by; empty without such a text.
    pub tag_message: String,
}

const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// The description is the message without its first line, unless that line is longer.
const LONG_TITLE: usize = 100;

/// Where images lie that the templates of others name; ours name none from there.
const TEMPLATE_REGISTRY: &str = "registry.gitlab.com";

/// The parts of an address.
struct Address<'u> {
    protocol: &'u str,
    host: &'u str,
    /// As it is written.
    port: Option<&'u str>,
}

impl<'u> Address<'u> {
    fn of(url: &'u str) -> Self {
        let (protocol, rest) = url.split_once("://").unwrap_or(("https", url));
        let authority = rest.split('/').next().unwrap_or_default();
        match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                Self { protocol, host, port: Some(port) }
            }
            _ => Self { protocol, host: authority, port: None },
        }
    }
}

pub fn of_server(server: &Server<'_>) -> Vec<Variable> {
    let Address { protocol, host, port } = Address::of(server.url);
    let port = port.unwrap_or(if protocol == "http" { "80" } else { "443" });
    let numbers = server.version.split('-').next().unwrap_or_default();
    let mut parts = numbers.split('.');
    let mut part = || parts.next().unwrap_or("0").to_owned();
    listed([
        ("CI", "true".to_owned()),
        ("GITLAB_CI", "true".to_owned()),
        ("CI_SERVER", "yes".to_owned()),
        ("CI_SERVER_URL", server.url.to_owned()),
        ("CI_SERVER_HOST", host.to_owned()),
        ("CI_SERVER_PORT", port.to_owned()),
        ("CI_SERVER_PROTOCOL", protocol.to_owned()),
        ("CI_SERVER_NAME", server.name.to_owned()),
        ("CI_SERVER_VERSION", server.version.to_owned()),
        ("CI_SERVER_VERSION_MAJOR", part()),
        ("CI_SERVER_VERSION_MINOR", part()),
        ("CI_SERVER_VERSION_PATCH", part()),
        ("CI_SERVER_REVISION", server.revision.to_owned()),
        ("CI_TEMPLATE_REGISTRY_HOST", TEMPLATE_REGISTRY.to_owned()),
        // Nothing has to be licensed.
        ("GITLAB_FEATURES", String::new()),
        ("CI_API_V4_URL", format!("{}/api/v4", server.url)),
    ])
}

pub fn of_project(server: &Server<'_>, project: &ProjectFacts) -> Vec<Variable> {
    let path = &project.full_path;
    let (namespace, name) = path.rsplit_once('/').unwrap_or(("", path));
    let root = path.split('/').next().unwrap_or_default();
    listed([
        ("CI_PROJECT_ID", project.id.to_string()),
        ("CI_PROJECT_NAME", name.to_owned()),
        ("CI_PROJECT_TITLE", project.name.clone()),
        ("CI_PROJECT_PATH", path.clone()),
        ("CI_PROJECT_PATH_SLUG", slug(path)),
        ("CI_PROJECT_NAMESPACE", namespace.to_owned()),
        ("CI_PROJECT_NAMESPACE_ID", project.namespace_id.to_string()),
        ("CI_PROJECT_ROOT_NAMESPACE", root.to_owned()),
        ("CI_PROJECT_URL", format!("{}/{path}", server.url)),
        ("CI_PROJECT_VISIBILITY", project.visibility.to_string()),
        ("CI_DEFAULT_BRANCH", project.default_branch.clone().unwrap_or_default()),
        ("CI_PAGES_DOMAIN", Address::of(server.url).host.to_owned()),
        ("CI_PAGES_URL", pages_url(server, path)),
    ])
}

/// Where the pages of a project would be found: `https://group.host/project`, and those of `group/group.host` at the top.
fn pages_url(server: &Server<'_>, path: &str) -> String {
    let Address { protocol, host, port } = Address::of(server.url);
    let path = path.to_lowercase();
    let (root, rest) = path.split_once('/').unwrap_or((&path, ""));
    let domain = format!("{root}.{host}");
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let below = if rest == domain { String::new() } else { format!("/{rest}") };
    format!("{protocol}://{domain}{port}{below}")
}

/// Those of a pipeline for a branch or tag; a merge request brings its own beside them.
pub fn of_commit(
    commit: &CommitFacts,
    name: &str,
    kind: RefKind,
    protected: bool,
) -> Vec<Variable> {
    let short = commit.sha.get(..8).unwrap_or(&commit.sha);
    let rest = commit.message.split_once('\n').map_or("", |(_, rest)| rest).trim();
    let description =
        if commit.title.chars().count() < LONG_TITLE { rest } else { commit.message.trim() };
    let mut variables = listed([
        ("CI_COMMIT_SHA", commit.sha.clone()),
        ("CI_COMMIT_SHORT_SHA", short.to_owned()),
        ("CI_COMMIT_BEFORE_SHA", NO_COMMIT.to_owned()),
        ("CI_COMMIT_REF_NAME", name.to_owned()),
        ("CI_COMMIT_REF_SLUG", slug(name)),
        ("CI_COMMIT_REF_PROTECTED", protected.to_string()),
        ("CI_COMMIT_AUTHOR", commit.author.clone()),
        ("CI_COMMIT_TITLE", commit.title.clone()),
        ("CI_COMMIT_MESSAGE", commit.message.clone()),
        ("CI_COMMIT_DESCRIPTION", description.to_owned()),
        ("CI_COMMIT_TIMESTAMP", commit.timestamp.clone()),
    ]);
    match kind {
        RefKind::Branch => variables.push(Variable::public("CI_COMMIT_BRANCH", name)),
        RefKind::Tag => variables.extend(listed([
            ("CI_COMMIT_TAG", name.to_owned()),
            ("CI_COMMIT_TAG_MESSAGE", commit.tag_message.clone()),
        ])),
        RefKind::MergeRequest => {}
    }
    variables
}

fn listed<const N: usize>(pairs: [(&str, String); N]) -> Vec<Variable> {
    pairs.into_iter().map(|(key, value)| Variable::public(key, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::{CommitFacts, Server, Variable, of_commit, of_server, pages_url};
    use crate::config::input::RefKind;

    fn value<'v>(variables: &'v [Variable], key: &str) -> Option<&'v str> {
        variables.iter().find(|one| one.key == key).map(|one| one.value.as_str())
    }

    const SERVER: Server<'static> = Server {
        url: "https://forge.test",
        name: "Forge",
        version: "15.7.0-ee",
        revision: "0123abcd",
    };

    #[test]
    fn pages_lie_below_the_name_of_their_group() {
        let url = |url, path| pages_url(&Server { url, ..SERVER }, path);

        assert_eq!(
            url("https://forge.test", "Flight/sub/Engine"),
            "https://flight.forge.test/sub/engine"
        );
        assert_eq!(
            url("http://forge.test:8080", "flight/engine"),
            "http://flight.forge.test:8080/engine"
        );
        assert_eq!(
            url("https://forge.test", "flight/flight.forge.test"),
            "https://flight.forge.test"
        );
    }

    #[test]
    fn an_address_is_told_in_its_parts() {
        let server = |url| of_server(&Server { url, ..SERVER });

        let plain = server("https://forge.test");
        assert_eq!(value(&plain, "CI_SERVER_PORT"), Some("443"));
        assert_eq!(value(&plain, "CI_SERVER_VERSION_MINOR"), Some("7"));
        assert_eq!(value(&plain, "CI_SERVER_REVISION"), Some("0123abcd"));
        let odd = server("http://forge.test:8080/sub");
        assert_eq!(value(&odd, "CI_SERVER_HOST"), Some("forge.test"));
        assert_eq!(value(&odd, "CI_SERVER_PORT"), Some("8080"));
        assert_eq!(value(&odd, "CI_API_V4_URL"), Some("http://forge.test:8080/sub/api/v4"));
    }

    #[test]
    fn a_description_is_what_follows_a_short_title() {
        let commit = |title: &str| CommitFacts {
            title: title.to_owned(),
            message: format!("{title}\n\nmore\n"),
            ..CommitFacts::default()
        };
        let shown = |title: &str| {
            let all = of_commit(&commit(title), "Topic/1", RefKind::Branch, false);
            value(&all, "CI_COMMIT_DESCRIPTION").unwrap().to_owned()
        };

        assert_eq!(shown("short"), "more");
        let long = "x".repeat(100);
        assert_eq!(shown(&long), format!("{long}\n\nmore"));
    }

    #[test]
    fn a_branch_and_a_tag_have_each_their_own() {
        let of = |kind| of_commit(&CommitFacts::default(), "v1.0", kind, true);

        assert_eq!(value(&of(RefKind::Branch), "CI_COMMIT_BRANCH"), Some("v1.0"));
        assert_eq!(value(&of(RefKind::Branch), "CI_COMMIT_TAG"), None);
        assert_eq!(value(&of(RefKind::Tag), "CI_COMMIT_TAG"), Some("v1.0"));
        assert_eq!(value(&of(RefKind::Tag), "CI_COMMIT_TAG_MESSAGE"), Some(""));
        assert_eq!(value(&of(RefKind::Tag), "CI_COMMIT_REF_SLUG"), Some("v1-0"));
    }
}
