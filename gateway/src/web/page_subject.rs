//! The object that a web page shows, and its API URL.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::route::ROOT;

const IN_ADDRESS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// As one part of a path or one value of a query.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, IN_ADDRESS).to_string()
}

/// A thing that has an address for people, in a project or group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordAddress {
    /// `Issue #5`; empty for the project or group itself.
    pub(super) name: String,
    /// The rest of its address in the API, behind that of the project or group.
    record: String,
}

impl RecordAddress {
    fn new(name: impl Into<String>, record: impl Into<String>) -> Self {
        Self { name: name.into(), record: record.into() }
    }

    fn numbered(name: &str, mark: char, list: &str, number: &str) -> Option<Self> {
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self::new(format!("{name} {mark}{number}"), format!("/{list}/{number}")))
    }

    /// Its address in the API, from the server's root.
    pub(super) fn record_in(&self, list: &str, full_path: &str) -> String {
        format!("{ROOT}/{list}/{}{}", encoded(full_path), self.record)
    }

    /// A folder or file of a revision.
    pub(super) fn at_revision(kind: &str, revision: &str, path: &str) -> Self {
        let (of, at) = (encoded(path), encoded(revision));
        let name =
            if path.is_empty() { revision.to_owned() } else { format!("{path} at {revision}") };
        match kind {
            "tree" => Self::new(name, format!("/repository/tree?ref={at}&path={of}")),
            "blame" => Self::new(name, format!("/repository/files/{of}/blame?ref={at}")),
            "commits" => Self::new(
                format!("Commits of {name}"),
                format!("/repository/commits?ref_name={at}&path={of}"),
            ),
            _ => Self::new(name, format!("/repository/files/{of}?ref={at}")),
        }
    }

    /// Reads what stands behind `/-/` in the address of something in a project.
    pub(super) fn of_project(rest: &str) -> Self {
        let (kind, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let number = rest.split('/').next().unwrap_or_default();
        let numbered = match kind {
            "issues" | "work_items" => Self::numbered("Issue", '#', "issues", number),
            "merge_requests" => Self::numbered("Merge request", '!', kind, number),
            "pipelines" => Self::numbered("Pipeline", '#', kind, number),
            "milestones" => Self::milestone(number),
            _ => None,
        };
        numbered.or_else(|| Self::named(kind, rest)).unwrap_or_else(|| Self::list(kind))
    }

    /// Reads what stands behind `/-/` in the address of something in a group.
    pub(super) fn of_group(rest: &str) -> Self {
        let (kind, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let number = rest.split('/').next().unwrap_or_default();
        let numbered = match kind {
            "epics" => Self::numbered("Epic", '&', kind, number),
            "milestones" => Self::milestone(number),
            "wikis" if !rest.is_empty() => Self::named(kind, rest),
            _ => None,
        };
        numbered.unwrap_or_else(|| match kind {
            "epics" => Self::new("Epics", "/epics"),
            "iterations" => Self::new("Iterations", "/iterations"),
            "group_members" => Self::new("Members", "/members"),
            "issues" | "merge_requests" | "milestones" | "labels" | "wikis" => Self::list(kind),
            _ => Self::new("", ""),
        })
    }

    /// Lists find them by the number that people use.
    fn milestone(number: &str) -> Option<Self> {
        let found = Self::numbered("Milestone", '%', "milestones", number)?;
        Some(Self { record: format!("/milestones?iids[]={number}"), ..found })
    }

    fn named(kind: &str, rest: &str) -> Option<Self> {
        let rest = rest.trim_end_matches('/');
        if rest.is_empty() {
            return None;
        }
        let of = encoded(rest);
        match kind {
            "commit" => {
                let id = rest.split('/').next().unwrap_or_default();
                Some(Self::new(
                    format!("Commit {id}"),
                    format!("/repository/commits/{}", encoded(id)),
                ))
            }
            "tags" => Some(Self::new(format!("Tag {rest}"), format!("/repository/tags/{of}"))),
            "releases" => Some(Self::new(format!("Release {rest}"), format!("/releases/{of}"))),
            "wikis" => Some(Self::new(format!("Wiki page {rest}"), format!("/wikis/{of}"))),
            "compare" => {
                let (from, to) = rest.split_once("...").or_else(|| rest.split_once(".."))?;
                let record =
                    format!("/repository/compare?from={}&to={}", encoded(from), encoded(to));
                Some(Self::new(format!("Comparison of {from} with {to}"), record))
            }
            _ => None,
        }
    }

    fn list(kind: &str) -> Self {
        match kind {
            "issues" | "boards" => Self::new("Issues", "/issues"),
            "merge_requests" => Self::new("Merge requests", "/merge_requests"),
            "milestones" => Self::new("Milestones", "/milestones"),
            "labels" => Self::new("Labels", "/labels"),
            "pipelines" => Self::new("Pipelines", "/pipelines"),
            "wikis" => Self::new("Wiki", "/wikis"),
            "project_members" => Self::new("Members", "/members"),
            "forks" => Self::new("Forks", "/forks"),
            "branches" => Self::new("Branches", "/repository/branches"),
            "tags" => Self::new("Tags", "/repository/tags"),
            "releases" => Self::new("Releases", "/releases"),
            "graphs" => Self::new("Contributors", "/repository/contributors"),
            "commits" => Self::new("Commits", "/repository/commits"),
            "tree" => Self::new("Files", "/repository/tree"),
            _ => Self::new("", ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RecordAddress;

    #[track_caller]
    fn check(thing: &RecordAddress, name: &str, record: &str) {
        assert_eq!((thing.name.as_str(), thing.record.as_str()), (name, record));
    }

    #[test]
    fn things_of_projects_have_a_name_and_a_record() {
        for (rest, name, record) in [
            ("", "", ""),
            ("settings/repository", "", ""),
            ("issues", "Issues", "/issues"),
            ("issues/5", "Issue #5", "/issues/5"),
            ("issues/5x", "Issues", "/issues"),
            ("merge_requests/7/diffs", "Merge request !7", "/merge_requests/7"),
            ("milestones/2", "Milestone %2", "/milestones?iids[]=2"),
            ("commit/abc", "Commit abc", "/repository/commits/abc"),
            ("releases/v1", "Release v1", "/releases/v1"),
            ("tags/v1/x", "Tag v1/x", "/repository/tags/v1%2Fx"),
            ("compare/a/b...c", "Comparison of a/b with c", "/repository/compare?from=a%2Fb&to=c"),
            ("wikis/docs/a b", "Wiki page docs/a b", "/wikis/docs%2Fa%20b"),
        ] {
            check(&RecordAddress::of_project(rest), name, record);
        }
    }

    #[test]
    fn things_of_groups_have_a_name_and_a_record() {
        for (rest, name, record) in [
            ("", "", ""),
            ("epics/3", "Epic &3", "/epics/3"),
            ("milestones/1", "Milestone %1", "/milestones?iids[]=1"),
            ("iterations/9", "Iterations", "/iterations"),
            ("wikis/home", "Wiki page home", "/wikis/home"),
            ("settings", "", ""),
        ] {
            check(&RecordAddress::of_group(rest), name, record);
        }
    }

    #[test]
    fn a_file_is_found_at_its_revision() {
        let record = |kind| RecordAddress::at_revision(kind, "f/x", "a b/c").record;
        assert_eq!(record("blob"), "/repository/files/a%20b%2Fc?ref=f%2Fx");
        assert_eq!(record("tree"), "/repository/tree?ref=f%2Fx&path=a%20b%2Fc");
        assert_eq!(record("blame"), "/repository/files/a%20b%2Fc/blame?ref=f%2Fx");
    }
}
